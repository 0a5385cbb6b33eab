"""The state of a session: topics, open loops, references, summaries. Pure."""
