"""Tools that read a page, and find one again that was read before; its text is kept with the call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Any, Final

from bot.tools.call import CallRow, call_of
from bot.tools.questions import VALUE_CHARS
from bot.tools.tool import CallContext, NotDone, Tool, ToolResult
from bot.tools.web.addresses import parsed, stands_in
from bot.tools.web.extract import PageText, PageUnreadable, decoded, extract
from bot.tools.web.fetch import MAX_BYTES, PDF, Fetched, WebFetcher
from bot.tools.web.searching import ADDRESS, WEB_SEARCH
from memory.ports import Database
from memory.text import shorten

READ_PAGE: Final = "read_page"
HTML: Final = frozenset({"text/html", "application/xhtml+xml", ""})
MOST_FOUND: Final = 5
SHOWN_CHARS: Final = 400
_READ: Final = (
    "Read one web page by its address. Use it when the person gives an address or asks about one, or to read a result "
    "of a search. An address that nobody gave is asked about first."
)
_AGAIN: Final = (
    "Find pages that were read in this conversation before, also weeks ago, by words in them; read_result reads on."
)


ReadPdf = Callable[[bytes], Awaitable[str]]
"""Returns the text of a PDF. Raises `NotDone`."""


class WebPages:
    """Offers the tools."""

    def __init__(self, db: Database, fetcher: WebFetcher, read_pdf: ReadPdf) -> None:
        self._db = db
        self._read_pdf = read_pdf
        self._fetcher = fetcher

    def tools(self) -> list[Tool]:
        """Return the tools."""
        url = {"type": "string", "description": "The whole address, word for word as it was given."}
        words = {"type": "string", "description": "Words that stand in the page, its title or address; empty for all."}
        return [
            Tool(
                name=READ_PAGE,
                description=_READ,
                parameters={"type": "object", "properties": {"url": url}, "required": ["url"]},
                run=self._read,
                reads_only=True,
                trusted=True,
                asks=self._asks,
                about=host_of,
                spoken="web_reader",
            ),
            Tool(
                name="pages_read",
                description=_AGAIN,
                parameters={"type": "object", "properties": {"words": words}, "required": ["words"]},
                run=self._find,
                reads_only=True,
                trusted=True,
            ),
        ]

    async def _asks(self, given: Mapping[str, Any], context: CallContext) -> bool:
        """Return whether an address is the model's own: it may carry out secrets that the model knows.

        False when it stands word for word in the message, in the address of a result of a search, or in a page that
        was read in this conversation. One that is asked about is short and plain, so that all of it is seen.
        """
        text, url = str(given["url"]).strip(), parsed(str(given["url"]))
        if stands_in(text, context.said):
            return False
        rows = await self._db.read("web_calls_with", conversation_id=context.place.conversation_id, address=url.host)
        if any(_gives(call_of(row), text) for row in rows):
            return False
        if len(text) > VALUE_CHARS or not text.isascii():
            raise NotDone(
                f"an address that nobody gave has at most {VALUE_CHARS} signs, all of them ASCII, so that the person "
                "sees where it leads"
            )
        return True

    async def _read(self, given: Mapping[str, Any], _: CallContext) -> ToolResult:
        asked = str(given["url"]).strip()
        fetched = await self._fetcher.fetch(parsed(asked))
        page = await page_of(fetched, self._read_pdf)
        if not page.text.strip():
            raise NotDone("the page was found, but there's no text on it: it may be made by a script")
        return ToolResult(_told(asked, fetched, page))

    async def _find(self, given: Mapping[str, Any], context: CallContext) -> ToolResult:
        words = str(given["words"]).casefold().split()
        word = max((word for word in words if word.isascii()), key=len, default="")
        rows = await self._db.read("web_pages_read", conversation_id=context.place.conversation_id, word=word)
        calls = [call for call in map(call_of, rows) if call.user_id == context.place.user_id]
        found = [call for call in calls if all(word in call.result.casefold() for word in words)][:MOST_FOUND]
        if not found:
            return ToolResult("No page that was read here holds these words.", foreign=False)
        return ToolResult("\n\n".join(f"Result {call.number}:\n{shorten(call.result, SHOWN_CHARS)}" for call in found))


def host_of(given: Mapping[str, Any]) -> str:
    """Return the host of the address that a call is about; "" for none."""
    with suppress(NotDone):
        return parsed(str(given.get("url", ""))).host or ""
    return ""


def _gives(call: CallRow, address: str) -> bool:
    """Return whether an address stands in a call's result: of a search only as the address of a hit.

    The other words of a search may repeat the question, and with it an address that the model made up.
    """
    if call.tool == WEB_SEARCH:
        return not stands_in(address, str(call.arguments.get("query", ""))) and any(
            stands_in(address, line) for line in call.result.splitlines() if line.startswith(ADDRESS)
        )
    return stands_in(address, call.result)


async def page_of(fetched: Fetched, read_pdf: ReadPdf) -> PageText:
    """Return the text of a page. Raises `NotDone` for content that is no text."""
    kind = fetched.media_type
    if kind in HTML:
        try:
            return await extract(fetched.body, str(fetched.url), fetched.charset)
        except PageUnreadable:
            raise NotDone("the page was found, but no text could be taken out of it") from None
    if kind.startswith("text/") or kind in {"application/json", "application/xml", "application/rss+xml"}:
        text = decoded(fetched.body, fetched.charset)
        return PageText("", "", text if text is not None else fetched.body.decode(errors="replace"))
    if kind == PDF and fetched.is_cut:
        raise NotDone("that is a PDF of more than 20 MB, and it is not read")
    if kind == PDF:
        return PageText("", "", await read_pdf(fetched.body))
    raise NotDone("that is no page but a file of another kind, and it is not read")


def _told(asked: str, fetched: Fetched, page: PageText) -> str:
    """Return the kept text of a page: where it was, title and date, a digest of its text, the text."""
    digest = blake2b(page.text.encode(errors="replace"), digest_size=8).hexdigest()
    at = str(fetched.url)
    head = [
        f"Page: {at}",
        f"Asked for: {asked}" if asked != at else "",
        f"Title: {page.title}" if page.title else "",
        f"Dated: {page.date}" if page.date else "",
        f"Digest of its text: {digest}",
        f"Only the first {MAX_BYTES // 1024**2} MB of it." if fetched.is_cut else "",
    ]
    return "\n".join(filter(None, head)) + f"\n\n{page.text}"
