"""Where a session stands, without the sentences that the notes contradict since: no view says two things. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from memory.context.repeats import speaks_of, word_keys
from memory.keeper.session_lines import SessionLine
from memory.ledger.past import as_of
from memory.ledger.types import Ledger, Note, NoteChange

_SENTENCE: Final = re.compile(r"(?<=[.!?…])[\"')\]»”]*\s+|(?<=[\u3002\uff01\uff1f])|\n+")
_SHORT_END: Final = re.compile(r"(?:^|\s)\w{1,2}\.$")
"""A stop behind one or two letters ends no sentence: "M. Bouvet", "le 3. Stock"."""


def standing_now(
    line: SessionLine, ledger: Ledger, changes: Sequence[NoteChange], forgotten: Iterable[str] = ()
) -> str:
    """The sentences of a session's standing that hold still; "" when none does.

    Of `changes`, the latest of the ledger, those that came after the line was written tell which notes it may rest on
    that read otherwise now; `forgotten` are the words of notes that nobody may be told any more. A sentence that speaks
    of one of them is left out: how it stands now the notes tell.
    """
    old = [word_keys(text) for text in (*forgotten, *_outdated(line, ledger, changes))]
    kept = [each for each in sentences(line.standing) if not any(speaks_of(word_keys(each), keys) for keys in old)]
    return " ".join(kept)


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    found: list[str] = []
    for part in _SENTENCE.split(text):
        if found and _SHORT_END.search(found[-1]):
            found[-1] += f" {part}"
        elif part.strip():
            found.append(part.strip())
    return found


def _outdated(line: SessionLine, ledger: Ledger, changes: Sequence[NoteChange]) -> Iterable[str]:
    """The notes as they were when the line was written, where they read otherwise now or are no more."""
    later = [change for change in changes if change.at_ms > line.written_at_ms and change.version <= ledger.version]
    then = as_of(ledger, later) if later else ledger
    for number in {change.number for change in later}:
        note, now = then.find(number), ledger.find(number)
        if note is not None and note.is_open and not _is_same(note, now):
            yield note.text


def _is_same(note: Note, now: Note | None) -> bool:
    """Whether a note still says what it said; that it rings or was put off says nothing else."""
    return now is not None and (now.text, now.due_at_ms, now.status) == (note.text, note.due_at_ms, note.status)
