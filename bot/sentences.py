"""The bot's sentences, a data file per language: sentences by key, and the forms of counted words."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

_DATA: Final = Path(__file__).parent / "languages"
DEFAULT: Final = "en"
LANGUAGES: Final = (DEFAULT, *sorted(file.stem for file in _DATA.glob("*.toml") if file.stem != DEFAULT))
"""Codes of the languages that the bot speaks, English first."""
TWELVE: Final = "en-12h"
"""English with the hours of a twelve-hour clock."""
_VARIED: Final = {TWELVE: {"language_name": "English, 3:15pm", "dates.clock": "{hour}{minute}{half}"}}
"""Sentences of a variant of English that differ from it."""
SPEAKABLE: Final = (DEFAULT, *_VARIED, *LANGUAGES[1:])
"""The languages and their variants, as a person chooses among them."""
COUNTED: Final = "counted"


def base_of(code: str) -> str:
    """The language of a variant, for whoever reads words; another code as it is."""
    return DEFAULT if code in _VARIED else code


@lru_cache(maxsize=16)
def sentences(code: str) -> Mapping[str, str]:
    """Return the sentences of a language by key, `table.key` inside a table; in English each that it lacks."""
    return {**({} if code == DEFAULT else sentences(DEFAULT)), **(_VARIED.get(code) or _flat(_file(code)))}


@lru_cache(maxsize=16)
def forms(code: str) -> Mapping[str, Sequence[str]]:
    """Return the forms of each word that is counted; in English each that the language lacks."""
    return {**({} if code == DEFAULT else forms(DEFAULT)), **_file(base_of(code)).get(COUNTED, {})}


def commands() -> tuple[str, ...]:
    """Return the names of the commands that people are told of, in the order in which they are told."""
    return tuple(_file(DEFAULT)["commands"])


@lru_cache(maxsize=16)
def _file(code: str) -> Mapping[str, Any]:
    return tomllib.loads((_DATA / f"{code}.toml").read_text(encoding="utf-8"))


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return the texts of nested tables under dotted keys."""
    flat = {f"{prefix}{key}": value for key, value in data.items() if isinstance(value, str)}
    for name, table in data.items():
        if isinstance(table, Mapping):
            flat |= _flat(table, f"{prefix}{name}.")
    return flat
