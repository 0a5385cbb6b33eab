"""How SQLite goes about the queries of the search: out of its indexes, never through a whole conversation."""

import contextlib
import re
import sqlite3
from pathlib import Path

import pytest

from memory.search import searcher
from memory.storage.named_queries import load_queries
from memory.storage.sqlite.connection import connect_reader
from memory.storage.sqlite.digests import MEMORY_DIGESTS
from memory.testing import lay_tables, open_memory

QUERIES = Path(searcher.__file__).with_name("search.sqlite.sql")


@pytest.mark.parametrize("name", ["search_terms", "search_documents"])
async def test_documents_are_read_side_by_side(tmp_path, name):
    """What is known of documents is read out of indexes: not a page for each row, not a conversation of many years."""
    async with open_memory(tmp_path) as opened:
        path = opened.db.path
    query = load_queries([QUERIES])[name]

    with contextlib.closing(connect_reader(path, MEMORY_DIGESTS)) as connection:
        asked = dict.fromkeys(re.findall(r":(\w+)", query))
        steps = [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", asked)]

    reads = [step for step in steps if re.match("(SCAN|SEARCH) (search_docs|n) ", step)]
    assert any("search_docs_known (conversation_id=? AND doc_id=?)" in step for step in reads)
    assert [step for step in reads if "COVERING INDEX" not in step] == []


def test_turns_leave_the_index_in_few_pieces(tmp_path):
    """Each piece is looked into for each term: sixty turns, one after the other, leave six and not fifteen."""
    path = tmp_path / "continuity.db"
    lay_tables(path)
    query = load_queries([QUERIES])["index_document"]
    turn = dict.fromkeys(re.findall(r":(\w+)", query), "x") | {"seq": 1, "user_id": 1, "at_ms": 1}
    with contextlib.closing(sqlite3.connect(path)) as db:
        for number in range(60):
            db.execute("SAVEPOINT turn")  # at which FTS5 writes what it holds, as at the end of a transaction
            db.execute(query, turn | {"ref": f"t_{number}", "source": "turn", "user_terms": f"{number:010x}"})
            db.execute("RELEASE turn")
        (pieces,) = db.execute("SELECT COUNT(DISTINCT segid) FROM search_index_idx").fetchone()

    assert pieces <= 8


def test_a_reader_maps_nothing_of_the_file(tmp_path):
    """Whoever searches does so after a commit, behind which each page that is mapped costs more than a copy of it."""
    database = tmp_path / "continuity.db"
    lay_tables(database)
    with contextlib.closing(connect_reader(database, MEMORY_DIGESTS)) as reader:
        assert list(reader.execute("PRAGMA mmap_size").fetchone().values()) == [0]
