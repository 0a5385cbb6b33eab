"""The commands that change by hand what is noted, open and to come in the conversation of a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from bot.cli.common import AsJson, Session, console, for_programs, load_settings, looking, stop_with, tell, working

if TYPE_CHECKING:
    from bot.ops.workspace import Workspace

app = typer.Typer(
    help="See what is noted, open and coming up in a conversation, and change it by hand.", no_args_is_help=True
)

_T = TypeVar("_T")
Ref = Annotated[str, typer.Argument(help="Its id, as `matters list` names it.")]
LOCAL_TIME = "%Y-%m-%d %H:%M"
Do = Callable[["Workspace", str], Awaitable[_T]]


def _look(session: str, ask: Do[_T]) -> _T:
    """Return what was asked of the conversation of a session, opened for reading."""
    return looking(load_settings(), _in_conversation(session, ask))


def _change(session: str, do: Do[_T]) -> _T:
    """Return what was done to the conversation of a session, with the bot's lock held."""
    return working(load_settings(), _in_conversation(session, do))


def _in_conversation(session: str, do: Do[_T]) -> Callable[[Workspace], Awaitable[_T]]:
    """Return what finds a session's conversation and works on it."""

    async def done(workspace: Workspace) -> _T:
        from bot.ops.workspace import OpsError  # noqa: PLC0415 - --help needs nothing of the operator's commands

        row = await workspace.memory.store.session(await workspace.find(session))
        if row is None:
            raise OpsError(f"session '{session}' is only in a checkpoint; `continuity-bot hydrate` brings it back")
        return await do(workspace, row.conversation_id)

    return done


@app.command("list")
def matters_list(session: Session, *, as_json: AsJson = False) -> None:
    """List notes, open matters and reminders, each with the id that the other commands take."""
    from bot.ops import matters  # noqa: PLC0415
    from bot.ops.screen_matters import matters_as_json, show_matters  # noqa: PLC0415

    found = _look(session, matters.read_matters)
    tell(lambda: matters_as_json(found), lambda: show_matters(console, found))


@app.command("correct")
def matters_correct(
    session: Session,
    note: Ref,
    text: Annotated[str, typer.Argument(help="The new wording.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Reword a note; what people said stays as they said it."""
    from bot.ops import matters  # noqa: PLC0415

    words = _change(session, lambda place, key: matters.correct_note(place, key, note, text))
    tell(lambda: {"note": note, "text": words}, lambda: console.print(f"It reads now: {words}", highlight=False))


@app.command("forget")
def matters_forget(
    session: Session,
    note: Ref,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a note with the messages that it rests on, and search the files for traces; exit 1 if any is left."""
    if for_programs.get() and not yes:
        raise stop_with("with --json nothing is asked: say --yes too", 2)
    from dataclasses import asdict  # noqa: PLC0415

    from bot.features.forgetting import report_text  # noqa: PLC0415
    from bot.ops import matters  # noqa: PLC0415
    from bot.ops.format import printable  # noqa: PLC0415
    from bot.replies import plural  # noqa: PLC0415

    going = _look(session, lambda place, key: matters.note_to_forget(place, key, note))
    if not yes:
        for text in going.quoted:
            console.print(f"“{printable(text)}”", highlight=False)
        typer.confirm(f"Forget it with {plural(going.turns, 'message')} for ever?", abort=True)
    forgotten, proof = _change(session, lambda place, key: matters.forget_note(place, key, note))
    tell(
        lambda: {"counts": asdict(forgotten.counts), "proof": asdict(proof)},
        lambda: console.print(report_text(forgotten.counts, proof), highlight=False, soft_wrap=True),
    )
    if proof.found != 0:
        raise typer.Exit(1)


def _end(session: str, matter: str, ending: Any) -> None:
    from bot.ops import matters  # noqa: PLC0415

    ended = _change(session, lambda place, key: matters.end_loop(place, key, matter, ending))
    tell(
        lambda: {"matter": matter, "text": ended.loop.text, "status": ending},
        lambda: console.print(f"{ending.capitalize()}: {ended.words}", highlight=False),
    )


@app.command("done")
def matters_done(session: Session, matter: Ref, *, as_json: AsJson = False) -> None:
    """Mark an open matter as done."""
    _end(session, matter, "done")


@app.command("drop")
def matters_drop(session: Session, matter: Ref, *, as_json: AsJson = False) -> None:
    """Take an open matter off the list, undone."""
    _end(session, matter, "dropped")


@app.command("move")
def matters_move(
    session: Session,
    reminder: Ref,
    when: Annotated[str, typer.Argument(help="Day and hour by the person's clock: '2026-12-01 09:00'.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Move a reminder to another time."""
    from bot.ops import matters  # noqa: PLC0415
    from memory.zones import zone_of  # noqa: PLC0415

    try:
        asked = datetime.strptime(when, LOCAL_TIME)  # noqa: DTZ007 - its zone is the reminder's, which is read next
    except ValueError:
        raise stop_with(f"'{when}' is no day and hour; write it as '2026-12-01 09:00'", 2) from None

    async def do(workspace: Workspace, conversation_id: str) -> Any:
        job = await matters.reminder(workspace, conversation_id, reminder)
        due_at_ms = round(asked.replace(tzinfo=zone_of(job.time_zone)).timestamp() * 1000)
        await matters.move_reminder(workspace, conversation_id, reminder, due_at_ms)
        return job, due_at_ms

    job, due_at_ms = _change(session, do)
    tell(
        lambda: {"reminder": reminder, "title": job.title, "due_at_ms": due_at_ms},
        lambda: console.print(f"Moved: {job.title}, {when} {job.time_zone}", highlight=False),
    )


@app.command("cancel")
def matters_cancel(session: Session, reminder: Ref, *, as_json: AsJson = False) -> None:
    """Cancel a reminder."""
    from bot.ops import matters  # noqa: PLC0415

    job = _change(session, lambda place, key: matters.cancel_reminder(place, key, reminder))
    tell(
        lambda: {"reminder": reminder, "title": job.title},
        lambda: console.print(f"Cancelled: {job.title}", highlight=False),
    )
