"""The screens of chats that are not on Telegram: their watchers see an answer grow, and every message."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from bot.delivery.outbox import Part


@dataclass(frozen=True, slots=True)
class Growing:
    """An unfinished answer, whole so far."""

    turn_id: str
    text: str


Event = Growing | Part
Screen = asyncio.Queue[Event]

MAX_UNREAD = 1000
"""A watcher that reads nothing loses events of its screen, never stored messages."""


class LocalScreens:
    """Tells watchers the events of their chat; nobody has to watch, the outbox and the turn log have it all."""

    def __init__(self) -> None:
        self._watchers: dict[int, set[Screen]] = {}

    @contextmanager
    def watch(self, chat_id: int) -> Iterator[Screen]:
        """Give the events of a chat from now on, for as long as this is entered."""
        screen: Screen = asyncio.Queue(MAX_UNREAD)
        self._watchers.setdefault(chat_id, set()).add(screen)
        try:
            yield screen
        finally:
            self._watchers[chat_id].discard(screen)
            if not self._watchers[chat_id]:
                del self._watchers[chat_id]

    def show(self, chat_id: int, event: Event) -> None:
        """Tell the watchers of the chat."""
        for screen in self._watchers.get(chat_id, ()):
            if not screen.full():
                screen.put_nowait(event)


class LocalAnswer:
    """A live answer in a chat that is not on Telegram; see `streaming.LiveAnswer`."""

    message_id: int | None = None

    def __init__(self, screens: LocalScreens, chat_id: int, turn_id: str) -> None:
        self._screens = screens
        self._chat_id = chat_id
        self._turn_id = turn_id

    def grow(self, text: str) -> None:
        """Show the whole text so far."""
        self._screens.show(self._chat_id, Growing(self._turn_id, text))

    async def __aenter__(self) -> Self:
        """Begin."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop showing."""
