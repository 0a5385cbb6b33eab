"""Which sentences report that something ended, or tell what was done and how a thing is now. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory.language.languages import Language
from memory.language.sentences import words_of
from memory.notes.telling import is_time_word, telling_stems

ENDS = ("closing", "done", "drop", "off", "over", "restored")
NOT_ENDED = ("waits", "not_yet", "hypothetical", "obligation", "commitment", "correct")
"""With one of these a sentence that says "paid" or "done" reports no end."""
NOT_IN_SPITE = ("hypothetical", "obligation", "request")
"""The same for one that says "cancelled" or "no longer leaks": that looks ahead, or corrects, and is an end."""
_PAST = ("past", "told")
TELLS = ("told", "stands", *ENDS)
"""Cues of a sentence that tells what was done, or how a thing is now: the end of a task that it names."""
NOT_TOLD = (
    "waits", "not_yet", "hypothetical", "obligation", "commitment", "intention", "request", "imperative", "negates"
)  # fmt: skip
"""With one of these it tells no such thing."""
_NAMING_STEMS = 2
_PARTS = re.compile(r"(?<=[.!?;,\u2026])\s+")


def told_ends(lower: str, stems: frozenset[str], language: Language) -> tuple[frozenset[str], ...]:
    """Return the stems of each sentence that tells the past: it was answered with "one worry less"."""
    if language.has("in_vain", lower):
        return ()
    parts = [part for part in _PARTS.split(lower) if has_any(_PAST, part, language)]
    ends = (part for part in parts if not (asks(part, language) or has_any(NOT_ENDED, part, language)))
    named = (telling_stems(words_of(part), language) for part in ends)
    return tuple(each if len(each) >= _NAMING_STEMS else stems for each in named)


def ended(lower: str, stems: frozenset[str], language: Language) -> tuple[frozenset[str], ...]:
    """Return the stems of each sentence that reports an end; those of the whole clause for one that names nothing."""
    reports = [part for part in _PARTS.split(lower) if _reports_an_end(part, language)]
    if language.has("in_vain", lower):
        return ()
    named = (telling_stems(words_of(report), language) for report in reports)
    return tuple(each if len(each) >= _NAMING_STEMS else stems for each in named)


def tells(lower: str, language: Language) -> tuple[frozenset[str], ...]:
    """Return the stems of each sentence that tells what was done, or how a thing is now; none of what names nothing."""
    if language.has("in_vain", lower):
        return ()
    parts = [part for part in _PARTS.split(lower) if has_any(TELLS, part, language)]
    told = (part for part in parts if not (asks(part, language) or has_any(NOT_TOLD, part, language)))
    words = (words_of(part) for part in told if not _corrects(part, language))
    return tuple(stems for each in words if (stems := telling_stems(each, language)))


def _corrects(sentence: str, language: Language) -> bool:
    """Return whether the sentence puts a value right ("changed to Monday"), and does not only say "changed"."""
    values = any(word[0].isdigit() or is_time_word(word, language) for word in words_of(sentence))
    return language.has("correct", sentence) and values


def outcomes(lower: str, language: Language) -> frozenset[int]:
    """Return which outcomes the text tells, not asks or hopes for."""
    told = [part for part in _PARTS.split(lower) if not (asks(part, language) or has_any(NOT_ENDED, part, language))]
    return frozenset(number for number, outcome in enumerate(language.outcomes) if any(map(outcome.said.search, told)))


def _reports_an_end(sentence: str, language: Language) -> bool:
    if asks(sentence, language):
        return False
    if language.has("imperative", sentence) and language.has("when_ready", sentence):
        return False
    if has_any(("off", "restored"), sentence, language) and not has_any(NOT_IN_SPITE, sentence, language):
        return True
    return has_any(ENDS, sentence, language) and not has_any(NOT_ENDED, sentence, language)


def asks(sentence: str, language: Language) -> bool:
    """Return whether the lower-cased sentence asks."""
    return sentence.rstrip().endswith("?") or language.has("question", sentence)


def has_any(cues: Iterable[str], text: str, language: Language) -> bool:
    """Return whether the lower-cased text holds a phrase of one of the cues."""
    return any(language.has(cue, text) for cue in cues)
