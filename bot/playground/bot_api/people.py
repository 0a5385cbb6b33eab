"""Acts of people: write, reply, forward, edit, paste, press buttons, block the bot, open groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bot.playground.bot_api.rules import TEXT_MAX_UTF16, Json, found_entities, pieces, utf16_units
from bot.playground.bot_api.updates import Updates
from bot.playground.bot_api.world import Chat, StoredMessage, World


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that a person sent: its ids, and that of the update for the bot (0 when the bot is not told)."""

    message_id: int
    update_id: int
    chat_id: int


class SimulatedPeople:
    """The people around the bot. A person is made up when first named; `now_s` is the time of day in seconds."""

    def __init__(self, world: World, updates: Updates, now_s: Callable[[], float]) -> None:
        self.world = world
        self.updates = updates
        self._now_s = now_s

    def says(
        self,
        user_id: int,
        text: str,
        *,
        chat_id: int | None = None,
        thread_id: int = 0,
        reply_to: int | None = None,
        forwarded_from: str | None = None,
    ) -> SentMessage:
        """Send a text, in the private chat unless `chat_id` names a group. Raises ValueError when it is too long."""
        if utf16_units(text) > TEXT_MAX_UTF16:
            raise ValueError(f"{utf16_units(text)} units do not fit into one message; use `pastes`")
        content: Json = {"text": text}
        if entities := found_entities(text):
            content["entities"] = entities
        if forwarded_from:
            content["forward_origin"] = {
                "type": "hidden_user", "sender_user_name": forwarded_from, "date": int(self._now_s())
            }  # fmt: skip
        return self.sends(user_id, content, chat_id=chat_id, thread_id=thread_id, reply_to=reply_to)

    def pastes(self, user_id: int, text: str, **where: Any) -> list[SentMessage]:
        """Send a text of any length as Telegram's apps do: in pieces."""
        return [self.says(user_id, piece, **where) for piece in pieces(text)]

    def sends(
        self,
        user_id: int,
        content: Json,
        *,
        chat_id: int | None = None,
        thread_id: int = 0,
        reply_to: int | None = None,
    ) -> SentMessage:
        """Send any content: fields of Telegram's Message, such as `{"sticker": {…}}`."""
        chat, user = self._place(user_id, chat_id), self.world.user(user_id)
        if reply_to is not None:
            content = {**content, "reply_to_message": _plain(chat.messages[reply_to].message)}
        message = self.world.add_message(chat, user, content, now_s=self._now_s(), thread_id=thread_id)
        hears_all = chat.kind == "private" or chat.is_led_by_bot or self.world.bot["can_read_all_group_messages"]
        heard = hears_all or self._addressed(message)
        update_id = self._tell({"message": dict(message)}) if heard else 0
        return SentMessage(message["message_id"], update_id, chat.chat_id)

    def sends_file(
        self,
        user_id: int,
        data: bytes,
        *,
        name: str = "",
        kind: str = "document",
        caption: str = "",
        album: str = "",
        claims: Json | None = None,
        **where: Any,
    ) -> SentMessage:
        """Send a file as a `document`, `photo`, `voice` and so on; `claims` are further fields of Telegram about it."""
        file_id = f"sent{len(self.world.files) + 1}"
        self.world.files[file_id] = data
        about: Json = {"file_id": file_id, "file_unique_id": f"u{hash(data)}", "file_size": len(data), **(claims or {})}
        if name:
            about["file_name"] = name
        content: Json = {kind: [{"width": 90, "height": 90, **about}] if kind == "photo" else about}
        if caption:
            content["caption"] = caption
        if album:
            content["media_group_id"] = album
        return self.sends(user_id, content, **where)

    def edits(self, user_id: int, message_id: int, text: str, *, chat_id: int | None = None) -> SentMessage:
        """Change a text that was sent before; the bot gets `edited_message`."""
        chat = self._place(user_id, chat_id)
        kept = chat.messages[message_id]
        if kept.by_bot or kept.message["from"]["id"] != user_id:
            raise ValueError(f"message {message_id} is not of user {user_id}; people edit only their own")
        kept.message |= {"text": text, "edit_date": int(self._now_s())}
        kept.message.pop("entities", None)
        if entities := found_entities(text):
            kept.message["entities"] = entities
        kept.edits += 1
        self.world.changed()
        return SentMessage(message_id, self._tell({"edited_message": dict(kept.message)}), chat.chat_id)

    def presses(
        self,
        user_id: int,
        button: str,
        *,
        chat_id: int | None = None,
        message_id: int | None = None,
    ) -> str:
        """Press a button by its text or data, on the newest message that has it; return the callback query's id.

        Raises LookupError, naming the buttons that are there, when no message has it.
        """
        chat = self._place(user_id, chat_id)
        kept, data = _button(chat, button, message_id)
        callback_id = str(7_000_000_000 + self.updates.next_id)
        query = {
            "id": callback_id,
            "from": self.world.user(user_id),
            "message": dict(kept.message),
            "chat_instance": str(chat.chat_id),
            "data": data,
        }
        self.world.callbacks[callback_id] = {"data": data, "message_id": kept.message["message_id"]}
        self._tell({"callback_query": query})
        return callback_id

    def blocks(self, user_id: int) -> int:
        """Block the bot: it may not write any more (403) until `unblocks`; return the update's id."""
        return self._blocking(user_id, is_blocked=True)

    def unblocks(self, user_id: int) -> int:
        """Let the bot write again; return the update's id."""
        return self._blocking(user_id, is_blocked=False)

    def deletes(self, user_id: int, message_id: int) -> None:
        """Delete a message of the private chat for both sides; bots are not told."""
        self.world.private_chat(user_id).messages[message_id].deleted = True
        self.world.changed()

    def opens_group(self, title: str, *, kind: str = "supergroup", is_forum: bool = False, owner: int = 0) -> int:
        """Open a group (`group` or `supergroup`) that the bot is in; return its chat id."""
        chat = self.world.new_group(title, kind, is_forum=is_forum)
        if owner:
            self.world.user(owner)
            chat.owner = owner
            chat.members.append(owner)
        self.world.changed()
        return chat.chat_id

    def adds_bot(self, user_id: int, chat_id: int) -> int:
        """Add the bot to a group, which tells it so; return the id of the update."""
        chat = self._place(user_id, chat_id)
        return self._membership(user_id, chat, {"status": "left", "user": self.world.bot}, self.world.as_member(chat))

    def makes_bot_admin(self, user_id: int, chat_id: int, *, is_admin: bool = True) -> int:
        """Make the bot an admin of a group, or an ordinary member again; return the id of the update."""
        chat = self._place(user_id, chat_id)
        was, chat.is_led_by_bot = self.world.as_member(chat), is_admin
        return self._membership(user_id, chat, was, self.world.as_member(chat))

    def leaves(self, user_id: int, chat_id: int) -> None:
        """Leave a group; the bot is not told."""
        self.world.chats[chat_id].members.remove(user_id)
        self.world.changed()

    def upgrades_group(self, chat_id: int, *, user_id: int = 1) -> int:
        """Make a group a supergroup: it gets a new number, and both are told; return the new number."""
        old, user = self._place(user_id, chat_id), self.world.user(user_id)
        new = self.world.new_group(str(old.info["title"]), "supergroup", is_forum=False)
        new.members, new.owner = list(old.members), old.owner
        for chat, content in ((old, {"migrate_to_chat_id": new.chat_id}), (new, {"migrate_from_chat_id": chat_id})):
            self._tell({"message": dict(self.world.add_message(chat, user, content, now_s=self._now_s()))})
        old.moved_to = new.chat_id
        self.world.changed()
        return new.chat_id

    def opens_topic(self, chat_id: int, name: str, *, user_id: int = 1) -> int:
        """Open a forum topic; return its thread id, the id of the message that created it."""
        chat, user = self._place(user_id, chat_id), self.world.user(user_id)
        content = {"forum_topic_created": {"name": name, "icon_color": 0x6FB9F0}}
        message = self.world.add_message(chat, user, content, now_s=self._now_s())
        message |= {"message_thread_id": message["message_id"], "is_topic_message": True}
        chat.topics.append(message["message_id"])
        self._tell({"message": dict(message)})
        return int(message["message_id"])

    def injects(self, update: Json) -> int:
        """Queue any update, also a broken one; return its id (its own `update_id` wins)."""
        return self._tell(update)

    def _tell(self, update: Json) -> int:
        update_id = self.updates.add(update)
        self.world.changed()
        return update_id

    def _place(self, user_id: int, chat_id: int | None) -> Chat:
        if chat_id is None or chat_id == user_id:
            return self.world.private_chat(user_id)
        chat = self.world.chats[chat_id]
        if user_id not in chat.members:
            chat.members.append(user_id)
        return chat

    def _addressed(self, message: Json) -> bool:
        replied = message.get("reply_to_message", {}).get("from", {}).get("id")
        text = str(message.get("text", ""))
        return replied == self.world.bot["id"] or text.startswith("/") or f"@{self.world.bot['username']}" in text

    def _blocking(self, user_id: int, *, is_blocked: bool) -> int:
        chat = self.world.private_chat(user_id)
        chat.is_blocked = is_blocked
        kicked: Json = {"status": "kicked", "user": self.world.bot, "until_date": 0}
        states = (kicked, self.world.as_member(chat))
        return self._membership(user_id, chat, *(reversed(states) if is_blocked else states))

    def _membership(self, user_id: int, chat: Chat, was: Json, now: Json) -> int:
        change = {"from": self.world.user(user_id), "chat": dict(chat.info), "date": int(self._now_s())}
        return self._tell({"my_chat_member": {**change, "old_chat_member": was, "new_chat_member": now}})


def _button(chat: Chat, wanted: str, message_id: int | None) -> tuple[StoredMessage, str]:
    there: list[str] = []
    for kept in reversed(chat.messages.values()):
        if kept.deleted or message_id not in (None, kept.message["message_id"]):
            continue
        for row in kept.message.get("reply_markup", {}).get("inline_keyboard", []):
            for button in row:
                if wanted in (button["text"], button.get("callback_data")) and "callback_data" in button:
                    return kept, str(button["callback_data"])
                there.append(button["text"])
    raise LookupError(f"no button {wanted!r} in chat {chat.chat_id}; there are: {there or 'none'}")


def _plain(message: Json) -> Json:
    return {name: value for name, value in message.items() if name != "reply_to_message"}
