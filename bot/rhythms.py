"""A series in words: its rhythm, its next date where that surprises, its exceptions. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date, time, timedelta
from itertools import islice
from typing import Final, NamedTuple

from dateutil.rrule import rrule

from bot import replies
from bot.dates import (
    clock_text,
    date_text,
    day_text,
    days_from,
    days_text,
    end_text,
    every_text,
    for_text,
    hour_text,
    hours_text,
    listed,
    local,
    names_days,
    say,
    soon_text,
    when_text,
)
from bot.other_dates import MOST_EXCEPTIONS, exceptions, moved_ms, sleeping_dose
from bot.told_days import rhythm_in, tells_days, tells_hour
from memory.ledger import series
from memory.ledger.own_dates import sleeps
from memory.ledger.rules import LOCAL, WEEK, first_from, is_rare, is_several_a_day, named_parts, read_local, with_minute
from memory.ledger.spans import last_day, over_at
from memory.ledger.types import TO_DO, Note, Occurrence
from memory.ledger.views import DAY_MS, ends_at, is_past, is_snoozed
from memory.zones import later, whole_month

FAR_DAYS: Final = 60
"""Behind so many days what comes each year is told without its weekday."""
FEW_DAYS: Final = 3
"""Of a run of days fewer to come behind the next are named."""


class SeriesText(NamedTuple):
    """A series in words: its next date and rhythm, and where they are one the dates that come otherwise."""

    parts: list[str]
    otherwise: str = ""


def next_parts(
    note: Note,
    rule: str,
    at_ms: int,
    *,
    now_ms: int,
    zone: str,
    told: Collection[date],
    exact: bool = True,
    ahead: int | None = None,
) -> SeriesText:
    """The next date of a series where that is not the one to expect, and the rhythm with its hour.

    Both apart where the rhythm goes on behind the date (`this Friday at 09:00`, `then every Monday`), else as one;
    nothing that the text tells. By its own time a series rings `ahead` milliseconds before it; None where it is told by
    its ring.
    """
    language = replies.spoken()
    is_told, has_hour = local(at_ms, zone).date() in told, exact and not tells_hour(note.text, at_ms, zone)
    until_ms = over_at(note, at_ms)
    hour = hour_text(at_ms, zone, language, until_ms) if has_hour else ""
    is_on = under_way(note, now_ms, zone) if at_ms == note.due_at_ms else ""
    when = _date_text(note, at_ms, now_ms=now_ms, zone=zone, told=told, exact=exact)
    if not rule:  # its last regular date, and those that were moved behind it
        moved_alone = tuple(each for each in note.occurrences if each.state == "moved")
        others = note.model_copy(update={"occurrences": moved_alone})
        return _told([", ".join(filter(None, [when, exceptions(others, now_ms, zone, at_ms + 1, ahead)]))])
    rule = with_minute(rule, series.begins(note))  # one that sleeps comes at another
    rule = _weeks_alone(rule) if last_day(note) is not None else rule
    in_text = rhythm_in(note.text, rule)
    if moved := _moved_parts(note, rule, at_ms, now_ms=now_ms, zone=zone, told=told, exact=exact, ahead=ahead):
        return _told(moved)
    if (days := _last_days(note, at_ms, now_ms, zone)) is not None:
        return _told([replies.say("lines.also_on", when=when, days=days).strip(", ") if days else when])
    is_long = until_ms is not None and last_day(note) is not None
    is_asleep = at_ms == note.due_at_ms and sleeps(note)  # its next ring is for this date alone
    is_other = (
        bool(is_on)
        or is_long
        or is_asleep
        or _is_by_its_ring(note, at_ms, now_ms, zone, told)
        or not (_is_another_dose(note, rule, at_ms, ahead) or _is_expected(note, rule, at_ms, now_ms))
    )
    is_expected = rests(note, now_ms) or not is_other
    every = "" if in_text else every_text(rule, language, now_ms, hour if is_expected else "")
    if is_expected:
        every, when = every or hours_text(rule, language) or hour, ""
    elif is_told and hours_text(rule, language):
        when = ""
    beside = exceptions(note, now_ms, zone, at_ms if is_told or when else 0, ahead)
    if is_several_a_day(rule) and (dose := sleeping_dose(note, now_ms, zone)):
        beside = ", ".join(filter(None, [dose, beside]))
    if when and is_on and last_day(note) is None and not is_told and every:
        return _told([", ".join(filter(None, [when, every]))], beside)
    rings_ms = note.rings_at_ms
    is_under_ring = rings_ms is not None and rings_ms < at_ms and local(rings_ms, zone).date() in told
    if when and (is_asleep or (not is_told and (is_under_ring or days_from(at_ms, now_ms, zone) <= 1))):
        return _told(then(when, ", ".join(filter(None, [every, beside]))))
    if every and when:
        every = replies.say("lines.next_here" if is_told else "lines.next", every=every, when=when)
    return _told([every or when], beside)


def _told(parts: Sequence[str], otherwise: str = "") -> SeriesText:
    return SeriesText(list(filter(None, parts)), otherwise)


def _moved_parts(
    note: Note,
    rule: str,
    at_ms: int,
    *,
    now_ms: int,
    zone: str,
    told: Collection[date],
    exact: bool,
    ahead: int | None,
) -> list[str]:
    """The same for a date that was moved, or ends at another time, with the first that is regular; [] for another."""
    language, is_told = replies.spoken(), local(at_ms, zone).date() in told
    moved = next((each for each in note.occurrences if moved_ms(each, ahead) == at_ms), None)
    if moved is None or _is_regular(note, moved, at_ms - (ahead or 0)):
        return []
    usual_ms = series.at_ms_of(moved.original_local, note.time_zone) + (ahead or 0)
    if (usual_ms == at_ms or is_several_a_day(rule)) and moved.lasts_ms is None:
        return []
    in_text = rhythm_in(note.text, rule)
    is_same = local(usual_ms, zone).time() == local(at_ms, zone).time() and moved.lasts_ms is None
    over_ms = later(usual_ms, note.lasts_ms, note.time_zone) if note.lasts_ms else None
    has_usual = exact and not is_same and local(usual_ms, zone).time() != time(0)
    usual = hour_text(usual_ms, zone, language, over_ms) if has_usual else ""
    if over_at(note, at_ms) is not None:
        when = _date_text(note, at_ms, now_ms=now_ms, zone=zone, told=told, exact=exact)
    elif is_told:
        when = _this_time(at_ms, usual_ms, zone, exact=exact)
    else:
        when = soon_text(at_ms, now_ms, zone, language, exact=exact)
    every = usual if in_text else every_text(rule, language, now_ms, usual)
    beside = exceptions(note, now_ms, zone, at_ms + 1, ahead)
    is_plain = names_days(rule) or is_several_a_day(rule)
    day = "" if is_plain else _regular_behind(note, moved, at_ms, ahead or 0, zone)
    if day:
        when, beside = ", ".join(filter(None, [when, beside])), ""
        ends = end_text(named_parts(rule), local(now_ms, "UTC"), language)
        every = replies.say("lines.from", every=every.removesuffix(ends).strip(), day=day).strip()
        every = every if in_text else f"{every} {ends}".rstrip()
    rhythm = ", ".join(filter(None, [every, beside]))
    is_same_week = is_told and not (day or is_same or _by_weeks(at_ms, usual_ms, zone))
    return then(replies.say("lines.this_time", when=when) if when and is_same_week and rhythm else when, rhythm)


def _date_text(note: Note, at_ms: int, *, now_ms: int, zone: str, told: Collection[date], exact: bool) -> str:
    """When a date is: until when, once it has begun; the hour alone where its day is told, none that the text tells."""
    language, until_ms = replies.spoken(), over_at(note, at_ms)
    if at_ms == note.due_at_ms and (is_on := under_way(note, now_ms, zone)):
        return is_on
    has_hour = exact and not tells_hour(note.text, at_ms, zone)
    if local(at_ms, zone).date() not in told:
        return when_text(at_ms, now_ms, zone, language, exact=has_hour, until_ms=until_ms)
    return hour_text(at_ms, zone, language, until_ms) if has_hour else ""


def then(when: str, rhythm: str) -> list[str]:
    """A date, and behind it the rhythm that goes on; without the one or the other that alone."""
    return [when, replies.say("lines.then", every=rhythm)] if when and rhythm else [when or rhythm]


def _weeks_alone(rrule: str) -> str:
    """The rule without its weekday, where that is the first day of several every two weeks: it names none of them."""
    return re.sub(r";BYDAY=[A-Z]{2}(?![A-Z,])", "", rrule) if "INTERVAL" in rrule else rrule


def _is_by_its_ring(note: Note, at_ms: int, now_ms: int, zone: str, told: Collection[date]) -> bool:
    """Whether a date stands under the day of its ring: rung already, or today for tomorrow, or of a month each."""
    if at_ms != note.due_at_ms or note.rings_at_ms is None:
        return False
    is_ahead = local(note.rings_at_ms, zone).date() in told and days_from(at_ms, note.rings_at_ms, zone) > 0
    return note.rings_at_ms > at_ms or (is_ahead and (days_from(at_ms, now_ms, zone) <= 1 or is_rare(note.repeats)))


def under_way(note: Note, now_ms: int, zone: str) -> str:
    """The end of what has begun, lasts, and is nothing to do: `until 22:00`, `until Sun 29 Nov at 16:00`; else ""."""
    last_ms, due_ms, exact = ends_at(note), note.due_at_ms, note.due_exact and note.ends_at_ms is None
    if (
        note.kind in {*TO_DO, "project"}
        or due_ms is None
        or last_ms is None
        or last_ms == due_ms
        or not due_ms <= now_ms
    ):
        return ""
    is_over = last_ms <= now_ms if exact else days_from(last_ms, now_ms, zone) < 0
    if is_over or tells_days(note.text, due_ms, last_ms, now_ms, zone):
        return ""
    if not exact and days_from(last_ms, now_ms, zone) == 0:
        return say(replies.spoken(), "dates.last_day")
    if not exact and whole_month(due_ms, last_ms, zone):
        return days_text(due_ms, last_ms, now_ms, zone, replies.spoken())
    if days_from(last_ms, now_ms, zone) == 0:
        return say(replies.spoken(), "dates.until_hour", hour=clock_text(local(last_ms, zone), replies.spoken()))
    return for_text(last_ms, now_ms, zone, replies.spoken(), exact=exact, key="until")


def _this_time(at_ms: int, usual_ms: int, zone: str, *, exact: bool) -> str:
    """What is new about a date that was moved, for a line under its day: `at 10:00`, `instead of Sat 5 Dec`.

    One with an hour says from which day where it was moved by weeks alone.
    """
    language = replies.spoken()
    hour = hour_text(at_ms, zone, language) if exact else ""
    if days_from(at_ms, usual_ms, zone) == 0 or (exact and not _by_weeks(at_ms, usual_ms, zone)):
        return hour
    return replies.say("lines.instead_of", when=hour, day=day_text(usual_ms, at_ms, zone, language)).strip()


def _last_days(note: Note, at_ms: int, now_ms: int, zone: str) -> str | None:
    """The days behind this one of a run of a few dates that doesn't ring, "" on its last; None for others.

    A shift on Monday and Tuesday is not one of “every day until 8 Dec”, nor a stall on two Saturdays weekly.
    """
    parts = named_parts(note.repeats)
    is_run = parts.get("FREQ") in {"DAILY", "WEEKLY"} and "UNTIL" in parts
    is_run = is_run and not (note.rings or note.lasts_ms >= DAY_MS)
    if not is_run or series.exceptions(note, now_ms):
        return None
    at, rule = read_local(series.local_of(at_ms, note.time_zone)), series.rule_by_first(note)
    later = list(islice(rule.xafter(at), FEW_DAYS)) if rule else []
    if len(later) == FEW_DAYS:
        return None
    language, days = replies.spoken(), [series.at_ms_of(f"{each:{LOCAL}}", note.time_zone) for each in later]
    return listed([day_text(each, now_ms, zone, language) for each in days], language) if days else ""


def _is_regular(note: Note, moved: Occurrence, ring_ms: int) -> bool:
    """Whether a date was moved to another that the rule has; what doesn't ring is told by its next date alone."""
    local = series.local_of(ring_ms, note.time_zone)
    if local == moved.original_local:
        return False
    if note.rings_from:
        return series.has_date(note, local)
    rule = _rule_beside(note, moved)
    return rule is not None and bool(rule.between(read_local(local), read_local(local), inc=True))


def _rule_beside(note: Note, moved: Occurrence) -> rrule | None:
    """The dates of a rule beside one of it that was moved: the note of one that doesn't ring is told by that date."""
    return series.dates_by_rule(note) or series.dates_by_rule(
        note.model_copy(update={"rings_from": moved.original_local})
    )


def _regular_behind(note: Note, moved: Occurrence, own_ms: int, ahead_ms: int, zone: str) -> str:
    """The day of the first date behind a moved one that the rule has and nobody moved; "" for none."""
    others = {each.original_local for each in note.occurrences}
    at_ms = own_ms - ahead_ms
    edge = max(moved.original_local, series.local_of(at_ms, note.time_zone))
    rule = _rule_beside(note, moved)
    dates = islice(rule.xafter(read_local(edge)), MOST_EXCEPTIONS) if rule else ()
    found = next((local for at in dates if (local := f"{at:{LOCAL}}") not in others), "")
    return day_text(series.at_ms_of(found, note.time_zone) + ahead_ms, at_ms, zone, replies.spoken()) if found else ""


def _by_weeks(at_ms: int, usual_ms: int, zone: str) -> bool:
    """Whether a date was moved to the same weekday of another week."""
    days = days_from(at_ms, usual_ms, zone)
    return days != 0 and days % len(WEEK) == 0


def _is_another_dose(note: Note, rule: str, at_ms: int, ahead: int | None) -> bool:
    """Whether one of several dates of a day comes at another hour, which is told as an exception."""
    return is_several_a_day(rule) and any(moved_ms(each, ahead) == at_ms for each in note.occurrences)


def _is_expected(note: Note, rule: str, at_ms: int, now_ms: int) -> bool:
    """Whether the next date is the one that follows from the rhythm as it is said, and from its next exception."""
    is_monthly = named_parts(rule).get("FREQ") == "MONTHLY"
    if not names_days(rule) or (is_monthly and days_from(at_ms, now_ms, note.time_zone) <= 1):
        return False
    at, day = series.local_of(at_ms, note.time_zone), local(now_ms, note.time_zone)
    one_of_many = is_several_a_day(rule)
    out = {
        each.original_local[:10]
        for _, each in series.exceptions(note, now_ms)
        if each.state == "left_out" or not one_of_many
    }
    day += timedelta(days=at[11:] != "00:00" and at[11:] <= f"{day:%H:%M}")  # today's is over
    for _ in range(MOST_EXCEPTIONS):
        found = first_from(rule, f"{day:%Y-%m-%d}{at[10:]}")
        if found is None or found[:10] not in out:
            return found == at
        day = read_local(found) + timedelta(days=1)
    return False


def yearly_text(note: Note, at_ms: int, now_ms: int) -> str:
    """What comes on a day of each year: `14 Feb, every year`, near with its weekday; "" for tomorrow, and an hour."""
    zone, language = note.time_zone, replies.spoken()
    ahead, at = days_from(at_ms, now_ms, zone), local(at_ms, zone)
    if ahead <= 1 or note.due_exact or last_day(note) is not None:
        return ""
    day = date_text(at, at, language) if ahead > FAR_DAYS else day_text(at_ms, at_ms, zone, language)
    return f"{day}, {every_text('FREQ=YEARLY', language, now_ms)}"


def rests(note: Note, now_ms: int) -> bool:
    """Whether nothing of it comes before the time until which it was put off: what rings all the same is not paused.

    Nor is a series that loses no date by it, as one that goes on from tomorrow.
    """
    at_ms = note.rings_at_ms
    if not is_snoozed(note, now_ms) or (at_ms and at_ms < (note.snoozed_until_ms or 0)):
        return False
    return not (at_ms and note.repeats and _is_expected(note, note.repeats, at_ms, now_ms))


def is_missed(note: Note, now_ms: int) -> bool:
    """Whether a date that doesn't ring, of something to do, was not called done."""
    return bool(note.repeats) and not note.rings and note.kind in TO_DO and is_past(note, now_ms)


def goes_on_every(note: Note, now_ms: int, zone: str) -> str:
    """The rhythm that goes on behind a missed date, with its exceptions; "" where nothing comes."""
    if not series.goes_on(note, now_ms):
        return ""
    every = "" if rhythm_in(note.text, note.repeats) else every_text(note.repeats, replies.spoken(), now_ms)
    return ", ".join(filter(None, [every, exceptions(note, now_ms, zone, now_ms, None)]))
