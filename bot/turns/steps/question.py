"""The question to the responder: the words of the messages, the packet, the person, and the tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.answers.responder import Ask
from bot.intake.updates import Envelope, batch_text
from bot.people.choices import CALLED, MODEL, plain_name
from bot.people.personas import instructions_of
from bot.tools.tool import Place
from bot.turns.services import Services
from bot.turns.steps.attachments import pictures_for
from bot.turns.steps.gate import TurnGate
from bot.turns.steps.notices import ended_polls, notices, orders
from bot.turns.steps.unanswered import written_before
from bot.turns.steps.work import AskedAgain, TurnWork, bounded, sent_at_ms, whole_chars
from memory.context.occasion import Occasion, Prepared, Reserved
from memory.continuity.packet import GUARDRAILS
from memory.ledger.views import Scope
from memory.pending import PendingTurn
from memory.types import CARE, SessionState

PILE_CHARS = 16_384
"""More than this is read in a thread; four full messages take 2 ms (`benchmarks/floods.py`, November 2026)."""
CARRIED = (
    "Name what bears on their message; asked what you remember or where you left off, tell them plainly. What they did "
    "not ask for, of the notes and earlier conversations: " + " ".join(GUARDRAILS)
)
"""Text behind the instructions where earlier conversations are told: 001's guardrails, and what they do not forbid."""


async def read_together(services: Services, batch: Sequence[Envelope]) -> AskedAgain:
    """Join the texts of these messages, as far as one turn takes them in; a pile is read in a thread."""
    third_party = any(envelope.third_party for envelope in batch)
    said = AskedAgain(batch_text(batch), third_party, whole_chars(batch))
    if len(said.text) > PILE_CHARS:
        return await asyncio.to_thread(bounded_for, services, said)
    return bounded_for(services, said)


def bounded_for(services: Services, said: AskedAgain) -> AskedAgain:
    """As much of it as one turn takes in."""
    return bounded(said, services.settings.message_tokens, services.memory.counter)


async def begin(services: Services, gate: TurnGate, work: TurnWork, state: SessionState) -> tuple[PendingTurn, Ask]:
    """Return the turn that waits for its answer, and the question to the responder."""
    batch, said, first, clock = work.batch, work.said, work.batch[0], work.said.by_clock
    choices = await services.people.choices(first.user_id)
    own, persona = services.people.zone_in(choices), instructions_of(services.personas.persona_in(choices))
    zone = own if first.private else await services.people.clock(first.conversation_id, first.user_id)
    count, responder = services.memory.counter.count, services.responder
    name = plain_name(choices.get(CALLED) or first.user_name)
    place = Place(first.conversation_id, first.user_id, first.private)
    tools, switched_off = await services.shelf.with_off(place, by_clock=clock is not None, private=state.private)
    tools_tokens = count(responder.tools(only_reads=state.private))
    carries = await gate.carries(first, state)
    scope = Scope(persona=services.personas.persona_in(choices).name, session_id=None if carries else state.session_id)
    pending = await services.memory.begin(
        first.conversation_id,
        said.text,
        user_id=first.user_id,
        dedupe_key=f"tg:{first.bot_id}:{first.update_id}",
        occasion=Occasion(
            person="" if clock else name,
            names=None if first.private else services.people.names,
            time_zone=zone.name,
            zone_known=zone.chosen,
            scope=scope,
            plays=services.personas.plays,
            said_at_ms=sent_at_ms(batch[-1]),
            third_party=said.third_party,
            searches=not (said.by_tap or clock),
            rung=clock.number if clock else 0,
        ),
        reserved=Reserved(
            tokens=count(responder.preface(persona)) + tools_tokens,
            tools_tokens=tools_tokens,
            further_tokens=count(responder.tools(tools, only_reads=state.private)) - tools_tokens if tools else 0,
            bootstrap=CARRIED if carries and services.settings.by_model else "",
            files=said.material.told,
            files_title=said.material.title,
        ),
        # its claim may not be stored yet, and a person waits: no model is asked for a summary
        prepared=Prepared(turn_id=work.turn_id, state=state, is_new=True, models=False),
    )
    shown = await pictures_for(services, said.material, pending.packet)
    ask = Ask(
        turn_id=work.turn_id,
        conversation_id=first.conversation_id,
        user_id=first.user_id,
        user_name=name,
        text=said.text,
        state=pending.state,
        packet=pending.packet,
        persona=persona,
        time_zone=zone.name,
        time_zone_chosen=zone.chosen,
        now_ms=services.clock.now_ms(),
        private=first.private,
        group=first.title,
        third_party=said.third_party,
        unsure=said.material.is_unsure,
        past_is_shown=await gate.is_shown(first, state),
        cared_for=any(turn.action_name == CARE for turn in services.memory.recorder.at_hand(state.session_id)),
        ledger=await services.memory.ledgers.read(first.conversation_id),
        scope=scope,
        tools=tools,
        switched_off=switched_off,
        repeats=said.repeats,
        why_again=said.why_again,
        news=await services.calls.untold(place, said.calls) if tools or switched_off else (),
        polls=await ended_polls(services, first.conversation_id, None if carries else state.session_id),
        model=str(choices.get(MODEL) or ""),
        pictures=shown.pictures,
        by_clock=clock is not None,
        task_said=clock.task_said if clock else "",
    )
    told = (*shown.notices, *written_before(batch, zone.name), *await notices(services, ask))
    said_before = (*(clock.notices if clock else ()), *told)
    asked_for = (*(clock.orders if clock else ()), *orders(ask))
    pending.packet = pending.packet.model_copy(update={"notices": said_before, "orders": asked_for})
    return pending, replace(ask, packet=pending.packet)
