"""What is noted, open and to come in a conversation, and changing it by hand: for the console and the commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from bot.features.loops import Ending, OpenMatter, end_open, read_open
from bot.lines import note_line
from bot.ops.workspace import OpsError, Workspace
from bot.reminders.ringing import cancelling
from memory.ledger import series
from memory.ledger.types import TEXT_MAX_CHARS, Actor, Applied, Change, Ledger, Move, Note, Operation
from memory.ledger.views import by_heading, ringing, waits_for_word
from memory.privacy.forget import Forgotten, Proof
from memory.privacy.plan import ForgetRequest

QUOTED_TURNS = 5
MAX_AHEAD_MS = 10 * 366 * 24 * 3_600_000

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Known:
    """Something that is remembered: its id, how it reads, and the turns that it rests on."""

    ref: str
    session_id: str
    words: str
    text: str
    at_ms: int
    turn_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reminder:
    """Something that rings: when next, or when it rang and was not called done."""

    job_id: str
    """The note's id."""
    title: str
    status: Literal["scheduled", "delivered"]
    due_at_ms: int | None
    time_zone: str
    repeats: str


@dataclass(frozen=True, slots=True)
class Matters:
    """What there is of a conversation to be changed by hand."""

    conversation_id: str
    notes: tuple[Known, ...]
    loops: tuple[OpenMatter, ...]
    reminders: tuple[Reminder, ...]


@dataclass(frozen=True, slots=True)
class NoteToForget:
    """What goes together with a note: the messages that it rests on, the first of them quoted."""

    note: Known
    turns: int
    quoted: tuple[str, ...]


# --- pure -----------------------------------------------------------------------------------------------------------


def the_one(found: Iterable[_T], ref: str, ref_of: Callable[[_T], str], what: str) -> _T:
    """Return the one of this id. Raises OpsError when it is not there (any more)."""
    one = next((each for each in found if ref_of(each) == ref), None)
    if one is None:
        raise OpsError(f"there is no {what} '{ref}' in this conversation; look again, it may have ended meanwhile")
    return one


def wording(text: str) -> str:
    """Return how a note is to read from now on, on one line. Raises OpsError for none, or too long a one."""
    words = " ".join(text.replace("\x00", "").split())
    if not words:
        raise OpsError("a note needs words; to have it gone, forget it")
    if len(words) > TEXT_MAX_CHARS:
        raise OpsError(f"a note has at most {TEXT_MAX_CHARS} characters, this one has {len(words)}; shorten it")
    return words


def known(note: Note, now_ms: int) -> Known:
    """Return a note as it is listed."""
    words = note_line(note, now_ms, note.time_zone)
    return Known(note.note_id, note.session_id or "", words, note.text, note.said_at_ms, note.turn_ids)


def reminder_of(note: Note) -> Reminder:
    """Return a note that rings as it is listed."""
    rang = [each.original_local for each in note.occurrences if each.state == "rang"]
    due_at_ms = note.rings_at_ms
    if due_at_ms is None and rang:
        due_at_ms = series.at_ms_of(rang[-1], note.time_zone)
    status: Literal["scheduled", "delivered"] = "delivered" if waits_for_word(note) else "scheduled"
    return Reminder(note.note_id, note.text, status, due_at_ms, note.time_zone, note.repeats)


# --- reading --------------------------------------------------------------------------------------------------------


async def read_matters(workspace: Workspace, conversation_id: str) -> Matters:
    """Return what is noted, open and to come. Raises `StorageError`."""
    ledger, now_ms = await _ledger(workspace, conversation_id), workspace.memory.clock.now_ms()
    notes = [note for _, found in by_heading(ledger, now_ms) for note in found]
    return Matters(
        conversation_id,
        tuple(known(note, now_ms) for note in notes),
        tuple(await read_open(workspace.memory, conversation_id)),
        tuple(map(reminder_of, ringing(ledger))),
    )


async def _ledger(workspace: Workspace, conversation_id: str) -> Ledger:
    return await workspace.memory.ledgers.read(conversation_id)


async def _note(workspace: Workspace, conversation_id: str, ref: str, what: str = "note") -> Note:
    standing = [note for note in await _ledger(workspace, conversation_id) if note.is_open]
    return the_one(standing, ref, lambda note: note.note_id, what)


async def _change(workspace: Workspace, conversation_id: str, operation: Operation) -> None:
    """Change a note by an operator's hand. Raises OpsError when it has no place, `StorageError`."""
    by = Actor("operator", workspace.memory.clock.now_ms())
    [outcome] = await workspace.memory.change(conversation_id, [operation], by)
    if not isinstance(outcome, Applied):
        raise OpsError(f"it was not changed ({outcome.code}); look again")


# --- notes ----------------------------------------------------------------------------------------------------------


async def note_to_forget(workspace: Workspace, conversation_id: str, ref: str) -> NoteToForget:
    """Return what would be forgotten with a note. Raises OpsError, `StorageError`."""
    note = await _note(workspace, conversation_id, ref)
    turns = [await workspace.memory.store.turn(turn_id) for turn_id in note.turn_ids]
    quoted = tuple(turn.user_text for turn in turns[:QUOTED_TURNS] if turn)
    return NoteToForget(known(note, workspace.memory.clock.now_ms()), len(note.turn_ids), quoted)


async def forget_note(workspace: Workspace, conversation_id: str, ref: str) -> tuple[Forgotten, Proof]:
    """Forget a note with the messages that it rests on, for ever (P13), and look into the files for traces.

    No turn may be under way in the conversation meanwhile. Raises OpsError, `StorageError` with nothing forgotten.
    """
    note = await _note(workspace, conversation_id, ref)
    request = ForgetRequest(conversation_id, note_ids=(note.note_id,), messages_too=True)
    forgotten = await workspace.memory.forgetter.forget(request)
    return forgotten, await workspace.memory.forgetter.prove(forgotten)


async def correct_note(workspace: Workspace, conversation_id: str, ref: str, text: str) -> str:
    """Give a note other words, and return them; what people said stays as they said it.

    Raises OpsError, `StorageError` with nothing changed.
    """
    words = wording(text)
    note = await _note(workspace, conversation_id, ref)
    if words != note.text:
        await _change(workspace, conversation_id, Change(number=note.number, fields={"text": words}))
    return words


# --- open matters and reminders -------------------------------------------------------------------------------------


async def end_loop(workspace: Workspace, conversation_id: str, loop_id: str, ending: Ending) -> OpenMatter:
    """Call an open matter done, or drop it; return it. Raises OpsError, `StorageError`."""
    found = await read_open(workspace.memory, conversation_id)
    listed = the_one(found, loop_id, lambda each: each.loop.loop_id, "open matter")
    try:
        await end_open(workspace.memory, conversation_id, loop_id, ending)
    except KeyError:
        raise OpsError("the matter has ended meanwhile") from None
    return listed


async def cancel_reminder(workspace: Workspace, conversation_id: str, job_id: str) -> Reminder:
    """Take a reminder back; return it. A running bot `look`s at its reminders then. Raises OpsError, `StorageError`."""
    note = await _ringing(workspace, conversation_id, job_id)
    await _change(workspace, conversation_id, cancelling(note))
    return reminder_of(note)


async def move_reminder(workspace: Workspace, conversation_id: str, job_id: str, due_at_ms: int) -> Reminder:
    """Give a reminder another time, of a series its next date; return it as it was. Raises as `cancel_reminder`."""
    note = await _ringing(workspace, conversation_id, job_id)
    now_ms = workspace.memory.clock.now_ms()
    if not now_ms < due_at_ms <= now_ms + MAX_AHEAD_MS:
        raise OpsError("a reminder needs a time that is still to come, within ten years")
    coming = series.next_ring(note)
    if note.repeats and coming:
        operation: Operation = Move(number=note.number, occurrence=coming[0], to_ms=due_at_ms)
    else:
        operation = Change(
            number=note.number, fields={"rings_from": series.local_of(due_at_ms, note.time_zone), "occurrences": ()}
        )
    await _change(workspace, conversation_id, operation)
    return reminder_of(note)


async def reminder(workspace: Workspace, conversation_id: str, job_id: str) -> Reminder:
    """Return a reminder that rings still or waits for a word. Raises OpsError, `StorageError`."""
    return reminder_of(await _ringing(workspace, conversation_id, job_id))


async def _ringing(workspace: Workspace, conversation_id: str, job_id: str) -> Note:
    found = ringing(await _ledger(workspace, conversation_id))
    return the_one(found, job_id, lambda note: note.note_id, "reminder")
