"""The models of the settings by the names that people choose them by: `fast=openai:gpt-5-mini, home=ollama:qwen3`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bot.settings.shapes import parts

EXAMPLE: Final = "fast=openai:gpt-5-mini, deep=anthropic:claude-sonnet-4-5, home=ollama:qwen3:8b@8000"
SOUND_FORMS: Final = "off, openai:<model> or local:<folder>"
_SOUND: Final = re.compile(r"(openai):([^\s@]+)(?:@([\w.-]+))?|(local):(.*\S.*)")
_SHAPE: Final = re.compile(r"(?:([A-Za-z][\w.-]{0,23})=)?([^\s,=@]+:[^\s,=]+?)(?:@(\d{4,7}))?")


@dataclass(frozen=True, slots=True)
class NamedModel:
    """One model."""

    name: str
    """The name that people choose; the id without one."""
    model: str
    """provider:name"""
    context_tokens: int | None = None
    """Tokens that the model takes at most, instructions and answer included; None for more than we ever send."""


@dataclass(frozen=True, slots=True)
class ModelNames:
    """Every model that may answer."""

    default: NamedModel
    named: Mapping[str, NamedModel]
    """The models to choose from, by name, in the order of the settings."""
    fallback: NamedModel | None = None

    def chosen(self, name: object) -> NamedModel | None:
        """Return the model of this name, the default for none; None for one that is not offered any more."""
        if not isinstance(name, str) or not name:
            return self.default
        return self.named.get(name.lower())

    def id_of(self, text: str) -> str:
        """Return the id of a model that is written as a name of the list, or as its id."""
        found = self.named.get(text.lower())
        return found.model if found else text

    @property
    def all(self) -> tuple[NamedModel, ...]:
        """Every model once."""
        models = (self.default, *self.named.values(), *filter(None, (self.fallback,)))
        return tuple({each.model: each for each in reversed(models)}.values())[::-1]


@dataclass(frozen=True, slots=True)
class SoundModel:
    """A model that listens or speaks."""

    name: str
    """The name at its server; of a model on this machine its folder."""
    is_local: bool = False
    voice: str = ""


def read_sound_model(text: str) -> SoundModel | None:
    """Return the model that one of the `SOUND_FORMS` names, None for off and for any other text."""
    found = _SOUND.fullmatch(text.strip())
    if not found:
        return None
    return SoundModel(found[5].strip(), is_local=True) if found[4] else SoundModel(found[2], voice=found[3] or "")


def read_model(text: str) -> NamedModel | None:
    """Return the model of one entry, `name=provider:model@tokens`; None for one that names no model."""
    found = _SHAPE.fullmatch(text.strip())
    if not found:
        return None
    return NamedModel((found[1] or found[2]).lower(), found[2], int(found[3]) if found[3] else None)


def wrong_models(text: str) -> str:
    """Return the fault of a list of named models, "" for none."""
    names: set[str] = set()
    for part in parts(text):
        found = read_model(part)
        if found is None or "=" not in part:
            return f"takes name=provider:model separated by commas, e.g. {EXAMPLE}; not {part[:60]!r}"
        if found.name in names:
            return f"names '{found.name}' twice"
        names.add(found.name)
    return ""


def model_names(default: str, listed: str, fallback: str | None) -> ModelNames:
    """Return the models of the settings, which are right; the default and the fallback may be names of the list."""
    found = [each for part in parts(listed) if (each := read_model(part))]
    by_id = {each.model: each for each in reversed(found)}
    named = {each.name: each for each in found}

    def one(text: str) -> NamedModel:
        return named.get(text.lower()) or by_id.get(text) or read_model(text) or NamedModel(text, text)

    return ModelNames(one(default), named, one(fallback) if fallback else None)
