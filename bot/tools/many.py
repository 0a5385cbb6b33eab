"""More tools than a prompt bears: those that fit are offered, the rest is found by words and used by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import orjson

from bot.tools.tool import CallContext, NotDone, Tool, ToolResult
from memory.text import lowered, shorten, words_of

FIND, USE = "find_tools", "use_tool"
MOST_FOUND: Final = 6
_FIND_WORDS: Final = (
    "Find more of your tools by words for what is to be done, in English and as the person says it. Call what you find "
    "with use_tool. There are {count} more, of: {servers}."
)
_USE_WORDS: Final = "Call a tool that find_tools found."
_QUERY: Final = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
_NAMED: Final = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
    "required": ["name", "arguments"],
}


def fitted(tools: Sequence[Tool], most_tokens: int, count: Callable[[str], int]) -> tuple[Tool, ...]:
    """Return the tools, those beyond the budget hidden behind `find_tools` and `use_tool`; their order stays."""
    kept, used = list[Tool](), 0
    for tool in tools:
        used += count(orjson.dumps([tool.name, tool.description, dict(tool.parameters)]).decode())
        kept.append(replace(tool, hidden=True) if used > most_tokens else tool)
    hidden = [tool for tool in kept if tool.hidden]
    if not hidden:
        return tuple(kept)
    servers = ", ".join(dict.fromkeys(tool.server or tool.name for tool in hidden))
    words = _FIND_WORDS.format(count=len(hidden), servers=shorten(servers, 200))
    find = Tool(FIND, words, _QUERY, partial(_find, hidden), reads_only=True, trusted=True)
    use = Tool(USE, _USE_WORDS, _NAMED, _nothing, reads_only=True, trusted=True)
    return (*kept, find, use)


async def _find(hidden: Sequence[Tool], given: Mapping[str, Any], _: CallContext) -> ToolResult:
    """Tell the hidden tools that have most of the words, with their arguments."""
    wanted = set(words_of(lowered(str(given.get("query", "")))))
    ranked = sorted(hidden, key=lambda tool: -len(wanted & set(words_of(lowered(_words(tool))))))
    lines = [f"{tool.name}: {tool.description}\n  arguments: {json.dumps(tool.parameters)}" for tool in ranked]
    names = ", ".join(tool.name for tool in ranked[MOST_FOUND:])
    more = [f"Others: {shorten(names, 1000)}"] if names else []
    return ToolResult("\n".join([*lines[:MOST_FOUND], *more]), foreign=False)


def _words(tool: Tool) -> str:
    return f"{tool.name} {tool.title} {tool.description}".replace("_", " ").replace("-", " ")


async def _nothing(_: Mapping[str, Any], __: CallContext) -> ToolResult:
    raise NotDone("name a tool that find_tools found")
