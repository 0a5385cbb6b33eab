"""The concierge without a language model: notes what it is told, finds it again, keeps track, and says what it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, Protocol

import structlog

from bot.answers.offline.acknowledge import changes
from bot.answers.offline.answers import compose, is_more
from bot.answers.offline.known import asks_for_money, topic_of
from bot.answers.offline.material import Glance, Material, Quote, Reply, TakenBack
from bot.answers.offline.notes import (
    StatedNote,
    alive,
    correction_of,
    note_of_memory,
    noted,
    notes_of,
    same,
    standing,
)
from bot.answers.offline.quotes import quotes_of
from bot.answers.offline.request import LONGEST_NOD, Request, read_request
from bot.answers.offline.words import words_of
from bot.answers.open_list import ListedLoop, open_matters
from bot.answers.responder import Answer, Ask, Show
from bot.answers.take_back import UNDO_NOTE
from bot.delivery.outbox import Button
from bot.reminders.rules import Reminder, advance_reminder, move_to, read_reminder, upcoming_reminders
from bot.reminders.steps import back as step_back
from bot.reminders.steps import stands, taken
from memory.context.assembler import SearchPort
from memory.errors import ContinuityError
from memory.language.languages import Languages
from memory.language.sentences import clean, lowered
from memory.notes.lines import loop_of
from memory.notes.rearranged import reminded_of, says_all_of
from memory.notes.requests import BEFORE_TURNS, request_of
from memory.notes.rules import read_by_rules
from memory.notes.store import ask_to_read_again
from memory.notes.types import LastingNote, Matter, ReadingRequest, SessionNotes
from memory.notes.view import NotesView
from memory.ports import Statement
from memory.search.query import Query
from memory.search.searcher import unindex_memory
from memory.sessions.evidence import state_of_row
from memory.state.listed import show
from memory.state.loops import says_the_same
from memory.state.state_manager import adopt_loop, apply_turn, close_loop, end_job, keep_job_steps, read_turn, undo
from memory.storage.store import Store
from memory.types import UNDOES, ConversationTurn, JobStep, Memory, OpenLoop, SessionState

MAX_SESSIONS: Final = 8
"""At most this many other sessions are read for notes; what lies further back, the search and the memories find."""
MAX_TURNS: Final = 120
"""At most this many of a session's turns are read, the newest."""
MAX_MEMORIES: Final = 200
MAX_FOUND: Final = 12
MAX_GLANCES: Final = 3
UNDONE_TURNS: Final = 3
"""So far back "undo" reaches."""
_FOREIGN: Final = "lorem ipsum dolor sit amet consectetur adipiscing"
"""Of no language with data: makes the library load that is asked then."""
_SEARCHED: Final = frozenset({"know", "question", "task"})
_GLANCED: Final = frozenset({"talked", "summarize", "greeting"})
_REPORTS: Final = frozenset({"done", "drop"})
_TOLD: Final = frozenset({"tell", "done", "drop", "task", "remind", "no"})
_CORRECTS: Final = ("correct", "negates", "moves", "no", "reschedules")
"""Cues of a message that may put something right."""
_OPEN: Final = frozenset({"open", "summarize", "greeting", "goodbye", "done", "drop", "forget", "yes", "no", "choice"})
"""Kinds of messages that speak of what is open, or may end it."""
log = structlog.get_logger(__name__)


class NotesReader(Protocol):
    """What the notes of a conversation's sessions say; `memory.notes.current.CurrentNotes` is one."""

    async def sessions(
        self, conversation_id: str, *, only: str | None = None, catch_up: bool = True
    ) -> list[SessionNotes]:
        """Return the notes of the latest sessions, oldest first."""
        ...

    async def view(
        self,
        conversation_id: str,
        *,
        only: str | None = None,
        user_id: int | None = None,
        catch_up: bool = True,
        without: Collection[str] = (),
    ) -> NotesView:
        """Return what is alive, best first; `without` some turns, as if these were taken back."""
        ...


@dataclass(frozen=True, slots=True)
class _Past:
    """What was said here: turns of this session and of others, oldest first, with what was promoted from them."""

    own: tuple[ConversationTurn, ...] = ()
    others: tuple[tuple[SessionState, tuple[ConversationTurn, ...]], ...] = ()
    memories: tuple[Memory, ...] = ()
    trouble: bool = False
    undone: frozenset[str] = frozenset()
    """Turns whose notes the person took back."""

    @property
    def turns(self) -> tuple[ConversationTurn, ...]:
        """All turns, oldest first within each session."""
        return tuple(turn for _, turns in self.others for turn in turns) + self.own

    @property
    def kept(self) -> list[ConversationTurn]:
        """The turns whose notes stand."""
        return [turn for turn in self.turns if turn.turn_id not in self.undone]


class OfflineResponder:
    """`bot.answers.responder.Responder` without a model: deterministic, offline, from the conversation's own memory.

    In a session that was started fresh nothing of other sessions is used.
    """

    def __init__(
        self, store: Store, searcher: SearchPort | None, languages: Languages, notes: NotesReader | None = None
    ) -> None:
        self._notes = notes
        self._store = store
        self._searcher = searcher
        self._languages = languages

    def tools(self) -> str:
        """Return nothing: there is no model that calls any."""
        return ""

    def instructions(self, ask: Ask) -> str:  # noqa: ARG002 - the port names it
        """Return nothing: there is no prompt."""
        return ""

    def preface(self, persona: str) -> str:  # noqa: ARG002 - the port names it
        """Return nothing: there is no prompt."""
        return ""

    async def warm(self) -> None:
        """Load the language data; never raises."""
        try:
            await asyncio.to_thread(self._warm)
        except Exception:
            log.exception("the concierge could not be warmed")

    async def close(self) -> None:
        """Do nothing: no connection was opened."""

    def _warm(self) -> None:
        for code in self._languages.codes:
            words_of(code)
            read_request("hello", self._languages, fallback=code)
        self._languages.detect(_FOREIGN)

    async def respond(self, ask: Ask, show: Show) -> Answer:
        """Return the answer; a database that cannot be read makes it shorter and says so. Never raises NoAnswer."""
        past = await self._past(ask)
        request, rest = await asyncio.to_thread(_request, ask, past, self._languages)
        if request.kind == "choice" and (completed := _completed(ask, past)):
            ask = replace(ask, text=completed)
            request, rest = await asyncio.to_thread(_request, ask, past, self._languages)
        listed = await self._open(ask, past) if request.kind in _OPEN else []
        back = await self._back(ask, past) if request.kind == "undo" else None
        material = await asyncio.to_thread(  # a thousand turns are read again
            _material, ask, past, self._languages, request, listed, rest=rest, back=back
        )
        if material.request.kind in _SEARCHED and material.request.about:
            material = replace(material, quotes=await self._quotes(ask, material, past))
            material = await self._with_matters(ask, material)
        if material.request.kind in _TOLD:
            material = replace(material, corrected=await self._corrected(ask, material, past))
        if moved := await self._moved(ask, material):
            material = replace(material, moved=moved)
        if material.request.kind in _GLANCED:
            material = await self._with_titles(ask, material)
        reply = await asyncio.to_thread(compose, material)
        show(reply.text)
        return Answer(
            reply.text,
            action_name=reply.action_name,
            authored=" ".join((_in_short(material.request), *reply.asks)),
            effects=tuple(_withdrawn(material, past)),
            job_refs=_job_refs(material),
            change=_changed(reply, material, ask),
            buttons=_undo_button(material),
        )

    async def _back(self, ask: Ask, past: _Past) -> TakenBack | None:
        """Return the latest of the last turns that changed something, with what it changed; None when none did."""
        own = [turn for turn in past.own if turn.turn_id not in past.undone]
        notes, now = noted(own, self._languages), await self._view(ask) or NotesView()
        for turn in reversed(own[-UNDONE_TURNS:]):
            before = await self._view(ask, without=[turn.turn_id]) or NotesView()
            found = replace(
                _taken_back(turn, ask.state.open_loops, before=before.matters, now=now.matters),
                notes=tuple(note for note in notes if note.turn_id == turn.turn_id),
                reminders=await self._steps_of(ask, turn),
            )
            if found != TakenBack(turn):
                return found
        return None

    async def _steps_of(self, ask: Ask, turn: ConversationTurn) -> tuple[tuple[JobStep, Reminder], ...]:
        """Return what a turn did to reminders that are still as it left them."""
        found = []
        for step in (each for each in ask.state.job_steps if each.turn_id == turn.turn_id):
            where = {"job_id": step.job_id, "conversation_id": ask.conversation_id}
            reminders = [read_reminder(row) for row in await self._store.db.read("job_find", **where)]
            found += [(step, reminder) for reminder in reminders if stands(step, reminder)]
        return tuple(found)

    async def _with_titles(self, ask: Ask, material: Material) -> Material:
        """Return the material with sessions named by their notes, as /sessions names them, and what matters in them."""
        if self._notes is None or material.trouble:
            return material
        only = ask.state.session_id if ask.state.isolated else None
        try:
            view = await self._notes.view(ask.conversation_id, only=only, user_id=ask.user_id)
            sessions = await self._notes.sessions(ask.conversation_id, only=only, catch_up=False)
        except ContinuityError as exc:
            log.warning("sessions are named without their notes", error=str(exc))
            return material
        titles = {notes.session_id: notes.title for notes in sessions}

        def named(glance: Glance) -> Glance:
            own = (each for each in view.standings if each.session_id == glance.session_id)
            lines = tuple(each.note.text for each in own if isinstance(each.note, Matter))
            return replace(glance, title=titles.get(glance.session_id, ""), lines=lines)

        current = named(material.current) if material.current else None
        return replace(material, current=current, earlier=tuple(map(named, material.earlier)))

    async def _with_matters(self, ask: Ask, material: Material) -> Material:
        """Return the material with what was noted: days, and what was put right since it was said."""
        view = await self._view(ask, user_id=ask.user_id)
        return replace(material, matters=view.matters) if view else material

    async def _corrected(self, ask: Ask, material: Material, past: _Past) -> tuple[Matter, ...]:
        """Return the noted matters that the message puts right; none for one that corrects or denies nothing."""
        lower, language = material.language.mended(lowered(material.text)), material.language
        if self._notes is None or past.trouble or not any(language.has(cue, lower) for cue in _CORRECTS):
            return ()
        only = ask.state.session_id if ask.state.isolated else None
        try:
            sessions = await self._notes.sessions(ask.conversation_id, only=only)
        except ContinuityError as exc:
            log.warning("it is answered without what it corrects", error=str(exc))
            return ()
        turn = turn_of(ask, _in_short(material.request), self._languages)
        known = _request_to_read(ask, turn, past, self._languages, sessions)
        notes = await asyncio.to_thread(read_by_rules, known, self._languages)
        put_right = (m for m in notes.matters if len(m.turn_ids) > 1 and m.turn_ids[-1] == turn.turn_id and m.replaces)
        return tuple(m for m in put_right if past.undone.isdisjoint(m.turn_ids))

    async def _moved(self, ask: Ask, material: Material) -> tuple[tuple[Reminder, Statement], ...]:
        """Return what moves and ends the reminders of matters that moved or ended, so that both tell the same."""
        corrected = [(m, m.due_at_ms) for m in material.corrected if m.due_at_ms and m.due_at_ms > ask.now_ms]
        ended = [loop for loop in changes(material)[1] if loop.owner == "assistant"]
        if material.trouble or not (corrected or ended):
            return ()
        asked = upcoming_reminders(ask.conversation_id, ask.user_id)
        reminders = [read_reminder(row) for row in await self._store.db.read(asked.name, **asked.params)]
        moves = [
            (each, move_to(each, due_at_ms, ask.now_ms))
            for matter, due_at_ms in corrected
            for each in reminders
            if each.due_at_ms != due_at_ms and reminded_of(each.title, [matter], material.language)
        ]
        moves += [
            (each, advance_reminder(each, "cancel" if loop.status == "dropped" else "finish", ask.now_ms))
            for loop in ended
            for each in reminders
            if not each.repeats and says_all_of(each.title, loop.text, material.language)
        ]
        return tuple(moves)

    async def _open(self, ask: Ask, past: _Past) -> list[ListedLoop]:
        """Return what is open, as /loops lists it; from the sessions' own lists where notes cannot be read."""
        view = None if past.trouble else await self._view(ask)
        states = [*(state for state, _ in reversed(past.others)), ask.state]
        return open_matters(view or NotesView(), states, ask.state.session_id)

    async def _view(self, ask: Ask, user_id: int | None = None, without: Collection[str] = ()) -> NotesView | None:
        """Return what was noted, as it would be `without` turns; None where notes cannot be read."""
        only = ask.state.session_id if ask.state.isolated else None
        try:
            if self._notes is None:
                return None
            return await self._notes.view(ask.conversation_id, only=only, user_id=user_id, without=without)
        except ContinuityError as exc:
            log.warning("it is answered without notes", error=str(exc))
            return None

    # --- what was said ----------------------------------------------------------------------------------------------

    async def _past(self, ask: Ask) -> _Past:
        try:
            return await self._read(ask)
        except ContinuityError as exc:
            log.warning("the concierge answers from the last messages alone", error=str(exc))
            return _Past(own=ask.packet.history, trouble=True)

    async def _read(self, ask: Ask) -> _Past:
        own = await self._store.last_turns(ask.state.session_id, MAX_TURNS)
        if ask.state.isolated:
            return _Past(own=tuple(own), undone=frozenset(ask.state.undone))
        rows = await self._store.sessions(ask.conversation_id, limit=MAX_SESSIONS + 1)
        others = []
        for row in reversed(rows):
            state = state_of_row(row)[0]
            if state is not None and row.session_id != ask.state.session_id:
                turns = await self._store.last_turns(row.session_id, MAX_TURNS)
                others.append((state, tuple(turns)))
        undone = {turn_id for state in (ask.state, *(state for state, _ in others)) for turn_id in state.undone}
        return _Past(tuple(own), tuple(others[-MAX_SESSIONS:]), await self._memories(ask), undone=frozenset(undone))

    async def _memories(self, ask: Ask) -> tuple[Memory, ...]:
        rows = await self._store.db.read(
            "continuity_memories", conversation_id=ask.conversation_id, user_id=ask.user_id, limit=MAX_MEMORIES
        )
        return tuple(Memory.model_validate({_MEMORY_FIELDS.get(k, k): v for k, v in row.items()}) for row in rows)

    async def _quotes(self, ask: Ask, material: Material, past: _Past) -> tuple[Quote, ...]:
        """Return what was said about the topic, best first, from the search or, without one, the turns at hand."""
        (topic, share), code = topic_of(material), material.language.code
        try:
            turns = await self._search(ask, topic)
        except ContinuityError as exc:
            log.warning("the search is left out", error=str(exc))
            turns = []
        if not turns or asks_for_money(material):
            turns += sorted(past.kept, key=lambda turn: -turn.created_at_ms)
        turns = [turn for turn in turns if turn.turn_id not in past.undone]
        return await asyncio.to_thread(quotes_of, turns, topic, code, ask.user_id, self._languages, share=share)

    async def _search(self, ask: Ask, topic: str) -> list[ConversationTurn]:
        if self._searcher is None:
            return []
        alone = [ask.state.session_id] if ask.state.isolated else None
        found = await self._searcher.search(
            Query(ask.conversation_id, topic, session_ids=alone, limit=MAX_FOUND, now_ms=ask.now_ms)
        )
        refs = [item.ref for item in found if item.source == "turn"]
        turns = [turn for ref in refs if (turn := await self._store.turn(ref))]
        return [turn for turn in turns if alone is None or turn.session_id in alone]


_MEMORY_FIELDS: Final = {"created_at_ms": "at_ms"}


# --- pure -----------------------------------------------------------------------------------------------------------


def _withdrawn(material: Material, past: _Past) -> Iterator[Statement]:
    """Yield what moves reminders, and lets go of what a turn that is taken back noted and did to reminders."""
    for _, move in material.moved:
        yield replace(move, expect=None)
    if material.back is None:
        return
    for memory in past.memories:
        if memory.turn_id == material.back.turn.turn_id:
            yield Statement("memory_withdraw", {"memory_id": memory.memory_id})
            yield unindex_memory(memory.memory_id)
    for step, _ in material.back.reminders:
        yield step_back(step, material.now_ms)
    yield from ask_to_read_again(material.back.turn.session_id)


def _job_refs(material: Material) -> tuple[str, ...]:
    """Return the reminders that have another time now, or are to come again."""
    back = material.back.reminders if material.back else ()
    return (*(step.job_id for step, _ in back if step.was_status), *(each.job_id for each, _ in material.moved))


def _taken_back(
    turn: ConversationTurn, loops: Sequence[OpenLoop], *, before: Sequence[Matter], now: Sequence[Matter]
) -> TakenBack:
    """Return what a turn changed in what is open, by the matters as they are without it and with it."""
    new = [matter for matter in now if matter not in before and not matter.faint]
    old = [matter for matter in before if matter.matter_id not in {each.matter_id for each in now}]
    replaced = {ref for matter in new for ref in matter.replaces}
    opened = [loop for loop in alive(loops) if loop.turn_id == turn.turn_id]
    ended = [loop_of(matter) for matter in old if matter.matter_id not in replaced and not matter.faint]
    return TakenBack(
        turn=turn,
        opened=tuple(opened or [loop_of(matter) for matter in new if not matter.replaces]),
        ended=tuple(ended or [loop for loop in loops if loop.closed_turn_id == turn.turn_id]),
        corrected=tuple(loop_of(matter) for matter in old if matter.matter_id in replaced),
    )


def _knowing(state: SessionState, listed: Iterable[ListedLoop], asked_at_ms: int = 0) -> SessionState:
    """Return the state with what was noted to be open, so that a message can end it; what is asked about waits."""
    noted = (each.loop for each in listed if each.noted)
    touched = (loop.model_copy(update={"touched_at_ms": max(loop.touched_at_ms, asked_at_ms)}) for loop in noted)
    return reduce(adopt_loop, touched, state)


def _changed(reply: Reply, material: Material, ask: Ask) -> Callable[[SessionState], SessionState] | None:
    """Return what the answer does to the session: a list or question that it shows, what it ended or took back."""
    items, wrong = reply.listed, [material.back.turn.turn_id] if material.back else []
    ended = changes(material)[1]
    if items is None and not (wrong or ended or reply.asks or material.open or material.moved):
        return None
    steps = [taken(ask.turn_id, reminder, move) for reminder, move in material.moved]

    def change(state: SessionState) -> SessionState:
        state = keep_job_steps(undo(state, wrong), steps)
        for step in (each for each in steps if each.status != "scheduled"):
            state = end_job(state, step.job_id)
        if ended or items or reply.asks:
            state = _knowing(state, material.open, ask.now_ms if reply.asks else 0)
        for loop in ended:
            state = close_loop(state, loop.loop_id, loop.status, ask.now_ms, ask.turn_id)
        for loop in state.open_loops:
            if loop.closed_turn_id == ask.turn_id and not any(says_the_same(loop, each) for each in ended):
                state = close_loop(state, loop.loop_id, "open", ask.now_ms)  # the reply does not say that it ended
        return state if items is None else show(state, items, ask.now_ms)

    return change


def _material(  # what an answer is made of
    ask: Ask,
    past: _Past,
    languages: Languages,
    request: Request,
    listed: Sequence[ListedLoop],
    *,
    rest: bool,
    back: TakenBack | None,
) -> Material:
    text = clean(ask.text)
    ask = replace(ask, state=_knowing(ask.state, listed))
    language = languages.get(request.language)
    turn = turn_of(ask, _in_short(request), languages)
    if request.kind == "undo":
        turn = turn.model_copy(update={"action_name": UNDOES})
    notes = _notes(past, languages)
    held = standing(notes)
    new = correction_of(turn, [one.note for one in held], languages) or notes_of(turn, languages)
    return Material(
        request=request,
        text=text,
        turn_id=ask.turn_id,
        user_id=ask.user_id,
        words=words_of(request.language),
        language=language,
        now_ms=ask.now_ms,
        zone=ask.time_zone,
        name=ask.user_name,
        third_party=ask.third_party,
        before=ask.state,
        after=apply_turn(ask.state, turn, languages, ask.time_zone),
        held=held,
        new=new,
        back=back,
        current=_glance(ask.state, past.own, languages) if request.kind in _GLANCED else None,
        earlier=_earlier(past, languages) if request.kind in _GLANCED else (),
        open=tuple(listed),
        read=_read(ask, turn, past, languages) if request.kind in _TOLD else (),
        reminders=ask.packet.jobs,
        history=past.own or ask.packet.history,
        past_is_shown=ask.past_is_shown,
        rest=rest,
        trouble=past.trouble,
    )


def _request(ask: Ask, past: _Past, languages: Languages) -> tuple[Request, bool]:
    """Return what the message wants; a "yes" to "Shall I show the other 5?" wants the rest of the question before."""
    history = past.own or ask.packet.history
    fallback = (history[-1].language if history else None) or "en"
    pending = ask.state.pending_clarifications[-1] if ask.state.pending_clarifications else None
    request = read_request(ask.text, languages, expected=pending is not None, fallback=fallback)
    if request.kind == "yes" and pending and is_more(pending.question, words_of(request.language)):
        asked = next((turn for turn in history if turn.turn_id == pending.turn_id), None)
        if asked:
            return read_request(asked.user_text, languages, fallback=fallback), True
    return request, False


def _completed(ask: Ask, past: _Past) -> str:
    """Return "the second one" with the "done" before it, when that was asked back which one is; "" otherwise."""
    last = past.own[-1] if past.own else None
    asked_back = last is not None and last.action_name in _REPORTS and ask.state.listed is not None
    return f"{ask.text} {last.user_text}" if last and asked_back and len(last.user_text.split()) <= LONGEST_NOD else ""


def _read(ask: Ask, turn: ConversationTurn, past: _Past, languages: Languages) -> tuple[Matter | LastingNote, ...]:
    """Return what a reading of this message alone notes, best first; nothing of other people's text."""
    if ask.third_party:
        return ()
    notes = read_by_rules(_request_to_read(ask, turn, past, languages), languages)
    found: list[Matter | LastingNote] = [*notes.matters, *notes.lasting]
    return tuple(sorted((each for each in found if not each.faint), key=lambda each: -each.weight))


def _request_to_read(
    ask: Ask, turn: ConversationTurn, past: _Past, languages: Languages, sessions: Sequence[SessionNotes] = ()
) -> ReadingRequest:
    """Return the request to read this message, as it will be read once it was answered; `sessions` are the notes."""
    own = next((notes for notes in sessions if notes.session_id == turn.session_id), None)
    others = [notes for notes in sessions if notes.session_id != turn.session_id]
    before = past.own[-BEFORE_TURNS:]
    return request_of((turn,), before, own, others, languages, zone=ask.time_zone, now_ms=ask.now_ms)


def _in_short(request: Request) -> str:
    """Return what the concierge says in its own name, apart from what it asks; the rest of a reply repeats people."""
    words = words_of(request.language)
    return words.say("no_alarm") if request.kind == "remind" else words.say("ok")


def turn_of(ask: Ask, reply: str, languages: Languages) -> ConversationTurn:
    """Return the turn that this message and reply will be, as the recorder reads it."""
    signs = read_turn(ask.state, ask.text, reply, languages)
    return ConversationTurn(
        turn_id=ask.turn_id,
        session_id=ask.state.session_id,
        conversation_id=ask.conversation_id,
        seq=ask.state.last_seq + 1,
        user_id=ask.user_id,
        user_text=ask.text,
        assistant_text=reply,
        intent=signs.intent,
        response_type=signs.response_type,
        third_party=ask.third_party,
        language=signs.language,
        created_at_ms=ask.now_ms,
    )


def _notes(past: _Past, languages: Languages) -> list[StatedNote]:
    """Return what stands in the turns, and the memories of turns further back than these; nothing that was undone."""
    known = {turn.turn_id for turn in past.turns} | past.undone
    notes = [note_of_memory(m, languages.detect(m.text).code) for m in past.memories if m.turn_id not in known]
    return [*notes, *noted(past.kept, languages)]


def _undo_button(material: Material) -> tuple[tuple[Button, ...], ...]:
    """Return [Undo] for a message of which something new was noted, put on the list, ended or put right."""
    opened, closed = changes(material)
    known = [one.note for one in material.held]
    new = [note for note in material.new if not any(same(note, each) for each in known)]
    if not (new or opened or closed or material.corrected):
        return ()
    payload = {"turn_id": material.turn_id}
    return ((Button(material.words.say("undo"), UNDO_NOTE, payload),),)


def _earlier(past: _Past, languages: Languages) -> tuple[Glance, ...]:
    """Return the other sessions, the latest first, as many as are shown."""
    latest = [(state, turns) for state, turns in reversed(past.others) if turns][:MAX_GLANCES]
    return tuple(_glance(state, turns, languages) for state, turns in latest)


def _glance(state: SessionState, turns: Sequence[ConversationTurn], languages: Languages) -> Glance:
    return Glance(
        session_id=state.session_id,
        title="",
        messages=state.turn_count,
        first_at_ms=turns[0].created_at_ms if turns else 0,
        at_ms=turns[-1].created_at_ms if turns else 0,
        held=standing(noted(turns, languages)),
    )
