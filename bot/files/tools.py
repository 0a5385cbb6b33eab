"""The model's tool for files: pages of a document. It is offered where there are files, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.files.finding import FileFinder
from bot.tools.tool import CallContext, Place, Tool, ToolResult

_PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "number": {"type": "integer", "description": "2 for document #2."},
        "pages": {"type": "string", "description": "3-5; without it from the beginning."},
    },
}


class FileTools:
    """The tools for the files of a chat."""

    def __init__(self, finder: FileFinder, most_chars: int) -> None:
        self._finder = finder
        self._most_chars = most_chars
        self._read = Tool(
            name="read_document",
            description="Read pages of a file that was sent here. Without a number: which files there are.",
            parameters=_PARAMETERS,
            run=self.read,
            reads_only=True,
            trusted=True,
        )

    async def offered(self, place: Place) -> Sequence[Tool]:
        """The tools of a chat. Raises `StorageUnavailable`."""
        return (self._read,) if await self._finder.has_files(place.conversation_id) else ()

    async def read(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Pages of a file, as far as the turn that is being answered may be told of it."""
        number, pages = arguments.get("number"), str(arguments.get("pages") or "")
        reach = self._finder.reach_of(context.place.conversation_id)
        return ToolResult(await self._finder.pages(reach, number, pages, self._most_chars))
