"""The playground in the browser: a messenger page over the loopback Bot API, with the console of the bot beside it."""

from __future__ import annotations

import base64
import binascii
import hmac
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import httpx
import orjson
from aiohttp import web

from bot.playground.bot_api.people import SimulatedPeople
from bot.playground.bot_api.server import LoopbackBotApi
from bot.playground.bot_api.world import Chat, ShownMessage
from bot.playground.events import BotEvents
from bot.playground.keeper import ProcessKeeper
from bot.playground.moved_clock import MovedClock

YOU, ANA = 1_000_001, 1_000_002
GROUP = "Flat"
STATIC = Path(__file__).parent / "page"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_POLL_S = 20.0
_SHOWN_LINES = 200
HOUR_MS = 3_600_000
MAX_SKIP_HOURS = 24 * 60
MAX_NAME_CHARS = 200
_PICTURES = {"image/jpeg", "image/png", "image/webp"}
"""Types that Telegram's apps send as a picture; others go as files."""
_HANDED_ON = ("content-type", "hx-request", "cookie")
_PASSED_ON = ("content-type", "location", "cache-control", "hx-redirect", "set-cookie")
_ENTRANCES = ("/console/login", "/console/logout")
_STARTING = """<!doctype html><html lang=en><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width"><title>Console</title>
<link rel=stylesheet href="/play/play.css"><p class=empty>{} <a href="">Look again</a></p>"""
_WHY_NO_CONSOLE = {
    "starting": "The bot is starting …",
    "running": "The bot is starting …",
    "killed": "The bot isn't running just now. It's started again in a moment.",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; "
    "img-src 'self' data: blob:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_IN_OUR_FRAME = {"X-Frame-Options": "SAMEORIGIN"}
TOKEN_HEADER = "X-Play-Token"
_TOKEN_PLACE = "{{token}}"

RELOAD = "this page is from an earlier start; load it again"

Act = Callable[[dict[str, Any]], Awaitable[None]]


class PlaygroundPages:
    """The routes of the page. Its requests and acts need the token that the page was served with.

    Requests that another site sent do not come this far (`bot.playground.bot_api.guard`).
    """

    def __init__(
        self, api: LoopbackBotApi, keeper: ProcessKeeper, clock: MovedClock, reset: Callable[[], Awaitable[None]]
    ) -> None:
        self._api = api
        self._keeper = keeper
        self._clock = clock
        self._console = httpx.AsyncClient(timeout=30)
        self._token = secrets.token_urlsafe(24)
        self.events = BotEvents()
        self._acts: dict[str, Act] = {
            "say": self._say,
            "send": self._send,
            "press": self._press,
            "skip": self._skip,
            "kill": self._kill,
            "reset": lambda _: reset(),
        }

    def add_routes(self, app: web.Application) -> None:
        """Add the page, its requests, and the way to the console."""
        app.router.add_get("/", self._page)
        app.router.add_get("/play/{name}", self._static)
        app.router.add_get("/play/state/{chat_id}", self._state)
        app.router.add_get("/play/file/{file_id}", self._sent_file)
        app.router.add_post("/play/act/{what}", self._act)
        app.router.add_route("*", "/console{rest:.*}", self._proxy)

    def bot_changed(self) -> None:
        """Keep the bot's new state as an event, and tell every page."""
        last = {chat_id: max(chat.messages, default=0) for chat_id, chat in self._api.world.chats.items()}
        self.events.heard(self._keeper.state, self._keeper.note, self._clock.now_ms(), last)
        self._api.changes.announce()

    async def close(self) -> None:
        """Close the connections to the console."""
        await self._console.aclose()

    def people_at_start(self) -> None:
        """Make up the people, you and Ana, and a group of both; a second start finds them."""
        self._api.world.user(YOU, first_name="You", username="you")
        self._api.world.user(ANA, first_name="Ana", username="ana")
        for user_id in (YOU, ANA):
            self._api.world.private_chat(user_id)
        if not any(chat.kind != "private" for chat in self._api.world.chats.values()):
            self._api.people.opens_group(GROUP)

    # --- the page ---------------------------------------------------------------------------------------------------

    async def _page(self, _: web.Request) -> web.Response:
        page = (STATIC / "index.html").read_text(encoding="utf-8").replace(_TOKEN_PLACE, self._token)
        return _served(page.encode(), ".html")

    def _is_ours(self, request: web.Request) -> bool:
        """Return True for a request of the page as this start has served it."""
        return hmac.compare_digest(request.headers.get(TOKEN_HEADER, "").encode(), self._token.encode())

    async def _static(self, request: web.Request) -> web.Response:
        return _file(request.match_info["name"])

    async def _state(self, request: web.Request) -> web.Response:
        """Return the state of the page, at once when `since` is old, else when something changed."""
        if not self._is_ours(request):
            return _json({"error": RELOAD}, 403)
        since, chat_id = request.query.get("since", ""), _whole(request.match_info["chat_id"])
        with suppress(TimeoutError):
            await self._api.changes.until(lambda: str(self._api.changes.count) != since, _POLL_S)
        view = self._api.view(chat_id)
        return _json(
            {
                "version": str(self._api.changes.count),
                "chats": [self._chat(chat) for chat in self._api.world.chats.values()],
                "lines": [asdict(line) for line in view.lines[-_SHOWN_LINES:]],
                "draft": view.draft,
                "typing": view.is_typing,
                "bot": {"state": self._keeper.state, "note": self._keeper.note},
                "events": self.events.of_chat(chat_id, whole=chat_id == YOU),
                "you": YOU,
                "people": [{"id": each["id"], "name": each["first_name"]} for each in self._people()],
                "now_ms": self._clock.now_ms(),
                "ahead_ms": self._clock.ahead_ms(),
                "commands": next(iter(self._api.world.commands.values()), []),
            }
        )

    def _people(self) -> list[dict[str, Any]]:
        """Return the people who can write here."""
        return [self._api.world.user(user_id) for user_id in (YOU, ANA)]

    async def _sent_file(self, request: web.Request) -> web.Response:
        """Return the bytes of a file that somebody sent; those of an earlier start are gone."""
        if not self._is_ours(request):
            return _json({"error": RELOAD}, 403)
        data = self._api.world.files.get(request.match_info["file_id"])
        if data is None:
            return _json({"error": "it's from an earlier start and no longer here"}, 404)
        return web.Response(body=data, content_type="application/octet-stream")

    def _chat(self, chat: Chat) -> dict[str, Any]:
        lines = self._api.view(chat.chat_id).lines
        title = chat.info.get("title") or chat.info["first_name"]
        return {
            "id": chat.chat_id,
            "title": title,
            "group": chat.kind != "private",
            "last": _beginning(lines[-1]) if lines else "",
            "count": len(lines),
        }

    # --- acts of the page -------------------------------------------------------------------------------------------

    async def _act(self, request: web.Request) -> web.Response:
        if not self._is_ours(request):
            return _json({"error": RELOAD}, 403)
        act = self._acts.get(request.match_info["what"])
        if act is None:
            return _json({"error": "unknown"}, 404)
        try:
            body = orjson.loads(await request.read() or b"{}")
            await act(body if isinstance(body, dict) else {})
        except (ValueError, TypeError, LookupError) as exc:
            return _json({"error": str(exc)}, 400)
        return _json({"ok": True})

    async def _say(self, body: dict[str, Any]) -> None:
        people: SimulatedPeople = self._api.people
        user_id, chat_id = int(body["user_id"]), int(body["chat_id"])
        text = str(body["text"]).strip()
        if text:
            people.pastes(user_id, text, chat_id=chat_id)

    async def _send(self, body: dict[str, Any]) -> None:
        """Send a picture or a file, with the words under it."""
        name, kind = str(body["name"])[:MAX_NAME_CHARS], str(body.get("type") or "application/octet-stream")
        try:
            data = base64.b64decode(str(body["data"]), validate=True)
        except binascii.Error as exc:
            raise ValueError(f"{name} didn't come through whole") from exc
        if not data:
            raise ValueError(f"{name} is empty")
        is_picture = kind in _PICTURES
        self._api.people.sends_file(
            int(body["user_id"]), data, name="" if is_picture else name, kind="photo" if is_picture else "document",
            caption=str(body.get("text") or "").strip(), claims=None if is_picture else {"mime_type": kind},
            chat_id=int(body["chat_id"]),
        )  # fmt: skip

    async def _press(self, body: dict[str, Any]) -> None:
        self._api.people.presses(
            int(body["user_id"]), str(body["data"]), chat_id=int(body["chat_id"]), message_id=int(body["message_id"])
        )

    async def _skip(self, body: dict[str, Any]) -> None:
        hours = float(body.get("hours", 8))
        if not 0 < hours <= MAX_SKIP_HOURS:
            raise ValueError(f"takes more than 0 and at most {MAX_SKIP_HOURS} hours")
        self._clock.move(round(hours * HOUR_MS))
        self._api.changes.announce()

    async def _kill(self, _: dict[str, Any]) -> None:
        self._keeper.kill()

    # --- the console ------------------------------------------------------------------------------------------------

    async def _proxy(self, request: web.Request) -> web.Response:
        """Hand a request on to the bot's console, logged in; while the bot is down say so.

        Nobody here knows the token: who logged out, or whose login ended when the clock was moved, is let in again.
        """
        if request.path in _ENTRANCES:
            raise web.HTTPSeeOther("/console/sessions")
        url = f"http://127.0.0.1:{self._keeper.port}{request.rel_url}"
        headers = {name: value for name, value in request.headers.items() if name.lower() in _HANDED_ON}
        try:
            answer = await self._console.request(request.method, url, headers=headers, content=await request.read())
            if "/console/login" in (answer.headers.get("location"), answer.headers.get("hx-redirect")):
                login = await self._console.post(
                    f"http://127.0.0.1:{self._keeper.port}/console/login", data={"token": self._keeper.token}
                )
                answer = await self._console.request(request.method, url, headers=headers | _cookie(login))
                answer.headers["set-cookie"] = login.headers.get("set-cookie", "")
        except httpx.HTTPError:
            why = _WHY_NO_CONSOLE.get(self._keeper.state) or f"{self._keeper.note[:1].upper()}{self._keeper.note[1:]}."
            if "hx-request" in request.headers:
                return web.Response(status=502, text=why, headers=_IN_OUR_FRAME)
            policy = _POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
            headers = {"Content-Security-Policy": policy, **_IN_OUR_FRAME}
            return web.Response(text=_STARTING.format(escape(why)), content_type="text/html", headers=headers)
        passed = {name: answer.headers[name] for name in _PASSED_ON if answer.headers.get(name)}
        policy = answer.headers.get("content-security-policy", "").replace(
            "frame-ancestors 'none'", "frame-ancestors 'self'"
        )
        return web.Response(
            status=answer.status_code,
            body=answer.content,
            headers={**passed, "Content-Security-Policy": policy, **_IN_OUR_FRAME},
        )


def _cookie(login: httpx.Response) -> dict[str, str]:
    return {"cookie": login.headers.get("set-cookie", "").partition(";")[0]}


def _beginning(line: ShownMessage) -> str:
    """Return the first words of a message for the list of chats."""
    words = line.text[:80] or line.file_name or line.media
    return words if line.by_bot or not words else f"{line.who}: {words}"


def _file(name: str) -> web.Response:
    path = STATIC / name
    if path.parent != STATIC or not path.is_file() or path.suffix not in _TYPES or path.suffix == ".html":
        return web.Response(status=404, text="there is no such file")
    return _served(path.read_bytes(), path.suffix)


def _served(content: bytes, suffix: str) -> web.Response:
    return web.Response(
        body=content,
        content_type=_TYPES[suffix],
        charset="utf-8",
        headers={"Content-Security-Policy": _POLICY, "Cache-Control": "no-store"},
    )


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(value), content_type="application/json")
