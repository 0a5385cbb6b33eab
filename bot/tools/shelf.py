"""The tools that are offered to a person in a chat: those of every source, in order, each name once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from bot.tools.choices import EVERYBODY, Choices, ToolChoices, server_name
from bot.tools.many import FIND, USE
from bot.tools.presence import can_be_asked
from bot.tools.results import Results
from bot.tools.tool import Place, Source, Tool

if TYPE_CHECKING:
    from bot.tools.mcp.servers import Servers

NOTE_TOOLS: Final = frozenset(
    {"note", "change", "end", "remind", "search", "forget", "settings", "read_result", FIND, USE}
)
"""Names that are taken."""
Fit = Callable[[Sequence[Tool]], tuple[Tool, ...]]


def all_of(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Hide nothing."""
    return tuple(tools)


class Shelf:
    """Gathers the tools of all sources."""

    def __init__(
        self,
        sources: Sequence[Source],
        choices: ToolChoices,
        results: Results,
        *,
        fit: Fit = all_of,
        servers: Servers | None = None,
    ) -> None:
        """`sources` are in the bot itself; `servers` are those of MCP, None for none.

        `fit` hides tools where a prompt cannot hold all.
        """
        self._sources = tuple(sources)
        self._results = results
        self._fit = fit
        self.choices = choices
        self.servers = servers

    def troubles(self) -> Sequence[str]:
        """Return the servers that can't be reached just now."""
        return self.servers.troubles() if self.servers else ()

    async def close(self) -> None:
        """End the servers."""
        if self.servers is not None:
            await self.servers.close()

    async def all(self, place: Place) -> tuple[Tool, ...]:
        """Return every tool of this place, also those that its person switched off; of two with one name the first.

        Tools that the operator switched off for everybody are missing.
        """
        choices = await self.choices.of(place)
        return tuple(tool for tool in await self._found(place, choices) if not choices.is_gone(tool))

    async def _found(self, place: Place, choices: Choices) -> list[Tool]:
        tools = [tool for source in self._sources for tool in await source(place)]
        if self.servers is not None:
            tools += await self.servers.offered(place, choices)
        found: dict[str, Tool] = {}
        for tool in tools:
            if tool.name not in NOTE_TOOLS:
                found.setdefault(tool.name, tool)
        return list(found.values())

    async def with_off(
        self, place: Place, *, by_clock: bool = False, private: bool = False
    ) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
        """Return the tools `offered`, and names that the person of this place switched off: whole servers, then tools.

        A `private` conversation is offered none that keeps something. Raises `StorageUnavailable`.
        """
        if not (self._sources or self.servers):
            return (), ()
        choices = await self.choices.of(place)
        found = [tool for tool in await self._found(place, choices) if not (private and tool.keeps)]
        return self._of(found, place, choices, by_clock=by_clock), _off(found, choices)

    def _of(self, found: Sequence[Tool], place: Place, choices: Choices, *, by_clock: bool) -> tuple[Tool, ...]:
        tools = [tool for tool in found if not (by_clock and tool.with_turn) and not choices.hides(tool)]
        tools = [tool for tool in tools if tool.runs_unasked or can_be_asked(place)]
        has_results = any(not tool.with_turn for tool in tools)
        return (*self._fit(tools), *self._results.tools()) if has_results else tuple(tools)

    async def inside(self) -> tuple[Tool, ...]:
        """Return the tools that need no server, also those switched off."""
        return tuple([tool for source in self._sources for tool in await source(EVERYBODY)])

    async def offered(self, place: Place, *, by_clock: bool = False) -> tuple[Tool, ...]:
        """Return the tools of the model in this place, `by_clock` in a run of a task. `StorageUnavailable`."""
        return (await self.with_off(place, by_clock=by_clock))[0]


def _off(found: Sequence[Tool], choices: Choices) -> tuple[str, ...]:
    if not any(map(choices.is_off, choices.by_name)):
        return ()
    tools = [tool for tool in found if not choices.is_gone(tool)]
    servers = {tool.server: choices.is_off(server_name(tool.server)) for tool in tools if tool.server}
    single = (tool.name for tool in tools if choices.is_off(tool.name) and not servers.get(tool.server))
    return (*(name for name, is_off in servers.items() if is_off), *single)
