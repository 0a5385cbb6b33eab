"""A chat in the terminal: the application and the loopback Bot API in one process, and the screen."""
