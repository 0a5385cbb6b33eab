"""Polling: raw updates from getUpdates, one after another to the intake; watched, so that it never ends in silence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol
from urllib.parse import urlencode

import structlog
from telegram.error import TelegramError

from bot.intake.fields import as_id, as_object
from bot.intake.intake import NotTaken
from bot.intake.raw_json import Malformed, TooDeep, first_update_id, read_json
from bot.intake.telegram_request import TelegramRequest
from bot.intake.updates import ALLOWED_UPDATES

log = structlog.get_logger(__name__)

POLL_TIMEOUT_S = 25
STALL_AFTER_S = 4.0 * POLL_TIMEOUT_S
MAX_CONFLICTS = 6
MAX_RESTARTS = 5
"""Fresh starts of polling in a row, without one completed poll between them, before the process ends."""
LAST_POLL_S = 0.5
HEAD_START_S = 0.05
"""So much ahead of the next poll the work on new updates is begun: both want the same processor."""

OK = 200
UNAUTHORIZED = (401, 404)
CONFLICT = 409
TOO_MANY = 429


class PollError(Exception):
    """A poll that brought nothing; `wait_s` is the pause that Telegram asked for, 0 for none."""

    def __init__(self, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class Takes(Protocol):
    """The intake, as polling needs it."""

    async def take_all(self, raws: Sequence[object], taken: Callable[[object], None]) -> None:
        """Write updates down in order and tell of each. Raises `NotTaken` at the first that is not."""
        ...

    async def set_aside(self, update_id: int | None, reason: str) -> None:
        """Note that an update was passed over. Raises `NotTaken`."""
        ...


def pause_s(failures: int) -> float:
    """Return how long to wait after this many failures in a row, in seconds: 0.5, 1, 2 … 10."""
    return min(10.0, 0.25 * 2.0 ** min(failures, 8))


def new_request() -> TelegramRequest:
    """Return a request object with connections of its own, so that long polls hold up nothing else."""
    return TelegramRequest(connections=2, read_timeout_s=POLL_TIMEOUT_S + 10, pool_timeout_s=10)


class Poller:
    """Asks Telegram for updates. `run` does it until it is cancelled, and restarts a loop that ended or went silent.

    The offset moves past an update when the intake has taken it: all of one poll are taken together.
    `fatal(message)` is called when polling can never work again: a dead token, a rival, or a loop that cannot be kept
    alive. `recovered` returns when the intake takes updates again: then the refused one is asked for at once.
    """

    def __init__(
        self,
        bot_url: str,
        intake: Takes,
        *,
        fatal: Callable[[str], None],
        recovered: Callable[[], Awaitable[None]],
        make_request: Callable[[], TelegramRequest] = new_request,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._bot_url = bot_url
        self._intake = intake
        self._fatal = fatal
        self._recovered = recovered
        self._make_request = make_request
        self._sleep = sleep
        self._request: TelegramRequest | None = None
        self._offset = 0
        self._limit = 100
        self._conflicts = 0
        self._beat_s: float | None = None
        """Loop time of the last sign of life: a poll that ended in any way, an update that was taken."""
        self._completed_s: float | None = None
        self.completed = 0
        """Polls that Telegram answered."""

    def silent_for_s(self) -> float:
        """Return how long no poll has completed, in seconds; 0 before polling begins."""
        return 0.0 if self._completed_s is None else _now_s() - self._completed_s

    # --- watching ---------------------------------------------------------------------------------------------------

    async def run(self, *, check_every_s: float = 15.0) -> None:
        """Poll for ever: a polling task that ends or hangs is replaced, at most `MAX_RESTARTS` times in a row."""
        self._completed_s = _now_s()
        in_a_row = 0
        while True:
            completed = self.completed
            reason = await self._until_broken(check_every_s)
            in_a_row = in_a_row + 1 if self.completed == completed else 1
            if in_a_row > MAX_RESTARTS:
                self._fatal(f"polling ended {in_a_row} times in a row ({reason}); start the bot again")
                return
            log.error("polling broke off, starting it again", reason=reason, in_a_row=in_a_row)
            await self._sleep(pause_s(in_a_row))

    async def _until_broken(self, check_every_s: float) -> str:
        """Poll in a task of its own until that ends or goes silent; return why."""
        self._beat_s = _now_s()
        task = asyncio.create_task(self._poll_for_ever(), name="getUpdates")
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=check_every_s)
                if not task.done() and _now_s() - self._beat_s > STALL_AFTER_S:
                    return f"silent for {STALL_AFTER_S:.0f} s"
            error = None if task.cancelled() else task.exception()
            return repr(error) if error else "it ended by itself"
        finally:
            task.cancel()
            await asyncio.wait({task}, timeout=1.0)
            await self._close_request()

    async def _close_request(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            with suppress(Exception):
                await asyncio.wait_for(request.shutdown(), 1.0)

    # --- polling ----------------------------------------------------------------------------------------------------

    async def _poll_for_ever(self) -> None:
        failures = 0
        self._request = self._make_request()
        await self._request.initialize()
        while True:
            wait_s, refused = 0.0, False
            try:
                await self._poll(self._request)
                failures = 0
            except (PollError, TelegramError, NotTaken) as exc:
                failures += 1
                refused = isinstance(exc, NotTaken)
                wait_s = max(pause_s(failures), getattr(exc, "wait_s", 0.0))
                log.warning("polling failed, trying again", error=str(exc) or type(exc).__name__, wait_s=wait_s)
            self._beat_s = _now_s()
            if wait_s:
                await self._pause(wait_s, refused=refused)
                self._beat_s = _now_s()

    async def _pause(self, wait_s: float, *, refused: bool) -> None:
        """Wait; when an update was refused, only until updates are taken again."""
        ends = [asyncio.ensure_future(self._sleep(wait_s))]
        if refused:
            ends.append(asyncio.ensure_future(self._recovered()))
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()

    async def _poll(self, request: TelegramRequest) -> None:
        """Ask once and hand on the updates. Raises PollError, `NotTaken` and the library's errors."""
        body = await self._ask(request, timeout_s=POLL_TIMEOUT_S)
        try:
            answer = as_object(read_json(body))
        except Malformed as exc:
            raise PollError(str(exc)) from exc
        except TooDeep as exc:
            await self._pass_over(body, str(exc))
            return
        updates = answer.get("result")
        if not isinstance(updates, list):
            raise PollError("Telegram's answer has no list of updates")
        self._limit = 100
        before = self._offset
        await self._intake.take_all(updates, self._taken)
        if updates and self._offset == before:
            raise PollError("no update in this batch has an id")
        if updates:
            await self._sleep(HEAD_START_S)

    async def _ask(self, request: TelegramRequest, *, timeout_s: int) -> bytes:
        numbers = {"offset": self._offset, "limit": self._limit, "timeout": timeout_s}
        query = {**numbers, "allowed_updates": json.dumps(ALLOWED_UPDATES)}
        status, body = await request.do_request(f"{self._bot_url}/getUpdates?{urlencode(query)}", "POST")
        if status == OK:
            self.completed += 1
            self._completed_s = _now_s()
            self._conflicts = 0
            return body
        if status in UNAUTHORIZED:
            self._fatal("Telegram refuses the token: check TELEGRAM_BOT_TOKEN with @BotFather")
        if status == CONFLICT:
            self._count_conflict()
        raise PollError(f"Telegram answered with {status}", retry_after_s(body) if status == TOO_MANY else 0.0)

    async def _pass_over(self, body: bytes, reason: str) -> None:
        """Ask for updates one by one where a whole answer cannot be read, and leave out the one that is to blame."""
        if self._limit > 1:
            self._limit = 1
            return
        update_id = first_update_id(body)
        if update_id is None:
            raise PollError("Telegram's answer cannot be read and names no update")
        await self._intake.set_aside(update_id, reason)
        self._move_past(update_id)

    def _taken(self, raw: object) -> None:
        self._move_past(as_object(raw).get("update_id"))
        self._beat_s = _now_s()

    def _move_past(self, update_id: object) -> None:
        if type(update_id) is int and update_id >= 0:
            self._offset = update_id + 1

    def _count_conflict(self) -> None:
        self._conflicts += 1
        log.warning(
            "another process polls with the same token, or a webhook is set (409 Conflict)",
            tries_left=MAX_CONFLICTS - self._conflicts,
        )
        if self._conflicts >= MAX_CONFLICTS:
            self._fatal("another process uses this bot's token (409 Conflict); stop it, then start again")

    async def confirm(self) -> None:
        """Tell Telegram at the end which updates were taken. It may fail: then they come again and are known."""
        if not self._offset:
            return
        request, self._limit = self._make_request(), 1
        with suppress(Exception):
            async with asyncio.timeout(LAST_POLL_S):
                await request.initialize()
                await self._ask(request, timeout_s=0)
        with suppress(Exception):
            await request.shutdown()


def retry_after_s(body: bytes) -> float:
    """Return the seconds that a 429 asks to wait, at most a minute; 0 when it does not say."""
    with suppress(ValueError):
        asked = as_id(as_object(as_object(read_json(body)).get("parameters")).get("retry_after"))
        return float(min(60, max(0, asked or 0)))
    return 0.0


def _now_s() -> float:
    return asyncio.get_running_loop().time()
