"""A message taken apart: its clauses, and the explicit form that fits one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bot.matching import MAX_CHARS, Pattern, every, find, rewritten, whole, without
from bot.offline.times import SaidTime, moment_in
from bot.offline.words import Words
from memory.ledger.types import TO_DO, Kind

MOST_CLAUSES: Final = 12
MOST_WORDS: Final = 24
"""A longer clause says more than one thing: it is left in the log."""
PASTED_CHARS: Final = 700
"""Longer messages are most often somebody's text, not the person's words to the assistant."""
_QUOTED: Final = re.compile(r"(?s:```.*?(?:```|\Z))|^[ \t]*>[^\n]*$", re.MULTILINE)
SENTENCE_END: Final = re.compile(
    r"(?<![ap]\.m\.)(?<!\b\w\.)(?<!\b\d\d\.)(?<!\b[A-Z][a-z]\.)(?<!\b[A-Z][a-z][a-z]\.)(?<=[.!?\u2026])\s+|\n+"
)
"""The end of a sentence: not behind "12.", "a.m." or "Mrs."."""
_EDGES: Final = " \t\n.,;:!?-\u2013\u2014…\"'“”„«»()"
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_APOSTROPHES: Final = str.maketrans("\u2019\u02bc\u2018", "'''")
_PICTURES: Final = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
_SHORTEST: Final = 2
_STEM: Final = 3


@dataclass(frozen=True, slots=True)
class FormFound:
    """The note of one clause, by an explicit form."""

    kind: Kind
    text: str
    """As a friend would write it down."""
    subject: str = ""
    moment: SaidTime | None = None
    said: str = ""
    """The clause itself."""


def plain(text: str) -> str:
    """The text as it is read: straight apostrophes, no code, no quoted lines, at most 2,000 characters."""
    return _QUOTED.sub(" ", text.translate(_APOSTROPHES)[:MAX_CHARS])


def clauses(text: str, words: Words) -> list[str]:
    """The clauses of a plain text, in their order, without marks around them."""
    if len(text) > PASTED_CHARS:
        return []
    return list(_cut(text, words))[:MOST_CLAUSES]


def _cut(text: str, words: Words) -> Iterator[str]:
    begin, ends = 0, [mark for pattern in words.reads["split"] for mark in every(pattern, text)]
    for end in sorted(ends, key=lambda each: each.start()):
        if "?" not in end.group():
            yield from _bare(text[begin : end.start()])
        begin = end.end()
    yield from _bare(text[begin:])


def _bare(clause: str) -> Iterator[str]:
    clause = trimmed(clause)
    if clause and "?" not in clause:
        yield clause


def trimmed(text: str) -> str:
    """The text on one line, without pictures and marks at its ends."""
    return " ".join(_PICTURES.sub(" ", text).split()).strip(_EDGES)


def first_match(patterns: tuple[Pattern, ...], text: str) -> Mapping[str, str] | None:
    """The groups of the first pattern that fits the whole text; None when none does."""
    for pattern in patterns:
        if found := whole(pattern, text):
            return {name: value or "" for name, value in found.groupdict().items()}
    return None


def note_in(clause: str, words: Words, now_ms: int, zone: str) -> FormFound | None:
    """The note by the first form that fits a clause; None when none does, or the rest of it says nothing."""
    if len(clause.split()) > MOST_WORDS or any(find(pattern, clause) for pattern in words.reads["never"]):
        return None
    for form in words.forms:
        match = whole(form.pattern, clause)
        if match is None:
            continue
        groups = {name: trimmed(value or "") for name, value in match.groupdict().items()}
        if "no" in groups:
            groups["no"] = groups["no"] and f"{groups['no']} "
        what, moment = cut_value(groups.get("what", ""), words), None
        if form.kind in TO_DO:
            moment = moment_in(what, now_ms, zone, words.code)
            what = moment.rest_of(what) if moment else what
        groups["what"] = what = without_joints(what, words) if form.kind in TO_DO else what
        filled = said_back(form.text.format_map(groups), words)
        if len(what) < _SHORTEST or not (form.subject or says_something(filled, words)):
            return None
        subject = trimmed(form.subject.format_map(groups).lower())[:80]
        text = filled if form.kind in TO_DO else sentence(filled)
        return FormFound(form.kind, text, subject, moment, clause)
    return None


def cut_value(what: str, words: Words) -> str:
    """A value without a clause that goes on about it: "Rex and he is four" → "Rex"."""
    for pattern in words.reads["tail"]:
        what = trimmed(without(pattern, what, ""))
    return what


def without_joints(what: str, words: Words) -> str:
    """The matter without the words that only join it: "to call Ana, please" → "call Ana"."""
    for pattern in words.reads["joints"]:
        what = without(pattern, without(pattern, trimmed(what), ""), "")
    return trimmed(what)


def said_back(text: str, words: Words) -> str:
    """The text as it is said to the person: "my dog" → "your dog"."""
    for pattern, back in words.mirror:
        text = rewritten(pattern, text, back)
    return " ".join(text.split())


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "…")) else f"{text}."


def content_of(text: str, words: Words) -> list[str]:
    """The words of a text in small letters, without the common ones of the language."""
    said = (word.casefold() for word in _WORD.findall(text.translate(_APOSTROPHES)))
    return list(dict.fromkeys(word for word in said if word not in words.common and (len(word) > 1 or word.isdigit())))


def says_something(text: str, words: Words) -> bool:
    """Whether more than common words stand in it."""
    return bool(content_of(text, words))


def akin(one: str, other: str) -> bool:
    """Whether two words are forms of one: they begin alike for all but their last letters."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if short.isdigit() or len(short) < _STEM or len(long) - len(short) > _STEM:
        return False
    alike = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return alike >= max(_STEM, len(short) - 2)


def shared(one: list[str], other: list[str]) -> int:
    """The number of words of the first with one akin in the second."""
    return sum(any(akin(word, each) for each in other) for word in one)
