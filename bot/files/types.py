"""Type of a file by its content: its name and Telegram's word for it are only claims. Pure but for one small read."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HEAD_BYTES: Final = 4096
PDF_WITHIN: Final = 1024
"""A PDF may begin behind a little rubbish."""
TEXT_SHARE: Final = 0.02
"""Of a text at most so much are control signs."""


@dataclass(frozen=True, slots=True)
class FileType:
    """The kind of a file: how it is read, and its name for people."""

    reader: str
    """pdf, docx, xlsx, pptx, epub, html, text, picture, sound; "" for none."""
    media_type: str
    label: str
    unit: str = ""
    """The name of its pages; "" where it has none."""


PDF: Final = FileType("pdf", "application/pdf", "PDF", "page")
_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
DOCX: Final = FileType("docx", f"{_OFFICE}wordprocessingml.document", "Word", "page")
XLSX: Final = FileType("xlsx", f"{_OFFICE}spreadsheetml.sheet", "Excel", "sheet")
PPTX: Final = FileType("pptx", f"{_OFFICE}presentationml.presentation", "PowerPoint", "slide")
EPUB: Final = FileType("epub", "application/epub+zip", "EPUB", "chapter")
HTML: Final = FileType("html", "text/html", "HTML", "part")
TEXT: Final = FileType("text", "text/plain", "text", "part")
SVG: Final = FileType("text", "image/svg+xml", "SVG, as text", "part")
_PICTURES: Final = {
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/bmp": (b"BM",),
    "image/tiff": (b"II*\0", b"MM\0*"),
}
_SOUNDS: Final = {
    "audio/ogg": (b"OggS",),
    "audio/mpeg": (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"),
    "audio/flac": (b"fLaC",),
}
_REFUSED: Final = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "old Office",
    b"Rar!\x1a\x07": "RAR",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"\x1f\x8b": "GZIP",
    b"MZ": "program",
    b"\x7fELF": "program",
    b"{\\rtf": "RTF",
}
_BY_PART: Final = (("word/", DOCX), ("xl/", XLSX), ("ppt/", PPTX))
_HTML: Final = re.compile(
    rb"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_SVG: Final = re.compile(
    rb"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*|<!doctype[^>]*>\s*)*<svg\b", re.IGNORECASE | re.DOTALL
)


def unread(label: str) -> FileType:
    """The type of a file that nobody here reads, by people's name for it."""
    return FileType("", "application/octet-stream", label)


def type_of(path: Path) -> FileType:
    """The type of a file at rest. Raises `OSError`."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if b"%PDF-" in head[:PDF_WITHIN]:  # before anything else that it may be too
        return PDF
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _of_archive(path)
    return _by_magic(head) or _of_text(head)


def _by_magic(head: bytes) -> FileType | None:
    for kinds, reader in ((_PICTURES, "picture"), (_SOUNDS, "sound")):
        for media_type, marks in kinds.items():
            if head.startswith(marks):
                return FileType(reader, media_type, media_type.partition("/")[2].upper())
    if head[:4] == b"RIFF" and head[8:12] in (b"WEBP", b"WAVE"):
        return (
            FileType("picture", "image/webp", "WEBP")
            if head[8:12] == b"WEBP"
            else FileType("sound", "audio/wav", "WAV")
        )
    if head[4:8] == b"ftyp":
        return FileType("sound", "audio/mp4" if head[8:11] == b"M4A" else "video/mp4", "MP4")
    if head.startswith(b"\x1aE\xdf\xa3"):
        return FileType("sound", "video/webm", "WebM")
    return next((unread(label) for mark, label in _REFUSED.items() if head.startswith(mark)), None)


def _of_archive(path: Path) -> FileType:
    """The type of a ZIP archive by its entries."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            has_type = "mimetype" in names and archive.getinfo("mimetype").file_size < PDF_WITHIN
            if has_type and archive.read("mimetype").strip() == b"application/epub+zip":
                return EPUB
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError, EOFError):
        return unread("ZIP")
    if "[Content_Types].xml" not in names:
        return unread("ZIP")
    return next((found for part, found in _BY_PART if any(name.startswith(part) for name in names)), unread("ZIP"))


def _of_text(head: bytes) -> FileType:
    if _HTML.match(head):
        return HTML
    if _SVG.match(head):
        return SVG
    text = decoded(head)
    control = sum(char < " " and char not in "\t\n\r\f\x1b" for char in text) + text.count("\ufffd")
    return TEXT if control <= TEXT_SHARE * len(text) else unread("unknown type")


def decoded(data: bytes) -> str:
    """A text in an unknown encoding: by its mark, as UTF-8, else as Cyrillic or western bytes; never raises."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    whole = data[: len(data) - _cut_sign(data)]
    try:
        return whole.decode("utf-8")
    except UnicodeDecodeError:
        high = [byte for byte in data if byte >= 0x80]  # noqa: PLR2004 - beyond ASCII
        cyrillic = sum(byte >= 0xC0 for byte in high)  # noqa: PLR2004 - the letters of Windows-1251
        runs = len(re.findall(rb"[\xc0-\xff]{3}", data))
        return data.decode("cp1251" if runs and cyrillic > len(high) * 0.8 else "cp1252", "replace")


def _cut_sign(data: bytes) -> int:
    """The number of last bytes that begin a sign which was cut off."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:  # noqa: PLR2004 - it begins a sign of several bytes
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4  # noqa: PLR2004 - the bytes of UTF-8
            return back if back < length else 0
        if byte < 0x80:  # noqa: PLR2004 - the bytes of UTF-8
            return 0
    return 0
