"""Tokens of people's accounts lie sealed in the database: without the bot's token a copy of it opens nothing."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import blake2b
from typing import Any, Final

import orjson

_FOR: Final = b"tool logins"


class Seal:
    """Seals and opens with a key that is made of a secret."""

    def __init__(self, secret: str) -> None:
        """`secret` is the bot's token: another token cannot open the seal."""
        self._key = urlsafe_b64encode(blake2b(secret.encode(), digest_size=32, person=_FOR).digest())

    def seal(self, value: dict[str, Any]) -> str:
        """Return a value as nobody can read it."""
        from cryptography.fernet import Fernet

        return Fernet(self._key).encrypt(orjson.dumps(value)).decode()

    def open(self, sealed: str) -> dict[str, Any] | None:
        """Return a value that was sealed; None when it was sealed with another key, or is damaged."""
        from cryptography.fernet import Fernet, InvalidToken

        try:
            found: dict[str, Any] = orjson.loads(Fernet(self._key).decrypt(sealed.encode()))
        except (InvalidToken, ValueError):
            return None
        return found
