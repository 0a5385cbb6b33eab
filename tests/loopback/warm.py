"""Imports and loads what every bot needs, once, in the process from which the tests' bots are forked."""

import asyncio
import gc
import os
import tempfile
from pathlib import Path

import anyio._backends._asyncio
import ftfy
import genai_prices.data
import httpcore
import openai.resources.chat.completions
import pydantic.v1
import telegramify_markdown
import typer
import typer._adapters
import wcwidth

import bot.answers.keeper
import bot.answers.model
import bot.answers.summary
import bot.answers.wires.any_provider
import bot.app
import bot.cli
import bot.http.server
import bot.offline.responder
import bot.ops.checks.doctor
import bot.ops.workspace
import bot.process.logs
import memory.testing
import tests.examples.quick_aiogram
from bot.care.care import distress_in
from bot.intake.telegram_request import trusted
from bot.replies import command_menu
from bot.sentences import LANGUAGES
from memory.context.tokens import load_counter
from memory.search.languages import Languages

__all__ = ["anyio", "bot", "ftfy", "genai_prices", "httpcore", "memory", "openai", "pydantic", "tests", "wcwidth"]

COMMANDS = typer.main.get_command(bot.cli.app)
"""What `continuity-bot` does, built once: each child would take a tenth of a second for it."""

TALK = "Hello! My dog is called Rex, and I have to call Ana by Friday."


async def talk() -> None:
    """Let a memory read what people say: each pattern is compiled when it is first needed."""
    with tempfile.TemporaryDirectory() as folder:
        async with memory.testing.open_memory(Path(folder)) as opened:
            turn = await opened.begin("warm", TALK)
            await turn.record("Noted. How old is he?")
            await opened.rest()


trusted()
load_counter()("a count loads what counts")
distress_in(TALK)
for code in LANGUAGES:
    command_menu(code)
asyncio.run(talk())
Languages.load().warm()
asyncio.run(bot.offline.responder.OfflineResponder().warm())
telegramify_markdown.convert("*once*")
os.environ["OPENAI_API_KEY"] = "sk-nobody"
bot.answers.wires.any_provider.AnyProvider.build("openai-chat:nobody", listed=False)
del os.environ["OPENAI_API_KEY"]
gc.collect()
gc.freeze()
