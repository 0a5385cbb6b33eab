"""Who works on which conversation: one after another within a conversation, conversations side by side."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence

import structlog

from bot.intake.updates import LONG_PIECE_CHARS, Envelope

log = structlog.get_logger(__name__)

Work = Callable[[Sequence[Envelope]], Awaitable[None]]


def next_batch(waiting: Iterable[Envelope]) -> int:
    """Return how many envelopes at the head of the line are worked on together (at least 1).

    Texts that piled up become one turn, and an edit joins the message that it edits. What a turn that died had claimed
    stays together with its own kind only: the same `turn_id`.
    """
    line = iter(waiting)
    head = next(line)
    if not head.mergeable:
        return 1
    message_ids = {head.message_id}
    count = 1
    for envelope in line:
        same_person = envelope.user_id == head.user_id and envelope.turn_id == head.turn_id
        if not envelope.mergeable or not same_person or envelope.again != head.again:
            break
        if envelope.kind == "edit" and envelope.message_id not in message_ids:
            break
        message_ids.add(envelope.message_id)
        count += 1
    return count if head.kind == "text" else 1


def expects_more(last: Envelope) -> bool:
    """Return True when the last piece is so long that it is probably not the end of what was pasted."""
    return last.kind == "text" and last.turn_id is None and len(last.text) >= LONG_PIECE_CHARS


class Lanes:
    """One line per conversation; `work` gets a batch and must not raise (what it raises is logged)."""

    def __init__(self, work: Work, *, limit: int, merge_window_s: float) -> None:
        self._work = work
        self._merge_window_s = merge_window_s
        self._room = asyncio.Semaphore(limit)
        self._waiting: dict[str, deque[Envelope]] = {}
        self._arrived: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    @property
    def idle(self) -> bool:
        """True when nothing is waiting or running."""
        return not self._tasks

    def waiting(self, conversation_id: str) -> int:
        """Return how many envelopes wait in a conversation's line."""
        return len(self._waiting.get(conversation_id, ()))

    def submit(self, envelope: Envelope) -> None:
        """Put an envelope in its line; urgent ones start at once. Ignored while closing: the inbox row stays."""
        if self._closing:
            return
        if envelope.urgent:
            self._start(self._guarded([envelope]), f"urgent:{envelope.update_id}")
            return
        key = envelope.conversation_id
        if key in self._waiting:
            self._waiting[key].append(envelope)
            self._arrived[key].set()
            return
        self._waiting[key] = deque([envelope])
        self._arrived[key] = asyncio.Event()
        self._start(self._run(key), f"lane:{key}")

    async def until_idle(self) -> None:
        """Wait until nothing is waiting or running."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self, patience_s: float) -> bool:
        """Take nothing more, wait for what runs, cancel what is left. Return True when nothing had to be cancelled."""
        self._closing = True
        for line in self._waiting.values():
            line.clear()
        if not self._tasks:
            return True
        _, late = await asyncio.wait(set(self._tasks), timeout=patience_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        return not late

    def _start(self, work: Awaitable[None], name: str) -> None:
        task = asyncio.ensure_future(work)
        if isinstance(task, asyncio.Task):
            task.set_name(name)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, key: str) -> None:
        line = self._waiting[key]
        try:
            while line:
                async with self._room:
                    await self._wait_for_pieces(key, line)
                    batch = [line.popleft() for _ in range(next_batch(line))] if line else []
                    if batch:
                        await self._guarded(batch)
        finally:
            del self._waiting[key], self._arrived[key]

    async def _wait_for_pieces(self, key: str, line: deque[Envelope]) -> None:
        arrived = self._arrived[key]
        while line and next_batch(line) == len(line) and expects_more(line[-1]):
            arrived.clear()
            try:
                async with asyncio.timeout(self._merge_window_s):
                    await arrived.wait()
            except TimeoutError:
                return

    async def _guarded(self, batch: Sequence[Envelope]) -> None:
        try:
            await self._work(batch)
        except Exception:
            log.exception("work failed", update_ids=[e.update_id for e in batch], conversation=batch[0].conversation_id)
