"""Pictures of every page in every state, for whoever looks at them: `python tests/every_page.py FOLDER [STATE …]`.

The states are fresh, busy, model failing and bot dead; each page is taken wide and narrow, light and dark. What
axe-core finds and what is wider than its window is printed.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, expect

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from loopback.model import Gate, LoopbackModel, ModelFault, ToolCall, echo  # noqa: E402 - after the path
from loopback.web import (  # noqa: E402
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

from bot.playground import keeper  # noqa: E402
from bot.playground.browser import Playground  # noqa: E402
from bot.playground.moved_clock import MovedClock  # noqa: E402
from bot.playground.pages import ANA, YOU  # noqa: E402

STATES = ("fresh", "busy", "failing", "dead")
LOOKS = [(size, scheme) for size in (WIDE, PHONE) for scheme in ("light", "dark")]
WHOLE = ("sessions", "set-aside", "continuity", "checkpoints", "starts", "tools", "history", "nowhere")
OF_A_SESSION = ("", "/memory", "/made", "/carried", "/next", "/notes/1")
PROSE = (
    "**Three offers** came in:\n\n1. Halden, 4,800 €, can begin on the 9th\n2. Brix & Sons, 5,150 €, with the tiles\n"
    "3. Ott, no answer yet\n\n> “We would need the keys the day before.”\n\n```python\nfor offer in offers:\n"
    "    print(f'{offer.name:<40} {offer.price:>12,.2f} EUR  until {offer.until:%d %B %Y} for each of them')\n"
    "```\nSee https://example.org/a/very/long/address/that/nobody/could/break/anywhere?with=a&query=that_goes_on_and_on"
)
TALK: dict[str, Any] = {
    "I'm Sam and I live in Porto.": [ToolCall("note", {"text": "You live in Porto", "kind": "fact"})],
    "I need to call the landlord by Friday about the heating, which has been making that noise again since Tuesday.": [
        ToolCall("note", {"text": "Call the landlord about the heating", "kind": "task"})
    ],
    "We decided on green for the kitchen.": [
        ToolCall("note", {"text": "The kitchen is painted green", "kind": "decision"})
    ],
    "What offers are there?": PROSE,
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2: "What a word.",
}
Shown = list[tuple[str, Page]]


def replies(now: datetime) -> Any:
    """Return what the model of the busy state says: what the talk has for it, else an echo."""
    at = f"{now + timedelta(days=1):%Y-%m-%d}T09:00"
    said = TALK | {
        "Remind me tomorrow at 9 to buy paint": [ToolCall("remind", {"text": "Buy paint", "at": at})],
        "Every morning, tell me what is due": [
            ToolCall("schedule", {"title": "What's due", "text": "Tell me what is due today", "at": at,
                                  "repeats": "FREQ=DAILY"})
        ],
        "The kitchen is done": [ToolCall("end", {"numbers": [3], "how": "done"})],
    }  # fmt: skip

    def reply(messages: list[dict[str, Any]]) -> Any:
        first, last = str(messages[0]["content"]), messages[-1]
        if first.startswith("You keep the notes"):
            return [ToolCall("keep", {"title": "", "standing": "", "changes": []})]
        if "Describe the picture" in first:
            return "A grey square."
        if last["role"] == "user":
            for words, answer in said.items():
                if str(last["content"]).rstrip().endswith(words):
                    return answer
        return "It's noted." if last["role"] == "tool" else echo(messages)

    return reply


class Album:
    """The folder of the pictures, and what is wrong with the pages."""

    def __init__(self, folder: Path, states: Sequence[str]) -> None:
        self.folder = folder
        self.states = states or STATES
        self.wrong: list[str] = []
        self.count = 0

    async def take(self, state: str, name: str, page: Page, *, whole: bool = True) -> None:
        """Take a page as it stands, in each window and light."""
        if not state.startswith(tuple(self.states)):
            return
        for size, scheme in LOOKS:
            await show_as(page, size, scheme)
            await page.wait_for_timeout(150)
            shown = f"{state}-{name}-{size[0]}-{scheme}"
            await page.screenshot(path=self.folder / f"{shown}.png", full_page=whole)
            self.count += 1
            if (size, scheme) in (LOOKS[0], LOOKS[-1]):
                self.wrong += [f"{shown}: {each}" for each in await problems_of(page)]
            if (over := await overflow_of(page)) > 0:
                self.wrong.append(f"{shown}: {over} pixels too wide")
        await show_as(page, WIDE, "light")


class States:
    """One playground on its way through the states."""

    def __init__(self, playground: Playground, model: LoopbackModel, browser: Browser, album: Album) -> None:
        self.playground, self.model, self.browser, self.album = playground, model, browser, album
        self.url = playground.api.url

    async def fresh(self) -> None:
        """Nobody has said anything."""
        page = await open_page(self.browser)
        await page.goto(f"{self.playground.bot_address[0]}/console/login")
        await self.album.take("fresh", "login", page)
        await page.fill("#token", "nothing like it")
        await page.keyboard.press("Enter")
        await self.album.take("fresh", "login-refused", page)
        await self.playgrounds("fresh")
        await self.consoles("fresh", WHOLE)

    async def busy(self) -> None:
        """People talk, a page is written, calls and files and reminders are there; an answer is on its way."""
        you = Messenger(await open_page(self.browser))
        await you.opens(self.url)
        self.model.reply = replies(datetime.now())  # noqa: DTZ005 - the bot's own clock
        for text in (*TALK, "Remind me tomorrow at 9 to buy paint", "Every morning, tell me what is due",
                     "The kitchen is done"):  # fmt: skip
            await self.says(you, text)
        contract = "Contract, signed by both of them and then scanned twice.txt"
        for name, data, kind in ((contract, b"The rent is 900.", "document"), ("", PIXEL, "photo")):
            count = await you.answers.count()
            self.playground.api.people.sends_file(YOU, data, name=name, kind=kind, caption="This one", chat_id=YOU)
            await expect(you.answers).to_have_count(count + 1)
        group = self.group
        self.playground.api.people.says(ANA, "@continuity_bot who buys the paint?", chat_id=group)
        await self.playground.api.until(lambda: any(line.by_bot for line in self.playground.api.view(group).lines))
        await self.says(you, "/loops")
        await you.page.click("#later")
        await self.says(you, "hey, I'm back")
        await expect(you.page.locator(".keys button", has_text="Start fresh")).to_have_count(1)
        self.model.gate = Gate()
        await you.writes("What offers are there?")
        self.model.gate.let(25)
        await expect(you.page.locator("#draft .draft")).to_contain_text("Halden")
        await self.playgrounds("busy")
        await self.consoles(
            "busy", [*WHOLE, *await self.of_a_session(), "sessions?q=heating", "sessions?q=nothing+of+it"]
        )
        await self.questions("busy")
        self.model.gate.open()
        self.model.gate = None
        await you.page.close()

    async def failing(self) -> None:
        """The model answers with errors."""
        self.model.plant(ModelFault.SERVER_ERROR, times=None)
        you = Messenger(await open_page(self.browser))
        await you.opens(self.url)
        for text in (
            "What about the boiler?",
            "And the tariff, which we said we'd look at before the end of the month?",
        ):
            await self.says(you, text)
        await self.playgrounds("failing")
        await self.consoles("failing", [*WHOLE, *await self.of_a_session()])
        await self.questions("failing")
        await you.page.close()

    async def dead(self) -> None:
        """The bot was killed while its pages were open; then it does not start."""
        names = [*WHOLE[:-1], *await self.of_a_session()]
        opened: Shown = [(name, await self.console(name)) for name in names]
        keeper.RESTART_AFTER_S = 6000.0
        talk = Messenger(await open_page(self.browser))
        await talk.opens(self.url)
        await talk.kills()
        await self.playgrounds("dead-killed")
        for name, page in opened:
            await expect(page.get_by_role("alert")).to_contain_text("isn't answering")
            await self.album.take("dead", file_of(name), page)
        self.playground._keeper._say("starting", "")
        await self.playgrounds("dead-starting")
        self.playground._keeper._say("failed", f"the bot doesn't start; see {self.playground._keeper._log_path}")
        await self.playgrounds("dead-failed")
        await self.playground.stop()
        await expect(talk.bot).to_contain_text("ended")
        await self.album.take("dead-ended", "play", talk.page, whole=False)

    # --- the pages --------------------------------------------------------------------------------------------------

    @property
    def group(self) -> int:
        """The chat of you and Ana."""
        return next(each for each in self.playground.api.world.chats if each < 0)

    @staticmethod
    async def says(you: Messenger, text: str) -> None:
        """Say something and wait for the first answer to it."""
        count = await you.answers.count()
        await you.writes(text)
        await you.answers.nth(count).wait_for()

    async def playgrounds(self, state: str) -> None:
        """Take the messenger: both chats, the commands, and the console in its frame."""
        if not state.startswith(tuple(self.album.states)):
            return
        page = await open_page(self.browser)
        await page.goto(self.url)
        await page.locator("#chats button").first.wait_for()
        await page.wait_for_timeout(2500)
        await self.album.take(state, "play", page, whole=False)
        await page.fill("#text", "/")
        await self.album.take(state, "play-commands", page, whole=False)
        await page.fill("#text", "")
        await page.locator("#chats button", has_text=re.compile("Flat")).click()
        await page.wait_for_timeout(500)
        await self.album.take(state, "play-group", page, whole=False)
        await show_as(page, PHONE, "light")
        await page.click("#side")
        await page.wait_for_timeout(500)
        await self.album.take(state, "play-console", page, whole=False)
        await page.context.close()

    async def console(self, name: str) -> Page:
        """Open a page of the console."""
        page = await open_page(self.browser)
        address, token = self.playground.bot_address
        await page.goto(f"{address}/console/login")
        await page.fill("#token", token)
        await page.keyboard.press("Enter")
        await page.locator("#main").wait_for()
        await page.goto(f"{address}/console/{name}")
        return page

    async def consoles(self, state: str, names: Iterable[str]) -> None:
        """Take these pages of the console, an answer with what it was made of opened."""
        for name in names if state in self.album.states else ():
            page = await self.console(name)
            if re.fullmatch(r"sessions/[^/]+", name):
                for label in ("Exact prompt", "What a search finds"):
                    await page.locator("a", has_text=label).first.click()
                    await page.wait_for_timeout(500)
                    await self.album.take(state, f"session-{label.split()[0]}", page)
            for each in await page.locator("details").all():
                with suppress(Exception):
                    await each.evaluate("node => { node.open = true }")
            await self.album.take(state, file_of(name), page)
            await page.context.close()

    async def questions(self, state: str) -> None:
        """Take what is asked before something is done, and what is said after it."""
        first = (await self.of_a_session())[0]
        page = await self.console(f"{first}/memory")
        for label in ("Correct", "Move", "Merge", "Drop", "Forget"):
            links = page.locator("a", has_text=label)
            if await links.count():
                await links.first.click()
                await self.album.take(state, f"ask-{label}", page)
                await page.go_back()
        await page.goto(f"{self.playground.bot_address[0]}/console/set-aside")
        if await page.locator("a", has_text="Drop").count():
            await page.locator("a", has_text="Drop").first.click()
            await self.album.take(state, "ask-drop-failed", page)
        await page.context.close()

    async def of_a_session(self) -> list[str]:
        """Return the addresses of the pages of the session with the notes."""
        page = await self.console("sessions")
        hrefs = [await each.get_attribute("href") for each in await page.locator("td a").all()]
        await page.context.close()
        address = (hrefs[-1] or "").removeprefix("/console/")
        return [f"{address}{end}" for end in OF_A_SESSION]


PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db0"
    "0000000049454e44ae426082"
)


def file_of(name: str) -> str:
    """Return a name for a picture of this page."""
    return re.sub(r"\W+", "-", re.sub(r"sessions/[^/?]+", "session", name)).strip("-")


async def main(folder: Path, names: Sequence[str]) -> None:
    """Serve a playground of its own, and bring it into each state."""
    for name in [name for name in os.environ if name.startswith(("CONTINUITY_", "TELEGRAM_", "OPENAI_"))]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as home:
        async with LoopbackModel() as model, open_browser() as browser:
            os.environ |= {
                "CONTINUITY_MODEL": "openai-chat:demo", "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none",
                "CONTINUITY_MODEL_TIMEOUT_S": "600", "CONTINUITY_TIMEZONE": "Europe/Berlin",
            }  # fmt: skip
            playground, album = Playground(Path(home), MovedClock(Path(home) / "clock")), Album(folder, names)
            await playground.start(0)
            try:
                await playground.running()
                states = States(playground, model, browser, album)
                for name in STATES[: max(map(STATES.index, album.states)) + 1]:
                    await getattr(states, name)()
            finally:
                await playground.stop()
    print(f"{album.count} pictures in {folder}.", *album.wrong, sep="\n")  # noqa: T201 - said to whoever ran it


if __name__ == "__main__":
    if not CHROMIUM:
        sys.exit(NO_CHROMIUM)
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
