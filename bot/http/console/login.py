"""Who may see the console: a signed cookie, a mark against forms of other sites, few tries at the token. Pure."""

from __future__ import annotations

import hashlib
import hmac
from collections import OrderedDict

COOKIE = "continuity_console"
LIFE_MS = 12 * 3600 * 1000
TRIES = 5
"""After this many wrong tokens within a minute an address has to wait."""
TRIES_OF_ALL = 100
"""The same for all addresses together."""
WINDOW_MS = 60_000
ADDRESSES = 1000
_EVERYBODY = ""


class Tries:
    """Counts wrong tokens by address; forgets the addresses that were quiet longest."""

    def __init__(self) -> None:
        self._failed: OrderedDict[str, list[int]] = OrderedDict()

    def wait_ms(self, address: str, now_ms: int) -> int:
        """Return how long this address has to wait before its next try; 0 = it may try now."""
        return max(self._wait(address, TRIES, now_ms), self._wait(_EVERYBODY, TRIES_OF_ALL, now_ms))

    def failed(self, address: str, now_ms: int) -> None:
        """Count a wrong token."""
        for each, most in ((address, TRIES), (_EVERYBODY, TRIES_OF_ALL)):
            recent = [*self._recent(each, now_ms), now_ms]
            self._failed[each] = recent[-most:]
            self._failed.move_to_end(each)
        while len(self._failed) > ADDRESSES:
            self._failed.popitem(last=False)

    def _wait(self, address: str, most: int, now_ms: int) -> int:
        recent = self._recent(address, now_ms)
        return max(0, recent[-most] + WINDOW_MS - now_ms) if len(recent) >= most else 0

    def _recent(self, address: str, now_ms: int) -> list[int]:
        return [at_ms for at_ms in self._failed.get(address, ()) if now_ms - at_ms < WINDOW_MS]


def make_cookie(secret: str, nonce: str, now_ms: int) -> str:
    """Return the cookie of somebody who knew the token; it opens the console for twelve hours."""
    ends = f"{now_ms + LIFE_MS}.{nonce}"
    return f"{ends}.{_sign(secret, 'cookie', ends)}"


def is_valid(cookie: str, secret: str, now_ms: int) -> bool:
    """Return True for a cookie of ours that has not ended. Never raises."""
    ends, _, signature = cookie.rpartition(".")
    if not hmac.compare_digest(signature.encode("utf-8", "replace"), _sign(secret, "cookie", ends).encode()):
        return False
    until = ends.partition(".")[0]
    return until.isascii() and until.isdecimal() and int(until) > now_ms


def form_mark(cookie: str, secret: str) -> str:
    """Return what every form of this login carries, so that no other site can send one."""
    return _sign(secret, "form", cookie)


def is_own_form(mark: str, cookie: str, secret: str) -> bool:
    """Return True when a form was made for this login."""
    return hmac.compare_digest(mark.encode("utf-8", "replace"), form_mark(cookie, secret).encode())


def is_token(given: str, secret: str) -> bool:
    """Return True for the token; compared in constant time, whatever was sent."""
    return hmac.compare_digest(given.strip().encode("utf-8", "replace"), secret.encode())


def _sign(secret: str, purpose: str, text: str) -> str:
    return hmac.new(secret.encode(), f"{purpose}\n{text}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()
