"""What an answer of the concierge does beside being said: to the session, to reminders and memories. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import reduce

from bot.answers.offline.acknowledge import changes
from bot.answers.offline.material import Material, Reply
from bot.answers.offline.notes import same
from bot.answers.offline.past import Past
from bot.answers.open_list import ListedLoop
from bot.answers.responder import Ask
from bot.answers.take_back import UNDO_NOTE
from bot.delivery.outbox import Button
from bot.reminders.steps import back as step_back
from bot.reminders.steps import taken
from memory.notes.store import ask_to_read_again
from memory.ports import Statement
from memory.search.searcher import unindex_memory
from memory.state.listed import show
from memory.state.loops import says_the_same
from memory.state.state_manager import adopt_loop, close_loop, end_job, keep_job_steps, undo
from memory.types import SessionState


def withdrawn(material: Material, past: Past) -> Iterator[Statement]:
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


def job_refs(material: Material) -> tuple[str, ...]:
    """Return the reminders that have another time now, or are to come again."""
    back = material.back.reminders if material.back else ()
    return (*(step.job_id for step, _ in back if step.was_status), *(each.job_id for each, _ in material.moved))


def knowing(state: SessionState, listed: Iterable[ListedLoop], asked_at_ms: int = 0) -> SessionState:
    """Return the state with what was noted to be open, so that a message can end it; what is asked about waits."""
    noted = (each.loop for each in listed if each.noted)
    touched = (loop.model_copy(update={"touched_at_ms": max(loop.touched_at_ms, asked_at_ms)}) for loop in noted)
    return reduce(adopt_loop, touched, state)


def changed(reply: Reply, material: Material, ask: Ask) -> Callable[[SessionState], SessionState] | None:
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
            state = knowing(state, material.open, ask.now_ms if reply.asks else 0)
        for loop in ended:
            state = close_loop(state, loop.loop_id, loop.status, ask.now_ms, ask.turn_id)
        for loop in state.open_loops:
            if loop.closed_turn_id == ask.turn_id and not any(says_the_same(loop, each) for each in ended):
                state = close_loop(state, loop.loop_id, "open", ask.now_ms)  # the reply does not say that it ended
        return state if items is None else show(state, items, ask.now_ms)

    return change


def undo_button(material: Material) -> tuple[tuple[Button, ...], ...]:
    """Return [Undo] for a message of which something new was noted, put on the list, ended or put right."""
    opened, closed = changes(material)
    known = [one.note for one in material.held]
    new = [note for note in material.new if not any(same(note, each) for each in known)]
    if not (new or opened or closed or material.corrected or material.moved):
        return ()
    payload = {"turn_id": material.turn_id}
    return ((Button(material.words.say("undo"), UNDO_NOTE, payload),),)
