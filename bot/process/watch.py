"""The watch over the event loop: one that stands still for too long ends the process.

A regular expression that backtracks, or any other call into C, keeps all of Python from running: no thread of ours can
see it. So the two clocks here are C's own. `faulthandler` writes where every thread stands to standard error (files,
lines and names of functions, never a value) and ends the process with 1; a little before, a SIGALRM makes
`bot.process.steps` leave a trace for the next start.
"""

from __future__ import annotations

import asyncio
import faulthandler
import signal
from types import TracebackType
from typing import Final, Self

from bot.process import systemd
from bot.process.threads import Threads

BEATS: Final = 10
"""Number of times that the clocks are set back within the limit."""
LONGEST_BEAT_S: Final = 1.0
TRACE_AT: Final = 0.9
"""The part of that time after which the trace is left."""
STOP_S: Final = 9.5
"""Limit of a whole stop; SIGTERM ends a bot within ten seconds."""
MANY: Final = 1000
STANDARD_ERROR: Final = 2


class LoopWatch:
    """The clocks of one process: `async with LoopWatch(30) as watch:` around everything that its loop does."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._stopping = False
        self._keeping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Let both clocks run, and set them back for as long as the loop turns."""
        if signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)  # it would end the process without a word
        asyncio.get_running_loop().set_default_executor(Threads())
        self._keeping = asyncio.create_task(self._keep(), name="watch")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop both."""
        if self._keeping is not None:
            self._keeping.cancel()
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)

    async def _keep(self) -> None:
        while True:
            if not self._stopping:
                self._set_back()
            systemd.tell(systemd.ALIVE)
            await asyncio.sleep(min(LONGEST_BEAT_S, self._limit_s / BEATS))

    def stopping(self) -> None:
        """End the process hard when its stop takes too long: nothing sets this clock back.

        The stop has threads of its own, and enough of them: those from before may all be held up, others still are.
        """
        self._stopping = True
        asyncio.get_running_loop().set_default_executor(Threads(MANY))
        systemd.tell(systemd.STOPPING)
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.dump_traceback_later(STOP_S, exit=True, file=STANDARD_ERROR)

    def _set_back(self) -> None:
        faulthandler.dump_traceback_later(self._limit_s, exit=True, file=STANDARD_ERROR)
        signal.setitimer(signal.ITIMER_REAL, self._limit_s * TRACE_AT)
