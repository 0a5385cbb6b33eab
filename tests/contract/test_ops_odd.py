"""What an operator may point the commands at by mistake: each ends in one sentence, never in a traceback or a wait."""

import json
import os

import pytest

from bot.ops.copies.folder import MANIFEST

COMMANDS = (
    "status", "sessions", "doctor", "show x", "checkpoint verify", "hydrate --all", "migrate", "quarantine list",
    "forget --yes --user 7", "export --user 7", "bootstrap clear --all",
)  # fmt: skip


@pytest.fixture
def copied(house, tmp_path):
    """Fill a house with one session and back it up."""
    house.fill(2)
    assert house.run("backup", str(tmp_path / "copy")).exit_code == 0
    return tmp_path / "copy"


def in_one_sentence(result):
    """Say whether a command ended in a sentence on standard error (or a report), without a traceback."""
    return result.exit_code in (1, 2) and "Traceback" not in result.stderr and (result.stderr or result.stdout)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["folder", "pipe", "text"])
def test_something_else_in_the_place_of_the_database(house, command, kind):
    """A folder, a pipe, a text file: named, unchanged, and nothing waits for a pipe's other end."""
    if kind == "folder":
        house.database.mkdir(mode=0o755)
    elif kind == "pipe":
        os.mkfifo(house.database)
    else:
        house.database.write_text("not a database\n" * 500)
    mode = house.database.stat().st_mode

    assert in_one_sentence(house.run(*command.split()))
    assert kind == "text" or house.database.stat().st_mode == mode


@pytest.mark.parametrize("value", ["[/x]", "[red]", "[link=x]", "\x1b[2J"])
def test_brackets_in_a_value_are_text(house, tmp_path, value):
    """Arguments, paths and stored words may hold what looks like the screen's own markup."""
    house.fill(1)
    results = [
        house.run("show", value),
        house.run("forget", "--yes", "--conversation", value),
        house.run("export", "--conversation", value),
        house.run("sessions", "--conversation", value),
        house.run("restore", str(tmp_path / value.replace("/", "_"))),
        house.run("status", env={"CONTINUITY_TIMEZONE": value}),
        house.run("status", env={"CONTINUITY_DATABASE_URL": f"sqlite:///{tmp_path}/{value.replace('/', '_')}.db"}),
        house.run("checkpoint", "rebuild", value),
    ]

    assert all("Traceback" not in result.stderr for result in results)
    assert all(result.exit_code in (0, 1, 2) for result in results)
    assert value == "\x1b[2J" or value in results[0].stderr


def test_a_settings_file_in_another_encoding(house, tmp_path):
    """Every command says which file it is."""
    (tmp_path / ".env").write_bytes(b"CONTINUITY_PERSONA=caf\xe9\n")
    results = [house.run("status"), house.run("run"), house.run("doctor")]

    assert all(result.exit_code in (1, 2) for result in results)
    assert all("UTF-8" in result.stderr + result.stdout for result in results)


WRONG = ("x", None, [], {}, -1, 1.5, True, 10**30, "9" * 100)


def test_a_manifest_with_a_wrong_type_is_refused(house, copied):
    """Whichever field, whichever type: a sentence, and the present data stays where it is."""
    manifest = json.loads((copied / MANIFEST).read_text())
    for field in ("created_at_ms", "schema", "sessions", "turns", "checkpoints", "database_digest"):
        for value in WRONG:
            (copied / MANIFEST).write_text(json.dumps(manifest | {field: value}))
            assert in_one_sentence(house.run("restore", str(copied))), (field, value)

    assert not list(house.folder.glob("*before-restore*"))
    assert not list(house.checkpoints.glob("before-restore*"))


@pytest.mark.parametrize("content", ["[]", "5", '"text"', "null", "{", "", "[" * 5000])
def test_a_manifest_that_is_none_is_refused(house, copied, content):
    """Whatever stands in the file."""
    (copied / MANIFEST).write_text(content)

    assert in_one_sentence(house.run("restore", str(copied)))


def test_pipes_and_folders_among_the_checkpoints_hold_nothing_up(house, copied):
    """A restore, a backup and a verification look at files alone."""
    for folder in (house.checkpoints, copied / "checkpoints"):
        os.mkfifo(folder / "s_pipe.json")
        (folder / "s_folder.json").mkdir()
    assert house.run("restore", str(copied)).exit_code == 0
    os.mkfifo(house.checkpoint(0).with_name("s_other.json"))

    assert house.run("backup", str(copied.parent / "second")).exit_code == 0
    assert house.run("checkpoint", "verify").exit_code == 0
    assert house.run("hydrate", "--all").exit_code == 0


def test_a_pipe_in_the_place_of_a_checkpoint_is_moved_aside(house):
    """The session is rebuilt from the log."""
    house.fill(2)
    checkpoint = house.checkpoint(0)
    checkpoint.unlink()
    os.mkfifo(checkpoint)

    assert house.run("hydrate", "--all").exit_code == 0
    assert house.turns(house.sessions[0]) == ["t_0_1", "t_0_2"]


def test_forgetting_after_a_restore_reports_without_a_traceback(house, copied):
    """The folder that the restore left among the checkpoints is no file to look into."""
    assert house.run("restore", str(copied)).exit_code == 0
    result = house.run("forget", "--yes", "--user", "7")

    assert "Traceback" not in result.stderr
    assert result.exit_code in (0, 1)


def test_the_lock_is_private_whatever_the_mask(house):
    """Also when the machine's default lets everybody write."""
    house.fill(1)
    before = os.umask(0)
    try:
        assert house.run("hydrate", "--all").exit_code == 0
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in house.folder.iterdir() if path.is_file()}

    assert modes["continuity.db.lock"] == 0o600
    assert all(mode == 0o600 for mode in modes.values()), modes
