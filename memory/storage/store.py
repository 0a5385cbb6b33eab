"""Statements that write sessions, and reads of sessions and turns as contracts."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import TypeAdapter

from memory.packets import ConversationContextPacket, JobProgress, Tier, TierReceipt
from memory.ports import Database, Row, Statement
from memory.storage.turn_rows import LoggedTurn, checked
from memory.types import BY_CLOCK, CompactionMark, ConversationTurn, SessionState, SessionStatus

NO_LIMIT = 2**31
LAST_SEQ = 2**62
_RECEIPTS = TypeAdapter(tuple[TierReceipt, ...])
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as lists show it; `update_session` must name its `version`."""

    session_id: str
    conversation_id: str
    user_id: int | None
    origin: str
    status: SessionStatus
    state_json: str
    rolling_summary: str
    turn_count: int
    last_seq: int
    version: int
    created_at_ms: int
    last_turn_at_ms: int
    title: str


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction on record (004)."""

    compaction_id: str
    session_id: str
    reason: str
    method: str
    from_seq: int
    through_seq: int
    tokens_before: int
    tokens_after: int
    previous: CompactionMark | None
    mark: CompactionMark
    undone_at_ms: int | None
    created_at_ms: int


def _state_params(state: SessionState, title: str) -> dict[str, Any]:
    return {
        "session_id": state.session_id,
        "status": state.status,
        "state_json": state.model_dump_json(),
        "rolling_summary": state.rolling_summary,
        "turn_count": state.turn_count,
        "last_seq": state.last_seq,
        "title": title,
    }


def insert_session(
    state: SessionState, *, user_id: int | None, origin: str, created_at_ms: int, title: str = ""
) -> Statement:
    """Open a session with `version` 1; `Conflict` when its id is taken."""
    params = _state_params(state, title) | {
        "conversation_id": state.conversation_id,
        "user_id": user_id,
        "origin": origin,
        "created_at_ms": created_at_ms,
        "last_turn_at_ms": state.last_turn_at_ms or created_at_ms,
    }
    return Statement("insert_session", params, expect=1)


def update_session(state: SessionState, *, version: int, title: str, at_ms: int) -> Statement:
    """Store a state over the row that has `version` (it becomes `version + 1`); `Conflict` when it moved on.

    `at_ms` stands for the last turn's time while the session has no turn.
    """
    params = _state_params(state, title)
    params["version"] = version
    params["last_turn_at_ms"] = state.last_turn_at_ms or at_ms
    return Statement("update_session", params, expect=1)


def set_session_status(session_id: str, status: SessionStatus) -> Statement:
    """Change only the status column; hydration lets it win over the stored state's."""
    return Statement("set_session_status", {"session_id": session_id, "status": status})


def pause_session(session_id: str, at_ms: int) -> list[Statement]:
    """Let a session step back for another; its turns are read at once."""
    hasten = Statement("hasten_reading", {"session_id": session_id, "at_ms": at_ms})
    return [set_session_status(session_id, "paused"), hasten]


def mark_resuming() -> Statement:
    """Mark every session that was at work when the process died."""
    return Statement("mark_resuming")


def point_conversation(conversation_id: str, session_id: str, at_ms: int) -> Statement:
    """Make a session the current one of its conversation."""
    params = {"conversation_id": conversation_id, "session_id": session_id, "created_at_ms": at_ms}
    return Statement("point_conversation", params)


def adopt_conversation(conversation_id: str, session_id: str, last_turn_at_ms: int) -> Statement:
    """Make a session that came back current, unless the current one has newer turns."""
    params = {"conversation_id": conversation_id, "session_id": session_id, "last_turn_at_ms": last_turn_at_ms}
    return Statement("adopt_conversation", params)


def snapshot_row(packet: ConversationContextPacket, turn_id: str) -> Statement:
    """Return the record of a turn's packet and of the cuts in it (003 FR-006)."""
    used: dict[Tier, int] = {receipt.tier: receipt.used_tokens for receipt in packet.receipts}
    cut: dict[Tier, int] = {receipt.tier: receipt.cut_items for receipt in packet.receipts}
    params = {
        "turn_id": turn_id,
        "session_id": packet.session_id,
        "message_history_count": len(packet.history),
        "message_history_tokens": used.get("history", 0),
        "messages_truncated": cut.get("history", 0),
        "today_summary_present": int(bool(packet.today)),
        "open_threads_count": sum(line.startswith("#") for line in packet.threads.splitlines()),
        "last_conversation_present": int(bool(packet.last_conversation)),
        "retrieved_count": len(packet.retrieved),
        "summary_tokens": used.get("summary", 0),
        "total_tokens": packet.prompt_tokens,
        "instructions_tokens": packet.instructions_tokens,
        "tools_tokens": packet.tools_tokens,
        "bootstrap_tokens": packet.bootstrap_tokens,
        "message_tokens": packet.message_tokens,
        "receipts_json": _RECEIPTS.dump_json(packet.receipts).decode(),
        "compiled_at_ms": packet.context_compiled_at_ms,
    }
    return Statement("insert_context_snapshot", params, expect=1)


def read_session_row(row: Row) -> SessionRow:
    """Return the session in a row."""
    return SessionRow(**row)


def read_compaction_row(row: Row) -> Compaction:
    """Return the compaction in a row."""
    fields = dict(row)
    previous, mark = fields.pop("previous_json"), fields.pop("mark_json")
    return Compaction(
        **fields,
        previous=None if previous == "null" else CompactionMark.model_validate_json(previous),
        mark=CompactionMark.model_validate_json(mark),
    )


class Store:
    """Reads of sessions and turns, each raising `StorageUnavailable`; `db` is there for everybody's own queries."""

    def __init__(self, db: Database) -> None:
        self.db = db

    async def session(self, session_id: str) -> SessionRow | None:
        """Return one session, None when there is none."""
        row = await self.db.read_one("get_session", session_id=session_id)
        return read_session_row(row) if row else None

    async def current_session_id(self, conversation_id: str) -> str | None:
        """Return the session of the next message, None before the first."""
        row = await self.db.read_one("current_session", conversation_id=conversation_id)
        return row["current_session_id"] if row else None

    async def sessions(self, conversation_id: str, *, limit: int = 10, offset: int = 0) -> list[SessionRow]:
        """Return a conversation's sessions that hold turns, the latest first."""
        rows = await self.db.read("list_sessions", conversation_id=conversation_id, limit=limit, offset=offset)
        return [read_session_row(row) for row in rows]

    async def talks(self, conversation_id: str, *, limit: int) -> list[SessionRow]:
        """Return the sessions in which a person said something, the latest first; none that is private."""
        here = {"conversation_id": conversation_id, "by_clock": BY_CLOCK}
        return [read_session_row(row) for row in await self.db.read("list_talks", **here, limit=limit)]

    async def said_in(self, session_id: str) -> int:
        """Return how many turns of a session a person began; the others are runs of tasks."""
        row = await self.db.read_one("said_in_session", session_id=session_id, by_clock=BY_CLOCK)
        return int(row["turns"]) if row else 0

    async def all_sessions(self, *, limit: int = 100) -> list[SessionRow]:
        """Return the sessions of all conversations, the latest first."""
        rows = await self.db.read("all_sessions", limit=limit)
        return [read_session_row(row) for row in rows]

    async def session_ids(self) -> set[str]:
        """Return the ids of all sessions."""
        return {row["session_id"] for row in await self.db.read("session_ids")}

    async def session_counts(self) -> dict[str, tuple[int, int]]:
        """Return status → (sessions, turns)."""
        rows = await self.db.read("session_counts")
        return {row["status"]: (row["sessions"], row["turns"]) for row in rows}

    async def last_logged(self, session_id: str, limit: int) -> list[LoggedTurn]:
        """Return a session's newest turns with their digests, oldest first."""
        rows = await self.db.read("last_turns", session_id=session_id, limit=limit)
        return [checked(row) for row in reversed(rows)]

    async def logged_between(
        self, session_id: str, from_seq: int, through_seq: int = LAST_SEQ, *, limit: int = NO_LIMIT
    ) -> list[LoggedTurn]:
        """Return a stretch of a session with its digests, oldest first, both ends included."""
        rows = await self.db.read(
            "turns_between", session_id=session_id, from_seq=from_seq, through_seq=through_seq, limit=limit
        )
        return [checked(row) for row in rows]

    async def last_turns(self, session_id: str, limit: int) -> list[ConversationTurn]:
        """Return a session's newest turns, oldest first."""
        return [logged.turn for logged in await self.last_logged(session_id, limit)]

    async def turns_after(self, session_id: str, seq: int, *, limit: int = NO_LIMIT) -> list[ConversationTurn]:
        """Return the turns that follow a seq, oldest first."""
        return [logged.turn for logged in await self.logged_between(session_id, seq + 1, limit=limit)]

    async def turns_between(self, session_id: str, from_seq: int, through_seq: int) -> list[ConversationTurn]:
        """Return a stretch of a session, oldest first, both ends included."""
        return [logged.turn for logged in await self.logged_between(session_id, from_seq, through_seq)]

    async def turn(self, turn_id: str) -> ConversationTurn | None:
        """Return one turn, None when there is none."""
        row = await self.db.read_one("get_turn", turn_id=turn_id)
        return checked(row).turn if row else None

    async def turns(self, turn_ids: Iterable[str]) -> list[ConversationTurn]:
        """Return those of these turns that are there, each once, in the order in which they are named."""
        wanted = list(dict.fromkeys(turn_ids))
        rows = await self.db.read("search_turns", turns=orjson.dumps(wanted).decode()) if wanted else []
        return sorted((checked(row).turn for row in rows), key=lambda turn: wanted.index(turn.turn_id))

    async def turn_answering(self, dedupe_key: str) -> ConversationTurn | None:
        """Return the turn that answers the message of this key, None when none did yet."""
        row = await self.db.read_one("turn_answering", dedupe_key=dedupe_key)
        return checked(row).turn if row else None

    async def count_turns(self, session_id: str) -> tuple[int, int]:
        """Return the number of a session's turns in the log, and its last seq (0 for none)."""
        row = await self.db.read_one("count_turns", session_id=session_id)
        return (row["turns"], row["last_seq"]) if row else (0, 0)

    async def active_jobs(self, conversation_id: str) -> list[JobProgress]:
        """Return the assistant's open work in a conversation (002 section 5.4)."""
        rows = await self.db.read("active_jobs", conversation_id=conversation_id)
        return [JobProgress.model_validate(dict(row)) for row in rows]

    async def context_snapshots(self, session_id: str, *, limit: int = 20) -> list[Row]:
        """Return the receipts of a session's packets as rows, the latest first."""
        return await self.db.read("context_snapshots", session_id=session_id, limit=limit)

    async def compactions(self, session_id: str, *, limit: int = 20) -> list[Compaction]:
        """Return the compactions of a session, the latest first."""
        rows = await self.db.read("compactions", session_id=session_id, limit=limit)
        return [read_compaction_row(row) for row in rows]
