"""Notes of a conversation, their history and refusals, and changes by hand: console and commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from bot.ops.workspace import OpsError, Workspace
from memory.ledger import series, views
from memory.ledger.types import (
    Actor,
    Applied,
    Change,
    End,
    Ending,
    Ledger,
    Merge,
    Note,
    NoteChange,
    Operation,
    Refusal,
    Reopen,
)
from memory.ports import Row
from memory.privacy.forget import Forgotten, Proof
from memory.privacy.plan import ForgetRequest
from memory.text import clean

QUOTED_TURNS: Final = 5
REFUSED_SHOWN: Final = 50

_WHY: Final = {
    "unknown": "there is no note #{number} in this conversation",
    "ended": "note #{number} has ended already ({detail})",
    "empty": "a note needs words; to have it gone, forget it",
    "same": "note #{number} reads so already",
    "known": "note #{number} says so already",
    "past": "a reminder needs a time that is still to come",
    "rule": "that is no rule by which something repeats: {detail}",
    "rings": "note #{number} and the other ring each at a time of their own; end one of them",
    "date": "note #{number} does not ring then",
    "field": "{detail} cannot be changed",
    "changed": "note #{number} was changed meanwhile; look again",
    "number": "the number #{number} is taken",
}


@dataclass(frozen=True, slots=True)
class RefusedChange:
    """Operations of a hand that were refused."""

    wanted: str
    reason: str
    hand: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class SeenNotes:
    """All notes of a conversation, as its operator sees them."""

    conversation_id: str
    ledger: Ledger
    standing: tuple[Note, ...]
    ended: tuple[Note, ...]
    refused: tuple[RefusedChange, ...]


@dataclass(frozen=True, slots=True)
class NoteToForget:
    """Things that go together with a note: the messages that it rests on, the first of them quoted."""

    note: Note
    quoted: tuple[str, ...]

    @property
    def turns(self) -> int:
        """The number of messages that the note rests on."""
        return len(self.note.turn_ids)


# --- pure -----------------------------------------------------------------------------------------------------------


def number_of(ref: str) -> int:
    """Return the number that `12` or `#12` names. Raises OpsError for anything else."""
    plain = ref.strip().removeprefix("#")
    if not (plain.isascii() and plain.isdecimal()):
        raise OpsError(f"'{ref}' is no number of a note; `continuity-bot notes list` names them")
    return int(plain)


def why(refusal: Refusal) -> str:
    """Return in words why an operation was not done."""
    return _WHY[refusal.code].format(number=refusal.number, detail=refusal.detail)


def read_refused(row: Row) -> RefusedChange:
    """Return the refusal as a line."""
    wanted = orjson.loads(row["change_json"])
    text = wanted.get("text") or wanted.get("fields", {}).get("text") or ""
    number = f" #{wanted['number']}" if wanted.get("number") else ""
    return RefusedChange(f"{wanted.get('op', '')}{number} {text}".strip(), row["reason"], row["hand"], row["at_ms"])


# --- reading --------------------------------------------------------------------------------------------------------


async def read_notes(workspace: Workspace, conversation_id: str) -> SeenNotes:
    """Return all notes, standing ones first, and the refused changes. Raises `StorageError`."""
    memory = workspace.memory
    ledger = await memory.ledgers.read(conversation_id)
    rows = await memory.db.read("note_refusals_of", conversation_id=conversation_id, limit=REFUSED_SHOWN)
    standing = views.best_first(views.standing(ledger), memory.clock.now_ms())
    ended = sorted(
        (note for note in ledger if not note.is_open and not note.is_forgotten), key=lambda note: -note.version
    )
    return SeenNotes(conversation_id, ledger, tuple(standing), tuple(ended), tuple(map(read_refused, rows)))


async def find_note(workspace: Workspace, conversation_id: str, ref: str) -> Note:
    """Return the note of this number. Raises OpsError, `StorageError`."""
    note = (await workspace.memory.ledgers.read(conversation_id)).find(number_of(ref))
    if note is None:
        raise OpsError(_WHY["unknown"].format(number=number_of(ref), detail=""))
    return note


async def history(workspace: Workspace, conversation_id: str, ref: str) -> Sequence[NoteChange]:
    """Return the changes of a note, from its beginning. Raises OpsError, `StorageError`."""
    note = await find_note(workspace, conversation_id, ref)
    return await workspace.memory.ledgers.history(note.note_id)


# --- changing -------------------------------------------------------------------------------------------------------


async def _change(workspace: Workspace, conversation_id: str, operation: Operation) -> Note:
    """Do one operation by the operator's hand; return the note as it stands. Raises OpsError, `StorageError`."""
    by = Actor("operator", workspace.memory.clock.now_ms())
    outcome = (await workspace.memory.change(conversation_id, [operation], by))[0]
    if not isinstance(outcome, Applied):
        raise OpsError(why(outcome))
    return outcome.note


async def correct(workspace: Workspace, conversation_id: str, ref: str, text: str) -> Note:
    """Give a note other words; people's messages stay as they wrote them."""
    words = " ".join(clean(text).split())
    return await _change(workspace, conversation_id, Change(number=number_of(ref), fields={"text": words}))


async def end(workspace: Workspace, conversation_id: str, ref: str, how: Ending) -> Note:
    """Call a note done, or drop it; a reminder does not ring any more."""
    return await _change(workspace, conversation_id, End(number=number_of(ref), how=how))


async def reopen(workspace: Workspace, conversation_id: str, ref: str) -> Note:
    """Let a note that ended stand again."""
    return await _change(workspace, conversation_id, Reopen(number=number_of(ref)))


async def merge(workspace: Workspace, conversation_id: str, ref: str, into: str) -> Note:
    """Let one note stand for both."""
    return await _change(workspace, conversation_id, Merge(number=number_of(ref), into=number_of(into)))


async def move(workspace: Workspace, conversation_id: str, ref: str, local: str) -> Note:
    """Let a note ring at another time (`2026-12-01T09:00` by its own clock); a series begins anew from there."""
    note = await find_note(workspace, conversation_id, ref)
    try:
        at_ms = series.at_ms_of(local, note.time_zone)
    except ValueError:
        raise OpsError("say when, as day and hour: 2026-12-01 09:00") from None
    if at_ms <= workspace.memory.clock.now_ms():
        raise OpsError(_WHY["past"])
    return await _change(workspace, conversation_id, Change(number=note.number, fields={"rings_from": local}))


async def to_forget(workspace: Workspace, conversation_id: str, ref: str) -> NoteToForget:
    """Return the things that would be forgotten with a note. Raises OpsError, `StorageError`."""
    note = await find_note(workspace, conversation_id, ref)
    turns = await workspace.memory.store.turns(note.turn_ids[:QUOTED_TURNS])
    return NoteToForget(note, tuple(turn.user_text for turn in turns))


async def forget(workspace: Workspace, conversation_id: str, ref: str) -> tuple[Forgotten, Proof]:
    """Forget a note with the messages that it rests on, for ever (P13), and look into the files for traces.

    No turn may be under way in the conversation meanwhile. Raises OpsError, `StorageError` with nothing forgotten.
    """
    note = await find_note(workspace, conversation_id, ref)
    request = ForgetRequest(conversation_id, note_ids=(note.note_id,), messages_too=True)
    forgotten = await workspace.memory.forgetter.forget(request)
    return forgotten, await workspace.memory.forgetter.prove(forgotten)
