"""Gathers what an answer of the concierge is made of: the message as a turn, what is noted, what is open. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.answers.offline.consequences import knowing
from bot.answers.offline.material import Glance, Material, TakenBack
from bot.answers.offline.notes import StatedNote, correction_of, note_of_memory, noted, notes_of, standing
from bot.answers.offline.past import Past
from bot.answers.offline.request import Request
from bot.answers.offline.words import words_of
from bot.answers.open_list import ListedLoop
from bot.answers.responder import Ask
from bot.reminders.rules import one_per_series
from memory.language.languages import Languages
from memory.language.sentences import clean
from memory.notes.requests import BEFORE_TURNS, request_of
from memory.notes.rules import read_by_rules
from memory.notes.types import LastingNote, Matter, ReadingRequest, SessionNotes
from memory.state.state_manager import apply_turn, read_turn
from memory.types import UNDOES, ConversationTurn, SessionState

MAX_GLANCES: Final = 3
GLANCED: Final = frozenset({"talked", "summarize", "greeting"})
"""Kinds of messages that are answered by a look at whole sessions."""
TOLD: Final = frozenset({"tell", "done", "drop", "forget", "task", "remind", "no"})
"""Kinds of messages that may tell something, so they are read as the notes will read them."""


def material_of(  # what an answer is made of
    ask: Ask,
    past: Past,
    languages: Languages,
    request: Request,
    listed: Sequence[ListedLoop],
    *,
    rest: bool,
    back: TakenBack | None,
) -> Material:
    """Return what the answer is made of; `rest` wants what was not shown before, `back` is what is taken back."""
    text = clean(ask.text)
    ask = replace(ask, state=knowing(ask.state, listed))
    language = languages.get(request.language)
    turn = turn_of(ask, in_short(request), languages)
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
        current=_glance(ask.state, past.own, languages) if request.kind in GLANCED else None,
        earlier=_earlier(past, languages) if request.kind in GLANCED else (),
        open=tuple(listed),
        read=_read(ask, turn, past, languages) if request.kind in TOLD else (),
        reminders=tuple(one_per_series(ask.packet.jobs)),
        history=past.own or ask.packet.history,
        past_is_shown=ask.past_is_shown,
        rest=rest,
        trouble=past.trouble,
    )


def _read(ask: Ask, turn: ConversationTurn, past: Past, languages: Languages) -> tuple[Matter | LastingNote, ...]:
    """Return what a reading of this message alone notes, best first; nothing of other people's text."""
    if ask.third_party:
        return ()
    notes = read_by_rules(request_to_read(ask, turn, past, languages), languages)
    found: list[Matter | LastingNote] = [*notes.matters, *notes.lasting]
    return tuple(sorted((each for each in found if not each.faint), key=lambda each: -each.weight))


def request_to_read(
    ask: Ask, turn: ConversationTurn, past: Past, languages: Languages, sessions: Sequence[SessionNotes] = ()
) -> ReadingRequest:
    """Return the request to read this message, as it will be read once it was answered; `sessions` are the notes."""
    own = next((notes for notes in sessions if notes.session_id == turn.session_id), None)
    others = [notes for notes in sessions if notes.session_id != turn.session_id]
    before = past.own[-BEFORE_TURNS:]
    return request_of((turn,), before, own, others, languages, zone=ask.time_zone, now_ms=ask.now_ms)


def in_short(request: Request) -> str:
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


def _notes(past: Past, languages: Languages) -> list[StatedNote]:
    """Return what stands in the turns, and the memories of turns further back than these; nothing that was undone."""
    known = {turn.turn_id for turn in past.turns} | past.undone
    notes = [note_of_memory(m, languages.detect(m.text).code) for m in past.memories if m.turn_id not in known]
    return [*notes, *noted(past.kept, languages)]


def _earlier(past: Past, languages: Languages) -> tuple[Glance, ...]:
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
