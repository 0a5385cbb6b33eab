"""Recovery: the start after a death finishes what is young, asks about what is old, sends what was written (P3, P5)."""

from __future__ import annotations

import asyncio

import pytest
from telegram.error import BadRequest

from bot import replies
from bot.answers.responder import Answer
from memory.ledger.types import Add


async def dies_at_work(start, script, *texts: str):
    """Let a bot die while it answers these messages; return nothing of it."""
    begun = asyncio.Event()

    async def never(_ask, _show):
        begun.set()
        await asyncio.Event().wait()

    script.reply = never
    one = await start()
    for number, text in enumerate(texts, 1):
        await one.take(number, text)
    await begun.wait()
    await one.die()
    script.reply = None


async def asked_about_the_vet(start, script, screen):
    """Return a bot that noted something, and asks after a long silence whether to carry it forward."""

    def noted(ask, _show):
        call = Add(kind="task", text="Call the vet", note_id="n_1", fields={"owner": "user", "user_id": ask.user_id})
        return Answer(f"You said: {ask.text}", operations=(call,))

    one = await start(continuity_return_mode="ask")
    script.reply = noted
    await one.take(1, "I have to call the vet on Friday")
    await one.settled()
    script.reply = None
    one.clock.advance(s=7 * 3600)
    await one.take(2, "the plumber comes at 5")
    await one.settled()
    assert "carry forward" in screen.sent[-1]
    return one


async def test_a_turn_that_was_begun_is_finished_as_the_same_turn(start, script, screen):
    """Its message is answered once, under the id that it had before."""
    await dies_at_work(start, script, "hello")
    before = script.asked[-1].turn_id
    one = await start()
    report = await one.recover()
    await one.settled()

    assert (report.updates_recovered, report.turns_asked_about) == (1, 0)
    assert screen.sent == ["You said: hello"]
    assert await one.rows("conversation_turns", "turn_id") == [(before,)]


@pytest.mark.parametrize("died", [False, True])
async def test_what_was_written_while_a_preview_waited_is_answered_message_by_message(start, script, screen, died):
    """Each has a turn of its own, in order and once, also when the process dies in the first of them."""
    one = await asked_about_the_vet(start, script, screen)
    if died:
        begun = asyncio.Event()

        async def never(_ask, _show):
            begun.set()
            await asyncio.Event().wait()

        script.reply = never
    await one.take(3, "move the florist to friday")
    await one.take(4, "done with the dentist")
    if died:
        await begun.wait()
        await one.die()
        script.reply, one = None, await start(continuity_return_mode="ask")
        await one.recover()
        await one.joined.continuity_gate.recover()
    await one.settled()

    said = ["the plumber comes at 5", "move the florist to friday", "done with the dentist"]
    assert [turn[0] for turn in await one.rows("conversation_turns", "user_text")][1:] == said
    assert [text for text in screen.sent if text.startswith("You said")][1:] == [f"You said: {each}" for each in said]
    assert {state for (state,) in await one.rows("inbox", "state")} == {"done"}


async def test_an_old_turn_is_asked_about_before_tokens_are_spent(start, script, screen, clock):
    """Sixteen minutes later the person is asked once; [Answer now] answers, and not before."""
    await dies_at_work(start, script, "hello")
    clock.advance(s=16 * 60)
    asked = len(script.asked)
    one = await start()
    report = await one.recover()
    await one.settled()
    assert report.turns_asked_about == 1
    assert len(script.asked) == asked
    assert "hello" in screen.sent[-1]
    assert await one.rows("inbox", "state") == [("parked",)]

    await one.press(9, replies.say("answer_now"))
    await one.settled()
    assert screen.sent[-1] == "You said: hello"


async def test_a_reply_that_was_written_and_not_sent_is_sent_and_not_made_again(start, script, screen):
    """The death came between the commit and the send: the next start sends it, and asks no model."""
    one = await start()
    screen.hold = asyncio.Event()
    await one.take(1, "hello")
    await one.joined.lanes.until_idle()
    await one.die()
    screen.hold.set()
    one = await start(continuity_probe_ids=0)
    report = await one.recover()
    await one.settled()

    assert report.updates_recovered == 0
    assert report.replies_to_send + report.replies_to_probe == 1
    assert len(script.asked) == 1
    assert screen.sent[-1].startswith("You said: hello")
    assert await one.rows("outbox", "state") == [("sent",)]


@pytest.mark.parametrize("read", ["outbox_doubtful", "outbox_known_ids"])
async def test_a_reply_is_not_given_up_because_the_database_does_not_answer(start, screen, read):
    """The database is away while it is looked for on the screen: it is sent, and nobody hears of a loss."""
    one = await start()
    await one.take(1, "hello")
    await one.settled()
    screen.hold = asyncio.Event()
    await one.take(2, "again")
    await one.joined.lanes.until_idle()
    await one.die()
    screen.hold.set()
    before = len(screen.sent)
    screen.faults["edit_message_text"] = [BadRequest("Message to edit not found") for _ in range(100)]
    one = await start()
    one.refuse(read)
    await one.recover()
    await one.settled()

    assert screen.sent[before:] == ["You said: again"]
    assert await one.rows("outbox", "state") == [("sent",), ("sent",)]


async def test_a_message_that_waited_and_cannot_be_answered_takes_no_other_along(start, script, screen):
    """It is put aside alone, and what was typed meanwhile is answered."""
    one = await asked_about_the_vet(start, script, screen)

    async def fails(ask, _show):
        if "plumber" in ask.text:
            raise ValueError("a defect")
        return f"You said: {ask.text}"

    script.reply = fails
    await one.take(3, "move the florist to friday")
    await one.take(4, "done with the dentist")
    await one.settled()

    told = [replies.say("quarantined"), "You said: move the florist to friday", "You said: done with the dentist"]
    assert screen.sent[-3:] == told
    assert await one.rows("inbox", "state, attempts") == [("done", 1), ("quarantined", 3), ("done", 1), ("done", 1)]


@pytest.mark.parametrize(("timeout_s", "waited_s"), [(20, 60), (300, 300)])
async def test_a_slow_model_of_ones_own_has_as_long_to_keep_the_notes(start, timeout_s, waited_s, monkeypatch):
    """One that takes two minutes an answer kept no note: each of its readings had failed after one."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
    bot = await start(continuity_model="openai-chat:slow", continuity_model_timeout_s=timeout_s)

    assert bot.services.memory.keeper.asking.limit_s == waited_s
