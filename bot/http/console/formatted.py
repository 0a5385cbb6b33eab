"""An answer as the person saw it on Telegram: bold, links, code and quotes as HTML, everything else escaped. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup, escape

from bot.delivery.outbox import render

_TAGS: Final = {
    "bold": "strong",
    "italic": "em",
    "underline": "u",
    "strikethrough": "s",
    "spoiler": "mark",
    "code": "code",
    "blockquote": "blockquote",
    "expandable_blockquote": "blockquote",
}
_BLOCKS: Final = {"pre", "blockquote", "expandable_blockquote"}
_SCHEMES: Final = ("https://", "http://")

Entity = Mapping[str, Any]


def as_seen(markdown: str) -> Markup:
    """An answer's Markdown as Telegram showed it; its parts stand one under the other.

    >>> as_seen("**Rex** is <four>")
    Markup('<strong>Rex</strong> is &lt;four&gt;')
    """
    parts = [in_html(text, entities) for text, entities in render(markdown, markdown=True)]
    return Markup("\n\n").join(parts)


def ticks(text: str) -> Markup:
    """A sentence of ours with the words in backticks as code."""
    pieces = [escape(each) if number % 2 == 0 else Markup("<code>{}</code>").format(each) for number, each in
              enumerate(text.split("`"))]  # fmt: skip
    return Markup("").join(pieces)


def in_html(text: str, entities: Sequence[Entity]) -> Markup:
    """A text with Telegram's entities as HTML; one that crosses another, or is of no known kind, is left out."""
    units = text.encode("utf-16-le", "surrogatepass")
    ordered = sorted(entities, key=lambda each: (each["offset"], -each["length"]))
    return _within(units, ordered, 0, len(units) // 2)


def _within(units: bytes, entities: Sequence[Entity], begin: int, end: int) -> Markup:
    """The HTML of the text between two places, counted in UTF-16 units."""
    pieces: list[Markup] = []
    at, behind_block = begin, False
    for number, entity in enumerate(entities):
        first, last = entity["offset"], entity["offset"] + entity["length"]
        if first < at or last > end:
            continue
        inside = [each for each in entities[number + 1 :] if each["offset"] + each["length"] <= last]
        block = entity["type"] in _BLOCKS
        plain = _plain(units, at, first, behind_block=behind_block, before_block=block)
        pieces += [plain, _wrapped(entity, _within(units, inside, first, last))]
        at, behind_block = last, block
    return Markup("").join([*pieces, _plain(units, at, end, behind_block=behind_block)])


def _plain(units: bytes, begin: int, end: int, *, behind_block: bool = False, before_block: bool = False) -> Markup:
    """The text between two places; a block has its own room, so that the empty lines beside it are left out."""
    text = units[begin * 2 : end * 2].decode("utf-16-le", "replace")
    text = text.lstrip("\n") if behind_block else text
    return escape(text.rstrip("\n") if before_block else text)


def _wrapped(entity: Entity, inside: Markup) -> Markup:
    kind, url = entity["type"], str(entity.get("url") or "")
    if kind == "text_link" and url.startswith(_SCHEMES):
        return Markup('<a href="{}" rel="noreferrer noopener" target="_blank">{}</a>').format(url, inside)
    if kind == "pre":
        return Markup('<pre class="code" tabindex="0">{}</pre>').format(inside)
    tag = _TAGS.get(kind)
    return Markup("<{0}>{1}</{0}>").format(Markup(tag), inside) if tag else inside  # noqa: S704 - one of ours
