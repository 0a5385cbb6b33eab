"""The time words of a language, compiled from its data file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memory.language.language import Language, cue_pattern

NEVER = re.compile(r"(?!)")
Table = list[tuple[re.Pattern[str], float]]
"""Patterns, each with what it means."""
_YEAR = r"(?:,? (?:de |del |do |of )?(?P<year>(?:19|20)\d\d))?"


@dataclass(frozen=True, slots=True)
class TimeRules:
    """The time words of a language, compiled."""

    numbers: Mapping[str, float]
    days: Table
    weekdays: Table
    weeks: Table
    week_later: re.Pattern[str]
    """What puts the weekday before it a week later: "Thursday week"."""
    week_before: re.Pattern[str]
    """The same for the one behind it: "a week on Thursday"."""
    weekend: re.Pattern[str]
    months: Table
    """The twelve, and behind them the words for the next month and for this one."""
    dates: Sequence[re.Pattern[str]]
    day_words: Sequence[re.Pattern[str]]
    """The days of a month as people say them, the first at place 0."""
    month_parts: Table
    """What says the middle or another part of a month, and which of its days is meant: 0 for the last."""
    month_days: re.Pattern[str]
    nth_weekdays: Sequence[re.Pattern[str]]
    """ "The last Friday of May", with the groups `nth`, `weekday` and `month`: each a place in its table."""
    nth: Table
    weekday_words: Table
    feasts: Table
    """Days that have names: 1224 is the 24th of December."""
    not_a_date: re.Pattern[str]
    """What stands behind a fraction: "3/4 of it"."""
    parts: Table
    afternoon: re.Pattern[str]
    spans: Table
    before: Table
    """How long ahead one wants to be reminded: "an hour before"."""
    half_hour: re.Pattern[str]
    clock: re.Pattern[str]
    half_past: re.Pattern[str]
    half_before: re.Pattern[str]
    remind: re.Pattern[str]
    not_remind: re.Pattern[str]
    """What stands before it in a question whether it was done: "did you"."""
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


def _table(rows: Mapping[str, float]) -> Table:
    longest_first = sorted(rows.items(), key=lambda row: len(row[0]), reverse=True)
    return [(cue_pattern([phrase]), value) for phrase, value in longest_first]


def _per_group(frames: Iterable[str], groups: Sequence[Sequence[str]], slot: str) -> Table:
    """Return one pattern per group of words and frame, each with the place of its group."""
    return [
        (cue_pattern([frame.replace(slot, _alternatives(words))]), float(number))
        for number, words in enumerate(groups)
        for frame in frames
    ]


def _range(joints: Sequence[str]) -> str:
    """Return what stands between the first and the last day of several: "19 to 21 June"."""
    joint = _alternatives(["-", "\u2013", "/", *joints])
    return rf"(?:(?P<from>\d{{1,2}})[^\W\d_]{{0,2}}\.? ?{joint} ?)?"


def _framed(frames: Iterable[str], **slots: Sequence[str]) -> list[re.Pattern[str]]:
    """Return one pattern per frame, each slot a group of its name; a year may stand behind the month."""
    found = []
    for frame in frames:
        said = frame + _YEAR
        for name, words in slots.items():
            said = said.replace(f"{{{name}}}", f"(?P<{name}>{_alternatives(words)})")
        found.append(cue_pattern([said]))
    return found


def _numbered(groups: Sequence[Sequence[str]]) -> Table:
    """Return a pattern for each group of words, with its place."""
    return [(cue_pattern(words), float(number)) for number, words in enumerate(groups)]


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

    def spans_of(frames: str) -> Table:
        return [
            (
                re.compile(rf"(?<!\w){frame.replace('{n}', amount).replace('{unit}', f'(?:{unit})')}(?!\w)"),
                float(seconds),
            )
            for unit, seconds in time.get("units", {}).items()
            for frame in time.get(frames, ())
        ]

    months = [*time.get("months", ()), *time.get("month_words", ())]
    any_month, any_weekday, any_nth = (
        [word for words in groups for word in words]
        for groups in (months, time.get("weekdays", ()), time.get("nth", ()))
    )
    days_to = _range(time.get("ranges", ()))
    return TimeRules(
        numbers=numbers,
        days=_table(time.get("days", {})),
        weekdays=_per_group(time.get("weekday_frames", ()), time.get("weekdays", ()), "{weekday}"),
        weeks=_table(time.get("weeks", {})),
        week_later=cue_pattern(time.get("week_later", ())),
        weekend=cue_pattern(time.get("weekend", ())),
        week_before=cue_pattern(time.get("week_before", ())),
        months=_numbered(months),
        dates=_framed(
            [frame.replace("{day}", f"{days_to}{{day}}") for frame in time.get("date_frames", ())],
            month=any_month,
            day=[r"\d{1,2}", *time.get("day_words", ())],
        ),
        day_words=[re.compile(word) for word in time.get("day_words", ())],
        month_parts=[
            (pattern, float(day))
            for frame, day in time.get("month_parts", {}).items()
            for pattern in _framed([frame], month=any_month)
        ],
        month_days=_joined([frame.replace("{day}", r"(?P<day>\d{1,2})") for frame in time.get("month_day_frames", ())]),
        nth_weekdays=_framed(time.get("nth_frames", ()), month=any_month, nth=any_nth, weekday=any_weekday),
        nth=_numbered(time.get("nth", ())),
        weekday_words=_numbered(time.get("weekdays", ())),
        feasts=_table(time.get("feasts", {})),
        not_a_date=cue_pattern(time.get("not_a_date", ())),
        parts=_table(time.get("parts", {})),
        afternoon=cue_pattern(time.get("afternoon", ())),
        spans=spans_of("in_frames"),
        before=spans_of("before_frames"),
        half_hour=cue_pattern(time.get("half_hour", ())),
        clock=_clock_pattern(time.get("clock_frames", ()), numbers),
        half_past=_clock_pattern(time.get("half_past", ()), numbers),
        half_before=_clock_pattern(time.get("half_before", ()), numbers),
        remind=cue_pattern(time.get("remind", ())),
        not_remind=cue_pattern(time.get("not_remind", ())),
        remind_lead=cue_pattern(time.get("remind_lead", ())),
        remind_first=cue_pattern(time.get("remind_first", ())),
        remind_last=cue_pattern(time.get("remind_last", ())),
        joints=cue_pattern(time.get("joints", ())),
        joints_behind=cue_pattern(time.get("joints_behind", ())),
        twelve_hour=bool(time.get("twelve_hour", False)),
    )


def halves_of(language: Language) -> str:
    """Return a pattern for what tells the half of the day behind an hour ("pm"); for nothing where none is known."""
    return "|".join(map(re.escape, language.time.get("halves", ()))) or r"(?!)"


def units_of(language: Language) -> str:
    """Return a pattern for what is written behind an hour ("uhr", "h"); for nothing where none is known."""
    return "|".join(map(re.escape, language.time.get("hours", ()))) or r"(?!)"


def first(table: Sequence[tuple[re.Pattern[str], float]], text: str) -> tuple[re.Match[str], float] | None:
    """Return the first pattern of the table that the text holds, with its value; None when it holds none."""
    return next(((found, value) for pattern, value in table if (found := pattern.search(text))), None)


def first_of(patterns: Iterable[re.Pattern[str]], text: str) -> re.Match[str] | None:
    """Return where the first of the patterns that the text holds stands; None when it holds none."""
    return next((found for pattern in patterns if (found := pattern.search(text))), None)


def place_in(table: Table, word: str) -> int:
    """Return the number that a whole word has in the table, which has it."""
    return next(int(number) for pattern, number in table if pattern.fullmatch(word))


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
