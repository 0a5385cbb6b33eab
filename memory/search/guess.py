"""Guess the language of a text with py3langid's model, mapped from a file: no second of loading, no 90 MB held.

The library itself keeps its tables in memory and needs numpy for them. Its arithmetic is short: a walk over the bytes
counts features, and each language gets the sum of its weights for them.
"""

from __future__ import annotations

import ast
import logging
import lzma
import math
import mmap
import shutil
import struct
import zipfile
from array import array
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import IO, Any, BinaryIO, cast
from unicodedata import normalize

from memory.process.mapped import mapped_file

_PACKAGE = "py3langid"
_LOCAL_HEADER = struct.Struct("<26xHH")
"""The lengths of the name and of the extra field in a zip file's entry."""
_HEADER_BYTES = 30
_TYPES = {"<f4": "f", "<u4": "I", "<u2": "H", "<i4": "i"}
CACHED_TEXTS = 256
CACHED_FEATURES = 2048
"""Rows of weights that are kept unpacked, 0.4 KB each: people's texts share most of their features."""
TEXTS_HELD = 16
"""Texts that share the pages they read, a few megabytes, before these are let go: each page costs a fault."""

log = logging.getLogger(__name__)


class LanguageModel:
    """py3langid's model over a mapped file."""

    def __init__(self, file: mmap.mmap) -> None:
        self._file = file
        self._texts = 0
        self._weights_of = lru_cache(CACHED_FEATURES)(self._read_weights)
        arrays = _arrays(file)
        self._weights, (_, languages) = arrays["ptc"]
        self._row = struct.Struct(f"<{languages}e")
        self._bias = list(_cast(arrays["pc"][0], "<f4"))
        self._next = _cast(arrays["nextmove"][0], "<u4")
        self._rows = _cast(arrays["nextmove_row"][0], "<u2")
        self._features = _cast(arrays["out_feat"][0], "<i4")
        names = bytes(arrays["classes"][0]).decode("utf-32-le")
        width = len(names) // languages
        self._codes = [names[at : at + width].rstrip("\0") for at in range(0, len(names), width)]

    def classify(self, text: str) -> str:
        """Return the code of the most likely language."""
        counts, scores = self._counts(text), list(self._bias)
        if not counts:
            return self._codes[0]  # as the library does: a language without a data file
        by_count: dict[int, list[array[float]]] = {}
        for feature, count in counts.items():
            by_count.setdefault(count, []).append(self._weights_of(feature))
        for count, found in by_count.items():  # columns are summed in C, most features occur once
            weight = math.log1p(count)
            columns = map(sum, zip(*found, strict=True))
            scores = [score + weight * column for score, column in zip(scores, columns, strict=True)]
        self._texts += 1
        if not self._texts % TEXTS_HELD:
            self._file.madvise(mmap.MADV_DONTNEED)  # what was read stays in the system's cache, not in our memory
        best = max(range(len(scores)), key=scores.__getitem__)
        return self._codes[best]

    def _read_weights(self, feature: int) -> array[float]:
        return array("f", self._row.unpack_from(self._weights, feature * self._row.size))

    def _counts(self, text: str) -> Counter[int]:
        """Return the number of occurrences of each feature in the bytes of the text."""
        lowered = text.lower() if text.isupper() else text
        state, moves, rows, features = 0, self._next, self._rows, self._features
        found = []
        for byte in normalize("NFC", lowered).encode("utf-8", errors="surrogatepass"):
            state = moves[(rows[state] << 8) + byte]
            if (feature := features[state]) >= 0:
                found.append(feature)
        return Counter(found)


def _cast(data: memoryview, kind: str) -> Any:
    return data.cast(_TYPES[kind])  # type: ignore[call-overload]  # the format is one of four


def _arrays(file: mmap.mmap) -> dict[str, tuple[memoryview, tuple[int, ...]]]:
    """Return the bytes and the shape of each array of an .npz file that is stored without compression."""
    whole, found = memoryview(file), {}
    with zipfile.ZipFile(cast("IO[bytes]", file)) as archive:  # it can be read and sought
        for entry in archive.infolist():
            name_bytes, extra_bytes = _LOCAL_HEADER.unpack_from(file, entry.header_offset)
            start = entry.header_offset + _HEADER_BYTES + name_bytes + extra_bytes
            data = whole[start : start + entry.file_size]
            head_bytes = int.from_bytes(data[8:10], "little")
            head = ast.literal_eval(bytes(data[10 : 10 + head_bytes]).decode("latin-1"))
            found[entry.filename.removesuffix(".npy")] = data[10 + head_bytes :], head["shape"]
    return found


def _packed() -> Path:
    """Return the model's file; the package itself is not imported, since it would import numpy."""
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the package {_PACKAGE} is not installed")
    return Path(spec.origin).parent / "data" / "model.npz.xz"


def _unpack(file: BinaryIO) -> None:
    with lzma.open(_packed()) as model:
        shutil.copyfileobj(model, file, 1 << 20)


def _is_whole(file: mmap.mmap) -> bool:
    """Return whether the directory at the file's end is there."""
    return zipfile.is_zipfile(cast("IO[bytes]", file))


def load() -> LanguageModel:
    """Return the model; the first call on a machine takes a second, later ones some milliseconds.

    Raises `OSError` when it can be unpacked nowhere.
    """
    packed_bytes = _packed().stat().st_size
    return LanguageModel(mapped_file(f"languages-{packed_bytes}.npz", _unpack, _is_whole))


class LanguageGuess:
    """The model, loaded at the first text or by `load`, whichever comes first."""

    def __init__(self) -> None:
        self._loading = Lock()
        self._classify: Callable[[str], str] | None = None
        self._failed = False

    def load(self) -> None:
        """Load the model unless it is there; a second caller waits. Never raises: without one nothing is guessed."""
        with self._loading:
            if self._classify is None and not self._failed:
                try:
                    self._classify = lru_cache(CACHED_TEXTS)(load().classify)
                except (OSError, ValueError) as exc:
                    self._failed = True
                    log.warning("languages are told by their frequent words alone: %s", exc)

    def guess(self, text: str) -> str | None:
        """Return the code of the language; None while another thread loads the model, or when there is none."""
        if self._classify is None:
            if self._failed or self._loading.locked():
                return None
            self.load()
        return self._classify(text) if self._classify else None
