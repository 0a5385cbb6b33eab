"""The dates of notes that ring now, and the messages about them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot import replies
from bot.dates import days_from, days_text, for_text, local, to_do_text, when_text
from bot.delivery.outbox import Button, Mention, OutgoingMessage, Target
from bot.lines import name_of, with_remarks
from bot.reminders.ringing import MINUTE_MS, dose_text, moment_text, rang_row
from bot.told_days import tells_day, tells_hour
from memory.ledger import series
from memory.ledger.own_dates import due_at, has_own_dates
from memory.ledger.rules import is_several_a_day
from memory.ledger.spans import last_day, over_at
from memory.ledger.types import ASSISTANT, EVERYONE, TO_DO, USER, Note, Ring
from memory.ledger.views import is_past

LATE_MS: Final = 5 * 60_000
"""A reminder this much behind its time says so."""
TOLD_APART_MS: Final = 5 * 60_000
"""Something that is later than its reminder by so much has its own hour told."""
TOGETHER: Final = 3
"""When more than this many are due at once (after a long downtime), they come as one list."""
PAGE: Final = 6
"""Lines of one list."""
NOON: Final = 12
HALF_DAY_MS: Final = NOON * 60 * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Due:
    """A date of a note that is to ring now."""

    note: Note
    occurrence: str
    """Its `original_local`."""
    at_ms: int
    who: tuple[Mention, ...] = ()
    """Whom of a group it is for."""

    @property
    def ring(self) -> Ring:
        """The statement that writes down that it rang."""
        return Ring(number=self.note.number, occurrence=self.occurrence, rings_at_ms=self.at_ms)


def due_of(note: Note, now_ms: int) -> Due | None:
    """The date of a note that is due by now, None when none is."""
    found = series.next_ring(note)
    return Due(note, *found) if found and found[1] <= now_ms else None


def whom(note: Note, names: Mapping[int, str]) -> tuple[Mention, ...]:
    """Whom of a group a reminder is for: who has to act, all of them where all have, else who set it."""
    if note.owner == EVERYONE:
        return tuple(Mention(name, user_id) for user_id, name in sorted(names.items(), key=lambda item: item[1]))
    if note.owner in {"", USER, ASSISTANT}:
        setter = names.get(note.user_id or 0)
        return (Mention(setter, note.user_id),) if setter else ()
    called = [user_id for user_id, name in names.items() if _is_called(name, note.owner)]
    return (Mention(note.owner, called[0] if len(called) == 1 else None),)


def _is_called(name: str, owner: str) -> bool:
    """Whether somebody of this name is meant: by all of it, or by its first word."""
    plain = owner.casefold()
    return plain in {name.casefold(), name.casefold().split(" ", maxsplit=1)[0]}


def _for_whom(title: str, due: Due) -> str:
    """The matter of a reminder behind the names of whom it is for; the only one, where it says it, not said again."""
    names = ", ".join(each.name for each in due.who)
    if names and due.note.owner == EVERYONE:
        everyone = replies.say("lines.everyone")
        names = f"{everyone[0].upper()}{everyone[1:]} ({names})"
    elif names in title:
        return title
    return replies.say("for_whom", names=names, title=title)


def target_of(conversation_id: str, user_id: int | None) -> Target:
    """The chat of a reminder. Raises ValueError for a conversation that is none of Telegram's."""
    _, bot_id, chat_id, thread_id = conversation_id.split(":")
    return Target(int(bot_id), conversation_id, int(chat_id), int(thread_id) or None, user_id)


def messages_for(due: Sequence[Due], now_ms: int) -> list[tuple[OutgoingMessage, list[Due]]]:
    """Messages about due dates of one conversation and person, by the last of each: one message each, or one list."""
    due = sorted(due, key=lambda each: _rang_ms(each, now_ms))
    if len(due) <= TOGETHER:
        return [(_message(each, now_ms), [each]) for each in due]
    pages = [due[start : start + PAGE] for start in range(0, len(due), PAGE)]
    return [(_together(part, now_ms), list(part)) for part in pages]


def _message(due: Due, now_ms: int) -> OutgoingMessage:
    late = f"\n({_late(due, now_ms)})" if now_ms - due.at_ms >= LATE_MS else ""
    text = replies.say("reminder", title=_for_whom(with_remarks(due.note.text, _hour_of(due, now_ms)), due)) + late
    row = rang_row(due.note, _latest(due, now_ms), now_ms)
    return OutgoingMessage(text, buttons=(row,), anyone_may_tap=bool(due.who), mentions=due.who)


def _hour_of(due: Due, now_ms: int) -> list[str]:
    """The time of the thing itself, where it is not the reminder's, or that it was; nothing that its words tell.

    "At 2:15" tells a quarter past two in the afternoon, too: it is hardly in the night that one is reminded of it.
    """
    note, language = _at_its_date(due, now_ms), replies.spoken()
    at_ms, zone = note.due_at_ms, note.time_zone
    if is_several_a_day(note.repeats) and (dose := _dose(due, now_ms)):
        return [dose]
    if at_ms is None or at_ms - _rang_ms(due, now_ms) < TOLD_APART_MS:
        return []
    if not note.due_exact:
        return _day_of(note, at_ms, _rang_ms(due, now_ms), now_ms)
    half_ms = HALF_DAY_MS if local(at_ms, zone).hour > NOON else 0
    tells = any(tells_hour(note.text, each, zone) for each in (at_ms, at_ms - half_ms))
    is_here = days_from(at_ms, _rang_ms(due, now_ms), zone) == 0 and days_from(at_ms, now_ms, zone) == 0
    if tells and (is_here or tells_day(note.text, at_ms, now_ms, zone)):
        return []
    until_ms = over_at(note, at_ms)
    if note.kind in TO_DO and until_ms is None and not tells and not is_past(note, now_ms):
        return [to_do_text(at_ms, now_ms, zone, language, hour_alone=days_from(at_ms, now_ms, zone) == 0)]
    when = when_text(at_ms, now_ms, zone, language, exact=not tells, until_ms=None if tells else until_ms)
    return [_as_over(note, when, now_ms)]


def _dose(due: Due, now_ms: int) -> str:
    """The hour that one of several dates of a day is for, where it was put off: the next may come in a minute."""
    at_ms, zone = series.at_ms_of(_latest(due, now_ms), due.note.time_zone), due.note.time_zone
    if abs(_rang_ms(due, now_ms) - at_ms) < LATE_MS:
        return ""
    if days_from(at_ms, now_ms, zone) == 0:
        return replies.say("lines.for_hour", hour=dose_text(due.note, _latest(due, now_ms)))
    return for_text(at_ms, now_ms, zone, replies.spoken(), exact=True)


def _as_over(note: Note, when: str, now_ms: int) -> str:
    """The time of a thing, in the past where that is over: a reminder that comes late."""
    if not is_past(note, now_ms):
        return when
    return replies.say("lines.late" if note.kind in TO_DO else "lines.was", when=when)


def _day_of(note: Note, at_ms: int, rang_ms: int, now_ms: int) -> list[str]:
    """The day of a thing without an hour, but where that is the day on which it was to ring and rings."""
    days, zone = days_from(at_ms, now_ms, note.time_zone), note.time_zone
    if tells_day(note.text, at_ms, now_ms, zone) or (days <= 0 and days_from(at_ms, rang_ms, zone) == 0):
        return []
    if days >= 0 or last_day(note) is not None:
        return [_for_day(note, at_ms, now_ms)]
    return [_as_over(note, when_text(at_ms, now_ms, zone, replies.spoken(), exact=False), now_ms)]


def _at_its_date(due: Due, now_ms: int) -> Note:
    """The note with the time of the date that rings, of several that were missed the last."""
    date = series.in_state(due.note, _latest(due, now_ms), "rang")
    has_own = due.note.repeats and has_own_dates(due.note)
    return due.note.model_copy(update={"due_at_ms": due_at(due.note, date)}) if has_own else due.note


def _for_day(note: Note, at_ms: int, now_ms: int) -> str:
    """The day to come of a note without an hour: an event's `tomorrow`, `by tomorrow` of something to do."""
    zone, language, last_ms = note.time_zone, replies.spoken(), last_day(note)
    if last_ms is not None:
        return days_text(at_ms, last_ms, now_ms, zone, language)
    if note.kind in TO_DO:
        return for_text(at_ms, now_ms, zone, language, exact=False, key="by")
    return when_text(at_ms, now_ms, zone, language, exact=False)


def _together(due: Sequence[Due], now_ms: int) -> OutgoingMessage:
    late = [now_ms - each.at_ms >= LATE_MS for each in due]
    lines = [
        f"{number}. {_for_whom(with_remarks(name_of(each.note), [*_hour_of(each, now_ms), *told]), each)}"
        for number, each in enumerate(due, 1)
        for told in [[_late(each, now_ms)] if late[number - 1] else []]
    ]
    who = tuple(dict.fromkeys(mention for each in due for mention in each.who))
    numbers = tuple(
        Button(str(number), "reminder_open", {"note_id": each.note.note_id, "offset": 0})
        for number, each in enumerate(due, 1)
    )
    text = "\n".join(
        [replies.say("reminders_missed" if all(late) else "reminders_late"), *lines, "", replies.say("reminders_foot")]
    )
    return OutgoingMessage(text, buttons=(numbers,), anyone_may_tap=bool(who), mentions=who)


def _late(due: Due, now_ms: int) -> str:
    """The moment for which the last date that was missed was set; of today the hour alone."""
    return replies.say("was_due", when=moment_text(_rang_ms(due, now_ms), now_ms, due.note.time_zone))


def _rang_ms(due: Due, now_ms: int) -> int:
    return series.moment_of(due.note, series.in_state(due.note, _latest(due, now_ms), "rang"))


def _latest(due: Due, now_ms: int) -> str:
    """The last date by now: those missed before it are made up for by the same message, whose buttons are about it."""
    return series.skip_missed(due.note, due.occurrence, now_ms)
