"""Words, names and numbers of texts as they are compared, however they are written: no language is known. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Final

TIME: Final = re.compile(r"\b(\d{1,2})[.:](\d{1,2})\b")
"""A day or an hour, which may be written either way."""
_GAP: Final = r"[.,'\u2019 \u00a0\u202f]"
_NUMBER: Final = re.compile(rf"\d{{1,3}}(?: \d{{3}})+(?!\d)|\d+(?:(?! ){_GAP}\d+)*(?:[kK]\b)?")
_GROUPED: Final = re.compile(rf"\d{{1,3}}({_GAP})\d{{3}}(?:\1\d{{3}})*")
UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
"""Scripts that do not part their words."""
_WORD: Final = re.compile(r"[^\W_]+")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_BREAK: Final = re.compile(r"[.!?…:;()\[\]\"“”„«»*•\u2013\u2014-]+(?=\s|$)|[\"“”„«»(\[*•\n]+")

SOURCES_HELD: Final = 512
"""Turns and notes as they are compared: an answer is checked three times, and most of them are there the next time."""
NOUNS_SHARE: Final = 0.12
"""From this share of capitalised words inside sentences on, a language is taken to capitalise its nouns. Of six turns
in a row, answers or messages, .9 % of those in en, es, fr, it, pt, ru reach it, and of German answers 97 % (89 % reach
.16); of twelve .5 % and all (measured on 18 labelled conversations).
"""
SHORT_SHARE: Final = 0.16
"""The same for a text of fewer words than `LONG_WORDS`: one short answer with two names reaches .12."""
LONG_WORDS: Final = 60
NOUNS_WORDS: Final = 15
LONGER, REACH = 4, 2
ENDING, SHORTENED, JOINED = 4, 4, 4
"""So many letters a name may get at its end; so many are left of it at least where it is shortened; by so many at its
beginning, or one more at its end, a noun is known in another one.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A turn or a note, prepared for comparison with a change's words."""

    turn_ids: tuple[str, ...]
    values: frozenset[float]
    counts: frozenset[float]
    """Those of its numbers that are no part of a day or an hour: they can be added up."""
    words: frozenset[str]
    counted: frozenset[str]
    """Words that stand beside a number."""


@lru_cache(maxsize=SOURCES_HELD)
def source_of(text: str, turn_ids: tuple[str, ...]) -> Source:
    """The words and numbers of a text that rests on these turns."""
    counts = frozenset(value for _, value in numbers(TIME.sub(" ", text)))
    values = {value for _, value in numbers(text)}
    for a, b in TIME.findall(text):  # a day or an hour may be written either way
        values |= {float(a), float(b), float(f"{a}.{b}")}
    plain = plain_of(text)
    counted = frozenset(word for number in re.findall(r"\d+", plain) for word in beside(plain, number))
    return Source(turn_ids, frozenset(values), counts, frozenset(_LETTERS.findall(plain)), counted)


def numbers(text: str) -> Iterator[tuple[str, float]]:
    """Each number of a text with its value (`2,400`, `2.4k`, `2'400` are one); of a date `12.03.2026` each group."""
    for match in _NUMBER.finditer(unicodedata.normalize("NFKC", text)):
        written, value = match.group(), _value(match.group())
        yield from ((n, float(n)) for n in re.findall(r"\d+", written)) if value is None else ((written, value),)


def _value(written: str) -> float | None:
    plain = written.rstrip("kK")
    times = 1000 if plain != written else 1
    if _GROUPED.fullmatch(plain) and times == 1:
        return float(re.sub(r"\D", "", plain))
    *_, last = re.split(r"\D", plain)
    head, mark = plain[: -len(last) - 1], plain[-len(last) - 1 : -len(last)]
    if not head:
        return float(last) * times
    if mark not in ".," or not (head.isdecimal() or (_GROUPED.fullmatch(head) and mark not in head)):
        return None
    return float(re.sub(r"\D", "", head) + "." + last) * times


def beside(text: str, number: str) -> list[str]:
    """The word before and the one behind a number; a short one between is passed over."""
    before, _, behind = text.partition(number)
    sides = (reversed(_WORD.findall(before)[-REACH:]), _WORD.findall(behind)[:REACH])
    words = (next((word for word in side if len(word) >= LONGER and word.isalpha()), "") for side in sides)
    return [word for word in words if word]


def plain_of(text: str) -> str:
    """A text without case and accents: many leave them out."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def folded(text: str) -> str:
    """The words of a text alone: without case, accents, spacing and punctuation."""
    return " ".join(_WORD.findall(plain_of(text)))


def holds(text: str, span: str) -> bool:
    """Whether a folded text holds a folded span as words in a row; a script without case may not part its words."""
    is_cased = any(char.upper() != char.lower() for char in span)
    return f" {span} " in f" {text} " or (not is_cased and span.replace(" ", "") in text.replace(" ", ""))


def capitalised(text: str) -> list[str]:
    """The words that begin with a capital letter inside the sentences of a text; single letters are no names."""
    return [word for word in _inside(text) if word[0] != word[0].lower()]


def capitalises_nouns(text: str) -> bool:
    """Whether too many words inside the sentences of a text are capitalised to be names alone."""
    words = [word for word in _inside(text) if word != word.upper() or word == word.lower()]
    share = NOUNS_SHARE if len(words) >= LONG_WORDS else SHORT_SHARE
    return len(words) >= NOUNS_WORDS and sum(word != word.lower() for word in words) >= share * len(words)


def _inside(text: str) -> list[str]:
    sentences = (_LETTERS.findall(sentence)[1:] for sentence in _BREAK.split(text))
    return [word for sentence in sentences for word in sentence if len(word) > 1]


def has_name(words: Iterable[str], name: str) -> bool:
    """Whether a folded word begins as the name does, by its first max(3, n - 3) letters: "Tom" is no "tomorrow".

    Or a word shortens the name: "insta" for "Instagram".
    """
    plain = plain_of(name)
    start = plain[: max(3, len(name) - 3)]
    return any(
        (word.startswith(start) and len(word) <= len(name) + ENDING)
        or (len(word) >= max(SHORTENED, len(plain) / 2) and plain.startswith(word))
        for word in words
    )


def strange_to(words: Iterable[str], text: str, little: Collection[str] = ()) -> str:
    """The first word of four letters or more that is not among folded words, as `has_name` compares; "" for none.

    None of the `little` ones is. Of a script that does not part its words, four signs in a row that no word has.
    """
    held, plain = list(words), plain_of(text)
    signs = frozenset("".join(held))
    rows = ("".join(" " if sign in signs else sign for sign in run).split() for run in UNSPACED.findall(plain))
    longer = (word for word in _LETTERS.findall(UNSPACED.sub(" ", plain)) if len(word) >= LONGER)
    strange = (word for word in longer if word not in little and not has_name(held, word))
    return next(chain((row for each in rows for row in each if len(row) >= LONGER), strange), "")


def has_noun(words: Iterable[str], noun: str) -> bool:
    """Whether a folded word shares a part with a noun that a language may join of others: its beginning or its end.

    A short one may be the whole end of the other: `Weg` of "heimweg", "plan" of `Bauplan`.
    """
    plain = plain_of(noun)
    start, end = plain[:JOINED], plain[-JOINED - 1 :]
    return any(
        word.startswith(start) or word.endswith(end) or (len(word) >= JOINED and plain.endswith(word)) for word in words
    )
