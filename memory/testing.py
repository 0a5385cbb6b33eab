"""For tests of this library and of bots built on it: clock, ids, counter, makers of contracts, a memory in a folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.checkpoint import CheckpointFiles
from memory.db.sqlite import SqliteDatabase
from memory.hydrator import Hydrator
from memory.languages import Languages
from memory.migrate import migrate
from memory.ports import Clock, Ids, TokenCounter
from memory.recorder import Exchange, Recorder
from memory.store import Store
from memory.types import ConversationTurn, SessionState

START_MS = 1_700_000_000_000


class ManualClock:
    """A clock that moves only when it is told to."""

    def __init__(self, now_ms: int = START_MS) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        """Return the time that was set."""
        return self._now_ms

    def advance(self, *, s: float = 0, ms: int = 0) -> int:
        """Move on and return the new time."""
        self._now_ms += int(s * 1000) + ms
        return self._now_ms


class SequentialIds:
    """Ids that a test can foretell: `t_1`, `s_2`, `t_3`."""

    def __init__(self) -> None:
        self._count = 0

    def new(self, prefix: str) -> str:
        """Return the next id."""
        self._count += 1
        return f"{prefix}_{self._count}"


class WordCounter:
    """A token is a word."""

    def count(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())


def make_turn(**overrides: Any) -> ConversationTurn:
    """Return a turn; `seq` n is turn `t_n` of session `s_1`, a minute after the one before, unless told otherwise."""
    seq = overrides.get("seq", 1)
    fields: dict[str, Any] = {
        "turn_id": f"t_{seq}",
        "session_id": "s_1",
        "conversation_id": "tg:1:1:0",
        "seq": seq,
        "user_id": 7,
        "user_text": f"question {seq}",
        "assistant_text": f"answer {seq}",
        "created_at_ms": START_MS + seq * 60_000,
    }
    return ConversationTurn.model_validate(fields | overrides)


def make_state(**overrides: Any) -> SessionState:
    """Return the state of the empty session `s_1`, unless told otherwise."""
    fields: dict[str, Any] = {"session_id": "s_1", "conversation_id": "tg:1:1:0"}
    return SessionState.model_validate(fields | overrides)


def make_exchange(number: int = 1, **overrides: Any) -> Exchange:
    """Return what was said in turn `t_<number>` of session `s_1`, unless told otherwise."""
    fields: dict[str, Any] = {
        "turn_id": f"t_{number}",
        "session_id": "s_1",
        "conversation_id": "tg:1:1:0",
        "user_id": 7,
        "user_text": f"question {number}",
        "assistant_text": f"answer {number}",
        "created_at_ms": START_MS + number * 60_000,
    }
    return Exchange(**(fields | overrides))


@dataclass(frozen=True, slots=True)
class Memory:
    """Everything of a memory that lives in one folder: `continuity.db` and `checkpoints/`."""

    folder: Path
    clock: Clock
    db: SqliteDatabase
    store: Store
    checkpoints: CheckpointFiles
    hydrator: Hydrator
    recorder: Recorder

    async def close(self) -> None:
        """Let go of the files as a process does that is not asked to shut down in good order."""
        await self.recorder.settle()
        await self.db.close()


async def start_memory(
    folder: Path,
    *,
    clock: Clock | None = None,
    ids: Ids | None = None,
    counter: TokenCounter | None = None,
    queries: Sequence[Path] = (),
    max_live: int = 256,
) -> Memory:
    """Migrate and open the memory in a folder; the same folder again is a restart."""
    clock, ids, counter = clock or ManualClock(), ids or SequentialIds(), counter or WordCounter()
    path, languages = folder / "continuity.db", Languages.load()
    migrate(path, now_ms=clock.now_ms())
    db = await SqliteDatabase.open(path, [Path(__file__).parent / "queries.sql", *queries])
    store, checkpoints = Store(db), CheckpointFiles(folder / "checkpoints", clock)
    hydrator = Hydrator(store, checkpoints, languages, counter, clock)
    recorder = Recorder(store, hydrator, checkpoints, languages, counter, clock, ids, max_live=max_live)
    return Memory(folder, clock, db, store, checkpoints, hydrator, recorder)


@asynccontextmanager
async def open_memory(folder: Path, **options: Any) -> AsyncIterator[Memory]:
    """Start the memory in a folder for the length of a block; options as of `start_memory`."""
    memory = await start_memory(folder, **options)
    try:
        yield memory
    finally:
        await memory.close()
