"""Files of a message before it is answered: fetched, read, told to the model; failures are told to the person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot import replies
from bot.answers.responder import Picture
from bot.delivery.outbox import OutgoingMessage, Target
from bot.delivery.streaming import mode_for
from bot.files.fetch import NotFetched
from bot.files.finding import TITLE, Reach
from bot.files.hearing.errors import NotHeard
from bot.files.passages import MOST_PAGES, spans
from bot.files.readings import HeardBy
from bot.files.room import FileRoom
from bot.files.rows import StoredFile
from bot.files.shelf import Brought, FilePlace
from bot.intake.media import named_files, own_words
from bot.lines import is_group
from bot.people.choices import LANGUAGE
from bot.sentences import base_of
from bot.turns.parked import try_again
from bot.turns.services import Services
from memory.packets import ConversationContextPacket
from memory.text import shorten
from memory.types import SessionState

ATTACHED_SHARE: Final = 3
"""Of the prompt a third is for a document that came with the message."""
FOUND_SHARE: Final = 6
"""Of the prompt a sixth is for passages of earlier files that bear on the message."""
MOST_PICTURES: Final = 10
"""As many as an album has."""
AGAIN: Final = 2
"""At most so many pictures that came before are shown again: the last ones."""
HEARD_CHARS: Final = 200
"""Of a long voice message so much is shown."""
PICTURE_NUMBER: Final = re.compile(r"(?:picture|video|GIF|document) #(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Material:
    """A message with its files."""

    text: str
    told: str = ""
    """Their text, for the prompt."""
    notices: tuple[OutgoingMessage, ...] = ()
    """Sentences about them for the person."""
    is_unsure: bool = False
    """True when something in the text was heard by a program that doubts it."""
    files: tuple[StoredFile, ...] = ()
    """The files that it brings or names."""
    reach: Reach | None = None
    """The bounds within which files may be told of."""
    asked_about: tuple[StoredFile, ...] = ()
    """Pictures that were sent before and that it asks about."""
    is_answer: bool = False
    """True when that is all there is to say: nothing was written, and nothing could be read."""

    @property
    def title(self) -> str:
        """The heading above it."""
        return TITLE if self.told else ""

    def messages(self, reply_to_message_id: int | None) -> list[OutgoingMessage]:
        """The notices as messages."""
        return [replace(notice, reply_to_message_id=reply_to_message_id) for notice in self.notices]


NOTHING: Final = Material("")


def unreachable(turn_id: str, error: NotFetched | NotHeard) -> OutgoingMessage:
    """The sentence when a file cannot be fetched or listened to just now, with the button that tries again."""
    key = f"not_heard.{error.why}" if isinstance(error, NotHeard) else "file_unreachable"
    return OutgoingMessage(replies.say(key), buttons=((try_again(turn_id),),))


@dataclass(frozen=True, slots=True)
class FileTurn:
    """The turn whose files are wanted."""

    turn_id: str
    state: SessionState
    target: Target
    alone: bool = False
    """True when no file of another session may be told of."""
    searches: bool = True
    """False for the words of a button: no file bears on them."""


async def material(services: Services, text: str, turn: FileTurn) -> Material:
    """Have the files of a message here and read, and find passages of others that bear on it.

    Raises `NotFetched` or `NotHeard` when that cannot be done just now, `StorageUnavailable`.
    """
    room, conversation_id = services.files, turn.state.conversation_id
    brought = await _brought(services, text, turn) if has_files(text) else Brought(text)
    notices = tuple(OutgoingMessage(_sentence(file, sees=room.readings.sees)) for file in brought.troubled)
    if brought.spoken:
        notices = (*await _heard(room, brought.spoken, conversation_id), *notices)
    nothing = bool(brought.new) and not any(file.is_read for file in brought.files) and not own_words(text)
    if nothing:
        return Material(brought.text, notices=notices, is_answer=True)
    most = services.settings.continuity_context_tokens
    reach = Reach(conversation_id, turn.state.session_id if turn.alone else None)
    told = await room.finder.told(
        brought.text if turn.searches else "",
        brought.files,
        reach,
        most_tokens=most // ATTACHED_SHARE,
        found_tokens=most // FOUND_SHARE,
    )
    is_unsure = any(file.why == "unsure" for file in brought.spoken)
    return Material(brought.text, told.text, notices, is_unsure, brought.files, reach, told.asked_about)


async def _brought(services: Services, text: str, turn: FileTurn) -> Brought:
    """The files that a text names, here and read; who waits sees that it goes on. Raises as `material` does."""
    language = base_of(str((await services.people.choices(turn.target.user_id)).get(LANGUAGE) or ""))
    is_private = not is_group(turn.state.conversation_id)
    mode = mode_for(services.settings.continuity_streaming, private=is_private)
    async with services.previews.live(turn.target, turn.turn_id, mode if mode == "draft" else "off", None) as live:

        def progress(until_s: float, seconds: int) -> None:
            if until_s < seconds:
                live.grow(replies.say("hearing", done=round(until_s / 60), total=round(seconds / 60)))

        session_id, is_kept_apart = turn.state.session_id, turn.state.private
        by = HeardBy(language, progress)
        place = FilePlace(turn.state.conversation_id, turn.turn_id, session_id, is_kept_apart, by)
        with services.waiting.on(turn.turn_id):  # who dies while a file comes is not to blame
            return await services.files.shelf.bring(text, place)


async def _heard(room: FileRoom, spoken: Sequence[StoredFile], conversation_id: str) -> list[OutgoingMessage]:
    """The lines that show the words heard; the first in a chat tells how to correct them, and each doubtful one."""
    before = [file for file in await room.shelf.all(conversation_id) if file.is_spoken and file not in spoken]
    found: list[OutgoingMessage] = []
    for file in spoken:
        key = "heard_unsure" if file.why == "unsure" else "heard" if before or found else "heard_first"
        text = replies.say(key, text=shorten(await room.readings.spoken(file), HEARD_CHARS))
        found.append(OutgoingMessage(text, kind=f"heard {file.number}"))
    return found


@dataclass(frozen=True, slots=True)
class SeenPictures:
    """The pictures that the model sees with a message."""

    pictures: tuple[Picture, ...] = ()
    notices: tuple[str, ...] = ()
    """Sentences on missing pictures, for the model."""


async def pictures_for(services: Services, found: Material, packet: ConversationContextPacket) -> SeenPictures:
    """The pictures of the message, else those of the message just before, and those that it asks about.

    Of all others their description is told where it bears on it, and `look_at` shows them. Raises `StorageUnavailable`.
    """
    readings, reach = services.files.readings, found.reach
    if reach is None or not readings.sees:
        return SeenPictures()
    files = [file for file in found.files if file.is_picture][:MOST_PICTURES]
    again = [] if files else [*await _just_sent(services, reach, packet), *found.asked_about]
    again = list({file.number: file for file in again}.values())[-AGAIN:]
    seen = [(file, data) for file in again if (data := await readings.picture(file))]
    shown = [await readings.picture(file) for file in files] + [data for _, data in seen]
    for file in found.files:
        if file.blank and file.is_read:
            shown += await readings.pages(file, file.blank[:MOST_PAGES])
    names = ", ".join(file.called() for file, _ in seen)
    notices = (f"Shown to you once more, in this order, and sent before: {names}.",) if names else ()
    return SeenPictures(tuple(Picture("image/jpeg", data) for data in shown if data), notices)


async def _just_sent(services: Services, reach: Reach, packet: ConversationContextPacket) -> list[StoredFile]:
    """The pictures of the message before: a question behind one is about it."""
    before = packet.history[-1].user_text if packet.history else ""
    numbers = dict.fromkeys(map(int, PICTURE_NUMBER.findall(before)))
    known = [await services.files.shelf.find(reach.conversation_id, number) for number in numbers]
    return [file for file in known if file and file.is_picture and reach.has(file)]


def has_files(text: str) -> bool:
    """Whether a message brings or names files."""
    return bool(named_files(text))


def file_name(file: StoredFile) -> str:
    """A file's name for people, else its kind."""
    return replies.say("file_called", name=file.name) if file.name else replies.say(f"file_kinds.{file.kind}")


def _sentence(file: StoredFile, *, sees: bool) -> str:
    """The sentence about a file that was not read, or not as a whole."""
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
        key = "file_scans" if sees and file.label == "PDF" else "file_blank"
        parts.append(replies.say(key, file=called, pages=spans(file.blank)))
    return " ".join(parts)


def _figures(file: StoredFile) -> dict[str, str]:
    return {"size": replies.size(file.size_bytes), "what": file.detail}
