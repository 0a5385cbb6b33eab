"""How people speak about reminders and what they are told, a data file per language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from memory.language.calendar import Calendar, calendar_of
from memory.language.language import cue_pattern
from memory.language.languages import Languages
from memory.zones import zone_of

_DATA: Final = Path(__file__).parent / "languages"
_DEFAULT: Final = "en"


@dataclass(frozen=True, slots=True, eq=False)
class ReminderWords:
    """What is known of one language."""

    code: str
    cancel: tuple[re.Pattern[str], ...]
    move: tuple[re.Pattern[str], ...]
    show: re.Pattern[str]
    reminder: re.Pattern[str]
    verb: str
    """The word with which a sentence that moves a reminder begins."""
    again: re.Pattern[str]
    """What is said around "every week" of a reminder that is set ("make it", "repeat")."""
    pronouns: frozenset[str]
    all: frozenset[str]
    repeats: tuple[tuple[re.Pattern[str], str], ...]
    plural: Mapping[str, str]
    """Days as they are said of every week ("mondays"), and the day itself."""
    weekdays: tuple[re.Pattern[str], ...]
    """The days of the week as they are said, Monday first."""
    several: re.Pattern[str]
    """Two of them and more in a row: "mon, wed and fri"."""
    at: str
    within: str
    """What stands before how long it is until then: "in 3h"."""
    negations: frozenset[str]
    """With one of these at its beginning a request for a reminder is none."""
    lead: frozenset[str]
    """Who is to be reminded, said before when and of what."""
    recalls: tuple[str, ...]
    """What is only to be said again begins with one of these: "remind me what we said"."""
    says: Mapping[str, str]
    days: Calendar

    def say(self, key: str, **values: object) -> str:
        """Return the sentence with its values filled in."""
        return self.says[key].format(**values)

    def every(self, kind: str) -> str:
        """Return how often something comes: "every week", and "every Mon, Wed, Fri" of "week135"."""
        days = kind.removeprefix("week")
        if not days.isdigit():
            return self.say(kind)
        return self.say("week_on", days=", ".join(self.days.weekdays[int(day) - 1] for day in days))

    def when(self, at_ms: int, now_ms: int, zone: str, *, exact: bool = True) -> str:
        """Return "today at 14:05", "tomorrow at 09:00", "on Sat 12 Dec at 09:00", with the year when it is another.

        Without the hour when only a day was said (`exact` is false).
        """
        at, now = local(at_ms, zone), local(now_ms, zone)
        days, time = (at.date() - now.date()).days, f"{at:%H:%M}"
        key = {0: "today", 1: "tomorrow"}.get(days, "on_day")
        values = {"weekday": self.days.weekdays[at.weekday()], "day": self.date(at, now), "time": time}
        return self.say(key if exact else f"{key}_only", **values)

    def date(self, at: datetime, now: datetime) -> str:
        """Return "12 Dec", and with the year when it is another."""
        return self.days.day(at) if at.year == now.year else self.days.day_of_year(at)


def local(at_ms: int, zone: str) -> datetime:
    """Return the point in time by the clock of a zone; by UTC's for an unknown one."""
    return datetime.fromtimestamp(at_ms / 1000, zone_of(zone))


def begin_of_day(at_ms: int, zone: str) -> int:
    """Return when the day of a point in time begins by the clock of a zone."""
    midnight = local(at_ms, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return int(midnight.timestamp() * 1000)


@lru_cache(maxsize=16)
def words_for(code: str) -> ReminderWords:
    """Return the words of a language; English for one without a file."""
    file = _DATA / f"{code}.toml"
    if not code.isalpha() or not file.is_file():
        return words_for(_DEFAULT)
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    language = Languages.load().get(code)
    time = language.time
    names = ["|".join(each) for each in time.get("weekdays", ())]
    slots = {
        "weekday": "|".join(names),
        "part": "|".join(time.get("parts", {})),
        "plural": "|".join(data["plural"]),
    }
    return ReminderWords(
        code=code,
        cancel=tuple(re.compile(phrase) for phrase in data["cancel"]),
        move=tuple(re.compile(phrase) for phrase in data["move"]),
        show=cue_pattern(data["show"]),
        reminder=cue_pattern(data["reminder"]),
        verb=data["verb"],
        again=cue_pattern(data["again"]),
        pronouns=frozenset(data["pronouns"]),
        all=frozenset(data["all"]),
        repeats=tuple((_ending_anywhere(_filled(phrase, slots)), kind) for phrase, kind in data["repeats"]),
        plural=data["plural"],
        weekdays=tuple(cue_pattern([each]) for each in names),
        several=_several("|".join(names), language.conjunctions),
        at=data["at"],
        within=data["within"],
        negations=frozenset(data["negations"]),
        lead=frozenset(data["lead"]),
        recalls=tuple(data["recalls"]),
        says=data["says"],
        days=calendar_of(code),
    )


def _several(weekday: str, conjunctions: Sequence[str]) -> re.Pattern[str]:
    day, joined = rf"(?<!\w)(?:{weekday})(?!\w)", "|".join(map(re.escape, conjunctions))
    return re.compile(rf"{day}(?:[\s,/&+]+(?:(?:{joined}) )?{day})+")


def _ending_anywhere(phrase: str) -> re.Pattern[str]:
    """Return the phrase at word borders, the last of which may lie behind the space that it ends with."""
    return re.compile(rf"(?<!\w)(?:{phrase})(?:(?<=\s)|(?!\w))")


def _filled(phrase: str, slots: Mapping[str, str]) -> str:
    for name, words in slots.items():
        phrase = phrase.replace(f"{{{name}}}", rf"(?:{words})(?!\w)")
    return phrase
