"""What is kept per person: choices, persona, spending."""
