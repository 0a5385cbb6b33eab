"""Foreign words without invisible signs: a person is shown all that there is, to the last sign. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

_UNSEEN: Final = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u061c\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164"
    "\uffa0\ufe00-\ufe0e\U000e0100-\U000e01ef]"
)
"""Signs that are invisible, or turn the order of visible ones; each of hundreds of variants may stand for a byte."""
_EMOJI: Final = re.compile("(?<![^\\x00-\\x7f])(?<![0-9#*])\ufe0f+|(?<=\ufe0f)\ufe0f+")
"""The sign that makes an emoji, where none can be, and more than one of it."""
_JOINERS: Final = re.compile(
    "(?<![^\\x00-\\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\\x00-\\x7f])|(?<=[\u200c\u200d])[\u200c\u200d]+"
)
"""Joiners beside plain letters, and more than one of them: they join nothing, and may stand for bits."""


def visible(text: str) -> str:
    """Return a text without invisible signs; spaces of every width and ends of lines of every kind stay.

    Signs that writing needs stay, too: `👨\u200d👩`, `❤\ufe0f`, and U+200C between letters of Persian.
    """
    seen = "".join(map(_seen, _UNSEEN.sub("", text)))
    seen = _EMOJI.sub("", seen) if "\ufe0f" in seen else seen
    return _JOINERS.sub("", seen) if "\u200c" in seen or "\u200d" in seen else seen


def all_visible(value: Any) -> Any:
    """Return a value of JSON with all its texts and names like that."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(str(name)): all_visible(each) for name, each in value.items()}
    return list(map(all_visible, value)) if isinstance(value, Iterable) else value


def _seen(char: str) -> str:
    if char in "\n\t\u200c\u200d" or char.isprintable():
        return char
    if char.isspace():
        return " " if unicodedata.category(char) == "Zs" else "\n" if char in "\u2028\u2029\x85" else ""
    return ""
