"""What people do about groups."""
