"""Whether somebody speaks of ending their own life or hurting themselves, and the answer; data per language."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from memory.language.language import cue_pattern

_DATA: Final = Path(__file__).parent / "language_data" / "distress"
MAX_CHARS: Final = 6_000
"""So much of a message is looked at, from its beginning and its end alike."""
_BREVE: Final = "\u0306"
_STRETCHED: Final = re.compile(r"(.)\1{2,}")
_INVISIBLE: Final = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad*_~`]")
_SPACES: Final = re.compile(r"[^\S\n]+")
_LINES: Final = re.compile(r" ?\n[ \n]*")
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("\u2019\u02bc\u2018`\u00b4", "'"))


@dataclass(frozen=True, slots=True)
class Distress:
    """How distress sounds in one language, and the caring answer."""

    code: str
    signs: re.Pattern[str]
    idioms: re.Pattern[str]
    answer: str


def distress_in(text: str, first: str = "en") -> str | None:
    """Return the language in which the text speaks of ending the writer's own life or hurting themselves; else None.

    Turns of phrase ("dying of laughter") do not count. `first` is the language that is tried first. Linear in the
    length of the text, of which 6,000 characters are read; never raises.
    """
    return _found(clipped(text), first)


@lru_cache(maxsize=64)
def _found(text: str, first: str) -> str | None:
    folded = fold(text)
    codes = sorted(_codes(), key=lambda code: code != first)
    return next((code for code in codes if _speaks(folded, _distress(code))), None)


def clipped(text: str) -> str:
    """Return the text, or its beginning and its end when it is longer than 6,000 characters."""
    half = MAX_CHARS // 2
    return text if len(text) <= MAX_CHARS else f"{text[:half]}\n{text[-half:]}"


def caring_answer(code: str) -> str:
    """Return the fixed answer, with where help is to be had; in English for a language without a file."""
    return _distress(code if code in _codes() else "en").answer


def fold(text: str) -> str:
    """Return the text in lower case, without accents, formatting and stretched letters, with straight apostrophes."""
    bare = _INVISIBLE.sub("", text.translate(_APOSTROPHES).casefold())
    apart = unicodedata.normalize("NFKD", bare)
    plain = unicodedata.normalize("NFC", "".join(c for c in apart if c == _BREVE or not unicodedata.combining(c)))
    return _LINES.sub("\n", _SPACES.sub(" ", _STRETCHED.sub(r"\1\1", plain)))


def _speaks(folded: str, distress: Distress) -> bool:
    return distress.signs.search(distress.idioms.sub(" … ", folded)) is not None


@lru_cache(maxsize=1)
def _codes() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in _DATA.glob("*.toml")))


@lru_cache(maxsize=16)
def _distress(code: str) -> Distress:
    data = tomllib.loads((_DATA / f"{code}.toml").read_text(encoding="utf-8"))
    parts = data["parts"]
    return Distress(code, _pattern(data["signs"], parts), _pattern(data["idioms"], parts), data["answer"].strip())


def _pattern(phrases: Iterable[str], parts: Mapping[str, str]) -> re.Pattern[str]:
    whole = []
    for phrase in phrases:
        for name, part in parts.items():
            phrase = phrase.replace(f"{{{name}}}", part)  # noqa: PLW2901 - filled in one after another
        whole.append(phrase)
    return cue_pattern(whole)
