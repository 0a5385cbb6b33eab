"""A command that only shows something, while an answer takes long: it is answered, and the answer is what it was."""

from __future__ import annotations

import asyncio

import pytest

from bot.intake.updates import LOOKS

SLOW = "what is on the moon?"


def slowly(go: asyncio.Event):
    """A responder that answers when it is let go."""

    async def reply(ask, _show):
        await go.wait()
        return f"You said: {ask.text}"

    return reply


async def sends(one, number, command):
    """Take a command in."""
    await one.take(number, command, entities=[{"type": "bot_command", "offset": 0, "length": len(command)}])


@pytest.mark.parametrize("command", sorted(LOOKS))
async def test_what_only_looks_is_answered_beside_an_answer_that_takes_long(one, screen, script, command):
    """Every one of them, and the answer is stored behind it as the turn that it is."""
    await one.take(1, "hello")
    await screen.until(lambda: screen.sent)
    await one.settled()
    go = asyncio.Event()
    script.reply = slowly(go)
    await one.take(2, SLOW)
    await sends(one, 3, f"/{command}")
    await screen.until(lambda: len(screen.sent) > 1)
    assert not screen.sent[1].startswith("You said")

    go.set()
    await one.settled()
    assert screen.sent[2:] == [f"You said: {SLOW}"]
    assert await one.rows("conversation_turns", "user_text, seq") == [("hello", 1), (SLOW, 2)]
    assert {state for (state,) in await one.rows("inbox", "state")} == {"done"}


async def test_what_changes_something_waits_and_so_does_a_list_behind_it(one, screen, script):
    """`/fresh` comes behind the answer that was asked for before it."""
    go = asyncio.Event()
    script.reply = slowly(go)
    await one.take(1, SLOW)
    for number, command in enumerate(("/reminders", "/fresh", "/loops"), 2):
        await sends(one, number, command)
    await screen.until(lambda: screen.sent)
    await one.services.delivery.flush(60)
    assert one.joined.lanes.waiting("tg:99:7:0") == 2
    go.set()
    await one.settled()

    assert [text.split()[0] for text in screen.sent][1:3] == ["You", "Fresh"]
    assert len(screen.sent) == 4


async def test_a_death_after_the_list_leaves_the_answer_to_be_made(start, screen, script):
    """The next start answers the message, once, and shows no list again."""
    one = await start()
    script.reply = slowly(asyncio.Event())
    await one.take(1, SLOW)
    await sends(one, 2, "/reminders")
    await screen.until(lambda: screen.sent)
    await one.services.delivery.flush(60)
    script.reply = None
    one = await start()
    await one.recover()
    await one.settled()

    assert screen.sent[1:] == [f"You said: {SLOW}"]
    assert {state for (state,) in await one.rows("inbox", "state")} == {"done"}
