"""The commands that show the notes of a session's conversation, and change them by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from bot.cli.common import AsJson, Session, console, for_programs, load_settings, looking, stop_with, tell, working

if TYPE_CHECKING:
    from bot.ops.workspace import Workspace
    from memory.ledger.types import Note

app = typer.Typer(help="See what is noted in a conversation, and change it by hand.", no_args_is_help=True)

_T = TypeVar("_T")
Ref = Annotated[str, typer.Argument(help="Its number, as `notes list` names it.")]
LOCAL_TIME = "%Y-%m-%d %H:%M"
Do = Callable[["Workspace", str], Awaitable[_T]]


def _look(session: str, ask: Do[_T]) -> _T:
    """Return the answer of `ask` to the conversation of a session, opened for reading."""
    return looking(load_settings(), _in_conversation(session, ask))


def _change(session: str, do: Do[_T]) -> _T:
    """Return the result of `do` on the conversation of a session, with the bot's lock held."""
    return working(load_settings(), _in_conversation(session, do))


def _in_conversation(session: str, do: Do[_T]) -> Callable[[Workspace], Awaitable[_T]]:
    """Return the function that finds a session's conversation and works on it."""

    async def done(workspace: Workspace) -> _T:
        from bot.ops.workspace import OpsError

        row = await workspace.memory.store.session(await workspace.find(session))
        if row is None:
            raise OpsError(f"session '{session}' is only in a checkpoint; `continuity-bot hydrate` brings it back")
        return await do(workspace, row.conversation_id)

    return done


def _tell(said: str, note: Note) -> None:
    tell(
        lambda: {"number": note.number, "text": note.text, "status": note.status},
        lambda: console.print(f"{said}: #{note.number} {note.text}", highlight=False),
    )


@app.command("list")
def notes_list(
    session: Session,
    *,
    ended: Annotated[bool, typer.Option("--ended", help="Also what is done, dropped or replaced.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the notes, each with the number that the other commands take, and the refused ones."""
    from bot.ops.records import notes
    from bot.ops.screens.notes import notes_as_json, show_notes

    found = _look(session, notes.read_notes)
    tell(lambda: notes_as_json(found), lambda: show_notes(console, found, ended=ended))


@app.command("history")
def notes_history(session: Session, note: Ref, *, as_json: AsJson = False) -> None:
    """Show the changes of a note, by whom, and the words that bear them out."""
    from bot.ops.records import notes
    from bot.ops.screens.notes import show_history

    found = _look(session, lambda place, key: notes.history(place, key, note))
    tell(
        lambda: {"changes": [each.model_dump(mode="json") for each in found]},
        lambda: show_history(console, found),
    )


@app.command("correct")
def notes_correct(
    session: Session,
    note: Ref,
    text: Annotated[str, typer.Argument(help="The new wording.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Reword a note; people's messages stay as they wrote them."""
    from bot.ops.records import notes

    _tell("It reads now", _change(session, lambda place, key: notes.correct(place, key, note, text)))


@app.command("done")
def notes_done(session: Session, note: Ref, *, as_json: AsJson = False) -> None:
    """Call a note done; a reminder does not ring any more."""
    from bot.ops.records import notes

    _tell("Done", _change(session, lambda place, key: notes.end(place, key, note, "done")))


@app.command("drop")
def notes_drop(session: Session, note: Ref, *, as_json: AsJson = False) -> None:
    """Drop a note, undone; a reminder does not ring any more."""
    from bot.ops.records import notes

    _tell("Dropped", _change(session, lambda place, key: notes.end(place, key, note, "dropped")))


@app.command("reopen")
def notes_reopen(session: Session, note: Ref, *, as_json: AsJson = False) -> None:
    """Let a note that ended stand again."""
    from bot.ops.records import notes

    _tell("It stands again", _change(session, lambda place, key: notes.reopen(place, key, note)))


@app.command("merge")
def notes_merge(
    session: Session,
    note: Ref,
    into: Annotated[str, typer.Argument(help="The number of the note that stands for both.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Let one note stand for two that say the same."""
    from bot.ops.records import notes

    _tell("Stands for both", _change(session, lambda place, key: notes.merge(place, key, note, into)))


@app.command("move")
def notes_move(
    session: Session,
    note: Ref,
    when: Annotated[str, typer.Argument(help="Day and hour by the note's clock: '2026-12-01 09:00'.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Let a note ring at another time."""
    from bot.ops.records import notes

    try:
        local = f"{datetime.strptime(when, LOCAL_TIME):%Y-%m-%dT%H:%M}"  # noqa: DTZ007 - by the note's own clock
    except ValueError:
        raise stop_with(f"'{when}' is no day and hour; write it as '2026-12-01 09:00'", 2) from None
    _tell(f"Rings {when}", _change(session, lambda place, key: notes.move(place, key, note, local)))


@app.command("forget")
def notes_forget(
    session: Session,
    note: Ref,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a note with the messages that it rests on, and search the files for traces; exit 1 if any is left."""
    if for_programs.get() and not yes:
        raise stop_with("with --json nothing is asked: say --yes too", 2)
    from dataclasses import asdict

    from bot.features.forgetting.texts import report_text
    from bot.ops.format import printable
    from bot.ops.records import notes
    from bot.replies import plural

    going = _look(session, lambda place, key: notes.to_forget(place, key, note))
    if not yes:
        for text in going.quoted:
            console.print(f"“{printable(text)}”", highlight=False)
        typer.confirm(f"Forget it with {plural(going.turns, 'message')} for ever?", abort=True)
    forgotten, proof = _change(session, lambda place, key: notes.forget(place, key, note))
    found: dict[str, Any] = {"counts": asdict(forgotten.counts), "proof": asdict(proof)}
    tell(
        lambda: found,
        lambda: console.print(report_text(forgotten.counts, proof), highlight=False, soft_wrap=True),
    )
    if proof.found != 0:
        raise typer.Exit(1)
