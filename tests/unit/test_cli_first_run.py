"""`init` asks what is needed to begin, and `run` refuses a model that cannot answer."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from dotenv import dotenv_values
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from bot.cli import app, start
from bot.cli.start import gives_lines
from bot.ops.checks.first_run import merged, wrong_token, wrong_users

TOKEN = "123456789:" + "A" * 35
VALUES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="$\x85"))


def run(*arguments, typed=""):
    """Run a command with what somebody types."""
    return CliRunner().invoke(app, arguments, input=typed)


def test_a_first_run_writes_what_is_needed(tmp_path, monkeypatch):
    """Token, model, access and the model's key stand in `.env`, for its owner alone; comments are kept."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("# mine\nCONTINUITY_MODEL=offline\n", encoding="utf-8")

    done = run("init", typed=f"{TOKEN}\nopenai:gpt-5-mini\n4711\nEurope/Berlin\nsk-1\nn\n")

    text = (tmp_path / ".env").read_text(encoding="utf-8")
    assert done.exit_code == 0
    assert text.startswith("# mine\nCONTINUITY_MODEL=openai:gpt-5-mini\n")
    assert dotenv_values(tmp_path / ".env")["OPENAI_API_KEY"] == "sk-1"
    assert dotenv_values(tmp_path / ".env")["CONTINUITY_TIMEZONE"] == "Europe/Berlin"
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert TOKEN not in done.output


def test_a_wrong_answer_is_asked_again(tmp_path, monkeypatch):
    """What cannot be right is said at once, and nothing is written before all is right."""
    monkeypatch.chdir(tmp_path)

    done = run("init", typed=f"nonsense\n{TOKEN}\nopnai:x\n\nme\n*\nAtlantis\n\nn\n")

    assert "isn't a token" in done.output
    assert "unknown provider" in done.output
    assert "isn't a number" in done.output
    assert "isn't a time zone" in done.output
    assert dotenv_values(tmp_path / ".env") == {"TELEGRAM_BOT_TOKEN": TOKEN, "CONTINUITY_ALLOWED_USERS": "*"}


def test_a_first_run_that_is_broken_off_changes_nothing(tmp_path, monkeypatch):
    """Ctrl-C, or the end of input, leaves the file as it was."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("A=1\n", encoding="utf-8")

    done = run("init", typed=f"{TOKEN}\n")

    assert done.exit_code == 1
    assert (tmp_path / ".env").read_text(encoding="utf-8") == "A=1\n"


@given(VALUES, VALUES)
def test_whatever_is_written_is_read_back(tmp_path_factory, one, other):
    """Any value survives the file, and what stood there stays."""
    path = tmp_path_factory.mktemp("env") / ".env"
    path.write_text(merged(merged("KEPT=yes\n", {"ONE": one}), {"OTHER": other}), encoding="utf-8")

    assert dotenv_values(path, interpolate=False) == {"KEPT": "yes", "ONE": one, "OTHER": other}


@pytest.mark.parametrize(
    ("judge", "right", "wrong"),
    [(wrong_token, TOKEN, "12:x"), (wrong_users, "1, 2,*", "@ana"), (wrong_users, "", "1;2")],
)
def test_what_is_typed_is_judged(judge, right, wrong):
    """A right answer has no fault, a wrong one a sentence."""
    assert judge(right) == ""
    assert judge(wrong)


@pytest.mark.parametrize("command", ["chat", "run"])
@pytest.mark.parametrize(
    ("model", "told"), [("opnai:gpt", "unknown provider"), ("openai:gpt-5-mini", "OPENAI_API_KEY")]
)
def test_a_model_that_cannot_answer_is_refused_at_the_start(command, model, told, tmp_path, monkeypatch):
    """A wrong name or a missing key is a sentence and exit 2 before anything starts."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CONTINUITY_MODEL", model)
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)

    refused = run(command)

    assert refused.exit_code == 2
    assert told in refused.output
    assert not list(tmp_path.iterdir())


def test_the_version_is_told():
    """`--version` prints it and does nothing else."""
    assert run("--version").output.startswith("continuity-bot ")


def test_only_a_pipe_or_a_file_is_answered_line_by_line(tmp_path):
    """With a terminal, nothing to read or no input at all `make run` opens the messenger, and says where."""
    (tmp_path / "lines").write_text("hello\n", encoding="utf-8")
    reads, writes = os.pipe()
    keyboard, terminal = os.openpty()
    with (
        os.fdopen(reads) as pipe,
        os.fdopen(terminal) as at_terminal,
        Path(os.devnull).open() as nothing,
        (tmp_path / "lines").open() as file,
    ):
        found = [gives_lines(each) for each in (pipe, file, at_terminal, nothing, None)]
    os.close(writes)
    os.close(keyboard)

    assert found == [True, True, False, False, False]


@pytest.mark.parametrize("command", ["run", "chat", "play", "start"])
def test_a_misspelt_setting_is_said_at_the_start(tmp_path, monkeypatch, command):
    """In the environment and in `.env`, in whatever case, with what was probably meant; what others read is not."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(start, "_WARNED", set())
    for name in [name for name in os.environ if name.startswith(("CONTINUITY_", "TELEGRAM_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CONTINUITY_ALLOWED_USER", "4711")
    monkeypatch.setenv("telegram_webhok_url", "")
    monkeypatch.setenv("CONTINUITY_PLAYGROUND", "here")
    monkeypatch.setenv("CONTINUITY_MODEL", "nonsense")
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", TOKEN)
    (tmp_path / ".env").write_text("CONTINUITY_TIMEZON=Europe/Berlin\n", encoding="utf-8")

    done = run(command)

    assert done.exit_code == 2
    assert "CONTINUITY_ALLOWED_USER is set, but there is no such setting; did you mean CONTINUITY_ALLOWED_USERS?" in (
        said := done.stderr.replace("\n", " ")
    )
    assert "did you mean TELEGRAM_WEBHOOK_URL?" in said
    assert said.count("did you mean CONTINUITY_TIMEZONE?") == 1
    assert said.count("Warning:") == 3
