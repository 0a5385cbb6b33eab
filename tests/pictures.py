"""The pictures of the docs, taken from the running program: `make pictures`, then look at them."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from playwright.async_api import expect

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from loopback.web import CHROMIUM, NO_CHROMIUM, PHONE, Messenger, open_browser, open_page  # noqa: E402 - after the path

from bot.playground.browser import Playground  # noqa: E402
from bot.playground.moved_clock import MovedClock  # noqa: E402

PICTURES = HERE.parent / "docs" / "pictures"
TALK = (
    "Hi, I'm Sam and I live in Porto.",
    "I need to call the landlord by Friday about the heating.",
    "We decided to paint the kitchen green.",
    "Remind me tomorrow at 9 to buy paint",
)


async def take(playground: Playground) -> None:
    """Live through a day with the bot and take a picture at each turn."""
    url = playground.api.url
    async with open_browser() as browser:
        you = Messenger(await open_page(browser))
        await you.opens(url)
        for text in TALK:
            await you.says(text)
        await you.kills()
        await you.writes("What did I say about the heating?")
        await you.is_back()
        await expect(you.answers).to_have_count(len(TALK) + 1)
        await you.page.frame_locator("#console").locator("td a").first.wait_for()
        await you.page.screenshot(path=PICTURES / "recovery.png")
        await you.page.click("#later")
        await you.writes("hey, I'm back")
        await expect(you.page.locator(".keys button", has_text="Carry on")).to_have_count(1)
        await expect(you.page.frame_locator("#console").locator("tbody tr").first).to_contain_text("open")
        await you.page.screenshot(path=PICTURES / "playground.png")
        await you.taps("Carry on")
        await expect(you.answers.last).to_contain_text("Porto")

        console = await open_page(browser)
        await console.goto(f"{url}/console/sessions")
        address = await console.locator("td a").last.get_attribute("href")
        await console.goto(f"{url}{address}")
        await console.locator("a", has_text="Exact prompt").last.click()
        await console.locator(".shown pre").first.wait_for()
        await console.locator(".talk > li").last.evaluate("turn => turn.scrollIntoView()")
        await console.screenshot(path=PICTURES / "console.png")
        await console.goto(f"{url}{address}/memory")
        await console.screenshot(path=PICTURES / "console-memory.png")

        phone = await open_page(browser, PHONE, scheme="dark")
        await phone.goto(f"{url}{address}")
        await phone.screenshot(path=PICTURES / "console-phone.png")


async def main() -> None:
    """Serve a playground of its own in a folder that goes afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        for name in [name for name in os.environ if name.startswith(("CONTINUITY_", "TELEGRAM_"))]:
            del os.environ[name]
        os.environ["CONTINUITY_RETURN_MODE"] = "ask"
        playground = Playground(Path(folder), MovedClock(Path(folder) / "clock"))
        await playground.start(0)
        try:
            await take(playground)
        finally:
            await playground.stop()


if __name__ == "__main__":
    if not CHROMIUM:
        sys.exit(NO_CHROMIUM)
    asyncio.run(main())
    print(f"Taken into {PICTURES}. Look at them before you keep them.")  # noqa: T201 - said to whoever ran it
