"""A start with a damaged, missing, foreign, older or newer checkpoint: the model is still given the earlier turns."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest
from story import PERSON, answered, remembers, stored_turns

pytestmark = [pytest.mark.acceptance, pytest.mark.crash]


def the_checkpoint(bot):
    (path,) = bot.checkpoints.glob("s_*.json")
    return path


def tear(path):
    path.write_bytes(path.read_bytes()[:200])


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


DAMAGES = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "torn": tear,
    "flipped byte": flip,
    "garbage": lambda path: path.write_bytes(b"\x00\xff" * 500),
}


async def say(api, *texts):
    for text in texts:
        api.people.says(PERSON, text)
        await answered(api, PERSON, text)


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_checkpoint_never_means_amnesia(api, model, bot_process, damage):
    """It is moved aside, rebuilt from the turn log, and the conversation goes on (P8)."""
    bot = await bot_process()
    await say(api, "my dog is called Rex")
    await bot.terminate()
    DAMAGES[damage](the_checkpoint(bot))
    await bot.start()
    await say(api, "what is he called?")
    await bot.terminate()

    assert remembers(model, "my dog is called Rex")
    if not isinstance(bot.database, str):  # on a server a start begins without any
        assert len(list(bot.checkpoints.glob("*.corrupt-*"))) == (damage != "missing")
    assert the_checkpoint(bot).stat().st_size > 1000


@pytest.mark.file
async def test_a_log_behind_its_checkpoint_is_healed(api, model, bot_process):
    """After the restore of an older database the missing turns come back from the checkpoint, and it is said."""
    bot = await bot_process()
    await say(api, "one")
    await bot.terminate()
    backup = bot.folder / "backup.db"
    shutil.copy(bot.database, backup)
    await bot.start()
    await say(api, "two", "three")
    await bot.terminate()
    shutil.copy(backup, bot.database)

    await bot.start()
    await say(api, "four")
    await bot.terminate()

    assert remembers(model, "two")
    assert remembers(model, "three")
    assert [user for user, _ in stored_turns(bot)] == ["one", "two", "three", "four"]
    assert "turns 2-3 come from the checkpoint" in bot.log


@pytest.mark.file
async def test_a_lost_database_comes_back_from_the_checkpoints(api, model, bot_process):
    """With the database gone, the last turns of each session are made again from its checkpoint."""
    bot = await bot_process()
    await say(api, "my dog is called Rex", "he is four")
    await bot.terminate()
    for file in bot.folder.glob("continuity.db*"):
        file.unlink()

    await bot.start()
    await say(api, "how old is he?")
    await bot.terminate()

    assert remembers(model, "my dog is called Rex")
    assert [user for user, _ in stored_turns(bot)] == ["my dog is called Rex", "he is four", "how old is he?"]


@pytest.mark.file
async def test_a_flipped_byte_in_a_row_is_healed_from_the_checkpoint(api, model, bot_process):
    """The database's own check does not see it; the digests do."""
    bot = await bot_process()
    await say(api, "my dog is called Rex")
    await bot.terminate()
    with closing(sqlite3.connect(bot.database)) as connection:
        connection.execute("UPDATE conversation_turns SET user_text = 'my dog is called Max'")
        connection.commit()

    await bot.start()
    await say(api, "what is he called?")

    assert remembers(model, "my dog is called Rex")
