"""A Telegram Bot API server on 127.0.0.1: the playground talks over it, the tests plant faults in it.

The server keeps Telegram's promises that matter to a bot: updates come again until they are confirmed, message ids
count up per bot (private chats, groups) or per supergroup, only our own messages can be edited, two pollers are a
conflict.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import orjson
from aiohttp import web

from bot.playground.bot_api.changes import Changes
from bot.playground.bot_api.control import Control
from bot.playground.bot_api.downloads import Downloads
from bot.playground.bot_api.faults import Fault, Faults, Kind
from bot.playground.bot_api.guard import guard, sign
from bot.playground.bot_api.methods import METHODS
from bot.playground.bot_api.people import SimulatedPeople
from bot.playground.bot_api.requests import Call, read_params
from bot.playground.bot_api.rules import ApiError, Json, refuse
from bot.playground.bot_api.updates import FIRST_UPDATE_ID, Updates
from bot.playground.bot_api.webhook import Webhook
from bot.playground.bot_api.world import PLAYGROUND_TOKEN, ChatView, World

T = TypeVar("T")
Validate = Callable[[str, Json], None]
_CALLS_KEPT = 50_000
_POLL_MAX_S = 50
_LOOK_S = 0.1
_FIRST_DAY_S = 1_760_000_000  # October 2025; people send less than one message a second, so ids stay ahead
_BODY_MAX_BYTES = 50 * 1024 * 1024


class LoopbackBotApi:
    """The server with its world. `async with LoopbackBotApi() as api:` starts it; `api.url` is TELEGRAM_API_URL.

    `validate` is asked about every request first and refuses it by raising ValueError (kept in `violations`, answered
    with 400). With `state_path`, messages, ids and waiting updates outlive a restart. `driven` adds the addresses under
    `/control`, for tests in other processes: any program that reaches them speaks for anybody.
    """

    def __init__(
        self,
        *,
        token: str = PLAYGROUND_TOKEN,
        username: str = "continuity_bot",
        privacy: bool = False,
        state_path: Path | None = None,
        validate: Validate | None = None,
        now_s: Callable[[], float] = time.time,
        add_routes: Callable[[web.Application], None] | None = None,
        driven: bool = False,
    ) -> None:
        self.token = token
        self.world = World(token, username=username, privacy=privacy)
        self.updates = Updates()
        self.changes = Changes()
        self.webhook = Webhook(self.updates, self.changes)
        self.people = SimulatedPeople(self.world, self.updates, now_s)
        self.faults = Faults()
        self.downloads = Downloads(self.world, self.faults, now_s)
        self.calls: deque[Call] = deque(maxlen=_CALLS_KEPT)
        self.violations: list[str] = []
        self.poll_count = 0
        self.port = 0
        self._validate = validate
        self._now_s = now_s
        self._add_routes = add_routes
        self._driven = driven
        self._state = _StateFile(state_path, self.world, self.updates) if state_path else None
        if state_path:
            self.updates.next_id = _fresh_update_id(now_s())
        self._poller: object = None
        self._released = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self.world.listeners.append(self._on_change)

    # Life

    @property
    def url(self) -> str:
        """Return the address for TELEGRAM_API_URL."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1, on a free port by default; read the state file if there is one."""
        if self._state:
            self._state.read()
        app = web.Application(client_max_size=_BODY_MAX_BYTES, middlewares=[guard])
        app.on_response_prepare.append(sign)
        app.router.add_route("*", "/bot{token}/{method}", self._handle)
        app.router.add_get("/file/bot{token}/documents/{file_id}", self._download)
        if self._driven:
            Control(self).add_routes(app)
        if self._add_routes:
            self._add_routes(app)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """End all polls and hangs, and close the port. A second call does nothing."""
        self._poller = None
        self.webhook.stop()
        self.release()
        self.changes.announce()
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        await self.stop()

    # What a person and a test see

    def view(self, chat_id: int, thread_id: int | None = None) -> ChatView:
        """Return the chat as a person sees it now: lines in order, after edits, with draft and typing sign."""
        return self.world.view(chat_id, thread_id=thread_id, now_s=self._now_s())

    def texts(self, chat_id: int, thread_id: int | None = None) -> list[str]:
        """Return the bot's lines in a chat, in order."""
        return [line.text for line in self.view(chat_id, thread_id).lines if line.by_bot]

    def calls_of(self, method: str) -> list[Call]:
        """Return the calls of one method, oldest first, refused and failed ones too."""
        return [call for call in self.calls if call.method == method]

    def is_confirmed(self, update_id: int) -> bool:
        """Whether the bot took the update (Telegram would not send it again)."""
        return not self.updates.is_waiting(update_id)

    async def until(self, check: Callable[[], T], timeout_s: float = 60.0) -> T:
        """Return the first true value of `check`, asked after every change here, and now and then for files elsewhere.

        Raises AssertionError, with all chats and the last calls, when it takes longer than `timeout_s`.
        """
        try:
            return await self.changes.until(check, timeout_s, look_s=_LOOK_S)
        except TimeoutError:
            raise AssertionError(f"did not happen within {timeout_s} s\n{self.report()}") from None

    def report(self) -> str:
        """Return all chats and the last calls as text, for the message of a failed test."""
        lines = []
        for chat_id in self.world.chats:
            view = self.view(chat_id)
            lines.append(f"chat {chat_id}: typing={view.is_typing} draft={view.draft!r}")
            lines += [f"  {line.message_id} {line.who}: {line.text!r} {line.buttons or ''}" for line in view.lines]
        lines.append(f"waiting updates: {[update['update_id'] for update in self.updates.waiting]}; last calls:")
        lines += [f"  {c.method} {str(c.params)[:200]} -> {c.status} {c.fault or ''}" for c in list(self.calls)[-12:]]
        return "\n".join(lines)

    def release(self) -> None:
        """Drop the connections of the calls that hang now."""
        self._released.set()
        self._released = asyncio.Event()

    def _on_change(self) -> None:
        if self._state:
            self._state.write()
        self.changes.announce()

    # One call

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        call = Call(self._now_s(), _proper_name(request.match_info["method"]), {})
        try:
            if request.match_info["token"] != self.token:
                raise ApiError(401, "Unauthorized")  # noqa: TRY301 - one place turns errors into answers
            call.params = await read_params(request)
        except ApiError as exc:
            return self._send(call, exc.answer())
        self.calls.append(call)
        if fault := self.faults.strike(call.method, call.params):
            call.fault = fault.kind
            return await self._fail(request, call, fault)
        answer = await self._answer(call)
        return self._send(call, answer)

    async def _answer(self, call: Call) -> Json:
        try:
            self._check(call)
            return {"ok": True, "result": await self._result(call.method, call.params)}
        except ApiError as exc:
            return exc.answer()

    def _check(self, call: Call) -> None:
        if not self._validate:
            return
        try:
            self._validate(call.method, call.params)
        except ValueError as exc:
            self.violations.append(f"{call.method} {call.params}: {exc}")
            raise refuse(f"{call.method}: {exc}") from exc

    async def _result(self, method: str, params: Json) -> Any:
        if method == "getUpdates":
            return await self._get_updates(params)
        if method == "getWebhookInfo":
            return self.webhook.info()
        if method in ("setWebhook", "deleteWebhook"):
            return self._set_webhook(params if method == "setWebhook" else {**params, "url": ""})
        if method not in METHODS:
            raise ApiError(404, "Not Found")
        return METHODS[method](self.world, params, self._now_s())

    def _send(self, call: Call, answer: Json) -> web.Response:
        call.status = 200 if answer["ok"] else answer["error_code"]
        call.answer = answer
        self.changes.announce()
        return web.Response(status=call.status, body=json.dumps(answer).encode(), content_type="application/json")

    async def _fail(self, request: web.Request, call: Call, fault: Fault) -> web.StreamResponse:
        if fault.kind.has_effect:
            await self._answer(call)
        self.changes.announce()
        if refused := _refusal(fault):
            return self._send(call, refused.answer())
        if fault.kind in (Kind.BAD_GATEWAY, Kind.MALFORMED):
            call.status = 502 if fault.kind is Kind.BAD_GATEWAY else 200
            body = "<html><h1>502 Bad Gateway</h1></html>" if call.status != 200 else '{"ok":true,"result":{"messa'  # noqa: PLR2004 - a status of HTTP
            return web.Response(status=call.status, text=body)
        if fault.kind in (Kind.HANG, Kind.HANG_AFTER):
            await self._released.wait()
        if request.transport:
            request.transport.abort()
        return web.Response()

    async def _download(self, request: web.Request) -> web.StreamResponse:
        return await self.downloads.serve(request, self.token, self._released)

    # Updates

    async def _get_updates(self, params: Json) -> list[Json]:
        if self.webhook.url:
            raise ApiError(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete it first",
            )
        if isinstance(params.get("allowed_updates"), list):
            self.updates.allowed = params["allowed_updates"]
        if self.updates.confirm(int(params.get("offset") or 0)):
            self.world.changed()
        mine = self._poller = object()
        self.poll_count += 1
        self.changes.announce()
        limit, timeout_s = int(params.get("limit") or 100), min(int(params.get("timeout") or 0), _POLL_MAX_S)

        def batch() -> list[Json]:
            if self._poller is not mine:
                raise ApiError(409, _TWO_POLLERS)
            return self.updates.batch(limit)

        try:
            return await self.changes.until(batch, timeout_s) if timeout_s else batch()
        except TimeoutError:
            return []

    def _set_webhook(self, params: Json) -> bool:
        if params.get("drop_pending_updates"):
            self.updates.waiting.clear()
        if isinstance(params.get("allowed_updates"), list):
            self.updates.allowed = params["allowed_updates"]
        self.webhook.set(params)
        self.world.changed()
        return True


_TWO_POLLERS = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
_METHOD_NAMES = {
    name.lower(): name for name in (*METHODS, "getUpdates", "setWebhook", "deleteWebhook", "getWebhookInfo")
}


def _fresh_update_id(now_s: float) -> int:
    """Return an update id above all earlier ones: a bot that outlived our state file takes none for a repeat."""
    return FIRST_UPDATE_ID + max(0, int(now_s) - _FIRST_DAY_S)


def _proper_name(method: str) -> str:
    return _METHOD_NAMES.get(method.lower(), method)


def _refusal(fault: Fault) -> ApiError | None:
    wait = fault.retry_after_s
    known = {
        Kind.TOO_MANY: ApiError(429, f"Too Many Requests: retry after {wait}", retry_after=wait),
        Kind.SERVER_ERROR: ApiError(500, "Internal Server Error"),
        Kind.REFUSED: ApiError(400, f"Bad Request: {fault.words}"),
        Kind.FORBIDDEN: ApiError(403, "Forbidden: bot was blocked by the user"),
        Kind.CONFLICT: ApiError(409, _TWO_POLLERS),
        Kind.UNAUTHORIZED: ApiError(401, "Unauthorized"),
    }
    return known.get(fault.kind)


@dataclass(slots=True)
class _StateFile:
    """The world in one JSON file, replaced whole whenever something lasting changes."""

    path: Path
    world: World
    updates: Updates
    version: int = 0

    def read(self) -> None:
        """Take over the file if there is one. Raises ValueError, naming the file, when it cannot be read."""
        if not self.path.exists():
            return
        try:
            state = json.loads(self.path.read_text(encoding="utf-8"))
            self.world.read_json(state["world"])
            waiting = state["updates"]
            self.updates.waiting, self.updates.next_id = waiting["waiting"], waiting["next_id"]
        except (ValueError, KeyError, TypeError) as exc:
            raise ValueError(f"cannot read the playground's state {str(self.path)!r}: {exc}; move it away") from exc

    def write(self) -> None:
        """Replace the file if something lasting changed."""
        if self.version == self.world.version:
            return
        self.version = self.world.version
        state = {"world": self.world.to_json(), "updates": asdict(self.updates)}
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self.path.with_suffix(".new")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(orjson.dumps(state))
        fresh.replace(self.path)
