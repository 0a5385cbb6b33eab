"""The commands about whole data: forget or export a person or a chat, back up and restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.common import (
    AsJson,
    OfConversation,
    OfUser,
    console,
    finished,
    for_programs,
    load_settings,
    looking,
    print_json,
    progress,
    stop_with,
    tell,
    working,
)

app = typer.Typer()


def one_of(conversation: str | None, user: int | None) -> None:
    """Exit with 2 unless either a conversation or a person was named."""
    if (conversation is None) == (user is None):
        raise stop_with("name one: --conversation or --user", 2)


@app.command()
def forget(
    *,
    conversation: OfConversation = None,
    user: OfUser = None,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a conversation, or a person everywhere, and search the files for traces; exit 1 if any is left."""
    one_of(conversation, user)
    if for_programs.get() and not yes:
        raise stop_with("with --json nothing is asked: say --yes too", 2)
    settings = load_settings()
    from dataclasses import asdict

    from bot.features.forgetting.texts import report_text
    from bot.ops.records import personal

    what = f"conversation {conversation}" if user is None else f"user {user}"
    if not yes:
        typer.confirm(f"Forget {what} for ever?", abort=True)
    done = working(settings, lambda workspace: personal.forget(workspace, conversation, user))

    def show() -> None:
        for each in done:
            report = report_text(each.counts, each.proof)
            console.print(f"{each.conversation_id}: {report}", highlight=False, soft_wrap=True)
        if not done:
            console.print(f"Nothing is kept of {what}.", highlight=False)

    tell(lambda: {"forgotten": [asdict(each) for each in done]}, show)
    if any(each.proof.found != 0 for each in done):
        raise typer.Exit(1)


@app.command()
def export(
    target: Annotated[Path | None, typer.Argument(help="A new file; standard output when left out.")] = None,
    *,
    conversation: OfConversation = None,
    user: OfUser = None,
    as_json: AsJson = False,
) -> None:
    """Write all that is kept about a conversation or a person as JSON; safe while the bot runs."""
    one_of(conversation, user)
    settings = load_settings()
    from bot.ops.format import size
    from bot.ops.records import personal
    from bot.ops.workspace import OpsError

    with progress("gathering") as told:
        document = looking(settings, lambda workspace: personal.export(workspace, conversation, user, told))
    if target is None:
        print_json(document)
        return
    try:
        written = personal.write_private(target, document)
    except OpsError as exc:
        raise stop_with(str(exc)) from None
    tell(
        lambda: {"file": str(target), "bytes": written},
        lambda: console.print(f"{target}: {size(written)}", highlight=False),
    )


@app.command()
def backup(target: Annotated[Path, typer.Argument(help="A new folder.")], *, as_json: AsJson = False) -> None:
    """Copy the database and the checkpoints into a new folder; safe while the bot runs."""
    settings = load_settings()
    from dataclasses import asdict

    from bot.ops.copies.backup import back_up
    from bot.ops.screens.lines import show_backup

    with progress("copying pages") as told:
        made = looking(settings, lambda workspace: back_up(workspace, target.absolute(), told), older=True)
    tell(lambda: asdict(made), lambda: show_backup(console, made))


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(help="A folder made by `backup`.")], *, as_json: AsJson = False
) -> None:
    """Put a backup in place of the present data, which is moved aside, never deleted."""
    settings = load_settings()
    from dataclasses import asdict

    from bot.ops.copies.restore import Restored
    from bot.ops.copies.restore import restore as put_back
    from bot.ops.screens.lines import show_restored
    from bot.ops.workspace import open_exclusive
    from memory.clock import SystemClock

    now_ms = SystemClock().now_ms()

    async def do() -> Restored:
        with open_exclusive(settings):
            return await put_back(settings, source.absolute(), now_ms)

    done = finished(do())
    tell(lambda: asdict(done), lambda: show_restored(console, done, settings.zone, now_ms))


@app.command()
def move(
    to: Annotated[str, typer.Option("--to", help="postgresql://host/name, or sqlite:///path/to/file.db.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Copy everything into another database and check the copy; run again, it goes on. The old one stays."""
    settings = load_settings()
    from bot.ops.copies.move import move as copy_all
    from memory.storage.place import shown

    with progress("rows copied and read at both ends") as told:
        rows = finished(copy_all(settings, to, told))
    tell(
        lambda: {"database": shown(to), "rows": rows},
        lambda: console.print(
            f"{rows:,} rows are in {shown(to)}, each table with the same digest at both ends. Set "
            "CONTINUITY_DATABASE_URL to that address; until then the bot goes on with the old one.",
            highlight=False,
            soft_wrap=True,
        ),
    )
