"""Two bots in one run: this one and a stock bot, each with a loopback Telegram and a model of its own, no download."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from aiohttp import web

from benchmarks.peers.model import PacedModel
from benchmarks.peers.setups import HERE, SETUPS, Command, Setup, World
from benchmarks.peers.traffic import FIRST_PERSON, Life, is_answered, name_of, unformatted
from bot.playground.bot_api.server import LoopbackBotApi


def _stock(world: World) -> Command:
    return [sys.executable, str(HERE / "stock_bot.py")], world.environment


OURS = SETUPS["ours"]
STOCK = replace(SETUPS["stock"], command=_stock, pip=())
"""The forty lines of the comparison, on the same versions of python-telegram-bot and openai as ours."""


WAYS = {"openai-chat": {}, "openai": {}, "anthropic": {"ANTHROPIC_API_KEY": "sk-loopback"}}
"""The providers that ours is asked over, with what each needs besides the address of OpenAI's."""


def ours_over(provider: str) -> Setup:
    """Return ours with a model of this provider."""

    def command(world: World) -> Command:
        words, given = OURS.command(world)
        own = {"CONTINUITY_MODEL": f"{provider}:loopback", "ANTHROPIC_BASE_URL": world.model_url.removesuffix("/v1")}
        return words, given | own | WAYS[provider]

    return replace(OURS, name=provider, command=command)


@dataclass
class TimedModel(PacedModel):
    """Knows when it was asked last, and when the last byte of its answer went out."""

    asked_at_s: float = 0.0
    answered_at_s: float = 0.0
    hits: list[float] = field(default_factory=list)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self.asked_at_s = time.perf_counter()
        response = await super()._complete(request)
        self.answered_at_s = time.perf_counter()
        return response


@dataclass
class Beside:
    """One bot of the run: its Telegram, its model, its process."""

    name: str
    api: LoopbackBotApi
    model: TimedModel
    life: Life
    folder: Path
    said: dict[int, int] = field(default_factory=dict)

    def says(self, person: int = FIRST_PERSON) -> int:
        """Let a person say the next thing; return its number."""
        number = self.said[person] = self.said.get(person, 0) + 1
        self.api.people.says(person, f"Please tell me about matter {name_of(person, number)}")
        return number

    async def until_answered(self, number: int, person: int = FIRST_PERSON, patience_s: float = 60) -> None:
        """Wait until the end of this answer is on the screen."""
        await self.api.until(lambda: is_answered(self.api, person, number), patience_s)

    @property
    def pid(self) -> int:
        """The process id of the bot."""
        return self.life.pid

    def cpu_s(self) -> float:
        """Return the seconds of processor time it has taken: what other programs' load does not change."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        """Return what the process holds in memory (resident set)."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0


@asynccontextmanager
async def bot(setup: Setup, folder: Path, *, pace_s: float = 0.0, **env: str) -> AsyncIterator[Beside]:
    """Return one bot with its two servers, not started; it is killed in the end."""
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - nothing else runs yet

    def command(world: World) -> Command:
        words, given = setup.command(world)
        return words, given | env

    async with LoopbackBotApi(validate=unformatted) as api, TimedModel(pace_s) as model:
        life = Life(replace(setup, command=command), World(folder, api.token, api.url, model.url), api)
        try:
            yield Beside(setup.name, api, model, life, folder)
        finally:
            await life.kill()
