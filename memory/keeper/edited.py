"""Notes whose message was edited: in doubt until it is read again, gone once it is answered again."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final
from unicodedata import category, normalize

from memory.keeper.wording import numbers
from memory.ledger.series import local_of
from memory.ledger.types import Change, End, Ledger, Note, NoteChange, Operation
from memory.search.same_words import Forms, forms_of
from memory.text import asks_at_the_end

TIMES: Final = frozenset({
    "due_at_ms", "due_exact", "ends_at_ms", "lasts_ms", "rings_from", "repeats", "rings_at_ms", "time_zone",
    "occurrences", "rings_again_min",
})  # fmt: skip
"""The fields that say when."""

SLIP_CHARS: Final = 5
"""A shorter word with another letter is mostly another word ("can", "cat"; "mars", "mais")."""
_NOON: Final = 12
_CLAUSE: Final = re.compile(r"(?<=[.,;:!?\u2026])\s+|(?<=[\u3001\u3002\uff01\uff0c\uff1b\uff1f])|\n+")
_FIGURES: Final = re.compile(r"[-+\u2212]?\d(?:[\d.,:'\u2019/-]*\d)?")


def says_the_same(old: str, new: str) -> bool:
    """Whether an edit only changes case, spacing and punctuation, or puts a slip of one letter right, in any language.

    A figure that changes, a name, a question that becomes none, a short word: each says something else.
    """
    old, new = normalize("NFKC", old), normalize("NFKC", new)
    if asks_at_the_end(old) != asks_at_the_end(new) or _FIGURES.findall(old) != _FIGURES.findall(new):
        return False
    before, after = _words(old), _words(new)
    if "".join(before).casefold() == "".join(after).casefold():
        return True
    pairs = zip(before, after, strict=False)
    return len(before) == len(after) and all(_is_slip(a, b) for a, b in pairs if a.casefold() != b.casefold())


def _words(text: str) -> list[str]:
    """The words without their punctuation; signs that mean something (\u20ac, an emoji) are kept."""
    bare = ("".join(char for char in word if category(char)[0] != "P") for word in text.split())
    return [word for word in bare if word]


def _is_slip(old: str, new: str) -> bool:
    """Whether one letter behind the first differs, is missing, is too much, or two are swapped; no name, no figure.

    Only in scripts with small and capital letters: elsewhere one sign may be a word.
    """
    pair = (old, new)
    if any(len(word) < SLIP_CHARS or not word.isalpha() or not word.islower() for word in pair) or old[0] != new[0]:
        return False
    head = next((n for n, (a, b) in enumerate(zip(*pair, strict=False)) if a != b), min(map(len, pair)))
    a, b = old[head:], new[head:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])


def doubted(ledger: Ledger, turn_id: str, old: str, new: str, said: Mapping[str, str]) -> list[Change]:
    """The operations that mark notes as doubtful whose words in a message were changed by an edit.

    A note is borne out by the clauses that share a word with its text, or with the words `said` for it (by the note's
    id). It is doubtful where one of them is gone, or a new one speaks of the same. A clause that is gone and bears out
    no note ("on Thursday:") may be about each of them; so may any that is gone, where nothing bears a note out, unless
    a number went ("5.30") that is none of the note's.
    """
    notes = _resting(ledger, turn_id)
    before, after = (_CLAUSE.split(text) for text in (old, new))
    gone, come = _changed(before, after)
    words = {note.number: forms_of(f"{note.text} {said.get(note.note_id, '')}") for note in notes}
    borne = {each for each in words if any(not words[each].isdisjoint(forms_of(clause)) for clause in before)}
    is_loose = _is_loose(gone, words.values())
    went = _values_of(old) - _values_of(new)

    def in_doubt(note: Note) -> bool:
        if gone and note.number not in borne and not (went and went.isdisjoint(_figures_of(note))):
            return True
        return any(not words[note.number].isdisjoint(each) for each in (*gone, *come))

    certain = (note for note in notes if not note.doubtful)
    return [Change(number=each.number, fields={"doubtful": True}) for each in certain if is_loose or in_doubt(each)]


def _values_of(text: str) -> set[float]:
    return {value for _, value in numbers(text)}


def _figures_of(note: Note) -> set[float]:
    """The numbers of a note: those of its text, and the days and hours of its times, on a clock of twelve, too."""
    due = "" if note.due_at_ms is None else local_of(note.due_at_ms, note.time_zone)
    found = _values_of(note.text)
    for at in filter(None, (note.rings_from, due)):
        day, hour = int(at[8:10]), int(at[11:13])
        found |= {day, hour, hour % _NOON, float(f"{hour}.{at[14:16]}"), float(f"{hour % _NOON}.{at[14:16]}")}
    return found


def _changed(before: Sequence[str], after: Sequence[str]) -> tuple[list[Forms], list[Forms]]:
    """The words of the clauses that are gone and of those that came, without those that say the same."""
    gone, come = list[Forms](), list[Forms]()
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        pairs = zip_longest(before[a:b], after[c:d], fillvalue="") if tag != "equal" else ()
        for old, new in pairs:
            if not says_the_same(old, new):
                gone += [forms_of(old)] if old.strip() else []
                come += [forms_of(new)] if new.strip() else []
    return gone, come


def _is_loose(gone: Sequence[Forms], borne_out: Collection[Forms]) -> bool:
    """Whether a clause that is gone bears out none of these: it may be about each of them."""
    return any(all(own.isdisjoint(clause) for own in borne_out) for clause in gone)


def still_told(texts: Sequence[str], old: str, new: str) -> list[str]:
    """The texts that say nothing of the words that an edit changed in a message on which some of them rest.

    They rest on it as notes do; where none shares a word with it nobody can tell which does, and none is left.
    """
    before, after = (_CLAUSE.split(text) for text in (old, new))
    gone, come = _changed(before, after)
    words = {text: forms_of(text) for text in texts}
    is_loose = _is_loose(gone, words.values())
    changed = [*gone, *come, *(map(forms_of, before) if is_loose else ())]
    left = [text for text in texts if all(words[text].isdisjoint(clause) for clause in changed)]
    return left if len(left) < len(texts) else []


def settled(
    ledger: Ledger, turn_ids: Collection[str], left: Collection[int], texts: Mapping[str, str]
) -> list[Operation]:
    """Operations by which notes in doubt hold again, with the words as they are now, and `left` as they are.

    What is still to ring holds again once somebody says when: silence may only mean that its hour was not thought of.
    So does a note with another number than its messages, of which `texts` are the present words by turn.
    """
    return [
        Change(number=note.number, fields={"doubtful": False})
        for note in ledger
        if note.is_open
        and note.doubtful
        and note.number in left
        and not set(turn_ids).isdisjoint(note.turn_ids)
        and note.rings_at_ms is None
        and not _tells_another_number(note, texts)
    ]


def _tells_another_number(note: Note, texts: Mapping[str, str]) -> bool:
    """Whether a number of a note stands in none of its messages any more, and another one stands there."""
    if not texts.keys() >= set(note.turn_ids):
        return False
    own = _values_of(note.text)
    now = set[float]().union(*(_values_of(texts[turn_id]) for turn_id in note.turn_ids))
    return bool(own - now and now - own)


def undoable(changes: Sequence[NoteChange], since: Sequence[NoteChange]) -> list[NoteChange]:
    """The changes of an edited message that are taken back: a day and its ring together, or neither.

    Where somebody moved a note after the message did, its times stay as they stand now. `since` are the changes of the
    ledger from the first of these on.
    """
    own = {(change.number, change.version) for change in changes}
    last = {change.number: change.version for change in sorted(changes, key=lambda each: each.version)}
    moved = {
        each.number
        for each in since
        if (each.number, each.version) not in own
        and each.version > last.get(each.number, each.version)
        and not TIMES.isdisjoint(each.after)
    }
    return [each for each in changes if each.number not in moved or TIMES.isdisjoint(each.after)]


def withdrawn(ledger: Ledger, turn_id: str, changes: Sequence[NoteChange]) -> list[Operation]:
    """The operations once it is answered again: notes on it alone go, notes that others bear out hold again.

    One that still rings as the message before had it, by `changes` that could not be taken back, stays in doubt.
    """
    rang = {each.number: each.after["rings_from"] for each in changes if "rings_from" in each.after}
    found: list[Operation] = []
    changed = {each.number for each in changes}  # what was put back need not rest on it any more
    for note in ledger:
        if not note.is_open or (turn_id not in note.turn_ids and note.number not in changed):
            continue
        if set(note.turn_ids) == {turn_id} and note.source in {"keeper", "offline", "model"}:
            found.append(End(number=note.number, how="dropped"))
        elif note.doubtful and (note.rings_at_ms is None or rang.get(note.number) != note.rings_from):
            found.append(Change(number=note.number, fields={"doubtful": False}))
    return found


def _resting(ledger: Ledger, turn_id: str) -> list[Note]:
    return [note for note in ledger if note.is_open and turn_id in note.turn_ids]
