"""The model's tools as JSON schemas for every way to a model, and a call checked before it is made."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory.text import clean

if TYPE_CHECKING:
    from bot.answers.tools.toolbox import Toolbox

_FILE = Path(__file__).with_name("tools.json")
NUMBERS: Final = "numbers"
_ALIASES: Final = {"number": NUMBERS}
"""Names that models take for an argument's."""


class WrongCall(Exception):
    """A tool was called that there is not, or with other arguments than it takes; the message is for the model."""


@cache
def specs() -> tuple[dict[str, Any], ...]:
    """Each tool's name, description and parameters."""
    return tuple(json.loads(_FILE.read_text(encoding="utf-8")))


@cache
def schemas() -> str:
    """The tools' names, descriptions and arguments as JSON, whose tokens are counted."""
    listed = [[spec["name"], spec["description"], spec["parameters"]] for spec in specs()]
    return json.dumps(listed, separators=(",", ":"), ensure_ascii=False)


@cache
def offered() -> tuple[dict[str, Any], ...]:
    """The tools as a request offers them; a schema without anything optional is to be kept to strictly."""
    return tuple({"type": "function", "function": _strict(spec)} for spec in specs())


def _strict(spec: dict[str, Any]) -> dict[str, Any]:
    parameters = spec["parameters"] | {"additionalProperties": False}
    whole = set(parameters["properties"]) == set(parameters.get("required", ()))
    return spec | {"parameters": parameters} | ({"strict": True} if whole else {})


async def call(toolbox: Toolbox, name: str, arguments: str) -> str:
    """Make one call and return what the tool says. Raises `WrongCall`."""
    spec = next((spec for spec in specs() if spec["name"] == name), None)
    if spec is None:
        raise WrongCall(f"Unknown tool name: {name!r}. Available tools: {', '.join(each['name'] for each in specs())}")
    given = checked(spec["parameters"], arguments)
    return str(await getattr(toolbox, name)(**given))


def checked(parameters: dict[str, Any], arguments: str) -> dict[str, Any]:
    """The arguments; what is null counts as left out. Raises `WrongCall` when they are not what the schema says.

    For numbers anything is taken: the tool itself finds the note, or lists those that may be meant.
    """
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        raise WrongCall("The arguments are not JSON. Fix the errors and try again.") from None
    if not isinstance(given, dict):
        raise WrongCall("The arguments are not an object. Fix the errors and try again.")
    given = {clean(name): clean(value) if isinstance(value, str) else value for name, value in given.items()}
    known = parameters["properties"]
    given = {name if name in known else _ALIASES.get(name, name): value for name, value in given.items()}
    given = {name: value for name, value in given.items() if value is not None}
    wrong = [f"{name}: there is no such argument" for name in given if name not in known]
    wrong += [f"{name}: missing" for name in parameters.get("required", ()) if name not in given]
    wrong += [f"{name}: not {_asked(known[name])}" for name in given if name in known and not _fits(known, name, given)]
    if wrong:
        raise WrongCall(f"{'; '.join(wrong)}. Fix the errors and try again.")
    return given


def _fits(known: dict[str, Any], name: str, given: dict[str, Any]) -> bool:
    field, value = known[name], given[name]
    if "enum" in field:
        return value in field["enum"]
    return name == NUMBERS or isinstance(value, {"string": str, "boolean": bool}[field["type"]])


def _asked(field: dict[str, Any]) -> str:
    return f"one of {field['enum']}" if "enum" in field else f"a {field['type']}"
