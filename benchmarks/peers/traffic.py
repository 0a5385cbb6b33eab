"""One run: people talk, the process is killed again and again, and in the end we look at the screens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import statistics
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers.model import PacedModel
from benchmarks.peers.setups import Setup, World
from bot.playground.bot_api.server import LoopbackBotApi

FIRST_PERSON = 7000
LIFE_S = (2.0, 8.0)
"""A life lasts so long, counted from its first poll; drawn from the seed, the same for all."""
PAUSE_S = (2.0, 12.0)
"""A person waits so long before the next message."""
PATIENCE_S = 40.0
"""And for an answer so long, before they write the next message without it."""
QUIET_S = 90.0
"""When no answer comes for so long after the last kill, nothing more is expected."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens to everybody alike."""

    seed: int
    chats: int = 6
    messages: int = 8
    kills: int = 12
    pace_s: float = 0.5


@dataclass
class Outcome:
    """What a run showed; counts of messages unless the name says otherwise."""

    name: str
    plan: Plan
    said: int = 0
    lost: int = 0
    """Never answered."""
    cut_off: int = 0
    """An answer's beginning stands on the screen, its end nowhere."""
    repeated: int = 0
    """The end of the same answer stands on the screen twice."""
    forgot: int = 0
    """Answered by a model that was not given the person's message before."""
    notices: int = 0
    """Messages of the bot that are no answers."""
    model_calls: int = 0
    kills: int = 0
    kills_at_work: int = 0
    """Of these, while at least one person waited for an answer."""
    boots_s: list[float] = field(default_factory=list)
    failed: str = ""
    """Why the run is not worth a figure; empty when it is."""

    def as_json(self) -> dict[str, Any]:
        """Return everything, the start-up as its median."""
        found = asdict(self)
        boots = found.pop("boots_s")
        return found | {"boot_median_s": round(statistics.median(boots), 2) if boots else None}


class Life:
    """One assistant with its data folder, started and killed as a whole process group."""

    def __init__(self, setup: Setup, world: World, api: LoopbackBotApi) -> None:
        self._setup = setup
        self._world = world
        self._api = api
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> float:
        """Start it and return the seconds until its first poll. Raises AssertionError when none comes."""
        command, env = self._setup.command(self._world)
        polls, began_s = self._api.poll_count, time.monotonic()
        with (self._world.folder / "bot.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command, cwd=self._world.folder, env=env, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        await self._api.until(lambda: self._api.poll_count > polls, self._setup.boot_s)
        return time.monotonic() - began_s

    @property
    def pid(self) -> int:
        """The process id. Raises RuntimeError before the start."""
        if self._process is None:
            raise RuntimeError("it was not started")
        return self._process.pid

    async def kill(self) -> None:
        """Kill -9 everything that it started."""
        if self._process and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()


def unformatted(_: str, params: dict[str, Any]) -> None:
    """Show what is sent as Markdown or HTML as it stands, instead of refusing it: it is not what is compared."""
    params.pop("parse_mode", None)


def name_of(person: int, number: int) -> str:
    """Return the number that message and answer carry."""
    return f"q-{person - FIRST_PERSON + 1}-{number}"


def shown(api: LoopbackBotApi, person: int) -> str:
    """Return everything that the bot shows in a chat."""
    return "\n".join(api.texts(person))


def is_answered(api: LoopbackBotApi, person: int, number: int) -> bool:
    """Say whether the end of this answer is on the screen."""
    return f"Done{name_of(person, number)[1:]}" in shown(api, person).replace("\\", "").split()


async def talk(api: LoopbackBotApi, person: int, count: int, chance: random.Random) -> None:
    """Say one thing after the other, each when the one before is answered or patience has ended."""
    for number in range(1, count + 1):
        await asyncio.sleep(chance.uniform(*PAUSE_S))
        api.people.says(person, f"Please tell me about matter {name_of(person, number)}")
        with contextlib.suppress(AssertionError):
            await api.until(lambda number=number: is_answered(api, person, number), PATIENCE_S)


async def kill_now_and_then(life: Life, outcome: Outcome, api: LoopbackBotApi, done: asyncio.Event) -> None:
    """Let it live as long as the seed says, kill it, start it again, until all is said or all lives are used."""
    chance, people = random.Random(outcome.plan.seed), range(FIRST_PERSON, FIRST_PERSON + outcome.plan.chats)
    for _ in range(outcome.plan.kills):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), chance.uniform(*LIFE_S))
        if done.is_set():
            return
        outcome.kills += 1
        outcome.kills_at_work += any(waits(api, person) for person in people)
        await life.kill()
        outcome.boots_s.append(await life.start())


def waits(api: LoopbackBotApi, person: int) -> bool:
    """Say whether the last message of a person is not answered."""
    said = [line.text for line in api.view(person).lines if not line.by_bot]
    return bool(said) and not is_answered(api, person, len(said))


async def settle(api: LoopbackBotApi, plan: Plan) -> None:
    """Wait until everything is answered, or nothing new came for a while."""
    people = range(FIRST_PERSON, FIRST_PERSON + plan.chats)

    def count() -> int:
        return sum(is_answered(api, person, n) for person in people for n in range(1, plan.messages + 1))

    before = -1
    while before < (now := count()) < plan.chats * plan.messages:
        before = now
        with contextlib.suppress(AssertionError):
            await api.until(lambda before=before: count() > before, QUIET_S)


async def run(setup: Setup, plan: Plan, folder: Path) -> Outcome:
    """Let one assistant live through a plan and return what was seen; a bot that does not start is said in `failed`."""
    outcome, done = Outcome(setup.name, plan), asyncio.Event()
    async with LoopbackBotApi(validate=unformatted) as api, PacedModel(plan.pace_s) as model:
        life = Life(setup, World(folder, api.token, api.url, model.url), api)
        try:
            outcome.boots_s.append(await life.start())
            people = [FIRST_PERSON + number for number in range(plan.chats)]
            killer = asyncio.create_task(kill_now_and_then(life, outcome, api, done))
            await asyncio.gather(*(talk(api, each, plan.messages, random.Random(plan.seed + each)) for each in people))
            done.set()
            await killer
            await settle(api, plan)
        except AssertionError as exc:
            outcome.failed = str(exc).splitlines()[0]
        finally:
            await life.kill()
        look(outcome, api, model)
    return outcome


def look(outcome: Outcome, api: LoopbackBotApi, model: PacedModel) -> None:
    """Count what stands on the screens in the end, and what the model had been given."""
    plan = outcome.plan
    outcome.model_calls = sum(bool(asked.answers) for asked in model.asked)
    for person in range(FIRST_PERSON, FIRST_PERSON + plan.chats):
        texts, said = api.texts(person), sum(not line.by_bot for line in api.view(person).lines)
        outcome.said += said
        words = " ".join(texts).replace("\\", "").split()
        for number in range(1, said + 1):
            name = name_of(person, number)
            ends = words.count(f"Done{name[1:]}")
            begun = any("Begin" in text and name in text for text in texts)
            outcome.lost += not ends
            outcome.cut_off += begun and not ends
            outcome.repeated += ends > 1
            before = name_of(person, number - 1)
            given = [asked.saw for asked in model.asked if name in asked.answers]
            outcome.forgot += bool(number > 1 and ends and given and before not in given[-1])
        outcome.notices += sum(not any(name_of(person, n)[1:] in text for n in range(1, said + 1)) for text in texts)
