"""People, chats, messages and their ids, and a person's view of them. No clock, no sockets."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bot.playground.bot_api.rules import ApiError, Json, refuse

PLAYGROUND_TOKEN = "1000000001:AAloopback-playground-no-secret-000"
"""For tests; a playground that a person starts has a fresh token each time (`fresh_token`)."""
DRAFT_SHOWN_S = 30.0
TYPING_SHOWN_S = 5.0
KEPT_MESSAGES_PER_CHAT = 2000
MEDIA = ("document", "photo", "voice", "audio", "video", "video_note", "animation")
"""The fields of a message that hold a file."""
ADMIN_RIGHTS = [
    *("can_be_edited", "can_manage_chat", "can_delete_messages", "can_manage_video_chats", "can_restrict_members"),
    *("can_promote_members", "can_change_info", "can_invite_users", "can_post_stories", "can_edit_stories"),
    "can_delete_stories",
]
"""The rights that Telegram names of every admin."""


def fresh_token() -> str:
    """Return a token that nobody can guess, of the same bot at every start."""
    return f"{PLAYGROUND_TOKEN.partition(':')[0]}:{secrets.token_urlsafe(27)}"


@dataclass(slots=True)
class StoredMessage:
    """One message as the server keeps it; `message` is Telegram's object."""

    message: Json
    by_bot: bool
    edits: int = 0
    deleted: bool = False


@dataclass(slots=True)
class LiveDraft:
    """A text that is being written: shown for 30 seconds or until a message arrives."""

    draft_id: int
    text: str
    at_s: float


@dataclass(slots=True)
class Chat:
    """One chat with its messages in the order of their ids."""

    info: Json
    messages: dict[int, StoredMessage] = field(default_factory=dict)
    members: list[int] = field(default_factory=list)
    owner: int = 0
    """The person who opened the group; 0 = unknown."""
    is_led_by_bot: bool = False
    """Whether the bot is one of the group's admins, who are told everything that is written there."""
    topics: list[int] = field(default_factory=list)
    own_last_id: int = 0
    is_blocked: bool = False
    moved_to: int = 0
    """The supergroup that this group has become; 0 = none."""
    drafts: dict[int, LiveDraft] = field(default_factory=dict)
    typing_at_s: dict[int, float] = field(default_factory=dict)

    @property
    def chat_id(self) -> int:
        """Return Telegram's id of the chat."""
        return int(self.info["id"])

    @property
    def kind(self) -> str:
        """Return private, group or supergroup."""
        return str(self.info["type"])


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """One message as a person sees it now, after all edits."""

    message_id: int
    who: str
    text: str
    buttons: tuple[tuple[str, ...], ...] = ()
    edits: int = 0
    thread_id: int = 0
    file_name: str = ""
    by_bot: bool = False
    entities: tuple[Json, ...] = ()
    presses: tuple[str, ...] = ()
    """The effect of each button, counted over all rows: its callback data, or the address that it opens."""
    file_id: str = ""
    media: str = ""
    """The kind of file that came with it: document, photo, voice and so on; "" for none."""
    user_id: int = 0
    at_s: int = 0
    """Time of writing, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class ChatView:
    """One chat as a person sees it now."""

    lines: tuple[ShownMessage, ...]
    draft: str | None
    is_typing: bool


class World:
    """All chats of one bot. Every change is announced to `listeners`."""

    def __init__(
        self, token: str = PLAYGROUND_TOKEN, *, username: str = "continuity_bot", privacy: bool = False
    ) -> None:
        self.token = token
        self.bot: Json = {
            "id": int(token.partition(":")[0]),
            "is_bot": True,
            "first_name": "Continuity",
            "username": username,
            "can_join_groups": True,
            "can_read_all_group_messages": not privacy,
            "supports_inline_queries": False,
            "can_connect_to_business": False,
            "has_main_web_app": False,
        }
        self.users: dict[int, Json] = {}
        self.chats: dict[int, Chat] = {}
        self.last_message_id = 0
        self.commands: dict[str, list[Json]] = {}
        self.callbacks: dict[str, Json] = {}
        self.reactions: dict[tuple[int, int], list[Json]] = {}
        self.files: dict[str, bytes] = {}
        self.links: dict[str, float] = {}
        """Seconds since the epoch when each file was last asked for: its link is good for an hour."""
        self.local_folder: Path | None = None
        """The folder of files on a server of one's own, which gives their paths instead of links."""
        self.listeners: list[Callable[[], None]] = []
        self.version = 0

    def changed(self, *, is_passing: bool = False) -> None:
        """Tell the listeners that something is different; drafts and typing signs are passing."""
        self.version += 0 if is_passing else 1
        for listener in self.listeners:
            listener()

    # People and chats

    def user(self, user_id: int, **names: Any) -> Json:
        """Return the person, made up when new; `names` (first_name, username, language_code) are kept."""
        user = self.users.setdefault(
            user_id, {"id": user_id, "is_bot": False, "first_name": f"User {user_id}", "language_code": "en"}
        )
        user.update(names)
        return user

    def private_chat(self, user_id: int) -> Chat:
        """Return the person's chat with the bot, opened when new."""
        if user_id not in self.chats:
            user = self.user(user_id)
            info = {k: v for k, v in user.items() if k in ("id", "first_name", "last_name", "username")}
            self.chats[user_id] = Chat({**info, "type": "private"}, members=[user_id])
        return self.chats[user_id]

    def as_member(self, chat: Chat) -> Json:
        """Return the bot's standing in a chat: a member, or an admin with the rights that a new one gets."""
        if not chat.is_led_by_bot:
            return {"status": "member", "user": self.bot}
        rights = dict.fromkeys(ADMIN_RIGHTS, False) | {"can_manage_chat": True, "can_delete_messages": True}
        return {"status": "administrator", "user": self.bot, "is_anonymous": False, **rights}

    def new_group(self, title: str, kind: str, *, is_forum: bool) -> Chat:
        """Open a group or supergroup with the next free id of its kind."""
        number = 1 + sum(chat.kind == kind for chat in self.chats.values())
        chat_id = -(1_000_000_000_000 + 2_000_000_000 + number) if kind == "supergroup" else -(4_000_000 + number)
        info: Json = {"id": chat_id, "type": kind, "title": title}
        if is_forum:
            info["is_forum"] = True
        self.chats[chat_id] = Chat(info)
        return self.chats[chat_id]

    def chat(self, chat_id: Any) -> Chat:
        """Return the chat of a call. Raises `ApiError` 400 when there is none."""
        for chat in self.chats.values():
            if chat_id in (chat.chat_id, str(chat.chat_id)) or f"@{chat.info.get('username')}" == chat_id:
                return chat
        raise refuse("chat_id is empty" if chat_id in (None, "") else "chat not found")

    def open_chat(self, chat_id: Any) -> Chat:
        """Return the chat if the bot may write there. Raises `ApiError` 400 or 403."""
        chat = self.chat(chat_id)
        if chat.moved_to:
            raise ApiError(
                400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.moved_to
            )
        if chat.is_blocked:
            raise ApiError(403, _BLOCKED[chat.kind])
        return chat

    # Messages

    def next_message_id(self, chat: Chat) -> int:
        """Return a fresh id: supergroups count for themselves, all other chats of a bot share one counter."""
        if chat.kind == "supergroup":
            chat.own_last_id += 1
            return chat.own_last_id
        self.last_message_id += 1
        return self.last_message_id

    def add_message(self, chat: Chat, sender: Json, content: Json, *, now_s: float, thread_id: int = 0) -> Json:
        """Keep a new message and return it. A draft and the typing sign of its thread go away if it is the bot's."""
        by_bot = sender["id"] == self.bot["id"]
        message = {
            "message_id": self.next_message_id(chat),
            "from": _public(sender),
            "chat": dict(chat.info),
            "date": int(now_s),
            **content,
        }
        if thread_id:
            message |= {"message_thread_id": thread_id, "is_topic_message": True}
        chat.messages[message["message_id"]] = StoredMessage(message, by_bot)
        if len(chat.messages) > KEPT_MESSAGES_PER_CHAT:
            del chat.messages[next(iter(chat.messages))]
        if by_bot:
            chat.drafts.pop(thread_id, None)
            chat.typing_at_s.pop(thread_id, None)
        self.changed()
        return message

    def kept(self, chat: Chat, message_id: Any) -> StoredMessage | None:
        """Return the message if it exists and was not deleted."""
        found = chat.messages.get(message_id) if isinstance(message_id, int) else None
        return found if found and not found.deleted else None

    # A person's view

    def view(self, chat_id: int, *, thread_id: int | None = None, now_s: float) -> ChatView:
        """Return the chat as a person sees it; a chat that nobody opened is empty."""
        chat = self.chats.get(chat_id)
        if chat is None:
            return ChatView((), None, is_typing=False)
        lines = tuple(line for line in _lines(chat) if thread_id in (None, line.thread_id))
        drafts = [d for t, d in chat.drafts.items() if thread_id in (None, t) and now_s - d.at_s < DRAFT_SHOWN_S]
        typing = [s for t, s in chat.typing_at_s.items() if thread_id in (None, t) and now_s - s < TYPING_SHOWN_S]
        return ChatView(lines, drafts[-1].text if drafts else None, is_typing=bool(typing))

    # The state as JSON

    def to_json(self) -> Json:
        """Return everything that outlives a restart; drafts, typing signs and uploaded bytes do not."""
        kept = {}
        for chat_id, chat in self.chats.items():
            kept[str(chat_id)] = {
                "info": chat.info,
                "messages": [asdict(message) for message in chat.messages.values()],
                "members": chat.members,
                "topics": chat.topics,
                "own_last_id": chat.own_last_id,
                "is_blocked": chat.is_blocked,
            }
        users = {str(user_id): user for user_id, user in self.users.items()}
        return {"last_message_id": self.last_message_id, "users": users, "chats": kept, "commands": self.commands}

    def read_json(self, state: Json) -> None:
        """Take over the state that `to_json` returned."""
        self.last_message_id = state["last_message_id"]
        self.commands = state["commands"]
        self.users = {int(user_id): user for user_id, user in state["users"].items()}
        for chat_id, kept in state["chats"].items():
            messages = {m["message"]["message_id"]: StoredMessage(**m) for m in kept.pop("messages")}
            self.chats[int(chat_id)] = Chat(messages=messages, **kept)


_BLOCKED = {
    "private": "Forbidden: bot was blocked by the user",
    "group": "Forbidden: bot was kicked from the group chat",
    "supergroup": "Forbidden: bot was kicked from the supergroup chat",
}


def _public(user: Json) -> Json:
    names = ("id", "is_bot", "first_name", "last_name", "username", "language_code")
    return {name: user[name] for name in names if name in user}


def _lines(chat: Chat) -> Iterator[ShownMessage]:
    for message_id, kept in chat.messages.items():
        message = kept.message
        if kept.deleted:
            continue
        rows = message.get("reply_markup", {}).get("inline_keyboard", [])
        media = next((kind for kind in MEDIA if kind in message), "")
        file = message.get(media, {})
        file = file[-1] if isinstance(file, list) else file
        yield ShownMessage(
            message_id=message_id,
            who="bot" if kept.by_bot else message["from"]["first_name"],
            text=message.get("text") or message.get("caption") or "",
            buttons=tuple(tuple(str(button["text"]) for button in row) for row in rows),
            edits=kept.edits,
            thread_id=message.get("message_thread_id", 0),
            file_name=file.get("file_name", ""),
            by_bot=kept.by_bot,
            entities=tuple(message.get("entities") or message.get("caption_entities") or ()),
            presses=tuple(str(button.get("callback_data") or button.get("url")) for row in rows for button in row),
            file_id=file.get("file_id", ""),
            media=media,
            user_id=message["from"]["id"],
            at_s=message["date"],
        )
