"""An operator's browser at the console: the words of its acceptance tests."""

from __future__ import annotations

import re

import canaries
import httpx
import pytest
from loopback.served import TOKEN


@pytest.fixture
async def console(served):
    """Offer a running bot, its client, and a browser that is logged in."""
    app, client = await served()
    hooks = {"response": [canaries.search_answer]}
    async with httpx.AsyncClient(
        base_url=app.http_url, follow_redirects=True, timeout=30, event_hooks=hooks
    ) as browser:
        await browser.post("/console/login", data={"token": TOKEN})
        yield app, client, browser


async def session_id(client) -> str:
    """Return the id of the only session."""
    return (await client.get("/sessions")).json()["sessions"][0]["session_id"]


def mark(page: str) -> str:
    """Return what a form of this page carries."""
    return re.search(r'name="mark" value="([0-9a-f]+)"', page)[1]


async def ask_and_do(browser, page: str, label: str, near: str, **filled) -> tuple[str, str]:
    """Follow the link of this label beside these words, send the form that asks; return both pages."""
    path = re.search(rf'href="(/console/do/[^"]+)" aria-label="{label}: [^"]*{near}', page)[1].replace("&amp;", "&")
    asked = (await browser.get(path)).text
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', asked)) | filled
    what = re.search(r'action="(/console/act/[a-z-]+)"', asked.partition('class="question"')[2])[1]
    return asked, (await browser.post(what, data=fields)).text
