"""How SQLite goes about the queries of the search: out of its indexes, never through a whole conversation."""

import contextlib
import re
import sqlite3
from pathlib import Path

import pytest

from memory.search import searcher
from memory.storage.named_queries import load_queries
from memory.storage.sqlite_connection import connect_reader
from memory.testing import lay_tables, open_memory

QUERIES = Path(searcher.__file__).with_name("search.sqlite.sql")


@pytest.mark.parametrize("name", ["search_terms", "search_documents"])
async def test_documents_are_read_side_by_side(tmp_path, name):
    """What is known of documents is read out of indexes: not a page for each row, not a conversation of many years."""
    async with open_memory(tmp_path) as opened:
        path = opened.db.path
    query = load_queries([QUERIES])[name]

    with contextlib.closing(connect_reader(path)) as connection:
        asked = dict.fromkeys(re.findall(r":(\w+)", query))
        steps = [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", asked)]

    reads = [step for step in steps if re.match("(SCAN|SEARCH) (search_docs|n) ", step)]
    assert any("search_docs_known (conversation_id=? AND doc_id=?)" in step for step in reads)
    assert [step for step in reads if "COVERING INDEX" not in step] == []


def test_as_much_of_a_file_is_mapped_as_sqlite_allows(tmp_path):
    """A reader maps two gigabytes: half of a large file read in another way costs more than all of it."""
    database = tmp_path / "continuity.db"
    lay_tables(database)
    with contextlib.closing(sqlite3.connect(database)) as plain, contextlib.closing(connect_reader(database)) as reader:
        (allowed,) = plain.execute(f"PRAGMA mmap_size={2**40}").fetchone()
        (mapped,) = reader.execute("PRAGMA mmap_size").fetchone().values()

    assert mapped == allowed
