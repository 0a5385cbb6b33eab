"""/model and /usage: which language model answers somebody, and their use of models."""
