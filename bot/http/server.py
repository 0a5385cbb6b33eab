"""The HTTP side, off unless a port is set: /health, /ready and Telegram's webhook."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import socket
from collections.abc import Iterator
from http import HTTPStatus
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Header, HTTPException, Request, Response

from bot.http.api import add_api
from bot.http.connections import TimedConnection
from bot.http.console.mount import add_console
from bot.http.door import TOO_MANY_WRONG, client_of, knows
from bot.http.guesses import Guesses
from bot.http.problems import Problem
from bot.http.served import Served
from bot.intake.intake import NotTaken
from bot.intake.raw_json import Malformed

UNAVAILABLE = 503


class _Server(uvicorn.Server):
    """Leaves signals to the bot, which has more to stop than this server."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class HttpServer:
    """Serves until `stop`. Making one takes the port and raises OSError when somebody else has it."""

    def __init__(self, app: Served) -> None:
        settings = app.settings
        config = uvicorn.Config(
            make_api(app),
            log_config=None,
            access_log=False,
            lifespan="off",
            http=TimedConnection,
            ws="none",  # nobody speaks it here, and what speaks it takes a moment to load
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=settings.trusted_proxies,
        )
        self._server = _Server(config)
        self._socket = socket.create_server(
            (settings.continuity_http_host, settings.continuity_http_port or 0), reuse_port=False
        )
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """The address of the service: `http://127.0.0.1:8080`."""
        host, port = self._socket.getsockname()[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    async def start(self) -> None:
        """Begin to serve."""
        self._task = asyncio.create_task(self._server.serve([self._socket]), name="http")
        while not self._server.started:
            if self._task.done():
                await self._task
                raise OSError("the HTTP server ended before it served")
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        """Finish open requests and stop listening."""
        self._server.should_exit = True
        if self._task is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._task, 0.5)


def make_api(app: Served) -> FastAPI:
    """Return the routes over one bot."""
    api = FastAPI(title="continuity bot", docs_url=None, redoc_url=None, openapi_url=None)
    secret = app.settings.telegram_webhook_secret
    token = app.settings.continuity_http_token
    guesses = Guesses()
    add_api(api, app, guesses)
    add_console(api, app)

    @api.get("/health")
    async def health(request: Request, response: Response) -> dict[str, Any]:
        found = app.health()
        response.status_code = 200 if found.ok else UNAVAILABLE
        given = request.headers.get("authorization", "")
        known = knows(token, given)
        if given and not known:
            guesses.failed(client_of(request.scope), app.services.clock.now_ms())
        return {
            "status": "ok" if found.ok else "failing",
            "problems": [str(each) if known else each.kind for each in found.problems],
            **(found.detail if known else {}),
        }

    @api.get("/ready")
    async def ready(response: Response) -> dict[str, Any]:
        found = app.health()
        response.status_code = 200 if found.ok else UNAVAILABLE
        return {"ready": found.ok}

    if secret is not None and app.settings.telegram_webhook_url:
        expected = secret.get_secret_value()

        @api.post("/telegram/webhook")
        async def webhook(
            request: Request, x_telegram_bot_api_secret_token: Annotated[str, Header()] = ""
        ) -> dict[str, bool]:
            given = x_telegram_bot_api_secret_token
            if not hmac.compare_digest(given.encode(), expected.encode()):
                wrong = given and guesses.failed(client_of(request.scope), app.services.clock.now_ms())
                if wrong:
                    raise Problem(HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY_WRONG, retry_after_s=-(-wrong // 1000))
                raise HTTPException(403, "wrong secret")
            await _take(app, await request.body())
            return {"ok": True}

    return api


async def _take(app: Served, body: bytes) -> None:
    """Write one update down before the 200; a 503 makes Telegram send it again."""
    try:
        await app.take_webhook(body)
    except Malformed as exc:
        raise HTTPException(400, str(exc)) from None
    except NotTaken as exc:
        raise HTTPException(UNAVAILABLE, "try again later") from exc
