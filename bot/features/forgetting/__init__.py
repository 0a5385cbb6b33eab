"""/forget: a menu of things to forget, the question before, and the report."""
