"""docs/reference/commands.md from the program: `.venv/bin/python tests/docs/commands_page.py` writes it again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from bot import cli  # noqa: E402 - the project's folder has to be on the path first

PAGE = ROOT / "docs" / "reference" / "commands.md"
HEAD = """\
# Commands

Every command of `.venv/bin/continuity-bot`, with its options. What they are good for is told in
[look after a running bot](../how-to/operate.md); exit codes and `--json` too.

This page is made from `bot/cli/` by `.venv/bin/python tests/docs/commands_page.py`; a test compares the two.
"""


def commands() -> Iterator[tuple[str, Any]]:
    """Return every command with its name, in the order of `--help`."""
    for name, command in typer.main.get_command(cli.app).commands.items():
        if command.hidden:
            continue
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        else:
            yield from ((f"{name} {each}", found) for each, found in inner.items())


def usage(name: str, command: Any) -> str:
    """Return how the command is typed."""
    places = [each.name.upper() if each.required else f"[{each.name.upper()}]" for each in command.params
              if each.param_type_name == "argument"]  # fmt: skip
    return " ".join([name, *places])


def rows(command: Any) -> list[str]:
    """Return a row for each option and argument."""
    found = []
    for each in command.params:
        if each.param_type_name == "argument":
            found.append(f"| `{each.name.upper()}` | {each.help or ''} |")
            continue
        is_flag = getattr(each, "is_flag", False)
        given = "" if is_flag else f" {(each.metavar or each.name).upper()}"
        default = "" if is_flag or each.default in (None, "") else f" Default: `{each.default}`."
        found.append(f"| `{each.opts[0]}{given}` | {each.help or ''}{default} |")
    return found


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for name, command in commands():
        table = rows(command)
        parts.append(
            f"## {name}\n\n```sh\n.venv/bin/continuity-bot {usage(name, command)}\n```\n\n{command.help.strip()}\n"
        )
        if table:
            parts.append("| option | what it does |\n|---|---|\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
