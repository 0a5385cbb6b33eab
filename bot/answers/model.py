"""Answers from language models: the one that a person chose, and another one when it fails before its first word."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import structlog

from bot import replies
from bot.answers.bill import Bill
from bot.answers.fit import fitted
from bot.answers.instructions import own_instructions, preface
from bot.answers.loop import Progress
from bot.answers.one_model import Means, OneModel, apology
from bot.answers.responder import Answer, Ask, NoAnswer, Show
from bot.answers.tools.calls import schemas
from bot.settings.model_names import ModelNames, NamedModel
from bot.tools.tool import Tool

log = structlog.get_logger(__name__)

BEGIN_SHARE = 0.5
"""A model that another one can replace has to begin within this share of the time that it may be silent."""


class ModelResponder:
    """Asks models. A library that takes long to import is imported at the first use, or by `warm`."""

    def __init__(self, names: ModelNames, means: Means) -> None:
        self._names = names
        self._means = means
        self._models = {each.model: OneModel(each, means) for each in names.all}
        self._missed: set[tuple[int | None, str]] = set()
        """People, with their models, who were told that the chosen one is not offered any more."""

    def preface(self, persona: str) -> str:
        """Return the instructions without their date."""
        return preface(persona)

    def instructions(self, ask: Ask) -> str:
        """Return persona, rules and date."""
        return own_instructions(ask)

    def tools(self, further: tuple[Tool, ...] = (), *, only_reads: bool = False) -> str:
        """Return the tools' schemas."""
        return schemas(further, only_reads=only_reads)

    async def warm(self) -> None:
        """Import and build the default behind the start; a fault is told at the first question."""
        model = self._names.default.model
        try:
            await self._models[model].built()
        except Exception as exc:  # noqa: BLE001 - a missing key or package; respond() tells the person
            log.error("the model cannot be used", model=model, error=str(exc))  # noqa: TRY400 - it says what to do, a trace adds nothing

    async def close(self) -> None:
        """Close the connections to the providers."""
        for model in self._models.values():
            await model.close()

    async def respond(self, ask: Ask, show: Show) -> Answer:
        """Return a model's whole answer. Raises NoAnswer after the retries, when cut off, or when refused."""
        chosen, footnotes = self._chosen(ask)
        progress, bill = Progress(show), Bill(self._means.meters.spend, self._means.prices, ask.by_clock)
        other = self._names.fallback
        if other is None or other.model == chosen.model or ask.by_clock:  # the other one may be dearer
            return _noted(await self._asked(chosen, ask, progress, bill), footnotes)
        try:
            answer = await self._begun(chosen, ask, progress, bill)
        except NoAnswer as failure:
            if progress.begun:
                raise
            log.warning("another model answers", model=chosen.model, other=other.model, reason=failure.reason)
            answer = await self._asked(other, ask, Progress(show), bill)
            footnotes += (replies.say("footnote_fallback", model=other.name, other=chosen.name),)
        return _noted(answer, footnotes)

    def _chosen(self, ask: Ask) -> tuple[NamedModel, tuple[str, ...]]:
        """Return the model that this person chose, the default when it is gone, which they are told once."""
        chosen, default = self._names.chosen(ask.model), self._names.default
        if chosen is not None:
            return chosen, ()
        if (ask.user_id, ask.model) in self._missed:
            return default, ()
        self._missed.add((ask.user_id, ask.model))
        return default, (replies.say("footnote_gone", other=ask.model, model=default.name),)

    async def _begun(self, named: NamedModel, ask: Ask, progress: Progress, bill: Bill) -> Answer:
        """Ask a model that has to begin in time. Raises NoAnswer."""
        try:
            async with asyncio.timeout(self._means.timeout_s * BEGIN_SHARE) as patience:
                progress.working = _once(lambda: patience.reschedule(None))
                return await self._asked(named, ask, progress, bill)
        except TimeoutError as exc:
            raise NoAnswer("it did not begin in time", replies.say("why_timeout"), tuple(bill.uses)) from exc

    async def _asked(self, named: NamedModel, ask: Ask, progress: Progress, bill: Bill) -> Answer:
        """Ask one model, with as much of the past as it takes. Raises NoAnswer."""
        try:
            return await self._models[named.model].answer(fitted(ask, named.context_tokens), progress, bill)
        except asyncio.CancelledError:
            raise
        except Exception as exc:
            why = apology(exc)
            if why is None:
                raise
            raise NoAnswer(getattr(exc, "reason", type(exc).__name__), why, tuple(bill.uses)) from exc


def _once(act: Callable[[], None]) -> Callable[[], None]:
    """Return the function that does something the first time that it is called."""
    left = [act]
    return lambda: left.pop()() if left else None


def _noted(answer: Answer, footnotes: tuple[str, ...]) -> Answer:
    return replace(answer, footnotes=(*footnotes, *answer.footnotes)) if footnotes else answer
