"""What was noted, as what is said later is compared with it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory.language.language import Language
from memory.language.listing import is_in_part
from memory.language.sentences import lowered, words_of
from memory.notes.telling import telling_stems

NEAR_TURNS = 2
"""How many turns back "done" without a name may reach."""
SAME_MATTER = 0.3
"""Share of common stems, of the smaller side, from which a report speaks of a matter."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A matter or lasting note as the comparison sees it."""

    key: str
    stems: frozenset[str]
    numbers: frozenset[str]
    due_at_ms: int | None
    place: int
    """Number of its turn; -1 for one of an earlier session."""
    lasts: bool
    todo: bool
    """True for what can be done or is over one day."""
    names: frozenset[str] = frozenset()
    """Those in it, as words and as stems."""
    people: frozenset[str] = frozenset()
    """Stems of those in it who are named without a name ("mum")."""
    values: frozenset[str] = frozenset()
    outcomes: frozenset[int] = frozenset()
    """By which of the language's outcomes it can end."""
    is_debt: bool = False
    """True for what somebody owes: there may be several."""
    asks_somebody: bool = False
    """True for a task that is to ask, call or write to somebody: their answer ends it."""
    mine: bool = True
    """True for what the person has to do: a bare "done" is said of nothing else."""
    is_event: bool = False
    """True for what takes place: before its day it can only be called off."""
    items: tuple[frozenset[str], ...] = ()
    """The stems of each item of a list: one that is done doesn't end the others."""
    days: frozenset[str] = frozenset()
    """The day of the month and of the week on which it is due: "the 23rd, not the 16th" corrects that of the 16th."""


@lru_cache(maxsize=4096)
def stems_of_text(text: str, language: Language) -> frozenset[str]:
    """Return the stems of the words that carry meaning, without days and months."""
    return telling_stems(words_of(language.mended(lowered(text))), language)


def outcomes_of(text: str, language: Language) -> frozenset[int]:
    """Return by which of the language's outcomes a matter in these words can end."""
    lower = language.mended(lowered(text))
    return frozenset(number for number, outcome in enumerate(language.outcomes) if outcome.of.search(lower))


def is_debt(text: str, language: Language) -> bool:
    """Return whether the text says that somebody owes something, or has what is another's."""
    lower = language.mended(lowered(text))
    return any(outcome.mere is not None and outcome.of.search(lower) for outcome in language.outcomes)


def same_matter(stems: frozenset[str], noted: Iterable[Noted], share: float) -> Noted | None:
    """Return what says nearly the same, the newest first; None when nothing does. A list is more than a part of it."""
    for each in reversed(list(noted)):
        together = 0 if is_in_part(stems, each.items) else len(stems | each.stems)
        if together and len(stems & each.stems) / together >= share:
            return each
    return None


def worded(stems: frozenset[str]) -> frozenset[str]:
    """Return the stems without the values: they say what is spoken of."""
    return frozenset(stem for stem in stems if not any(map(str.isdigit, stem)))


def shares_most(said: frozenset[str], noted: Sequence[Noted]) -> list[Noted]:
    """Return those that share the most stems with what was said; none where nothing is shared."""
    shared = [(len(said & worded(each.stems)), each) for each in noted]
    most = max((n for n, _ in shared), default=0)
    return [each for n, each in shared if most and n == most]
