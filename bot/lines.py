"""A note as a person reads it: the sentence that a friend would have written down, and remarks in brackets. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date
from typing import Literal

from bot import replies
from bot.dates import (
    TO,
    clock_text,
    day_text,
    days_from,
    days_text,
    for_text,
    hour_text,
    local,
    names_days,
    to_do_text,
    when_text,
)
from bot.rhythms import SeriesText, goes_on_every, is_missed, next_parts, rests, then, under_way, yearly_text
from bot.rings import (
    SeriesRules,
    at_a_glance,
    due_with_its_ring,
    is_one,
    is_rung,
    is_under_its_ring,
    last_date_text,
    put_off_ring,
    put_off_text,
    rang_text,
    rings_for_next,
    rings_text,
    rules_of,
)
from bot.told_days import acts_unnamed, tells_day, tells_days, tells_hour
from memory.ledger import series
from memory.ledger.lines import TITLE_CHARS, ring_times, title_in, title_of
from memory.ledger.own_dates import at_next_date, due_of, sleeps
from memory.ledger.spans import last_day, last_of, over_at
from memory.ledger.types import ASSISTANT, EVERYONE, TO_DO, Note
from memory.ledger.views import LIMITS, is_over, is_past, is_question, is_work, story_of, waits_for_word
from memory.text import shorten
from memory.zones import whole_month

LINE_CHARS = 200
"""The text of a line in a list that is read at a glance; opened, it shows all."""
ELLIPSIS = "\u2026"
LEAST_CHARS = LINE_CHARS // 2
"""A text whose sentence ends earlier is cut within the next one: what a person wants to keep often stands there."""
_SENTENCE = re.compile(r"[.!?]\s|[\u3002\uff01\uff1f]")
YEARLY = "FREQ=YEARLY"
Heading = Literal["", "story", "tasks", "rang"]
"""What stands over a line beside a day: the name of its story, that it is work by the clock, that it rang."""


def note_line(
    note: Note,
    now_ms: int,
    zone: str,
    *,
    under_ms: int | None = None,
    heading: Heading = "",
    brief: bool = False,
    by_reader: bool = False,
) -> str:
    """One line: `Call Ana (tomorrow at 14:30)`, `Call mum (⏰ every Sunday at 19:00)`.

    Times are by the clock of the note, named where the person's, `zone`, shows another hour; `by_reader` by theirs. The
    heading over the line is not repeated: the day of `under_ms`, the name of a story, on /tasks who sends it, that it
    rang. A `brief` one, of a list that is read at a glance, has the first sentences of a long text, and the next
    exceptions of a series alone.
    """
    reader, zone = zone, zone if by_reader else note.time_zone
    whole = at_next_date(series.at_its_date(note, now_ms), now_ms).model_copy(update={"text": name_of(note)})
    note, rules = whole, rules_of(note, whole)
    if brief:
        note = at_a_glance(note.model_copy(update={"text": _beginning(note.text)}), now_ms, zone)
    told = set[date]() if under_ms is None else {local(under_ms, zone).date()}
    if rings_for_next(note) and local(note.rings_at_ms or 0, zone).date() in told:
        note = note.model_copy(update={"due_at_ms": due_of(note, note.rings_at_ms or 0)})
    if heading == "rang":
        times = _rang(note, now_ms, zone, told)
    else:
        times = _remarks(note, now_ms, zone, told, heading=heading, rules=rules)
    is_cut = brief and len(series.exceptions(note, now_ms)) < len(series.exceptions(whole, now_ms))
    remarks = [*filter(None, [_owner(note)]), *times, *([replies.say("lines.more_changes")] if is_cut else [])]
    note = note.model_copy(update={"text": with_owner(note, note.text)})
    has_hour, at_ms = _tells_time(note), note.rings_at_ms or note.due_at_ms or now_ms
    if remarks and has_hour and not shows_same_hour(at_ms, zone, reader):
        remarks.append(clock_name(zone))
    story = "" if heading == "story" else story_of(note)
    if story and story not in note.text:
        remarks.append(story)
    remarks += [replies.say("lines.edited")] if note.doubtful else []
    asks = note.rings_at_ms is not None and is_question(note)
    return with_remarks(replies.say("lines.asks", text=note.text) if asks else note.text, remarks)


def is_group(conversation_id: str) -> bool:
    """Return whether several people may write in a conversation: chats that are no person's have negative ids."""
    return any(chat.startswith("-") for chat in conversation_id.split(":")[2:3])


def clock_name(zone: str) -> str:
    """The clock of a zone by its place: `Dublin time` for `Europe/Dublin`; a zone without a place by its name."""
    area, _, place = zone.rpartition("/")
    return replies.say("lines.clock_of", place=place.replace("_", " ")) if area and area != "Etc" else zone


def shows_same_hour(at_ms: int, zone: str, other: str) -> bool:
    """Whether two clocks show the same hour at a moment."""
    return local(at_ms, zone).utcoffset() == local(at_ms, other).utcoffset()


def say_in(conversation_id: str, key: str, **values: object) -> str:
    """A sentence about a reminder; in a group the one that speaks to all of them."""
    return replies.say(f"in_group.{key.rpartition('.')[2]}" if is_group(conversation_id) else key, **values)


def with_remarks(text: str, remarks: Sequence[str]) -> str:
    """The text with remarks in brackets, behind a dash where it ends with some: `Dénia (if free) - today`."""
    said = ", ".join(remarks)
    with_said = f"{text} {TO} {said}" if text.endswith(")") else f"{text} ({said})"
    return with_said if said else text


def bare(text: str) -> str:
    """The text without the stop at its end, for a line that goes on."""
    return text.rstrip().removesuffix(".") if not text.rstrip().endswith("..") else text.rstrip()


def name_of(note: Note) -> str:
    """The note in a line that goes on; of work its title alone: `Bread history` of `Bread history: Tell me one …`.

    Work without a title is named by its first sentence. Work that comes no more keeps its title.
    """
    title = title_in(note.text) if note.owner == ASSISTANT and note.kind == "task" else ""
    if not is_work(note) and not (title and len(note.text) - len(title) > TITLE_CHARS):
        return bare(note.text)
    return title_of(bare(note.text))


def _beginning(text: str) -> str:
    """As much of a text as has room in a list, to the end of a sentence where that is most of it."""
    if len(text) <= LINE_CHARS:
        return text
    ends = [end.end() for end in _SENTENCE.finditer(text[:LINE_CHARS]) if end.end() >= LEAST_CHARS]
    return f"{text[: ends[-1]].rstrip()} {ELLIPSIS}" if ends else shorten(text, LINE_CHARS)


def _rang(note: Note, now_ms: int, zone: str, told: Collection[date]) -> list[str]:
    """The remarks on a note under the heading that it rang: when, and for what it is still to come."""
    rang = series.last(note, "rang")
    found = list(filter(None, [rang_text(note, rang, now_ms, zone, told, under_heading=True) if rang else ""]))
    if note.due_at_ms is not None and last_day(note) is not None and not is_past(note, now_ms):
        found.append(under_way(note, now_ms, zone) or _due(note, now_ms, zone, told))
    elif note.due_at_ms is not None and not (is_one(note) or is_past(note, now_ms)):
        key = "by" if note.kind in TO_DO else "for"
        found.append(for_text(note.due_at_ms, now_ms, zone, replies.spoken(), exact=_has_hour(note, zone), key=key))
    elif note.kind in TO_DO and not (note.repeats or is_one(note)):
        found += filter(None, [_due(note, now_ms, zone, told)])
    return found


def _remarks(
    note: Note, now_ms: int, zone: str, above: set[date], *, heading: Heading, rules: SeriesRules
) -> list[str]:
    rings_at_ms, told = note.rings_at_ms, set(above)
    due = list(filter(None, [_when_due(note, now_ms, zone, told)]))
    rung = is_rung(note, zone, above)
    is_own = due_with_its_ring(note, rules.behind) if note.rings else _comes_again(note, now_ms)
    comes, otherwise = bool(note.repeats) and (is_own or rung), ""
    if comes:
        due, otherwise = _comes(note, now_ms, zone, told, rules)
    if is_at_rest(note):
        put_off = [] if rings_at_ms is None else [put_off_ring(rings_at_ms, now_ms, zone, told)]
        return [*put_off, replies.say("task_is_paused")]
    found, last = list[str](), next(iter(told), None)
    due_stands = bool(due) and (comes or not is_one(note))
    if due_stands:
        found += due
        last = local(note.due_at_ms or 0, _clock(note, zone)).date()
        told.add(last)
    if rings_at_ms is not None and not rung:
        leads = not comes and told != above and local(rings_at_ms, zone).date() in above and len(ring_times(note)) == 1
        if tells_day(note.text, rings_at_ms, now_ms, zone):
            told.add(local(rings_at_ms, zone).date())
            last = last if due_stands else local(rings_at_ms, zone).date()
        rings = rings_text(note, now_ms, zone, told, last=last, leads=leads, comes=comes)
        if leads and note.due_exact and last_of(note) is None and not is_past(note, now_ms):
            found[-1] = _for(note, now_ms, zone)
        ring = replies.say(f"lines.{'sends' if is_work(note) and heading != 'tasks' else 'rings'}", when=rings).rstrip()
        is_under = comes and is_under_its_ring(note, now_ms, zone, above, rings)
        leads, is_date = leads or is_under, len(found) > 1 or YEARLY not in note.repeats  # not `14 Feb, every year`
        found[:1] = [_for(note, now_ms, zone)] if is_under and is_date else found[:1]
        found.insert(0 if comes and leads else 1 if len(found) > 1 and rules.is_other else len(found) - leads, ring)
    elif waits_for_word(note) and note.due_at_ms is None and (rang := series.last(note, "rang")):
        found.append(rang_text(note, rang, now_ms, zone, told))
    found += filter(None, [otherwise])  # behind the ring, which is no exception's
    if rings_at_ms is not None or series.last(note, "passed") or series.last(note, "skipped"):
        found += last_date_text(note, now_ms, zone, told)
    says_when = rings_at_ms is not None and not note.repeats  # its ring
    if rests(note, now_ms) and not says_when and note.snoozed_until_ms is not None:
        found.append(put_off_text(note, note.snoozed_until_ms, now_ms, zone, told))
    return found


def _comes_again(note: Note, now_ms: int) -> bool:
    """Whether a series that doesn't ring goes on: also on the day of a date that has begun, but for its last."""
    return note.due_at_ms is not None and (not is_past(note, now_ms) or series.goes_on(note, now_ms))


def is_at_rest(note: Note) -> bool:
    """Whether a note is paused; work after failures, too: a series to ring that neither does nor did (`at_rest`)."""
    return note.is_paused or bool(is_work(note) and note.repeats and note.rings_at_ms is None and not note.occurrences)


def _tells_time(note: Note) -> bool:
    """Whether an hour may stand behind a note: none does while its series rests, but of a date that was put off."""
    return (note.due_exact or note.rings) and not (is_at_rest(note) and note.rings_at_ms is None)


def _owner(note: Note) -> str:
    """That the assistant has to act, or everybody, where that is not plain."""
    if is_at_rest(note) or is_work(note) or note.kind == "event":
        return ""
    if note.kind == "question" and acts_unnamed(note):
        return replies.say("lines.waits_for", name=note.owner)
    if note.owner == ASSISTANT:
        return replies.say("lines.assistant") if note.kind in TO_DO and not note.rings else ""
    return replies.say("lines.everyone") if note.owner == EVERYONE and note.kind in TO_DO else ""


def with_owner(note: Note, text: str) -> str:
    """The words of a note behind who else has to act, or is limited, where they don't say it: `Sandrine: The 120 €`."""
    is_nobodys = is_at_rest(note) or is_work(note) or note.kind in {"event", "question"}
    is_told = is_nobodys or not acts_unnamed(note)
    names = f"{note.owner[:1].upper()}{note.owner[1:]}"
    return text if is_told else replies.say("for_whom", names=names, title=text)


def _clock(note: Note, zone: str) -> str:
    """The clock by which a note is due: a day without an hour is a day where it was said."""
    return zone if note.due_exact else note.time_zone


def _when_due(note: Note, now_ms: int, zone: str, told: Collection[date]) -> str:
    """Its due time, or until when it lasts; under the day of a series' next ring nothing of the date before that.

    Nor the day from which something is so, once it is.
    """
    due_ms, rings_ms = note.due_at_ms, note.rings_at_ms
    if note.kind in LIMITS and due_ms is not None and not note.repeats and not is_past(note, now_ms):
        return _limit(note, due_ms, now_ms)
    is_behind = note.repeats and due_ms is not None and rings_ms is not None and due_ms < rings_ms
    holds = note.lasts and last_of(note) is None and is_past(note, now_ms)  # it began then
    if holds or (is_behind and local(rings_ms or 0, zone).date() in told):
        return ""
    return under_way(note, now_ms, _clock(note, zone)) or _due(note, now_ms, zone, told)


def _limit(note: Note, due_ms: int, now_ms: int) -> str:
    """Until when a limit holds, with its first day where that is to come; "" where the text tells its end."""
    last_ms, zone, language = last_day(note) or due_ms, note.time_zone, replies.spoken()
    if tells_days(note.text, last_ms, last_ms, now_ms, zone):
        return ""
    exact = note.due_exact and note.ends_at_ms is None
    if exact and note.lasts_ms and due_ms > now_ms:
        return when_text(due_ms, now_ms, zone, language, until_ms=over_at(note, due_ms))
    last_ms = over_at(note, due_ms) or last_ms
    if last_ms > due_ms and days_from(due_ms, now_ms, zone) > 0:
        return days_text(due_ms, last_ms, now_ms, zone, language)
    if not exact and days_from(last_ms, now_ms, zone) == 0:
        return replies.say("lines.until_tonight")
    return for_text(last_ms, now_ms, zone, language, exact=exact, key="until")


def _due(note: Note, now_ms: int, zone: str, told: Collection[date]) -> str:
    """The due time of a note: the hour alone where its day is told, late or past in words; "" if the text tells it."""
    is_put_off = sleeps(note) and not note.repeats and (note.rings_at_ms or 0) > (note.due_at_ms or 0)
    if note.due_at_ms is None or (is_put_off and note.kind != "event"):
        return ""
    language, clock = replies.spoken(), _clock(note, zone)
    last_ms = last_day(note) or note.due_at_ms
    in_text = tells_days(note.text, note.due_at_ms, last_ms, now_ms, clock)
    until_ms = over_at(note, note.due_at_ms)
    when = when_text(note.due_at_ms, now_ms, clock, language, exact=_has_hour(note, clock), until_ms=until_ms)
    if note.ends_at_ms is not None:
        when = days_text(note.due_at_ms, last_ms, now_ms, clock, language)
    ends, is_on = note.kind in {*TO_DO, "project"}, note.kind == "event" and not is_over(note, now_ms)
    day_is_told = in_text or (note.ends_at_ms is None and local(note.due_at_ms, clock).date() in told)
    if is_past(note, now_ms) and not is_on and (ends or not in_text):
        if day_is_told and _has_hour(note, clock) and until_ms is None:
            hour, when = clock_text(local(note.due_at_ms, clock), language), hour_text(note.due_at_ms, clock, language)
            return replies.say("lines.late_hour" if ends else "lines.was", hour=hour, when=when)
        is_month = whole_month(note.due_at_ms, last_ms, clock) is not None
        return replies.say("lines.late_in" if ends and is_month else "lines.late" if ends else "lines.was", when=when)
    if ends and until_ms is None and _has_hour(note, clock):
        return to_do_text(note.due_at_ms, now_ms, clock, language, hour_alone=day_is_told, by=bool(note.rings_at_ms))
    if day_is_told:
        return hour_text(note.due_at_ms, clock, language, until_ms) if _has_hour(note, clock) else ""
    is_day = not note.due_exact and note.ends_at_ms is None and ends
    return _by_day(note, now_ms, clock, among=bool(told)) or when if is_day else when


def _by_day(note: Note, now_ms: int, clock: str, *, among: bool) -> str:
    """The day by which something is to be done, `among` those of a list; "" for a near one that is told as it is."""
    at_ms, language = note.due_at_ms or 0, replies.spoken()
    if days_from(at_ms, now_ms, clock) <= 1:
        is_for = among and note.rings_at_ms is not None
        return for_text(at_ms, now_ms, clock, language, exact=False, key="by") if is_for else ""
    day = day_text(at_ms, now_ms, clock, language)
    is_on_it = note.kind != "question" and note.rings_at_ms is None  # practice is, and a plan
    return day if is_on_it else replies.say("lines.by", day=day)


def _comes(note: Note, now_ms: int, zone: str, told: Collection[date], rules: SeriesRules) -> SeriesText:
    """The next date and the rhythm of a series, by its due times; a missed date of one that doesn't ring."""
    clock, at_ms, rule = _clock(note, zone), note.due_at_ms or 0, rules.listed
    if is_missed(note, now_ms):
        return SeriesText(then(_when_due(note, now_ms, zone, told), goes_on_every(note, now_ms, clock)))
    if names_days(note.repeats) and tells_day(note.text, at_ms, now_ms, clock):
        told = {*told, local(at_ms, clock).date()}
    if (rules.behind or not note.rings) and YEARLY in rule and note.kind not in TO_DO:
        if local(at_ms, clock).date() not in told and (each_year := yearly_text(note, at_ms, now_ms)):
            return SeriesText([each_year])
        rule = ""
    return next_parts(note, rule, at_ms, now_ms=now_ms, zone=clock, told=told, exact=note.due_exact, ahead=rules.ahead)


def _has_hour(note: Note, clock: str) -> bool:
    """Whether a note is due at an hour that its text does not tell."""
    exact = note.due_exact and note.ends_at_ms is None
    return exact and not tells_hour(note.text, note.due_at_ms or 0, clock)


def _for(note: Note, now_ms: int, zone: str) -> str:
    """The due time behind a ring that leads: `for Fri 4 Dec at 10:30`, the hour alone where its day is told."""
    at_ms, language, is_by = note.due_at_ms or 0, replies.spoken(), note.kind in TO_DO and not note.repeats
    last_ms = series.at_ms_of(series.singles(note)[-1], note.time_zone)
    if note.due_exact and (days_from(last_ms, at_ms, zone) == 0 or tells_day(note.text, at_ms, now_ms, zone)):
        return replies.say("lines.for_hour", hour=clock_text(local(at_ms, zone), language))
    return for_text(at_ms, now_ms, zone, language, exact=_has_hour(note, zone), key="by" if is_by else "for")
