"""Raw updates of any content: which are for us, from whom, and of which kind. Pure; never raises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.intake.fields import (
    MAX_ID,
    MAX_NAME_CHARS,
    as_digest,
    as_id,
    as_name,
    as_object,
    as_text,
)
from bot.intake.local import is_local, poll_update_id
from bot.intake.other_kinds import poll_outcome
from bot.intake.raw.messages import base_of, read_message
from bot.intake.updates import ALLOWED_UPDATES, Envelope, Me, conversation_key

BODIES = ALLOWED_UPDATES
REACTION = "message_reaction"
POLL = "poll"
MAX_EMOJI_CHARS = 16
MOST_REACTIONS = 3
"""Telegram lets people with Premium give so many."""
LAST_SUPERGROUP = -1_000_000_000_000
"""Supergroups and channels have numbers from here down, groups those above, people positive ones."""


def sender(raw: object) -> int | None:
    """Return the user id of a raw update's sender, None when there is none (channels, anonymous admins)."""
    kind, body = _body(raw)
    return as_id(as_object(body.get("user" if kind == REACTION else "from")).get("id"))


def read_update(raw: object, me: Me) -> Envelope | None:
    """Return the envelope of a raw update, or None when it is not for us (group talk, channels, bots, no known place).

    Never raises, for any JSON: a field of a wrong type counts as missing, and when a private message cannot be
    read without it, the envelope's kind is `unreadable`.
    """
    kind, body = _body(raw)
    update_id = identity(raw)
    local = as_object(as_object(raw).get("local_message"))
    if local and not kind:
        return _read_local(as_object(raw), local, me)
    if not kind and as_object(as_object(raw).get("task")):
        return _read_task(as_object(raw), as_object(as_object(raw)["task"]), me)
    if kind == POLL:
        return _read_poll(as_object(raw), body, me)
    if update_id is None:
        return None
    if other := _OTHERS.get(kind):
        return other(update_id, body, me)
    return read_message(update_id, body, me, edited=kind == "edited_message") if kind else None


def read_move(raw: object) -> tuple[int, int] | None:
    """Return (number before, number after) when this says that a group became a supergroup, told in either of them.

    Only groups move, and groups have negative numbers: a message in a private chat that says so is none of Telegram's,
    and to believe it would mean to speak to somebody else.
    """
    kind, message = _body(raw)
    chat = as_object(message.get("chat"))
    here, told_in = as_id(chat.get("id")), chat.get("type")
    before, after = as_id(message.get("migrate_from_chat_id")), as_id(message.get("migrate_to_chat_id"))
    if kind != "message" or here is None or (before is None) == (after is None):
        return None
    move = (before, here) if before is not None else (here, after or 0)
    as_it_is = told_in == ("supergroup" if before is not None else "group")
    return move if as_it_is and move[1] <= LAST_SUPERGROUP < move[0] < 0 else None


def identity(raw: object) -> int | None:
    """Return the update's id as the database holds it (the last 60 bits of a longer one), None when it has none."""
    found = as_object(raw).get("update_id")
    return found & MAX_ID if type(found) is int and found >= 0 else None


def is_placeless(raw: object) -> bool:
    """Return True for an update that names neither a sender nor a chat: nobody can be told about it."""
    kind, body = _body(raw)
    message = as_object(body.get("message")) if kind == "callback_query" else body
    return sender(raw) is None and as_id(as_object(message.get("chat")).get("id")) is None


def _body(raw: object) -> tuple[str, Mapping[str, Any]]:
    """Return the kind of an update and its body; ("", {}) for a kind that we do not ask for."""
    given = as_object(raw)
    return next(((name, given[name]) for name in BODIES if isinstance(given.get(name), dict)), ("", {}))


def _read_tap(update_id: int, query: Mapping[str, Any], me: Me) -> Envelope | None:
    message, callback_id, button_id = as_object(query.get("message")), as_name(query.get("id")), query.get("data")
    base = base_of(update_id, message, as_object(query.get("from")), me, at_s=message.get("date"))
    if base is None or base.user_id is None or not message or button_id is None:
        return None
    if base.message_id is None or not callback_id or not as_name(button_id):
        return base if base.private else None
    return replace(base, kind="tap", callback_id=callback_id, button_id=as_name(button_id))


def _read_local(raw: Mapping[str, Any], message: Mapping[str, Any], me: Me) -> Envelope | None:
    """Return the envelope of a message that came over HTTP (`bot.intake.local`)."""
    update_id, chat_id = raw.get("update_id"), message.get("chat_id")
    if not (isinstance(update_id, int) and isinstance(chat_id, int) and is_local(update_id) and is_local(chat_id)):
        return None
    return Envelope(
        bot_id=me.bot_id,
        update_id=update_id,
        conversation_id=conversation_key(me.bot_id, chat_id, None),
        chat_id=chat_id,
        thread_id=None,
        private=True,
        kind="text",
        user_id=chat_id,
        user_name=as_name(message.get("name")),
        text=as_text(message.get("text")),
        person=as_text(message.get("person"))[:MAX_NAME_CHARS],
        digest=as_digest(message.get("digest")),
        message_id=update_id,
        sent_at_ms=as_id(message.get("at_ms")) or 0,
    )


def _read_task(raw: Mapping[str, Any], task: Mapping[str, Any], me: Me) -> Envelope | None:
    """Return the envelope of a run of a task (`bot.tasks.starts`)."""
    update_id, chat_id, user_id = raw.get("update_id"), as_id(task.get("chat_id")), as_id(task.get("user_id"))
    if not (isinstance(update_id, int) and is_local(update_id)) or chat_id is None or not as_name(task.get("run_id")):
        return None
    thread_id = as_id(task.get("thread_id"))
    return Envelope(
        bot_id=me.bot_id,
        update_id=update_id,
        conversation_id=conversation_key(me.bot_id, chat_id, thread_id),
        chat_id=chat_id,
        thread_id=thread_id,
        private=chat_id > 0,
        kind="task",
        user_id=user_id,
        run_id=as_name(task.get("run_id")),
    )


def ended_poll(raw: object) -> str | None:
    """Return the id of the poll that an update tells of: "" while that goes on, None for any other update."""
    kind, poll = _body(raw)
    if kind != POLL:
        return None
    return as_name(poll.get("id")) if poll.get("is_closed") is True else ""


def poll_update(poll: Mapping[str, Any], conversation_id: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inbox's JSON for the end of a poll in one conversation, with the place where it was `sent`."""
    update_id = poll_update_id(as_name(poll.get("id")), conversation_id)
    return {"update_id": update_id, POLL: poll, "sent": dict(sent)}


def _read_poll(raw: Mapping[str, Any], poll: Mapping[str, Any], me: Me) -> Envelope | None:
    """Return the envelope of a poll that has ended in a chat (`poll_update`); Telegram's own update names none."""
    update_id, sent = raw.get("update_id"), as_object(raw.get("sent"))
    chat_id, thread_id = as_id(sent.get("chat_id")), as_id(sent.get("thread_id"))
    if not (isinstance(update_id, int) and is_local(update_id)) or chat_id is None:
        return None
    return Envelope(
        bot_id=me.bot_id,
        update_id=update_id,
        conversation_id=conversation_key(me.bot_id, me.origins.get(chat_id, chat_id), thread_id),
        chat_id=chat_id,
        thread_id=thread_id,
        private=chat_id > 0,
        kind="addition",
        user_id=as_id(sent.get("user_id")),
        text=poll_outcome(poll),
        message_id=as_id(sent.get("message_id")),
        third_party=True,
        poll_id=as_name(poll.get("id")),
    )


def _read_membership(update_id: int, change: Mapping[str, Any], me: Me) -> Envelope | None:
    status = as_object(change.get("new_chat_member")).get("status")
    base = base_of(update_id, change, as_object(change.get("from")), me, at_s=change.get("date"))
    if base is None or as_id(as_object(change.get("chat")).get("id")) is None:
        return None
    return replace(base, kind="membership", text=as_name(status))


def _read_reaction(update_id: int, change: Mapping[str, Any], me: Me) -> Envelope | None:
    """Return the envelope of a reaction to a message: its emoji, "" when it was taken back."""
    base = base_of(update_id, change, as_object(change.get("user")), me, at_s=change.get("date"))
    given = change.get("new_reaction")
    known = as_id(as_object(change.get("chat")).get("id")) is not None
    if base is None or base.user_id is None or base.message_id is None or not known or not isinstance(given, list):
        return None
    emoji = [as_name(as_object(each).get("emoji"))[:MAX_EMOJI_CHARS] for each in given[:MOST_REACTIONS]]
    return replace(base, kind="reaction", text=" ".join(filter(None, emoji)))


_OTHERS = {"callback_query": _read_tap, "my_chat_member": _read_membership, REACTION: _read_reaction}
"""Readers of updates that are no messages."""
