"""The rules of sharing work among processes: the names of leases, how much to take, which to give back. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

KEEPER = "keeper"
"""The lease of work that has to be done once: polling, reminders, readings, heartbeats."""
IDLE_S = 10.0
"""A chat in which nothing is left to do is given back after so long: people write again soon, and it is in memory."""


def lease_of(conversation_id: str) -> str:
    """Return the lease that covers a conversation: its chat's, since pace and message ids are the chat's."""
    return conversation_id.rpartition(":")[0]


def room(limit: int, busy: Collection[str]) -> int:
    """Return in how many more chats work may be begun."""
    return max(0, limit - len(busy))


def idle(held: Mapping[str, float], busy: Collection[str], now_s: float) -> list[str]:
    """Return the held chats in which nothing happened for a while; `held` says when each was last busy."""
    return [name for name, since_s in held.items() if name not in busy and now_s - since_s >= IDLE_S]


def excused(begun: Collection[str], noted: Iterable[str], hung: Collection[str] | None = ()) -> list[str]:
    """Return the turns that are not to blame for the death of a worker: it was waited for, or was not alone at work.

    A worker that is silent and still connected has not died: one of its turns holds it up. These are `hung`, None when
    it is not known which: then none is excused.
    """
    if hung is None:
        return []
    return sorted((set(begun) if len(begun) > 1 else set(begun) & set(noted)) - set(hung))
