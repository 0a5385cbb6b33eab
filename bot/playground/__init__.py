"""A Telegram of our own on this machine: a loopback Bot API server, and a chat in the terminal that runs on it."""
