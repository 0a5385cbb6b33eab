"""Updates that wait in one conversation, each once, and how many of them are worked on together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.intake.updates import Envelope, is_cut

MAX_MERGED = 500
"""At most this many messages become one turn; those behind them are the next."""

MAX_MERGED_CHARS = 500 * 4096
"""The same for their texts: as much as so many messages of Telegram."""

Do = Callable[[Envelope], Awaitable[None]]
"""The work on an update in its lane, when it is more than its kind says: a confirmed tap."""


def next_batch(waiting: Iterable[Envelope], *, joins_bursts: bool = True) -> int:
    """Return how many envelopes at the head of the line are worked on together (at least 1).

    Texts that piled up become one turn for a model, which answers all of them at once. Rules read a message as one
    matter: for them (`joins_bursts` False) only the pieces of a long paste and of an album are one. An edit joins the
    message that it edits. Updates that a dead turn had claimed (the same `turn_id`) stay together, whatever they are,
    and alone; pictures of its album that came since join them.
    """
    line = iter(waiting)
    head = next(line)
    if not head.mergeable and head.turn_id is None:
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
        was_begun = head.turn_id is not None and envelope.turn_id == head.turn_id
        fits = was_begun or (head.mergeable and envelope.mergeable)
        if not fits or not same_person or envelope.again != head.again or count == MAX_MERGED:
            break
        if envelope.kind in ("edit", "addition"):
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
class WaitingItem:
    """One update in a line, with `do` as the work on it when that is more than its kind says."""

    envelope: Envelope
    do: Do | None = None


class WaitingLine:
    """Updates that wait in one conversation, each once."""

    def __init__(self, *, joins_bursts: bool = True) -> None:
        self._joins_bursts = joins_bursts
        self._items: deque[WaitingItem] = deque()
        self._update_ids: set[int] = set()
        self.arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def head(self) -> Envelope:
        """The update that is next."""
        return self._items[0].envelope

    @property
    def last(self) -> Envelope:
        """The update that came last."""
        return self._items[-1].envelope

    def has(self, update_id: int) -> bool:
        """Return whether an update waits here."""
        return update_id in self._update_ids

    def append(self, item: WaitingItem) -> None:
        """Put an item at the end, unless its update waits already."""
        if item.envelope.update_id in self._update_ids:
            return
        self._update_ids.add(item.envelope.update_id)
        self._items.append(item)
        self.arrived.set()

    def put_back(self, items: Sequence[WaitingItem]) -> None:
        """Put taken items at the head again; one that was sent once more meanwhile is there only once."""
        mine = {item.envelope.update_id for item in items}
        self._items = deque([*items, *(item for item in self._items if item.envelope.update_id not in mine)])
        self._update_ids |= mine

    def batch_length(self) -> int:
        """Return how many items at the head are worked on together."""
        return next_batch((item.envelope for item in self._items), joins_bursts=self._joins_bursts)

    def take(self) -> list[WaitingItem]:
        """Take the next batch out; [] when nothing waits."""
        taken = [self._items.popleft() for _ in range(self.batch_length())] if self._items else []
        self._update_ids -= {item.envelope.update_id for item in taken}
        return taken

    def take_look(self) -> list[WaitingItem]:
        """Take out the first command that only looks; [] when there is none, or anything but messages before it."""
        for item in self._items:
            if item.envelope.only_looks:
                self._items.remove(item)
                self._update_ids.discard(item.envelope.update_id)
                return [item]
            if item.do is not None or item.envelope.kind not in ("text", "edit"):
                break
        return []

    def clear(self) -> None:
        """Let go of everything: the rows of the inbox stay."""
        self._items.clear()
        self._update_ids.clear()
