"""Every command in every bad situation: one sentence or one JSON document, never a library's or the system's words."""

from __future__ import annotations

import _strptime  # noqa: F401 - read now: who has no permission can't read it later
import json
import logging
import os
import re
import shutil
import sqlite3
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer
from filelock import FileLock
from ops_house import House

from bot import cli

pytestmark = pytest.mark.sweep

WORDS = {
    "status": [],
    "starts": [],
    "history": [],
    "sessions": [],
    "show": ["s_"],
    "found": ["s_"],
    "doctor": [],
    "hydrate": ["--all"],
    "checkpoint verify": [],
    "checkpoint rebuild": ["--all"],
    "migrate": [],
    "quarantine list": [],
    "quarantine retry": ["1"],
    "quarantine drop": ["1"],
    "outbox list": [],
    "outbox retry": ["p_1"],
    "outbox drop": ["p_1"],
    "prompt": ["s_"],
    "notes list": ["s_"],
    "notes history": ["s_", "1"],
    "notes correct": ["s_", "1", "words"],
    "notes done": ["s_", "1"],
    "notes drop": ["s_", "1"],
    "notes reopen": ["s_", "1"],
    "notes merge": ["s_", "1", "2"],
    "notes move": ["s_", "1", "2099-01-01 09:00"],
    "notes forget": ["s_", "1", "--yes"],
    "bootstrap prefer": ["s_", "ask"],
    "bootstrap list": [],
    "bootstrap run": ["--session", "s_"],
    "bootstrap refresh": ["s_"],
    "bootstrap clear": ["--all"],
    "forget": ["--yes", "--user", "99"],
    "export": ["--user", "7"],
    "backup": ["copy"],
    "restore": ["nowhere"],
    "move": ["--to", "sqlite:///moved/there.db"],
}
"""Command → the words behind it."""
NOT_FOR_OPERATORS = {"run", "chat", "play", "start", "init"}
RAW = re.compile(
    r"Traceback|Errno|pydantic|validation error|Input should|sqlite3\.|OperationalError|DatabaseError|NotADirectory"
    r"|PermissionError|FileNotFound|unable to open|malformed|file is not a database|readonly database|no such table"
    r"|no such column|disk I/O error|Expecting value|codec can't"
)
"""Words of libraries and of the system: an operator is told what happened and what to do, in the program's own."""
NOBODY = 65534


def commands():
    """Return every command as it is typed."""
    root = typer.main.get_command(cli.app)
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        yield from (f"{name} {each}" for each in inner) if inner else (name,)


@pytest.fixture
def house(monkeypatch):
    """Make a house that another user can reach too, with a session in it, and stand beside it."""
    place = Path(tempfile.mkdtemp(prefix="sweep-"))
    place.chmod(0o755)
    monkeypatch.chdir(place)
    (place / "data").mkdir(mode=0o700)
    house = House(place / "data")
    house.fill(2)
    yield house
    for path in (place / "data", *(place / "data").rglob("*")):
        if path.is_dir():
            path.chmod(0o700)
    shutil.rmtree(place, ignore_errors=True)


@contextmanager
def unprivileged(*paths):
    """Be somebody who is bound by permissions, and who owns these; the superuser is not."""
    if os.geteuid() != 0:
        yield
        return
    for path in paths:
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def bad_setting(house):
    house.env["CONTINUITY_TIMEZONE"] = "Nowhere"
    house.env["CONTINUITY_HISTORY_TOKENS"] = "many"
    yield


@contextmanager
def missing_folder(house):
    house.env["CONTINUITY_DATABASE_URL"] = f"sqlite:///{house.folder}/not/there/continuity.db"
    house.env["CONTINUITY_CHECKPOINT_DIR"] = f"{house.folder}/not/there/checkpoints"
    yield
    shutil.rmtree(house.folder / "not", ignore_errors=True)


@contextmanager
def text_for_database(house):
    house.database.write_text("not a database\n" * 500)
    yield


@contextmanager
def damaged_pages(house):
    data = bytearray(house.database.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    house.database.write_bytes(data)
    yield


@contextmanager
def truncated(house):
    house.database.write_bytes(house.database.read_bytes()[:5000])
    yield


@contextmanager
def emptied(house):
    house.database.write_bytes(b"")
    yield


@contextmanager
def folder_for_database(house):
    house.database.unlink()
    house.database.mkdir()
    yield


@contextmanager
def file_for_folder(house):
    (house.folder / "file").write_text("")
    house.env["CONTINUITY_DATABASE_URL"] = f"sqlite:///{house.folder}/file/continuity.db"
    yield


@contextmanager
def file_for_checkpoints(house):
    shutil.rmtree(house.checkpoints)
    house.checkpoints.write_text("")
    yield


@contextmanager
def folder_for_settings(house):
    Path(".env").mkdir()
    yield


@contextmanager
def running_bot(house):
    with FileLock(f"{house.database}.lock", timeout=0):
        yield


@contextmanager
def newer_schema(house):
    with sqlite3.connect(house.database) as connection:
        connection.execute("INSERT INTO schema_migrations (number, name, applied_at_ms) VALUES (999, 'later', 1)")
    yield


@contextmanager
def read_only_folder(house):
    everything = [house.folder, *house.folder.rglob("*")]
    with unprivileged(*everything):
        for path in reversed(everything):
            path.chmod(0o500 if path.is_dir() else 0o400)
        yield


@contextmanager
def no_permission(house):
    everything = [house.folder, *house.folder.rglob("*")]
    with unprivileged(*everything):
        house.folder.chmod(0)
        yield
        house.folder.chmod(0o700)


@contextmanager
def no_permission_on_the_file(house):
    everything = [house.folder, *house.folder.rglob("*")]
    with unprivileged(*everything):
        house.database.chmod(0)
        house.checkpoints.chmod(0)
        yield
        house.checkpoints.chmod(0o700)


SITUATIONS = (
    bad_setting, missing_folder, text_for_database, damaged_pages, truncated, emptied, folder_for_database,
    file_for_folder, file_for_checkpoints, folder_for_settings, running_bot, newer_schema, read_only_folder,
    no_permission, no_permission_on_the_file,
)  # fmt: skip


def test_every_command_is_swept():
    """A command that is added has to be named here."""
    assert set(WORDS) == set(commands()) - NOT_FOR_OPERATORS


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_no_command_shows_raw_words(house, situation):
    """Each command ends with 0, 1 or 2; a failure is a sentence for people and a document for programs."""
    with situation(house):
        for number, (name, words) in enumerate(WORDS.items()):
            result = house.run(*name.split(), *words, *["--json"][number % 2 :])
            assert result.exit_code in (0, 1, 2), (name, result.output)
            assert not RAW.search(result.output), (name, result.output)
            assert not result.exit_code or result.output.strip(), name
            if number % 2 == 0:
                found = json.loads(result.stdout)
                assert result.stderr == "", name
                if isinstance(found, dict) and "error" in found:
                    assert found["error"]["message"].strip(), name
                    assert found["error"]["exit_code"] == result.exit_code, name


@pytest.fixture
def own_logging():
    """Give the handlers back that `run` replaces by its own."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = before


@pytest.mark.parametrize(
    "situation", [bad_setting, text_for_database, folder_for_database, file_for_folder, no_permission]
)
def test_a_start_that_cannot_work_is_a_sentence(house, situation, own_logging):
    """`run` on data that cannot be used ends with 1 or 2 and says why."""
    with situation(house):
        result = house.run("run", env={"TELEGRAM_API_URL": "http://127.0.0.1:9"})

        assert result.exit_code in (1, 2)
        assert result.stderr.strip()
        assert not RAW.search(result.output), result.output


def test_a_start_behind_a_proxy_that_cannot_be_used_is_a_wrong_setting(house, own_logging):
    """It would be tried for ever: `run` ends with 2 and one line that names the variable."""
    result = house.run("run", env={"TELEGRAM_API_URL": "http://telegram.invalid", "ALL_PROXY": "socks5://127.0.0.1:9"})

    assert result.exit_code == 2
    assert "ALL_PROXY: speaks socks5" in result.stderr
    assert len(result.stderr.splitlines()) == 1
