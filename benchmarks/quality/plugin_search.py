"""The retriever of the scoring scripts: the bot's own search over a real store.

One utterance becomes one `ConversationTurn` with one side filled: of an assistant the assistant's, of anybody else the
user's. (A turn of the bot has both sides, but the index holds each side as a message of its own and the evidence of the
data sets is single messages.) A chat between people is a group chat whose members' first names are known.

The figures reached are in `docs/explanation/search.md`; `query.shown` measures what the bot shows: passages, not
messages. `QUALITY_DATABASE` puts the store on a PostgreSQL server.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import dateparser

from memory.context.tokens import TiktokenCounter
from memory.opening import ConversationMemory
from memory.ports import Statement
from memory.search import embeddings
from memory.search.languages import Languages
from memory.search.query import Query
from memory.search.searcher import index_turn
from memory.search.semantic import Semantic
from memory.storage.turn_rows import LoggedTurn, chain, insert_turn
from memory.testing import start_memory
from memory.types import ConversationTurn

CONVERSATION = "tg:1:1:0"
ASSISTANTS = {"assistant", "bot", "ai", "chatbot", "agent", "system", "model"}
USERS = {"user", "human", "me"}
DAY_MS = 86_400_000
SHOWN = 100
START_MS = 1_700_000_000_000


def retriever(turns: Sequence[Mapping[str, Any]]) -> Callable[..., list[str]]:
    """Return `query(question, k=200, budget=None) -> turn ids`, best first, over a store that holds the turns."""
    return _retriever(turns, None)


def semantic_retriever(turns: Sequence[Mapping[str, Any]]) -> Callable[..., list[str]]:
    """Return the same with vectors made of all turns. Raises RuntimeError without the extra `semantic`."""
    model = _model()
    if model is None:
        raise RuntimeError(f"the extra `semantic` is not installed; {embeddings.MISSING}")
    return _retriever(turns, model)


@lru_cache(maxsize=1)
def _model() -> embeddings.Embedder | None:
    return embeddings.load()


def _retriever(turns: Sequence[Mapping[str, Any]], model: embeddings.Embedder | None) -> Callable[..., list[str]]:
    folder = tempfile.TemporaryDirectory(prefix="search-")
    runner = asyncio.Runner()
    memory = _open(runner, _place(Path(folder.name)), model)
    stored, names = as_turns(turns)
    statements = [statement for logged in _logged(stored) for statement in _stored(logged, memory.languages)]
    runner.run(memory.db.write(*statements))
    runner.run(_catch_up(memory.semantic))
    searcher = memory.searcher
    now_ms = stored[-1].created_at_ms + DAY_MS if stored else 0

    def query(question: str, k: int = 200, budget: int | None = None) -> list[str]:
        """Return the ids of the turns that bear on the question; the same order serves every budget."""
        del budget
        found = runner.run(searcher.order(Query(CONVERSATION, question, limit=k, now_ms=now_ms, names=names)))
        return [scored.message.ref for scored in found]

    def shown(question: str, budget: int) -> list[str]:
        """Return the ids of the turns that are found when their passages, as the bot shows them, fill a budget."""
        items = runner.run(searcher.search(Query(CONVERSATION, question, limit=SHOWN, now_ms=now_ms, names=names)))
        found = []
        for item in items:
            if item.tokens <= budget:
                budget -= item.tokens
                found.append(item.ref)
        return found

    query.shown = shown  # type: ignore[attr-defined]

    def close() -> None:
        runner.run(memory.close())
        runner.close()
        folder.cleanup()

    weakref.finalize(query, close)
    return query


async def _catch_up(semantic: Semantic) -> None:
    await semantic.open()
    await semantic.catch_up()


def _place(folder: Path) -> Path | str:
    """Return where the store is: a folder, or a schema of its own in PostgreSQL, at the address in QUALITY_DATABASE."""
    server = os.environ.get("QUALITY_DATABASE")
    if not server:
        return folder
    import psycopg

    schema = f"quality_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return f"{server}?options=-csearch_path%3D{schema}"


def _open(runner: asyncio.Runner, where: Path | str, model: embeddings.Embedder | None) -> ConversationMemory:
    """Open in a daemon thread: the connection's own thread inherits that, and a script that ends need not wait."""
    opened: list[ConversationMemory] = []
    opening = start_memory(where, counter=TiktokenCounter(), embedder=lambda: model)
    thread = threading.Thread(target=lambda: opened.append(runner.run(opening)), daemon=True)
    thread.start()
    thread.join()
    return opened[0]


def _logged(turns: Sequence[ConversationTurn]) -> Iterator[LoggedTurn]:
    """Yield the turns with their digests, a chain for each session."""
    for session_id in dict.fromkeys(turn.session_id for turn in turns):
        yield from chain("", [turn for turn in turns if turn.session_id == session_id])


def _stored(logged: LoggedTurn, languages: Languages) -> tuple[Statement, Statement]:
    return insert_turn(logged.turn, logged.digest), index_turn(logged.turn, languages)


def as_turns(utterances: Sequence[Mapping[str, Any]]) -> tuple[list[ConversationTurn], dict[str, int | None]]:
    """Return the turns that stand for the utterances, and the names of the people among the speakers."""
    speakers = list(dict.fromkeys(str(one["speaker"]) for one in utterances))
    ids = {name: n for n, name in enumerate(speakers, start=1) if name.lower() not in ASSISTANTS}
    names: dict[str, int | None] = {
        part: user_id for name, user_id in ids.items() if name.lower() not in USERS for part in {name, name.split()[0]}
    }
    times = _session_times(utterances)
    seqs: dict[Any, int] = {}
    turns = []
    for one in utterances:
        session = one["session"]
        seqs[session] = seq = seqs.get(session, 0) + 1
        text = one["text"] + (f" [image: {one['caption']}]" if one.get("caption") else "")
        user_id = ids.get(str(one["speaker"]))
        turns.append(
            ConversationTurn(
                turn_id=str(one["id"]),
                session_id=f"s_{session}",
                conversation_id=CONVERSATION,
                seq=seq,
                user_id=user_id,
                user_text=text if user_id else "",
                assistant_text="" if user_id else text,
                created_at_ms=times[session] + seq * 1000,
            )
        )
    return turns, names


def _session_times(utterances: Sequence[Mapping[str, Any]]) -> dict[Any, int]:
    times: dict[Any, int] = {}
    for one in utterances:
        if one["session"] not in times:
            after = max(times.values(), default=START_MS) + DAY_MS
            times[one["session"]] = _read_time(str(one.get("datetime") or "")) or after
    return times


def _read_time(text: str) -> int | None:
    if not re.search(r"\d", text):
        return None
    found: datetime | None = dateparser.parse(text, settings={"TIMEZONE": "UTC"})
    return int(found.replace(tzinfo=UTC).timestamp() * 1000) if found else None
