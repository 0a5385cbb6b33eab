"""Lists in a sentence or two: "send the cards, order the rings and find a band", "need wipes. also milk". Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from memory.language.language import Language
from memory.language.sentences import content_words, lowered, stem_of, stems_of, words_of

_SENTENCES = re.compile(r"(?<=[.!?\u2026])\s+")
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_ITEMS_LEAST = 3
_ASIDE = re.compile(r" \([^()]*\)")
_ITEM_WORDS, _FIRST_WORDS = 9, 14
"""An item has a few words; before the first stands what is to be done with all ("I still have to")."""
_LED_WORDS, _THING_WORDS = 3, 2
"""Two are a list where something is to be done with both: "need to buy milk and bread"."""
ADDED_WORDS = 5
"""What is only added to a list has no more words: "oh and some milk too"."""
OWED = ("obligation", "takes_on")
"""Cues of what somebody has to do."""
_EDGE = " .,;:!"


class _List(NamedTuple):
    """Where the items of a list stand in a text, and what each names."""

    spans: tuple[tuple[int, int], ...] = ()
    items: tuple[frozenset[str], ...] = ()
    does_one: bool = False
    """True where one thing is to be done with all: "buy milk, eggs and bread"."""


def items_of(text: str, language: Language) -> tuple[frozenset[str], ...]:
    """Return the stems of each item of the first list in the text, "A, B and C" or "buy A and B"; empty without one.

    What is to be done with all of them is of none.
    """
    return _list_in(text, language).items


def covers_list(said: frozenset[str], text: str, language: Language) -> bool:
    """Return whether what was said speaks of each item of a list in the text; True where the text is no list."""
    return all(said & item for item in items_of(text, language))


def is_in_part(said: frozenset[str], items: tuple[frozenset[str], ...]) -> bool:
    """Return whether what was said speaks of some of the items and not of all."""
    spoken = [bool(said & item) for item in items]
    return any(spoken) and not all(spoken)


def speaks_of_some(said: str, text: str, language: Language) -> bool:
    """Return whether what was said speaks of an item of a list in the text, and not of each."""
    return is_in_part(stems_of(tuple(words_of(lowered(said))), language), items_of(text, language))


def without_items(text: str, done: Collection[int], said: frozenset[str], language: Language) -> str:
    """Return the text without the items of its list that are done, by their places; "" where none is left.

    `said` are the stems of the report: what stands before them in the first item is said of the whole list.
    """
    found = _list_in(text, language)
    kept = [text[slice(*span)] for place, span in enumerate(found.spans) if place not in done]
    lead = _lead(text[slice(*found.spans[0])], said, found, language) if 0 in done else ""
    tail = _tail(text, found, language) if len(found.spans) - 1 in done else ""
    return _written(text, found, kept, (lead, tail), language) if kept else ""


def with_item(text: str, item: str, language: Language) -> str:
    """Return the text with one more item: on its list, or behind the one thing that it says is to be done."""
    found = _list_in(text, language)
    if found.spans and text[found.spans[-1][1] :].strip(_EDGE):
        return f"{text.rstrip(_EDGE)}. {item}"
    found = found if found.spans else _List(((0, len(text)),), does_one=True)
    kept, tail = [text[slice(*span)] for span in found.spans], _tail(text, found, language)
    kept[-1] = kept[-1].rstrip(_EDGE).removesuffix(tail).rstrip()
    return _written(text, found, [*kept, item.strip(_EDGE)], ("", tail), language)


def _written(text: str, found: _List, items: list[str], ends: tuple[str, str], language: Language) -> str:
    """Return the text with other items, between what leads and what ends them all."""
    lead, tail = ends
    things = [_bare(each, language) if place or lead else each for place, each in enumerate(items)]
    listed = f" {language.conjunctions[0]} ".join(filter(None, (", ".join(things[:-1]), things[-1])))
    lead = _unrepeated(lead.split(), things[0].split())
    before, behind = text[: found.spans[0][0]].strip(), text[found.spans[-1][1] :]
    return " ".join(filter(None, (before, lead, listed, tail))) + behind


def _unrepeated(lead: list[str], first: list[str]) -> str:
    """Return the lead without the words that the first item has, too: "llamar a" of "a Luis"."""
    same = (many for many in range(len(lead), 0, -1) if lead[-many:] == first[:many])
    return " ".join(lead[: len(lead) - next(same, 0)])


@lru_cache(maxsize=1024)
def _list_in(text: str, language: Language) -> _List:
    """Return the first list of the text, an empty one without any; what stands in brackets is no part of it."""
    lower = _ASIDE.sub(lambda aside: " " * len(aside.group()), lowered(text))
    if not language.conjunctions or len(lower) != len(text):
        return _List()
    sentences = list(_spans(lower, 0, len(lower), _SENTENCES))
    for start, end in sentences:
        spans = tuple(_spans(lower, start, end, _joints(language)))
        if _is_list(lower, start, end, spans, language):
            return _listed(lower, spans, language)
    spans = tuple(_trimmed(lower, span) for span in sentences)
    return _listed(lower, spans, language) if _goes_on(lower, spans, language) else _List()


@lru_cache(maxsize=16)
def _joints(language: Language) -> re.Pattern[str]:
    return re.compile(rf",? (?:{'|'.join(map(re.escape, language.conjunctions))}) |, ")


@lru_cache(maxsize=16)
def _last_item(language: Language) -> re.Pattern[str]:
    return re.compile(rf" (?:{'|'.join(map(re.escape, language.conjunctions))}) [^,]*$")


def _spans(lower: str, start: int, end: int, joint: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield where the parts between the joints stand."""
    for found in joint.finditer(lower, start, end):
        yield start, found.start()
        start = found.end()
    yield start, end


def _trimmed(lower: str, span: tuple[int, int]) -> tuple[int, int]:
    return span[0], span[0] + len(lower[slice(*span)].rstrip(_EDGE))


def _is_list(lower: str, start: int, end: int, spans: tuple[tuple[int, int], ...], language: Language) -> bool:
    """Return whether the parts of a sentence are a list: with an "and" before the last, and few words in each."""
    words = [words_of(lower[slice(*span)]) for span in spans]
    led = len(words[0]) >= _LED_WORDS or is_owed(lower[slice(*spans[0])], language)
    two_things = led and len(content_words(words[-1], language)) <= _THING_WORDS
    two = two_things or _are_errands([lower[slice(*span)] for span in spans], language)
    pair = len(spans) == _ITEMS_LEAST - 1 and two
    if _last_item(language).search(lower[start:end]) is None or len(words[0]) > _FIRST_WORDS:
        return False
    return (pair or len(spans) >= _ITEMS_LEAST) and all(words) and all(len(each) <= _ITEM_WORDS for each in words[1:])


def _are_errands(parts: Sequence[str], language: Language) -> bool:
    """Return whether two parts are two things to do; whom one calls to ask something, one does not call twice."""
    to_do = [len(parts) == _ITEMS_LEAST - 1, is_owed(parts[0], language), language.has("errand", parts[-1])]
    if language.nouns_are_large:
        to_do.append(language.has("errand", parts[0]) and len(content_words(words_of(parts[0]), language)) > 1)
    return all(to_do) and not all(language.has("asks_somebody", part) for part in parts)


def _goes_on(lower: str, spans: tuple[tuple[int, int], ...], language: Language) -> bool:
    """Return whether the sentences are a list: something to be done, then "also milk", "and stamps"."""
    first, *more = [lower[slice(*span)] for span in spans]
    added = (language.has("adds", each) and len(words_of(each)) <= ADDED_WORDS for each in more)
    return bool(more) and is_owed(first, language) and all(added)


def is_owed(lower: str, language: Language) -> bool:
    """Return whether a lower-cased text says that something is to be done."""
    return any(language.has(cue, lower) for cue in OWED)


def _listed(lower: str, spans: tuple[tuple[int, int], ...], language: Language) -> _List:
    words = [words_of(lower[slice(*span)]) for span in spans]
    verbs = sum(any(_is_verb(word, language) for word in each) for each in words)
    each_does = verbs > 1 or _are_errands([lower[slice(*span)] for span in spans], language)
    if not each_does:
        words = [tuple(w for w in each if not _is_verb(w, language) or w == each[-1]) for each in words[:-1]] + words[
            -1:
        ]
        last = words[-1]
        words[-1] = tuple(w for w in last if w == last[0] or not _is_verb(w, language))
    return _List(spans, tuple(stems_of(each, language) for each in words), does_one=not each_does)


def _is_verb(word: str, language: Language) -> bool:
    """Return whether the word is what somebody does; where nouns end as verbs do, only verbs that are known are."""
    return word in language.bases.values() or (not language.nouns_are_large and language.has("errand", word))


def _lead(first: str, said: frozenset[str], found: _List, language: Language) -> str:
    """Return what the first item says of the whole list: "we need" of "we need milk", "I have to" of errands."""
    lower = lowered(first)
    owed = [hit.end() for hit in language.cues["obligation"].finditer(lower)] if "obligation" in language.cues else []
    if not found.does_one:
        return first[: max(owed, default=0)].strip()
    named = [word.start() for word in _WORD.finditer(lower) if stem_of(word.group(), language) in said & found.items[0]]
    words = first[: min(named, default=0)].split()
    while words and (lowered(words[-1]) in {*language.articles, *language.determiners} or words[-1].isdigit()):
        words.pop()
    return " ".join(words)


def _tail(text: str, found: _List, language: Language) -> str:
    """Return what the last item says of the whole list, where verbs come last: "kaufen" of "Brot kaufen"."""
    words = text[slice(*found.spans[-1])].rstrip(_EDGE).split()
    whole = language.nouns_are_large and found.does_one and len(words) > 1
    return words[-1] if whole and _is_verb(lowered(words[-1]), language) else ""


def _bare(item: str, language: Language) -> str:
    """Return an item without the "also" that adds it to the list."""
    lower = lowered(item)
    added = list(language.cues["adds"].finditer(lower)) if "adds" in language.cues and len(lower) == len(item) else []
    start = max((each.end() for each in added if not each.start()), default=0)
    end = min((each.start() for each in added if each.start()), default=len(item))
    rest = item[start:end].strip()
    return rest if content_words(words_of(lowered(rest)), language) else item
