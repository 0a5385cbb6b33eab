"""A data folder as a bot leaves it, filled through the Recorder, and the commands run on it as an operator does."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import typer
from typer.testing import CliRunner

from bot.cli import app
from bot.tables import BOT_TABLES, QUERY_FILES
from memory.language.languages import Languages
from memory.ports import Statement
from memory.search.searcher import index_turn
from memory.storage.sqlite import SqliteDatabase
from memory.storage.store import Store, heal_turn
from memory.testing import START_MS, make_exchange, open_memory

TOKEN = "123456789:" + "A" * 35
COMMANDS = typer.main.get_command(app)
CHAT, GROUP = "tg:5:987654321:0", "tg:5:-100777:12"


WRITER = """
import asyncio, sys
from pathlib import Path
from bot.tables import BOT_TABLES
from memory.storage.place import take_lock
from memory.testing import make_exchange, open_memory

async def main(folder, session_id, first):
    with take_lock(folder / "continuity.db"):
        async with open_memory(folder, extensions=[BOT_TABLES]) as memory:
            print("ready", flush=True)
            for seq, _ in enumerate(iter(sys.stdin.readline, ""), first):
                exchange = make_exchange(seq, turn_id=f"t_live_{seq}", session_id=session_id,
                    conversation_id="tg:5:987654321:0")
                await memory.recorder.record(exchange, None)
                print(seq, flush=True)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
"""


@contextmanager
def bot_at_work(house, session_id, seq):
    """Run a process that holds the lock and the writing connection; `say()` makes it commit one more turn."""
    command = [sys.executable, "-c", WRITER, str(house.folder), session_id, str(seq)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"

        def say():
            child.stdin.write("go\n")
            child.stdin.flush()
            return int(child.stdout.readline())

        yield child, say
        child.stdin.close()
    assert child.returncode in (0, -signal.SIGKILL)


class House:
    """One data folder, its settings, and `run("status")`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "continuity.db"
        self.checkpoints = folder / "checkpoints"
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
            db = await SqliteDatabase.open(database, QUERY_FILES, read_only=True)
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

    def alter(self, session_id: str, seq: int) -> None:
        """Change a turn's text and leave its digest as it was, as a flipped bit would."""

        async def work():
            async with open_memory(self.folder, extensions=[BOT_TABLES]) as memory:
                (logged,) = await memory.store.logged_between(session_id, seq, seq)
                turn = logged.turn.model_copy(update={"user_text": "What is the height of nothing?"})
                await memory.db.write(heal_turn(turn, logged.digest))

        asyncio.run(work())
