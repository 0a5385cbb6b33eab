"""Speech becomes text: by a server that speaks OpenAI's format, or by a recogniser in a child process."""
