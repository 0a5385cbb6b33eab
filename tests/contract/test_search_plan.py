"""How SQLite goes about the queries of the search: by row number, never through a whole conversation."""

import contextlib
import json
import sqlite3
from pathlib import Path

from memory.search import searcher
from memory.storage.named_queries import load_queries
from memory.storage.sqlite_connection import connect_reader
from memory.testing import lay_tables, open_memory

QUERIES = Path(searcher.__file__).with_name("search.sqlite.sql")


async def test_documents_are_fetched_by_number(tmp_path):
    """The documents that were found are read one by one: a conversation of many years is not walked from end to end."""
    async with open_memory(tmp_path) as opened:
        path = opened.db.path
    query = load_queries([QUERIES])["search_documents"]
    asked = {"docs": json.dumps([1, 2]), "around": 2, "conversation_id": "tg:1:1:0", "sessions": None}

    with contextlib.closing(connect_reader(path)) as connection:
        steps = [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", asked)]

    assert "SEARCH search_docs USING INTEGER PRIMARY KEY (rowid=?)" in steps


def test_as_much_of_a_file_is_mapped_as_sqlite_allows(tmp_path):
    """A reader maps two gigabytes: half of a large file read in another way costs more than all of it."""
    database = tmp_path / "continuity.db"
    lay_tables(database)
    with contextlib.closing(sqlite3.connect(database)) as plain, contextlib.closing(connect_reader(database)) as reader:
        (allowed,) = plain.execute(f"PRAGMA mmap_size={2**40}").fetchone()
        (mapped,) = reader.execute("PRAGMA mmap_size").fetchone().values()

    assert mapped == allowed
