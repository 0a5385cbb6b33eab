"""Public fakes for tests of this library and of bots built on it: a clock, ids, a counter, and makers of contracts."""

from __future__ import annotations

from typing import Any

from memory.types import ConversationTurn, SessionState

START_MS = 1_700_000_000_000


class ManualClock:
    """A clock that moves only when it is told to."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """Return the time that was set."""
        return self._now_ms

    def advance(self, *, s: float = 0, ms: int = 0) -> int:
        """Move on and return the new time."""
        self._now_ms += int(s * 1000) + ms
        return self._now_ms


class SequentialIds:
    """Ids that a test can foretell: `t_1`, `s_2`, `t_3`."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, prefix: str) -> str:
        """Return the next id."""
        self._count += 1
        return f"{prefix}_{self._count}"


class WordCounter:
    """A token is a word."""

    def count(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())


def make_turn(**overrides: Any) -> ConversationTurn:
    """Return a turn; `seq` n is turn `t_n` of session `s_1`, a minute after the one before, unless told otherwise."""
    seq = overrides.get("seq", 1)
    fields: dict[str, Any] = {
        "turn_id": f"t_{seq}",
        "session_id": "s_1",
        "conversation_id": "tg:1:1:0",
        "seq": seq,
        "user_id": 7,
        "user_text": f"question {seq}",
        "assistant_text": f"answer {seq}",
        "created_at_ms": START_MS + seq * 60_000,
    }
    return ConversationTurn.model_validate(fields | overrides)


def make_state(**overrides: Any) -> SessionState:
    """Return the state of the empty session `s_1`, unless told otherwise."""
    fields: dict[str, Any] = {"session_id": "s_1", "conversation_id": "tg:1:1:0"}
    return SessionState.model_validate(fields | overrides)
