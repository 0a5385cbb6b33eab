"""Answers said aloud: by a server, or by a voice on this machine in a child process: `python -m bot.files.speech`."""
