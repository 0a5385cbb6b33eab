"""The time words of a language, compiled from its data file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memory.language.language import Language, cue_pattern

NEVER = re.compile(r"(?!)")
_YEAR = r"(?:,? (?:de |del |do |of )?(?P<year>(?:19|20)\d\d))?"


@dataclass(frozen=True, slots=True)
class TimeRules:
    """The time words of a language, compiled."""

    numbers: Mapping[str, float]
    days: Sequence[tuple[re.Pattern[str], float]]
    weekdays: Sequence[tuple[re.Pattern[str], float]]
    weeks: Sequence[tuple[re.Pattern[str], float]]
    week_later: re.Pattern[str]
    """What puts the weekday before it a week later: "Thursday week"."""
    weekend: re.Pattern[str]
    dates: Sequence[tuple[re.Pattern[str], float]]
    day_words: Sequence[re.Pattern[str]]
    """The days of a month as people say them, the first at place 0."""
    month_ends: Sequence[tuple[re.Pattern[str], float]]
    month_days: re.Pattern[str]
    parts: Sequence[tuple[re.Pattern[str], float]]
    afternoon: re.Pattern[str]
    spans: Sequence[tuple[re.Pattern[str], float]]
    before: Sequence[tuple[re.Pattern[str], float]]
    """How long ahead one wants to be reminded: "an hour before"."""
    half_hour: re.Pattern[str]
    clock: re.Pattern[str]
    half_past: re.Pattern[str]
    half_before: re.Pattern[str]
    remind: re.Pattern[str]
    remind_lead: re.Pattern[str]
    """What may stand before it and is no part of the matter."""
    remind_first: re.Pattern[str]
    """What asks for a reminder at the beginning of a sentence that names a time."""
    remind_last: re.Pattern[str]
    """The same at its end."""
    joints: re.Pattern[str]
    joints_behind: re.Pattern[str]
    """Those that may stand at the very end, where others belong to the matter."""
    twelve_hour: bool


def _alternatives(words: Sequence[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


def _table(rows: Mapping[str, float]) -> list[tuple[re.Pattern[str], float]]:
    longest_first = sorted(rows.items(), key=lambda row: len(row[0]), reverse=True)
    return [(cue_pattern([phrase]), value) for phrase, value in longest_first]


def _framed(
    frames: Sequence[str], groups: Sequence[Sequence[str]], slot: str, day_words: Sequence[str] = ()
) -> list[tuple[re.Pattern[str], float]]:
    """Return one pattern per group of words, each numbered by its place; a year may stand behind a month."""
    day = rf"(?P<day>\d{{1,2}}{''.join(f'|{word}' for word in day_words)})"
    year = _YEAR if slot == "{month}" else ""
    return [
        (cue_pattern([frame.replace(slot, _alternatives(words)).replace("{day}", day) + year]), number)
        for number, words in enumerate(groups)
        for frame in frames
    ]


def _clock_pattern(frames: Sequence[str], numbers: Mapping[str, float]) -> re.Pattern[str]:
    hour = r"(?P<h>\d{1,2}|" + "|".join(w for w, n in numbers.items() if n in range(1, 13) and len(w) > 2) + ")"  # noqa: PLR2004 - "a", "an" are no hours
    parts = [frame.replace("{h}", hour).replace("{m}", r"(?P<m>\d{2})") for frame in frames]
    return _joined(parts)


def _joined(parts: Sequence[str]) -> re.Pattern[str]:
    """Join patterns that use the same group names by numbering the names."""
    numbered = [re.sub(r"\(\?P<(\w+)>", rf"(?P<\g<1>{i}>", part) for i, part in enumerate(parts)]
    return re.compile(r"(?<![\w.:/])(?:" + "|".join(numbered) + r")(?![\w/]|:\d)") if numbered else NEVER


@lru_cache(maxsize=16)
def rules_of(language: Language) -> TimeRules:
    """Return the compiled time words of a language; kept."""
    time: Mapping[str, Any] = language.time
    numbers = {str(word): float(n) for word, n in time.get("numbers", {}).items()}
    amount = r"(?P<n>\d{1,3}(?:[.,]\d)?|" + "|".join(sorted(numbers, key=len, reverse=True)) + ")"

    def spans_of(frames: str) -> list[tuple[re.Pattern[str], float]]:
        return [
            (
                re.compile(rf"(?<!\w){frame.replace('{n}', amount).replace('{unit}', f'(?:{unit})')}(?!\w)"),
                float(seconds),
            )
            for unit, seconds in time.get("units", {}).items()
            for frame in time.get(frames, ())
        ]

    return TimeRules(
        numbers=numbers,
        days=_table(time.get("days", {})),
        weekdays=_framed(time.get("weekday_frames", ()), time.get("weekdays", ()), "{weekday}"),
        weeks=_table(time.get("weeks", {})),
        week_later=cue_pattern(time.get("week_later", ())),
        weekend=cue_pattern(time.get("weekend", ())),
        dates=_framed(time.get("date_frames", ()), time.get("months", ()), "{month}", time.get("day_words", ())),
        day_words=[re.compile(word) for word in time.get("day_words", ())],
        month_ends=_framed(time.get("month_end_frames", ()), time.get("months", ()), "{month}"),
        month_days=_joined([frame.replace("{day}", r"(?P<day>\d{1,2})") for frame in time.get("month_day_frames", ())]),
        parts=_table(time.get("parts", {})),
        afternoon=cue_pattern(time.get("afternoon", ())),
        spans=spans_of("in_frames"),
        before=spans_of("before_frames"),
        half_hour=cue_pattern(time.get("half_hour", ())),
        clock=_clock_pattern(time.get("clock_frames", ()), numbers),
        half_past=_clock_pattern(time.get("half_past", ()), numbers),
        half_before=_clock_pattern(time.get("half_before", ()), numbers),
        remind=cue_pattern(time.get("remind", ())),
        remind_lead=cue_pattern(time.get("remind_lead", ())),
        remind_first=cue_pattern(time.get("remind_first", ())),
        remind_last=cue_pattern(time.get("remind_last", ())),
        joints=cue_pattern(time.get("joints", ())),
        joints_behind=cue_pattern(time.get("joints_behind", ())),
        twelve_hour=bool(time.get("twelve_hour", False)),
    )


def first(table: Sequence[tuple[re.Pattern[str], float]], text: str) -> tuple[re.Match[str], float] | None:
    """Return the first pattern of the table that the text holds, with its value; None when it holds none."""
    return next(((found, value) for pattern, value in table if (found := pattern.search(text))), None)


def number_of(word: str, numbers: Mapping[str, float]) -> float:
    """Return the number that a word or digits say."""
    return numbers[word] if word in numbers else float(word.replace(",", "."))


def groups_of(match: re.Match[str]) -> dict[str, str]:
    """Return the named groups that matched, without the numbers that tell joined patterns apart."""
    return {name.rstrip("0123456789"): value for name, value in match.groupdict().items() if value is not None}


def blank(lower: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text with these stretches blanked; its length stays."""
    for start, end in spans:
        lower = lower[:start] + " " * (end - start) + lower[end:]
    return lower


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the stretches in order, those that overlap as one: "morgen" lies in "morgen früh"."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart
