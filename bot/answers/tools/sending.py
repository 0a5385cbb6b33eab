"""The tool `send_file`: a text that the model writes, its answer before this one, or a file that was sent here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.answers.tools.desk import Desk, Refused
from bot.delivery.outbox import SENT_BACK, OutgoingMessage, file_back, text_file
from bot.intake.media import safe_name
from bot.tools.tool import CallContext, NotDone, Place, Tool, ToolResult
from memory.ports import Database

SEND_FILE: Final = "send_file"
MOST_FILES: Final = 5
MOST_CHARS: Final = 200_000
_TEXT: Final = {"type": "string"}
_PARAMETERS: Final = {
    "type": "object",
    "properties": {
        "name": _TEXT | {"description": "tiles.md, costs.csv"},
        "text": _TEXT | {"description": "Without: your last answer."},
        "number": {"type": "integer", "description": "Or theirs: 2 for #2."},
    },
}
_WORDS: Final = "Send a file under your answer, if they ask for one. Don't repeat it there."


async def _with_the_turn(_: Mapping[str, Any], __: CallContext) -> ToolResult:
    raise NotDone("it is sent with the turn")


TOOL: Final = Tool(SEND_FILE, _WORDS, _PARAMETERS, _with_the_turn, reads_only=True, trusted=True, with_turn=True)


async def offered(_: Place) -> Sequence[Tool]:
    """The tool, everywhere."""
    return (TOOL,)


class SendTool:
    """The files that one turn sends: messages of its answer, committed with it and sent once."""

    def __init__(self, desk: Desk, db: Database) -> None:
        self._desk = desk
        self._db = db
        self._sent: dict[str, OutgoingMessage] = {}
        """By the part's text: the same call again sends nothing more."""

    @property
    def messages(self) -> tuple[OutgoingMessage, ...]:
        """Messages sent behind the answer."""
        return tuple(self._sent.values())

    async def send(self, given: Mapping[str, Any]) -> str:
        """Send one file; return the sentence for the model. Raises `Refused`, `StorageUnavailable`."""
        number, text = given.get("number"), str(given.get("text") or "")
        message = await self._back(number) if type(number) is int else await self._written(given, text)
        if message.text not in self._sent and len(self._sent) >= MOST_FILES:
            raise Refused(f"Not sent: {MOST_FILES} files are enough for one answer.")
        self._sent[message.text] = message
        return "It is sent under your answer."

    async def _back(self, number: int) -> OutgoingMessage:
        """A file that somebody sent here. Raises `Refused`."""
        row = await self._db.read_one("file_of_number", conversation_id=self._desk.ask.conversation_id, number=number)
        if row is None or row["kind"] not in SENT_BACK or row["state"] == "expired":
            raise Refused("Not sent: there is no such file any more, or none of a kind that can be sent back.")
        return file_back(row["kind"], row["telegram_id"], row["name"] or f"#{number}")

    async def _written(self, given: Mapping[str, Any], text: str) -> OutgoingMessage:
        """A text as a file; without one the answer before. Raises `Refused`."""
        before = self._desk.ask.packet.history[-1:]
        row = await self._db.read_one("get_turn", turn_id=before[0].turn_id) if before and not text.strip() else None
        text = text if text.strip() else row["assistant_text"] if row else ""
        if not text.strip():
            raise Refused("Not sent: give text, there is no answer before this one.")
        if len(text) > MOST_CHARS:
            raise Refused(f"Not sent: at most {MOST_CHARS:,} characters.")
        return text_file(safe_name(str(given.get("name") or "")), text)
