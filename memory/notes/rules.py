"""The reader without a model: it picks instead of rewriting. Pure and deterministic.

A note is a short quote of the person, chosen for what it holds and cut where it can stand alone. Each turn changes what
was noted before it: what it names as done is settled, what it corrects is replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.time_rules import first, rules_of
from memory.notes import rearranged
from memory.notes.clauses import Clause, TurnClauses, read_turns, with_reason
from memory.notes.corrections import (
    corrected_by,
    corrects_nothing,
    names_the_matter,
    says_only_the_value,
    value_alone,
)
from memory.notes.habits import given_up_in, is_given_up
from memory.notes.kinds import (
    asked_for_later,
    is_courtesy,
    is_habit,
    is_momentary,
    lasting_kind,
    matter_kind,
    owner_of,
    stated_fact,
)
from memory.notes.moves import is_set_aside, moved_alone, put_off, rescheduled
from memory.notes.noted import NEAR_TURNS, Noted, is_debt, same_matter
from memory.notes.parts import is_added, parts_ended, put_added, put_rest, says_no_more
from memory.notes.promises import (
    accepted_offer,
    agreed,
    asked_about,
    asked_for,
    is_delivered,
    is_put_on_the_list,
    only_agrees,
    only_recalls,
    only_reminds_of,
    only_says_when_to_remind,
    promise_of,
    put_on_the_list,
)
from memory.notes.quoting import JOINT, standing_alone, without_denied
from memory.notes.scenes import is_scene, scene_of, tells_a_story
from memory.notes.settle import settled_by
from memory.notes.so_far import NotesSoFar, day_of
from memory.notes.types import (
    DAY_MS,
    TEXT_MAX_CHARS,
    Ending,
    LastingNote,
    Matter,
    ReadingRequest,
    SessionNotes,
    Settled,
)
from memory.notes.values import Put, denying_part, put_later, put_right, put_when
from memory.notes.weigh import LASTING_CUES, calls_off, closes, is_todo, owes, signs_of, weigh
from memory.types import REMINDS, ConversationTurn, ToolCall

WORTH_SHOWING = 0.17
"""What weighs less was only said in passing."""
CLEAR_FROM = 0.09
"""A task, a day ahead or what stays true is seldom said with many words."""
FAINT_FROM = 0.05
"""What weighs less is only talk, and not noted at all."""
STATED_WEIGHT = 0.4
"""The least weight of a fact that somebody states outright ("I live in Bonn")."""
_RESTATED = 0.6
_MEANS_A_DAY = frozenset({"obligation", "commitment", "intention", "event", "others", "waits", "request", "kin"})


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
    if work.is_story(turns):
        work.tell(said[len(request.before) :])
    return work.notes(said[len(request.before) :])


class _RulesReading(NotesSoFar):
    """The rules at work on the notes of one session."""

    def is_story(self, turns: Sequence[ConversationTurn]) -> bool:
        """Return whether a story is told in this session."""
        return tells_a_story(turns) or any(map(is_scene, self.matters.values()))

    def tell(self, said: Sequence[TurnClauses]) -> None:
        """Note where the story stands now, in the place of where it stood."""
        scene = scene_of(said)
        if scene is None:
            return
        earlier = [each.matter_id for each in (*self.request.open_matters, *self.matters.values()) if is_scene(each)]
        for gone in earlier:
            self.drop(gone)
        self.matters[scene.matter_id] = scene.model_copy(update={"replaces": tuple(dict.fromkeys(earlier))})

    def read(self, said: TurnClauses, before: TurnClauses | None) -> None:
        """Let one turn settle, correct and add."""
        if said.turn.action_name in rearranged.CHANGES and self._rearrange(said.turn):
            return
        reply_before = before.reply_stems if before else frozenset()
        offer = accepted_offer(said, before, self.language)
        asked_before = frozenset[str]().union(*(each.stems for each in asked_for(before)))
        for number, each in enumerate(said.user):
            plain = without_mere_clock(each, self.request.zone, self.language)
            key = f"{plain.turn_id}.u{number}"
            ended = self._ended(plain, reply_before, asked_before, bare=said.turn.authored is None)
            self._settle(ended, plain)
            in_part = self._end_parts(plain, f"{key}p")
            clause = replace(plain, reports=bool(ended or in_part))
            if is_momentary(plain, self.language) or self._put_right(each, key, before):
                continue
            if (offer is not None and only_agrees(clause, said)) or self._ends_alone(clause, said, in_part):
                continue
            self._take(clause, key, said, before)
        self._deliver(said)
        if offer is not None:
            self._agree(offer, said)
        for number, clause in enumerate(said.assistant if offer is None else ()):
            if all(each.asks or _share(clause, each) < _RESTATED for each in said.user):
                self._promise(clause, f"{clause.turn_id}.a{number}", said, before)
        for number, call in enumerate(said.turn.tool_calls):
            if is_put_on_the_list(call):
                self._listed(call, f"{said.turn.turn_id}.l{number}", said)

    def _rearrange(self, turn: ConversationTurn) -> bool:
        """Let what set a reminder end or move with it; False when nothing noted did."""
        title, ending = rearranged.title_in(turn), rearranged.ENDINGS.get(turn.action_name or "")
        matters = [*self.request.open_matters, *self.matters.values()]
        about = rearranged.reminded_of(title, [m for m in matters if m.matter_id in self.noted], self.language)
        for matter in about:
            if ending is not None:
                self.end_by(matter.matter_id, title, turn, ending)
                continue
            moved = rearranged.moved(matter, turn, self.request.zone, self.language)
            if moved is not None:
                self.succeed(matter, moved, f"{turn.turn_id}.u0")
        return bool(about)

    def _ended(
        self, clause: Clause, reply_before: frozenset[str], asked_before: frozenset[str], *, bare: bool
    ) -> Sequence[str]:
        """Return the keys of what the clause ends; "I moved the dentist to the 4th" ends nothing."""
        noted, compounds = list(self.noted.values()), self.language.nouns_are_large
        if rescheduled(clause, noted, self.language):
            return ()
        return settled_by(clause, noted, reply_before, asked_before, compounds=compounds, bare=bare)

    def _ends_alone(self, clause: Clause, said: TurnClauses, in_part: Sequence[Noted]) -> bool:
        """Return whether the clause only ends, corrects or recalls; `in_part` are lists of which it ends parts."""
        noted = list(self.noted.values())
        none = corrects_nothing(clause, noted, self.language) or only_recalls(clause, noted, self.language)
        none = none or only_says_when_to_remind(clause, self.request.zone, self.language)
        none = none or only_reminds_of(clause, said, noted, self.request.zone, self.language)
        return none or "forget" in clause.cues or calls_off(clause) or says_no_more(clause, in_part)

    def _end_parts(self, clause: Clause, key: str) -> list[Noted]:
        """Take what the clause reports as done out of the lists that it is on; return these lists as they were."""
        before = dict(self.noted)
        parts = parts_ended(clause, list(before.values()), self.language)
        lists = [
            before[old]
            for number, (old, done) in enumerate(parts.items())
            if self._revalue([old], clause, f"{key}{number}", put_rest(done))
        ]
        if lists:
            self.settled.append(
                Settled(text=clause.text[:TEXT_MAX_CHARS], turn_ids=(clause.turn_id,), said_at_ms=clause.at_ms)
            )
        return lists

    def _add_to_list(self, clause: Clause, key: str) -> bool:
        """Put what is only named behind "also" on the list that was told just before; False without one."""
        if not is_added(clause, self.language):
            return False
        just = [each for each in self.noted.values() if each.place >= 0 and 0 < clause.place - each.place <= NEAR_TURNS]
        told = [each.key for each in just if each.todo and each.mine]
        return bool(told) and self._revalue(told[-1:], clause, key, put_added)

    def _give_up(self, clause: Clause, key: str) -> bool:
        """Let "I no longer ..." end what is noted of it; True where it stands in the place of a lasting note."""
        stopped = given_up_in(clause.lower, self.language) if "no_longer" in clause.cues else None
        if stopped is None:
            return False
        known = [note for ref in self.noted if (note := self.noted_as(ref)) is not None]
        given_up = [note for note in known if is_given_up(stopped, note.text, self.language)]
        for note in given_up:
            if isinstance(note, Matter):
                self._end(note.matter_id, clause, "dropped")
        lasting = [note for note in given_up if isinstance(note, LastingNote)]
        if lasting:
            replaces = tuple(dict.fromkeys(ref for note in lasting for ref in (*note.replaces, note.note_id)))
            for note in lasting:
                self.drop(note.note_id)
            changed: dict[str, object] = {
                "note_id": key,
                "replaces": replaces,
                "text": clause.text[:TEXT_MAX_CHARS],
                "quoted": "user",
            }
            changed |= {"turn_ids": (clause.turn_id,), "said_at_ms": clause.at_ms, "faint": False}
            self.lasting[key] = lasting[-1].model_copy(update=changed)
            self.take_down(self.lasting[key], clause)
        return bool(lasting)

    def _put_right(self, clause: Clause, key: str, before: TurnClauses | None) -> bool:
        """Let a value alone, or a request to move something by its name, change what was noted; False for others."""
        noted = list(self.noted.values())
        mere = value_alone(clause, noted, self.language, asked_about(before, self.language))
        moved = rescheduled(clause, noted, self.language)
        if moved and is_set_aside(clause, self.noted[moved[0]], self.language):
            return self._set_aside(moved[0], clause, key)
        if moved and self._revalue(moved, clause, key, put_when):
            return True
        valued = bool(clause.due or clause.numbers)
        return mere is not None and self._revalue([mere], clause, key, both=valued)

    def _set_aside(self, old: str, clause: Clause, key: str) -> bool:
        """Let a matter rest until the day that the clause names; False for one that is not at hand."""
        before = {matter.matter_id: matter for matter in self.request.open_matters}
        matter = self.matters.get(old) or before.get(old)
        if matter is None or clause.due is None:
            return False
        rests = {"turn_ids": (*matter.turn_ids, clause.turn_id), "snoozed_until_ms": clause.due.due_at_ms}
        self.succeed(matter, matter.model_copy(update=rests), key)
        return True

    def _take(self, clause: Clause, key: str, said: TurnClauses, before: TurnClauses | None) -> None:
        """Note a clause in the place of what it corrects; a reason that stays true is a note of its own."""
        if self._add_to_list(clause, key) or self._give_up(clause, key):
            return
        noted = [each for each in self.noted.values() if said.turn.action_name != REMINDS or not each.is_event]
        later = put_off(clause, noted)
        named = any(each.key in later and names_the_matter(clause, each) for each in noted)
        if later and self._revalue(later, clause, f"{key}d", put_later):
            if named:
                return
            noted = [each for each in self.noted.values() if each.key != f"{key}d"]
        beside = said.reply_stems.union(*(each.stems for each in said.user))
        wrong = corrected_by(clause, noted, self.language) or moved_alone(clause, noted, beside, self.language)
        bare = [each.key for each in noted if each.key in wrong and self._only_corrects(clause, each)]
        if bare and self._revalue([*wrong, bare[-1]], clause, key):
            return
        wrong = list(self._put_right_in_part(wrong, clause, key))
        reason = None if wrong else with_reason(clause, self.language)
        if reason is not None:
            self._add(reason, f"{key}r", said, before, ())
            reason = reason if f"{key}r" in self.lasting else None
        if reason is not None:
            clause = replace(clause, stems=clause.stems - reason.stems, cues=clause.cues - LASTING_CUES)
        if reason is None or owes(clause) or clause.due is not None:
            self._add(clause, key, said, before, tuple(wrong), stays=reason is None)

    def _put_right_in_part(self, wrong: Sequence[str], clause: Clause, key: str) -> Sequence[str]:
        """Let the part that denies a value put right what says much else; return what the whole clause corrects."""
        note = self.noted.get(wrong[0]) if len(wrong) == 1 else None
        part = denying_part(clause, self.request.zone, self.language) if note else None
        if note is None or part is None or len(clause.stems & note.stems) >= _RESTATED * len(note.stems):
            return wrong
        return () if self._revalue(wrong, part, f"{key}v", both=False) else wrong

    def _only_corrects(self, clause: Clause, noted: Noted) -> bool:
        """Return whether a correction cannot stand for what it corrects: it does not say of what."""
        return says_only_the_value(clause, noted, self.language) or not names_the_matter(clause, noted)

    def _settle(self, keys: Iterable[str], clause: Clause) -> None:
        """Note what ended; a matter of this session changes its status."""
        for key in keys:
            self._end(key, clause, "dropped" if "drop" in clause.cues else "settled")

    def _end(self, key: str, clause: Clause, ending: Ending) -> None:
        """Note that something ended, by the clause that says so."""
        self.end_by(key, clause.text, clause, ending)

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
        text, turn_ids = standing_alone(clause, before, self.language)
        text = without_denied(text, self.language)
        stated = stated_fact(clause, self.language) if stays else None
        later = asked_for_later(clause, said)
        weight = max(weigh(clause, said, named=text != clause.text), STATED_WEIGHT if stated or later else 0.0)
        kind = stated[0] if stated else lasting_kind(clause) if stays and not later else None
        owed = "waits" in clause.cues and not clause.asks and is_debt(clause.text, self.language)
        clear = kind is not None or clause.due is not None or is_todo(clause) or owed
        least = CLEAR_FROM if clear else 2 * WORTH_SHOWING if closes(clause) else WORTH_SHOWING
        faint = (weight < least or (clause.reports and not clear)) and not wrong
        if not text or (is_courtesy(clause) and not stated) or (faint and weight < FAINT_FROM):
            return
        again = same_matter(clause.stems, self.noted.values(), _RESTATED)
        if again is not None and (faint or (again.is_event and said.turn.action_name == REMINDS)):
            return  # the reminder is kept as one, and what it is of goes on
        if again is not None and again.key not in wrong:
            self.drop(again.key)
            wrong = (*wrong, again.key)
        for gone in wrong:
            self.drop(gone)
        due = clause.due
        note: Matter | LastingNote
        if kind is not None:
            note = self.lasting[key] = LastingNote(
                note_id=key, kind=kind, text=text, quoted="user", subject=stated[1] if stated else "",
                turn_ids=turn_ids, said_at_ms=clause.at_ms, weight=weight, faint=faint, replaces=wrong,
            )  # fmt: skip
        else:
            note = self.matters[key] = Matter(
                matter_id=key, kind=matter_kind(clause, said), text=text, quoted="user", owner=owner_of(clause, said),
                due_at_ms=due.due_at_ms if due else None, due_exact=bool(due and due.exact),
                turn_ids=turn_ids, said_at_ms=clause.at_ms, weight=weight, faint=faint, replaces=wrong,
                signs=signs_of(clause, said),
            )  # fmt: skip
        self.take_down(note, clause)

    def _revalue(
        self, wrong: Sequence[str], clause: Clause, key: str, put: Put = put_right, *, both: bool = True
    ) -> bool:
        """Let a value correct the last of these notes, which stands for all of them: it takes the old one's place.

        Where it cannot, both are quoted. False if that is too long or not wanted, and nothing is changed.
        """
        note = self.noted_as(wrong[-1])
        if note is None:
            return False
        known = frozenset({*self.names, *self.request.names})
        right = put(note, clause, self.request.zone, self.language, known)
        text = right.text if right else f"{note.text}{JOINT}{clause.text}"
        if len(text) > TEXT_MAX_CHARS or not (right or both):
            return False
        turn_ids = tuple(dict.fromkeys((*note.turn_ids, clause.turn_id)))
        changed: dict[str, object] = {"text": text, "turn_ids": turn_ids, "said_at_ms": clause.at_ms}
        if right:
            changed["quoted"] = None
        for gone in wrong:
            self.drop(gone)
        replaces = tuple(dict.fromkeys((*note.replaces, *wrong)))
        corrected: Matter | LastingNote
        if isinstance(note, Matter):
            if right:
                changed |= {"due_at_ms": right.due_at_ms, "due_exact": right.due_exact}
            elif clause.due is not None:
                changed |= {"due_at_ms": clause.due.due_at_ms, "due_exact": clause.due.exact}
            corrected = note.model_copy(update=changed | {"matter_id": key, "replaces": replaces})
            self.matters[key] = corrected
        else:
            corrected = note.model_copy(update=changed | {"note_id": key, "replaces": replaces})
            self.lasting[key] = corrected
        self.take_down(corrected, place=clause.place)
        return True

    def _promise(self, clause: Clause, key: str, said: TurnClauses, before: TurnClauses | None) -> None:
        """Note what the assistant said it would do later."""
        promise = promise_of(clause, key, said, before, self.language)
        if promise is not None:
            self.matters[key] = promise
            self.take_down(promise, place=clause.place)

    def _agree(self, offer: Clause, said: TurnClauses) -> None:
        """Note what the assistant offered to do and was told to."""
        promise = agreed(offer, said)
        self.matters[promise.matter_id] = promise
        self.take_down(promise, place=offer.place + 1)

    def _deliver(self, said: TurnClauses) -> None:
        """End what the assistant promised and gives now."""
        mine = [m for m in self.matters.values() if m.owner == "assistant" and m.status == "open"]
        for matter in (*mine, *(m for m in self.request.open_matters if m.owner == "assistant")):
            noted = self.noted.get(matter.matter_id)
            if noted is not None and is_delivered(matter, noted.stems, noted.place, said):
                self._end(matter.matter_id, said.assistant[0], "settled")

    def _listed(self, call: ToolCall, key: str, said: TurnClauses) -> None:
        """Note what the assistant put on the list with its tool, since the person wanted it there."""
        listed = put_on_the_list(call, key, said, self.request.zone)
        if listed is not None:
            self.matters[key] = listed
            self.take_down(listed)


def _share(one: Clause, other: Clause) -> float:
    together = len(one.stems | other.stems)
    return len(one.stems & other.stems) / together if together else 0.0


def without_mere_clock(clause: Clause, zone: str, language: Language) -> Clause:
    """Return the clause without a due time that is only a time of day in a report ("the page was at 02:51").

    A day of the week is meant also where it is tomorrow's.
    """
    due = clause.due
    says_day = due is not None and (
        len(due.spans) > 1 or bool(first(rules_of(language).weekdays, clause.lower[slice(*due.spans[0])]))
    )
    another_day = due is not None and says_day and day_of(due.due_at_ms, zone) > day_of(clause.at_ms, zone)
    near = due is not None and due.due_at_ms - clause.at_ms < DAY_MS and not another_day
    meant = not clause.asks and _MEANS_A_DAY & clause.cues
    return replace(clause, due=None) if (near and not meant) or is_habit(clause) else clause
