"""Imports and loads what every bot needs, once, in the process from which the tests' bots are forked."""

import gc
import os

import anyio._backends._asyncio
import genai_prices.data
import httpcore
import openai.resources.chat.completions
import telegramify_markdown

import bot.answers.agent
import bot.answers.model
import bot.answers.model_messages
import bot.answers.offline.responder
import bot.answers.reading
import bot.app
import bot.cli
import bot.http.server
import bot.ops.workspace
import memory.testing
from memory.context.tokens import load_counter
from memory.language import due_dates
from memory.language.languages import Languages

__all__ = ["anyio", "bot", "genai_prices", "httpcore", "memory", "openai"]

load_counter()("a count loads what counts")
Languages.load().warm()
due_dates._search_dates("12 May 2030", "en", {})
telegramify_markdown.convert("*once*")
os.environ["OPENAI_API_KEY"] = "sk-nobody"
bot.answers.agent.AgentModel.build("openai-chat:nobody", 0)
del os.environ["OPENAI_API_KEY"]
gc.collect()
gc.freeze()
