"""A model may reword an arc; code checks that it said nothing new and stayed within role and immersion."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping

from memory.continuity.text import one_line, repair_mojibake, sentences, words
from memory.continuity.types import SUMMARY_MAX_CHARS, Arc, Immersion, Persona, Selection
from memory.types import Contract


class WordingRequest(Contract):
    """What a model is given: the arcs that code selected, and how they should sound."""

    persona: Persona
    arcs: tuple[Arc, ...]


Reword = Callable[[WordingRequest], Awaitable[Mapping[str, str]]]
"""Returns new summaries by arc_id; whatever it leaves out keeps its words."""

_NUMBER = re.compile(r"\d[\d.,:/-]*\d|\d")
_LINK = re.compile(r"https?:|www\.|\S@\S", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[^\W\d_]\w+")
_SENTENCES_MAX = 2
_SHARED_MIN = 0.3

_NEVER = frozenset(
    {"missed", "need me", "without me", "depend on me", "always be here", "i love", "instructions", "ignore"}
)
_SHARED_FEELING = frozenset({"feel", "feels", "felt", "heart", "dear", "beloved", "adore"})
_CLOSENESS = frozenset({"together", "our", "we", "us", "friend", "friendship"})
_BANNED: dict[Immersion, frozenset[str]] = {
    "minimal": _SHARED_FEELING | _CLOSENESS,
    "balanced": _SHARED_FEELING,
    "full": frozenset(),
    "unbounded": frozenset(),
}


def accepted_wording(arc: Arc, proposed: str, persona: Persona) -> str | None:
    """Return the proposed summary cleaned, or None when it must not be used and the arc keeps its words.

    Refused: empty, longer than two sentences or 240 characters, a number, name or link that the arc does not have,
    hardly any word in common with it, dependency, or closeness beyond the persona's immersion. An uncertain arc is
    never reworded.
    """
    text = one_line(proposed[: SUMMARY_MAX_CHARS * 4], SUMMARY_MAX_CHARS * 4)
    if not text or arc.generalized or len(text) > SUMMARY_MAX_CHARS or len(sentences(text)) > _SENTENCES_MAX:
        return None
    source = f"{arc.title} {arc.summary}"
    refused = _adds_specifics(text, source) or _oversteps(text, source, persona.immersion)
    return None if refused else text


def apply_wording(selection: Selection, proposals: Mapping[str, str], persona: Persona) -> Selection:
    """Return the same selection in the same order with every acceptable proposal put in."""

    def reworded(arc: Arc) -> Arc:
        text = accepted_wording(arc, proposals.get(arc.arc_id, ""), persona)
        return arc if text is None else arc.model_copy(update={"summary": text})

    return selection.model_copy(
        update={
            tier: tuple(one.model_copy(update={"arc": reworded(one.arc)}) for one in getattr(selection, tier))
            for tier in ("core", "active")
        }
    )


def _adds_specifics(text: str, source: str) -> bool:
    """Tell whether the text has a number, link or name that the source does not have, or another subject."""
    if _LINK.search(text) or set(_NUMBER.findall(text)) - set(_NUMBER.findall(source)):
        return True
    known = words(source)
    names = {name.group() for name in _NAME.finditer(text) if name.group()[0].isupper()}
    if any(not words(name) <= known for name in names):
        return True
    said = words(text)
    return not said or len(said & known) / len(said) < _SHARED_MIN


def _oversteps(text: str, source: str, immersion: Immersion) -> bool:
    """Tell whether the text claims more closeness than allowed, unless the source itself has the word."""
    folded, its = (unicodedata.normalize("NFKC", repair_mojibake(one)).casefold() for one in (text, source))
    return any(phrase in folded and phrase not in its for phrase in _NEVER) or bool(
        words(text) & _BANNED[immersion] - words(source)
    )
