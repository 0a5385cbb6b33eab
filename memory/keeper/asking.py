"""Ask a model to keep the notes: once more when something of its answer is not taken, and never for ever."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.keeper.contract import Again, ContractBroken, KeeperAnswer, KeeperRequest, Keeping, KeepingModel
from memory.keeper.judge import Judged, judged, spoken_reasons
from memory.keeper.queue import ReadingOutcome
from memory.ledger.types import Actor
from memory.ports import unobserved

MODEL_LIMIT_S: Final = 60.0
"""A model that has not answered by then is not waited for."""
MODELS_AT_ONCE: Final = 2
BROKEN_MOST: Final = 3
"""After this many unusable answers in a row the offline reader takes over until the next start."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of asking a model, and its cost also when that failed."""

    answer: KeeperAnswer | None
    """None when it failed."""
    judgement: Judged
    error: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_nanodollars: int | None = None

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.input_tokens + self.output_tokens

    def outcome(self, kept: int = 0, dropped: Mapping[str, int] | None = None) -> ReadingOutcome:
        """The record of it."""
        return ReadingOutcome(kept, dropped or {}, self.error, self.input_tokens, self.output_tokens)


class Asking:
    """Asks one model, two times at once at most."""

    def __init__(self, model: KeepingModel, limit_s: float = MODEL_LIMIT_S) -> None:
        self.model = model
        self.limit_s = limit_s
        self.handed_over = False
        """True once the model failed its contract three times in a row."""
        self.on_handover: Callable[[], None] = unobserved
        self._at_once = asyncio.Semaphore(MODELS_AT_ONCE)
        self._broken = 0

    async def ask(self, request: KeeperRequest, by: Actor) -> Asked:
        """Return its answer, judged, with the changes that a second request mended. Raises nothing but cancellation."""
        async with self._at_once:
            first = await self._answer(request)
            if isinstance(first, Asked):
                return first
            judgement, reasons = await asyncio.to_thread(_examined, first.answer, request, by)
            if not reasons:
                return _asked(first.answer, judgement, [first])
            second = await self._answer(request, Again(first.answer, reasons))
        if isinstance(second, Asked):  # what was taken of the first answer stands
            spent = Keeping(KeeperAnswer(), second.input_tokens, second.output_tokens, second.cost_nanodollars)
            return _asked(first.answer, judgement, [first, spent])
        answer = second.answer
        again = await asyncio.to_thread(judged, answer, request, by, judgement)
        line = {name: getattr(answer, name) or getattr(first.answer, name) for name in ("title", "standing")}
        turns = {"standing_turns": answer.standing_turns or first.answer.standing_turns}
        mended = first.answer.model_copy(update=line | turns)
        return _asked(mended, again, [first, second])

    async def _answer(self, request: KeeperRequest, again: Again | None = None) -> Keeping | Asked:
        """Return an answer, or how asking failed. A call that ran out of time was paid for: its estimate counts."""
        try:
            async with asyncio.timeout(self.limit_s):
                keeping = await self.model(request, again)
        except ContractBroken as exc:
            log.warning("session %s was not read: the model did not keep to its contract: %s", request.session_id, exc)
            self._count_broken()
            return _failed(exc, request, exc.spent)
        except Exception as exc:  # noqa: BLE001 - whatever is wrong with a model, what stands is shown
            log.warning("session %s was not read by the model: %s", request.session_id, _reason(exc))
            estimate = self.model.estimate(request) if isinstance(exc, TimeoutError) else 0
            return _failed(exc, request, Keeping(KeeperAnswer(), estimate))
        self._broken = 0
        return keeping

    def _count_broken(self) -> None:
        self._broken += 1
        if self._broken >= BROKEN_MOST and not self.handed_over:
            self.handed_over = True
            log.error("the model %s kept no notes %d times in a row: rules keep them now", self.model.name, BROKEN_MOST)
            self.on_handover()


def _examined(answer: KeeperAnswer, request: KeeperRequest, by: Actor) -> tuple[Judged, tuple[str, ...]]:
    """The changes of an answer that may be done, and the keeper's lines about the rest; some ten milliseconds."""
    judgement = judged(answer, request, by)
    return judgement, spoken_reasons(judgement, answer, request)


def _asked(answer: KeeperAnswer, judgement: Judged, calls: Sequence[Keeping]) -> Asked:
    costs = [each.cost_nanodollars for each in calls]
    return Asked(
        answer,
        judgement,
        input_tokens=sum(each.input_tokens for each in calls),
        output_tokens=sum(each.output_tokens for each in calls),
        cost_nanodollars=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def _reason(exc: Exception) -> str:
    """Why asking failed, in a word or two that hold nothing of a message: the error's own, else its class."""
    return str(getattr(exc, "reason", type(exc).__name__))


def _failed(exc: Exception, request: KeeperRequest, spent: Keeping) -> Asked:
    return Asked(
        None,
        Judged(request.ledger),
        _reason(exc),
        spent.input_tokens,
        spent.output_tokens,
        spent.cost_nanodollars,
    )
