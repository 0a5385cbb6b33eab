"""Recording turns and rebuilding sessions after a restart."""
