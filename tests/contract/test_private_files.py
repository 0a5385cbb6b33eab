"""Whatever the machine's mask allows: every file of ours is its owner's alone, also copies, exports and leftovers."""

import os

import pytest
from ops_house import House


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Offer a house on a machine whose default lets everybody read and write."""
    monkeypatch.chdir(tmp_path)  # away from the checkout's own .env
    before = os.umask(0)
    yield House(tmp_path / "data")
    os.umask(before)


def exposed(*places):
    """Return what others than the owner may read, write or enter."""
    found = [path for place in places for path in (place, *place.rglob("*"))]
    assert len(found) > len(places)
    return sorted(f"{path} {path.lstat().st_mode & 0o777:o}" for path in found if path.lstat().st_mode & 0o077)


def test_data_backups_exports_and_what_a_restore_sets_aside_are_private(house, tmp_path):
    """The data folder with its log and lock, a backup, an export, and all that a restore leaves."""
    (tmp_path / "data").mkdir(mode=0o700)
    house.fill(2, 1)
    assert house.run("backup", str(tmp_path / "copy")).exit_code == 0
    house.say(house.sessions[0], "said since")
    assert house.run("restore", str(tmp_path / "copy")).exit_code == 0
    assert house.run("hydrate", "--all").exit_code == 0
    (tmp_path / "export").mkdir(mode=0o700)
    exported = house.run("export", "--user", "7", str(tmp_path / "export" / "7.json"))

    assert exported.exit_code == 0, exported.stderr
    assert exposed(tmp_path / "data", tmp_path / "copy", tmp_path / "export") == []


def test_a_file_that_is_opened_to_others_is_seen_here(house, tmp_path):
    """Negative control: a checkpoint that everybody may read."""
    (tmp_path / "data").mkdir(mode=0o700)
    house.fill(1)
    next((tmp_path / "data" / "checkpoints").glob("*.json")).chmod(0o644)

    assert len(exposed(tmp_path / "data")) == 1
