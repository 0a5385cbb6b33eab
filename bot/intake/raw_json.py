"""Telegram's JSON as it came: read also where an update is strange, written so that any database takes it."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DIGITS = 40
"""A longer number is no id and no date: it stays a text, since Python refuses to convert the longest."""
_UPDATE_ID = re.compile(rb'"update_id"\s*:\s*(\d{1,18})\b')


class Malformed(ValueError):
    """The body is no JSON; the server or something before it is at fault, not an update."""


class TooDeep(ValueError):
    """The body is nested deeper than any update of Telegram's; its update can only be passed over."""


def read_json(body: bytes | str) -> Any:
    """Return the value, with lone surrogates, NaN and numbers of any length let in. Raises `Malformed`, `TooDeep`."""
    try:
        text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
        return json.loads(text, parse_int=_number)
    except RecursionError as exc:
        raise TooDeep("nested too deep") from exc
    except ValueError as exc:
        raise Malformed(f"not JSON: {exc}") from exc


def write_json(value: Any) -> str:
    """Return the value as ASCII text, which every database takes, also with NUL and lone surrogates in it.

    Raises `TooDeep`.
    """
    try:
        return json.dumps(value, separators=(",", ":"))
    except RecursionError as exc:
        raise TooDeep("nested too deep") from exc


def first_update_id(body: bytes) -> int | None:
    """Return the id of the first update in a body that cannot be read as a whole, None when there is none."""
    found = _UPDATE_ID.search(body)
    return int(found.group(1)) if found else None


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) <= MAX_DIGITS else digits
