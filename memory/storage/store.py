"""Rows <-> contracts: every statement about sessions and turns is built here, every row of theirs is read here."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from memory.packets import ConversationContextPacket, JobProgress, Tier, TierReceipt
from memory.ports import Database, Row, Statement
from memory.types import CompactionMark, ConversationTurn, SessionState, SessionStatus

DIGEST_BYTES = 16
NO_LIMIT = 2**31
LAST_SEQ = 2**62
_RECEIPTS = TypeAdapter(tuple[TierReceipt, ...])

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A turn as the log holds it, with the chain digest that was stored beside it."""

    turn: ConversationTurn
    digest: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as lists show it; `version` is what `update_session` must name."""

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


# --- pure: digests --------------------------------------------------------------------------------------------------


def turn_digest(previous_digest: str, turn: ConversationTurn) -> str:
    """Return the chain digest of a turn: blake2b over the digest of the turn before it and this turn's fields (P8).

    The fields are those of turn schema 1 in a fixed order; what was added later counts only where it is set, so that
    older digests stay as they are.
    """
    calls = [(call.call_id, call.name, call.arguments, call.result) for call in turn.tool_calls]
    fields = (
        previous_digest, turn.turn_id, turn.session_id, turn.conversation_id, turn.seq, turn.user_id, turn.user_text,
        turn.assistant_text, turn.intent, turn.action_name, turn.response_type, turn.job_refs, calls, turn.third_party,
        turn.language, turn.user_tokens, turn.assistant_tokens, turn.tool_tokens, turn.created_at_ms,
        *(() if turn.authored is None else (turn.authored,)),
    )  # fmt: skip
    return hashlib.blake2b(orjson.dumps(fields), digest_size=DIGEST_BYTES).hexdigest()


def chain(previous_digest: str, turns: Sequence[ConversationTurn]) -> list[LoggedTurn]:
    """Return consecutive turns with their digests, beginning after the turn that has `previous_digest`."""
    logged = []
    for turn in turns:
        previous_digest = turn_digest(previous_digest, turn)
        logged.append(LoggedTurn(turn, previous_digest))
    return logged


# --- pure: contracts -> statements ----------------------------------------------------------------------------------


def turn_params(turn: ConversationTurn, digest: str) -> dict[str, Any]:
    """Return a turn's columns."""
    calls = [call.model_dump() for call in turn.tool_calls]
    return {
        "turn_id": turn.turn_id,
        "session_id": turn.session_id,
        "conversation_id": turn.conversation_id,
        "seq": turn.seq,
        "user_id": turn.user_id,
        "user_text": turn.user_text,
        "assistant_text": turn.assistant_text,
        "intent": turn.intent,
        "action_name": turn.action_name,
        "response_type": turn.response_type,
        "job_refs": orjson.dumps(turn.job_refs).decode() if turn.job_refs else "[]",
        "tool_calls_json": orjson.dumps(calls).decode() if calls else "[]",
        "third_party": int(turn.third_party),
        "authored": turn.authored,
        "language": turn.language,
        "user_tokens": turn.user_tokens,
        "assistant_tokens": turn.assistant_tokens,
        "tool_tokens": turn.tool_tokens,
        "digest": digest,
        "created_at_ms": turn.created_at_ms,
    }


def insert_turn(
    turn: ConversationTurn,
    digest: str,
    *,
    model: str | None = None,
    input_tokens: int = 0,
    output_tokens: int = 0,
    dedupe_key: str | None = None,
) -> Statement:
    """Append a turn; `Conflict` when its id, its (session, seq) or its (bot, update) is taken (P2)."""
    params = turn_params(turn, digest)
    params["model"] = model
    params["input_tokens"] = input_tokens
    params["output_tokens"] = output_tokens
    params["dedupe_key"] = dedupe_key
    return Statement("insert_turn", params, expect=1)


def heal_turn(turn: ConversationTurn, digest: str) -> Statement:
    """Write a damaged row again from the checkpoint's copy; usage and update id stay."""
    return Statement("heal_turn", turn_params(turn, digest), expect=1)


def rewrite_turn(logged: LoggedTurn) -> Statement:
    """Write a turn's place, digest and tool calls again: others before it went, or its calls lost their words."""
    params = turn_params(logged.turn, logged.digest)
    return Statement("rewrite_turn", {name: params[name] for name in ("turn_id", "seq", "digest", "tool_calls_json")})


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
    """Let a session step back for another; what was said in it is read at once."""
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
    """Return the record of what the model was given for a turn and what was cut (003 FR-006)."""
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


# --- pure: rows -> contracts ----------------------------------------------------------------------------------------


def _json_list(text: Any) -> list[Any]:
    if text == "[]":
        return []
    try:
        found = orjson.loads(text)
    except (orjson.JSONDecodeError, TypeError):
        return []
    return found if isinstance(found, list) else []


def read_turn_row(row: Row) -> LoggedTurn:
    """Return the turn in a row. Never raises: what cannot be read is left at its default, and the digest tells."""
    fields: dict[str, Any] = {
        "turn_id": row["turn_id"],
        "session_id": row["session_id"],
        "conversation_id": row["conversation_id"],
        "seq": row["seq"],
        "user_id": row["user_id"],
        "user_text": row["user_text"],
        "assistant_text": row["assistant_text"],
        "intent": row["intent"],
        "action_name": row["action_name"],
        "response_type": row["response_type"],
        "job_refs": _json_list(row["job_refs"]),
        "tool_calls": _json_list(row["tool_calls_json"]),
        "third_party": bool(row["third_party"]),
        "authored": row["authored"],
        "language": row["language"],
        "user_tokens": row["user_tokens"],
        "assistant_tokens": row["assistant_tokens"],
        "tool_tokens": row["tool_tokens"],
        "created_at_ms": row["created_at_ms"],
    }
    try:
        turn = ConversationTurn.model_validate(fields)
    except ValidationError as exc:
        bad = {str(error["loc"][0]) for error in exc.errors()} - {"turn_id", "session_id", "conversation_id", "seq"}
        kept = {name: value for name, value in fields.items() if name not in bad}
        defaults = {"user_text": "", "assistant_text": "", "created_at_ms": 0}
        turn = ConversationTurn.model_validate(defaults | kept)
    return LoggedTurn(turn, row["digest"])


def checked(row: Row) -> LoggedTurn:
    """Return the turn in a row that brings the digest of the turn before it; one that was altered is named in the log.

    It is used as it is: what stands there is most of what was said. A turn whose predecessor is gone is not judged.
    """
    logged = read_turn_row(row)
    before = "" if logged.turn.seq == 1 else row["digest_before"]
    if before is not None and turn_digest(before, logged.turn) != logged.digest:
        log.warning(
            "turn %d (%s) of session %s does not match its digest: it was altered on the disk; compare it with a "
            "backup (`checkpoint verify` looks at every turn)",
            logged.turn.seq,
            logged.turn.turn_id,
            logged.turn.session_id,
        )
    return logged


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
        """Return the session that the next message goes to, None before the first."""
        row = await self.db.read_one("current_session", conversation_id=conversation_id)
        return row["current_session_id"] if row else None

    async def sessions(self, conversation_id: str, *, limit: int = 10, offset: int = 0) -> list[SessionRow]:
        """Return a conversation's sessions that hold turns, the latest first."""
        rows = await self.db.read("list_sessions", conversation_id=conversation_id, limit=limit, offset=offset)
        return [read_session_row(row) for row in rows]

    async def all_sessions(self, *, limit: int = 100, offset: int = 0) -> list[SessionRow]:
        """Return the sessions of all conversations, the latest first."""
        rows = await self.db.read("all_sessions", limit=limit, offset=offset)
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

    async def turn_answering(self, dedupe_key: str) -> ConversationTurn | None:
        """Return the turn that answers what this key names, None when nothing did yet."""
        row = await self.db.read_one("turn_answering", dedupe_key=dedupe_key)
        return checked(row).turn if row else None

    async def count_turns(self, session_id: str) -> tuple[int, int]:
        """Return how many turns the log holds for a session, and its last seq (0 for none)."""
        row = await self.db.read_one("count_turns", session_id=session_id)
        return (row["turns"], row["last_seq"]) if row else (0, 0)

    async def active_jobs(self, conversation_id: str) -> list[JobProgress]:
        """Return what the assistant still has to do in a conversation (002 section 5.4)."""
        rows = await self.db.read("active_jobs", conversation_id=conversation_id)
        return [JobProgress.model_validate(dict(row)) for row in rows]

    async def context_snapshots(self, session_id: str, *, limit: int = 20) -> list[Row]:
        """Return the receipts of a session's packets as rows, the latest first."""
        return await self.db.read("context_snapshots", session_id=session_id, limit=limit)

    async def compactions(self, session_id: str, *, limit: int = 20) -> list[Compaction]:
        """Return the compactions of a session, the latest first."""
        rows = await self.db.read("compactions", session_id=session_id, limit=limit)
        return [read_compaction_row(row) for row in rows]
