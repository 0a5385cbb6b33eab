"""Passages of long texts: their beginnings, and the whole sentences that a passage is shown with. Pure."""

from __future__ import annotations

from collections.abc import Callable

from memory.search.retriever import PASSAGE_TERMS
from memory.search.terms import MAX_CHARS, MAX_TERMS, most_words, words_at, words_for
from memory.text import sentence_ends

CHARS_PER_WORD = 8
"""The characters that an excerpt may have for each of its words: a passage of code or of links stays short too."""
LEAD_CHARS = 160
"""A first sentence that begins at most so far before its passage is shown whole."""
LEAST_PART = 2
"""A cut at the end of a sentence leaves at least this part of the room; else it is made between two words."""
LITTLE_MORE = 1.25
"""A text that is longer by less than this is not cut."""


def passage_starts(text: str, code: str) -> list[int]:
    """Return the place in the text where each passage of indexed terms begins: 0, then none behind the indexed part."""
    if most_words(text) <= PASSAGE_TERMS:
        return [0]
    stop = words_for(code).stop
    starts, terms = [0], 0
    for word, at in words_at(text[:MAX_CHARS]):
        if word in stop:
            continue
        if terms and not terms % PASSAGE_TERMS:
            starts.append(at)
        terms += 1
        if terms == MAX_TERMS:
            break
    return starts


def excerpt(text: str, code: Callable[[], str], passage: int, most_words: int) -> str:
    """Return the text, or of a long one the sentences of a passage, about `most_words`, marked where it was cut.

    `code` is asked for the language in which a long text was indexed: the beginnings of its passages depend on it.
    """
    if len(text) <= most_words * CHARS_PER_WORD and len(text.split()) <= most_words * LITTLE_MORE:
        return text.strip()
    most_chars = most_words * CHARS_PER_WORD
    starts = passage_starts(text if passage else text[:most_chars], code())
    passage = min(passage, len(starts) - 1)
    begin = _sentence_begin(text, starts[passage])
    words = text[begin : begin + most_chars].split(" ")
    shown = " ".join(words[:most_words])
    after = starts[passage + 1] - begin if passage + 1 < len(starts) else len(shown)
    end = next(sentence_ends(shown, min(after, len(shown))), None)
    if end is None and begin + len(shown) < len(text.rstrip()):
        end = max(sentence_ends(shown, len(shown) // LEAST_PART), default=None)
    shown = shown[:end].strip()
    cut = begin + len(shown) < len(text.rstrip())
    return ("… " if begin else "") + shown + (" …" if cut else "")


def _sentence_begin(text: str, at: int) -> int:
    """Return the beginning of the sentence around a place, or the place itself when that is far before it."""
    ends = [*sentence_ends(text, max(0, at - LEAD_CHARS), at)]
    if ends:
        return at - len(text[ends[-1] : at].lstrip())
    return 0 if at <= LEAD_CHARS else at
