"""The text of work by the clock: a title for lists, and the words that are put to the model. Pure."""

from __future__ import annotations

from memory.ledger.lines import CLAUSE_END, TITLE_CHARS
from memory.ledger.types import Note
from memory.ledger.views import is_work
from memory.text import shorten

TITLE_END = ": "
"""Between the title of work and the work."""
TITLE_WORDS = 4
"""What stands before a colon in more words begins a list: `Tell Ana what is on today: visits, deadlines …`."""


def entitled(title: str, work: str) -> str:
    """The text of a note that is work: `Bread history: Tell me one …`; work that begins with its title is as it was."""
    named = shorten(CLAUSE_END.sub(" ", title), TITLE_CHARS)
    is_there = work.casefold().startswith(f"{named}{TITLE_END}".casefold())
    return work if not named or is_there else f"{named}{TITLE_END}{work}"


def reworded(note: Note, text: str) -> str:
    """Another text for a note; work keeps its title where the new text brings none, which is a few words."""
    brings_one = 0 < len(title_in(text).split()) <= TITLE_WORDS
    return text if not is_work(note) or brings_one else entitled(title_in(note.text), text)


def title_in(text: str) -> str:
    """The title before the colon with which work begins; "" for none."""
    end = CLAUSE_END.search(text)
    return text[: end.start()].strip() if end and end[0] == TITLE_END and end.start() <= TITLE_CHARS else ""
