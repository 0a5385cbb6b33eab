"""Everything that works with files, built once: the shelf, and the finder of its passages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bot.files.fetch import Fetcher, FileLinks
from bot.files.finding import FENCE_CHARS, FileFinder
from bot.files.hearing.child import ListeningChild
from bot.files.hearing.listener import Listener
from bot.files.hearing.server import ListeningServer
from bot.files.hearing.sound_server import sound_server
from bot.files.reader import Reader
from bot.files.readings import Kept, Readings, at_once
from bot.files.shelf import FileShelf, Limits
from bot.files.store import Blobs, FolderBlobs, TableBlobs
from bot.files.tools import FileTools
from bot.pauses import Pauses
from bot.settings import Settings
from bot.settings.model_names import read_sound_model
from memory.opening import ConversationMemory
from memory.ports import Database
from memory.search.question import WEIGHTS
from memory.search.searcher import Searcher

IN_FILES: Final = replace(
    WEIGHTS,
    framing=1.0,
    doubled=0.0,
    session=0.0,
    answers=0.0,
    role=0.0,
    assistant=0.0,
    open_question_assistant=0.0,
    question=0.0,
    date=0.0,
    when=0.0,
    next_1=0.1,
    before_1=0.1,
    next_2=0.0,
    before_2=0.0,
)
"""A document is no talk: nobody asks or answers in it, "notice" is a word like any other, and its neighbours
lend a passage little. `benchmarks/documents.py` measures it."""


@dataclass(frozen=True, slots=True)
class FileRoom:
    """The shelf of files, their readings and the finder."""

    shelf: FileShelf
    readings: Readings
    finder: FileFinder
    tools: FileTools


def blobs_for(settings: Settings, db: Database) -> Blobs:
    """Return where bytes are kept: in a folder, or in the database where that is a server's."""
    return FolderBlobs(db, settings.files_dir) if settings.database_file else TableBlobs(db)


def listener_for(settings: Settings, pauses: Pauses) -> Listener | None:
    """Return who listens to recordings, None for nobody."""
    model, silent_s = read_sound_model(settings.continuity_transcribe), settings.continuity_model_timeout_s
    if model is None:
        return None
    if model.is_local:
        return ListeningChild(Path(model.name), silent_s)
    server = sound_server(settings.continuity_transcribe_url, settings.continuity_transcribe_key, silent_s)
    return ListeningServer(server, model.name, pauses)


def build_room(
    settings: Settings, memory: ConversationMemory, links: FileLinks, pauses: Pauses, kept: Kept = at_once
) -> FileRoom:
    """Return the parts, joined; nothing is opened yet."""
    token = settings.telegram_bot_token
    address = settings.telegram_api_url.rstrip("/")
    fetcher = Fetcher(
        bot=links,
        api_url=address,
        files_url=f"{address}/file/bot{token.get_secret_value() if token else ''}",
        most_bytes=settings.continuity_file_max_bytes,
        pauses=pauses,
    )
    limits = Limits(settings.continuity_file_max_bytes, settings.continuity_files_quota_bytes)
    blobs = blobs_for(settings, memory.db)
    readings = Readings(
        memory.db,
        blobs,
        reader=Reader(),
        listener=listener_for(settings, pauses),
        languages=memory.languages,
        sees=settings.by_model and settings.continuity_vision != "off",
        kept=kept,
    )
    shelf = FileShelf(memory.db, blobs, fetcher, readings, limits)
    searcher = Searcher(memory.db, memory.languages, counter=memory.counter, weights=IN_FILES)
    finder = FileFinder(memory.db, shelf, searcher, memory.counter)
    tools = FileTools(finder, readings, settings.continuity_tool_output_max_chars - FENCE_CHARS)
    return FileRoom(shelf, readings, finder, tools)
