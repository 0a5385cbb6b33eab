"""The bot's own tables in the memory's database, and the queries that the bot and its commands run on them."""

from __future__ import annotations

from pathlib import Path

from memory.storage.extension import Extension
from memory.storage.named_queries import QUERY_FILES as MEMORY_QUERY_FILES

_HERE = Path(__file__).parent
BOT_QUERY_FILES = (_HERE / "queries.sql", _HERE / "ops" / "queries.sql", _HERE / "http" / "console" / "queries.sql")
QUERY_FILES = (*MEMORY_QUERY_FILES, *BOT_QUERY_FILES)
"""Every file of named queries, for whoever opens a database that is no memory (a backup)."""
BOT_TABLES = Extension(queries=BOT_QUERY_FILES)
