"""Texts that tell a forgotten matter again: its value, or its name with the thing. Pure, and knows no language.

A value is a number of three digits and more, or a name that nobody says anywhere else. A text that only shares a thing,
as the key of the shop with the key of the house, or only a name tells something else; with a word and the day of the
matter it tells that: of two birthdays of a Petra the one of the 5th.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from memory.keeper.wording import TIME, capitalised, capitalises_nouns, numbers
from memory.ledger.rules import DAY_CHARS
from memory.ledger.series import local_of
from memory.ledger.types import Note
from memory.search.same_words import Forms, forms_of, telling_forms
from memory.search.terms import calendar_words, search_words
from memory.text import folded

CODE_DIGITS: Final = 3
SHORT_MONTH: Final = 3
TOLD_SHARE: Final = 0.6
"""The share of the words that tells a matter without names and numbers again, as in `memory.context.repeats`."""
TOLD_LEAST: Final = 2
SENTENCE: Final = re.compile(r"(?:(?<=[!?\u2026])|(?<=\.)(?!\s+\d)|(?<=\w{5}\.))\s+|(?<=[\u3002\uff01\uff1f])|\n+")
"""Between two sentences; a short word with its stop before a number ("cap. 2", "No. 7") belongs to it."""
_CAPITAL: Final = re.compile(r"[^\W\d_]+")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ISO: Final = re.compile(r"\b\d{4}-(\d\d)-(\d\d)\b")
_DIGITS: Final = re.compile(r"(?<![\d.,/])(\d{1,2})[./](\d{1,2})(?:[./]\d{0,4})?(?![\d,])")
MONTHS, DAYS = 12, 31
Day = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Said:
    """A text as it is compared."""

    text: str
    words: dict[str, Forms]
    """Its telling words, those with digits aside."""
    forms: Forms
    numbers: dict[float, str]
    """The value of each number, and how it is written."""
    codes: frozenset[float]
    """Numbers that are hardly said by chance: no years, no hours, none of one or two digits."""
    capitals: frozenset[str]
    """Words that begin with a capital letter, wherever they stand."""
    inside: frozenset[str]
    """The names inside a sentence."""
    days: frozenset[Day] = frozenset()
    """Its dates: day and month."""

    @classmethod
    def of(cls, text: str) -> Said:
        """Read a text; of a date its month alone, since days are said of many things, and the day apart."""
        days = days_in(text)
        if any(map(str.isdigit, text)):  # as every date has
            text = _date().sub(lambda found: (found[2] or found[3] or " ").lower(), text)
        words = {word: own for word, own in telling_forms(text).items() if not re.search(r"\d", word)}
        found = list(numbers(text))
        return cls(
            text,
            words,
            frozenset().union(*words.values()),
            {value: written for written, value in found},
            frozenset(value for written, value in found if _is_code(written)),
            frozenset(folded(word) for word in _CAPITAL.findall(text) if word[0] != word[0].lower()),
            frozenset(map(folded, capitalised(text))),
            days,
        )


def days_in(text: str) -> frozenset[Day]:
    """The dates of a text, as day and month: `5.12.`, `5 Dec`, `December 5th`, `2026-12-05`; `5/12` both ways."""
    if not any(map(str.isdigit, text)):
        return frozenset()
    found = [(int(d), int(m)) for m, d in _ISO.findall(text)] + [(int(d), int(m)) for d, m in _DIGITS.findall(text)]
    found += [(int(m), int(d)) for d, m in _DIGITS.findall(text) if f"{d}/{m}" in text]
    for before, name, other, behind in _date().findall(text):
        if day := before or behind:
            found.append((int(day), _months()[(name or other).lower()]))
    return frozenset((day, month) for day, month in found if 1 <= month <= MONTHS and 1 <= day <= DAYS)


@lru_cache(maxsize=1)
def _months() -> dict[str, int]:
    """The number of each month by its name, whole and short, in all languages."""
    lists = [each.months for each in search_words().values()]
    numbered = {name: n for months in lists for n, name in enumerate(months, 1)}
    return {name[:SHORT_MONTH]: n for name, n in numbered.items()} | numbered


@lru_cache(maxsize=1)
def _date() -> re.Pattern[str]:
    """A day with its month, in either order, and a date in digits."""
    month = "|".join(sorted(map(re.escape, _months()), key=len, reverse=True))
    day, year = r"(\d{1,2})(?:st|nd|rd|th|er|[.ºª])?", r"(?:,?\s+(?:de\s+)?(?:19|20)\d\d)?"
    return re.compile(
        rf"\b(?:{day}\s+(?:de\s+|of\s+)?({month})\b{year}|({month})\.?\s+(?:{day}\b{year}|(?:19|20)\d\d\b)"
        r"|\d{4}-\d\d-\d\d\b|\d{1,2}[./]\d{1,2}[./]\d{4}\b)",
        re.IGNORECASE,
    )


def _is_code(written: str) -> bool:
    digits = re.sub(r"\D", "", written)
    return len(digits) >= CODE_DIGITS and not _YEAR.fullmatch(digits) and not TIME.fullmatch(written)


@dataclass(slots=True)
class Known:
    """Words said elsewhere, which tell nothing by themselves."""

    forms: set[tuple[str, str]] = field(default_factory=set)
    numbers: set[float] = field(default_factory=set)
    days: frozenset[Day] = frozenset()
    """Days of other matters."""
    names: bool = False
    """Names tell nothing by themselves: the matters of one message share their people."""


class Matter:
    """A forgotten matter: notes, or where no note was named messages."""

    def __init__(self, texts: Iterable[str], around: Iterable[str] = ()) -> None:
        """Read the texts; names are known by the other words `around`."""
        texts = list(dict.fromkeys(texts))
        self._texts = [Said.of(text) for text in texts]
        beside = "\n".join((*around, *texts))
        self._names = frozenset(map(folded, capitalised(beside)))
        """Words that somebody wrote with a capital letter inside a sentence."""
        self._has_nouns = capitalises_nouns(beside)
        """Whether nouns have capital letters, too, so that one of them alone is no name."""

    def __bool__(self) -> bool:
        return bool(self._texts)

    @property
    def forms(self) -> Forms:
        """The forms of all its words."""
        return frozenset().union(*(each.forms for each in self._texts))

    def told_by(self, said: Said, known: Known) -> str:
        """The word or number by which a text tells it again, as it is written there; "" when it does not.

        >>> key = Matter(["The house key is at Joan's, no 21"])
        >>> key.told_by(Said.of("The shop key is at Callum's"), Known())
        ''
        >>> key.told_by(Said.of("House key: Joan's"), Known())
        'joan'
        """
        return next((word for gone in self._texts if (word := self._told(gone, said, known))), "")

    def _told(self, gone: Said, said: Said, known: Known) -> str:
        codes = (gone.codes & said.numbers.keys()) - known.numbers
        if codes:
            return said.numbers[min(codes)]
        names = {word for word in gone.words if self._is_name(word, gone, said)}
        shared = {word for word in gone.words if gone.words[word] & said.forms}
        things = shared - calendar_words()
        if things and not (gone.days & said.days) <= known.days:
            return min(things)
        new = {word for word in names if known.forms.isdisjoint(gone.words[word])}
        own = set() if known.names else new & shared
        if own and (not self._has_nouns or 2 * len(own) >= len(names)):
            return min(own)
        if not names and not gone.numbers:  # what a note that stays tells, too, gives nothing away
            is_new = any(known.forms.isdisjoint(gone.words[word]) for word in shared)
            return _most(shared, gone) if is_new else ""
        marks = len(new) + len((gone.numbers.keys() & said.numbers.keys()) - known.numbers)
        is_told = _marked(gone, said, names, shared, marks) or _told_at_once(gone, said, names, shared)
        return min(names & shared or shared, default="") if is_told else ""

    def _is_name(self, word: str, gone: Said, said: Said) -> bool:
        if word in calendar_words():
            return False
        return word in (said.inside | self._names if word in gone.capitals else said.inside)


def _most(shared: set[str], gone: Said) -> str:
    """A word of those shared when they are most of the forgotten matter."""
    least = max(min(TOLD_LEAST, len(gone.words)), TOLD_SHARE * len(gone.words))
    return max(shared, key=len) if shared and len(shared) >= least else ""


def _marked(gone: Said, said: Said, names: set[str], shared: set[str], new: int) -> bool:
    """Whether all names and half of the numbers are shared, and half of the rest: or two and more of them are new.

    Two names that notes tell that stay are no matter by themselves: `Nuala` with `Lisbon` is her trip, not her divorce.
    """
    same = gone.numbers.keys() & said.numbers.keys()
    things = gone.words.keys() - names
    is_same = names <= shared and 2 * len(same) >= len(gone.numbers) and bool(names or same)
    rest = len(things & shared)
    return is_same and (new > 1 or (rest > 0 and 2 * rest >= len(things)))


def _told_at_once(gone: Said, said: Said, names: set[str], shared: set[str]) -> bool:
    """Whether one sentence has a name, a number and a thing of the matter: `Alfie: size 11, noted`."""
    if not (names & shared and shared - names and gone.numbers.keys() & said.numbers.keys()):
        return False
    for sentence in SENTENCE.split(said.text):
        forms = forms_of(sentence)
        here = {word for word in shared if not forms.isdisjoint(gone.words[word])}
        if here & names and here - names and any(value in gone.numbers for _, value in numbers(sentence)):
            return True
    return False


def told_beside(notes: Sequence[Note], asked: Sequence[Note], said: Iterable[str] = ()) -> frozenset[str]:
    """The ids of notes that tell something else than those that were asked for, and are not forgotten themselves.

    A person who wants the code of a door gone keeps the dentist's date said with it; `said` are their messages.
    """
    gone = Matter((_text(note) for note in asked), (*said, *(note.text for note in notes)))
    named = {note.note_id for note in asked}
    others = (note for note in notes if note.note_id not in named and not note.is_forgotten)
    known = Known(names=True)
    return frozenset(note.note_id for note in others if not gone.told_by(Said.of(_text(note)), known))


def matter_of(note: Note) -> str:
    """The words of a note with its day, as a matter is compared."""
    day = "" if note.due_at_ms is None else local_of(note.due_at_ms, note.time_zone)[:DAY_CHARS]
    return "\n".join(filter(None, [_text(note), day or (note.rings_from[:DAY_CHARS] if not note.repeats else "")]))


def known_by(notes: Iterable[Note]) -> Known:
    """The words of these notes, and their days."""
    notes = list(notes)
    texts = [_text(note) for note in notes]
    found = {value for text in texts for _, value in numbers(text)}
    days = frozenset().union(*(days_in(matter_of(note)) for note in notes))
    return Known(set(forms_of("\n".join(texts))), found, days)


def _text(note: Note) -> str:
    return f"{note.text}\n{note.subject}" if note.subject else note.text
