"""Asks about the codes that people are entering, in the background, until each is used, refused or too old."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Protocol

import structlog

from bot.delivery.outbox import OutgoingMessage
from bot.tools import questions
from bot.tools.mcp.login.logins import Logins
from bot.tools.tool import Place
from memory.errors import Conflict, StorageError
from memory.ports import Clock, Row, Statement
from memory.process import faults

log = structlog.get_logger(__name__)

SLOWER_MS: Final = 5_000
"""A server that is asked too often is asked so much later each time (RFC 8628)."""
LONGEST_S: Final = 30.0
"""A clock that is set costs no more than this."""


class SayWith(Protocol):
    """Sends a person a message beside the answer, in one transaction with its effects."""

    async def __call__(self, place: Place, message: Callable[[], OutgoingMessage], *effects: Statement) -> None:
        """Send the message. Raises `Conflict` and `StorageUnavailable`."""
        ...


class CodePolls:
    """One task for all codes; there is none while nobody enters one."""

    def __init__(
        self, logins: Logins, clock: Clock, say: SayWith, entered: Callable[[str, int], Awaitable[None]]
    ) -> None:
        """`entered` is told the server and the person of each login that was made."""
        self._logins = logins
        self._clock = clock
        self._say = say
        self._entered = entered
        self._later_ms: defaultdict[str, int] = defaultdict(int)
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()

    def look(self) -> None:
        """Look for codes that are to be asked about: one was begun, or a process that did it is gone."""
        self._woken.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="login-codes")

    async def close(self) -> None:
        """Stop asking; the next start goes on."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while rows := await self._rows():
            self._woken.clear()
            wait_s = (rows[0]["polls_at_ms"] - self._clock.now_ms()) / 1000
            if wait_s <= 0:
                await self._ask(rows[0])
                continue
            try:
                async with asyncio.timeout(min(wait_s, LONGEST_S)):
                    await self._woken.wait()
            except TimeoutError:
                continue

    async def _rows(self) -> list[Row]:
        while True:
            try:
                return await self._logins.polled()
            except StorageError:
                await asyncio.sleep(LONGEST_S)

    async def _ask(self, row: Row) -> None:
        server, user_id = str(row["server"]), int(row["user_id"])
        try:
            found = await self._logins.poll(row, self._later_ms[row["state"]])
            if found == "slower":
                self._later_ms[row["state"]] += SLOWER_MS
            elif found == "over":
                await self._say(_place(row), partial(questions.code_over, server), self._logins.done(row))
            elif not isinstance(found, str):
                faults.point("login_given")
                await self._say(_place(row), partial(questions.logged_in, server), *found)
                await self._entered(server, user_id)
        except Conflict:
            log.info("a login by a code is asked about elsewhere, or has ended", server=server)
        except StorageError as exc:
            log.warning("a login by a code waits for the database", server=server, error=str(exc))
            await asyncio.sleep(LONGEST_S)


def _place(row: Row) -> Place:
    return Place(row["conversation_id"], row["user_id"])
