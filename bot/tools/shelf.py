"""The tools that are offered to a person in a chat: those of every source, in order, each name once."""

from __future__ import annotations

from collections.abc import Sequence

from bot.tools.tool import Place, Source, Tool


class Shelf:
    """Gathers the tools of all sources."""

    def __init__(self, sources: Sequence[Source] = (), taken: Sequence[str] = ()) -> None:
        """Names in `taken` belong to the notes' tools."""
        self._sources = tuple(sources)
        self._taken = frozenset(taken)

    async def offered(self, place: Place) -> tuple[Tool, ...]:
        """Return the tools of this place; of two with one name the first. Raises `StorageUnavailable`."""
        found: dict[str, Tool] = {}
        for source in self._sources:
            for tool in await source(place):
                if tool.name not in self._taken:
                    found.setdefault(tool.name, tool)
        return tuple(found.values())
