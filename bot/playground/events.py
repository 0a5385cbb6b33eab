"""Events of the playground's bot while people talked: killed, back again, not to be started; for every chat."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

KEPT: Final = 50
NOTHING_LEFT: Final = "it's back, nothing was unfinished"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to the bot; `after` is the last message of each chat at that moment."""

    number: int
    text: str
    at_ms: int
    after: Mapping[int, int]


class BotEvents:
    """The events of the bot; a page that is loaded again shows the same ones as before."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._state = ""
        self._number = 0

    def heard(self, state: str, note: str, at_ms: int, after: Mapping[int, int]) -> None:
        """Keep the bot's new state as an event for those who write to it; the first start is none."""
        before, self._state = self._state, "" if state == "starting" and not self._state else state
        if state == before or not (text := told(state, note, is_first=not before)):
            return
        self._number += 1
        self._events.append(Event(self._number, text, at_ms, dict(after)))

    def of_chat(self, chat_id: int, *, whole: bool = False) -> list[dict[str, Any]]:
        """The events as one chat shows them, each behind a message of it; `whole` adds those from before its first."""
        return [
            {"number": each.number, "text": each.text, "at_ms": each.at_ms, "after": each.after.get(chat_id, 0)}
            for each in self._events
            if whole or each.after.get(chat_id)
        ]

    def forget(self) -> None:
        """Begin anew, as after a reset."""
        self._events.clear()
        self._state = ""


def told(state: str, note: str, *, is_first: bool) -> str:
    """The line about a state in a chat; "" for one that nobody has to know.

    >>> told("killed", "killed -9", is_first=False)
    'the bot was killed -9'
    """
    if state == "killed":
        return f"the bot was {note}" if note.startswith("killed") else f"the bot {note}"
    if state == "running" and not is_first:
        return f"it's back: {note}" if note else NOTHING_LEFT
    return note if state == "failed" else ""
