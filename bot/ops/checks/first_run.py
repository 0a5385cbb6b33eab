"""`init`: ask for token, model and access, and write them into `.env`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from bot.ops.checks.setup import PROVIDER_KEYS
from bot.ops.workspace import OpsError
from bot.settings import TOKEN_SHAPE
from bot.settings.shapes import parts
from memory.errors import reason
from memory.zones import known_zone

_LINE = re.compile(r"\s*(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=")
_PLAIN = re.compile(r"[\w@%+=:,./*-]*")


def wrong_token(token: str) -> str:
    """Return the fault of a bot's token, "" when it has the right shape."""
    return "" if TOKEN_SHAPE.fullmatch(token) else "that isn't a token; @BotFather gives one like 123456789:AA…"


def wrong_users(users: str) -> str:
    """Return the fault of a list of people, "" for ids, * or nothing."""
    wrong = [part for part in parts(users) if part != "*" and not part.isdecimal()]
    return f"{wrong[0]!r} isn't a number; @userinfobot on Telegram tells you yours" if wrong else ""


def wrong_zone(zone: str) -> str:
    """Return the fault of a time zone, "" for one that there is."""
    return "" if known_zone(zone) else f"{zone!r} isn't a time zone; write it like Europe/Berlin or America/New_York"


def key_of(model: str) -> str:
    """Return the variable that a model's key goes into, "" when it needs none or is not known."""
    names = PROVIDER_KEYS.get(model.partition(":")[0], ())
    return names[0] if names else ""


def merged(present: str, chosen: Mapping[str, str]) -> str:
    """Return the text of `.env` with these values: a line that is there changes in place, the rest stays."""
    left, lines = dict(chosen), []
    for line in present.splitlines():
        found = _LINE.match(line)
        name = found[1] if found else ""
        lines.append(f"{name}={_quoted(left.pop(name))}" if name in left else line)
    lines += [f"{name}={_quoted(value)}" for name, value in left.items()]
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def write(path: Path, chosen: Mapping[str, str]) -> None:
    """Write the values into the file, readable by its owner alone; the old file or the new one, never half of it.

    Raises `OpsError` when it cannot be read or written.
    """
    fresh = path.with_name(f"{path.name}.new")
    try:
        present = path.read_text(encoding="utf-8") if path.exists() else ""
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(merged(present, chosen))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except UnicodeDecodeError as exc:
        raise OpsError(f"{path} is not UTF-8 (byte {exc.start}); save it as UTF-8. Nothing was changed") from exc
    except OSError as exc:
        raise OpsError(f"{path} can't be written ({reason(exc)}); nothing was changed") from exc
