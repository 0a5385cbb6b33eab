"""The terminal chat runs a python-telegram-bot application and shows what a person would see on Telegram."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from contextlib import asynccontextmanager

import pytest
from loopback.echo_bot import echo_application
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from bot.playground.bot_api.server import LoopbackBotApi
from bot.playground.chat import terminal
from bot.playground.chat.lines import typed_lines
from bot.playground.chat.terminal import PLAYGROUND_USER_ID, chat
from bot.playground.moved_clock import MovedClock

CTRL_C, CTRL_D, ALT_ENTER = "\x03", "\x04", "\x1b\r"


@pytest.fixture(autouse=True)
def _no_pace(monkeypatch):
    monkeypatch.setenv("ECHO_PACE_S", "0")


@pytest.fixture
def piped(monkeypatch, tmp_path):
    async def run(text, start=echo_application):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        out = io.StringIO()
        code = await chat(start, tmp_path / "state", console=Console(file=out, width=40))
        return code, out.getvalue().splitlines()

    return run


async def test_piped_lines_are_answered_in_order(piped):
    """Each line is answered before the next is sent; numbers press buttons; a file is saved."""
    code, lines = await piped("hello\n\n/buttons\n1\n/two\n/slow\n/quit\nnever\n")

    assert code == 0
    assert lines == [
        "you hello",
        "bot echo: hello",
        "you /buttons",
        "bot Shall we go on?",
        "    [1] Continue  [2] Start fresh",
        "you pressed: Continue",
        "noted",
        "bot You chose go (edited)",
        "you /two",
        "bot first",
        "bot second",
        "you /slow",
        "bot Once upon a time there was a bot that wrote rather slowly, word after word, until everything was said.",
    ]


@pytest.mark.parametrize("end", ["", "\n"])
async def test_lines_come_from_a_pipe_as_they_are_written(monkeypatch, end):
    """Pieces are joined to lines, the last line needs no end, broken bytes do not stop it."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as stdin, os.fdopen(writing, "wb", buffering=0) as stdout:
        monkeypatch.setattr(sys, "stdin", stdin)
        lines = typed_lines()
        stdout.write(b"o")
        first = asyncio.ensure_future(anext(lines))
        stdout.write(b"ne\r\n\ntw\xff" + end.encode())
        stdout.close()

        assert [await first, *[line async for line in lines]] == ["one", "", "tw\ufffd"]


async def test_without_word_from_the_application_quiet_is_awaited(piped, monkeypatch):
    """An application that does not tell when it is done still gets its answers printed."""
    monkeypatch.setattr(terminal, "_QUIET_S", 0.5)

    @asynccontextmanager
    async def silent(url, token):
        async with echo_application(url, token):
            yield None

    assert (await piped("/two\n", silent))[1] == ["you /two", "bot first", "bot second"]


async def test_a_line_that_is_never_answered_ends_it_with_1(piped, monkeypatch, capsys):
    """The exit code and one line on stderr tell that something is wrong."""
    monkeypatch.setattr(terminal, "_ANSWER_MAX_S", 0.05)

    @asynccontextmanager
    async def deaf(_url, _token):
        yield None

    code, _ = await piped("anybody?\n", deaf)
    assert (code, "no answer to 'anybody?'" in capsys.readouterr().err) == (1, True)


async def test_a_file_is_saved_where_it_says(piped, tmp_path):
    """Documents land in the downloads of the state folder, private."""
    _, lines = await piped("/file\n")

    saved = tmp_path / "state" / "downloads" / "2-export.json"
    assert lines[-1] == f"saved as {saved}"
    assert (saved.read_bytes(), saved.stat().st_mode & 0o777) == (b'{"all": "yours"}', 0o600)


@pytest.fixture
async def typed(tmp_path):
    """Offer the interactive chat: a function that types keys, the api, and a function that leaves and shows all."""
    out = io.StringIO()
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        async with LoopbackBotApi(state_path=tmp_path / "p.json") as api, echo_application(api.url, api.token):
            api.world.user(PLAYGROUND_USER_ID, first_name="you")
            screen = terminal.Screen(Console(file=out, force_terminal=True, no_color=True, width=60, height=20))
            follower = terminal.Follower(api, screen, tmp_path, MovedClock(tmp_path / "clock"))
            talking = asyncio.create_task(terminal._converse(follower))

            async def leave():
                keys.send_text(CTRL_D)
                await talking
                return out.getvalue()

            yield keys.send_text, api, follower, leave
            talking.cancel()
            await asyncio.gather(talking, return_exceptions=True)


async def test_on_a_terminal_keys_become_messages_and_presses(typed):
    """Lines, a line break, a button, and an edit that is shown when it settles or at the end."""
    keys, api, _, leave = typed
    keys("one" + ALT_ENTER + "two\r")
    await api.until(lambda: api.texts(PLAYGROUND_USER_ID) == ["echo: one\ntwo"])
    keys("/buttons\r")
    await api.until(lambda: len(api.texts(PLAYGROUND_USER_ID)) == 2)
    keys("2\r")
    await api.until(lambda: api.texts(PLAYGROUND_USER_ID)[-1] == "You chose no")
    shown = await leave()

    places = [shown.index(text) for text in ("echo: one", "[2]", "you pressed: Start fresh", "You chose no")]
    assert places == sorted(places)


async def test_a_draft_and_the_typing_sign_stand_above_the_input_line(typed):
    """What is being written is live and never stays in the scrollback."""
    keys, api, follower, leave = typed
    keys("/slow\r")
    drafts = []

    def keep():
        drafts.append(follower.live_text())
        return len(api.texts(PLAYGROUND_USER_ID)) == 1

    await api.until(keep)
    shown = await leave()

    assert any("Once upon" in draft for draft in drafts)
    assert (shown.count("upon a time"), follower.live_text()) == (1, "")


async def test_ctrl_c_does_not_leave(typed):
    """It says what does; the menu offers the bot's commands."""
    keys, api, follower, leave = typed
    keys("half a line" + CTRL_C)
    keys("hello\r")
    await api.until(lambda: api.texts(PLAYGROUND_USER_ID) == ["echo: hello"])

    assert "Ctrl-D leaves" in await leave()
    assert {"slow", "buttons", "quit"} <= follower.commands().keys()
