"""Checks of `doctor`: pure judgements by subject, the facts for them, and the tries of `doctor --live`."""
