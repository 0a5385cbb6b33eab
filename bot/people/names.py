"""Names of people and groups, for the console and the operator's commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from bot.people.choices import choices_in, names_in
from memory.ports import Database

COLOURS: Final = 8


@dataclass(frozen=True, slots=True)
class ChatName:
    """One chat as a person would point at it."""

    name: str
    """The name of the person or the group, e.g. `Sam`, `Flat`, `Flat, topic 12`."""
    initials: str
    """One or two letters, e.g. `S`, `FT`."""
    colour: int
    """0 to 7, always the same for a chat."""
    place: str
    """Its ids, to look it up elsewhere: `Telegram chat 4711`."""


class Names:
    """The names that stood in the database at one moment; read anew for each page."""

    def __init__(self, by_id: Mapping[int, str]) -> None:
        self._by_id = by_id

    def person(self, user_id: int | None) -> str:
        """The name of a person; "" when nobody knows it."""
        return self._by_id.get(user_id, "") if user_id is not None else ""

    def like(self, words: str) -> list[int]:
        """The people and groups whose name or number holds these words, whole names first."""
        wanted = words.casefold()
        found = [whose for whose, name in self._by_id.items() if wanted in (name.casefold(), str(whose))]
        return found + [
            whose for whose, name in self._by_id.items() if wanted in name.casefold() and whose not in found
        ]

    def chat(self, conversation_id: str) -> ChatName:
        """The name of a conversation; its number stands for a name that is not known (yet).

        >>> Names({7: "Sam Field"}).chat("tg:1:7:0").initials
        'SF'
        """
        parts = conversation_id.split(":")
        if len(parts) != 4 or not _is_whole(parts[2]):  # noqa: PLR2004 - tg:<bot>:<chat>:<thread>
            return ChatName(conversation_id or "no chat", "?", 0, conversation_id)
        chat_id, topic = int(parts[2]), "" if parts[3] == "0" else f", topic {parts[3]}"
        over_http = chat_id >= 1 << 60
        kind = "HTTP session" if over_http else "Group" if chat_id < 0 else "Telegram chat"
        number = str(chat_id)[-6:] if over_http else str(chat_id)
        known = self._by_id.get(chat_id, "")
        name = (known or f"{kind} {number}") + topic
        colour = crc32(str(chat_id).encode()) % COLOURS
        return ChatName(name, initials(known) or "#", colour, f"{kind} {chat_id}{topic}")


def initials(name: str) -> str:
    """The first letters of the first and the last word, e.g. `SF` of `Sam van Field`; "" of no word."""
    words = [word for word in name.split() if word[0].isalnum()]
    return "".join(word[0].upper() for word in (*words[:1], *words[1:][-1:]))


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal()


async def read_names(db: Database) -> Names:
    """Read the names of everybody who was seen to write. Raises `StorageUnavailable`."""
    rows = await db.read("people_all")
    return Names(names_in({row["user_id"]: choices_in(row["settings_json"]) for row in rows}))
