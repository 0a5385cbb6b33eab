"""What people do and see in a chat with the bot, and what it stored: the words of the acceptance tests."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest
from loopback.model import ToolCall, echo

from bot.tables import DIGESTS
from memory.ledger.types import Actor, Add
from memory.storage.sqlite.rows import keep

PERSON = 4711
FRIEND = 4712
PROMISE = "I will send the harbour report to Anna"
NOTE = "Send the harbour report to Anna"
OFFER = "I can carry forward this context"
GROUP_WORD = "So you know: in this group"
PACKET = "## Relationship State"
TURN_POINTS = [
    "inbox_before_write",
    "inbox_after_write",
    "turn_claimed",
    "turn_packet_built",
    "turn_answered",
    "before_commit",
    "after_commit",
    "turn_committed",
    "outbox_marked_sending",
    "outbox_sent_unrecorded",
    "outbox_recorded",
    "index_before_write",
    "checkpoint_temp_written",
    "checkpoint_renamed",
]
"""The fault points that every turn passes, in order."""


def swept(points: Sequence[str], *always: str) -> list[Any]:
    """Return all points for a test's parameter: those that `make test` tries always, the others for `make soak`."""
    assert set(always) <= set(points)
    return [point if point in always else pytest.param(point, marks=pytest.mark.soak) for point in points]


# --- a chat ---------------------------------------------------------------------------------------------------------


def asked(model) -> list:
    """Return the requests for an answer, without those of the keeper of notes and of who describes pictures."""
    others = ("You keep the notes", "Describe the picture")
    return [request for request in model.requests if not request.messages[0][1].startswith(others)]


def remembers(model, text: str) -> bool:
    """Return whether the last prompt for an answer has this message word for word, whatever stands before it."""
    return any(role == "user" and said.endswith(text) for role, said in asked(model)[-1].messages)


def bot_lines(api, chat_id: int = PERSON) -> list:
    """Return the bot's messages on the screen, in order, but for what it says once in each group."""
    return [line for line in api.view(chat_id).lines if line.by_bot and not line.text.startswith(GROUP_WORD)]


def bot_texts(api, chat_id: int = PERSON) -> list[str]:
    """Return the texts of the bot's messages on the screen, in order."""
    return [line.text for line in bot_lines(api, chat_id)]


async def reply(api, text: str, chat_id: int = PERSON, user: int = PERSON, **options):
    """Say something and return the bot's next message; in a group the user says it there."""
    before = len(bot_lines(api, chat_id))
    api.people.says(user, text, **(options if chat_id == user else {"chat_id": chat_id, **options}))
    await api.until(lambda: len(bot_lines(api, chat_id)) > before)
    return bot_lines(api, chat_id)[before]


async def tap(api, label: str, expected: str = "", *, on=None, chat_id: int = PERSON, user: int = PERSON):
    """Tap a button, and return the message it is on, or the last one, once that reads as expected."""
    before = len(api.calls_of("answerCallbackQuery"))
    where = {} if chat_id == user else {"chat_id": chat_id}
    api.people.presses(user, label, **where, **({"message_id": on.message_id} if on else {}))
    await api.until(lambda: len(api.calls_of("answerCallbackQuery")) > before)

    def reads():
        lines = bot_lines(api, chat_id)
        shown = [line for line in lines if line is lines[-1] or (on and line.message_id == on.message_id)]
        return next((line for line in shown if re.search(expected, line.text)), None)

    return await api.until(reads)


def tapped(api) -> str:
    """Return what was said to the last tap, in the small note that Telegram shows."""
    return api.calls_of("answerCallbackQuery")[-1].params["text"]


async def shows(api, words: str, chat_id: int = PERSON):
    """Wait until a message of the bot with these words is on the screen, and return the last such one."""
    await api.until(lambda: any(words in text for text in bot_texts(api, chat_id)))
    return [line for line in bot_lines(api, chat_id) if words in line.text][-1]


def answers_to(api, chat_id: int, text: str) -> list[str]:
    """Return the bot's messages on the screen that answer this text (the model repeats what it is told)."""
    return [shown for shown in bot_texts(api, chat_id) if shown == f"You said: {text}"]


async def answered(api, chat_id: int, text: str, timeout_s: float = 30) -> None:
    """Wait until the answer to this text is on the screen."""
    await api.until(lambda: answers_to(api, chat_id, text), timeout_s)


# --- what is stored -------------------------------------------------------------------------------------------------


def rows(bot, sql: str, **params: Any) -> list[tuple]:
    """Read the database of a bot that is running or dead, without touching it.

    Its raw bytes are for bots in a process of their own: SQLite loses its locks when its own process opens the file.
    """
    if isinstance(bot.database, str):
        return _on_server(bot.database, sql, params)
    with closing(sqlite3.connect(f"file:{bot.database}?mode=ro", uri=True)) as connection:
        return connection.execute(sql, params).fetchall()


def _on_server(address: str, sql: str, params: dict[str, Any]) -> list[tuple]:
    import psycopg

    from memory.storage.postgres.connection import placeholders

    with psycopg.connect(address, autocommit=True) as connection:
        cursor = connection.execute(placeholders(sql).encode(), params)
        return cursor.fetchall() if cursor.description else []


def stores(bot, word: str) -> bool:
    """Return whether the word stands anywhere in the database of a bot in a process of its own."""
    if not isinstance(bot.database, str):
        files = bot.database.parent.glob(f"{bot.database.name}*")
        return any(word.encode() in file.read_bytes() for file in files)
    tables = [name for (name,) in rows(bot, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")]
    found = "SELECT 1 FROM {} AS each WHERE CAST(each AS TEXT) LIKE :word"
    return any(rows(bot, found.format(name), word=f"%{word}%") for name in tables)


def stored_turns(bot) -> list[tuple[str, str]]:
    """Return (user text, assistant text) of every turn, in the order of conversation and seq."""
    return rows(
        bot, "SELECT user_text, assistant_text FROM conversation_turns ORDER BY conversation_id, session_id, seq"
    )


def heard(bot) -> list[str]:
    """Return what people said in the stored turns, in the order of time."""
    return [text for (text,) in rows(bot, "SELECT user_text FROM conversation_turns ORDER BY created_at_ms, seq")]


def change(bot, sql: str, **params: Any) -> None:
    """Change the database of a bot that is not running."""
    if isinstance(bot.database, str):
        _on_server(bot.database, sql, params)
        return
    with closing(sqlite3.connect(bot.database)) as connection, connection:
        keep(connection, DIGESTS)
        connection.execute(sql, params)


async def noted(bot, kind: str, text: str, *, chat_id: int = PERSON, **fields: Any):
    """Note something by the person's hand in a bot of this process, and return the note."""
    services = bot.app.services
    conversation_id, now_ms = f"tg:{services.me.bot_id}:{chat_id}:0", services.clock.now_ms()
    fields = {"user_id": PERSON, "owner": "user", **fields}
    add = Add(kind=kind, text=text, note_id=services.ids.new("n"), fields=fields)
    [outcome] = await services.memory.change(conversation_id, [add], Actor("person", now_ms, "test"))
    return outcome.note


async def ledger_of(bot, chat_id: int = PERSON):
    """Return the notes of a chat of a bot of this process."""
    return await bot.app.services.memory.ledgers.read(f"tg:{bot.app.services.me.bot_id}:{chat_id}:0")


def noting(said: str, kind: str, text: str):
    """Return what a model replies that notes this when it hears those words, and otherwise repeats what it is told."""

    def reply(messages: list[dict[str, Any]]):
        last = messages[-1]
        if last["role"] == "user" and str(last.get("content")).rstrip().endswith(said):
            return [ToolCall("note", {"text": text, "kind": kind, "owner": "assistant" if kind == "promise" else ""})]
        return echo([each for each in messages if each["role"] != "tool"])

    return reply
