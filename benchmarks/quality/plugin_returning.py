"""Player of people who come back: a case told to the real bot over a loopback Bot API, with its clock moved.

The bot runs in this process against a scripted model on 127.0.0.1, which says the case's own answers; what the model
was given is what the bot really sent. Nothing sleeps: the clock is set, and every step waits for what it causes.

With `CONTINUITY_PERFECT_READER=<file.py>` the model keeps notes, too: the file's class `PerfectKeeper(case)` is asked
with {number of a turn: what the person said} and {number of a note: "kind: text"}, and answers as a keeper does.
Without it the case is played twice: a bot without any model is who shows preview and lists, and a bot whose model
keeps no notes is who says what a prompt holds.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Self

import structlog
from pydantic import SecretStr

from bot import replies
from bot.answers.keeper import RULES, TOOL
from bot.app import App
from bot.delivery.rate_limit import RateLimits
from bot.playground.bot_api.server import LoopbackBotApi
from bot.settings import OFFLINE, Settings
from tests.loopback.model import LoopbackModel, Reply, ToolCall

PERSON = 4711
NO_PACE = RateLimits(private_gap_s=0.0, total_per_second=1_000_000)
LISTS = ("loops", "memory", "sessions")
PAGES = 40
"""How often [More] is tapped under a list."""
MORE = ("more", "show_more")
GO_ON = ("carry_on",)
"""Names of sentences that stand on buttons; one that is not there any more is on none."""
READER = "CONTINUITY_PERFECT_READER"
MODEL, KEEPER = "openai-chat:loopback", "openai-chat:keeper"
TURN_LINE = re.compile(r"^(\d+)\. \[[^\]]*\] person(?: \([^)]*\))?: (.*)$", re.MULTILINE)
NOTE_LINE = re.compile(r"^#(\d+) (\w+: .*)$", re.MULTILINE)
WAIT_S = 120.0
ACKNOWLEDGED = "Good to hear from you."

Case = Mapping[str, Any]
Answers = Callable[[dict[int, str], dict[int, str]], dict[str, Any]]
"""A keeper of one case: what the turns and notes of a request change."""


def returning(case: Case) -> dict[str, Any]:
    """Play one case and return what the person saw at the return, and what the model was given."""
    return asyncio.run(_play(case))


class MovedClock:
    """A clock that stands where it was put."""

    def __init__(self) -> None:
        self._now_ms = 0

    def now_ms(self) -> int:
        """Return the time it was set to, UTC epoch milliseconds."""
        return self._now_ms

    def now_s(self) -> float:
        """Return the same in seconds, for the Bot API server."""
        return self._now_ms / 1000

    def set(self, text: str) -> None:
        """Put it to a time such as `2026-03-02T19:10:00`; the person lives in UTC."""
        self._now_ms = int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)

    def advance(self, seconds: float) -> None:
        """Move it on."""
        self._now_ms += int(seconds * 1000)


class Stage:
    """The bot, the person's chat and the model of one case."""

    def __init__(self, case: Case, folder: Path, model: LoopbackModel | None = None) -> None:
        self._case, self._folder = case, folder
        self._open = AsyncExitStack()
        self.clock = MovedClock()
        self.clock.set(case["sessions"][0]["start"])
        self.api = LoopbackBotApi(now_s=self.clock.now_s)
        self.model = model or LoopbackModel()
        self._said = ""

    async def __aenter__(self) -> Self:
        """Start model, Bot API and bot."""
        self._open.callback(structlog.configure, **structlog.get_config())
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
        await self._open.enter_async_context(self.api)
        await self._open.enter_async_context(self.model)
        self.api.world.user(PERSON, first_name="Person", language_code=self._case["language"])
        self.app = App(self._settings(), limits=NO_PACE, clock=self.clock)
        await self.app.start()
        self._open.push_async_callback(self.app.stop)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop everything."""
        await self._open.aclose()

    def _settings(self) -> Settings:
        os.environ |= {"OPENAI_BASE_URL": self.model.url, "OPENAI_API_KEY": "sk-loopback"}
        wanted: dict[str, Any] = {
            "telegram_bot_token": SecretStr(self.api.token),
            "telegram_api_url": self.api.url,
            "telegram_webhook_url": None,
            "continuity_http_port": None,
            "continuity_database_url": f"sqlite:///{(self._folder / 'continuity.db').absolute()}",
            "continuity_checkpoint_dir": self._folder / "checkpoints",
            "continuity_allowed_users": str(PERSON),
            "continuity_model": self._case.get("model", MODEL),
            "continuity_summary_model": None,
            "continuity_memory_model": self._case.get("memory_model", "off"),
            "continuity_persona": self._case["persona"],
            "continuity_streaming": "off",
            "continuity_merge_window_ms": 0,
            "continuity_timezone": "UTC",
        }
        known = {name: value for name, value in wanted.items() if name in Settings.model_fields}
        return Settings(_env_file=None).model_copy(update=known)  # type: ignore[call-arg]

    def answering(self, answer: str) -> Callable[[list[dict[str, Any]]], Reply]:
        """Return what makes the model say this to the person, and keep the notes when it is asked for them."""
        return lambda messages: self.kept(messages[-1]["content"]) if is_keeping(messages) else answer

    def kept(self, prompt: str) -> Reply:  # noqa: ARG002 - whoever keeps notes reads it
        """Return what the keeper answers; nothing changes where nobody keeps notes."""
        return [ToolCall(TOOL, {})]

    async def read(self) -> None:
        """Have everything read that is due by now."""
        await self.app.services.memory.keeper.read_due()

    async def read_all(self) -> None:
        """Have everything read that is unread, as when the person wants to see the notes."""
        await self.app.services.memory.keeper.read_now(f"tg:{self.app.services.me.bot_id}:{PERSON}:0")

    async def say(self, text: str, answer: str) -> str | None:
        """Say something, tap [Continue] when it is asked, wait for the answer; return the preview if one was shown."""
        self.model.reply = self.answering(answer)
        self._said = text.strip()
        shown = await self.after(lambda: self.api.people.says(PERSON, text))
        go_on = _offered(shown[-1], GO_ON)
        if go_on is None:
            return None
        await self.after(lambda: self.api.people.presses(PERSON, go_on))
        return str(shown[-1].text)

    async def command(self, name: str) -> str:
        """Send a command and return all pages of its answer."""
        shown = await self.after(lambda: self.api.people.says(PERSON, f"/{name}"))
        text = str(shown[-1].text)
        for _ in range(PAGES):
            line = self.api.view(PERSON).lines[-1]
            more = _offered(line, MORE)
            if more is None:
                break
            before = line.message_id, line.edits
            self.api.people.presses(PERSON, more)
            await self.api.until(lambda before=before: self._last() != before, WAIT_S)
            await self.app.settled()
            text += "\n" + self.api.view(PERSON).lines[-1].text
        return text

    def _last(self) -> tuple[int, int]:
        """Return what changes when another page is shown, in a new message or in the old one."""
        line = self.api.view(PERSON).lines[-1]
        return line.message_id, line.edits

    async def after(self, cause: Any) -> list[Any]:
        """Do something and return the bot's new messages once everything it causes is finished."""
        lines = self.api.view(PERSON).lines
        last = max((line.message_id for line in lines), default=0)
        cause()

        def new() -> list[Any]:
            return [x for x in self.api.view(PERSON).lines if x.by_bot and x.message_id > last]

        await self.api.until(new, WAIT_S)
        await self.app.settled()
        return new()

    def given(self) -> list[dict[str, str]]:
        """Return the messages of the newest request to the model; what was said last stands alone, as the last.

        The notes that come before it in one message are a message of their own here: they may hold an answer, the
        question may not.
        """
        asked = next(each for each in reversed(self.model.requests) if not is_keeping(each.body["messages"]))
        messages = [{"role": role, "content": text} for role, text in asked.messages]
        last = messages.pop()
        noted = last["content"].removesuffix(self._said)
        return [*messages, last | {"content": noted}, last | {"content": last["content"][len(noted) :]}]


class KeptStage(Stage):
    """A bot behind which somebody keeps notes: what it is given is read back from the text of the request."""

    def __init__(self, case: Case, folder: Path, keeper: Answers) -> None:
        super().__init__({**case, "memory_model": KEEPER}, folder)
        self._keeper = keeper

    def kept(self, prompt: str) -> Reply:
        """Return what the keeper answers to a request."""
        notes, _, turns = prompt.partition("\nRead before:\n" if "\nRead before:\n" in prompt else "\nNew turns:\n")
        said = {int(number): text for number, text in TURN_LINE.findall(turns)}
        known = {int(number): text for number, text in NOTE_LINE.findall(notes)}
        return [ToolCall(TOOL, self._keeper(said, known))]


def is_keeping(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether this is asked for notes."""
    return any(str(message.get("content")).startswith(RULES[:60]) for message in messages[:1])


def keeper_of(case: Case) -> Answers | None:
    """Return the keeper that the environment names, for this case; None where it names none."""
    path = os.environ.get(READER)
    if not path:
        return None
    spec = spec_from_file_location("perfect_reader", path)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{READER} names no Python file: {path}")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    keeper: Answers = module.PerfectKeeper(case)
    return keeper


def stage_of(case: Case, folder: Path) -> Stage:
    """Return the stage of a case, with the keeper that the environment names, if it names one."""
    keeper = keeper_of(case)
    return Stage(case, folder) if keeper is None else KeptStage(case, folder, keeper)


async def _play(case: Case) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        if os.environ.get(READER):
            async with stage_of(case, Path(name)) as stage:
                preview = await _tell(stage, case)
                prompt = stage.given()
                return {"prompt": prompt, **await _shown(stage, preview), "callbacks": await _asked(stage, case)}
        async with Stage({**case, "model": OFFLINE}, Path(name)) as stage:
            shown = await _shown(stage, await _tell(stage, case))
    with tempfile.TemporaryDirectory() as name:
        async with Stage(case, Path(name)) as stage:
            await _tell(stage, case)
            return {**shown, "prompt": stage.given(), "callbacks": await _asked(stage, case)}


async def _tell(stage: Stage, case: Case) -> str | None:
    """Tell the whole case up to the message of the return; return the preview if one was shown."""
    for session in case["sessions"]:
        stage.clock.set(session["start"])
        await stage.read()
        for turn in session["turns"]:
            stage.clock.advance(turn["after_s"])
            await stage.read()
            await stage.say(turn["user"], turn["assistant"])
    stage.clock.set(case["return_at"])
    await stage.read_all()
    return await stage.say(case["return_message"], ACKNOWLEDGED)


async def _shown(stage: Stage, preview: str | None) -> dict[str, str]:
    """Return what the person sees who asks for it."""
    if preview is None:  # it is not in the way any more: whoever wants it asks
        preview = await stage.command("continue")
    return {"preview": preview, **{name: await stage.command(name) for name in LISTS}}


async def _asked(stage: Stage, case: Case) -> list[list[dict[str, str]]]:
    """Return what the model is given for each question."""
    given = []
    for callback in case["expect"]["callbacks"]:
        stage.clock.advance(30)
        await stage.say(callback["question"], ACKNOWLEDGED)
        given.append(stage.given())
    return given


def _offered(line: Any, keys: Sequence[str]) -> str | None:
    """Return what the button says under a message that stands for one of our sentences, in whatever language."""
    words = {word for key in keys if replies.known(key) for word in replies.every(key)}
    return next((label for row in line.buttons for label in row if label in words), None)
