"""All languages that have a data file, and which one a text is in."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from memory.language.calendar import calendar_of
from memory.language.guess import LanguageGuess
from memory.language.language import NEVER, WORD, Language, parse_language

_DATA = Path(__file__).parent / "language_data"
_VOTE_WORDS = 60
"""How many words of a text vote about its language."""
_VOTE_CHARS = 600
"""What stands behind this many characters has no vote."""
_FOREIGN_CHARS = 80
"""A text in Cyrillic up to this length, in a talk in Russian, is in no other language."""
_SHORT_WORDS = 4
"""Texts up to this many words are too short for the library."""
_LAUGH_VOTES = 2
_NEAR_VOTES = 3
"""With so many votes a text of four words is in the language of the talk, though another has one more."""
_OWN_WORDS = 2
"""How many words a short text must have of a language's for those to count that it alone has."""
_SURE_SHARE = 0.45
"""Votes per word from which the vote is believed; a text in a language without a data file gets fewer."""


def _voices(languages: Iterable[Language]) -> dict[str, list[tuple[str, int]]]:
    """Return for each word the languages that it speaks for, by code, and how many votes it gives each."""
    voices: dict[str, list[tuple[str, int]]] = {}
    for language in languages:
        for word in language.vote_words | language.stop_words:
            voices.setdefault(word, []).append((language.code, 2 if word in language.vote_words else 1))
    return voices


def _owners(languages: Iterable[Language]) -> dict[str, str]:
    """Return the words that only one of the languages has, each with its code."""
    codes: dict[str, list[str]] = {}
    for language in languages:
        for word in language.vocabulary:
            codes.setdefault(word, []).append(language.code)
    return {word: found[0] for word, found in codes.items() if len(found) == 1}


def _of_the_folder() -> Iterator[Language]:
    for file in sorted(_DATA.glob("*.toml")):
        yield parse_language(tomllib.loads(file.read_text(encoding="utf-8")))


class Languages:
    """All languages that have a data file, and a cheap guess which one a text is in.

    They are read when the first of them is asked for: who only looks at what is stored doesn't wait for them.
    """

    def __init__(self, read: Callable[[], Iterable[Language]]) -> None:
        self._read = read
        self._bare: dict[str, Language] = {}

    @cached_property
    def _by_code(self) -> dict[str, Language]:
        return {language.code: language for language in self._read()}

    @cached_property
    def _voices(self) -> dict[str, list[tuple[str, int]]]:
        return _voices(self._by_code.values())

    @cached_property
    def _owners(self) -> dict[str, str]:
        return _owners(self._by_code.values())

    @staticmethod
    @lru_cache(maxsize=1)
    def load() -> Languages:
        """Return all languages of the data folder; read once per process."""
        return Languages(_of_the_folder)

    def __iter__(self) -> Iterator[Language]:
        return iter(self._by_code.values())

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes with a data file."""
        return tuple(self._by_code)

    def get(self, code: str | None) -> Language:
        """Return the language of the code; for an unknown code one that knows no words, never an error."""
        code = (code or "und").lower().partition("-")[0]
        return self._by_code.get(code) or self._bare.setdefault(code, Language(code=code))

    def detect(self, text: str, default: str = "en") -> Language:
        """Return the language of a text: frequent words vote first, a library is asked only when they do not decide.

        Text too short to tell is in the default language. Never raises.
        """
        text = text[:_VOTE_CHARS]
        words = WORD.findall(text.lower().replace("\u2019", "'"))[:_VOTE_WORDS]
        lower, short, laughs = text.lower(), len(words) <= _SHORT_WORDS, 0
        if short:
            lower, laughs = self._without_laugh(lower, default)
            words = WORD.findall(lower.replace("\u2019", "'"))
        votes = self._votes(words, lower)
        if short:
            votes = self._with_own_words(words, votes)
        if laughs:
            votes[default] += laughs
        leaders = _leaders(votes)
        if short and len(leaders) != 1 and default not in leaders:
            leaders = self._with_phrase(lower, votes, default) or leaders
        most = max(votes.values(), default=0)
        if short and (self._is_near(words, votes, default, most) or self._has_no_noun(text, leaders, votes, default)):
            return self.get(default)
        sure = short or most >= _SURE_SHARE * len(words)
        if sure and default in leaders:
            return self.get(default)
        if sure and len(leaders) == 1:
            close = {code for code, count in votes.items() if count == most - 1 and not short}
            guessed = _guess(text, leaders[0]) if close else leaders[0]
            return self.get(guessed if guessed in close else leaders[0])
        guessed = _guess(text, default)
        return self.get(default if guessed not in self._by_code and self._may_be(text, default) else guessed)

    def _is_near(self, words: Sequence[str], votes: Mapping[str, int], default: str, most: int) -> bool:
        """Return whether a few words that no language has alone speak nearly as much for the default."""
        near = len(words) == _SHORT_WORDS and votes.get(default, 0) >= max(_NEAR_VOTES, most - 1)
        return near and not any(word in self._owners for word in words)

    def _has_no_noun(self, text: str, leaders: Sequence[str], votes: Mapping[str, int], default: str) -> bool:
        """Return whether two small words lack the noun of a language that writes those large: "im kev", "im Bett"."""
        small = text.islower() and len(text.split()) == _OWN_WORDS
        return small and bool(votes.get(default)) and all(self._by_code[code].nouns_are_large for code in leaders)

    def _may_be(self, text: str, code: str) -> bool:
        """Return whether a short text in other letters than Latin ones is written in those of the language.

        Neighbours of a language are guessed too easily: "устала, на работе завал" was Bulgarian.
        """
        letters = {ch for ch in text.lower() if ch.isalpha()}
        return (
            len(text) < _FOREIGN_CHARS
            and not any("a" <= ch <= "z" for ch in letters)
            and letters <= self._letters(code)
        )

    def _letters(self, code: str) -> set[str]:
        """Return the letters of the small words of a language and of its months: few are in neither."""
        return set("".join((*self.get(code).stop_words, *calendar_of(code).months)).lower())

    def _with_own_words(self, words: Sequence[str], votes: Mapping[str, int]) -> dict[str, int]:
        """Return the votes with two more for each word that one language alone has, where it has another of them."""
        own = Counter(self._owners[word] for word in words if word in self._owners)
        voted = Counter(code for word in words for code, _ in self._voices.get(word, ()) if word not in self._owners)
        counts = {code: n for code, n in own.items() if n + voted[code] >= _OWN_WORDS}
        return {code: count + 2 * counts.get(code, 0) for code, count in votes.items()}

    def _without_laugh(self, lower: str, default: str) -> tuple[str, int]:
        """Return a short text without how people laugh in the default language, and the votes it gets for that.

        "Haha" is written in many of them: "haha ok" in a talk in German is no English.
        """
        laugh = self.get(default).cues.get("laugh", NEVER)
        return laugh.sub(" ", lower), _LAUGH_VOTES * bool(laugh.search(lower))

    def _with_phrase(self, lower: str, votes: Mapping[str, int], default: str) -> list[str]:
        """Return the language in which a short text holds a phrase like "done"; none unless it is a single one.

        Where some got votes it is one of those, at the beginning of the text. The default counts more than others.
        """
        voted = [code for code, count in votes.items() if count]
        spoken = [code for code in voted or self._by_code if _is_cue(lower, self._by_code[code], begins=bool(voted))]
        if default in spoken:
            return [default]
        return spoken if len(spoken) == 1 else []

    def _votes(self, words: Sequence[str], lower: str) -> dict[str, int]:
        """Count two for each frequent word, one for each other stop word, two for each sign that it alone has.

        Such are letters, endings, what is elided, and words that are of another language elsewhere ("hey im Dave").
        """
        votes = dict.fromkeys(self._by_code, 0)
        for word in words:
            for code, weight in self._voices.get(word, ()):
                votes[code] += weight
        heads = [word.partition("'")[0] for word in words if "'" in word]
        letters = frozenset(lower)
        for code, language in self._by_code.items():
            own = sum(head in language.elisions for head in heads) + len(language.letters & letters)
            own += bool(language.own_words.search(lower))
            votes[code] += 2 * (own + len(language.endings.findall(lower) if language.endings is not NEVER else ()))
        return votes

    @staticmethod
    def warm() -> None:
        """Load the model that is asked when votes do not decide; blocks for a second at its first use on a machine."""
        _library.load()


_SHORT_CUES = ("yes", "no", "thanks", "greeting", "done", "drop", "why", "forget", "imperative")


def _is_cue(text: str, language: Language, *, begins: bool) -> bool:
    """Return whether a text of a few words holds a phrase like "done" or "never mind", or begins with one."""
    patterns = (pattern for cue in _SHORT_CUES if (pattern := language.cues.get(cue)))
    return any(pattern.match(text) if begins else pattern.search(text) for pattern in patterns)


def _leaders(votes: Mapping[str, int]) -> list[str]:
    """Return the codes that have most votes, none when nobody voted."""
    most = max(votes.values(), default=0)
    return [code for code, count in votes.items() if count == most > 0]


_library = LanguageGuess()


def _guess(text: str, default: str) -> str:
    letters = sum(ch.isalpha() for ch in text)
    latin = sum("a" <= ch <= "z" for ch in text.lower())
    # Shorter texts are guessed wrong too often.
    if letters < (25 if latin * 2 > letters else 6):
        return default
    return _library.guess(text) or default
