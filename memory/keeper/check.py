"""Judge what of a keeper's answer may be believed: words that were said, numbers and names that occur. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations_with_replacement
from typing import Final

from memory.keeper.contract import SAID_MAX_WORDS, Code, KeeperRequest, Kept, ProposedChange, RefusedProposal
from memory.keeper.request import own_text
from memory.ledger.types import ASSISTANT, TO_DO, USER, Note
from memory.types import ConversationTurn
from memory.zones import zone_of

NOUNS_SHARE: Final = 0.16
"""From this share of capitalised words inside sentences on, a language is taken to capitalise its nouns. Of 61 sessions
the highest was .15 in English and .10 in es, fr, it, pt, ru; German answers, whose askers wrote small, had .11 to .25.
"""
NOUNS_WORDS: Final = 15
SMALL: Final = 12
"""Numbers up to this one are often words of their own ("two", "second"): they need not occur."""
MOST_SUMMED, ENDING = 20, 4
MAY_REST_ON_MATERIAL: Final = frozenset({"project", "story"})
_DAYS_BACK, _DAYS_AHEAD = 366, 3653

_WORD: Final = re.compile(r"[^\W_]+")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_BREAK: Final = re.compile(r"[.!?…:;()\[\]\"“”„«»*•\u2013\u2014-]+(?=\s|$)|[\"“”„«»(\[*•\n]+")
_GAP: Final = r"[.,'\u2019 \u00a0\u202f]"
_NUMBER: Final = re.compile(rf"\d{{1,3}}(?: \d{{3}})+(?!\d)|\d+(?:(?! ){_GAP}\d+)*(?:[kK]\b)?")
_GROUPED: Final = re.compile(rf"\d{{1,3}}({_GAP})\d{{3}}(?:\1\d{{3}})*")


class _Wrong(Exception):
    def __init__(self, code: Code, reason: str) -> None:
        self.code, self.reason = code, reason


@dataclass(frozen=True, slots=True)
class _Source:
    """A turn or a note, as what is written is compared with it."""

    turn_ids: tuple[str, ...]
    values: frozenset[float]
    words: frozenset[str]


class ChangeCheck:
    """Judges the changes of one answer to one request."""

    def __init__(self, request: KeeperRequest, worked_on: Iterable[int] = ()) -> None:
        self._request = request
        self._turns, self._worked_on = request.numbered, frozenset(worked_on)
        self._notes = {note.number: note for note in request.notes}
        self._by_turn = {n: _of_turn(turn, request.names) for n, turn in self._turns.items()}
        told = ((note, f"{note.text}\n{note.subject}\n{note.owner}") for note in request.ledger)
        self._by_note = {note.number: _source(text, note.turn_ids) for note, text in told}
        self._beside = [_of_turn(turn, request.names) for turn in request.beside]
        mine = "\n".join(own_text(turn) for turn in self._turns.values())
        theirs = "\n".join(turn.assistant_text for turn in self._turns.values())
        self._names_count = not (capitalises_nouns(mine) or capitalises_nouns(theirs))

    def __call__(self, change: ProposedChange) -> Kept | RefusedProposal:
        """The change with the turns that it rests on, or why it is not believed."""
        cited = tuple(dict.fromkeys(n for n in change.turns if n in self._turns))
        try:
            note = self._note_of(change)
            spoken = self._spoken(change, cited, *_kind_of(change, note))
            due = self._due(change.due) if change.due else None
            also = self.believed(f"{change.text}\n{change.subject}", cited, note, due, owner=change.owner or "")
        except _Wrong as wrong:
            return RefusedProposal(change, wrong.code, wrong.reason, tuple(self._turns[n].turn_id for n in cited))
        turn_ids = dict.fromkeys([*(self._turns[n].turn_id for n in sorted(cited)), *also])
        return Kept(change, tuple(turn_ids), spoken, due)

    def line(self, text: str, cited: Sequence[int]) -> tuple[str, ...] | str:
        """The turns that a title or standing rests on; or why it is not believed."""
        known = [n for n in cited if n in self._turns]
        try:
            return (*(self._turns[n].turn_id for n in known), *self.believed(text, known))
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
            raise _Wrong("worked on", f"it rests on worked-on turns alone: only a project or a story can, not a {kind}")
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
        if any(holds(folded(self._turns[n].user_text), said) for n in cited):
            raise _Wrong("foreign", f"“{change.said}” are somebody else's words, or worked-on text")
        raise _Wrong("said", f"“{change.said}” does not stand in the turns that it cites, word for word")

    def _due(self, due: str) -> datetime:
        """The local day or minute; bounded, never derived."""
        try:
            at = datetime.fromisoformat(due.strip()).replace(tzinfo=None)
        except ValueError:
            raise _Wrong("due", f"due is YYYY-MM-DD or YYYY-MM-DDTHH:MM, not “{due}”") from None
        now = _at(self._request.now_ms, self._request.zone).replace(tzinfo=None)
        if not now - timedelta(days=_DAYS_BACK) <= at <= now + timedelta(days=_DAYS_AHEAD):
            raise _Wrong("due", f"{due} is not between a year ago and ten years from now")
        return at

    def believed(
        self, text: str, cited: Sequence[int], note: Note | None = None, due: datetime | None = None, *, owner: str = ""
    ) -> list[str]:
        """The further turns that the numbers and names of a text rest on. Raises for one that stands nowhere."""
        near = [self._by_turn[n] for n in cited] + ([self._by_note[note.number]] if note else [])
        far = [*(self._by_turn[n] for n in sorted(self._by_turn, reverse=True)), *self._by_note.values(), *self._beside]
        days = [day for day in (due, _local(note, self._request.zone) if note else None) if day]
        parts = {n for day in days for n in (day.year, day.month, day.day, day.hour, day.minute, day.hour % 12)}
        said = sorted({value for each in near for value in each.values})[:MOST_SUMMED]
        sums = {value for a, b in combinations_with_replacement(said, 2) for value in (a + b, b - a)}
        also: list[str] = []
        for written, value in numbers(text):
            if value in range(SMALL + 1) or value in parts or set(map(int, re.findall(r"\d+", written))) <= parts:
                continue
            found = next((each for each in (*near, *far) if value in each.values), None)
            if found is None and value not in sums:
                raise _Wrong("number", f"the number {written} was not said; write it as the person did or leave it out")
            sums = sums if found else set()
            also += found.turn_ids if found and found not in near else ()
        days += [_at(self._turns[n].created_at_ms, self._request.zone) for n in cited]
        calendar = {f"{day:{part}}".lower() for day in days for part in ("%A", "%B")}
        names = capitalised(text) if self._names_count else []
        for name in [*names, *_LETTERS.findall("" if owner in {USER, ASSISTANT} else owner)]:
            found = next((each for each in (*near, *far) if has_name(each.words, name)), None)
            if found is None and not has_name(calendar, name):
                raise _Wrong("name", f"the name {name} was not said; use the person's words")
            also += found.turn_ids if found and found not in near else ()
        return also


def _kind_of(change: ProposedChange, note: Note | None) -> tuple[str, bool]:
    """The kind that a note becomes, and whether the assistant's words can bear it out."""
    kind, about = change.kind or (note.kind if note else "fact"), change.about or (note.about if note else "")
    if kind in TO_DO and about:
        raise _Wrong("story", f"a {kind} of a story is nobody's to do; make it a story, or leave it out")
    promised = (change.owner or (note.owner if note else "")) == ASSISTANT and kind in TO_DO
    return kind, promised or kind == "story" or bool(about)


# --- what is compared -------------------------------------------------------------------------------------------------


def _of_turn(turn: ConversationTurn, names: Mapping[int, str]) -> _Source:
    return _source(f"{names.get(turn.user_id or 0, '')}\n{turn.user_text}\n{turn.assistant_text}", (turn.turn_id,))


def _source(text: str, turn_ids: tuple[str, ...]) -> _Source:
    values = {value for _, value in numbers(text)}
    for a, b in re.findall(r"\b(\d{1,2})[.:](\d{1,2})\b", text):  # a day or an hour may be written either way
        values |= {float(a), float(b), float(f"{a}.{b}")}
    return _Source(turn_ids, frozenset(values), frozenset(_LETTERS.findall(_plain(text))))


def _at(at_ms: int, zone: str) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, zone_of(zone))


def _local(note: Note, zone: str) -> datetime | None:
    return None if note.due_at_ms is None else _at(note.due_at_ms, zone if note.due_exact else note.time_zone)


def _plain(text: str) -> str:
    """A text without case and accents: many leave them out."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def folded(text: str) -> str:
    """The words of a text alone: without case, accents, spacing and punctuation."""
    return " ".join(_WORD.findall(_plain(text)))


def holds(text: str, span: str) -> bool:
    """Whether a folded text holds a folded span as words in a row; a script without case may not part its words."""
    is_cased = any(char.upper() != char.lower() for char in span)
    return f" {span} " in f" {text} " or (not is_cased and span.replace(" ", "") in text.replace(" ", ""))


def numbers(text: str) -> Iterator[tuple[str, float]]:
    """Each number of a text with its value (`2,400`, `2.4k`, `2'400` are one); of a date `12.03.2026` each group."""
    for match in _NUMBER.finditer(unicodedata.normalize("NFKC", text)):
        written, value = match.group(), _value(match.group())
        yield from ((n, float(n)) for n in re.findall(r"\d+", written)) if value is None else ((written, value),)


def _value(written: str) -> float | None:
    plain = written.rstrip("kK")
    times = 1000 if plain != written else 1
    if _GROUPED.fullmatch(plain) and times == 1:
        return float(re.sub(r"\D", "", plain))
    *_, last = re.split(r"\D", plain)
    head, mark = plain[: -len(last) - 1], plain[-len(last) - 1 : -len(last)]
    if not head:
        return float(last) * times
    if mark not in ".," or not (head.isdecimal() or (_GROUPED.fullmatch(head) and mark not in head)):
        return None
    return float(re.sub(r"\D", "", head) + "." + last) * times


def capitalised(text: str) -> list[str]:
    """The words that begin with a capital letter inside the sentences of a text; single letters are no names."""
    return [word for word in _inside(text) if word[0] != word[0].lower()]


def capitalises_nouns(text: str) -> bool:
    """Whether so many words inside the sentences of a text are capitalised that they are no names alone."""
    words = list(_inside(text))
    return len(words) >= NOUNS_WORDS and len(capitalised(text)) >= NOUNS_SHARE * len(words)


def _inside(text: str) -> list[str]:
    sentences = (_LETTERS.findall(sentence)[1:] for sentence in _BREAK.split(text))
    return [word for sentence in sentences for word in sentence if len(word) > 1]


def has_name(words: Iterable[str], name: str) -> bool:
    """Whether a folded word begins as the name does, by its first max(3, n - 3) letters: "Tom" is no "tomorrow"."""
    start = _plain(name)[: max(3, len(name) - 3)]
    return any(word.startswith(start) and len(word) <= len(name) + ENDING for word in words)
