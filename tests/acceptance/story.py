"""What acceptance tests ask of a bot: the rows it stored, and that a chat reads as it should."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

PERSON = 4711


def rows(bot, sql: str, **params: Any) -> list[tuple]:
    """Read the database of a bot that is running or dead, without touching it."""
    with closing(sqlite3.connect(f"file:{bot.database}?mode=ro", uri=True)) as connection:
        return connection.execute(sql, params).fetchall()


def stored_turns(bot) -> list[tuple[str, str]]:
    """Return (user text, assistant text) of every turn, in the order of conversation and seq."""
    return rows(
        bot, "SELECT user_text, assistant_text FROM conversation_turns ORDER BY conversation_id, session_id, seq"
    )


def answers_to(api, chat_id: int, text: str) -> list[str]:
    """Return the bot's messages on the screen that answer this text (the model repeats what it is told)."""
    return [line.text for line in api.view(chat_id).lines if line.by_bot and line.text == f"You said: {text}"]


async def answered(api, chat_id: int, text: str, timeout_s: float = 30) -> None:
    """Wait until the answer to this text is on the screen."""
    await api.until(lambda: answers_to(api, chat_id, text), timeout_s)
