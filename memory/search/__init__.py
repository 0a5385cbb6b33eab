"""The search of earlier talk."""
