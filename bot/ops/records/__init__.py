"""Records of conversations, for an operator to see, give out and change."""
