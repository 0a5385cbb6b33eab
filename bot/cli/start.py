"""The commands that start the bot: on Telegram, in the terminal, in the browser; and the first run's questions."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from bot.cli.common import console, errors, finished, load_settings, stop_with, wrong_settings

if TYPE_CHECKING:
    from bot.settings import Settings

app = typer.Typer()

PLAY_PORT = 8600
_WARNED: set[str] = set()
TOKEN_HINT = "get a token from @BotFather and set TELEGRAM_BOT_TOKEN (in the environment or in .env)"
MODEL_HINT = "set CONTINUITY_MODEL, e.g. openai:gpt-5-mini with OPENAI_API_KEY"


def require_model(settings: Settings) -> None:
    """Exit with 2 when a model can't answer: a name that is wrong, a key or a library that is missing."""
    from bot.ops.checks.doctor import of_models

    for check in of_models(settings, {variable for variable, value in os.environ.items() if value}):
        if check.level == "fail":
            raise stop_with(f"{check.says}; {check.do}", 2)


def settings_for_start() -> Settings:
    """Return the settings, as `load_settings`; a name that looks like a setting and is none is said aloud, once."""
    settings = load_settings()  # it puts what stands in .env into the environment
    from bot.ops.checks.doctor import of_names

    for check in of_names(os.environ):
        if check.level == "warn" and check.says not in _WARNED:
            _WARNED.add(check.says)
            errors.print(f"Warning: {check.says}; {check.do}", style="yellow", highlight=False, soft_wrap=True)
    return settings


@app.command()
def run() -> None:
    """Run the bot on Telegram until SIGTERM or Ctrl-C."""
    settings = settings_for_start()
    if settings.telegram_bot_token is None:
        raise stop_with(
            f"TELEGRAM_BOT_TOKEN is missing: {TOKEN_HINT}; without one, `continuity-bot chat` talks to it right here", 2
        )
    require_model(settings)
    import asyncio

    from bot.process import garbage

    garbage.hold_off()
    from bot.app import App
    from bot.app import run as run_app
    from bot.delivery.connection import StartError
    from bot.people.personas import PersonaError
    from bot.process.logs import set_up
    from bot.settings import SettingsError
    from memory.errors import ContinuityError

    set_up(settings.continuity_log_level, settings.continuity_log_format, secrets=settings.secrets)
    try:
        asyncio.run(run_app(App(settings)))
    except SettingsError as exc:
        raise wrong_settings(exc) from None
    except (StartError, ContinuityError, PersonaError) as exc:
        raise stop_with(str(exc)) from None


@app.command()
def chat(
    folder: Annotated[Path, typer.Option(help="Where the conversation is kept.")] = Path(".playground"),
) -> None:
    """Talk to the bot in this terminal: the same program, over a small Telegram on this machine. No token needed."""
    settings = settings_for_start()
    require_model(settings)
    from bot.delivery.connection import StartError
    from bot.people.personas import PersonaError
    from bot.playground.chat.session import chat as run_chat
    from bot.settings import SettingsError
    from memory.errors import ContinuityError

    try:
        code = run_chat(settings, folder)
    except SettingsError as exc:
        raise wrong_settings(exc) from None
    except (StartError, ContinuityError, PersonaError) as exc:
        raise stop_with(str(exc)) from None
    raise typer.Exit(code)


@app.command()
def play(
    folder: Annotated[Path, typer.Option(help="Where the conversations are kept.")] = Path(".playground"),
    port: Annotated[int, typer.Option(help="Port of the page; another one is used when it is taken.")] = PLAY_PORT,
) -> None:
    """Open a messenger in the browser, with the console beside it: people, a group, a clock to move, a kill button."""
    require_model(settings_for_start())
    import asyncio

    from bot.playground.browser import play as run_play
    from memory.errors import ContinuityError

    try:
        asyncio.run(run_play(folder, lambda text: console.print(text, highlight=False), port=port))
    except ContinuityError as exc:
        raise stop_with(str(exc)) from None


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
    """Ask for token, model, time zone and who may use the bot, write them into .env, and try them.

    Settings that are there already stay.
    """
    from bot.ops.checks import first_run
    from bot.ops.checks.doctor import of_model
    from bot.ops.workspace import OpsError

    def wrong_model(model: str) -> str:
        has_key = {first_run.key_of(model)}
        return "; ".join(f"{check.says}; {check.do}" for check in of_model(model, has_key) if check.level == "fail")

    console.print("Press Enter to leave something as it is.", highlight=False)
    chosen = {
        "TELEGRAM_BOT_TOKEN": ask("Token from @BotFather (stays hidden)", first_run.wrong_token, hidden=True),
        "CONTINUITY_MODEL": ask("Model, e.g. openai:gpt-5-mini (offline = none)", wrong_model),
        "CONTINUITY_ALLOWED_USERS": ask("Your Telegram id (none = pair with a code later)", first_run.wrong_users),
        "CONTINUITY_TIMEZONE": ask("Your time zone, e.g. Europe/Berlin", first_run.wrong_zone),
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
    if chosen and typer.confirm(
        "Try it now? The model is asked twice, which costs a few hundred tokens.", default=True
    ):
        _try_out()


def _try_out() -> None:
    """Try the settings for real; exit 1 when something does not work."""
    from bot.ops.checks.live import failed, try_out
    from bot.ops.screens.lines import show_checks

    found = finished(try_out(load_settings()))
    show_checks(console, found)
    if failed(found):
        raise typer.Exit(1)


def gives_lines(stdin: TextIO | None) -> bool:
    """Return whether the input is a pipe or a file; a terminal, `/dev/null` or a closed input give no lines."""
    return stdin is not None and not stat.S_ISCHR(os.fstat(stdin.fileno()).st_mode)


@app.command(hidden=True)
def start() -> None:
    """Start as `make run` promises: the Telegram bot with a token; without one the browser, or lines from a pipe.

    With no input at all, as of a service or `< /dev/null`, it is the browser too.
    """
    settings = settings_for_start()
    if settings.telegram_bot_token is not None:
        run()
        return
    console.print(f"No TELEGRAM_BOT_TOKEN: try it here. For Telegram, {TOKEN_HINT}.", style="dim", highlight=False)
    if not settings.by_model:
        console.print(
            f"No language model: the offline concierge answers. For a model, {MODEL_HINT}.",
            style="dim",
            highlight=False,
        )
    folder = Path(os.environ.get("CONTINUITY_PLAYGROUND", ".playground"))
    if not gives_lines(sys.stdin):
        play(folder)
        return
    console.print(
        f"Its input is no terminal: each line of it is answered here, and kept in {folder}. "
        f"`continuity-bot play` opens the messenger in the browser, at http://127.0.0.1:{PLAY_PORT}.",
        style="dim",
        highlight=False,
    )
    chat(folder)
