"""The calls that put a part on the screen, and the meaning of their failures."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any

from telegram import Bot, InlineKeyboardMarkup, InputFile, LinkPreviewOptions, Message, MessageEntity, ReplyParameters
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)

from bot.delivery.outbox import FILE_PART, SENT_BACK, TEXT_FILE, VOICE_PART, Part, is_media
from bot.intake.telegram_request import NotSent

NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
"""Telegram's servers would fetch links by themselves: an injected prompt could leak data without a click."""
VOICE_CAPTION = "\N{SPEAKER WITH THREE SOUND WAVES}"


class Failure(Enum):
    """The meaning of a call's error for the message."""

    MAYBE_SENT = "maybe sent"
    NOT_SENT = "surely not sent"
    WAIT = "too many requests"
    BLOCKED = "the chat cannot be written to"
    MIGRATED = "the group became a supergroup"
    UNCHANGED = "the message shows this text already"
    NOT_FOUND = "the message to edit is gone or not ours"
    NO_TOPIC = "the forum topic is gone or closed"
    NO_ORIGINAL = "the message that it replies to is gone"
    REFUSED = "Telegram will never take it"


_GONE = (
    "message to edit not found",
    "message can't be edited",
    "message_id_invalid",
)
_NO_TOPIC = ("message thread not found", "topic_deleted", "topic_closed", "topic_id_invalid")
_NO_ORIGINAL = ("message to be replied not found", "replied message not found", "message to reply not found")
_BLOCKED = (
    "chat not found",
    "user is deactivated",
    "user not found",
    "peer_id_invalid",
    "group chat was deactivated",
    "not enough rights",
    "have no rights to send",
    "need administrator rights",
    "chat_write_forbidden",
    "chat_restricted",
)


def classify(error: TelegramError) -> Failure:  # noqa: PLR0911 - a table of cases
    """Return the meaning of an error for the part that was being sent (DESIGN section 6)."""
    if isinstance(error, RetryAfter):
        return Failure.WAIT
    if isinstance(error, Forbidden):
        return Failure.BLOCKED
    if isinstance(error, ChatMigrated):
        return Failure.MIGRATED
    if isinstance(error, InvalidToken):
        return Failure.NOT_SENT
    if isinstance(error, Conflict):
        return Failure.MAYBE_SENT
    if isinstance(error, BadRequest):
        return _classify_refusal(error.message.lower())
    if isinstance(error, NetworkError):
        return Failure.NOT_SENT if isinstance(error.__cause__, NotSent) else Failure.MAYBE_SENT
    return Failure.MAYBE_SENT if type(error) is TelegramError else Failure.REFUSED  # an answer that cannot be read


def _classify_refusal(message: str) -> Failure:
    if "not modified" in message:
        return Failure.UNCHANGED
    known = ((_GONE, Failure.NOT_FOUND), (_NO_TOPIC, Failure.NO_TOPIC), (_NO_ORIGINAL, Failure.NO_ORIGINAL),
             (_BLOCKED, Failure.BLOCKED))  # fmt: skip
    return next((failure for words, failure in known if any(each in message for each in words)), Failure.REFUSED)


async def send(bot: Bot, part: Part) -> int:
    """Send a part as a new message; return its message id. Raises TelegramError."""
    if part.kind == VOICE_PART:
        return await _say(bot, part)
    if part.kind == TEXT_FILE:
        return await _write_out(bot, part)
    if part.kind.startswith(FILE_PART):
        return await _hand_back(bot, part)
    reply = None if part.bare else part.reply_to_message_id
    message = await bot.send_message(
        chat_id=part.chat_id,
        message_thread_id=part.thread_id,
        text=part.text,
        entities=_entities(part),
        reply_markup=_markup(part),
        link_preview_options=None if part.bare else NO_PREVIEW,
        reply_parameters=ReplyParameters(reply, allow_sending_without_reply=True) if reply else None,
    )
    return message.message_id


async def _say(bot: Bot, part: Part) -> int:
    """Send a voice message; a probe knows it by its caption."""
    said = await bot.send_voice(
        chat_id=part.chat_id,
        voice=InputFile(base64.b64decode(part.text), filename="answer.ogg"),
        caption=VOICE_CAPTION,
        message_thread_id=part.thread_id,
    )
    return said.message_id


async def _write_out(bot: Bot, part: Part) -> int:
    """Send a file that was written here; a probe knows it by its name, which is the caption."""
    name, _, text = part.text.partition("\n")
    file = InputFile(text.encode(), filename=name)
    sent = await bot.send_document(part.chat_id, file, caption=name, message_thread_id=part.thread_id)
    return sent.message_id


async def _hand_back(bot: Bot, part: Part) -> int:
    """Send a file that Telegram has by its id."""
    field = SENT_BACK[part.kind.removeprefix(FILE_PART)]
    send_it: Callable[..., Awaitable[Message]] = getattr(bot, f"send_{field}")
    telegram_id, _, caption = part.text.partition("\n")
    where = {"chat_id": part.chat_id, "message_thread_id": part.thread_id}
    return (await send_it(**where, **{field: telegram_id}, caption=caption)).message_id


async def edit(bot: Bot, part: Part, message_id: int) -> int:
    """Let a message of ours show this part; return its id. Raises TelegramError.

    Of a file only the caption can be set: no text of ours has one.
    """
    if is_media(part):
        head, _, tail = part.text.partition("\n")
        caption = VOICE_CAPTION if part.kind == VOICE_PART else head if part.kind == TEXT_FILE else tail
        await bot.edit_message_caption(chat_id=part.chat_id, message_id=message_id, caption=caption)
        return message_id
    done = await bot.edit_message_text(
        chat_id=part.chat_id,
        message_id=message_id,
        text=part.text,
        entities=_entities(part),
        reply_markup=_markup(part),
        link_preview_options=None if part.bare else NO_PREVIEW,
    )
    return done.message_id if isinstance(done, Message) else message_id


def _entities(part: Part) -> list[MessageEntity] | None:
    return [MessageEntity.de_json(dict(entity), None) for entity in part.entities] or None


def _markup(part: Part) -> Any:
    return InlineKeyboardMarkup.de_json(dict(part.markup), None) if part.markup else None
