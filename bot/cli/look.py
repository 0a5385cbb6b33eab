"""The commands that look and change nothing: status, starts, history, sessions, show, found, prompt, doctor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.common import AsJson, Session, console, finished, load_settings, looking, progress, tell

if TYPE_CHECKING:
    from bot.ops.workspace import Workspace

app = typer.Typer()


@app.command()
def status(*, as_json: AsJson = False) -> None:
    """Show whether the bot is running, the findings of its last start, and unfinished work."""
    settings = load_settings()
    from dataclasses import asdict

    from bot.ops.runs.status import read_status
    from bot.ops.screens.lines import show_status

    found = looking(settings, read_status)
    tell(lambda: asdict(found), lambda: show_status(console, found, settings.zone))


@app.command()
def starts(
    *,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the last starts: work found and taken up, and whether each ended in order."""
    settings = load_settings()
    from bot.ops.runs.history import list_starts, start_as_json
    from bot.ops.screens.history import show_starts

    found = looking(settings, lambda workspace: list_starts(workspace, limit))
    tell(lambda: [start_as_json(each) for each in found], lambda: show_starts(console, found, settings.zone))


@app.command()
def history(
    *,
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days, today the last.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Show turns, seconds to an answer, tokens, dollars, recoveries and starts by day (UTC)."""
    settings = load_settings()
    from dataclasses import asdict

    from bot.ops.runs.history import list_days
    from bot.ops.screens.history import show_days

    found = looking(settings, lambda workspace: list_days(workspace, days))
    tell(lambda: [asdict(each) for each in found], lambda: show_days(console, found))


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
    from bot.ops.records.sessions import list_sessions, listed_as_json
    from bot.ops.screens.lines import show_sessions
    from memory.clock import SystemClock

    found = looking(settings, lambda workspace: list_sessions(workspace, conversation=conversation, limit=limit))
    now_ms = SystemClock().now_ms()
    tell(lambda: [listed_as_json(each) for each in found], lambda: show_sessions(console, found, now_ms, limit))


@app.command()
def show(
    session: Session,
    *,
    turns: Annotated[int, typer.Option(min=0, help="How many of the last turns.")] = 5,
    packet: Annotated[bool, typer.Option("--packet", help="Also what the model would be given now.")] = False,
    message: Annotated[str, typer.Option(help="With --packet: what the person would write.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show one session: state, turns as people wrote them, prompts, how it would hydrate."""
    settings = load_settings()
    from bot.ops.records.sessions import Shown, show_session, shown_as_json
    from bot.ops.screens import session as screen_session

    async def ask(workspace: Workspace) -> Shown:
        session_id = await workspace.find(session)
        return await show_session(workspace, session_id, turns=turns, packet=packet or bool(message), message=message)

    found = looking(settings, ask)
    tell(lambda: shown_as_json(found), lambda: screen_session.show(console, found, settings.zone))


@app.command()
def found(
    session: Session,
    seq: Annotated[int | None, typer.Argument(min=1, help="Which turn; the last one when left out.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the hits of a search for a turn's words now, with the parts of each score."""
    settings = load_settings()
    from bot.ops.records.sessions import Found, found_for
    from bot.ops.screens.session import show_found

    async def ask(workspace: Workspace) -> Found:
        return await found_for(workspace, await workspace.find(session), seq)

    result = looking(settings, ask)
    tell(
        lambda: {
            "turn": result.turn.model_dump(mode="json"),
            "found": [each.model_dump(mode="json") for each in result.items],
        },
        lambda: show_found(console, result),
    )


@app.command()
def prompt(
    session: Session,
    seq: Annotated[int | None, typer.Argument(min=1, help="Which turn; the last one when left out.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the exact prompt of an answer, and whether it is proven."""
    settings = load_settings()
    from bot.ops.records.prompts import SeenPrompt, read_prompt
    from bot.ops.records.sessions import one_turn
    from bot.ops.screens.notes import prompt_as_json, show_prompt

    async def ask(workspace: Workspace) -> SeenPrompt:
        turn = await one_turn(workspace, await workspace.find(session), seq)
        return await read_prompt(workspace, turn.turn_id)

    seen = looking(settings, ask)
    tell(lambda: prompt_as_json(seen), lambda: show_prompt(console, seen))


@app.command()
def doctor(
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Read every page and every turn, of any size.")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Try token, models, tools and clock for real; costs tokens.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check settings, files, SQLite, lock and checkpoints; exit 1 when something has failed."""
    from dataclasses import asdict

    from bot.ops.checks.check import worst
    from bot.ops.checks.doctor import examine
    from bot.ops.screens.lines import show_checks

    with progress("looking at sessions") as told:
        checks = finished(examine(os.environ, deep=deep, told=told))
    if live:
        from bot.ops.checks.live import try_out

        checks += finished(try_out(load_settings()))
    tell(
        lambda: {"level": worst(checks), "checks": [asdict(check) for check in checks]},
        lambda: show_checks(console, checks),
    )
    if worst(checks) == "fail":
        raise typer.Exit(1)
