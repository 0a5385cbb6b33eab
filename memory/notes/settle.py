"""What a clause does to what was noted before: it settles a matter, or corrects it. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory.language.languages import Language
from memory.language.sentences import lowered, stems_of, words_of
from memory.notes.clauses import Clause, telling_stems
from memory.notes.weigh import reports_an_end

NEAR_TURNS = 2
"""How many turns back "done" without a name may reach."""
_SAME_MATTER = 0.3
"""Share of common stems, of the smaller side, from which a report speaks of a matter."""
_SAME_NAME = 0.5
"""The same where they share nothing but a name or a number: one hears of people again and again."""
_COMMON = 6
"""A stem in so many notes is what the whole conversation is about: it tells no matter from another."""
_WITHOUT_NAME = 2
"""A report with fewer stems than this names nothing."""
_MERE_VALUE_WORDS, _MERE_VALUE_STEMS, _MERE_VALUE_LEFT = 8, 1, 2
_VALUE = r"(?:\w+ )?(?P<value>[£$€]?\d[\w.,:%/]*|[^\W\d_]{3,})"


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


@lru_cache(maxsize=4096)
def stems_of_text(text: str, language: Language) -> frozenset[str]:
    """Return the stems of the words that carry meaning, without days and months."""
    return telling_stems(words_of(language.mended(lowered(text))), language)


def settled_by(clause: Clause, noted: Sequence[Noted], reply_before: frozenset[str]) -> list[str]:
    """Return the keys of what the clause ends; `reply_before` are the stems of the assistant's message it answers."""
    if not reports_an_end(clause):
        return []
    often = Counter(stem for each in noted for stem in each.stems)
    named = [each for each in noted if not each.lasts and _speaks_of(clause, each, often)]
    if named:
        return [each.key for each in named]
    near = [
        each for each in noted if not each.lasts and 0 <= clause.place - each.place <= NEAR_TURNS and each.place >= 0
    ]
    if "over" in clause.cues:
        return [
            each.key for each in noted if not each.lasts and (each in near or (each.todo and each.stems & reply_before))
        ]
    if len(clause.stems) < _WITHOUT_NAME:
        todo = [each for each in near if each.todo]
        return [todo[-1].key] if todo else []
    return []


def _speaks_of(clause: Clause, noted: Noted, often: Counter[str]) -> bool:
    said = clause.ended if clause.ended is not None else clause.stems
    shared = said & noted.stems
    if not shared or noted.place == clause.place:
        return False
    telling = min(often[stem] for stem in shared) < _COMMON
    mere = all(stem in clause.names or stem in noted.names or any(map(str.isdigit, stem)) for stem in shared)
    least = _SAME_NAME if mere else _SAME_MATTER
    return telling and len(shared) / max(1, min(len(said), len(noted.stems))) >= least


def corrected_by(clause: Clause, noted: Sequence[Noted], language: Language) -> list[str]:
    """Return the keys of what the clause corrects: another date or number of the same thing, or a value it denies."""
    denied = denied_values(clause.lower, language)
    wrong = [each.key for each in noted if each.stems & clause.stems and denied & (each.numbers | each.stems)]
    if "correct" not in clause.cues:
        return wrong
    return list(dict.fromkeys([*wrong, *(each.key for each in noted if _other_value(clause, each))]))


def value_alone(clause: Clause, noted: Sequence[Noted], language: Language) -> str | None:
    """Return the key of what a mere value corrects ("sorry, 1240", "no, the 14th", "I meant Max"): the newest such.

    At the beginning of a session that may be something of the session before. None when the clause says more than the
    value, corrects nothing, or nothing near has such a value.
    """
    says_so = "correct" in clause.cues or language.has("no", clause.lower.split(",", 1)[0])
    plain = language.cues["correct"].sub(" ", clause.lower) if "correct" in clause.cues else clause.lower
    named = telling_stems((word for word in words_of(plain) if word.isalpha() and word not in clause.names), language)
    if not says_so or clause.asks or clause.words > _MERE_VALUE_WORDS or len(named) > _MERE_VALUE_STEMS:
        return None
    near = [each for each in noted if 0 < clause.place - each.place <= NEAR_TURNS and each.place >= 0]
    earlier = [each for each in noted if each.place < 0 and clause.place < NEAR_TURNS and "correct" in clause.cues]
    says_of_what = named if clause.due is not None else frozenset()
    unnamed = (each for each in (*reversed(near), *reversed(earlier)) if not says_of_what & each.stems)
    return next((each.key for each in unnamed if _has_another(clause, each)), None)


def says_only_the_value(clause: Clause, noted: Noted, language: Language) -> bool:
    """Return whether a correction names the values but not of what ("MySQL it is, not Postgres")."""
    denied = denied_values(clause.lower, language)
    left = {stem for stem in clause.stems if stem.isalpha()} - denied - clause.names
    beyond = (clause.stems & noted.stems) - denied
    return bool(denied) and not beyond and clause.words <= _MERE_VALUE_WORDS and len(left) <= _MERE_VALUE_LEFT


def _has_another(clause: Clause, noted: Noted) -> bool:
    """Return whether both hold one value of a kind, and not the same: a day, a number of one unit, a name."""
    if clause.due is not None:
        return noted.due_at_ms is not None and clause.due.due_at_ms != noted.due_at_ms
    if clause.numbers:
        kinds = {_kind(one) for one in clause.numbers} & {_kind(one) for one in noted.numbers}
        return bool(kinds) and not clause.numbers & noted.numbers
    return bool(clause.names and noted.names) and not clause.names & noted.names and "correct" in clause.cues


def _kind(number: str) -> tuple[str, int]:
    """Return what makes two numbers values of one thing: their unit, and how long they are."""
    return (re.sub(r"[\d.,:/\s]", "", number), len(re.sub(r"\D", "", number)))


def denied_values(lower: str, language: Language) -> frozenset[str]:
    """Return the values that the text says do not hold: "not 1.0", "pas le 8", "nicht 4000"."""
    cue = language.cues.get("negates")
    if cue is None:
        return frozenset()
    found = re.findall(rf"(?:{cue.pattern})\s+{_VALUE}", lower)
    values = [hit[-1] if isinstance(hit, tuple) else hit for hit in found]
    return frozenset(value.strip(".,:") for value in values) | stems_of(tuple(values), language)


def _other_value(clause: Clause, noted: Noted) -> bool:
    """Return whether both give a date, or a number, of one thing, and not the same."""
    shared = clause.stems & noted.stems
    if not shared:
        return False
    dates = clause.due is not None and noted.due_at_ms is not None and clause.due.due_at_ms != noted.due_at_ms
    numbers = bool(clause.numbers and noted.numbers) and not clause.numbers & noted.numbers
    close = len(shared) / max(1, min(len(clause.stems), len(noted.stems))) >= _SAME_MATTER
    return close and (dates or numbers)


def same_matter(stems: frozenset[str], noted: Iterable[Noted], share: float) -> Noted | None:
    """Return what says nearly the same, the newest first; None when nothing does."""
    for each in reversed(list(noted)):
        together = len(stems | each.stems)
        if together and len(stems & each.stems) / together >= share:
            return each
    return None
