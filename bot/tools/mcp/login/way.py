"""A login as it is kept: the way to its server, and the tokens that open the account. Plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Way:
    """State of a login until it ends, and the calls that renew and end it then."""

    server: str
    url: str
    """Of the server that the token is for; it goes nowhere else."""
    issuer: str
    names_issuer: bool
    """The address that comes back has to name the issuer (RFC 9207)."""
    token_endpoint: str
    revocation_endpoint: str
    resource: str
    scope: str
    redirect: str
    client: dict[str, Any]
    verifier: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as a value of JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that open an account."""

    access: str
    refresh: str
    expires_at_ms: int
    """0 when nobody says."""
