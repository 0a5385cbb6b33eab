"""The Tab key: commands, options and sessions, in bash, zsh and fish."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app

SHELLS = {
    "bash": lambda words: {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)},
    "zsh": lambda words: {"_TYPER_COMPLETE_ARGS": " ".join(words)},
    "fish": lambda words: {"_TYPER_COMPLETE_ARGS": " ".join(words), "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


@pytest.fixture
def house(house):
    house.fill(1)
    return house


def pressed(house, env):
    """Run what the shell's script runs when Tab is pressed."""
    return CliRunner().invoke(app, [], env=house.env | env, prog_name="continuity-bot")


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_options_and_sessions_are_completed(house, shell):
    """What the shell's own script asks for is answered, and nothing that does not begin like it."""

    def offered(*words):
        env = SHELLS[shell](("continuity-bot", *words)) | {"_CONTINUITY_BOT_COMPLETE": f"complete_{shell}"}
        return pressed(house, env).stdout

    assert "checkpoint" in offered("check")
    assert "status" not in offered("check")
    assert "rebuild" in offered("checkpoint", "re")
    assert "--json" in offered("status", "--j")
    assert house.sessions[0] in offered("show", "s_")


def test_nothing_is_offered_and_nothing_said_without_a_database(house):
    """Whoever presses Tab wants no error message."""
    house.database.unlink()
    env = SHELLS["bash"](("continuity-bot", "show", "s_")) | {"_CONTINUITY_BOT_COMPLETE": "complete_bash"}
    result = pressed(house, env)

    assert result.output.strip() == ""


PRESSED = {
    "bash": """
eval "$({program} --show-completion)"
COMP_WORDS=({program} checkpoint v) COMP_CWORD=2
_continuity_bot_completion {program}
echo "offered: ${{COMPREPLY[*]}}"
""",
    "zsh": """
compdef() {{ }}
_arguments() {{ echo "offered: $*" }}
eval "$({program} --show-completion)"
words=({program} checkpoint v) CURRENT=3
_continuity_bot_completion
""",
    "fish": """
{program} --show-completion | source
echo offered: (complete -C "continuity-bot checkpoint v")
""",
}
"""What each shell does with its script when Tab is pressed, the shell's own part taken as given."""


@pytest.mark.parametrize("shell", PRESSED)
def test_the_script_works_in_its_shell(house, shell):
    """What `--show-completion` prints, read by the shell itself, offers the command that was begun."""
    where = shutil.which(shell)
    if where is None:
        pytest.skip(f"{shell} is not installed")
    program = Path(sys.executable).with_name("continuity-bot")
    env = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(house.folder), "SHELL": where}
    asked = PRESSED[shell].format(program=program)
    done = subprocess.run([where, "-c", asked], env=env, capture_output=True, text=True, check=True)

    assert "verify" in done.stdout.partition("offered: ")[2]
