"""What machines do to a process beside killing it: it is stopped, clocks jump, a backlog waits, Telegram refuses."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from collections import deque
from pathlib import Path

import pytest
import telegram.error
from loopback.bot_process import RUN
from loopback.model import Gate
from story import PERSON, answered, answers_to, bot_texts, heard, remembers, reply, rows

from bot.playground.bot_api.faults import Kind
from bot.playground.bot_api.updates import Updates

pytestmark = [pytest.mark.acceptance, pytest.mark.sweep]

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
DAY_S, YEAR_S = 86_400, 365 * 86_400
MOST_KIB = 300_000
"""What the bot, its libraries and its servers in this process may take beside 20 KiB for each message."""


@pytest.mark.file  # on a server the second one works: test_workers.py
@pytest.mark.crash
@pytest.mark.parametrize("for_s", [0, pytest.param(10, marks=pytest.mark.soak)])
async def test_a_process_that_is_stopped_and_continued_goes_on(api, model, bot_process, for_s):
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
    await asyncio.sleep(for_s)  # it is time that passes
    os.kill(bot.pid, signal.SIGCONT)
    model.gate.open()

    await answered(api, PERSON, "are you there?")
    await answered(api, PERSON, "and now?")
    assert len(bot_texts(api)) == 2
    assert heard(bot) == ["are you there?", "and now?"]


@pytest.mark.parametrize("jump_s", [-YEAR_S, -DAY_S, 3600, DAY_S, YEAR_S])
async def test_order_and_dedupe_do_not_depend_on_the_clock(api, model, bot_here, clock, jump_s):
    """The clock jumps in the middle of a conversation, and at a restart: in order, once, and remembered."""
    bot = await bot_here(CONTINUITY_SESSION_GAP_MINUTES="527040")
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
    assert remembers(model, "my dog is called Rex")


@pytest.mark.timeout(300)
@pytest.mark.soak
@pytest.mark.crash
@pytest.mark.skipif(not FAKETIME.exists(), reason="libfaketime moves a process's clock from outside")
async def test_a_machine_whose_clock_is_set_while_it_runs_answers_on(api, bot_process, tmp_path):
    """A day ahead, two back, a start yesterday: messages are answered once, in order, and a reminder comes once."""
    offset = tmp_path / "offset"
    offset.write_text("+0")
    bot = await bot_process(
        command=RUN,
        CONTINUITY_SESSION_GAP_MINUTES="527040",
        LD_PRELOAD=str(FAKETIME),
        FAKETIME_TIMESTAMP_FILE=str(offset),
        FAKETIME_CACHE_DURATION="1",
        FAKETIME_DONT_FAKE_MONOTONIC="1",
    )
    api.people.says(PERSON, "remind me in 3 hours to water the plants")
    await api.until(lambda: bot_texts(api), 90)
    for number, moved_s in enumerate((DAY_S, -DAY_S, -DAY_S)):
        offset.write_text(f"{moved_s:+d}.000")
        if number == 0:
            await api.until(lambda: any("was due" in text for text in bot_texts(api)), 90)  # it looks once a minute
        if number == 2:
            await bot.restart()
        api.people.says(PERSON, f"message {number}")
        await answered(api, PERSON, f"message {number}", 90)
    assert await bot.terminate() == 0

    in_order = rows(bot, "SELECT user_text FROM conversation_turns ORDER BY seq")
    assert [text for (text,) in in_order][-3:] == [f"message {number}" for number in range(3)]
    assert [answers_to(api, PERSON, f"message {number}") for number in range(3)] == [
        [f"You said: message {number}"] for number in range(3)
    ]
    assert len([text for text in bot_texts(api) if "was due" in text]) == 1


@pytest.mark.soak
async def test_ten_thousand_updates_after_a_long_downtime(api, model, bot_here, monkeypatch):
    """A hundred people wrote a hundred messages each while the bot was down: every one is heard, once, in order."""
    model.requests = deque(maxlen=100)  # ten thousand prompts are what the test would hold, not the bot
    await backlog(api, bot_here, monkeypatch, people=100, messages=100)


async def test_a_backlog_after_a_downtime_is_heard_in_order(api, bot_here, monkeypatch):
    """The same with ten people and twelve messages: more than one poll brings."""
    await backlog(api, bot_here, monkeypatch, people=10, messages=12)


async def backlog(api, bot_here, monkeypatch, *, people: int, messages: int) -> None:
    """Nothing is confirmed before it is on disk, all of it is heard in order, and memory stays bounded."""
    crowd, before_kib = range(9000, 9000 + people), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(messages):
        for person in crowd:
            api.people.says(person, f"message {number} of {person}")
    bot = await bot_here(start=False)
    confirm = Updates.confirm

    def confirmed(updates: Updates, offset: int) -> object:
        taken = {update_id for (update_id,) in rows(bot, "SELECT update_id FROM inbox")} if offset else set()
        assert {each["update_id"] for each in updates.waiting if each["update_id"] < offset} <= taken
        return confirm(updates, offset)

    monkeypatch.setattr(Updates, "confirm", confirmed)
    await bot.start()

    def finished() -> bool:
        return not api.updates.waiting and not rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done' LIMIT 1")

    await api.until(finished, 3000)
    await api.until(lambda: not bot.app.services.delivery.backlog, 600)
    await bot.settled()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < MOST_KIB + 20 * people * messages
    for person in crowd:
        said = rows(
            bot,
            "SELECT user_text FROM conversation_turns WHERE conversation_id LIKE :c ORDER BY seq",
            c=f"%:{person}:0",
        )
        assert "\n".join(text for (text,) in said).splitlines() == [f"message {n} of {person}" for n in range(messages)]
        assert answers_to(api, person, f"message {messages - 1} of {person}")


SURVIVED = {
    "NetworkError": Kind.BAD_GATEWAY,
    "TimedOut": Kind.DROPPED,
    "RetryAfter": Kind.TOO_MANY,
    "BadRequest": Kind.REFUSED,
    "Forbidden": Kind.FORBIDDEN,
    "Conflict": Kind.CONFLICT,
    "InvalidToken": Kind.UNAUTHORIZED,
}
"""At getUpdates a lasting Conflict or InvalidToken ends the process with a sentence: test_lifecycle.py."""
ELSEWHERE = {"PassportDecryptionError", "ChatMigrated", "EndPointNotFound"}
"""No passport is read; a group that moves: test_supergroup.py; a method that a server lacks answers InvalidToken."""
METHODS = ("sendMessage", "getUpdates", "editMessageText")
BESIDE = ("sendChatAction", "sendMessageDraft", "answerCallbackQuery")


def test_every_error_class_of_telegram_is_accounted_for():
    """A class that the library adds has to be thought of here."""
    classes = {
        name
        for name, each in vars(telegram.error).items()
        if isinstance(each, type) and issubclass(each, telegram.error.TelegramError)
    }

    assert classes - {"TelegramError"} == set(SURVIVED) | ELSEWHERE


@pytest.mark.parametrize("method", [*METHODS, *(pytest.param(each, marks=pytest.mark.soak) for each in BESIDE)])
async def test_no_error_of_telegram_silences_the_bot_or_loses_an_answer(api, model, bot_here, method):
    """Each class twice in a row at each call: what was asked is answered once, and so is what comes next.

    Only somebody who blocked the bot gets nothing, and everything again as soon as they write.
    """
    fatal = {"InvalidToken"} if method == "getUpdates" else set()
    group = api.people.opens_group("Friends")
    bot = await bot_here()
    for name in sorted(set(SURVIVED) - fatal):
        once = (name, method) == ("BadRequest", "sendMessage")  # twice, and its bare text was refused too
        fault = api.faults.plant(method, SURVIVED[name], times=1 if once else 2)
        first, second = f"first {name}", f"second {name}"
        await provoke(api, method, first, group, model)
        place = group if method == "editMessageText" else PERSON
        blocked = name == "Forbidden" and method in {"sendMessage", "editMessageText"}
        if not blocked:
            await answered(api, place, first)
        else:
            await api.until(lambda fault=fault: fault.hits)
            await bot.settled()
        api.faults.clear()
        await provoke(api, method, second, group)
        await answered(api, place, second)
        assert len(answers_to(api, place, first)) == (0 if blocked else 1), name
        assert len(answers_to(api, place, second)) == 1, name


async def provoke(api, method: str, text: str, group: int, model=None) -> None:
    """Let a person do what makes the bot use this method: it edits what it has shown while a slow `model` answered."""
    if method == "editMessageText":
        if model is not None:
            model.gate = Gate()
            model.gate.let(3)
        api.people.says(PERSON, f"@continuity_bot {text}", chat_id=group)
        if model is not None:
            await api.until(lambda: "".join(bot_texts(api, group)[-1:]).endswith("…"))
            model.gate.open()
            model.gate = None
        return
    if method == "answerCallbackQuery":
        line = await reply(api, "/settings")
        before = len(api.calls_of(method))
        api.people.presses(PERSON, line.buttons[0][0], message_id=line.message_id)
        await api.until(lambda: len(api.calls_of(method)) > before)
    api.people.says(PERSON, text)


async def test_an_answer_to_a_topic_that_is_gone_comes_to_the_group(api, bot_here):
    """Somebody deletes the topic while the bot answers in it: the answer is shown where the group can read it."""
    await bot_here()
    group = api.people.opens_group("Friends", is_forum=True)
    fault = api.faults.plant("sendMessage", Kind.REFUSED, times=None, with_params=("message_thread_id",),
                             words="message thread not found")  # fmt: skip
    topic = api.people.opens_topic(group, "Travel")
    api.people.says(PERSON, "@continuity_bot where are we?", chat_id=group, thread_id=topic)
    await answered(api, group, "where are we?")

    assert fault.hits
    assert bot_texts(api, group) == ["You said: where are we?"]
