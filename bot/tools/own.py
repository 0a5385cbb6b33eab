"""Tools of the operator's own: functions of a Python file or an installed package, with typed arguments."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Final, get_type_hints

import orjson
from pydantic import BaseModel, ValidationError, create_model

from bot.tools.tool import LONGEST_S, CallContext, NotDone, Tool, ToolResult

GROUP: Final = "continuity.tools"
"""The group of entry points that installed packages offer tools under."""
_NAME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}")


class ToolsError(Exception):
    """Tools of CONTINUITY_TOOLS or of an installed package that cannot be used."""


def tool(
    *,
    reads_only: bool = False,
    idempotent: bool = False,
    foreign: bool = False,
    title: str = "",
    longest_s: float = LONGEST_S,
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a function a tool: its name, its docstring as description, its typed arguments.

    `reads_only`: it changes nothing anywhere, so it's used without a tap. `idempotent`: a second call with the same
    `call_id` changes nothing more; take a `CallContext` to get it. `foreign`: it brings other people's words, by which
    no note is set. Raises `ToolsError` for a function that cannot be one.

        @tool(reads_only=True)
        async def bins(street: str) -> str:
            \"\"\"Tell which bin is collected next in a street.\"\"\"
    """

    def made(function: Callable[..., Any]) -> Tool:
        name, description = function.__name__, inspect.cleandoc(function.__doc__ or "")
        if not _NAME.fullmatch(name):
            raise ToolsError(f"{name!r} is no name for a tool: letters, digits, _ and -, at most 64")
        if not description:
            raise ToolsError(f"{name} has no docstring: it tells the model what the tool does")
        arguments, context_name = _arguments(function)
        return Tool(
            name=name,
            description=description,
            parameters=_schema(arguments),
            run=_Function(function, arguments, context_name, foreign).run,
            reads_only=reads_only,
            trusted=True,
            idempotent=idempotent,
            title=title,
            longest_s=longest_s,
        )

    return made


def _arguments(function: Callable[..., Any]) -> tuple[type[BaseModel], str]:
    """Return a model of the arguments, and which one takes the context ("" for none)."""
    hints, fields, context_name = get_type_hints(function), dict[str, Any](), ""
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in hints or parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise ToolsError(f"{function.__name__}: the argument {name} has no type that a model could be told")
        if hints[name] is CallContext:
            context_name = name
        else:
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[name] = (hints[name], default)
    return create_model(f"arguments of {function.__name__}", **fields), context_name


def _schema(arguments: type[BaseModel]) -> dict[str, Any]:
    schema = arguments.model_json_schema()
    for each in (schema, *schema.get("properties", {}).values()):
        each.pop("title", None)
    return {"type": "object", "properties": {}, **schema}


@dataclass(frozen=True, slots=True)
class _Function:
    """A function as a tool runs it."""

    function: Callable[..., Any]
    arguments: type[BaseModel]
    context_name: str
    foreign: bool

    async def run(self, given: Mapping[str, Any], context: CallContext) -> ToolResult:
        try:
            checked = self.arguments.model_validate(dict(given))
        except ValidationError as exc:
            wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in exc.errors())
            raise NotDone(wrong) from None
        values = {name: getattr(checked, name) for name in self.arguments.model_fields}
        values |= {self.context_name: context} if self.context_name else {}
        call = partial(self.function, **values)
        returned = await call() if inspect.iscoroutinefunction(self.function) else await asyncio.to_thread(call)
        return returned if isinstance(returned, ToolResult) else ToolResult(_text(returned), foreign=self.foreign)


def _text(returned: Any) -> str:
    if returned is None:
        return ""
    if isinstance(returned, BaseModel):
        return returned.model_dump_json()
    return returned if isinstance(returned, str) else orjson.dumps(returned, default=str).decode()


def load(path: Path | None) -> list[Tool]:
    """Return the tools of a file and of installed packages. Raises `ToolsError`."""
    found = [*(_of_file(path) if path else ()), *_of_packages()]
    names = [each.name for each in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ToolsError(f"two tools have one name: {', '.join(twice)}")
    return found


def _of_file(path: Path) -> Iterator[Tool]:
    spec = importlib.util.spec_from_file_location(f"continuity_tools_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ToolsError(f"CONTINUITY_TOOLS names no Python file: {path}")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ToolsError:
        raise
    except Exception as exc:
        raise ToolsError(f"{path} cannot be imported: {type(exc).__name__}: {exc}") from exc
    yield from _of_module(module, path.read_bytes())


@cache
def _announced() -> tuple[EntryPoint, ...]:
    """Look once into all that is installed: no process gets new packages."""
    return tuple(entry_points(group=GROUP))


def _of_packages() -> Iterator[Tool]:
    for point in _announced():
        try:
            loaded = point.load()
        except Exception as exc:
            raise ToolsError(f"the entry point {point.name} cannot be loaded: {type(exc).__name__}: {exc}") from exc
        yield from [loaded] if isinstance(loaded, Tool) else _of_module(loaded, str(point.dist).encode())


def _of_module(module: ModuleType, source: bytes) -> Iterator[Tool]:
    """The tools of a module; a consent holds for its `source` and description."""
    origin = blake2b(source, digest_size=8).hexdigest()
    for each in vars(module).values():
        if isinstance(each, Tool):
            yield replace(each, origin=origin)
