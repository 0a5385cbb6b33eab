"""What somebody says they are called, written large or small, and who is named without a name. Pure."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from memory.language.due_dates import says_day
from memory.language.language import LARGE_NAME, Language
from memory.language.sentences import lowered, stems_of, words_of

WHO: Final = "user.name"
"""The subject of the facts that say it."""
_LARGE: Final = re.compile(LARGE_NAME)
_EDGE: Final = " \t\n.,;:!?…\"'"
_SMALL_WORDS: Final = 2
"""A name that is written small has at most so many words: nothing tells where it ends."""


def name_in(text: str, language: Language) -> str:
    """Return the name that somebody gives as theirs ("Hi, I'm Jonas", "my name is priya"), "" when they give none."""
    plain = text.replace("\u2019", "'")
    told = (rule.pattern.search(plain) for rule in language.facts if rule.subject == WHO)
    return next((name for found in told if found and (name := name_of(found["value"], language))), "")


def name_of(value: str, language: Language) -> str:
    """Return the name at the beginning of what somebody says they are called, "" for other words: "call me tomorrow".

    One that is written small is returned large.
    """
    if says_day(value, 0, "UTC", language):
        return ""
    large = _LARGE.match(value)
    if large:
        return large.group().strip(_EDGE)
    words = takewhile(lambda word: _may_be_a_name(word, language), value.split()[:_SMALL_WORDS])
    return " ".join(word[:1].upper() + word[1:] for each in words if (word := each.strip(_EDGE)))


def _may_be_a_name(word: str, language: Language) -> bool:
    lower = lowered(word).strip(_EDGE)
    return (
        lower[:1].isalpha()
        and lower not in language.stop_words
        and not language.has("shift", lower)
        and not language.has("not_a_name", lower)
    )


def people_in(lower: str, language: Language) -> frozenset[str]:
    """Return the stems of who is named without a name in a lower-cased, mended text: "mum", "my sister"."""
    found = language.cues["people"].finditer(lower) if "people" in language.cues else ()
    return stems_of(tuple(word for each in found for word in words_of(each.group())), language)
