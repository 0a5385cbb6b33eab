"""The check of a keeper's answer: words that were said, numbers and names that occur. Pure."""

from __future__ import annotations

import re
from calendar import day_name
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import combinations
from typing import Final

from memory.keeper.contract import SAID_MAX_WORDS, Code, KeeperRequest, Kept, ProposedChange, RefusedProposal
from memory.keeper.request import own_text
from memory.keeper.wording import (
    Source,
    beside,
    capitalised,
    capitalises_nouns,
    folded,
    has_name,
    has_noun,
    holds,
    numbers,
    source_of,
    strange_to,
)
from memory.ledger.spans import first_and_last, last_of
from memory.ledger.types import ASSISTANT, TO_DO, USER, Note
from memory.search.terms import calendar_words, little_words
from memory.types import ConversationTurn
from memory.zones import zone_of

SMALL: Final = 12
"""Numbers up to this one are often words of their own ("two", "second"): they need not occur."""
MOST_SUMMED: Final = 20
DAYS_AROUND: Final = 14
DAYS_OF_MONTH: Final = 31
"""In the line of a session a day may be worked out ("from 1.12." for "from tomorrow"): none of these need be said."""
MAY_REST_ON_MATERIAL: Final = frozenset({"project", "story"})
_DAYS_BACK, _DAYS_AHEAD = 366, 3653
_LETTERS: Final = re.compile(r"[^\W\d_]+")


class _Wrong(Exception):
    def __init__(self, code: Code, reason: str) -> None:
        self.code, self.reason = code, reason


class ChangeCheck:
    """Judges the changes of one answer to one request."""

    def __init__(self, request: KeeperRequest, worked_on: Iterable[int] = ()) -> None:
        self._request = request
        self._turns, self._worked_on = request.numbered, frozenset(worked_on)
        self._notes = {note.number: note for note in request.notes}
        self._by_turn = {n: _of_turn(turn, request) for n, turn in self._turns.items()}
        told = ((note, f"{note.text}\n{note.subject}\n{note.owner}") for note in request.ledger)
        self._by_note = {note.number: source_of(text, note.turn_ids) for note, text in told}
        self._beside = [*(_of_turn(turn, request) for turn in request.beside), source_of(request.character, ())]
        every = (*self._turns.values(), *request.beside)
        answers, shown = ([turn.assistant_text for turn in turns] for turns in (every, self._turns.values()))
        texts = map("\n".join, (map(own_text, every), answers, shown))  # before, another language may have been spoken
        self._has_nouns = any(map(capitalises_nouns, texts))

    def __call__(self, change: ProposedChange) -> Kept | RefusedProposal:
        """The change with the turns that it rests on, or why it is not believed."""
        cited = tuple(dict.fromkeys(n for n in change.turns if n in self._turns))
        try:
            note = self._note_of(change)
            if change.op == "merge":
                spoken = self._merged(change)
            elif _is_own_mistake(change, note):
                spoken = self._request.turns[-1]
            else:
                spoken = self._spoken(change, cited, *_kind_of(change, note))
            due, rings = self._due(change.due), next(iter(self._due(change.rings)), None)
            also = self.believed(f"{change.text}\n{change.subject}", cited, note, due, owner=change.owner or "")
        except _Wrong as wrong:
            return RefusedProposal(change, wrong.code, wrong.reason, tuple(self._turns[n].turn_id for n in cited))
        turn_ids = dict.fromkeys([*(self._turns[n].turn_id for n in sorted(cited)), *also])
        first, last, *_ = (*due, None, None)
        return Kept(change, tuple(turn_ids), spoken, first, last, rings)

    def line(self, text: str, cited: Sequence[int]) -> tuple[str, ...] | str:
        """The turns that a title or standing rests on; or why it is not believed."""
        known = [n for n in cited if n in self._turns]
        try:
            return (*(self._turns[n].turn_id for n in known), *self.believed(text, known, is_line=True))
        except _Wrong as wrong:
            return wrong.reason

    def _note_of(self, change: ProposedChange) -> Note | None:
        """The note that a change means, None for a new one."""
        if change.op == "add":
            if not change.text.strip() or change.kind is None:
                raise _Wrong("shape", "add needs kind and text")
            return None
        for number in (change.number, *((change.into,) if change.op == "merge" else ())):
            note = self._notes.get(number or 0)
            if note is None:
                raise _Wrong("note", f"#{number} is not one of the notes that you were given")
            if not note.is_open:
                raise _Wrong("note", f"#{number} has ended, and what ended stays so")
        return self._notes[change.number or 0]

    def _spoken(self, change: ProposedChange, cited: Sequence[int], kind: str, assistant: bool) -> ConversationTurn:  # noqa: FBT001 - one pair
        """The turn whose own words bear the change out; the `assistant`'s count for its promises and for stories."""
        if not cited:
            raise _Wrong("turns", "it cites no turn that you were given")
        if self._worked_on.issuperset(cited) and kind not in MAY_REST_ON_MATERIAL:
            alone = f"it rests on worked-on turns alone: only a project or a story can, not a {kind}"
            raise _Wrong("worked on", f"{alone}; a turn in which they tell it of themselves is none of worked_on")
        said = folded(change.said)
        if not said or len(change.said.split()) > SAID_MAX_WORDS:
            raise _Wrong("said", f"said takes 1 to {SAID_MAX_WORDS} words in a row, copied from a turn in turns")
        for n in cited:
            turn = self._turns[n]
            own = holds(folded(own_text(turn)), said) or (assistant and holds(folded(turn.assistant_text), said))
            if own and (n not in self._worked_on or kind in MAY_REST_ON_MATERIAL):
                return turn
        if any(holds(folded(self._turns[n].assistant_text), said) for n in cited):
            raise _Wrong("foreign", f"the assistant said “{change.said}”, not the person")
        seen = self._request.seen
        if any(holds(folded(seen.get(self._turns[n].turn_id, "")), said) for n in cited):
            raise _Wrong("foreign", f"“{change.said}” is what a program saw; copy what the person said to it")
        if any(holds(folded(self._turns[n].user_text), said) for n in cited):
            raise _Wrong("foreign", f"“{change.said}” are somebody else's words, or worked-on text")
        raise _Wrong("said", f"“{change.said}” does not stand in the turns that it cites, word for word")

    def _merged(self, change: ProposedChange) -> ConversationTurn:
        """The newest turn: a merge rests on its two notes, and its text holds no longer word but theirs."""
        both = self._by_note[change.number or 0].words | self._by_note[change.into or 0].words
        if word := strange_to(both, change.text, little_words()):
            raise _Wrong("said", f"“{word}” stands in neither note: a merged text says what the two say")
        return self._request.turns[-1]

    def _due(self, due: str) -> tuple[datetime, ...]:
        """The local day or minute, or the first and the last of a span; bounded, never derived."""
        try:
            parts = filter(None, first_and_last(due))
            days = [datetime.fromisoformat(part).replace(tzinfo=None) for part in parts]
        except ValueError:
            days = []
        if (not days and due.strip()) or days != sorted(days):
            raise _Wrong(
                "due", f"due is YYYY-MM-DD, first/last day, YYYY-MM-DDTHH:MM or with its end /HH:MM, not “{due}”"
            )
        now = _at(self._request.now_ms, self._request.zone).replace(tzinfo=None)
        if any(not now - timedelta(days=_DAYS_BACK) <= at <= now + timedelta(days=_DAYS_AHEAD) for at in days):
            raise _Wrong("due", f"{due} is not between a year ago and ten years from now")
        return tuple(days)

    def believed(
        self,
        text: str,
        cited: Sequence[int],
        note: Note | None = None,
        due: Sequence[datetime] = (),
        *,
        owner: str = "",
        is_line: bool = False,
    ) -> list[str]:
        """The further turns that the numbers and names of a text rest on. Raises for one that stands nowhere.

        The names of the days around need not have been said; in the line of a session no word of the calendar, no time
        of a note that is shown, nor a word that has its capital as a noun.
        """
        near = [self._by_turn[n] for n in cited] + ([self._by_note[note.number]] if note else [])
        far = [*(self._by_turn[n] for n in sorted(self._by_turn, reverse=True)), *self._by_note.values(), *self._beside]
        days = [*due, *(_local(note, self._request.zone) if note else ())]
        written_on = [_at(self._turns[n].created_at_ms, self._request.zone) for n in cited]
        shown = self._request.notes if is_line else ()  # with their times
        times = [*days, *(at for each in shown for at in _times(each, self._request.zone))]
        parts = {n for at in times for n in (at.year, at.month, at.day, at.hour, at.minute, at.hour % 12)}
        parts |= {n for day in written_on for n in (day.year, day.month, day.day)}
        parts |= set(range(1, DAYS_OF_MONTH + 1)) if is_line else set()
        said = sorted({value for each in near for value in each.counts})[:MOST_SUMMED]
        sums, left = {value for a, b in combinations(said, 2) for value in (a + b, b - a)}, set(said)
        days += written_on
        also: list[str] = []
        for written, value in numbers(text):
            if value in range(SMALL + 1) or value in parts or set(map(int, re.findall(r"\d+", written))) <= parts:
                continue
            found = next((each for each in (*near, *far) if value in each.values), None)
            if found is None and _names_day(value, beside(text, written), days, near):
                continue
            if found is None and value not in sums:
                raise _Wrong("number", f"{written} was not said: write what was, or cite what it adds up from")
            sums, left = (sums, left) if found else ({a - value for a in left}, set())  # "155 done, 485 left"
            also += found.turn_ids if found and found not in near else ()
        calendar = {f"{day:{part}}".lower() for day in days for part in ("%A", "%B", "%a", "%b")}
        calendar |= {each for word in calendar_words() for each in (word, word[:3])} if is_line else set()
        for name in [*capitalised(text), *_LETTERS.findall("" if owner in {USER, ASSISTANT} else owner)]:
            found = next((each for each in (*near, *far) if has_name(each.words, name)), None)
            if found is None and self._has_nouns:
                found = next((each for each in (*near, *far) if has_noun(each.words - little_words(), name)), None)
            if found is None and not (has_name(calendar, name) or (is_line and self._has_nouns)):
                raise _Wrong("name", f"{name} was not said; use the person's words")
            also += found.turn_ids if found and found not in near else ()
        return also


def _is_own_mistake(change: ProposedChange, note: Note | None) -> bool:
    """Whether a keeper deletes what a keeper noted as lasting: that a greeting is no preference no turn says."""
    own = note if note is not None and note.source in {"keeper", "offline"} else None
    return change.op == "delete" and own is not None and own.lasts and not (own.rings or change.turns or change.said)


def _kind_of(change: ProposedChange, note: Note | None) -> tuple[str, bool]:
    """The kind that a note becomes, and whether the assistant's words can bear it out."""
    kind, about = change.kind or (note.kind if note else "fact"), change.about or (note.about if note else "")
    if kind in TO_DO and about:
        raise _Wrong("story", f"a {kind} of a story is nobody's to do; make it a story, or leave it out")
    promised = (change.owner or (note.owner if note else "")) == ASSISTANT and kind in TO_DO
    return kind, promised or kind == "story" or bool(about)


# --- what is compared -------------------------------------------------------------------------------------------------


def _of_turn(turn: ConversationTurn, request: KeeperRequest) -> Source:
    name, seen = request.names.get(turn.user_id or 0, ""), request.seen.get(turn.turn_id, "")
    return source_of(f"{name}\n{turn.user_text}\n{turn.assistant_text}\n{seen}", (turn.turn_id,))


def _names_day(number: float, words: Sequence[str], days: Sequence[datetime], near: Sequence[Source]) -> bool:
    """Whether a number is a day around these: "Friday 20 March" for "on friday"; but not "20 boxes" for "18 boxes".

    Beside it stands a word that was said and counts nothing there; a weekday that it knows has to be that day's.
    """
    around = [day + timedelta(n) for day in days for n in range(-DAYS_AROUND, DAYS_AROUND + 1)]
    weekdays = {f"{day:%A}".lower() for day in around if day.day == number}
    said = [word for word in words if any(has_name(each.words, word) for each in near)]
    if not (weekdays and said) or any(has_name(each.counted, word) for each in near for word in said):
        return False
    return all(has_name(weekdays, word) for word in said if has_name(map(str.lower, day_name), word))


def _at(at_ms: int, zone: str) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, zone_of(zone))


def _times(note: Note, zone: str) -> list[datetime]:
    rings = [] if note.rings_at_ms is None else [_at(note.rings_at_ms, zone)]
    return [*_local(note, zone), *rings]


def _local(note: Note, zone: str) -> list[datetime]:
    due = [] if note.due_at_ms is None else [_at(note.due_at_ms, zone if note.due_exact else note.time_zone)]
    last_ms = last_of(note)
    return due if last_ms is None else [*due, _at(last_ms, zone if note.lasts_ms else note.time_zone)]
