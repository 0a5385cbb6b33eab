"""Output of the commands, as tables and lines."""
