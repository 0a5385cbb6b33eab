"""A raw message becomes an envelope: its text with the words of others marked, its files, its command. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.intake.fields import (
    LAST_DATE_S,
    MAX_TEXT_CHARS,
    as_id,
    as_name,
    as_object,
    as_text,
)
from bot.intake.media import FORWARDED, OWN_VOICE, SentFile, sent_file, waiting_line
from bot.intake.other_kinds import in_words, open_poll, ticked
from bot.intake.raw.links import with_links
from bot.intake.updates import Envelope, Me, conversation_key
from memory.context.transcript import clip
from memory.foreign import foreign, has_foreign

MAX_LANGUAGE_CHARS = 35
MEDIA_FIELDS = (
    "photo", "video", "voice", "audio", "animation", "document", "sticker", "video_note", "venue", "location",
    "contact", "poll", "dice", "game", "story", "checklist", "paid_media", "invoice", "gift", "unique_gift",
)  # fmt: skip
SERVICE_FIELDS = (
    "new_chat_members", "left_chat_member", "new_chat_title", "new_chat_photo", "delete_chat_photo",
    "group_chat_created", "supergroup_chat_created", "channel_chat_created", "message_auto_delete_timer_changed",
    "migrate_to_chat_id",
    "migrate_from_chat_id", "pinned_message", "successful_payment", "refunded_payment", "users_shared", "chat_shared",
    "connected_website", "write_access_allowed", "passport_data", "proximity_alert_triggered", "boost_added",
    "chat_background_set", "checklist_tasks_done", "checklist_tasks_added", "direct_message_price_changed",
    "forum_topic_created", "forum_topic_edited", "forum_topic_closed", "forum_topic_reopened", "web_app_data",
    "general_forum_topic_hidden", "general_forum_topic_unhidden", "giveaway_created", "giveaway", "giveaway_winners",
    "giveaway_completed", "paid_message_price_changed", "suggested_post_approved", "suggested_post_approval_failed",
    "suggested_post_declined", "suggested_post_paid", "suggested_post_refunded", "video_chat_scheduled",
    "video_chat_started", "video_chat_ended", "video_chat_participants_invited",
)  # fmt: skip
"""Telegram's own messages in a chat; nobody waits for an answer to them."""
UNKNOWN_KIND = "message"
"""The name for a message of a kind that did not exist yet when this was written."""
OLD_S = 600
"""A message that is older is shown again with a reply to it."""
MOST_QUOTED_CHARS = 1000
_NOBODY = "somebody"


def base_of(
    update_id: int, message: Mapping[str, Any], who: Mapping[str, Any], me: Me, *, at_s: object
) -> Envelope | None:
    """Return where and who, None in channels and when neither is known.

    Without a readable chat it is the sender's private chat: an unreadable message belongs to somebody all the same.
    """
    chat = as_object(message.get("chat"))
    chat_id, user_id = as_id(chat.get("id")), as_id(who.get("id"))
    if chat_id is None:
        chat, chat_id, message = {"type": "private"}, user_id, {}
    if chat_id is None or chat.get("type") == "channel":
        return None
    thread_id = as_id(message.get("message_thread_id")) if message.get("is_topic_message") is True else None
    sent_at_s = as_id(at_s) or 0
    language = as_name(who.get("language_code"))
    return Envelope(
        bot_id=me.bot_id,
        update_id=update_id,
        conversation_id=conversation_key(me.bot_id, me.origins.get(chat_id, chat_id), thread_id),
        chat_id=chat_id,
        thread_id=thread_id,
        private=chat.get("type") == "private",
        kind="unreadable",
        user_id=user_id,
        user_name=as_name(who.get("first_name")),
        language=language if 0 < len(language) <= MAX_LANGUAGE_CHARS else None,
        title=as_name(chat.get("title")),
        message_id=as_id(message.get("message_id")),
        sent_at_ms=sent_at_s * 1000 if 0 <= sent_at_s <= LAST_DATE_S else 0,
    )


def read_message(update_id: int, message: Mapping[str, Any], me: Me, *, edited: bool) -> Envelope | None:
    """Return the envelope of a message, None when it is not for us (`read_update`)."""
    who = as_object(message.get("from"))
    base = base_of(update_id, message, who, me, at_s=message.get("edit_date") or message.get("date"))
    walks = edited and isinstance(message.get("location"), dict)  # a live location is edited every few seconds
    if base is None or base.user_id is None or who.get("is_bot") or walks:
        return None
    text = _text(message)
    base = replace(base, whole_chars=_whole_chars(message))
    entities = _entities(message)
    command = command_in(text, entities, me)
    if base.message_id is None or not (text or _plain(message)):
        return base if base.private else None
    if command is not None and not edited:
        return replace(base, kind="command", command=command[0], arguments=command[1], text=text)
    if not base.private and not _addressed(message, text, entities, me):
        return None
    text = _without_mention(text, me)
    file, original = sent_file(message, _whose(message)), _file_replied_to(message, me)
    media = next((name for name in MEDIA_FIELDS if message.get(name) is not None), None)
    album = as_name(message.get("media_group_id"))
    spelled = "" if text or file else in_words(message) or (f"[{media}]" if media and album else "")
    if not (text or file or spelled):
        is_service = any(name in message for name in SERVICE_FIELDS)
        unread = None if is_service else replace(base, kind="media", text=media or UNKNOWN_KIND)
        return _service(base, message) or unread
    if media and not (file or spelled):
        text = f"[{media}] {text}"
    text = spelled or text
    whole, before = _by_others(text, message, me), _said_before(message, me)
    lines = [waiting_line(each) for each in (original, file) if each]
    foreign_alone = file is not None and not (file.kind in OWN_VOICE and not file.name) and not text
    return replace(
        base,
        kind="edit" if edited else "text",
        text="\n".join(filter(None, (*lines, before, whole))),
        third_party=whole != text
        or has_foreign(spelled)
        or foreign_alone
        or (file is not None and message.get("forward_origin") is not None),
        files=tuple(each for each in (original, file) if each),
        album=album,
        replies_to=_ours_replied_to(message, me),
        poll_id=open_poll(message),
    )


def _service(base: Envelope, message: Mapping[str, Any]) -> Envelope | None:
    """Return Telegram's own message about a checklist, as an addition to the list's; None for anything else."""
    original, words = ticked(message)
    message_id = as_id(original)
    if not words or message_id is None:
        return None
    return replace(base, kind="addition", message_id=message_id, text=words, third_party=True)


def _file_replied_to(message: Mapping[str, Any], me: Me) -> SentFile | None:
    """The file of the message that this one replies to, unless it is one of ours."""
    original = as_object(message.get("reply_to_message"))
    return sent_file(original) if original and _author(original) != me.bot_id else None


def _ours_replied_to(message: Mapping[str, Any], me: Me) -> int | None:
    """Return the message of ours that this one replies to, None for another or none."""
    original = as_object(message.get("reply_to_message"))
    return as_id(original.get("message_id")) if _author(original) == me.bot_id else None


def _whose(message: Mapping[str, Any]) -> str:
    """Return whose words a message passes on, "" for the sender's own."""
    if message.get("forward_origin") is not None:
        return _origin(message["forward_origin"])
    via = message.get("via_bot")
    return (as_name(as_object(via).get("username")) or _NOBODY) if via is not None else ""


def _whole_chars(message: Mapping[str, Any]) -> int:
    """Return the length of a text that is too long to be taken whole, 0 for any other."""
    text = message.get("text") or message.get("caption")
    return len(text) if isinstance(text, str) and len(text) > MAX_TEXT_CHARS else 0


def _plain(message: Mapping[str, Any]) -> bool:
    """Return True when a message without text is meant to be one; False when its text is of a wrong type."""
    return all(message.get(name) is None or isinstance(message[name], str) for name in ("text", "caption"))


def _text(message: Mapping[str, Any]) -> str:
    """Return the text or caption of a message, with the addresses that its links hide."""
    text = next((each for name in ("text", "caption") if isinstance(each := message.get(name), str) and each), "")
    return text and as_text(with_links(text, _entities(message), message.get("link_preview_options")))


def _entities(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    for name in ("entities", "caption_entities"):
        found = message.get(name)
        if isinstance(found, list) and found:
            return [as_object(entity) for entity in found]
    return []


def _by_others(text: str, message: Mapping[str, Any], me: Me) -> str:
    """Return the text with words of others marked line by line: forwards, inline results, quotes, messages replied to.

    A message that leans on one elsewhere is marked too: its meaning depends on that one.
    """
    if message.get("forward_origin") is not None:
        origin = message["forward_origin"]
        whence = f"Forwarded from {_origin(origin)}{_day(as_object(origin).get('date'))}"
        return foreign(text, whence) or foreign(f"{FORWARDED}{whence.removeprefix('Forwarded')})")
    if message.get("via_bot") is not None:
        return foreign(text, f"Sent via {as_text(as_object(message['via_bot']).get('username')) or 'a bot'}")
    original, elsewhere = as_object(message.get("reply_to_message")), message.get("external_reply")
    quote = _text(as_object(message.get("quote")))
    whose = _origin(as_object(elsewhere).get("origin")) if elsewhere is not None else _name(original.get("from"))
    if quote:
        return f"{foreign(quote, f'Quoted from {whose}')}\n{text}"
    if elsewhere is not None:
        return f"{foreign('(a message elsewhere)', f'Reply to {whose}')}\n{text}"
    if _author(original) in (me.bot_id, _author(message)):
        return text
    quoted = _words(original)
    return f"{foreign(quoted, f'Reply to {whose}')}\n{text}" if quoted.strip() else text


def _said_before(message: Mapping[str, Any], me: Me) -> str:
    """Return older words of the sender or of us to which the message replies, marked by line; "" for none.

    The newest are in the conversation anyway. Quotes and words of others are told by `_by_others`.
    """
    original, quote = as_object(message.get("reply_to_message")), as_object(message.get("quote"))
    at_s, before_s = as_id(message.get("date")), as_id(original.get("date"))
    if at_s is None or before_s is None or at_s - before_s < OLD_S or quote.get("text"):
        return ""
    whose = {_author(message): "their own message", me.bot_id: "the assistant's message"}.get(_author(original))
    said = _words(original)
    return foreign(clip(said, MOST_QUOTED_CHARS), f"Reply to {whose}{_day(before_s)}") if whose else ""


def _words(message: Mapping[str, Any]) -> str:
    """Return the words of a message that is replied to: its text, or its place, poll or the like in words."""
    return _text(message) or in_words(message)


def _day(at_s: object) -> str:
    """Return when something was written, for behind a name: ` (2026-11-23)`; "" when nobody says."""
    known = type(at_s) is int and 0 < at_s <= LAST_DATE_S
    return f" ({datetime.fromtimestamp(at_s, UTC):%Y-%m-%d})" if known else ""  # type: ignore[arg-type]  # an int then


def _origin(origin: object) -> str:
    """Return the name that a forward or a reply elsewhere gives."""
    given = as_object(origin)
    for name in ("sender_user", "sender_chat", "chat"):
        if isinstance(given.get(name), dict):
            return _name(given[name])
    return as_name(given.get("sender_user_name")) or _NOBODY


def _name(who: object) -> str:
    given = as_object(who)
    return as_name(given.get("first_name")) or as_name(given.get("title")) or _NOBODY


def _author(message: Mapping[str, Any]) -> object:
    return as_object(message.get("from")).get("id")


def command_in(text: str, entities: Sequence[Mapping[str, Any]], me: Me) -> tuple[str, str] | None:
    """Return (command, arguments) when the text begins with a command for this bot."""
    first = entities[0] if entities else {}
    if first.get("type") != "bot_command" or first.get("offset") != 0 or not text.startswith("/"):
        return None
    head, *rest = text.split(maxsplit=1)
    name, _, target = head[1:].partition("@")
    if target and target.lower() != me.username.lower():
        return None
    return name.lower(), rest[0].strip() if rest else ""


def _addressed(message: Mapping[str, Any], text: str, entities: Sequence[Mapping[str, Any]], me: Me) -> bool:
    """Return True when a group message is for us: a mention or a reply to one of our messages."""
    if _author(as_object(message.get("reply_to_message"))) == me.bot_id:
        return True
    mentioned = (as_object(entity.get("user")) for entity in entities if entity.get("type") == "text_mention")
    if any(user.get("id") == me.bot_id for user in mentioned):
        return True
    return bool(me.username) and f"@{me.username.lower()}" in text.lower()


def _without_mention(text: str, me: Me) -> str:
    mention = f"@{me.username}"
    if me.username and text.lower().startswith(mention.lower()):
        return text[len(mention) :].lstrip(" ,:")
    return text
