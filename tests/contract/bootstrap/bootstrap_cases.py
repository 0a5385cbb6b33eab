"""Makers for the tests of the bootstrap service: a database with its queries, sessions, notes, a heartbeat."""

from __future__ import annotations

from pathlib import Path

import memory
from memory.continuity.heartbeat import Heartbeat
from memory.continuity.staleness import Workload
from memory.ledger.types import Actor, Add, Refusal
from memory.storage.engine import open_database
from memory.storage.named_queries import QUERY_FILES
from memory.storage.sqlite.digests import MEMORY_DIGESTS
from memory.storage.store import insert_session
from memory.testing import (
    CONVERSATION_ID,
    START_MS,
    USER_ID,
    lay_tables,
    make_persona,
    make_state,
)

HERE = Path(memory.__file__).parent
IDLE = Workload(idle_ms=60_000)
TEST_QUERIES = """
-- name: set_turn_count
-- A reply was stored.
UPDATE conversation_sessions SET turn_count = :turn_count, version = version + 1, last_turn_at_ms = :at_ms
WHERE session_id = :session_id;

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
    return await open_database(address, [*QUERY_FILES, extra], MEMORY_DIGESTS)


def session(session_id="s_1", *, turns=4, at_ms=START_MS, user_id=USER_ID, origin="gap", **state):
    """Return the statement that stores a session with a state."""
    fields = {"conversation_id": CONVERSATION_ID, "turn_count": turns, "last_turn_at_ms": at_ms if turns else 0}
    return insert_session(
        make_state(session_id=session_id, **(fields | state)), user_id=user_id, origin=origin, created_at_ms=at_ms
    )


def task(text="Send the report to Anna", **fields):
    """Return something that the user said they would do."""
    said = {"owner": "user", "user_id": USER_ID, "session_id": "s_1", "turn_ids": ("t_1",)}
    return Add(kind="task", text=text, note_id=f"n_{text}", fields=said | fields)


def likes(text="Prefers short answers.", **fields):
    """Return what the user prefers."""
    said = {"user_id": USER_ID, "session_id": "s_1", "turn_ids": ("t_1",)}
    return Add(kind="preference", text=text, note_id=f"n_{text}", fields=said | fields)


async def noted(ledgers, *adds, conversation_id=CONVERSATION_ID, at_ms=START_MS):
    """Put notes into a conversation's ledger, as the keeper would."""
    outcomes = await ledgers.change(conversation_id, adds, Actor("keeper", at_ms))
    assert [each for each in outcomes if isinstance(each, Refusal)] == []


def past(**overrides):
    """Return the statement that stores a session of the past."""
    return session(**overrides)


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
