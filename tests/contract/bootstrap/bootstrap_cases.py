"""Makers for the tests of the bootstrap service: a database with its queries, sessions, memories, a heartbeat."""

from __future__ import annotations

from pathlib import Path

import memory
from memory.continuity.heartbeat import Heartbeat
from memory.continuity.staleness import Workload
from memory.ports import Statement
from memory.storage.engine import open_database
from memory.storage.named_queries import QUERY_FILES
from memory.storage.store import insert_session
from memory.testing import (
    CONVERSATION_ID,
    START_MS,
    USER_ID,
    lay_tables,
    make_loop,
    make_memory,
    make_persona,
    make_state,
)

HERE = Path(memory.__file__).parent
IDLE = Workload(idle_ms=60_000)
TEST_QUERIES = """
-- name: put_memory
-- A memory as the promotion gate would store it.
INSERT INTO memories (memory_id, conversation_id, user_id, session_id, turn_id, kind, subject, text, score, status,
    superseded_by, created_at_ms)
VALUES (:memory_id, :conversation_id, :user_id, :session_id, :turn_id, :kind, :subject, :text, :score, :status,
    :superseded_by, :at_ms);

-- name: forget_memory
-- What the user forgets.
DELETE FROM memories WHERE memory_id = :memory_id;

-- name: set_turn_count
-- A reply was stored.
UPDATE conversation_sessions SET turn_count = :turn_count, version = version + 1, last_turn_at_ms = :at_ms
WHERE session_id = :session_id;

-- name: spoil_state
-- A state that no program can read.
UPDATE conversation_sessions SET state_json = '{' WHERE session_id = :session_id;

-- name: all_continuity_text
-- Everything that the continuity tables hold in words.
SELECT internal_packet AS words FROM continuity_bootstrap_cache
UNION ALL SELECT preview_json FROM continuity_bootstrap_cache
UNION ALL SELECT title || summary FROM continuity_arcs
UNION ALL SELECT state_json FROM continuity_relationship_states
UNION ALL SELECT internal_packet FROM continuity_choices;
"""


async def opened(address, folder):
    """Open a fresh database."""
    extra = folder / "test.sql"
    extra.write_text(TEST_QUERIES, encoding="utf-8")
    lay_tables(address)
    return await open_database(address, [*QUERY_FILES, extra])


def session(session_id="s_1", *, turns=4, at_ms=START_MS, user_id=USER_ID, origin="gap", **state):
    """Return the statement that stores a session with a state."""
    fields = {"conversation_id": CONVERSATION_ID, "turn_count": turns, "last_turn_at_ms": at_ms if turns else 0}
    return insert_session(
        make_state(session_id=session_id, **(fields | state)), user_id=user_id, origin=origin, created_at_ms=at_ms
    )


def note(text="Prefers short answers.", *, conversation_id=CONVERSATION_ID, **overrides):
    """Return the statement that stores a memory."""
    return Statement("put_memory", {"conversation_id": conversation_id, **make_memory(text, **overrides).model_dump()})


def past(**overrides):
    """Return the statement that stores a session with an open promise."""
    return session(**({"open_loops": (make_loop(),)} | overrides))


def new(session_id="s_2", **overrides):
    """Return the statement that opens a session."""
    return session(session_id, turns=0, at_ms=START_MS + 3000_000, **overrides)


def heartbeat_of(db, bootstrap, *, workload=IDLE, busy=lambda: False, persona=None):
    """Return a heartbeat for which everybody has the same persona."""

    async def persona_of(user_id):
        return persona or make_persona()

    return Heartbeat(db, bootstrap, persona_of=persona_of, workload=lambda: workload, busy=busy)


async def words_of(db):
    return "\n".join(row["words"] for row in await db.read("all_continuity_text"))
