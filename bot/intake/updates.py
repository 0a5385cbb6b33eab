"""What an update is about: where, who, what kind, which text. Pure reading of Telegram's JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from bot.intake.local import FIRST_LOCAL_ID, is_local
from bot.intake.media import OWN_VOICE, SentFile, sent_file, waiting_line
from bot.intake.other_kinds import in_words
from memory.context.transcript import clip_ends
from memory.foreign import foreign, has_foreign
from memory.text import clean

Kind = Literal["text", "edit", "command", "tap", "media", "membership", "task", "unreadable"]
LONG_PIECE_CHARS = 3900
"""Telegram clients cut a long paste into messages of 4096; a piece this long is probably not the last."""

ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
BODIES = ALLOWED_UPDATES
MAX_ID = FIRST_LOCAL_ID - 1
"""Telegram's own ids have at most 52 bits; what lies above is ours, and above that no database holds it."""
MAX_TEXT_CHARS = 32_000
"""Of one message: what HTTP takes, and eight times what Telegram does."""
MAX_NAME_CHARS = 256
LAST_DATE_S = 253_402_300_799
"""The end of the year 9999."""
LAST_SUPERGROUP = -1_000_000_000_000
"""Supergroups and channels have numbers from here down, groups those above, people positive ones."""
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
"""What Telegram itself writes into a chat; nobody waits for an answer to it."""
UNKNOWN_KIND = "message"
"""What a message is called whose kind did not exist yet when this was written."""
_NOBODY = "somebody"


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own identity, from getMe."""

    bot_id: int
    username: str
    origins: Mapping[int, int] = field(default_factory=dict, compare=False)
    """Supergroups that were groups before: the number in their conversation's key (`bot.intake.chat_moves`)."""


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
    title: str = ""
    """What a group is called; "" in private."""
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
    waits: int = 0
    """How often the process died while it could not be blamed: it waited for its model, or was not alone at work."""
    behind: int | None = None
    """The update before it in its conversation, which any worker may have written down, when that was not finished."""
    fresh: bool = False
    """True when this process took it in just now; False of what an earlier one, or another, left unfinished."""
    person: str = ""
    """Whose share of the places a message over HTTP takes; "" is that of all who do not say."""
    digest: int | None = None
    """Of the whole request over HTTP; the same key with another one is another message."""
    whole_chars: int = 0
    """How long the text was before its middle was left out; 0 when nothing was."""
    again: bool = False
    """True when the user tapped [Try again] or [Answer now]: no further question is asked."""
    files: tuple[SentFile, ...] = ()
    """What came with the message, and with the one that it replies to; each has its line in the text."""
    replies_to: int | None = None
    """The message of ours that it replies to."""
    album: str = ""
    """Telegram's id of the album that the message belongs to; "" for none."""
    run_id: str = ""
    """The run of a task that the clock began (`bot.tasks`)."""

    @property
    def urgent(self) -> bool:
        """True when it must not wait behind a running answer."""
        return self.kind == "tap" or (self.kind == "command" and self.command == "stop")

    @property
    def mergeable(self) -> bool:
        """True when it may become one turn with its neighbours; a reply to words of ours is a matter of its own."""
        return self.kind in ("text", "edit") and (self.replies_to is None or is_cut(self.text))


def conversation_key(bot_id: int, chat_id: int, thread_id: int | None) -> str:
    """Return `tg:<bot_id>:<chat_id>:<thread_id or 0>`."""
    return f"tg:{bot_id}:{chat_id}:{thread_id or 0}"


def is_group(conversation_id: str) -> bool:
    """Return whether several people may write in a conversation: chats that are no person's have negative ids."""
    return conversation_id.split(":")[2:3] != [] and conversation_id.split(":")[2].startswith("-")


def sender(raw: object) -> int | None:
    """Return the user id that stands behind a raw update, None when there is none (channels, anonymous admins)."""
    return as_id(as_object(_body(raw)[1].get("from")).get("id"))


def read_update(raw: object, me: Me) -> Envelope | None:
    """Return the envelope of a raw update, or None when it is not for us (group talk, channels, bots, no known place).

    Never raises, whatever the JSON: a field of a wrong type counts as missing, and when a private message cannot be
    read without it, the envelope's kind is `unreadable`.
    """
    kind, body = _body(raw)
    update_id = identity(raw)
    local = as_object(as_object(raw).get("local_message"))
    if local and not kind:
        return _read_local(as_object(raw), local, me)
    if not kind and as_object(as_object(raw).get("task")):
        return _read_task(as_object(raw), as_object(as_object(raw)["task"]), me)
    if update_id is None:
        return None
    if kind == "callback_query":
        return _read_tap(update_id, body, me)
    if kind == "my_chat_member":
        return _read_membership(update_id, body, me)
    return _read_message(update_id, body, me, edited=kind == "edited_message") if kind else None


def read_move(raw: object) -> tuple[int, int] | None:
    """Return (number before, number after) when this says that a group became a supergroup, told in either of them.

    Only groups move, and groups have negative numbers: a message in a private chat that says so is none of Telegram's,
    and whoever believed it would speak to somebody else.
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


def as_object(value: object) -> Mapping[str, Any]:
    """Return a JSON object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_id(value: object) -> int | None:
    """Return an id that a database can hold, None for anything else."""
    return value if type(value) is int and abs(value) <= MAX_ID else None


def as_digest(value: object) -> int | None:
    """Return a number of at most 60 bits, None for anything else."""
    return value if type(value) is int and 0 <= value <= MAX_ID else None


def as_text(value: object) -> str:
    """Return a text without what databases refuse, its middle left out when it is far too long; else "".

    It is cut before anything looks at its characters: Telegram's own are 4,096 at most, and a server of one's own may
    hand on a million of them.
    """
    return clean(clip_ends(value, MAX_TEXT_CHARS)) if isinstance(value, str) else ""


def as_name(value: object) -> str:
    """Return a name as `as_text` does, its end left out when it is far too long."""
    return as_text(value[:MAX_NAME_CHARS]) if isinstance(value, str) else ""


def _body(raw: object) -> tuple[str, Mapping[str, Any]]:
    """Return which kind of update it is and what it carries; ("", {}) for a kind that we do not ask for."""
    given = as_object(raw)
    return next(((name, given[name]) for name in BODIES if isinstance(given.get(name), dict)), ("", {}))


def is_cut(piece: str) -> bool:
    """Return whether a message is so long that it is probably not the last piece of what was pasted."""
    return len(piece) >= LONG_PIECE_CHARS


def batch_text(batch: Sequence[Envelope]) -> str:
    """Return what the user said in these messages, in order; an edit replaces the message that it edits."""
    texts: dict[int | None, str] = {}
    for envelope in batch:
        texts[envelope.message_id] = envelope.text
    pieces = list(texts.values())
    joined = pieces[:1]
    for before, piece in pairwise(pieces):
        goes_on = is_cut(before) and not has_foreign(before) and not has_foreign(piece)
        joined += [piece] if goes_on else ["\n", piece]
    return "".join(joined)


def _base(
    update_id: int, message: Mapping[str, Any], who: Mapping[str, Any], me: Me, *, at_s: object
) -> Envelope | None:
    """Return where and who, None in channels and when neither is known.

    Without a readable chat it is the private chat of the sender: what cannot be read belongs to somebody all the same.
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


def _read_message(update_id: int, message: Mapping[str, Any], me: Me, *, edited: bool) -> Envelope | None:
    who = as_object(message.get("from"))
    base = _base(update_id, message, who, me, at_s=message.get("edit_date") or message.get("date"))
    if base is None or base.user_id is None or who.get("is_bot"):
        return None
    text = as_text(message.get("text")) or as_text(message.get("caption"))
    base = replace(base, whole_chars=_whole_chars(message))
    entities = _entities(message)
    command = _command(text, entities, me)
    if base.message_id is None or not (text or _plain(message)):
        return base if base.private else None
    if command is not None and not edited:
        return replace(base, kind="command", command=command[0], arguments=command[1], text=text)
    if not base.private and not _addressed(message, text, entities, me):
        return None
    text = _without_mention(text, me)
    file, original = sent_file(message, _whose(message)), _file_replied_to(message, me)
    media = next((name for name in MEDIA_FIELDS if message.get(name) is not None), None)
    spelled = "" if text or file else in_words(message)
    if not (text or file or spelled):
        service = any(name in message for name in SERVICE_FIELDS)
        return None if service else replace(base, kind="media", text=media or UNKNOWN_KIND)
    if media and not (file or spelled):
        text = f"[{media}] {text}"
    text = spelled or text
    whole = _by_others(text, message, me)
    lines = [waiting_line(each) for each in (original, file) if each]
    foreign_alone = file is not None and not (file.kind in OWN_VOICE and not file.name) and not text
    return replace(
        base,
        kind="edit" if edited else "text",
        text="\n".join(filter(None, (*lines, whole))),
        third_party=whole != text
        or has_foreign(spelled)
        or foreign_alone
        or (file is not None and message.get("forward_origin") is not None),
        files=tuple(each for each in (original, file) if each),
        album=as_name(message.get("media_group_id")),
        replies_to=_ours_replied_to(message, me),
    )


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


def _entities(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    for name in ("entities", "caption_entities"):
        found = message.get(name)
        if isinstance(found, list) and found:
            return [as_object(entity) for entity in found]
    return []


def _by_others(text: str, message: Mapping[str, Any], me: Me) -> str:
    """Return the text with what others wrote marked line by line: forwards, inline results, quotes, what it replies to.

    A message that leans on one elsewhere is marked too: what it means stands there.
    """
    if message.get("forward_origin") is not None:
        return foreign(text, f"Forwarded from {_origin(message['forward_origin'])}")
    if message.get("via_bot") is not None:
        return foreign(text, f"Sent via {as_text(as_object(message['via_bot']).get('username')) or 'a bot'}")
    original, elsewhere = as_object(message.get("reply_to_message")), message.get("external_reply")
    quote = as_text(as_object(message.get("quote")).get("text"))
    whose = _origin(as_object(elsewhere).get("origin")) if elsewhere is not None else _name(original.get("from"))
    if quote:
        return f"{foreign(quote, f'Quoted from {whose}')}\n{text}"
    if elsewhere is not None:
        return f"{foreign('(a message elsewhere)', f'Reply to {whose}')}\n{text}"
    if _author(original) in (me.bot_id, _author(message)):
        return text
    quoted = as_text(original.get("text")) or as_text(original.get("caption"))
    return f"{foreign(quoted, f'Reply to {whose}')}\n{text}" if quoted.strip() else text


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


def _command(text: str, entities: Sequence[Mapping[str, Any]], me: Me) -> tuple[str, str] | None:
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


def _read_tap(update_id: int, query: Mapping[str, Any], me: Me) -> Envelope | None:
    message, callback_id, button_id = as_object(query.get("message")), as_name(query.get("id")), query.get("data")
    base = _base(update_id, message, as_object(query.get("from")), me, at_s=message.get("date"))
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


def _read_membership(update_id: int, change: Mapping[str, Any], me: Me) -> Envelope | None:
    status = as_object(change.get("new_chat_member")).get("status")
    base = _base(update_id, change, as_object(change.get("from")), me, at_s=change.get("date"))
    if base is None or as_id(as_object(change.get("chat")).get("id")) is None:
        return None
    return replace(base, kind="membership", text=as_name(status))
