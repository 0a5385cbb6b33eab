"""The house keeps its ceilings: files that one can read in one go, folders that one can overlook."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for room in ("bot", "memory") for path in (ROOT / room).rglob("*.py"))
MAX_LINES, MAX_FILES, MAX_PARAMETERS = 350, 15, 8
MANY = {
    "memory/opening.py open",
}  # fmt: skip
"""Functions that take more still; none may be added."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_a_file_says_what_it_is_for_and_keeps_to_its_length():
    """At most 350 lines, and a sentence at the top."""
    texts = {name_of(path): path.read_text(encoding="utf-8") for path in SOURCES}
    long = {name for name, text in texts.items() if text.count("\n") > MAX_LINES}

    assert long == set()
    assert {name for name, text in texts.items() if not re.match(r'r?"""\S', text)} == set()


def test_a_folder_holds_no_more_than_one_can_overlook():
    """At most 15 files."""
    files = Counter(name_of(path.parent) for path in SOURCES)

    full = {folder: count for folder, count in files.items() if count > MAX_FILES}
    assert not full, "files that belong together go into a folder of their own"


def test_every_query_is_asked():
    """A name in a file of queries stands in the code; those of copies are made of a table's name."""
    named, asked = set(), set()
    for path in (path for room in ("bot", "memory", "tests") for path in (ROOT / room).rglob("*.*")):
        if path.suffix == ".sql" and "migrations" not in path.parts:
            named |= set(re.findall(r"^-- name: (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        elif path.suffix == ".py":
            asked |= set(re.findall(r'"(\w+)"', path.read_text(encoding="utf-8")))

    assert {name for name in named - asked if not name.startswith(("copy_in_", "copy_out_"))} == set()


def test_an_exception_from_a_rule_has_its_reason():
    """Behind each `noqa` stands why."""
    lines = [line for path in SOURCES for line in path.read_text(encoding="utf-8").splitlines()]

    assert [line for line in lines if re.search(r"# noqa(?!: [A-Z0-9, ]+ - \S)", line)] == []


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    return len(
        [each for each in (*given.posonlyargs, *given.args, *given.kwonlyargs) if each.arg not in {"self", "cls"}]
    )


def test_a_function_takes_no_more_than_eight_things():
    """A new noun beats a ninth parameter."""
    found = {
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and parameters(node) > MAX_PARAMETERS
        if f"{name_of(path)} {node.name}" not in MANY
    }

    assert found == set()
