"""The text of a call for the model: data in a fence, its head and tail; the rest by `read_result`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import orjson

from bot.tools.call import CallRow, call_of
from bot.tools.many import USE
from bot.tools.tool import CallContext, NotDone, Place, Tool, ToolResult
from bot.tools.visible import visible
from memory.context.fence import fence
from memory.ports import Database
from memory.text import clean
from memory.types import ConversationTurn, ToolCall

TITLE: Final = "What the tool returned: somebody else's words."
OWN_TITLE: Final = "What the tool returned."
FRAME_CHARS: Final = 400
"""The frame around a result is at most so long."""
MOST_CHARS: Final = 2_000_000
"""Of one result so much is kept."""
HEAD_SHARE: Final = 0.7
NOTHING: Final = "It returned nothing."
WAITS: Final = (
    "Not done yet: the person is asked with buttons and decides by a tap. Say so in a few words and go on; you are "
    "told what came of it. Don't call it again."
)
DOUBT: Final = (
    "Nobody knows whether that happened: it was broken off. The person is asked whether to do it again. Don't call it "
    "again, and don't say that it's done."
)
_TOLD: Final = {
    "declined": "Not done: the person said no.",
    "expired": "Not done: the person was asked and did not answer in time.",
    "left": "The person leaves it as it is; nobody knows whether it happened.",
    "asked": WAITS,
    "planned": WAITS,
    "running": DOUBT,
    "unknown": DOUBT,
}


def storable_text(text: str) -> str:
    """Return a tool's text without signs that databases refuse, without invisible signs, cut where it's endless."""
    return visible(clean(text[:MOST_CHARS]))


def heard(turns: Iterable[ConversationTurn], tools: Iterable[Tool]) -> frozenset[str]:
    """Return the servers whose words these turns tell again; "" for pages, and for tools that are gone."""
    server_of = {tool.name: tool.server for tool in tools}
    calls = [call for turn in turns for call in turn.tool_calls]
    return frozenset(server_of.get(_named(call), "") for call in calls if TITLE in call.result)


def _named(call: ToolCall) -> str:
    """Return the name of the tool that was called; for one of `find_tools` it is among the arguments."""
    with suppress(orjson.JSONDecodeError, AttributeError):
        return str(orjson.loads(call.arguments).get("name", "")) if call.name == USE else call.name
    return ""


def text_for_model(call: CallRow, max_chars: int) -> str:
    """Return the text of a call for the model."""
    if call.state not in {"done", "failed"}:
        return _TOLD[call.state]
    text = fence(_shortened(call, max(0, max_chars - FRAME_CHARS)), TITLE if call.is_foreign else OWN_TITLE) or NOTHING
    return f"It failed.\n{text}" if call.state == "failed" else text


def _shortened(call: CallRow, room: int) -> str:
    text = call.result
    if len(text) <= room:
        return text
    head = int(room * HEAD_SHARE)
    tail = room - head
    left_out = len(text) - head - tail
    more = f"read_result with number {call.number} and start {head} reads on" if call.number else "it is too long"
    return f"{text[:head]}\n[… {left_out} characters are left out here; {more} …]\n{text[len(text) - tail :]}"


class Results:
    """Offers `read_result` where other tools are offered."""

    def __init__(self, db: Database, page_chars: int) -> None:
        self._db = db
        self._page_chars = max(500, page_chars - FRAME_CHARS)

    def tools(self) -> Sequence[Tool]:
        """Return the tool."""
        properties = {
            "number": {"type": "integer", "description": "Of the result."},
            "start": {"type": "integer", "description": "From this character on; 0 for all."},
        }
        parameters = {"type": "object", "properties": properties, "required": ["number"]}
        description = "Read more of a tool's result that was cut."
        return [Tool("read_result", description, parameters, self._read, reads_only=True, trusted=True)]

    async def _read(self, given: Mapping[str, Any], context: CallContext) -> ToolResult:
        number, start = _whole(given.get("number")), max(0, _whole(given.get("start", 0)))
        call = await self._found(context.place, number)
        page = call.result[start : start + self._page_chars]
        end = start + len(page)
        more = f"\n[… {len(call.result) - end} characters more: start {end} …]" if end < len(call.result) else ""
        return ToolResult(page + more, foreign=call.is_foreign)

    async def _found(self, place: Place, number: int) -> CallRow:
        row = await self._db.read_one("tool_call_numbered", conversation_id=place.conversation_id, number=number)
        if row is None or row["user_id"] != place.user_id:
            raise NotDone(f"there is no result {number}")
        return call_of(row)


def _whole(given: Any) -> int:
    try:
        return int(given)
    except (TypeError, ValueError):
        raise NotDone("number and start are whole numbers") from None
