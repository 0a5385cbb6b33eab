"""Forgetting, exporting, and looking for traces."""
