"""Message parts written down before they are sent: composing, splitting, rows (P4, P6)."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import orjson

from bot.delivery.markup import Entity, formatted, missing
from bot.delivery.message_ids import HighestMessageIds
from bot.intake.updates import Envelope
from memory.ports import Clock, Database, Ids, Row, Statement
from memory.text import clean

MAX_UTF16 = 4096
MAX_ENTITIES = 100
VOICE_PART = "voice"
FILE_PART = "file "
"""Before the file's kind; the part's text is Telegram's id of it, and its caption on the next line."""
TEXT_FILE = f"{FILE_PART}text"
"""A file that the bot wrote itself: its name, and on the lines behind that its content."""
NAME_CHARS = 48
LONG_CHARS = 2 * MAX_UTF16
"""An answer that is longer takes three messages: it is offered as a file."""
SENT_BACK = {"document": "document", "picture": "photo", "voice message": "voice", "audio": "audio"}
"""Kinds of files that can be sent back, each as Telegram calls it; of a video and a GIF only the still is known."""
BUTTON_LIFE_MS = 30 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Button:
    """One inline button: its label and the meaning of a tap."""

    label: str
    action: str
    payload: Mapping[str, Any] = field(default_factory=dict)


class Mention(NamedTuple):
    """Somebody whom a text names, so that Telegram tells them."""

    name: str
    user_id: int | None = None
    """None for somebody who never wrote here: they are only named."""


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """Something the bot says: one message for a person, one or more parts for Telegram."""

    text: str
    markdown: bool = False
    buttons: tuple[tuple[Button, ...], ...] = ()
    kind: str = "notice"
    """reply, notice, `file document` and the like, or `heard 3`: the words heard in file #3; a reply corrects them."""
    reply_to_message_id: int | None = None
    edits_message_id: int | None = None
    anyone_may_tap: bool = False
    keyboard: Mapping[str, Any] | None = None
    """The buttons of the message that it edits, which stay."""
    mentions: tuple[Mention, ...] = ()
    """People whose names are in the text; not in Markdown."""


@dataclass(frozen=True, slots=True)
class Target:
    """The chat of a message, and the person who may tap its buttons."""

    bot_id: int
    conversation_id: str
    chat_id: int
    thread_id: int | None = None
    user_id: int | None = None

    @classmethod
    def of(cls, envelope: Envelope) -> Target:
        """Return the place where an update came from."""
        return cls(envelope.bot_id, envelope.conversation_id, envelope.chat_id, envelope.thread_id, envelope.user_id)


@dataclass(frozen=True, slots=True)
class Part:
    """One row of the outbox."""

    part_id: str
    bot_id: int
    conversation_id: str
    chat_id: int
    thread_id: int | None
    position: int
    turn_id: str | None
    part_no: int
    kind: str
    text: str
    entities: tuple[Entity, ...] = ()
    markup: Mapping[str, Any] | None = None
    reply_to_message_id: int | None = None
    edits_message_id: int | None = None
    state: str = "queued"
    attempts: int = 0
    message_id: int | None = None
    after_message_id: int | None = None
    marked: bool = False
    """True when its row is `sending` for a call that this process is about to make."""
    bare: bool = False
    """True when the server refused it with options: it is tried once more as text and buttons alone."""


_COLUMNS: Final = (
    "part_id", "bot_id", "conversation_id", "chat_id", "thread_id", "position", "turn_id", "part_no", "kind", "text",
    "reply_to_message_id", "edits_message_id", "state", "attempts", "after_message_id",
)  # fmt: skip


def text_file(name: str, text: str) -> OutgoingMessage:
    """Return the message that hands a text over as a file; without a name it is called by its first words."""
    first = " ".join(re.findall(r"[^\W_]+", text[:NAME_CHARS]))
    return OutgoingMessage(f"{name or f'{first or 1}.md'}\n{text}", kind=TEXT_FILE)


def file_back(kind: str, telegram_id: str, caption: str) -> OutgoingMessage:
    """Return the message that sends a file as Telegram has it, of a kind that `SENT_BACK` has."""
    return OutgoingMessage(f"{telegram_id}\n{caption}", kind=f"{FILE_PART}{kind}")


def is_media(part: Part) -> bool:
    """Whether a part is no text."""
    return part.kind == VOICE_PART or part.kind.startswith(FILE_PART)


def render(text: str, *, markdown: bool) -> list[tuple[str, list[Entity]]]:
    """Return the parts of a text as (plain text, entities), each within Telegram's limits; never empty.

    No visible character of the text is lost: Markdown that cannot be shown whole goes out as it was written.
    """
    found = formatted(text) if markdown else None
    parts = _parts(*found) if found else []
    shown = "".join(part for part, _ in parts)
    if not parts or missing(text, shown, (entity for _, inside in parts for entity in inside)):
        parts = _parts(text.strip(), [])
    return parts or [("…", [])]


def mentioned(text: str, mentions: Sequence[Mention]) -> list[Entity]:
    """The entities of the names in a text, each at its first place; offsets count UTF-16 units."""
    found: list[Entity] = []
    for name, user_id in mentions:
        place = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
        if place is not None and user_id is not None:
            offset, length = (len(part.encode("utf-16-le")) // 2 for part in (text[: place.start()], name))
            user = {"id": user_id, "is_bot": False, "first_name": name}
            found.append({"type": "text_mention", "offset": offset, "length": length, "user": user})
    return found


def _parts(plain: str, entities: list[Any]) -> list[tuple[str, list[Entity]]]:
    return [(part, inside[:MAX_ENTITIES]) for part, inside in _split(plain, entities) if part.strip()]


def _split(plain: str, entities: list[Any]) -> list[tuple[str, list[Entity]]]:
    if len(plain) <= MAX_UTF16 // 2:  # surely fits, whatever the characters
        return [(plain, [entity.to_dict() for entity in entities])]
    from telegramify_markdown.entity import split_entities

    return [(part, [e.to_dict() for e in inside]) for part, inside in split_entities(plain, entities, MAX_UTF16)]


def _queued(part: Part) -> Part:
    """Return the part as it is: it waits for its turn."""
    return part


class Outbox:
    """Makes rows of the table `outbox` and `buttons`; the caller commits them with the rows that belong to them."""

    def __init__(self, db: Database, clock: Clock, ids: Ids, high_water: HighestMessageIds) -> None:
        self.high_water = high_water
        self._db = db
        self._clock = clock
        self._ids = ids
        self._position = 0

    async def open(self) -> None:
        """Find the last position. Raises `StorageUnavailable`."""
        row = await self._db.read_one("outbox_last_position")
        self._position = row["position"] if row else 0

    def compose(
        self,
        target: Target,
        message: OutgoingMessage,
        turn_id: str | None = None,
        mark: Callable[[Part], Part] = _queued,
    ) -> tuple[list[Part], list[Statement]]:
        """Return the parts of a message and the statements that write it down; buttons hang on the last part.

        `mark` returns the first part as it is written down: marked when it goes out as soon as that is stored.
        """
        markup, statements = self._buttons(target, message)
        whole = message.kind == TEXT_FILE
        text = clean(message.text)
        pieces = [(text, list[Entity]())] if whole else render(text, markdown=message.markdown)
        if message.mentions:
            pieces = [(text, [*entities, *mentioned(text, message.mentions)]) for text, entities in pieces]
        parts = [
            self._part(target, message, turn_id, number=number, text=text, entities=entities)
            for number, (text, entities) in enumerate(pieces)
        ]
        if markup:
            parts[-1] = replace(parts[-1], markup=markup)
        parts[0] = mark(parts[0])
        return parts, [*statements, *map(self.insert, parts)]

    def preview(self, target: Target, turn_id: str, text: str, reply_to_message_id: int | None) -> Part:
        """Return the part that shows a growing answer where drafts are unavailable."""
        text = clean(text)
        message = OutgoingMessage(text, reply_to_message_id=reply_to_message_id)
        return replace(self._part(target, message, turn_id, number=-1, text=text, entities=[]), kind="preview")

    def voice(self, target: Target, turn_id: str, sound: bytes) -> Part:
        """Return the part that says an answer aloud; its text is the sound until it was sent (base64)."""
        text = base64.b64encode(sound).decode("ascii")
        part = self._part(target, OutgoingMessage(""), turn_id, number=0, text=text, entities=[])
        return replace(part, kind=VOICE_PART)

    def insert(self, part: Part) -> Statement:
        """Return the statement that writes one part down."""
        now_ms = self._clock.now_ms()
        values = {name: getattr(part, name) for name in _COLUMNS} | {
            "entities_json": orjson.dumps(part.entities).decode(),
            "markup_json": orjson.dumps(part.markup).decode() if part.markup else None,
            "created_at_ms": now_ms,
            "sending_at_ms": now_ms if part.marked else None,
        }
        return Statement("outbox_insert", values)

    async def unsent(self, bot_id: int) -> list[Part]:
        """Return the parts that an earlier process left queued or sending, in order."""
        return [part_from(row) for row in await self._db.read("outbox_unsent", bot_id=bot_id)]

    async def of_leases(self, bot_id: int, worker: int, names: str) -> list[Part]:
        """Return the unsent parts in chats that a worker holds, in order."""
        rows = await self._db.read("outbox_of_leases", bot_id=bot_id, worker=worker, names=names)
        return [part_from(row) for row in rows]

    def _part(
        self,
        target: Target,
        message: OutgoingMessage,
        turn_id: str | None,
        *,
        number: int,
        text: str,
        entities: Sequence[Entity],
    ) -> Part:
        self._position += 1
        first = number <= 0
        return Part(
            part_id=self._ids.new("o"),
            bot_id=target.bot_id,
            conversation_id=target.conversation_id,
            chat_id=target.chat_id,
            thread_id=target.thread_id,
            position=self._position,
            turn_id=turn_id,
            part_no=number,
            kind=message.kind,
            text=text,
            entities=tuple(entities),
            reply_to_message_id=message.reply_to_message_id if first else None,
            edits_message_id=message.edits_message_id if first else None,
            after_message_id=self.high_water.top(target.chat_id),
        )

    def _buttons(self, target: Target, message: OutgoingMessage) -> tuple[dict[str, Any] | None, list[Statement]]:
        if not message.buttons:
            return (dict(message.keyboard) if message.keyboard else None), []
        group_id, now_ms = self._ids.new("g"), self._clock.now_ms()
        rows: list[list[dict[str, str]]] = []
        statements: list[Statement] = []
        for row in message.buttons:
            rows.append([])
            for button in row:
                button_id = self._ids.new("b")
                rows[-1].append({"text": button.label, "callback_data": button_id})
                values = {
                    "button_id": button_id,
                    "conversation_id": target.conversation_id,
                    "user_id": None if message.anyone_may_tap else target.user_id,
                    "group_id": group_id,
                    "action": button.action,
                    "payload_json": orjson.dumps(dict(button.payload)).decode(),
                    "expires_at_ms": now_ms + BUTTON_LIFE_MS,
                    "created_at_ms": now_ms,
                }
                statements.append(Statement("button_insert", values))
        return {"inline_keyboard": rows}, statements


def part_from(row: Row) -> Part:
    """Return the part that a row holds."""
    return Part(
        **{name: row[name] for name in _COLUMNS},
        message_id=row["message_id"],
        entities=tuple(orjson.loads(row["entities_json"])),
        markup=orjson.loads(row["markup_json"]) if row["markup_json"] else None,
    )
