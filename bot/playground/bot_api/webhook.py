"""Push updates to a webhook, in order, each until it is answered with a 2xx status."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

import aiohttp

from bot.playground.bot_api.changes import Changes
from bot.playground.bot_api.rules import Json, refuse
from bot.playground.bot_api.updates import Updates

_RETRY_FIRST_S = 0.05
_RETRY_MAX_S = 2.0
_PUSH_TIMEOUT_S = 30.0


@dataclass(slots=True)
class Webhook:
    """The address that updates are pushed to; an empty `url` means that the bot polls."""

    updates: Updates
    changes: Changes
    url: str = ""
    secret: str = ""
    last_error: str = ""
    pushes: list[tuple[int, int]] = field(default_factory=list)
    _task: asyncio.Task[None] | None = None

    def set(self, params: Json) -> None:
        """Start to push; an empty url stops it. Raises `ApiError` 400 for a text that is no address."""
        url = str(params.get("url") or "")
        if url and not url.startswith(("http://", "https://")):
            raise refuse("bad webhook: invalid webhook URL specified")
        self.stop()
        self.url, self.secret, self.last_error = url, str(params.get("secret_token") or ""), ""
        if url:
            self._task = asyncio.create_task(self._push_all(), name="loopback webhook")

    def stop(self) -> None:
        """Stop pushing; unconfirmed updates wait."""
        if self._task:
            self._task.cancel()
        self._task, self.url = None, ""

    def info(self) -> Json:
        """Return the answer of getWebhookInfo."""
        info: Json = {
            "url": self.url,
            "has_custom_certificate": False,
            "pending_update_count": len(self.updates.waiting),
            "max_connections": 1,
        }
        if self.last_error:
            info["last_error_message"] = self.last_error
        if self.updates.allowed:
            info["allowed_updates"] = self.updates.allowed
        return info

    async def _push_all(self) -> None:
        timeout = aiohttp.ClientTimeout(total=_PUSH_TIMEOUT_S)
        retry_s = _RETRY_FIRST_S
        async with aiohttp.ClientSession(timeout=timeout) as session:
            while True:
                update = (await self.changes.until(lambda: self.updates.batch(1), None))[0]
                if await self._push(session, update):
                    self.updates.confirm(update["update_id"] + 1)
                    self.changes.announce()
                    retry_s = _RETRY_FIRST_S
                else:
                    await asyncio.sleep(retry_s)
                    retry_s = min(retry_s * 2, _RETRY_MAX_S)

    async def _push(self, session: aiohttp.ClientSession, update: Json) -> bool:
        headers = {"Content-Type": "application/json"}
        if self.secret:
            headers["X-Telegram-Bot-Api-Secret-Token"] = self.secret
        try:
            async with session.post(self.url, data=json.dumps(update).encode(), headers=headers) as response:
                status = response.status
        except (aiohttp.ClientError, TimeoutError) as exc:
            self.last_error, status = f"Connection failed: {type(exc).__name__}", 0
        else:
            self.last_error = "" if response.ok else f"Wrong response from the webhook: {status}"
        self.pushes.append((update["update_id"], status))
        self.changes.announce()
        return 200 <= status < 300  # noqa: PLR2004 - the range of success
