"""Whether a summary that a model wrote may be trusted: nothing important is missing, nothing made up. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory.keeper.wording import capitalises_nouns
from memory.search.languages import Language, Languages
from memory.sessions.summarizer import HEADER, kept_lines, lasting_sentences
from memory.types import ConversationTurn, OpenLoop

_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME: Final = re.compile(r"(?<=[\w,;:'\u2019] )[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω][\w-]{2,}")
_WORD: Final = re.compile(r"\w+")
_LOOP_SHARE: Final = 0.5


def problems(
    summary: str, turns: Sequence[ConversationTurn], previous: str, loops: Iterable[OpenLoop], languages: Languages
) -> list[str]:
    """Return the faults of the summary, none when it may be used (DESIGN section 7).

    Numbers, names and dates of the sentences that a summary has to keep must be in it, and so must the open loops of
    these turns; a number or name that neither the turns nor the previous summary hold was made up.
    """
    if not summary.strip():
        return ["it is empty"]
    language = languages.detect(" ".join(turn.user_text for turn in turns)[:600])
    source = " ".join([previous, *(f"{turn.user_text} {turn.assistant_text}" for turn in turns)])
    keep = [*lasting_sentences(turns, languages), *kept_lines(previous)]
    tell_names = not capitalises_nouns(source)  # of all that was said: what is kept holds more names than the rest
    return [
        *_lost(summary, keep, tell_names=tell_names),
        *_lost_loops(summary, turns, loops, language),
        *_made_up(summary, source, tell_names=tell_names),
    ]


def _lost(summary: str, sentences: Iterable[str], *, tell_names: bool) -> list[str]:
    text = " ".join(sentences)
    have, words = numbers(summary), _words(summary)
    lost = [f"the number {number} is missing" for number in sorted(numbers(text) - have)]
    known = names(text) if tell_names else ()
    return lost + [f"the name {name} is missing" for name in sorted(known) if name.casefold() not in words]


def _lost_loops(
    summary: str, turns: Sequence[ConversationTurn], loops: Iterable[OpenLoop], language: Language
) -> list[str]:
    here = {turn.turn_id for turn in turns}
    stems = language.stems(summary.lower())
    lost = []
    for loop in loops:
        about = language.stems(loop.text.lower())
        if loop.turn_id in here and loop.status == "open" and len(about & stems) < _LOOP_SHARE * len(about):
            lost.append(f"the open loop {loop.loop_id} is missing")
    return lost


def _made_up(summary: str, source: str, *, tell_names: bool) -> list[str]:
    known, text = _words(source), summary.replace(HEADER, "")
    new_numbers = sorted(numbers(text) - numbers(source))
    found = names(text) if tell_names else ()
    new_names = sorted(name for name in found if name.casefold() not in known)
    return [f"the number {number} was made up" for number in new_numbers] + [
        f"the name {name} was made up" for name in new_names
    ]


def numbers(text: str) -> set[str]:
    """Return the numbers, times and dates in digits; `1,200` and `1200` are the same number."""
    return {re.sub(r"(?<=\d),(?=\d{3}\b)", "", found) for found in _NUMBER.findall(text)}


def names(text: str) -> set[str]:
    """The words that are written as names inside a sentence (months and weekdays too)."""
    return set(_NAME.findall(text))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
