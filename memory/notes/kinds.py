"""Which kind of note a clause is, and who has to act. Pure."""

from __future__ import annotations

from typing import cast

from memory.language.language import Language
from memory.language.momentary import without_momentary
from memory.language.names import WHO, name_of
from memory.language.sentences import stems_of, words_of
from memory.language.time_rules import blank
from memory.notes.clauses import TAKEN_ON, Clause, TurnClauses, cues_of
from memory.notes.telling import telling_stems
from memory.notes.types import DAY_MS, LastingKind, MatterKind
from memory.notes.weigh import LASTING_CUES, closes, is_todo, owes

BRIEF_WORDS = 22
"""A promise with this many words behind it in the same answer is kept there already."""
ANSWER_STEMS = 2
_MATTERS = frozenset({*TAKEN_ON, *LASTING_CUES, "event", "others", "waits", "deadline", "request", "kin"})
"""What makes a matter of what else is said beside something momentary."""


def is_courtesy(clause: Clause) -> bool:
    """Return whether the clause is a greeting or the like and hardly more."""
    return bool({"greeting", "goodbye", "thanks"} & clause.cues) and len(clause.stems) < ANSWER_STEMS


def is_momentary(clause: Clause, language: Language) -> bool:
    """Return whether the clause says only how things are this minute, or something about the talk: "brb, mum calls".

    Beside that it may name somebody. A day, a task or anything else that is told makes it a matter.
    """
    left, spans = without_momentary(clause.lower, language), clause.due.spans if clause.due else ()
    a_day = any(left[start:end].strip() for start, end in spans) and not (clause.due and clause.due.is_hour_alone)
    if left == clause.lower or a_day:
        return False
    left = blank(left, spans)
    if _MATTERS & cues_of(left, language):
        return False
    known = clause.names if not language.nouns_are_large else frozenset()
    return telling_stems(words_of(left), language) <= stems_of(tuple(known), language)


def is_habit(clause: Clause) -> bool:
    """Return whether the clause says how it always is ("I only work until two"): its hour or weekday is no date."""
    if clause.due is None or owes(clause) or "event" in clause.cues:
        return False
    start, end = clause.due.spans[0]
    dated = clause.due.due_at_ms - clause.at_ms > DAY_MS and any(map(str.isdigit, clause.lower[start:end]))
    return not dated and "lasting" in clause.cues and bool({"limit", "wish"} & clause.cues)


def stated_fact(clause: Clause, language: Language) -> tuple[LastingKind, str] | None:
    """Return the kind and the subject of a fact that the person states outright, e.g. where they live; else None."""
    if clause.asks or "hypothetical" in clause.cues:
        return None
    for rule in language.facts:
        found = rule.pattern.search(clause.lower) or rule.pattern.search(clause.text)
        if found and (rule.subject != WHO or name_of(found.group("value"), language)):
            subject = rule.subject.format(**{name: (value or "").strip() for name, value in found.groupdict().items()})
            return cast("LastingKind", rule.kind), subject
    return None


def lasting_kind(clause: Clause) -> LastingKind | None:
    """Return which kind of lasting note the clause is; None for one that comes to an end."""
    ends = clause.due is not None or is_todo(clause) or "waits" in clause.cues or clause.asks
    lasts = LASTING_CUES & clause.cues
    if ends or not lasts or (lasts == {"limit"} and "not_yet" in clause.cues):
        return None
    if "wish" in clause.cues:
        return "preference"
    if "limit" in clause.cues:
        return "constraint"
    return "relationship" if "kin" in clause.cues else "fact"


def matter_kind(clause: Clause, said: TurnClauses) -> MatterKind:
    """Return which kind of matter the clause is; a question is one only while its answer asks back."""
    awaited = "waits" in clause.cues or ("others" in clause.cues and bool(clause.actor) and "agrees" not in clause.cues)
    kinds: tuple[tuple[MatterKind, bool], ...] = (
        ("promise", asked_for_later(clause, said)),
        ("task", owes(clause)),
        ("promise", awaited),
        ("task", clause.is_deadline and not clause.asks),
        ("event", clause.due is not None or "event" in clause.cues),
        ("question", clause.asks and bool(said.assistant) and said.assistant[-1].asks),
        ("theme", "feeling" in clause.cues),
    )
    return next((kind for kind, holds in kinds if holds), "project")


def asked_for_later(clause: Clause, said: TurnClauses) -> bool:
    """Return whether the assistant is asked to do something at another time, and so does not do it now."""
    asked = {"imperative", "request"} & clause.cues and "when_ready" in clause.cues
    brief = sum(each.words for each in said.assistant) < BRIEF_WORDS
    return bool(asked) and brief and not (owes(clause) or closes(clause) or "wish" in clause.cues)


def owner_of(clause: Clause, said: TurnClauses) -> str:
    """Return who has to act: somebody named in a clause about what others do, else the person."""
    if asked_for_later(clause, said):
        return "assistant"
    if is_todo(clause) or not {"others", "waits"} & clause.cues:
        return "user"
    return clause.actor or "user"
