"""The secrets that bots of tests are given, and where none of them may stand: logs at DEBUG, files, messages, pages."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

MODEL_KEY = "sk-loopback"
HOLDERS = re.compile(r"\.env.*")
"""Files that are there to hold secrets."""
_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_SHORTEST = 8


def secrets_in(env: Mapping[str, str]) -> set[str]:
    """Return the values of settings and variables that are named like secrets."""
    return {value for name, value in env.items() if _NAMES.search(name) and len(value) >= _SHORTEST}


def leaked(text: bytes, secrets: Collection[str]) -> list[str]:
    """Return the secrets that stand in a text."""
    return [secret for secret in secrets if secret.encode() in text]


def leaks(folder: Path, secrets: Collection[str]) -> dict[str, list[str]]:
    """Return the files of a folder in which a secret stands."""
    files = [file for file in folder.rglob("*") if file.is_file() and not HOLDERS.fullmatch(file.name)]
    return {str(file): found for file in files if (found := leaked(file.read_bytes(), secrets))}
