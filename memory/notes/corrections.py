"""What a clause puts right: another value of the same thing, or one that it denies. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.language.language import Language
from memory.language.sentences import stems_of, words_of
from memory.language.time_rules import first, rules_of
from memory.notes.clauses import TAKEN_ON, Clause
from memory.notes.moves import is_moved, is_moved_by_name, is_reversed
from memory.notes.noted import (
    NEAR_TURNS,
    SAME_MATTER,
    Noted,
    shares_most,
    worded,
)
from memory.notes.telling import telling_stems, without_denied_day

_TAKEN_ON = frozenset(TAKEN_ON)
"""Cues of what somebody has to do or will do: "I must ask Betty instead" is more than a name."""
_NAMED_STEMS = 1
"""With so many stems of a note a correction stands for it."""
_MERE_VALUE_WORDS, _MERE_VALUE_STEMS, _MERE_VALUE_LEFT = 8, 1, 2
_DAY = re.compile(r"\d{1,2}(?!\d)")
_VALUE = r"[£$€]?\d[\w.,:%/]*|[^\W\d_]{2,}"


def corrected_by(clause: Clause, noted: Sequence[Noted], language: Language) -> list[str]:
    """Return the keys of what the clause corrects: another date or number of the same thing, or a value it denies."""
    denied = denied_values(clause.lower, language)
    wrong = [
        each.key
        for each in noted
        if denied & (each.numbers | each.stems | each.values) and _is_denied_of(clause, each, denied, language)
    ]
    by_name = shares_most(worded(clause.stems), [each for each in noted if is_moved_by_name(clause, each)])
    moved = [each.key for each in noted if is_moved(clause, each) or is_reversed(clause, each) or by_name == [each]]
    if "correct" not in clause.cues:
        return wrong or moved
    return list(dict.fromkeys([*wrong, *(each.key for each in noted if _other_value(clause, each)), *moved]))


def _is_denied_of(clause: Clause, noted: Noted, denied: frozenset[str], language: Language) -> bool:
    """Return whether what the clause denies was said of the note: it shares more with it, or denies a name of it."""
    shared = clause.stems & noted.stems
    return bool(shared - denied or shared & stems_of(tuple(clause.names), language))


def _other_value(clause: Clause, noted: Noted) -> bool:
    """Return whether both give a date, or a number, of one thing, and not the same."""
    shared = worded(clause.stems & noted.stems)
    if not shared:
        return False
    dates = clause.due is not None and noted.due_at_ms is not None and clause.due.due_at_ms != noted.due_at_ms
    numbers = bool(clause.numbers and noted.numbers) and not clause.numbers & noted.numbers
    close = len(shared) / max(1, min(len(worded(clause.stems)), len(worded(noted.stems)))) >= SAME_MATTER
    return close and (dates or numbers)


def value_alone(
    clause: Clause, noted: Sequence[Noted], language: Language, asked: frozenset[str] = frozenset()
) -> str | None:
    """Return the key of what a mere value corrects ("sorry, 1240", "no, the 14th", "I meant Max"): the newest such.

    One that says of what ("sorry, the exam is on the 4th") corrects that, else what was `asked` about in the message
    before, of which the stems are given, or something that was just said; at the beginning of a session that may be
    something of the session before. None when the clause says more than the value, corrects nothing, or nothing near
    has such a value; nor does it correct another matter than the one it names.
    """
    named = _named_by_value(clause, noted, language)
    if named is None or (named and "moves" in clause.cues and not any(named & each.stems for each in noted)):
        return None
    near = [each for each in noted if 0 < clause.place - each.place <= NEAR_TURNS and each.place >= 0]
    earlier = [each for each in noted if each.place < 0 and clause.place < NEAR_TURNS and "correct" in clause.cues]
    another = [each for each in reversed(noted) if _has_another(clause, each) and not _is_of_another(clause, each)]
    meant = [each for each in another if named & each.stems]
    moves = "moves" in clause.cues  # what takes place, and not a reminder of it
    meant.sort(key=lambda each: (len(named - each.stems), moves and not each.is_event))
    days = denied_days(clause.lower, language)
    on_day = [each for each in another if each.days & days]
    vague = len(named) <= _MERE_VALUE_STEMS and not _is_of_one(named, noted)
    meant = [each for each in on_day if each in meant] or (on_day if vague else []) or meant
    if not meant and not named and len(answered := shares_most(asked, another)) == 1:
        meant = answered
    if not meant and _is_of_one(named, noted):
        return None
    return next((each.key for each in meant or [*reversed(near), *reversed(earlier)] if each in another), None)


def _is_of_another(clause: Clause, noted: Noted) -> bool:
    """Return whether a number is said of somebody of whom the note does not speak: "no, I paid Rob 150"."""
    named = clause.names & clause.stems
    other = bool(noted.names) and named.isdisjoint(noted.names | noted.stems)
    return other and bool(clause.numbers and named) and clause.due is None


def corrects_nothing(clause: Clause, noted: Sequence[Noted], language: Language) -> bool:
    """Return whether the clause is only a value put right ("I meant the 21st") of nothing that is known: no note."""
    meant = clause.due is not None or bool(clause.numbers)
    denied = denied_days(clause.lower, language)
    corrects = "correct" in clause.cues or (bool(denied) and not any(denied & each.days for each in noted))
    return meant and corrects and _named_by_value(clause, noted, language) == frozenset()


def _named_by_value(clause: Clause, noted: Sequence[Noted], language: Language) -> frozenset[str] | None:
    """Return what a correction says beside its value; None for a clause that says more, or corrects nothing."""
    says_so = "correct" in clause.cues or language.has("no", clause.lower.split(",", 1)[0])
    denied_day = without_denied_day(clause.lower, language) != clause.lower
    denies = clause.due is not None and (denied_day or bool(denied_days(clause.lower, language)))
    says_so = says_so or denies or ("moves" in clause.cues and clause.due is not None)
    plain = clause.lower
    for cue in {"correct", "moves"} & clause.cues:
        plain = language.cues[cue].sub(" ", plain)
    words = [word for word in words_of(plain) if not word[0].isdigit()]
    known = frozenset[str]().union(*(each.stems for each in noted))
    new = telling_stems((word for word in words if word in clause.names), language) - known
    named = telling_stems(words, language) - new
    of_one = len(named) <= _MERE_VALUE_STEMS + denies or _is_of_one(named, noted)
    mere = clause.words <= _MERE_VALUE_WORDS * (1 + denies) and of_one
    return named if says_so and mere and not clause.asks else None


def _is_of_one(named: frozenset[str], noted: Sequence[Noted]) -> bool:
    """Return whether one note says all that a correction names, and it names something."""
    return bool(named) and any(named <= each.stems for each in noted)


def says_only_the_value(clause: Clause, noted: Noted, language: Language) -> bool:
    """Return whether a correction names the values but not of what ("MySQL it is, not Postgres")."""
    denied = denied_values(clause.lower, language)
    left = {stem for stem in clause.stems if stem.isalpha()} - denied - clause.names
    beyond = (clause.stems & noted.stems) - denied - stems_of(tuple(clause.names), language)
    return bool(denied) and not beyond and clause.words <= _MERE_VALUE_WORDS and len(left) <= _MERE_VALUE_LEFT


def names_the_matter(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause says so much of what the note is about that it can stand in its place."""
    known = worded(noted.stems)
    return len(worded(clause.stems) & known) >= min(_NAMED_STEMS, len(known))


def _has_another(clause: Clause, noted: Noted) -> bool:
    """Return whether both hold one value of a kind, and not the same: a day, a number of one unit, a name."""
    if clause.due is not None:
        return noted.due_at_ms is not None and clause.due.due_at_ms != noted.due_at_ms
    if clause.numbers:
        kinds = {kind_of(one) for one in clause.numbers} & {kind_of(one) for one in noted.numbers}
        return bool(kinds) and not clause.numbers & noted.numbers
    if "correct" not in clause.cues or _TAKEN_ON & clause.cues:
        return False
    return bool(clause.names and noted.names) and not clause.names & noted.names


def kind_of(number: str) -> tuple[str, int]:
    """Return what makes two numbers values of one thing: their unit, and how long they are."""
    return (re.sub(r"[\d.,:/\s]", "", number), len(re.sub(r"\D", "", number)))


def denied_values(lower: str, language: Language) -> frozenset[str]:
    """Return the values that the text says do not hold: "not 1.0", "pas le 8", "nicht 4000"."""
    cue = language.cues.get("negates")
    if cue is None:
        return frozenset()
    found = re.finditer(rf"(?:{cue.pattern})\s+(?:[^\W\d_]\s+)?(?P<first>{_VALUE})(?:\s+(?P<second>{_VALUE}))?", lower)
    values = [hit["second"] or "" if hit["first"] in language.stop_words else hit["first"] for hit in found]
    return frozenset(value.strip(".,:") for value in values) | stems_of(tuple(values), language)


def denied_days(lower: str, language: Language) -> frozenset[str]:
    """Return the days that the text says do not hold: "16" of "the 23rd, not the 16th", "w3" of "not Thursday"."""
    held = without_denied_day(lower, language)
    gone = "".join(was if was != now else " " for was, now in zip(lower, held, strict=True))
    denied = denied_values(lower, language) | frozenset(gone.split())
    weekdays = (first(rules_of(language).weekdays, each) for each in denied)
    days = {found.group() for each in denied if (found := _DAY.match(each))}
    return frozenset(days) | {weekday_of(int(found[1])) for found in weekdays if found}


def weekday_of(number: int) -> str:
    """Return how a day of the week stands among the days on which something is due."""
    return f"w{number}"
