"""Names of files for people: their own, else their kind with the first words of description or speech."""

from __future__ import annotations

from typing import Final

from bot import replies
from bot.files.rows import StoredFile
from bot.intake.media import own_words
from bot.turns.services import Services
from bot.turns.steps.attachments import file_name
from memory.text import shorten

TITLE_CHARS: Final = 60


async def title_of(services: Services, file: StoredFile) -> str:
    """The name of a file, else the first words of its description, or of the message with it; "" for none.

    Of one of a private session its name alone: all other words stay there.
    """
    if file.private:
        return shorten(file.name, TITLE_CHARS)
    turn = None if file.name or file.described else await services.memory.store.turn(file.turn_id or "")
    text = file.name or file.described or (own_words(turn.user_text) if turn else "")
    return shorten(text, TITLE_CHARS)


async def name_of(services: Services, file: StoredFile) -> str:
    """A file in a sentence: `your picture “Slip of the school for the class trip”`, `“lease.pdf”`."""
    title = "" if file.name else await title_of(services, file)
    return f"{file_name(file)} {replies.say('file_called', name=title)}" if title else file_name(file)
