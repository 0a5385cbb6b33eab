"""What the commands share: settings, data opened for reading or for work, what is printed, how a command ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console

from bot.settings import Settings, SettingsError, read_settings

if TYPE_CHECKING:
    from bot.ops.workspace import Workspace

_T = TypeVar("_T")

console = Console(markup=False)  # what is shown comes from people, files and arguments: `[/x]` is text
errors = Console(stderr=True, markup=False)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
All = Annotated[bool, typer.Option("--all", help="Every session.")]
OfConversation = Annotated[
    str | None, typer.Option("--conversation", help="One chat: its number, or the whole key tg:…", show_default=False)
]
OfUser = Annotated[
    int | None, typer.Option("--user", help="A person's Telegram id: wherever they spoke.", show_default=False)
]
MaybeSession = Annotated[str | None, typer.Argument(help="Its id or a beginning of it.", show_default=False)]


def load_settings() -> Settings:
    """Return the settings, or say what is wrong with them and exit with 2."""
    try:
        return read_settings()
    except SettingsError as exc:
        for name, fault in exc.faults.items():
            errors.print(f"{name}: {fault}", style="red", highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None


def stop_with(message: str, code: int = 1) -> typer.Exit:
    """Say one sentence on standard error; return the exit to raise."""
    errors.print(message, style="red", highlight=False, soft_wrap=True)
    return typer.Exit(code)


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output, the same at every width."""
    import orjson  # noqa: PLC0415 - only needed here

    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str).decode())


def finished(work: Coroutine[Any, Any, _T]) -> _T:
    """Return what a command's work returns; what it cannot do is said in one sentence, exit 1."""
    from bot.ops.workspace import OpsError  # noqa: PLC0415 - `run` and --help need nothing of the operator's commands
    from memory.errors import ContinuityError  # noqa: PLC0415

    try:
        return asyncio.run(work)
    except (OpsError, ContinuityError) as exc:
        raise stop_with(str(exc)) from None


def looking(settings: Settings, ask: Callable[[Workspace], Awaitable[_T]]) -> _T:
    """Return what was asked of the data, opened for reading: safe while the bot runs."""
    from bot.ops.workspace import open_read_only  # noqa: PLC0415

    async def asked() -> _T:
        async with open_read_only(settings) as workspace:
            return await ask(workspace)

    return finished(asked())


def working(settings: Settings, do: Callable[[Workspace], Awaitable[_T]]) -> _T:
    """Return what was done to the data, with the bot's lock held: refused while the bot runs."""
    from bot.ops.workspace import work  # noqa: PLC0415

    async def done() -> _T:
        async with work(settings) as workspace:
            return await do(workspace)

    return finished(done())


def one_or_all(session: str | None, *, every: bool) -> Callable[[Workspace], Awaitable[list[str]]]:
    """Return what finds the sessions that were named. Exits with 2 when neither one nor all were."""
    if (session is None) != every:
        raise stop_with("name one session, or say --all", 2)

    async def named(workspace: Workspace) -> list[str]:
        return sorted(await workspace.session_ids()) if session is None else [await workspace.find(session)]

    return named
