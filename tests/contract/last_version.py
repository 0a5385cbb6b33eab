"""What the last version's code wrote into its tables: rows as they stand in the files that people have."""

import json
import sqlite3
from contextlib import closing
from itertools import count

import psycopg

from memory.ledger import series
from memory.storage.postgres.connection import placeholders
from memory.testing import START_MS, make_state

HERE = "tg:1:7:0"
NINE = series.at_ms_of("2027-01-18T09:00", "Europe/Berlin")  # a Monday


class LastVersion:
    """Writes rows as the last version did: its tables, its JSON."""

    def __init__(self, memory):
        self.memory = memory
        self.numbers = count(1)

    async def row(self, table, **values):
        """Insert a row as it is, whatever the queries of today say."""
        names = ", ".join(values)
        sql = f"INSERT INTO {table} ({names}) VALUES ({', '.join(f':{name}' for name in values)})"  # noqa: S608 - ours
        if self.memory.db.shared:
            with psycopg.connect(self.memory.db.address, autocommit=True) as connection:
                connection.execute(placeholders(sql), values)
        else:
            with closing(sqlite3.connect(self.memory.db.path)) as connection, connection:
                connection.execute(sql, values)

    async def session(self, *loops, session_id="s_1", conversation=HERE, **state):
        """A session with what was open in it."""
        await self.row(
            "conversation_sessions", session_id=session_id, conversation_id=conversation, user_id=7, origin="first",
            status="paused", rolling_summary="", turn_count=1, last_seq=1, version=1, created_at_ms=START_MS,
            last_turn_at_ms=START_MS + next(self.numbers), title="",
            state_json=make_state(session_id=session_id, conversation_id=conversation, **state)
            .model_copy(update={"open_loops": ()})
            .model_dump_json()
            .replace('"open_loops":[]', f'"open_loops":{json.dumps(loops)}'),
        )  # fmt: skip

    async def turn(self, turn_id, text="…", *calls):
        """A turn with what its tools were told."""
        told = [
            {"call_id": "c", "name": name, "arguments": json.dumps({"text": said}), "result": f"Noted: {said}"}
            for name, said in calls
        ]
        await self.row(
            "conversation_turns", turn_id=turn_id, session_id="s_1", conversation_id=HERE, seq=next(self.numbers),
            user_id=7, user_text=text, assistant_text="Good.", intent="chat", response_type="answer",
            job_refs="[]", tool_calls_json=json.dumps(told), third_party=0, user_tokens=1, assistant_tokens=1,
            tool_tokens=0, model="m", input_tokens=1, output_tokens=1, digest="x", created_at_ms=START_MS,
        )  # fmt: skip

    async def memory_of(self, turn_id, text, *, kind="fact", status="active", subject="note:x"):
        """What was remembered beyond its session."""
        await self.row(
            "memories", memory_id=f"m_{next(self.numbers)}", conversation_id=HERE, user_id=7, session_id="s_1",
            turn_id=turn_id, kind=kind, subject=subject, text=text, score=1.0, status=status,
            created_at_ms=START_MS + next(self.numbers),
        )  # fmt: skip

    async def job(self, title, due=NINE, status="scheduled", *, kind="reminder", repeats="", turn_id="t_1", **more):
        """A reminder."""
        number = next(self.numbers)
        values = {"job_id": f"j_{number}", "call_key": f"k_{number}", **more}
        await self.row(
            "jobs", conversation_id=HERE, session_id="s_1", user_id=7, turn_id=turn_id, kind=kind, title=title,
            status=status, progress="", due_at_ms=due, time_zone="Europe/Berlin", created_at_ms=START_MS + number,
            updated_at_ms=START_MS, repeats=repeats, **values,
        )  # fmt: skip

    async def notes(self, *matters, lasting=(), reader="keeper-model", session_id="s_1", model=None, **more):
        """What was read in a session."""
        notes = {"schema_version": 1, "session_id": session_id, "conversation_id": HERE, "matters": matters, **more}
        notes |= {"lasting": lasting, "reader": reader, "read_through_seq": 3, "written_at_ms": START_MS}
        await self.row(
            "session_notes", session_id=session_id, conversation_id=HERE, notes_json=json.dumps(notes),
            model_json=json.dumps(model or {}) if model else "", read_through_seq=3, model_seq=0, version=1,
            written_at_ms=START_MS,
        )  # fmt: skip


def loop(text, loop_id="t_1.1", **more):
    return {
        "loop_id": loop_id, "kind": "task", "owner": "user", "text": text, "status": "open", "turn_id": "t_1",
        "opened_seq": 1, "opened_at_ms": START_MS, "touched_at_ms": START_MS, **more,
    }  # fmt: skip


def matter(text, matter_id="t_1.a", **more):
    return {
        "matter_id": matter_id, "kind": "task", "text": text, "owner": "user", "turn_ids": ["t_1"],
        "said_at_ms": START_MS, "weight": 0.8, **more,
    }  # fmt: skip


def lasting(text, note_id="t_1.1", **more):
    return {"note_id": note_id, "kind": "fact", "text": text, "turn_ids": ["t_1"], "said_at_ms": START_MS, **more}
