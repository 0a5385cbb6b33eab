"""Work behind the replies: the search index of new turns, then the newest state of each session, one after another."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from memory.errors import ContinuityError
from memory.storage.checkpoint import CheckpointFiles
from memory.types import ConversationCheckpointSnapshot

log = logging.getLogger(__name__)
HEAD_START_S = 0.02
"""The start of a checkpoint waits so long for the reply to be sent: both want the same processor."""
MakeSnapshot = Callable[[], Awaitable[ConversationCheckpointSnapshot]]


class CheckpointWriter:
    """Writes checkpoints behind the reply: one at a time, and of one session only the newest that waits."""

    def __init__(self, files: CheckpointFiles, first: Callable[[], Awaitable[None]]) -> None:
        """`first` is done before the checkpoints and behind each; it never raises."""
        self._files = files
        self._first = first
        self._due: OrderedDict[str, MakeSnapshot] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self.error: str | None = None
        """Why the last checkpoint could not be written; None when it could."""

    def later(self, session_id: str, snapshot: MakeSnapshot) -> None:
        """Have the session's checkpoint written soon; it is made from the state at that moment."""
        self._due[session_id] = snapshot
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._write_due())

    async def now(self, session_id: str, make: MakeSnapshot) -> bool:
        """Make and write a checkpoint; return whether it is on the disk. A failure is logged and kept in `error`."""
        try:
            await asyncio.to_thread(self._files.save, await make())
        except ContinuityError as exc:
            self.error = str(exc)
            log.error("%s", exc)  # noqa: TRY400 - the message says it all, the trace only where
            return False
        except Exception as exc:
            self.error = f"the checkpoint of session {session_id} could not be made: {exc!r}"
            log.exception("the checkpoint of session %s could not be made", session_id)
            return False
        self.error = None
        return True

    async def drop(self, session_id: str) -> None:
        """Take back the write that waits for a session, and wait for the one under way."""
        self.take_back(session_id)
        await self.settle()

    def take_back(self, session_id: str) -> None:
        """Take back the write that waits for a session."""
        self._due.pop(session_id, None)

    async def settle(self) -> None:
        """Wait until every checkpoint that is due has been tried."""
        while self._task and not self._task.done():
            await asyncio.wait([self._task])

    async def _write_due(self) -> None:
        await asyncio.sleep(HEAD_START_S)
        await self._first()
        while self._due:
            await self.now(*self._due.popitem(last=False))
            await self._first()
