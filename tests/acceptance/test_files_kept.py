"""A file that somebody sent, in an operator's hands: backed up, restored, moved, exported, looked after and swept."""

from __future__ import annotations

import asyncio
import json
from unittest.mock import patch

import pytest
import typer
from story import PERSON, bot_lines, bot_texts, reply, rows
from test_files import LEASE, sent
from test_pictures_sent import photo, shown
from typer.testing import CliRunner

from benchmarks.papers import pdf
from bot import replies
from bot.cli import app
from bot.joining.upkeep import purge

pytestmark = [pytest.mark.acceptance, pytest.mark.file]
COMMANDS = typer.main.get_command(app)
ORPHAN = "0" * 64


async def operate(bot, *words):
    """Run a command on a bot's data; return what it printed. The bot may be running."""
    env = {
        "CONTINUITY_DATABASE_URL": f"sqlite:///{bot.database}",
        "CONTINUITY_CHECKPOINT_DIR": str(bot.checkpoints),
        "CONTINUITY_ALLOWED_USERS": str(PERSON),
        "TELEGRAM_BOT_TOKEN": "123456789:" + "A" * 35,
        "TERM": "dumb",
    }
    with patch("typer.testing._get_command", return_value=COMMANDS):
        return await asyncio.to_thread(CliRunner().invoke, app, list(words), env=env)


def files_of(bot):
    """The folder of the bytes."""
    return bot.folder / "continuity.db.files"


def names(folder):
    return {path.name for path in folder.iterdir()}


async def test_a_backup_brings_a_picture_back(api, model, bot_here, tmp_path):
    """Backed up while the bot runs, restored after it was lost: shown again without Telegram; what was, lies aside."""
    bot = await bot_here()
    message = api.people.sends_file(PERSON, photo(), kind="photo", caption="Keep it.")
    await api.until(lambda: bot_lines(api))
    await bot.settled()
    (kept,) = names(files_of(bot))
    (files_of(bot) / ".incoming-1").write_bytes(b"half")
    assert (await operate(bot, "backup", str(tmp_path / "copy"))).exit_code == 0
    assert names(tmp_path / "copy" / "files") == {kept}
    await sent(api, b"Said after the backup.", name="later.txt", caption="Keep it.")
    await bot.stop()
    result = await operate(bot, "restore", str(tmp_path / "copy"))
    assert result.exit_code == 0, result.output
    (aside,) = bot.folder.glob("continuity.db.files.before-restore-*")

    assert (names(files_of(bot)), len(names(aside) - {".incoming-1"})) == ({kept}, 2)
    assert files_of(bot).stat().st_mode & 0o777 == 0o700
    served = len(api.downloads.served)
    await bot.start()
    await reply(api, "What was that?", reply_to=message.message_id)
    assert len(shown(model)) == 1
    assert len(api.downloads.served) == served


async def test_a_file_is_in_the_export(api, model, bot_here, tmp_path):
    """The document for a person has the file's name, digest, and every page that was read."""
    bot = await bot_here()
    await sent(api, pdf(LEASE), name="lease.pdf", caption="Keep it.")
    await bot.settled()
    result = await operate(bot, "export", "--user", str(PERSON), str(tmp_path / "mine.json"))
    assert result.exit_code == 0, result.output
    (found,) = json.loads((tmp_path / "mine.json").read_text())["conversations"][0]["files"]

    assert (found["name"], found["sha256"]) == ("lease.pdf", *names(files_of(bot)))
    assert "ninety days" in next(each["text"] for each in found["text"] if each["page"] == 4)


async def test_doctor_misses_bytes_that_are_gone(api, model, bot_here):
    """Counted while they're there; gone, it's said of how many, and what to do."""
    bot = await bot_here()
    await sent(api, pdf(LEASE), name="lease.pdf", caption="Keep it.")
    await bot.settled()

    async def says():
        checks = json.loads((await operate(bot, "doctor", "--json")).stdout)["checks"]
        return next((each["level"], each["says"]) for each in checks if each["id"] == "files")

    level, words = await says()
    assert (level, words[:7]) == ("ok", "1 file,")
    next(files_of(bot).iterdir()).unlink()
    assert await says() == ("warn", "the bytes of 1 file of 1 cannot be found")


async def test_what_never_came_is_let_go_of_and_what_was_read_is_kept(api, model, bot_here, clock):
    """After two weeks the row of a file that Telegram never gave goes; a file that was read stays."""
    bot = await bot_here()
    await sent(api, pdf(LEASE), name="lease.pdf", caption="Keep it.")
    api.faults.plant("download", "server_error", times=3)
    await sent(api, b"never came", name="never.txt", caption="And this?")
    assert bot_texts(api)[-1] == replies.say("file_unreachable")
    clock.advance(hours=24 * 13)
    await purge(bot.app.services)
    assert rows(bot, "SELECT COUNT(*) FROM files") == [(2,)]
    clock.advance(hours=24 * 2)
    await purge(bot.app.services)

    assert rows(bot, "SELECT name, state FROM files") == [("lease.pdf", "read")]
    assert len(names(files_of(bot))) == 1


async def test_the_next_start_sweeps_what_nothing_names(api, model, bot_here):
    """A file without a row and half a download go; the file that is named, and what isn't ours, stay."""
    bot = await bot_here()
    await sent(api, pdf(LEASE), name="lease.pdf", caption="Keep it.")
    await bot.stop()
    before = names(files_of(bot))
    for name in (ORPHAN, ".incoming-0123", "notes of the operator"):
        (files_of(bot) / name).write_bytes(b"left over")
    await bot.start()
    await api.until(lambda: names(files_of(bot)) == before | {"notes of the operator"})
