"""A real browser for the tests and the pictures: Debian's chromium, driven by Playwright; what a person does in it.

The pages' policy allows no code that is made from strings, so that nothing here waits with a function of the page.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from axe_playwright_python.async_playwright import Axe
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright, expect

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
NO_CHROMIUM = "chromium is not installed (apt-get install chromium, or name one with CHROMIUM)"
PATIENCE_MS = 60_000
WIDE, PHONE = (1280, 800), (390, 844)


@asynccontextmanager
async def open_browser() -> AsyncIterator[Browser]:
    """Start a browser without a window; it ends with the block."""
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            await browser.close()


async def open_page(browser: Browser, size: tuple[int, int] = WIDE, *, scheme: str = "light") -> Page:
    """Return a page of its own login; errors of its scripts and its policy are collected in `page.faults`."""
    width, height = size
    context = await browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    context.set_default_timeout(PATIENCE_MS)
    page = await context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda said: page.faults.append(said.text) if _is_fault(said) else None)
    return page


def _is_fault(said: ConsoleMessage) -> bool:
    return said.type == "error" and not said.text.startswith("Failed to load resource")


async def problems_of(page: Page) -> list[str]:
    """Return what axe-core finds, however small, with the elements it is about; a page loads it once."""
    axe = Axe("" if await page.evaluate("'axe' in window") else AXE_SCRIPT)
    found = (await axe.run(page)).response["violations"]
    return [f"{one['id']}: {[node['html'][:120] for node in one['nodes']]}" for one in found]


async def show_as(page: Page, size: tuple[int, int], scheme: str) -> None:
    """Let the page that is open be seen in a window of this size, light or dark."""
    width, height = size
    await page.set_viewport_size({"width": width, "height": height})
    await page.emulate_media(color_scheme=scheme)


async def overflow_of(page: Page) -> int:
    """Return by how many pixels a page is wider than its window."""
    return await page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


class Messenger:
    """The playground's page, as a newcomer uses it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.answers = page.locator(".line.bot:not(.draft)")
        self.bot = page.locator("#bot")
        self.events = page.locator(".event")

    async def opens(self, url: str) -> None:
        """Open the page and wait until the bot runs."""
        await self.page.goto(url)
        await expect(self.bot).to_have_text("running")

    async def writes(self, text: str) -> None:
        """Type a message and send it with Enter."""
        await self.page.fill("#text", text)
        await self.page.press("#text", "Enter")

    async def says(self, text: str) -> str:
        """Say something and return the next answer."""
        count = await self.answers.count()
        await self.writes(text)
        await expect(self.answers).to_have_count(count + 1)
        return await self.answers.nth(count).inner_text()

    async def kills(self) -> None:
        """Press kill -9 and wait until the bot is dead."""
        await self.page.click("#kill")
        await expect(self.bot).to_have_text("killed")

    async def is_back(self) -> None:
        """Wait until it runs again and says what it found."""
        await expect(self.bot).to_have_text("running")
        await expect(self.events.filter(has_text="it's back")).to_have_count(1)

    async def goes_to(self, chat: str) -> None:
        """Open another chat."""
        await self.page.locator("#chats button", has_text=re.compile(rf"^\s*{re.escape(chat)}")).click()
        await expect(self.page.locator("#chats button[aria-current]")).to_contain_text(chat)

    async def taps(self, label: str) -> None:
        """Press a button under a message."""
        await self.page.locator(".keys button", has_text=label).last.click()
