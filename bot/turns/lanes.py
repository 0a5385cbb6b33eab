"""Lanes of work: updates of a conversation one after another, conversations side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

import structlog

from bot.intake.local import is_local
from bot.intake.updates import Envelope
from bot.turns.waiting import Do, WaitingItem, WaitingLine, expects_more
from memory.ports import unobserved

log = structlog.get_logger(__name__)
_T = TypeVar("_T")

PERSON_SHARE = 4
"""One person may take a quarter of all places, in however many chats and topics they write."""
LOCAL_SHARE = 2
"""All who come over HTTP together take half of them: they have one token, and people on Telegram must not wait."""
OVER_HTTP = "over HTTP"
LOOKS_AFTER_S = 10.0
"""So long a command that only looks waits for the work before it, whose notes it shows then; nobody waits longer."""


class Work(Protocol):
    """Works on a batch; with `do`, carries that out instead."""

    async def __call__(self, batch: Sequence[Envelope], do: Do | None = None, /) -> None:
        """Return when it is done. Raises Postponed; anything else is a defect, and logged."""
        ...


class Postponed(Exception):
    """A batch that cannot be done now, nor anything behind it: it stays at the head of its lane for a while.

    So do the batches that have to be done before it, in order.
    """

    def __init__(self, batch: Sequence[Envelope], wait_s: float = 0.0) -> None:
        super().__init__(f"postponed by {wait_s:.0f} s")
        self.batch = batch
        self.wait_s = wait_s


class Lanes:
    """One line per conversation; an update is in it once, however often it is sent there."""

    def __init__(
        self,
        work: Work,
        *,
        limit: int,
        merge_window_s: float,
        joins_bursts: bool = True,
        looks_after_s: float = LOOKS_AFTER_S,
        halts: Callable[[Envelope], bool] = lambda _: False,
        on_rest: Callable[[str], None] = unobserved,
    ) -> None:
        """Work on at most `limit` lines at once; `halts` tells the updates that stop an answer being written: /stop.

        `on_rest` is told of each conversation that needs no place any more, or none for a while.
        """
        self._work = work
        self._halts = halts
        self._merge_window_s = merge_window_s
        self._joins_bursts = joins_bursts
        self._looks_after_s = looks_after_s
        self._places = asyncio.Semaphore(limit)
        self._limit_per_person = max(1, limit // PERSON_SHARE)
        self._shares: WeakValueDictionary[int | str | None, asyncio.Semaphore] = WeakValueDictionary()
        self._over_http = asyncio.Semaphore(max(1, limit // LOCAL_SHARE))
        self._lines: dict[str, WaitingLine] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._at: dict[int, str] = {}
        """The conversation of each update that is being worked on."""
        self._postponed: set[str] = set()
        self._closed = False
        self._on_rest = on_rest

    @property
    def idle(self) -> bool:
        """True when nothing is waiting or running."""
        return not self._tasks

    @property
    def busy(self) -> set[str]:
        """The conversations in which something waits or runs."""
        return {*self._lines, *self._at.values()}

    @property
    def in_place(self) -> set[str]:
        """Conversations that have a place or wait for one: a postponed batch leaves it to others."""
        return self.busy - self._postponed

    def has(self, envelope: Envelope) -> bool:
        """Return whether an update waits or is being worked on."""
        return self.has_update(envelope.conversation_id, envelope.update_id)

    def has_update(self, conversation_id: str, update_id: int) -> bool:
        """Return whether an update with this number waits or is being worked on."""
        line = self._lines.get(conversation_id)
        return update_id in self._at or (line is not None and line.has(update_id))

    def waiting(self, conversation_id: str) -> int:
        """Return how many envelopes wait in a conversation's line."""
        return len(self._lines.get(conversation_id, ()))

    async def until_waiting(self, conversation_id: str) -> None:
        """Return when an update waits in a conversation behind work that is being done there; else never."""
        line = self._lines.get(conversation_id, WaitingLine())
        while not line:
            line.arrived.clear()
            await line.arrived.wait()

    def submit(self, envelope: Envelope, do: Do | None = None) -> None:
        """Put an envelope in its line, `do` as the work to be done with it; urgent ones without `do` start at once.

        One that waits there already is not put there again. Ignored when closed: the inbox row stays.
        """
        if self._closed:
            return
        if do is None and self._halts(envelope):
            envelope = replace(envelope, kind="command", command="stop")
        if envelope.urgent and do is None:
            self._start(self._at_once(WaitingItem(envelope)), f"urgent:{envelope.update_id}")
            return
        key = envelope.conversation_id
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = WaitingLine(joins_bursts=self._joins_bursts)
            self._start(self._run(key, line), f"lane:{key}")
        line.append(WaitingItem(envelope, do))

    @asynccontextmanager
    async def alone(self, conversation_id: str) -> AsyncIterator[None]:
        """Let nothing be worked on in a conversation meanwhile; running work is waited for, new updates wait."""
        async with self._turn_of(conversation_id):
            yield

    async def until_idle(self) -> None:
        """Wait until nothing is waiting or running."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self, patience_s: float) -> bool:
        """Take nothing more, wait for running work, cancel the rest. Return True when nothing had to be cancelled."""
        self._closed = True
        for line in self._lines.values():
            line.clear()
        if not self._tasks:
            return True
        _, late = await asyncio.wait(set(self._tasks), timeout=patience_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        return not late

    def _start(self, work: Coroutine[Any, Any, _T], name: str) -> asyncio.Task[_T]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _run(self, key: str, line: WaitingLine) -> None:
        try:
            while line:
                share, group = self._share_of(line.head), self._group_of(line.head)
                async with self._turn_of(key), share, group, self._places:
                    await self._wait_for_pieces(line)
                    later = await self._with_looks(line, taken) if (taken := line.take()) else None
                if later is not None:
                    line.put_back([WaitingItem(envelope, taken[0].do) for envelope in later.batch])
                    self._postponed.add(key)
                    self._on_rest(key)
                    await asyncio.sleep(later.wait_s)
                    self._postponed.discard(key)
        finally:
            self._postponed.discard(key)
            del self._lines[key]
            self._on_rest(key)

    async def _with_looks(self, line: WaitingLine, taken: Sequence[WaitingItem]) -> Postponed | None:
        """Work on taken items, and beside them on what only looks once they take long; what waits comes behind both."""
        looks = asyncio.create_task(self._looks_beside(line))
        try:
            return await self._guarded(taken)
        finally:
            looks.cancel()
            await asyncio.wait({looks})

    async def _looks_beside(self, line: WaitingLine) -> None:
        """Work on the looks that nothing but messages stand before, one after another; others wait in the line.

        Cancelled, it ends with the look that is under way.
        """
        await asyncio.sleep(self._looks_after_s)
        while True:
            while taken := line.take_look():
                look = self._start(self._look(line, taken), "look")
                try:
                    await asyncio.wait({look})
                except asyncio.CancelledError:
                    await asyncio.wait({look})
                    raise
                await asyncio.sleep(look.result())
            line.arrived.clear()
            await line.arrived.wait()

    async def _look(self, line: WaitingLine, taken: Sequence[WaitingItem]) -> float:
        """Work on a look; one that is postponed goes back to the head of its line. Return how long nobody looks."""
        later = await self._guarded(taken)
        if later is None:
            return 0.0
        line.put_back([WaitingItem(envelope, taken[0].do) for envelope in later.batch])
        return later.wait_s

    async def _at_once(self, item: WaitingItem) -> None:
        """Work on an item beside the line; several taps on one message in their order: the first counts."""
        envelope = item.envelope
        self._at[envelope.update_id] = envelope.conversation_id
        async with self._turn_of(f"{envelope.conversation_id} {envelope.message_id}"):
            while (later := await self._guarded([item])) is not None:
                self._at[envelope.update_id] = envelope.conversation_id
                await asyncio.sleep(later.wait_s)

    def _turn_of(self, key: str) -> asyncio.Lock:
        """Return the lock of a conversation, or of one message in it."""
        lock = self._turns.get(key)
        if lock is None:
            lock = self._turns[key] = asyncio.Lock()
        return lock

    def _share_of(self, envelope: Envelope) -> asyncio.Semaphore:
        """Return one person's part of the places; a session over HTTP is none, unless its caller says who it is."""
        person = f"{OVER_HTTP} {envelope.person}" if is_local(envelope.chat_id) else envelope.user_id
        share = self._shares.get(person)
        if share is None:
            share = self._shares[person] = asyncio.Semaphore(self._limit_per_person)
        return share

    def _group_of(self, envelope: Envelope) -> AbstractAsyncContextManager[None]:
        return self._over_http if is_local(envelope.chat_id) else nullcontext()

    async def _wait_for_pieces(self, line: WaitingLine) -> None:
        while line and line.batch_length() == len(line) and expects_more(line.last):
            line.arrived.clear()
            try:
                async with asyncio.timeout(self._merge_window_s):
                    await line.arrived.wait()
            except TimeoutError:
                return

    async def _guarded(self, taken: Sequence[WaitingItem]) -> Postponed | None:
        """Work on taken items; return the postponed rest, None when all is settled."""
        batch = [item.envelope for item in taken]
        here = {envelope.update_id: envelope.conversation_id for envelope in batch}
        self._at |= here
        try:
            await self._work(batch, taken[0].do)
        except Postponed as later:
            return None if self._closed else later
        except Exception:
            log.exception("work failed", update_ids=[e.update_id for e in batch], conversation=batch[0].conversation_id)
        finally:
            for update_id in here:
                self._at.pop(update_id, None)
        return None
