"""Lists over several pages: headings, six numbered lines a page, up to nine on the last, a button for each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from math import ceil
from typing import Any, Final

from bot import replies
from bot.dates import as_heading, days_from, heading, local, month_text
from bot.delivery.outbox import Button, OutgoingMessage
from bot.rings import is_fresh, rung_days
from memory.ledger import series
from memory.ledger.own_dates import due_at, has_own_dates, sleeps
from memory.ledger.rules import WEEK
from memory.ledger.types import Note, Occurrence
from memory.ledger.views import SOON_MS, day_it_is_for, hour_of, is_past, is_snoozed, story_of, waits_for_word, while_on
from memory.zones import whole_month

PAGE: Final = 6
"""Lines of a page; their numbers fit side by side on a phone."""
_LEFT: Final = 3
"""So many lines have no page of their own: they join the page before."""

_NO_DAY: Final = date.max
Row = tuple[Button, ...]
When = Callable[[Note], int | None]
"""The moment by whose day a note is listed."""


@dataclass(frozen=True, slots=True)
class Group:
    """Notes that stand under one heading; none over those without."""

    head: str
    notes: Sequence[Note]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list to show: its first line, its groups, the form of a line, and its buttons."""

    head: str
    groups: Sequence[Group]
    line: Callable[[Note], str]
    button: Callable[[int, Note], Button]
    """The button of a line, by its number on the list."""
    turns_page: str
    """The action of [More] and [Back]."""
    payload: Mapping[str, Any] = field(default_factory=dict)
    """The payload of these buttons besides the page's first line."""
    foot: str = ""
    """An explanation of the lines' buttons, where their labels don't say it."""
    also: str = ""
    """Text behind the last line of the last page."""
    ahead: str = ""
    """Text behind the lines of the first page, where nobody has to turn a page for it."""
    a_row: int = PAGE + 1
    """The number of buttons in a row at most."""
    row: Callable[[Note], Row] | None = None
    """Buttons of a line that is opened, or the only one; None where its button says it."""

    @property
    def notes(self) -> list[Note]:
        """Everything on the list, in its order."""
        return [note for group in self.groups for note in group.notes]


def by_day(notes: Sequence[Note], now_ms: int, zone: str, when: When | None = None) -> list[Group]:
    """Notes under the days of `when`, else of `day_of`: overdue ones first, day by day, then those without a day.

    A note's day is by its own clock, and `Today` is by the reader's, `zone`. Within a day they go by their hours. What
    is for a whole month stands under its name, behind the month's last day.
    """
    hour = when or partial(_hour, now_ms=now_ms)
    found: dict[tuple[date, bool], list[Note]] = {}
    for note in notes:
        at_ms = when(note) if when else day_of(note, now_ms)
        of_month = when is None and is_for_a_month(note, now_ms)
        at_ms = note.ends_at_ms if of_month else at_ms
        day = _NO_DAY if at_ms is None else _day_over(note, at_ms, now_ms, zone)
        found.setdefault((day, of_month), []).append(note)
    today = local(now_ms, zone).date()
    for under, group in found.items():
        if under[0] != _NO_DAY:
            group.sort(key=lambda note: hour(note) or 0)
    return [Group(_head(day, today, of_month=of_month), found[day, of_month]) for day, of_month in sorted(found)]


def _head(day: date, today: date, *, of_month: bool) -> str:
    if of_month:
        return as_heading(month_text(day, today, replies.spoken()))
    return heading(None if day == _NO_DAY else day, today, replies.spoken())


def is_for_a_month(note: Note, now_ms: int) -> bool:
    """Whether a note stands for a whole month that is not over, and was not put off until a day."""
    if note.due_at_ms is None or note.ends_at_ms is None or note.repeats or is_snoozed(note, now_ms) or note.is_paused:
        return False
    return not is_past(note, now_ms) and whole_month(note.due_at_ms, note.ends_at_ms, note.time_zone) is not None


def undated(note: Note) -> Note:
    """The note without its days, for a line that stands under them or behind them."""
    return note.model_copy(update={"due_at_ms": None, "ends_at_ms": None, "lasts_ms": 0, "due_exact": False})


def _hour(note: Note, now_ms: int) -> int | None:
    """The moment by which a note stands inside its day: the end of a delay, its hour, or that of its ring.

    Of a series that rang and waits for a word that for which it did, not its next.
    """
    has_rung = note.repeats and waits_for_word(note)
    return day_of(note, now_ms) if is_snoozed(note, now_ms) or has_rung else hour_of(note)


def _day_over(note: Note, at_ms: int, now_ms: int, zone: str) -> date:
    """The day over a line: `date.min` for one that is over by the note's clock, and none before the reader's today.

    An hour that has passed is of their today, too.
    """
    if days_from(at_ms, now_ms, note.time_zone) < 0:
        return date.min
    today = local(now_ms, zone).date()
    is_behind = at_ms <= now_ms and is_past(note, now_ms)
    return today if is_behind else max(local(at_ms, note.time_zone).date(), today)


def by_story(notes: Sequence[Note]) -> list[Group]:
    """Made-up notes under their stories; those without a name under one heading."""
    stories: dict[str, list[Note]] = {}
    for note in notes:
        stories.setdefault(story_of(note), []).append(note)
    return [
        Group(replies.say("memory_heads.story", name=story) if story else replies.say("memory_heads.stories"), found)
        for story, found in stories.items()
    ]


def _rung_for(note: Note, rang: Occurrence, now_ms: int) -> int | None:
    """The moment for which a date of a series rang, where that is thought of still.

    It is that day, on the day of the ring this one, and for `RUNG_DAYS` where the next is a week of such days away.
    """
    rang_ms = series.moment_of(note, rang)
    at_ms = max(rang_ms, due_at(note, rang)) if has_own_dates(note) else rang_ms
    days = days_from(at_ms, now_ms, note.time_zone)
    if days >= 0:
        rang_today = days_from(rang_ms, now_ms, note.time_zone) == 0
        return rang_ms if rang_today else min(at_ms, max(rang_ms, now_ms)) if days == 0 else at_ms
    every_days = days_from(note.rings_at_ms or at_ms, at_ms, note.time_zone)
    return at_ms if -days <= min(rung_days(note), every_days // len(WEEK)) else None


def day_of(note: Note, now_ms: int) -> int | None:
    """The time at which a note is to be thought of: the end of a delay, its own, else the last ring; None for none.

    What rang and was put off is thought of when it rings again, also where it was due before.

    A series that rests is thought of when it rings again, as /reminders has it; one that rang and waits for a word, on
    the day for which it did, and for a few days behind it; what has no day, for a week after it was put off until then.
    """
    if note.is_paused or (sleeps(note) and not note.repeats):
        return None if note.is_paused else note.rings_at_ms
    if is_snoozed(note, now_ms):
        return max(note.snoozed_until_ms or 0, note.rings_at_ms or 0) if note.repeats else note.snoozed_until_ms
    rang = series.last(note, "rang")
    is_told = rang and (note.rings_at_ms is None or is_fresh(note, rang, now_ms, note.time_zone))
    if rang and is_told and note.repeats and waits_for_word(note) and (at_ms := _rung_for(note, rang, now_ms)):
        return at_ms
    at_ms = day_it_is_for(note)
    at_ms = while_on(note, at_ms, now_ms) if at_ms is not None and at_ms == note.due_at_ms else at_ms
    if at_ms is None and rang:
        return series.moment_of(note, rang)
    until_ms = note.snoozed_until_ms
    if until_ms is None or note.repeats or (at_ms is not None and at_ms > now_ms):
        return at_ms
    is_its_day = days_from(until_ms, now_ms, note.time_zone) == 0 or (at_ms is None and now_ms - until_ms < SOON_MS)
    return now_ms if is_its_day else at_ms


def told_day(note: Note, now_ms: int, zone: str, when: When | None = None) -> int | None:
    """The moment whose day stands over a line of `by_day`; None where that is no day of its own."""
    at_ms = when(note) if when else None if is_for_a_month(note, now_ms) else day_of(note, now_ms)
    if at_ms is None or _day_over(note, at_ms, now_ms, zone) != local(at_ms, note.time_zone).date():
        return None
    return at_ms


def page(listing: Listing, offset: int = 0) -> OutgoingMessage:
    """One page of the list with its buttons; the last one where `offset` lies behind the end."""
    total = len(listing.notes)
    offset, end = _span(total, offset)
    lines, buttons, passed, number = [listing.head], list[Button](), 0, offset
    for group in listing.groups:
        shown = [note for at, note in enumerate(group.notes, passed) if offset <= at < end]
        passed += len(group.notes)
        if shown and group.head:
            lines += ["", group.head]
        for note in shown:
            number += 1
            lines.append(f"{number}. {listing.line(note)}")
            buttons.append(_on_page(listing.button(number, note), offset))
    if left := total - number:
        lines += ["", replies.say("list_more", count=left)]
    elif listing.also:
        lines += ["", listing.also]
    if listing.ahead and not offset:
        lines += ["", listing.ahead]
    if total == 1 and listing.row is not None:
        only = tuple(_on_page(each, 0) for each in listing.row(listing.notes[0]))
        return OutgoingMessage("\n".join(lines), buttons=(only,))
    if listing.foot:
        lines += ["", listing.foot]
    rows, turns = _in_rows(buttons, listing.a_row), _turns(listing, offset, left)
    return OutgoingMessage("\n".join(lines), buttons=(*rows, turns) if turns else tuple(rows))


def _in_rows(buttons: Sequence[Button], most: int) -> list[Row]:
    """The buttons in as few rows as they need, all but the last of one length: eight are four and four."""
    if not buttons:
        return []
    a_row = ceil(len(buttons) / ceil(len(buttons) / most))
    return [tuple(buttons[at : at + a_row]) for at in range(0, len(buttons), a_row)]


def opened(listing: Listing, note: Note, line: str, offset: int) -> OutgoingMessage:
    """One line of the list, with all that can be done with it and the way back to its page."""
    row = tuple(_on_page(each, offset) for each in (listing.row(note) if listing.row else ()))
    back = Button(replies.say("back"), listing.turns_page, dict(listing.payload) | {"offset": offset})
    return OutgoingMessage(line, buttons=(row, (back,)))


def _on_page(button: Button, offset: int) -> Button:
    return replace(button, payload={**button.payload, "offset": offset})


def shown_on(listing: Listing, offset: int) -> list[Note]:
    """The notes up to the end of a page, in the order of their numbers."""
    _, end = _span(len(listing.notes), offset)
    return listing.notes[:end]


def _span(total: int, offset: int) -> tuple[int, int]:
    """Begin and end of a page: a few last lines have no page of their own."""
    start = min(max(0, offset), max(0, (total - _LEFT - 1) // PAGE * PAGE))
    return start, total if total - start <= PAGE + _LEFT else start + PAGE


def _turns(listing: Listing, offset: int, left: int) -> Row:
    payload = dict(listing.payload)
    back = Button(replies.say("back"), listing.turns_page, payload | {"offset": max(0, offset - PAGE)})
    more = Button(replies.say("show_more"), listing.turns_page, payload | {"offset": offset + PAGE})
    return (*([back] if offset else ()), *([more] if left else ()))
