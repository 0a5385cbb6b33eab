"""Words of somebody else inside a person's message: marked line by line, so that no text can end its own mark.

The form is the one of e-mail: each line of foreign text begins with `>`. It is stored, searched and shown like that; a
prompt fences each such stretch (`memory/context/transcript.py`).
"""

from __future__ import annotations

import re
from itertools import groupby

MARK = ">"
_FILE = re.compile(r"[A-Za-z]+(?: message)? #\d+(?: “[^”\n]*”)?(?: \(.*\))?")


def foreign(text: str, whose: str = "") -> str:
    r"""Return somebody else's text with each line marked, and the author (`whose`) above; "" for an empty text.

    Every end of a line in Unicode's sense (also U+2028 or a vertical tab) becomes a plain one.

    >>> print(foreign("Lunch at noon?\nBring salt", "Anna"))
    > Anna:
    > Lunch at noon?
    > Bring salt
    """
    if not text.strip():
        return ""
    lines = [" ".join(whose.split()) + ":", *text.splitlines()] if whose.strip() else text.splitlines()
    return "\n".join(f"{MARK} {line}" for line in lines)


def has_foreign(text: str) -> bool:
    """Return True when a line of the text is marked."""
    return text.startswith(MARK) or f"\n{MARK}" in text


def parts(text: str) -> list[tuple[bool, str]]:
    """Return the stretches of a text in order, each with whether it is foreign; marks are taken off."""
    found = groupby(text.split("\n"), key=lambda line: line.startswith(MARK))
    return [(is_foreign, "\n".join(map(_bare, lines) if is_foreign else lines)) for is_foreign, lines in found]


def names_files(stretch: str) -> bool:
    """Return True when a foreign stretch is no more than lines that stand for files: `picture #1 (JPEG)`.

    The person sent them; it is their names that somebody else chose.
    """
    return all(map(_FILE.fullmatch, stretch.split("\n")))


def is_inside(text: str, at: int) -> bool:
    """Return True when the character at this place stands in a marked line, behind its first."""
    start = text.rfind("\n", 0, at) + 1
    return at > start and text.startswith(MARK, start)


def _bare(line: str) -> str:
    return line.removeprefix(MARK).removeprefix(" ")
