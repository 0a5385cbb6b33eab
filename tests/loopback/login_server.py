"""An MCP server over HTTP that wants a login, with the server of logins beside it, for tests on this machine."""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from typing import Any, Self
from urllib.parse import parse_qs, urlencode

from aiohttp import web

from bot.playground.keeper import free_port

TOOL = {
    "name": "mailbox",
    "description": "Tell whose mailbox this is.",
    "inputSchema": {"type": "object", "properties": {}},
    "annotations": {"readOnlyHint": True},
}


class LoginServer:
    """Gives codes and tokens as OAuth 2.1 has it; `said` is what it says of itself, for tests to change."""

    def __init__(self) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self.said: dict[str, Any] = {}
        self.resource: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.access: dict[str, str] = {}
        """Tokens that open something, with whose they are."""
        self.refresh: dict[str, str] = {}
        self.given: list[str] = []
        """Every secret that was given or sent."""
        self.asked: list[str] = []
        """Paths, in order."""
        self.calls: list[str] = []
        """Whose account each call of the tool used."""
        self.expires_in = 3600
        self.device: dict[str, Any] | None = None
        """What it says of a code beside the code itself, such as `{"interval": 1}`; None where it gives none."""
        self.entered: dict[str, str] = {}
        """Codes that somebody has entered, with who they are; "" for one who said no."""
        self.answers: list[str] = []
        """Errors that the next questions about a code are answered with."""
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._note])
        app.router.add_post("/mcp", self._mcp)
        app.router.add_get("/mcp", self._no_stream)
        app.router.add_delete("/mcp", self._no_stream)
        app.router.add_get("/.well-known/oauth-protected-resource/mcp", self._about)
        app.router.add_get("/.well-known/oauth-authorization-server", self._metadata)
        app.router.add_post("/register", self._register)
        app.router.add_post("/token", self._token)
        app.router.add_post("/revoke", self._revoke)
        app.router.add_post("/device", self._device)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", int(self.url.rpartition(":")[2])).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    def log_in(self, address: str, who: str) -> str:
        """Do what a person does in their browser; return the address at which they end."""
        query = {name: values[0] for name, values in parse_qs(address.partition("?")[2]).items()}
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert query["resource"] == f"{self.url}/mcp"
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**query, "who": who}
        self.given.append(code)
        back = {"code": code, "state": query["state"], "iss": self.url}
        return f"{query['redirect_uri']}?{urlencode(back)}"

    @web.middleware
    async def _note(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.asked.append(request.path)
        answer: web.StreamResponse = await handler(request)
        return answer

    async def _no_stream(self, _: web.Request) -> web.Response:
        return web.Response(status=405)

    async def _about(self, _: web.Request) -> web.Response:
        about = {"resource": f"{self.url}/mcp", "authorization_servers": [self.url], "scopes_supported": ["mail"]}
        return web.json_response(about | self.resource)

    async def _metadata(self, _: web.Request) -> web.Response:
        found = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "revocation_endpoint": f"{self.url}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
        }
        codes = {"device_authorization_endpoint": f"{self.url}/device"} if self.device is not None else {}
        return web.json_response(found | codes | self.said)

    async def _device(self, request: web.Request) -> web.Response:
        given = dict(await request.post())
        if given.get("client_id") != "client-1" or given.get("resource") != f"{self.url}/mcp" or self.device is None:
            return web.json_response({"error": "unauthorized_client"}, status=400)
        secret = secrets.token_urlsafe(16)
        self.given.append(secret)
        said = {"device_code": secret, "user_code": f"WDJB-{len(self.given)}", "verification_uri": f"{self.url}/enter"}
        self.codes[secret] = {"user_code": said["user_code"]}
        return web.json_response(said | {"expires_in": 600, "interval": 1} | self.device)

    def _by_code(self, given: dict[str, Any]) -> tuple[str | None, str]:
        """Return whose a code is now, else the error."""
        if self.answers:
            return None, self.answers.pop(0)
        code = self.codes.get(str(given["device_code"]))
        if code is None:
            return None, "expired_token"
        who = self.entered.get(code["user_code"])
        if who is None:
            return None, "authorization_pending"
        del self.codes[str(given["device_code"])]
        return (who, "") if who else (None, "access_denied")

    async def _register(self, request: web.Request) -> web.Response:
        wanted = await request.json()
        return web.json_response({**wanted, "client_id": "client-1"}, status=201)

    async def _token(self, request: web.Request) -> web.Response:
        given = dict(await request.post())
        error = "invalid_grant"
        if given["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code":
            who, error = self._by_code(given)
        elif given["grant_type"] == "refresh_token":
            who = self.refresh.pop(str(given["refresh_token"]), None)
        else:
            known = self.codes.pop(str(given["code"]), {})
            challenge = hashlib.sha256(str(given["code_verifier"]).encode()).digest()
            fits = urlsafe_b64encode(challenge).decode().rstrip("=") == known.get("code_challenge")
            same = all(given[name] == known.get(name) for name in ("redirect_uri", "client_id", "resource"))
            who = known["who"] if fits and same else None
        if who is None:
            return web.json_response({"error": error}, status=400)
        access, refresh = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        self.access = {token: whose for token, whose in self.access.items() if whose != who} | {access: who}
        self.refresh[refresh] = who
        self.given += [access, refresh]
        return web.json_response(
            {"access_token": access, "token_type": "Bearer", "expires_in": self.expires_in, "refresh_token": refresh}
        )

    async def _revoke(self, request: web.Request) -> web.Response:
        who = self.refresh.pop(str((await request.post())["token"]), None)
        self.access = {token: whose for token, whose in self.access.items() if whose != who}
        return web.Response()

    async def _mcp(self, request: web.Request) -> web.Response:
        who = self.access.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        if who is None:
            at = f"{self.url}/.well-known/oauth-protected-resource/mcp"
            return web.Response(status=401, headers={"WWW-Authenticate": f'Bearer resource_metadata="{at}"'})
        message = await request.json()
        if "id" not in message:
            return web.Response(status=202)
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": self._answer(message, who)})

    def _answer(self, message: dict[str, Any], who: str) -> dict[str, Any]:
        method = message["method"]
        if method == "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "mail", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": [TOOL]}
        if method == "tools/call":
            self.calls.append(who)
            return {"content": [{"type": "text", "text": f"The mailbox of {who}."}], "isError": False}
        return {}
