"""What one durable turn costs here and in the stores that assistants are built with."""
