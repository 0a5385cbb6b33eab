"""`--json`: one document on standard output, the same keys each time, errors too; and what is shown meanwhile."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from ops_house import House
from test_ops_sweep import WORDS

import bot

KEYS = {
    "status": "boot checkpoints checkpoints_set_aside database database_bytes failures inbox now_ms outbox pid "
    "quarantined reactions reading running sessions start_report turns unfinished unreachable_chats workers",
    "doctor": "checks level",
    "found": "found turn",
    "hydrate": "dry_run sessions",
    "checkpoint verify": "ok sessions set_aside",
    "checkpoint rebuild": "dry_run sessions",
    "migrate": "applied pending",
    "move": "database rows",
    "bootstrap list": "conversations",
    "bootstrap clear": "cleared",
    "forget": "forgotten",
    "export": "conversations person",
    "backup": "checkpoints created_at_ms database_digest folder schema sessions turns",
    "show": "checkpoint compactions context_snapshots hydration jobs packet session state turns",
}

NOTHING_THERE = {
    "restore", "quarantine retry", "quarantine drop", "outbox retry", "outbox drop", "notes history", "notes correct",
    "notes done", "notes drop", "notes reopen", "notes merge", "notes move", "notes forget",
}  # fmt: skip
"""They name a row, and here is none."""


@pytest.fixture
def house(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # away from the checkout's own .env
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return House(folder)


def test_every_command_answers_with_one_document(house):
    """On sound data each command prints JSON and nothing else, with the keys that programs rely on."""
    house.fill(3)
    for name, words in WORDS.items():
        if name in NOTHING_THERE:
            continue
        result = house.run(*name.split(), *words, "--json")
        found = json.loads(result.stdout)

        assert result.exit_code == 0, (name, result.stdout)
        assert result.stderr == "", name
        assert name not in KEYS or set(found) == set(KEYS[name].split()), name
    assert set(json.loads(house.run("restore", "copy", "--json").stdout)) == {
        "backup", "dropped", "set_aside", "unfinished",
    }  # fmt: skip
    assert set(json.loads(house.run("--version", "--json").stdout)) == {"version"}


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["show", "--json"], 2, "SESSION"),
        (["show", "x", "--json"], 1, "there is no session 'x'"),
        (["shw", "--json"], 2, "shw"),
        (["status", "--jsn", "--json"], 2, "--jsn"),
        (["sessions", "--limit", "many", "--json"], 2, "limit"),
        (["forget", "--user", "7", "--json"], 2, "--yes"),
        (["forget", "--yes", "--json"], 2, "--conversation or --user"),
        (["hydrate", "--json"], 2, "--all"),
        (["run", "--json"], 2, "--json"),
    ],
)
def test_what_is_asked_wrongly_is_a_document_too(house, words, code, told):
    """The document says why and with which code the command ends."""
    house.fill(1)
    result = house.run(*words)
    error = json.loads(result.stdout)["error"]

    assert (result.exit_code, error["exit_code"]) == (code, code)
    assert told.lower() in error["message"].lower()
    assert result.stderr == ""


def test_wrong_settings_are_named_in_the_document(house):
    """Each by its variable."""
    error = json.loads(house.run("status", "--json", env={"CONTINUITY_TIMEZONE": "Nowhere"}).stdout)["error"]

    assert error["exit_code"] == 2
    assert list(error["settings"]) == ["CONTINUITY_TIMEZONE"]


def on_a_terminal(words, env):
    """Run a command on a terminal of its own; return what the terminal got."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.executable, "-m", "bot", *words], stdout=theirs, stderr=theirs, stdin=theirs, env=env)
    os.close(theirs)
    got = b""
    try:
        while piece := os.read(ours, 65536):
            got += piece
    except OSError:
        pass  # how a terminal says that nobody is left
    os.close(ours)
    assert child.wait() == 0, got
    return got.decode()


def test_a_long_work_shows_how_far_it_is_on_a_terminal_only(house, tmp_path):
    """A backup on a terminal draws a bar; through a pipe, or with --json, there is none."""
    house.fill(2)
    here = str(Path(bot.__file__).parents[1])
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": here, "TERM": "xterm", "COLUMNS": "100"} | {
        name: value for name, value in house.env.items() if value is not None and name != "TERM"
    }

    assert "copying pages" in on_a_terminal(["backup", str(tmp_path / "one")], env)
    assert "copying pages" not in on_a_terminal(["backup", str(tmp_path / "two"), "--json"], env)
    piped = house.run("backup", str(tmp_path / "three"))
    assert "copying pages" not in piped.output


def test_a_backup_that_was_interrupted_is_made_again(house, tmp_path):
    """What a killed call left under the name is replaced; `restore` does not take it; other folders stay untouched."""
    house.fill(2)
    target = tmp_path / "copy"
    assert house.run("backup", str(target)).exit_code == 0
    (target / "backup.json").unlink()
    (target / "backup.unfinished").touch()

    refused = house.run("restore", str(target))
    assert refused.exit_code == 1
    assert "it was interrupted" in refused.stderr
    assert house.run("backup", str(target)).exit_code == 0
    assert house.run("restore", str(target)).exit_code == 0
