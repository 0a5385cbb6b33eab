"""The console as an operator's browser gets it."""

from __future__ import annotations

import re

import httpx
import orjson
import pytest
from loopback.served import TOKEN

from bot.intake.local import local_update
from bot.intake.updates import read_update

PAGES = ["sessions", "checkpoints", "starts", "set-aside", "history"]


@pytest.fixture
async def console(served):
    """Offer a running bot, its client, and a browser that is logged in."""
    app, client = await served()
    async with httpx.AsyncClient(base_url=app.http_url, follow_redirects=True, timeout=30) as browser:
        await browser.post("/console/login", data={"token": TOKEN})
        yield app, client, browser


async def session_id(client) -> str:
    """Return the id of the only session."""
    return (await client.get("/sessions")).json()["sessions"][0]["session_id"]


def mark(page: str) -> str:
    """Return what a form of this page carries."""
    return re.search(r'name="mark" value="([0-9a-f]+)"', page)[1]


async def test_the_token_opens_it_and_nothing_else_does(served):
    """Without a login every page leads to the login; a wrong token is refused; the cookie is out of scripts' reach."""
    app, _ = await served()
    async with httpx.AsyncClient(base_url=app.http_url) as stranger:
        pages = [await stranger.get(f"/console/{page}") for page in PAGES]
        wrong = await stranger.post("/console/login", data={"token": "größer"})
        stranger.cookies.set("continuity_console", "99999999999999.x.y", path="/console")
        forged = await stranger.get("/console/sessions")
        right = await stranger.post("/console/login", data={"token": TOKEN})

    assert {page.headers["location"] for page in [*pages, forged]} == {"/console/login"}
    assert wrong.status_code == 401
    cookie = right.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


async def test_without_a_token_there_is_no_console(served):
    """A bot without CONTINUITY_HTTP_TOKEN has no console to guess at."""
    app, _ = await served(continuity_http_token=None)
    async with httpx.AsyncClient(base_url=app.http_url) as stranger:
        assert (await stranger.get("/console/login")).status_code == 404


async def test_a_conversation_is_shown_with_what_the_model_saw(console):
    """Both sides of each turn, and beside the answer the tokens by tier."""
    _, client, browser = console
    for text in ("My dog is called Rex.", "What is my dog called?"):
        await client.post("/chat", json={"session_id": "home", "message": text})

    page = (await browser.get(f"/console/sessions/{await session_id(client)}")).text
    found = (await browser.get(f"/console/turns/{re.findall(r'turns/(t_[0-9a-f]+)', page)[-1]}/found")).text
    prompt = (await browser.get(f"/console/sessions/{await session_id(client)}/prompt")).text

    assert "My dog is called Rex." in page
    assert re.search(r"history \d+", page)
    assert "Rex" in found
    assert "My dog is called Rex." in prompt


@pytest.mark.parametrize("page", PAGES)
async def test_every_page_opens(console, page):
    """Each page is whole with no data and under a policy that lets no foreign script run."""
    _, _, browser = console

    answer = await browser.get(f"/console/{page}")

    assert answer.status_code == 200
    assert "</html>" in answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]


async def test_what_people_write_is_shown_never_run(console):
    """Markup in a message is text on the page."""
    _, client, browser = console
    await client.post("/chat", json={"session_id": "home", "message": "<script>alert(1)</script> & <img src=x>"})

    page = (await browser.get(f"/console/sessions/{await session_id(client)}")).text

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<img" not in page


async def test_forms_of_other_sites_do_nothing(console):
    """A form without this login's mark is refused, whoever sends it along with the cookie."""
    app, client, browser = console
    await client.post("/chat", json={"session_id": "home", "message": "hello"})

    refused = await browser.post(
        "/console/act/rebuild", data={"session_id": await session_id(client), "mark": "0" * 64}
    )
    unknown = await browser.post("/console/act/format-disk", data={"mark": "x"})

    assert (refused.status_code, unknown.status_code) == (403, 403)
    assert app.health().ok


async def test_what_was_set_aside_is_tried_again_or_dropped(console):
    """Retry answers a message that had been given up on, at once; Drop takes one away with its text."""
    app, _, browser = console
    raw = local_update("home", "k1", "hello", "", 0)
    envelope = read_update(raw, app.services.me)
    await app.services.inbox.put(
        app.services.me,
        raw["update_id"],
        envelope.conversation_id,
        orjson.dumps(raw).decode(),
        error="failed three times",
    )

    page = (await browser.get("/console/set-aside")).text
    update_id = re.search(r'name="update_id" value="(\d+)"', page)[1]
    await browser.post("/console/act/retry", data={"update_id": update_id, "mark": mark(page)})
    await app.settled()
    after = (await browser.get("/console/set-aside")).text

    assert "failed three times" in page
    assert "Nothing is set aside." in after
    assert app.joined.turns.answered == 1


async def test_the_list_renews_itself(console):
    """What the page asks for every few seconds is the table alone."""
    _, client, browser = console
    await client.post("/chat", json={"session_id": "home", "message": "hello"})

    part = (await browser.get("/console/sessions", headers={"HX-Request": "true"})).text

    assert "<html" not in part
    assert "1 turns in 1 sessions" in part
