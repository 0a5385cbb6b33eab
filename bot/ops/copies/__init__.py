"""Copies of the data: backup and restore, another database, checkpoints and rows made good."""
