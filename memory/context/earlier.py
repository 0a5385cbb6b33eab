"""What a packet tells of the sessions before this one: of today, of the last conversation, and how that ended."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar

from memory.context.budget import Budget
from memory.context.transcript import clip
from memory.language.languages import Languages
from memory.notes.lines import line_of
from memory.notes.view import NotesView
from memory.ports import TokenCounter
from memory.state.summarizer import FOLD_TURNS, HEADER, RAW_TURNS, summarize
from memory.storage.store import SessionRow, Store
from memory.types import ConversationTurn
from memory.zones import zone_of

LAST_WORDS: Final = 16
"""At most this many exchanges of the session before are told as they were said."""
LAST_WORDS_TOKENS: Final = 150
"""What they may take, beside what a short history lends (`Budget.lent`)."""
LAST_SAID_CHARS: Final = 320
MAX_TODAY_SESSIONS: Final = 3
MAX_KNOWN: Final = 40
"""Notes that are offered to the packet; its budget takes as many as fit."""
CACHED_SESSIONS: Final = 256

_UNFOLDED_TURNS: Final = FOLD_TURNS + RAW_TURNS
_HEADING_TOKENS: Final = 30

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a session ended, as it was said: lines under a heading, and the turns that they tell without a cut."""

    session_id: str = ""
    lines: tuple[str, ...] = ()
    turn_ids: tuple[str, ...] = ()


class EarlierSessions:
    """Tells of earlier sessions in lines; what it made of a session is kept until the session has changed."""

    def __init__(self, store: Store, budget: Budget, languages: Languages, counter: TokenCounter) -> None:
        self._store = store
        self._budget = budget
        self._languages = languages
        self._counter = counter
        self._digests: OrderedDict[tuple[str | int, ...], tuple[str, ...]] = OrderedDict()
        self._endings: OrderedDict[tuple[str | int, ...], Ending] = OrderedDict()

    def clear_cache(self) -> None:
        """Let go of everything kept in memory (P13)."""
        self._digests.clear()
        self._endings.clear()

    async def today(
        self, rows: Sequence[SessionRow], view: NotesView, midnight_ms: int, time_zone: str, ending: Ending
    ) -> list[str]:
        """Return what was said today in other sessions, the latest first: when, about what, then what was noted."""
        lines: list[str] = []
        shown = rows[:MAX_TODAY_SESSIONS]
        for row in shown:
            room = self._budget.today_tokens // len(shown)
            heading = f"From {_clock(row.last_turn_at_ms, time_zone)}"
            noted = _noted(view, {row.session_id}, row.last_turn_at_ms, time_zone)
            digest = await self._digest(row, midnight_ms, room, heading)
            lines += [digest[0], *noted] if noted and digest else digest
            lines += ending.lines if noted and row is rows[0] else ()
        return lines

    async def last(
        self, rows: Sequence[SessionRow], view: NotesView, now_ms: int, time_zone: str, ending: Ending
    ) -> str:
        """Return what is known from before, best first; where nothing was noted, what the session before was about.

        003 asks for it after more than 24 hours, and `today` covers the same day; the evening before would fall between
        the two, so this is the latest session that is not of today.
        """
        if not rows:
            return ""
        ids = {row.session_id for row in rows}
        if noted := _noted(view, ids, now_ms, time_zone):
            words = ending if ending.session_id == rows[0].session_id else await self._last_words(rows[0], time_zone)
            return "\n".join([*words.lines, *noted])
        heading = f"From {_clock(rows[0].last_turn_at_ms, time_zone, day=True)}"
        return "\n".join(await self._digest(rows[0], 0, self._budget.last_conversation_tokens, heading))

    async def ending(self, latest: Sequence[SessionRow], view: NotesView, time_zone: str, lent: int) -> Ending:
        """Return how the session before ended; nothing where nothing was noted, since its summary is told then."""
        noted = latest and any(each.session_id == latest[0].session_id for each in view.standings)
        return await self._last_words(latest[0], time_zone, lent) if noted else Ending()

    async def _last_words(self, row: SessionRow, time_zone: str, lent: int = 0) -> Ending:
        """Return a session's last exchanges under a heading: the newest always, and as many as have room."""
        key = (row.session_id, row.version, time_zone, lent)
        if key not in self._endings:
            turns = [turn for turn in await self._store.last_turns(row.session_id, LAST_WORDS) if not turn.unfiled]
            room, lines, told = LAST_WORDS_TOKENS + lent, list[str](), list[ConversationTurn]()
            for turn in reversed(turns):
                said = [f"- {line}" for line in _exchange(turn)]
                room -= sum(map(self._counter.count, said))
                if room < 0 and told:
                    break
                lines = [*said, *lines]
                told.append(turn)
            heading = f"The last words then, on {_clock(row.last_turn_at_ms, time_zone, day=True)}:"
            words = (heading, *lines) if lines else ()
            whole = tuple(turn.turn_id for turn in told if _is_whole(turn))
            _keep(self._endings, key, Ending(row.session_id, words, whole))
        return self._endings[key]

    async def _digest(self, row: SessionRow, since_ms: int, max_tokens: int, heading: str) -> tuple[str, ...]:
        """Return a heading and the summary of a session since a moment; made once for each version of the session."""
        key = (row.session_id, row.version, since_ms, max_tokens, heading)
        if key not in self._digests:
            turns = await self._store.last_turns(row.session_id, _UNFOLDED_TURNS)
            previous = row.rolling_summary if row.created_at_ms >= since_ms else ""
            turns = [turn for turn in turns if turn.created_at_ms >= since_ms]
            room = max(0, max_tokens - _HEADING_TOKENS)
            summary = summarize(turns, previous, self._languages, self._counter, room)
            about = f", about {row.title}" if row.title else ""
            notes = [line for line in summary.splitlines() if line != HEADER]
            _keep(self._digests, key, (f"{heading}{about}:", *notes) if notes else ())
        return self._digests[key]


def _keep(cache: OrderedDict[K, T], key: K, made: T) -> None:
    """Keep what was made of a session, and let go of what was made longest ago."""
    cache[key] = made
    while len(cache) > CACHED_SESSIONS:
        cache.popitem(last=False)


def _noted(view: NotesView, session_ids: Collection[str], now_ms: int, time_zone: str) -> list[str]:
    """Return what was noted in some sessions and is alive, best first, a line each."""
    chosen = [each.note for each in view.standings if each.session_id in session_ids][:MAX_KNOWN]
    return [f"- {line_of(note, now_ms, time_zone)}" for note in chosen]


def _is_whole(turn: ConversationTurn) -> bool:
    """Return whether both sides of a turn are short enough to be told without a cut."""
    return max(len(turn.user_text), len(turn.assistant_text)) <= LAST_SAID_CHARS


def _exchange(turn: ConversationTurn) -> tuple[str, str]:
    """Return both sides of a turn on a line each; of a long one its beginning and its end."""
    user, assistant = clip(turn.user_text, LAST_SAID_CHARS), clip(turn.assistant_text, LAST_SAID_CHARS, "answer")
    return f"user: {' '.join(user.split())}", f"assistant: {' '.join(assistant.split())}"


def by_day(rows: Sequence[SessionRow], midnight_ms: int) -> tuple[list[SessionRow], list[SessionRow]]:
    """Return the sessions with a turn since midnight and those before, each the latest first."""
    today = [row for row in rows if row.last_turn_at_ms >= midnight_ms]
    return today, [row for row in rows if row.last_turn_at_ms < midnight_ms]


def _clock(at_ms: int, time_zone: str, *, day: bool = False) -> str:
    at = datetime.fromtimestamp(at_ms / 1000, zone_of(time_zone))
    return f"{at:%Y-%m-%d}" if day else f"{at:%H:%M}"
