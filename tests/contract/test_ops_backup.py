"""Backup and restore: what is copied, what is refused, and that no crash on the way loses the present data."""

import json
import signal
from dataclasses import replace
from hashlib import sha256

import pytest
from loopback.forked import cli, finished
from ops_house import House, bot_at_work

from bot.ops.copies.backup import back_up
from bot.ops.copies.folder import DATABASE, MANIFEST
from bot.ops.workspace import open_read_only
from bot.settings import Settings

POINTS = (
    "restore_staged",
    "restore_checkpoints_aside",
    "restore_files_in_place",
    "restore_database_aside",
    "restore_database_in_place",
)
BEFORE, SINCE = b"sent before the backup", b"sent since"


@pytest.fixture
def backed_up(house, tmp_path):
    """Make a house with two turns in a backup and a third one since."""
    house.fill(2)
    keep_file(house, BEFORE)
    assert house.run("backup", str(tmp_path / "copy")).exit_code == 0
    house.say(house.sessions[0], "said after the backup")
    keep_file(house, SINCE)
    return house


def keep_file(house, data):
    """Lay the bytes of a file that somebody sent where the bot keeps them."""
    house.sent_files.mkdir(mode=0o700, exist_ok=True)
    (house.sent_files / sha256(data).hexdigest()).write_bytes(data)


def kept_files(house):
    """Return the bytes that are there, and those that restores have moved aside."""
    folders = [house.sent_files, *house.folder.glob(f"{house.sent_files.name}.before-restore-*")]
    there, *aside = [{path.read_bytes() for path in folder.iterdir()} for folder in folders]
    return there, set().union(*aside)


def test_a_backup_holds_database_checkpoints_and_their_proof(house, tmp_path):
    """One private folder: the database without side files, every checkpoint, and the digest of the copy."""
    house.fill(2, 1)

    assert house.run("backup", str(tmp_path / "copy")).exit_code == 0
    manifest = json.loads((tmp_path / "copy" / MANIFEST).read_text())
    assert (manifest["sessions"], manifest["turns"], manifest["checkpoints"]) == (2, 3, 2)
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == [MANIFEST, "checkpoints", DATABASE]
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "copy" / DATABASE).stat().st_mode & 0o777 == 0o600


def test_a_backup_never_overwrites(house, tmp_path):
    """A folder that holds anything is refused and stays as it is."""
    house.fill(1)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "mine").write_text("keep")

    result = house.run("backup", str(tmp_path / "copy"))
    assert result.exit_code == 1
    assert "is not empty" in result.stderr
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["mine"]


def test_a_restore_brings_back_what_was_and_keeps_what_is(backed_up, tmp_path):
    """The log is the backup's; the data of before, with the newer turn, lies aside and can be opened."""
    session_id = backed_up.sessions[0]

    result = backed_up.run("restore", str(tmp_path / "copy"))
    assert result.exit_code == 0, result.stderr
    assert backed_up.turns(session_id) == ["t_0_1", "t_0_2"]
    assert backed_up.run("checkpoint", "verify").exit_code == 0
    (aside,) = [path for path in backed_up.folder.glob("continuity.db.before-restore-*") if path.suffix[-4:-3] != "-"]
    assert backed_up.log(aside, session_id) == ["t_0_1", "t_0_2", "t_said_3"]
    assert list(backed_up.checkpoints.glob("before-restore-*/*.json"))
    assert kept_files(backed_up) == ({BEFORE}, {BEFORE, SINCE})


def test_what_a_killed_bot_left_in_its_wal_is_kept_aside_too(backed_up, tmp_path):
    """The last commits before kill -9 are only in the WAL; the data that is moved aside has them."""
    session_id = backed_up.sessions[0]
    with bot_at_work(backed_up, session_id, 4) as (child, say):
        say()
        child.send_signal(signal.SIGKILL)
        child.join()
    assert (backed_up.folder / "continuity.db-wal").stat().st_size > 0

    assert backed_up.run("restore", str(tmp_path / "copy")).exit_code == 0
    (aside,) = [path for path in backed_up.folder.glob("continuity.db.before-restore-*") if path.suffix[-4:-3] != "-"]
    assert backed_up.log(aside, session_id)[-1] == "t_live_4"
    assert backed_up.turns(session_id) == ["t_0_1", "t_0_2"]


async def test_what_is_forgotten_during_a_backup_is_not_in_it(backed_up, tmp_path):
    """A checkpoint that was deleted after it had been copied is taken out again: a restore must not revive it (P13)."""
    settings = Settings(
        telegram_bot_token=None,
        continuity_database_url=f"sqlite:///{backed_up.database}",
        continuity_checkpoint_dir=backed_up.checkpoints,
    )

    class Forgetting:
        async def backup_to(self, target, told):
            backed_up.checkpoint(0).unlink()
            await workspace.memory.db.backup_to(target, told)

    async with open_read_only(settings) as workspace:
        forgetting = replace(workspace, memory=replace(workspace.memory, db=Forgetting()))
        backup = await back_up(forgetting, tmp_path / "second")
    assert backup.checkpoints == 0
    assert list((tmp_path / "second" / "checkpoints").iterdir()) == []


def test_a_restore_makes_a_data_folder_that_is_gone(house, tmp_path):
    """On a new machine, or after a loss of the disk, there is nothing to move aside."""
    house.fill(2)
    house.run("backup", str(tmp_path / "copy"))
    elsewhere = House(tmp_path / "new" / "data")

    assert elsewhere.run("restore", str(tmp_path / "copy")).exit_code == 0
    assert elsewhere.turns(house.sessions[0]) == ["t_0_1", "t_0_2"]
    assert elsewhere.run("checkpoint", "verify").exit_code == 0


def test_a_restore_replaces_a_database_that_is_damaged(backed_up, tmp_path):
    """What cannot be opened is what backups are for; it is kept aside as it is."""
    backed_up.database.write_bytes(b"rubbish " * 1000)

    assert backed_up.run("restore", str(tmp_path / "copy")).exit_code == 0
    assert backed_up.turns(backed_up.sessions[0]) == ["t_0_1", "t_0_2"]


@pytest.mark.parametrize("harm", ["altered", "no manifest", "strange manifest", "999", "1999"])
def test_a_backup_that_cannot_be_trusted_is_refused(backed_up, tmp_path, harm):
    """An altered copy, a folder that is no backup, a schema of the future: nothing is touched."""
    manifest, database = tmp_path / "copy" / MANIFEST, tmp_path / "copy" / DATABASE
    if harm == "altered":
        data = bytearray(database.read_bytes())
        data[-10] ^= 1
        database.write_bytes(data)
    elif harm == "no manifest":
        manifest.unlink()
    elif harm == "strange manifest":
        manifest.write_text('{"format": "something else"}')
    else:
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema": [int(harm)]}))
    before = backed_up.files()

    result = backed_up.run("restore", str(tmp_path / "copy"))
    assert result.exit_code == 1
    assert result.stderr.strip()
    assert {name: data for name, data in backed_up.files().items() if not name.endswith(".lock")} == {
        name: data for name, data in before.items() if not name.endswith(".lock")
    }


@pytest.mark.sweep
@pytest.mark.crash
@pytest.mark.parametrize("point", POINTS)
def test_a_restore_that_dies_leaves_the_old_data_or_the_new(backed_up, tmp_path, point):
    """Killed at each step: the log is whole, the old one or the new one; and the same command then completes it."""
    session_id = backed_up.sessions[0]
    old, new = ["t_0_1", "t_0_2", "t_said_3"], ["t_0_1", "t_0_2"]
    ours = {name: value for name, value in backed_up.env.items() if value is not None}

    assert finished(cli, "restore", str(tmp_path / "copy"), env=ours | {"CONTINUITY_FAULT": point})[1] == -9
    assert backed_up.turns(session_id) == (new if point == POINTS[-1] else old)
    assert SINCE in set().union(*kept_files(backed_up))
    assert backed_up.run("hydrate", "--all", "--dry-run").exit_code == 0
    assert backed_up.run("restore", str(tmp_path / "copy")).exit_code == 0
    assert backed_up.turns(session_id) == new
    assert backed_up.run("checkpoint", "verify").exit_code == 0
    assert kept_files(backed_up) == ({BEFORE}, {BEFORE, SINCE})
