"""What the commands print, as tables and lines."""
