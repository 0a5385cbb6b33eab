"""What docs, docstrings and comments name is there: files, modules and what is in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "bot/**/*.py", "memory/**/*.py", "bot/**/*.sql", "memory/**/*.sql")
    for path in ROOT.glob(pattern)
    if "migrations" not in path.parts
    and path.name != "CHANGELOG.md"
    and "*Superseded by" not in path.read_text(encoding="utf-8")
)
FILES = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
ENDS = (".py", "/__init__.py")
PEOPLES_OWN = {"my_tools.py", "tools.py", "bot.py", "kill_me.py", "shop.py"}
"""Files that a page has its reader write."""


def is_there(module: str, name: str) -> bool:
    """Return whether a module of this (last) name is there and has the word in it."""
    homes = [path for path in FILES if f"/{path}".endswith((f"/{module}.py", f"/{module}/__init__.py"))]
    return any(re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8")) for path in homes)


def test_no_text_names_a_file_that_is_gone():
    """`toolbox.py` in a sentence is a file of that name somewhere."""
    gone = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in TEXTS
        for name in re.findall(r"`(?:[\w./-]*/)?([\w-]+(?:/[\w-]+)*\.py)\b", path.read_text(encoding="utf-8"))
        if name not in PEOPLES_OWN and not any(f"/{file}".endswith(f"/{name}") for file in FILES)
    }

    assert gone == set()


def test_no_text_names_what_is_gone():
    """`memory.ports.Database` or `ports.Database` in a sentence is something that stands there."""
    gone = set()
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        for whole in re.findall(r"`((?:bot|memory)(?:\.\w+)+|[a-z_]+\.[A-Z]\w+)(?=[`(.])", text):
            *_, module, name = whole.split(".")
            is_module = any(f"/{file}".endswith(f"/{whole.replace('.', '/')}{end}") for file in FILES for end in ENDS)
            of_ours = any(Path(file).stem == module for file in FILES)
            if not is_module and of_ours and not is_there(module, name):
                gone.add((path.relative_to(ROOT).as_posix(), whole))

    assert gone == set()
