"""A server's tools as the model is offered them: named after their server, without invisible signs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

import orjson

from bot.tools.mcp.session import ToolInfo
from bot.tools.visible import all_visible, visible
from memory.text import clean

MOST_NAME: Final = 64
DESCRIPTION_CHARS: Final = 800
SCHEMA_BYTES: Final = 12_000
"""A larger description of arguments is offered without its words."""
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]+")
EMPTY: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


def name_of(server: str, tool: str) -> str:
    """Return the name by which the model calls a tool: the same for the same tool, at most 64 characters."""
    plain = f"{server}__{_NOT_IN_NAMES.sub('_', tool)}"
    if len(plain) <= MOST_NAME and plain == f"{server}__{tool}":
        return plain
    mark = blake2b(tool.encode("utf-8", "replace"), digest_size=3).hexdigest()
    return f"{plain[: MOST_NAME - len(mark) - 1]}_{mark}"


def names_in(listing: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools in a row of `tool_listings`, as the model calls them."""
    return [name_of(listing["server"], each["name"]) for each in orjson.loads(listing["tools_json"])]


def described(info: ToolInfo) -> ToolInfo:
    """Return a tool with its words as they may be shown to a model."""
    parameters = all_visible(info.parameters if isinstance(info.parameters, Mapping) else EMPTY)
    if len(orjson.dumps(parameters)) > SCHEMA_BYTES:
        parameters = _bare(parameters)
    if len(orjson.dumps(parameters)) > SCHEMA_BYTES:
        parameters = dict(EMPTY)
    text = visible(clean(info.description)).strip()[:DESCRIPTION_CHARS]
    title = " ".join(visible(clean(info.title or info.name)).split())[:80]
    return ToolInfo(info.name, title, text or title, {**EMPTY, **parameters}, all_visible(info.annotations))


def _bare(value: Any) -> Any:
    """A schema without the words that explain it."""
    if isinstance(value, Mapping):
        return {name: _bare(each) for name, each in value.items() if name not in {"description", "title", "examples"}}
    return list(map(_bare, value)) if isinstance(value, list) else value
