"""A bot whose answers hang for certain words: in a call into C that lets nothing of Python run, or in a thread."""

from __future__ import annotations

import asyncio
import ctypes
import time
from functools import partial

import bot.app
from bot.answers.responder import Answer
from bot.pauses import Pauses
from tests.loopback.forked import cli

HOLDS, SLEEPS, ON_THE_LOOP, WORKS = "hold", "sleep", "on the loop", "work"
MUTEX_BYTES = 256
"""More than a mutex has on any system."""


def hold_everything() -> None:
    """Keep the interpreter's lock for ever, as a pattern that backtracks would; this one leaves the CPU to others."""
    system, lock = ctypes.PyDLL(None), ctypes.create_string_buffer(MUTEX_BYTES)
    system.pthread_mutex_init(lock, None)
    while True:
        system.pthread_mutex_lock(lock)  # the second time waits for the first; no signal ends that


def work() -> None:
    """Be busy for a while, in pieces: between them the loop comes to its turn, on a slow machine too."""
    for _ in range(20):
        sum(range(300_000))


class Hanging:
    """A responder that echoes, or hangs."""

    async def warm(self):
        """Do nothing."""

    async def close(self):
        """Do nothing."""

    def preface(self, _persona):
        """Return nothing."""
        return ""

    def tools(self, further=(), *, only_reads=False):  # noqa: ARG002 - as the protocol asks
        """Return nothing."""
        return ""

    def instructions(self, _ask):
        """Return nothing."""
        return ""

    async def respond(self, ask, _grow):
        """Answer, or hang."""
        if ON_THE_LOOP in ask.text:
            hold_everything()
        if HOLDS in ask.text:
            await asyncio.to_thread(hold_everything)
        if SLEEPS in ask.text:
            await asyncio.to_thread(time.sleep, 3600)
        if WORKS in ask.text:
            await asyncio.to_thread(work)
        return Answer(f"heard: {ask.text}")


def hanging(*arguments: str) -> None:
    """Do what `continuity-bot ARGUMENTS` does, with this responder."""
    bot.app.App = partial(bot.app.App, responder=Hanging(), pauses=Pauses(0.05))
    cli(*arguments)
