"""Commands of people about groups."""
