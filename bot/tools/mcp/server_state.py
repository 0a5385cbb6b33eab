"""State of one MCP server: its tools, its connection, and the pause after a failure."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from bot.tools.mcp.config import ServerConfig
from bot.tools.mcp.session import Session, ToolInfo
from bot.tools.tool import NotDone

BACK_OFF_S: Final = (2.0, 10.0, 60.0, 300.0)
"""Pauses after one, two, … failures in a row."""


@dataclass(slots=True)
class ServerState:
    """State of one server."""

    config: ServerConfig
    user_id: int | None = None
    """Whose account its connection uses; None for one of everybody."""
    wants_login: bool = False
    """Each person has a connection of their own."""
    tools: tuple[ToolInfo, ...] = ()
    is_known: bool = False
    was_asked: bool = False
    """The server was started once to learn its tools."""
    session: Session | None = None
    failures: int = 0
    not_before_s: float = 0.0
    why: str = ""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    idle: asyncio.TimerHandle | None = None
    calls: int = 0
    """Calls that are under way."""

    def fails(self, why: str) -> None:
        """Note that it could not be used, and let it alone for a while."""
        pause_s = BACK_OFF_S[min(self.failures, len(BACK_OFF_S) - 1)]
        self.failures += 1
        self.why, self.not_before_s = why, _now_s() + pause_s

    def require_patience(self) -> None:
        """Raise `NotDone` during the pause after a failure."""
        wait_s = self.not_before_s - _now_s()
        if wait_s > 0:
            said = f"the server {self.config.name} failed ({self.why}); it's tried again in {wait_s:.0f} s"
            raise NotDone(said, foreign=True)


def _now_s() -> float:
    return asyncio.get_running_loop().time()
