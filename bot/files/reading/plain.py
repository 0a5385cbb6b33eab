"""Texts, web pages and e-books as parts or chapters."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from bot.files.reading.archive import checked
from bot.files.reading.errors import Unreadable
from bot.files.types import decoded

Page = tuple[int, int, str]
PART_CHARS: Final = 3000
_BLOCKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol",
    "p", "pre", "section", "table", "tr", "ul",
})  # fmt: skip
_SKIPPED: Final = frozenset({"script", "style", "template", "noscript", "head"})
_VOID: Final = frozenset({"br", "hr"})


def pages_of_plain(reader: str, path: Path) -> Iterator[Page]:
    """Each part with its text. Raises `Unreadable`."""
    if reader == "epub":
        checked(path)
        return _chapters(path)
    text = decoded(path.read_bytes())
    return _parts(text_of_html(text) if reader == "html" else text)


def _parts(text: str) -> Iterator[Page]:
    """Stretches of about three thousand characters that end with a line, or where one is endless in it."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        end = at + PART_CHARS
        line = text.rfind("\n", at + PART_CHARS // 2, end) if end < len(text) else len(text)
        end = line + 1 if line > 0 else end
        parts.append(text[at:end].rstrip())
        at = end
    for number, part in enumerate(parts, 1):
        yield number, len(parts), part


class _Text(HTMLParser):
    """The text of a web page, a line for each block."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = [""]
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base names it
        if tag in _SKIPPED:
            self._skipped += 1
        elif tag in _BLOCKS:
            self.lines.append("")
        elif tag in ("td", "th") and self.lines[-1].strip():
            self.lines[-1] += " | "

    def handle_endtag(self, tag: str) -> None:
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in _BLOCKS and tag not in _VOID:
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.lines[-1] += data


def text_of_html(text: str) -> str:
    """The words of a web page: neither scripts nor styles."""
    parser = _Text()
    parser.feed(text)
    parser.close()
    return "\n".join(filter(None, (" ".join(line.split()) for line in parser.lines)))


def _chapters(path: Path) -> Iterator[Page]:
    with zipfile.ZipFile(path) as archive:
        names = _spine(archive)
        for number, name in enumerate(names, 1):
            try:
                text = text_of_html(decoded(archive.read(name)))
            except KeyError:
                text = ""
            yield number, len(names), text


def _spine(archive: zipfile.ZipFile) -> list[str]:
    """The chapters of a book in their order. Raises `Unreadable`."""
    try:
        container = ET.fromstring(archive.read("META-INF/container.xml"))  # noqa: S314 - expat bounds its entities
        root = next(each.get("full-path") or "" for each in container.iter() if each.tag.endswith("}rootfile"))
        package = ET.fromstring(archive.read(root))  # noqa: S314 - in the child process that only reads
    except (KeyError, ET.ParseError, StopIteration) as exc:
        raise Unreadable("damaged") from exc
    places = {each.get("id"): unquote(each.get("href") or "") for each in package.iter() if each.tag.endswith("}item")}
    order = [places.get(each.get("idref")) for each in package.iter() if each.tag.endswith("}itemref")]
    folder = posixpath.dirname(root)
    return [posixpath.normpath(posixpath.join(folder, place)) for place in order if place]
