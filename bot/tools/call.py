"""A call of a tool as a row, and the handling of one that comes again. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Literal

import orjson

from bot.tools.tool import Place, Tool
from memory.ports import Row, Statement

State = Literal["asked", "planned", "running", "done", "failed", "unknown", "declined", "expired", "left"]
"""asked: waits for a tap. planned: surely not begun. running: it may happen, or have happened. unknown: nobody knows,
and the person is asked. declined, expired, left: the person said no, nothing, or no more."""
Verdict = Literal["run", "give", "ask", "doubt", "waits"]
"""run: make it. give: tell how it ended. ask: ask the person first. doubt: ask whether to do it again. waits: it was
asked about already."""
ASKED_FOR_MS: Final = 24 * 3_600_000
"""A question runs out after a day."""
_ENDED: Final = frozenset({"done", "failed", "declined", "expired", "left"})


@dataclass(frozen=True, slots=True)
class CallRow:
    """One row of `tool_calls`."""

    call_id: str
    conversation_id: str
    user_id: int | None
    turn_id: str
    server: str
    tool: str
    title: str
    digest: str
    changes: bool
    arguments_json: str
    state: State
    created_at_ms: int
    number: int = 0
    result: str = ""
    is_foreign: bool = False
    boot_id: str | None = None
    runs: int = 0
    """Number of times the call was begun."""
    expires_at_ms: int | None = None
    """End of the question about the call; None where nobody was asked."""

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as an object."""
        found: dict[str, Any] = orjson.loads(self.arguments_json)
        return found

    @property
    def has_ended(self) -> bool:
        """True once the call's end is known."""
        return self.state in _ENDED

    def insert(self, at_ms: int) -> Statement:
        """Return the statement that writes it down; a second one with its id is a `Conflict`."""
        values = {
            name: getattr(self, name)
            for name in (
                "call_id", "conversation_id", "user_id", "turn_id", "server", "tool", "title", "digest",
                "arguments_json", "state", "boot_id", "runs", "created_at_ms", "expires_at_ms",
            )
        }  # fmt: skip
        begun = {"changes": int(self.changes), "started_at_ms": at_ms if self.state == "running" else None}
        return Statement("tool_call_insert", values | begun)


def call_of(row: Row) -> CallRow:
    """Return the call that a row holds."""
    fields = {
        name: row[name] for name in CallRow.__dataclass_fields__ if name not in {"changes", "is_foreign", "result"}
    }
    return CallRow(
        **fields, changes=bool(row["changes"]), is_foreign=bool(row["is_foreign"]), result=row["result"] or ""
    )


def written(arguments: Mapping[str, Any]) -> str:
    """Return arguments as text, the same in any order of theirs."""
    return orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode()


def call_id_of(turn_id: str, tool: str, arguments_json: str, nth: int) -> str:
    """Return the id of the nth such call of a turn: the same when the turn is answered again."""
    seed = orjson.dumps([turn_id, tool, arguments_json, nth])
    return f"c_{blake2b(seed, digest_size=16).hexdigest()}"


def definition(tool: Tool) -> dict[str, Any]:
    """Return all that a consent is given to: where the tool comes from, and how it describes itself."""
    return {
        "server": tool.server,
        "origin": tool.origin,
        "description": tool.description,
        "parameters": dict(tool.parameters),
        "annotations": dict(tool.annotations),
        "reads_only": tool.reads_only,
    }


def digest_of(tool: Tool) -> str:
    """Return the digest to which consent is pinned."""
    seed = orjson.dumps([tool.name, definition(tool)], option=orjson.OPT_SORT_KEYS)
    return blake2b(seed, digest_size=16).hexdigest()


def planned(tool: Tool, place: Place, turn_id: str, arguments_json: str, *, nth: int, now_ms: int) -> CallRow:
    """Return a call that is about to be written down."""
    return CallRow(
        call_id=call_id_of(turn_id, tool.name, arguments_json, nth),
        conversation_id=place.conversation_id,
        user_id=place.user_id,
        turn_id=turn_id,
        server=tool.server,
        tool=tool.name,
        title=tool.title or tool.name,
        digest=digest_of(tool),
        changes=not (tool.reads_only and tool.trusted) and not tool.idempotent,
        arguments_json=arguments_json,
        state="planned",
        created_at_ms=now_ms,
    )


def verdict(tool: Tool, call: CallRow | None, *, allowed: bool, again: bool, asks: bool = False) -> Verdict:
    """Return the step for a call that the model asks for.

    `call` is the row of the same call of this turn, None when there is none; `allowed` says that the person lets this
    tool run unasked here and now; `again` that something like it was done for this message before; `asks` that a tool
    that only reads is asked about for its arguments.
    """
    if call is None:
        return "run" if (tool.runs_unasked and not asks) or (allowed and not again) else "ask"
    if call.has_ended:
        return "give"
    if call.state in {"asked", "unknown"}:
        return "waits"
    return "doubt" if call.state == "running" and call.changes else "run"


def did_like(calls: Iterable[CallRow], tool: str) -> bool:
    """Return whether one of these calls of a tool has changed something, or may have."""
    return any(each.tool == tool and each.changes and each.state in {"running", "done", "unknown"} for each in calls)


def heard(calls: Iterable[CallRow], turn_id: str) -> list[Statement]:
    """Statements that bind calls to the turn in which the model read their results: both are forgotten together."""
    return [Statement("tool_call_told", {"call_id": call.call_id, "turn_id": turn_id}) for call in calls]
