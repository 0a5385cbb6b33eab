"""Messages that come over HTTP instead of Telegram: ids that no update, chat or person of Telegram can have. Pure."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

FIRST_LOCAL_ID = 1 << 60
"""Telegram's ids have at most 52 bits; ours begin far above and fit a signed 64-bit integer."""


def local_chat_id(session: str) -> int:
    """Return the chat of a session that an HTTP client named; its only person has the same id."""
    return _id("chat", session)


def local_update_id(session: str, key: str) -> int:
    """Return the identity of a message: the same key in the same session is the same message (P2)."""
    return _id("message", f"{session}\n{key}")


def task_update_id(run_id: str) -> int:
    """Return the identity of a run of a task in the inbox: one date is one update."""
    return _id("task", run_id)


def poll_update_id(poll_id: str, conversation_id: str) -> int:
    """Return the identity of the end of a poll in a conversation: Telegram tells it once for all of them."""
    return _id("poll", f"{poll_id}\n{conversation_id}")


def is_local(chat_id: int) -> bool:
    """Return True for a chat (or a message) that is not on Telegram."""
    return FIRST_LOCAL_ID <= chat_id < 2 * FIRST_LOCAL_ID


def local_update(
    session: str, key: str, text: str, name: str, at_ms: int, *, person: str = "", digest: int | None = None
) -> dict[str, Any]:
    """Return the inbox's JSON for a message; `read_update` reads it.

    `person` is whose share of the places it takes; `digest` stands for the whole request.
    """
    message = {"chat_id": local_chat_id(session), "text": text, "name": name, "at_ms": at_ms}
    more = {"person": person, "digest": digest}
    return {
        "update_id": local_update_id(session, key),
        "local_message": message | {field: value for field, value in more.items() if value},
    }


def request_digest(caller: str, *parts: str) -> int:
    """Return a number that stands for a request of a caller; it cannot be made without the caller's secret."""
    whole = json.dumps(parts).encode()
    return int.from_bytes(hmac.digest(caller.encode(), whole, "sha256")[:8], "big") >> 4


def _id(kind: str, name: str) -> int:
    digest = hashlib.sha256(f"{kind}\n{name}".encode("utf-8", "replace")).digest()
    return FIRST_LOCAL_ID + (int.from_bytes(digest[:8], "big") >> 5)
