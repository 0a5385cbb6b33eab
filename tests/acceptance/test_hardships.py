"""What machines do to a process beside killing it: it is stopped, clocks jump, a backlog waits, Telegram refuses."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
import telegram.error
from loopback.bot_process import RUN
from loopback.model import Gate
from story import PERSON, answered, answers_to, bot_texts, heard, reply, rows

from bot.playground.faults import Kind

pytestmark = pytest.mark.acceptance

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
DAY_S, YEAR_S = 86_400, 365 * 86_400


@pytest.mark.crash
async def test_a_process_that_is_stopped_and_continued_goes_on(api, model, bot_process):
    """SIGSTOP in the middle of an answer, a second process meanwhile, SIGCONT: answered once, nothing lost."""
    model.gate = Gate()
    bot = await bot_process()
    api.people.says(PERSON, "are you there?")
    await model.until(lambda: model.requests)
    os.kill(bot.pid, signal.SIGSTOP)
    api.people.says(PERSON, "and now?")
    second = type(bot)(api, bot.folder, bot.env)
    second.log_path = bot.folder / "second.log"
    await second.launch()
    assert await second.wait() == 1
    assert "another process" in second.log
    os.kill(bot.pid, signal.SIGCONT)
    model.gate.open()

    await answered(api, PERSON, "are you there?")
    await answered(api, PERSON, "and now?")
    assert len(bot_texts(api)) == 2
    assert heard(bot) == ["are you there?", "and now?"]


@pytest.mark.parametrize("jump_s", [-YEAR_S, -DAY_S, -3600, 3600, DAY_S, 10 * YEAR_S])
async def test_order_and_dedupe_do_not_depend_on_the_clock(api, model, bot_here, clock, jump_s):
    """The clock jumps in the middle of a conversation, and at a restart: in order, once, and remembered."""
    bot = await bot_here(CONTINUITY_SESSION_GAP_MINUTES="525600000" if jump_s > 0 else "360")
    await reply(api, "my dog is called Rex")
    clock.advance(s=jump_s)
    await reply(api, "and my cat Tom")
    await bot.restart()
    clock.advance(s=-jump_s)
    await reply(api, "who are they?")

    assert [text for (text,) in rows(bot, "SELECT user_text FROM conversation_turns ORDER BY seq")] == [
        "my dog is called Rex",
        "and my cat Tom",
        "who are they?",
    ]
    assert len(bot_texts(api)) == 3
    assert ("user", "my dog is called Rex") in [
        (role, text.splitlines()[-1]) for role, text in model.requests[-1].messages
    ]


@pytest.mark.crash
@pytest.mark.skipif(not FAKETIME.exists(), reason="libfaketime moves a process's clock from outside")
async def test_a_machine_whose_clock_is_set_while_it_runs_answers_on(api, bot_process, tmp_path):
    """A day ahead, two back, some hours ahead: each message is answered once, in order."""
    offset = tmp_path / "offset"
    offset.write_text("+0")
    bot = await bot_process(
        command=RUN,
        LD_PRELOAD=str(FAKETIME),
        FAKETIME_TIMESTAMP_FILE=str(offset),
        FAKETIME_CACHE_DURATION="1",
        FAKETIME_DONT_FAKE_MONOTONIC="1",
    )
    for number, moved_s in enumerate((0, DAY_S, -DAY_S, 3 * 3600)):
        offset.write_text(f"{moved_s:+d}.000")
        api.people.says(PERSON, f"message {number}")
        await answered(api, PERSON, f"message {number}", 60)
    assert await bot.terminate() == 0

    assert bot_texts(api) == [f"You said: message {number}" for number in range(4)]


@pytest.mark.soak
async def test_ten_thousand_updates_after_a_long_downtime(api, bot_here):
    """A hundred people wrote a hundred messages each while the bot was down: every one is heard, once, in order."""
    await backlog(api, bot_here, people=100, messages=100)


async def test_a_backlog_after_a_downtime_is_heard_in_order(api, bot_here):
    """The same with ten people and thirty messages."""
    await backlog(api, bot_here, people=10, messages=30)


async def backlog(api, bot_here, *, people: int, messages: int) -> None:
    crowd = range(9000, 9000 + people)
    for number in range(messages):
        for person in crowd:
            api.people.says(person, f"message {number} of {person}")
    bot = await bot_here()
    async with asyncio.timeout(600):
        while api.updates.waiting:  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.1)
        await bot.settled()
    for person in crowd:
        said = rows(
            bot,
            "SELECT user_text FROM conversation_turns WHERE conversation_id LIKE :c ORDER BY seq",
            c=f"%:{person}:0",
        )
        assert "\n".join(text for (text,) in said).splitlines() == [f"message {n} of {person}" for n in range(messages)]
        assert answers_to(api, person, f"message {messages - 1} of {person}")


ANSWERED_ERRORS = {
    "NetworkError": Kind.BAD_GATEWAY,
    "TimedOut": Kind.DROPPED,
    "RetryAfter": Kind.TOO_MANY,
    "BadRequest": Kind.REFUSED,
    "Forbidden": Kind.FORBIDDEN,
}
FATAL_ERRORS = {"Conflict", "InvalidToken"}
"""Ends of the process, each with a sentence: tests/acceptance/test_lifecycle.py."""
NOT_FOR_US = {"PassportDecryptionError", "ChatMigrated", "EndPointNotFound"}
"""No passport is read; a group that moves: tests/acceptance/test_supergroup.py; unknown methods: strict.py."""


def test_every_error_class_of_telegram_is_accounted_for():
    """A class that the library adds has to be thought of here."""
    classes = {
        name
        for name, each in vars(telegram.error).items()
        if isinstance(each, type) and issubclass(each, telegram.error.TelegramError)
    }

    assert classes - {"TelegramError"} == set(ANSWERED_ERRORS) | FATAL_ERRORS | NOT_FOR_US


@pytest.mark.parametrize("method", ["sendMessage", "getUpdates", "sendChatAction", "sendMessageDraft"])
@pytest.mark.parametrize("name", sorted(ANSWERED_ERRORS))
async def test_no_error_of_telegram_silences_the_bot(api, bot_here, name, method):
    """Whichever call it hits, twice in a row: the next message is answered, once."""
    await bot_here()
    api.faults.plant(method, ANSWERED_ERRORS[name], times=2)
    api.people.says(PERSON, "first")
    if (name, method) == ("Forbidden", "sendMessage"):
        await api.until(lambda: any(fault.hits for fault in api.faults.planted))
    else:
        await api.until(lambda: bot_texts(api), 40)
    api.faults.clear()
    api.people.says(PERSON, "second")
    await answered(api, PERSON, "second", 40)

    assert len(answers_to(api, PERSON, "second")) == 1
    assert len(answers_to(api, PERSON, "first")) <= 1
