"""Whether somebody speaks of ending their own life or hurting themselves, and the answer; data per language."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from bot.answers.responder import Answer, own_words
from bot.matching import Pattern, any_of, find, without
from memory.types import CARE

_DATA: Final = Path(__file__).parent / "languages"
MAX_CHARS: Final = 6_000
"""Characters that are read of a message, half from its beginning and half from its end."""
WINDOW_CHARS: Final = 1_000
OVERLAP_CHARS: Final = 200
"""A message is read in windows that overlap by more than the longest sign."""
_BREVE: Final = "\u0306"
_STRETCHED: Final = re.compile(r"(.)\1{2,}")
_INVISIBLE: Final = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad*_~`]")
_SPACES: Final = re.compile(r"[^\S\n]+")
_LINES: Final = re.compile(r" ?\n[ \n]*")
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("\u2019\u02bc\u2018`\u00b4", "'"))


@dataclass(frozen=True, slots=True)
class Distress:
    """Signs of distress in one language, and the caring answer."""

    code: str
    signs: Pattern
    idioms: Pattern
    answer: str


def care(text: str) -> Answer | None:
    """Return the answer to words of distress, with where help is to be had; None for any other message.

    The turn is stored as said and filed nowhere (`ConversationTurn.unfiled`). Never raises.
    """
    code = distress_in(text)
    return own_words(caring_answer(code), CARE) if code else None


def distress_in(text: str, first: str = "en") -> str | None:
    """Return the language in which the text speaks of ending the writer's own life or hurting themselves; else None.

    Turns of phrase ("dying of laughter") do not count. `first` is the language that is tried first. Linear in the
    length of the text, of which 6,000 characters are read; never raises.
    """
    return _found(clipped(text), first)


@lru_cache(maxsize=64)
def _found(text: str, first: str) -> str | None:
    windows = list(_windows(fold(text)))
    codes = sorted(_codes(), key=lambda code: code != first)
    return next((code for code in codes if any(_speaks(each, _distress(code)) for each in windows)), None)


def _windows(folded: str) -> Iterator[str]:
    for start in range(0, max(1, len(folded) - OVERLAP_CHARS), WINDOW_CHARS - OVERLAP_CHARS):
        yield folded[start : start + WINDOW_CHARS]


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
    return find(distress.signs, without(distress.idioms, folded, " … ")) is not None


@lru_cache(maxsize=1)
def _codes() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in _DATA.glob("*.toml")))


@lru_cache(maxsize=16)
def _distress(code: str) -> Distress:
    data = tomllib.loads((_DATA / f"{code}.toml").read_text(encoding="utf-8"))
    signs, idioms = (any_of(data[name], data["parts"]) for name in ("signs", "idioms"))
    return Distress(code, signs, idioms, data["answer"].strip())
