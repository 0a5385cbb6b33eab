"""The model's tool for files: pages of a document. It is offered where there are files, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.files.finding import FileFinder
from bot.files.passages import MOST_PAGES, asked_pages
from bot.files.readings import Readings
from bot.files.rows import StoredFile
from bot.tools.tool import CallContext, Place, Tool, ToolResult

_PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "number": {"type": "integer", "description": "2 for document #2."},
        "pages": {"type": "string", "description": "3-5; without it from the beginning."},
    },
}


_LOOK: Final = {
    "type": "object",
    "properties": {
        "number": {"type": "integer", "description": "2 for picture #2."},
        "pages": {"type": "string", "description": "Of a PDF: 3 or 3-5, at most four."},
    },
    "required": ["number"],
}


class FileTools:
    """The tools for the files of a chat."""

    def __init__(self, finder: FileFinder, readings: Readings, most_chars: int) -> None:
        self._finder = finder
        self._readings = readings
        self._most_chars = most_chars
        self._read = Tool(
            name="read_document",
            description="Read pages of a file that was sent here. Without a number: which files there are.",
            parameters=_PARAMETERS,
            run=self.read,
            reads_only=True,
            trusted=True,
        )
        self._look = Tool(
            name="look_at",
            description="See a picture that was sent here once more, or pages of a PDF as pictures.",
            parameters=_LOOK,
            run=self.look,
            shows=self.shown,
            reads_only=True,
            trusted=True,
        )

    async def offered(self, place: Place) -> Sequence[Tool]:
        """The tools of a chat. Raises `StorageUnavailable`."""
        if not await self._finder.has_files(place.conversation_id):
            return ()
        return (self._read, self._look) if self._readings.sees else (self._read,)

    async def read(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        """Pages of a file, as far as the turn that is being answered may be told of it."""
        number, pages = arguments.get("number"), str(arguments.get("pages") or "")
        reach = self._finder.reach_of(context.place.conversation_id)
        return ToolResult(await self._finder.pages(reach, number, pages, self._most_chars))

    async def look(self, arguments: Mapping[str, Any], context: CallContext) -> ToolResult:
        """The pictures asked for, or the reason why none is shown."""
        file = await self._file(arguments, context)
        if file is None:
            return ToolResult("There is no such file. read_document without a number lists them.", foreign=False)
        if not await self.shown(arguments, context):
            return ToolResult(f"{file.called()} cannot be shown ({file.said()}).")
        return ToolResult(f"{file.called()} is shown to you with the person's message.")

    async def shown(self, arguments: Mapping[str, Any], context: CallContext) -> Sequence[bytes]:
        """The pictures that a call shows. Raises `StorageUnavailable`."""
        file = await self._file(arguments, context)
        if file is None:
            return ()
        if file.is_picture:
            data = await self._readings.picture(file)
            return (data,) if data else ()
        return await self._readings.pages(file, asked_pages(str(arguments.get("pages") or "1"))[:MOST_PAGES])

    async def _file(self, arguments: Mapping[str, Any], context: CallContext) -> StoredFile | None:
        """The file that is meant, as far as the turn that is being answered may be told of it."""
        number = arguments.get("number")
        return await self._finder.file(context.place.conversation_id, number) if type(number) is int else None
