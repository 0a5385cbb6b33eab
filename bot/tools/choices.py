"""People's choices about tools in a chat: always, off, or to be asked; pinned to the tool as it was then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson

from bot.tools.call import definition, digest_of
from bot.tools.tool import Place, Tool
from memory.ports import Clock, Database, Statement

Choice = Literal["always", "off", "on"]
ABSENT: Mapping[str, Any] = {}
EVERYBODY: Final = Place("", None)
"""The place of the operator's choices: a tool that is off there is off for everybody."""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """One choice, and the tool as it was described then."""

    choice: Choice
    digest: str
    definition: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices of one person in one chat, by the names of tools and `server:<name>`."""

    by_name: Mapping[str, ToolChoice] = field(default_factory=dict)
    off_for_all: frozenset[str] = frozenset()
    """Tools and servers that the operator switched off, by the same names."""

    def is_off(self, name: str) -> bool:
        """Return whether a tool or server is switched off."""
        chosen = self.by_name.get(name)
        return chosen is not None and chosen.choice == "off"

    def hides(self, tool: Tool) -> bool:
        """Return whether a tool is switched off, or its server is, by the person or for everybody."""
        is_off = self.is_off(tool.name) or bool(tool.server and self.is_off(server_name(tool.server)))
        return is_off or self.is_gone(tool)

    def is_gone(self, tool: Tool) -> bool:
        """Return whether a tool is switched off for everybody, or its server is."""
        return bool(self.off_for_all & {tool.name, server_name(tool.server)})

    def always(self, tool: Tool, name: str = "") -> bool:
        """Return whether this tool may be used unasked; False once anything about it has changed.

        `name` is the subject of the choice (a site) where it was not the whole tool.
        """
        chosen = self.by_name.get(name or tool.name)
        return chosen is not None and chosen.choice == "always" and chosen.digest == digest_of(tool)

    def before(self, tool: Tool) -> Mapping[str, Any]:
        """Return how the tool was described when it was allowed, if it's another one now; else nothing."""
        chosen = self.by_name.get(tool.name)
        changed = chosen is not None and chosen.choice == "always" and chosen.digest != digest_of(tool)
        return chosen.definition if chosen is not None and changed else ABSENT


def server_name(server: str) -> str:
    """Return the name under which a whole server is switched off."""
    return f"server:{server}"


def choices_read(place: Place) -> Statement:
    """Return the read of a place's choices."""
    return Statement("tool_choices_of", {"conversation_id": place.conversation_id, "user_id": place.user_id or 0})


class ToolChoices:
    """Reads and changes choices."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def of(self, place: Place) -> Choices:
        """Return the choices of a place. Raises `StorageUnavailable`."""
        asked = choices_read(place)
        rows = await self._db.read(asked.name, **asked.params)
        return Choices(
            {
                row["name"]: ToolChoice(row["choice"], row["digest"], orjson.loads(row["definition_json"]))
                for row in rows
                if row["conversation_id"] == place.conversation_id
            },
            frozenset(row["name"] for row in rows if row["conversation_id"] == EVERYBODY.conversation_id),
        )

    def choose(self, place: Place, choice: Choice, *, tool: Tool | None = None, name: str = "") -> Statement:
        """Return the statement that writes a choice down, about this very tool, or about a name."""
        values = {
            "conversation_id": place.conversation_id,
            "user_id": place.user_id or 0,
            "name": name or (tool.name if tool else ""),
            "choice": choice,
            "digest": digest_of(tool) if tool else "",
            "definition_json": orjson.dumps(definition(tool) if tool else {}).decode(),
            "at_ms": self._clock.now_ms(),
        }
        return Statement("tool_choose", values)

    @staticmethod
    def forget(place: Place, name: str) -> Statement:
        """Return the statement that takes a choice back: the person is asked again."""
        where = {"conversation_id": place.conversation_id, "user_id": place.user_id or 0, "name": name}
        return Statement("tool_unchoose", where)
