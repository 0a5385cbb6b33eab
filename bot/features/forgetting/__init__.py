"""/forget: what can be forgotten, what would go, and what went."""
