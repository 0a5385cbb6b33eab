"""Which sentences report that something ended, or tell what was done and how a thing is now. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from memory.language.errands import joints_of
from memory.language.language import Language
from memory.language.sentences import words_of
from memory.notes.telling import is_time_word, telling_stems

ENDS = ("closing", "done", "drop", "off", "over", "restored")
NOT_ENDED = ("waits", "not_yet", "hypothetical", "obligation", "commitment", "correct")
"""With one of these a sentence that says "paid" or "done" reports no end."""
NOT_IN_SPITE = ("hypothetical", "obligation", "request")
"""The same for one that says "cancelled" or "no longer leaks": that looks ahead, or corrects, and is an end."""
_PAST = ("past", "told")
HAPPENED = ("past", "closing", "done")
TO_COME = (*NOT_ENDED, "acts", "deadline", "event", "extends", "intention", "others", "request", "takes_on")
"""With one of these a sentence in the past may still speak of a day ahead: "they promised it for Friday"."""
TELLS = ("told", "stands", *ENDS)
"""Cues of a sentence that tells what was done, or how a thing is now: the end of a task that it names."""
NOT_TOLD = (
    "waits", "not_yet", "hypothetical", "obligation", "commitment", "intention", "request", "imperative", "negates"
)  # fmt: skip
"""With one of these it tells no such thing."""
_IS_OVER = tuple(cue for cue in ENDS if cue != "done")
_NAMING_STEMS = 2
_VERB_WORDS = 2
"""A longer phrase that says that something ended names it, too."""
PARTS = re.compile(r"(?<=[.!?;,\u2026])\s+")
_SENTENCES = re.compile(r"(?<=[.!?\u2026])\s+")
CALLED_OFF = frozenset({"drop", "off"})
"""Cues of what will not be."""


def sentence_at(lower: str, place: int) -> tuple[str, str]:
    """Return the sentence of the text, or its part up to a comma, in which the place lies; and what is before that."""
    cuts = [cut.end() for cut in PARTS.finditer(lower)]
    start = max((cut for cut in cuts if cut <= place), default=0)
    return lower[start : min((cut for cut in cuts if cut > place), default=len(lower))], lower[start:place]


def tells_the_past(sentence: str, language: Language) -> bool:
    """Return whether the sentence tells what happened, and of nothing that is still to come."""
    happened = has_any(HAPPENED, sentence, language)
    return happened and not asks(sentence, language) and not has_any(TO_COME, sentence, language)


class Report(NamedTuple):
    """A sentence that reports an end."""

    stems: frozenset[str]
    """What it names; where that is nothing, what is told beside it."""
    verbs: frozenset[str] = frozenset()
    """Those of them that only say that it ended."""
    calls_off: bool = False
    is_over: bool = True
    """False when it only says what somebody did."""

    @property
    def named(self) -> frozenset[str]:
        """What it names beside its verb."""
        return self.stems - self.verbs


def told_ends(lower: str, language: Language) -> tuple[Report, ...]:
    """Return the sentences that tell the past as reports of an end: they were answered with "one worry less"."""
    if language.has("in_vain", lower):
        return ()
    parts = [part for part in PARTS.split(lower) if has_any(_PAST, part, language)]
    ends = (part for part in parts if not (asks(part, language) or has_any(NOT_ENDED, part, language)))
    return tuple(_report(part, _PAST, lower, language) for part in ends)


def ended(lower: str, language: Language) -> tuple[Report, ...]:
    """Return the sentences that report an end."""
    if language.has("in_vain", lower):
        return ()
    reports = (part for part in _told_apart(lower, language) if _reports_an_end(part, language))
    return tuple(_report(part, ENDS, lower, language) for part in reports)


def _told_apart(lower: str, language: Language) -> Iterator[str]:
    """Yield the parts of a text, and two that are told with an "and" apart: "called Bob and got the milk"."""
    for part in PARTS.split(lower):
        halves = joints_of(language).split(part)
        yield from halves if all(has_any(TELLS, half, language) for half in halves) else (part,)


def _report(part: str, cues: Iterable[str], lower: str, language: Language) -> Report:
    """Return a sentence as a report: of what it names, or of what stands beside it and does not look ahead."""
    stems = telling_stems(words_of(part), language)
    if len(stems) < _NAMING_STEMS:
        beside = [each for each in _SENTENCES.split(lower) if part in each or not has_any(NOT_ENDED, each, language)]
        stems = telling_stems(words_of(" ".join(beside)), language)
    found = (hit.group() for cue in cues if cue in language.cues for hit in language.cues[cue].finditer(part))
    verbs = " ".join(said for said in found if len(said.split()) <= _VERB_WORDS)
    return Report(
        stems,
        telling_stems(words_of(verbs), language),
        calls_off=has_any(CALLED_OFF, part, language),
        is_over=has_any(_IS_OVER, part, language),
    )


def tells(lower: str, language: Language) -> tuple[frozenset[str], ...]:
    """Return the stems of each sentence that tells what was done, or how a thing is now; none of what names nothing."""
    if language.has("in_vain", lower):
        return ()
    parts = [part for part in _told_apart(lower, language) if has_any(TELLS, part, language)]
    told = (part for part in parts if not (asks(part, language) or has_any(NOT_TOLD, part, language)))
    words = (words_of(part) for part in told if not (_corrects(part, language) or _only_moves(part, lower, language)))
    return tuple(stems for each in words if (stems := telling_stems(each, language)))


def _corrects(sentence: str, language: Language) -> bool:
    """Return whether the sentence puts a value right ("changed to Monday"), and does not only say "changed"."""
    values = any(word[0].isdigit() or is_time_word(word, language) for word in words_of(sentence))
    return language.has("correct", sentence) and values


def _only_moves(part: str, lower: str, language: Language) -> bool:
    """Return whether a part says that something is moved, and the text when it is now."""
    return (
        has_any(("moves", "extends"), part, language) and language.has("correct", part) and _corrects(lower, language)
    )


def outcomes(lower: str, language: Language) -> frozenset[int]:
    """Return which outcomes the text tells, not asks or hopes for."""
    told = [part for part in PARTS.split(lower) if not (asks(part, language) or has_any(NOT_ENDED, part, language))]
    return frozenset(number for number, outcome in enumerate(language.outcomes) if any(map(outcome.said.search, told)))


def told_of_debts(lower: str, language: Language) -> frozenset[str]:
    """Return the stems of what the text names beside the words that say of a debt that it is paid.

    Nothing where one of its sentences says no more: "he paid it all, and the helmet too".
    """
    told: list[frozenset[str]] = []
    for said, mere in ((each.said, each.mere) for each in language.outcomes if each.mere is not None):
        beside = (mere.sub(" ", said.sub(" ", part)) for part in PARTS.split(lower) if said.search(part))
        told += [frozenset(s for s in telling_stems(words_of(each), language) if not s.isdigit()) for each in beside]
    return frozenset().union(*told) if all(told) else frozenset()


def _reports_an_end(sentence: str, language: Language) -> bool:
    if asks(sentence, language):
        return False
    if language.has("imperative", sentence) and language.has("when_ready", sentence):
        return False
    if has_any(("off", "restored"), sentence, language) and not has_any(NOT_IN_SPITE, sentence, language):
        return True
    dropped = language.has("drop", sentence) and not _corrects(sentence, language)
    ahead = [cue for cue in NOT_ENDED if not (dropped and cue == "correct")]
    return _is_said(ENDS, sentence, language) and not has_any(ahead, sentence, language)


def _is_said(cues: Iterable[str], sentence: str, language: Language) -> bool:
    """Return whether the sentence holds a phrase of one of the cues that no "not" stands right before."""
    hits = (hit for cue in cues if cue in language.cues for hit in language.cues[cue].finditer(sentence))
    return any(not _denies(language).search(sentence[: hit.start()]) for hit in hits)


@lru_cache(maxsize=16)
def _denies(language: Language) -> re.Pattern[str]:
    """Return what finds a "not" at the end of a text, with at most a word or two behind it."""
    cue = language.cues.get("negates")
    return re.compile(rf"(?:{cue.pattern})(?: [\w']+){{0,2}} $") if cue else re.compile(r"(?!)")


def asks(sentence: str, language: Language) -> bool:
    """Return whether the lower-cased sentence asks."""
    return sentence.rstrip().endswith("?") or language.has("question", sentence)


def has_any(cues: Iterable[str], text: str, language: Language) -> bool:
    """Return whether the lower-cased text holds a phrase of one of the cues."""
    return any(language.has(cue, text) for cue in cues)
