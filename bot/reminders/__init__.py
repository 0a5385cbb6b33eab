"""Reminders: rules and the scheduler."""
