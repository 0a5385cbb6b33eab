"""Answers from a language model: any provider by its id, streamed, retried, never half."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import stamina
import structlog

from bot import replies
from bot.answers.cost import spent_of
from bot.answers.errors import ModelError
from bot.answers.instructions import instructions, own_instructions, preface
from bot.answers.loop import ModelLoop
from bot.answers.outcome import Prompted, storable
from bot.answers.responder import Answer, Ask, NoAnswer, Show
from bot.answers.tools.calls import schemas
from bot.answers.tools.toolbox import Tools
from bot.answers.wires.providers import wire_to
from bot.meters import Meters
from bot.pauses import FULL, Pauses
from bot.settings import NO_PRICES, Prices
from bot.tools.tool import Tool
from memory.context.packet_text import prompt

log = structlog.get_logger(__name__)

ATTEMPTS = 3
LONGEST_S = 1800.0
"""One answer takes no longer, however often a model shows that it is alive."""


class ModelResponder:
    """Asks one model. A library that takes long to import is imported at the first use, or by `warm`."""

    def __init__(
        self,
        model: str,
        tools: Tools,
        meters: Meters,
        *,
        timeout_s: float,
        prices: Prices = NO_PRICES,
        pauses: Pauses = FULL,
    ) -> None:
        self._model = model
        self._tools = tools
        self._meters = meters
        self._prices = prices
        self._timeout_s = timeout_s
        self._pauses = pauses
        self._loop: ModelLoop | None = None
        self._building = asyncio.Lock()

    def preface(self, persona: str) -> str:
        """Return the instructions without their date."""
        return preface(persona)

    def instructions(self, ask: Ask) -> str:
        """Return persona, rules and date."""
        return own_instructions(ask)

    def tools(self, further: tuple[Tool, ...] = ()) -> str:
        """Return the tools' schemas."""
        return schemas(further)

    async def warm(self) -> None:
        """Import and build behind the start; what is wrong is said at the first question."""
        try:
            await self._built()
        except Exception as exc:  # noqa: BLE001 - a missing key or package; respond() tells the person
            log.error("the model cannot be used", model=self._model, error=str(exc))  # noqa: TRY400

    async def close(self) -> None:
        """Close the connections to the provider."""
        if self._loop is not None:
            await self._loop.close()

    async def respond(self, ask: Ask, show: Show) -> Answer:
        """Return the model's whole answer. Raises NoAnswer after the retries, when cut off, or when refused."""
        try:
            return await self._with_retries(await self._built(), ask, show)
        except asyncio.CancelledError:
            raise
        except Exception as exc:
            why = apology(exc)
            if why is None:
                raise
            raise NoAnswer(reason_of(exc), why) from exc

    async def _built(self) -> ModelLoop:
        async with self._building:
            if self._loop is None:
                wire = await wire_to(self._model, listed=self._model not in self._prices)
                self._loop = ModelLoop(wire, self._tools.output_max_chars)
            return self._loop

    async def _with_retries(self, loop: ModelLoop, ask: Ask, show: Show) -> Answer:
        async for attempt in stamina.retry_context(
            on=is_passing, attempts=ATTEMPTS, timeout=self._timeout_s, **self._pauses.retries(0.5, 5.0)
        ):
            with attempt:
                try:
                    return await self._once(loop, ask, show)
                except Exception as exc:
                    self._meters.model_failed(self._model, kind_of(exc))
                    raise
        raise AssertionError("stamina either returns or raises")

    async def _once(self, loop: ModelLoop, ask: Ask, show: Show) -> Answer:
        """Return the answer of one attempt; what its tools changed is in the answer, to be committed with the turn."""
        toolbox = self._tools.begin(ask)
        prompted = Prompted(instructions(ask), prompt(ask.packet, ask.text), ask.pictures)
        async with asyncio.timeout(LONGEST_S), asyncio.timeout(self._timeout_s) as silence:
            run = loop.run(prompted, toolbox, show, lambda: silence.reschedule(_from_now(self._timeout_s)))
            outcome = storable(await run)
        spent = spent_of(self._model, "answer", outcome.usage, self._prices)
        self._meters.spend(spent)
        return Answer(
            text=outcome.text,
            tool_calls=outcome.tool_calls,
            operations=toolbox.operations,
            effects=toolbox.effects,
            steps=outcome.steps,
            messages=toolbox.messages,
            buttons=toolbox.buttons,
            model=self._model,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cached_tokens=spent.cached_tokens,
            cost_nanodollars=spent.cost_nanodollars,
        )


def _from_now(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def reason_of(error: Exception) -> str:
    """Return an error's kind and status for the log; its text may repeat the prompt and stays out of it."""
    kind = error.kind if isinstance(error, ModelError) else type(error).__name__
    status = getattr(error, "status_code", None)
    return f"{kind} {status}" if status else kind


def kind_of(error: Exception) -> str:
    """Return an error's kind for the meters: rate_limit, server, status_404 and the like, else the error's class."""
    status: int | None = getattr(error, "status_code", None)
    if status is None:
        return error.kind if isinstance(error, ModelError) else type(error).__name__
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return "rate_limit"
    return "server" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else f"status_{status}"


def is_passing(error: Exception) -> bool:
    """Return True for what may be gone in a moment: too many requests, overload, a lost line."""
    return isinstance(error, ModelError) and error.passing


def apology(error: Exception) -> str | None:
    """Return what to tell the person about a failure of the model; None when it is a defect of ours."""
    if isinstance(error, ModelError):
        return replies.say(error.why)
    if isinstance(error, TimeoutError):
        return replies.say("why_timeout")
    return replies.say("why_refused") if isinstance(error, ImportError) else None
