"""The operator's commands: one noun per file; pure decisions, then work on files, then output."""
