"""The offline concierge's words, a data file per language: how it is asked, how notes are read, what it answers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from bot.reminders.words import ReminderWords
from bot.reminders.words import words_for as reminder_words
from memory.language.language import cue_pattern

_DATA: Final = Path(__file__).parent / "languages"
_DEFAULT: Final = "en"
_TWO_STOPS: Final = re.compile(r"(?<!\.)\.\.(?!\.)")
_OWN_FORMS: Final = frozenset(
    {"subjects", "corrections", "mirror", "no_mirror", "links", "possessives", "yours", "money", "years", "sums"}
)
_ENDS: Final = re.compile(r"[\s.!?…,;:]+$")


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """What the concierge knows of one language. Each is loaded once and compared by identity, so it can key a cache."""

    code: str
    asks: Mapping[str, re.Pattern[str]]
    reading: Mapping[str, re.Pattern[str]]
    subjects: tuple[re.Pattern[str], ...]
    corrections: tuple[re.Pattern[str], ...]
    """How people put right what they said: the `new` value, and the `old` one where they name it."""
    mirrored: tuple[tuple[re.Pattern[str], str], ...]
    not_mirrored: frozenset[str]
    links: frozenset[str]
    """What may stand between somebody and their name: "is", "called"."""
    possessives: frozenset[str]
    money: frozenset[str]
    """How a sum is asked for: "who owes me money"."""
    years: frozenset[str]
    """What follows the number of somebody's age: "years", "and"."""
    sums: re.Pattern[str]
    """What follows or precedes the number of a sum: "€", "euros"."""
    yours: tuple[tuple[re.Pattern[str], str], ...]
    """How "my daughter" is said back: "your daughter"."""
    answers: Mapping[str, str]
    quotes: tuple[str, str]
    calendar: ReminderWords

    def say(self, key: str, **values: object) -> str:
        """Return the sentence with its values filled in; one full stop where a value ends with its own ("12. Dez.").

        Raises `KeyError` for a sentence that no language has.
        """
        return _TWO_STOPS.sub(".", self.answers[key].format(**values))

    def asked(self, key: str, lower: str) -> re.Match[str] | None:
        """Return where the lower-cased text asks for this, None when it does not."""
        pattern = self.asks.get(key)
        return pattern.search(lower) if pattern else None

    def reads(self, key: str, lower: str) -> re.Match[str] | None:
        """Return where the lower-cased text holds such a phrase, None when it does not."""
        pattern = self.reading.get(key)
        return pattern.search(lower) if pattern else None

    def mirror(self, text: str) -> str:
        """Return the user's sentence as said back to them (my → your); "" where that would be ambiguous.

        So it is for every sentence of a language that has no rules for it: such words are quoted.
        """
        if not self.mirrored or self.not_mirrored & set(re.findall(r"[\w']+", text.lower())):
            return ""
        for pattern, replacement in self.mirrored:
            text = pattern.sub(replacement, text)
        return text

    def turned(self, whose: str) -> str:
        """Return "my daughter" as said back to its person: "your daughter"; anything else as it is."""
        found = next(((pattern, put) for pattern, put in self.yours if pattern.search(whose)), None)
        return found[0].sub(found[1], whose) if found else whose

    def quoted(self, text: str) -> str:
        """Return people's words between the quotation marks of the language."""
        opening, closing = self.quotes
        return f"{opening}{text}{closing}"


def _opening(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return one pattern for phrases that begin at a word's border and end where they say."""
    return re.compile(r"(?<!\w)(?:" + "|".join(phrases) + ")")


@lru_cache(maxsize=16)
def words_of(code: str) -> Words:
    """Return the words of a language, each sentence that it lacks in English; English for a language without a file.

    Raises `re.error` or `KeyError` on a damaged file.
    """
    file = _DATA / f"{code}.toml"
    if not code.isalpha() or not file.is_file():
        return words_of(_DEFAULT)
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    reading = data["reading"]
    lists = {name: value for name, value in reading.items() if name not in _OWN_FORMS}
    english = words_of(_DEFAULT) if code != _DEFAULT else None
    return Words(
        code=data["code"],
        asks={name: cue_pattern(phrases) for name, phrases in data["asks"].items()},
        reading={name: _opening(phrases) for name, phrases in lists.items()},
        subjects=tuple(_opening([frame]) for frame in reading.get("subjects", ())),
        corrections=tuple(re.compile(f"(?<!\\w){frame}") for frame in reading.get("corrections", ())),
        mirrored=tuple((re.compile(pattern), put) for pattern, put in reading.get("mirror", ())),
        not_mirrored=frozenset(reading.get("no_mirror", ())),
        links=frozenset(reading.get("links", ())),
        possessives=frozenset(reading.get("possessives", ())),
        money=frozenset(reading.get("money", ())),
        years=frozenset(reading.get("years", ())),
        sums=re.compile(r"(?<![^\W\d])(?:" + "|".join(reading.get("sums", ("(?!)",))) + r")(?!\w)|[€$£₽](?=\d)"),
        yours=tuple((re.compile(pattern), put) for pattern, put in reading.get("yours", ())),
        answers={**(english.answers if english else {}), **data.get("answers", {})},
        quotes=(data["quotes"][0], data["quotes"][1]),
        calendar=reminder_words(data["code"]),
    )


def about(match: re.Match[str], text: str = "") -> str:
    """Return what is asked about: the first named group that took part, without closing punctuation; or nothing.

    `text` is the sentence as it was written, so that names keep their capitals.
    """
    name = next((name for name, value in match.groupdict().items() if value), None)
    if name is None:
        return ""
    found = text[match.start(name) : match.end(name)] if text else match.group(name)
    return _ENDS.sub("", found).strip()
