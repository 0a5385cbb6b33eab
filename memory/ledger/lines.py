"""A note as model and keeper read it: one line with its number, its kind, and its day, ring and owner. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from memory.ledger import series
from memory.ledger.own_dates import ahead_ms, at_next_date, due_at, has_own_dates, was_rung
from memory.ledger.rules import LOCAL, in_words, is_several_a_day, last_date, named_parts, read_local, with_minute
from memory.ledger.spans import over_at, rule_behind
from memory.ledger.types import TO_DO, USER, Ledger, Note, Occurrence, OccurrenceState
from memory.ledger.views import BEGUN_MS, DAY_MS, ends_at, find, is_past, is_snoozed, is_work, moment_of
from memory.text import shorten
from memory.zones import later, whole_month, zone_of

MOST_EXCEPTIONS: Final = 5
"""Dates to come of a series that are told as left out or moved: each has its tokens in every prompt."""
BRIEF_CHARS: Final = 90
"""A shorter text is never cut: its last words ("for 80, with lemon") matter as much as its first."""
LEAST_CHARS: Final = (60, 40)
"""A longer one keeps so many where room is short, and still shorter."""
TITLE_CHARS: Final = 60
NAME_CHARS: Final = 30
CLAUSE_END: Final = re.compile(r"(?<!\d)(?<!\b[A-Z])(?<!\b[A-Z]\w)(?<!\b[A-Z]\w\w)\.\s|[!?:;]\s|[\u3002\uff01\uff1f]")
_OUTCOMES: Final[dict[OccurrenceState, str]] = {"done": "done for", "passed": "missed", "skipped": "left out"}
MINUTE_MS: Final = 60_000
NEAR_DAYS: Final = 300
"""A day that is no further away is named without its year."""
TITLE_END: Final = ": "
"""Between the title of work and the work."""
TITLE_WORDS: Final = 4
"""What stands before a colon in more words begins a list: `Tell Ana what is on today: visits, deadlines …`."""


def model_line(
    note: Note, now_ms: int, zone: str, *, brief: bool = False, text: bool = True, whole: bool = False
) -> str:
    """One line: `#12 task: Call Ana (due Fri 2026-11-27 14:30; rings Fri 2026-11-27 09:00, FREQ=WEEKLY)`.

    Times are by the person's clock, `zone`; the person's own matters name no owner. A `brief` one says `Fri 27 Nov`
    for a day that is near, `every week` for a rule, of work its title (`Bread history…`), or all where it is to be
    `whole`, and no date that was done before today: the line is told again with every message. Without `text` whoever
    reads it has just written it: `#12 task (due …)`.
    """
    coming_ms, ahead, then = _coming(note, now_ms), ahead_ms(note), series.at_its_date(note, now_ms)
    of_each = (bool(note.rings_again_min), rule_behind(note))
    note, when = at_next_date(then, now_ms), partial(brief_moment, now_ms) if brief else moment
    remarks = "; ".join(_remarks(note, now_ms, zone, when, coming_ms, ahead=ahead, brief=brief, of_each=of_each))
    words = f": {titled(note) if brief and is_work(note) and not whole else note.text}" if text else ""
    return f"#{note.number} {note.kind}{words}" + (f" ({remarks})" if remarks else "")


def with_successor(note: Note, ledger: Ledger, now_ms: int, zone: str) -> str:
    """A note's line; of one that was replaced, with the number of the note in its place."""
    return model_line(note, now_ms, zone, brief=True) + successor(note, ledger)


def successor(note: Note, ledger: Ledger) -> str:
    """The number of the note in the place of one that is over: ` -> #16`; "" for none."""
    same = None if note.is_open else find(ledger, note.text)
    newest = ledger.by_id(note.replaced_by) if note.replaced_by else same
    return f" -> #{newest.number}" if newest else ""


def as_now(line: str) -> str:
    """A note's line that holds in place of an older one in the same prompt: `#12 now task: Call Ana`."""
    number, rest = line.split(" ", 1)
    return f"{number} now {rest}"


def title_of(work: str) -> str:
    """The title of work, or its first sentence: `Bread history` of `Bread history: Tell me one …`."""
    return shorten(CLAUSE_END.split(work, maxsplit=1)[0], TITLE_CHARS)


def titled(note: Note) -> str:
    """The title of a note that is work, with "…" for the words that are put to the model at its time."""
    title = title_of(note.text)
    return title if title == note.text else f"{title.removesuffix('…')}…"


def named(note: Note, now_ms: int, zone: str) -> str:
    """The number of a note, how it begins and its days, where no more is told: `#12 Spanish class… Thu 3 Dec`."""
    then = at_next_date(series.at_its_date(note, now_ms), now_ms)
    is_own = then.due_at_ms is not None and (not note.repeats or not note.rings or has_own_dates(note))
    at_ms = then.due_at_ms if is_own else moment_of(then)
    day = "" if at_ms is None else f" {brief_moment(now_ms, at_ms, zone, exact=False)}"
    day = f" {due_days(then, zone, partial(brief_moment, now_ms))}" if is_own and not then.due_exact else day
    was = " was" * (note.kind in TO_DO and is_past(then, now_ms))
    return f"#{note.number} {shorten(title_of(note.text), NAME_CHARS)}{was}{day}"


def clipped(note: Note, chars: int = BRIEF_CHARS) -> Note:
    """The note with the beginning of a text that is far too long."""
    is_long = len(note.text) > BRIEF_CHARS
    return note.model_copy(update={"text": shorten(note.text, chars)}) if is_long else note


def in_brief(note: Note, chars: int = BRIEF_CHARS) -> Note:
    """The note for a line that has little room: clipped, with one moment, and dates to come that are not kept.

    The moment is when it is due, of a mere series, or where it rings later, when it rings. What rings before keeps
    both: without a word of that a second reminder is set beside it. The rest is found by a search.
    """
    note = clipped(note, chars)
    own = has_own_dates(note)
    told = series.EXCEPTIONS | series.OVER if own else series.EXCEPTIONS  # its day follows from the last
    update: dict[str, Any] = {"occurrences": tuple(each for each in note.occurrences if each.state in told)}
    if own:
        return note.model_copy(update=update)
    if _rings_on_its_day(note, note.time_zone):
        update["occurrences"] = ()
    elif note.due_at_ms is not None and note.rings_at_ms is not None:
        rings = note.repeats or note.rings_at_ms > note.due_at_ms
        update |= {"due_at_ms": None, "ends_at_ms": None, "lasts_ms": 0} if rings else {}
    return note.model_copy(update=update)


def _tells_its_owner(note: Note) -> bool:
    """Whether a note says by itself who acts: one whose text names them, but a task; nobody has to do an event."""
    return note.kind == "event" or (note.kind != "task" and note.owner.casefold() in note.text.casefold())


def _coming(note: Note, now_ms: int) -> int | None:
    """The date behind that of a series that doesn't ring: once it has begun, or where it is no date of every two weeks.

    None for another, and for its last.
    """
    if note.rings or not note.repeats:
        return None
    current = series.at_its_date(note, now_ms)
    is_moved = (current.due_at_ms or 0) in {each.moved_to_ms for each in note.occurrences if each.state == "moved"}
    if is_past(current, now_ms):
        edge_ms = now_ms
    elif is_moved and named_parts(note.repeats).get("INTERVAL", "1") != "1":
        edge_ms = (ends_at(current) or now_ms) + DAY_MS
    else:
        return None
    date = series.next_date(note, edge_ms + (DAY_MS if note.kind in TO_DO else BEGUN_MS + MINUTE_MS))
    return date[1] if date and date[1] > now_ms else None


def _remarks(
    note: Note,
    now_ms: int,
    zone: str,
    when: Callable[..., str],
    coming_ms: int | None,
    *,
    ahead: int,
    brief: bool,
    of_each: tuple[bool, str],
) -> list[str]:
    found: list[str] = [note.status] if not note.is_open else []
    again, own_rule = of_each
    rule = f", {_rhythm(note, own_rule, brief=brief)}" if note.repeats else ""
    if note.about:
        found.append(f"in {note.about}")
    if note.owner not in {"", USER} and not (brief and _tells_its_owner(note)):
        found.append(f"owner {note.owner}")
    is_behind, is_paused = is_past(note, now_ms), note.is_open and note.is_paused
    goes_on = "" if is_paused or (is_behind and not series.goes_on(note, now_ms)) else rule
    rings_then = _rings_on_its_day(note, zone) if brief else []
    if note.due_at_ms is not None:
        word = "was" if is_behind else "due"
        following = f", next {when(coming_ms, zone, exact=note.due_exact)}" if coming_ms is not None else ""
        ring = _ring_that_day(note, rings_then, zone) if rings_then else ""
        rhythm = goes_on if ring or own_rule or not note.rings else ""
        found.append(f"{word} {due_days(note, zone, when)}{following}{ring}{rhythm}")
    if rings := [at_ms for at_ms in ring_times(note) if at_ms not in rings_then]:
        found.append(f"rings {' and '.join(when(at_ms, zone) for at_ms in rings)}{'' if own_rule else goes_on}")
    elif note.rings and not note.is_open:
        found.append("rings no more")
    exceptions = series.exceptions(note, now_ms)[:MOST_EXCEPTIONS]
    told = {at_ms // MINUTE_MS for at_ms in (note.rings_at_ms, note.due_at_ms, coming_ms) if at_ms is not None}
    found += (
        _exception(
            note,
            date,
            zone,
            when,
            ahead,
            is_told=not told.isdisjoint({at_ms // MINUTE_MS, (at_ms + ahead) // MINUTE_MS}),
        )
        for at_ms, date in exceptions
    )
    found += _date_before(note, now_ms, zone, when, today=brief, again=again) if note.is_open else []
    if is_paused:
        found.append(f"paused until they say so{rule}")
    elif note.is_open and is_snoozed(note, now_ms) and note.snoozed_until_ms is not None:
        found.append(f"put off until {when(note.snoozed_until_ms, zone)}")
    if note.is_open and note.doubtful:
        found.append("doubtful: the message was edited")
    return found


def _rings_on_its_day(note: Note, zone: str) -> list[int]:
    """The rings of a note on the day that it is due, where the next is one."""
    if note.due_at_ms is None:
        return []
    day = moment(note.due_at_ms, zone if note.due_exact else note.time_zone, exact=False)
    rings = [at_ms for at_ms in ring_times(note) if moment(at_ms, zone, exact=False) == day]
    return rings if note.rings_at_ms in rings else []


def _ring_that_day(note: Note, rings: Sequence[int], zone: str) -> str:
    """The rings behind their day: `, rings 09:00 and 18:00`, or `, rings` at the minute at which it is due."""
    hours = " and ".join(moment(at_ms, zone)[-5:] for at_ms in rings)
    return ", rings" if note.rings_at_ms == note.due_at_ms else f", rings {hours}"


def due_days(note: Note, zone: str, when: Callable[..., str]) -> str:
    """When a note is due: `Fri 27 Nov 12:00 to 16:00`, `Mon 7 Dec to Wed 9 Dec`, a whole month `January 2027`.

    A night names both its days: `Fri 27 Nov 22:00 to Sat 28 Nov 06:00`.
    """
    first_ms, last_ms = note.due_at_ms or 0, note.ends_at_ms
    if last_ms is not None and (month := whole_month(first_ms, last_ms, note.time_zone)):
        return f"{month:%B %Y}"
    due = when(first_ms, zone if note.due_exact else note.time_zone, exact=note.due_exact)
    if last_ms is not None:
        return f"{due} to {when(last_ms, note.time_zone, exact=False)}"
    if (over_ms := over_at(note, first_ms)) is None:
        return due
    clock = zone if note.due_exact else note.time_zone
    if note.due_exact and moment(over_ms, clock, exact=False) == moment(first_ms, clock, exact=False):
        return f"{due} to {moment(over_ms, clock)[-5:]}"
    return f"{due} to {when(over_ms, clock, exact=note.due_exact)}"


def _rhythm(note: Note, own_rule: str, *, brief: bool) -> str:
    """The rule of a series in words, or as it is with its last day, where its `own_rule` says when it rings before.

    That is told by a number of dates, or by a moment behind it. Of several on one day with its hour: the 14th of two
    doses a day may be a morning's or an evening's.
    """
    rule, first = own_rule or note.repeats, f"{series.local_due(note):{LOCAL}}" if own_rule else series.begins(note)
    if brief:
        return in_words(with_minute(rule, first))
    try:
        last = last_date(rule, first)
    except ValueError:
        return rule
    hour = f" {last:%H:%M}" if last and is_several_a_day(rule) else ""
    return rule + (f", the last on {last:%a %Y-%m-%d}{hour}" if last else "")


def ring_times(note: Note) -> list[int]:
    """The moments when a note rings next, of a series `at_next_date` for that, of one without a rule all."""
    if note.rings_at_ms is None:
        return []
    also = [] if note.repeats else series.singles(note)[1:]
    first = read_local(series.local_of(note.rings_at_ms, note.time_zone))
    also += [f"{first + timedelta(minutes=each):{LOCAL}}" for each in note.rings_again_min]
    return [note.rings_at_ms, *(series.at_ms_of(each, note.time_zone) for each in also)]


def _date_before(
    note: Note, now_ms: int, zone: str, when: Callable[..., str], *, today: bool, again: bool
) -> list[str]:
    """The outcome of the last date: it rang, was called done, missed or left out; with `today` no earlier date's.

    A date of a series is told by its own time, also where it rang late or was put off: `rang Mon 08:10 for Sun 20:00`;
    of one that rings `again` for each its last ring alone. Work of the assistant's was done when it rang.
    """
    if rang := series.last(note, "rang"):
        if is_work(note) or not was_rung(note, rang):
            return []
        waits = note.kind in TO_DO and (note.due_at_ms is None or note.due_at_ms <= now_ms)
        at, own = when(series.moment_of(note, rang), zone), _own_time(note, rang, zone, when)
        of = f" for {own}" if note.repeats and own != at and not again else ""
        return [f"rang {at}{of}" + (", not called done" if waits else "")]
    put_off = series.last(note, "snoozed")
    if put_off and series.moment_of(note, put_off) > now_ms:
        if again and series.at_ms_of(put_off.original_local, note.time_zone) < note.said_at_ms:
            return []
        return [f"rang {_own_time(note, put_off, zone, when)}" + ", put off" * (not again)]
    over = next((date for state in _OUTCOMES if (date := series.last(note, state))), None)
    if over is None:
        return []
    at_ms = series.moment_of(note, over)
    is_old = at_ms < now_ms and when(at_ms, zone, exact=False) != when(now_ms, zone, exact=False)
    is_ahead = has_own_dates(note)  # told by the day of the thing itself
    own = when(due_at(note, over), zone, exact=note.due_exact) if is_ahead else _own_time(note, over, zone, when)
    return [] if today and is_old else [f"{_OUTCOMES[over.state]} {own}"]


def _own_time(note: Note, date: Occurrence, zone: str, when: Callable[..., str]) -> str:
    """When the rule has a date, however late it rang, or the earlier moment that it was moved to."""
    at_ms = min(series.at_ms_of(date.original_local, note.time_zone), series.moment_of(note, date))
    return when(at_ms, zone, exact=note.rings or note.due_exact)


def _exception(note: Note, date: Occurrence, zone: str, when: Callable[..., str], ahead: int, *, is_told: bool) -> str:
    """The date that is moved or left out; of one moved to the moment that the line tells as the next, from when.

    A series that rings `ahead` of its own time is told by that: `Thu 3 Dec 19:00 until 21:30, rings 18:15`.
    """
    ring_ms, exact = series.moment_of(note, date), note.due_exact if ahead else note.rings or note.due_exact
    usual_ms = series.at_ms_of(date.original_local, note.time_zone) + ahead
    if date.state != "moved":
        return f"not on {when(usual_ms, zone, exact=is_several_a_day(note.repeats))}"
    own_ms = ring_ms + ahead if date.due_at_ms is None else date.due_at_ms
    was, there = (when(at_ms, zone, exact=exact) for at_ms in (usual_ms, own_ms))
    moved = was if own_ms == usual_ms else f"moved from {was}" if is_told else f"moved: {was} to {there}"
    if date.lasts_ms is not None and not is_told:  # its new end stands behind the day
        over_ms = later(own_ms, date.lasts_ms, note.time_zone)
        moved += f" until {moment(over_ms, zone)[-5:] if exact else when(over_ms, zone, exact=False)}"
    return moved if ring_ms + ahead == own_ms or is_told else f"{moved}, rings {moment(ring_ms, zone)[-5:]}"


def moment(at_ms: int, zone: str, *, exact: bool = True) -> str:
    """The local minute as `Fri 2026-11-27 14:30`, or the day alone."""
    at = datetime.fromtimestamp(at_ms / 1000, zone_of(zone))
    return f"{at:%a %Y-%m-%d %H:%M}" if exact else f"{at:%a %Y-%m-%d}"


def brief_moment(now_ms: int, at_ms: int, zone: str, *, exact: bool = True) -> str:
    """The same as `Fri 27 Nov 14:30`, with its year where that could be mistaken; `?` outside the calendar."""
    clock = zone_of(zone)
    try:
        at, now = (datetime.fromtimestamp(each / 1000, clock) for each in (at_ms, now_ms))
    except (OverflowError, OSError, ValueError):
        return "?"
    year = "" if abs((at - now).days) <= NEAR_DAYS else f" {at.year}"
    return f"{at:%a} {at.day} {at:%b}{year}" + (f" {at:%H:%M}" if exact else "")


def entitled(title: str, work: str) -> str:
    """The text of a note that is work: `Bread history: Tell me one …`; work that begins with its title is as it was."""
    named = shorten(CLAUSE_END.sub(" ", title), TITLE_CHARS)
    is_there = work.casefold().startswith(f"{named}{TITLE_END}".casefold())
    return work if not named or is_there else f"{named}{TITLE_END}{work}"


def reworded(note: Note, text: str) -> str:
    """Another text for a note; work keeps its title where the new text brings none, which is a few words."""
    brings_one = 0 < len(title_in(text).split()) <= TITLE_WORDS
    return text if not is_work(note) or brings_one else entitled(title_in(note.text), text)


def title_in(text: str) -> str:
    """The title before the colon with which work begins; "" for none."""
    end = CLAUSE_END.search(text)
    return text[: end.start()].strip() if end and end[0] == TITLE_END and end.start() <= TITLE_CHARS else ""
