"""Which words of a text say what it is about. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from memory.language.language import NEVER, Language, cue_pattern
from memory.language.sentences import content_words, stems_of, without_elision
from memory.language.time_rules import rules_of

_ARTICLE = 3
"""Words up to this length are mostly articles in a language that has no data file."""


@lru_cache(maxsize=16)
def _time_words(language: Language) -> re.Pattern[str]:
    groups = [*language.time.get("months", ()), *language.time.get("weekdays", ())]
    near = [*language.time.get("days", {}), *language.time.get("next_words", ())]
    return cue_pattern([*(word for group in groups for word in group), *near])


def is_time_word(word: str, language: Language) -> bool:
    """Return whether the word is a day, a month, or says which of them ("next")."""
    return bool(_time_words(language).fullmatch(word))


def names_a_day(lower: str, language: Language) -> bool:
    """Return whether such a word stands in the mended text."""
    return bool(_time_words(language).search(lower))


@lru_cache(maxsize=16)
def _denied_days(language: Language) -> tuple[re.Pattern[str], ...]:
    """Return what finds a day behind a "not", but "not before the 28th"."""
    if "negates" not in language.cues or not language.time:
        return ()
    weekdays = [word for group in language.time.get("weekdays", ()) for word in group]
    day = cue_pattern([*weekdays, *language.time.get("days", {})]).pattern
    rules = rules_of(language)
    limit = language.cues.get("deadline", NEVER).pattern
    numbered = (each.pattern for each in (*rules.dates, rules.month_days))
    days = (rf"(?:[^\W\d_]{{1,3}}\s+)?{day}", *(rf"(?!{limit})(?:[^\W\d_]+\s+)?{each}" for each in numbered))
    return tuple(re.compile(rf"(?:{language.cues['negates'].pattern})\s+{each}") for each in days)


def without_denied_day(lower: str, language: Language) -> str:
    """Return the lower-cased text with blanks for each day that does not hold: "fri, not thursday", "not the 28th"."""
    for denied in _denied_days(language):
        lower = denied.sub(lambda found: " " * len(found.group()), lower)
    return lower


def telling_stems(words: Iterable[str], language: Language) -> frozenset[str]:
    """Return the stems of the words that say what a text is about: no stop words, no days and months.

    A form of a verb counts as its base ("rang" as "ring"), so that who did it speaks of what was to be done.
    """
    whole = tuple(without_elision(word, language) for word in words)
    content = (
        content_words(whole, language) if language.known else tuple(word for word in whole if len(word) > _ARTICLE)
    )
    based = (language.bases.get(word, word) for word in content if not is_time_word(word, language))
    return stems_of(tuple(word for word in based if word not in language.stop_words), language)
