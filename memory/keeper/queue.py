"""Sessions that wait to be read <-> rows: every statement about readings is built here, every row is read here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from memory.keeper.contract import KeeperRequest, RefusedProposal
from memory.ports import Database, Row, Statement
from memory.types import ConversationTurn

QUIET_MS = 120_000
"""How long a session is silent before it is read."""
CALM_MS = 3_600_000
"""The same of a session with few turns of which something may lack in the notes.

Of 18 readings in a trial 15 changed nothing: in 12 of them the model's tools had noted every turn. Of 19 in another
17 changed nothing, and ten were of one new turn.
"""
COMPANY_TURNS = 3
"""So many such turns are read as soon as it is quiet; fewer wait for company."""
UNREAD_TURNS = 20
"""From this many unread turns on a session is read without waiting for quiet."""
ATTEMPTS = 2
"""How often a model is asked about the same turns; then they wait until it is asked about others or for the notes."""


@dataclass(frozen=True, slots=True)
class WaitingReading:
    """A session with turns that are to be read."""

    session_id: str
    conversation_id: str
    user_id: int | None
    last_seq: int
    due_at_ms: int
    attempts: int
    read_through_seq: int = 0
    """The last turn that was read."""

    @property
    def unread(self) -> int:
        """The number of waiting turns."""
        return max(0, self.last_seq - self.read_through_seq)


@dataclass(frozen=True, slots=True)
class ReadingOutcome:
    """The result of asking a model."""

    kept: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Reason of a refusal → number of changes."""
    error: str = ""
    """The kind of failure, "" when it answered."""
    input_tokens: int = 0
    output_tokens: int = 0


# --- pure -------------------------------------------------------------------------------------------------------------


def ask_to_read(turn: ConversationTurn) -> Statement:
    """The statement that belongs to the transaction of a turn: it is read when the session falls quiet."""
    return waits(turn.session_id, turn.conversation_id, turn.user_id, turn.seq, turn.created_at_ms + QUIET_MS)


def waits(session_id: str, conversation_id: str, user_id: int | None, last_seq: int, due_at_ms: int) -> Statement:
    """The statement that has a session read through this turn from this time on."""
    params = {
        "session_id": session_id,
        "conversation_id": conversation_id,
        "user_id": user_id,
        "last_seq": last_seq,
        "due_at_ms": due_at_ms,
    }
    return Statement("put_reading", params)


def read_again(session_id: str) -> Statement:
    """The statement that has a session read again at once, where its line says from which turn on."""
    return Statement("read_again", {"session_id": session_id})


def end_reading(session_id: str, through_seq: int) -> Statement:
    """The end of a reading; a turn that came meanwhile waits on."""
    return Statement("end_reading", {"session_id": session_id, "through_seq": through_seq})


def claim(waiting: WaitingReading, reading_id: str, now_ms: int, until_ms: int) -> list[Statement]:
    """Statements that count an attempt and keep other keepers out of the conversation; `Conflict` when one is there."""
    lease = {"conversation_id": waiting.conversation_id, "reading_id": reading_id}
    attempts = max(ATTEMPTS, waiting.attempts + 1)
    return [
        Statement("keeper_lease_take", lease | {"until_ms": until_ms, "now_ms": now_ms}, expect=1),
        Statement("claim_reading", {"session_id": waiting.session_id, "max_attempts": attempts}, expect=1),
    ]


def give_back(conversation_id: str, reading_id: str, *, held: bool) -> Statement:
    """The end of a lease; with `held` a `Conflict` when it was revoked: then nothing of the reading is stored."""
    lease = {"conversation_id": conversation_id, "reading_id": reading_id}
    return Statement("keeper_lease_give_back", lease, expect=1 if held else None)


def revoke(conversation_id: str) -> Statement:
    """The statement that has a running reading thrown away: something that it may have been given was edited."""
    return Statement("keeper_lease_revoke", {"conversation_id": conversation_id})


def postpone(waiting: WaitingReading, due_at_ms: int) -> Statement:
    """The statement that lets a session be read later, if it still waits until the same moment."""
    was = {"session_id": waiting.session_id, "was_ms": waiting.due_at_ms}
    return Statement("postpone_reading", was | {"due_at_ms": due_at_ms})


def renew(session_id: str) -> Statement:
    """The statement that begins to count attempts again, for the turns that are left."""
    return Statement("renew_reading", {"session_id": session_id})


def log_reading(request: KeeperRequest, model: str, outcome: ReadingOutcome) -> Statement:
    """The record of the cost and the result of asking a model; it holds no text."""
    params = {
        "reading_id": request.reading_id,
        "session_id": request.session_id,
        "conversation_id": request.conversation_id,
        "model": model,
        "from_seq": request.turns[0].seq,
        "through_seq": request.turns[-1].seq,
        "kept": outcome.kept,
        "dropped_json": orjson.dumps(dict(outcome.dropped), option=orjson.OPT_SORT_KEYS).decode(),
        "error": outcome.error,
        "input_tokens": outcome.input_tokens,
        "output_tokens": outcome.output_tokens,
        "at_ms": request.now_ms,
    }
    return Statement("insert_model_reading", params)


def put_refused(request: KeeperRequest, refused: RefusedProposal, place: int) -> Statement:
    """The row of a change that stays refused, for the console; it goes with the turns that it cites (P13)."""
    change = refused.change.model_dump(mode="json", exclude_defaults=True)
    values = {
        "refusal_id": f"f_{request.reading_id}_{place}",
        "conversation_id": request.conversation_id,
        "session_id": request.session_id,
        "change_json": orjson.dumps(change).decode(),
        "reason": refused.reason,
        "turn_ids_json": orjson.dumps(refused.turn_ids or [turn.turn_id for turn in request.turns]).decode(),
        "hand": "keeper",
        "at_ms": request.now_ms,
    }
    return Statement("note_refusal_put", values)


def read_waiting(row: Row) -> WaitingReading:
    """The waiting reading in a row."""
    return WaitingReading(**row)


def may_wait(waiting: WaitingReading, turns: Sequence[ConversationTurn], lacking: int, now_ms: int) -> bool:
    """Whether these turns, all that are unread, wait for more: of few is something `lacking`, and no session ended."""
    last = turns[-1]
    is_quiet = waiting.due_at_ms == last.created_at_ms + QUIET_MS
    return (
        is_quiet
        and lacking < COMPANY_TURNS
        and last.seq == waiting.last_seq
        and len(turns) < UNREAD_TURNS
        and now_ms < last.created_at_ms + CALM_MS
    )


def in_turn(here: Sequence[WaitingReading], session_ids: Collection[str] | None, now_ms: int) -> list[WaitingReading]:
    """The sessions of a conversation that are read now, one after the other: these, or with None all not put off.

    Those that were given up are tried once more, before the others, when somebody asks or one of these has new turns:
    else their turns would count as read, as what came before those.
    """
    ready = [each for each in here if each.attempts == 0 or each.due_at_ms <= now_ms]
    these = ready if session_ids is None else [each for each in here if each.session_id in session_ids]
    given_up = [each for each in ready if each.attempts >= ATTEMPTS]
    if session_ids is not None and all(each.attempts for each in these):
        given_up = []
    return [*given_up, *(each for each in these if each not in given_up)]


# --- reads ------------------------------------------------------------------------------------------------------------


class ReadingQueue:
    """Reads of waiting readings; each raises `StorageUnavailable`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def due(self, now_ms: int, limit: int = 20) -> list[WaitingReading]:
        """The sessions that are to be read now, the longest due first."""
        when = {"now_ms": now_ms, "unread_turns": UNREAD_TURNS, "max_attempts": ATTEMPTS}
        return [read_waiting(row) for row in await self._db.read("readings_due", **when, limit=limit)]

    async def here(self, conversation_id: str) -> list[WaitingReading]:
        """The sessions of a conversation that wait, the oldest first."""
        return [read_waiting(row) for row in await self._db.read("readings_here", conversation_id=conversation_id)]

    async def spent(self, conversation_id: str, since_ms: int) -> tuple[int, int]:
        """The tokens that models took since then to talk, and to read turns."""
        here = {"conversation_id": conversation_id, "since_ms": since_ms}
        talk = await self._db.read_one("spent_on_talk", **here)
        reading = await self._db.read_one("spent_on_reading", **here)
        return (talk["tokens"] if talk else 0, reading["tokens"] if reading else 0)

    async def waiting(self, now_ms: int) -> int:
        """The number of readings that are due."""
        row = await self._db.read_one("readings_waiting", now_ms=now_ms, max_attempts=ATTEMPTS)
        return row["n"] if row else 0

    async def is_leased(self, conversation_id: str, now_ms: int) -> bool:
        """Whether somebody reads there just now."""
        row = await self._db.read_one("keeper_lease_of", conversation_id=conversation_id)
        return row is not None and row["until_ms"] > now_ms
