"""The files of named queries that the bot and its commands run: memory's, the bot's, the operator's."""

from __future__ import annotations

from pathlib import Path

from memory.storage.named_queries import QUERY_FILES as MEMORY_QUERY_FILES

_HERE = Path(__file__).parent
BOT_QUERY_FILES = (_HERE / "queries.sql", _HERE / "ops" / "queries.sql")
QUERY_FILES = (*MEMORY_QUERY_FILES, *BOT_QUERY_FILES)
