"""The operator's commands: `continuity-bot --help`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console

from bot.settings import Settings, SettingsError, read_settings

if TYPE_CHECKING:
    from bot.ops.workspace import Workspace

_T = TypeVar("_T")

app = typer.Typer(
    help="A Telegram assistant that never loses the thread.", no_args_is_help=True, pretty_exceptions_enable=False
)


def _version(asked: bool) -> None:  # noqa: FBT001 - how the library calls it
    if asked:
        console.print(f"continuity-bot {metadata.version('continuity-bot')}", highlight=False)
        raise typer.Exit


@app.callback()
def main(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Do what the command says."""


checkpoint = typer.Typer(help="Compare the checkpoints with the turn log, or write them anew.", no_args_is_help=True)
quarantine = typer.Typer(help="Updates that were given up on.", no_args_is_help=True)
bootstrap = typer.Typer(help="What is carried forward into new sessions.", no_args_is_help=True)
app.add_typer(checkpoint, name="checkpoint")
app.add_typer(quarantine, name="quarantine")
app.add_typer(bootstrap, name="bootstrap")
console = Console(markup=False)  # what is shown comes from people, files and arguments: `[/x]` is text
errors = Console(stderr=True, markup=False)

TOKEN_HINT = "get a token from @BotFather and set TELEGRAM_BOT_TOKEN (in the environment or in .env)"
MODEL_HINT = "set CONTINUITY_MODEL, e.g. openai:gpt-5-mini with OPENAI_API_KEY"

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


def require_model(settings: Settings) -> None:
    """Exit with 2 when the model can't answer: a name that is wrong, a key or a library that is missing."""
    from bot.ops.doctor import of_model  # noqa: PLC0415

    for name in filter(None, (settings.continuity_model, settings.continuity_summary_model)):
        for check in of_model(name, {variable for variable, value in os.environ.items() if value}):
            if check.level == "fail":
                raise stop_with(f"{check.says}; {check.do}", 2)


# --- start ----------------------------------------------------------------------------------------------------------


@app.command()
def run() -> None:
    """Run the bot on Telegram until SIGTERM or Ctrl-C."""
    settings = load_settings()
    if settings.telegram_bot_token is None:
        raise stop_with(
            f"TELEGRAM_BOT_TOKEN is missing: {TOKEN_HINT}. Without one, `continuity-bot chat` talks to it right here.",
            2,
        )
    require_model(settings)
    from bot.app import run as run_app  # noqa: PLC0415
    from bot.delivery.connection import StartError  # noqa: PLC0415 - Telegram's library is not needed to say what is missing
    from bot.logs import set_up  # noqa: PLC0415
    from bot.people.personas import PersonaError  # noqa: PLC0415
    from memory.errors import ContinuityError  # noqa: PLC0415

    set_up(settings.continuity_log_level, settings.continuity_log_format, secrets=settings.secrets)
    try:
        asyncio.run(run_app(settings))
    except (StartError, ContinuityError, PersonaError) as exc:
        raise stop_with(str(exc)) from None


@app.command()
def chat(
    folder: Annotated[Path, typer.Option(help="Where the conversation is kept.")] = Path(".playground"),
) -> None:
    """Talk to the bot in this terminal: the same program over a Telegram on this machine; no token needed."""
    settings = load_settings()
    require_model(settings)
    from bot.delivery.connection import StartError  # noqa: PLC0415 - as above
    from bot.people.personas import PersonaError  # noqa: PLC0415
    from bot.playground.session import chat as run_chat  # noqa: PLC0415
    from memory.errors import ContinuityError  # noqa: PLC0415

    try:
        code = run_chat(settings, folder)
    except (StartError, ContinuityError, PersonaError) as exc:
        raise stop_with(str(exc)) from None
    raise typer.Exit(code)


@app.command()
def play(
    folder: Annotated[Path, typer.Option(help="Where the conversations are kept.")] = Path(".playground"),
    port: Annotated[int, typer.Option(help="Where the page is; another one when it is taken.")] = 8600,
) -> None:
    """Open a messenger in the browser, with the console beside it: people, a group, a clock to move, a kill button."""
    require_model(load_settings())
    from bot.playground.browser import play as run_play  # noqa: PLC0415 - as above

    asyncio.run(run_play(folder, lambda text: console.print(text, highlight=False), port=port))


def ask(question: str, wrong: Callable[[str], str], *, default: str = "", hidden: bool = False) -> str:
    """Ask until the answer is right; an empty one is the default."""
    while True:
        answer = str(typer.prompt(question, default=default, show_default=bool(default), hide_input=hidden)).strip()
        fault = wrong(answer) if answer else ""
        if not fault:
            return answer
        errors.print(fault, style="red", highlight=False, soft_wrap=True)


@app.command()
def init() -> None:
    """Ask for token, model and who may use the bot, and write them into .env; what is there already stays."""
    from bot.ops import first_run  # noqa: PLC0415
    from bot.ops.doctor import of_model  # noqa: PLC0415
    from bot.ops.workspace import OpsError  # noqa: PLC0415

    def wrong_model(model: str) -> str:
        has_key = {first_run.key_of(model)}
        return "; ".join(f"{check.says}; {check.do}" for check in of_model(model, has_key) if check.level == "fail")

    console.print("Press Enter to leave something as it is.", highlight=False)
    chosen = {
        "TELEGRAM_BOT_TOKEN": ask("Token from @BotFather (stays hidden)", first_run.wrong_token, hidden=True),
        "CONTINUITY_MODEL": ask("Model, e.g. openai:gpt-5-mini (offline = none)", wrong_model),
        "CONTINUITY_ALLOWED_USERS": ask("Your Telegram id (none = pair with a code later)", first_run.wrong_users),
    }
    if key := first_run.key_of(chosen["CONTINUITY_MODEL"]):
        chosen[key] = ask(f"{key} (stays hidden)", lambda _: "", hidden=True)
    chosen = {name: value for name, value in chosen.items() if value}
    try:
        first_run.write(Path(".env"), chosen)
    except OpsError as exc:
        raise stop_with(str(exc)) from None
    written = ", ".join(chosen) or "nothing"
    console.print(f"Written to .env: {written}. `make run` starts the bot.", highlight=False)


@app.command(hidden=True)
def start() -> None:
    """Do what `make run` promises: the Telegram bot with a token; without one the browser, or lines from a pipe."""
    settings = load_settings()
    if settings.telegram_bot_token is not None:
        run()
        return
    console.print(f"No TELEGRAM_BOT_TOKEN: try it here. For Telegram, {TOKEN_HINT}.", style="dim", highlight=False)
    if settings.continuity_model == "offline":
        console.print(
            f"No language model: the offline concierge answers. For a model, {MODEL_HINT}.",
            style="dim",
            highlight=False,
        )
    folder = Path(os.environ.get("CONTINUITY_PLAYGROUND", ".playground"))
    if sys.stdin.isatty():
        play(folder)
    else:
        chat(folder)


# --- look -----------------------------------------------------------------------------------------------------------


@app.command()
def status(*, as_json: AsJson = False) -> None:
    """Show whether the bot runs, what its last start found, and what is unfinished."""
    settings = load_settings()
    from dataclasses import asdict  # noqa: PLC0415

    from bot.ops.screen import show_status  # noqa: PLC0415
    from bot.ops.status import read_status  # noqa: PLC0415

    found = looking(settings, read_status)
    if as_json:
        print_json(asdict(found))
    else:
        show_status(console, found, settings.zone)


@app.command()
def sessions(
    *,
    conversation: Annotated[
        str | None, typer.Option(help="Only those of one chat: its number, or the whole key tg:…", show_default=False)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the sessions, the latest first."""
    settings = load_settings()
    from bot.ops.screen import show_sessions  # noqa: PLC0415
    from bot.ops.sessions import list_sessions, listed_as_json  # noqa: PLC0415
    from memory.clock import SystemClock  # noqa: PLC0415

    found = looking(settings, lambda workspace: list_sessions(workspace, conversation=conversation, limit=limit))
    if as_json:
        print_json([listed_as_json(each) for each in found])
    else:
        show_sessions(console, found, SystemClock().now_ms(), limit)


@app.command()
def show(
    session: Annotated[str, typer.Argument(help="Its id or a beginning of it.")],
    *,
    turns: Annotated[int, typer.Option(min=0, help="How many of the last turns.")] = 5,
    packet: Annotated[bool, typer.Option("--packet", help="Also what the model would be given now.")] = False,
    message: Annotated[str, typer.Option(help="With --packet: what the person would write.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show one session: state, turns as people wrote them, what the model was given, how it would hydrate."""
    settings = load_settings()
    from bot.ops import screen_session  # noqa: PLC0415
    from bot.ops.sessions import Shown, show_session, shown_as_json  # noqa: PLC0415

    async def ask(workspace: Workspace) -> Shown:
        session_id = await workspace.find(session)
        return await show_session(workspace, session_id, turns=turns, packet=packet or bool(message), message=message)

    found = looking(settings, ask)
    if as_json:
        print_json(shown_as_json(found))
    else:
        screen_session.show(console, found, settings.zone)


@app.command()
def doctor(
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Read every page and every turn.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check settings, files, SQLite, lock and checkpoints; exit 1 when something has failed."""
    from dataclasses import asdict  # noqa: PLC0415

    from bot.ops.checks import worst  # noqa: PLC0415
    from bot.ops.doctor import examine  # noqa: PLC0415
    from bot.ops.screen import show_checks  # noqa: PLC0415

    found = finished(examine(os.environ, deep=deep))
    if as_json:
        print_json({"level": worst(found), "checks": [asdict(check) for check in found]})
    else:
        show_checks(console, found)
    if worst(found) == "fail":
        raise typer.Exit(1)


# --- repair ---------------------------------------------------------------------------------------------------------


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


# --- continuity -----------------------------------------------------------------------------------------------------


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


# --- people's data --------------------------------------------------------------------------------------------------


def one_of(conversation: str | None, user: int | None) -> None:
    """Exit with 2 unless either a conversation or a person was named."""
    if (conversation is None) == (user is None):
        raise stop_with("name one: --conversation or --user", 2)


@app.command()
def forget(
    *,
    conversation: OfConversation = None,
    user: OfUser = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Forget a conversation, or a person wherever they spoke, and look into the files for traces; exit 1 for any."""
    one_of(conversation, user)
    settings = load_settings()
    from bot.features.forgetting import report_text  # noqa: PLC0415
    from bot.ops import personal  # noqa: PLC0415

    what = f"conversation {conversation}" if user is None else f"user {user}"
    if not yes:
        typer.confirm(f"Forget {what} for ever?", abort=True)
    done = working(settings, lambda workspace: personal.forget(workspace, conversation, user))
    for each in done:
        console.print(f"{each.conversation_id}: {report_text(each.tally, each.proof)}", highlight=False, soft_wrap=True)
    if not done:
        console.print(f"Nothing is kept of {what}.", highlight=False)
    if any(each.proof.found != 0 for each in done):
        raise typer.Exit(1)


@app.command()
def export(
    target: Annotated[Path | None, typer.Argument(help="A new file; standard output when left out.")] = None,
    *,
    conversation: OfConversation = None,
    user: OfUser = None,
) -> None:
    """Write all that is kept about a conversation or a person as JSON; safe while the bot runs."""
    one_of(conversation, user)
    settings = load_settings()
    from bot.ops import personal  # noqa: PLC0415
    from bot.ops.format import size  # noqa: PLC0415
    from bot.ops.workspace import OpsError  # noqa: PLC0415

    document = looking(settings, lambda workspace: personal.export(workspace, conversation, user))
    if target is None:
        print_json(document)
        return
    try:
        written = personal.write_private(target, document)
    except OpsError as exc:
        raise stop_with(str(exc)) from None
    console.print(f"{target}: {size(written)}", highlight=False)


# --- backup ---------------------------------------------------------------------------------------------------------


@app.command()
def backup(target: Annotated[Path, typer.Argument(help="A new folder.")]) -> None:
    """Copy database and checkpoints into a new folder, consistent, while the bot works on."""
    settings = load_settings()
    from bot.ops.backup import back_up  # noqa: PLC0415
    from bot.ops.screen import show_backup  # noqa: PLC0415

    show_backup(console, looking(settings, lambda workspace: back_up(workspace, target.absolute())))


@app.command()
def restore(source: Annotated[Path, typer.Argument(help="A folder made by `backup`.")]) -> None:
    """Put a backup in place of the present data, which is moved aside and never deleted."""
    settings = load_settings()
    from bot.ops.backup import Restored  # noqa: PLC0415
    from bot.ops.backup import restore as put_back  # noqa: PLC0415
    from bot.ops.screen import show_restored  # noqa: PLC0415
    from bot.ops.workspace import open_exclusive  # noqa: PLC0415
    from memory.clock import SystemClock  # noqa: PLC0415

    now_ms = SystemClock().now_ms()

    async def do() -> Restored:
        with open_exclusive(settings):
            return await put_back(settings, source.absolute(), now_ms)

    show_restored(console, finished(do()), settings.zone, now_ms)
