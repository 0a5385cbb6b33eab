"""Files of a message before it is answered: fetched, read, told to the model, and to the person what could not be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot import replies
from bot.answers.responder import Answer, Picture
from bot.delivery.outbox import Button, OutgoingMessage
from bot.files.finding import TITLE, Reach
from bot.files.passages import spans
from bot.files.rows import StoredFile
from bot.files.shelf import FilePlace
from bot.intake.media import named_files, own_words
from bot.turns.services import Services
from memory.context.transcript import clip
from memory.ports import Statement
from memory.types import ConversationContextPacket, SessionState

ATTACHED_SHARE: Final = 3
"""Of the prompt a third is for a document that came with the message."""
FOUND_SHARE: Final = 6
"""And a sixth for what others that were sent before say to it."""
MEGABYTE: Final = 1_000_000
MOST_PICTURES: Final = 10
"""As many as an album has."""
RECENT_TURNS: Final = 2
"""A picture is shown again with the next two messages: what is asked behind it is about it."""
AGAIN: Final = 2
DESCRIBED_CHARS: Final = 300
PICTURE_NUMBER: Final = re.compile(r"(?:picture|video|GIF|document) #(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Material:
    """What a message is with its files."""

    text: str
    told: str = ""
    """What they say, for the prompt."""
    notices: tuple[str, ...] = ()
    """What the person has to know of them."""
    files: tuple[StoredFile, ...] = ()
    """The files that it brings or names."""
    reach: Reach | None = None
    """Which files may be told of."""
    is_answer: bool = False
    """True when that is all there is to say: nothing was written, and nothing could be read."""

    @property
    def title(self) -> str:
        """What stands above it."""
        return TITLE if self.told else ""

    def messages(self, reply_to_message_id: int | None) -> list[OutgoingMessage]:
        """That, as messages."""
        return [OutgoingMessage(text, reply_to_message_id=reply_to_message_id) for text in self.notices]


NOTHING: Final = Material("")


def unreachable(turn_id: str) -> OutgoingMessage:
    """What is said when a file cannot be fetched just now, with the button that tries again."""
    button = Button(replies.say("try_again"), "answer_parked", {"turn_id": turn_id})
    return OutgoingMessage(replies.say("file_unreachable"), buttons=((button,),))


async def material(services: Services, text: str, turn_id: str, state: SessionState, *, alone: bool) -> Material:
    """Have the files of a message here and read, and find what others say to it; `alone` only those of this session.

    Raises `NotFetched` when Telegram cannot be reached just now, `StorageUnavailable`.
    """
    room, conversation_id = services.files, state.conversation_id
    place = FilePlace(conversation_id, turn_id, state.session_id, state.private)
    with services.waiting.on(turn_id):  # who dies while a file comes is not to blame
        brought = await room.shelf.bring(text, place)
    notices = tuple(_sentence(file) for file in brought.troubled)
    nothing = bool(brought.new) and not any(file.is_read for file in brought.files) and not own_words(text)
    if nothing:
        return Material(brought.text, notices=notices, is_answer=True)
    most = services.settings.continuity_context_tokens
    reach = Reach(conversation_id, state.session_id if alone else None)
    told = await room.finder.told(
        brought.text,
        brought.files,
        reach,
        most_tokens=most // ATTACHED_SHARE,
        found_tokens=most // FOUND_SHARE,
    )
    return Material(brought.text, told, notices, brought.files, reach)


async def pictures_for(services: Services, found: Material, packet: ConversationContextPacket) -> tuple[Picture, ...]:
    """The pictures that the model is shown: those of the message, else those of the turns just before or found for it.

    Raises `StorageUnavailable`.
    """
    shelf, reach = services.files.shelf, found.reach
    if reach is None or not shelf.limits.sees:
        return ()
    files = [file for file in found.files if file.is_picture]
    if not files:
        before = "\n".join(turn.user_text for turn in packet.history[-RECENT_TURNS:])
        spoken_of = (before, *(item.text for item in packet.retrieved))
        numbers = list(dict.fromkeys(int(each) for text in spoken_of for each in PICTURE_NUMBER.findall(text)))
        known = [await shelf.find(reach.conversation_id, number) for number in numbers[-AGAIN:]]
        files = [file for file in known if file and file.is_picture and reach.has(file)]
    shown = [await shelf.picture(file) for file in files[:MOST_PICTURES]]
    return tuple(Picture("image/jpeg", data) for data in shown if data)


def described(found: Material, answer: Answer) -> list[Statement]:
    """What keeps the beginning of an answer as the description of the picture that it was about."""
    pictures = [file for file in found.files if file.is_picture and not file.described]
    if len(pictures) != 1 or answer.model is None or answer.footnotes:
        return []
    return [
        Statement("file_described", {"file_id": pictures[0].file_id, "described": clip(answer.text, DESCRIBED_CHARS)})
    ]


def has_files(text: str) -> bool:
    """Whether a message brings or names files."""
    return bool(named_files(text))


def file_name(file: StoredFile) -> str:
    """How people are told of a file: by its name, else by what it is."""
    return replies.say("file_called", name=file.name) if file.name else replies.say(f"file_kinds.{file.kind}")


def _sentence(file: StoredFile) -> str:
    """What the person is told of a file that was not read, or not as a whole."""
    called = file_name(file)
    if file.why == "place":
        return replies.say("picture_place", file=called)
    if not file.is_read:
        return replies.say(f"file_unread.{file.why}", file=called, **_figures(file))
    parts: list[str] = []
    if file.why:
        read, _, total = file.detail.partition(" of ")
        parts.append(replies.say("file_part", file=called, read=read, total=total))
    if file.blank:
        parts.append(replies.say("file_blank", file=called, pages=spans(file.blank)))
    return " ".join(parts)


def _figures(file: StoredFile) -> dict[str, str]:
    return {"size": megabytes(file.size_bytes), "what": file.detail}


def megabytes(size_bytes: int) -> str:
    """A size for people: `0.4 MB`, `16 MB`."""
    size = size_bytes / MEGABYTE
    return f"{size:.0f} MB" if size >= 10 else f"{max(size, 0.1):.1f} MB"  # noqa: PLR2004
