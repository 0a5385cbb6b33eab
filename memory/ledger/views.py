"""Views of a ledger, each in its order: every list, page and prompt block begins here. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from memory.ledger import series
from memory.ledger.own_dates import at_next_date, has_run_out, is_taken_back, otherwise
from memory.ledger.types import ASSISTANT, NAMELESS, TO_DO, USER, Note, is_anothers
from memory.text import asks_at_the_end
from memory.zones import later, zone_of

DAY_MS: Final = 86_400_000
FADES_MS: Final = 4 * DAY_MS
"""An event is asked about for so long after its day; then no prompt begins with it any more."""
ROUTINE_FADES_MS: Final = DAY_MS // 2
"""The same of one with an end that weighs little: a shift is over with its last hour."""
WEIGHS: Final = 0.7
"""From this weight on a note is one that the person would mind to be without."""
BEGUN_MS: Final = series.GOES_ON // timedelta(milliseconds=1)
"""An event whose end nobody said is on, not over, for so long after its hour."""
HALF_LIFE_DAYS: Final = 21.0
"""A note that nobody spoke of counts half after so long."""
SOON_MS: Final = 7 * DAY_MS
PLANNED_MS: Final = 14 * DAY_MS
"""Events of so many days stand by their days in a prompt: somebody who plans a week looks into the next one, too."""
LIMITS: Final = frozenset({"constraint", "preference"})
"""Kinds whose day is the last on which they hold."""
SCENE_WEIGHT: Final = 0.6
"""A story note of this weight is the scene in which the person stands; lighter ones are its threads."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which notes reach the model; a person's own lists show all."""

    persona: str = ""
    """Stories of other personas stay with them; the real world is shared."""
    session_id: str | None = None
    """Only notes of this session: after /fresh, in mode off, for another user of a group."""


EVERYTHING: Final = Scope()


def standing(notes: Iterable[Note], now_ms: int | None = None) -> list[Note]:
    """The notes that stand, in their order; at a moment a series that doesn't ring has its next date."""
    found = [note for note in notes if note.is_open]
    return found if now_ms is None else [series.at_its_date(note, now_ms) for note in found]


def within(notes: Iterable[Note], scope: Scope) -> list[Note]:
    """The notes that stand and belong to this scope."""
    return [note for note in standing(notes) if belongs(note, scope)]


def belongs(note: Note, scope: Scope) -> bool:
    """Whether a note, standing or not, belongs to this scope; one that was forgotten belongs to none."""
    if note.is_forgotten:
        return False
    return (note.is_real or note.persona == scope.persona) and scope.session_id in (None, note.session_id)


def forgotten_turns(notes: Iterable[Note]) -> frozenset[str]:
    """The turns on which a note rests that the person had forgotten: no model is told their words.

    They stay in the messages until those are deleted, too; a search for something to delete finds them.
    """
    return frozenset(turn_id for note in notes if note.is_forgotten for turn_id in note.turn_ids)


def forgotten(notes: Iterable[Note]) -> list[Note]:
    """Notes that were forgotten while their messages stay."""
    return [note for note in notes if note.is_forgotten and not note.is_wordless]


def forgotten_words(notes: Iterable[Note]) -> list[str]:
    """The texts of those."""
    return [note.text for note in forgotten(notes)]


def is_past(note: Note, now_ms: int) -> bool:
    """Whether its time is over: its hour, else its day, of several days the last; of a series that goes on, never."""
    last_ms = ends_at(note)
    if last_ms is None or (note.repeats and note.rings_at_ms is not None):
        return False
    if note.due_exact and note.ends_at_ms is None:
        return last_ms <= now_ms
    zone = zone_of(note.time_zone)
    return datetime.fromtimestamp(last_ms / 1000, zone).date() < datetime.fromtimestamp(now_ms / 1000, zone).date()


def ends_at(note: Note) -> int | None:
    """The moment that it is due or, of what lasts, over; of several days the last; None when no time was said."""
    due_ms = note.due_at_ms
    over_ms = None if due_ms is None else later(due_ms, note.lasts_at(due_ms), note.time_zone)
    return over_ms if note.ends_at_ms is None else note.ends_at_ms


def while_on(note: Note, at_ms: int, now_ms: int) -> int:
    """The moment that counts for an event begun then: now, as long as it lasts."""
    return min(max(at_ms, now_ms), max(at_ms + note.lasts_at(at_ms), note.ends_at_ms or at_ms))


def is_over(note: Note, now_ms: int) -> bool:
    """Whether a note is an event that is over, a limit or fact until a day before, or a series to do that has run out.

    An event that has only just begun is not. Somebody else's promise for an hour is one some days behind that.
    """
    if note.kind == "promise" and note.due_exact and is_anothers(note):
        return is_past(note, now_ms - 3 * DAY_MS)
    if note.repeats and note.kind in TO_DO and has_run_out(note, now_ms):
        return True
    if note.due_at_ms is not None and (note.kind in LIMITS or (note.lasts and ends_at(note) != note.due_at_ms)):
        return is_past(note, now_ms)
    return note.kind == "event" and is_past(note, now_ms - (BEGUN_MS if note.due_exact and not note.lasts_ms else 0))


def has_faded(note: Note, now_ms: int) -> bool:
    """Whether it is an event that has been for a while: a search finds it, no list, prompt or return begins with it."""
    fades_ms = ROUTINE_FADES_MS if is_routine(note) else FADES_MS
    return is_over(note, now_ms) and now_ms - (ends_at(note) or 0) >= fades_ms


def is_routine(note: Note) -> bool:
    """Whether nobody asks how it went: an event from hour to hour, as a shift or a lesson, that does not weigh much."""
    return note.kind == "event" and note.lasts_ms > 0 and note.weight < WEIGHS


def comes_by_itself(note: Note, now_ms: int) -> bool:
    """Whether it is an event with a day that is not over: it rings as it may, nobody has to do it."""
    return note.kind == "event" and note.due_at_ms is not None and not is_over(note, now_ms)


def moment_of(note: Note) -> int | None:
    """When it is to happen, be done or ring next; None when no time was said."""
    return min((each for each in (note.due_at_ms, note.rings_at_ms) if each is not None), default=None)


def says_same(then: Note, now: Note) -> bool:
    """Whether a note says what it said then; a ring or a rest changes nothing of that, a date moved, or back, does."""
    plain = (now.text, now.due_at_ms, now.status) == (then.text, then.due_at_ms, then.status)
    return plain and otherwise(now) <= otherwise(then) and not is_taken_back(then, now)


def is_question(note: Note) -> bool:
    """Whether a note is put to the person as a question when it rings once, or was: `How did the operation go?`.

    A matter with a day of its own, and an open question, is none, nor is one to ask another (`Ask Ana: can she come?`).
    """
    rings_once = note.rings and not note.repeats and note.due_at_ms is None
    return rings_once and note.kind in {"task", "promise"} and ": " not in note.text and asks_at_the_end(note.text)


def is_snoozed(note: Note, now_ms: int) -> bool:
    """Whether the person put it off until a time to come."""
    return note.snoozed_until_ms is not None and note.snoozed_until_ms > now_ms


def to_do(notes: Iterable[Note], now_ms: int) -> list[Note]:
    """Notes that wait for somebody to act: by time, then the others; scenes of stories last."""
    return sorted((n for n in standing(notes, now_ms) if is_to_do(n, now_ms)), key=lambda n: _by_time(n, now_ms))


def is_to_do(note: Note, now_ms: int) -> bool:
    """Whether a note waits for somebody: a task, promise or question, one that rings, a project due within a week.

    Of fiction only the scene to go on with. An event comes by itself (`dates_to_come`), also one that rings before.
    """
    if is_story(note):
        return _is_scene(note)
    rings = is_reminder(note, now_ms) and not comes_by_itself(note, now_ms)
    return (note.kind in TO_DO and not is_over(note, now_ms)) or rings or _is_near(note, now_ms)


def agenda(notes: Iterable[Note], now_ms: int, *, for_model: bool = False) -> list[Note]:
    """Everything that /loops lists with a number: what waits for somebody, by time.

    A model is told work by the clock, too, the events of two weeks, and those that ring.
    """
    found = [note for note in standing(notes, now_ms) if is_on_agenda(note, now_ms, for_model=for_model)]
    return sorted(found, key=lambda note: _by_time(note, now_ms))


def is_on_agenda(note: Note, now_ms: int, *, for_model: bool = False) -> bool:
    """Whether a note has a number on /loops; work by the clock is on /tasks, a question to the person on /reminders."""
    if for_model:
        rings = not is_story(note) and is_reminder(note, now_ms)
        return is_to_do(note, now_ms) or rings or _is_planned(note, now_ms)
    return is_to_do(note, now_ms) and not (is_work(note) or is_question(note))


def is_work(note: Note) -> bool:
    """Whether a note that rings is work of the assistant's: a title and the words put to the model at its time."""
    return note.rings and note.kind == "task" and note.owner == ASSISTANT


def dates_to_come(notes: Iterable[Note], now_ms: int) -> list[Note]:
    """What has a day for which nobody has to act: real notes that `agenda` does not list, until they are over, by day.

    A series is at its next date; what holds until a day is no date any more once it does. With events of two days among
    its numbers .93 of the lines of /loops were about something open, without them .98.
    """
    dated = (_at_next_day(note, now_ms) for note in standing(notes, now_ms))
    found = [n for n in dated if n.due_at_ms is not None and not _sleeps(n, now_ms)]
    left = (n for n in found if not (is_story(n) or n.kind in {*TO_DO, *LIMITS} or is_on_agenda(n, now_ms)))
    still = (n for n in left if not (is_over(n, now_ms) if n.kind == "event" else is_past(n, now_ms)))
    return sorted((n for n in still if not _holds(n, now_ms)), key=lambda note: note.due_at_ms or 0)


def _holds(note: Note, now_ms: int) -> bool:
    """Whether something that is true from a day on, or for days, has begun: no event."""
    return note.lasts and (note.due_at_ms or 0) <= now_ms


def _at_next_day(note: Note, now_ms: int) -> Note:
    """A series that rings with its next day: that of its ring, where its own day is the last of all."""
    at_next = at_next_date(note, now_ms)
    if not note.repeats or note.rings_at_ms is None or note.due_at_ms is None or at_next is not note:
        return at_next
    return note.model_copy(update={"due_at_ms": note.rings_at_ms, "due_exact": True, "lasts_ms": 0})


def _sleeps(note: Note, now_ms: int) -> bool:
    """Whether a date is not to be spoken of yet: a series that rests, or one put off until before its time."""
    wakes_ms = note.snoozed_until_ms or 0
    return is_snoozed(note, now_ms) and bool(note.repeats or note.is_paused or wakes_ms <= (note.due_at_ms or 0))


def _is_planned(note: Note, now_ms: int) -> bool:
    is_ahead = note.kind == "event" and note.is_real and not is_over(note, now_ms)
    return is_ahead and note.due_at_ms is not None and note.due_at_ms - now_ms <= PLANNED_MS


def _is_scene(note: Note) -> bool:
    """Whether a story waits for its next move; one with a day, or a thread of it, waits for nobody."""
    if note.kind != "story" or note.due_at_ms is not None:
        return False
    return note.owner == ASSISTANT or (note.owner == USER and note.weight >= SCENE_WEIGHT)


def is_story(note: Note) -> bool:
    """Whether it is made up: a story, or anything inside one."""
    return note.kind == "story" or not note.is_real


def story_of(note: Note) -> str:
    """The name of the story that a note belongs to; "" for one without a name."""
    return "" if note.about in {note.persona, NAMELESS} else note.about


def _is_near(note: Note, now_ms: int) -> bool:
    """Whether it is a project that has its time within a week, until somebody says it is done."""
    return note.kind == "project" and note.due_at_ms is not None and note.due_at_ms - now_ms <= SOON_MS


def is_reminder(note: Note, now_ms: int) -> bool:
    """Whether a note rings still, rests, or rang and nobody said that it is done; no event that rang."""
    if note.rings_at_ms is not None or note.is_paused:
        return note.rings and not (note.is_paused and is_work(note))
    return note.rings and waits_for_word(note) and not is_over(note, now_ms)


def day_it_is_for(note: Note) -> int | None:
    """The moment whose day it stands under: its due time, else its ring; None when no time was said.

    A series stands under its next date: its due time is its last.
    """
    if note.due_at_ms is None or (note.repeats and note.rings_at_ms is not None):
        return note.rings_at_ms
    return note.due_at_ms


def hour_of(note: Note) -> int | None:
    """By which moment it stands inside its day: its hour, else that of its ring then, also once that is over."""
    rang, ring_ms = series.last(note, "rang"), note.rings_at_ms
    ring_ms = series.moment_of(note, rang) if ring_ms is None and rang else ring_ms
    if note.due_at_ms is None or ring_ms is None:
        return ring_ms if note.due_at_ms is None else note.due_at_ms
    days = {series.local_of(at_ms, note.time_zone)[:10] for at_ms in (note.due_at_ms, ring_ms)}
    return day_it_is_for(note) if note.due_exact or note.repeats or len(days) > 1 else ring_ms


def _by_time(note: Note, now_ms: int) -> tuple[bool, bool, bool, int, float, int]:
    at_ms = note.ends_at_ms if note.ends_at_ms and (note.due_at_ms or 0) <= now_ms else hour_of(note)
    return (is_story(note), is_snoozed(note, now_ms), at_ms is None, at_ms or 0, -note.weight, note.number)


def to_ring(notes: Iterable[Note]) -> list[Note]:
    """Notes that ring still, the earliest first."""
    found = (note for note in standing(notes) if note.rings_at_ms is not None)
    return sorted(found, key=lambda note: (note.rings_at_ms or 0, note.number))


def ringing(notes: Iterable[Note], now_ms: int) -> list[Note]:
    """The list of /reminders: notes that rang and are not done, those to ring, the earliest first, then the paused."""
    stand = [note for note in standing(notes) if is_reminder(note, now_ms)]
    return [*rang_last(stand, now_ms), *to_ring(stand), *(n for n in stand if n.is_paused and n.rings_at_ms is None)]


def rang_last(notes: Iterable[Note], now_ms: int) -> list[Note]:
    """Notes that rang, ring no more and are not done."""
    return [n for n in standing(notes) if n.rings_at_ms is None and not n.is_paused and is_reminder(n, now_ms)]


def waits_for_word(note: Note) -> bool:
    """Whether it rang and nobody has said yet that it is done; an event is no matter of anybody's doing."""
    return note.kind != "event" and series.last(note, "rang") is not None


def best_first(notes: Iterable[Note], now_ms: int) -> list[Note]:
    """Notes by how much they matter now: what a return, the prompt and the pages begin with."""
    return sorted(notes, key=lambda n: (-worth(series.at_its_date(n, now_ms), now_ms), -n.said_at_ms, n.number))


def worth(note: Note, now_ms: int) -> float:
    """The worth of a note now: its weight, a near day, a person who waits, and how lately it was said."""
    return sum(breakdown(note, now_ms).values())


def breakdown(note: Note, now_ms: int) -> dict[str, float]:
    """The parts of `worth`, by name, to answer "why" (001: a visible breakdown)."""
    age_days = max(0.0, (now_ms - note.said_at_ms) / DAY_MS)
    recency = 0.5 ** (age_days / HALF_LIFE_DAYS)
    at_ms, near = moment_of(note), 0.0
    if at_ms is not None:
        at_ms = while_on(note, at_ms, now_ms)
        ahead_ms = at_ms - now_ms
        near = 0.35 * max(0.0, 1 - ahead_ms / SOON_MS) if ahead_ms >= 0 else 0.25 * max(0.0, 1 + ahead_ms / SOON_MS)
    over = is_over(note, now_ms)
    return {
        "weight": note.weight,
        "confidence": 0.2 * (note.confidence - 1),
        "recency": 0.25 * recency * (0.4 if note.lasts else 1.0),
        "near": near,
        "waits": 0.15 if note.kind in TO_DO else 0.0,
        "lasts": 0.05 if note.kind in {"constraint", "preference"} else 0.0,
        "over": -0.4 * min(1.0, (now_ms - (at_ms or now_ms)) / (2 * DAY_MS)) if over else 0.0,
        "snoozed": -0.5 if is_snoozed(note, now_ms) else 0.0,
    }


def find(notes: Iterable[Note], text: str) -> Note | None:
    """The one standing note with exactly this text in any case and spacing; None for none or several."""
    plain = " ".join(text.casefold().split()).rstrip(" .!")
    found = [note for note in standing(notes) if " ".join(note.text.casefold().split()).rstrip(" .!") == plain]
    return found[0] if len(found) == 1 else None
