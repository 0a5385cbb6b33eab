"""The commands that mend what is stored: checkpoints, schema, quarantine, what is carried forward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.cli.common import (
    All,
    AsJson,
    MaybeSession,
    console,
    finished,
    load_settings,
    looking,
    one_or_all,
    print_json,
    working,
)

if TYPE_CHECKING:
    from bot.ops.workspace import Workspace

app = typer.Typer()
checkpoint = typer.Typer(help="Compare the checkpoints with the turn log, or write them anew.", no_args_is_help=True)
quarantine = typer.Typer(help="Updates that were given up on.", no_args_is_help=True)
bootstrap = typer.Typer(help="What is carried forward into new sessions.", no_args_is_help=True)


@app.command()
def hydrate(
    session: MaybeSession = None,
    *,
    every: All = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell; works while the bot runs.")] = False,
) -> None:
    """Rebuild sessions as a restart would, and repair what log and checkpoint disagree on."""
    named = one_or_all(session, every=every or (dry_run and session is None))
    settings = load_settings()
    from bot.ops import checkpoints  # noqa: PLC0415
    from bot.ops.screen import show_reports  # noqa: PLC0415

    async def do(workspace: Workspace) -> Any:
        return await checkpoints.hydrate(workspace, await named(workspace), dry_run=dry_run)

    found = looking(settings, do) if dry_run else working(settings, do)
    show_reports(console, found, done="would hydrate like this; nothing was changed" if dry_run else "hydrated")


@checkpoint.command("verify")
def checkpoint_verify(*, as_json: AsJson = False) -> None:
    """Compare every checkpoint, and the digest of every turn, with the log; exit 1 when something is wrong."""
    settings = load_settings()
    from dataclasses import asdict  # noqa: PLC0415

    from bot.ops import checkpoints  # noqa: PLC0415
    from bot.ops.screen import show_verdicts  # noqa: PLC0415

    async def ask(workspace: Workspace) -> Any:
        return await checkpoints.verify(
            workspace, sorted(await workspace.session_ids())
        ), workspace.memory.checkpoints.quarantined()

    verdicts, set_aside = looking(settings, ask)
    wrong = any(verdict.level == "wrong" for verdict in verdicts)
    if as_json:
        print_json({"ok": not wrong, "sessions": [asdict(each) for each in verdicts], "set_aside": set_aside})
    else:
        show_verdicts(console, verdicts, set_aside)
    if wrong:
        raise typer.Exit(1)


@checkpoint.command("rebuild")
def checkpoint_rebuild(session: MaybeSession = None, *, every: All = False) -> None:
    """Write checkpoints anew from the turn log; turns that only a checkpoint knows are brought back first."""
    named = one_or_all(session, every=every)
    settings = load_settings()
    from bot.ops import checkpoints  # noqa: PLC0415
    from bot.ops.screen import show_reports  # noqa: PLC0415

    async def do(workspace: Workspace) -> Any:
        return await checkpoints.rebuild(workspace, await named(workspace))

    show_reports(console, working(settings, do), done="rebuilt")


@app.command()
def migrate(*, dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what is pending.")] = False) -> None:
    """Bring the database to this program's schema; a start does it too. Makes the database if there is none."""
    settings = load_settings()
    from bot.ops.schema import pending, upgrade  # noqa: PLC0415

    waiting = finished(pending(settings))
    if not waiting:
        console.print("Nothing is pending: the schema is up to date.")
        return
    for name in waiting:
        console.print(f"pending: {name}", highlight=False)
    if not dry_run:
        applied = finished(upgrade(settings))
        console.print(f"Applied {len(applied)}.", style="green", highlight=False)


@quarantine.command("list")
def quarantine_list(*, as_json: AsJson = False) -> None:
    """List the updates that were given up on, the latest first."""
    settings = load_settings()
    from dataclasses import asdict  # noqa: PLC0415

    from bot.ops.quarantine import list_quarantined  # noqa: PLC0415
    from bot.ops.screen import show_quarantined  # noqa: PLC0415
    from memory.clock import SystemClock  # noqa: PLC0415

    found = looking(settings, list_quarantined)
    if as_json:
        print_json([asdict(each) for each in found])
    else:
        show_quarantined(console, found, SystemClock().now_ms())


@quarantine.command("retry")
def quarantine_retry(update_id: Annotated[int, typer.Argument(help="As `quarantine list` names it.")]) -> None:
    """Put an update back: the next start works on it as if it had just come."""
    settings = load_settings()
    from bot.ops.quarantine import retry  # noqa: PLC0415
    from bot.replies import plural  # noqa: PLC0415

    done = working(settings, lambda workspace: retry(workspace, update_id))
    console.print(f"{plural(len(done), 'update')} put back; the next start works on it.", highlight=False)


@bootstrap.command("run")
def bootstrap_run(
    *,
    session: Annotated[str, typer.Option(help="Whose: the user of this session; its id or a beginning of it.")],
    as_json: AsJson = False,
) -> None:
    """Print every stage of what would be carried forward for a session's user; stores nothing."""
    settings = load_settings()
    from bot.ops import bootstrap as ops  # noqa: PLC0415
    from bot.ops import screen_bootstrap  # noqa: PLC0415

    async def ask(workspace: Workspace) -> Any:
        return await ops.run(workspace, await workspace.find(session))

    found = looking(settings, ask)
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        screen_bootstrap.show(console, found)


@bootstrap.command("clear")
def bootstrap_clear(session: MaybeSession = None, *, every: All = False) -> None:
    """Remove what was prepared to be carried forward (of a session's user, or of all); preferences stay."""
    named = one_or_all(session, every=every)
    settings = load_settings()
    from bot.ops import bootstrap as ops  # noqa: PLC0415

    async def do(workspace: Workspace) -> int:
        return await ops.clear(workspace, await named(workspace), every=every)

    working(settings, do)
    console.print("Cleared; preferences and fresh starts stay. It is made anew when it is needed.")
