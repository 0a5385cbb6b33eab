"""The leases of this process on a server: the chats it holds, those it wants, and its signals to the others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from contextlib import suppress

from bot.turns.sharing.holding import lease_of
from memory.errors import StorageUnavailable
from memory.storage.engine import SharedDatabase


class Leases:
    """Chats that are held as long as there is something to do in them (`bot.delivery.chats.Chats`)."""

    def __init__(self, db: SharedDatabase, behind: Callable[..., object]) -> None:
        self.db = db
        self._behind = behind
        self.held: dict[str, float] = {}
        """Each chat that is held, and when something was last to do there."""
        self.wanted: set[str] = set()
        """Chats that are not held, for which something came in."""
        self.told: set[str] = set()
        """Chats that are held, for which another process has written something down."""
        self.spare: set[str] = set()
        """Chats that are to be given back with the next look."""
        self.stirred = asyncio.Event()
        """Set when there is a reason to look."""

    def holds(self, conversation_id: str) -> bool:
        """Return whether this process works on the chat of a conversation."""
        return lease_of(conversation_id) in self.held

    def left(self, conversation_id: str) -> None:
        """Take note that something was written down for a chat that is not held."""
        self.wanted.add(lease_of(conversation_id))
        self.stirred.set()

    def rested(self, conversation_id: str) -> None:
        """Take note that a conversation has come to rest: there is room for another one."""
        name = lease_of(conversation_id)
        if name in self.held:
            self.held[name] = now_s()
        self.stirred.set()

    def hold(self, names: Iterable[str]) -> None:
        """Note chats that are held from now on."""
        self.held |= dict.fromkeys(names, now_s())

    def spared(self, name: str) -> None:
        """Let somebody with room take a chat that was held."""
        self.held.pop(name, None)
        self.spare.add(name)

    def tell(self, what: str) -> None:
        """Let the others know, behind the current work."""
        self._behind(self.say({"what": what}), "tells")

    def tell_changed(self, conversation_id: str) -> None:
        """Let the one that holds a chat know that its notes were changed here."""
        self._behind(self.say({"changed": conversation_id}), "tells")

    async def say(self, told: object) -> None:
        """Tell the others; a server that is away is not waited for: everybody looks by themselves now and then."""
        with suppress(StorageUnavailable):
            await self.db.tell(json.dumps(told))


def now_s() -> float:
    """Return the time of the event loop."""
    return asyncio.get_running_loop().time()
