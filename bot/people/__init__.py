"""Rows per person: choices, persona, spending."""
