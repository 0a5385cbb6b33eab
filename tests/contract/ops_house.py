"""A data folder as a bot leaves it, filled through the Recorder, and the commands run on it as an operator does."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import typer
from loopback.forked import Forked
from typer.testing import CliRunner

from bot.cli import app
from bot.tables import BOT_TABLES, DIGESTS, QUERY_FILES
from memory.ledger.types import Actor, Add
from memory.ports import Statement
from memory.search.languages import Languages
from memory.search.searcher import index_turn
from memory.storage.place import take_lock
from memory.storage.sqlite.database import SqliteDatabase
from memory.storage.store import Store
from memory.storage.turn_rows import heal_turn
from memory.testing import START_MS, make_exchange, open_memory

TOKEN = "123456789:" + "A" * 35
COMMANDS = typer.main.get_command(app)
CHAT, GROUP = "tg:5:987654321:0", "tg:5:-100777:12"


def work(*arguments) -> None:
    """Hold a database as a bot does, and commit one turn for each line that comes."""
    asyncio.run(_work(*arguments))


async def _work(folder: Path, session_id: str, first: int) -> None:
    with take_lock(folder / "continuity.db"):
        async with open_memory(folder, extensions=[BOT_TABLES]) as memory:
            say = partial(print, flush=True)
            say("ready")
            for seq, _ in enumerate(iter(sys.stdin.readline, ""), first):
                exchange = make_exchange(
                    seq, turn_id=f"t_live_{seq}", session_id=session_id, conversation_id="tg:5:987654321:0"
                )
                await memory.recorder.record(exchange, None)
                say(seq)


@contextmanager
def bot_at_work(house, session_id, seq):
    """Run a process that holds the lock and the writing connection; `say()` makes it commit one more turn."""
    with TemporaryDirectory() as name:
        told, said, errors = (Path(name) / each for each in ("told", "said", "errors"))
        os.mkfifo(told)
        os.mkfifo(said)
        streams = {"input_path": told, "log_path": said, "error_path": errors}
        child = Forked(work, house.folder, session_id, seq, folder=house.folder, env={}, **streams)
        with told.open("w", encoding="utf-8") as go, said.open(encoding="utf-8") as lines:
            assert lines.readline() == "ready\n", errors.read_text(encoding="utf-8")

            def say():
                go.write("go\n")
                go.flush()
                return int(lines.readline())

            yield child, say
        assert child.join() in (0, -signal.SIGKILL), errors.read_text(encoding="utf-8")


class House:
    """One data folder, its settings, and `run("status")`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "continuity.db"
        self.checkpoints = folder / "checkpoints"
        self.sent_files = folder / "continuity.db.files"
        self.sessions: list[str] = []
        self.env = {name: None for name in os.environ if name.startswith(("CONTINUITY_", "TELEGRAM_"))} | {
            "CONTINUITY_DATABASE_URL": f"sqlite:///{self.database}",
            "CONTINUITY_CHECKPOINT_DIR": str(self.checkpoints),
            "CONTINUITY_ALLOWED_USERS": "7",
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TERM": "dumb",
        }

    def run(self, *words: str, env: dict[str, str] | None = None):
        """Run a command; the result has exit_code, stdout and stderr."""
        with patch("typer.testing._get_command", return_value=COMMANDS):  # it would build them each time anew
            return CliRunner().invoke(app, list(words), env=self.env | (env or {}), catch_exceptions=False)

    def json(self, *words: str):
        """Run a command with --json and return what it printed."""
        return json.loads(self.run(*words, "--json").stdout)

    def fill(self, *lengths: int) -> None:
        """Make a session of so many turns each, the last one current; the second is a forum topic's."""
        asyncio.run(self._fill(lengths))

    async def _fill(self, lengths) -> None:
        languages = Languages.load()
        async with open_memory(self.folder, extensions=[BOT_TABLES]) as memory:
            for number, length in enumerate(lengths):
                conversation = GROUP if number == 1 else CHAT
                opened = await memory.recorder.open_session(conversation, 7, "gap" if number else "first")
                self.sessions.append(opened.session_id)
                for seq in range(1, length + 1):
                    exchange = make_exchange(
                        turn_id=f"t_{number}_{seq}",
                        session_id=opened.session_id,
                        conversation_id=conversation,
                        user_text=f"What is the height of tower number {seq}?",
                        assistant_text=f"Tower {seq} is {seq} metres high.",
                        created_at_ms=START_MS + (number * 1000 + seq) * 60_000,
                    )
                    turn = await memory.recorder.record(exchange, None)
                    await memory.db.write(index_turn(turn, languages))

    def write(self, *statements: Statement) -> None:
        """Change rows by named queries."""

        async def work():
            async with open_memory(self.folder, extensions=[BOT_TABLES]) as memory:
                await memory.db.write(*statements)

        asyncio.run(work())

    def turns(self, session_id: str) -> list[str]:
        """Return the turn ids of a session's log."""
        return self.log(self.database, session_id)

    @staticmethod
    def log(database: Path, session_id: str) -> list[str]:
        """Return the turn ids of a session in any database file, without touching its folder."""

        async def work():
            db = await SqliteDatabase.open(database, QUERY_FILES, DIGESTS, read_only=True)
            try:
                return [turn.turn_id for turn in await Store(db).last_turns(session_id, 10_000)]
            finally:
                await db.close()

        return asyncio.run(work())

    def checkpoint(self, number: int) -> Path:
        """Return the checkpoint file of a session."""
        return self.checkpoints / f"{self.sessions[number]}.json"

    def files(self) -> dict[str, bytes]:
        """Return every file but SQLite's own side files, so that changes are seen."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and not path.name.endswith(("-wal", "-shm"))
        }

    def say(self, session_id: str, text: str) -> None:
        """Say one more thing in a session."""

        async def work():
            async with open_memory(self.folder, extensions=[BOT_TABLES]) as memory:
                state = await memory.recorder.session(session_id)
                exchange = make_exchange(
                    turn_id=f"t_said_{state.last_seq + 1}",
                    session_id=session_id,
                    conversation_id=state.conversation_id,
                    user_text=text,
                    created_at_ms=state.last_turn_at_ms + 60_000,
                )
                await memory.recorder.record(exchange, None)

        asyncio.run(work())

    def note(self, text: str, **fields) -> None:
        """Note something in the first session's conversation, resting on its first turn."""
        kind = fields.pop("kind")
        said = {"turn_ids": ("t_0_1",), "session_id": self.sessions[0], "user_id": 7}

        async def work():
            async with open_memory(self.folder, extensions=[BOT_TABLES]) as memory:
                add = Add(kind=kind, text=text, note_id=f"n_{text}", fields=said | fields)
                await memory.change(CHAT, [add], Actor("person", START_MS))

        asyncio.run(work())

    def alter(self, session_id: str, seq: int) -> None:
        """Change a turn's text and leave its digest as it was, as a flipped bit would."""

        async def work():
            async with open_memory(self.folder, extensions=[BOT_TABLES]) as memory:
                (logged,) = await memory.store.logged_between(session_id, seq, seq)
                turn = logged.turn.model_copy(update={"user_text": "What is the height of nothing?"})
                await memory.db.write(heal_turn(turn, logged.digest))

        asyncio.run(work())
