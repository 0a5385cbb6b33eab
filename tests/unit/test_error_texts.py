"""How errors read: one rule for every text that is raised, held here."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import bot
import memory
from bot.cli.common import for_programs, stop_with
from memory.errors import ContinuityError, UnknownSession

ROOTS = (Path(bot.__file__).parent, Path(memory.__file__).parent)
TO_OTHERS = ("playground", "tools")
"""What speaks as Telegram does, and what a model is told."""
BEGINS = re.compile(r"[a-z'‘“{`#0-9-]|[A-Z][A-Z_]+|Telegram|PostgreSQL|SQLite|GET|HTTP|\.env")


def texts(folder: Path) -> list[tuple[str, str]]:
    """Return where each raised text stands, and the text; `{}` stands for a value."""
    found = []
    for file in folder.rglob("*.py"):
        if any(part in TO_OTHERS for part in file.relative_to(folder).parts):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                found += [(f"{file.name}:{node.lineno}", text) for each in node.exc.args if (text := written(each))]
    return found


def written(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


@pytest.mark.parametrize("folder", ROOTS, ids=lambda folder: folder.name)
def test_an_error_begins_small_and_ends_without_a_stop(folder):
    """So it reads right wherever it is put: after "Error: ", in a line of the log, inside another error's text."""
    found = [each for each in texts(folder) if " " in each[1]]

    assert len(found) > 40
    assert not [each for each in found if not BEGINS.match(each[1]) or each[1].endswith((".", "!"))]


def test_an_error_without_a_text_says_what_its_class_is_about():
    """The default is the docstring, written as the others are."""
    assert str(UnknownSession()) == "there is no session with this id; ask for the sessions of its conversation"
    assert str(ContinuityError()) == "something in the conversation memory went wrong"


def test_a_command_that_fails_says_error_before_what_it_was(capsys):
    """As the library of the command line does for what it finds itself."""
    for_programs.set(False)
    assert stop_with("there is no database").exit_code == 1
    assert capsys.readouterr().err == "Error: there is no database\n"
