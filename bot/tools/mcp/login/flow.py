"""One login as OAuth 2.1 has it, over the SDK's pieces: discovery, registration, the way there, the code, renewal.

Imported with the first login: the SDK takes a second.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import httpx2
import orjson
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError, PKCEParameters
from mcp.client.auth.oauth2 import OAuthContext, check_registration_usable
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_client_registration_request,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    issuers_match,
    validate_metadata_issuer,
)
from mcp.shared.auth import (
    DEFAULT_GRANT_TYPES,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import AnyUrl, ValidationError
from yarl import URL

from bot.tools.mcp.config import ServerConfig
from bot.tools.mcp.login import device
from bot.tools.mcp.login.device import DeviceCode
from bot.tools.mcp.login.requests import LoginRequests
from bot.tools.mcp.login.way import Tokens, Way
from bot.tools.tool import NotDone

REDIRECT: Final = "http://127.0.0.1:8484/signed-in"
"""The last page of a login, on the person's own device, where nothing answers. They send its address back."""
CLIENT_NAME: Final = "Continuity"
_METHODS: Final = ("none", "client_secret_basic", "client_secret_post")
_FORM: Final = "application/x-www-form-urlencoded"
_ERROR: Final = re.compile(r"[a-z_]{1,40}")
_HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": CLIENT_NAME, "version": "1"},
    },
}


@dataclass(frozen=True, slots=True)
class Begun:
    """A new login."""

    way: Way
    state: str
    address: str
    """To which the person goes."""
    code: DeviceCode | None = None
    """The code that they enter there; None where they send back the address of the last page."""


async def find_way(config: ServerConfig, requests: LoginRequests) -> Begun:
    """Return a new login: by a code where the server gives one, else by an address that comes back.

    Raises `NotDone`.
    """
    try:
        return await _find_way(config, requests)
    except (OAuthFlowError, OAuthRegistrationError, OAuthTokenError) as exc:
        raise NotDone(f"the login of {config.name} cannot be used ({type(exc).__name__})") from exc
    except (ValidationError, ValueError) as exc:
        raise NotDone(f"{config.name} describes its login in a way that nobody understands") from exc


async def _find_way(config: ServerConfig, requests: LoginRequests) -> Begun:
    accept = {"Accept": "application/json, text/event-stream"}
    hello = httpx2.Request("POST", config.url, json=_HELLO, headers=accept | dict(config.headers))
    challenge = await requests.send(hello)
    if challenge.status_code != HTTPStatus.UNAUTHORIZED:
        raise NotDone(f"{config.name} asks for no login")
    about = await _resource(config, challenge, requests)
    server, codes_at = await _server(config, about, requests)
    redirect = config.oauth.get("redirectUri", REDIRECT)
    scope = config.oauth.get("scope") or get_client_metadata_scopes(
        extract_scope_from_www_auth(challenge), about, server, ["authorization_code", "refresh_token"]
    )
    wanted = OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect)],
        client_name=CLIENT_NAME,
        scope=scope,
        token_endpoint_auth_method=_method(server),
        grant_types=[*DEFAULT_GRANT_TYPES, *([device.GRANT] if codes_at else [])],
    )
    client = await _client(config, server, wanted, requests)
    context = _context(config.url, client)
    context.protected_resource_metadata = about
    pkce = PKCEParameters.generate()
    way = Way(
        server=config.name,
        url=config.url,
        issuer=str(server.issuer),
        names_issuer=bool(server.authorization_response_iss_parameter_supported),
        token_endpoint=str(server.token_endpoint),
        revocation_endpoint=str(server.revocation_endpoint or ""),
        resource=context.get_resource_url(),
        scope=scope or "",
        redirect=redirect,
        client=client.model_dump(mode="json", exclude_none=True),
        verifier=pkce.code_verifier,
    )
    for address in filter(None, (way.token_endpoint, way.revocation_endpoint, str(server.authorization_endpoint))):
        requests.require(address)
    state = secrets.token_urlsafe(24)
    if codes_at:
        wanted_scope = {"scope": scope} if scope else {}
        code = await device.begin(_token_request(way, wanted_scope, at=codes_at, of_resource=True), requests)
        if code is not None:
            return Begun(way, state, code.address, code)
    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect,
        "state": state,
        "code_challenge": pkce.code_challenge,
        "code_challenge_method": "S256",
        "resource": way.resource,
    }
    asked = scope.split() if scope else []
    query |= {"scope": scope} if scope else {}
    query |= {"prompt": "consent"} if "offline_access" in asked else {}
    return Begun(way, state, str(URL(str(server.authorization_endpoint)).update_query(query)))


async def _resource(
    config: ServerConfig, challenge: httpx2.Response, requests: LoginRequests
) -> ProtectedResourceMetadata | None:
    """Return the server's metadata as a protected resource. Raises `NotDone` when it names another one."""
    said = extract_resource_metadata_from_www_auth(challenge)
    for url in build_protected_resource_metadata_discovery_urls(said, config.url):
        found = await handle_protected_resource_response(await requests.send(create_oauth_metadata_request(url)))
        if found is None:
            continue
        if not check_resource_allowed(resource_url_from_server_url(config.url), str(found.resource)):
            raise NotDone(f"{config.name} says that it's another server, {found.resource.host}")
        return found
    return None


async def _server(
    config: ServerConfig, about: ProtectedResourceMetadata | None, requests: LoginRequests
) -> tuple[OAuthMetadata, str]:
    """Return the metadata of the server of logins, and where it gives codes ("" for nowhere). Raises `NotDone`."""
    named = str(about.authorization_servers[0]) if about else None
    origin = str(URL(config.url).origin())
    only = config.oauth.get("issuer")
    if only and not issuers_match(named or origin, only):
        raise NotDone(f"{config.name} names another login than the one that is set up")
    for url in build_oauth_authorization_server_metadata_discovery_urls(named, config.url):
        answer = await requests.send(create_oauth_metadata_request(url))
        goes_on, found = await handle_auth_metadata_response(answer)
        if found is not None:
            issuer = str(found.issuer)
            validate_metadata_issuer(
                found, issuer if named is None and issuers_match(issuer, origin) else named or origin
            )
            if "S256" not in (found.code_challenge_methods_supported or ()):
                raise NotDone(f"the login of {config.name} does not protect its codes (PKCE)")
            return found, device.endpoint_in(answer)
        if not goes_on:
            break
    raise NotDone(f"{config.name} does not say where people log in")


def _method(server: OAuthMetadata) -> Any:
    """Return how we prove who we are where tokens are given: by nothing, where that is possible."""
    known = server.token_endpoint_auth_methods_supported
    return next((method for method in _METHODS if known and method in known), None if known else "none")


async def _client(
    config: ServerConfig, server: OAuthMetadata, wanted: OAuthClientMetadata, requests: LoginRequests
) -> OAuthClientInformationFull:
    """Return as whom the bot is known there: as the operator wrote, else registered now. Raises `NotDone`."""
    if client_id := config.oauth.get("clientId"):
        secret = config.oauth.get("clientSecret")
        known = server.token_endpoint_auth_methods_supported or ["client_secret_basic"]
        by = "client_secret_post" if "client_secret_basic" not in known else "client_secret_basic"
        return OAuthClientInformationFull(
            client_id=client_id, client_secret=secret, token_endpoint_auth_method=by if secret else "none"
        )
    if server.registration_endpoint is None:
        raise NotDone(f'{config.name} takes only bots that it knows: the operator has to set "oauth" in mcp.json')
    request = create_client_registration_request(server, wanted, str(server.issuer))
    client = await handle_registration_response(await requests.send(request))
    check_registration_usable(client)
    return client


def _context(url: str, client: OAuthClientInformationFull) -> OAuthContext:
    """Return the SDK's own context, for its rules on resources and on how a client proves who it is."""
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(REDIRECT)])
    nowhere: Any = None
    context = OAuthContext(url, metadata, nowhere, None, None)
    context.client_info = client
    return context


async def exchange(way: Way, code: str, requests: LoginRequests, now_ms: int) -> Tokens:
    """Return the tokens that the code is given for. Raises `NotDone`."""
    given = {"grant_type": "authorization_code", "code": code, "redirect_uri": way.redirect}
    answer = await requests.send(_token_request(way, given | {"code_verifier": way.verifier}))
    if answer.status_code not in {HTTPStatus.OK, HTTPStatus.CREATED}:
        raise NotDone(f"the login was refused ({_reason(answer)})")
    return _tokens(answer, now_ms, "")


async def ask(way: Way, code: str, requests: LoginRequests, now_ms: int) -> Tokens | device.Outcome:
    """Return the tokens for a code, or its state. Raises `NotDone` when it cannot be known just now."""
    answer = await requests.send(_token_request(way, {"grant_type": device.GRANT, "device_code": code}))
    if answer.status_code in {HTTPStatus.OK, HTTPStatus.CREATED}:
        return _tokens(answer, now_ms, "")
    return device.outcome(answer)


async def renew(way: Way, tokens: Tokens, requests: LoginRequests, now_ms: int) -> Tokens | None:
    """Return new tokens, None when the login is over. Raises `NotDone` when it cannot be known just now."""
    if not tokens.refresh:
        return None
    given = {"grant_type": "refresh_token", "refresh_token": tokens.refresh}
    answer = await requests.send(_token_request(way, given))
    if answer.status_code in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED}:
        return None
    if answer.status_code != HTTPStatus.OK:
        raise NotDone(f"{way.server} could not renew the login ({answer.status_code})")
    return _tokens(answer, now_ms, tokens.refresh)


async def revoke(way: Way, tokens: Tokens, requests: LoginRequests) -> None:
    """Tell the server that the login is over, where it takes that. Raises `NotDone`."""
    if way.revocation_endpoint:
        request = _token_request(way, {"token": tokens.refresh or tokens.access}, at=way.revocation_endpoint)
        await requests.send(request)


def _token_request(way: Way, given: dict[str, str], at: str = "", *, of_resource: bool = False) -> httpx2.Request:
    client = OAuthClientInformationFull.model_validate(way.client)
    data = given | {"client_id": client.client_id} | ({"resource": way.resource} if of_resource or not at else {})
    data, headers = _context(way.url, client).prepare_token_auth(data, {"Content-Type": _FORM})
    return httpx2.Request("POST", at or way.token_endpoint, data=data, headers=headers)


def _tokens(answer: httpx2.Response, now_ms: int, refresh: str) -> Tokens:
    try:
        found = OAuthToken.model_validate_json(answer.content)
    except ValidationError:
        raise NotDone("the login gave something that nobody understands") from None
    expires = now_ms + found.expires_in * 1000 if found.expires_in else 0
    return Tokens(found.access_token, found.refresh_token or refresh, expires)


def _reason(answer: httpx2.Response) -> str:
    """Return the server's error code, never its sentences: our secrets may stand in them."""
    try:
        said = orjson.loads(answer.content).get("error")
    except (orjson.JSONDecodeError, AttributeError):
        said = None
    return said if isinstance(said, str) and _ERROR.fullmatch(said) else str(answer.status_code)
