"""What a clause ends of what was noted before: a matter that is done, called off or over. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memory.language.listing import is_in_part
from memory.notes.clauses import Clause
from memory.notes.noted import (
    NEAR_TURNS,
    SAME_MATTER,
    Noted,
)
from memory.notes.reports import Report
from memory.notes.types import DAY_MS
from memory.notes.weigh import reports_an_end

_SAME_NAME = 0.5
"""The same where they share nothing but a name or a number: one hears of people again and again."""
_ENDED_SHARE = 0.6
"""Share of the stems that a report names, without its verb, from which it is about a note with another verb."""
_TOLD_SHARE = 0.5
"""Share of the stems of a sentence in passing from which it tells of a task: "tyres on now"."""
_KNOWN_SHARE = 0.25
"""Share of the stems of the task that it has to name at least: a long one is not over by one word of it, unless it was
spoken of just before.
"""
_PART_STEMS = 3
"""A part of a compound has one letter more than this, at its beginning two; the rest of the compound has so many."""
_COMMON = 6
"""A stem that stands in at least this many notes is what the whole conversation is about: it tells no two apart."""
_ASKED_STEMS = 2


def settled_by(
    clause: Clause,
    noted: Sequence[Noted],
    reply_before: frozenset[str],
    asked_before: frozenset[str] = frozenset(),
    *,
    compounds: bool = False,
    bare: bool = True,
) -> list[str]:
    """Return the keys of what the clause ends.

    `reply_before` are the stems of the assistant's message that it answers, `asked_before` those of what the person had
    asked for there: "sent" says of what was just written for them that it is done.
    With `compounds` a part of a word stands for the whole: "Reifen" for "Winterreifen". Without `bare` a report that
    names nothing ends nothing: the reply has said what it ended. "Told her" ends only what was to be told or asked.
    """
    noted = [
        each
        for each in noted
        if not (each.lasts or _is_still_ahead(each, clause) or is_in_part(clause.stems, each.items))
    ]
    turned_out = [each for each in noted if _has_turned_out(clause, each)]
    often = Counter(stem for each in noted for stem in each.stems)
    told = [
        each.key
        for each in noted
        if _is_told(clause, each, often, compounds=compounds) or _is_answered(clause, each, often)
    ]
    if not reports_an_end(clause):
        return told or [each.key for each in turned_out[-1:]]
    named = [each for each in noted if _speaks_of(clause, each, often)]
    if named or told:
        return list(dict.fromkeys([*(each.key for each in named), *told]))
    if turned_out:
        return [turned_out[-1].key]
    mine = [each for each in noted if each.mine]
    near = [each for each in mine if 0 <= clause.place - each.place <= NEAR_TURNS and each.place >= 0]
    if "over" in clause.cues:
        return [each.key for each in mine if each in near or (each.todo and each.stems & reply_before)]
    if bare and not any(report.named for report in clause.ended):
        todo = [each for each in near if each.todo] or [each for each in noted if _was_asked_for(each, asked_before)]
        if "told_them" in clause.cues:
            todo = [each for each in todo if each.asks_somebody]
        return [todo[-1].key] if todo else []
    return []


def _has_turned_out(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause tells how the note turned out, without naming it; of a debt nothing that it is not."""
    if not clause.outcomes & noted.outcomes or noted.place == clause.place or _is_part_of_it(clause.stems, noted):
        return False
    return not noted.is_debt or not clause.settles or bool(clause.settles & noted.stems)


def _is_still_ahead(noted: Noted, clause: Clause) -> bool:
    """Return whether an event is on a later day, and the clause does not call it off."""
    later = noted.due_at_ms is not None and noted.due_at_ms - clause.at_ms > DAY_MS
    return noted.is_event and later and not any(report.calls_off for report in clause.ended)


def _speaks_of(clause: Clause, noted: Noted, often: Counter[str]) -> bool:
    """Return whether one of the reports of the clause is about the note."""
    if noted.place == clause.place:
        return False
    names = clause.names | noted.names | noted.people
    return any(_ends(report, noted, names, often) for report in clause.ended)


def _ends(report: Report, noted: Noted, names: frozenset[str], often: Counter[str]) -> bool:
    """Return whether a report is about the note: by what it names, and by the verb alone only where it names nothing.

    Of somebody who is named in both it has to say what was to be done, too, or call it off. What nobody has to do is
    not over by what somebody did.
    """
    if _is_part_of_it(report.stems, noted):
        return False
    if not report.named:
        return noted.todo and _is_about(report.stems, noted.stems, names, often)
    shared = report.named & noted.stems
    if not noted.todo and not report.is_over:
        return False
    tied = report.calls_off or (noted.todo and bool(report.verbs & noted.stems))
    if not tied and (shared <= names or len(shared) < _ENDED_SHARE * len(report.named)):
        return False
    return bool(shared) and _is_about(report.stems, noted.stems, names, often)


def _is_part_of_it(said: frozenset[str], noted: Noted) -> bool:
    """Return whether a report gives another number than the note: "paid 400" is not the end of "owes me 900"."""
    given = {stem for stem in said if stem.isdigit()}
    known = {re.sub(r"\D", "", number) for number in noted.numbers} - {""}
    return bool(given and known) and not given & known


def _is_answered(clause: Clause, noted: Noted, often: Counter[str]) -> bool:
    """Return whether the clause tells the answer of whom the task was to ask: "Malc said yes"."""
    if not noted.asks_somebody or not noted.todo or noted.place == clause.place or clause.asks:
        return False
    return "agrees" in clause.cues and any(often[stem] < _COMMON for stem in clause.stems & noted.stems)


def _was_asked_for(noted: Noted, asked: frozenset[str]) -> bool:
    """Return whether a task is what the person asked the assistant to do for them."""
    shared = noted.stems & asked
    return noted.todo and len(shared) >= _ASKED_STEMS and len(shared) >= SAME_MATTER * min(len(noted.stems), len(asked))


def _is_told(clause: Clause, noted: Noted, often: Counter[str], *, compounds: bool) -> bool:
    """Return whether the clause tells of a task that it is done, or how the thing it was about is now.

    Most of what such a sentence names is the task: others only happen to share a word with it.
    """
    past = noted.due_at_ms is not None and noted.due_at_ms < clause.at_ms
    if not noted.todo or (noted.is_event and not past) or noted.place == clause.place or clause.asks:
        return False
    names = clause.names | noted.names | noted.people
    told = [_as_whole(said, noted.stems) if compounds else said for said in clause.told]
    told = [said for said in told if not (_shares_only_verbs(said, noted.stems, clause) or _is_part_of_it(said, noted))]
    near = 0 < clause.place - noted.place <= NEAR_TURNS and noted.place >= 0
    known_share = 0.0 if near else _KNOWN_SHARE
    return any(
        _is_mostly(said, noted.stems, names, known_share) and _is_about(said, noted.stems, names, often)
        for said in told
    )


def _shares_only_verbs(said: frozenset[str], known: frozenset[str], clause: Clause) -> bool:
    """Return whether a sentence names another thing: "the dentist is booked" is no end of "return the books"."""
    verbs = frozenset[str]().union(*(report.verbs for report in clause.ended))
    return "pronoun" not in clause.cues and said & known <= verbs and not said <= known | verbs


def _is_mostly(said: frozenset[str], known: frozenset[str], names: frozenset[str], known_share: float) -> bool:
    """Return whether most of the stems said are known; a name alone has to be all that is said."""
    shared = said & known
    much = len(shared) >= _TOLD_SHARE * len(said) and len(shared) >= known_share * len(known)
    return much and (shared == said or not shared <= names)


def _as_whole(said: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """Return the stems with those that are the head or the beginning of a known compound as that compound."""
    return frozenset(next((word for word in known if _is_part(stem, word)), stem) for stem in said)


def _is_part(stem: str, word: str) -> bool:
    longer = len(word) >= len(stem) + _PART_STEMS
    head = len(stem) > _PART_STEMS and word.endswith(stem)
    return longer and (head or (len(stem) > _PART_STEMS + 1 and word.startswith(stem)))


def _is_about(said: frozenset[str], known: frozenset[str], names: frozenset[str], often: Counter[str]) -> bool:
    """Return whether the stems of a report and of a note have enough in common, and not only a name or a number."""
    shared = said & known
    if not shared or min(often[stem] for stem in shared) >= _COMMON:
        return False
    mere = all(stem in names or any(map(str.isdigit, stem)) for stem in shared)
    return len(shared) / min(len(said), len(known)) >= (_SAME_NAME if mere else SAME_MATTER)
