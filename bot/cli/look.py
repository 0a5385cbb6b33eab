"""The commands that look and change nothing: status, sessions, show, doctor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import AsJson, console, finished, load_settings, looking, print_json

if TYPE_CHECKING:
    from bot.ops.workspace import Workspace

app = typer.Typer()


@app.command()
def status(*, as_json: AsJson = False) -> None:
    """Show whether the bot runs, what its last start found, and what is unfinished."""
    settings = load_settings()
    from dataclasses import asdict  # noqa: PLC0415

    from bot.ops.screen import show_status  # noqa: PLC0415
    from bot.ops.status import read_status  # noqa: PLC0415

    found = looking(settings, read_status)
    if as_json:
        print_json(asdict(found))
    else:
        show_status(console, found, settings.zone)


@app.command()
def sessions(
    *,
    conversation: Annotated[
        str | None, typer.Option(help="Only those of one chat: its number, or the whole key tg:…", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the sessions, the latest first."""
    settings = load_settings()
    from bot.ops.screen import show_sessions  # noqa: PLC0415
    from bot.ops.sessions import list_sessions, listed_as_json  # noqa: PLC0415
    from memory.clock import SystemClock  # noqa: PLC0415

    found = looking(settings, lambda workspace: list_sessions(workspace, conversation=conversation, limit=limit))
    if as_json:
        print_json([listed_as_json(each) for each in found])
    else:
        show_sessions(console, found, SystemClock().now_ms(), limit)


@app.command()
def show(
    session: Annotated[str, typer.Argument(help="Its id or a beginning of it.")],
    *,
    turns: Annotated[int, typer.Option(min=0, help="How many of the last turns.")] = 5,
    packet: Annotated[bool, typer.Option("--packet", help="Also what the model would be given now.")] = False,
    message: Annotated[str, typer.Option(help="With --packet: what the person would write.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show one session: state, turns as people wrote them, what the model was given, how it would hydrate."""
    settings = load_settings()
    from bot.ops import screen_session  # noqa: PLC0415
    from bot.ops.sessions import Shown, show_session, shown_as_json  # noqa: PLC0415

    async def ask(workspace: Workspace) -> Shown:
        session_id = await workspace.find(session)
        return await show_session(workspace, session_id, turns=turns, packet=packet or bool(message), message=message)

    found = looking(settings, ask)
    if as_json:
        print_json(shown_as_json(found))
    else:
        screen_session.show(console, found, settings.zone)


@app.command()
def doctor(
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Read every page and every turn.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check settings, files, SQLite, lock and checkpoints; exit 1 when something has failed."""
    from dataclasses import asdict  # noqa: PLC0415

    from bot.ops.checks import worst  # noqa: PLC0415
    from bot.ops.doctor import examine  # noqa: PLC0415
    from bot.ops.screen import show_checks  # noqa: PLC0415

    found = finished(examine(os.environ, deep=deep))
    if as_json:
        print_json({"level": worst(found), "checks": [asdict(check) for check in found]})
    else:
        show_checks(console, found)
    if worst(found) == "fail":
        raise typer.Exit(1)
