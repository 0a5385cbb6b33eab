"""What is kept for good: promotion through a gate."""
