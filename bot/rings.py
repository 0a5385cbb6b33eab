"""The rings of a note in words: those to come, the last that came, what it sleeps until, and which a list has. Pure."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, time, timedelta
from typing import Final, NamedTuple

from bot import replies
from bot.dates import (
    MORNING_HOUR,
    clock_text,
    day_text,
    days_from,
    every_text,
    hour_text,
    listed,
    local,
    names_days,
    when_text,
)
from bot.other_dates import are_a_run
from bot.rhythms import next_parts, then
from bot.told_days import tells_day, tells_hour
from memory.ledger import series
from memory.ledger.lines import MINUTE_MS, ring_times
from memory.ledger.own_dates import ahead_ms, due_at, further_rings, has_own_dates, sleeps, was_rung
from memory.ledger.rules import LOCAL, WAITS_DAYS, is_rare, is_several_a_day, read_local
from memory.ledger.spans import last_of, rule_behind
from memory.ledger.types import Note, Occurrence
from memory.ledger.views import SOON_MS, is_work, waits_for_word

WHOLE_DAY: Final = frozenset({time(0), time(MORNING_HOUR)})
"""Hours until which something is put off when a day was meant."""
MOST_AT_A_GLANCE: Final = 2
"""So many of those to come are told in a list that is read at a glance."""
RUNG_DAYS: Final = 3
"""The days of `rung_days`, but for something that comes once a month."""
_BEFORE: Final = {1: "lines.day_before", 7: "lines.week_before"}
_TOGETHER_MS = 60_000
"""A due time and a ring within a minute are one time."""


def rung_days(note: Note) -> int:
    """For how many days a date that rang and was not called done is thought of, where the next is further off."""
    return RUNG_DAYS if not is_rare(note.repeats) else WAITS_DAYS


def is_one(note: Note) -> bool:
    """Whether a note is due when it rings: in the same minute and no longer, or on the same day without an hour."""
    if note.due_at_ms is None or note.rings_at_ms is None:
        return False
    if note.due_exact:
        return not note.lasts_ms and abs(note.due_at_ms - note.rings_at_ms) < _TOGETHER_MS
    return (
        last_of(note) is None
        and local(note.due_at_ms, note.time_zone).date() == local(note.rings_at_ms, note.time_zone).date()
    )


def due_with_its_ring(note: Note, behind: str) -> bool:
    """Whether a series rings on the day of each date at another time than due, or days before by a rule for that."""
    if note.due_at_ms is None or note.rings_at_ms is None or (is_one(note) and not sleeps(note)):
        return False
    if sleeps(note):
        usual_ms = series.at_ms_of(note.rings_from, note.time_zone)
        is_same_day = note.due_exact and days_from(note.due_at_ms, usual_ms, note.time_zone) == 0
        is_apart = bool(behind) or (is_same_day and abs(note.due_at_ms - usual_ms) >= _TOGETHER_MS)
        return is_apart and days_from(note.due_at_ms, note.rings_at_ms, note.time_zone) >= 0
    return note.due_exact if days_from(note.due_at_ms, note.rings_at_ms, note.time_zone) == 0 else bool(behind)


class SeriesRules(NamedTuple):
    """What a series has for all its dates, where its note stands at one of them."""

    behind: str = ""
    """The rule of its own days, where it rings on days before (`rule_behind`)."""
    listed: str = ""
    """The rule that lists tell: until its last date."""
    ahead: int = 0
    """By how many milliseconds it rings before each of its dates."""
    is_other: bool = False
    """Whether it rings for its next date at another hour than for the others, or only once more."""


def rules_of(note: Note, then: Note) -> SeriesRules:
    """The rules of a series that is told by its next date, `then`; none of a note without one."""
    if not note.repeats:
        return SeriesRules()
    behind = rule_behind(note)
    return SeriesRules(behind, behind or series.until_its_last(then), ahead_ms(note), _rings_otherwise(note))


def _rings_otherwise(note: Note) -> bool:
    local, at_ms = series.next_ring(note) or ("", 0)
    usual = [read_local(local) + timedelta(minutes=each) for each in note.rings_again_min] if local else []
    later = [series.at_ms_of(f"{each:{LOCAL}}", note.time_zone) for each in usual]
    is_other_hour = series.local_of(at_ms, note.time_zone)[11:] != note.rings_from[11:]
    return bool(local) and (is_other_hour or further_rings(note, local) != later or sleeps(note))


def is_under_its_ring(note: Note, now_ms: int, zone: str, above: Collection[date], rings: str) -> bool:
    """Whether a series stands under the day of its ring, told by its hour: that is first, before a day that is far."""
    due_ms, rings_ms = note.due_at_ms or 0, note.rings_at_ms or 0
    is_above = local(rings_ms, zone).date() in above and local(due_ms, zone).date() not in above
    is_hour = rings.startswith(clock_text(local(rings_ms, zone), replies.spoken()))
    return is_above and is_hour and days_from(due_ms, now_ms, zone) > 1


def is_rung(note: Note, zone: str, above: Collection[date]) -> bool:
    """Whether a series stands at the date for which it rang, which is still to be; not under the day of its next."""
    if not rings_for_next(note):
        return False
    return has_own_dates(note) and local(note.rings_at_ms or 0, zone).date() not in above


def rings_for_next(note: Note) -> bool:
    """Whether a series at one of its dates rang for that: its next ring is for the date behind it."""
    due_ms, rings_ms = note.due_at_ms, note.rings_at_ms
    if not note.repeats or due_ms is None or rings_ms is None or sleeps(note):
        return False
    return rings_ms > due_ms if note.due_exact else days_from(rings_ms, due_ms, note.time_zone) > 0


def rings_text(
    note: Note, now_ms: int, zone: str, told: Collection[date], *, last: date | None, leads: bool, comes: bool
) -> str:
    """The rings of a note in their order: `13:00`, `the day before at 18:00 and on the day at 13:00`.

    An hour alone is one of the day told just before it: `last`, the heading's where the rings lead, that of the ring
    before. Nothing that the text tells; the hour alone, too, where the series is told as it `comes`.
    """
    said, before_ms, times = list[str](), None, ring_times(note)
    if note.repeats:
        said, before_ms = [_ring_of_series(note, now_ms, zone, told, comes=comes)], times.pop(0)
        last = local(before_ms, zone).date()
    for at_ms in times:
        is_on_its_day = note.due_at_ms is not None and days_from(at_ms, note.due_at_ms, zone) == 0
        if note.repeats and is_on_its_day and local(at_ms, zone).date() != last:
            said.append(replies.say("lines.on_the_day", hour=hour_text(at_ms, zone, replies.spoken())))
            last = local(at_ms, zone).date()
            continue
        at, is_first = local(at_ms, zone), not said
        if at.date() == last or (is_first and leads and at.date() in told):
            said.append("" if is_first and tells_hour(note.text, at_ms, zone) else _clock(note, at_ms, zone))
        else:
            said.append(_ring_day(note, at_ms, now_ms, zone, set() if leads else told, before_ms=before_ms))
        last, before_ms = at.date(), at_ms
    return listed(said, replies.spoken())


def _ring_day(note: Note, at_ms: int, now_ms: int, zone: str, told: Collection[date], *, before_ms: int | None) -> str:
    """A ring by its day: the day of the matter and the one before by that, where that is told."""
    due_ms, hour = note.due_at_ms, hour_text(at_ms, zone, replies.spoken())
    if abs(days_from(at_ms, now_ms, zone)) > 1 and due_ms is not None:
        is_told = local(due_ms, zone).date() in told or tells_day(note.text, due_ms, now_ms, zone)
        key = {-1: "lines.day_before", 0: "lines.on_the_day"}.get(days_from(at_ms, due_ms, zone)) if is_told else None
        is_behind_date = before_ms is not None and days_from(before_ms, due_ms, zone) < -1  # the eve of which day?
        key = None if key == "lines.day_before" and is_behind_date else key
        if key and not (key == "lines.on_the_day" and note.ends_at_ms is not None):
            return replies.say(key, hour=hour)
    exact = not tells_hour(note.text, at_ms, zone)
    if is_work(note) or before_ms is not None:
        return when_text(at_ms, now_ms, zone, replies.spoken(), exact=exact)
    return _day_at(at_ms, now_ms, zone, exact=exact)


def _ring_of_series(note: Note, now_ms: int, zone: str, told: Collection[date], *, comes: bool) -> str:
    """The ring of a series: `every Sunday at 19:00, not this Sunday`; the hour alone where the series is told."""
    at_ms, rule = note.rings_at_ms or 0, "" if comes else series.until_its_last(note)
    own = rule_behind(note) if sleeps(note) and not comes else ""
    if own or (comes and sleeps(note)):
        is_told = local(at_ms, zone).date() in told
        when = _clock(note, at_ms, zone) if is_told else when_text(at_ms, now_ms, zone, replies.spoken())
        return when if comes else ", ".join(then(when, every_text(own, replies.spoken(), now_ms)))
    if comes and note.due_at_ms is not None and (days := days_from(note.due_at_ms, at_ms, zone)) > 0:
        is_near = days_from(note.due_at_ms, now_ms, zone) <= 1
        is_alone = not note.rings_again_min  # beside a ring “on the day” it is one of the day before
        is_apart = is_near or is_rare(note.repeats) or not names_days(note.repeats)  # its date is told apart
        if local(at_ms, zone).date() in told and is_alone and is_apart:
            return _clock(note, at_ms, zone)
        if is_alone and days_from(at_ms, now_ms, zone) == 0:
            return when_text(at_ms, now_ms, zone, replies.spoken())
        hour = hour_text(at_ms, zone, replies.spoken())
        return replies.say(_BEFORE.get(days, "lines.days_before"), n=days, hour=hour)
    if not rule and (comes or local(at_ms, zone).date() in told):
        return "" if tells_hour(note.text, at_ms, zone) else _clock(note, at_ms, zone)
    parts, otherwise = next_parts(note, rule, at_ms, now_ms=now_ms, zone=zone, told=told)
    return ", ".join(filter(None, [*parts, otherwise]))


def _clock(note: Note, at_ms: int, zone: str) -> str:
    """The hour of a ring whose day is told; of work, which is told in a sentence, with its preposition."""
    language = replies.spoken()
    return hour_text(at_ms, zone, language) if is_work(note) else clock_text(local(at_ms, zone), language)


def rang_text(
    note: Note, rang: Occurrence, now_ms: int, zone: str, told: Collection[date], *, under_heading: bool = False
) -> str:
    """When a note rang last; the hour alone where its day is told, none that the text or the rhythm tells.

    A date of a series that rang late, on another day than it was to, is told by that: it is that one which waits. One
    that never rang is told behind its day alone.
    """
    language, at_ms = replies.spoken(), series.moment_of(note, rang)
    is_several, is_told = is_several_a_day(note.repeats), local(at_ms, zone).date() in told
    own_ms = series.at_ms_of(rang.original_local, note.time_zone) if rang.due_at_ms is None else rang.due_at_ms
    own_ms = due_at(note, rang) if has_own_dates(note) else own_ms
    is_late = at_ms % MINUTE_MS != 0  # else somebody moved it
    if not was_rung(note, rang):
        is_over = days_from(own_ms, now_ms, zone) < 0
        return replies.say("lines.open_from", when=_day_at(own_ms, now_ms, zone, exact=False)) if is_over else ""
    if note.repeats and is_late and (is_several or days_from(own_ms, at_ms, zone) < 0):
        is_told = is_several and local(own_ms, zone).date() in told
        when = _clock(note, own_ms, zone) if is_told else _day_at(own_ms, now_ms, zone, exact=is_several)
        return replies.say("lines.open_from", when=when)
    is_usual = bool(note.repeats) and rang.moved_to_ms is None and not is_several
    if is_usual or tells_hour(note.text, at_ms, zone):
        when = when_text(at_ms, now_ms, zone, language, exact=False)
    else:
        when = hour_text(at_ms, zone, language) if is_told else when_text(at_ms, now_ms, zone, language)
    return when if under_heading else replies.say("lines.rang", when=when)


def last_date_text(note: Note, now_ms: int, zone: str, told: Collection[date]) -> list[str]:
    """The last date of a series: for a week that it came and waits for a word, today that nothing came of it.

    A date that was left out beforehand is told once it would have come, of work alone.
    """
    states = {"rang", "done", "passed", "skipped"} if note.repeats else {"passed", "skipped"}
    states |= {"left_out"} if is_work(note) else set()
    over = (each for each in reversed(note.occurrences) if each.state in states)
    date = next((each for each in over if series.moment_of(note, each) <= now_ms or each.state != "left_out"), None)
    at_ms = series.moment_of(note, date) if date else now_ms - SOON_MS
    if date is None or abs(now_ms - at_ms) >= SOON_MS:
        return []
    if date.state == "rang":
        text = rang_text(note, date, now_ms, zone, told) if waits_for_word(note) else ""
        return [text] if text else []
    if date.state == "done" or not is_work(note) or abs(days_from(at_ms, now_ms, zone)) > 1:
        return []
    when = when_text(at_ms, now_ms, zone, replies.spoken(), exact=False)
    return [replies.say("lines.passed" if date.state == "passed" else "lines.skipped", when=when)]


def _day_at(at_ms: int, now_ms: int, zone: str, *, exact: bool) -> str:
    """A day without its preposition, with the hour where it is to be told: `yesterday at 20:00`, `Tue 15 Dec`."""
    language = replies.spoken()
    if abs(days_from(at_ms, now_ms, zone)) <= 1:
        return when_text(at_ms, now_ms, zone, language, exact=exact)
    day = day_text(at_ms, now_ms, zone, language)
    return f"{day} {hour_text(at_ms, zone, language)}" if exact else day


def put_off_ring(at_ms: int, now_ms: int, zone: str, told: Collection[date]) -> str:
    """The ring of one date that was put off while its series rests; the hour alone where its day is told."""
    language, at = replies.spoken(), local(at_ms, zone)
    when = clock_text(at, language) if at.date() in told else when_text(at_ms, now_ms, zone, language)
    return replies.say("lines.rings", when=when)


def put_off_text(note: Note, until_ms: int, now_ms: int, zone: str, told: Collection[date]) -> str:
    """The end of a snooze, or of a series' pause; without the day where that stands over the line."""
    language, until = replies.spoken(), local(until_ms, zone)
    if until.date() in told:
        return replies.say("lines.paused" if note.repeats else "lines.put_off")
    day = day_text(until_ms, now_ms, zone, language)
    if note.repeats:
        return replies.say("lines.paused_until", day=day)
    has_hour = until.time() not in WHOLE_DAY
    if days_from(until_ms, now_ms, zone) <= 1:
        return replies.say("lines.put_off_near", when=when_text(until_ms, now_ms, zone, language, exact=has_hour))
    return replies.say("lines.put_off_until", day=f"{day} {hour_text(until_ms, zone, language)}" if has_hour else day)


def at_a_glance(note: Note, now_ms: int, zone: str) -> Note:
    """The series with its next exceptions, and without a ring of days ago: what is to come tells more."""
    kept = tuple(each for each in note.occurrences if each.state != "rang" or is_fresh(note, each, now_ms, zone))
    goes_on = note.repeats and note.rings_at_ms is not None
    return _with_next_exceptions(note.model_copy(update={"occurrences": kept}) if goes_on else note, now_ms)


def is_fresh(note: Note, occurrence: Occurrence, now_ms: int, zone: str) -> bool:
    """Whether a ring is of these days; of a series that comes again by tomorrow, of today.

    One of yesterday's that came this morning is, as long as it is nearer than the next.
    """
    comes_soon = note.rings_at_ms is not None and days_from(note.rings_at_ms, now_ms, zone) <= 1
    own_ms = series.at_ms_of(occurrence.original_local, note.time_zone)
    if comes_soon and days_from(own_ms, now_ms, zone) < 0 and now_ms - own_ms > (note.rings_at_ms or 0) - now_ms:
        return False
    return days_from(series.moment_of(note, occurrence), now_ms, zone) >= (0 if comes_soon else -rung_days(note))


def _with_next_exceptions(note: Note, now_ms: int) -> Note:
    """The note with its exceptions until its next date, and two behind that; no tick beside them."""
    exceptions, next_ms = series.exceptions(note, now_ms), note.rings_at_ms or note.due_at_ms or now_ms
    if not exceptions:
        return note
    if are_a_run(note, [at_ms for at_ms, each in exceptions if each.state == "left_out"]):
        return note
    soon = sum(at_ms <= next_ms for at_ms, _ in exceptions)
    later = [occurrence for _, occurrence in exceptions[soon + MOST_AT_A_GLANCE :]]
    later = later if len(later) > 1 else []  # a line that says “more” is as long
    kept = (each for each in note.occurrences if each not in later and each.state not in {"done", "passed", "skipped"})
    return note.model_copy(update={"occurrences": tuple(kept)})


def this_date(note: Note) -> Note:
    """A series, at its next date, as that date alone: under its day the others, and the exceptions, are too much."""
    rings_ms = None if rings_for_next(note) else note.rings_at_ms
    rings = "" if rings_ms is None else series.local_of(rings_ms, note.time_zone)
    own = {"lasts_ms": note.lasts_at(note.due_at_ms or 0), "rings_from": rings, "rings_at_ms": rings_ms}
    return note.model_copy(update={"repeats": "", "occurrences": (), **own})
