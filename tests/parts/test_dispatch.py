"""Dispatch: what fails is tried again, three times is enough, and a disk that refuses is told of (P3, P10)."""

from __future__ import annotations

import pytest

from bot import replies


def failing(times: int, error: Exception):
    """Return a reply that fails so many times before it repeats what it is told."""
    left = [error] * times

    def reply(ask, _show):
        if left:
            raise left.pop()
        return f"You said: {ask.text}"

    return reply


async def test_work_that_fails_twice_is_done_at_the_third_try(one, screen, script):
    """A defect that passes costs nobody an answer: one reply, one turn."""
    script.reply = failing(2, RuntimeError("a passing defect"))
    await one.take(1, "hello")
    await one.settled()

    assert screen.sent == ["You said: hello"]
    assert len(script.asked) == 3
    assert await one.rows("inbox", "state") == [("done",)]


async def test_work_that_fails_three_times_is_put_aside_and_said(one, screen, script):
    """Its sender hears of it once, and the next message is answered."""
    script.reply = failing(3, RuntimeError("a lasting defect"))
    await one.take(1, "poison")
    await one.settled()
    await one.take(2, "next")
    await one.settled()

    assert screen.sent == [replies.say("quarantined"), "You said: next"]
    assert await one.rows("inbox", "update_id, state") == [(1, "quarantined"), (2, "done")]


@pytest.mark.parametrize("statement", ["inbox_claim", "insert_turn", "outbox_insert"])
async def test_a_refusal_of_the_disk_is_said_and_the_message_waits(one, screen, statement):
    """Nothing is half stored; behind the refusal [Try again] has the message, or it goes on by itself."""
    one.refuse(statement)
    await one.take(1, "hello")
    await screen.until(lambda: screen.sent)

    assert screen.sent[0] in (replies.say("storage_refused"), replies.say("storage_down"))
    assert await one.rows("conversation_turns", "user_text") == []
    assert await one.rows("inbox", "state") != [("done",)]


async def test_a_command_that_is_none_is_answered_with_the_one_that_was_meant(one, screen):
    """No model is asked for it."""
    await one.take(1, "/forgett", entities=[{"type": "bot_command", "offset": 0, "length": 8}])
    await one.settled()

    assert screen.sent == [replies.say("unknown_command_like", command="forgett", like="forget")]
