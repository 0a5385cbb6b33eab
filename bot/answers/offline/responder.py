"""The concierge without a language model: notes what it is told, finds it again, keeps track, and says what it is."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, Protocol

import structlog

from bot.answers.offline.answers import compose, is_more
from bot.answers.offline.changed_notes import ChangedNotes, settled_by_turn, taken_back, were_of
from bot.answers.offline.consequences import changed, job_refs, undo_button, withdrawn
from bot.answers.offline.gather import GLANCED, TOLD, in_short, material_of, request_to_read, turn_of
from bot.answers.offline.known import asks_for_money, topic_of
from bot.answers.offline.material import TALKING_MS, Glance, Material, Quote, TakenBack
from bot.answers.offline.moved import changes_matters, moves_of, stopped_by
from bot.answers.offline.notes import noted
from bot.answers.offline.past import Past, read_past
from bot.answers.offline.quotes import quotes_of
from bot.answers.offline.request import ENDS, LONGEST_NOD, Request, read_request, takes_back
from bot.answers.offline.words import words_of
from bot.answers.open_list import ListedLoop, open_matters
from bot.answers.responder import Answer, Ask, Show
from bot.reminders.rules import Reminder, read_reminder, upcoming_reminders
from bot.reminders.steps import stands
from memory.context.assembler import SearchPort
from memory.errors import ContinuityError
from memory.language.languages import Languages
from memory.language.sentences import lowered
from memory.notes.reports import ended, outcomes, tells
from memory.notes.rules import read_by_rules
from memory.notes.types import Matter, SessionNotes
from memory.notes.view import NotesView
from memory.ports import Statement
from memory.search.query import Query
from memory.storage.store import Store
from memory.types import CANCELS, FINISHES, ConversationTurn, JobStep

MAX_FOUND: Final = 12
UNDONE_TURNS: Final = 3
"""So far back "undo" reaches."""
_FOREIGN: Final = "lorem ipsum dolor sit amet consectetur adipiscing"
"""Of no language with data: makes the library load that is asked then."""
_SEARCHED: Final = frozenset({"know", "question", "task"})
_REPORTS: Final = frozenset({"done", "drop"})
_ENDS: Final = _REPORTS | {CANCELS, FINISHES}
"""What a turn did that ended something; "keep it" takes it back."""
_CORRECTS: Final = ("correct", "negates", "moves", "no", "reschedules", "adds", "forget")
"""Cues of a message that may put something right, or on a list."""
_OPEN: Final = frozenset(
    {"open", "summarize", "greeting", "goodbye", "good_night", "done", "drop", "forget", "yes", "no", "choice"}
)
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
        past = await read_past(self._store, ask)
        request, rest = await asyncio.to_thread(_request, ask, past, self._languages)
        if request.kind == "choice" and (completed := _completed(ask, past)):
            ask = replace(ask, text=completed)
            request, rest = await asyncio.to_thread(_request, ask, past, self._languages)
        listed = await self._open(ask, past) if request.kind in _OPEN else []
        back = await self._back(ask, past) if request.kind == "undo" else None
        material = await asyncio.to_thread(  # a thousand turns are read again
            material_of, ask, past, self._languages, request, listed, rest=rest, back=back
        )
        if material.request.kind in _SEARCHED:
            material = await self._with_matters(ask, material)
        if material.request.kind in _SEARCHED and material.request.about:
            material = replace(material, quotes=await self._quotes(ask, material, past))
        if material.request.kind in TOLD:
            found = await self._changed_notes(ask, material, past)
            settled = found.settled
            listed = listed if listed or not settled else await self._open(ask, past)
            shown = {each.loop.loop_id for each in listed if each.noted}
            settled = tuple(loop for loop in settled if loop.loop_id in shown)
            material = replace(material, corrected=found.corrected, in_part=found.in_part, were=found.were)
            material = replace(material, settled=settled, open=tuple(listed))
        if moved := await self._moved(ask, material):
            material = replace(material, moved=moved, stopped=stopped_by(material, moved))
        if material.request.kind in GLANCED:
            material = await self._with_titles(ask, material)
        reply = await asyncio.to_thread(compose, material)
        show(reply.text)
        return Answer(
            reply.text,
            action_name=reply.action_name,
            authored=" ".join((in_short(material.request), *reply.asks)),
            effects=tuple(withdrawn(material, past)),
            job_refs=job_refs(material),
            change=changed(reply, material, ask),
            buttons=undo_button(material),
        )

    async def _back(self, ask: Ask, past: Past) -> TakenBack | None:
        """Return the latest of the last turns that changed something, with what it changed; None when none did.

        In a group everybody takes back what they said themselves, as with the button.
        """
        own = [turn for turn in past.own if turn.turn_id not in past.undone]
        notes, now = noted(own, self._languages), await self._view(ask) or NotesView()
        settled = [each for session in await self._sessions(ask) for each in session.settled]
        for turn in reversed([turn for turn in own[-UNDONE_TURNS:] if turn.user_id in {None, ask.user_id}]):
            before = await self._view(ask, without=[turn.turn_id]) or NotesView()
            found = replace(
                taken_back(turn, ask.state.open_loops, before=before.matters, now=now.matters, settled=settled),
                notes=tuple(note for note in notes if note.turn_id == turn.turn_id),
                reminders=await self._steps_of(ask, turn),
            )
            if found != TakenBack(turn):
                return found
        return None

    async def _sessions(self, ask: Ask) -> list[SessionNotes]:
        """Return the notes of the sessions as they are stored; none where they cannot be read."""
        only = ask.state.session_id if ask.state.isolated else None
        try:
            return await self._notes.sessions(ask.conversation_id, only=only, catch_up=False) if self._notes else []
        except ContinuityError as exc:
            log.warning("it is answered without notes", error=str(exc))
            return []

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

    async def _changed_notes(self, ask: Ask, material: Material, past: Past) -> ChangedNotes:
        """Return the noted matters that the message puts right, and those that it ends; none where it tells neither."""
        lower, language = material.language.mended(lowered(material.text)), material.language
        tells_more = any(language.has(cue, lower) for cue in _CORRECTS) or outcomes(lower, language)
        if self._notes is None or past.trouble or not (tells_more or tells(lower, language) or ended(lower, language)):
            return ChangedNotes()
        only = ask.state.session_id if ask.state.isolated else None
        try:
            sessions = await self._notes.sessions(ask.conversation_id, only=only)
        except ContinuityError as exc:
            log.warning("it is answered without what it corrects", error=str(exc))
            return ChangedNotes()
        turn = turn_of(ask, in_short(material.request), self._languages)
        turn = turn.model_copy(update={"authored": turn.assistant_text})
        known = request_to_read(ask, turn, past, self._languages, sessions)
        notes = await asyncio.to_thread(read_by_rules, known, self._languages)
        put_right = (m for m in notes.matters if len(m.turn_ids) > 1 and m.turn_ids[-1] == turn.turn_id and m.replaces)
        corrected = tuple(m for m in put_right if past.undone.isdisjoint(m.turn_ids))
        in_part = any(end.matter_id is None and end.turn_ids == (turn.turn_id,) for end in notes.settled)
        settled = tuple(settled_by_turn(notes, sessions, turn, past.undone))
        return ChangedNotes(corrected, settled, in_part, were_of(corrected, sessions))

    async def _moved(self, ask: Ask, material: Material) -> tuple[tuple[Reminder, Statement], ...]:
        """Return what moves and ends the reminders of matters that moved or ended, so that both tell the same."""
        if material.trouble or not changes_matters(material, ask.now_ms):
            return ()
        asked = upcoming_reminders(ask.conversation_id, ask.user_id)
        reminders = [read_reminder(row) for row in await self._store.db.read(asked.name, **asked.params)]
        return tuple(moves_of(material, reminders, ask.now_ms))

    async def _open(self, ask: Ask, past: Past) -> list[ListedLoop]:
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

    async def _quotes(self, ask: Ask, material: Material, past: Past) -> tuple[Quote, ...]:
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


def _spoken(turns: Sequence[ConversationTurn]) -> str:
    """Return the language of the last message that was long enough to tell; else that of the last one."""
    told = [turn.language for turn in turns if turn.language and len(turn.user_text.split()) > LONGEST_NOD]
    return (told or [turn.language for turn in turns if turn.language] or ["en"])[-1]


def _request(ask: Ask, past: Past, languages: Languages) -> tuple[Request, bool]:
    """Return what the message wants; a "yes" to "Shall I show the other 5?" wants the rest of the question before."""
    history = past.own or ask.packet.history
    fallback = _spoken(past.turns or history)
    pending = ask.state.pending_clarifications[-1] if ask.state.pending_clarifications else None
    talking = bool(history) and ask.now_ms - history[-1].created_at_ms < TALKING_MS
    request = read_request(ask.text, languages, expected=pending is not None, fallback=fallback, talking=talking)
    last = (history[-1].action_name or "") if history else ""
    if last in _ENDS and words_of(request.language).asked("keep", lowered(ask.text).strip(ENDS)):
        return replace(request, kind="undo"), False
    if request.kind == "yes" and pending and is_more(pending.question, words_of(request.language)):
        asked = next((turn for turn in history if turn.turn_id == pending.turn_id), None)
        if asked:
            return read_request(asked.user_text, languages, fallback=fallback), True
    ended = _just_ended(ask, history)
    if ended and takes_back(ask.text, " ".join(ended), languages.get(fallback)):
        return Request("undo", language=fallback), False
    return request, False


def _just_ended(ask: Ask, history: Sequence[ConversationTurn]) -> list[str]:
    """Return what the message before ended, in the words in which it was open."""
    last = history[-1].turn_id if history else ""
    ended = [loop.text for loop in ask.state.open_loops if last and loop.closed_turn_id == last]
    steps = [step for step in ask.state.job_steps if step.turn_id == last and step.status == "done"]
    return ended or [history[-1].user_text for _ in steps]


def _completed(ask: Ask, past: Past) -> str:
    """Return "the second one" with the "done" before it, when that was asked back which one is; "" otherwise."""
    last = past.own[-1] if past.own else None
    asked_back = last is not None and last.action_name in _REPORTS and ask.state.listed is not None
    return f"{ask.text} {last.user_text}" if last and asked_back and len(last.user_text.split()) <= LONGEST_NOD else ""
