"""Direct speech as reported speech, and what kind of remark a sentence is; the rules are data, a file per language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

from memory.language.language import Language, cue_pattern
from memory.language.languages import Languages
from memory.language.sentences import lowered

Remark = Literal["decision", "fact", "preference", "open", "mentioned", "said"]

_DATA: Final = Path(__file__).parent / "language_data" / "reported"
_KINDS: Final[tuple[Remark, ...]] = ("decision", "preference", "fact")
_NUMBER: Final = re.compile(r"\d")
_NAME: Final = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω][\w'\u2019-]+")


@dataclass(frozen=True, slots=True)
class Reporting:
    """The reporting rules of one language; a language without a file has none and is quoted as it was said."""

    rules: tuple[tuple[re.Pattern[str], str], ...] = ()
    cues: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    abbreviations: frozenset[str] = frozenset()
    """What ends with a full stop without ending a sentence."""
    capitalised_nouns: bool = False
    """True where every noun has a capital, so that a capital does not tell a name."""

    def has(self, cue: str, lower: str) -> bool:
        """Return whether the lower-cased sentence holds a phrase of the cue."""
        pattern = self.cues.get(cue)
        return bool(pattern and pattern.search(lower))


@lru_cache(maxsize=64)
def reporting(code: str) -> Reporting:
    """Return the rules of the language; read once per process, empty for a language without a file."""
    file = _DATA / f"{code}.toml"
    if not code.isalpha() or not file.is_file():
        return Reporting()
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return Reporting(
        rules=tuple((re.compile(pattern), replacement) for pattern, replacement in data["rules"]),
        cues={name: cue_pattern(phrases) for name, phrases in data["cues"].items()},
        abbreviations=frozenset(data["abbreviations"]),
        capitalised_nouns=data["capitalised_nouns"],
    )


def join_abbreviations(sentences: Iterable[str], code: str) -> list[str]:
    """Return the sentences with those put together again that were parted behind an abbreviation ("Ms. Lindqvist")."""
    short = reporting(code).abbreviations
    whole: list[str] = []
    for sentence in sentences:
        if whole and whole[-1].rsplit(" ", 1)[-1] in short:
            whole[-1] = f"{whole[-1]} {sentence}"
        else:
            whole.append(sentence)
    return whole


def is_relative(lower: str, code: str) -> bool:
    """Return whether the lower-cased sentence speaks of a time that is only right on the day it was said."""
    return reporting(code).has("relative_time", lower)


@lru_cache(maxsize=1)
def _broken_apostrophe() -> re.Pattern[str]:
    """Return what finds a clitic that was parted from its word ("I 'm"), as some data sets write it."""
    clitics = "|".join({clitic: None for language in Languages.load() for clitic in language.clitics})
    return re.compile(rf"\s+['\u2019]\s*({clitics})\b", re.IGNORECASE)


def report(sentence: str, speaker: str, other: str, code: str) -> str:
    """Return the sentence in the third person ("the user will …"), with its speaker in front if it names nobody."""
    text = _broken_apostrophe().sub(r"'\1", " ".join(sentence.split())).replace("\u2019", "'")
    for pattern, replacement in reporting(code).rules:
        text = pattern.sub(replacement.replace("{S}", speaker).replace("{O}", other), text)
    if speaker not in text:
        text = f"{speaker}: {text[:1].upper()}{text[1:]}"
    return text[:1].upper() + text[1:]


def remark(sentence: str, language: Language) -> Remark:
    """Return what kind of remark a person's sentence is: a decision, a fact about them, a preference, or just said."""
    lower = lowered(sentence)
    rules = reporting(language.code)
    for kind in _KINDS:
        if rules.has(kind, lower):
            return kind
    for rule in language.facts:
        if rule.pattern.search(sentence):
            return "fact"
    return "said"


def is_small_talk(sentence: str, language: Language) -> bool:
    """Return whether the sentence only keeps the talk going ("thanks!", "sounds good")."""
    lower = lowered(sentence)
    return len(lower.split()) <= 6 and reporting(language.code).has("small_talk", lower)  # noqa: PLR2004 - a courtesy is short


def specific_words(sentence: str) -> frozenset[str]:
    """Return the names and the words with digits: two sentences that differ in one of them say different things."""
    numbers = (word.strip(".,;:!?") for word in sentence.split() if _NUMBER.search(word))
    return frozenset((*_NAME.findall(sentence), *numbers))


def specifics(sentence: str) -> int:
    """Return how many numbers and names the sentence holds: what nobody can reconstruct from the gist."""
    return len(_NUMBER.findall(sentence)[:4]) + 2 * len(_NAME.findall(sentence)[:4])
