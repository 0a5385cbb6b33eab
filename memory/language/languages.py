"""Languages as data from `language_data/*.toml`: stop words, cues, time words; and which language a text is in."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from pathlib import Path
from threading import local
from typing import Any
from unicodedata import combining, normalize

import snowballstemmer

from memory.language.guess import LanguageGuess

_DATA = Path(__file__).parent / "language_data"
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_NEVER = re.compile(r"(?!)")
_LARGE_WORD = r"[^\W\d_a-zß-öø-ÿа-яё][\w'-]*"
LARGE_NAME = rf"{_LARGE_WORD}(?: {_LARGE_WORD}){{0,2}}"
"""Up to three words with a capital."""
_VOTE_WORDS = 60
"""How many words of a text vote about its language."""
_VOTE_CHARS = 600
"""What stands behind this many characters has no vote."""
_FOREIGN_CHARS = 80
"""A text in Cyrillic up to this length, in a talk in Russian, is in no other language."""
_SHORT_WORDS = 4
"""Texts up to this many words are too short for the library."""
_OWN_WORD_CHARS = 4
"""Shorter pieces of a data file are seldom words."""
_OWN_WORDS = 2
"""How many words a short text must have of a language's for those to count that it alone has."""
_SURE_SHARE = 0.45
"""Votes per word from which the vote is believed; a text in a language without a data file gets fewer."""


def cue_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return one pattern that finds any of the phrases at word borders; without phrases one that finds nothing."""
    parts = sorted(phrases, key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(parts) + r")(?!\w)") if parts else _NEVER


class _Patterns(Mapping[str, re.Pattern[str]]):
    """Named patterns, each compiled when it is first asked for: start-up does not pay for languages nobody speaks."""

    def __init__(self, phrases: Mapping[str, Iterable[str]]) -> None:
        self._phrases = phrases
        self._compiled: dict[str, re.Pattern[str]] = {}

    def __getitem__(self, name: str) -> re.Pattern[str]:
        if name not in self._compiled:
            self._compiled[name] = cue_pattern(self._phrases[name])
        return self._compiled[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._phrases)

    def __len__(self) -> int:
        return len(self._phrases)


@dataclass(frozen=True, slots=True)
class FactRule:
    """How people of this language state a fact: a pattern with named groups, what it is about, and how sure it is."""

    source: str
    """The pattern as text."""
    subject: str
    """Template over the groups, e.g. `user.{thing}.name`; two facts with one subject compete."""
    kind: str
    score: float

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled when it is first needed."""
        return _fact_pattern(self.source)


@lru_cache(maxsize=512)
def _fact_pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OutcomeRule:
    """How a kind of matter turns out: what is said without naming it ("passed!"), and what the matter speaks of."""

    said: re.Pattern[str]
    of: re.Pattern[str]


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """What the memory knows of one language; empty for a language without a data file, so that nothing matches.

    Each is loaded once and compared by identity, so that it can key a cache.
    """

    code: str
    name: str = ""
    stop_words: frozenset[str] = frozenset()
    vote_words: frozenset[str] = frozenset()
    letters: frozenset[str] = frozenset()
    """Letters that this language alone uses among those with a data file."""
    cues: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    reference_pattern: re.Pattern[str] = _NEVER
    ordinals: Mapping[str, int] = field(default_factory=dict)
    ordinal_pattern: re.Pattern[str] = _NEVER
    actions: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    families: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    """Nouns and verbs that speak of the same ("wedding", "get married"), by a name that all languages have."""
    facts: tuple[FactRule, ...] = ()
    outcomes: tuple[OutcomeRule, ...] = ()
    time: Mapping[str, Any] = field(default_factory=dict)
    stemmer: str = ""
    weak_endings: tuple[str, ...] = ()
    """Endings of words that seldom name a topic."""
    clitics: tuple[str, ...] = ()
    """What may stand behind an apostrophe without being a word, e.g. the `ll` of `I'll`."""
    bases: Mapping[str, str] = field(default_factory=dict)
    """Forms of verbs that share no stem with their base: "rang" is of "ring"."""
    titles: tuple[str, ...] = ()
    """What stands before a name and ends with a full stop that ends no sentence."""
    honorifics: re.Pattern[str] = _NEVER
    """What stands before the name of a person, however that is written ("mr okafor")."""
    articles: tuple[str, ...] = ()
    """What stands before a plain word, seldom before a name."""
    conjunctions: tuple[str, ...] = ()
    """What stands before the last item of a list: "and"."""
    determiners: frozenset[str] = frozenset()
    """What the name of a thing stands behind: articles, "my", in a language without articles prepositions."""
    title_joints: frozenset[str] = frozenset()
    """What joins the words that name one thing: "curso de alongamento"."""
    elisions: frozenset[str] = frozenset()
    """What may stand before an apostrophe without being a word, e.g. the `l` of `l'hôtel`."""
    endings: re.Pattern[str] = _NEVER
    """What ends words in this language alone, e.g. the `-me` of `lembra-me`."""
    own_words: re.Pattern[str] = _NEVER
    """What only this language has among words that are of another elsewhere: the `im` of "hey im Dave"."""
    nouns_are_large: bool = False
    """True where every noun begins with a capital, so that one is no sign of a name."""
    ordinals_have_dots: bool = False
    """True where a full stop behind a number makes it an ordinal ("am 3. Mai")."""
    before_nouns: frozenset[str] = frozenset()
    """Articles and the like, behind which a word that is written large there is a noun."""
    spelling: Mapping[str, str] = field(default_factory=dict)
    """How people write on a phone (a pattern) and what it stands for."""
    accents: Mapping[str, str] = field(default_factory=dict)
    """Words as they are written without accents, and with them."""
    missed_accents: Mapping[str, str] = field(default_factory=dict)
    """Those that are put right in every text ("amanha")."""
    vocabulary: frozenset[str] = frozenset()
    """The longer words of its data file: a short text in one that no other language has is in this one."""

    @property
    def known(self) -> bool:
        """True when there is a data file for it."""
        return bool(self.stop_words)

    def has(self, cue: str, text: str) -> bool:
        """Return whether the lower-cased text holds a phrase of the cue; False for a cue that this language lacks."""
        return bool(self.cues.get(cue, _NEVER).search(text))

    def accented(self, lower: str) -> str:
        """Return the lower-cased text with the accents that were left out, where the word is known only with them.

        Somebody who writes accents means what they write: then only what is known as misspelt changes. The length stays
        the same.
        """
        known = self.accents if lower.isascii() else self.missed_accents
        return _WORD.sub(lambda found: known.get(found.group(), found.group()), lower) if known else lower

    def mended(self, lower: str) -> str:
        """Return the lower-cased text with what people abbreviate and misspell written out, so that cues find it."""
        lower = self.accented(lower)
        for pattern, meant in _spelling(self):
            lower = pattern.sub(meant, lower)
        return lower

    def stem(self, word: str) -> str:
        """Return the stem of a lower-cased word, or the word where no stemmer is known."""
        return _stem(self.stemmer, word) if self.stemmer else word


@lru_cache(maxsize=16)
def _spelling(language: Language) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((cue_pattern([written]), meant) for written, meant in language.spelling.items())


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


def _ordinals(data: Mapping[str, Any]) -> tuple[dict[str, int], re.Pattern[str]]:
    words: dict[str, int] = {**data.get("ordinals", {})}
    frames = data.get("ordinal_frames", {})
    words |= {word: n for word, n in frames.get("numbers", {}).items() if word not in words}
    words |= {str(n): n for n in range(1, 10)}
    alternatives = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    parts = [frame.replace("{}", f"(?P<o{i}>{alternatives})") for i, frame in enumerate(frames.get("frames", []))]
    return words, cue_pattern(parts) if parts else _NEVER


def _accents(words: Collection[str]) -> dict[str, str]:
    """Return the words that are written with accents, by how they look without; none that is a word.

    An accent on the last letter tells forms of a verb apart ("reserve", "reservé") and is nobody's to add.
    """
    plain = {_bare(word): word for word in sorted(words)}
    return {
        bare: word for bare, word in plain.items() if bare[:-1] != word[:-1] and bare.isascii() and bare not in words
    }


def _missed_accents(spelling: Mapping[str, str]) -> dict[str, str]:
    """Return the rows of a table of misspellings that do nothing but add accents to a word."""
    rows = ((word, meant) for written, meant in spelling.items() for word in written.split("|"))
    return {word: meant for word, meant in rows if word != meant and word == _bare(meant)}


def _bare(word: str) -> str:
    """Return the word without its accents."""
    return "".join(c for c in normalize("NFD", word) if not combining(c))


def _ending_pattern(endings: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<=\w)(?:{'|'.join(map(re.escape, endings))})(?![\w-])") if endings else _NEVER


def _texts(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)


def _facts(data: Mapping[str, Any], titles: Sequence[str]) -> tuple[FactRule, ...]:
    """Return the rules of a data file; a value runs to the end of the clause, past the full stop of a title.

    A `{name}` is written large, or one word, and a clause ends behind it; a `{large}` name is not written small.
    """
    ends = "".join(rf"|\s+{end}(?!\w)" for end in data.get("clause_end", ()))
    stop = "".join(rf"(?<!\b{title})" for title in titles) + r"\."
    value = rf"(?P<value>(?:[^.,;!?\n]|(?!{stop})\.)+?)(?=\s*(?:$|[,;!?\n]|{stop}{ends}))"
    name_ends = rf"(?=\s*(?:$|[,.!;:)]|(?:{'|'.join(data.get('name_end', ('$',)))})(?!\w)))"
    slots = {
        "{value}": value,
        "{large}": rf"(?P<value>(?-i:{LARGE_NAME})){name_ends}",
        "{name}": rf"(?P<value>(?-i:{LARGE_NAME})|[^\W\d_][\w'-]+){name_ends}",
    }
    return tuple(
        FactRule(
            r"(?<!\w)(?:" + reduce(lambda text, slot: text.replace(*slot), slots.items(), row["pattern"]) + ")",
            row["subject"],
            row["kind"],
            row["score"],
        )
        for row in data.get("rules", ())
    )


def parse_language(data: Mapping[str, Any]) -> Language:
    """Return the language that a data file describes. Raises `KeyError` or `re.error` on a damaged file."""
    ordinals, ordinal_pattern = _ordinals(data)
    references = tuple(data.get("references", {}).get("task", ()))
    spelling = dict(data.get("spelling", {}).get("rows", ()))
    words = set(_WORD.findall(" ".join(_texts({name: part for name, part in data.items() if name != "spelling"}))))
    return Language(
        code=data["code"],
        name=data["name"],
        stop_words=frozenset(data["stop_words"].split()),
        vote_words=frozenset(data["vote_words"].split()),
        letters=frozenset(data.get("letters", "")),
        cues=_Patterns({**data["cues"], "happening": list(data.get("families", {}).values())}),
        references=references,
        reference_pattern=cue_pattern(references),
        ordinals=ordinals,
        ordinal_pattern=ordinal_pattern,
        actions=_Patterns(data.get("actions", {})),
        families=_Patterns({name: [phrases] for name, phrases in data.get("families", {}).items()}),
        facts=_facts(data.get("facts", {}), data.get("titles", "").split()),
        outcomes=tuple(
            OutcomeRule(cue_pattern([said]), cue_pattern([of])) for said, of in data.get("outcomes", {}).get("rows", ())
        ),
        time=data.get("time", {}),
        stemmer=data.get("stemmer", ""),
        weak_endings=tuple(data.get("weak_endings", "").split()),
        clitics=tuple(data.get("clitics", "").split()),
        bases=dict(pair.split(":") for pair in data.get("bases", "").split()),
        titles=tuple(data.get("titles", "").split()),
        honorifics=cue_pattern(data.get("honorifics", "").split()),
        articles=tuple(data.get("articles", "").split()),
        conjunctions=tuple(data.get("conjunctions", "").split()),
        determiners=frozenset((data.get("determiners") or data.get("before_nouns", "")).split()),
        title_joints=frozenset(data.get("title_joints", "").split()),
        elisions=frozenset(data.get("elisions", "").split()),
        endings=_ending_pattern(data.get("endings", "").split()),
        own_words=cue_pattern(data.get("own_words", ())),
        nouns_are_large=bool(data.get("before_nouns")),
        ordinals_have_dots=bool(data.get("ordinals_have_dots")),
        before_nouns=frozenset(data.get("before_nouns", "").split()),
        spelling=spelling,
        accents=_accents(words) | _missed_accents(spelling),
        missed_accents=_missed_accents(spelling),
        vocabulary=frozenset(word for word in words if len(word) >= _OWN_WORD_CHARS),
    )


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
        words = _WORD.findall(text.lower().replace("\u2019", "'"))[:_VOTE_WORDS]
        lower = text.lower()
        votes = self._votes(words, lower)
        if len(words) <= _SHORT_WORDS:
            votes = self._with_own_words(words, votes)
        leaders = _leaders(votes)
        if len(words) <= _SHORT_WORDS and len(leaders) != 1 and default not in leaders:
            leaders = self._with_phrase(lower, votes, default) or leaders
        most = max(votes.values(), default=0)
        sure = len(words) <= _SHORT_WORDS or most >= _SURE_SHARE * len(words)
        if sure and default in leaders:
            return self.get(default)
        if sure and len(leaders) == 1:
            close = {code for code, count in votes.items() if count == most - 1 and len(words) > _SHORT_WORDS}
            guessed = _guess(text, leaders[0]) if close else leaders[0]
            return self.get(guessed if guessed in close else leaders[0])
        guessed = _guess(text, default)
        return self.get(default if guessed not in self._by_code and self._may_be(text, default) else guessed)

    def _may_be(self, text: str, code: str) -> bool:
        """Return whether a short text in other letters than Latin ones is written in those of the language.

        Neighbours of a language are guessed too easily: "устала, на работе завал" was Bulgarian.
        """
        letters = {ch for ch in text.lower() if ch.isalpha()}
        return (
            len(text) < _FOREIGN_CHARS
            and not any("a" <= ch <= "z" for ch in letters)
            and (letters <= set("".join(self.get(code).stop_words)))
        )

    def _with_own_words(self, words: Sequence[str], votes: Mapping[str, int]) -> dict[str, int]:
        """Return the votes with two more for each word that one language alone has, where it has another of them."""
        own = Counter(self._owners[word] for word in words if word in self._owners)
        voted = Counter(code for word in words for code, _ in self._voices.get(word, ()) if word not in self._owners)
        counts = {code: n for code, n in own.items() if n + voted[code] >= _OWN_WORDS}
        return {code: count + 2 * counts.get(code, 0) for code, count in votes.items()}

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
            votes[code] += 2 * (own + len(language.endings.findall(lower) if language.endings is not _NEVER else ()))
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
