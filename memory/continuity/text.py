"""Words of people made safe to carry: mojibake repaired, one line, bounded, and no way out of the data block."""

from __future__ import annotations

import re
import unicodedata

from memory.text import shorten

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_SPECIFIC = re.compile(r"https?://\S+|\S*@\S+|\S*\d\S*", re.UNICODE)
_UNSAFE_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_KEPT_FORMAT = "\u200c\u200d"  # joiners that spell words in Persian and Indic scripts, and build emoji
_LONE_MARK = re.compile(r"[<>`]")
_MARKS = {"<": "\u2039", ">": "\u203a", "`": "'"}
_UNSPACED = ((0x0E00, 0x0EFF), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x9FFF))
"""Thai and Lao, Khmer, Kana, Han: scripts that put no spaces between words."""


def repair_mojibake(text: str) -> str:
    """Return the text with wrongly decoded UTF-8 put right ("schÃ¶n" → "schön"); plain ASCII is not looked at."""
    if text.isascii():
        return text
    import ftfy

    return str(ftfy.fix_encoding(text))


def one_line(text: str, max_chars: int) -> str:
    """Return the text repaired, on one line, without control characters or markup, at most `max_chars` long.

    Angle brackets and backticks become look-alikes: the result cannot close a data block or open another.
    A cut happens at a word and shows as "…".
    """
    plain = text if text.isascii() and text.isprintable() else _visible(repair_mojibake(text))
    line = " ".join(_LONE_MARK.sub(lambda mark: _MARKS[mark.group()], plain).split())
    return shorten(line, max_chars)


def generalize(text: str) -> str:
    """Return the text without numbers, dates, addresses and links, which an uncertain note must not state.

    >>> generalize("Dentist on 3 March, mail anna@example.org")
    'Dentist on March, mail'
    """
    return " ".join(_SPECIFIC.sub(" ", text).split()).strip(" ,;:.-\u2013\u2014")


def words(text: str) -> frozenset[str]:
    """Return the folded words of a text; scripts without spaces give pairs of characters instead."""
    found: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _unspaced(word):
            found.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif len(word) > 1:
            found.add(word)
    return frozenset(found)


def _visible(text: str) -> str:
    """Return the text composed (NFC), every character that cannot be seen replaced by a blank."""
    kept = (
        char if char in _KEPT_FORMAT or unicodedata.category(char) not in _UNSAFE_CATEGORIES else " " for char in text
    )
    return unicodedata.normalize("NFC", "".join(kept))


def _unspaced(word: str) -> bool:
    """Return whether the word is of a script that puts no spaces between words."""
    return not word.isascii() and any(first <= ord(word[0]) <= last for first, last in _UNSPACED)
