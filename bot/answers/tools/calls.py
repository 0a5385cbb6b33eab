"""The tools as JSON schemas for every way to a model, and a call checked before it is made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from bot.tools.tool import Tool
from memory.text import clean

_FILE = Path(__file__).with_name("tools.json")
NUMBERS: Final = "numbers"
READS: Final = frozenset({"search"})
"""The notes' tools that change nothing: all that a private conversation is offered of them."""
_ALIASES: Final = {"number": NUMBERS}
"""Names that models take for an argument's."""


class WrongCall(Exception):
    """A tool was called that there is not, or with other arguments than it takes; the message is for the model."""


@cache
def specs() -> tuple[dict[str, Any], ...]:
    """Name, description and parameters of each of the notes' tools."""
    return tuple(json.loads(_FILE.read_text(encoding="utf-8")))


def schemas(further: tuple[Tool, ...] = (), *, only_reads: bool = False) -> str:
    """The names, descriptions and arguments of the tools that are offered, as JSON, whose tokens are counted."""
    listed = [[spec["name"], spec["description"], spec["parameters"]] for spec in _chosen(only_reads=only_reads)]
    listed += [[tool.name, tool.description, dict(tool.parameters)] for tool in further if not tool.hidden]
    return orjson.dumps(listed).decode()


@cache
def offered(*, only_reads: bool = False) -> tuple[dict[str, Any], ...]:
    """The notes' tools as a request offers them; a schema without anything optional is to be kept to strictly."""
    return tuple({"type": "function", "function": _strict(spec)} for spec in _chosen(only_reads=only_reads))


def _chosen(*, only_reads: bool) -> tuple[dict[str, Any], ...]:
    return tuple(spec for spec in specs() if spec["name"] in READS or not only_reads)


def offer(tool: Tool) -> dict[str, Any]:
    """A further tool as a request offers it."""
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _strict(spec: dict[str, Any]) -> dict[str, Any]:
    parameters = spec["parameters"] | {"additionalProperties": False}
    whole = set(parameters["properties"]) == set(parameters.get("required", ()))
    return spec | {"parameters": parameters} | ({"strict": True} if whole else {})


def given(name: str, arguments: str, others: Sequence[str] = ()) -> dict[str, Any]:
    """The arguments of a call of one of the notes' tools. Raises `WrongCall`, also for a name that there is not."""
    spec = next((spec for spec in specs() if spec["name"] == name), None)
    if spec is None:
        names = ", ".join([*(each["name"] for each in specs()), *others])
        raise WrongCall(f"Unknown tool name: {name!r}. Available tools: {names}")
    return checked(spec["parameters"], arguments)


def further(tool: Tool, arguments: str) -> dict[str, Any]:
    """The arguments of a call of a further tool. Raises `WrongCall`; types are its own matter."""
    found: dict[str, Any] = _storable(read(arguments))
    missing = [f"{name}: missing" for name in tool.parameters.get("required", ()) if name not in found]
    if missing:
        raise WrongCall(f"{'; '.join(missing)}. Fix the errors and try again.")
    return found


def inner(arguments: str) -> tuple[str, str]:
    """The tool that `use_tool` names, and its arguments. Raises `WrongCall`."""
    found = read(arguments)
    given = found.get("arguments") or {}
    return str(found.get("name", "")), given if isinstance(given, str) else json.dumps(given)


def _storable(value: Any) -> Any:
    """A JSON value as databases take it."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(name): _storable(each) for name, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list) else value


def read(arguments: str) -> dict[str, Any]:
    """The arguments as an object. Raises `WrongCall`."""
    try:
        found = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        raise WrongCall("The arguments are not JSON. Fix the errors and try again.") from None
    if not isinstance(found, dict):
        raise WrongCall("The arguments are not an object. Fix the errors and try again.")
    return found


def checked(parameters: dict[str, Any], arguments: str) -> dict[str, Any]:
    """The arguments; null counts as left out. Raises `WrongCall` when they do not fit the schema.

    For numbers anything is taken: the tool itself finds the note, or lists those that may be meant.
    """
    given = read(arguments)
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
