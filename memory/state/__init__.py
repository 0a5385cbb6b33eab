"""What a session is about: topics, open loops, references, summaries. Pure."""
