"""The update queue: an update is on our disk before Telegram may forget it (P1, P2, P10)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import structlog
from telegram import Update
from telegram.error import NetworkError

from bot.intake.access import Gate
from bot.intake.inbox import Inbox
from bot.intake.updates import Envelope, Me, read_update, sender
from memory import faults
from memory.errors import StorageUnavailable

log = structlog.get_logger(__name__)

MAX_POISON_CHARS = 20_000


class DurableQueue(asyncio.Queue[object]):
    """PTB's update queue. `put` returns when the update is on disk, or raises NetworkError so that PTB asks again.

    Anything but an Update passes through (PTB's stop marker). An update is put at most once per identity; what a
    stranger sent is handed to `stranger` and never stored; what is not for us is dropped.
    """

    def __init__(
        self,
        inbox: Inbox,
        gate: Gate,
        *,
        deliver: Callable[[Envelope], None],
        stranger: Callable[[Envelope], None],
    ) -> None:
        super().__init__()
        self.me: Me | None = None
        self._inbox = inbox
        self._gate = gate
        self._deliver = deliver
        self._stranger = stranger

    async def put(self, item: object) -> None:
        """Write the update down, then hand it to its lane. Raises NetworkError when the disk refuses (P10)."""
        if not isinstance(item, Update):
            await super().put(item)
            return
        await self.take(orjson.loads(item.to_json()))

    async def take(self, raw: Mapping[str, Any]) -> None:
        """Do the same for raw JSON (webhook). Raises NetworkError.

        A crash before the write: Telegram delivers it again. After it: the next start replays the row.
        """
        if self.me is None:
            raise NetworkError("the bot does not know its own name yet")
        envelope = read_update(raw, self.me)
        if envelope is None:
            return
        if not self._gate.admits(sender(raw)):
            self._stranger(envelope)
            return
        faults.point("inbox_before_write")
        if await self._stored(envelope, raw):
            faults.point("inbox_after_write")
            self._deliver(envelope)

    async def _stored(self, envelope: Envelope, raw: Mapping[str, Any]) -> bool:
        assert self.me is not None  # noqa: S101 - take() checked it; mypy cannot see that
        payload = orjson.dumps(raw).decode()
        try:
            return await self._inbox.put(self.me, envelope.update_id, envelope.conversation_id, payload)
        except StorageUnavailable as exc:
            log.error("update not taken: storage", update_id=envelope.update_id, error=str(exc))  # noqa: TRY400 - expected
            raise NetworkError(f"update {envelope.update_id} not taken: {exc}") from exc

    async def quarantine(self, raw: Mapping[str, Any], reason: str) -> None:
        """Store an update that cannot be parsed, so that polling goes on behind it. Raises NetworkError."""
        update_id = raw["update_id"]
        if self.me is None:
            raise NetworkError("the bot does not know its own name yet")
        payload = orjson.dumps(raw).decode()[:MAX_POISON_CHARS] if self._gate.admits(sender(raw)) else ""
        log.warning("update quarantined", update_id=update_id, reason=reason)
        try:
            await self._inbox.put(self.me, update_id, None, payload, error=reason)
        except StorageUnavailable as exc:
            raise NetworkError(f"update {update_id} not taken: {exc}") from exc
