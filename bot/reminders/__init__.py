"""What the assistant does later: rules and the scheduler."""
