"""A note as a person reads it: the sentence that a friend would have written down, and in brackets what helps. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date, time

from bot import replies
from bot.dates import (
    MORNING_HOUR,
    day_text,
    days_from,
    every_text,
    hour_text,
    local,
    rhythm_in,
    soon_text,
    tells_day,
    tells_hour,
    when_text,
)
from memory.ledger import series
from memory.ledger.types import ASSISTANT, EVERYONE, TO_DO, USER, Note
from memory.ledger.views import SOON_MS, is_over, is_past, is_snoozed, story_of, waits_for_word
from memory.text import shorten

WHOLE_DAY = frozenset({time(0), time(MORNING_HOUR)})
"""Hours until which something is put off when a day was meant."""
TO = "\u2013"
"""Between the first and the last of several days."""
TITLE_END = ": "
"""Between the title of work and the work."""
TITLE_CHARS = 60
_BREAK = re.compile(r"[.!?:;]\s|[\u3002\uff01\uff1f]")
_TOGETHER_MS = 60_000
"""A due time and a ring within a minute are one time."""


def note_line(note: Note, now_ms: int, zone: str, *, under_ms: int | None = None, in_story: bool = False) -> str:
    """One line: `Call Ana (tomorrow at 14:30)`, `Call mum (⏰ every Sunday, next on Sun 29 Nov at 19:00)`.

    Times are by the person's clock, `zone`. What stands over the line it doesn't repeat: the day of `under_ms`, the
    name of a story.
    """
    note = series.at_next_date(series.at_its_date(note, now_ms)).model_copy(update={"text": name_of(note)})
    remarks = _remarks(note, now_ms, zone, under_ms)
    story = "" if in_story else story_of(note)
    if story and story not in note.text:
        remarks.append(story)
    if note.doubtful:
        remarks.append(replies.say("lines.edited"))
    return with_remarks(note.text, remarks)


def with_remarks(text: str, remarks: Sequence[str]) -> str:
    """The text with what helps in brackets, in its own where it ends with some."""
    if not remarks:
        return text
    if text.endswith(")") and text.count("(") == 1:
        return f"{text[:-1]}, {', '.join(remarks)})"
    return f"{text} ({', '.join(remarks)})"


def bare(text: str) -> str:
    """The text without the stop at its end, for a line that goes on."""
    return text.rstrip().removesuffix(".") if not text.rstrip().endswith("..") else text.rstrip()


def name_of(note: Note) -> str:
    """The note in a line that goes on; of work its title alone: `Bread history` of `Bread history: Tell me one …`.

    Of work that has none it is the first sentence.
    """
    if not is_work(note):
        return bare(note.text)
    return shorten(_BREAK.split(bare(note.text), maxsplit=1)[0], TITLE_CHARS)


def entitled(title: str, work: str) -> str:
    """The text of a note that is work: `Bread history: Tell me one …`. Work that has a title keeps its own."""
    named = shorten(_BREAK.sub(" ", title), TITLE_CHARS)
    return work if not named or _title_in(work) else f"{named}{TITLE_END}{work}"


def reworded(note: Note, text: str) -> str:
    """Another text for a note; work keeps its title where the new text brings none."""
    return entitled(_title_in(note.text), text) if is_work(note) else text


def _title_in(text: str) -> str:
    end = _BREAK.search(text)
    return text[: end.start()].strip() if end and end[0] == TITLE_END and end.start() <= TITLE_CHARS else ""


def is_work(note: Note) -> bool:
    """Whether a note that rings is the bot's own to do: a title and what is put to the model at its time."""
    return note.rings and note.owner == ASSISTANT


def _remarks(note: Note, now_ms: int, zone: str, under_ms: int | None) -> list[str]:
    told = set() if under_ms is None else {local(under_ms, zone).date()}
    due, rings_at_ms = _due(note, now_ms, zone, told), note.rings_at_ms
    if note.repeats and not note.rings and not is_past(note, now_ms):
        due = _comes(note, now_ms, zone, told)
    found = [each for each in (_owner(note),) if each]
    heading = set(told)
    if due and not _is_one(note):
        found.append(due)
        told.add(local(note.due_at_ms or 0, _clock(note, zone)).date())
    if rings_at_ms is not None:
        leads = told != heading and local(rings_at_ms, zone).date() in heading
        if tells_day(note.text, rings_at_ms, now_ms, zone, replies.spoken()):
            told.add(local(rings_at_ms, zone).date())
        found.insert(len(found) - leads, _rings(note, now_ms, zone, told))
    elif waits_for_word(note) and (rang := series.last(note, "rang")) and not (due and is_past(note, now_ms)):
        at_ms = series.moment_of(note, rang)
        exact = not tells_hour(note.text, at_ms, zone)
        found.append(replies.say("lines.rang", when=when_text(at_ms, now_ms, zone, replies.spoken(), exact=exact)))
    if rings_at_ms is not None or series.last(note, "passed"):
        found += _last_date(note, now_ms, zone)
    if is_snoozed(note, now_ms) and note.snoozed_until_ms is not None:
        found.append(_put_off(note.snoozed_until_ms, now_ms, zone, told))
    return found


def _owner(note: Note) -> str:
    """Who has to act, where that is not plain: the person's own matters name nobody."""
    if note.owner == ASSISTANT:
        return replies.say("lines.assistant") if note.kind in TO_DO and not note.rings else ""
    if note.owner == EVERYONE:
        return replies.say("lines.everyone")
    return "" if note.owner == USER or note.owner.casefold() in note.text.casefold() else note.owner


def _is_one(note: Note) -> bool:
    """Whether what is due and what rings are one time: the minute, or for what has no hour the day."""
    if note.due_at_ms is None or note.rings_at_ms is None:
        return False
    if note.due_exact:
        return abs(note.due_at_ms - note.rings_at_ms) < _TOGETHER_MS
    return local(note.due_at_ms, note.time_zone).date() == local(note.rings_at_ms, note.time_zone).date()


def _clock(note: Note, zone: str) -> str:
    """By which clock it is due: a day without an hour is a day where it was said."""
    return zone if note.due_exact else note.time_zone


def _due(note: Note, now_ms: int, zone: str, told: Collection[date]) -> str:
    """When it is due: the hour alone where its day is told; said to be over when it is; "" where the text tells it."""
    if note.due_at_ms is None:
        return ""
    language, clock = replies.spoken(), _clock(note, zone)
    last_ms = note.due_at_ms if note.ends_at_ms is None else note.ends_at_ms
    in_text = tells_day(note.text, last_ms, now_ms, clock, language)
    when = when_text(note.due_at_ms, now_ms, clock, language, exact=_has_hour(note, clock))
    if note.ends_at_ms is not None:
        when = f" {TO} ".join(day_text(at_ms, now_ms, clock, language) for at_ms in (note.due_at_ms, last_ms))
    ends = note.kind in TO_DO or note.kind == "project"
    is_on = note.kind == "event" and not is_over(note, now_ms)
    if is_past(note, now_ms) and not is_on and (ends or not in_text):
        return replies.say("lines.late" if ends else "lines.was", when=when)
    day_is_told = in_text or (note.ends_at_ms is None and local(note.due_at_ms, clock).date() in told)
    if day_is_told:
        return hour_text(note.due_at_ms, clock, language) if _has_hour(note, clock) else ""
    if not note.due_exact and note.ends_at_ms is None and ends and days_from(note.due_at_ms, now_ms, clock) > 1:
        return replies.say("lines.by", day=day_text(note.due_at_ms, now_ms, clock, language))
    return when


def _comes(note: Note, now_ms: int, zone: str, told: Collection[date]) -> str:
    """The rhythm and the next date of a series that doesn't ring."""
    clock, at_ms = _clock(note, zone), note.due_at_ms or 0
    if tells_day(note.text, at_ms, now_ms, clock, replies.spoken()):
        told = {*told, local(at_ms, clock).date()}
    return _next(note, note.repeats, at_ms, now_ms=now_ms, zone=clock, told=told, exact=note.due_exact)


def _has_hour(note: Note, clock: str) -> bool:
    """Whether it is due at an hour that its text does not tell."""
    exact = note.due_exact and note.ends_at_ms is None
    return exact and not tells_hour(note.text, note.due_at_ms or 0, clock)


def _rings(note: Note, now_ms: int, zone: str, told: Collection[date]) -> str:
    """When it rings: `⏰ tomorrow at 09:00`, `⏰ every Sunday, not this Sunday, next …`; nothing of its text."""
    rule, at_ms = series.until_its_last(note), note.rings_at_ms or 0
    return replies.say("lines.rings", when=_next(note, rule, at_ms, now_ms=now_ms, zone=zone, told=told)).rstrip()


def _next(
    note: Note, rule: str, at_ms: int, *, now_ms: int, zone: str, told: Collection[date], exact: bool = True
) -> str:
    """The rhythm with its next date, as far as neither the text tells it nor, of the day, what stands over the line."""
    language = replies.spoken()
    is_told, has_hour = local(at_ms, zone).date() in told, exact and not tells_hour(note.text, at_ms, zone)
    when = when_text(at_ms, now_ms, zone, language, exact=has_hour)
    if is_told:
        when = hour_text(at_ms, zone, language) if has_hour else ""
    every = every_text(rule, language, now_ms) if rule and not rhythm_in(note.text, rule) else ""
    moved = next((each for each in note.occurrences if each.moved_to_ms == at_ms), None)
    if rule and moved is not None:
        usual = hour_text(series.at_ms_of(moved.original_local, note.time_zone), zone, language)
        when = hour_text(at_ms, zone, language) if is_told else soon_text(at_ms, now_ms, zone, language)
        return replies.say("lines.this_time", every=f"{every} {usual}".strip(), when=when)
    said = ", ".join(filter(None, [every, _exception(note, now_ms, zone) if rule else ""]))
    if said and when:
        return replies.say("lines.next_here" if is_told else "lines.next", every=said, when=when)
    return said or when


def _exception(note: Note, now_ms: int, zone: str) -> str:
    """The next exception to the rule: `not this Friday`, `this Sunday at 10:00 instead`; "" for none to come."""
    at_ms, date = next(iter(series.exceptions(note, now_ms)), (0, None))
    if date is None:
        return ""
    is_moved = date.state == "moved"
    day = soon_text(at_ms, now_ms, zone, replies.spoken(), exact=is_moved or "BYHOUR" in note.repeats)
    return replies.say("lines.instead", when=day) if is_moved else replies.say("lines.not_on", day=day)


def _last_date(note: Note, now_ms: int, zone: str) -> list[str]:
    """The last date of a series: done, left out, or that it came and waits for a word; nothing after a week."""
    told = {"rang", "done", "passed"} if note.repeats else {"passed"}
    date = next((each for each in reversed(note.occurrences) if each.state in told), None)
    at_ms = series.moment_of(note, date) if date else now_ms - SOON_MS
    if date is None or abs(now_ms - at_ms) >= SOON_MS:
        return []
    when = when_text(at_ms, now_ms, zone, replies.spoken(), exact=date.state == "rang")
    if date.state != "rang":
        return [replies.say("lines.ticked" if date.state == "done" else "lines.passed", when=when)]
    return [replies.say("lines.rang", when=when)] if waits_for_word(note) else []


def _put_off(until_ms: int, now_ms: int, zone: str, told: Collection[date]) -> str:
    until = local(until_ms, zone)
    if until.date() in told:
        return replies.say("lines.put_off")
    when = when_text(until_ms, now_ms, zone, replies.spoken(), exact=until.time() not in WHOLE_DAY)
    return replies.say("lines.back", when=when)
