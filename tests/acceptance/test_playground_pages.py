"""The playground in the browser: what the page asks for and does, with a bot in a process of its own."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from loopback.played import fork

from bot.playground.browser import Playground
from bot.playground.keeper import start_program
from bot.playground.moved_clock import MovedClock
from bot.playground.pages import ANA, YOU


class Page:
    """What the page's script does."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def act(self, what: str, **body):
        """Send what a button sends."""
        return await self.client.post(f"/play/act/{what}", json=body)

    async def until(self, check, chat: int = YOU, timeout_s: float = 40):
        """Follow the state until it is as expected, and return it."""
        version = ""
        async with asyncio.timeout(timeout_s):
            while True:
                answer = await self.client.get(f"/play/state/{chat}", params={"since": version})
                state = answer.json()
                version = state["version"]
                if check(state):
                    return state


@pytest.fixture
async def page(request, tmp_path, monkeypatch):
    """Open the page of a fresh playground whose bot runs, forked unless the test asks for a program."""
    monkeypatch.setenv("CONTINUITY_MODEL", "offline")
    playground = Playground(tmp_path, MovedClock(tmp_path / "clock"), getattr(request, "param", fork))
    await playground.start(0)
    async with httpx.AsyncClient(base_url=playground.api.url, timeout=30, follow_redirects=True) as client:
        page = Page(client)
        await page.until(lambda state: state["bot"]["state"] == "running")
        yield page
    await playground.stop()


def answered(text: str):
    """Say whether the bot said something that holds this text."""
    return lambda state: any(line["by_bot"] and text in line["text"] for line in state["lines"])


@pytest.mark.parametrize("page", [start_program], indirect=True, ids=["program"])
async def test_the_bot_is_a_program_of_its_own(page):
    """Not forked but started as a newcomer's is, it answers, and is killed by the button."""
    await page.act("say", user_id=YOU, chat_id=YOU, text="I need to call the landlord by Friday about the heating.")
    await page.until(answered("landlord"))

    await page.act("kill")
    await page.until(lambda state: state["bot"]["state"] == "killed")


async def test_a_newcomer_talks_kills_and_comes_back(page):
    """A message is answered; one sent into a kill is answered after it, once; eight hours later there is an offer."""
    await page.act("say", user_id=YOU, chat_id=YOU, text="I need to call the landlord by Friday about the heating.")
    await page.until(answered("landlord"))

    await page.act("kill")
    await page.act("say", user_id=YOU, chat_id=YOU, text="what is still open?")
    await page.until(lambda state: state["bot"]["state"] == "killed")
    back = await page.until(lambda state: state["bot"]["state"] == "running" and len(state["lines"]) == 4)
    await page.act("skip", hours=8)
    await page.act("say", user_id=YOU, chat_id=YOU, text="hey")
    offer = await page.until(lambda state: state["lines"][-1]["buttons"])

    assert "landlord" in back["lines"][-1]["text"]
    assert offer["ahead_ms"] == 8 * 3_600_000
    last = offer["lines"][-1]
    await page.act("press", user_id=YOU, chat_id=YOU, message_id=last["message_id"], data=last["presses"][0])
    await page.until(lambda state: state["lines"][-1]["message_id"] > last["message_id"])


async def test_people_and_a_group_are_apart(page):
    """What you said is not in Ana's chat; in the group the bot answers when it is mentioned."""
    state = await page.until(lambda state: len(state["chats"]) == 3)
    group = next(one["id"] for one in state["chats"] if one["group"])
    await page.act("say", user_id=YOU, chat_id=YOU, text="My dog is called Rex.")
    await page.until(answered("Rex"))

    await page.act("say", user_id=ANA, chat_id=group, text="nobody in particular")
    await page.act("say", user_id=ANA, chat_id=group, text="@continuity_bot hello")

    in_group = await page.until(lambda state: any(line["by_bot"] for line in state["lines"]), chat=group)
    with_ana = await page.until(lambda _: True, chat=ANA)
    assert sum(line["by_bot"] for line in in_group["lines"]) == 1
    assert with_ana["lines"] == []


async def test_the_console_is_beside_it(page):
    """The console opens without asking for the token, and may stand in this page alone."""
    await page.act("say", user_id=YOU, chat_id=YOU, text="My dog is called Rex.")
    await page.until(answered("Rex"))

    console = await page.client.get("/console/sessions")

    assert "1000001" in console.text
    assert "frame-ancestors 'self'" in console.headers["content-security-policy"]


async def test_nobody_is_asked_for_a_token_that_nobody_knows(page):
    """After a log-out, and when the clock was moved beyond the login's twelve hours, the console is open as before."""
    out = await page.client.post("/console/logout", headers={"Origin": str(page.client.base_url).rstrip("/")})
    await page.client.get("/console/sessions")
    await page.act("skip", hours=24)
    part = await page.client.get("/console/sessions", headers={"HX-Request": "true"})
    later = await page.client.get("/console/sessions")
    direct = await page.client.get("/console/login")

    assert all(answer.status_code == 200 for answer in (out, later, part, direct))
    assert all("Taking and answering" in answer.text for answer in (out, later, part, direct))


async def test_a_reset_forgets_everything(page):
    """After a reset the chats are empty and the bot remembers nothing."""
    await page.act("say", user_id=YOU, chat_id=YOU, text="My dog is called Rex.")
    await page.until(answered("Rex"))

    await page.act("reset")
    await page.until(lambda state: state["bot"]["state"] == "running" and not state["lines"])
    await page.act("say", user_id=YOU, chat_id=YOU, text="What is my dog called?")

    after = await page.until(lambda state: len(state["lines"]) == 2)
    assert "Rex" not in after["lines"][-1]["text"]


FOREIGN = [{"Origin": "http://evil.example"}, {"Host": "evil.example:80"}]
IMPOSSIBLE = [
    ("skip", {"hours": -1}, 400),
    ("skip", {"hours": "nan"}, 400),
    ("say", {}, 400),
    ("press", {"user_id": 1}, 400),
    ("dance", {}, 404),
]


async def test_what_is_wrong_or_foreign_is_refused(page):
    """A request that another site made, or that came by another name, does nothing; a wrong one is told so."""
    said = {"user_id": YOU, "chat_id": YOU, "text": "x"}
    foreign = [await page.client.post("/play/act/say", json=said, headers=headers) for headers in FOREIGN]
    wrong = [(await page.act(what, **body), status) for what, body, status in IMPOSSIBLE]

    assert {answer.status_code for answer in foreign} == {403}
    assert [answer.status_code for answer, _ in wrong] == [status for _, status in wrong]
    assert all(answer.json()["error"] for answer, _ in wrong)
    assert (await page.until(lambda _: True))["lines"] == []
