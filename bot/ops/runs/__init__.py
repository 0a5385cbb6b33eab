"""Runs of the bot: its starts, its processes, waiting and failed work."""
