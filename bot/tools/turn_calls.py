"""The calls of further tools in one attempt at one answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.tools.tool import CallContext, NotDone, Place, Tool
from memory.context.fence import fence

TITLE: Final = "What the tool returned."


class TurnCalls:
    """Makes calls for one turn."""

    def __init__(self, turn_id: str, place: Place, time_zone: str, now_ms: int) -> None:
        self._turn_id = turn_id
        self._place = place
        self._time_zone = time_zone
        self._now_ms = now_ms
        self.is_foreign = False
        """True once somebody else's words came in."""

    async def make(self, tool: Tool, given: Mapping[str, Any]) -> str:
        """Make one call and return what the model is told. Never raises but for a defect."""
        try:
            result = await tool.run(
                given, CallContext(self._turn_id, self._turn_id, self._place, self._time_zone, self._now_ms)
            )
        except NotDone as exc:
            return f"Not done: {exc}"
        self.is_foreign = self.is_foreign or result.foreign
        return fence(result.text, TITLE) or "It returned nothing."
