"""A language as data: its stop words, cues, time words, stems; one `language_data/*.toml` each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from threading import local
from typing import Any
from unicodedata import combining, normalize

import snowballstemmer

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
NEVER = re.compile(r"(?!)")
_LARGE_WORD = r"[^\W\d_a-zß-öø-ÿа-яё][\w'-]*"
LARGE_NAME = rf"{_LARGE_WORD}(?: {_LARGE_WORD}){{0,2}}"
"""Up to three words with a capital."""
_OWN_WORD_CHARS = 4
"""Shorter pieces of a data file are seldom words."""


def cue_pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return one pattern that finds any of the phrases at word borders; without phrases one that finds nothing."""
    parts = sorted(phrases, key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(parts) + r")(?!\w)") if parts else NEVER


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
    mere: re.Pattern[str] | None = None
    """Of a debt, of which there may be several: words that do not say which ("the money"). Others do."""


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
    reference_pattern: re.Pattern[str] = NEVER
    ordinals: Mapping[str, int] = field(default_factory=dict)
    ordinal_pattern: re.Pattern[str] = NEVER
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
    honorifics: re.Pattern[str] = NEVER
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
    endings: re.Pattern[str] = NEVER
    """What ends words in this language alone, e.g. the `-me` of `lembra-me`."""
    own_words: re.Pattern[str] = NEVER
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
        return bool(self.cues.get(cue, NEVER).search(text))

    def accented(self, lower: str) -> str:
        """Return the lower-cased text with the accents that were left out, where the word is known only with them.

        Somebody who writes accents means what they write: then only what is known as misspelt changes. The length stays
        the same.
        """
        known = self.accents if lower.isascii() else self.missed_accents
        return WORD.sub(lambda found: known.get(found.group(), found.group()), lower) if known else lower

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
    return words, cue_pattern(parts) if parts else NEVER


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
    return re.compile(rf"(?<=\w)(?:{'|'.join(map(re.escape, endings))})(?![\w-])") if endings else NEVER


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
    words = set(WORD.findall(" ".join(_texts({name: part for name, part in data.items() if name != "spelling"}))))
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
            OutcomeRule(*(cue_pattern([part]) for part in row)) for row in data.get("outcomes", {}).get("rows", ())
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
