"""A row of `files` as the rest works with it, and the statements that change it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import orjson

from bot.files.passages import Passage, spans
from bot.files.types import FileType
from bot.intake.media import OWN_VOICE, numbered_line
from bot.tables import place_of
from memory.ports import Row, Statement
from memory.search.languages import Languages
from memory.search.searcher import index_turn
from memory.types import ConversationTurn

_WORDS: Final = {
    "too_big": "it is larger than is taken",
    "quota": "the person's room for files is used up",
    "expired": "Telegram does not have it any more",
    "unreachable": "it could not be fetched",
    "empty": "there is nothing in it",
    "locked": "it is locked with a password",
    "damaged": "it is damaged",
    "bomb": "it is made to fill a machine up",
    "memory": "reading it takes more memory than there is for it",
    "time": "reading it takes too long",
    "blank": "there is no text in it, only pictures of text perhaps",
    "kind": "files of its kind cannot be read",
    "no_model": "there is no model that sees pictures",
    "deaf": "nobody here turns speech into text",
    "silent": "nobody is heard speaking",
    "too_long": "it is longer than is listened to",
}
"""Reasons why a file was not read, for the model; for people the same words have sentences in `bot/languages`."""
_SPOKEN: Final = {
    "": "spoken, {time}, written down by a program",
    "unsure": "spoken, {time}, written down by a program that is not sure that it heard right",
    "corrected": "spoken, {time}, put right by the person",
}
_UNITS: Final = {
    "minute": "minutes",
    "page": "pages",
    "sheet": "sheets",
    "slide": "slides",
    "chapter": "chapters",
    "part": "parts",
}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file that somebody sent."""

    file_id: str
    conversation_id: str
    message_id: int
    user_id: int | None
    number: int | None
    turn_id: str | None
    session_id: str | None
    private: int
    """1 when no other session may be told of it."""
    telegram_id: str
    kind: str
    name: str
    media_type: str
    size_bytes: int
    seconds: int
    digest: str
    state: str
    reason: str
    unit: str
    pages: int
    blank: tuple[int, ...]
    described: str
    received_at_ms: int

    @property
    def why(self) -> str:
        """The reason why it was not read, or only in part; "" when it was."""
        return self.reason.partition(" ")[0]

    @property
    def detail(self) -> str:
        """The label or number that `why` is about."""
        return self.reason.partition(" ")[2]

    @property
    def is_read(self) -> bool:
        """True when there is something of it to tell."""
        return self.state == "read"

    @property
    def is_picture(self) -> bool:
        """True for pictures, which a model that sees can look at."""
        return self.is_read and self.media_type.startswith("image/") and not self.unit

    @property
    def is_own_voice(self) -> bool:
        """True for a recording that the person spoke; one that they forward bears the name of somebody else."""
        return self.kind in OWN_VOICE and not self.name

    @property
    def is_spoken(self) -> bool:
        """True for the person's own recording, once its words are known."""
        return self.is_own_voice and self.is_read

    @property
    def label(self) -> str:
        """Its kind in a word: PDF, Word, text."""
        return self.media_type.rpartition("|")[2]

    def called(self) -> str:
        """Its name for the model: `document #2 “lease.pdf”`."""
        return numbered_line(self.kind, self.number or 0, self.name, "").removeprefix("> ")

    def line(self) -> str:
        """Its line in the text of the message that brought it."""
        return numbered_line(self.kind, self.number or 0, self.name, self.said())

    def said(self) -> str:
        """The file in a line, for the model: `PDF, 12 pages; no text on pages 3, 5-7`."""
        if not self.is_read:
            return f"not read: {_WORDS.get(self.why, 'it could not be read')}"
        if self.is_own_voice:
            return _SPOKEN.get(self.why, _SPOKEN[""]).format(time=f"{self.seconds // 60}:{self.seconds % 60:02}")
        counted = f"{self.pages} {_UNITS[self.unit] if self.pages != 1 else self.unit}" if self.unit else ""
        known = ", ".join(filter(None, (self.label, counted)))
        parts = [known]
        if self.blank:
            parts.append(f"no text on {_UNITS.get(self.unit, 'pages')} {spans(self.blank)}")
        if self.why == "unsure":
            parts.append("written down by a program that is not sure that it heard right")
        if self.why in ("long", "time", "memory", "damaged"):
            parts.append(f"only {self.detail} could be read")
        return "; ".join(filter(None, parts))


_COLUMNS: Final = tuple(field.name for field in fields(StoredFile) if field.name != "blank")


def spoken_name(name: str) -> str:
    """The words of a file's name, by which people ask for it: `lease_2026-final.pdf` → `lease 2026 final`."""
    return " ".join(re.findall(r"[^\W_]+", name.rpartition(".")[0] or name))


def read_row(row: Row) -> StoredFile:
    """The file in a row of the database."""
    return StoredFile(**{name: row[name] for name in _COLUMNS}, blank=tuple(orjson.loads(row["blank_json"])))


def typed(found: FileType) -> str:
    """A type as the column `media_type` holds it, with people's name for it behind a bar."""
    return f"{found.media_type}|{found.label}"


def failed(file: StoredFile, why: str, detail: str = "", *, keeps: bool = False, pages: int = 0) -> Statement:
    """The statement that notes that a file was not read, and lets go of its bytes unless it `keeps` them."""
    state = "expired" if why == "expired" else "failed"
    digest = file.digest if keeps else ""
    reason = f"{why} {detail}".strip()
    return Statement(
        "file_failed", {"file_id": file.file_id, "digest": digest, "state": state, "reason": reason, "pages": pages}
    )


def passage_rows(file: StoredFile, passages: Sequence[Passage]) -> list[Statement]:
    """The statements that store passages."""
    return [
        Statement(
            "file_passage_put",
            {
                "passage_id": f"{file.file_id}/{passage.position}",
                "file_id": file.file_id,
                "position": passage.position,
                "page": passage.page,
                "text": passage.text,
            },
        )
        for passage in passages
    ]


def passages_of(rows: Sequence[Row]) -> list[Passage]:
    """The passages in rows of `file_passages`."""
    return [Passage(row["position"], row["page"], row["text"]) for row in rows]


def index_rows(file: StoredFile, passages: Sequence[Passage], language: str, languages: Languages) -> list[Statement]:
    """The statements that make passages findable."""
    rows: list[Statement] = []
    for passage in passages:
        searched = ConversationTurn(
            turn_id=f"{file.file_id}/{passage.position}",
            session_id=file.file_id,
            conversation_id=place_of(file.conversation_id),
            seq=passage.position + 1,
            user_id=file.user_id,
            user_text=f"{spoken_name(file.name)}\n{passage.text}",
            assistant_text="",
            language=language,
            created_at_ms=file.received_at_ms,
        )
        rows.append(index_turn(searched, languages))
    return rows
