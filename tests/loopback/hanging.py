"""A bot whose answers hang for certain words: in a call into C that lets nothing of Python run, or in a thread."""

from __future__ import annotations

import asyncio
import re
import time
from functools import partial

import bot.app
from bot.answers.responder import Answer
from bot.pauses import Pauses
from tests.loopback.forked import cli

BACKTRACKS, SLEEPS, ON_THE_LOOP, WORKS = "backtrack", "sleep", "on the loop", "work"
FOR_EVER = "a" * 64 + "b"


def backtrack() -> None:
    """Hold the interpreter's lock for longer than the universe is old."""
    re.match(r"(a+)+$", FOR_EVER)


def work() -> None:
    """Be busy for a while, in pieces: between them the loop comes to its turn, on a slow machine too."""
    for _ in range(30):
        sum(range(1_000_000))


class Hanging:
    """A responder that echoes, or hangs."""

    async def warm(self):
        """Do nothing."""

    async def close(self):
        """Do nothing."""

    def preface(self, _persona):
        """Return nothing."""
        return ""

    def tools(self, further=()):  # noqa: ARG002 - as the protocol asks
        """Return nothing."""
        return ""

    def instructions(self, _ask):
        """Return nothing."""
        return ""

    async def respond(self, ask, _grow):
        """Answer, or hang."""
        if ON_THE_LOOP in ask.text:
            backtrack()
        if BACKTRACKS in ask.text:
            await asyncio.to_thread(backtrack)
        if SLEEPS in ask.text:
            await asyncio.to_thread(time.sleep, 3600)
        if WORKS in ask.text:
            await asyncio.to_thread(work)
        return Answer(f"heard: {ask.text}")


def hanging(*arguments: str) -> None:
    """Do what `continuity-bot ARGUMENTS` does, with this responder."""
    bot.app.App = partial(bot.app.App, responder=Hanging(), pauses=Pauses(0.05))
    cli(*arguments)
