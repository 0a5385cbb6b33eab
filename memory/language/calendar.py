"""How a day is written, a data file per language. It is what people are shown; what they say is read elsewhere."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

_DATA: Final = Path(__file__).parent / "language_data" / "calendar"
_DEFAULT: Final = "en"


@dataclass(frozen=True, slots=True)
class Calendar:
    """Short names of months and days in one language, and how they are put together."""

    months: tuple[str, ...]
    weekdays: tuple[str, ...]
    date: str
    """A day of this year."""
    year: str
    """How the year follows it."""
    past: str
    """What is said of a day that is over."""
    own: str
    """What stands before words of the assistant's own."""
    quoted: str
    """Words of somebody between the quotation marks of the language."""

    def day(self, at: datetime) -> str:
        """Return `12 Dec`."""
        return self.date.format(day=at.day, month=self.months[at.month - 1])

    def day_of_week(self, at: datetime) -> str:
        """Return `Sat 12 Dec`."""
        return f"{self.weekdays[at.weekday()]} {self.day(at)}"

    def day_of_year(self, at: datetime) -> str:
        """Return `12 Dec 2026`."""
        return self.year.format(date=self.day(at), year=at.year)


@lru_cache(maxsize=16)
def calendar_of(code: str) -> Calendar:
    """Return how days are written in a language; in English for one without a file."""
    file = _DATA / f"{code}.toml"
    if not code.isalpha() or not file.is_file():
        return calendar_of(_DEFAULT)
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return Calendar(**{**data, "months": tuple(data["months"]), "weekdays": tuple(data["weekdays"])})
