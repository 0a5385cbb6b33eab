"""/loops: what is unfinished, by day, and what is coming up; a line's number opens it: Done, Tomorrow, Drop."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from dateutil.rrule import rrule

from bot import replies
from bot.dates import TO, as_heading, day_text, days_from, days_text, heading, local, tomorrow_ms
from bot.delivery.outbox import Button, OutgoingMessage
from bot.features.lists import Listing, Row, by_day, by_story, day_of, is_for_a_month, told_day, undated
from bot.features.memories import WORDS_CHARS, looked_up
from bot.features.shown import View, change_listed, find_note, open_line, show, turn_page
from bot.intake.updates import Envelope
from bot.lines import is_at_rest, name_of, note_line
from bot.reminders.ringing import a_day_later, date_at_hand, operation_for
from bot.rhythms import under_way
from bot.rings import rings_for_next, this_date
from bot.told_days import tells_day, tells_days
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.ledger import series
from memory.ledger.own_dates import ahead_ms as own_ahead_ms
from memory.ledger.own_dates import sleeps
from memory.ledger.rules import LOCAL, has_end, read_local
from memory.ledger.spans import is_one_matter, last_day
from memory.ledger.types import TO_DO, Actor, Applied, Change, End, Ending, Ledger, Note, Operation
from memory.ledger.views import DAY_MS, agenda, dates_to_come, ends_at, is_story, waits_for_word
from memory.opening import ConversationMemory
from memory.ports import Statement
from memory.state.fields import open_loop
from memory.text import shorten
from memory.types import OpenLoop

__all__ = ["Ending", "Loops", "OpenMatter", "end_open", "loop_list", "read_open"]
AHEAD: Final = 6
"""Dates that the list ends with, whenever they are."""
AHEAD_OF_A_WEEK: Final = 10
"""So many of them are told where they are all within a week."""
WEEK_MS: Final = 7 * DAY_MS
SHOWN_GROUPS: Final = 3
TOLD_OF_GROUPS: Final = "told_of_groups"
"""The choice that marks who was told that what belongs to a group is listed there."""


# --- pure -----------------------------------------------------------------------------------------------------------


def loop_list(
    ledger: Ledger | Sequence[Note], now_ms: int, zone: str, plays: Collection[str] | None = None
) -> Listing | OutgoingMessage:
    """The list by day, or that nothing is open; with what is coming up.

    A scene is open to a persona that `plays` a role; one of plain talk is no matter beside a debt, and on /memory.
    """
    found = agenda(ledger, now_ms)
    open_now = [note for note in found if not is_story(note) or plays is None or note.persona in plays]
    ahead = coming_up(dates_to_come(ledger, now_ms), now_ms, zone)
    if not open_now:
        return OutgoingMessage("\n\n".join(filter(None, [replies.say("loops_none"), ahead])))
    return Listing(
        head=replies.say("loops_head"),
        groups=[
            *by_day([note for note in open_now if not is_story(note)], now_ms, zone),
            *by_story([note for note in open_now if is_story(note)]),
        ],
        line=lambda note: note_line(
            undated(note) if is_for_a_month(note, now_ms) and not is_story(note) else note,
            now_ms,
            zone,
            under_ms=told_day(note, now_ms, zone),
            heading="story" if is_story(note) else "",
            brief=True,
        ),
        button=lambda number, note: Button(str(number), "loop_open", {"note_id": note.note_id}),
        turns_page="loops_page",
        foot=replies.say("loops_foot"),
        ahead=ahead,
        row=lambda note: loop_row(note, now_ms, zone),
    )


def coming_up(
    ahead: Sequence[Note], now_ms: int, zone: str, *, says_more: bool = True, within_ms: int = WEEK_MS
) -> str:
    """The next dates under their heading, without number or button: nobody has to act; "" for none.

    With them those of a series that were moved, `within_ms` from now.
    """
    if not ahead:
        return ""
    dates = [date for note in ahead for date in _with_moved(note, now_ms, within_ms)]
    shown = soonest(dates, now_ms)
    lines = [coming_line(note, now_ms, zone) for note in shown]
    more = [replies.say("coming_more")] if says_more and len(dates) > len(shown) else []
    return "\n".join([replies.say("coming_head"), *lines, *more])


def soonest(ahead: Sequence[Note], now_ms: int) -> list[Note]:
    """The dates that are told, in their order: the next six, and of a full week four more."""
    ordered = sorted(ahead, key=partial(_soonest, now_ms=now_ms))
    in_a_week = sum((note.due_at_ms or 0) - now_ms < WEEK_MS for note in ahead)
    return ordered[: max(AHEAD, min(in_a_week, AHEAD_OF_A_WEEK))]


def _soonest(note: Note, now_ms: int) -> tuple[bool, int]:
    """What is today before what has begun and is on till another day, and that before tomorrow's."""
    at_ms = note.due_at_ms or 0
    if is_for_a_month(note, now_ms):
        return True, ends_at(note) or 0
    is_on = at_ms <= now_ms and days_from(ends_at(note) or 0, now_ms, note.time_zone) > 0
    return days_from(at_ms, now_ms, note.time_zone) > 0, at_ms + DAY_MS * is_on


def _with_moved(note: Note, now_ms: int, within_ms: int) -> list[Note]:
    """A series at its next date, and at those behind it that were moved and are near: no rhythm tells them.

    Of one with an end, of which a date comes otherwise, at each that is near.
    """
    next_ms, rings_ms = note.due_at_ms or 0, note.rings_at_ms
    ahead_ms = 0 if rings_ms is None or rings_for_next(note) else next_ms - rings_ms
    found, others = [note], series.exceptions(note, now_ms)
    for ring_ms, date in others:
        due_ms = ring_ms + ahead_ms if date.due_at_ms is None else date.due_at_ms
        if date.state == "moved" and next_ms < due_ms < now_ms + within_ms:
            found.append(_at_date(note, due_ms, ring_ms))
    if not (others and has_end(note.repeats)) or (rule := _regular(note, next_ms)) is None:
        return found
    ahead_ms = own_ahead_ms(note) if sleeps(note) or rings_for_next(note) else ahead_ms
    next_at_ms = next_ms - ahead_ms
    gone = {each.original_local for each in note.occurrences}
    for at in rule.xafter(read_local(series.local_of(next_at_ms, note.time_zone))):
        at_ms = series.at_ms_of(local_at := f"{at:{LOCAL}}", note.time_zone)
        if at_ms + ahead_ms >= now_ms + within_ms:
            break
        found += [] if local_at in gone else [_at_date(note, at_ms + ahead_ms, at_ms)]
    return found


def _regular(note: Note, next_ms: int) -> rrule | None:
    """The dates of a series by its rule, also where it stands at one that was moved, and does not ring."""
    moved = (each for each in note.occurrences if each.state == "moved" and each.moved_to_ms == next_ms)
    first = "" if note.rings else next((each.original_local for each in moved), "")
    usual = {"due_at_ms": series.at_ms_of(first, note.time_zone)} if first else {}
    return series.rule_by_first(note.model_copy(update=usual))


def _at_date(note: Note, due_ms: int, ring_ms: int) -> Note:
    """One date of a series, alone; without a ring where the one before is between two of its own."""
    rings = {"rings_at_ms": None if note.rings_at_ms is None or sleeps(note) else ring_ms}
    return this_date(note.model_copy(update={"due_at_ms": due_ms, **rings}))


def coming_line(note: Note, now_ms: int, zone: str) -> str:
    """A date by its day, unless its line tells that: `Thu 3 Dec: Lia's recital (at 18:00)`.

    One that is on stands under today, or behind its last day: `Until Sun 6 Dec: Away in Rome`. A series of which dates
    of these two weeks come otherwise tells no rhythm there.
    """
    clock, language, is_series = note.time_zone, replies.spoken(), bool(note.repeats)
    moved = {each.due_at_ms if note.rings else each.moved_to_ms for each in note.occurrences} - {None}
    others = series.exceptions(note, now_ms)  # the next first
    is_other, is_near = bool(others), bool(others) and others[0][0] - now_ms < 2 * WEEK_MS
    if note.due_at_ms in moved or rings_for_next(note) or (is_other and (is_near or has_end(note.repeats))):
        note = this_date(note)
    elif is_other:
        kept = tuple(each for each in note.occurrences if each.state not in series.EXCEPTIONS)
        note = note.model_copy(update={"occurrences": kept})
    first_ms, last_ms = note.due_at_ms or 0, ends_at(note) or 0
    at, today = local(first_ms, clock).date(), local(now_ms, zone).date()
    until = "" if is_for_a_month(note, now_ms) else under_way(note, now_ms, clock)
    if until and last_day(note) is not None and not is_series and days_from(last_ms, now_ms, clock) > 0:
        return replies.say(
            "coming_line", day=as_heading(until), line=note_line(undated(note), now_ms, zone, brief=True)
        )
    if until:
        line = note_line(note, now_ms, zone, under_ms=None if is_series else now_ms, brief=True)
        return replies.say("coming_line", day=heading(today, today, language), line=line)
    told = tells_day(note.text, first_ms, now_ms, clock) or tells_days(note.text, first_ms, last_ms, now_ms, clock)
    if told and not is_series:  # a weekday there tells the rhythm
        return note_line(note, now_ms, zone, brief=True)
    day, under_ms = heading(max(at, today), today, language), first_ms if at >= today else None
    if last_day(note) is not None and (note.ends_at_ms is not None or not note.due_exact):
        day = as_heading(days_text(first_ms, last_ms, now_ms, clock, language))
        if days_from(first_ms, now_ms, clock) == 1 and last_ms > first_ms:
            day = f"{heading(at, today, language)} {TO} {day_text(last_ms, now_ms, clock, language)}"
        note, under_ms = (note, first_ms) if note.repeats else (undated(note), None)
    return replies.say("coming_line", day=day, line=note_line(note, now_ms, zone, under_ms=under_ms, brief=True))


def loop_row(note: Note, now_ms: int, zone: str) -> Row:
    """[Done] [Tomorrow] [Drop] of one line; of a series this date or all.

    A note of a later day cannot be put off until tomorrow, nor a series that comes by then, nor an event be done before
    it was; a series whose last date is done waits for the next, as one that doesn't ring until its day.
    """
    payload, at_ms = {"note_id": note.note_id}, day_of(series.at_its_date(note, now_ms), now_ms)
    done = Button(
        replies.say("loop_done_once" if note.repeats and not is_one_matter(note) else "loop_done"), "loop_done", payload
    )
    later = Button(replies.say("ring_buttons.tomorrow"), "loop_snooze", payload)
    drop = Button(replies.say("ring_buttons.end" if note.repeats else "loop_drop"), "loop_drop", payload)
    is_now = at_ms is None or days_from(at_ms, now_ms, zone) <= 0
    is_over = series.last(note, "done") and not series.date_to_end(note, now_ms)
    if note.repeats and not note.rings and not is_at_rest(note):
        return (done, drop) if is_now and note.kind in TO_DO else (drop,)
    if is_over or is_at_rest(note):
        return (drop,)
    if note.kind == "event":
        return (done, drop) if is_now else (drop,)
    can_wait = is_now and (not note.repeats or a_day_later(note, now_ms))
    return (done, later, drop) if can_wait else (done, drop)


def ending(note: Note, how: Ending, now_ms: int) -> End:
    """The operation that ends a note; of a series [Done] ends the date that rang last or comes next."""
    coming = series.next_ring(note)
    date = series.date_to_end(note, now_ms) or (coming[0] if coming else "")
    if how == "done" and note.repeats and date:
        return End(number=note.number, how=how, occurrence=date)
    return End(number=note.number, how=how)


def putting_off(note: Note, now_ms: int, zone: str) -> Operation:
    """The operation that puts a note off until tomorrow: what rang, and a date of a series, rings then at its hour."""
    if note.rings and (note.repeats or (waits_for_word(note) and series.last(note, "rang"))):
        return operation_for(note, date_at_hand(note), "tomorrow", now_ms)
    return Change(number=note.number, fields={"snoozed_until_ms": tomorrow_ms(now_ms, zone)})


# --- what is open, and ending it: for the console and the commands ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenMatter:
    """One thing that is open, as the console and the commands show it."""

    session_id: str
    loop: OpenLoop
    words: str


async def read_open(memory: ConversationMemory, conversation_id: str) -> list[OpenMatter]:
    """Open matters of a conversation, in the order of /loops. Raises `StorageUnavailable`."""
    now_ms = memory.clock.now_ms()
    ledger = await memory.ledgers.read(conversation_id)
    return [
        OpenMatter(note.session_id or "", open_loop(note, now_ms), note_line(note, now_ms, note.time_zone))
        for note in agenda(ledger, now_ms)
    ]


async def end_open(
    memory: ConversationMemory, conversation_id: str, note_id: str, how: Ending, *also: Statement
) -> None:
    """End a note, by an operator's hand. Raises KeyError when it is not open any more, `StorageUnavailable`."""
    note = (await memory.ledgers.read(conversation_id)).by_id(note_id)
    if note is None:
        raise KeyError(note_id)
    by = Actor("operator", memory.clock.now_ms())
    [outcome] = await memory.change(conversation_id, [ending(note, how, by.at_ms)], by, *also)
    if not isinstance(outcome, Applied):
        raise KeyError(note_id)


# --- feature --------------------------------------------------------------------------------------------------------


class Loops:
    """Lists open notes and ends them; the list, the change and the button's use are one transaction."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._view = View("loop", self._listing)
        self.commands: dict[str, Command] = {"loops": self.overview}
        self.actions: dict[str, Action] = {
            "loop_open": self._open,
            "loop_done": self._done,
            "loop_drop": self._drop,
            "loop_snooze": self._snooze,
            "loops_page": self._page,
        }

    async def overview(self, envelope: Envelope) -> None:
        """List the open notes, or those about some words; in private say once that those of groups stand there."""
        also, *told = await self._elsewhere(envelope)
        view = View("loop", partial(self._listing, words=envelope.arguments))
        await show(self._services, envelope, view, also, *told)

    async def _elsewhere(self, envelope: Envelope) -> tuple[str, *tuple[Statement, ...]]:
        """The sentence on what stands in groups, and its mark; "" for who was told, and who has nothing open there."""
        people, user_id = self._services.people, envelope.user_id
        if not envelope.private or user_id is None or (await people.choices(user_id)).get(TOLD_OF_GROUPS):
            return ("",)
        titles = await people.groups_with_open_notes(self._services.me.bot_id, user_id)
        if not titles:
            return ("",)
        told = await people.choose(user_id, **{TOLD_OF_GROUPS: True})
        return replies.say("loops_elsewhere", groups=", ".join(titles[:SHOWN_GROUPS])), told

    async def _page(self, tap: Tap) -> bool:
        return await turn_page(self._services, tap, self._view)

    async def _open(self, tap: Tap) -> bool:
        return await open_line(self._services, tap, self._view)

    async def _done(self, tap: Tap) -> bool:
        return await self._end(tap, "done")

    async def _drop(self, tap: Tap) -> bool:
        return await self._end(tap, "dropped")

    async def _end(self, tap: Tap, how: Ending) -> bool:
        note = await find_note(self._services, tap, self._view)
        if note is None:
            return True
        said = replies.say("reminder_done_text" if how == "done" else "loop_dropped", title=name_of(note))
        operation = ending(note, how, self._services.clock.now_ms())
        return await change_listed(self._services, tap, operation, self._view, said)

    async def _snooze(self, tap: Tap) -> bool:
        """Put it off until tomorrow morning."""
        note = await find_note(self._services, tap, self._view)
        if note is None:
            return True
        services, here = self._services, tap.envelope
        zone = (await services.people.clock(here.conversation_id, here.user_id)).name
        operation = putting_off(note, services.clock.now_ms(), zone)
        said = replies.say("loop_put_off", title=name_of(note))
        return await change_listed(services, tap, operation, self._view, said)

    def _listing(self, ledger: Ledger, zone: str, words: str = "") -> Listing | OutgoingMessage:
        """The list of what holds the words; where nothing open does all of it, which its head says."""
        now_ms = self._services.clock.now_ms()
        listed = [*agenda(ledger, now_ms), *dates_to_come(ledger, now_ms)] if words else []
        found = looked_up(listed, words, now_ms, zone)
        listing = loop_list(found or ledger, now_ms, zone, self._services.personas.plays)
        if not words or found or not isinstance(listing, Listing):
            return listing
        return replace(listing, head=replies.say("loops_none_of", words=shorten(words, WORDS_CHARS)))
