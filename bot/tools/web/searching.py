"""A tool that searches the web at the address of the settings: SearXNG, Brave or Tavily, told apart by the host."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import aiohttp
import orjson
from yarl import URL

from bot.intake.telegram_request import proxy_of
from bot.settings import SEARCH_KEYS
from bot.tools.tool import CallContext, NotDone, Tool, ToolResult
from bot.tools.web.connections import open_session, read_body
from memory.text import shorten

WEB_SEARCH: Final = "web_search"
MOST: Final = 8
SNIPPET_CHARS: Final = 300
LONGEST_S: Final = 15.0
MAX_BYTES: Final = 2 * 1024 * 1024
ADDRESS: Final = "Address: "
"""Begins the line of a result's address; no other line of an answer begins with it."""
_TELLS: Final = "Search the web. It returns titles, addresses and short excerpts; none of the pages was read by it."
_QUERY: Final = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "A few words, as one types them into a search."}},
    "required": ["query"],
}
_NOT_READ: Final = "WebResult by a search. None of these pages was read: read_page reads one."


@dataclass(frozen=True, slots=True)
class WebResult:
    """One result."""

    title: str
    url: str
    snippet: str


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One request to a service that searches."""

    method: str
    url: URL
    headers: Mapping[str, str]
    body: bytes | None = None


def request_for(address: str, query: str, keys: Mapping[str, str]) -> SearchRequest:
    """Return the request to the service; `keys` are the variables of the environment, a key in the address wins."""
    url = URL(address)
    given = next((url.query[name] for name in SEARCH_KEYS if name in url.query), "")
    url = url.without_query_params(*SEARCH_KEYS)
    accept = {"Accept": "application/json"}
    if (url.host or "").endswith("search.brave.com"):
        key = given or keys.get("BRAVE_API_KEY", "")
        path = url if len(url.path) > 1 else url / "res/v1/web/search"
        asked = path.update_query(q=query, count=str(MOST))
        return SearchRequest("GET", asked, accept | {"X-Subscription-Token": key})
    if (url.host or "").endswith("tavily.com"):
        key = given or keys.get("TAVILY_API_KEY", "")
        path = url if len(url.path) > 1 else url / "search"
        body = orjson.dumps({"query": query, "max_results": MOST})
        sent = accept | {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        return SearchRequest("POST", path, sent, body)
    path = url if len(url.path) > 1 else url / "search"
    return SearchRequest("GET", path.update_query(q=query, format="json"), accept)


def results_of(answer: Any) -> list[WebResult]:
    """Return the results that a service's answer holds, in any of the three forms; none for another form."""
    if not isinstance(answer, dict):
        return []
    inner = answer.get("web")
    listed = inner.get("results") if isinstance(inner, dict) else answer.get("results")
    return list(_found(listed if isinstance(listed, list) else []))[:MOST]


def _found(listed: Iterable[Any]) -> Iterable[WebResult]:
    for each in listed:
        if isinstance(each, dict) and str(each.get("url", "")).startswith(("http://", "https://")):
            snippet = str(each.get("content") or each.get("description") or "")
            yield WebResult(
                _line(str(each.get("title", "")), 200), _line(str(each["url"]), 2000), _line(snippet, SNIPPET_CHARS)
            )


def _line(text: str, most: int) -> str:
    return shorten(" ".join(text.split()), most)


def results_text(found: Iterable[WebResult]) -> str:
    """Return the results as the model is told of them; only a line with an address begins with `Address: `."""
    shown = [
        "\n".join((f"{number}. {each.title}", f"{ADDRESS}{each.url}", f"Excerpt: {each.snippet}"))
        for number, each in enumerate(found, 1)
    ]
    return "\n\n".join([_NOT_READ, *shown]) if shown else "The search found nothing."


def elsewhere(found: Sequence[WebResult]) -> Tool:
    """Return a tool that gives the hits of a search that a provider has made already."""

    async def give(_: Mapping[str, Any], __: CallContext) -> ToolResult:
        return ToolResult(results_text(found))

    return Tool(WEB_SEARCH, _TELLS, _QUERY, give, reads_only=True, trusted=True)


class Searching:
    """Offers the tool."""

    def __init__(self, address: str, keys: Mapping[str, str]) -> None:
        self._address = address
        self._keys = keys

    def tools(self) -> list[Tool]:
        """Return the tool."""
        return [Tool(WEB_SEARCH, _TELLS, _QUERY, self._search, reads_only=True, trusted=True)]

    async def _search(self, given: Mapping[str, Any], _: CallContext) -> ToolResult:
        request = request_for(self._address, str(given["query"]), self._keys)
        try:
            async with asyncio.timeout(LONGEST_S):
                answer = await _answer(request)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError, zlib.error) as exc:
            raise NotDone(f"the search did not answer ({type(exc).__name__})") from exc
        return ToolResult(results_text(results_of(answer)))


async def _answer(request: SearchRequest) -> Any:
    """Return the service's answer. Raises `NotDone` for a refusal."""
    proxy = proxy_of(request.url.scheme, request.url.host or "")
    async with (
        open_session(proxy=proxy) as session,
        session.request(
            request.method, request.url, headers=request.headers, data=request.body, allow_redirects=False
        ) as answer,
    ):
        if answer.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise NotDone(f"the search refuses the operator's key or form ({answer.status})")
        if answer.status != HTTPStatus.OK:
            raise NotDone(f"the search did not work ({answer.status})")
        body, is_cut = await read_body(answer, MAX_BYTES)
        if is_cut:
            raise ValueError("too long")
        return orjson.loads(body)
