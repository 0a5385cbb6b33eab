"""One bot without a network: its parts on a real database, a fake of Telegram, and a responder with a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr

from bot.answers.responder import Answer, Ask, Show
from bot.delivery.rate_limit import RateLimits
from bot.intake.chat_moves import ChatMoves
from bot.intake.updates import Me
from bot.joining.joining import join
from bot.joining.process import Process
from bot.joining.storage import open_storage
from bot.joining.telegram import TelegramLink
from bot.meters.meters import Meters
from bot.meters.tracing import NoTracer
from bot.pauses import Pauses
from bot.settings import Settings
from bot.tables import BOT_TABLES
from bot.turns.recovery import Recovery, StartReport
from memory.clock import RandomIds
from memory.errors import StorageUnavailable
from memory.testing import ManualClock, lay_tables

PERSON = 7
ME = Me(99, "continuity_bot")
NO_PACE = RateLimits(private_gap_s=0.0, group_per_minute=1_000_000, total_per_second=1_000_000)


class Screen:
    """Stands in for `telegram.Bot`: keeps every call, and raises what the test plants."""

    id, username, base_url = ME.bot_id, ME.username, "http://127.0.0.1:9/bot"

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.faults: dict[str, list[Exception]] = {}
        self.called = asyncio.Condition()
        self.hold: asyncio.Event | None = None
        """While it is not set, no message gets out."""

    def of(self, method: str) -> list[dict[str, Any]]:
        """Return what this method was called with, call by call."""
        return [given for name, given in self.calls if name == method]

    @property
    def sent(self) -> list[str]:
        """The texts of the messages that were sent."""
        return [given["text"] for given in self.of("send_message")]

    async def until(self, met: Callable[[], object]) -> None:
        """Wait until this is true after a call. Raises TimeoutError after ten seconds."""
        async with asyncio.timeout(10), self.called:
            await self.called.wait_for(met)

    async def _call(self, method: str, given: dict[str, Any]) -> int:
        async with self.called:
            self.calls.append((method, given))
            self.called.notify_all()
        if planted := self.faults.get(method):
            raise planted.pop(0)
        return 100 + len(self.of("send_message"))

    async def send_message(self, chat_id: int, text: str, **given: Any) -> SimpleNamespace:
        if self.hold:
            await self.hold.wait()
        return SimpleNamespace(message_id=await self._call("send_message", {"chat_id": chat_id, "text": text, **given}))

    async def edit_message_text(self, text: str, **given: Any) -> bool:
        return bool(await self._call("edit_message_text", {"text": text, **given}))

    async def send_message_draft(self, chat_id: int, draft_id: int, text: str, **given: Any) -> bool:
        return bool(
            await self._call("send_message_draft", {"chat_id": chat_id, "draft_id": draft_id, "text": text, **given})
        )

    async def edit_message_reply_markup(self, *_: Any, **given: Any) -> bool:
        return bool(await self._call("edit_message_reply_markup", given))

    async def answer_callback_query(self, callback_id: str, **given: Any) -> bool:
        return bool(await self._call("answer_callback_query", {"callback_id": callback_id, **given}))

    async def get_webhook_info(self) -> SimpleNamespace:
        return SimpleNamespace(pending_update_count=0)

    async def send_chat_action(self, chat_id: int, action: str, **given: Any) -> bool:
        return bool(await self._call("send_chat_action", {"chat_id": chat_id, "action": action, **given}))


class Script:
    """A responder that repeats what it is told, unless the test sets `reply`; it keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Ask] = []
        self.reply: Callable[[Ask, Show], Any] | None = None

    async def respond(self, ask: Ask, show: Show) -> Answer:
        self.asked.append(ask)
        made = self.reply(ask, show) if self.reply else f"You said: {ask.text}"
        made = await made if asyncio.iscoroutine(made) else made
        return made if isinstance(made, Answer) else Answer(made)

    def preface(self, persona: str) -> str:
        return persona

    def instructions(self, ask: Ask) -> str:
        return ask.persona

    def tools(self, further: tuple[Any, ...] = (), *, only_reads: bool = False) -> str:  # noqa: ARG002 - as the protocol asks
        return ""

    async def warm(self) -> None:
        """Nothing is slow to load."""

    async def close(self) -> None:
        """Nothing is open."""


async def _nothing() -> None:
    """Alone on its data: there is nothing to begin for others."""


class OneBot:
    """The joined parts of one start of the bot; another one on the same folder is the start after it."""

    def __init__(self, folder, screen: Screen, script: Script, clock: ManualClock) -> None:
        self.folder, self.screen, self.script, self.clock = folder, screen, script, clock
        self.report = StartReport()
        self._refused: set[str] = set()
        self._opened = AsyncExitStack()

    async def start(self, boot_id: str, **settings: Any) -> OneBot:
        """Open the database and join the parts, without recovery. A model that is set answers, else the script."""
        lay_tables(self.folder / "bot.db", [BOT_TABLES])
        process = Process(
            settings=Settings(
                _env_file=None,
                telegram_bot_token=SecretStr("123456789:" + "A" * 35),
                continuity_database_url=f"sqlite:///{self.folder / 'bot.db'}",
                continuity_checkpoint_dir=self.folder / "checkpoints",
                continuity_allowed_users="*",
                **{"continuity_model": "offline", "continuity_storage_patience_s": 0.1, **settings},
            ),
            clock=self.clock,
            ids=RandomIds(),
            boot_id=boot_id,
            meters=Meters(NoTracer()),
            limits=NO_PACE,
            pauses=Pauses(0.0),
            responder=None if "continuity_model" in settings else self.script,
            announce=lambda _: None,
            fail=lambda _: None,
            behind=lambda *_: None,
            keep=_nothing,
        )
        stored = await open_storage(process, self._opened)
        moves = ChatMoves(stored.db)
        await moves.open(ME.bot_id)
        self.joined = await join(process, stored, TelegramLink(self.screen, moves, ME))
        self.services = self.joined.services
        write = stored.db.write

        async def picky(*statements):
            if found := self._refused & {statement.name for statement in statements}:
                raise StorageUnavailable(f"no room for {found}")
            return await write(*statements)

        read = stored.db.read

        async def picky_read(name, **params):
            if name in self._refused:
                self._refused.discard(name)
                raise StorageUnavailable(f"no answer to {name}")
            return await read(name, **params)

        stored.db.write, stored.db.read = picky, picky_read
        return self

    def refuse(self, *names: str) -> None:
        """Let the disk refuse every transaction with one of these statements from now on, and one read of that name.

        Without names it refuses none.
        """
        self._refused = set(names)

    async def recover(self) -> StartReport:
        """Take up what an earlier start left unfinished."""
        await Recovery(self.services, self.joined.outbox, self.joined.lanes).run(self.report)
        return self.report

    async def take(self, update_id: int, text: str, **message: Any) -> None:
        """Take a private message in, as polling does."""
        chat = {"id": PERSON, "type": "private"}
        user = {"id": PERSON, "is_bot": False, "first_name": "Ana", "language_code": "en"}
        body = {"message_id": update_id, "date": 1, "chat": chat, "from": user, "text": text, **message}
        await self.joined.intake.take({"update_id": update_id, "message": body})

    async def press(self, update_id: int, label: str) -> None:
        """Tap the newest button with this label."""
        buttons = [
            button
            for given in self.screen.of("send_message")
            for row in (given["reply_markup"].inline_keyboard if given.get("reply_markup") else ())
            for button in row
            if button.text == label
        ]
        user = {"id": PERSON, "is_bot": False, "first_name": "Ana", "language_code": "en"}
        message = {"message_id": 100, "date": 1, "chat": {"id": PERSON, "type": "private"}, "text": "?"}
        query = {"id": "q", "chat_instance": "1", "from": user, "message": message, "data": buttons[-1].callback_data}
        await self.joined.intake.take({"update_id": update_id, "callback_query": query})

    async def settled(self) -> None:
        """Return when everything taken is finished and everything said is sent."""
        async with asyncio.timeout(60):
            while not (self.joined.lanes.idle and self.services.delivery.backlog == 0):
                await self.joined.lanes.until_idle()
                await self.services.delivery.flush(60)

    async def rows(self, table: str, columns: str) -> list[tuple]:
        """Return columns of a table, in the order in which the rows were made."""
        import sqlite3

        with sqlite3.connect(f"file:{self.folder / 'bot.db'}?mode=ro", uri=True) as connection:
            found = connection.execute(f"SELECT {columns} FROM {table} ORDER BY rowid").fetchall()  # noqa: S608
        connection.close()
        return found

    async def die(self) -> None:
        """End as a killed process does: nothing is finished, and the lock is free. A second death changes nothing."""
        self.refuse("inbox_done", "inbox_park", "inbox_release", "outbox_insert", "outbox_sent", "boot_stopped")
        await self.joined.lanes.close(0)
        await self.services.delivery.close()
        await self.joined.continuity_gate.close()
        await self.services.responder.close()
        await self._opened.aclose()


@pytest.fixture
def screen():
    return Screen()


@pytest.fixture
def script():
    return Script()


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
async def start(tmp_path, screen, script, clock):
    """Offer a function that starts a bot on the test's folder; the one before has died by then."""
    alive: list[OneBot] = []
    boots = count(1)

    async def make(**settings: Any) -> OneBot:
        for before in alive:
            await before.die()
        alive[:] = [await OneBot(tmp_path, screen, script, clock).start(f"boot{next(boots)}", **settings)]
        return alive[0]

    yield make
    for last in alive:
        await last.die()


@pytest.fixture
async def one(start):
    """Return a bot that has just started on an empty folder."""
    return await start()
