"""What somebody does no longer: "I no longer take the statin" ends what is noted of it, and its reminder. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from memory.language.language import Language
from memory.language.sentences import lowered, stems_of, words_of
from memory.notes.reports import PARTS, asks
from memory.notes.telling import telling_stems

_MOST = 0.5
"""Share of what is known that has to be said, unless all but a word of it is."""


class GivenUp(NamedTuple):
    """What somebody says that they do no longer."""

    stems: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    """Those of them that may say what was done, and not with what."""


def given_up_in(lower: str, language: Language) -> GivenUp | None:
    """Return what a lower-cased, mended text says that somebody does no longer; None where it says nothing of it."""
    for part in PARTS.split(lower):
        found = language.cues["no_longer"].search(part) if "no_longer" in language.cues else None
        if found is None or asks(part, language) or language.has("hypothetical", part):
            continue
        told, said = _in_order(part, language), words_of(found.group())
        verbs = telling_stems(said[-1:], language) or frozenset(told[:1])
        return GivenUp(frozenset(told), verbs if len(told) > 1 else frozenset())
    return None


def is_given_up(given_up: GivenUp, text: str, language: Language) -> bool:
    """Return whether a text speaks of what is given up: of the thing, and not only of what is done with it."""
    told = _in_order(language.mended(lowered(text)), language)
    known, shared = frozenset(told), frozenset(told) & given_up.stems
    leads = frozenset(told[:1]) | (frozenset(told[-1:]) if language.nouns_are_large else frozenset())
    things = shared - _verbs(language) - (given_up.verbs & leads)
    return bool(things) and (len(shared) >= _MOST * len(known) or len(known - shared) <= 1)


def _in_order(lower: str, language: Language) -> list[str]:
    """Return the stems of the words that say what a text is about, as they stand."""
    return [stem for word in words_of(lower) for stem in telling_stems((word,), language)]


@lru_cache(maxsize=16)
def _verbs(language: Language) -> frozenset[str]:
    return stems_of(tuple(language.bases.values()), language)
