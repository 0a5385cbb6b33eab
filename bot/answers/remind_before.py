"""Reminders so long before something whose time was told already: "an hour before", "30 mins before the gym". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.answers.responder import Ask
from bot.reminders.rules import Reminder, is_late
from bot.reminders.wished import wish_of
from bot.reminders.words import begin_of_day, words_for
from memory.language.due_dates import DAY_MS, ReminderRequest, find_due, parse_when, reminder_request, says_day
from memory.language.language import Language
from memory.language.sentences import lowered, plain_sentence
from memory.notes.noted import stems_of_text
from memory.notes.quoting import JOINT
from memory.notes.rearranged import says_all_of
from memory.notes.types import Matter

RECENT_TURNS: Final = 3
"""So far back lies what "an hour before" is said of when nothing is named."""
NAMED: Final = 0.5
"""Share of the words with which something is named that it must have itself."""
BESIDE_WORDS: Final = 1
"""At most this many words that mean something may stand beside the hour that was asked for."""


def with_known_time(found: ReminderRequest, ask: Ask, matters: Sequence[Matter], language: Language) -> ReminderRequest:
    """Return the reminder at the time of what it comes before; with its day alone where no hour was told.

    As it was where nothing is known of which it can be said.
    """
    if found.due_at_ms is not None or not found.ahead_ms or found.day_ms is not None:
        return found
    matter = _meant(found.what, ask, matters, language)
    if matter is None or matter.due_at_ms is None:
        return found
    found = replace(found, what=found.what or _called(matter, ask.time_zone, language))
    if not matter.due_exact and found.ahead_ms < DAY_MS:
        return replace(found, day_ms=matter.due_at_ms)
    return _ahead_of(found, matter.due_at_ms, ask.now_ms)


def with_told_hour(begun: ReminderRequest, ask: Ask, language: Language) -> ReminderRequest | None:
    """Return the reminder that an answer to "At what time is it?" completes, None where it tells no hour."""
    for said in (ask.text, f"{words_for(language.code).at} {ask.text}"):
        from_ms = ask.now_ms
        if begun.day_ms is not None and not says_day(said, ask.now_ms, ask.time_zone, language):
            from_ms = begin_of_day(begun.day_ms, ask.time_zone) - 1
        due = find_due(said, from_ms, ask.time_zone, language)
        timed = parse_when(said, from_ms, ask.time_zone, language)
        if due is None or not due.exact or timed is None:
            continue
        beside = plain_sentence(timed[1].lower(), language).content
        if len(beside) <= BESIDE_WORDS:
            return _ahead_of(replace(begun, what=begun.what or timed[1]), due.due_at_ms, ask.now_ms)
    return None


def _ahead_of(found: ReminderRequest, due_at_ms: int, now_ms: int) -> ReminderRequest:
    """Return the reminder so long before; without a time where that is over already."""
    at_ms = due_at_ms - found.ahead_ms
    return ReminderRequest(at_ms if at_ms > now_ms else None, found.what)


def _called(matter: Matter, zone: str, language: Language) -> str:
    """Return what a matter is about without its time; behind what it leans on, where it says that itself."""
    for said in reversed(matter.text.split(JOINT)):
        request = reminder_request(said, matter.said_at_ms, zone, language)
        timed = parse_when(said, matter.said_at_ms, zone, language)
        what = request.what if request else timed[1] if timed else said
        if what:
            return what
    return matter.text


def _meant(what: str, ask: Ask, matters: Sequence[Matter], language: Language) -> Matter | None:
    """Return what is named, or what was spoken of last; of what takes place rather than of another reminder of it."""
    coming = [
        each
        for each in matters
        if each.status == "open"
        and each.due_at_ms is not None
        and not is_late(each.due_at_ms, ask.now_ms, ask.time_zone, exact=each.due_exact)
    ]
    stems = {each.matter_id: stems_of_text(each.text, language) for each in coming}
    about = stems_of_text(what, language)
    if about:
        most = max((len(about & said) for said in stems.values()), default=0)
        coming = [each for each in coming if len(about & stems[each.matter_id]) == most >= NAMED * len(about)]
    else:
        turns = ask.packet.history[-RECENT_TURNS:]
        recent, told = {turn.turn_id for turn in turns}, stems_of_text(" ".join(t.user_text for t in turns), language)
        near = [each for each in coming if recent.intersection(each.turn_ids)]
        named = (each for each in coming if len(told & stems[each.matter_id]) >= NAMED * len(stems[each.matter_id]))
        coming = near or [each for each in named if stems[each.matter_id]]
    return max(coming, key=lambda each: ("reminds" not in each.signs, each.said_at_ms, each.matter_id), default=None)


def moves_an_event(ask: Ask, reminders: Sequence[Reminder], matters: Sequence[Matter], language: Language) -> bool:
    """Return whether the message moves what takes place itself, and not the reminder that comes before it.

    "Move the dentist to Friday" is the dentist; what was set for some time before it goes along.
    """
    wish = wish_of(ask.text, language)
    if wish is None or wish.kind != "move" or words_for(language.code).reminder.search(lowered(wish.what)):
        return False
    about = stems_of_text(wish.what, language)
    events = [
        each
        for each in matters
        if each.due_at_ms is not None
        and "reminds" not in each.signs
        and each.status == "open"
        and about <= stems_of_text(each.text, language)
    ]
    return bool(about) and any(
        says_all_of(reminder.title, event.text, language)
        and ask.now_ms < (reminder.due_at_ms or 0) <= (event.due_at_ms or 0)
        for reminder in reminders
        for event in events
        if not reminder.repeats
    )
