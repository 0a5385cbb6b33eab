"""Languages of the search: stemming, stop words, and a cheap guess at the language of a text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import local
from typing import Any, Final
from unicodedata import combining, normalize

import snowballstemmer

from memory.search.guess import LanguageGuess
from memory.text import words_of

UNDETERMINED: Final = "und"
"""The code of a language that is not known."""
_DATA: Final = Path(__file__).with_name("languages.toml")
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_VOTE_WORDS: Final = 60
"""The words of a text that vote about its language."""
_VOTE_CHARS: Final = 600
"""Text behind this many characters has no vote."""
_SHORT_WORDS: Final = 4
"""A text of so few words stays in the language of the talk where that got nearly as many votes as another."""
_NEAR: Final = 1
_SURE_SHARE: Final = 0.45
"""Votes per word from which the vote is believed; a text in a language without data gets fewer."""
_MIN_WORD_CHARS: Final = 2
_LATIN_LETTERS, _OTHER_LETTERS = 25, 6
"""Texts with fewer letters are guessed wrong too often."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """One language; empty for one without data, so that every word counts as it is written.

    Each is loaded once and compared by identity, so that it can key a cache.
    """

    code: str
    name: str = ""
    stemmer: str = ""
    stop_words: frozenset[str] = frozenset()
    vote_words: frozenset[str] = frozenset()
    letters: frozenset[str] = frozenset()
    """Letters that this language alone uses among those with data."""
    alphabet: frozenset[str] = frozenset()
    """All of its letters, where its neighbours have nearly the same and are guessed too easily."""
    clitics: tuple[str, ...] = ()
    """Letters behind an apostrophe that are no word, e.g. the `ll` of `I'll`."""
    elisions: frozenset[str] = frozenset()
    """Letters before an apostrophe that are no word, e.g. the `l` of `l'hôtel`."""

    def stem(self, word: str) -> str:
        """The stem of a lower-cased word, or the word where no stemmer is known."""
        return _stem(self.stemmer, word) if self.stemmer else word

    def content(self, text: str) -> tuple[str, ...]:
        """The words of a lower-cased text that carry meaning, in order: no stop words, no single letters."""
        plain = (self._without_elision(word) for word in words_of(text))
        return tuple(w for w in plain if len(w) >= _MIN_WORD_CHARS and w.partition("'")[0] not in self.stop_words)

    def stems(self, text: str) -> frozenset[str]:
        """The stems of its content words, without accents and possessive endings."""
        return frozenset(_bare(self.stem(word.removesuffix("'s"))) for word in self.content(text))

    def may_spell(self, text: str) -> bool:
        """Whether a text is written in no letters but those of its alphabet."""
        return {ch for ch in text.lower() if ch.isalpha()} <= self.alphabet

    def _without_elision(self, word: str) -> str:
        head, mark, tail = word.partition("'")
        return tail if mark and head in self.elisions else word


def _bare(stem: str) -> str:
    return stem if stem.isascii() else "".join(c for c in normalize("NFD", stem) if not combining(c))


class _Stemmers(local):
    """The stemmers of one thread: they keep their place in the word while they work."""

    def __init__(self) -> None:
        self.by_name: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        if name not in self.by_name:
            self.by_name[name] = snowballstemmer.stemmer(name)
        return self.by_name[name]


_stemmers = _Stemmers()


@lru_cache(maxsize=20_000)
def _stem(name: str, word: str) -> str:
    return str(_stemmers.get(name).stemWord(word))


def _of_the_file() -> Iterator[Language]:
    for code, data in tomllib.loads(_DATA.read_text(encoding="utf-8")).items():
        yield Language(
            code=code,
            name=data["name"],
            stemmer=data.get("stemmer", ""),
            stop_words=frozenset(data["stop_words"].split()),
            vote_words=frozenset(data["vote_words"].split()),
            letters=frozenset(data.get("letters", "")),
            alphabet=frozenset(data.get("alphabet", "")),
            clitics=tuple(data.get("clitics", "").split()),
            elisions=frozenset(data.get("elisions", "").split()),
        )


class Languages:
    """All languages with data. They are read when the first of them is asked for."""

    def __init__(self, read: Callable[[], Iterable[Language]]) -> None:
        self._read = read
        self._bare: dict[str, Language] = {}

    @cached_property
    def _by_code(self) -> dict[str, Language]:
        return {language.code: language for language in self._read()}

    @cached_property
    def _voices(self) -> dict[str, list[tuple[str, int]]]:
        """Word → the languages that it votes for, and its votes for each."""
        voices: dict[str, list[tuple[str, int]]] = {}
        for language in self._by_code.values():
            for word in language.vote_words | language.stop_words:
                voices.setdefault(word, []).append((language.code, 2 if word in language.vote_words else 1))
        return voices

    @staticmethod
    @lru_cache(maxsize=1)
    def load() -> Languages:
        """All languages of the data file; read once per process."""
        return Languages(_of_the_file)

    def __iter__(self) -> Iterator[Language]:
        return iter(self._by_code.values())

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of those with data."""
        return tuple(self._by_code)

    def get(self, code: str | None) -> Language:
        """The language of the code; for an unknown code one that knows no words, never an error."""
        code = (code or UNDETERMINED).lower().partition("-")[0]
        return self._by_code.get(code) or self._bare.setdefault(code, Language(code=code))

    def detect(self, text: str, default: str = "en") -> Language:
        """The language of a text: frequent words vote first, a model is asked only when they do not decide.

        Text too short to tell is in the default language. Never raises.
        """
        text = text[:_VOTE_CHARS]
        lower = text.lower()
        words = _WORD.findall(lower.replace("\u2019", "'"))[:_VOTE_WORDS]
        votes = self._votes(words, lower)
        most = max(votes.values(), default=0)
        leaders = [code for code, count in votes.items() if count == most > 0]
        short = len(words) <= _SHORT_WORDS
        sure = short or most >= _SURE_SHARE * len(words)
        if sure and (default in leaders or (short and votes.get(default, 0) >= max(1, most - _NEAR))):
            return self.get(default)
        if sure and len(leaders) == 1:
            near = {code for code, count in votes.items() if count >= most - _NEAR}
            guessed = _guess(text, leaders[0]) if len(near) > 1 and not short else leaders[0]
            return self.get(guessed if guessed in near else leaders[0])
        guessed = _guess(text, default)
        stays = guessed not in self._by_code and self.get(default).may_spell(text)
        return self.get(default if stays else guessed)

    def _votes(self, words: Sequence[str], lower: str) -> Mapping[str, int]:
        """Two for each frequent word, one for each other stop word, two for each letter or elision it alone has."""
        votes = dict.fromkeys(self._by_code, 0)
        for word in words:
            for code, weight in self._voices.get(word, ()):
                votes[code] += weight
        heads = [word.partition("'")[0] for word in words if "'" in word]
        letters = frozenset(lower)
        for code, language in self._by_code.items():
            votes[code] += 2 * len(language.letters & letters)
            if heads:
                votes[code] += 2 * sum(head in language.elisions for head in heads)
        return votes

    @staticmethod
    def warm() -> None:
        """Load the model that is asked when votes do not decide; blocks for a second at its first use on a machine."""
        _library.load()


_library = LanguageGuess()


def _guess(text: str, default: str) -> str:
    letters = sum(ch.isalpha() for ch in text)
    latin = sum("a" <= ch <= "z" for ch in text.lower())
    if letters < (_LATIN_LETTERS if latin * 2 > letters else _OTHER_LETTERS):
        return default
    return _library.guess(text) or default
