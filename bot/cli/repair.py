"""The commands that mend stored data: checkpoints, schema, quarantine, bootstraps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bot.cli.common import (
    All,
    AsJson,
    MaybeSession,
    OfSession,
    Session,
    console,
    finished,
    load_settings,
    looking,
    one_or_all,
    progress,
    stop_with,
    tell,
    working,
)

if TYPE_CHECKING:
    from bot.ops.workspace import Workspace
    from memory.sessions.hydrator import HydrationReport

app = typer.Typer()
checkpoint = typer.Typer(help="Compare the checkpoints with the turn log, or rewrite them.", no_args_is_help=True)
quarantine = typer.Typer(help="Updates that were given up on.", no_args_is_help=True)
outbox = typer.Typer(help="Parts of messages that Telegram refused for good.", no_args_is_help=True)
bootstrap = typer.Typer(help="What is carried forward into new sessions.", no_args_is_help=True)

Part = Annotated[str, typer.Argument(help="As `outbox list` names it.")]
Mode = Literal["ask", "use", "off"]


@app.command()
def hydrate(
    session: MaybeSession = None,
    *,
    every: All = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done; works while the bot runs.")
    ] = False,
    backup: Annotated[
        Path | None,
        typer.Option("--from", help="A folder made by `backup`: altered and lost turns come back from it."),
    ] = None,
    accept: Annotated[
        bool,
        typer.Option("--accept", help="Keep altered turns without a copy, and other altered rows, as they are."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Rebuild sessions as a restart would, and repair differences of log and checkpoint."""
    named = one_or_all(session, every=every or (dry_run and session is None))
    if dry_run and accept:
        raise stop_with("--accept changes the log, --dry-run changes nothing: name one of them", 2)
    settings = load_settings()
    from bot.ops.copies import checkpoints
    from bot.ops.screens.lines import show_reports

    async def do(workspace: Workspace) -> Any:
        copy = backup.absolute() if backup else None
        return await checkpoints.hydrate(
            workspace, await named(workspace), dry_run=dry_run, backup=copy, accepting=accept, told=told
        )

    with progress("hydrating") as told:
        found = looking(settings, do) if dry_run else working(settings, do)
    done = "would hydrate like this; nothing was changed" if dry_run else "hydrated"
    tell(lambda: reports_as_json(found, dry_run=dry_run), lambda: show_reports(console, found, done=done))


def reports_as_json(reports: Sequence[HydrationReport], *, dry_run: bool = False) -> dict[str, Any]:
    """Return the sources and the work of hydrations as JSON values."""
    from dataclasses import asdict

    return {"dry_run": dry_run, "sessions": [asdict(report) for report in reports]}


@checkpoint.command("verify")
def checkpoint_verify(*, as_json: AsJson = False) -> None:
    """Compare every checkpoint, and the digest of every turn, with the log; exit 1 when something is wrong."""
    settings = load_settings()
    from dataclasses import asdict

    from bot.ops.copies import checkpoints
    from bot.ops.screens.lines import show_verdicts

    async def ask(workspace: Workspace) -> Any:
        verdicts = await checkpoints.verify(workspace, sorted(await workspace.session_ids()), told)
        return verdicts, workspace.memory.checkpoints.quarantined()

    with progress("verifying") as told:
        verdicts, set_aside = looking(settings, ask)
    wrong = any(verdict.level == "wrong" for verdict in verdicts)
    tell(
        lambda: {"ok": not wrong, "sessions": [asdict(each) for each in verdicts], "set_aside": set_aside},
        lambda: show_verdicts(console, verdicts, set_aside),
    )
    if wrong:
        raise typer.Exit(1)


@checkpoint.command("rebuild")
def checkpoint_rebuild(session: MaybeSession = None, *, every: All = False, as_json: AsJson = False) -> None:
    """Rewrite checkpoints from the turn log; turns that only a checkpoint knows are brought back first."""
    named = one_or_all(session, every=every)
    settings = load_settings()
    from bot.ops.copies import checkpoints
    from bot.ops.screens.lines import show_reports

    async def do(workspace: Workspace) -> Any:
        return await checkpoints.rebuild(workspace, await named(workspace), told)

    with progress("rebuilding") as told:
        found = working(settings, do)
    tell(lambda: reports_as_json(found), lambda: show_reports(console, found, done="rebuilt"))


@app.command()
def migrate(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what is pending.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database to this program's schema; a start does it too. Makes the database if there is none."""
    settings = load_settings()
    from bot.ops.copies.schema import pending, upgrade
    from bot.ops.screens.lines import show_migrated

    waiting = finished(pending(settings))
    applied: Sequence[str] = ()
    if waiting and not dry_run:
        with progress("migrating") as told:
            applied = finished(upgrade(settings, told))
    tell(
        lambda: {"pending": waiting if dry_run else (), "applied": applied},
        lambda: show_migrated(console, waiting, applied),
    )


@quarantine.command("list")
def quarantine_list(*, as_json: AsJson = False) -> None:
    """List the updates that were given up on, the latest first."""
    settings = load_settings()
    from dataclasses import asdict

    from bot.ops.records.quarantine import list_quarantined
    from bot.ops.screens.lines import show_quarantined
    from memory.clock import SystemClock

    found = looking(settings, list_quarantined)
    now_ms = SystemClock().now_ms()
    tell(lambda: [asdict(each) for each in found], lambda: show_quarantined(console, found, now_ms))


@quarantine.command("retry")
def quarantine_retry(
    update_id: Annotated[int, typer.Argument(help="As `quarantine list` names it.")], *, as_json: AsJson = False
) -> None:
    """Put an update back: the next start works on it as if it had just come."""
    settings = load_settings()
    from bot.ops.records.quarantine import retry
    from bot.replies import plural

    done = working(settings, lambda workspace: retry(workspace, update_id))
    tell(
        lambda: {"put_back": [each.update_id for each in done]},
        lambda: console.print(f"{plural(len(done), 'update')} put back; the next start works on it.", highlight=False),
    )


@quarantine.command("drop")
def quarantine_drop(
    update_id: Annotated[int, typer.Argument(help="As `quarantine list` names it.")], *, as_json: AsJson = False
) -> None:
    """Delete an update and its text for good."""
    settings = load_settings()
    from bot.ops.records.quarantine import drop

    working(settings, lambda workspace: drop(workspace, update_id))
    tell(lambda: {"dropped": update_id}, lambda: console.print(f"Update {update_id} is gone.", highlight=False))


@outbox.command("list")
def outbox_list(*, as_json: AsJson = False) -> None:
    """List the parts of messages that Telegram refused for good, the latest first."""
    settings = load_settings()
    from dataclasses import asdict

    from bot.ops.records.quarantine import list_failed_parts
    from bot.ops.screens.lines import show_failed_parts
    from memory.clock import SystemClock

    found = looking(settings, list_failed_parts)
    now_ms = SystemClock().now_ms()
    tell(lambda: [asdict(each) for each in found], lambda: show_failed_parts(console, found, now_ms))


@outbox.command("retry")
def outbox_retry(part_id: Part, *, as_json: AsJson = False) -> None:
    """Put a part back: the next start sends it as if it had just been written down."""
    settings = load_settings()
    from bot.ops.records.quarantine import retry_part

    working(settings, lambda workspace: retry_part(workspace, part_id))
    tell(lambda: {"put_back": part_id}, lambda: console.print("Put back; the next start sends it.", highlight=False))


@outbox.command("drop")
def outbox_drop(part_id: Part, *, as_json: AsJson = False) -> None:
    """Delete a part and its text for good."""
    settings = load_settings()
    from bot.ops.records.quarantine import drop_part

    working(settings, lambda workspace: drop_part(workspace, part_id))
    tell(lambda: {"dropped": part_id}, lambda: console.print(f"Part {part_id} is gone.", highlight=False))


@bootstrap.command("list")
def bootstrap_list(
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many sessions are looked at.")] = 60,
    as_json: AsJson = False,
) -> None:
    """List who is asked before something is carried forward, one line for each conversation."""
    settings = load_settings()
    from bot.ops.records import bootstrap as ops
    from bot.ops.screens.bootstrap import show_chosen

    found = looking(settings, lambda workspace: ops.list_chosen(workspace, limit))
    tell(
        lambda: {
            "conversations": [
                {
                    "session_id": one.session_id,
                    "conversation_id": one.conversation_id,
                    "persona": one.persona,
                    **one.preference.model_dump(mode="json"),
                }
                for one in found
            ]
        },
        lambda: show_chosen(console, found),
    )


@bootstrap.command("run")
def bootstrap_run(
    *,
    session: OfSession,
    as_json: AsJson = False,
) -> None:
    """Print every stage of the bootstrap for a session's user; stores nothing."""
    settings = load_settings()
    from bot.ops.records import bootstrap as ops
    from bot.ops.screens import bootstrap as screen_bootstrap

    async def ask(workspace: Workspace) -> Any:
        return await ops.run(workspace, await workspace.find(session))

    found = looking(settings, ask)
    tell(lambda: found.model_dump(mode="json"), lambda: screen_bootstrap.show(console, found))


@bootstrap.command("refresh")
def bootstrap_refresh(
    session: Session,
    *,
    as_json: AsJson = False,
) -> None:
    """Prepare the bootstrap for a session's user again, and store it."""
    settings = load_settings()
    from bot.ops.records import bootstrap as ops
    from bot.ops.screens import bootstrap as screen_bootstrap

    async def do(workspace: Workspace) -> Any:
        return await ops.refresh(workspace, await workspace.find(session))

    found = working(settings, do)
    tell(lambda: found.model_dump(mode="json"), lambda: screen_bootstrap.show(console, found))


@bootstrap.command("prefer")
def bootstrap_prefer(
    session: Session,
    mode: Annotated[Mode, typer.Argument(help="What happens after a silence.")],
    *,
    skip_preview: Annotated[bool, typer.Option("--skip-preview", help="With `use`: show no preview either.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set whether a session's user is asked before something is carried forward, always, or never."""
    settings = load_settings()
    from bot.ops.records import bootstrap as ops

    async def do(workspace: Workspace) -> None:
        await ops.prefer(workspace, await workspace.find(session), mode, skip_preview=skip_preview)

    working(settings, do)
    tell(
        lambda: {"mode": mode, "skip_preview": skip_preview},
        lambda: console.print(f"From now on: {mode}.", highlight=False),
    )


@bootstrap.command("clear")
def bootstrap_clear(session: MaybeSession = None, *, every: All = False, as_json: AsJson = False) -> None:
    """Remove prepared bootstraps (of a session's user, or of all); preferences stay."""
    named = one_or_all(session, every=every)
    settings = load_settings()
    from bot.ops.records import bootstrap as ops

    async def do(workspace: Workspace) -> int:
        return await ops.clear(workspace, await named(workspace), every=every)

    cleared = working(settings, do)
    tell(
        lambda: {"cleared": cleared},
        lambda: console.print("Cleared; preferences and fresh starts stay. It's made again when it's needed."),
    )
