"""Names of files for people: their own, else their kind with the first words of description or speech.

A picture goes by what was said of it: its name is mostly a camera's.
"""

from __future__ import annotations

from typing import Final

from bot import replies
from bot.files.rows import StoredFile
from bot.files.types import TEXT
from bot.intake.media import named_files, own_words
from bot.lines import bare, with_remarks
from bot.turns.services import Services
from bot.turns.steps.attachments import file_name
from memory.text import asks_at_the_end, shorten, whole_sentences

TITLE_CHARS: Final = 60


def is_picture(file: StoredFile) -> bool:
    """Whether a file is a picture, read or not."""
    return file.kind == "picture" or (file.media_type.startswith("image/") and not file.unit)


def picture_title(said: str, described: str) -> str:
    """The first sentence of the message that brought a picture, else of its description; "" for none.

    Words that ask (`What's this?`) or that came with several files name it only where it is not described.
    """
    caption = own_words(said)
    is_vague = asks_at_the_end(caption) or len(named_files(said)) > 1
    text = described if not caption or (described and is_vague) else caption
    return shorten(bare(next(iter(whole_sentences(text)), "")), TITLE_CHARS)


async def title_of(services: Services, file: StoredFile) -> str:
    """The title of a picture, else the name of a file or the first words of the message with it; "" for none.

    Of one of a private session its name alone: all other words stay there.
    """
    if file.private or (file.name and not is_picture(file)):
        return shorten(file.name, TITLE_CHARS)
    turn = await services.memory.store.turn(file.turn_id or "")
    said = turn.user_text if turn else ""
    if is_picture(file):
        return picture_title(said, file.described) or shorten(file.name, TITLE_CHARS)
    return shorten(file.described or own_words(said), TITLE_CHARS)


async def name_of(services: Services, file: StoredFile) -> str:
    """A file in a sentence: `your picture “Slip of the school for the class trip”`, `“lease.pdf”`."""
    title = await title_of(services, file)
    if not title or title == shorten(file.name, TITLE_CHARS):
        return file_name(file)
    kind = replies.say("file_kinds.picture" if is_picture(file) else f"file_kinds.{file.kind}")
    return f"{kind} {replies.say('file_called', name=title)}"


async def line_of(services: Services, file: StoredFile) -> str:
    """A file in the list: `2. Slip of the school for the class trip (picture, 40 KB)`."""
    title, called = await title_of(services, file), await name_of(services, file)
    is_told = is_picture(file) and title and called != file_name(file)
    kind = file.label if file.label != TEXT.label else ""  # its name says as much, and in no language
    if is_picture(file):
        kind = replies.say("file_picture") if title else ""
    what = ", ".join(filter(None, (kind, replies.size(file.size_bytes) if file.digest else "")))
    return f"{file.number}. {with_remarks(title if is_told else called, [what] if what else [])}"
