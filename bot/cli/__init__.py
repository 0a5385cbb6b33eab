"""The operator's commands: `continuity-bot --help`."""

from __future__ import annotations

from importlib import metadata
from typing import Annotated

import typer

from bot.cli import keep, look, repair, start
from bot.cli.common import console

__all__ = ["app"]

app = typer.Typer(
    help="A Telegram assistant that never loses the thread.", no_args_is_help=True, pretty_exceptions_enable=False
)


def _version(asked: bool) -> None:  # noqa: FBT001 - how the library calls it
    if asked:
        console.print(f"continuity-bot {metadata.version('continuity-bot')}", highlight=False)
        raise typer.Exit


@app.callback()
def main(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Do what the command says."""


for commands in (start, look, repair, keep):
    app.add_typer(commands.app)
app.add_typer(repair.checkpoint, name="checkpoint")
app.add_typer(repair.quarantine, name="quarantine")
app.add_typer(repair.bootstrap, name="bootstrap")
