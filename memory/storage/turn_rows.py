"""Rows of turns: written, digested and chained, read back and checked (P8). Pure."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError

from memory.ports import Row, Statement
from memory.types import ConversationTurn

log = logging.getLogger(__name__)
DIGEST_BYTES = 16
REWRITTEN = (
    *("turn_id", "seq", "digest", "tool_calls_json", "user_text", "assistant_text", "authored"),
    *("user_tokens", "assistant_tokens", "tool_tokens"),
)


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A turn as the log holds it, with the chain digest that was stored beside it."""

    turn: ConversationTurn
    digest: str


def turn_digest(previous_digest: str, turn: ConversationTurn) -> str:
    """Return the chain digest of a turn: blake2b over the digest of the turn before it and this turn's fields (P8).

    The fields are those of turn schema 1 in a fixed order; a field added later counts only where it is set, so that
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
    """Write a turn's place, digest and words again: turns before it went, or a part of it."""
    params = turn_params(logged.turn, logged.digest)
    return Statement("rewrite_turn", {name: params[name] for name in REWRITTEN})


def json_list(text: Any) -> list[Any]:
    """The list in a column of JSON."""
    if text == "[]":
        return []
    try:
        found = orjson.loads(text)
    except (orjson.JSONDecodeError, TypeError):
        return []
    return found if isinstance(found, list) else []


def read_turn_row(row: Row) -> LoggedTurn:
    """Return the turn in a row. Never raises: an unreadable column is left at its default, and the digest tells."""
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
        "job_refs": json_list(row["job_refs"]),
        "tool_calls": json_list(row["tool_calls_json"]),
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

    An altered turn is used as it is: it still has most of the words. A turn whose predecessor is gone is not judged.
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
