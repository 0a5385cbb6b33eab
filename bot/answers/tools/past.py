"""The tool `search`: the notes, ended ones too, everything that was said here before, and files; as data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Final, Protocol

from bot.answers.instructions import is_behind_private
from bot.answers.tools.desk import BRINGS_BACK, Desk
from bot.answers.tools.times import read_time
from bot.answers.tools.working_copy import near
from memory.context.fence import FENCE_CHARS, fence
from memory.context.finds import SearchPort, with_notes
from memory.context.notes_block import NO_BLOCK, Since
from memory.context.transcript import clip
from memory.ledger import lines, series, views
from memory.ledger.ledgers import REWORDED
from memory.ledger.spans import falls_within
from memory.ledger.types import Note, NoteChange
from memory.packets import RetrievedItem
from memory.search.query import Query
from memory.search.relevance import near_enough

MAX_FOUND: Final = 8
MAX_LISTED: Final = 40
LOOKED_THROUGH: Final = 40
"""Finds that are looked at when only those of some days count."""
MAX_QUERY_CHARS: Final = 500
TITLE: Final = "Found in the notes and in what was said earlier."
MAX_DEEDS: Final = 20
"""Notes to which something was done that are told of a stretch of time."""
DEEDS: Final = {"add": "noted", "change": "changed", "end": "ended", "ring": "rang", "reopen": "stood again"}
NOTHING_THEN: Final = "Nothing is due there, and nothing was noted, changed, ended or said."
NOTHING: Final = "Nothing was found beyond what you see."
NOTHING_HERE: Final = "Nothing in this conversation."
SHOWN_AFTER: Final = "What was before is there, and shown after /continue."
PRIVATE_IS_GONE: Final = "Of the private conversation just before, nothing is."
LEFT_OUT: Final = "Earlier conversations are left out until /continue."


@dataclass(frozen=True, slots=True)
class Days:
    """The local days that are asked for, both included; "" for no bound."""

    since: str = ""
    until: str = ""

    def have(self, at_ms: int, zone: str) -> bool:
        """Whether a moment lies in them."""
        day = series.local_of(at_ms, zone)[:10]
        return self.since <= day and (not self.until or day <= self.until)

    def span_ms(self, zone: str) -> tuple[int, int | None]:
        """Their beginning and their end, which is before the next day; None where no last day is given."""
        begins = series.at_ms_of(f"{self.since}T00:00", zone) if self.since else 0
        if not self.until:
            return begins, None
        return begins, series.at_ms_of(f"{date.fromisoformat(self.until) + timedelta(days=1)}T00:00", zone)

    def have_note(self, note: Note, zone: str, now_ms: int) -> bool:
        """Whether a note rings, is due or goes on then; one without a time never does."""
        return falls_within(note, *self.span_ms(zone), now_ms)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search: its words, and where to look."""

    query: str
    since: str = ""
    until: str = ""


class FilesPort(Protocol):
    """The side of the files of a chat that a search needs."""

    async def found(self, conversation_id: str, query: str, has_day: Callable[[int], bool], max_chars: int) -> str:
        """Return passages of files, and descriptions of pictures, of these days that bear on the query, fenced."""
        ...


class TalkPort(SearchPort, Protocol):
    """The side of `memory.search.searcher.Searcher` that a search needs."""

    async def said(
        self, conversation_id: str, from_ms: int, to_ms: int, *, session_id: str | None, limit: int
    ) -> list[RetrievedItem]:
        """Return how turns begin from a moment to before another, the newest first; of one session or all."""
        ...


class ChangesPort(Protocol):
    """The side of `memory.ledger.ledgers.Ledgers` that a search needs."""

    async def reworded(self, conversation_id: str, since_ms: int) -> Mapping[str, int]:
        """Return when notes last got other words or another day since a moment, as ms by note id."""
        ...

    async def after(self, conversation_id: str, at_ms: int) -> list[NoteChange]:
        """Return the changes after a moment, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Places:
    """Sources of a search besides the notes."""

    talk: TalkPort | None = None
    files: FilesPort | None = None


async def search(desk: Desk, places: Places, wanted: Wanted, max_chars: int, ledgers: ChangesPort) -> str:
    """Notes, messages and files that bear on the query, at most so long; without one the open notes.

    Without a query, but with days, what falls on them, and what was noted, changed, ended and said then.
    A message of which something is otherwise by now is told with the notes that say so. Of a conversation that began
    fresh that others are left out. Raises `StorageUnavailable`.
    """
    query, days = wanted.query, Days(_day(wanted.since, desk.zone), _day(wanted.until, desk.zone))
    if not query.strip():
        left_out = LEFT_OUT if desk.is_alone else ""
        room = max(0, max_chars - FENCE_CHARS - len(left_out))
        listed = _standing(desk, days)
        told_of = [_listed(desk, days, listed)]
        shown = {note.number for note in listed[:MAX_LISTED]}
        told_of += [] if days == Days() else await _done_and_said(desk, places.talk, days, ledgers, shown)
        told = fence(clip(_parted(*told_of), room), TITLE)
        nothing = "No note is open." if days == Days() else NOTHING_THEN
        return _parted(told, told and left_out) or _nothing(desk, nothing, missed=bool(desk.elsewhere))
    notes = near([note for note in desk.notes.all() if note.status != "dropped"], query)
    notes = [note for note in notes if _is_of(note, days, desk)]
    found = await _said(desk, places.talk, query, days, _alone(desk))
    found = await _with_notes(desk, found, notes[:MAX_FOUND], ledgers)
    files = await _of_files(desk, places.files, query, days, max_chars // 2)
    said, left_out = "\n".join(_line(item, desk.zone) for item in found), _left_out(desk, notes, query)
    room = max_chars - FENCE_CHARS - len(left_out) - len(files)
    told = fence(clip(_parted(desk.shown(notes[:MAX_FOUND]), said), max(0, room)), TITLE)
    if told or files:
        desk.missed = desk.missed or left_out == BRINGS_BACK
        return _parted(told, files, left_out)
    missed = desk.can_join and (near(desk.elsewhere, query) or await _said(desk, places.talk, query, days, None))
    return _nothing(desk, NOTHING, missed=bool(missed))


def _left_out(desk: Desk, notes: Sequence[Note], query: str) -> str:
    """What is said of all that was before a fresh start: that a button brings it back, where it has a better find."""
    if not desk.is_alone:
        return ""
    is_better = near([*notes, *desk.elsewhere], query)[:1] != near(notes, query)[:1]
    return BRINGS_BACK if desk.missed or is_better else LEFT_OUT


def _parted(*parts: str) -> str:
    """The parts that there are, with a line between them."""
    return "\n\n".join(filter(None, parts))


def _nothing(desk: Desk, usual: str, *, missed: bool) -> str:
    """The answer of a search that found nothing; where it `missed` something from before, that comes by a button."""
    desk.missed = desk.missed or missed
    if not desk.is_alone:
        return usual
    if missed:
        return BRINGS_BACK
    gone = f" {PRIVATE_IS_GONE}" if is_behind_private(desk.ask.state) else ""
    return f"{NOTHING_HERE} {SHOWN_AFTER}{gone}"


def _listed(desk: Desk, days: Days, listed: Sequence[Note]) -> str:
    """The open notes of these days, or all, and how many there are besides: more, and stories of other personas."""
    more = [f"… and {len(listed) - MAX_LISTED} more: ask for fewer days."] if len(listed) > MAX_LISTED else []
    if days == Days() and not desk.is_alone:
        others = sum(not views.belongs(note, desk.ask.scope) for note in views.standing(desk.notes.ledger))
        more += [f"(not shown: {others} of stories told by another persona)"] if others else []
    return "\n".join(filter(None, (desk.shown(listed[:MAX_LISTED]), *more)))


async def _done_and_said(
    desk: Desk, talk: TalkPort | None, days: Days, ledgers: ChangesPort, shown: Collection[int]
) -> list[str]:
    """What was done to notes on these days, those `shown` by their numbers, and what was said, the newest first."""
    ask = desk.ask
    begins, last = days.span_ms(desk.zone)
    ends = ask.now_ms if last is None else last
    changes = [change for change in await ledgers.after(ask.conversation_id, begins - 1) if change.at_ms < ends]
    alone = ask.state.session_id if desk.is_alone else None
    said = await talk.said(ask.conversation_id, begins, ends, session_id=alone, limit=MAX_FOUND) if talk else []
    silent = {*views.forgotten_turns(desk.notes.ledger), *ask.state.undone}
    found = [item for item in said if item.ref not in silent]
    return [
        "\n".join(_deeds(desk, changes, shown)),
        "\n".join(_line(item, desk.zone) for item in await _with_notes(desk, found, [], ledgers)),
    ]


def _deeds(desk: Desk, changes: Sequence[NoteChange], shown: Collection[int]) -> list[str]:
    """A line for each note to which something was done, the latest first: `- noted, ended Mon …: #12 task: …`.

    One that is `shown` above is named by its number.
    """
    of_note: dict[int, list[NoteChange]] = {}
    for change in reversed(changes):
        if change.verb != "change" or not REWORDED.isdisjoint(change.after):
            of_note.setdefault(change.number, []).append(change)
    told = [(done, note) for number, done in of_note.items() if (note := desk.notes.find(number))]
    return [
        f"- {', '.join(dict.fromkeys(DEEDS.get(each.verb, 'changed') for each in reversed(done)))} "
        f"{lines.moment(done[0].at_ms, desk.zone)}: {f'#{note.number}' if note.number in shown else desk.line(note)}"
        for done, note in told[:MAX_DEEDS]
    ]


async def _with_notes(
    desk: Desk, found: list[RetrievedItem], shown: Sequence[Note], ledgers: ChangesPort
) -> list[RetrievedItem]:
    """The messages with the notes that rest on them: by number, and whole where a note is newer than its message."""
    if not found:
        return found
    ledger, ask = desk.notes.ledger, desk.ask
    changed = await ledgers.reworded(ask.conversation_id, min(item.at_ms for item in found))
    newer = {ledger.newest(note).number for note in ledger if note.status == "replaced"}
    newer |= {note.number for note in ledger if note.note_id in changed}
    told = Since(numbers=frozenset(ledger.notes).difference(newer).union(note.number for note in shown))
    return with_notes(found, ledger, ask.scope, (NO_BLOCK, told), changed=changed, now_ms=ask.now_ms, zone=desk.zone)


def _alone(desk: Desk) -> list[str] | None:
    """The one session whose words may be found; None when all may be."""
    return [desk.ask.state.session_id] if desk.is_alone else None


def _day(text: str, zone: str) -> str:
    found = read_time(text, zone)
    return found.day if found else ""


def _is_of(note: Note, days: Days, desk: Desk) -> bool:
    """Whether a note falls on these days; one without a time was told on them."""
    if views.moment_of(note) is None:
        return days.have(note.said_at_ms, desk.zone)
    return days == Days() or days.have_note(note, desk.zone, desk.ask.now_ms)


def _standing(desk: Desk, days: Days) -> Sequence[Note]:
    """Open notes: by their time, then those that last."""
    notes, now_ms = desk.notes.open(), desk.ask.now_ms
    if days != Days():
        dated = [note for note in notes if days.have_note(note, desk.zone, now_ms)]
        return sorted(dated, key=lambda note: (views.moment_of(note) or 0, note.number))
    first = views.to_do(notes, now_ms)
    return [*first, *(note for note in views.best_first(notes, now_ms) if note not in first)]


async def _said(
    desk: Desk, searcher: SearchPort | None, query: str, days: Days, alone: list[str] | None
) -> list[RetrievedItem]:
    """Messages; with `alone` only those of these sessions."""
    ask = desk.ask
    if searcher is None:
        return []
    found = await searcher.search(
        Query(
            ask.conversation_id,
            query[:MAX_QUERY_CHARS],
            session_ids=alone,
            exclude_turn_ids=[
                *(turn.turn_id for turn in ask.packet.history),
                *views.forgotten_turns(desk.notes.ledger),
                *ask.state.undone,
            ],
            limit=MAX_FOUND if days == Days() else LOOKED_THROUGH,
            now_ms=ask.now_ms,
            by_words=True,
        )
    )
    kept = [
        item
        for item in found
        if item.source == "turn" and (alone is None or item.session_id in alone) and days.have(item.at_ms, desk.zone)
    ]
    return near_enough(kept)[:MAX_FOUND]


async def _of_files(desk: Desk, files: FilesPort | None, query: str, days: Days, max_chars: int) -> str:
    if files is None:
        return ""
    has_day = partial(days.have, zone=desk.zone)
    return await files.found(desk.ask.conversation_id, query[:MAX_QUERY_CHARS], has_day, max_chars)


def _line(item: RetrievedItem, zone: str) -> str:
    note = f" ({item.note})" if item.note else ""
    return f"- said {lines.moment(item.at_ms, zone)}: {item.text.strip()}{note}"
