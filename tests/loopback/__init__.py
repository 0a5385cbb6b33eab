"""Servers on 127.0.0.1 and the bot as a child process, for tests that use the whole bot from outside."""
