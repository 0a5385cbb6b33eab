"""The model's tools as JSON schemas, and a call checked against its schema before it is made."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.language.sentences import clean

if TYPE_CHECKING:
    from bot.answers.tools import Toolbox

_FILE = Path(__file__).with_name("tools.json")
_TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "null": type(None)}


class WrongCall(Exception):
    """A tool was called that there is not, or with other arguments than it takes; the message is for the model."""


@cache
def specs() -> tuple[dict[str, Any], ...]:
    """Return each tool's name, description and parameters, as pydantic-ai derives them from `tool_schemas.py`."""
    return tuple(json.loads(_FILE.read_text(encoding="utf-8")))


@cache
def schemas() -> str:
    """Return the tools' names, descriptions and arguments as JSON, whose tokens are counted."""
    return json.dumps([[spec["name"], spec["description"], spec["parameters"]] for spec in specs()])


@cache
def offered() -> tuple[dict[str, Any], ...]:
    """Return the tools as a request offers them; a schema without anything optional is to be kept to strictly."""
    return tuple({"type": "function", "function": spec | _strict(spec["parameters"])} for spec in specs())


def _strict(parameters: dict[str, Any]) -> dict[str, bool]:
    names = set(parameters["properties"])
    return {"strict": True} if names and names == set(parameters.get("required", ())) else {}


async def call(toolbox: Toolbox, name: str, arguments: str) -> str:
    """Make one call and return what the tool says. Raises `WrongCall`."""
    spec = next((spec for spec in specs() if spec["name"] == name), None)
    if spec is None:
        raise WrongCall(f"Unknown tool name: {name!r}. Available tools: {', '.join(each['name'] for each in specs())}")
    given = checked(spec["parameters"], arguments)
    return str(await getattr(toolbox, name)(**given))


def checked(parameters: dict[str, Any], arguments: str) -> dict[str, Any]:
    """Return the arguments with their defaults. Raises `WrongCall` when they are not what the schema says."""
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        raise WrongCall("The arguments are not JSON. Fix the errors and try again.") from None
    if not isinstance(given, dict):
        raise WrongCall("The arguments are not an object. Fix the errors and try again.")
    given = {clean(name): clean(value) if isinstance(value, str) else value for name, value in given.items()}
    known = parameters["properties"]
    wrong = [f"{name}: there is no such argument" for name in given if name not in known]
    wrong += [f"{name}: missing" for name in parameters.get("required", ()) if name not in given]
    wrong += [f"{name}: not {_asked(known[name])}" for name in given if name in known and not _fits(known, name, given)]
    if wrong:
        raise WrongCall(f"{'; '.join(wrong)}. Fix the errors and try again.")
    defaults = {name: field["default"] for name, field in known.items() if "default" in field}
    return defaults | given


def _fits(known: dict[str, Any], name: str, given: dict[str, Any]) -> bool:
    field, value = known[name], given[name]
    if "enum" in field:
        return value in field["enum"]
    kinds = field.get("anyOf", [field])
    return any(isinstance(value, _TYPES[kind["type"]]) for kind in kinds)


def _asked(field: dict[str, Any]) -> str:
    return f"one of {field['enum']}" if "enum" in field else "a string"
