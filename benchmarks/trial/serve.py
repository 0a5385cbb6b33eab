"""The bot of a trial: a child that can be killed, a loopback Telegram, a moved clock, and the model in a folder."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.trial.model import FolderModel
from bot.playground.bot_api.server import LoopbackBotApi
from bot.playground.bot_api.world import ShownMessage
from bot.playground.keeper import ProcessKeeper
from bot.playground.moved_clock import MovedClock
from memory.ports import unobserved

QUIET_S = 4.0
"""So long nothing new is shown before a look at the screen is given back."""


_KINDS = {".jpg": "photo", ".jpeg": "photo", ".png": "photo", ".ogg": "voice"}


class Stage:
    """What the person's commands do; `POST /do` takes `{"verb": …}` and answers what is shown since."""

    def __init__(self, folder: Path, api: LoopbackBotApi, bot: ProcessKeeper, clock: MovedClock) -> None:
        self._folder, self._api, self._bot, self._clock = folder, api, bot, clock
        self._seen: dict[int, dict[int, str]] = {}
        self._verbs: dict[str, Callable[..., Any]] = {
            "say": lambda user, chat, text: api.people.pastes(user, text, chat_id=chat),
            "tap": lambda user, chat, text: api.people.presses(user, text, chat_id=chat),
            "edit": self._edit,
            "file": self._file,
            "forward": lambda user, chat, text: api.people.says(user, text, chat_id=chat, forwarded_from="Somebody"),
            "skip": lambda *said: clock.move(_ms(said[2])),
            "kill": lambda *_: bot.kill(),
            "group": self._group,
            "name": lambda *said: api.world.user(said[0], first_name=said[2]),
            "look": unobserved,
        }

    def _group(self, user: int, _chat: int, title: str) -> int:
        """Open a group and add the bot to it; return its number."""
        chat = self._api.people.opens_group(title, owner=user)
        self._api.people.adds_bot(user, chat)
        return chat

    def _edit(self, user: int, chat: int, text: str) -> None:
        """Edit a message: `123 the new text`."""
        number, _, new = text.partition(" ")
        self._api.people.edits(user, int(number), new, chat_id=chat)

    def _file(self, user: int, chat: int, text: str) -> None:
        """Send a file with a caption: `path the words under it`; a picture, a sound or a document by its ending."""
        path, _, caption = text.partition(" ")
        kind = _KINDS.get(Path(path).suffix.lower(), "document")
        name, claims = (Path(path).name, {}) if kind == "document" else ("", {"duration": 5} if kind == "voice" else {})
        data = Path(path).read_bytes()
        self._api.people.sends_file(user, data, name=name, kind=kind, caption=caption, claims=claims, chat_id=chat)

    async def do(self, request: web.Request) -> web.Response:
        """Do one thing, wait until the screen is quiet, and answer what is new on it."""
        asked = await request.json()
        user, chat = int(asked.get("user", 101)), asked.get("chat") or int(asked.get("user", 101))
        try:
            result = self._verbs[asked["verb"]](user, int(chat), asked.get("text", ""))
        except (LookupError, ValueError, TypeError, OSError) as exc:
            return web.json_response({"error": str(exc)}, status=400)
        made = result if asked["verb"] == "group" else None
        chat = made or chat
        await self._quiet(int(chat), float(asked.get("wait", 90)), begins=asked["verb"] in {"say", "tap", "file"})
        shown = self._news(int(chat))
        with (self._folder / "screen.log").open("a") as log:
            log.write(f"--- {asked['verb']} {user}@{chat}: {asked.get('text', '')}\n{shown}\n")
        return web.json_response({"chat": made, "bot": self._bot.state, "shown": shown})

    async def _quiet(self, chat: int, wait_s: float, *, begins: bool) -> None:
        """Wait until the bot has said something (when it should) and then nothing for a moment."""
        loop = asyncio.get_running_loop()
        end_s, last, since_s, spoke = loop.time() + wait_s, "", loop.time(), not begins
        while loop.time() < end_s:
            now = json.dumps([_line(line) for line in self._api.view(chat).lines if line.by_bot])
            if now != last:
                spoke, since_s, last = spoke or bool(last), loop.time(), now
            elif spoke and loop.time() - since_s > QUIET_S and not self._api.view(chat).is_typing:
                return
            await asyncio.sleep(0.2)

    def _news(self, chat: int) -> str:
        seen, lines = self._seen.setdefault(chat, {}), []
        for line in self._api.view(chat).lines:
            shown = _line(line)
            if seen.get(line.message_id) != shown:
                seen[line.message_id] = shown
                lines.append(shown)
        return "\n".join(lines)


def _line(line: ShownMessage) -> str:
    buttons = "".join(f"\n    {' '.join(f'[{text}]' for text in row)}" for row in line.buttons)
    edited = " (edited)" if line.edits else ""
    return f"({line.message_id}) {line.who}{edited}: {line.text}{buttons}"


def _ms(text: str) -> int:
    return int(float(text[:-1]) * {"m": 60_000, "h": 3_600_000, "d": 86_400_000}[text[-1]])


async def serve(folder: Path) -> None:
    """Run until cancelled; the port of `/do` is in the file `port`."""
    clock, model = MovedClock(folder / "clock"), FolderModel(folder / "model")
    await model.start()
    stage: list[Stage] = []
    api = LoopbackBotApi(
        privacy=True,
        state_path=folder / "telegram.json",
        now_s=lambda: clock.now_ms() / 1000,
        add_routes=lambda app: app.router.add_post("/do", lambda request: stage[0].do(request)),  # noqa: PLW0108 - it is built later
    )
    await api.start()
    env = {
        **os.environ,
        "TELEGRAM_BOT_TOKEN": api.token,
        "TELEGRAM_API_URL": api.url,
        "CONTINUITY_DATABASE_URL": f"sqlite:///{(folder / 'continuity.db').absolute()}",
        "CONTINUITY_CHECKPOINT_DIR": str(folder / "checkpoints"),
        "CONTINUITY_ALLOWED_USERS": "*",
        "CONTINUITY_MODEL": "openai-chat:trial",
        "CONTINUITY_MODEL_TIMEOUT_S": "3000",
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "trial",
    }
    bot = ProcessKeeper(env, folder / "clock", folder / "bot.log", lambda: None)
    stage.append(Stage(folder, api, bot, clock))
    await asyncio.to_thread((folder / "port").write_text, str(api.port))
    bot.begin()
    try:
        await asyncio.Event().wait()
    finally:
        await bot.end()
        await api.stop()
        await model.stop()
