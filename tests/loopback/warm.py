"""Imports and loads what every bot needs, once, in the process from which the tests' bots are forked."""

import gc

import openai
import pydantic_ai.models.openai

import bot.answers.model
import bot.answers.offline.responder
import bot.answers.tool_schemas
import bot.app
import bot.cli
import bot.http.server
import bot.ops.workspace
import memory.testing
from memory.context.tokens import load_encoding
from memory.language.languages import Languages

__all__ = ["bot", "memory", "openai", "pydantic_ai"]

load_encoding()
Languages.load()
gc.collect()
gc.freeze()
