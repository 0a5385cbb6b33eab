"""Lanes of work: updates of a conversation one after another, conversations side by side."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Protocol
from weakref import WeakValueDictionary

import structlog

from bot.intake.local import is_local
from bot.intake.updates import Envelope, is_cut
from memory.ports import unobserved

log = structlog.get_logger(__name__)

MAX_MERGED = 500
"""At most this many messages become one turn; those behind them are the next."""

MAX_MERGED_CHARS = 500 * 4096
"""The same for their texts: as much as so many messages of Telegram."""

PERSON_SHARE = 4
"""One person may take a quarter of all places, in however many chats and topics they write."""
LOCAL_SHARE = 2
"""All who come over HTTP together take half of them: they have one token, and people on Telegram must not wait."""
OVER_HTTP = "over HTTP"

Do = Callable[[Envelope], Awaitable[None]]
"""The work on an update in its lane, when it is more than its kind says: a confirmed tap."""


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


def next_batch(waiting: Iterable[Envelope], *, joins_bursts: bool = True) -> int:
    """Return how many envelopes at the head of the line are worked on together (at least 1).

    Texts that piled up become one turn for a model, which answers all of them at once. Rules read a message as one
    matter: for them (`joins_bursts` False) only the pieces of a long paste and of an album are one. An edit joins the
    message that it edits. Updates that a dead turn had claimed (the same `turn_id`) stay together,
    and alone; pictures of its album that came since join them.
    """
    line = iter(waiting)
    head = next(line)
    if not head.mergeable:
        return 1
    message_ids, last_text, last_album = {head.message_id}, head.text, head.album
    count, chars = 1, len(head.text)
    for envelope in line:
        chars += len(envelope.text)
        if chars > MAX_MERGED_CHARS:
            break
        same_album = bool(last_album) and envelope.album == last_album
        same_turn = envelope.turn_id == head.turn_id or (same_album and envelope.turn_id is None)
        same_person = envelope.user_id == head.user_id and same_turn
        if not envelope.mergeable or not same_person or envelope.again != head.again or count == MAX_MERGED:
            break
        if envelope.kind == "edit":
            if envelope.message_id not in message_ids:
                break
        elif not (joins_bursts or head.turn_id or is_cut(last_text) or same_album):
            break
        message_ids.add(envelope.message_id)
        last_text, last_album = envelope.text, envelope.album
        count += 1
    return count if head.kind == "text" else 1


def expects_more(last: Envelope) -> bool:
    """Return True for a picture of an album, and for a piece so long that it is hardly the end of a pasted text."""
    return last.kind == "text" and (bool(last.album) or (last.turn_id is None and is_cut(last.text)))


@dataclass(frozen=True, slots=True)
class _Item:
    envelope: Envelope
    do: Do | None = None


class _Line:
    """Updates that wait in one conversation, each once."""

    def __init__(self, *, joins_bursts: bool = True) -> None:
        self._joins_bursts = joins_bursts
        self._items: deque[_Item] = deque()
        self._update_ids: set[int] = set()
        self.arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def head(self) -> Envelope:
        return self._items[0].envelope

    @property
    def last(self) -> Envelope:
        return self._items[-1].envelope

    def has(self, update_id: int) -> bool:
        return update_id in self._update_ids

    def append(self, item: _Item) -> None:
        if item.envelope.update_id in self._update_ids:
            return
        self._update_ids.add(item.envelope.update_id)
        self._items.append(item)
        self.arrived.set()

    def put_back(self, items: Sequence[_Item]) -> None:
        """Put taken items at the head again; one that was sent once more meanwhile is there only once."""
        mine = {item.envelope.update_id for item in items}
        self._items = deque([*items, *(item for item in self._items if item.envelope.update_id not in mine)])
        self._update_ids |= mine

    def batch_length(self) -> int:
        return next_batch((item.envelope for item in self._items), joins_bursts=self._joins_bursts)

    def take(self) -> list[_Item]:
        taken = [self._items.popleft() for _ in range(self.batch_length())] if self._items else []
        self._update_ids -= {item.envelope.update_id for item in taken}
        return taken

    def clear(self) -> None:
        self._items.clear()
        self._update_ids.clear()


class Lanes:
    """One line per conversation; an update is in it once, however often it is sent there."""

    def __init__(
        self,
        work: Work,
        *,
        limit: int,
        merge_window_s: float,
        joins_bursts: bool = True,
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
        self._places = asyncio.Semaphore(limit)
        self._limit_per_person = max(1, limit // PERSON_SHARE)
        self._shares: WeakValueDictionary[int | str | None, asyncio.Semaphore] = WeakValueDictionary()
        self._over_http = asyncio.Semaphore(max(1, limit // LOCAL_SHARE))
        self._lines: dict[str, _Line] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
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
        line = self._lines.get(conversation_id, _Line())
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
            self._start(self._at_once(_Item(envelope)), f"urgent:{envelope.update_id}")
            return
        key = envelope.conversation_id
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = _Line(joins_bursts=self._joins_bursts)
            self._start(self._run(key, line), f"lane:{key}")
        line.append(_Item(envelope, do))

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

    def _start(self, work: Awaitable[None], name: str) -> None:
        task = asyncio.ensure_future(work)
        if isinstance(task, asyncio.Task):
            task.set_name(name)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, key: str, line: _Line) -> None:
        try:
            while line:
                share, group = self._share_of(line.head), self._group_of(line.head)
                async with self._turn_of(key), share, group, self._places:
                    await self._wait_for_pieces(line)
                    later = await self._guarded(taken) if (taken := line.take()) else None
                if later is not None:
                    line.put_back([_Item(envelope, taken[0].do) for envelope in later.batch])
                    self._postponed.add(key)
                    self._on_rest(key)
                    await asyncio.sleep(later.wait_s)
                    self._postponed.discard(key)
        finally:
            self._postponed.discard(key)
            del self._lines[key]
            self._on_rest(key)

    async def _at_once(self, item: _Item) -> None:
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

    async def _wait_for_pieces(self, line: _Line) -> None:
        while line and line.batch_length() == len(line) and expects_more(line.last):
            line.arrived.clear()
            try:
                async with asyncio.timeout(self._merge_window_s):
                    await line.arrived.wait()
            except TimeoutError:
                return

    async def _guarded(self, taken: Sequence[_Item]) -> Postponed | None:
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
