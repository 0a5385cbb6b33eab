"""The bot's own tables in the memory's database: their schema, their queries, and the rows that forgetting erases."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import orjson

from memory.ports import Database, Row, Statement
from memory.privacy.erasure import carries
from memory.storage.extension import Erasure, Extension
from memory.storage.migrate import FOLDER as MEMORY_MIGRATIONS
from memory.storage.named_queries import QUERY_FILES as MEMORY_QUERY_FILES
from memory.storage.sqlite.digests import MEMORY_DIGESTS, WHOLE, Digested

_HERE = Path(__file__).parent
BOT_QUERY_FILES = (
    _HERE / "queries.sql",
    _HERE / "workers.postgres.sql",
    _HERE / "tools" / "queries.sql",
    _HERE / "files" / "queries.sql",
    _HERE / "tasks" / "queries.sql",
    _HERE / "ops" / "queries.sql",
    _HERE / "http" / "console" / "queries.sql",
)
OF_A_TURN = ("erase_turn_texts", "erase_tool_calls", "erase_speech", "erase_reactions", "erase_polls")
BOT_MIGRATIONS = _HERE / "migrations"
QUERY_FILES = (*MEMORY_QUERY_FILES, *BOT_QUERY_FILES)
"""Every file of named queries, to open a database that is no memory (a backup)."""
MIGRATIONS = (MEMORY_MIGRATIONS, BOT_MIGRATIONS)
"""Every folder of migrations that makes a bot's database."""
BOT_DIGESTS = {
    "buttons": WHOLE,
    "chat_moves": WHOLE,
    "inbox": Digested(
        progress=frozenset({"state", "attempts", "waits", "boot_id", "turn_id", "error", "done_at_ms"}),
        still_read="{row}state <> 'done'",
    ),
    "outbox": Digested(
        progress=frozenset(
            {"state", "attempts", "message_id", "after_message_id", "error", "sending_at_ms", "sent_at_ms"}
        ),
        still_read="{row}state IN ('queued', 'sending')",
    ),
    "people": Digested(written_whole=("settings_json", "allowed")),
}
DIGESTS = {**MEMORY_DIGESTS, **BOT_DIGESTS}
"""Every table of a bot's database whose rows have digests."""


async def erase_messages(db: Database, going: Erasure) -> list[Statement]:
    """The statements that delete prompts, tools' results, and texts sent, put aside or on buttons (P13)."""
    here = {"conversation_id": going.conversation_id}
    statements = [
        Statement("erase_prompts", here),
        Statement("erase_all_texts" if going.everything else "erase_sent_texts", here),
    ]
    if going.everything:
        statements += [Statement("erase_all_tool_calls", here), Statement("erase_tool_choices", here)]
        statements += [Statement("erase_tool_logins", here), Statement("erase_logins_begun", here)]
        statements += [Statement(name, here) for name in ("erase_speeches", "erase_all_reactions", "erase_all_polls")]
    for turn_id in sorted(going.turn_ids):
        statements += [Statement(name, {"turn_id": turn_id}) for name in OF_A_TURN]
    for row in await db.read("erased_inbox", **here):
        if going.everything or any(word in row["payload"] for word in going.words):
            update = {"bot_id": row["bot_id"], "update_id": row["update_id"]}
            statements.append(Statement("erase_payload", {**update, "at_ms": going.at_ms}))
    ids = going.turn_ids | going.session_ids
    for row in await db.read("erased_buttons", **here):
        if going.everything or carries(row["payload_json"], ids, going.words):
            statements.append(Statement("erase_button", {"button_id": row["button_id"]}))
    return statements


async def erase_name(db: Database, going: Erasure) -> list[Statement]:
    """The statements that delete a wholly forgotten chat's name, until the chat writes to a later process."""
    whose = next(iter(going.conversation_id.split(":")[2:3]), "")
    known = going.everything and whose.removeprefix("-").isdecimal()
    row = await db.read_one("person_choices", user_id=int(whose)) if known else None
    choices = orjson.loads(row["settings_json"]) if row else {}
    if choices.pop("name", None) is None:
        return []
    values = {"user_id": int(whose), "settings_json": orjson.dumps(choices).decode(), "created_at_ms": going.at_ms}
    return [Statement("person_choose", values)]


async def erase(db: Database, going: Erasure) -> list[Statement]:
    """The statements that delete messages, a name, files with the text read from them, tasks without notes (P13)."""
    here = {"conversation_id": going.conversation_id}
    tasks = [Statement(name, here) for name in ("erase_task_calls", "erase_tasks", "erase_task_runs")]
    others = [*await erase_name(db, going), *await erase_files(db, going), *tasks]
    return [*await erase_messages(db, going), *others]


async def turns_of_notes(db: Database, note_ids: Collection[str]) -> Sequence[str]:
    """Return the turns that go with these notes: the runs of those that are tasks, with their results."""
    found = [await db.read("task_turns_of", note_id=note_id) for note_id in sorted(note_ids)]
    return [row["turn_id"] for rows in found for row in rows]


def place_of(conversation_id: str) -> str:
    """The place where the passages of a conversation's files are searched, apart from its turns."""
    return f"files of {conversation_id}"


def text_gone(file_id: str, conversation_id: str) -> list[Statement]:
    """Return the statements that delete everything read from a file."""
    return [
        Statement("file_passages_drop", {"file_id": file_id}),
        Statement("file_terms_drop", {"conversation_id": place_of(conversation_id), "file_id": file_id}),
    ]


async def erase_files(db: Database, going: Erasure) -> list[Statement]:
    """The statements that delete the files of forgotten turns; their bytes go with the next sweep."""
    statements: list[Statement] = []
    for row in await _going(db, going):
        statements.append(Statement("erase_file", {"file_id": row["file_id"]}))
        statements += text_gone(row["file_id"], going.conversation_id)
    return statements


async def count_files(db: Database, going: Erasure) -> Mapping[str, int]:
    """Return how many files go; what was read from them goes with them."""
    return {"file": len(await _going(db, going))}


async def _going(db: Database, going: Erasure) -> Sequence[Row]:
    rows = await db.read("erased_files", conversation_id=going.conversation_id)
    return [
        row
        for row in rows
        if going.everything or row["turn_id"] in going.turn_ids or row["session_id"] in going.session_ids
    ]


BOT_TABLES = Extension(
    queries=BOT_QUERY_FILES,
    migrations=BOT_MIGRATIONS,
    digests=BOT_DIGESTS,
    erase=erase,
    count=count_files,
    turns_of_notes=turns_of_notes,
)
