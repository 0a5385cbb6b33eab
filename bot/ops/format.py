"""Facts in the operator's words: times, sizes, ids, and other people's text made safe for a terminal. Pure."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Collection, Iterable
from datetime import datetime, tzinfo

from bot.replies import ago
from memory.errors import UnknownSession

MIN_ID_CHARS = 10
NO_TITLE = "no topic yet"
SHOWN_HINTS = 3
_KIB = 1024


def printable(text: str) -> str:
    """Return the text with everything that could steer a terminal or turn its lines round made visible."""
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co"):
        return char
    return char if char in "\u200c\u200d" else f"<U+{ord(char):04X}>"


def moment(at_ms: int, zone: tzinfo) -> str:
    """Return a point in time to the minute, in the operator's zone."""
    return f"{datetime.fromtimestamp(at_ms / 1000, zone):%Y-%m-%d %H:%M}"


def when(at_ms: int, now_ms: int, zone: tzinfo) -> str:
    """Return a point in time and how long ago it was."""
    return f"{moment(at_ms, zone)} {zone} ({ago(now_ms - at_ms)})"


def size(count_bytes: int) -> str:
    """Return a size in the largest sensible unit."""
    amount = float(count_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < _KIB:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= _KIB
    return f"{amount:.1f} TiB"


def joined(parts: Iterable[str]) -> str:
    """Return `a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def short_ids(ids: Collection[str]) -> dict[str, str]:
    """Return id → the shortest beginning that names only it, all of one length of at least 10 characters."""
    longest = max(map(len, ids), default=0)
    length = MIN_ID_CHARS
    while length < longest and len({each[:length] for each in ids}) < len(set(ids)):
        length += 1
    return {each: each[:length] for each in ids}


def find_session(ids: Collection[str], asked: str) -> str:
    """Return the id that was meant: whole, or a beginning that names only one, with or without `s_`.

    Raises `UnknownSession` with the nearest ids.
    """
    if asked in ids:
        return asked
    begin = [each for each in sorted(ids) if asked and each.startswith((asked, f"s_{asked}"))]
    if len(begin) == 1:
        return begin[0]
    if begin:
        listed = ", ".join(begin[:SHOWN_HINTS]) + (" …" if len(begin) > SHOWN_HINTS else "")
        raise UnknownSession(f"{len(begin)} sessions begin with '{asked}': {listed}; write more of the id")
    near = difflib.get_close_matches(asked, list(ids), n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else "`continuity-bot sessions` lists them"
    raise UnknownSession(f"there is no session '{printable(asked)}'; {hint}")
