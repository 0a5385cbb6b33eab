"""The operator's commands: `continuity-bot --help`."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli import keep, look, notes, repair, start
from bot.cli.common import AsJson, Commands, console, for_programs, print_json

__all__ = ["app"]

app = typer.Typer(
    help="A Telegram assistant that never loses the thread.",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:  # noqa: FBT001 - how the library calls it
    if asked:
        from importlib import metadata

        number = metadata.version("continuity-bot")
        if for_programs.get():
            print_json({"version": number})
        else:
            console.print(f"continuity-bot {number}", highlight=False)
        raise typer.Exit


@app.callback()
def main(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run one command."""


for commands in (start, look, repair, keep):
    app.add_typer(commands.app)
app.add_typer(notes.app, name="notes")
app.add_typer(repair.checkpoint, name="checkpoint")
app.add_typer(repair.quarantine, name="quarantine")
app.add_typer(repair.outbox, name="outbox")
app.add_typer(repair.bootstrap, name="bootstrap")
