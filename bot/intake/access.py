"""Access to the bot: deny by default, the settings' list, or pairing with the code on the operator's console."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable

TRIES = 5
MAX_TOLD = 10_000
"""A flood of strangers gets silence, not memory."""
ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"


def new_code() -> str:
    """Return a pairing code of 8 letters and digits that cannot be mistaken for each other (2^39 codes)."""
    return "".join(secrets.choice(ALPHABET) for _ in range(8))


def code_from(secret: str) -> str:
    """Return the pairing code that every process with this secret has."""
    digest = hmac.digest(secret.encode(), b"pairing", "sha256")
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest[:8])


class Gate:
    """Holds who is let in. Strangers are counted in memory only: not a byte of theirs is stored (P14)."""

    def __init__(
        self, *, everyone: bool, named: Iterable[int], paired: Iterable[int], secret: str | None = None
    ) -> None:
        """With a `secret` several processes have the same pairing code."""
        self._everyone = everyone
        self._allowed = {*named, *paired}
        self._tries: dict[int, int] = {}
        self._told: set[int] = set()
        code = code_from(secret) if secret else new_code()
        self.code = None if everyone or self._allowed else code

    def admits(self, user_id: int | None) -> bool:
        """Return True when this user gets answers, model calls and storage."""
        return self._everyone or (user_id is not None and user_id in self._allowed)

    def knows_code(self, user_id: int, text: str) -> bool:
        """Return True when the text is the pairing code; after 5 wrong tries a user is not heard any more."""
        if self.code is None or self._tries.get(user_id, 0) >= TRIES:
            return False
        given = text.removeprefix("/start").strip().upper()
        if hmac.compare_digest(given.encode(), self.code.encode()):
            return True
        if len(given) == len(self.code):
            self._tries[user_id] = self._tries.get(user_id, 0) + 1
            if len(self._tries) > MAX_TOLD:  # the oldest may guess again: with 2^39 codes that is no matter
                del self._tries[next(iter(self._tries))]
        return False

    def pair(self, user_id: int) -> None:
        """Let this user in; the code is spent."""
        self._allowed.add(user_id)
        self.code = None

    def should_tell(self, user_id: int) -> bool:
        """Return True once per stranger and process: the one polite line."""
        if user_id in self._told or len(self._told) >= MAX_TOLD:
            return False
        self._told.add(user_id)
        return True
