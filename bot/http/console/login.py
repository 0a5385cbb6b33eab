"""The login of the console: a signed cookie, and a mark against forms of other sites. Pure."""

from __future__ import annotations

import hashlib
import hmac

COOKIE = "continuity_console"
LIFE_MS = 12 * 3600 * 1000
TRIES = 5
"""After this many wrong tokens within a minute an address has to wait."""


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


def login_of(cookie: str) -> tuple[str, int]:
    """Return the id of a valid cookie's login, and its end in milliseconds."""
    until, _, rest = cookie.partition(".")
    return rest.rpartition(".")[0], int(until)


def form_mark(cookie: str, secret: str) -> str:
    """Return the token in every form of this login, so that no other site can send one."""
    return _sign(secret, "form", cookie)


def is_own_form(mark: str, cookie: str, secret: str) -> bool:
    """Return True when a form was made for this login."""
    return hmac.compare_digest(mark.encode("utf-8", "replace"), form_mark(cookie, secret).encode())


def is_token(given: str, secret: str) -> bool:
    """Return True for the token; compared in constant time."""
    return hmac.compare_digest(given.strip().encode("utf-8", "replace"), secret.encode())


def _sign(secret: str, purpose: str, text: str) -> str:
    return hmac.new(secret.encode(), f"{purpose}\n{text}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()
