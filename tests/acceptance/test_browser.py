"""In a real browser: the newcomer's way through the playground, the operator's way through the console."""

from __future__ import annotations

import re

import pytest
from loopback.model import ModelFault
from loopback.played import fork
from loopback.served import TOKEN
from loopback.web import (
    CHROMIUM,
    NO_CHROMIUM,
    PHONE,
    WIDE,
    Messenger,
    open_browser,
    open_page,
    overflow_of,
    problems_of,
    show_as,
)
from playwright.async_api import expect
from story import noting

from bot.playground.browser import Playground
from bot.playground.moved_clock import MovedClock
from bot.playground.pages import ANA

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason=NO_CHROMIUM), pytest.mark.sweep]

PAGES = ("sessions", "continuity", "checkpoints", "starts", "tools", "set-aside", "history")
OF_A_SESSION = ("", "/memory", "/made", "/carried", "/next", "/notes/1")


@pytest.fixture
async def playground(tmp_path, monkeypatch):
    """Serve the playground, its bot in a process of its own."""
    monkeypatch.setenv("CONTINUITY_MODEL", "offline")
    monkeypatch.setenv("CONTINUITY_RETURN_MODE", "ask")
    playground = Playground(tmp_path, MovedClock(tmp_path / "clock"), fork)
    await playground.start(0)
    yield playground
    await playground.stop()


async def test_a_newcomer_finds_the_way(playground):
    """Talk, a kill in between, eight hours, [Carry on], the group, a reset; on a phone it fits; axe finds nothing."""
    async with open_browser() as browser:
        you = Messenger(await open_page(browser))
        await you.opens(playground.api.url)
        await you.page.fill("#text", "/fo")
        await you.page.press("#text", "ArrowUp")
        await you.page.keyboard.press("Enter")
        await expect(you.page.locator("#text")).to_have_value("/forget")
        said = await you.says("I need to call the landlord by Friday about the heating.")
        await you.kills()
        await you.writes("what is still open?")
        await you.is_back()
        await expect(you.answers).to_have_count(2)
        await you.page.reload()
        await you.is_back()
        await expect(you.answers).to_have_count(2)
        open_matters = await you.answers.nth(1).inner_text()

        await you.page.click("#later")
        offer = await you.says("hey")
        await you.taps("Carry on")
        await expect(you.page.locator(".keys", has_text="Carry on")).to_have_count(0)
        console = you.page.frame_locator("#console")
        await expect(console.locator("td a").first).to_be_visible()

        in_group = await talk_in_the_group(you, playground)
        found = await problems_of(you.page)

        phone = Messenger(await open_page(browser, PHONE, scheme="dark"))
        await phone.opens(playground.api.url)
        await expect(phone.answers.first).to_be_visible()
        too_wide, found_dark = await overflow_of(phone.page), await problems_of(phone.page)
        await phone.page.click("#side")
        found_dark += await problems_of(phone.page)

        await you.goes_to("You")
        you.page.on("dialog", lambda dialog: dialog.accept())
        await you.page.click("#reset")
        await expect(you.answers).to_have_count(0)
        await expect(you.bot).to_have_text("running")
        forgotten = await you.says("what is still open?")

    assert "landlord" in said
    assert "landlord" in open_matters
    assert "landlord" in offer
    assert in_group
    assert "landlord" not in forgotten
    assert (found, found_dark, too_wide) == ([], [], 0)
    assert you.page.faults == []


async def talk_in_the_group(you, playground) -> str:
    """Speak as Ana, be answered; a message that comes leaves the focus, a reload the chat and who writes."""
    await you.goes_to("Flat")
    await you.page.select_option("#who", "Ana")
    await you.writes("nobody in particular")
    await you.writes("@continuity_bot hello")
    await expect(you.answers).to_have_count(2)  # which messages it reads, and the answer
    group = you.page.locator("#chats button[aria-current]")
    await group.focus()
    number = next(each for each in playground.api.world.chats if each < 0)
    playground.api.people.says(ANA, "so do I", chat_id=number)
    await expect(you.page.locator(".row.mine .line", has_text="so do I")).to_have_count(1)
    await expect(group).to_be_focused()
    await you.page.reload()
    await expect(group).to_contain_text("Flat")
    await expect(you.page.locator("#who")).to_have_value(str(ANA))
    await expect(you.answers).to_have_count(2)
    return await you.answers.nth(1).inner_text()


async def press_until(page, locator, key: str = "Tab", most: int = 60) -> None:
    """Press a key until this element has the focus."""
    for _ in range(most):
        if await locator.evaluate("element => element === document.activeElement"):
            return
        await page.keyboard.press(key)
    raise AssertionError(f"the keyboard does not reach {locator}")


async def enter(page, locator) -> None:
    """Go to an element with the keyboard, see that the focus shows there, and press Enter on it."""
    await locator.wait_for()
    await press_until(page, locator)
    shown = await locator.evaluate("element => getComputedStyle(element).outlineStyle !== 'none'")
    assert shown, f"nobody sees that the focus is on {locator}"
    await page.keyboard.press("Enter")


async def test_a_newcomer_needs_no_mouse(playground):
    """By keyboard alone: talk, tap, kill, be answered after it, move the clock, carry on, another chat, no reset.

    Who taps a button goes on from where it was, or from the text when it is gone.
    """
    async with open_browser() as browser:
        you = Messenger(await open_page(browser))
        page = you.page
        await you.opens(playground.api.url)
        await expect(page.locator("#text")).to_be_focused()
        await page.keyboard.type("I need to call the landlord by Friday about the heating.")
        await page.keyboard.press("Enter")
        await expect(you.answers).to_have_count(1)
        await page.keyboard.type("/settings")
        await page.keyboard.press("Enter")
        await expect(you.answers).to_have_count(2)
        await enter(page, page.locator(".keys button").last)
        await expect(page.locator(".time", has_text="edited")).to_have_count(1)
        await expect(page.locator(".keys button:focus")).to_have_count(1)
        await page.reload()
        await expect(page.locator("#text")).to_be_focused()
        await expect(you.answers).to_have_count(2)

        await enter(page, page.locator("#kill"))
        await expect(you.bot).to_have_text("killed")
        await you.is_back()
        await enter(page, page.locator("#later"))
        await press_until(page, page.locator("#text"))
        await page.keyboard.type("hey")
        await page.keyboard.press("Enter")
        await expect(you.answers).to_have_count(3)
        await enter(page, page.locator(".keys button", has_text="Carry on"))
        await expect(page.locator(".keys", has_text="Carry on")).to_have_count(0)
        await expect(page.locator("#text")).to_be_focused()

        await enter(page, page.locator("#chats button", has_text=re.compile(r"^\s*Flat")))
        await press_until(page, page.locator("#who"))
        await page.keyboard.press("ArrowDown")
        await expect(page.locator("#who")).to_have_value(str(ANA))
        await press_until(page, page.locator("#text"))
        await page.keyboard.type("@continuity_bot hello")
        await page.keyboard.press("Enter")
        await expect(you.answers).to_have_count(2)  # which messages it reads, and the answer
        page.on("dialog", lambda dialog: dialog.dismiss())
        await enter(page, page.locator("#reset"))
        await expect(you.answers).to_have_count(2)

    assert page.faults == []


async def test_an_operator_finds_the_way(served, model):
    """By keyboard alone from the login to the exact prompt of an answer; a note is corrected, then forgotten."""
    model.reply = noting("I live in Porto.", "fact", "I live in Porto.")
    app, client = await served()
    for text in ("I live in Porto.", "I need to call the landlord by Friday about the heating.", "Where do I live?"):
        await client.post("/chat", json={"session_id": "home", "message": text})
    async with open_browser() as browser:
        page = await open_page(browser)
        await page.goto(f"{app.http_url}/console")
        await page.keyboard.type("not the token")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("not the token")
        refused = await problems_of(page)
        await page.keyboard.type(TOKEN)
        await page.keyboard.press("Enter")
        await enter(page, page.locator("td a").first)
        await enter(page, page.locator("a", has_text="Exact prompt").last)
        await expect(page.locator(".shown").last).to_contain_text("exactly what was given")
        await expect(page.locator(".shown").last).to_contain_text("I live in Porto.")
        address = re.sub(r"[?#].*", "", page.url)

        await page.goto(f"{address}/memory")
        await enter(page, page.get_by_role("link", name="Correct: I live in Porto."))
        await press_until(page, page.locator("#value"))
        await page.keyboard.press("Control+A")
        await page.keyboard.type("I live in Lisbon.")
        await enter(page, page.get_by_role("button", name="Save"))
        await expect(page.get_by_role("status")).to_have_text("Corrected.")
        await enter(page, page.get_by_role("link", name="Forget: I live in Lisbon."))
        await expect(page.locator("blockquote")).to_have_text("I live in Porto.")
        await enter(page, page.get_by_role("button", name="Forget it"))
        await expect(page.get_by_role("status")).to_contain_text("no trace is left")
        await page.goto(address)
        await enter(page, page.locator("a", has_text="Exact prompt").last)
        await expect(page.locator(".shown").last).to_contain_text("forgotten since")
        text = await page.inner_text("main")

    assert refused == []
    assert "Porto" not in text.replace("Where do I live?", "")
    assert page.faults == []


async def test_an_operator_settles_what_failed_without_a_mouse(served, model, api):
    """Retry, Drop, a search, by keyboard alone; the focus stays on a button while its part is read again."""
    app, _ = await served()
    api.world.user(1, first_name="Sam")

    async def fails(text):
        count = len(api.texts(1))
        api.people.says(1, text)
        await api.until(lambda: len(api.texts(1)) > count)
        await app.settled()

    await fails("hello")  # is answered yet
    model.plant(ModelFault.SERVER_ERROR, times=None)
    await fails("What about the boiler?")
    await fails("And the tariff?")
    async with open_browser() as browser:
        page = await open_page(browser)
        await page.goto(f"{app.http_url}/console")
        await page.keyboard.type(TOKEN)
        await page.keyboard.press("Enter")
        await enter(page, page.locator("header a", has_text="Failures"))
        retry = page.get_by_role("button", name="Retry: What about the boiler?")
        await retry.wait_for()
        await press_until(page, retry)
        await fails("And the gas?")
        await page.get_by_role("button", name="Retry: And the gas?").wait_for()
        await expect(retry).to_be_focused()
        model.heal()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("again")
        await expect(retry).to_have_count(0)
        await enter(page, page.get_by_role("link", name="Drop: And the tariff?"))
        await enter(page, page.get_by_role("button", name="Drop it"))
        await expect(page.get_by_role("status")).to_contain_text("Dropped")
        await expect(page.locator(".trouble li")).to_have_count(1)

        await enter(page, page.locator("header a", has_text="Sessions"))
        await page.locator("#q").wait_for()
        await press_until(page, page.locator("#q"))
        await page.keyboard.type("boiler")
        await page.keyboard.press("Enter")
        await enter(page, page.locator("td a").first)
        await expect(page.locator(".talk")).to_contain_text("You said: What about the boiler?")

    assert page.faults == []


async def test_the_console_is_fit_for_everybody(served, model):
    """axe-core finds nothing, wide and light or narrow and dark: before anything was said, with talk, with failures.

    No page is too wide, and a dead bot has one red line.
    """
    heating = "I need to call the landlord by Friday about the heating."
    model.reply = noting(heating, "task", "Call the landlord about the heating")
    app, client = await served()
    found: dict[str, list[str]] = {}
    async with open_browser() as browser:
        page = await open_page(browser)

        async def look(name):
            for size, scheme in ((WIDE, "light"), (PHONE, "dark")):
                await show_as(page, size, scheme)
                found[f"{scheme} {name}"] = await problems_of(page)
                assert await overflow_of(page) <= 0, name

        await page.goto(f"{app.http_url}/console/login")
        await page.fill("#token", TOKEN)
        await page.click("button")
        await page.locator("#main").wait_for()
        for name in PAGES:
            await page.goto(f"{app.http_url}/console/{name}")
            await look(f"fresh {name}")
        for text in (heating, "What's open?"):
            await client.post("/chat", json={"session_id": "home", "message": text})
        session = (await client.get("/sessions")).json()["sessions"][0]["session_id"]
        for name in (*PAGES, *(f"sessions/{session}{end}" for end in OF_A_SESSION)):
            await page.goto(f"{app.http_url}/console/{name}")
            await look(name)
        await page.goto(f"{app.http_url}/console/sessions/{session}")
        await page.locator("nav.pages a", has_text="What it remembers").click()
        await page.locator("a", has_text="Forget").first.click()
        await look("question")
        model.plant(ModelFault.SERVER_ERROR, times=None)
        await client.post("/chat", json={"session_id": "home", "message": "And the boiler?"})
        for name in ("sessions", "set-aside", f"sessions/{session}"):
            await page.goto(f"{app.http_url}/console/{name}")
            await expect(page.locator("#headline .bad")).to_have_count(1)
            await look(f"failing {name}")
        assert page.faults == []

        await page.goto(f"{app.http_url}/console/sessions")
        await expect(page.locator("#headline .state")).to_have_count(1)
        await app.stop()
        await expect(page.get_by_role("alert")).to_contain_text("The bot isn't answering.")
        await expect(page.locator(".state")).to_have_count(1)  # no green box under a red one
        await look("gone")

    assert {name: what for name, what in found.items() if what} == {}
