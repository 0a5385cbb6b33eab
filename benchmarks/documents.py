"""How often what answers a question about a document stands in what the model is given, under its page.

    .venv/bin/python -m benchmarks.documents

Twenty documents are sent, each with its first question; then every question is asked alone: at once, and once more
after the process has been started again and the conversation was compacted, behind /fresh, where nothing of it may
come, and behind the /continue that brings it back. A text that a person reads on one page of
a file without pages counts under any. A page of a scan counts when its picture is given, so a scan is missed whenever
its questions are asked alone.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.papers_asked import Asked, Paper, papers
from bot.files.finding import TITLE, Reach
from bot.files.passages import MOST_PAGES
from bot.files.room import build_room
from bot.files.rows import StoredFile
from bot.files.shelf import FilePlace
from bot.intake.media import SentFile, waiting_line
from bot.pauses import FULL
from bot.settings import Settings
from bot.tables import (
    BOT_TABLES,
    place_of,  # noqa: F401 - what it measures is searched there
)
from bot.turns.steps.attachments import ATTACHED_SHARE, FOUND_SHARE
from memory.context.occasion import Reserved
from memory.context.packet_text import prompt
from memory.opening import ConversationMemory
from memory.ports import Statement

CHAT = "tg:1:7:0"
OTHER_TURNS = 60
CAP = 6150
NOTHING_ASKED = (
    "What's for dinner?",
    "Morgen wird es regnen.",
    "Thanks, that was lovely!",
    "Tell me a joke about cats.",
)


class Links:
    """Hands files over as a Bot API server of one's own does: by their paths."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def get_file(self, file_id: str) -> object:
        """Return where a file lies."""
        return type("Link", (), {"file_path": str(self.folder / file_id)})()


def holds(given: str, paper: Paper, asked: Asked) -> bool:
    """Whether the answer stands in what is given, behind the mark of its page and before the next one."""
    at = 0
    flat = re.sub(r"\s+", " ", given)
    answer = re.sub(r"\s+", " ", asked.answer)
    while (at := flat.find(answer, at)) >= 0:
        marks = re.findall(r"\[(?:page|sheet|slide|chapter|part) (\d+)\]", flat[:at])
        named = flat.rfind(f"“{paper.name}”", 0, at) >= 0
        if named and marks and asked.page in (0, int(marks[-1])):
            return True
        at += 1
    return False


async def opened(folder: Path) -> tuple[ConversationMemory, object]:
    """Open memory and files of a folder."""
    settings = Settings(
        _env_file=None,
        telegram_api_url="http://127.0.0.1:9",
        continuity_database_url=f"sqlite:///{folder / 'bot.db'}",
        continuity_file_max_bytes=10**9,
        continuity_model="openai:never-asked",
        openai_api_key="none",
    )
    memory = await ConversationMemory.open(
        settings.continuity_database_url, checkpoints=folder / "c", extensions=[BOT_TABLES], embedder=None
    )
    return memory, build_room(settings, memory, Links(folder / "sent"), FULL)


async def given_for(
    memory: ConversationMemory, room: object, text: str, files: tuple = (), session_id: str | None = None
) -> str:
    """The whole prompt for a message; with a session that one was started fresh."""
    files_told = await room.finder.told(  # type: ignore[attr-defined]
        text, files, Reach(CHAT, session_id), most_tokens=CAP // ATTACHED_SHARE, found_tokens=CAP // FOUND_SHARE
    )
    told = files_told.text
    pending = await memory.begin(
        CHAT, text, user_id=7, reserved=Reserved(files=told, files_title=TITLE if told else "")
    )
    return "\n".join(message.text for message in prompt(pending.packet, text))


async def is_pictured(room: object, file: StoredFile, asked: Asked) -> bool:
    """Whether the page of a scan that answers a question is among the pictures that a model is shown with it."""
    shown = file.blank[:MOST_PAGES]
    return asked.page in shown and len(await room.readings.pages(file, shown)) == len(shown)  # type: ignore[attr-defined]


async def run(made: Sequence[Paper], other_turns: int = OTHER_TURNS) -> dict[str, object]:
    """The shares for these documents, with so many turns about something else before the restart."""
    folder = Path(tempfile.mkdtemp())
    (folder / "sent").mkdir()
    asked = [(paper, each) for paper in made for each in paper.asked]
    memory, room = await opened(folder)
    with_it: list[tuple[Paper, Asked, bool]] = []
    for number, paper in enumerate(made, 1):
        (folder / "sent" / f"f{number}").write_bytes(paper.data)
        file = SentFile(f"f{number}", f"u{number}", "document", number, paper.name, "", len(paper.data))
        where = {"file_id": f"1:7:{number}", "bot_id": 1, "conversation_id": CHAT, "chat_id": 7, "user_id": 7}
        names = ("telegram_id", "unique_id", "kind", "message_id", "name", "media_type", "size_bytes", "seconds")
        values = {name: getattr(file, name) for name in names}
        await memory.db.write(Statement("file_want", {**where, **values, "received_at_ms": number}))
        state = await memory.session(CHAT, 7)
        text = f"{waiting_line(file)}\n{paper.asked[0].question}"
        brought = await room.shelf.bring(text, FilePlace(CHAT, f"t_{number}", state.session_id))  # type: ignore[attr-defined]
        assert brought.files[0].is_read, (paper.name, brought.files[0].reason)
        for each in paper.asked:
            message = f"{brought.files[0].line()}\n{each.question}"
            held = holds(await given_for(memory, room, message, brought.files), paper, each)
            with_it.append((paper, each, held or await is_pictured(room, brought.files[0], each)))
    at_once = [(p, a, holds(await given_for(memory, room, a.question), p, a)) for p, a in asked]
    idle = [len(await given_for(memory, room, text)) for text in NOTHING_ASKED]
    quiet = sum(["found in it" not in await given_for(memory, room, text) for text in NOTHING_ASKED])
    for number in range(other_turns):
        text = f"Something else, number {number}: " + "the boat needs a new coat of paint before Easter. " * 6
        pending = await memory.begin(CHAT, text, user_id=7)
        await pending.record("I see. " + "It was dry in March, so the paint would hold. " * 6)
        await memory.make_room(pending)
    session_id = (await memory.session(CHAT, 7)).session_id
    compactions = len(await memory.db.read("compactions", session_id=session_id, limit=100))
    await memory.rest()
    await memory.close()
    memory, room = await opened(folder)
    after = [(p, a, holds(await given_for(memory, room, a.question), p, a)) for p, a in asked]
    here = (await memory.fresh(CHAT, user_id=7)).session_id
    fresh = [(p, a, holds(await given_for(memory, room, a.question, session_id=here), p, a)) for p, a in asked]
    await memory.resume(CHAT, session_id)
    back = [(p, a, holds(await given_for(memory, room, a.question), p, a)) for p, a in asked]
    await memory.close()
    if "-v" in sys.argv:
        for name, found in (("with", with_it), ("at once", at_once), ("after", after)):
            for paper, each, held in found:
                if not held:
                    print(name, "|", paper.name, "|", each.question)
    share = {
        name: round(sum(h for *_, h in found) / len(found), 3)
        for name, found in (
            ("with_the_document", with_it),
            ("asked_alone", at_once),
            ("after_restart_and_compaction", after),
            ("behind_fresh", fresh),
            ("behind_continue", back),
        )
    }
    return {
        "documents": len(made),
        "compactions": compactions,
        "questions": len(asked),
        **share,
        "quiet": f"{quiet}/{len(NOTHING_ASKED)}",
        "chars": idle,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(papers())), indent=1))
