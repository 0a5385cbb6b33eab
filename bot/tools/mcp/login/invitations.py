"""People who need a login and have none: the model is told so, and the person gets one button."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from bot.delivery.outbox import OutgoingMessage
from bot.tools import questions
from bot.tools.mcp.naming import EMPTY, name_of
from bot.tools.presence import can_be_asked
from bot.tools.tool import CallContext, NotDone, Place, Tool, ToolResult
from memory.ports import Clock

AGAIN_MS: Final = 10 * 60_000
"""The button is offered again after so long."""
LOG_IN: Final = "log_in"
Say = Callable[[Place, Callable[[], OutgoingMessage]], Awaitable[None]]
"""Says something to a person beside the answer."""


class Invitations:
    """Offers logins."""

    def __init__(self, say: Say, clock: Clock) -> None:
        self._say = say
        self._clock = clock
        self._at_ms: dict[tuple[str, int], int] = {}

    def tool(self, server: str, origin: str) -> Tool:
        """Return the stand-in for the tools of a server where the person has no login."""
        return Tool(
            name=name_of(server, LOG_IN),
            description=f"{server} can be used once the person has logged in there. Call this when they want it.",
            parameters=EMPTY,
            run=partial(self._run, server),
            reads_only=True,
            trusted=True,
            server=server,
            origin=origin,
            title=LOG_IN,
        )

    async def _run(self, server: str, _: Mapping[str, Any], context: CallContext) -> ToolResult:
        raise NotDone(await self.told(server, context.place))

    async def told(self, server: str, place: Place) -> str:
        """Offer the person a button in a private chat, and return the text for the model."""
        said = f"{server} needs this person's own login, and has none."
        if place.user_id is None or not place.private or not can_be_asked(place):
            return f"{said} Tell them: by /tools, in a private chat with you."
        at, now_ms = (server, place.user_id), self._clock.now_ms()
        if now_ms - self._at_ms.get(at, 0) > AGAIN_MS:
            await self._say(place, partial(questions.login, server))
            self._at_ms[at] = now_ms
        return f"{said} They have a button for it in this chat; say so in a few words."

    def forget(self, server: str, user_id: int) -> None:
        """Offer the next one at once."""
        self._at_ms.pop((server, user_id), None)
