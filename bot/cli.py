"""The operator's commands: `python -m bot --help`."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer
from dotenv import load_dotenv
from pydantic import ValidationError
from rich.console import Console

from bot.settings import Settings

app = typer.Typer(
    help="A Telegram assistant that never loses the thread.", no_args_is_help=True, pretty_exceptions_enable=False
)
console = Console()
errors = Console(stderr=True)

TOKEN_HINT = (
    "get a token from @BotFather and set TELEGRAM_BOT_TOKEN (in the environment or in .env)"
)
MODEL_HINT = "set CONTINUITY_MODEL, e.g. openai:gpt-5-mini with OPENAI_API_KEY"


def load_settings() -> Settings:
    """Return the settings, or say what is wrong with them and exit with 2."""
    load_dotenv(Path(".env"), override=False)  # providers read their own variables from the environment
    try:
        return Settings()
    except ValidationError as exc:
        for error in exc.errors():
            name = "_".join(map(str, error["loc"])).upper()
            errors.print(
                f"[red]{name or 'settings'}[/red]: {error['msg'].removeprefix('Value error, ')}", highlight=False
            )
        raise typer.Exit(2) from None


def stop_with(message: str, code: int = 1) -> typer.Exit:
    """Say one sentence on standard error; return the exit to raise."""
    errors.print(f"[red]{message}[/red]", highlight=False)
    return typer.Exit(code)


@app.command()
def run() -> None:
    """Run the bot on Telegram until SIGTERM or Ctrl-C."""
    settings = load_settings()
    if settings.telegram_bot_token is None:
        raise stop_with(
            f"TELEGRAM_BOT_TOKEN is missing: {TOKEN_HINT}. Without one, `python -m bot chat` talks to it right here.", 2
        )
    from bot.app import StartError  # noqa: PLC0415 - Telegram's library is not needed to say what is missing
    from bot.app import run as run_app  # noqa: PLC0415
    from bot.logs import set_up  # noqa: PLC0415
    from bot.personas import PersonaError  # noqa: PLC0415
    from memory.errors import ContinuityError  # noqa: PLC0415

    set_up(settings.continuity_log_level, settings.continuity_log_format)
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
    from bot.app import StartError  # noqa: PLC0415 - as above
    from bot.personas import PersonaError  # noqa: PLC0415
    from bot.playground.session import chat as run_chat  # noqa: PLC0415
    from memory.errors import ContinuityError  # noqa: PLC0415

    try:
        code = run_chat(settings, folder)
    except (StartError, ContinuityError, PersonaError) as exc:
        raise stop_with(str(exc)) from None
    raise typer.Exit(code)


@app.command(hidden=True)
def start() -> None:
    """Do what `make run` promises: the Telegram bot with a token, the terminal without one."""
    settings = load_settings()
    if settings.telegram_bot_token is not None:
        run()
        return
    console.print(f"[dim]No TELEGRAM_BOT_TOKEN: talking here. For Telegram, {TOKEN_HINT}.[/dim]", highlight=False)
    if settings.continuity_model == "offline":
        console.print(
            f"[dim]No language model: the offline concierge answers. For a model, {MODEL_HINT}.[/dim]", highlight=False
        )
    chat(Path(os.environ.get("CONTINUITY_PLAYGROUND", ".playground")))
