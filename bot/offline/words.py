"""Patterns of people's words, a data file per language: compiled once, matched through `bot.matching` alone."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, cast

from bot.matching import Pattern, compiled
from memory.ledger.types import Kind

_DATA: Final = Path(__file__).parent / "languages"
DEFAULT: Final = "en"
_OWN_VOTES: Final = 2
"""Votes of a word that one language has alone."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")

Unit = Literal["second", "minute", "hour", "day", "week", "month", "year"]


@dataclass(frozen=True, slots=True)
class Form:
    """One explicit form: its pattern, and the kind of note that a fitting clause becomes."""

    kind: Kind
    pattern: Pattern
    text: str = "{what}"
    """The note, its groups filled in as they are said to the person."""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class ClockWords:
    """Patterns for times."""

    weekdays: tuple[Pattern, ...]
    months: tuple[Pattern, ...]
    units: Mapping[Unit, Pattern]
    numbers: tuple[tuple[Pattern, int], ...]
    hours: tuple[tuple[Pattern, int], ...]
    ordinals: tuple[Pattern, ...]
    days: tuple[tuple[Pattern, int], ...]
    parts: tuple[tuple[Pattern, int], ...]
    spans: tuple[Pattern, ...]
    dates: tuple[Pattern, ...]
    clocks: tuple[Pattern, ...]
    parts_in: tuple[Pattern, ...]
    repeats: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """Words and patterns of one language."""

    code: str
    common: frozenset[str]
    mirror: tuple[tuple[Pattern, str], ...]
    """Words by which people speak of themselves, and the same said back to them."""
    clock: ClockWords
    reads: Mapping[str, tuple[Pattern, ...]]
    forms: tuple[Form, ...]
    asks: Mapping[str, tuple[Pattern, ...]]
    small: Mapping[str, tuple[Pattern, ...]]

    def patterns(self) -> list[Pattern]:
        """All patterns of the language: the tests let each read texts that grow."""
        found = [form.pattern for form in self.forms] + [pattern for pattern, _ in self.mirror]
        for table in (self.reads, self.asks, self.small):
            found += [pattern for several in table.values() for pattern in several]
        timed = self.clock
        return [*found, *timed.spans, *timed.dates, *timed.clocks, *timed.parts_in, *timed.repeats]


@lru_cache(maxsize=1)
def codes() -> tuple[str, ...]:
    """The languages that there is a file for, English first."""
    return (DEFAULT, *sorted(file.stem for file in _DATA.glob("*.toml") if file.stem != DEFAULT))


@lru_cache(maxsize=16)
def words_of(code: str | None) -> Words:
    """The words of a language; English for one without a file."""
    if code not in codes():
        return words_of(DEFAULT)
    data = tomllib.loads((_DATA / f"{code}.toml").read_text(encoding="utf-8"))
    parts = {**data["parts"], **_slots(data["time"])}
    reads = {name: _several(value, parts) for name, value in data["reads"].items() if name != "forms"}
    reads["undo"] = _several(data["undo"], parts)
    return Words(
        code=code,
        common=frozenset(data["common"].split()),
        mirror=tuple((compiled(said, parts), back) for said, back in data["mirror"]),
        clock=_clock(data["time"], parts),
        reads=reads,
        forms=tuple(
            Form(cast("Kind", kind), _whole(said, parts), *rest) for kind, said, *rest in data["reads"]["forms"]
        ),
        asks={name: _several(value, parts, whole=True) for name, value in data["asks"].items()},
        small={name: _several(value, parts, whole=True) for name, value in data["small"].items()},
    )


def language_of(text: str, fallback: str | None = None) -> str:
    """The language that most common words of a text speak for; the fallback where they do not tell."""
    fallback = fallback if fallback in codes() else DEFAULT
    said = [word.lower() for word in _WORD.findall(text[:600].replace("\u2019", "'"))]
    votes = dict.fromkeys((fallback, *codes()), 0)
    for word in said:
        spoken = [code for code in codes() if word in words_of(code).common]
        for code in spoken:
            votes[code] += _OWN_VOTES if len(spoken) == 1 else 1
    best = max(votes, key=lambda code: votes[code])
    return best if votes[best] > votes[fallback] else fallback


def _several(value: str | Sequence[str], parts: Mapping[str, str], *, whole: bool = False) -> tuple[Pattern, ...]:
    make = _whole if whole else _loose
    return tuple(make(each, parts) for each in ([value] if isinstance(value, str) else value))


def _whole(said: str, parts: Mapping[str, str]) -> Pattern:
    return compiled(rf"^(?:{said})$", parts)


def _loose(said: str, parts: Mapping[str, str]) -> Pattern:
    return compiled(said, parts)


def _bordered(said: str, parts: Mapping[str, str]) -> Pattern:
    return compiled(rf"(?<!\w)(?<!\d[.,:/])(?:{said})(?!\w)", parts)


def _slots(time: Mapping[str, Any]) -> dict[str, str]:
    """Patterns behind `{weekday}`, `{n}`, `{h}` … of a language."""
    weekday = "|".join(time["weekdays"])
    ordinals = "".join(f"|{each}" for each in time["ordinals"][::-1])
    hours = "".join(f"|{each}" for each in time["hours"])
    return {
        "weekday": f"(?P<weekday>{weekday})(?!\\w)",
        "weekdays": f"(?P<list>(?:{weekday})(?:{{and}}(?:{weekday})){{0,6}})(?!\\w)",
        "month": f"(?P<month>{'|'.join(time['months'])})(?!\\w)",
        "unit": f"(?P<unit>{'|'.join(time['units'].values())})(?!\\w)",
        "n": f"(?P<n>\\d{{1,3}}|(?:{'|'.join(time['numbers'])})(?!\\w))",
        "h": f"(?P<h>[01]?\\d|2[0-4]{hours})(?!\\d)",
        "bare": f"(?![.,:]?\\d)(?! ?(?:[%€$£]|{time['not_hours']}|{'|'.join(time['units'].values())})(?!\\w))",
        "m": "(?P<m>[0-5]\\d)(?!\\d)",
        "d": f"(?P<d>0?[1-9]|[12]\\d|3[01]{ordinals})",
        "mm": "(?P<mm>0?[1-9]|1[0-2])(?!\\d)",
        "y": "(?P<y>20\\d\\d)(?!\\d)",
        "half": "(?P<half>[ap])",
        "dayword": f"(?P<dayword>{'|'.join(time['days'])})(?!\\w)",
        "part": f"(?P<part>{'|'.join(time['parts'])})(?!\\w)",
        "plural": time["plural"],
        "and": time["and"],
        "not_hours": time["not_hours"],
    }


def _clock(time: Mapping[str, Any], parts: Mapping[str, str]) -> ClockWords:
    def table(name: str) -> tuple[tuple[Pattern, int], ...]:
        return tuple((_whole(said, parts), number) for said, number in time[name].items())

    iso = r"(?P<y>20\d\d)-(?P<mm>0[1-9]|1[0-2])-(?P<d>0[1-9]|[12]\d|3[01])"
    return ClockWords(
        weekdays=tuple(_loose(rf"(?<!\w)(?:{each})(?!\w)", parts) for each in time["weekdays"]),
        months=tuple(_whole(each, parts) for each in time["months"]),
        units={unit: _whole(said, parts) for unit, said in time["units"].items()},
        numbers=table("numbers"),
        hours=table("hours"),
        ordinals=tuple(_whole(each, parts) for each in time["ordinals"]),
        days=table("days"),
        parts=table("parts"),
        spans=tuple(_bordered(each, parts) for each in time["spans"]),
        dates=tuple(_bordered(each, parts) for each in (iso, *time["dates"])),
        clocks=tuple(_bordered(each, parts) for each in time["clocks"]),
        parts_in=tuple(_bordered(each, parts) for each in time["parts_in"]),
        repeats=tuple(_bordered(each, parts) for each in time["repeats"]),
    )
