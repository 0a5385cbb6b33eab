"""A backup that somebody prepared: whatever lies in it, a restore takes data from it and nothing else."""

import contextlib
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from ops_house import House

from bot.ops.copies import restore as restoring
from bot.ops.copies.folder import (
    CHECKPOINT_MAX_BYTES,
    CHECKPOINTS,
    DATABASE,
    MANIFEST,
    MANIFEST_MAX_BYTES,
    file_digest,
)

SECRET = "the secret of another file"


@pytest.fixture
def house(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # away from the checkout's own .env
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "outside").write_text(SECRET, encoding="utf-8")
    return House(tmp_path / "data")


@pytest.fixture
def copied(house, tmp_path):
    """Fill a house with one session and back it up."""
    house.fill(2)
    assert house.run("backup", str(tmp_path / "copy")).exit_code == 0
    return tmp_path / "copy"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


def link(path: Path, target: Path) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def describe(copied: Path, **fields) -> None:
    """Write a manifest that fits the database that lies there, with other fields as given."""
    manifest = json.loads((copied / MANIFEST).read_text())
    manifest |= {"database_digest": file_digest(copied / DATABASE)} | fields
    (copied / MANIFEST).write_text(json.dumps(manifest))


def linked_database(copied, outside):
    shutil.copy(copied / DATABASE, outside)
    link(copied / DATABASE, outside)


def linked_manifest(copied, outside):
    shutil.copy(copied / MANIFEST, outside)
    link(copied / MANIFEST, outside)


def linked_folder(copied, outside):
    elsewhere = outside.with_name("elsewhere")
    (copied / CHECKPOINTS).rename(elsewhere)
    link(copied / CHECKPOINTS, elsewhere)


def no_database(copied, _outside):
    (copied / DATABASE).write_bytes(b"rubbish " * 1000)
    describe(copied)


def huge_manifest(copied, _outside):
    (copied / MANIFEST).write_bytes(b" " * (MANIFEST_MAX_BYTES + 1))


def deep_manifest(copied, _outside):
    (copied / MANIFEST).write_text("[" * 100_000)


def pipe(copied, _outside):
    (copied / DATABASE).unlink()
    os.mkfifo(copied / DATABASE)


def device(copied, _outside):
    link(copied / DATABASE, Path("/dev/zero"))


def log_beside(copied, _outside):
    (copied / f"{DATABASE}-wal").write_bytes(b"pages that no digest covers")


def journal_beside(copied, _outside):
    (copied / f"{DATABASE}-journal").write_bytes(b"pages that no digest covers")


REFUSED = (
    log_beside,
    journal_beside,
    linked_database,
    linked_manifest,
    linked_folder,
    no_database,
    huge_manifest,
    deep_manifest,
    pipe,
    device,
)


@pytest.mark.parametrize("harm", REFUSED, ids=lambda harm: harm.__name__)
def test_what_is_no_backup_is_refused_and_nothing_is_touched(house, copied, tmp_path, harm):
    """Links out of the folder, devices, pipes, bombs, another program's file: one sentence, and the data stays."""
    harm(copied, tmp_path / "outside")
    before = contents(house.folder)

    result = house.run("restore", str(copied))

    assert result.exit_code == 1
    assert result.stderr.strip()
    assert "Traceback" not in result.stderr
    after = contents(house.folder)
    assert not any(name.endswith(".restoring") for name in after)
    assert {name: after.get(name) for name in before if not name.endswith(".lock")} == {
        name: data for name, data in before.items() if not name.endswith(".lock")
    }


def test_a_database_that_does_not_fit_is_refused_before_it_is_read(house, copied, monkeypatch):
    """The room that there is, and what is wanted; the data stays."""
    monkeypatch.setattr(restoring, "_room_beside", lambda _: 1000)

    result = house.run("restore", str(copied))

    assert result.exit_code == 1
    assert "1,000 at most" in " ".join(result.stderr.split())


def test_checkpoints_that_lead_elsewhere_or_are_too_large_stay_behind(house, copied, tmp_path):
    """A link, names that climb out of the folder, a bomb of brackets, a giant: none arrives, none reaches outside."""
    folder = copied / CHECKPOINTS
    link(folder / "linked.json", tmp_path / "outside")
    (folder / "..%2F..%2Fescaped.json").write_text("{}")
    (folder / "deep.json").write_text("[" * 200_000)
    with (folder / "giant.json").open("wb") as file:
        file.truncate(CHECKPOINT_MAX_BYTES + 1)
    (folder / "device.json").symlink_to("/dev/zero")

    result = house.run("restore", str(copied))

    assert result.exit_code == 0, result.stderr
    arrived = contents(house.folder / "checkpoints")
    assert not {"linked.json", "giant.json", "device.json"} & set(arrived)
    assert all(SECRET.encode() not in data for data in arrived.values())
    assert not (tmp_path / "escaped.json").exists()
    assert house.run("hydrate", "--all").exit_code in (0, 1)
    assert house.turns(house.sessions[0]) == ["t_0_1", "t_0_2"]


PLANTED = {
    "trigger": "CREATE TRIGGER planted AFTER INSERT ON conversation_turns BEGIN DELETE FROM outbox; END",
    "view": "CREATE VIEW planted AS SELECT * FROM conversation_turns",
    "table": "CREATE TABLE planted (words TEXT)",
    "index": "CREATE UNIQUE INDEX planted ON conversation_turns (digest)",
    "odd name": 'CREATE VIEW "planted""; DROP TABLE outbox; --" AS SELECT 1',
}
CHANGED = {
    "a table is a view": "ALTER TABLE chat_moves RENAME TO kept; CREATE VIEW chat_moves AS SELECT * FROM kept",
    "a rule": "DROP TABLE boots; CREATE TABLE boots (boot_id TEXT PRIMARY KEY CHECK (boot_id = 'x'))",
    "a column": "ALTER TABLE boots ADD COLUMN more TEXT DEFAULT (hex(zeroblob(1000)))",
    "an index": "DROP INDEX inbox_by_state; CREATE UNIQUE INDEX inbox_by_state ON inbox (state)",
    "a table is gone": "DROP TABLE outbox",
}


def alter(copied, script):
    """Change the schema of a backup, and its manifest with it."""
    with contextlib.closing(sqlite3.connect(copied / DATABASE)) as connection:
        connection.executescript(script)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    describe(copied)


def schema_of(path):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


@pytest.mark.parametrize("script", PLANTED.values(), ids=PLANTED)
def test_what_somebody_put_into_the_schema_stays_behind(house, copied, script):
    """A trigger would run with each of our writes: it is left out, the operator is told, and the data is restored."""
    before = schema_of(copied / DATABASE)
    alter(copied, script)

    result = house.run("restore", str(copied))

    assert result.exit_code == 0, result.stderr
    assert "planted" in result.stdout
    assert schema_of(house.folder / "continuity.db") == before
    assert house.turns(house.sessions[0]) == ["t_0_1", "t_0_2"]


@pytest.mark.parametrize("script", CHANGED.values(), ids=CHANGED)
@pytest.mark.parametrize("command", [("restore", "{}"), ("hydrate", "--all", "--from", "{}")], ids=lambda each: each[0])
def test_a_schema_that_somebody_changed_is_refused(house, copied, script, command):
    """What of ours was made in another way cannot be dropped: one sentence names it, and the data stays."""
    alter(copied, script)
    before = schema_of(house.folder / "continuity.db")

    result = house.run(*(part.format(copied) for part in command))

    assert result.exit_code == 1
    assert "another schema" in " ".join(result.stderr.split())
    assert schema_of(house.folder / "continuity.db") == before
    assert not [name for name in contents(house.folder) if ".restoring" in name]
