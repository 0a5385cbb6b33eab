"""The request object of getUpdates: sets poison updates aside, stamps each poll, notices a dead token or a rival."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
import structlog
from telegram import Update
from telegram.request import BaseRequest, HTTPXRequest, RequestData

log = structlog.get_logger(__name__)

POLL_TIMEOUT_S = 25
STALL_AFTER_S = 3 * POLL_TIMEOUT_S
MAX_CONFLICTS = 6

OK = 200
UNAUTHORIZED = (401, 404)
CONFLICT = 409


class PollingRequest(HTTPXRequest):
    """An HTTPXRequest for getUpdates only.

    `quarantine(raw, reason)` is awaited for each update that PTB cannot parse; a bare update id takes its place, so
    that the offset moves past it. `fatal(message)` is called when polling can never work again.
    """

    def __init__(
        self,
        *,
        quarantine: Callable[[Mapping[str, Any], str], Awaitable[None]],
        fatal: Callable[[str], None],
    ) -> None:
        super().__init__(connection_pool_size=2, read_timeout=POLL_TIMEOUT_S + 10, pool_timeout=10, connect_timeout=10)
        self._quarantine = quarantine
        self._fatal = fatal
        self._conflicts = 0
        self.completed_at_s: float | None = None
        """Loop time of the last completed poll; None before the first."""

    async def do_request(  # noqa: PLR0917 - the signature is PTB's
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """Ask Telegram, then look at the answer before PTB does."""
        status, body = await super().do_request(
            url, method, request_data, read_timeout, write_timeout, connect_timeout, pool_timeout
        )
        if status == OK:
            self.completed_at_s = asyncio.get_running_loop().time()
            self._conflicts = 0
            body = await self._without_poison(body)
        elif status in UNAUTHORIZED:
            self._fatal("Telegram refuses the token: check TELEGRAM_BOT_TOKEN with @BotFather")
        elif status == CONFLICT:
            self._count_conflict()
        return status, body

    def stalled_for_s(self) -> float:
        """Return how long no poll has completed, in seconds; 0 before the first."""
        if self.completed_at_s is None:
            return 0.0
        return asyncio.get_running_loop().time() - self.completed_at_s

    def _count_conflict(self) -> None:
        self._conflicts += 1
        log.warning(
            "another process polls with the same token, or a webhook is set (409 Conflict)",
            tries_left=MAX_CONFLICTS - self._conflicts,
        )
        if self._conflicts >= MAX_CONFLICTS:
            self._fatal("another process uses this bot's token (409 Conflict); stop it, then start again")

    async def _without_poison(self, body: bytes) -> bytes:
        try:
            answer = orjson.loads(body)
            updates = answer["result"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return body
        if not isinstance(updates, list):
            return body
        kept = [
            await self._sound(raw) for raw in updates if isinstance(raw, dict) and isinstance(raw.get("update_id"), int)
        ]
        return orjson.dumps({**answer, "result": kept})

    async def _sound(self, raw: dict[str, Any]) -> dict[str, Any]:
        try:
            Update.de_json(raw, None)
        except Exception as exc:  # noqa: BLE001 - whatever a strange update raises inside PTB
            await self._quarantine(raw, f"{type(exc).__name__}: {exc}"[:300])
            return {"update_id": raw["update_id"]}
        return raw


async def watch_polling(request: PollingRequest, *, check_every_s: float = 15.0) -> None:
    """Reconnect for ever when polling has gone silent: a wedged connection pool is replaced."""
    while True:
        await asyncio.sleep(check_every_s)
        silent_s = request.stalled_for_s()
        if silent_s > STALL_AFTER_S:
            log.error("polling has stalled, reconnecting", silent_s=round(silent_s))
            await request.shutdown()
            await request.initialize()
            request.completed_at_s = asyncio.get_running_loop().time()
