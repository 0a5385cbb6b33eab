"""Addresses that drive the loopback server from another process: `/control/…` calls `api.people` and `api.view`.

`POST /control/people/<verb>` (says, pastes, presses, …) takes the arguments of `SimulatedPeople` as JSON;
`GET /control/view`, `GET /control/calls`, `POST /control/faults`, `POST /control/release` and
`POST /control/until` do the rest.
"""

from __future__ import annotations

import inspect
from collections import deque
from dataclasses import asdict, is_dataclass
from typing import Any, Protocol

import orjson
from aiohttp import web

from bot.playground.bot_api.changes import Changes
from bot.playground.bot_api.faults import Faults
from bot.playground.bot_api.people import SimulatedPeople
from bot.playground.bot_api.requests import Call
from bot.playground.bot_api.rules import Json
from bot.playground.bot_api.world import ChatView, World

VERBS = frozenset(
    name for name, _ in inspect.getmembers(SimulatedPeople, inspect.isfunction) if not name.startswith("_")
)


class DrivenApi(Protocol):
    """The driven server: a loopback one."""

    world: World
    changes: Changes
    people: SimulatedPeople
    faults: Faults
    calls: deque[Call]

    def view(self, chat_id: int, thread_id: int | None = None) -> ChatView:
        """Return the view of a chat."""
        ...

    def texts(self, chat_id: int, thread_id: int | None = None) -> list[str]:
        """Return the bot's messages in a chat."""
        ...

    def report(self) -> str:
        """Return the calls and errors so far, for a test that failed."""
        ...

    def release(self) -> None:
        """Let every call go on that a fault holds back."""
        ...


class Control:
    """The control addresses of one server; they answer JSON, `{"error": …}` with 400 for an act that cannot be done."""

    def __init__(self, api: DrivenApi) -> None:
        self._api = api

    def add_routes(self, app: web.Application) -> None:
        """Add the addresses to the server's application."""
        app.router.add_post("/control/people/{verb}", self._people)
        app.router.add_post("/control/user", self._user)
        app.router.add_get("/control/view", self._view)
        app.router.add_get("/control/calls", self._calls)
        app.router.add_post("/control/faults", self._faults)
        app.router.add_post("/control/release", self._release)
        app.router.add_post("/control/until", self._until)

    async def _people(self, request: web.Request) -> web.Response:
        verb = request.match_info["verb"]
        if verb not in VERBS:
            return _answer({"error": f"people cannot {verb!r}; they can: {', '.join(sorted(VERBS))}"}, 400)
        try:
            return _answer(getattr(self._api.people, verb)(**await _body(request)))
        except (TypeError, ValueError, LookupError) as exc:
            return _answer({"error": str(exc)}, 400)

    async def _user(self, request: web.Request) -> web.Response:
        return _answer(self._api.world.user(**await _body(request)))

    async def _view(self, request: web.Request) -> web.Response:
        thread = request.query.get("thread_id")
        return _answer(self._api.view(int(request.query["chat_id"]), int(thread) if thread else None))

    async def _calls(self, _request: web.Request) -> web.Response:
        return _answer([_plain_call(asdict(call)) for call in self._api.calls])

    async def _faults(self, request: web.Request) -> web.Response:
        try:
            return _answer(self._api.faults.plant(**await _body(request)))
        except (TypeError, ValueError) as exc:
            return _answer({"error": str(exc)}, 400)

    async def _release(self, _request: web.Request) -> web.Response:
        self._api.release()
        return _answer(value=True)

    async def _until(self, request: web.Request) -> web.Response:
        """Wait until the bot shows at least `count` texts in `chat_id` and return them, or 408 after `timeout_s`."""
        body = await _body(request)
        chat_id, count, timeout_s = int(body["chat_id"]), int(body.get("count", 1)), float(body.get("timeout_s", 20))
        try:
            await self._api.changes.until(lambda: len(self._api.texts(chat_id)) >= count, timeout_s)
        except TimeoutError:
            return _answer({"error": self._api.report()}, 408)
        return _answer(self._api.texts(chat_id))


async def _body(request: web.Request) -> Json:
    body = orjson.loads(await request.read() or b"{}")
    if not isinstance(body, dict):
        raise TypeError("the body must be a JSON object")
    return body


def _plain_call(call: Json) -> Json:
    call["params"] = {k: v[0] if isinstance(v, tuple) else v for k, v in call["params"].items()}
    return call


def _answer(value: Any, status: int = 200) -> web.Response:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return web.Response(status=status, body=orjson.dumps(value), content_type="application/json")
