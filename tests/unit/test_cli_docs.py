"""The guide for operators names every command and every check, and nothing that does not exist."""

import re
from pathlib import Path

import typer

from bot import cli
from bot.ops import checks

GUIDE = (Path(__file__).parents[2] / "docs" / "how-to" / "operate.md").read_text(encoding="utf-8")
NOT_FOR_OPERATORS = {"play", "init", "run", "chat", "start"}


def commands():
    """Return every command as it is typed."""
    root = typer.main.get_command(cli.app)
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        yield from (f"{name} {each}" for each in inner) if inner else (name,)


def test_the_guide_explains_every_command():
    """The table has each of them once, and no other."""
    listed = re.findall(r"^\| `([^`]+)` \|", GUIDE.split("## Is it well?")[0], flags=re.MULTILINE)
    named = {" ".join(word for word in line.split() if word.islower() and word[0] != "-") for line in listed}

    assert named == set(commands()) - NOT_FOR_OPERATORS


def test_the_guide_explains_every_check():
    """Each id that `doctor` can report stands in the table."""
    source = "".join(path.read_text(encoding="utf-8") for path in Path(checks.__file__).parent.glob("*.py"))
    ids = set(re.findall(r'Check\(\s*"([a-z._]+)"', source))
    told = set(re.findall(r"`([a-z._]+)`", "".join(re.findall(r"^\| (`[^|]+) \|", GUIDE, flags=re.MULTILINE))))

    assert ids
    assert ids <= told
