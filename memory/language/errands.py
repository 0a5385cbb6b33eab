"""Errands of several days in one sentence, each with its own day. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile

from memory.language.due_dates import find_due, says_day
from memory.language.language import Language
from memory.language.sentences import lowered, plain_sentence
from memory.language.time_rules import blank

_NO_TIME_MS = 0
"""Whether a day is named does not depend on which day it is."""
_EDGE = " ,.;:"


def errands_of(text: str, language: Language) -> list[str]:
    """Return what is to be done on each of several days apart, led by what says that it is to be done.

    "I need to pay the rent by Friday and call Ann on Monday" → "I need to pay the rent by Friday", "I need to call Ann
    on Monday". A text that takes on nothing, or names one day, stays as it is.
    """
    lower = language.accented(lowered(text))
    if len(lower) != len(text):
        return [text]
    for joint in joints_of(language).finditer(lower):
        left, right = text[: joint.start()].rstrip(_EDGE), text[joint.end() :]
        lead = _lead_of(left, right, language)
        if lead is not None and _has_its_day(left, language) and _has_its_day(right, language):
            return [left, *errands_of(f"{lead}{right}", language)]
    return [text]


@lru_cache(maxsize=16)
def joints_of(language: Language) -> re.Pattern[str]:
    """Return what finds an "and" between two parts of a sentence; nothing where none is known."""
    return re.compile(rf",? (?:{'|'.join(map(re.escape, language.conjunctions)) or '(?!)'}) ")


def _has_its_day(part: str, language: Language) -> bool:
    """Return whether a part of a sentence names a day, and something for it."""
    if not says_day(part, _NO_TIME_MS, "UTC", language):
        return False
    due = find_due(part, _NO_TIME_MS, "UTC", language)
    return bool(due and plain_sentence(blank(part, due.spans), language).content)


def _lead_of(left: str, right: str, language: Language) -> str | None:
    """Return what says before the first part that it is to be done, where the second needs it; None without any.

    The second needs none when it says by itself what takes place: "and on Friday is the concert".
    """
    lower = language.mended(lowered(left))
    owed = language.cues["obligation"].search(lower) if "obligation" in language.cues else None
    if owed is None:
        return None
    said = lowered(right).strip(_EDGE)
    if not language.has("errand", said):
        return ""
    written = left[slice(*owed.span())] if len(lower) == len(left) else owed.group()
    lead = takewhile(lambda word: lowered(word) != said.split()[0], written.split())
    return "".join(f"{word} " for word in lead)
