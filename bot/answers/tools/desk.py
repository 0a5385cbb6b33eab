"""State shared by the tools of one answer: the notes as they are in it, whose clock counts, and how a note is named."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from hashlib import blake2b
from typing import Any, Final, get_args

import orjson

from bot.answers.responder import Ask
from bot.answers.tools.times import (
    MORNING,
    NONE,
    LocalTime,
    is_hour,
    is_too_far,
    read_rule,
    read_time,
    without_midnight,
)
from bot.answers.tools.working_copy import WorkingCopy, candidates, near, wanted
from bot.lines import note_line
from bot.told_days import rhythm_in, tomorrow_in
from memory.ledger import lines, series, views
from memory.ledger.rules import DAY_CHARS, ending_by_day, first_from, is_several_a_day, what_is_wrong
from memory.ledger.spans import end_fields, first_and_last
from memory.ledger.types import Add, Applied, Change, Kind, Move, Note, Operation, Refusal
from memory.ports import Statement

HOW: Final = "Write it like FREQ=WEEKLY;BYDAY=TU, or FREQ=DAILY;BYHOUR=8,20."
"""The form of a rule, for the model."""

BEGAN_FRESH: Final = "This conversation began fresh, without what was said and noted before:"
BRINGS_BACK: Final = f"{BEGAN_FRESH} offer the button under your answer, which brings it back and does what they ask."
TOO_LONG: Final = (
    "Not done: the text is too long for one note, and nothing of it was kept. Say it shorter, or in several."
)
OVERDUE_MS: Final = 60 * 86_400_000
"""A day so long ago is a slip of the model's; one of last week may be overdue."""
END_CHARS: Final = 40
EACH_YEAR: Final = (
    "That text comes each year: leave an age or number of years out, and note since when (it's wrong the next)."
)
_COUNTED: Final = re.compile(r"(?<!\d)(\d{1,2}|20\d\d)(?![\d:.])")
"""An age, or the year in which it is so."""
_FIRST_YEAR: Final = 2000
KINDS: Final = get_args(Kind)


class Refused(Exception):
    """A call that is not done; the message tells the model the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A call of `remind`, or of another tool for one date of a series."""

    text: str = ""
    at: str = ""
    repeats: str = ""
    numbers: Any = ()
    date: str = ""
    skip: bool = False
    owner: str = ""
    due: str = ""
    kind: str = ""


@dataclass(slots=True)
class Desk:
    """The notes and the clock that every tool of an answer works with."""

    ask: Ask
    notes: WorkingCopy
    zone: str
    zone_known: bool
    """False while the zone is the bot's own, for want of a choice."""
    missed: bool = False
    """Whether a call was about something from before that is not at hand: a button under the answer brings it back."""
    goes_on: tuple[Statement, ...] = ()
    """Lets tasks go on that rested after failures."""

    def note_id(self, name: str, *arguments: Any) -> str:
        """The id of the note that this call makes: the same call of the same turn makes the same note."""
        digest = blake2b(orjson.dumps([name, *arguments]), digest_size=8).hexdigest()
        return f"n_{blake2b(f'{self.ask.turn_id}:{name}:{digest}'.encode(), digest_size=8).hexdigest()}"

    def origin(self, about: str = "") -> dict[str, Any]:
        """The fields of a new note that tell its chat, session and person."""
        ask = self.ask
        return {
            "session_id": ask.state.session_id,
            "user_id": ask.user_id,
            "persona": ask.scope.persona,
            "turn_ids": (ask.turn_id,),
            "time_zone": self.zone,
            "about": about,
        }

    @property
    def is_alone(self) -> bool:
        """Whether notes of this conversation alone are at hand, as after /fresh."""
        return self.ask.state.isolated or self.ask.scope.session_id is not None

    @property
    def can_join(self) -> bool:
        """Whether the person could bring back what was before here; a private conversation stays one."""
        return self.ask.scope.session_id is not None and not (self.ask.state.private or self.ask.by_clock)

    @property
    def elsewhere(self) -> list[Note]:
        """The open notes from before that could be brought back."""
        ask = self.ask
        wide = views.within(ask.ledger, replace(ask.scope, session_id=None)) if self.can_join else []
        return [note for note in wide if not views.belongs(note, ask.scope)]

    # --- which note -------------------------------------------------------------------------------------------------

    def picked(self, given: Any, *, ended: bool = False) -> tuple[list[Note], list[str]]:
        """The notes that are meant, ended ones only with `ended`; and a sentence for each that is none."""
        asked = wanted(given)
        found, problems, unknown = dict[int, Note](), list[str](), set[int]()
        for number in asked.numbers:
            note = self.notes.find(number)
            if note is None:
                unknown.add(number)
            elif not (note.is_open or ended):
                problems.append(self._ended(note))
            else:
                found[number] = note
        for words in asked.words:
            exact = views.find(self.notes.open(), words)
            if exact is None:
                problems.append(self.which(words))
            else:
                found[exact.number] = exact
        there = {note.number for note in self.elsewhere}
        problems += (f"There is no note #{number}." for number in asked.numbers if number in unknown - there)
        if unknown and not asked.words:
            problems.append(self.which("", unknown))
        if not asked.numbers and not asked.words:
            problems.append(f"Not done: say which notes by their numbers. {self.which('')}")
        return list(found.values()), problems

    def which(self, words: str, numbers: Collection[int] = ()) -> str:
        """The question which note is meant, with those that may be; by words, or by numbers that are none here.

        Of a number from before only how that comes back; words may mean a note of here, too.
        """
        notes, before = self.notes.open(), self.elsewhere
        found = candidates(notes, words, self.ask.now_ms)
        if any(note.number in numbers or (words and not near(notes, words)) for note in before):
            self.missed = True
            return f"{BRINGS_BACK} Noted here is only:\n{self.shown(found)}" if words and found else BRINGS_BACK
        if not found and self.is_alone:
            return f"{BEGAN_FRESH} /continue brings it back."
        none = f"No note says exactly {words!r}. " if words else ""
        return f"{none}Call again with the number of the one that is meant:\n{self.shown(found) or 'none is open'}"

    def _ended(self, note: Note) -> str:
        instead = next((each for each in self.notes.all() if each.note_id == note.replaced_by), None)
        now = f" Its place has taken {self.line(instead)}" if instead else ""
        return f"That ended already: {self.line(note)}{now}"

    # --- what is said of it -----------------------------------------------------------------------------------------

    def line(self, note: Note, *, text: bool = True) -> str:
        """A note in its present state."""
        return lines.model_line(note, self.ask.now_ms, self.zone, text=text)

    def shown(self, notes: Sequence[Note]) -> str:
        """Notes line by line, by the person's clock."""
        return "\n".join(lines.model_line(note, self.ask.now_ms, self.zone) for note in notes)

    def done(self, word: str, operation: Operation, *, text: bool = True) -> str:
        """Do it, and return the note's line, or why it is not done; without its `text` where the call holds it."""
        begun, outcome = self.notes.now(), self.notes.apply(operation)
        if not isinstance(outcome, Applied):
            return self.refused(outcome)
        if _is_cut(operation, outcome.note):
            self.notes.back_to(*begun)
            return f"{TOO_LONG} It would end at: “{outcome.note.text[-END_CHARS:]}”."
        return f"{word}: {self.line(outcome.note, text=text)}"

    def reads(self, note: Note | None) -> str:
        """The line of a note with a time as the person's lists have it: the model sees what they tell twice."""
        if note is None or (note.due_at_ms is None and not note.rings):
            return ""
        return f" Their list reads: “{note_line(note, self.ask.now_ms, self.zone)}”."

    def done_and_read(self, word: str, operation: Change | Move, remark: str = "") -> str:
        """The same, with a remark about its time, and the line that the person reads."""
        return self.done(word, operation) + remark + self.reads(self.notes.find(operation.number))

    def refused(self, refusal: Refusal) -> str:
        """The sentence on a refusal: the reason and the remedy."""
        note = self.notes.find(refusal.number) if refusal.number else None
        line = self.line(note) if note else ""
        return {
            "unknown": f"There is no note #{refusal.number}.",
            "ended": f"That ended already: {line}",
            "empty": "Not done: there is no text in it.",
            "same": f"It stands like that already: {line}",
            "known": f"It is noted already, nothing was added: {line}",
            "past": f"Not done: that is over. {self.now}",
            "rule": f"Not done: {refusal.detail}. {HOW}",
            "date": f"Not done: it has no date {refusal.detail}: {line}",
        }.get(refusal.code, f"Not done ({refusal.code} {refusal.detail}): {line}")

    # --- the clock --------------------------------------------------------------------------------------------------

    @property
    def now(self) -> str:
        """The person's local time."""
        return f"It is {lines.moment(self.ask.now_ms, self.zone)} now ({self.zone}).{self.unsure}"

    @property
    def unsure(self) -> str:
        """Advice about a clock that nobody chose; "" for one that the person has."""
        return "" if self.zone_known else f" {self.zone} is a guess: ask where they are, then call settings."

    def due(self, text: str, zone: str) -> dict[str, Any]:
        """The fields of a day or an hour, of `2026-11-27/30` or `T12:00/16:00`; {} for none given. Raises `Refused`."""
        if not text.strip():
            return {}
        if text.strip().lower() in NONE:
            return {"due_at_ms": None, "due_exact": False, "ends_at_ms": None, "lasts_ms": 0}
        first, last = first_and_last(self._due_text(text))
        end = self.time(last) if last else None
        at = self.time(first, past=True)
        if end is None and at.is_over(self.ask.now_ms - OVERDUE_MS, self.zone):
            raise Refused(f"Not done: {at.day} is over for long. {self.now}")
        if end is not None and end.local("23:59") < at.local():
            raise Refused(f"Not done: {text!r} ends before it begins.")
        due = {"due_at_ms": at.at_ms(zone), "due_exact": bool(at.hour)}
        last_local, by_hours = (end.local(), bool(at.hour and end.hour)) if end else ("", False)
        return due | end_fields(at.local(), last_local, zone, by_hours=by_hours)

    def rhythm(self, repeats: str, due: str) -> dict[str, Any]:
        """The fields of a note that repeats without a ring, from its day or from today. Raises `Refused`."""
        rule = read_rule(repeats)
        if not rule and rule is not None:
            return {}
        if rule and is_several_a_day(rule):
            raise Refused(f"Not done: several times a day is for what rings: remind, with at and repeats ({rule}).")
        first_day, _ = first_and_last(self._due_text(due))
        begins = self.time(first_day, past=True) if first_day else LocalTime(self.today)
        first = first_from(rule, begins.local()) if rule else None
        if first is None:
            why = what_is_wrong(rule, begins.local()) if rule else f"{repeats!r} is no RRULE"
            raise Refused(f"Not done: {why}. {HOW}")
        day = {"due_at_ms": series.at_ms_of(first, self.zone), "due_exact": bool(begins.hour)}
        return {"repeats": ending_by_day(rule or "", first), **day}

    def _due_text(self, text: str) -> str:
        """A due as it is read: an hour alone with its day, a day in place of its last minute."""
        return without_midnight(self._with_day(text.strip()))

    def _with_day(self, text: str) -> str:
        """An hour alone, `T14:30` or `14:30`, with its day: today, tomorrow where it is over."""
        hours = text.strip().removeprefix("T")
        at = read_time(hours.partition("/")[0], self.zone, self.today)
        if at is None or not is_hour(text.strip()):
            return text
        tomorrow = date.fromisoformat(at.day) + timedelta(days=1)
        return f"{tomorrow if at.is_over(self.ask.now_ms, self.zone) else at.day}T{hours}"

    @property
    def today(self) -> str:
        """The person's day, `2026-11-27`."""
        return series.local_of(self.ask.now_ms, self.zone)[:DAY_CHARS]

    def counts_years(self, text: str, rule: str) -> str:
        """A sentence on the text of what comes each year and tells a number, as an age; "" where it says the year."""
        counted = [int(each) for each in _COUNTED.findall(text)]
        is_told = bool(counted) and max(counted) < _FIRST_YEAR
        return f" {EACH_YEAR}" if "YEARLY" in rule and is_told else ""

    def remark(self, text: str, rule: str = "", *, has_hour: bool) -> str:
        """Sentences on the time of a ring, for model and person."""
        rhythm, day = rhythm_in(text, rule), tomorrow_in(text)
        said = f" Its time is told beside “{rhythm}”: change the text to what it is about." if rhythm else ""
        said += f" “{day}” stands on their lists on every day: change the text to what it is about." if day else ""
        hour = "" if has_hour else f" No hour was given, so it rings at {MORNING}: tell the person."
        said += " Shorter months are passed over: BYMONTHDAY=-1 is the last day." * ("BYMONTHDAY=31" in rule)
        said += self.counts_years(text, rule)
        clock = "" if self.ask.private else f" By the group's clock, {self.zone}."
        return f"{hour}{clock}{said}{self.unsure}"

    def times(self, at: str) -> list[LocalTime]:
        """Times by commas in their order, an hour alone on the day of the first. Raises `Refused`."""
        first, *also = (each.strip() for each in at.split(","))
        begins = self.time(first, day=self.today, past=True)
        return sorted([begins, *(self.time(each, day=begins.day, past=True) for each in also)], key=LocalTime.local)

    def time(self, text: str, *, day: str = "", past: bool = False) -> LocalTime:
        """The time that is meant, one to come unless it may be `past`. Raises `Refused`."""
        at = read_time(text if day else self._with_day(text), self.zone, day)
        if at is None:
            raise Refused(
                f"Not done: {text!r} is no time that can be read. Write it as 2026-11-27T14:30, or 2026-11-27; what is "
                f"vaguer stands in the text (“some time in 2027”). {self.now}"
            )
        if not past and at.is_over(self.ask.now_ms, self.zone):
            raise Refused(f"Not done: {at.local() if at.hour else at.day} is over. {self.now}")
        if is_too_far(at, self.ask.now_ms, self.zone):
            raise Refused(f"Not done: {at.day} is more than ten years away. {self.now}")
        return at


def kind_of(given: str) -> Kind:
    """A kind by its name. Raises `Refused`."""
    found = next((kind for kind in KINDS if kind == given.strip().lower()), None)
    if found is None:
        raise Refused(f"Not done: {given!r} is no kind. One of {', '.join(KINDS)}.")
    return found  # type: ignore[no-any-return]  # one of the literals


def _is_cut(operation: Operation, note: Note) -> bool:
    """Whether the ledger would keep only the beginning of the text that a call gives."""
    fields = operation.fields if isinstance(operation, (Add, Change)) else {}
    given = operation.text if isinstance(operation, Add) else fields.get("text", "")
    return note.text.endswith("…") and bool(given) and " ".join(given.split()) != note.text
