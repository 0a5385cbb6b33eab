"""The address with which a login comes back, as a person copies it from their browser. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from yarl import URL

_ADDRESS: Final = re.compile(r"https?://[^\s<>\"']{1,4000}")


@dataclass(frozen=True, slots=True)
class Pasted:
    """The answer that came back."""

    at: str
    """The address without its query."""
    state: str
    code: str
    error: str
    issuer: str | None
    """The server that claims to answer; None when the address names none."""


def pasted(text: str) -> Pasted | None:
    """Return the first address in a text that ends a login, None for none.

    `http://127.0.0.1:8484/signed-in?code=c&state=s` is one; without a state, or without code and error, it is none.
    """
    for found in _ADDRESS.finditer(text):
        try:
            url = URL(found[0])
        except ValueError:
            continue
        query = url.query
        if "state" in query and ("code" in query or "error" in query):
            return Pasted(
                at=str(url.with_query(None).with_fragment(None)),
                state=query["state"],
                code=query.get("code", ""),
                error=query.get("error", ""),
                issuer=query.get("iss"),
            )
    return None
