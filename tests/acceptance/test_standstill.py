"""Whatever hangs: the process ends by itself, the message that did it is put aside in the end, and nobody else pays."""

from __future__ import annotations

import asyncio
import socket

import pytest
from loopback.hanging import HOLDS, ON_THE_LOOP, SLEEPS, WORKS, hanging
from story import FRIEND, PERSON, bot_texts, rows

pytestmark = [pytest.mark.acceptance, pytest.mark.sweep]
LIMIT = {"CONTINUITY_LOOP_LIMIT_S": "1.5"}


@pytest.fixture
async def hangs(bot_process):
    """Offer a bot that hangs for certain words."""
    bot = await bot_process(start=False, **LIMIT)
    bot.work = hanging
    return await bot.start()


async def until_dead(bot) -> int:
    """Wait until the process has ended by itself and return its exit code."""
    return await bot.wait(60)


async def started_again_until(bot, seen) -> None:
    """Start the process again whenever it has ended; work of others on a busy machine may be one more standstill."""
    over = asyncio.ensure_future(seen)
    while not over.done():
        dead = asyncio.ensure_future(until_dead(bot))
        await asyncio.wait({over, dead}, return_when=asyncio.FIRST_COMPLETED)
        if dead.done():
            await bot.launch()
        dead.cancel()
    await over


@pytest.mark.parametrize("where", [HOLDS, ON_THE_LOOP])
async def test_a_message_that_hangs_everything_is_put_aside_after_three_deaths(api, hangs, where):
    """The watch ends each process, the death counts, and the fourth start says so once; other people are answered."""
    api.people.says(PERSON, f"please {where}")
    codes = [await until_dead(hangs)]
    for _ in range(2):
        await hangs.launch()
        codes.append(await until_dead(hangs))
    api.people.says(FRIEND, "hello?")
    await hangs.start()
    await api.until(lambda: "heard: hello?" in bot_texts(api, FRIEND))
    await api.until(lambda: bot_texts(api, PERSON))

    assert codes == [1, 1, 1]
    assert rows(hangs, "SELECT state, attempts FROM inbox WHERE state <> 'done'") == [("quarantined", 3)]
    assert len(bot_texts(api, PERSON)) == 1
    dumped = hangs.log.partition("Timeout (")[2]
    assert "hold_everything" in dumped
    assert f"please {where}" not in hangs.log


@pytest.mark.parametrize("text", ["hello", f"please {WORKS}"])
async def test_who_wrote_at_the_same_moment_is_answered_and_not_blamed(api, hangs, text):
    """Turns that were only there when it hung are excused; those that were in a step too are tried one at a time."""
    others = range(1, 6)
    for person in others:
        api.people.says(person, text)
    api.people.says(PERSON, f"please {HOLDS}")
    await started_again_until(hangs, api.until(lambda: bot_texts(api, PERSON), 60))
    await api.until(lambda: all(bot_texts(api, person) for person in others))

    assert [bot_texts(api, person) for person in others] == [[f"heard: {text}"] for _ in others]
    assert rows(hangs, "SELECT state, attempts FROM inbox WHERE state <> 'done'") == [("quarantined", 3)]


async def test_a_stop_waits_for_no_thread_that_hangs(api, hangs):
    """SIGTERM ends the process in good order while threads are busy for ever; their message is answered later."""
    for number in range(12):
        api.people.says(PERSON + number, f"please {SLEEPS}")
    await api.until(lambda: not api.updates.waiting)
    code = await hangs.terminate(60)

    assert code == 0
    assert {state for (state,) in rows(hangs, "SELECT state FROM inbox")} == {"received"}


async def test_systemd_hears_that_it_is_ready_alive_and_stopping(api, bot_process, tmp_path):
    """Over the socket that it names, without a library; a unit with WatchdogSec starts again what falls silent."""
    heard: list[str] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.bind(str(tmp_path / "notify"))
        line.setblocking(False)
        asyncio.get_running_loop().add_reader(line, lambda: heard.append(line.recv(64).decode()))
        bot = await bot_process(NOTIFY_SOCKET=str(tmp_path / "notify"), **LIMIT)
        await api.until(lambda: "READY=1" in heard and heard.count("WATCHDOG=1") > 1)
        await bot.terminate()
        await api.until(lambda: "STOPPING=1" in heard)
        asyncio.get_running_loop().remove_reader(line)
