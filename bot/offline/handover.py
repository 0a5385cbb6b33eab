"""The offline reader behind a model that answers: it notes plain statements once the keeper has given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot.answers.responder import Answer, Ask, Responder, Show
from bot.offline.dated import over
from bot.offline.reader import read
from bot.offline.safety import context_of
from bot.tools.tool import Tool
from memory.ledger.types import Add


class Handover:
    """`bot.answers.responder.Responder` that leaves everything to the model, and notes where nobody else does.

    Nothing is added to a turn in which the model noted something itself, and no rule sets a reminder.
    """

    def __init__(self, model: Responder, handed_over: Callable[[], bool]) -> None:
        self._model = model
        self._handed_over = handed_over

    async def respond(self, ask: Ask, show: Show) -> Answer:
        """Return the model's answer, with the notes by explicit words of the message. Raises NoAnswer."""
        answer = await self._model.respond(ask, show)
        if not self._handed_over() or answer.operations:
            return answer
        found = read(ask.text, ask.ledger, context_of(ask))
        noted = tuple(each for each in found if not (isinstance(each, Add) and each.fields.get("rings_from")))
        noted = (*noted, *over(ask.ledger, ask.now_ms))
        return replace(answer, operations=noted, hand="offline") if noted else answer

    def preface(self, persona: str) -> str:
        """Return the model's."""
        return self._model.preface(persona)

    def instructions(self, ask: Ask) -> str:
        """Return the model's."""
        return self._model.instructions(ask)

    def tools(self, further: tuple[Tool, ...] = (), *, only_reads: bool = False) -> str:
        """Return the model's."""
        return self._model.tools(further, only_reads=only_reads)

    async def warm(self) -> None:
        """Warm the model. Never raises."""
        await self._model.warm()

    async def close(self) -> None:
        """Close the model's connections."""
        await self._model.close()
