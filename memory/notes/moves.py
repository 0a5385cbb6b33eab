"""What a clause moves: another day of the same matter, or of somebody's. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memory.language.language import Language
from memory.language.sentences import stems_of, words_of
from memory.notes.clauses import Clause
from memory.notes.noted import Noted, shares_most, worded
from memory.notes.telling import telling_stems
from memory.notes.types import DAY_MS

_MOVED_STEMS, _MOVED_SHARE = 2, 0.6
_MOVE_MARKS = frozenset({"correct", "moves", "extends"})
_MOVED_DAYS, _MOVED_NEAR_DAYS = 45, 14
"""How far the new day may be, and how far where nothing but the day tells what is meant."""


def is_moved_by_name(clause: Clause, noted: Noted) -> bool:
    """Return whether who is named in both has another day now, as the clause says; of an event it must say of which."""
    shared = worded(clause.stems & noted.stems)
    same = shared - noted.names or "event" not in clause.cues
    return bool(shared & noted.names and same and _MOVE_MARKS & clause.cues) and _has_another_day(clause, noted)


def is_moved(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause gives another day to the same event, in whatever words."""
    said, known = worded(clause.stems), worded(noted.stems)
    shared = said & known
    much = len(shared) >= _MOVED_STEMS and len(shared) / min(len(said), len(known)) >= _MOVED_SHARE
    return much and _has_another_day(clause, noted)


def _has_another_day(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause tells of another day than that of an event that is still ahead."""
    if clause.due is None or noted.due_at_ms is None or not noted.is_event or clause.asks or clause.due.is_hour_alone:
        return False
    return abs(clause.due.due_at_ms - noted.due_at_ms) >= DAY_MS / 2 and noted.due_at_ms >= clause.at_ms


def is_reversed(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause says what somebody does after all of whom the note says how it was before."""
    if "reverses" not in clause.cues or clause.asks or noted.lasts or noted.place == clause.place:
        return False
    shared = worded(clause.stems & noted.stems)
    return bool(clause.names & noted.names) and len(shared) >= _MOVED_STEMS


def moved_alone(clause: Clause, noted: Sequence[Noted], beside: frozenset[str], language: Language) -> list[str]:
    """Return the key of the one dated matter to which a clause gives another day: "the show got moved to the 12th".

    `beside` are the stems of what stands around the clause: they tell what is meant where it names nothing itself
    ("it's the 28th now"). Empty where nothing or more than one thing can be meant.
    """
    marks = _MOVE_MARKS & clause.cues
    if not marks or clause.due is None or clause.asks or clause.due.is_hour_alone:
        return []
    day = clause.due.due_at_ms
    dated = [
        each
        for each in noted
        if not each.lasts
        and each.place != clause.place
        and each.due_at_ms is not None
        and each.due_at_ms > clause.at_ms
        and DAY_MS / 2 <= abs(each.due_at_ms - day) <= _MOVED_DAYS * DAY_MS
    ]
    plain = language.cues["correct"].sub(" ", clause.lower) if "correct" in marks else clause.lower
    said = worded(telling_stems(words_of(plain), language))
    named = stems_of(tuple(clause.names), language) if "event" in clause.cues else frozenset()
    meant = shares_most(said if "correct" in marks else said - named, dated)
    if not said:
        near = [each for each in dated if abs((each.due_at_ms or 0) - day) <= _MOVED_NEAR_DAYS * DAY_MS]
        meant = shares_most(worded(beside), dated) or near
    return [meant[0].key] if len(meant) == 1 else []


def rescheduled(clause: Clause, noted: Sequence[Noted], language: Language) -> list[str]:
    """Return the key of what the clause moves to another day by its name: "snooze the vet till Tuesday"."""
    cue = language.cues.get("reschedules")
    asked = cue.search(clause.lower) if cue and clause.due else None
    if asked is None or clause.due is None or clause.asks:
        return []
    day_from, until_from = min(clause.due.spans)[0], asked.end() - len(asked.group().split()[-1])
    if day_from < until_from or len(clause.lower[asked.end() : day_from].split()) > 1:
        return []
    meant = shares_most(worded(clause.stems), [each for each in noted if not each.lasts])
    return [meant[0].key] if len(meant) == 1 else []


def is_set_aside(clause: Clause, noted: Noted, language: Language) -> bool:
    """Return whether the clause puts off what is due later than the day that it names: the due day stays."""
    if clause.due is None or noted.due_at_ms is None:
        return False
    return language.has("sets_aside", clause.lower) and clause.due.due_at_ms < noted.due_at_ms


def put_off(clause: Clause, noted: Sequence[Noted]) -> list[str]:
    """Return the keys of what has a later day now, the newest last: what was due on the day that was said most often.

    "They gave me until the 7th" does not say what for; "more time for the report" moves that alone.
    """
    if "extends" not in clause.cues or clause.due is None:
        return []
    until = clause.due.due_at_ms
    mine = [each for each in noted if each.todo and each.mine]
    dated = [each for each in mine if each.due_at_ms and clause.at_ms < each.due_at_ms < until]
    named = shares_most(worded(clause.stems), mine)
    if named:
        return [each.key for each in dated if each in named]
    days = Counter((each.due_at_ms or 0) // DAY_MS for each in reversed(dated))
    often = max(days, key=lambda day: days[day], default=None)
    return [each.key for each in dated if (each.due_at_ms or 0) // DAY_MS == often]
