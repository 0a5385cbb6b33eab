"""`/console`: the pages, who may see them, and the few things that can be done from them."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.http.console.login import COOKIE, LIFE_MS, form_mark, is_own_form, is_valid, make_cookie
from bot.http.console.pages import Pages
from bot.http.problems import Problem
from bot.http.served import Served
from bot.ops import checkpoints, quarantine

_HERE = Path(__file__).parent
_STATIC = {"console.css": "text/css", "htmx.min.js": "text/javascript"}
MAX_FORM_BYTES = 4096
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

Read = Callable[..., Awaitable[dict[str, Any]]]
Act = Callable[[dict[str, str]], Awaitable[str]]


class _LoggedOut(Exception):
    """Somebody without a login asked for a page."""


class Console:
    """The console of one bot; there is none without a token."""

    def __init__(self, bot: Served, secret: str) -> None:
        self._bot = bot
        self._secret = secret
        self._pages = Pages(bot)
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(time=self._pages.time, age=self._pages.age)
        self._acts: dict[str, Act] = {
            "retry": self._retry,
            "drop": self._drop,
            "drop-part": self._drop_part,
            "rebuild": self._rebuild,
            "refresh": self._refresh,
        }

    # --- who --------------------------------------------------------------------------------------------------------

    def _cookie(self, request: Request) -> str:
        """Return the cookie of a login that holds. Raises `_LoggedOut`."""
        cookie = request.cookies.get(COOKIE, "")
        if not is_valid(cookie, self._secret, self._bot.services.clock.now_ms()):
            raise _LoggedOut
        return cookie

    async def _form(self, request: Request) -> dict[str, str]:
        """Return the fields of a small form. Raises `Problem` for a large one."""
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_FORM_BYTES:
                raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "this form is too large")
        return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}

    def page(self, name: str, request: Request, **shown: Any) -> HTMLResponse:
        """Return a page for somebody who is logged in."""
        mark = form_mark(self._cookie(request), self._secret)
        text = self._templates.get_template(name).render(mark=mark, path=request.url.path, said="", **shown)
        return HTMLResponse(text, headers=HEADERS)

    # --- login ------------------------------------------------------------------------------------------------------

    async def login_page(self) -> Response:
        """Return the page that asks for the token."""
        return self._login()

    def _login(self, said: str = "", status: int = HTTPStatus.OK) -> HTMLResponse:
        return HTMLResponse(self._templates.get_template("login.html").render(said=said), status, headers=HEADERS)

    async def log_in(self, request: Request) -> Response:
        """Take the token, give a cookie that no script and no other site can use."""
        given = (await self._form(request)).get("token", "")
        if not hmac.compare_digest(given.strip().encode(), self._secret.encode()):
            return self._login("That's not the token. It's the value of CONTINUITY_HTTP_TOKEN.", 401)
        cookie = make_cookie(self._secret, secrets.token_urlsafe(12), self._bot.services.clock.now_ms())
        answer = RedirectResponse("/console/sessions", HTTPStatus.SEE_OTHER, headers=HEADERS)
        answer.set_cookie(
            COOKIE, cookie, max_age=LIFE_MS // 1000, path="/console", httponly=True, samesite="strict",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return answer

    async def log_out(self) -> Response:
        """Take the cookie back."""
        answer = RedirectResponse("/console/login", HTTPStatus.SEE_OTHER, headers=HEADERS)
        answer.delete_cookie(COOKIE, path="/console")
        return answer

    # --- what can be done -------------------------------------------------------------------------------------------

    async def act(self, what: str, request: Request) -> Response:
        """Do what a form asks for, then show the page it came from. Raises `Problem` for a form that is not ours."""
        cookie, form = self._cookie(request), await self._form(request)
        if what not in self._acts or not is_own_form(form.get("mark", ""), cookie, self._secret):
            raise Problem(HTTPStatus.FORBIDDEN, "this form was not made by this console; load the page again")
        where = await self._acts[what](form)
        return RedirectResponse(f"/console/{where}", HTTPStatus.SEE_OTHER, headers=HEADERS)

    async def _retry(self, form: dict[str, str]) -> str:
        for each in await quarantine.retry(self._bot.workspace(), _number(form, "update_id")):
            await self._bot.replay(each.update_id)
        return "set-aside"

    async def _drop(self, form: dict[str, str]) -> str:
        await quarantine.drop(self._bot.workspace(), _number(form, "update_id"))
        return "set-aside"

    async def _drop_part(self, form: dict[str, str]) -> str:
        await quarantine.drop_part(self._bot.workspace(), form.get("part_id", ""))
        return "set-aside"

    async def _rebuild(self, form: dict[str, str]) -> str:
        workspace = self._bot.workspace()
        session_id = await workspace.find(form.get("session_id", ""))
        await self._bot.services.recorder.settle()
        await checkpoints.rebuild(workspace, [session_id])
        return "checkpoints"

    async def _refresh(self, form: dict[str, str]) -> str:
        workspace = self._bot.workspace()
        session_id = await workspace.find(form.get("session_id", ""))
        row = await self._bot.services.store.session(session_id)
        if row is not None and row.user_id is not None:
            owner = await self._bot.continuity_gate.owner(row.conversation_id, row.user_id)
            await self._bot.services.bootstrap.refresh(owner)
        return f"sessions/{session_id}/carried"

    # --- pages ------------------------------------------------------------------------------------------------------

    def routes(self) -> APIRouter:
        """Return the routes of the console."""
        routes, pages = APIRouter(prefix="/console", include_in_schema=False), self._pages
        routes.get("")(_home)
        routes.get("/login")(self.login_page)
        routes.post("/login")(self.log_in)
        routes.post("/logout")(self.log_out)
        routes.get("/static/{name}")(_static)
        routes.post("/act/{what}")(self.act)
        self._add(routes, "/sessions", "sessions.html", pages.overview, part="sessions_table.html")
        self._add(routes, "/sessions/{session}", "conversation.html", pages.conversation)
        self._add(routes, "/sessions/{session}/prompt", "prompt.html", pages.prompt_now)
        self._add(routes, "/sessions/{session}/carried", "carried.html", pages.carried)
        self._add(routes, "/turns/{turn_id}/found", "found.html", pages.found_for)
        self._add(routes, "/checkpoints", "checkpoints.html", pages.checkpoints)
        self._add(routes, "/starts", "starts.html", pages.starts)
        self._add(routes, "/set-aside", "set_aside.html", pages.set_aside)
        self._add(routes, "/history", "history.html", pages.history)
        return routes

    def _add(self, routes: APIRouter, path: str, template: str, read: Read, part: str | None = None) -> None:
        """Add a page; `read` takes what the path names, `part` is what a page that renews itself asks for."""

        async def show(request: Request) -> Response:
            self._cookie(request)
            name = part if part and "hx-request" in request.headers else template
            return self.page(name, request, **await read(*request.path_params.values()))

        routes.get(path)(show)


async def _home() -> Response:
    return RedirectResponse("/console/sessions", HTTPStatus.SEE_OTHER)


async def _static(name: str) -> Response:
    if name not in _STATIC:
        raise Problem(HTTPStatus.NOT_FOUND, "there is no such file")
    return FileResponse(_HERE / "static" / name, media_type=_STATIC[name])


def add_console(api: FastAPI, bot: Served) -> None:
    """Add the console when there is a token to enter it with."""
    token = bot.settings.continuity_http_token
    if token is None:
        return
    console = Console(bot, token.get_secret_value())
    api.include_router(console.routes())

    async def logged_out(request: Request, _: Exception) -> Response:
        if "hx-request" in request.headers:
            return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": "/console/login"})
        return RedirectResponse("/console/login", HTTPStatus.SEE_OTHER)

    api.add_exception_handler(_LoggedOut, logged_out)


def _number(form: dict[str, str], name: str) -> int:
    value = form.get(name, "")
    if not value.isdecimal():
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{name}: takes a number")
    return int(value)
