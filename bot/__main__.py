"""`python -m bot`."""

from bot.cli import app

app(prog_name="python -m bot")
