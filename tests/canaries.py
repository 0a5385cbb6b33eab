"""The secrets that bots of tests are given, and where none of them may stand: logs at DEBUG, files, messages, pages."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import structlog
from pydantic import SecretStr

from bot.playground.bot_api.world import PLAYGROUND_TOKEN
from bot.process.logs import set_up

MODEL_KEY = "sk-loopback"
HTTP_TOKEN = "a-token-for-the-tests"
SECRETS = frozenset({MODEL_KEY, HTTP_TOKEN, PLAYGROUND_TOKEN})
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
    return {str(file): found for file in files if (found := leaked(_bytes_of(file), secrets))}


def _bytes_of(file: Path) -> bytes:
    """What a file holds; nothing where it went meanwhile, as the guard of a server that ends does."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


class _Searched:
    """A stream that keeps nothing but the secrets that were written to it."""

    def __init__(self, secrets: Collection[str]) -> None:
        self._secrets = secrets
        self.found: set[str] = set()

    def write(self, text: str) -> None:
        self.found.update(leaked(text.encode("utf-8", "replace"), self._secrets))

    def flush(self) -> None:
        """Do nothing: all of it was looked at."""


@contextmanager
def searched_log(secrets: Collection[str], *, told: bool = True) -> Iterator[None]:
    """Log at DEBUG, as the program does when it is `told` its secrets; fail when one of them is in a line."""
    root, config = logging.getLogger(), structlog.get_config()
    others, level = list(root.handlers), root.level
    set_up("DEBUG", secrets=[SecretStr(secret) for secret in secrets] if told else [])
    (searching,) = root.handlers
    searching.setStream(stream := _Searched(secrets))
    root.handlers = [*others, searching]
    for handler in others:  # pytest's: a test is shown what it would have been shown
        handler.setLevel(max(handler.level, level))
    try:
        yield
    finally:
        root.removeHandler(searching)
        root.setLevel(level)
        for handler in others:
            handler.setLevel(logging.NOTSET)
        structlog.configure(**config)
    assert stream.found == set()


async def search_answer(answer: httpx.Response) -> None:
    """Fail when a page, or its head, holds a secret that its reader did not send; for `event_hooks` of a client."""
    if "event-stream" not in answer.headers.get("content-type", ""):
        whole = await answer.aread() + str(answer.headers).encode()
        assert leaked(whole, SECRETS) == []
