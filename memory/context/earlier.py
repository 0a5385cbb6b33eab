"""Earlier sessions in a line each: what the keeper wrote of them, or when they were and how they began."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from memory.context.transcript import clip, local_moment
from memory.keeper.session_lines import SessionLine
from memory.ledger.lines import moment
from memory.storage.store import SessionRow, Store
from memory.types import ConversationTurn, SessionState
from memory.zones import zone_of

MAX_SESSIONS: Final = 8
"""At most this many earlier sessions are told of."""
STANDING_CHARS: Final = 600
"""Two to four sentences."""
FIRST_WORDS_CHARS: Final = 90
CACHED_SESSIONS: Final = 256


class EarlierSessions:
    """Tells of earlier sessions; how one began is read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._began: OrderedDict[str, str] = OrderedDict()

    def clear_cache(self) -> None:
        """Let go of everything kept in memory (P13)."""
        self._began.clear()

    async def lines(self, rows: Sequence[SessionRow], lines: Mapping[str, SessionLine], time_zone: str) -> list[str]:
        """Return a line for each of these sessions, in their order."""
        return [await self._line(row, lines.get(row.session_id), time_zone) for row in rows]

    async def _line(self, row: SessionRow, line: SessionLine | None, time_zone: str) -> str:
        when = moment(row.created_at_ms, time_zone)
        if line is None or not line.standing:
            began = await self._first_words(row)
            return f"- {when}: began with “{began}”" if began else f"- {when}"
        title = f", {one_line(line.title)}" if line.title else ""
        return f"- {when}{title}: {one_line(clip(line.standing, STANDING_CHARS))}"

    async def _first_words(self, row: SessionRow) -> str:
        if row.session_id not in self._began:
            turns = await self._store.turns_between(row.session_id, 1, 1)
            self._began[row.session_id] = one_line(clip(turns[0].user_text, FIRST_WORDS_CHARS)) if turns else ""
            while len(self._began) > CACHED_SESSIONS:
                self._began.popitem(last=False)
        return self._began[row.session_id]


def title_of(
    state: SessionState, titles: Mapping[str, SessionLine], history: Sequence[ConversationTurn], zone: str
) -> str:
    """Return what a session is about: the keeper's title, else its day and first words; "" before there are any."""
    line = titles.get(state.session_id)
    if line and line.title:
        return line.title
    first = next((turn for turn in history if turn.seq == 1), None)
    if first is None:
        return ""
    day, _ = local_moment(first.created_at_ms, zone)
    return f"{day}: {one_line(clip(first.user_text, FIRST_WORDS_CHARS))}"


def one_line(text: str) -> str:
    """The text without breaks."""
    return " ".join(text.split())


def by_day(rows: Sequence[SessionRow], midnight_ms: int) -> tuple[list[SessionRow], list[SessionRow]]:
    """The sessions with a turn since midnight and those before, each the latest first."""
    today = [row for row in rows if row.last_turn_at_ms >= midnight_ms]
    return today, [row for row in rows if row.last_turn_at_ms < midnight_ms]


def midnight_of(now_ms: int, time_zone: str) -> int:
    """When the day began where the person is."""
    now = datetime.fromtimestamp(now_ms / 1000, zone_of(time_zone))
    return int(now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)
