"""A login by a code that the person enters on a page of the server (RFC 8628): begun, and asked about until it ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Literal

import httpx2
import orjson
from yarl import URL

from bot.tools.mcp.login.requests import LoginRequests

GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
INTERVAL_S: Final = 5
"""Asked so often where the server doesn't say."""
LONGEST_INTERVAL_S: Final = 60
_USER_CODE: Final = re.compile(r"[A-Za-z0-9]{1,12}(?:-[A-Za-z0-9]{1,12}){0,3}|\d{2,4}(?: \d{2,4}){1,4}")
"""Shape of a code that is shown: `WDJB-MJHT`, `123 456 789`, and no sentence."""
Outcome = Literal["waits", "slower", "over"]


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """The answer of a server to a login by a code."""

    device_code: str
    user_code: str
    address: str
    """The page on which the person enters the code."""
    interval_s: int
    lasts_s: int


async def begin(request: httpx2.Request, requests: LoginRequests) -> DeviceCode | None:
    """Return a new code, None where the server gives none to us. Raises `NotDone` for an address nobody is sent to."""
    answer = await requests.send(request)
    said = _object(answer)
    try:
        lasts_s, interval_s = int(said["expires_in"]), int(said.get("interval", INTERVAL_S))
        code, address = str(said["user_code"]), str(said["verification_uri"])
        given = DeviceCode(str(said["device_code"]), code, address, interval_s, lasts_s)
    except (KeyError, TypeError, ValueError):
        return None
    if answer.status_code != HTTPStatus.OK or not _USER_CODE.fullmatch(code) or lasts_s < 1:
        return None
    requests.require(address)
    whole = str(said.get("verification_uri_complete", ""))
    at = whole if whole and URL(whole).origin() == URL(address).origin() else address
    bounded = min(max(1, interval_s), LONGEST_INTERVAL_S)
    return DeviceCode(given.device_code, code, at, bounded, lasts_s)


def outcome(answer: httpx2.Response) -> Outcome:
    """Return the state of a login, from an answer that gave no tokens."""
    error = _object(answer).get("error")
    if error == "slow_down":
        return "slower"
    is_fault = answer.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
    return "waits" if error == "authorization_pending" or is_fault else "over"


def _object(answer: httpx2.Response) -> Mapping[str, Any]:
    try:
        found = orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def endpoint_in(answer: httpx2.Response) -> str:
    """Return the address at which a server of logins gives codes, from its metadata; "" for none."""
    found = _object(answer).get("device_authorization_endpoint")
    return found if isinstance(found, str) else ""
