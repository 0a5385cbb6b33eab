"""One model of the settings: built at its first use, asked again after a passing fault, never half an answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from http import HTTPStatus

import stamina

from bot import replies
from bot.answers.bill import Bill, total_cost
from bot.answers.cost import spent_of
from bot.answers.errors import ModelError
from bot.answers.instructions import instructions
from bot.answers.loop import ModelLoop, Progress
from bot.answers.outcome import Prompted, storable
from bot.answers.responder import Answer, Ask
from bot.answers.tools.toolbox import Tools
from bot.answers.wires.providers import wire_to
from bot.meters.meters import Meters
from bot.pauses import FULL, Pauses
from bot.people.spending import USED_UP
from bot.settings import NO_PRICES, Prices
from bot.settings.model_names import NamedModel
from memory.context.packet_text import prompt

ATTEMPTS = 3
LONGEST_S = 1800.0
"""One answer takes no longer, however often a model shows that it is alive."""


@dataclass(frozen=True, slots=True)
class Means:
    """The parts that every model works with."""

    tools: Tools
    meters: Meters
    timeout_s: float
    """A model that is silent this long has failed."""
    prices: Prices = field(default_factory=lambda: NO_PRICES)
    pauses: Pauses = FULL
    task_tokens: int | None = None
    """Tokens that a run of a task may take; None = no limit."""
    searches: bool = False
    """The web is searched by the model's own provider, where it can."""


class OneModel:
    """Answers with one model."""

    def __init__(self, named: NamedModel, means: Means) -> None:
        self.named = named
        self._means = means
        self._loop: ModelLoop | None = None
        self._building = asyncio.Lock()

    async def built(self) -> ModelLoop:
        """Return the loop over its wire. Raises `ModelError` for a missing key, ImportError for a missing library."""
        async with self._building:
            if self._loop is None:
                means, model = self._means, self.named.model
                wire = await wire_to(model, listed=model not in means.prices)
                self._loop = ModelLoop(wire, means.tools.output_max_chars, searches=means.searches)
            return self._loop

    async def close(self) -> None:
        """Close the connections to the provider."""
        if self._loop is not None:
            await self._loop.close()

    async def answer(self, ask: Ask, progress: Progress, bill: Bill) -> Answer:
        """Return the whole answer, asked again after passing faults. Raises `ModelError`, TimeoutError, ImportError."""
        loop, means = await self.built(), self._means
        async for attempt in stamina.retry_context(
            on=is_passing, attempts=ATTEMPTS, timeout=means.timeout_s, **means.pauses.retries(0.5, 5.0)
        ):
            with attempt:
                try:
                    return await self._once(loop, ask, progress, bill)
                except Exception as exc:
                    means.meters.model_failed(self.named.model, kind_of(exc))
                    raise
        raise AssertionError("stamina either returns or raises")

    async def _once(self, loop: ModelLoop, ask: Ask, progress: Progress, bill: Bill) -> Answer:
        """Return the answer of one attempt; changes of its tools are in it, to be committed with the turn.

        Of one that the person stops these alone: what was noted for them stands, and a line below says so.
        """
        toolbox = self._means.tools.begin(ask)
        prompted = Prompted(instructions(ask), prompt(ask.packet, ask.text), ask.pictures)
        timeout_s = self._means.timeout_s

        async def require() -> None:
            await self._require(ask, loop, progress, bill)

        try:
            async with asyncio.timeout(LONGEST_S), asyncio.timeout(timeout_s) as silence:
                progress.alive = lambda: silence.reschedule(_from_now(timeout_s))
                outcome = storable(await loop.run(prompted, toolbox, progress, require))
        finally:
            await bill.add(self.named.model, loop, progress)
        uses = tuple(bill.uses)
        blind = (replies.say("footnote_blind", model=self.named.name),) if outcome.blind else ()
        kept = toolbox.stop() if outcome.stopped else ()
        return Answer(
            text=outcome.text,
            tool_calls=outcome.tool_calls,
            operations=toolbox.operations,
            effects=toolbox.effects,
            steps=outcome.steps,
            messages=toolbox.messages,
            buttons=toolbox.buttons,
            model=self.named.model,
            input_tokens=sum(use.input_tokens for use in uses),
            output_tokens=sum(use.output_tokens for use in uses),
            cached_tokens=sum(use.cached_tokens for use in uses),
            cost_nanodollars=total_cost(uses),
            uses=uses,
            packet=ask.packet,
            footnotes=(*kept, *toolbox.footnotes, *blind),
            stopped=outcome.stopped,
        )

    async def _require(self, ask: Ask, loop: ModelLoop, progress: Progress, bill: Bill) -> None:
        """Raise `ModelError` when a run took all that it may, or the person's day has nothing left."""
        most = self._means.task_tokens if ask.by_clock else None
        if most is not None and progress.usage.tokens >= most:
            raise ModelError("Tokens", "why_task_tokens", "a run of a task took all the tokens that it may")
        if ask.left.is_unlimited or not (progress.usage.tokens or bill.uses):
            return
        taken = replace(progress.usage)
        await loop.price(taken)
        uses = (*bill.uses, spent_of(self.named.model, "answer", taken, self._means.prices))
        if ask.left.share(sum(use.tokens for use in uses), total_cost(uses) or 0) >= 1:
            raise ModelError("Budget", "why_budget", USED_UP)


def _from_now(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def kind_of(error: Exception) -> str:
    """Return an error's kind for the meters: rate_limit, server, status_404 and the like, else the error's class."""
    status: int | None = getattr(error, "status_code", None)
    if status is None:
        return error.kind if isinstance(error, ModelError) else type(error).__name__
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "rate_limit"
    return "server" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else f"status_{status}"


def is_passing(error: Exception) -> bool:
    """Return True for a fault that may be gone in a moment: too many requests, overload, a lost line."""
    return isinstance(error, ModelError) and error.passing


def apology(error: Exception) -> str | None:
    """Return the sentence about a failure of the model; None when it is a defect of ours."""
    if isinstance(error, ModelError):
        return replies.say(error.why)
    if isinstance(error, TimeoutError):
        return replies.say("why_timeout")
    return replies.say("why_refused") if isinstance(error, ImportError) else None
