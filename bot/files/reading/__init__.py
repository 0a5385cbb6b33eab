"""Reads files, in a child process that has neither secrets nor the right to write: `python -m bot.files.reading`."""
