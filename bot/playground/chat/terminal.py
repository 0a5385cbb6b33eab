"""Chat with the bot in the terminal: the same application as on Telegram, over the loopback Bot API.

On a terminal `chat` shows drafts while they are written and takes commands, buttons by number and pastes; with input
from a pipe each line is answered in turn, and `chat` ends when all are.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from prompt_toolkit.patch_stdout import patch_stdout
from rich.console import Console
from rich.markup import escape

from bot.playground.bot_api.server import LoopbackBotApi
from bot.playground.bot_api.world import ChatView, ShownMessage, fresh_token
from bot.playground.chat.feed import QUIT, News, news, pressed
from bot.playground.chat.lines import typed_lines
from bot.playground.chat.prompt import Prompt
from bot.playground.chat.screen import Screen
from bot.playground.moved_clock import MovedClock, skipped_ms

PLAYGROUND_USER_ID = 1_000_001
"""The person at the keyboard; the application must allow this user."""

Settled = Callable[[], Awaitable[None]]
StartApplication = Callable[[str, str], AbstractAsyncContextManager[Settled | None]]
Above = Callable[[Callable[[], None] | None], Awaitable[None]]

_EARLIER_LINES = 6
_EDIT_SETTLES_S = 1.0
_GROWING_SETTLES_S = 6.0
_QUIET_S = 1.5
_ANSWER_MAX_S = 180.0


def header(model: str) -> list[str]:
    """Return the title and the lines of the box at the start."""
    return [
        "Continuity, in your terminal",
        "The same bot as on Telegram, on this machine alone. It remembers you.",
        f"Model: [bold]{escape(model)}[/] · another: CONTINUITY_MODEL=openai:<name> and its key",
        "Telegram: a token from @BotFather, then TELEGRAM_BOT_TOKEN=<token> make run",
        "[dim]/skip 8h: move the clock · Number: press button · Tab: commands · Alt-Enter: new line · Ctrl-D: leave[/]",
    ]


async def chat(
    start_application: StartApplication,
    state_dir: Path,
    *,
    model: str = "offline",
    console: Console | None = None,
    clock: MovedClock | None = None,
) -> int:
    """Run the server, start the application against it and talk until the person leaves; return the exit code.

    `start_application(api_url, token)` is the application for as long as it is entered. It may yield an awaitable
    function that returns when nothing is left to be answered or sent; without one, piped input waits for quiet.
    The messages, their ids and downloaded files stay in `state_dir`.
    """
    screen = Screen(console or Console())
    clock = clock or MovedClock(state_dir / "clock")
    async with LoopbackBotApi(
        token=fresh_token(), state_path=state_dir / "playground.json", now_s=lambda: clock.now_ms() / 1000
    ) as api:
        api.people.world.user(PLAYGROUND_USER_ID, first_name="")
        follower = Follower(api, screen, state_dir / "downloads", clock)
        if sys.stdin.isatty() and screen.console.is_terminal:
            screen.header(header(model))
            screen.earlier(follower.view.lines[-_EARLIER_LINES:])
            async with start_application(api.url, api.token):
                await _converse(follower)
                screen.note("Kept; the next start goes on here.")
            return 0
        async with start_application(api.url, api.token) as settled:
            return await _answer_lines(follower, settled)


@dataclass(slots=True)
class Follower:
    """Keeps the screen in step with the chat, and sends typed lines."""

    api: LoopbackBotApi
    screen: Screen
    downloads: Path
    clock: MovedClock
    view: ChatView = field(init=False)
    _pending: deque[Callable[[], None]] = field(default_factory=deque)
    _held: dict[int, News] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.view = self.api.view(PLAYGROUND_USER_ID)

    def send(self, typed: str) -> list[int]:
        """Send a text, press a button or move the clock; return the ids of the updates that the bot gets."""
        ahead_ms = skipped_ms(typed)
        if ahead_ms is not None:
            self.clock.move(ahead_ms)
            now = datetime.fromtimestamp(self.clock.now_ms() / 1000, UTC)
            self.screen.note(f"the clock says {now:%a %d %b, %H:%M} UTC now")
            return []
        button = pressed(typed, self.api.view(PLAYGROUND_USER_ID).lines)
        first = self.api.updates.next_id
        if button is None:
            self.api.people.pastes(PLAYGROUND_USER_ID, typed.strip())
        elif button.is_link:
            self.screen.note(f"{button.text}: {button.does}")
        else:
            self.screen.note(f"you pressed: {button.text}")
            self.api.people.presses(PLAYGROUND_USER_ID, button.does, message_id=button.message_id)
        return list(range(first, self.api.updates.next_id))

    def collect(self, *, flush: bool = False) -> bool:
        """Collect the news to print and return whether there is any.

        Edits are held back, and shown above the input line, until they settle; `flush` gives them out.
        """
        self._pending.extend(self._news(flush=flush))
        return bool(self._pending)

    def write(self) -> None:
        """Print the collected news, once."""
        while self._pending:
            self._pending.popleft()()

    def _news(self, *, flush: bool) -> Iterator[Callable[[], None]]:
        before, self.view = self.view, self.api.view(PLAYGROUND_USER_ID)
        for item in news(before.lines, self.view.lines):
            if item.kind == "edited":
                self._held[item.line.message_id] = item
                continue
            if item.kind == "new":
                yield from self._print_held()
            yield self._printer(item)
        if flush:
            yield from self._print_held()
        yield from self._answers()

    def held(self) -> tuple[str, float | None]:
        """Return the newest text that is held back, and after how many quiet seconds it is to be printed."""
        if not self._held:
            return "", None
        text = list(self._held.values())[-1].line.text
        return text, _GROWING_SETTLES_S if text.endswith("…") else _EDIT_SETTLES_S

    def live_text(self) -> str:
        """Return the lines above the input: the draft, an edit that goes on, or the typing sign."""
        now = self.api.view(PLAYGROUND_USER_ID)
        return self.screen.live(self.held()[0] or now.draft or "", is_typing=now.is_typing or now.draft is not None)

    def commands(self) -> dict[str, str]:
        """Return the commands that the bot's menu offers."""
        menu = self.api.world.commands.get("default", [])
        return {c["command"]: c["description"] for c in menu} | {QUIT[1:]: "leave"}

    def _print_held(self) -> Iterator[Callable[[], None]]:
        held, self._held = self._held, {}
        for item in held.values():
            yield self._printer(item)

    def _printer(self, item: News) -> Callable[[], None]:
        def write() -> None:
            self.screen.show(item)
            if item.line.file_id and item.kind == "new":
                self.screen.note(f"saved as {self._save(item.line)}")

        return write

    def _answers(self) -> Iterator[Callable[[], None]]:
        for callback_id, pressed_button in self.api.world.callbacks.items():
            text = pressed_button.get("answer", {}).get("text")
            if text and callback_id not in self._told:
                self._told.add(callback_id)
                yield lambda text=text: self.screen.note(text)  # type: ignore[misc]  # a bound default, not a parameter

    def _save(self, line: ShownMessage) -> Path:
        self.downloads.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = re.sub(r"[^\w.-]", "_", Path(line.file_name).name).lstrip(".") or "file"
        path = self.downloads / f"{line.message_id}-{name}"
        path.touch(mode=0o600)
        path.write_bytes(self.api.world.files.get(line.file_id, b""))
        return path


# On a terminal


async def _converse(follower: Follower) -> None:
    prompt = Prompt(follower.live_text, follower.commands)
    with patch_stdout(raw=True):
        async with _watching(follower, prompt.above):
            await _read_lines(follower, prompt)


async def _read_lines(follower: Follower, prompt: Prompt) -> None:
    while True:
        try:
            typed = await prompt.ask()
        except EOFError:
            return
        except KeyboardInterrupt:
            follower.screen.note("Ctrl-D leaves; /stop ends an answer that is being written")
            continue
        if typed.strip() == QUIT:
            return
        if typed.strip():
            follower.send(typed)


@contextlib.asynccontextmanager
async def _watching(follower: Follower, above: Above) -> AsyncIterator[None]:
    """Print news while the block runs, and the rest at its end."""
    watching = asyncio.create_task(_watch(follower, above), name="playground screen")
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        follower.collect(flush=True)
        follower.write()


async def _watch(follower: Follower, above: Above) -> None:
    changes, seen = follower.api.changes, -1
    while True:
        settled = False
        try:
            await changes.until(lambda: changes.count != seen, follower.held()[1])  # noqa: B023 - asked at once
        except TimeoutError:
            settled = True
        seen = changes.count
        await above(follower.write if follower.collect(flush=settled) else None)


# From a pipe


async def _answer_lines(follower: Follower, settled: Settled | None) -> int:
    async def at_once(write: Callable[[], None] | None) -> None:
        if write:
            write()

    async with _watching(follower, at_once):
        async for line in typed_lines():
            if line.strip() == QUIT:
                break
            if line.strip() and not await _answered(follower, line, settled):
                sys.stderr.write(f"no answer to {line.strip()!r} within {_ANSWER_MAX_S:.0f} s\n")
                return 1
    return 0


async def _answered(follower: Follower, typed: str, settled: Settled | None) -> bool:
    """Send a line and say whether it was answered in time."""
    api = follower.api
    updates = follower.send(typed)
    before = _answers(api)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_ANSWER_MAX_S):
            await api.changes.until(lambda: all(api.is_confirmed(update) for update in updates), None)
            if settled:
                await settled()
            elif updates:
                await api.changes.until(lambda: _answers(api) != before, None)
                await _quiet(api)
            follower.collect(flush=True)
            follower.write()
            return True
    return False


def _answers(api: LoopbackBotApi) -> object:
    answered = sum("answer" in button for button in api.world.callbacks.values())
    return answered, api.view(PLAYGROUND_USER_ID).lines


async def _quiet(api: LoopbackBotApi) -> None:
    while True:
        version, view = api.world.version, api.view(PLAYGROUND_USER_ID)
        with contextlib.suppress(TimeoutError):
            await api.changes.until(lambda: api.world.version != version, _QUIET_S)  # noqa: B023 - asked at once
            continue
        if not view.is_typing and view.draft is None:
            return
