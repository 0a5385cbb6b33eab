"""What the operator's commands do: one noun per file; pure decisions, then what opens files, then what is shown."""
