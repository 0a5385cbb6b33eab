"""Wrong tokens and secrets, counted by the address that they came from and in all. Pure."""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

TRIES: Final = 10
"""After this many wrong ones within a minute an address has to wait."""
TRIES_OF_ALL: Final = 100
"""The same for all addresses together."""
WINDOW_MS: Final = 60_000
ADDRESSES: Final = 1000
NETWORK_BITS: Final = 64
"""The network part of an IPv6 address: its owner has all addresses of the network."""
MAX_ADDRESS_CHARS: Final = 64
_EVERYBODY = ""


class Guesses:
    """Counts wrong ones; forgets the addresses that were quiet longest.

    A right one is never kept waiting: a flood of guesses must not lock out who knows the token, and a token of the
    required length is not found by guessing. Only the answer to a wrong one waits.
    """

    def __init__(self, tries: int = TRIES, tries_of_all: int = TRIES_OF_ALL) -> None:
        self._most = {_EVERYBODY: tries_of_all}
        self._tries = tries
        self._failed: OrderedDict[str, list[int]] = OrderedDict()

    def failed(self, address: str, now_ms: int) -> int:
        """Count a wrong one; return how many milliseconds to wait with the next, 0 as long as there were few."""
        wait_ms = max(self._wait(each, now_ms) for each in (origin(address), _EVERYBODY))
        for each in (origin(address), _EVERYBODY):
            self._failed[each] = [*self._recent(each, now_ms), now_ms][-self._limit(each) :]
            self._failed.move_to_end(each)
        while len(self._failed) > ADDRESSES:
            self._failed.popitem(last=False)
        return wait_ms

    def _limit(self, address: str) -> int:
        return self._most.get(address, self._tries)

    def _wait(self, address: str, now_ms: int) -> int:
        recent, most = self._recent(address, now_ms), self._limit(address)
        return max(0, recent[-most] + WINDOW_MS - now_ms) if len(recent) >= most else 0

    def _recent(self, address: str, now_ms: int) -> list[int]:
        return [at_ms for at_ms in self._failed.get(address, ()) if now_ms - at_ms < WINDOW_MS]


def origin(address: str) -> str:
    """Return the key by which an address is counted: itself, or of IPv6 its network.

    >>> origin("::ffff:192.0.2.7"), origin("2001:db8::1:7")
    ('192.0.2.7', '2001:db8::/64')
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:MAX_ADDRESS_CHARS] or "?"
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((int(found), NETWORK_BITS), strict=False))
    return str(found)
