"""A statement that holds a day to come, in the person's own words: cut at its clauses, due on that day. Pure.

Nothing here understands a sentence: its words are noted under its day, and the note is over when the day is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from typing import Final

from bot.matching import every, find, whole, without
from bot.offline.forms import PASTED_CHARS, SENTENCE_END, FormFound, first_match, sentence, trimmed
from bot.offline.times import SaidTime, moment_in
from bot.offline.words import Words, words_of
from memory.ledger import series
from memory.ledger.types import End, Kind, Ledger, Note
from memory.ledger.views import DAY_MS, is_past
from memory.search.languages import Languages
from memory.text import has_question_mark, lowered

MOST_WORDS: Final = 24
"""A longer line is not read at a glance: it is cut to the clauses around its day."""
LONGEST: Final = 28
"""A clause with more words says more than one thing."""
FEWEST: Final = 2
"""A line must have so many telling words beside its day."""
MOST_NOTES: Final = 3
"""A message with more days than these is a plan that is worked on."""
NEAR_DAYS: Final = 14
"""A day without an hour that is no farther off is mostly one by which something has to be seen to."""
CERTAIN_DAYS: Final = 20
"""Up to so far off a bare number of a day is one to come, in a sentence of any tense."""
ALIKE: Final = 0.5
"""Share of the words of the shorter of two lines that the other must have to be about the same."""
CONFIDENCE: Final = 0.6
"""Less than that of an explicit form."""
_QUOTED: Final = re.compile(
    r"""["\u201c\u201e\u00ab][^"\u201c\u201d\u201e\u00ab\u00bb]{25,}["\u201c\u201d\u00bb]|(?<!\w)'[^'\n]{25,}'(?!\w)"""
)
_CLAUSE: Final = re.compile(r"(?:[,;:]|\s[-\u2013\u2014]|\.\.+|[()])\s+|\s?[\u2014(]")
_DIGIT: Final = re.compile(r"\d")
_NUMBERED: Final = re.compile(r"\d\.$")
"""A full stop behind a number: whether it ends the sentence is a matter of the language."""
_RANGE: Final = re.compile(r"\d\W*$")
_WEEK, _MOST_OF_A_YEAR = 7, 300
_FEW, _LONG = 5, 6


@dataclass(frozen=True, slots=True)
class _Piece:
    """One clause: its place in the text, its sentence, and the day to come that it names."""

    start: int
    end: int
    sentence: int
    moment: SaidTime | None


def dated_in(text: str, words: Words, now_ms: int, zone: str) -> list[FormFound]:
    """The days to come in a plain text, a line for each; none in a question, about the past, or in pasted text."""
    text = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), text)
    if len(text) > PASTED_CHARS:
        return []
    pieces, found, free = list(_pieces(text, words, now_ms, zone)), [], 0
    for at, piece in enumerate(pieces):
        if piece.moment is None:
            continue
        first, last = _around(text, pieces, at, free, words)
        line = text[pieces[first].start : pieces[last].end]
        beside = _without_day(text, piece, pieces[first].start, pieces[last].end)
        if len(line.split()) <= LONGEST and _tells(beside, piece.moment, words):
            free = last + 1
            kind = _kind(text[piece.start : piece.end], piece.moment, words, _days_ahead(piece.moment, now_ms, zone))
            line = _own_words(line, piece.moment, piece.start - pieces[first].start, words)
            said = trimmed(text[piece.start : piece.end])
            found.append(FormFound(kind, line, "", _as_said(piece.moment), said))
    return found if len(found) <= MOST_NOTES else []


def _pieces(text: str, words: Words, now_ms: int, zone: str) -> Iterator[_Piece]:
    """The clauses of the statements in a text."""
    marks = [mark for split in words.reads["split"] for mark in every(split, text)]
    ends = [*SENTENCE_END.finditer(text), *(mark for mark in marks if _NUMBERED.search(text[: mark.start() + 1]))]
    for number, (start, end) in enumerate(_cut(text, 0, len(text), ends)):
        said = text[start:end]
        if has_question_mark(said) or any(find(never, trimmed(said)) for never in words.reads["never"]):
            continue
        borders = [*_CLAUSE.finditer(text, start, end), *(mark for mark in marks if start < mark.start() < end)]
        for begin, stop in _cut(text, start, end, borders):
            yield _Piece(begin, stop, number, _to_come(text[begin:stop], words, now_ms, zone))


def _cut(text: str, start: int, end: int, borders: Iterable[re.Match[str]]) -> Iterator[tuple[int, int]]:
    for border in sorted(borders, key=lambda mark: mark.start()):
        if text[start : border.start()].strip():
            yield start, border.start()
        start = max(start, border.end())
    if text[start:end].strip():
        yield start, end


def _to_come(clause: str, words: Words, now_ms: int, zone: str) -> SaidTime | None:
    """The day that a clause names, where it is surely still to come."""
    moment = moment_in(clause, now_ms, zone, words.code)
    if moment is None or not moment.day_by or moment.repeats:
        return None
    ahead = _days_ahead(moment, now_ms, zone)
    if (ahead == 0 and not moment.names_hour) or (ahead == _WEEK and moment.day_by == "name"):
        return None  # "tired today"; a Friday's "Friday" may be today
    sure = ahead <= {"month": _MOST_OF_A_YEAR, "number": CERTAIN_DAYS}.get(moment.day_by, 0)
    return moment if sure or not any(find(past, clause) for past in words.reads["past"]) else None


def _as_said(moment: SaidTime) -> SaidTime:
    """The day alone where no hour was said: "Friday night" is not Friday at nine."""
    return moment if moment.names_hour else replace(moment, local=moment.local[:10])


def _days_ahead(moment: SaidTime, now_ms: int, zone: str) -> int:
    today = date.fromisoformat(series.local_of(now_ms, zone)[:10])
    return (date.fromisoformat(moment.local[:10]) - today).days


def _kind(clause: str, moment: SaidTime, words: Words, ahead: int) -> Kind:
    """A task where there is a term, or a near day without an hour; else an event."""
    said = f"{clause[moment.start : moment.end]}\n{clause}"
    has_term = any(find(term, said) for term in words.reads["term"]) and not _RANGE.search(clause[: moment.start])
    return "task" if has_term or (not moment.names_hour and 0 < ahead <= NEAR_DAYS) else "event"


def _around(text: str, pieces: Sequence[_Piece], at: int, free: int, words: Words) -> tuple[int, int]:
    """The clauses about a day: its sentence as far as it is read at a glance; the one before where that says little."""
    first = last = at
    own = pieces[at].sentence
    for step in (-1, 1):
        while free <= (new := (first if step < 0 else last) + step) < len(pieces):
            near = min(first, new), max(last, new)
            if pieces[new].sentence != own or pieces[new].moment or not _fits(text, pieces, *near):
                break
            first, last = near
    if len(telling(_without_day(text, pieces[at], pieces[first].start, pieces[last].end), words.code)) > FEWEST:
        return first, last
    whole_before = [n for n in range(free, first) if pieces[n].sentence == own - 1]
    if whole_before and not any(pieces[n].moment for n in whole_before) and _fits(text, pieces, whole_before[0], last):
        return whole_before[0], last
    return first, last


def _without_day(text: str, piece: _Piece, start: int, end: int) -> str:
    """A stretch without the words that name its day."""
    for one, other in reversed(piece.moment.spans if piece.moment else ()):
        text = f"{text[: piece.start + one]}{' ' * (other - one)}{text[piece.start + other :]}"
    return text[start:end]


def _tells(beside: str, moment: SaidTime, words: Words) -> bool:
    """Whether the words beside the day name a matter: two do; one long one, beside an hour or a whole date."""
    found = telling(beside, words.code)
    plain = len(beside.split()) < _FEW and (moment.names_hour or moment.day_by == "month")
    return len(found) >= FEWEST or (plain and any(len(word) >= _LONG for word in found))


def _fits(text: str, pieces: Sequence[_Piece], first: int, last: int) -> bool:
    return len(text[pieces[first].start : pieces[last].end].split()) <= MOST_WORDS


def _own_words(line: str, moment: SaidTime, at: int, words: Words) -> str:
    """The words as they were said; without those that mean another day tomorrow."""
    for start, end in reversed(moment.spans if moment.day_by == "distance" else ()):
        line = line[: at + start].rstrip() + line[at + end :]
    line = trimmed(line)
    for pattern in words.reads["lead_in"]:
        line = trimmed(without(pattern, line, ""))
    first, _, rest = line.partition(" ")
    return sentence(rest if rest and first_match(words.small["ok"], trimmed(first)) is not None else line)


@lru_cache(maxsize=2_000)
def telling(text: str, code: str) -> frozenset[str]:
    """The stems of a text's own words: no common words, no numbers, no words of time."""
    language = Languages.load().get(code)
    plain = (word for word in language.content(lowered(text)) if not _DIGIT.search(word) and not _is_time(word, code))
    return language.stems(" ".join(plain))


@lru_cache(maxsize=4_000)
def _is_time(word: str, code: str) -> bool:
    clock = words_of(code).clock
    tables = (clock.parts, clock.days, clock.hours, clock.numbers)
    patterns = [*clock.weekdays, *clock.months, *clock.units.values(), *clock.ordinals]
    return any(whole(pattern, word) for pattern in [*patterns, *(said for table in tables for said, _ in table)])


# --- what stands already ----------------------------------------------------------------------------------------------


def same_matter(line: FormFound, ledger: Ledger, words: Words, now_ms: int) -> Note | None:
    """The dated line about the same matter: most words of the shorter are in the other.

    One word in common is enough for appointments, which have an hour, and where the shorter has no other.
    """
    said, best, found = telling(line.text, words.code), 0.0, None
    exact = line.moment is not None and line.moment.names_hour
    for note in ledger:
        if not (is_own_line(note) and note.is_open) or is_past(note, now_ms):
            continue
        other = telling(note.text, words.code)
        common, least = len(said & other), min(len(said), len(other))
        enough = common > 1 or common == least or (exact and note.due_exact)
        share = common / least if least and enough else 0.0
        if share >= ALIKE and share > best:
            best, found = share, note
    return found


def is_own_line(note: Note) -> bool:
    """Whether a note is a statement with a day, in the person's words."""
    return note.source == "offline" and note.confidence == CONFIDENCE and note.due_at_ms is not None


def over(ledger: Ledger, now_ms: int) -> tuple[End, ...]:
    """Operations that end lines whose day is over: a task at once, an event a day later, so that one may ask."""
    days = {"event": 2}
    return tuple(
        End(number=note.number)
        for note in ledger
        if is_own_line(note) and note.is_open and (note.due_at_ms or now_ms) + days.get(note.kind, 1) * DAY_MS <= now_ms
    )
