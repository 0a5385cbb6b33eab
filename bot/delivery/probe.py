"""Whether a part whose call nobody saw the end of is on the screen: looked for by its message id (P5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, TypeVar

import structlog
from telegram import Bot
from telegram.error import RetryAfter, TelegramError

from bot.delivery import telegram_calls
from bot.delivery.after_failure import retry_after_s
from bot.delivery.message_ids import HighestMessageIds
from bot.delivery.outbox import Part
from bot.delivery.storing import until_stored
from bot.delivery.telegram_calls import Failure, classify
from bot.pauses import FULL, Pauses
from memory.ports import Database, Row

log = structlog.get_logger(__name__)

_T = TypeVar("_T")

MOST_PROBED = 200
"""Ids that are tried for one part at most, however many are doubtful."""

LATE_S = 3.0
"""A request that left before its process died may still be on its way: who finds nothing looks again after so long."""

_PASSING = (Failure.WAIT, Failure.MAYBE_SENT, Failure.NOT_SENT)
"""A question that fails like this is asked again."""


def unknown_ids(after: int, known: Collection[int], reach: int) -> list[int]:
    """Return the next ids that no known message has: an unrecorded message has one of them."""
    return list(islice((each for each in count(after + 1) if each not in known), reach))


def proven_unsent(part: Part, top: int | None, reach: int, known: Collection[int] = ()) -> bool:
    """Return True when the probe covered every id that the part could have had."""
    if part.after_message_id is None or reach > MOST_PROBED:
        return False
    between = sum(part.after_message_id < each <= (top or 0) for each in known)
    return (top or 0) - part.after_message_id - between < reach


@dataclass(frozen=True, slots=True)
class Doubt:
    """The way to treat a part that was perhaps sent."""

    probe_ids: int
    """So many message ids are tried to prove that a part was sent."""
    resend_unproven: bool = True
    pauses: Pauses = FULL
    """Pauses between tries."""


class Probe:
    """Looks for parts on the screen by trying to edit the messages that they could be."""

    def __init__(
        self,
        bot: Bot,
        db: Database,
        high_water: HighestMessageIds,
        *,
        probe_ids: int,
        wait: Callable[[int, Failure, float], Awaitable[None]],
        pauses: Pauses,
    ) -> None:
        """`wait(chat_id, failure, wait_s)` waits as delivery does after a failed call."""
        self._bot = bot
        self._db = db
        self._high_water = high_water
        self._probe_ids = probe_ids
        self._wait = wait
        self._pauses = pauses

    async def find(self, part: Part, *, late: bool) -> tuple[int | None, int]:
        """Return the id under which a part is on the screen, if any, and how many were to be tried.

        With `late` it is looked for once more after a while: the request of a process that is gone may come in late.
        """
        reach = await self._reach(part)
        found = await self._look(part, reach)
        if found is None and late and reach:
            await self._pauses.rest(LATE_S)
            reach = await self._reach(part)
            found = await self._look(part, reach)
        return found, reach

    async def _reach(self, part: Part) -> int:
        """Return how many ids to try: other doubtful parts, and updates not taken in yet, may lie between."""
        if not self._probe_ids:
            return 0
        waiting = await self._not_taken_in(part.chat_id)
        where = {"bot_id": part.bot_id, "chat_id": part.chat_id, "part_id": part.part_id}
        (row,) = await self._read("outbox_doubtful", **where)
        return self._probe_ids + waiting + int(row["n"])

    async def _not_taken_in(self, chat_id: int) -> int:
        """Return how many updates wait at Telegram."""
        try:
            return (await self._asked(chat_id, self._bot.get_webhook_info)).pending_update_count
        except TelegramError:  # a server that does not say
            return 0

    async def proves_unsent(self, part: Part, reach: int) -> bool:
        """Return whether looking at `reach` ids proves that the part is not on the screen."""
        known = await self._known_ids(part)
        return proven_unsent(part, max({self._high_water.top(part.chat_id) or 0, *known}), reach, known)

    async def _look(self, part: Part, reach: int) -> int | None:
        """Return the id under which the part is on the screen already, None when it was not found (section 6)."""
        if part.after_message_id is None:
            return None
        known = await self._known_ids(part)
        for candidate in unknown_ids(part.after_message_id, known, min(reach, MOST_PROBED)):
            if candidate in await self._known_ids(part):  # taken in meanwhile
                continue
            if await self._is_ours(part, candidate):
                log.info("part was on the screen already", part_id=part.part_id, message_id=candidate)
                return candidate
        return None

    async def _known_ids(self, part: Part) -> set[int]:
        where = {"bot_id": part.bot_id, "chat_id": part.chat_id, "after_message_id": part.after_message_id}
        return {row["message_id"] for row in await self._read("outbox_known_ids", **where)}

    async def _is_ours(self, part: Part, candidate: int) -> bool:
        """Edit the candidate into the part's text: success or "not modified" proves that it is ours."""
        try:
            await self._asked(part.chat_id, lambda: telegram_calls.edit(self._bot, part, candidate))
        except TelegramError as error:
            return classify(error) is Failure.UNCHANGED
        return True

    async def _asked(self, chat_id: int, ask: Callable[[], Awaitable[_T]]) -> _T:
        """Return Telegram's answer, however often it has to be asked. Raises errors that waiting does not mend."""
        while True:
            try:
                return await ask()
            except TelegramError as error:
                failure = classify(error)
                if failure not in _PASSING:
                    raise
                await self._wait(chat_id, failure, retry_after_s(error) if isinstance(error, RetryAfter) else 1.0)

    async def _read(self, name: str, **params: Any) -> list[Row]:
        """Read, and again until the database answers: a part is never given up because it cannot be looked up."""
        return await until_stored(lambda: self._db.read(name, **params), self._pauses)
