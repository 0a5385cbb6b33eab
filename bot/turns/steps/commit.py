"""The one transaction of a turn (P4): the turn, its parts, the end of its updates, its figures, its prompt."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Final

import structlog

from bot import replies
from bot.answers import prompts
from bot.answers.responder import Ask
from bot.delivery.outbox import LONG_CHARS, Button, OutgoingMessage
from bot.people.choices import plain_name
from bot.people.spending import Spending, booked
from bot.tools.call import heard
from bot.turns.services import Services
from bot.turns.steps.edit import taken_up
from bot.turns.steps.gate import TurnGate
from bot.turns.steps.notices import polls_told, with_footnotes
from bot.turns.steps.took import Took
from bot.turns.steps.unanswered import answered_below
from bot.turns.steps.work import Made, TurnWork, besides, reply_to
from memory.ports import Statement
from memory.process import faults
from memory.sessions.exchange import Deed, ModelTokens
from memory.types import BY_CLOCK, BY_TAP, ConversationTurn

log = structlog.get_logger(__name__)

HEAD_START_S: Final = 0.01
"""So much ahead of the work behind it a reply is sent on its way."""


async def seen(services: Services, ask: Ask) -> list[Statement]:
    """Return statements that store a writer's name, and a group's title and clock; none where they are stored."""
    name, title, zone = plain_name(ask.user_name), plain_name(ask.group), ask.time_zone * ask.time_zone_chosen
    return await services.people.seen(ask.conversation_id, ask.user_id, name, title=title, zone=zone)


def as_file(text: str, turn_id: str) -> tuple[tuple[Button, ...], ...]:
    """Return the button that hands a long answer over as a file; none under any other."""
    if len(text) <= LONG_CHARS:
        return ()
    return ((Button(replies.say("as_file"), "answer_file", {"turn_id": turn_id}),),)


class Commit:
    """Stores turns."""

    def __init__(self, services: Services, gate: TurnGate, spending: Spending) -> None:
        self._services = services
        self._gate = gate
        self._spending = spending

    async def store(self, work: TurnWork, made: Made, took: Took, shown_id: int | None) -> None:
        """Store the turn with its parts and the end of its updates, then deliver. The one transaction of P4.

        `shown_id` is the message in which the answer was shown as it grew.
        """
        services, batch, ask, answer, clock = self._services, work.batch, made.ask, made.answer, work.said.by_clock
        near = await self._spending.near(ask.user_id, ask.today, answer.uses)
        message = OutgoingMessage(
            with_footnotes(answer, is_near=bool(near)),
            markdown=True,
            kind="reply",
            reply_to_message_id=reply_to(batch),
            edits_message_id=shown_id,
            buttons=(*answer.buttons, *(clock.buttons if clock else ()), *as_file(answer.text, ask.turn_id)),
        )
        behind = await self._gate.behind(batch[0], ask, answer.text)
        ends = [*work.effects, *behind.effects, *(services.inbox.done(envelope) for envelope in batch)]
        ends += [*booked(ask.user_id, ask.today, answer.uses), *near]
        if services.speaker.speaks:
            choices = await services.people.choices(ask.user_id)
            ends += services.speaker.wished(work.target, ask.turn_id, answer.text, choices)
        ends += await seen(services, ask)
        figures = took.figures(ask.turn_id, answer, services.clock.now_ms())
        ends += [*heard((*ask.news, *work.said.calls), ask.turn_id), figures, *await self._prompt(made, took)]
        ends += polls_told(ask)
        needless, marks = await taken_up(services, work, made)
        ends += marks
        below = await answered_below(services, batch, ask.turn_id)
        below.pop(shown_id or 0, None)

        begun_by = BY_CLOCK if clock else BY_TAP if work.said.by_tap else None

        async def record(*rows: Statement) -> ConversationTurn:
            stored = await made.pending.record(
                answer.text,
                *ends,
                *answer.effects,
                *rows,
                tool_calls=answer.tool_calls,
                authored=answer.authored,
                deed=Deed(answer.action_name or begun_by, tuple(answer.job_refs)),
                usage=ModelTokens(answer.model, answer.input_tokens, answer.output_tokens),
                change=answer.change,
                operations=(*answer.operations, *(clock.operations if clock else ())),
                hand=answer.hand,
            )
            faults.point("turn_committed")
            return stored

        with services.meters.timed("commit"):
            messages = [message, *besides(work.said), *answer.messages, *behind.messages, *needless, *below.values()]
            turn = await services.committer.say(work.target, messages, record, turn_id=ask.turn_id)
        if answer.job_refs or answer.operations:
            services.reminders.look()
        services.speaker.look()
        if any(file.is_picture for file in work.said.material.files):
            services.describer.look()
        services.meters.turns.inc()
        services.meters.gave(ask.packet)
        line = partial(
            log.info,
            "turn stored",
            session_id=turn.session_id,
            seq=turn.seq,
            model=answer.model,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            prompt_tokens=ask.packet.prompt_tokens,
            instructions_tokens=ask.packet.instructions_tokens,
            tools_tokens=ask.packet.tools_tokens,
            update_ids=[envelope.update_id for envelope in batch],
        )
        asyncio.get_running_loop().call_later(HEAD_START_S, line)

    async def _prompt(self, made: Made, took: Took) -> list[Statement]:
        """Return statements that store the model's prompt, so that it can be looked up; none when that is off.

        None either for an answer from before: its prompt may hold words that were forgotten since (P13).
        """
        services = self._services
        if not services.settings.continuity_prompts_days or took.is_second_try:
            return []
        ask, responder = replace(made.ask, packet=made.answer.packet or made.ask.packet), services.responder
        originals = await services.memory.assembler.history(ask.state)
        texts = (responder.instructions(ask), responder.tools(ask.tools, only_reads=ask.state.private))
        return prompts.keep(ask, made.answer.steps, texts, originals, services.clock.now_ms())
