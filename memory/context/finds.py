"""Finds as the prompt tells them: above the floor of relevance, each joined with the note that rests on it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from memory.context.notes_block import Block, Since, newest_form
from memory.ledger.lines import model_line
from memory.ledger.types import Ledger, Note
from memory.ledger.views import Scope, belongs, worth
from memory.types import RetrievedItem

MAX_FINDS: Final = 12
FLOOR: Final = 0.15
"""Of the message's words, by what they are worth, the closest find and its neighbours hold so much at least; else
nothing in the past bears on it. Fitted: `docs/explanation/search.md` says the curve."""
BEST: Final = 6
"""Above the floor so many finds are told, in their order."""
LATER_SHARE: Final = 0.02
"""What a find behind them has to hold itself."""
NOTES_OF_A_FIND: Final = 2
"""At most this many notes are told with the message that they rest on."""


def relevant(found: Sequence[RetrievedItem]) -> list[RetrievedItem]:
    """The finds that bear on the message, in their order; none of a message that nothing bears on.

    A long message, or one of words that everybody says, shares little of what it says with anything before; a question
    for something shares much with the place where it was said.
    """
    if max((item.share for item in found), default=0.0) < FLOOR:
        return []
    return [item for n, item in enumerate(found[:MAX_FINDS]) if n < BEST or item.share >= LATER_SHARE]


def with_notes(
    found: Sequence[RetrievedItem],
    ledger: Ledger,
    scope: Scope,
    known: tuple[Block, Since],
    *,
    now_ms: int,
    zone: str,
) -> list[RetrievedItem]:
    """The finds, each with the notes that rest on it, in their newest form.

    A note that the prompt tells elsewhere, or with a find before, is named by its number alone.
    """
    if not found:
        return []
    of_turn = _by_turn(ledger, scope, {item.ref for item in found}, now_ms)
    block, since = known
    told = {*block.lines, *since.numbers}
    joined: list[RetrievedItem] = []
    for item in found:
        words: list[str] = []
        for note in of_turn.get(item.ref, ())[:NOTES_OF_A_FIND]:
            words.append(f"#{note.number}" if note.number in told else model_line(note, now_ms, zone))
            told.add(note.number)
        joined.append(item.model_copy(update={"note": "; ".join(words)}) if words else item)
    return joined


def _by_turn(ledger: Ledger, scope: Scope, turn_ids: Collection[str], now_ms: int) -> Mapping[str, list[Note]]:
    """The notes that rest on each of these turns, each in its newest form, what stands and matters most first."""
    of_turn: dict[str, dict[int, Note]] = {}
    for note in ledger:
        on = [turn_id for turn_id in note.turn_ids if turn_id in turn_ids]
        if not on:
            continue
        newest = newest_form(note, ledger)
        if newest.status == "dropped" or not belongs(newest, scope):
            continue
        for turn_id in on:
            of_turn.setdefault(turn_id, {})[newest.number] = newest
    return {
        turn_id: sorted(notes.values(), key=lambda note: (not note.is_open, -worth(note, now_ms), note.number))
        for turn_id, notes in of_turn.items()
    }
