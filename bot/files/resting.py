"""Notes that rest on a file: on the message that brought it, or on words that stand in it alone. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from bot.files.rows import StoredFile
from memory.ledger.types import Note
from memory.search.same_words import forms_of, telling_forms

LEAST_SHARED: Final = 2
"""Of the words of a note that nobody said, so many and half stand in the file. Of 26 notes of one person's week with
three files this named the four that came from one, and no other (November 2026)."""


def resting(notes: Iterable[Note], file: StoredFile, read: str, said: Mapping[str, str]) -> list[Note]:
    """The notes that rest on a file; `read` is its text with the answers about it, `said` people's words by turn.

    A note that was made of a message, but repeats words of the file, rests on both.
    """
    there = forms_of(read)
    later = (note for note in notes if note.said_at_ms >= file.received_at_ms and not note.is_forgotten)
    return [note for note in later if file.turn_id in note.turn_ids or _says_it(note, there, said)]


def _says_it(note: Note, there: frozenset[tuple[str, str]], said: Mapping[str, str]) -> bool:
    own = forms_of("\n".join(said.get(turn_id, "") for turn_id in note.turn_ids))
    unsaid = [forms for forms in telling_forms(note.text).values() if own.isdisjoint(forms)]
    shared = sum(not there.isdisjoint(forms) for forms in unsaid)
    return shared >= LEAST_SHARED and 2 * shared >= len(unsaid)
