"""Which reminders move or end along with the matters that a message moves or ends, so that both tell the same. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bot.answers.offline.acknowledge import changes
from bot.answers.offline.gather import TOLD
from bot.answers.offline.material import Material
from bot.reminders.rules import Reminder, advance_reminder, move_to
from memory.language.sentences import lowered
from memory.notes.habits import GivenUp, given_up_in, is_given_up
from memory.notes.rearranged import reminded_of, says_all_of
from memory.notes.types import DAY_MS, Matter
from memory.ports import Statement
from memory.types import OpenLoop

AHEAD_MS: Final = 7 * DAY_MS
"""So long before a matter comes a reminder of it."""


def changes_matters(m: Material, now_ms: int) -> bool:
    """Return whether the message moves or ends anything that a reminder may have been set for."""
    return bool(_corrected(m, now_ms) or _ended(m) or _given_up(m))


def moves_of(m: Material, reminders: Sequence[Reminder], now_ms: int) -> Iterator[tuple[Reminder, Statement]]:
    """Yield each reminder that changes with what changes it: it moves with its matter, or ends with it."""
    moving = set[str]()
    for each in reminders:
        for statement in (*_moved(m, each, now_ms), *_over(m, each, now_ms)):
            moving.add(each.job_id)
            yield each, statement
    given_up = _given_up(m)
    for each in reminders:
        if given_up and each.job_id not in moving and is_given_up(given_up, each.title, m.language):
            yield each, advance_reminder(each, "cancel", now_ms)


def stopped_by(m: Material, moved: Iterable[tuple[Reminder, Statement]]) -> tuple[str, ...]:
    """Return the titles of those that end since the person does no longer what they are for."""
    given_up = _given_up(m)
    return tuple(each.title for each, _ in moved if given_up and is_given_up(given_up, each.title, m.language))


def _corrected(m: Material, now_ms: int) -> list[tuple[Matter, int]]:
    """Return what was put right and is ahead, with its day."""
    return [(matter, matter.due_at_ms) for matter in m.corrected if matter.due_at_ms and matter.due_at_ms > now_ms]


def _ended(m: Material) -> list[OpenLoop]:
    return [loop for loop in changes(m)[1] if loop.owner == "assistant"]


def _moved(m: Material, reminder: Reminder, now_ms: int) -> Iterator[Statement]:
    for matter, due_at_ms in _corrected(m, now_ms):
        if reminder.due_at_ms != due_at_ms and reminded_of(reminder.title, [matter], m.language):
            yield move_to(reminder, due_at_ms, now_ms)
        at_ms = _along(reminder, matter, due_at_ms, m)
        if at_ms is not None and at_ms > now_ms:
            yield move_to(reminder, at_ms, now_ms)


def _over(m: Material, reminder: Reminder, now_ms: int) -> Iterator[Statement]:
    for loop in _ended(m):
        if not reminder.repeats and says_all_of(reminder.title, loop.text, m.language):
            yield advance_reminder(reminder, "cancel" if loop.status == "dropped" else "finish", now_ms)


def _along(reminder: Reminder, matter: Matter, due_at_ms: int, material: Material) -> int | None:
    """Return when a reminder comes that was set for some time before what moved; None for one of something else."""
    old = material.were.get(matter.matter_id)
    if old is None or not old.due_at_ms or "reminds" in old.signs or reminder.repeats or not reminder.due_at_ms:
        return None
    ahead_ms = old.due_at_ms - reminder.due_at_ms
    of_it = 0 <= ahead_ms <= AHEAD_MS and due_at_ms != old.due_at_ms
    return due_at_ms - ahead_ms if of_it and says_all_of(reminder.title, old.text, material.language) else None


def _given_up(material: Material) -> GivenUp | None:
    """Return what the message says that the person does no longer."""
    told = material.request.kind in TOLD and not material.third_party
    lower = material.language.mended(lowered(material.text))
    return given_up_in(lower, material.language) if told else None
