"""The answers that are being made just now: within each person's bounds, and stopped when somebody says so."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bot import replies
from bot.answers.responder import STOPPED, Answer, Ask, NoAnswer, own_words
from bot.care.care import care
from bot.delivery.local import LocalAnswer
from bot.delivery.streaming import LiveAnswer
from bot.people.spending import TOO_FAST, USED_UP, Spending, TurnRate
from bot.turns.services import Services
from bot.turns.steps.work import TurnWork
from memory.types import WAS_STOPPED


class Answers:
    """Has answers made, one per conversation."""

    def __init__(self, services: Services, spending: Spending) -> None:
        self._services = services
        self._spending = spending
        self._rate = TurnRate(services.settings.continuity_turns_per_minute_per_user)
        self._running: dict[str, asyncio.Task[Answer]] = {}
        self._stopped: set[str] = set()

    def stop(self, conversation_id: str) -> bool:
        """Stop the answer that is being made; return False when there is none."""
        task = self._running.get(conversation_id)
        if task is None:
            return False
        if conversation_id not in self._stopped:
            self._stopped.add(conversation_id)
            task.cancel(STOPPED)
        return True

    def is_answering(self, conversation_id: str) -> bool:
        """Return True while an answer is being made."""
        return conversation_id in self._running

    async def respond(self, work: TurnWork, ask: Ask, live: LiveAnswer | LocalAnswer) -> Answer | NoAnswer:
        """Return the answer, or why there is none; of one that was stopped only that. Distress is answered first.

        The question is stored all the same: "shorter, please" behind it is understood. So is all that tools did for it
        until then: the stop is to the text.

        A model that was told of it goes on with it: the same words a second time would send the person away.
        """
        caring = care(ask.text)
        if caring and not (ask.cared_for and self._services.settings.by_model):
            return caring
        if not self._rate.admits(ask.user_id, ask.now_ms):
            return NoAnswer(TOO_FAST, replies.say("why_too_fast"))
        left = await self._spending.left(ask.user_id, ask.today)
        if left is None:
            return NoAnswer(USED_UP, replies.say("why_budget"))
        key = ask.conversation_id
        responds = self._services.responder.respond(replace(ask, left=left), live.grow)
        steps = self._services.waiting.in_steps(ask.turn_id, work.batch[0], responds)
        task = asyncio.create_task(steps, name=f"respond:{ask.turn_id}")
        self._running[key] = task
        try:
            with self._services.waiting.on(ask.turn_id):
                answer = await task
        except NoAnswer as reason:
            return reason
        except asyncio.CancelledError:
            if key not in self._stopped:
                raise
            return own_words(replies.say("stopped"), WAS_STOPPED)
        else:
            text = replies.say("stopped")
            return replace(answer, text=text, action_name=WAS_STOPPED, authored=text) if answer.stopped else answer
        finally:
            self._running.pop(key, None)
            self._stopped.discard(key)
            task.cancel()
