"""Parts of every command: settings, data opened for reading or for work, answers and exit codes."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.exceptions import TyperException

if TYPE_CHECKING:
    from bot.ops.workspace import Told, Workspace
    from bot.settings import Settings, SettingsError

_T = TypeVar("_T")

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
"""We have none; to look for them pydantic reads the metadata of every installed package, 0.1 s of each command."""

console = Console(markup=False)  # what is shown comes from people, files and arguments: `[/x]` is text
errors = Console(stderr=True, markup=False)

_UNHEARD = logging.NullHandler()

for_programs: ContextVar[bool] = ContextVar("for_programs", default=False)
"""Whether this call was asked for JSON: then standard output holds one document, also when it fails."""


def begun(incomplete: str) -> list[str]:
    """Return the sessions whose ids begin like this, for the shell's completion; nothing where that can't be told."""
    import asyncio

    from bot.ops.workspace import OpsError, open_read_only
    from bot.settings import SettingsError, read_settings
    from memory.errors import ContinuityError

    async def ids() -> list[str]:
        async with open_read_only(read_settings()) as workspace:
            return sorted(await workspace.session_ids())

    try:
        return [each for each in asyncio.run(ids()) if each.startswith(incomplete)]
    except (SettingsError, OpsError, ContinuityError, OSError):
        return []


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, errors too.")]
All = Annotated[bool, typer.Option("--all", help="Every session.")]
OfConversation = Annotated[
    str | None, typer.Option("--conversation", help="One chat: its number, or the whole key tg:…", show_default=False)
]
OfUser = Annotated[
    int | None, typer.Option("--user", help="A person's Telegram id: wherever they spoke.", show_default=False)
]
Session = Annotated[str, typer.Argument(help="Its id, or the beginning of it.", autocompletion=begun)]
MaybeSession = Annotated[
    str | None, typer.Argument(help="Its id, or the beginning of it.", show_default=False, autocompletion=begun)
]
OfSession = Annotated[
    str, typer.Option("--session", help="Whose: the user of this session; its id, or the beginning of it.",
                      autocompletion=begun)
]  # fmt: skip


# --- how a command answers ------------------------------------------------------------------------------------------


class Commands(TyperGroup):
    """The commands; errors of usage are JSON too when JSON was asked for."""

    def main(self, *words: Any, **extra: Any) -> Any:
        """Run the command that the arguments name, and end the process with its exit code."""
        args = extra.pop("args", words[0] if words else None)
        given = sys.argv[1:] if args is None else list(args)
        for_programs.set("--json" in given)
        if not for_programs.get():
            return super().main(args=given, **extra)
        try:
            code = super().main(args=given, **extra | {"standalone_mode": False})
        except TyperException as exc:
            code = stop_with(exc.format_message(), exc.exit_code).exit_code
        except typer.Abort:
            code = stop_with("it was broken off").exit_code
        return sys.exit(code or 0)


def tell(values: Callable[[], Any], show: Callable[[], None]) -> None:
    """Answer: for people by `show`, which prints, for programs with `values()` as the one document."""
    if for_programs.get():
        print_json(values())
    else:
        show()


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output, the same at every width."""
    import orjson

    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str).decode())


def stop_with(message: str, code: int = 1, **more: Any) -> typer.Exit:
    """Say why the command ends: a sentence on standard error, or `{"error": …}`; return the exit to raise."""
    if for_programs.get():
        print_json({"error": {"message": message, "exit_code": code, **more}})
    else:
        errors.print(f"Error: {message}", style="red", highlight=False, soft_wrap=True)
    return typer.Exit(code)


@contextmanager
def progress(what: str) -> Iterator[Told]:
    """Yield the function that hears the progress of long work: a bar on a terminal; none elsewhere and with --json."""
    if for_programs.get() or not errors.is_terminal:
        yield lambda _, __: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


# --- the data of a command -----------------------------------------------------------------------------------------


def load_settings() -> Settings:
    """Return the settings, or say their faults and exit with 2."""
    from bot.settings import SettingsError, read_settings

    try:
        return read_settings()
    except SettingsError as exc:
        raise wrong_settings(exc) from None


def wrong_settings(exc: SettingsError) -> typer.Exit:
    """Say a line for each setting that cannot be used; return the exit to raise, with 2."""
    return stop_with("\n".join(f"{name}: {fault}" for name, fault in exc.faults.items()), 2, settings=exc.faults)


def finished(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a command's work and return its result; a failure is said in one sentence, exit 1."""
    import asyncio

    from bot.ops.workspace import OpsError
    from memory.errors import ContinuityError, reason

    logging.getLogger("memory").addHandler(_UNHEARD)  # a command says itself what it finds
    try:
        return asyncio.run(work)
    except (OpsError, ContinuityError) as exc:
        raise stop_with(str(exc)) from None
    except OSError as exc:
        raise stop_with(f"the system refuses: {reason(exc)}; mend that and try again") from None


def looking(settings: Settings, ask: Callable[[Workspace], Awaitable[_T]], *, older: bool = False) -> _T:
    """Return the answer of `ask` to data opened for reading: safe while the bot runs; `older` = of any older schema."""
    from bot.ops.workspace import open_read_only

    async def asked() -> _T:
        async with open_read_only(settings, older=older) as workspace:
            return await ask(workspace)

    return finished(asked())


def working(settings: Settings, do: Callable[[Workspace], Awaitable[_T]]) -> _T:
    """Return the result of `do` on the data, with the bot's lock held: refused while the bot runs."""
    from bot.ops.workspace import work

    async def done() -> _T:
        async with work(settings) as workspace:
            return await do(workspace)

    return finished(done())


def one_or_all(session: str | None, *, every: bool) -> Callable[[Workspace], Awaitable[list[str]]]:
    """Return the function that finds the sessions that were named. Exits with 2 when neither one nor all were."""
    if (session is None) != every:
        raise stop_with("name one session, or say --all", 2)

    async def named(workspace: Workspace) -> list[str]:
        return sorted(await workspace.session_ids()) if session is None else [await workspace.find(session)]

    return named
