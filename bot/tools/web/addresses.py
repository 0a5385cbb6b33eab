"""Addresses of pages: which may be reached, and whether one stands in a text word for word. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

from yarl import URL

from bot.tools.tool import NotDone

IPAddress = IPv4Address | IPv6Address
Reach = Callable[[IPAddress, int], bool]
"""Whether an address with its port may be connected to."""
PORTS: Final = frozenset({80, 443})
LONGEST: Final = 2000
"""A longer address is none."""
SCHEMES: Final = frozenset({"http", "https"})
_CARRIERS: Final = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"), IPv6Network("2002::/16"))
"""IPv6 addresses in which one of IPv4 is wrapped: a translator may lead them back to our network."""
_GOES_ON: Final = re.compile(r"[\w/?&=#%~+@:$*-]")
"""A sign behind an address that would make it another one."""
_DOT_GOES_ON: Final = re.compile(r"[.,;!'()]+[\w/?&=#%~+@:$*-]")


def is_public(address: IPAddress, port: int) -> bool:
    """Return whether an address is one of the open net, and the port one of the web."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped, port)
        if address.is_site_local or any(address in network for network in _CARRIERS):
            return False
    return port in PORTS and address.is_global and not address.is_multicast and not address.is_reserved


def parsed(text: str) -> URL:
    """Return the address that a text is. Raises `NotDone` for one that no page can have."""
    text = text.strip()
    try:
        url = URL(text if "://" in text else f"https://{text}")
        port, host = url.port, url.host
    except ValueError:
        raise NotDone("that is no address of a page") from None
    if url.scheme not in SCHEMES or not host or port is None or len(text) > LONGEST:
        raise NotDone("only addresses that begin with http:// or https:// can be read")
    if url.user is not None or url.password is not None:
        raise NotDone("an address with a name or password in it is not read")
    return url.with_fragment(None)


def literal(host: str) -> IPAddress | None:
    """Return the address that a host is written as, None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def stands_in(address: str, text: str) -> bool:
    """Return whether an address stands in a text word for word, with or without its scheme and last slash.

    `example.org/a` stands in "look at https://example.org/a."; it does not in "https://example.org/abc".
    """
    bare = _bare(address)
    at = text.find(bare)
    while bare and at >= 0:
        end = at + len(bare)
        if not _joins(text[:at][-1:]) and not _is_more(text, end):
            return True
        at = text.find(bare, at + 1)
    return False


def _bare(address: str) -> str:
    """Return an address as people write it."""
    return re.sub(r"(?i)^https?://", "", address.strip().partition("#")[0]).removesuffix("/")


def _joins(char: str) -> bool:
    """Return whether a sign before a host would make it another one; `/` ends the scheme."""
    return bool(char) and (char.isalnum() or char in "-_.@%")


def _is_more(text: str, end: int) -> bool:
    """Return whether the address in the text goes on behind its end; a last slash is nothing more."""
    end += text.startswith("/", end)
    if text.startswith("#", end):
        return False
    return bool(_GOES_ON.match(text, end) or _DOT_GOES_ON.match(text, end))
