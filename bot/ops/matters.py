"""What is noted, open and to come in a conversation, and changing it by hand: for the console and the commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from bot.answers.open_list import ListedLoop
from bot.features.loops import Ending, end_open, read_open
from bot.features.memories import Known, everything_known, known_memory, tells
from bot.ops.workspace import OpsError, Workspace
from bot.reminders.rules import MAX_AHEAD_MS, Event, Reminder, advance_reminder, move_to, next_status, read_reminder
from bot.reminders.scheduler import change_session
from memory.language.sentences import clean
from memory.longterm.promoter import read_memory_row
from memory.notes.types import TEXT_MAX_CHARS, LastingNote, Matter, SessionNotes, key_of
from memory.ports import Statement
from memory.privacy.forget import Forgotten, Proof
from memory.privacy.plan import ForgetRequest
from memory.search.searcher import index_memory, unindex_memory
from memory.state.state_manager import end_job
from memory.types import Memory

READ_MOST = 500
QUOTED_TURNS = 5

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Matters:
    """What there is of a conversation to be changed by hand."""

    conversation_id: str
    notes: tuple[Known, ...]
    loops: tuple[ListedLoop, ...]
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
    words = " ".join(clean(text).split())
    if not words:
        raise OpsError("a note needs words; to have it gone, forget it")
    if len(words) > TEXT_MAX_CHARS:
        raise OpsError(f"a note has at most {TEXT_MAX_CHARS} characters, this one has {len(words)}; shorten it")
    return words


def reworded(ref: str, text: str) -> Callable[[SessionNotes], SessionNotes]:
    """Return the change of one note's words; a quotation it is no longer. It raises KeyError when it is not there."""
    new = {"text": text, "quoted": None, "by_hand": True}

    def apply(notes: SessionNotes) -> SessionNotes:
        items: list[Matter | LastingNote] = [*notes.matters, *notes.lasting]
        if all(key_of(each) != ref for each in items):
            raise KeyError(ref)
        matters = tuple(m.model_copy(update=new) if m.matter_id == ref else m for m in notes.matters)
        lasting = tuple(n.model_copy(update=new) if n.note_id == ref else n for n in notes.lasting)
        return notes.model_copy(update={"matters": matters, "lasting": lasting})

    return apply


# --- reading --------------------------------------------------------------------------------------------------------


async def read_matters(workspace: Workspace, conversation_id: str) -> Matters:
    """Return what is noted, open and to come. Raises `StorageError`."""
    return Matters(
        conversation_id,
        tuple(await read_notes(workspace, conversation_id)),
        tuple(await read_open(workspace.memory, conversation_id)),
        tuple(await read_reminders(workspace, conversation_id)),
    )


async def read_notes(workspace: Workspace, conversation_id: str) -> list[Known]:
    """Return all that is remembered of a conversation, as its people see it with /memory."""
    view = await workspace.memory.notes.view(conversation_id)
    return everything_known(await _memories(workspace, conversation_id), view)


async def read_reminders(workspace: Workspace, conversation_id: str) -> list[Reminder]:
    """Return the reminders that are to come or were not called done, whoever asked for them, the earliest first."""
    return [read_reminder(row) for row in await workspace.memory.db.read("ops_jobs", conversation_id=conversation_id)]


async def _memories(workspace: Workspace, conversation_id: str) -> list[Memory]:
    where = {"conversation_id": conversation_id, "user_id": None, "limit": READ_MOST, "offset": 0}
    return [read_memory_row(row) for row in await workspace.memory.db.read("memories_remembered", **where)]


# --- notes ----------------------------------------------------------------------------------------------------------


async def note_to_forget(workspace: Workspace, conversation_id: str, ref: str) -> NoteToForget:
    """Return what would be forgotten with a note. Raises OpsError, `StorageError`."""
    note = the_one(await read_notes(workspace, conversation_id), ref, _ref_of_note, "note")
    turns = [await workspace.memory.store.turn(turn_id) for turn_id in note.turn_ids]
    quoted = tuple(turn.user_text for turn in turns[:QUOTED_TURNS] if turn)
    return NoteToForget(note, len(note.turn_ids), quoted)


async def forget_note(workspace: Workspace, conversation_id: str, ref: str) -> tuple[Forgotten, Proof]:
    """Forget a note with the messages that it rests on, for ever (P13), and look into the files for traces.

    No turn may be under way in the conversation meanwhile. Raises OpsError, `StorageError` with nothing forgotten.
    """
    note = the_one(await read_notes(workspace, conversation_id), ref, _ref_of_note, "note")
    request = ForgetRequest(
        conversation_id,
        turn_ids=tuple(note.payload.get("turn_ids", ())),
        note_ids=tuple(note.payload.get("note_ids", ())),
        messages_too=True,
    )
    forgotten = await workspace.memory.forgetter.forget(request)
    return forgotten, await workspace.memory.forgetter.prove(forgotten)


async def correct_note(workspace: Workspace, conversation_id: str, ref: str, text: str) -> str:
    """Give a note other words, and return them; what people said stays as they said it.

    A memory that says the same of the same turn steps back. Raises OpsError, `StorageError` with nothing changed.
    """
    words = wording(text)
    note = the_one(await read_notes(workspace, conversation_id), ref, _ref_of_note, "note")
    memories = await _memories(workspace, conversation_id)
    if "memory_ids" in note.payload:
        old = next(each for each in memories if each.memory_id == ref)
        await workspace.memory.db.write(*_reworded_memory(workspace, conversation_id, old, words))
        return words
    same = [each for each in memories if tells(note, known_memory(each))]
    try:
        await workspace.memory.notes.rows.change(note.session_id, reworded(ref, words), *_withdrawn(same))
    except KeyError:
        raise OpsError("the note was read again meanwhile; look again") from None
    return words


def _reworded_memory(workspace: Workspace, conversation_id: str, old: Memory, words: str) -> list[Statement]:
    """Return what gives a memory other words, also where it is searched; it keeps its id, so nothing brings it back."""
    new = old.model_copy(update={"text": words})
    return [
        Statement("ops_memory_reword", {"memory_id": old.memory_id, "text": words}, expect=1),
        unindex_memory(old.memory_id),
        index_memory(new, conversation_id, workspace.memory.languages),
    ]


def _withdrawn(memories: Sequence[Memory]) -> list[Statement]:
    rows = [Statement("memory_withdraw", {"memory_id": each.memory_id}) for each in memories]
    return rows + [unindex_memory(each.memory_id) for each in memories]


def _ref_of_note(note: Known) -> str:
    return note.ref


# --- open matters and reminders -------------------------------------------------------------------------------------


async def end_loop(workspace: Workspace, conversation_id: str, loop_id: str, ending: Ending) -> ListedLoop:
    """Call an open matter done, or drop it; return it. Raises OpsError, `StorageError`."""
    found = await read_open(workspace.memory, conversation_id)
    listed = the_one(found, loop_id, lambda each: each.loop.loop_id, "open matter")
    try:
        await end_open(workspace.memory, listed, ending, workspace.memory.clock.now_ms())
    except KeyError:
        raise OpsError("the matter has ended meanwhile") from None
    return listed


async def cancel_reminder(workspace: Workspace, conversation_id: str, job_id: str) -> Reminder:
    """Take a reminder back; return it. A running bot `look`s at its reminders then. Raises OpsError, `StorageError`."""
    found = await reminder(workspace, conversation_id, job_id, "cancel")
    memory = workspace.memory
    move = advance_reminder(found, "cancel", memory.clock.now_ms())
    await change_session(memory.recorder, memory.db, found.session_id, partial(end_job, job_id=job_id), move)
    return found


async def move_reminder(workspace: Workspace, conversation_id: str, job_id: str, due_at_ms: int) -> Reminder:
    """Give a reminder another time; return it as it was. Raises and `look` as for `cancel_reminder`."""
    found = await reminder(workspace, conversation_id, job_id, "snooze")
    now_ms = workspace.memory.clock.now_ms()
    if not now_ms < due_at_ms <= now_ms + MAX_AHEAD_MS:
        raise OpsError("a reminder needs a time that is still to come, within ten years")
    await workspace.memory.db.write(move_to(found, due_at_ms, now_ms))
    return found


async def reminder(workspace: Workspace, conversation_id: str, job_id: str, event: Event) -> Reminder:
    """Return a reminder to which this may still happen. Raises OpsError, `StorageError`."""
    row = await workspace.memory.db.read_one("job_find", job_id=job_id, conversation_id=conversation_id)
    found = the_one([read_reminder(row)] if row else [], job_id, lambda each: each.job_id, "reminder")
    if next_status(found.status, event) is None:
        raise OpsError(f"the reminder “{found.title}” is {found.status} already")
    return found
