"""A message becomes a turn: lanes, dispatch, the turn itself, recovery."""
