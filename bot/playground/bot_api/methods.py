"""The Bot API methods that act on the world at once: sending, editing, drafts, commands, callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.playground.bot_api.rules import Json, checked_keyboard, checked_text, refuse
from bot.playground.bot_api.world import Chat, LiveDraft, StoredMessage, World

Method = Callable[[World, Json, float], Any]
_ACTIONS = {
    "typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document",
    "choose_sticker", "find_location", "record_video_note", "upload_video_note",
}  # fmt: skip
_NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current content "
    "and reply markup of the message"
)


def get_me(world: World, _params: Json, _now_s: float) -> Json:
    """Return the bot."""
    return world.bot


def send_message(world: World, params: Json, now_s: float) -> Json:
    """Show a text and return the message."""
    chat = world.open_chat(params.get("chat_id"))
    text, entities = checked_text(params)
    content: Json = {"text": text, **({"entities": entities} if entities else {})}
    if keyboard := _keyboard(params):
        content["reply_markup"] = keyboard
    return _send(world, chat, params, content, now_s)


def send_document(world: World, params: Json, now_s: float) -> Json:
    """Show a file; its bytes stay in `world.files` until the server stops."""
    chat = world.open_chat(params.get("chat_id"))
    content: Json = {"document": _kept(world, params, "document")}
    return _send(world, chat, params, content | _captioned(params), now_s)


def send_voice(world: World, params: Json, now_s: float) -> Json:
    """Show a voice message."""
    chat = world.open_chat(params.get("chat_id"))
    voice = {**_kept(world, params, "voice"), "duration": 1}
    return _send(world, chat, params, {"voice": voice} | _captioned(params), now_s)


def send_photo(world: World, params: Json, now_s: float) -> Json:
    """Show a picture that is there already."""
    chat = world.open_chat(params.get("chat_id"))
    photo = {"photo": [{**_kept(world, params, "photo"), "width": 90, "height": 90}]}
    return _send(world, chat, params, photo | _captioned(params), now_s)


def _kept(world: World, params: Json, field: str) -> Json:
    if params.get(field) in world.files:  # what is there already is sent by its id
        known = str(params[field])
        return {"file_id": known, "file_unique_id": known, "file_name": known, "file_size": len(world.files[known])}
    name, data = _uploaded(params.get(field), params)
    file_id = f"file{len(world.files) + 1}"
    world.files[file_id] = data
    return {"file_id": file_id, "file_unique_id": file_id, "file_name": name, "file_size": len(data)}


def _captioned(params: Json) -> Json:
    caption, entities = checked_text(
        {"text": params.get("caption") or "", "entities": params.get("caption_entities")}, empty_is_fine=True
    )
    content: Json = {}
    if caption:
        content |= {"caption": caption, **({"caption_entities": entities} if entities else {})}
    if keyboard := _keyboard(params):
        content["reply_markup"] = keyboard
    return content


def _uploaded(document: Any, params: Json) -> tuple[str, bytes]:
    if isinstance(document, str) and document.startswith("attach://"):
        document = params.get(document.removeprefix("attach://"))
    if not isinstance(document, tuple):
        raise refuse("there is no document in the request")
    return document


def _send(world: World, chat: Chat, params: Json, content: Json, now_s: float) -> Json:
    thread_id = _thread(chat, params)
    content |= _reply(world, chat, params)
    return world.add_message(chat, world.bot, content, now_s=now_s, thread_id=thread_id)


def _thread(chat: Chat, params: Json) -> int:
    thread_id = params.get("message_thread_id") or 0
    if thread_id and thread_id not in chat.topics:
        raise refuse("message thread not found")
    return int(thread_id)


def _reply(world: World, chat: Chat, params: Json) -> Json:
    reply = params.get("reply_parameters") or {}
    wanted = reply.get("message_id") or params.get("reply_to_message_id")
    if not wanted:
        return {}
    found = world.kept(chat, wanted)
    if found:
        return {"reply_to_message": {k: v for k, v in found.message.items() if k != "reply_to_message"}}
    if reply.get("allow_sending_without_reply") or params.get("allow_sending_without_reply"):
        return {}
    raise refuse("message to be replied not found")


def edit_message_text(world: World, params: Json, _now_s: float) -> Json:
    """Change one of our texts. As on Telegram, a call without a keyboard takes the old keyboard away."""
    kept = _editable(world, params)
    if "text" not in kept.message:
        raise refuse("there is no text in the message to edit")
    text, entities = checked_text(params)
    return _change(world, kept, {"text": text, "entities": entities, "reply_markup": _keyboard(params)}, _now_s)


def edit_message_caption(world: World, params: Json, now_s: float) -> Json:
    """Change the caption of one of our files."""
    kept = _editable(world, params)
    if not {"document", "voice", "photo"} & set(kept.message):
        raise refuse("there is no caption in the message to edit")
    return _change(world, kept, {"caption": params.get("caption"), "reply_markup": _keyboard(params)}, now_s)


def edit_message_reply_markup(world: World, params: Json, now_s: float) -> Json:
    """Change or take away the keyboard of one of our messages."""
    return _change(world, _editable(world, params), {"reply_markup": _keyboard(params)}, now_s)


def _keyboard(params: Json) -> Json | None:
    return checked_keyboard(params.get("reply_markup"))


def _editable(world: World, params: Json) -> StoredMessage:
    chat = world.open_chat(params.get("chat_id"))
    kept = world.kept(chat, params.get("message_id"))
    if kept is None:
        raise refuse("message to edit not found")
    if not kept.by_bot:
        raise refuse("message can't be edited")
    return kept


def _change(world: World, kept: StoredMessage, fields: Json, now_s: float) -> Json:
    if all((kept.message.get(name) or None) == (value or None) for name, value in fields.items()):
        raise refuse(_NOT_MODIFIED)
    for name, value in fields.items():
        if value:
            kept.message[name] = value
        else:
            kept.message.pop(name, None)
    if "text" in fields:
        kept.message["edit_date"] = int(now_s)
        kept.edits += 1
    world.changed()
    return kept.message


def send_message_draft(world: World, params: Json, now_s: float) -> bool:
    """Show a text that is being written, in a private chat; an empty text shows that the bot thinks."""
    chat = world.open_chat(params.get("chat_id"))
    if chat.kind != "private":
        raise refuse("TEXTDRAFT_PEER_INVALID")
    draft_id = params.get("draft_id")
    if not isinstance(draft_id, int) or draft_id == 0:
        raise refuse("draft_id must be a non-zero number")
    text, _ = checked_text(params, empty_is_fine=True)
    chat.drafts[_thread(chat, params)] = LiveDraft(draft_id, text, now_s)
    world.changed(is_passing=True)
    return True


def send_chat_action(world: World, params: Json, now_s: float) -> bool:
    """Show that the bot is typing, for 5 seconds or until its message arrives."""
    chat = world.open_chat(params.get("chat_id"))
    if params.get("action") not in _ACTIONS:
        raise refuse("wrong parameter action in request")
    chat.typing_at_s[_thread(chat, params)] = now_s
    world.changed(is_passing=True)
    return True


def delete_message(world: World, params: Json, _now_s: float) -> bool:
    """Take a message away: our own anywhere, a person's in private chats."""
    chat = world.open_chat(params.get("chat_id"))
    kept = world.kept(chat, params.get("message_id"))
    if kept is None:
        raise refuse("message to delete not found")
    if not kept.by_bot and chat.kind != "private":
        raise refuse("message can't be deleted")
    kept.deleted = True
    world.changed()
    return True


def set_message_reaction(world: World, params: Json, _now_s: float) -> bool:
    """Keep the bot's reaction to a message."""
    chat = world.open_chat(params.get("chat_id"))
    message_id = params.get("message_id")
    if world.kept(chat, message_id) is None:
        raise refuse("message to react not found")
    world.reactions[chat.chat_id, int(message_id or 0)] = params.get("reaction") or []
    world.changed()
    return True


def answer_callback_query(world: World, params: Json, _now_s: float) -> bool:
    """Keep the answer to the pressed button; a second answer or an unknown id is refused."""
    pressed = world.callbacks.get(str(params.get("callback_query_id")))
    if pressed is None or "answer" in pressed:
        raise refuse("query is too old and response timeout expired or query ID is invalid")
    pressed["answer"] = {"text": params.get("text") or "", "show_alert": bool(params.get("show_alert"))}
    world.changed()
    return True


def get_chat(world: World, params: Json, _now_s: float) -> Json:
    """Return the chat as getChat does."""
    limits = {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": _GIFTS}
    return {**world.chat(params.get("chat_id")).info, **limits}


_GIFTS = {
    "unlimited_gifts": False,
    "limited_gifts": False,
    "unique_gifts": False,
    "premium_subscription": False,
    "gifts_from_channels": False,
}


def get_chat_member(world: World, params: Json, _now_s: float) -> Json:
    """Return a member of a chat; people who never came are `left`."""
    chat = world.chat(params.get("chat_id"))
    user_id = params.get("user_id")
    if user_id == world.bot["id"]:
        return world.as_member(chat)
    if user_id not in world.users:
        raise refuse("user not found")
    if user_id == chat.owner:
        return {"status": "creator", "user": world.users[user_id], "is_anonymous": False}
    return {"status": "member" if user_id in chat.members else "left", "user": world.users[user_id]}


def set_my_commands(world: World, params: Json, _now_s: float) -> bool:
    """Keep the command menu of one scope and language."""
    commands = params.get("commands")
    if not isinstance(commands, list) or not all(isinstance(c, dict) for c in commands):
        raise refuse("commands must be an Array of BotCommand")
    for command in commands:
        name, description = str(command.get("command", "")), str(command.get("description", ""))
        if not (1 <= len(name) <= 32 and name.replace("_", "a").isalnum() and name == name.lower()):  # noqa: PLR2004 - Telegram's bounds of a command
            raise refuse("BOT_COMMAND_INVALID")
        if not 1 <= len(description) <= 256:  # noqa: PLR2004 - Telegram's limits
            raise refuse("BOT_COMMAND_DESCRIPTION_INVALID")
    world.commands[_menu(params)] = commands
    world.changed()
    return True


def get_my_commands(world: World, params: Json, _now_s: float) -> list[Json]:
    """Return the command menu of one scope and language."""
    return world.commands.get(_menu(params), [])


def delete_my_commands(world: World, params: Json, _now_s: float) -> bool:
    """Drop the command menu of one scope and language."""
    world.commands.pop(_menu(params), None)
    world.changed()
    return True


def _menu(params: Json) -> str:
    scope = params.get("scope") or {"type": "default"}
    parts = [scope.get("type"), scope.get("chat_id"), scope.get("user_id"), params.get("language_code")]
    return ":".join(str(part) for part in parts if part)


DOWNLOADED_MOST_BYTES = 20_000_000


def get_file(world: World, params: Json, now_s: float) -> Json:
    """Return the path of a file for downloading; a server of one's own puts a file of any size into its folder."""
    file_id = str(params.get("file_id"))
    if file_id not in world.files:
        raise refuse("wrong file_id or the file is temporarily unavailable")
    size, place = len(world.files[file_id]), f"documents/{file_id}"
    if world.local_folder is not None:
        path = world.local_folder / file_id
        path.write_bytes(world.files[file_id])
        place = str(path)
    elif size > DOWNLOADED_MOST_BYTES:
        raise refuse("file is too big")
    world.links[file_id] = now_s
    return {"file_id": file_id, "file_unique_id": file_id, "file_size": size, "file_path": place}


def _done(_world: World, _params: Json, _now_s: float) -> bool:
    return True


METHODS: dict[str, Method] = {
    "getMe": get_me,
    "sendMessage": send_message,
    "sendDocument": send_document,
    "sendVoice": send_voice,
    "sendPhoto": send_photo,
    "editMessageText": edit_message_text,
    "editMessageCaption": edit_message_caption,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "sendMessageDraft": send_message_draft,
    "sendChatAction": send_chat_action,
    "deleteMessage": delete_message,
    "setMessageReaction": set_message_reaction,
    "answerCallbackQuery": answer_callback_query,
    "getChat": get_chat,
    "getChatMember": get_chat_member,
    "setMyCommands": set_my_commands,
    "getMyCommands": get_my_commands,
    "deleteMyCommands": delete_my_commands,
    "setMyDescription": _done,
    "setMyShortDescription": _done,
    "setChatMenuButton": _done,
    "getFile": get_file,
    "logOut": _done,
    "close": _done,
}
