"""Personas from files: the three that come with the program, or an operator's own TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.people.choices import PersonalChoices
from memory.continuity.types import Persona
from memory.errors import reason

FOLDER = Path(__file__).parent / "personas"
PERSONA = "persona"
"""The key of somebody's persona in `people.settings_json`."""
OWN = "own"
"""The name of the persona that somebody described in their own words."""
OFF = "off"
"""Behind /persona: whatever was played is over, and the first of them is back."""
PERSONA_WORDS = "persona_words"
"""The key of these words."""
WORDS_CHARS = 300
STORYTELLER = "roleplay"
"""The fields of an own persona: its boundaries hold."""


class PersonaError(Exception):
    """The persona cannot be used; the message names the file, its fault and the remedy."""


def persona_names() -> tuple[str, ...]:
    """Return the names of the personas that come with the program, sorted."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.toml")))


def load_persona(name_or_path: str) -> Persona:
    """Return a persona by name, or from a TOML file whose stem becomes its name.

    Raises `PersonaError` when there is no such persona, or when the file cannot be read or says something unknown.
    """
    if name_or_path in persona_names():
        return _read(FOLDER / f"{name_or_path}.toml")
    path = Path(name_or_path).expanduser()
    if path.suffix == ".toml" and path.is_file():
        return _read(path)
    raise PersonaError(
        f"there is no persona '{name_or_path}'; CONTINUITY_PERSONA is one of {', '.join(persona_names())}, "
        "or the path of a .toml file"
    )


def load_personas(default: str) -> dict[str, Persona]:
    """Return the personas that `/persona` offers, by name, the default first. Raises `PersonaError`."""
    chosen = load_persona(default)
    others = (load_persona(name) for name in persona_names() if name != chosen.name)
    return {persona.name: persona for persona in (chosen, *others)}


def instructions_of(persona: Persona) -> str:
    """Return the text about how the model is to be: the persona's words, then its boundaries."""
    return "\n".join([persona.instructions.strip(), *(f"- {boundary}." for boundary in persona.boundaries)])


def own_persona(storyteller: Persona, words: str) -> Persona:
    """Return the persona that somebody described: played by the storyteller, within its boundaries."""
    text = " ".join(words.split())[:WORDS_CHARS]
    whom = f"The user chose in their own words whom you play: “{text}”. Be that; in real matters, in tone alone."
    told = f"{storyteller.instructions.strip()}\n{whom}"
    return storyteller.model_copy(update={"name": OWN, "instructions": told})


class Personas:
    """The persona of each person: the default, or the one chosen with /persona."""

    def __init__(self, people: PersonalChoices, default: str) -> None:
        """Read the files. Raises `PersonaError`."""
        self._people = people
        self.by_name = load_personas(default)
        self.default = next(iter(self.by_name.values()))

    @property
    def plays(self) -> frozenset[str]:
        """The names of those that play a role."""
        return frozenset((OWN, *(name for name, each in self.by_name.items() if each.role == "roleplay")))

    async def chosen(self, user_id: int | None) -> Persona | None:
        """Return somebody's persona; None when the one they chose is not offered any more."""
        return self._offered(await self._people.choices(user_id))

    async def of(self, user_id: int | None) -> Persona:
        """Return somebody's persona, the default when theirs is missing. Raises `StorageUnavailable`."""
        return self.persona_in(await self._people.choices(user_id))

    async def words_of(self, user_id: int | None) -> str:
        """Return somebody's own words for whom they last had played; "" for none. Raises `StorageUnavailable`."""
        return str((await self._people.choices(user_id)).get(PERSONA_WORDS) or "")

    def persona_in(self, choices: Mapping[str, Any]) -> Persona:
        """Return the persona that was chosen, the default when none was or it is not offered any more."""
        return self._offered(choices) or self.default

    def _offered(self, choices: Mapping[str, Any]) -> Persona | None:
        name, words = str(choices.get(PERSONA, self.default.name)), str(choices.get(PERSONA_WORDS) or "")
        return own_persona(self.by_name[STORYTELLER], words) if name == OWN and words else self.by_name.get(name)


def _read(path: Path) -> Persona:
    """Read one file."""
    try:
        fields: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise PersonaError(f"persona {path} cannot be read ({reason(exc)}); check the file and its owner") from exc
    except UnicodeDecodeError as exc:
        raise PersonaError(f"persona {path} is not UTF-8 (byte {exc.start}); save it as UTF-8") from exc
    except tomllib.TOMLDecodeError as exc:
        raise PersonaError(
            f"persona {path} is not TOML: {exc}; see bot/people/personas/assistant.toml for the shape"
        ) from exc
    try:
        return Persona.model_validate({"name": path.stem.lower(), **fields})
    except ValidationError as exc:
        faults = ", ".join(f"'{error['loc'][0]}' {_fault(error['type'])}" for error in exc.errors() if error["loc"])
        raise PersonaError(
            f"persona {path} is not complete: {faults or 'its fields contradict each other'}; "
            "see bot/people/personas/assistant.toml for the shape"
        ) from exc


def _fault(kind: str) -> str:
    """Return the fault of a field, by the kind of the validation's error."""
    known = {"missing": "is missing", "extra_forbidden": "is not known", "literal_error": "is none of its values"}
    return known.get(kind, "has a value of another kind")
