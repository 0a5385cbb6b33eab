"""Tools for tests of this library and of bots on it: clock, ids, counter, makers of contracts, a memory in a folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memory.continuity.types import Arc, BootstrapOwner, PastSession, Persona
from memory.ledger.types import Note
from memory.opening import ConversationMemory
from memory.sessions.exchange import Exchange
from memory.storage.extension import Extension
from memory.storage.migrate import MEMORY_ONLY, migrate
from memory.storage.place import places
from memory.storage.sqlite.connection import create_private
from memory.types import ConversationTurn, OpenLoop, SessionState, Topic

START_MS = 1_700_000_000_000
CONVERSATION_ID = "tg:1:7:0"
USER_ID = 7


class ManualClock:
    """A clock that moves only by `advance`."""

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
    """A counter whose token is a word."""

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
    """Return the exchange of turn `t_<number>` of session `s_1`, unless told otherwise."""
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


def make_persona(**overrides: Any) -> Persona:
    """Return a plain assistant, unless told otherwise."""
    fields: dict[str, Any] = {
        "name": "assistant",
        "role": "assistant",
        "immersion": "balanced",
        "tone": ("clear", "calm"),
        "instructions": "Be of help.",
    }
    return Persona.model_validate(fields | overrides)


def make_owner(**overrides: Any) -> BootstrapOwner:
    """Return user 7 in their private chat with the plain assistant; persona fields may be given too."""
    own = {name: overrides.pop(name) for name in ("conversation_id", "user_id", "persona") if name in overrides}
    fields = {"conversation_id": CONVERSATION_ID, "user_id": USER_ID, "persona": make_persona(**overrides)}
    return BootstrapOwner.model_validate(fields | own)


def make_loop(text: str = "Send the report to Anna", **overrides: Any) -> OpenLoop:
    """Return a promise of the user."""
    fields: dict[str, Any] = {
        "loop_id": "t_1.1",
        "kind": "commitment",
        "owner": "user",
        "text": text,
        "turn_id": "t_1",
        "opened_seq": 1,
        "opened_at_ms": START_MS,
        "touched_at_ms": START_MS,
    }
    return OpenLoop.model_validate(fields | overrides)


def make_topic(name: str = "lisbon trip", weight: float = 0.8) -> Topic:
    """Return a topic of the whole session."""
    return Topic(name=name, weight=weight, first_seq=1, last_seq=9)


def make_session(**overrides: Any) -> PastSession:
    """Return a session of four turns, unless told otherwise."""
    fields: dict[str, Any] = {"session_id": "s_1", "title": "", "turn_count": 4, "last_turn_at_ms": START_MS}
    return PastSession.model_validate(fields | overrides)


def make_note(text: str = "Send the report to Anna", **overrides: Any) -> Note:
    """Return a task of the user, as they said it in turn `t_<number>` of session `s_1`, unless told otherwise."""
    number = overrides.get("number", 1)
    fields: dict[str, Any] = {
        "note_id": f"n_{number}",
        "conversation_id": CONVERSATION_ID,
        "number": number,
        "kind": "task",
        "text": text,
        "said_at_ms": START_MS,
        "session_id": "s_1",
        "user_id": USER_ID,
        "turn_ids": (f"t_{number}",),
    }
    return Note.model_validate(fields | overrides)


def make_arc(title: str = "report for Anna", **overrides: Any) -> Arc:
    """Return a certain project of the last conversation; its id is made of its title."""
    fields: dict[str, Any] = {
        "arc_id": f"a_{title.replace(' ', '_')}",
        "number": 1,
        "kind": "project",
        "title": title,
        "summary": title,
        "confidence": "high",
        "stickiness": "normal",
        "sources": ("n_1", "t_1"),
        "last_touched_at_ms": START_MS,
        "conversations_ago": 0,
    }
    return Arc.model_validate(fields | overrides)


@cache
def _empty_database(folders: tuple[Path, ...]) -> bytes:  # no row, hence no digest
    with TemporaryDirectory() as folder:
        migrate(Path(folder) / "empty.db", folders, now_ms=START_MS)
        return (Path(folder) / "empty.db").read_bytes()


def lay_tables(database: Path | str, extensions: Sequence[Extension] = ()) -> None:
    """Put a file with every table and no row there unless there is one: migrated once per process, then copied.

    For a server's address nothing is done.
    """
    if isinstance(database, Path) and not database.exists():
        own = tuple(each.migrations for each in extensions if each.migrations)
        create_private(database)
        database.write_bytes(_empty_database((*MEMORY_ONLY, *own)))


async def start_memory(folder: Path | str, *, copied: bool = True, **options: Any) -> ConversationMemory:
    """Open the memory in a folder with a clock, ids and tokens that a test can foretell; the same again is a restart.

    Nothing happens by itself: no lock, no recovery, no vectors. Options as of `ConversationMemory.open`.
    A new database is a copy (`lay_tables`) unless it is to be migrated step by step, as at a program's first start.
    """
    if copied:
        lay_tables(places(folder)[0], options.get("extensions", ()))
    chosen: dict[str, Any] = {
        "clock": ManualClock(),
        "ids": SequentialIds(),
        "counter": WordCounter(),
        "embedder": None,
        "exclusive": False,
        "recover": False,
        "background": False,
    }
    return await ConversationMemory.open(folder, **(chosen | options))


@asynccontextmanager
async def open_memory(folder: Path | str, **options: Any) -> AsyncIterator[ConversationMemory]:
    """Do the same for the length of a block; at its end nothing is brought to rest, as when a process is killed."""
    memory = await start_memory(folder, **options)
    try:
        yield memory
    finally:
        await memory.close()
