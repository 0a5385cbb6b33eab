"""The tool `search`: the notes, ended ones too, everything that was said here before, and files; as data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from bot.answers.tools.desk import BRINGS_BACK, NOT_AT_HAND, Desk
from bot.answers.tools.times import read_time
from bot.answers.tools.which import near
from memory.context.fence import FENCE_CHARS, fence
from memory.context.finds import SearchPort, near_enough, with_notes
from memory.context.notes_block import NO_BLOCK, Since
from memory.context.transcript import clip
from memory.ledger import lines, series, views
from memory.ledger.types import Note
from memory.packets import RetrievedItem
from memory.search.query import Query

MAX_FOUND: Final = 8
MAX_LISTED: Final = 40
LOOKED_THROUGH: Final = 40
"""Finds that are looked at when only those of some days count."""
MAX_QUERY_CHARS: Final = 500
TITLE: Final = "Found in the notes and in what was said earlier."
NOTHING: Final = "Nothing was found beyond what you see."
NOTHING_HERE: Final = "Nothing in this conversation."
SHOWN_AFTER: Final = "What was before is there, and shown after /continue."


@dataclass(frozen=True, slots=True)
class Days:
    """The local days that are asked for, both included; "" for no bound."""

    since: str = ""
    until: str = ""

    def have(self, at_ms: int | None, zone: str) -> bool:
        """Whether a moment lies in them; None does where all days count."""
        if at_ms is None:
            return not (self.since or self.until)
        day = series.local_of(at_ms, zone)[:10]
        return self.since <= day and (not self.until or day <= self.until)


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


@dataclass(frozen=True, slots=True)
class Places:
    """Sources of a search besides the notes."""

    talk: SearchPort | None = None
    files: FilesPort | None = None


Reworded = Callable[[str, int], Awaitable[Mapping[str, int]]]
"""Last changes of words or day of a conversation's notes since a moment, as ms by note id."""


async def search(desk: Desk, places: Places, wanted: Wanted, max_chars: int, reworded: Reworded) -> str:
    """Notes, messages and files that bear on the query, at most so long; without one the open notes, by their days.

    A message of which something is otherwise by now is told with the notes that say so. Raises `StorageUnavailable`.
    """
    query, days = wanted.query, Days(_day(wanted.since, desk.zone), _day(wanted.until, desk.zone))
    room = max(0, max_chars - FENCE_CHARS)
    if not query.strip():
        listed = _standing(desk, days)
        more = f"\n… and {len(listed) - MAX_LISTED} more: ask for fewer days." if len(listed) > MAX_LISTED else ""
        told = fence(clip(desk.shown(listed[:MAX_LISTED]) + more, room), TITLE)
        return told or _nothing(desk, "No note is open there.", missed=bool(desk.elsewhere))
    notes = near([note for note in desk.notes.all() if note.status != "dropped"], query)
    notes = [note for note in notes if days.have(views.moment_of(note) or note.said_at_ms, desk.zone)]
    found = await _said(desk, places.talk, query, days, _alone(desk))
    found = await _with_notes(desk, found, notes[:MAX_FOUND], reworded)
    files = await _of_files(desk, places.files, query, days, max_chars // 2)
    parts = (desk.shown(notes[:MAX_FOUND]), "\n".join(_line(item, desk.zone) for item in found))
    told = fence(clip("\n\n".join(filter(None, parts)), room - len(files)), TITLE)
    if told or files:
        return "\n\n".join(filter(None, (told, files)))
    missed = desk.can_join and (near(desk.elsewhere, query) or await _said(desk, places.talk, query, days, None))
    return _nothing(desk, NOTHING, missed=bool(missed))


def _nothing(desk: Desk, usual: str, *, missed: bool) -> str:
    """The answer of a search that found nothing; where it `missed` something from before, that comes by a button."""
    desk.missed = desk.missed or missed
    if not desk.is_alone:
        return usual
    return f"{NOTHING_HERE} {f'{NOT_AT_HAND} {BRINGS_BACK}' if missed else SHOWN_AFTER}"


async def _with_notes(
    desk: Desk, found: list[RetrievedItem], shown: Sequence[Note], reworded: Reworded
) -> list[RetrievedItem]:
    """The messages with the notes that rest on them: by number, and whole where a note is newer than its message."""
    if not found:
        return found
    ledger, ask = desk.notes.ledger, desk.ask
    changed = await reworded(ask.conversation_id, min(item.at_ms for item in found))
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


def _standing(desk: Desk, days: Days) -> Sequence[Note]:
    """Open notes: by their time, then those that last."""
    notes, now_ms = desk.notes.open(), desk.ask.now_ms
    if days != Days():
        dated = [note for note in notes if days.have(views.moment_of(note), desk.zone)]
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
