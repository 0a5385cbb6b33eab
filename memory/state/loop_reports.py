"""What the person reports as done or calls off, and which open loop that ends. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

from memory.language.intents import calls_off, is_promise, reports_done, tells_the_past
from memory.language.language import Language
from memory.language.listing import covers_list
from memory.language.names import people_in
from memory.language.sentences import Sentence, lowered, stems_of, words_of
from memory.state.loops import ALIVE, COVERED, Moment, closed, find, latest, replaced, stems
from memory.types import LoopStatus, OpenLoop

_COMMA = re.compile(r"[,;:]")
_NAME = re.compile(r"(?<=\w )[^\W\d_a-zß-öø-ÿа-яё][\w'-]+")
"""A word with a capital that does not begin the text."""
DAY_MS = 24 * 3_600_000
Pointed = Callable[[Sentence, frozenset[str]], Sequence[str] | None]
"""Given a sentence and the words that report, returns the ids of the loops that it points at on the list shown last;
nothing when there is no such place, None when it points at no list."""


def close_by_user(
    loops: tuple[OpenLoop, ...],
    user: tuple[Sentence, ...],
    moment: Moment,
    language: Language,
    pointed: Pointed,
    *,
    obvious: OpenLoop | None = None,
) -> tuple[OpenLoop, ...]:
    """Return the loops after what the user reports as done or calls off: by name, by its place on a list, or "that".

    `obvious` is what a report that names nothing ends; where nobody can tell, it ends nothing.
    """
    for sentence in user:
        cue = _report(sentence, language)
        if cue is None:
            continue
        ids = pointed(sentence, frozenset(_said(sentence, cue, language)))
        if ids is not None:
            ended: LoopStatus = "dropped" if cue == "drop" else "done"
            for loop in loops:
                if loop.loop_id in ids and loop.status in ALIVE:
                    loops = replaced(loops, closed(loop, ended, moment.at_ms, moment.turn_id))
            continue
        about, clause = _about(sentence, cue, language)
        over = loops if cue == "drop" else _may_be_over(loops, about, _acts(sentence, cue, language), moment, language)
        target = _reported(over, clause, cue, language) or _reported(over, about, cue, language)
        if target is None and _means_the_latest(sentence, cue, about, clause, language):
            target = obvious if cue == "done" else latest(loops)
        if target is not None:
            status: LoopStatus = "dropped" if cue == "drop" else "done"
            loops = replaced(loops, closed(target, status, moment.at_ms, moment.turn_id))
    return loops


def _means_the_latest(
    sentence: Sentence, cue: str, about: frozenset[str], clause: frozenset[str], language: Language
) -> bool:
    """Return whether the report names nothing ("done!") or calls off "that", and so means what was spoken of last.

    "Forget that with the nappies" and "vergiss das Paket" name something, whether it is on the list or not.
    """
    if cue == "past":
        return False
    if cue == "done":
        return not about
    said = _said(sentence, cue, language)
    return not about or (not clause and bool(said) and said[-1] in language.references)


def _said(sentence: Sentence, cue: str, language: Language) -> tuple[str, ...]:
    """Return the words of the phrase that reports."""
    found = language.cues[cue].search(sentence.lower)
    return words_of(found.group()) if found else ()


def _frame(sentence: Sentence, cue: str, language: Language) -> tuple[str, ...]:
    """Return the first and the last word of the phrase that reports: what stands between may be what is reported."""
    said = _said(sentence, cue, language)
    return (said[0], said[-1]) if said else ()


def _report(sentence: Sentence, language: Language) -> Literal["drop", "done", "past"] | None:
    """Return by which cue the sentence says that a matter has ended, or None."""
    if calls_off(sentence, language):
        return "drop"
    if is_promise(sentence, language):
        return None
    if reports_done(sentence, language):
        return "done"
    return "past" if tells_the_past(sentence, language) else None


def _acts(sentence: Sentence, cue: str, language: Language) -> frozenset[str]:
    """Return the stems of the words that report, those of verbs as of their base: "rang" as "ring"."""
    said = _frame(sentence, cue, language)
    return stems_of((*said, *(language.bases.get(word, word) for word in said)), language)


def _may_be_over(
    loops: tuple[OpenLoop, ...], about: frozenset[str], acts: frozenset[str], moment: Moment, language: Language
) -> tuple[OpenLoop, ...]:
    """Return the loops that a report may end: no event of a later day, and nothing of which it shares only a person.

    "Called mum" ends the call to her, not her present.
    """
    return tuple(
        loop
        for loop in loops
        if not _is_still_ahead(loop, moment.at_ms)
        and (stems(loop, language) & acts or not _shares_only_people(loop, about, language))
    )


def _is_still_ahead(loop: OpenLoop, at_ms: int) -> bool:
    """Return whether the loop is an event, which nobody has to do, of a later day."""
    is_event = loop.kind == "task" and loop.owner == "other"
    return is_event and loop.due_at_ms is not None and loop.due_at_ms - at_ms > DAY_MS


def _shares_only_people(loop: OpenLoop, about: frozenset[str], language: Language) -> bool:
    """Return whether all that a report has in common with the loop is somebody, of whom the loop says more."""
    own, named = stems(loop, language), (large.group() for large in _NAME.finditer(loop.text))
    people = people_in(language.mended(lowered(loop.text)), language)
    people |= frozenset() if language.nouns_are_large else stems_of(tuple(map(lowered, named)), language)
    return bool(own & about) and own & about <= people and not own <= people


def _reported(loops: tuple[OpenLoop, ...], about: frozenset[str], cue: str, language: Language) -> OpenLoop | None:
    target = find(loops, about, language)
    if target is None or not covers_list(about, target.text, language):
        return None
    return target if cue == "drop" or _is_that(target, about, language) else None


def _about(sentence: Sentence, cue: str, language: Language) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of what is reported, without the words that report it ("I called", "is sent", "forget").

    First those of the whole sentence, then those of the clause that holds the report.
    """
    found = language.cues[cue].search(sentence.lower)
    frame = _frame(sentence, cue, language)
    clause = set(words_of(_clause_around(sentence.lower, found.start()))) if found else set()
    named = tuple(word for word in sentence.content if word not in frame)
    return stems_of(named, language), stems_of(tuple(word for word in named if word in clause), language)


def _clause_around(lower: str, place: int) -> str:
    """Return the part of the sentence between the commas around a place."""
    cuts = [-1, *(match.start() for match in _COMMA.finditer(lower)), len(lower)]
    return next(lower[a + 1 : b] for a, b in pairwise(cuts) if place < b)


def _is_that(loop: OpenLoop, about: frozenset[str], language: Language) -> bool:
    """Return whether a report is about the loop and not about something that shares a word with it."""
    shared = len(stems(loop, language) & about)
    return shared > 1 or shared >= COVERED * len(about)
