"""What a reader is given, and what of the notes before stays when a session is read again. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from memory.language.languages import Languages
from memory.notes.types import LastingNote, Matter, ReadingRequest, SessionNotes, Settled
from memory.notes.view import merge
from memory.types import UNDOES, ConversationTurn

CHUNK_TURNS = 20
"""How many turns are read at a time."""
BEFORE_TURNS = 3
"""How many turns that were read already come along, for what "it" and "yes" mean."""
UNKNOWN_LANGUAGE = "en"

N = TypeVar("N", Matter, LastingNote)


def request_of(
    turns: Sequence[ConversationTurn],
    before: Sequence[ConversationTurn],
    notes: SessionNotes | None,
    others: Sequence[SessionNotes],
    languages: Languages,
    *,
    zone: str,
    now_ms: int,
) -> ReadingRequest:
    """Return the request to read these turns of one session; `others` are the notes of the sessions before it."""
    view = merge(others, now_ms, languages)
    spoken = next((turn.language for turn in reversed(turns) if turn.language), None)
    return ReadingRequest(
        session_id=turns[0].session_id,
        conversation_id=turns[0].conversation_id,
        turns=tuple(turns),
        before=tuple(turn for turn in before if not turn.unfiled),
        notes=notes,
        open_matters=view.matters,
        lasting=view.lasting,
        names=tuple(sorted({name for each in others for name in each.names})),
        zone=zone,
        now_ms=now_ms,
        language=spoken or (notes.language if notes else UNKNOWN_LANGUAGE),
    )


def unread(request: ReadingRequest) -> SessionNotes:
    """Return the notes so far, moved past these turns with nothing added: what is left when a reader fails."""
    notes = request.notes or SessionNotes(session_id=request.session_id, conversation_id=request.conversation_id)
    moved = {"read_through_seq": request.turns[-1].seq, "written_at_ms": request.now_ms}
    return notes.model_copy(update=moved | {"language": request.language})


def unfiled(turn: ConversationTurn) -> ConversationTurn:
    """Return a turn that was taken back as one of which nothing is noted."""
    return turn.model_copy(update={"action_name": UNDOES})


def rests_on(notes: SessionNotes) -> set[str]:
    """Return the ids of all turns that something in the notes cites or was first said in."""
    items: tuple[Matter | LastingNote | Settled, ...] = (*notes.matters, *notes.lasting, *notes.settled)
    turn_ids = {turn_id for item in items for turn_id in item.turn_ids} | set(notes.standing_turn_ids)
    refs = {matter.matter_id for matter in notes.matters} | {note.note_id for note in notes.lasting}
    refs |= {ref for matter in notes.matters for ref in matter.replaces}
    refs |= {ref for note in notes.lasting for ref in note.replaces}
    refs |= {item.matter_id for item in notes.settled if item.matter_id}
    return turn_ids | {ref.rpartition(".")[0] for ref in refs}


def reopened(notes: SessionNotes, turn_ids: Collection[str]) -> SessionNotes:
    """Return the notes with open again what these turns ended."""
    ended = {each.matter_id for each in notes.settled if not set(each.turn_ids).isdisjoint(turn_ids)}
    matters = (m.model_copy(update={"status": "open"}) if m.matter_id in ended else m for m in notes.matters)
    return notes.model_copy(update={"matters": tuple(matters)})


def texts_of(notes: SessionNotes) -> tuple[str, ...]:
    """Return every text of the notes."""
    items: tuple[Matter | LastingNote | Settled, ...] = (*notes.matters, *notes.lasting, *notes.settled)
    return tuple(filter(None, (notes.title, notes.standing, *(item.text for item in items))))


def ended_between(new: SessionNotes, before: SessionNotes | None, now: SessionNotes | None) -> SessionNotes:
    """Return new notes in which nothing is open that was ended by hand between two moments, while they were made."""
    if before is None or now is None:
        return new
    were_open = {matter.matter_id for matter in before.matters if matter.status == "open"}
    ended = {m.matter_id: m.status for m in now.matters if m.status != "open" and m.matter_id in were_open}
    matters = (m.model_copy(update={"status": ended.get(m.matter_id, m.status)}) for m in new.matters)
    return new.model_copy(update={"matters": tuple(matters)})


def carried(new: SessionNotes, old: SessionNotes) -> SessionNotes:
    """Return notes that were read again with what was done by hand in the old ones: ended, or worded otherwise.

    A matter that was spoken of since keeps what the reading says.
    """
    before = {matter.matter_id: matter for matter in old.matters if matter.status != "open"}
    worded: dict[str, Matter | LastingNote] = {each.matter_id: each for each in old.matters if each.by_hand}
    worded |= {each.note_id: each for each in old.lasting if each.by_hand}

    def as_worded(note: N, ref: str) -> N:
        by_hand = worded.get(ref)
        if by_hand is None or note.said_at_ms > by_hand.said_at_ms:
            return note
        return note.model_copy(update={"text": by_hand.text, "quoted": None, "by_hand": True})

    def kept(matter: Matter) -> Matter:
        matter = as_worded(matter, matter.matter_id)
        ended = before.get(matter.matter_id)
        if ended is None or matter.status != "open" or matter.said_at_ms > ended.said_at_ms:
            return matter
        return matter.model_copy(update={"status": ended.status})

    lasting = tuple(as_worded(note, note.note_id) for note in new.lasting)
    return new.model_copy(update={"matters": tuple(map(kept, new.matters)), "lasting": lasting})
