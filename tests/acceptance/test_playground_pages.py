"""The playground in the browser: what the page asks for and does, with a bot in a process of its own."""

from __future__ import annotations

import asyncio
import base64
import re

import httpx
import pytest
from loopback.played import fork

from bot.playground.bot_api.people import SimulatedPeople
from bot.playground.bot_api.world import PLAYGROUND_TOKEN
from bot.playground.browser import Playground
from bot.playground.keeper import start_program
from bot.playground.moved_clock import MovedClock
from bot.playground.pages import ANA, TOKEN_HEADER, YOU

pytestmark = pytest.mark.sweep


class Page:
    """What the page's script does."""

    def __init__(self, client: httpx.AsyncClient, playground: Playground) -> None:
        self.client = client
        self.playground = playground

    async def opens(self):
        """Load the page, and with it the token of this start."""
        shown = await self.client.get("/")
        self.client.headers[TOKEN_HEADER] = re.search(r'name="play-token" content="([^"]+)"', shown.text)[1]

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
        page = Page(client, playground)
        await page.opens()
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
    assert all("Nobody has said anything yet" in answer.text for answer in (out, later, part, direct))


async def test_a_reset_forgets_everything(page):
    """After a reset the chats are empty and the bot remembers nothing."""
    await page.act("say", user_id=YOU, chat_id=YOU, text="My dog is called Rex.")
    await page.until(answered("Rex"))

    await page.act("reset")
    await page.until(lambda state: state["bot"]["state"] == "running" and not state["lines"])
    await page.act("say", user_id=YOU, chat_id=YOU, text="What is my dog called?")

    after = await page.until(lambda state: len(state["lines"]) == 2)
    assert "Rex" not in after["lines"][-1]["text"]


async def test_a_file_is_sent_read_and_shown(page):
    """Its words are answered from, its bytes come back to the page that sent it, and to nobody without its token."""
    said = base64.b64encode(b"The boiler costs 40 euro.").decode()
    await page.act("send", user_id=YOU, chat_id=YOU, name="boiler.txt", type="text/plain", data=said, text="keep it")
    state = await page.until(lambda state: state["lines"] and state["lines"][-1]["by_bot"])
    sent = state["lines"][0]

    shown = await page.client.get(f"/play/file/{sent['file_id']}")
    gone = await page.client.get("/play/file/none")
    refused = await page.client.get(f"/play/file/{sent['file_id']}", headers={TOKEN_HEADER: "x"})

    assert (sent["media"], sent["file_name"], sent["text"]) == ("document", "boiler.txt", "keep it")
    assert shown.content == b"The boiler costs 40 euro."
    assert (gone.status_code, refused.status_code) == (404, 403)


async def test_a_page_that_is_loaded_again_knows_what_became_of_the_bot(page):
    """A kill is told in the chat to whoever looks, in its place; a bot that is gone gives no part of a page."""
    await page.act("say", user_id=YOU, chat_id=YOU, text="My dog is called Rex.")
    last = (await page.until(answered("Rex")))["lines"][-1]["message_id"]
    await page.act("kill")
    first, second = (await page.until(lambda state: len(state["events"]) == 2))["events"]
    await page.playground._keeper.end()
    part = await page.client.get("/console/headline", headers={"HX-Request": "true"})

    assert (first["text"], first["after"]) == ("the bot was killed -9", last)
    assert second["text"].startswith("it's back")
    assert (part.status_code, "<html" in part.text) == (502, False)


IMPOSSIBLE = [
    ("skip", {"hours": -1}, 400),
    ("skip", {"hours": "nan"}, 400),
    ("say", {}, 400),
    ("press", {"user_id": 1}, 400),
    ("send", {"user_id": YOU, "chat_id": YOU, "name": "a.txt", "data": "???"}, 400),
    ("send", {"user_id": YOU, "chat_id": YOU, "name": "a.txt", "data": ""}, 400),
    ("dance", {}, 404),
]


async def test_what_is_wrong_is_told(page):
    """A request that can't be done says why, and does nothing."""
    wrong = [(await page.act(what, **body), status) for what, body, status in IMPOSSIBLE]

    assert [answer.status_code for answer, _ in wrong] == [status for _, status in wrong]
    assert all(answer.json()["error"] for answer, _ in wrong)
    assert (await page.until(lambda _: True))["lines"] == []


def foreign(host: str, port: int) -> list[dict[str, str]]:
    """Return the headers with which a browser, or whoever rebinds a name, sends what another site wants."""
    here = f"http://{host}:{port}"
    hosts = [
        "evil.example",
        f"evil.example:{port}",
        f"127.0.0.1.evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port}0",
    ]
    hosts += [
        f"localhost.:{port}",
        f"[::1]:{port}",
        f"0.0.0.0:{port}",
        f"127.0.0.2:{port}",
        f"127.0.0.1:{port}@evil.example",
    ]
    origins = ["http://evil.example", "null", f"https://{host}:{port}", f"http://{host}", f"http://{host}:{port + 1}"]
    origins += [f"{here}.evil.example", f"{here}/", f"http://localhost:{port}", "file://", "chrome-extension://abc"]
    sites = ["cross-site", "same-site", "whatever", "same-origin, cross-site"]
    return [
        *({"Host": each} for each in hosts),
        *({"Origin": each} for each in origins),
        *({"Sec-Fetch-Site": each} for each in sites),
        *({"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"} for _ in (1,)),
    ]


def asked(playground) -> list[tuple[str, str]]:
    """Return everything that is served beside the page: what it reads and does, the console, and the bot API."""
    token, you = playground.api.token, str(YOU)
    gets = [
        *("/", "/nothing", "/play/play.js", f"/play/state/{you}", "/console/sessions", "/console/login"),
        *(f"/bot{token}/getMe", f"/file/bot{token}/documents/1", "/control/calls"),
    ]
    posts = [
        *("/play/act/say", "/play/act/reset", "/play/act/kill", "/console/logout", "/control/people/says"),
        *(f"/bot{token}/getUpdates", f"/bot{token}/sendMessage"),
    ]
    return [*(("GET", path) for path in gets), *(("POST", path) for path in posts), ("OPTIONS", "/play/act/say")]


async def test_no_other_site_reads_or_drives_anything(page):
    """Whatever is asked for, by a rebound name or from another page, is refused before anything looks at it."""
    port = page.playground.api.port
    tried = [(*what, headers) for what in asked(page.playground) for headers in foreign("127.0.0.1", port)]
    before = len(page.playground.api.calls)
    said = {"user_id": YOU, "chat_id": YOU, "text": "x"}
    answers = [await page.client.request(how, path, json=said, headers=headers) for how, path, headers in tried]

    let_in = [each for each, answer in zip(tried, answers, strict=True) if answer.status_code != 403]
    assert let_in == []
    assert len(tried) == 17 * 25
    assert all("refused" in answer.json()["error"] for answer in answers)
    assert "sendMessage" not in {call.method for call in list(page.playground.api.calls)[before:]}
    assert (await page.until(lambda _: True))["lines"] == []


async def test_whoever_has_not_loaded_the_page_does_nothing(page):
    """What the page reads and does wants the token of this start; the bot API has one that nobody knows."""
    api = page.playground.api
    said = {"user_id": YOU, "chat_id": YOU, "text": "x"}
    del page.client.headers[TOKEN_HEADER]
    acts = [await page.client.post("/play/act/say", json=said, headers=each) for each in ({}, {TOKEN_HEADER: "x"})]
    state = await page.client.get(f"/play/state/{YOU}")
    old = await page.client.post(f"/bot{PLAYGROUND_TOKEN}/getUpdates")

    assert [each.status_code for each in (*acts, state, old)] == [403, 403, 403, 401]
    assert api.token.partition(":")[0] == PLAYGROUND_TOKEN.partition(":")[0]
    assert Playground(page.playground._folder, page.playground._clock).api.token != api.token


async def test_nobody_drives_a_person_in_play(page):
    """The addresses with which tests speak for people are not there."""
    verbs = [name for name in vars(SimulatedPeople) if not name.startswith("_")]
    paths = [*(f"/control/people/{verb}" for verb in verbs), "/control/user", "/control/faults", "/control/release"]
    answers = [await page.client.post(path, json={"user_id": YOU, "text": "x"}) for path in paths]

    assert {answer.status_code for answer in answers} == {404}


async def test_no_page_elsewhere_shows_one_of_these(page):
    """The page stands in no frame at all, the console in this page's alone, whether the bot runs or not."""
    own = [await page.client.get(path) for path in ("/", "/play/play.js", "/play/index.html", "/nothing")]
    console = [await page.client.get("/console/sessions")]
    await page.act("kill")
    await page.until(lambda state: state["bot"]["state"] == "killed")
    console.append(await page.client.get("/console/sessions"))

    assert all("frame-ancestors 'none'" in each.headers["content-security-policy"] for each in own)
    assert {each.headers["x-frame-options"] for each in own} == {"DENY"}
    assert all("frame-ancestors 'self'" in each.headers["content-security-policy"] for each in console)
    assert {each.headers["x-frame-options"] for each in console} == {"SAMEORIGIN"}
