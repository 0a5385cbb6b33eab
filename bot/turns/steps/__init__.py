"""The steps of a turn: its files, its notices, its figures."""
