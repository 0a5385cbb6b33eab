"""What an update is about: where, who, what kind, which text. Pure reading of Telegram's JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from bot.intake.local import FIRST_LOCAL_ID

Kind = Literal["text", "edit", "command", "tap", "media", "membership", "other"]
LONG_PIECE_CHARS = 3900
"""Telegram clients cut a long paste into messages of 4096; a piece this long is probably not the last."""

ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
MEDIA_FIELDS = (
    "photo", "video", "voice", "audio", "document", "sticker", "animation", "video_note", "location", "contact", "poll",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own identity, from getMe."""

    bot_id: int
    username: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """One update with everything that the lanes and handlers need to know about it."""

    bot_id: int
    update_id: int
    conversation_id: str
    chat_id: int
    thread_id: int | None
    private: bool
    kind: Kind
    user_id: int | None = None
    user_name: str = ""
    language: str | None = None
    text: str = ""
    command: str = ""
    arguments: str = ""
    message_id: int | None = None
    callback_id: str = ""
    button_id: str = ""
    third_party: bool = False
    sent_at_ms: int = 0
    turn_id: str | None = None
    attempts: int = 0
    received_at_ms: int = 0
    excused: bool = False
    """True when the process that worked on it last died while it waited for its model: not its fault."""
    again: bool = False
    """True when the user tapped [Try again] or [Answer now]: no further question is asked."""

    @property
    def urgent(self) -> bool:
        """True when it must not wait behind a running answer."""
        return self.kind == "tap" or (self.kind == "command" and self.command == "stop")

    @property
    def mergeable(self) -> bool:
        """True when it may become one turn with its neighbours."""
        return self.kind in ("text", "edit")


def conversation_key(bot_id: int, chat_id: int, thread_id: int | None) -> str:
    """Return `tg:<bot_id>:<chat_id>:<thread_id or 0>`."""
    return f"tg:{bot_id}:{chat_id}:{thread_id or 0}"


def sender(raw: Mapping[str, Any]) -> int | None:
    """Return the user id that stands behind a raw update, None when there is none (channels, anonymous admins)."""
    for name in ("message", "edited_message", "callback_query", "my_chat_member"):
        body = raw.get(name)
        if isinstance(body, dict):
            who = body.get("from")
            user_id = who.get("id") if isinstance(who, dict) else None
            return user_id if isinstance(user_id, int) else None
    return None


def read_update(raw: Mapping[str, Any], me: Me) -> Envelope | None:
    """Return the envelope of a raw update, or None when it is not for us (group talk, channels, bots)."""
    for name in ("message", "edited_message"):
        if isinstance(raw.get(name), dict):
            return _read_message(raw, raw[name], me, edited=name == "edited_message")
    if isinstance(raw.get("callback_query"), dict):
        return _read_tap(raw, raw["callback_query"], me)
    if isinstance(raw.get("my_chat_member"), dict):
        return _read_membership(raw, raw["my_chat_member"], me)
    if isinstance(raw.get("local_message"), dict) and raw["update_id"] >= FIRST_LOCAL_ID:
        return _read_local(raw, raw["local_message"], me)
    return None


def batch_text(batch: Sequence[Envelope]) -> str:
    """Return what the user said in these messages, in order; an edit replaces the message that it edits."""
    texts: dict[int | None, str] = {}
    for envelope in batch:
        texts[envelope.message_id] = envelope.text
    pieces = list(texts.values())
    joined = pieces[0] if pieces else ""
    for before, piece in pairwise(pieces):
        joined += ("" if len(before) >= LONG_PIECE_CHARS else "\n") + piece
    return joined


def clean_text(text: str) -> str:
    """Return the text without NUL and lone surrogates, which databases refuse."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _base(raw: Mapping[str, Any], message: Mapping[str, Any], who: Mapping[str, Any] | None, me: Me) -> Envelope:
    chat = message["chat"]
    thread_id = message.get("message_thread_id") if message.get("is_topic_message") else None
    return Envelope(
        bot_id=me.bot_id,
        update_id=raw["update_id"],
        conversation_id=conversation_key(me.bot_id, chat["id"], thread_id),
        chat_id=chat["id"],
        thread_id=thread_id,
        private=chat.get("type") == "private",
        kind="other",
        user_id=who.get("id") if who else None,
        user_name=clean_text(str(who.get("first_name", ""))) if who else "",
        language=who.get("language_code") if who else None,
        message_id=message.get("message_id"),
        sent_at_ms=int(message.get("edit_date") or message.get("date") or 0) * 1000,
    )


def _read_message(raw: Mapping[str, Any], message: Mapping[str, Any], me: Me, *, edited: bool) -> Envelope | None:
    who = message.get("from")
    if not isinstance(who, dict) or who.get("is_bot") or message.get("chat", {}).get("type") == "channel":
        return None
    base = _base(raw, message, who, me)
    text = clean_text(str(message.get("text") or message.get("caption") or ""))
    entities = message.get("entities") or message.get("caption_entities") or []
    command = _command(text, entities, me)
    if command is not None and not edited:
        return replace(base, kind="command", command=command[0], arguments=command[1], text=text)
    if not base.private and not _addressed(message, text, entities, me):
        return None
    text = _without_mention(text, me)
    media = next((name for name in MEDIA_FIELDS if name in message), None)
    if not text:
        return replace(base, kind="media", text=media or "") if media else None
    if media:
        text = f"[{media}] {text}"
    whole = _with_quote(text, message, me)
    third_party = _third_party(message) or whole != text
    return replace(base, kind="edit" if edited else "text", text=whole, third_party=third_party)


def _third_party(message: Mapping[str, Any]) -> bool:
    return "forward_origin" in message or "external_reply" in message


def _with_quote(text: str, message: Mapping[str, Any], me: Me) -> str:
    """Return the text with what it replies to, when that is somebody else's message or a chosen quote."""
    quote = message.get("quote")
    if isinstance(quote, dict) and quote.get("text"):
        return f"[quoting: {clean_text(str(quote['text']))}]\n{text}"
    original = message.get("reply_to_message")
    if not isinstance(original, dict) or original.get("from", {}).get("id") in (me.bot_id, message["from"]["id"]):
        return text
    quoted = original.get("text") or original.get("caption")
    return f"[replying to: {clean_text(str(quoted))}]\n{text}" if quoted else text


def _command(text: str, entities: Sequence[Mapping[str, Any]], me: Me) -> tuple[str, str] | None:
    """Return (command, arguments) when the text begins with a command for this bot."""
    first = entities[0] if entities else {}
    if first.get("type") != "bot_command" or first.get("offset") != 0:
        return None
    head, *rest = text.split(maxsplit=1)
    name, _, target = head[1:].partition("@")
    if target and target.lower() != me.username.lower():
        return None
    return name.lower(), rest[0].strip() if rest else ""


def _addressed(message: Mapping[str, Any], text: str, entities: Sequence[Mapping[str, Any]], me: Me) -> bool:
    """Return True when a group message is for us: a mention or a reply to one of our messages."""
    original = message.get("reply_to_message")
    if isinstance(original, dict) and original.get("from", {}).get("id") == me.bot_id:
        return True
    if any(entity.get("type") == "text_mention" and entity["user"]["id"] == me.bot_id for entity in entities):
        return True
    return bool(me.username) and f"@{me.username.lower()}" in text.lower()


def _without_mention(text: str, me: Me) -> str:
    mention = f"@{me.username}"
    if me.username and text.lower().startswith(mention.lower()):
        return text[len(mention) :].lstrip(" ,:")
    return text


def _read_tap(raw: Mapping[str, Any], query: Mapping[str, Any], me: Me) -> Envelope | None:
    message = query.get("message")
    if not isinstance(message, dict) or "chat" not in message or not query.get("data"):
        return None
    base = _base(raw, message, query["from"], me)
    return replace(base, kind="tap", callback_id=str(query["id"]), button_id=str(query["data"]))


def _read_local(raw: Mapping[str, Any], message: Mapping[str, Any], me: Me) -> Envelope:
    """Return the envelope of a message that came over HTTP (`bot.intake.local`)."""
    chat_id = message["chat_id"]
    return Envelope(
        bot_id=me.bot_id,
        update_id=raw["update_id"],
        conversation_id=conversation_key(me.bot_id, chat_id, None),
        chat_id=chat_id,
        thread_id=None,
        private=True,
        kind="text",
        user_id=chat_id,
        user_name=clean_text(message["name"]),
        text=clean_text(message["text"]),
        message_id=raw["update_id"],
        sent_at_ms=message["at_ms"],
    )


def _read_membership(raw: Mapping[str, Any], change: Mapping[str, Any], me: Me) -> Envelope | None:
    status = change.get("new_chat_member", {}).get("status")
    if "chat" not in change or change["chat"].get("type") == "channel":
        return None
    return replace(_base(raw, change, change.get("from"), me), kind="membership", text=str(status))
