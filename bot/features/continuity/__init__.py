"""Carrying a conversation forward: commands, the gate before a session, preview, settings."""
