"""docs/how-to/recover.md, docs/how-to/move.md: data is broken in each way, and the page's own commands mend it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
from loopback.typed import program
from pages import ROOT, blocks, text_of

sys.path.insert(0, str(ROOT / "tests" / "contract"))

from ops_house import House

pytestmark = pytest.mark.sweep

RECOVER, MOVE = ROOT / "docs" / "how-to" / "recover.md", ROOT / "docs" / "how-to" / "move.md"
TURNS = 20
"""More than a checkpoint has copies of."""


def section(page, heading):
    """Return the blocks of shell of one section of a page."""
    (part,) = [part for part in text_of(page).split("\n## ") if part.startswith(heading)]
    return blocks(part, "sh")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Return a folder with a `continuity-bot` that starts at once."""
    with program(tmp_path_factory.mktemp("programs")) as folder:
        yield folder


class Checkout:
    """A folder like the one a reader stands in: the program in .venv, data of a bot, a backup of yesterday."""

    def __init__(self, folder, programs):
        self.folder = folder
        folder.mkdir()
        (folder / ".venv").mkdir()
        (folder / ".venv" / "bin").symlink_to(programs)
        self.house = House(folder)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "BACKUP": str(folder / "backups" / "newest")}
        self.env["CONTINUITY_ALLOWED_USERS"] = "7"

    def types(self, commands, *, code=0):
        """Run shell commands as they stand on a page; return what they printed."""
        command = ["bash", "-c", f"set -e\n{commands}"]
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{commands}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def is_green(self):
        """Say whether `doctor` fails no check, and the log and the checkpoints agree."""
        found = [self.house.run("doctor"), self.house.run("checkpoint", "verify")]
        assert [each.exit_code for each in found] == [0, 0], found[0].output + found[1].output
        return True

    def fails(self, *words):
        """Run a command that has to fail; return what it said."""
        done = self.house.run(*words)
        assert done.exit_code == 1, done.output
        return " ".join(done.output.split())


@pytest.fixture
def checkout(tmp_path, monkeypatch, programs):
    """Return a checkout with a long and a short session, a backup, and two turns that were said after it."""
    made = Checkout(tmp_path / "checkout", programs)
    made.house.fill(TURNS, 2)
    (made.folder / "backups").mkdir()
    monkeypatch.chdir(made.folder)
    assert made.house.run("backup", made.env["BACKUP"]).exit_code == 0
    for text in ("said after the backup", "and again"):
        made.house.say(made.house.sessions[0], text)
    return made


def test_the_first_look_works_on_sound_data(checkout):
    """Both commands, exit 0."""
    (look,) = section(RECOVER, "First look")

    assert "not running" in checkout.types(look)


def test_a_damaged_checkpoint(checkout):
    """Two bytes changed: `doctor` fails; the commands mend it and clear up."""
    path = checkout.house.checkpoint(0)
    path.write_bytes(path.read_bytes().replace(b"Tower", b"Tuwer", 1))
    assert "checkpoints.match_log" in checkout.fails("doctor")

    for block in section(RECOVER, "A damaged checkpoint"):
        checkout.types(block)

    assert checkout.is_green()
    assert len(checkout.house.turns(checkout.house.sessions[0])) == TURNS + 2
    assert not list(checkout.house.checkpoints.glob("*.corrupt-*"))


def test_an_altered_turn(checkout):
    """A turn of long ago comes back from the backup."""
    checkout.house.alter(checkout.house.sessions[0], 3)
    assert "checkpoints.match_log" in checkout.fails("doctor")

    for block in section(RECOVER, "An altered turn"):
        checkout.types(block)

    assert checkout.is_green()


@pytest.mark.parametrize("harm", ["gone", "torn"])
def test_a_lost_database(checkout, harm):
    """Whatever happened to the file: the backup comes back, and from the checkpoints what was said after it."""
    database = checkout.house.database
    if harm == "gone":
        for path in checkout.folder.glob("continuity.db*"):
            path.unlink()
    else:
        database.write_bytes(database.read_bytes()[:6000])
    said = checkout.fails("doctor")
    assert ("continuity-bot restore" if harm == "gone" else "database") in said

    for block in section(RECOVER, "A lost or damaged database"):
        checkout.types(block)

    assert checkout.is_green()
    turns = checkout.house.turns(checkout.house.sessions[0])
    assert len(turns) == TURNS + 2
    assert turns[-1] == f"t_said_{TURNS + 2}"


def test_no_database_and_no_backup(checkout):
    """The checkpoints alone bring back the last turns of each session."""
    for path in checkout.folder.glob("continuity.db*"):
        path.unlink()

    for block in section(RECOVER, "No database and no backup"):
        checkout.types(block)

    assert checkout.is_green()
    assert checkout.house.turns(checkout.house.sessions[0])[-1] == f"t_said_{TURNS + 2}"


@contextmanager
def small_disk(folder, size):
    """Put a small file system there, with the data on it. Only the superuser may; skips when even that is refused."""
    kept = folder.with_name("kept")
    shutil.copytree(folder, kept, symlinks=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this superuser may not mount")
    try:
        shutil.copytree(kept, folder, symlinks=True, dirs_exist_ok=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path):
    """Write a file until the disk is full."""
    with path.open("wb", buffering=0) as file:
        while room := shutil.disk_usage(path.parent).free:
            file.write(bytes(min(room, 1 << 16)))


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser may mount a small disk")
def test_a_full_disk(checkout):
    """Nothing can be written: `doctor` says so, a repair stops with a sentence; with room again all of it works."""
    with small_disk(checkout.folder, "70m"):
        checkout.house.checkpoint(0).unlink()
        (checkout.folder / "backups" / "oldest").mkdir()
        fill(checkout.folder / "backups" / "oldest" / "continuity.db")
        assert "disk.space" in checkout.fails("doctor")
        assert "the disk is full" in checkout.fails("backup", "backups/new")

        for block in section(RECOVER, "A full disk"):
            checkout.types(block)

        assert checkout.is_green()
        assert len(checkout.house.turns(checkout.house.sessions[0])) == TURNS + 2
        assert checkout.house.run("backup", "backups/new").exit_code == 0


def test_a_file_that_may_not_grow(checkout):
    """The same without the superuser's help: a limit on files stands for the full disk."""
    checkout.house.checkpoint(0).unlink()
    own = ROOT / ".venv" / "bin" / "continuity-bot"  # the limit, in kB, is this program's
    no_half_files = "export PYTHONDONTWRITEBYTECODE=1"
    said = checkout.types(f"{no_half_files}\nulimit -f 8\n{own} backup backups/new", code=1)
    assert "it may not grow any more" in said or "the disk is full" in said or "I/O error" in said
    (checkout.folder / "backups" / "oldest").mkdir()

    for block in section(RECOVER, "A full disk"):
        checkout.types(block)

    assert checkout.is_green()
    assert checkout.house.run("backup", "backups/new").exit_code == 0


def test_a_move_to_another_machine(checkout, tmp_path, programs):
    """Backed up here, restored there: the same turns, and `doctor` fails nothing."""
    before, bring, after = blocks(text_of(MOVE), "sh")
    new = Checkout(tmp_path / "new", programs)
    checkout.types(before)
    assert bring.startswith("scp ")
    shutil.copytree(checkout.folder / "moving", new.folder / "moving")

    new.types("\n".join(line for line in after.splitlines() if not line.startswith("make ")))

    assert new.house.turns(checkout.house.sessions[0]) == checkout.house.turns(checkout.house.sessions[0])
