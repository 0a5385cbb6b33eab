"""A disk that is full at any step of a file: it's said, nothing is half there, and with room again it's answered."""

from __future__ import annotations

import errno
import os

import pytest
from sent_media import KINDS, repeats
from story import FRIEND, PERSON, answered, asked, bot_texts, reply, rows, shows, stored_turns, tap

from bot import replies
from bot.files import store
from memory.errors import StorageUnavailable

pytestmark = [pytest.mark.acceptance, pytest.mark.sweep]

SAID = "chat 1 message 2"
WHILE_FULL = {
    "write": ("wanted", 0),
    "fsync": ("wanted", 0),
    "rename": ("wanted", 0),
    "file_passage_put": ("fetched", 1),
}
"""Of some steps: what is known of the file while the disk is full, and how many files there are in the folder."""


class Disk:
    """What is refused just now: steps of the folder by the names of functions, and statements by theirs."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        self.hits = 0

    def has_room(self, name: str) -> bool:
        """Whether this goes through; one that does not is counted."""
        self.hits += name in self.refused
        return name not in self.refused

    def guarded(self, name: str, do):
        """The function, refused where there is no room for it."""

        def guarded(*args):
            if not self.has_room(name):
                raise OSError(errno.ENOSPC, "No space left on device")
            return do(*args)

        return guarded


@pytest.fixture
async def disk(bot_here, sounds, model, monkeypatch):
    """Start a bot whose disk may be filled, and which waits for it only for a moment."""
    disk = Disk()
    model.reply = repeats

    class System:
        fsync = staticmethod(disk.guarded("fsync", os.fsync))

        def __getattr__(self, name: str):
            return getattr(os, name)

    monkeypatch.setattr(store, "os", System())
    monkeypatch.setattr(store.Incoming, "write", disk.guarded("write", store.Incoming.write))
    monkeypatch.setattr(store, "_open", disk.guarded("open", store._open))
    monkeypatch.setattr(store, "sync_folder", disk.guarded("sync_folder", store.sync_folder))
    place = store.FolderBlobs._place
    monkeypatch.setattr(store.FolderBlobs, "_place", disk.guarded("rename", place))
    bot = await bot_here(
        CONTINUITY_STORAGE_PATIENCE_S="0.2",
        CONTINUITY_TRANSCRIBE="openai:whisper-1",
        CONTINUITY_TRANSCRIBE_URL=sounds.url,
    )
    write = bot.app.services.db.write

    async def picky(*statements):
        if not all(disk.has_room(statement.name) for statement in statements):
            raise StorageUnavailable("no room")
        return await write(*statements)

    monkeypatch.setattr(bot.app.services.db, "write", picky)
    disk.bot = bot
    return disk


@pytest.mark.parametrize(
    ("kind", "full"),
    [
        ("PDF", "open"),
        ("PDF", "write"),
        ("PDF", "fsync"),
        pytest.param("PDF", "rename", marks=pytest.mark.file),
        pytest.param("PDF", "sync_folder", marks=pytest.mark.file),
        ("PDF", "file_take"),
        ("PDF", "file_fetched"),
        ("PDF", "file_passage_put"),
        ("PDF", "file_known"),
        ("photo", "file_known"),
        ("voice", "file_heard"),
        ("voice", "file_known"),
        ("audio", "file_known"),
    ],
)
async def test_a_full_disk_is_said_and_the_file_is_read_when_there_is_room(api, model, disk, kind, full):
    """Full at this step: the person hears of it, others are answered; with room, [Try again] answers, once."""
    disk.refused.add(full)
    KINDS[kind][0](api, PERSON, SAID)
    await shows(api, replies.say("storage_refused"))
    assert disk.hits
    assert (await reply(api, "chat 2 message 1", FRIEND, FRIEND)).text == "You said: chat 2 message 1"
    assert rows(disk.bot, "SELECT COUNT(*) FROM files WHERE state = 'read'") == [(0,)]
    folder = disk.bot.folder / "continuity.db.files"
    if full in WHILE_FULL:
        state, files = WHILE_FULL[full]
        assert rows(disk.bot, "SELECT state, digest <> '' FROM files") == [(state, files == 1)]
        assert not folder.exists() or len(list(folder.iterdir())) == files
    disk.refused.clear()
    await tap(api, replies.say("try_again"))
    await answered(api, PERSON, SAID)
    await disk.bot.settled()

    assert bot_texts(api).count(f"You said: {SAID}") == 1
    assert len(stored_turns(disk.bot)) == 2
    assert rows(disk.bot, "SELECT state, number FROM files") == [("read", 1)]
    passages = 0 if kind == "photo" else 1
    assert rows(disk.bot, "SELECT COUNT(*) FROM file_passages WHERE page > 0") == [(passages,)]
    assert kind != "PDF" or f"[page 1]\n{SAID}" in asked(model)[-1].messages[-1][1]
    assert not list(folder.glob(f"{store.INCOMING}*"))
    assert len(list(folder.iterdir()) if folder.exists() else [1]) == 1


@pytest.mark.parametrize("full", ["file_attempt", "file_described"])
async def test_a_description_is_paid_for_once_when_the_disk_is_full(api, model, disk, full):
    """The picture is answered meanwhile; nobody is asked before there is room to count it, nor again."""
    model.reply = lambda messages: "Grey tiles." if "Describe the picture" in str(messages[0]) else repeats(messages)
    disk.refused.add(full)
    KINDS["photo"][0](api, PERSON, SAID)
    await api.until(lambda: disk.hits)
    await answered(api, PERSON, SAID)
    disk.refused.clear()
    await reply(api, "chat 1 message 3")
    await api.until(lambda: rows(disk.bot, "SELECT described FROM files") == [("Grey tiles.",)])

    assert len([each for each in model.requests if each.messages[0][1].startswith("Describe the picture")]) == 1
    assert rows(disk.bot, "SELECT COUNT(*) FROM search_docs WHERE conversation_id LIKE 'files of %'") == [(1,)]
    assert bot_texts(api) == [f"You said: {SAID}", "You said: chat 1 message 3"]


async def test_a_recording_is_not_listened_to_again_while_the_disk_is_full(api, disk, sounds):
    """What was heard waits for room as long as anybody does; only [Try again] listens once more."""
    disk.refused.add("file_heard")
    KINDS["voice"][0](api, PERSON, SAID)
    await shows(api, replies.say("storage_refused"))
    asked = len(sounds.asked)
    disk.refused.clear()
    await tap(api, replies.say("try_again"))
    await answered(api, PERSON, SAID)

    assert disk.hits > 1
    assert (asked, len(sounds.asked)) == (1, 2)
