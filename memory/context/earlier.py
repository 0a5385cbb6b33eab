"""Earlier sessions in a line each: what the keeper wrote of them, or when they were and how they began."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from memory.context.notes_block import newest_form
from memory.context.transcript import clip, local_moment
from memory.keeper.session_lines import SessionLine
from memory.ledger.lines import brief_moment
from memory.ledger.types import Ledger
from memory.storage.store import SessionRow, Store
from memory.types import ConversationTurn, SessionState
from memory.zones import zone_of

SESSIONS_READ: Final = 50
MAX_SESSIONS: Final = 8
"""At most this many earlier sessions are told of."""
STANDING_CHARS: Final = 600
"""Two to four sentences."""
FIRST_WORDS_CHARS: Final = 90
MAX_CHANGED: Final = 4
"""At most so many notes are named that have changed since a session."""
CACHED_SESSIONS: Final = 256


class EarlierSessions:
    """Tells of earlier sessions; how one began is read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._began: OrderedDict[tuple[str, str], str] = OrderedDict()

    def clear_cache(self) -> None:
        """Let go of everything kept in memory (P13)."""
        self._began.clear()

    async def told(
        self,
        state: SessionState,
        lines: Mapping[str, SessionLine],
        ledger: Ledger,
        now_ms: int,
        time_zone: str,
        *,
        alone: bool,
    ) -> tuple[list[str], list[str]]:
        """Return a line for each earlier session, of the day and from before it; nothing for a session `alone`.

        `ledger` tells what has changed since.
        """
        if alone:
            return [], []
        rows = await self._store.sessions(state.conversation_id, limit=SESSIONS_READ)
        others = [row for row in rows if row.session_id != state.session_id and row.turn_count][:MAX_SESSIONS]
        today, before = by_day(others, midnight_of(now_ms, time_zone))
        return (
            await self._lines(today, lines, ledger, now_ms, time_zone),
            await self._lines(before, lines, ledger, now_ms, time_zone),
        )

    async def _lines(
        self, rows: Sequence[SessionRow], lines: Mapping[str, SessionLine], ledger: Ledger, now_ms: int, time_zone: str
    ) -> list[str]:
        return [
            f"- {brief_moment(now_ms, row.created_at_ms, time_zone)}"
            f"{await self._told(row, lines.get(row.session_id), ledger)}"
            for row in rows
        ]

    async def _told(self, row: SessionRow, line: SessionLine | None, ledger: Ledger) -> str:
        """Return where it stands, else its title, else its first words."""
        title = f", {one_line(line.title)}" if line and line.title else ""
        if line and line.standing:
            return f"{title}: {one_line(clip(line.standing, STANDING_CHARS))}{changed_since(line, ledger)}"
        if title:
            return title
        began = await self._first_words(row, ledger.epoch)
        return f": began with “{began}”" if began else ""

    async def _first_words(self, row: SessionRow, epoch: str) -> str:
        """Return how a session began; read again when something was forgotten, in whatever process (P13)."""
        key = (row.session_id, epoch)
        if key not in self._began:
            turns = await self._store.turns_between(row.session_id, 1, 1)
            self._began[key] = one_line(clip(turns[0].user_text, FIRST_WORDS_CHARS)) if turns else ""
            while len(self._began) > CACHED_SESSIONS:
                self._began.popitem(last=False)
        return self._began[key]


def changed_since(line: SessionLine, ledger: Ledger) -> str:
    """What of a session's standing is over or was replaced in another one: ` (since then: #12 done, now #14)`."""
    changed: dict[int, str] = {}
    for note in ledger:
        if not set(line.turn_ids).isdisjoint(note.turn_ids):
            newest = newest_form(note, ledger)
            if not newest.is_open:
                changed[newest.number] = f"#{newest.number} {newest.status}"
            elif newest is not note and newest.session_id != line.session_id:
                changed[newest.number] = f"now #{newest.number}"
    return f" (since then: {', '.join(list(changed.values())[:MAX_CHANGED])})" if changed else ""


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
