"""The composition root: the parts of one bot, built and joined."""
