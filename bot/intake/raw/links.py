"""Addresses that a message has and its text doesn't show: behind linked words, and in the preview of a page. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.intake.fields import MAX_TEXT_CHARS, as_object

MOST_ENTITIES: Final = 100
"""Of one message: Telegram's own limit."""
MOST_CHARS: Final = 4096
"""Of all addresses together: Telegram's limit of one text, so that they push nobody's words out."""
_ADDRESS: Final = re.compile(r"(?i)https?://[^\s\x00-\x1f\x7f\[\]<>\ud800-\udfff]{1,2000}")
_SCHEME: Final = re.compile(r"(?i)\Ahttps?://")


def with_links(text: str, entities: Sequence[Mapping[str, Any]], preview: object) -> str:
    """The text with each address that it doesn't show behind its words; that of the preview stands below.

    "see the offer" → "see the offer [https://example.org/offer]". No address comes twice, and only those of the web
    come. Never raises.
    """
    if len(text) > MAX_TEXT_CHARS or not (entities or preview):
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    spans = [span for entity in entities[:MOST_ENTITIES] if (span := _span(entity, units))]
    shown = {_bare(text[start:end]) for start, end, _ in spans}
    options = as_object(preview)
    below = "" if options.get("is_disabled") is True else options.get("url")
    hidden = [(end, url, " [{}]") for _, end, url in sorted(spans, key=lambda span: span[1])]
    pieces, written, left = [], 0, MOST_CHARS
    for end, url, form in (*hidden, (len(text), below, "\n[preview: {}]")):
        if not isinstance(url, str) or not _ADDRESS.fullmatch(url) or _bare(url) in shown or len(url) > left:
            continue
        shown.add(_bare(url))
        left -= len(url)
        pieces += [text[written:end], form.format(url)]
        written = end
    return "".join([*pieces, text[written:]])


def _span(entity: Mapping[str, Any], units: bytes) -> tuple[int, int, object] | None:
    """The first and last character of a link, and the address behind it; None for other entities.

    Offsets of Telegram's count UTF-16 units.
    """
    kind, offset, length = entity.get("type"), entity.get("offset"), entity.get("length")
    if kind not in ("url", "text_link") or type(offset) is not int or type(length) is not int:
        return None
    if offset < 0 or length <= 0:
        return None
    start, end = (len(units[: at * 2].decode("utf-16-le", "surrogatepass")) for at in (offset, offset + length))
    return start, end, entity.get("url") if kind == "text_link" else None


def _bare(address: str) -> str:
    """An address without its scheme and last slash."""
    host, slash, rest = _SCHEME.sub("", address.strip()).partition("/")
    return f"{host.lower()}{slash}{rest}".removesuffix("/")
