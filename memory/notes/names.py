"""Who is named in the turns: by large letters, by "Mr" and "Frau", by what somebody says or does. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.sentences import clean, lowered, words_of
from memory.notes.cutting import sentences_in
from memory.notes.reports import has_any
from memory.notes.telling import is_time_word
from memory.types import ConversationTurn

_CAPITAL = re.compile(r"(?<![.!?\u2026:\n«»„“”\"'(] )(?<![.!?\u2026\n])(?<=\s)([^\W\d_a-zß-öø-ÿа-яё][^\W\d_]{2,})")
_CODE = re.compile(r"```.*?(?:```|\Z)|\(\(|\)\)", re.DOTALL)
_BEHIND = re.compile(r"\.? (?P<name>[^\W\d_]{3,})")
_HEAD = re.compile(r"(?P<name>[^\W\d_a-zß-öø-ÿа-яё][^\W\d_]{2,}) (?P<rest>(?:\S+ ?){1,3})")
_ACTS = ("others", "tells")
_VOWEL = re.compile(r"[aeiouyà-öø-ÿаеёиоуыэюя]")
_WORDS = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")


def names_of(turns: Iterable[ConversationTurn], language: Language) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names in the turns, lower-cased: words that are written large in the middle of a sentence, and others.

    The assistant writes names large also for a person who writes everything small. Where all nouns are large, a word
    behind an article or an adjective is none.
    """
    found: set[str] = set()
    small: set[str] = set()
    used: set[str] = set()
    turns = list(turns)
    told = "\n".join(lowered(turn.user_text) for turn in turns)
    for turn in turns:
        small.update(word for word in _WORDS.findall(turn.assistant_text) if word.islower())
        used.update(words_of(lowered(turn.user_text)))
        for text in (turn.user_text, turn.assistant_text):
            plain = ". " + _CODE.sub(" ", clean(text))
            for match in _CAPITAL.finditer(plain):
                if not (language.nouns_are_large and _after_article(plain[: match.start()], language)):
                    found.add(lowered(match.group(1)))
    opening = {lowered(word) for turn in turns for word in _WORDS.findall(turn.assistant_text) if word[0].isupper()}
    guessed = {word for word in opening & used - found if _could_be_a_name(word, told, language)}
    return _names_among(found - small, language), _names_among(guessed - small, language)


def addressed_names(turns: Iterable[ConversationTurn], language: Language) -> frozenset[str]:
    """Return the names behind a "Mr" or "Frau", lower-cased: they are names however they are written."""
    told = "\n".join(lowered(turn.user_text) for turn in turns)
    behind = (_BEHIND.match(told, found.end()) for found in language.honorifics.finditer(told))
    return _names_among({found["name"] for found in behind if found}, language)


def leading_names(turns: Iterable[ConversationTurn], language: Language) -> frozenset[str]:
    """Return what may be names at the head of the person's sentences, lower-cased: "Ruben says", never seen small."""
    turns = list(turns)
    texts = "\n".join(f"{turn.user_text}\n{turn.assistant_text}" for turn in turns)
    small = {word for word in _WORDS.findall(texts) if word.islower()}
    heads = (_HEAD.match(part) for turn in turns for part in sentences_in(turn.user_text, language))
    found = {lowered(head["name"]) for head in heads if head and has_any(_ACTS, lowered(head["rest"]), language)}
    return _names_among(found - small, language)


def _names_among(words: set[str], language: Language) -> frozenset[str]:
    return frozenset(
        word for word in words if len(word) > 1 and word not in language.stop_words and not is_time_word(word, language)
    )


def _could_be_a_name(word: str, told: str, language: Language) -> bool:
    """Return whether a word with which the assistant began a sentence is not a plain word in the person's mouth."""
    plain = language.weak_endings and word.endswith(language.weak_endings)
    if plain or _VOWEL.search(word) is None:
        return False
    return not re.search(rf"(?<!\w)(?:{_articles()}) {re.escape(word)}(?!\w)", told)


@lru_cache(maxsize=1)
def _articles() -> str:
    """Return what no name stands behind, in any language."""
    return "|".join(sorted({article for language in Languages.load() for article in language.articles}))


def _after_article(before: str, language: Language) -> bool:
    return bool(words := words_of(lowered(before[-30:]))) and words[-1] in language.before_nouns
