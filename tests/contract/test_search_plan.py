"""How SQLite goes about the queries of the search: by row number, never through a whole conversation."""

import contextlib
import json
from pathlib import Path

from memory.search import searcher
from memory.storage.named_queries import load_queries
from memory.storage.sqlite_connection import connect_reader
from memory.testing import open_memory

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
