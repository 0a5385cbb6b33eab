"""The dates of a series that come otherwise than by its rule, in words: left out, moved, with another end. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from bot import replies
from bot.dates import clock_text, day_text, days_from, days_text, hour_text, local, soon_text
from memory.ledger import series
from memory.ledger.rules import DAY_CHARS, LOCAL, is_several_a_day, read_local
from memory.ledger.types import Note, Occurrence
from memory.zones import later

MOST_EXCEPTIONS: Final = 8
"""So many exceptions are told where all of a series is."""
A_RUN: Final = 3
"""So many dates in a row that are left out are told as days from the first to the last."""


def exceptions(note: Note, now_ms: int, zone: str, from_ms: int, ahead: int | None) -> str:
    """The exceptions to the rule: `this Sunday at 10:00 instead, not this Friday`; "" for none to come.

    Those moved first: behind “not on Mon 21 Dec” their days read as left out, too. None before `from_ms`; a series told
    by its own hour rings `ahead` before it, on its exceptions, too. None whose ring alone is at another time.
    """
    others = series.exceptions(note, now_ms)[:MOST_EXCEPTIONS]
    if not others:
        return ""
    said, left_out = list[str](), list[int]()
    not_on = partial(_not_on, note, now_ms=now_ms, zone=zone)
    last = series.last_kept(note)
    end = f"{last:{LOCAL}}" if last else "~"
    for rings_ms, occurrence in others:
        own_ms = moved_ms(occurrence, ahead) if occurrence.state == "moved" else None
        at_ms = rings_ms + (ahead or 0) if own_ms is None else own_ms
        usual_ms = series.at_ms_of(occurrence.original_local, note.time_zone) + (ahead or 0)
        is_same = occurrence.state == "moved" and at_ms == usual_ms and occurrence.lasts_ms is None
        is_behind = occurrence.state != "moved" and occurrence.original_local > end  # it ends before that
        if at_ms < from_ms or is_same or is_behind:
            continue
        if occurrence.state != "moved":
            left_out.append(at_ms)
        elif occurrence.lasts_ms is not None or not _is_next(note, occurrence, rings_ms):
            over_ms = _over_at(note, occurrence, at_ms, usual_ms)
            instead = _instead(at_ms, usual_ms, now_ms, zone, over_ms)
            if is_several_a_day(note.repeats) and over_ms is None:
                instead = _other_dose(at_ms, usual_ms, now_ms, zone)
            said.append(instead)
    return ", ".join([*said, *not_on(left_out)])


def _over_at(note: Note, date: Occurrence, at_ms: int, usual_ms: int) -> int | None:
    """The minute at which a date that was moved is over, where it begins or ends at another hour; None for no end."""
    is_other_hour = local(at_ms, note.time_zone).time() != local(usual_ms, note.time_zone).time()
    usual_lasts_ms = note.lasts_ms if note.due_exact and is_other_hour else 0
    lasts_ms = usual_lasts_ms if date.lasts_ms is None else date.lasts_ms
    return later(at_ms, lasts_ms, note.time_zone) if lasts_ms else None


def moved_ms(date: Occurrence, ahead: int | None) -> int | None:
    """When a date that was moved is by the series' own time, without `ahead` when it rings; None for no such."""
    if ahead is not None and date.due_at_ms is not None:
        return date.due_at_ms
    return None if date.moved_to_ms is None else date.moved_to_ms + (ahead or 0)


def _is_next(note: Note, date: Occurrence, ring_ms: int) -> bool:
    """Whether a date was put off until another of its series."""
    there = series.local_of(ring_ms, note.time_zone)
    return there != date.original_local and series.has_date(note, there)


def _other_dose(at_ms: int, usual_ms: int, now_ms: int, zone: str) -> str:
    """One of several of a day that comes at another hour: `tomorrow at 21:30 instead of 20:00`."""
    language = replies.spoken()
    when = soon_text(at_ms, now_ms, zone, language)
    return replies.say("lines.instead_of_hour", when=when, hour=clock_text(local(usual_ms, zone), language))


def sleeping_dose(note: Note, now_ms: int, zone: str) -> str:
    """One of several of a day that was put off, and rings next: `15:06 instead of 14:00`; "" for none."""
    asleep = series.last(note, "snoozed")
    if asleep is None or note.rings_at_ms is None or asleep.moved_to_ms != note.rings_at_ms:
        return ""
    return _other_dose(note.rings_at_ms, series.at_ms_of(asleep.original_local, note.time_zone), now_ms, zone)


def _not_on(note: Note, left_out: Sequence[int], now_ms: int, zone: str) -> list[str]:
    """The days on which a series does not come: `not this Friday or on Tue 8 Dec`, one of a run of days."""
    language, exact, days = replies.spoken(), is_several_a_day(note.repeats), dict[str, list[int]]()
    if are_a_run(note, left_out):
        return [replies.say("lines.not_on", day=days_text(left_out[0], left_out[-1], now_ms, zone, language))]
    for at_ms in left_out:
        days.setdefault(series.local_of(at_ms, note.time_zone)[:DAY_CHARS], []).append(at_ms)
    said = list[str]()
    for day, times in days.items():
        is_whole = not exact or len(times) >= len(series.dates_on(note, day))
        said += [
            soon_text(at_ms, now_ms, zone, language, exact=not is_whole) for at_ms in times[: 1 if is_whole else None]
        ]
    *first, last = said or [""]
    both = replies.say("lines.not_both", days=", ".join(first), day=last) if first else last
    return [replies.say("lines.not_on", day=both)] if left_out else []


def are_a_run(note: Note, left_out: Sequence[int]) -> bool:
    """Whether these are several dates of a series, and it has no other between the first and the last."""
    if len(left_out) < A_RUN:
        return False
    first, last = (read_local(series.local_of(at_ms, note.time_zone)) for at_ms in (left_out[0], left_out[-1]))
    rule = series.rule_by_first(note)
    return rule is not None and len(rule.between(first, last, inc=True)) <= len(left_out)


def _instead(at_ms: int, usual_ms: int, now_ms: int, zone: str, over_ms: int | None) -> str:
    """A later date that was moved: `this Sunday at 10:00 instead`, `on Sat 5 Dec instead of Fri 4 Dec`.

    One with an end of its own, `over_ms`, has both hours.
    """
    language, is_other_day = replies.spoken(), days_from(at_ms, usual_ms, zone) != 0
    is_other_hour = local(at_ms, zone).time() != local(usual_ms, zone).time()
    when = soon_text(at_ms, now_ms, zone, language, exact=is_other_hour and over_ms is None)
    if over_ms is not None:
        when = f"{when} {hour_text(at_ms, zone, language, over_ms)}"
    if not is_other_day:
        return replies.say("lines.instead", when=when)
    return replies.say("lines.instead_of", when=when, day=day_text(usual_ms, now_ms, zone, language))
