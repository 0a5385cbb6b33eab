"""The notes of one session while they are made: what stands, what ended, and what later words are compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime

from memory.language.due_dates import find_due
from memory.language.language import Language
from memory.language.listing import items_of
from memory.language.names import people_in
from memory.language.sentences import lowered, stems_of, words_of
from memory.language.time_rules import blank
from memory.notes.clauses import Clause, TurnClauses, named_in
from memory.notes.corrections import weekday_of
from memory.notes.noted import Noted, is_debt, outcomes_of
from memory.notes.telling import telling_stems
from memory.notes.titles import standing_of, title_of
from memory.notes.types import (
    RULES,
    TEXT_MAX_CHARS,
    Ending,
    LastingNote,
    Matter,
    ReadingRequest,
    SessionNotes,
    Settled,
    key_of,
)
from memory.types import ConversationTurn
from memory.zones import zone_of

MATTERS_MAX = 60
LASTING_MAX = 40
_ENDING = frozenset({"task", "promise", "event", "question"})


@dataclass(slots=True)
class NotesSoFar:
    """The notes of one session while they are made."""

    request: ReadingRequest
    language: Language
    matters: dict[str, Matter] = field(default_factory=dict)
    """Those of this session."""
    lasting: dict[str, LastingNote] = field(default_factory=dict)
    settled: list[Settled] = field(default_factory=list)
    names: frozenset[str] = frozenset()
    """Those that come up in the turns that are read."""
    noted: dict[str, Noted] = field(default_factory=dict)
    """Everything that a turn may settle or correct, also of earlier sessions, oldest first."""

    def __post_init__(self) -> None:
        """Take over what was noted before."""
        so_far = self.request.notes
        earlier: list[Matter | LastingNote] = [*self.request.open_matters, *self.request.lasting]
        for each in sorted(earlier, key=lambda note: note.said_at_ms):
            self.take_down(each)
        if so_far is None:
            return
        self.settled += so_far.settled
        for matter in so_far.matters:
            self.matters[matter.matter_id] = matter
            if matter.status == "open":
                self.take_down(matter)
        for note in so_far.lasting:
            self.lasting[note.note_id] = note
            self.take_down(note)

    def notes(self, said: list[TurnClauses]) -> SessionNotes:
        """Return the notes as they stand."""
        request, so_far = self.request, self.request.notes
        matters = sorted(self.matters.values(), key=lambda m: -m.weight)[:MATTERS_MAX]
        lasting = sorted(self.lasting.values(), key=lambda n: -n.weight)[:LASTING_MAX]
        title, title_ids = title_of(matters, lasting, self.language, said)
        standing, standing_ids = standing_of(matters, lasting)
        return SessionNotes(
            session_id=request.session_id,
            conversation_id=request.conversation_id,
            title=title,
            standing=standing,
            standing_turn_ids=tuple(dict.fromkeys((*title_ids, *standing_ids))),
            matters=tuple(sorted(matters, key=lambda m: (m.said_at_ms, m.matter_id))),
            lasting=tuple(sorted(lasting, key=lambda n: (n.said_at_ms, n.note_id))),
            settled=tuple(self.settled),
            names=tuple(sorted({*named_in(said), *(so_far.names if so_far else ())})),
            read_through_seq=max([turn.seq for turn in request.turns] + [so_far.read_through_seq if so_far else 0]),
            reader=RULES,
            language=self.language.code,
            written_at_ms=request.now_ms,
        )

    def noted_as(self, key: str) -> Matter | LastingNote | None:
        """Return the note with an id, of this session or of one before; None where there is none."""
        before: dict[str, Matter | LastingNote] = {key_of(m): m for m in self.request.open_matters}
        before |= {key_of(n): n for n in self.request.lasting}
        return self.matters.get(key) or self.lasting.get(key) or before.get(key)

    def succeed(self, old: Matter, new: Matter, key: str) -> None:
        """Note a matter in the place of what it was before."""
        self.drop(old.matter_id)
        replaces = (*old.replaces, old.matter_id)
        self.matters[key] = new.model_copy(update={"matter_id": key, "replaces": replaces})
        self.take_down(self.matters[key])

    def end_by(self, key: str, text: str, said: Clause | ConversationTurn, ending: Ending) -> None:
        """Note that something ended by what was said."""
        at_ms = said.at_ms if isinstance(said, Clause) else said.created_at_ms
        self.noted.pop(key, None)
        if key in self.matters:
            self.matters[key] = self.matters[key].model_copy(update={"status": ending})
        self.settled.append(
            Settled(
                matter_id=key, text=text[:TEXT_MAX_CHARS], ending=ending,
                turn_ids=(said.turn_id,), said_at_ms=at_ms,
            )
        )  # fmt: skip

    def drop(self, key: str) -> None:
        """Take away what was restated or corrected; an earlier session's stays there and is replaced by id."""
        self.noted.pop(key, None)
        self.matters.pop(key, None)
        self.lasting.pop(key, None)

    def take_down(self, note: Matter | LastingNote, clause: Clause | None = None, place: int | None = None) -> None:
        """Take down what the comparison needs of a note; `clause` is the one that it quotes."""
        text, matter = note.text, note if isinstance(note, Matter) else None
        digits = frozenset(word.strip(".,:;()?") for word in text.lower().split() if any(map(str.isdigit, word)))
        self.noted[key_of(note)] = Noted(
            key=key_of(note),
            stems=clause.stems if clause else self._stems_of(note),
            numbers=clause.numbers if clause else digits,
            values=clause.values if clause else frozenset(),
            due_at_ms=matter.due_at_ms if matter else None,
            place=clause.place if clause else self._place_of(note) if place is None else place,
            lasts=matter is None,
            todo=matter is not None and matter.kind in _ENDING,
            names=self._names_in(text, clause.names if clause else frozenset()),
            people=people_in(self.language.mended(lowered(text)), self.language),
            outcomes=outcomes_of(text, self.language),
            is_debt=is_debt(text, self.language),
            asks_somebody=self.language.has("asks_somebody", lowered(text)),
            mine=matter is not None and matter.owner == "user",
            is_event=matter is not None and matter.kind == "event",
            items=items_of(text, self.language),
            days=self._days_of(matter),
        )

    def _place_of(self, note: Matter | LastingNote) -> int:
        """Return the number of the turn before these in which a note was last said, -1 for one further back."""
        places = {turn.turn_id: place for place, turn in enumerate(self.request.before)}
        return max((places.get(turn_id, -1) for turn_id in note.turn_ids), default=-1)

    def _days_of(self, matter: Matter | None) -> frozenset[str]:
        """Return the day of the month and of the week on which a matter is due."""
        if matter is None or not matter.due_at_ms:
            return frozenset()
        day = day_of(matter.due_at_ms, self.request.zone)
        return frozenset({str(day.day), weekday_of(day.weekday())})

    def _stems_of(self, note: Matter | LastingNote) -> frozenset[str]:
        """Return the stems of a note of before, without the words that say when: as those of a clause are."""
        lower = self.language.mended(lowered(note.text))
        due = find_due(lower, note.said_at_ms, self.request.zone, self.language)
        return telling_stems(words_of(blank(lower, due.spans) if due else lower), self.language)

    def _names_in(self, text: str, names: frozenset[str]) -> frozenset[str]:
        """Return the names in a text, as words and as stems; `names` are those of its clause."""
        known = {*self.names, *self.request.names}
        found = names | {word for word in words_of(lowered(text)) if word in known}
        return found | stems_of(tuple(found), self.language)


def day_of(at_ms: int, zone: str) -> date:
    """Return the day on which a moment lies in a time zone."""
    return datetime.fromtimestamp(at_ms / 1000, zone_of(zone)).date()
