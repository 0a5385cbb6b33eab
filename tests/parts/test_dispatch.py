"""Dispatch: what fails is tried again, three times is enough, and a disk that refuses is told of (P3, P10)."""

from __future__ import annotations

import asyncio

import pytest

from bot import replies
from memory.ports import Statement


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


async def happens(what) -> bool:
    """Return whether something happens in a while in which it would, if nothing kept it."""
    for _ in range(30):
        await asyncio.sleep(0.01)
        if what():
            return True
    return False


class Held:
    """Holds claims back until they are let through, and knows when a packet was made."""

    def __init__(self, one, monkeypatch) -> None:
        self.free, self.claiming, self.prepared = asyncio.Event(), asyncio.Event(), asyncio.Event()
        inbox, assembler = one.services.inbox, one.services.memory.assembler
        claim, packet = inbox.claim, assembler.packet

        async def held(*claimed):
            self.claiming.set()
            await self.free.wait()
            await claim(*claimed)

        async def seen(*said, **about):
            made = await packet(*said, **about)
            self.prepared.set()
            return made

        monkeypatch.setattr(inbox, "claim", held)
        monkeypatch.setattr(assembler, "packet", seen)


async def test_what_a_turn_has_to_know_is_gathered_while_its_claim_is_stored(one, screen, script, monkeypatch):
    """No model is asked before the claim is on the disk."""
    await one.take(1, "hello")
    await one.settled()
    held = Held(one, monkeypatch)
    await one.take(2, "and then?")
    await held.prepared.wait()
    await held.claiming.wait()
    assert not await happens(lambda: len(script.asked) > 1)
    assert await one.rows("inbox", "state") == [("done",), ("received",)]

    held.free.set()
    await one.settled()
    assert screen.sent == ["You said: hello", "You said: and then?"]


async def test_a_claim_that_is_refused_for_good_asks_no_model(one, screen, script, monkeypatch):
    """Somebody finished the update meanwhile: the packet was made for nothing, and nothing is said."""
    await one.take(1, "hello")
    await one.settled()
    held = Held(one, monkeypatch)
    await one.take(2, "and then?")
    await held.prepared.wait()
    await one.services.db.write(
        Statement("inbox_done", {"bot_id": one.services.me.bot_id, "update_id": 2, "done_at_ms": 1})
    )
    held.free.set()
    await one.settled()

    assert len(script.asked) == 1
    assert screen.sent == ["You said: hello"]


async def test_a_claim_that_is_refused_is_waited_for_once(one, screen, monkeypatch):
    """Its patience is the turn's: nothing is gathered again for a claim that has been given up."""
    await one.take(1, "hello")
    await one.settled()
    assembler, made = one.services.memory.assembler, []
    packet = assembler.packet

    async def counted(*said, **about):
        made.append(1)
        return await packet(*said, **about)

    monkeypatch.setattr(assembler, "packet", counted)
    one.refuse("inbox_claim")
    await one.take(2, "and then?")
    await screen.until(lambda: len(screen.sent) > 1)

    assert screen.sent[1] in (replies.say("storage_refused"), replies.say("storage_down"))
    assert len(made) == 1


async def test_what_an_earlier_start_left_is_claimed_before_anything_is_done(one, start, screen, monkeypatch):
    """Only so each further death over it is counted, however early it comes (P3)."""
    await one.take(1, "hello")
    await one.settled()
    Held(one, monkeypatch)
    await one.take(2, "and then?")
    again = await start()
    held = Held(again, monkeypatch)
    await again.recover()
    await held.claiming.wait()
    assert not await happens(held.prepared.is_set)

    held.free.set()
    await again.settled()
    assert screen.sent == ["You said: hello", "You said: and then?"]
