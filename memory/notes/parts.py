"""What is done of a list: an item of it ends by what would end it as a matter of its own. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory.language.language import Language
from memory.language.listing import ADDED_WORDS, is_in_part, with_item, without_items
from memory.language.sentences import words_of
from memory.notes.clauses import CUES, Clause
from memory.notes.corrections import denied_values
from memory.notes.noted import Noted
from memory.notes.reports import PARTS, has_any
from memory.notes.settle import settled_by
from memory.notes.telling import telling_stems
from memory.notes.types import LastingNote, Matter
from memory.notes.values import Put, PutRight

STILL_TO_DO = ("not_yet", "waits", "obligation", "takes_on")
"""Cues of what is not done yet beside what is."""
_SAYS_MORE = frozenset(CUES) - {"kin", "happening"}


def parts_ended(clause: Clause, noted: Sequence[Noted], language: Language) -> dict[str, tuple[int, ...]]:
    """Return the places of the items that the clause ends, by the key of their list; a whole list is none of these."""
    lists = (each for each in noted if not each.lasts and is_in_part(clause.stems, each.items))
    found = {
        each.key: tuple(place for place in range(len(each.items)) if _is_done(clause, each, place, language))
        for each in lists
    }
    return {key: done for key, done in found.items() if done}


def _is_done(clause: Clause, noted: Noted, place: int, language: Language) -> bool:
    """Return whether the clause ends an item of a list: what it says of the others ("milk and stamps bought") aside."""
    item, things = noted.items[place], frozenset[str]().union(*noted.items)
    if not item & clause.stems - _left_open(clause, language):
        return False
    if "forget" in clause.cues:
        return True
    others = things - item
    of_it = replace(
        clause,
        stems=clause.stems - others,
        names=frozenset() if language.nouns_are_large else clause.names,
        ended=tuple(report._replace(stems=report.stems - others) for report in clause.ended if item & report.stems),
        told=tuple(said - others for said in clause.told if item & said),
    )
    names = frozenset() if language.nouns_are_large else noted.names
    alone = replace(noted, stems=item | noted.stems - things, items=(), outcomes=frozenset(), names=names)
    return bool(settled_by(of_it, [alone], frozenset(), compounds=language.nouns_are_large, bare=False))


def _left_open(clause: Clause, language: Language) -> frozenset[str]:
    """Return the stems of what the clause says is not done: "but not the stamps", "stamps still to get"."""
    if "forget" in clause.cues or any(report.calls_off for report in clause.ended):
        return frozenset()
    parts = (part for part in PARTS.split(clause.lower) if has_any(STILL_TO_DO, part, language))
    open_words = (word for part in parts for word in words_of(part))
    return denied_values(clause.lower, language) | telling_stems(open_words, language)


def put_rest(done: Sequence[int]) -> Put:
    """Return what takes the items at these places out of a list: what is left of it stands in its place."""

    def put(
        note: Matter | LastingNote, clause: Clause, zone: str, language: Language, names: frozenset[str]
    ) -> PutRight | None:
        del zone, names
        left = without_items(note.text, done, clause.stems, language)
        due_at_ms, exact = (note.due_at_ms, note.due_exact) if isinstance(note, Matter) else (None, False)
        return PutRight(left, due_at_ms, exact) if left else None

    return put


def says_no_more(clause: Clause, lists: Sequence[Noted]) -> bool:
    """Return whether a clause that ends parts of these lists tells of nothing else."""
    known = frozenset[str]().union(*(each.stems for each in lists), *(report.verbs for report in clause.ended))
    return bool(lists) and clause.stems <= known


def is_added(clause: Clause, language: Language) -> bool:
    """Return whether the clause only names one more thing for the list that was told before: "also milk"."""
    short = clause.words <= ADDED_WORDS and clause.due is None
    return short and bool(clause.stems) and not clause.cues & _SAYS_MORE and language.has("adds", clause.lower)


def put_added(
    note: Matter | LastingNote, clause: Clause, zone: str, language: Language, names: frozenset[str]
) -> PutRight | None:
    """Return the list with one more thing on it."""
    del zone, names
    due_at_ms, exact = (note.due_at_ms, note.due_exact) if isinstance(note, Matter) else (None, False)
    return PutRight(with_item(note.text, clause.text, language), due_at_ms, exact)
