"""Voice messages in pieces: an Ogg file is cut between its pages, so that no decoder is needed. Pure.

Each page says how far its stream has come, in samples (of Opus 48,000 a second). A piece is the pages of the stream's
header, then some of the others, numbered again and with their times from zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

RATE: Final = 48_000
_HEAD: Final = 27
_FIRST, _LAST, _GOES_ON = 0x02, 0x04, 0x01
_NO_TIME: Final = 0xFFFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an Ogg file."""

    data: bytes
    flags: int
    samples: int | None
    """Position of the stream at the page's end, None when no packet ends here."""


@dataclass(frozen=True, slots=True)
class OggPiece:
    """A part of a recording that can be listened to alone."""

    start_s: float
    seconds: float
    data: bytes


def pages(data: bytes) -> list[Page] | None:
    """The pages of an Opus stream, None for another file or a damaged one."""
    found: list[Page] = []
    at = 0
    while at + _HEAD <= len(data):
        if data[at : at + 4] != b"OggS":
            return None
        table = data[at + _HEAD : at + _HEAD + data[at + 26]]
        size = _HEAD + len(table) + sum(table)
        samples = int.from_bytes(data[at + 6 : at + 14], "little")
        found.append(Page(data[at : at + size], data[at + 5], None if samples == _NO_TIME else samples))
        at += size
    is_opus = bool(found) and b"OpusHead" in found[0].data[:64]
    return found if is_opus and at == len(data) else None


def seconds_of(data: bytes) -> float | None:
    """Length of an Opus recording, None for another file."""
    found = pages(data)
    return max((page.samples or 0 for page in found), default=0) / RATE if found else None


def cut(data: bytes, seconds: float) -> list[OggPiece] | None:
    """The recording in pieces of about so many seconds, None for a file that is none of Opus."""
    found = pages(data)
    if found is None:
        return None
    heads, sound = _parted(found)
    return list(_pieces(heads, sound, seconds))


def _parted(found: Sequence[Page]) -> tuple[list[Page], list[Page]]:
    """The pages of the header (the first packets: the codec's head, then its tags), and those with sound."""
    at = next((number for number, page in enumerate(found) if (page.samples or 0) > 0), len(found))
    while at and found[at - 1].samples is None:  # the beginning of a packet that ends on the next page
        at -= 1
    return list(found[:at]), list(found[at:])


def _pieces(heads: Sequence[Page], sound: Sequence[Page], seconds: float) -> Iterator[OggPiece]:
    taken: list[Page] = []
    begins = at = 0
    for number, page in enumerate(sound):
        taken.append(page)
        at = page.samples if page.samples is not None else at
        following = sound[number + 1] if number + 1 < len(sound) else None
        is_whole = following is None or not following.flags & _GOES_ON
        if following is None or (is_whole and at - begins >= seconds * RATE):
            yield OggPiece(begins / RATE, (at - begins) / RATE, _written([*heads, *taken], begins, is_end=True))
            taken, begins = [], at


def _written(found: Sequence[Page], begins: int, *, is_end: bool) -> bytes:
    out: list[bytes] = []
    for number, page in enumerate(found):
        flags = (page.flags & ~_LAST) | (_LAST if is_end and number == len(found) - 1 else 0)
        samples = _NO_TIME if page.samples is None else max(0, page.samples - begins)
        head = bytearray(page.data)
        head[5] = flags
        head[6:14] = samples.to_bytes(8, "little")
        head[18:22] = number.to_bytes(4, "little")
        head[22:26] = bytes(4)
        head[22:26] = _checksum(head).to_bytes(4, "little")
        out.append(bytes(head))
    return b"".join(out)


def _table() -> list[int]:
    found: list[int] = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1) ^ (0x04C1_1DB7 if value & 0x8000_0000 else 0)
        found.append(value & 0xFFFF_FFFF)
    return found


_TABLE: Final = _table()


def _checksum(data: bytes | bytearray) -> int:
    value = 0
    for byte in data:
        value = ((value << 8) & 0xFFFF_FFFF) ^ _TABLE[(value >> 24) ^ byte]
    return value
