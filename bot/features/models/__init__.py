"""/model and /usage: which language model answers somebody, and what they took of models."""
