"""docs/reference/settings.md from the settings class: `.venv/bin/python tests/docs/settings_page.py` writes it."""

from __future__ import annotations

import sys
from pathlib import Path

from pydantic.fields import FieldInfo

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from bot.settings import Settings, limits  # noqa: E402 - the project's folder has to be on the path first

PAGE = ROOT / "docs" / "reference" / "settings.md"
HEAD = """\
# Settings

Every setting is an environment variable, or a line of the file `.env` in the folder where the bot is started. The
environment wins over `.env`; an empty value is the default; a name in lower case works too. A wrong value stops the
start with exit code 2 and a sentence that names the variable. `.venv/bin/continuity-bot doctor` checks them all.

This page is made from `bot/settings/fields.py` by `.venv/bin/python tests/docs/settings_page.py`; a test compares them.

| variable | default | what it is |
|---|---|---|
"""
TAIL = """
Keys and addresses of model providers keep the providers' own names: see
[how to run it](../how-to/run.md#choose-a-model) and `.env.example`.
"""


def kind(field: FieldInfo) -> str:
    """Return what values a field takes, in a few words; empty when the description says it all."""
    text = str(field.annotation)
    if "Literal" in text:
        options = text[text.index("[") + 1 : text.rindex("]")].replace("'", "`")
        return f"One of {options}."
    if "bool" in text:
        return "`true` or `false`."
    number = "Whole number" if "int" in text else "Number" if "float" in text else ""
    bounds = limits(field)
    return f"{number}, {bounds}." if number and bounds else ""


def default(field: FieldInfo) -> str:
    """Return a field's default as it would be written down."""
    if field.default in (None, ""):
        return "–"
    value = str(field.default)
    return f"`{value.lower() if isinstance(field.default, bool) else value}`"


def page() -> str:
    """Return the whole page."""
    rows = [
        f"| `{name.upper()}` | {default(field)} | {' '.join(filter(None, (field.description, kind(field))))} |"
        for name, field in Settings.model_fields.items()
    ]
    return HEAD + "\n".join(rows) + "\n" + TAIL


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
