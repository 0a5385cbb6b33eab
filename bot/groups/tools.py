"""The model's tool for groups: in a private chat, where the admins of any group allow it.

In a supergroup it searches the talk from before that became one, where that conversation is kept beside its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.groups.past import Found, GroupPast, meant
from bot.tools.tool import SEARCH_GROUP, CallContext, Place, Tool, ToolResult
from memory.context.transcript import clip
from memory.ledger import lines
from memory.ledger.types import Note

MAX_QUERY_CHARS: Final = 500
FENCE_CHARS: Final = 250
"""The frame around a tool's result is at most so long."""
_PARAMETERS: Final = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "group": {"type": "string", "description": "Its name, if said."}},
    "required": ["query"],
}


class GroupTools:
    """The tool for the groups of a person."""

    def __init__(self, past: GroupPast, most_chars: int) -> None:
        self._past = past
        self._most_chars = most_chars
        self._search = Tool(
            name=SEARCH_GROUP,
            description=(
                "What was said to you in a group that they are in, too, if its admins allow that. Say which group and "
                "who said it. /group lists those groups to them, /group with words searches them as you do."
            ),
            parameters=_PARAMETERS,
            run=self.search,
            reads_only=True,
            trusted=True,
        )

    async def offered(self, place: Place) -> Sequence[Tool]:
        """The tool, where there is anything to search. Raises `StorageUnavailable`."""
        is_there = await self._past.is_any_open() if place.private else self._past.before(place.conversation_id)
        return (self._search,) if is_there else ()

    async def search(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Finds for the query, group by group."""
        query, title = (str(arguments.get(name) or "")[:MAX_QUERY_CHARS] for name in ("query", "group"))
        was = self._past.before(context.place.conversation_id)
        groups = await self._past.open_to(context.place.user_id) if context.place.private else [was] if was else []
        if not groups:
            return ToolResult("No group that they are in lets its members ask for this.", foreign=False)
        named = meant(groups, title) if context.place.private else groups
        if not named:
            names = ", ".join(group.title for group in groups)
            return ToolResult(f"There is no such group. Those that may be asked: {names}.")
        found = [(group, await self._past.told(group, query)) for group in named]
        zone = context.time_zone
        parts = ["\n".join([f"{group.title}:", *(_line(find, zone) for find in told)]) for group, told in found if told]
        return ToolResult(clip("\n\n".join(parts), self._most_chars - FENCE_CHARS) or "Nothing was found there.")


def _line(find: Found, zone: str) -> str:
    if isinstance(find, Note):
        return f"- noted: {find.text}{f' (owner {find.owner})' if find.owner else ''}"
    return f"- said {lines.moment(find.at_ms, zone)} by {find.who or 'somebody'}: {find.text}"
