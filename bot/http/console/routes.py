"""`/console`: the pages, and the login before them."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.middleware.base import RequestResponseEndpoint

from bot.http.console import words
from bot.http.console.action import Form
from bot.http.console.actions import SAID, Actions
from bot.http.console.formatted import ticks
from bot.http.console.incidents import Incidents
from bot.http.console.login import (
    COOKIE,
    LIFE_MS,
    TRIES,
    form_mark,
    is_own_form,
    is_token,
    is_valid,
    login_of,
    make_cookie,
)
from bot.http.console.pages import Pages
from bot.http.console.records import Records
from bot.http.door import client_of
from bot.http.guesses import Guesses
from bot.http.problems import Problem, of
from bot.http.served import Served
from bot.ops.workspace import OpsError
from bot.replies import plural
from memory.errors import ContinuityError, StorageError, StorageUnavailable
from memory.ports import Statement
from memory.text import clean

_HERE = Path(__file__).parent
_STATIC = {"console.css": "text/css", "console.js": "text/javascript", "htmx.min.js": "text/javascript"}
MAX_FORM_BYTES = 4096
MAX_ASKED_CHARS = 200
OLD_FORM = (
    "This form is from an older login, or from another site. Nothing was changed. Open the page again and repeat it."
)
NO_PAGE = "There is no such page."
TOO_LARGE = "This form is too large."
NO_DATABASE = "The database can't be used just now; try again later."
OURS_FAILED = "Something failed here. The log of the bot says why."
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


class LoggedOut(Exception):
    """Somebody without a login asked for a page."""


class Console:
    """The console of one bot; there is none without a token."""

    def __init__(self, bot: Served, secret: str) -> None:
        self._bot = bot
        self._secret = secret
        self._incidents = Incidents(bot)
        self._pages = Pages(bot, self._incidents)
        self._records = Records(bot)
        self._actions = Actions(bot).by_name
        self._guesses = Guesses(TRIES)
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(
            time=self._pages.time,
            age=self._pages.age,
            plural=plural,
            words=words.in_words,
            day=words.day,
            every=words.every,
            ticks=ticks,
        )
        self._templates.globals.update(words=words, zone=self._pages.zone_name, headline=None, failed=0)

    # --- who --------------------------------------------------------------------------------------------------------

    def _cookie(self, request: Request) -> str:
        """Return the cookie of a login that holds. Raises `LoggedOut`."""
        cookie = request.cookies.get(COOKIE, "")
        if not self._holds(request):
            raise LoggedOut
        return cookie

    def _holds(self, request: Request) -> bool:
        """Return whether a request has the cookie of a login that holds."""
        ended = getattr(request.state, "ended", False)
        return not ended and is_valid(request.cookies.get(COOKIE, ""), self._secret, self._now_ms())

    async def look_up(self, request: Request, go_on: RequestResponseEndpoint) -> Response:
        """Note on a request whether its login was ended, then go on; nobody is let in while that cannot be read."""
        cookie = request.cookies.get(COOKIE, "")
        if is_valid(cookie, self._secret, self._now_ms()):
            login_id, _ = login_of(cookie)
            try:
                found = await self._bot.services.db.read_one("console_logged_out", login_id=login_id)
            except StorageError:
                return self._login(NO_DATABASE, HTTPStatus.SERVICE_UNAVAILABLE)
            request.state.ended = found is not None
        return await go_on(request)

    def _now_ms(self) -> int:
        return self._bot.services.clock.now_ms()

    async def _form(self, request: Request) -> dict[str, str]:
        """Return the fields of a small form. Raises `Problem` for a large one."""
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_FORM_BYTES:
                raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE)
        return {name: clean(values[0]) for name, values in parse_qs(body.decode("utf-8", "replace")).items()}

    def page(self, name: str, request: Request, *, code: int = HTTPStatus.OK, **shown: Any) -> HTMLResponse:
        """Return a page for somebody who is logged in."""
        mark = form_mark(self._cookie(request), self._secret)
        said = SAID.get(request.query_params.get("said", ""), "")
        text = self._templates.get_template(name).render(mark=mark, path=request.url.path, said=said, **shown)
        return HTMLResponse(text, code, headers=HEADERS)

    # --- login ------------------------------------------------------------------------------------------------------

    async def login_page(self) -> Response:
        """Return the page that asks for the token."""
        return self._login()

    def _login(self, said: str = "", status: int = HTTPStatus.OK) -> HTMLResponse:
        return HTMLResponse(self._templates.get_template("login.html").render(said=said), status, headers=HEADERS)

    async def log_in(self, request: Request) -> Response:
        """Take the token, give a cookie that no script and no other site can use. Wrong ones are told to wait."""
        now_ms = self._now_ms()
        if not is_token((await self._form(request)).get("token", ""), self._secret):
            return self._wrong(self._guesses.failed(client_of(request.scope), now_ms))
        answer = RedirectResponse("/console/sessions", HTTPStatus.SEE_OTHER, headers=HEADERS)
        answer.set_cookie(
            COOKIE,
            make_cookie(self._secret, secrets.token_urlsafe(12), now_ms),
            max_age=LIFE_MS // 1000,
            path="/console",
            httponly=True,
            samesite="strict",
            secure="https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "")),
        )
        return answer

    def _wrong(self, wait_ms: int) -> Response:
        if not wait_ms:
            return self._login("That's not the token. It's the value of CONTINUITY_HTTP_TOKEN.", 401)
        wait_s = -(-wait_ms // 1000)
        said = f"Too many wrong tokens. Try again in {wait_s} seconds; the right one is taken at any time."
        answer = self._login(said, HTTPStatus.TOO_MANY_REQUESTS)
        answer.headers["Retry-After"] = str(wait_s)
        return answer

    async def log_out(self, request: Request) -> Response:
        """End the login, here and for every other process. Raises `Problem` for a form that is not ours."""
        cookie = self._cookie(request)
        if not is_own_form((await self._form(request)).get("mark", ""), cookie, self._secret):
            raise Problem(HTTPStatus.FORBIDDEN, OLD_FORM)
        login_id, until_ms = login_of(cookie)
        await self._bot.services.db.write(
            Statement("console_logouts_purge", {"now_ms": self._now_ms()}),
            Statement("console_log_out", {"login_id": login_id, "until_ms": until_ms}),
        )
        answer = RedirectResponse("/console/login", HTTPStatus.SEE_OTHER, headers=HEADERS)
        answer.delete_cookie(COOKIE, path="/console")
        return answer

    # --- acts --------------------------------------------------------------------------------------------------------

    async def ask(self, what: str, request: Request) -> Response:
        """Show the question before an act."""
        self._cookie(request)
        fields = {name: clean(text) for name, text in request.query_params.items()}
        return await self._asked(what, request, fields)

    async def _asked(self, what: str, request: Request, form: Form) -> Response:
        action = self._actions.get(what)
        if action is None or action.ask is None:
            raise Problem(HTTPStatus.NOT_FOUND, NO_PAGE)
        try:
            question = await action.ask(form)
        except (OpsError, ContinuityError) as exc:
            return self.refused(request, exc)
        fields = {name: text for name, text in form.items() if name not in ("mark", "sure", "value")}
        return self.page("question.html", request, question=question, what=what, fields=fields)

    async def act(self, what: str, request: Request) -> Response:
        """Do the act of a form, then show the page after it. Raises `Problem` for a form that is not ours."""
        cookie, form = self._cookie(request), await self._form(request)
        action = self._actions.get(what)
        if action is None or not is_own_form(form.get("mark", ""), cookie, self._secret):
            raise Problem(HTTPStatus.FORBIDDEN, OLD_FORM)
        if action.ask is not None and "sure" not in form:
            return await self._asked(what, request, form)
        try:
            done = await action.do(form)
        except (OpsError, ContinuityError) as exc:
            return self.refused(request, exc)
        return RedirectResponse(f"/console/{done.where}?said={done.said}", HTTPStatus.SEE_OTHER, headers=HEADERS)

    def refused(self, request: Request, error: Exception) -> Response:
        """Say on a page why something could not be shown or done."""
        if isinstance(error, StorageUnavailable):
            return self.error(request, 503, NO_DATABASE)
        problem = of(error) if isinstance(error, ContinuityError) else Problem(HTTPStatus.CONFLICT, str(error))
        code, why = problem.status, problem.detail
        return self.error(request, code, why[:1].upper() + why[1:])

    def error(self, request: Request, code: int, why: str) -> Response:
        """Return a page that says why; a sentence where htmx puts it into another page; the login for a stranger."""
        if not self._holds(request):
            return to_login(request)
        name = "refused_part.html" if "hx-request" in request.headers else "refused.html"
        return self.page(name, request, code=code, why=why)

    # --- pages ------------------------------------------------------------------------------------------------------

    def routes(self) -> APIRouter:
        """Return the routes of the console."""
        routes, pages, records = APIRouter(), self._pages, self._records
        routes.get("/")(home)
        routes.get("/login")(self.login_page)
        routes.post("/login")(self.log_in)
        routes.post("/logout")(self.log_out)
        routes.get("/static/{name}")(_static)
        routes.get("/do/{what}")(self.ask)
        routes.post("/act/{what}")(self.act)
        routes.get("/headline")(self.headline)
        self._add(routes, "/sessions", "sessions.html", pages.overview, part="sessions_table.html", asks=("q", "page"))
        self._add(routes, "/sessions/{session}", "conversation.html", pages.conversation, asks=("through",))
        self._add(routes, "/sessions/{session}/memory", "memory.html", pages.memory)
        self._add(routes, "/sessions/{session}/notes/{ref}", "note.html", pages.note)
        self._add(routes, "/sessions/{session}/next", "next.html", pages.next_packet, part="next_part.html")
        self._add(routes, "/sessions/{session}/carried", "carried.html", pages.carried)
        self._add(routes, "/sessions/{session}/made", "made.html", pages.made)
        self._add(routes, "/turns/{turn_id}/prompt", "prompt.html", pages.prompt, part="prompt_part.html")
        self._add(routes, "/turns/{turn_id}/found", "found.html", pages.found_for, part="found_part.html")
        self._add(routes, "/continuity", "continuity.html", records.continuity)
        self._add(routes, "/checkpoints", "checkpoints.html", records.checkpoints)
        self._add(routes, "/starts", "starts.html", records.starts)
        self._add(routes, "/tools", "tools.html", records.tools)
        self._add(routes, "/set-aside", "set_aside.html", self._incidents.overview, part="needs.html")
        self._add(routes, "/needs", "set_aside.html", self._incidents.overview, part="needs_on_top.html")
        self._add(routes, "/history", "history.html", records.history)
        return routes

    async def headline(self, request: Request) -> Response:
        """Return the headline alone, for a page that is open."""
        self._cookie(request)
        return self.page("headline.html", request, **await self._incidents.headline())

    def _add(
        self,
        routes: APIRouter,
        path: str,
        template: str,
        read: Read,
        *,
        part: str | None = None,
        asks: tuple[str, ...] = (),
    ) -> None:
        """Add a page; `read` takes the parts of its path and, by their names, the parameters in `asks`.

        `part` is the template for htmx, to put into another page; a whole page has the headline and the failures.
        """

        async def show(request: Request) -> Response:
            self._cookie(request)
            is_part = part is not None and "hx-request" in request.headers
            asked = {name: clean(request.query_params.get(name, ""))[:MAX_ASKED_CHARS].strip() for name in asks}
            try:
                found = await read(*map(clean, request.path_params.values()), **asked)
                above = {} if is_part else await self._incidents.headline(found.get("troubles"))
                return self.page(part if part and is_part else template, request, **above | found)
            except (OpsError, ContinuityError) as exc:
                return self.refused(request, exc)

        routes.get(path)(show)


async def home() -> Response:
    """Redirect to the first page."""
    return RedirectResponse("/console/sessions", HTTPStatus.SEE_OTHER)


async def _static(name: str) -> Response:
    if name not in _STATIC:
        raise Problem(HTTPStatus.NOT_FOUND, NO_PAGE)
    return FileResponse(_HERE / "static" / name, media_type=_STATIC[name])


def to_login(request: Request) -> Response:
    """Redirect to the login, also from a part of a page."""
    if "hx-request" in request.headers:
        return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": "/console/login"})
    return RedirectResponse("/console/login", HTTPStatus.SEE_OTHER)
