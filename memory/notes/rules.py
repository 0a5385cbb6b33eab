"""The reader without a model: it picks instead of rewriting. Pure and deterministic.

A note is a short quote of the person, chosen for what it holds and cut where it can stand alone. Each turn changes what
was noted before it: what it names as done is settled, what it corrects is replaced.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import cast

from memory.language.due_dates import find_due
from memory.language.languages import Language, Languages
from memory.language.sentences import lowered, words_of
from memory.notes.clauses import CLAUSE_MAX_CHARS, Clause, TurnClauses, named_in, read_turns, with_reason
from memory.notes.settle import (
    Noted,
    corrected_by,
    same_matter,
    says_only_the_value,
    settled_by,
    stems_of_text,
    value_alone,
)
from memory.notes.titles import standing_of, title_of
from memory.notes.types import (
    RULES,
    TEXT_MAX_CHARS,
    Ending,
    LastingKind,
    LastingNote,
    Matter,
    MatterKind,
    ReadingRequest,
    SessionNotes,
    Settled,
)
from memory.notes.weigh import closes, is_todo, owes, weigh
from memory.types import ToolCall

WORTH_SHOWING = 0.17
"""What weighs less was only said in passing."""
CLEAR_FROM = 0.09
"""A task, a day ahead or what stays true is seldom said with many words."""
FAINT_FROM = 0.05
"""What weighs less is only talk, and not noted at all."""
STATED_WEIGHT = 0.4
"""What somebody states in so many words matters at least so much."""
MATTERS_MAX = 60
LASTING_MAX = 40
_RESTATED = 0.6
_TAIL_CHARS = 20
_MEANS_A_DAY = frozenset({"obligation", "commitment", "intention", "event", "others", "waits", "request", "kin"})
DAY_MS = 86_400_000
_ENDING = frozenset({"task", "promise", "event", "question"})
_ANSWER_STEMS = 2
_CLEAR_STEMS = 4
"""With so many words of meaning a sentence is understood in spite of its pronoun."""
_JOINT = " … "
_QUOTED = re.compile('^[\'"\u201c\u00ab\u201e]|["\u201c\u00ab\u201e].*["\u201d\u00bb\u201c]')
"""Words that the assistant puts into somebody's mouth are no promise of its own."""
_LASTING_CUES = frozenset({"lasting", "wish", "limit"})
_PROMISE_WEIGHT = 0.55
_PROMISE_STEMS = 2
_CLEAR_PROMISE_STEMS = 4
"""A promise with fewer words of meaning is told with what it answers."""
_GIVEN_WORDS = 22
"""With so many words behind it a promise is kept in the same breath."""
_DELIVERED_WORDS, _DELIVERED_SHARE = 45, 0.5
_DEFERRED = frozenset({"later", "deferral", "when_ready"})
_ASKED_FOR = frozenset({"request", "imperative", "offer", "when_ready"})
_LISTS, _LISTED = "open_loop", "On the list"
"""The tool that puts something on the list, and how its result begins when it did."""
_LISTED_WEIGHT = 0.7


def read_by_rules(request: ReadingRequest, languages: Languages) -> SessionNotes:
    """Return the notes so far together with what the new turns add, correct and settle. Never raises."""
    turns = [*request.before, *request.turns]
    so_far = request.notes.names if request.notes else ()
    said = read_turns(turns, languages, request.zone, request.language, frozenset((*request.names, *so_far)))
    language = said[0].language if said else languages.get(request.language)
    work = _RulesReading(request, language)
    for number, each in enumerate(said):
        if number >= len(request.before):
            work.read(each, said[number - 1] if number else None)
    return work.notes(said[len(request.before) :])


@dataclass(slots=True)
class _RulesReading:
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
            if isinstance(each, Matter):
                self._note(each.matter_id, each.text, each.due_at_ms, lasts=False, todo=each.kind in _ENDING)
            else:
                self._note(each.note_id, each.text, None, lasts=True, todo=False)
        if so_far is None:
            return
        self.settled += so_far.settled
        for matter in so_far.matters:
            self.matters[matter.matter_id] = matter
            if matter.status == "open":
                self._note(matter.matter_id, matter.text, matter.due_at_ms, lasts=False, todo=matter.kind in _ENDING)
        for note in so_far.lasting:
            self.lasting[note.note_id] = note
            self._note(note.note_id, note.text, None, lasts=True, todo=False)

    def read(self, said: TurnClauses, before: TurnClauses | None) -> None:
        """Let one turn settle, correct and add."""
        reply_before = before.reply_stems if before else frozenset()
        for number, clause in enumerate(map(without_mere_clock, said.user)):
            self._settle(settled_by(clause, list(self.noted.values()), reply_before), clause)
            mere = value_alone(clause, list(self.noted.values()), self.language)
            if mere is not None and self._revalue(mere, clause, f"{clause.turn_id}.u{number}"):
                continue
            self._take(clause, f"{clause.turn_id}.u{number}", said, before)
        self._deliver(said)
        for number, clause in enumerate(said.assistant):
            if all(each.asks or _share(clause, each) < _RESTATED for each in said.user):
                self._promise(clause, f"{clause.turn_id}.a{number}", said, before)
        for number, call in enumerate(said.turn.tool_calls):
            if call.name == _LISTS and call.result.startswith(_LISTED):
                self._listed(call, f"{said.turn.turn_id}.l{number}", said)

    def _take(self, clause: Clause, key: str, said: TurnClauses, before: TurnClauses | None) -> None:
        """Note a clause in the place of what it corrects; a reason that stays true is a note of its own."""
        noted = list(self.noted.values())
        wrong = corrected_by(clause, noted, self.language)
        bare = [each.key for each in noted if each.key in wrong and says_only_the_value(clause, each, self.language)]
        if bare and self._revalue(bare[-1], clause, key):
            for gone in wrong:
                self._drop(gone)
            return
        reason = None if wrong else with_reason(clause, self.language)
        if reason is not None:
            self._add(reason, f"{key}r", said, before, ())
            clause = replace(clause, stems=clause.stems - reason.stems, cues=clause.cues - _LASTING_CUES)
        if reason is None or owes(clause) or clause.due is not None:
            self._add(clause, key, said, before, tuple(wrong), stays=reason is None)

    def _settle(self, keys: Iterable[str], clause: Clause) -> None:
        """Note what ended; a matter of this session changes its status."""
        for key in keys:
            self._end(key, clause, "dropped" if "drop" in clause.cues else "settled")

    def _end(self, key: str, clause: Clause, ending: Ending) -> None:
        """Note that something ended, by the clause that says so."""
        self.noted.pop(key, None)
        if key in self.matters:
            self.matters[key] = self.matters[key].model_copy(update={"status": ending})
        self.settled.append(
            Settled(
                matter_id=key, text=clause.text[:TEXT_MAX_CHARS], ending=ending,
                turn_ids=(clause.turn_id,), said_at_ms=clause.at_ms,
            )
        )  # fmt: skip

    def _add(  # what a note is made of
        self,
        clause: Clause,
        key: str,
        said: TurnClauses,
        before: TurnClauses | None,
        wrong: tuple[str, ...],
        *,
        stays: bool = True,
    ) -> None:
        """Note a clause that is worth it, in the place of what it restates or corrects.

        Without `stays` it is no lasting note: what stays true in it was noted before.
        """
        text, turn_ids = standing_alone(clause, before)
        stated = stated_fact(clause, self.language) if stays else None
        later = asked_for_later(clause, said)
        weight = max(weigh(clause, said, named=text != clause.text), STATED_WEIGHT if stated or later else 0.0)
        kind = stated[0] if stated else lasting_kind(clause) if stays and not later else None
        clear = kind is not None or clause.due is not None or is_todo(clause)
        least = CLEAR_FROM if clear else 2 * WORTH_SHOWING if closes(clause) else WORTH_SHOWING
        faint = weight < least and not wrong
        if not text or (is_courtesy(clause) and not stated) or (faint and weight < FAINT_FROM):
            return
        again = same_matter(clause.stems, self.noted.values(), _RESTATED)
        if again is not None and faint:
            return
        if again is not None and again.key not in wrong:
            self._drop(again.key)
            wrong = (*wrong, again.key)
        for gone in wrong:
            self._drop(gone)
        if kind is not None:
            self.lasting[key] = LastingNote(
                note_id=key, kind=kind, text=text, quoted="user", subject=stated[1] if stated else "",
                turn_ids=turn_ids,
                said_at_ms=clause.at_ms, weight=weight, faint=faint, replaces=wrong,
            )  # fmt: skip
        else:
            due = clause.due
            self.matters[key] = Matter(
                matter_id=key, kind=matter_kind(clause, said), text=text, quoted="user", owner=owner_of(clause, said),
                due_at_ms=due.due_at_ms if due else None, due_exact=bool(due and due.exact),
                turn_ids=turn_ids, said_at_ms=clause.at_ms, weight=weight, faint=faint, replaces=wrong,
            )  # fmt: skip
        self._note(
            key,
            text,
            clause.due.due_at_ms if clause.due else None,
            lasts=kind is not None,
            todo=kind is None and matter_kind(clause, said) in _ENDING,
            place=clause.place,
            numbers=clause.numbers,
            stems=clause.stems,
        )

    def _revalue(self, old: str, clause: Clause, key: str) -> bool:
        """Let a mere value correct a note: both are quoted, the newer last. False if that is too long."""
        before = {m.matter_id: m for m in self.request.open_matters} | {n.note_id: n for n in self.request.lasting}
        note = self.matters.get(old) or self.lasting.get(old) or before.get(old)
        if note is None or len(note.text) + len(clause.text) > TEXT_MAX_CHARS - len(_JOINT):
            return False
        turn_ids = tuple(dict.fromkeys((*note.turn_ids, clause.turn_id)))
        changed = {"text": f"{note.text}{_JOINT}{clause.text}", "turn_ids": turn_ids, "said_at_ms": clause.at_ms}
        self._drop(old)
        due_at_ms = None
        if isinstance(note, Matter):
            if clause.due is not None:
                changed |= {"due_at_ms": clause.due.due_at_ms, "due_exact": clause.due.exact}
            corrected = note.model_copy(update=changed | {"matter_id": key, "replaces": (*note.replaces, old)})
            self.matters[key], due_at_ms = corrected, corrected.due_at_ms
        else:
            self.lasting[key] = note.model_copy(update=changed | {"note_id": key, "replaces": (*note.replaces, old)})
        todo = isinstance(note, Matter) and note.kind in _ENDING
        self._note(
            key, str(changed["text"]), due_at_ms, lasts=isinstance(note, LastingNote), todo=todo, place=clause.place
        )
        return True

    def _promise(self, clause: Clause, key: str, said: TurnClauses, before: TurnClauses | None) -> None:
        """Note what the assistant said it would do later, with what was asked of it where it does not say that."""
        if not is_promised(clause, said):
            return
        text, turn_ids = promised_text(clause, said, before)
        if len(stems_of_text(text, self.language)) < _PROMISE_STEMS:
            return
        due = clause.due
        self.matters[key] = Matter(
            matter_id=key, kind="promise", text=text,
            quoted="assistant" if text == clause.text else "user", owner="assistant",
            due_at_ms=due.due_at_ms if due else None, due_exact=bool(due and due.exact),
            turn_ids=turn_ids, said_at_ms=clause.at_ms, weight=_PROMISE_WEIGHT,
        )  # fmt: skip
        self._note(key, text, due.due_at_ms if due else None, lasts=False, todo=True, place=clause.place)

    def _deliver(self, said: TurnClauses) -> None:
        """End what the assistant promised and gives now: a long answer that speaks of it."""
        if sum(clause.words for clause in said.assistant) < _DELIVERED_WORDS:
            return
        spoken = said.reply_stems.union(*(clause.stems for clause in said.user))
        mine = [m for m in self.matters.values() if m.owner == "assistant" and m.status == "open"]
        for matter in (*mine, *(m for m in self.request.open_matters if m.owner == "assistant")):
            noted = self.noted.get(matter.matter_id)
            if noted and noted.stems and len(noted.stems & spoken) >= _DELIVERED_SHARE * len(noted.stems):
                self._end(matter.matter_id, said.assistant[0], "settled")

    def _listed(self, call: ToolCall, key: str, said: TurnClauses) -> None:
        """Note what the assistant put on the list in so many words, since the person wanted it there."""
        arguments = json.loads(call.arguments)
        text = " ".join(str(arguments.get("text", "")).split())[:TEXT_MAX_CHARS]
        due = find_due(str(arguments.get("due") or ""), said.turn.created_at_ms, self.request.zone, self.language)
        if text:
            self.matters[key] = Matter(
                matter_id=key, kind="task", text=text, owner=str(arguments.get("owner") or "user"),
                due_at_ms=due.due_at_ms if due else None, due_exact=bool(due and due.exact),
                turn_ids=(said.turn.turn_id,), said_at_ms=said.turn.created_at_ms, weight=_LISTED_WEIGHT,
            )  # fmt: skip
            self._note(key, text, due.due_at_ms if due else None, lasts=False, todo=True, place=-1)

    def _note(  # what the comparison needs of a note
        self,
        key: str,
        text: str,
        due_at_ms: int | None,
        *,
        lasts: bool,
        todo: bool,
        place: int = -1,
        numbers: frozenset[str] | None = None,
        stems: frozenset[str] | None = None,
    ) -> None:
        digits = frozenset(word.strip(".,:;()?") for word in text.lower().split() if any(map(str.isdigit, word)))
        self.noted[key] = Noted(
            key=key,
            stems=stems if stems is not None else stems_of_text(text, self.language),
            numbers=numbers if numbers is not None else digits,
            due_at_ms=due_at_ms, place=place, lasts=lasts, todo=todo, names=self._names_in(text),
        )  # fmt: skip

    def _names_in(self, text: str) -> frozenset[str]:
        known = {*self.names, *self.request.names}
        return frozenset(word for word in words_of(lowered(text)) if word in known)

    def _drop(self, key: str) -> None:
        """Take away what was restated or corrected; an earlier session's stays there and is replaced by id."""
        self.noted.pop(key, None)
        self.matters.pop(key, None)
        self.lasting.pop(key, None)

    def notes(self, said: list[TurnClauses]) -> SessionNotes:
        """Return the notes as they stand."""
        request, so_far = self.request, self.request.notes
        matters = sorted(self.matters.values(), key=lambda m: -m.weight)[:MATTERS_MAX]
        lasting = sorted(self.lasting.values(), key=lambda n: -n.weight)[:LASTING_MAX]
        spoken = Counter(stem for each in said for stem in each.reply_stems & _stems_of(each.user))
        title, title_ids = title_of(matters, lasting, self.language, spoken)
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


def _stems_of(clauses: Iterable[Clause]) -> frozenset[str]:
    return frozenset[str]().union(*(clause.stems for clause in clauses))


def standing_alone(clause: Clause, before: TurnClauses | None) -> tuple[str, tuple[str, ...]]:
    """Return the words to quote and the turns they come from; "" when they mean nothing alone.

    What begins with a bare pronoun, or says what is to be done without saying of what, brings what was said before it;
    an answer of a word or two brings the question.
    """
    if len(clause.stems) < _ANSWER_STEMS and not clause.before and before is not None:
        asked = [each for each in before.assistant if each.asks]
        if asked and len(asked[-1].text) + len(clause.text) < TEXT_MAX_CHARS - len(_JOINT):
            return f"{asked[-1].text}{_JOINT}{clause.text}", (asked[-1].turn_id, clause.turn_id)
    if "bare" in clause.cues or leans(clause):
        if clause.before and len(clause.before) + len(clause.text) < TEXT_MAX_CHARS:
            return f"{clause.before} {clause.text}", (clause.turn_id,)
        named = [each for each in (before.user if before else ()) if says_of_what(each, clause)]
        named = [each for each in named if each.names or "kin" in each.cues] or named
        named = named or [each for each in (before.assistant if before else ()) if suggests(each, clause)]
        if named and len(named[-1].text) + len(clause.text) < TEXT_MAX_CHARS - len(_JOINT):
            return f"{named[-1].text}{_JOINT}{clause.text}", (named[-1].turn_id, clause.turn_id)
        if "bare" in clause.cues and len(clause.stems) < _CLEAR_STEMS:
            return "", ()
    return clause.text[:TEXT_MAX_CHARS], (clause.turn_id,)


def leans(clause: Clause) -> bool:
    """Return whether the clause says that something is to be done or awaited, but not of what: "I'll ring them"."""
    acts = is_todo(clause) or "waits" in clause.cues or clause.due is not None
    if not acts or clause.names or {"event", "kin"} & clause.cues or len(clause.stems) >= _CLEAR_STEMS:
        return False
    return "pronoun" in clause.cues or len(clause.stems) < _ANSWER_STEMS


def says_of_what(clause: Clause, later: Clause) -> bool:
    """Return whether the clause can say who "he" is in a later one, or what is to be done there."""
    if "bare" in clause.cues or len(clause.stems) < _ANSWER_STEMS:
        return False
    return bool(clause.names or "kin" in clause.cues) or "bare" not in later.cues


def suggests(clause: Clause, later: Clause) -> bool:
    """Return whether the assistant's clause can be what the person takes on in the next message."""
    if len(clause.stems) < _ANSWER_STEMS or "bare" in clause.cues:
        return False
    advises = bool(clause.names or clause.asks or {"imperative", "proposal", "request"} & clause.cues)
    return advises or "pronoun" in later.cues or owes(later)


def is_promised(clause: Clause, said: TurnClauses) -> bool:
    """Return whether the assistant takes something upon itself that it has not done by the end of its answer."""
    if not {"commitment", "will_do"} & clause.cues or {"not_a_promise", "offer", "hypothetical"} & clause.cues:
        return False
    if clause.asks or _QUOTED.search(clause.text) or len(clause.text) > CLAUSE_MAX_CHARS:
        return False
    after = said.turn.assistant_text.partition(clause.text[-_TAIL_CHARS:])[2]
    if len(after.split()) >= _GIVEN_WORDS or "\n" in after.strip() or clause.text.endswith(":"):
        return False
    asked = any(each.asks or _ASKED_FOR & each.cues for each in said.user)
    return asked or bool(_DEFERRED & clause.cues) or clause.due is not None


def promised_text(clause: Clause, said: TurnClauses, before: TurnClauses | None) -> tuple[str, tuple[str, ...]]:
    """Return the promise and its turns; where it says little alone ("I'll do it"), with what was asked for."""
    text, stems = clause.text, clause.stems
    turn_ids: tuple[str, ...] = (clause.turn_id,)
    earlier = [each for each in (before.user if before else ()) if len(each.stems) >= _ANSWER_STEMS]
    asked = [each for each in (*earlier, *said.user) if each.asks or _ASKED_FOR & each.cues]
    nearest = asked[-1:] or list(said.user[-1:])
    for each in (*nearest, *(one for one in earlier[-1:] if one not in nearest)):
        clear = len(stems) >= _CLEAR_PROMISE_STEMS and (each not in asked or stems & each.stems)
        if clear or len(each.text) + len(text) > TEXT_MAX_CHARS - len(_JOINT):
            break
        text, stems = f"{each.text}{_JOINT}{text}", stems | each.stems
        turn_ids = tuple(dict.fromkeys((each.turn_id, *turn_ids)))
    return text, turn_ids


def _share(one: Clause, other: Clause) -> float:
    together = len(one.stems | other.stems)
    return len(one.stems & other.stems) / together if together else 0.0


def without_mere_clock(clause: Clause) -> Clause:
    """Return the clause without a due time that is only a time of day in a report ("the page was at 02:51")."""
    near = clause.due is not None and clause.due.due_at_ms - clause.at_ms < DAY_MS
    meant = _MEANS_A_DAY & clause.cues
    return replace(clause, due=None) if near and not meant else clause


def is_courtesy(clause: Clause) -> bool:
    """Return whether the clause is a greeting or the like and hardly more."""
    return bool({"greeting", "goodbye", "thanks"} & clause.cues) and len(clause.stems) < _ANSWER_STEMS


def stated_fact(clause: Clause, language: Language) -> tuple[LastingKind, str] | None:
    """Return the kind and the subject of what the person states in so many words, e.g. where they live; else None."""
    if clause.asks or "hypothetical" in clause.cues:
        return None
    for rule in language.facts:
        found = rule.pattern.search(clause.lower) or rule.pattern.search(clause.text)
        if found:
            subject = rule.subject.format(**{name: (value or "").strip() for name, value in found.groupdict().items()})
            return cast("LastingKind", rule.kind), subject
    return None


def lasting_kind(clause: Clause) -> LastingKind | None:
    """Return which kind of lasting note the clause is; None for one that comes to an end."""
    ends = clause.due is not None or is_todo(clause) or "waits" in clause.cues or clause.asks
    if ends or not _LASTING_CUES & clause.cues:
        return None
    if "wish" in clause.cues:
        return "preference"
    if "limit" in clause.cues:
        return "constraint"
    return "relationship" if "kin" in clause.cues else "fact"


def matter_kind(clause: Clause, said: TurnClauses) -> MatterKind:
    """Return which kind of matter the clause is; a question is one only while its answer asks back."""
    awaited = "waits" in clause.cues or ("others" in clause.cues and bool(clause.actor))
    kinds: tuple[tuple[MatterKind, bool], ...] = (
        ("promise", asked_for_later(clause, said)),
        ("task", owes(clause)),
        ("promise", awaited),
        ("task", clause.is_deadline and not clause.asks),
        ("event", clause.due is not None or "event" in clause.cues),
        ("question", clause.asks and bool(said.assistant) and said.assistant[-1].asks),
        ("theme", "feeling" in clause.cues),
    )
    return next((kind for kind, holds in kinds if holds), "project")


def asked_for_later(clause: Clause, said: TurnClauses) -> bool:
    """Return whether the assistant is asked to do something at another time, and so does not do it now."""
    asked = {"imperative", "request"} & clause.cues and "when_ready" in clause.cues
    brief = sum(each.words for each in said.assistant) < _GIVEN_WORDS
    return bool(asked) and brief and not (owes(clause) or closes(clause))


def owner_of(clause: Clause, said: TurnClauses) -> str:
    """Return who has to act: somebody named in a clause about what others do, else the person."""
    if asked_for_later(clause, said):
        return "assistant"
    if is_todo(clause) or not {"others", "waits"} & clause.cues:
        return "user"
    return clause.actor or "user"
