"""The buttons of a reminder, and the effect of a tap on its note. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, Literal

from bot import replies
from bot.dates import clock_text, day_text, days_from, hour_text, local, tomorrow_ms, when_text
from bot.delivery.outbox import Button
from bot.lines import name_of, note_line, say_in, with_remarks
from bot.rings import this_date
from memory.ledger import series
from memory.ledger.own_dates import at_next_date, due_at, has_own_dates, is_between_rings
from memory.ledger.rules import DAY_CHARS, LOCAL, is_several_a_day, read_local
from memory.ledger.types import TO_DO, Change, End, Move, Note, Operation
from memory.ledger.views import DAY_MS, ends_at, is_past

MINUTE_MS: Final = 60_000

Choice = Literal["done", "hour", "half_hour", "quarter", "five", "tomorrow", "cancel", "skip", "go_on"]
MINUTES: Final[dict[Choice, int]] = {"hour": 60, "half_hour": 30, "quarter": 15, "five": 5}
"""How long a date sleeps by each choice; of these the longest is offered that is over before the thing itself."""


def moment_text(at_ms: int, now_ms: int, zone: str) -> str:
    """`at 08:00` of today, else the day, too: `yesterday at 20:00`."""
    language = replies.spoken()
    if days_from(at_ms, now_ms, zone) == 0:
        return hour_text(at_ms, zone, language)
    return when_text(at_ms, now_ms, zone, language)


def rang_row(note: Note, occurrence: str, now_ms: int) -> tuple[Button, ...]:
    """[Done] [In an hour] [Tomorrow] for a date that rang; [In 30 min] where the thing itself is within the hour."""
    choices: tuple[Choice, ...] = ("done", *_delay(note, occurrence, now_ms), *_tomorrow(note, occurrence, now_ms))
    return tuple(button(note, occurrence, choice) for choice in choices)


def _delay(note: Note, occurrence: str, now_ms: int) -> tuple[Choice, ...]:
    """The longest delay, at most an hour, that ends before the thing itself; none behind an event of another day."""
    begins_ms, from_ms = _begins_ms(note, occurrence), _sleeps_from(note, occurrence, now_ms)
    own_ms = _date_ms(note, occurrence)
    if (
        note.kind == "event"
        and own_ms is not None
        and days_from(max(own_ms, ends_at(note) or 0), now_ms, note.time_zone) < 0
    ):
        return ()
    if begins_ms is None or begins_ms <= from_ms:
        return ("hour",)
    return next(((each,) for each, minutes in MINUTES.items() if from_ms + minutes * MINUTE_MS < begins_ms), ())


def _tomorrow(note: Note, occurrence: str, now_ms: int) -> tuple[Choice, ...]:
    """The delay until tomorrow; none behind an event, which is over by then, nor where the series comes by then."""
    to_ms, own_ms = put_off_to(note, occurrence, "tomorrow", now_ms), _date_ms(note, occurrence)
    is_behind = note.kind == "event" and own_ms is not None and to_ms >= own_ms + DAY_MS * (not note.due_exact)
    return () if is_behind or _comes_by(note, occurrence, to_ms) else ("tomorrow",)


def _comes_by(note: Note, occurrence: str, at_ms: int) -> bool:
    """Whether the rule has another date behind this one by a moment, or this is the last of one that comes daily."""
    rule, at = series.dates_by_rule(note), read_local(occurrence)
    if rule is None:
        return False
    if (after := rule.after(at)) is None:
        before = rule.before(at)
        return before is not None and at - before <= timedelta(days=1)
    return series.at_ms_of(f"{after:{LOCAL}}", note.time_zone) <= at_ms


def _begins_ms(note: Note, occurrence: str) -> int | None:
    """When the thing itself is at a date of a note; None where it has no hour."""
    return _date_ms(note, occurrence) if note.due_exact else None


def _date_ms(note: Note, occurrence: str) -> int | None:
    """When a date of a note is due; the day's beginning where it has no hour."""
    return due_at(note, series.in_state(note, occurrence, "rang")) if has_own_dates(note) else note.due_at_ms


def list_row(note: Note, now_ms: int) -> tuple[Button, ...]:
    """Buttons of a line of /reminders: to the date that rang last and was not called done, else the next."""
    occurrence = date_at_hand(note)
    rang = series.last(note, "rang") or is_between_rings(note, occurrence)
    first: Choice = "skip" if note.repeats and not rang else "done"
    later = (*_delay(note, occurrence, now_ms), *a_day_later(note, now_ms))
    choices: tuple[Choice, ...] = ("go_on", "cancel") if note.is_paused else (first, *later, "cancel")
    labels: dict[Choice, str] = {"cancel": "end"} if note.repeats else {}
    if not (rang or note.is_paused):
        to_ms = put_off_to(note, occurrence, "tomorrow", now_ms)
        is_tomorrow = days_from(to_ms, now_ms, note.time_zone) == 1
        labels |= {each: f"{each}_later" for each in MINUTES}
        labels |= {"tomorrow": "tomorrow" if is_tomorrow else "day_later"}
    return tuple(
        button(note, occurrence, choice, label=labels.get(choice, choice), is_listed=True) for choice in choices
    )


def date_at_hand(note: Note) -> str:
    """The date of a note that the buttons of its line are about: the one that rang last and waits, else the next."""
    rang = series.last(note, "rang")
    return rang.original_local if rang else (series.next_ring(note) or (note.rings_from, 0))[0]


def a_day_later(note: Note, now_ms: int) -> tuple[Choice, ...]:
    """The delay until tomorrow of the date at hand; none to a day on which its series comes anyhow."""
    occurrence = date_at_hand(note)
    to_ms = put_off_to(note, occurrence, "tomorrow", now_ms)
    is_to_come = note.repeats and not series.last(note, "rang")
    if is_to_come and series.date_on(note, series.local_of(to_ms, note.time_zone)[:DAY_CHARS]):
        return ()
    return _tomorrow(note, occurrence, now_ms)


def button(note: Note, occurrence: str, choice: Choice, *, label: str = "", is_listed: bool = False) -> Button:
    """One button about one date of a note; a list that it stands under is shown again after the tap."""
    payload = {"note_id": note.note_id, "date": stamp_of(occurrence), "choice": choice, "listed": is_listed}
    return Button(replies.say(f"ring_buttons.{label or choice}"), "ring", payload)


def stamp_of(occurrence: str) -> int:
    """A local minute as a number (`202611291900`): a button carries no text that could be anybody's."""
    return int("".join(filter(str.isdigit, occurrence)) or 0)


def occurrence_of(stamp: int) -> str:
    """The local minute of such a number."""
    digits = f"{stamp:012}"
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:]}"


def operation_for(note: Note, occurrence: str, choice: Choice, now_ms: int) -> Operation:
    """The effect of a tap: [Done] ends that date alone, and the note when it has no other."""
    if choice == "done" and note.kind not in TO_DO and series.rings_again(note, occurrence):
        return End(number=note.number, occurrence=occurrence)
    if choice == "done" and note.kind == "event" and note.due_at_ms and not note.repeats and not is_past(note, now_ms):
        return Change(number=note.number, fields={"rings_from": ""})  # it is still to come
    if choice == "done":
        return End(number=note.number, occurrence=occurrence if note.repeats else "")
    if choice == "cancel":
        return cancelling(note)
    if choice == "go_on":
        return Change(number=note.number, fields={"snoozed_until_ms": None})
    to_ms = None if choice == "skip" else put_off_to(note, occurrence, choice, now_ms)
    return Move(number=note.number, occurrence=occurrence, to_ms=to_ms)


def is_seen_alone(note: Note, occurrence: str, choice: Choice, now_ms: int) -> bool:
    """Whether [Done] is about the ring alone: on its eve a birthday that comes each year is not over."""
    due_ms = _date_ms(note, occurrence) if note.repeats and has_own_dates(note) else None
    return choice == "done" and note.kind == "event" and due_ms is not None and due_ms > now_ms


def cancelling(note: Note) -> Operation:
    """The operation by which a note rings no more: a mere reminder is dropped, another note stays without its ring."""
    due_at_ms = at_next_date(note).due_at_ms
    if note.kind in TO_DO and (due_at_ms is None or due_at_ms == note.rings_at_ms):
        return End(number=note.number, how="dropped")
    return Change(number=note.number, fields={"rings_from": ""})


def put_off_to(note: Note, occurrence: str, choice: Choice, now_ms: int) -> int:
    """Until when a date sleeps: at most an hour, or until tomorrow at its hour; from now on, else from its own time.

    Tomorrow is before the hour of that day by which something is to be done, an hour where its own is behind that.
    """
    from_ms = _sleeps_from(note, occurrence, now_ms)
    if choice != "tomorrow":
        return from_ms + MINUTES[choice] * MINUTE_MS
    day = series.local_of(tomorrow_ms(from_ms, note.time_zone), note.time_zone)[:DAY_CHARS]
    to_ms = series.at_ms_of(f"{day}T{occurrence.partition('T')[2]}", note.time_zone)
    last_ms = (_begins_ms(note, occurrence) or 0) - MINUTES["hour"] * MINUTE_MS
    is_clipped = note.kind in TO_DO and last_ms < to_ms and from_ms == now_ms
    return last_ms if is_clipped and days_from(last_ms, now_ms, note.time_zone) > 0 else to_ms


def _sleeps_from(note: Note, occurrence: str, now_ms: int) -> int:
    if is_between_rings(note, occurrence):
        return now_ms
    return max(now_ms, series.moment_of(note, series.in_state(note, occurrence, "rang")))


def told(note: Note, after: Note, occurrence: str, choice: Choice, *, now_ms: int, zone: str) -> str:
    """The answer to a tap: `Ticked off: call Ana`, `I'll remind you again at 09:00: …`."""
    here, title, reader, zone = note.conversation_id, name_of(note), zone, note.time_zone
    if choice == "cancel":
        return told_off(after, now_ms, reader)
    if choice == "skip":
        if after.rings_at_ms is None:
            return replies.say("reminder_skipped", title=title)
        return replies.say("reminder_skipped_next", title=title, when=_day(after.rings_at_ms, now_ms, zone))
    if choice == "done":
        is_ahead = after.is_open and bool(after.due_at_ms) and not (after.repeats or is_past(after, now_ms))
        key = "reminder_seen" if is_ahead else "reminder_done_text"
        dose = [dose_text(note, occurrence)] if is_several_a_day(note.repeats) else []
        return replies.say(key, title=note_line(after, now_ms, reader) if is_ahead else with_remarks(title, dose))
    if choice == "go_on" and after.rings_at_ms is None:
        return say_in(here, "reminder_off", title=title)
    put_off = (each.moved_to_ms for each in after.occurrences if each.original_local == occurrence)
    next_ms = after.rings_at_ms if choice == "go_on" else next(put_off, None)
    return say_in(here, "reminder_snoozed_text", title=title, when=moment_text(next_ms or now_ms, now_ms, zone))


def dose_text(note: Note, occurrence: str) -> str:
    """The hour of one of several dates of a day."""
    at_ms = series.at_ms_of(occurrence, note.time_zone)
    return clock_text(local(at_ms, note.time_zone), replies.spoken())


def told_off(after: Note, now_ms: int, zone: str) -> str:
    """The sentence on a note that rings no more, with the days of a series that stays."""
    title = note_line(after, now_ms, zone, brief=True) if after.is_open and after.repeats else name_of(after)
    return say_in(after.conversation_id, "reminder_off", title=title)


def told_seen(note: Note, now_ms: int, zone: str) -> str:
    """The answer to [Done] on the eve of a date that comes all the same, with that date alone."""
    date = this_date(at_next_date(note, now_ms)) if note.repeats else note
    return replies.say("reminder_seen", title=note_line(date, now_ms, zone))


def told_unchanged(note: Note, occurrence: str) -> str:
    """The answer to [Done] that changes nothing: `Already ticked off: call Ana`, else that a later date rang since."""
    known = any(each.original_local == occurrence and each.state == "done" for each in note.occurrences)
    return replies.say("done_already" if known else "done_overtaken", title=name_of(note))


def _day(at_ms: int, now_ms: int, zone: str) -> str:
    return day_text(at_ms, now_ms, zone, replies.spoken())
