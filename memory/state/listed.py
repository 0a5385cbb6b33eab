"""The list that was shown last, and which of its items a message points at: "the first one", "2 and 3", "all". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memory.language.language import Language
from memory.language.sentences import Sentence, lowered, plain_sentence, shorten
from memory.state.loops import alive, find, latest
from memory.types import ListedItem, OpenLoop, SessionState, ShownList

MAX_ITEMS: Final = 20
MAX_TEXT_CHARS: Final = 120
LISTED_TURNS: Final = 6
"""A list is spoken of for this many turns; later "the first one" means nothing any more."""
NEAR_TURNS: Final = 2
"""So many turns back something came up just now."""
REPLY_CHARS: Final = 4_000
_ITEM: Final = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*•])[ \t]+(\S.*)$", re.MULTILINE)


def show(state: SessionState, items: Sequence[ListedItem], at_ms: int) -> SessionState:
    """Return the state in which this is the list that was shown last; without items none was."""
    kept = tuple(item.model_copy(update={"text": shorten(item.text, MAX_TEXT_CHARS)}) for item in items[:MAX_ITEMS])
    listed = ShownList(items=kept, seq=state.last_seq, at_ms=at_ms) if kept else None
    return state.model_copy(update={"listed": listed})


def items_in(reply: str, loops: Sequence[OpenLoop], language: Language) -> tuple[ListedItem, ...]:
    """Return the items of a list in a reply, each with the open loop it speaks of; nothing for less than two."""
    texts = [found.strip() for found in _ITEM.findall(reply[-REPLY_CHARS:])][:MAX_ITEMS]
    if len(texts) < 2:  # noqa: PLR2004 - one line is no list
        return ()
    return tuple(_item(text, loops, language) for text in texts)


def _item(text: str, loops: Sequence[OpenLoop], language: Language) -> ListedItem:
    loop = find(alive(loops), plain_sentence(lowered(text), language).stems, language)
    return ListedItem(kind="loop" if loop else "other", ref=loop.loop_id if loop else "", text=text)


def shown_last(state: SessionState) -> tuple[ListedItem, ...]:
    """Return the items of the list that was shown last, in order; nothing when that is too long ago."""
    listed = state.listed
    return listed.items if listed and state.last_seq - listed.seq < LISTED_TURNS else ()


def numbers_in(sentence: Sentence, language: Language, around: frozenset[str] = frozenset()) -> tuple[int, ...]:
    """Return the places that a sentence points at (-1 = the last), nothing when it speaks of something by name.

    `around` are words that may stand beside the numbers, e.g. those of "is done".
    """
    found = [match for match in language.ordinal_pattern.finditer(sentence.lower) if _means_a_place(match, language)]
    said = frozenset(word for match in found for word in re.findall(r"[\w-]+", match.group()))
    if not found or any(word not in said | around for word in sentence.content):
        return ()
    words = (next(group for group in match.groups() if group) for match in found)
    return tuple(dict.fromkeys(language.ordinals[word] for word in words))


def _means_a_place(match: re.Match[str], language: Language) -> bool:
    """Return whether it is "the first", "2", "number two" and neither "that one" nor "done at last"."""
    said = match.group()
    if " " in said or said.isdecimal():
        return True
    return said not in language.time.get("numbers", {}) and (match.start() == 0 or said not in language.stop_words)


def meant(
    state: SessionState, loops: Sequence[OpenLoop], sentence: Sentence, reporting: frozenset[str], language: Language
) -> tuple[str, ...] | None:
    """Return the ids of the open loops that a report ("the first one is done", "all settled") points at.

    Nothing when it points at a place that no list has, or at all of several that were not shown: then nobody guesses.
    None when it points at no list.
    """
    items, living = shown_last(state), alive(loops)
    numbers = numbers_in(sentence, language, reporting)
    if language.has("all_of_them", sentence.lower):
        chosen = items or tuple(ListedItem(kind="loop", ref=loop.loop_id, text=loop.text) for loop in living[:1])
        return tuple(item.ref for item in chosen if item.kind == "loop") if items or len(living) == 1 else ()
    if not numbers:
        return None
    if _counts(sentence, language):
        return ()
    if not items and len(living) == 1 and set(numbers) <= {1, -1}:
        return (living[0].loop_id,)
    return tuple(item.ref for item in picked(items, numbers) if item.kind == "loop")


def asked_about(state: SessionState, loops: Sequence[OpenLoop], language: Language) -> OpenLoop | None:
    """Return the open loop that the last question was about ("did you call Ana?")."""
    if not state.pending_clarifications:
        return None
    return find(loops, plain_sentence(state.pending_clarifications[-1].question, language).stems, language)


def obvious(state: SessionState, loops: Sequence[OpenLoop], language: Language) -> OpenLoop | None:
    """Return the person's own matter that a bare "done!" means, None where nobody can tell.

    It is what was asked about, else what came up last and since the last list, else the only one on that list, or at
    all. What somebody else has to do is never over by it.
    """
    mine = [loop for loop in alive(loops) if loop.owner == "user"]
    asked = asked_about(state, mine, language)
    if asked:
        return asked
    shown = {item.ref for item in shown_last(state)}
    since = state.listed.seq if state.listed and shown else state.last_seq - NEAR_TURNS
    fresh = latest([loop for loop in mine if loop.opened_seq > since])
    left = [loop for loop in mine if loop.loop_id in shown] if shown else mine
    return fresh or (left[0] if len(left) == 1 else None)


def _counts(sentence: Sentence, language: Language) -> bool:
    """Return whether it speaks of "the first two"."""
    amounts = language.time.get("numbers", {})
    bare = [m.group() for m in language.ordinal_pattern.finditer(sentence.lower) if not _means_a_place(m, language)]
    return any(amounts.get(word, 0) > 1 for word in (*bare, *sentence.words) if not word.isdecimal())


def picked(items: Sequence[ListedItem], numbers: Sequence[int]) -> tuple[ListedItem, ...]:
    """Return the items at these places; nothing when one of the places is not on the list."""
    places = [number - 1 if number > 0 else len(items) + number for number in numbers]
    return tuple(items[place] for place in places) if all(0 <= place < len(items) for place in places) else ()
