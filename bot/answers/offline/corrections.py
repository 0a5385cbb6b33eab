"""A value that people put right in what they said. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from bot.answers.offline.words import Words
from memory.language.due_dates import says_day
from memory.language.language import Language
from memory.language.sentences import content_words, lowered, words_of
from memory.search.terms import split_words, stem

_EDGE: Final = " \t\n.,;:!?…\"'"
_TOKEN: Final = re.compile(r"[\w'\u2019.:%€$£/-]*\w[%€$£]?")
_VALUE_WORDS: Final = 3
"""How many words a value has at most: "on the 4th"."""
_NEWEST: Final = 3
"""How many of the last statements a value alone may correct."""


def put_right(text: str, earlier: Sequence[str], words: Words) -> tuple[int, str] | None:
    """Return which of the earlier statements (oldest first) a sentence puts right, and how that one reads then.

    "Sorry, I meant Bremen, not Hamburg" names the old value; "actually it's 5" means the only number of what was said
    just before, "I meant Max" the only name. None when the sentence corrects nothing, or it is not clear what.
    """
    lower = lowered(text).strip(_EDGE)
    written = text.strip(_EDGE)
    if len(lower) != len(written):
        return None
    for pattern in words.corrections:
        found = _last(pattern, lower)
        if found is None:
            continue
        new = written[found.start("new") : found.end("new")].strip(_EDGE)
        old = found.groupdict().get("old")
        right = _named(new, old.strip(_EDGE), earlier, words) if old else _alone(new, earlier)
        if right is not None:
            return right
    return None


def gives_another(text: str, words: Words, language: Language) -> bool:
    """Return whether a sentence only gives another value for something said: "actually it's the 4th", "I meant Max".

    One that tells something before it does more than that.
    """
    lower = lowered(text).strip(_EDGE)
    found = next((found for pattern in words.corrections if (found := _last(pattern, lower))), None)
    new = found["new"] if found else ""
    told = content_words(words_of(lower[: found.start()]), language) if found else ()
    if not new or len(new.split()) > _VALUE_WORDS or len(told) > 1:
        return False
    return bool(words.reads("meant", lower)) or any(map(str.isdigit, new)) or says_day(new, 0, "UTC", language)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the match that begins last: in "sorry, I meant Max" the one of "I meant"."""
    found = following = pattern.search(text)
    while following is not None:
        found, following = following, pattern.search(text, following.start() + 1)
    return found


def _named(new: str, old: str, earlier: Sequence[str], words: Words) -> tuple[int, str] | None:
    wanted = [stem(words.code, word) for word in split_words(old)]
    if not wanted:
        return None
    for place in range(len(earlier) - 1, -1, -1):
        tokens = list(_TOKEN.finditer(earlier[place]))
        stems = ["".join(stem(words.code, word) for word in split_words(each.group())) for each in tokens]
        for at in range(len(stems) - len(wanted) + 1):
            if stems[at : at + len(wanted)] == wanted:
                start, end = tokens[at].start(), tokens[at + len(wanted) - 1].end()
                exact = lowered(earlier[place][start:end]) == lowered(old)
                return place, _with(earlier[place], start, end, new, inflected=not exact)
    return None


def _with(text: str, start: int, end: int, new: str, *, inflected: bool) -> str:
    """Return the text with another value; one in another case stands apart at the end ("Я живу в: Казань")."""
    if inflected and not text[end:].strip(_EDGE):
        return f"{text[:start].rstrip()}: {new}"
    return text[:start] + new + text[end:]


def _alone(new: str, earlier: Sequence[str]) -> tuple[int, str] | None:
    kind = _kind(new)
    if not kind or not earlier:
        return None
    for place in range(len(earlier) - 1, max(-1, len(earlier) - 1 - _NEWEST), -1):
        values = [each for each in _TOKEN.finditer(earlier[place]) if _kind(each.group()) == kind and each.start()]
        if len(values) == 1 and values[0].group() != new:
            return place, earlier[place][: values[0].start()] + new + earlier[place][values[0].end() :]
        if values:
            return None
    return None


def _kind(value: str) -> str:
    """Return "number" or "name" for a value that can stand alone, "" for other words."""
    if any(ch.isdigit() for ch in value):
        return "number" if len(value.split()) == 1 else ""
    return "name" if value[:1].isupper() and len(value.split()) == 1 else ""
