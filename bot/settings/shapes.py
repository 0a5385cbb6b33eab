"""The shapes that values of settings have: tokens, prices, addresses, lists with commas. Pure."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from pydantic import SecretStr

TOKEN_SHAPE = re.compile(r"[0-9]{3,20}:[A-Za-z0-9_-]{30,64}")
MAX_SHOWN_CHARS = 60
HTTP_TOKEN_CHARS = 16
SEARCH_KEYS = ("key", "api_key")
"""Names under which a key stands in the address of a search."""
PRICE_SHAPE = re.compile(r"([^\s,=]+:[^\s,=]+)=(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")
HOURS_SHAPE = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")
HOST_SHAPE = re.compile(r"[A-Za-z0-9.:_%-]{1,253}")


def is_long(token: SecretStr) -> bool:
    """Return True for an HTTP token that is not found by guessing."""
    return len(token.get_secret_value().strip()) >= HTTP_TOKEN_CHARS


def is_loopback(host: str) -> bool:
    """Return True for a name or an address that only this machine reaches."""
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def is_network(text: str) -> bool:
    """Return True for an address or a network, but not for the whole world: anybody could say where they come from."""
    try:
        return ip_network(text).prefixlen > 0
    except ValueError:
        return False


def parts(value: str) -> list[str]:
    """The parts of a list with commas: `"a, b"` → `["a", "b"]`."""
    return [part.strip() for part in value.split(",") if part.strip()]


def is_http(value: str) -> bool:
    """Return True for the address of an HTTP server, without query and fragment."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return False
    sound = HOST_SHAPE.fullmatch(parts.hostname or "") and not (parts.query or parts.fragment)
    return parts.scheme in ("http", "https") and bool(sound) and port != 0 and value.isascii() and " " not in value


def shown(value: object) -> str:
    """A wrong value as a message quotes it, shortened."""
    text = str(value)
    return repr(text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…")
