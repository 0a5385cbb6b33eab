"""Markdown of an answer into text and entities, in linear time and without losing a character. Pure.

The library drops text that it takes for HTML, mathematics, a task list or a link's address. Such places are escaped
before it sees them, so that they are shown as they were written; where a character still gets lost the answer goes out
bare.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

MAX_CHARS: Final = 60_000
"""Longer texts go out as they are."""
PASSES: Final = 6
"""Escaping one place may bring another to light; a text unsettled after so many readings goes out unformatted."""
MARKUP: Final = frozenset("*_~|#>-+=:\\`[]()!")
"""Characters that may stand for a form instead of themselves."""
LINKED: Final = frozenset({"http", "https", "tg"})
_PLAIN: Final = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:?!'\"()-])*")
"""A line that begins with a letter and has no sign of markup: many answers need no parser."""
_MARK: Final = re.compile(
    r"(?P<code>```[\s\S]*?(?:```|\Z)|`[^`\n]+`)"
    r"|^#{1,6} +|^(?P<item>[-*] +)"
    r"|(?<![\w*])\*\*(?=[^\s*])|(?<=[^\s*])\*\*(?![\w*])|\*{1,2}\Z",
    re.MULTILINE,
)
"""Code, which keeps its signs, then those of headings, lists and bold words."""
_PUNCTUATION: Final = re.compile(rb"[!-/:-@\[-`{-~]")
_BACKSLASHES: Final = re.compile(r"(\\+)(.?)|\](?=:)")
_ESCAPED: Final = frozenset("*_`~#|$")
"""Before these signs a backslash keeps them from being markup; before others it means itself."""
_MARKER: Final = re.compile(rb"(\d{1,9})([.)])")
_IDENTIFIER: Final = re.compile(rb"__\w+__")
_BARS: Final = re.compile(rb"\|\|")
_WORD: Final = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")

Entity = dict[str, Any]
Event = tuple[Any, dict[str, int]]
Inserts = dict[int, bytes]


def unmarked(text: str) -> str:
    """The text without the signs of bold words, headings and lists, for a place that shows no form: never raises.

    Also one that has not come to its end, or was cut: `a **b` loses its stars. Code keeps its own.

    >>> unmarked("## **Plan**: 2**3, `**kw`")
    'Plan: 2**3, `**kw`'
    """
    return _MARK.sub(lambda mark: mark["code"] or ("• " if mark["item"] else ""), text)


def formatted(text: str) -> tuple[str, list[Any]] | None:
    """Return the text with its entities, None when it is too long or something of it would be lost. Never raises."""
    if len(text) > MAX_CHARS:
        return None
    return (text.rstrip(), []) if _PLAIN.fullmatch(text) else parsed(text)


def parsed(text: str) -> tuple[str, list[Any]] | None:
    """Return the same as `formatted`, by the parser."""
    try:
        literal = _escaped(text)
        plain, entities = _converter()(literal) if literal is not None else ("", [])
    except Exception:  # noqa: BLE001 - odd markup must never lose a reply: it goes out as plain text
        return None
    return (plain, entities) if not missing(text, plain, [entity.to_dict() for entity in entities]) else None


def missing(source: str, shown: str, entities: Iterable[Entity]) -> Counter[str]:
    """Return which visible characters of the source neither the text nor an entity's address or language shows."""
    if source == shown:
        return Counter()
    held = Counter(shown)
    for entity in entities:
        held.update(entity.get("url") or "")
        held.update(entity.get("language") or "")
    wanted = Counter(char for char in source if not char.isspace() and char not in MARKUP)
    return wanted - held


@functools.cache
def _converter() -> Callable[[str], tuple[str, list[Any]]]:
    """Import late: 40 ms that a start need not wait for."""
    from telegramify_markdown import convert
    from telegramify_markdown.config import RenderConfig

    config = RenderConfig.isolated()
    symbols = config.markdown_symbol
    symbols.heading_level_1 = symbols.heading_level_2 = symbols.heading_level_3 = symbols.heading_level_4 = ""
    symbols.unordered_list_item = "•"
    return functools.partial(convert, config=config, latex_escape=False)


def _events(source: bytes) -> list[Event]:
    import pyromark
    from telegramify_markdown.converter import STANDARD_OPTIONS

    read: Any = pyromark.events_with_range
    return list(read(source.decode(), options=STANDARD_OPTIONS))


def _escaped(text: str) -> str | None:
    """Return the text with everything escaped that the library would drop, None when that does not come to an end."""
    source = _outside_code(text.encode())
    for _ in range(PASSES):
        inserts = _inserts(source, _events(source))
        if not inserts:
            return source.decode()
        source = _inserted(source, inserts)
    return None


def _outside_code(source: bytes) -> bytes:
    """Keep backslashes that mean themselves, and the definitions of links, which are never shown."""
    parts, at = [], 0
    for payload, place in _events(source):
        if isinstance(payload, dict) and ("Code" in payload or _starts(payload, "CodeBlock") is not None):
            parts += [_kept(source[at : place["start"]]), source[place["start"] : place["end"]]]
            at = place["end"]
    return b"".join([*parts, _kept(source[at:])])


def _kept(source: bytes) -> bytes:
    return _BACKSLASHES.sub(_meant, source.decode()).encode()


def _meant(found: re.Match[str]) -> str:
    if not found[1]:
        return "\\]"
    slashes, after = len(found[1]), found[2]
    if after in _ESCAPED and after and slashes % 2:
        return "\\" * (2 * slashes - 1) + after
    shielded = "\\" if after and _PUNCTUATION.match(after.encode()) and after not in _ESCAPED else ""
    return "\\" * (2 * slashes) + shielded + after


def _inserted(source: bytes, inserts: Inserts) -> bytes:
    places = sorted(inserts)
    pieces = [source[: places[0]]]
    for place, until in zip(places, [*places[1:], len(source)], strict=True):
        pieces += [inserts[place], source[place:until]]
    return b"".join(pieces)


def _starts(payload: Any, tag: str) -> Any:
    start = payload.get("Start") if isinstance(payload, dict) else None
    return start.get(tag) if isinstance(start, dict) else None


def _literal(source: bytes, start: int, end: int) -> Inserts:
    """Return the backslashes that make a stretch mean itself."""
    return {found.start(): b"\\" for found in _PUNCTUATION.finditer(source, start, end)}


def _at(*places: int) -> Inserts:
    return dict.fromkeys(places, b"\\")


def _inserts(source: bytes, events: Sequence[Event]) -> Inserts:
    """Return the pieces and places to insert, so that the next reading shows more of the text."""
    inserts: Inserts = {}
    for payload, place in events:
        start, end = place["start"], place["end"]
        if isinstance(payload, dict):
            inserts |= _of_inline(source, payload, start, end)
    inserts |= _of_lists(source, events)
    inserts |= _of_links(source, events)
    return inserts | _of_tables(source, events)


def _of_inline(source: bytes, payload: dict[str, Any], start: int, end: int) -> Inserts:
    if payload.keys() & {"Html", "InlineHtml", "InlineMath", "DisplayMath", "TaskListMarker"}:
        return _literal(source, start, end)
    if "Text" in payload:
        return _of_text(source, payload["Text"], start, end)
    around = source[start - 1 : start] + source[end : end + 1]
    joined = len(around) == 2 and all(byte in _WORD for byte in around)  # noqa: PLR2004 - one on each side
    match payload.get("Start"):
        case "Emphasis" if joined:
            return _at(start, end - 1)
        case "Strong" if joined or _IDENTIFIER.fullmatch(source, start, end):
            return _at(start, start + 1, end - 2, end - 1)
        case "Strikethrough" if source[start + 1 : start + 2] != b"~":
            return _at(start, end - 1)
    return {}


def _of_text(source: bytes, text: str, start: int, end: int) -> Inserts:
    """Return the escapes of entities like `&lt;` and of double bars, which may be an "or"."""
    if source[start:end] != text.encode() and source[start : start + 1] == b"&":
        return _at(start)
    return {place: b"\\" for found in _BARS.finditer(source, start, end) for place in (found.start(), found.end() - 1)}


def _of_lists(source: bytes, events: Sequence[Event]) -> Inserts:
    """Return the escapes of numbers that the library would count again, and of brackets behind them."""
    inserts: Inserts = {}
    expected: list[int | None] = []
    for payload, place in events:
        listed = isinstance(payload, dict) and isinstance(payload.get("Start"), dict) and "List" in payload["Start"]
        if listed:
            expected.append(payload["Start"]["List"])
        elif isinstance(payload, dict) and isinstance(payload.get("End"), dict) and "List" in payload["End"]:
            expected.pop()
        elif isinstance(payload, dict) and payload.get("Start") == "Item" and expected and expected[-1] is not None:
            marker = _MARKER.match(source, place["start"])
            if marker and (marker[2] == b")" or marker[1] != b"%d" % expected[-1]):
                inserts |= _at(marker.start(2))
            expected[-1] += 1
    return inserts


def _of_links(source: bytes, events: Sequence[Event]) -> Inserts:
    """Return the escapes of links whose address would not be reachable: none of Telegram's, titled, without a text."""
    inserts: Inserts = {}
    for number, (payload, place) in enumerate(events):
        link = _starts(payload, "Link") or _starts(payload, "Image")
        if link is None:
            continue
        inside = events[number + 1][0]
        empty = not (isinstance(inside, dict) and inside.keys() & {"Text", "Code", "Start"})
        if empty or link["title"] or link["link_type"] != "Inline" or not _reachable(link["dest_url"]):
            inserts |= _literal(source, place["start"], place["end"])
    return inserts


def _reachable(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in LINKED and (parts.scheme == "tg" or "." in (parts.hostname or ""))


def _of_tables(source: bytes, events: Sequence[Event]) -> Inserts:
    """Return the escapes of tables with cells beyond their head, and of links in cells, which hold text alone."""
    inserts: Inserts = {}
    for at, end, inside in _tables(events):
        cells = [place for payload, place in inside if payload == {"End": "TableCell"}]
        rows = [place for payload, place in inside if payload in ({"End": "TableRow"}, {"End": "TableHead"})]
        last = {row["end"]: max((c["end"] for c in cells if c["end"] <= row["end"]), default=0) for row in rows}
        if any(source[cell:row].strip(b" |\t\r\n") for row, cell in last.items()):
            return inserts | _literal(source, at, end)
        for payload, place in inside:
            if _starts(payload, "Link") is not None or _starts(payload, "Image") is not None:
                inserts |= _literal(source, place["start"], place["end"])
        inserts |= {found.start() + 1: b" " for found in _BARS.finditer(source, at, end)}
    return inserts


def _tables(events: Sequence[Event]) -> Iterator[tuple[int, int, Sequence[Event]]]:
    first = 0
    for number, (payload, place) in enumerate(events):
        if _starts(payload, "Table") is not None:
            first = number
        elif payload == {"End": "Table"}:
            yield place["start"], place["end"], events[first:number]
