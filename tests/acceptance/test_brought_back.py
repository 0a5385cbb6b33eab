"""A call that misses something from before /fresh: one button brings that back, and the message is answered again."""

from __future__ import annotations

import re

import pytest
from loopback.model import ToolCall, echo
from story import FRIEND, NOTE, PERSON, PROMISE, asked, bot_lines, heard, noted, noting, reply, rows, shows, tap, tapped

pytestmark = pytest.mark.acceptance
BUTTON = "Bring back what was before"
TICK = "tick that off"
MISSED = "That's from before."


def ticking(messages):
    """Note the promise; tick off the note that the prompt shows, else the one with its words."""
    last = messages[-1]
    if last["role"] == "tool":
        return MISSED if "brings it back" in last["content"] else "Ticked off." if "Ended" in last["content"] else "Ok."
    if str(last["content"]).rstrip().endswith(PROMISE):
        return [ToolCall("note", {"text": NOTE, "kind": "promise", "owner": "assistant"}, "n")]
    if not str(last["content"]).rstrip().endswith(TICK):
        return echo(messages)
    shown = "\n".join(str(each["content"]) for each in messages if each["role"] != "assistant")
    number = re.search(rf"#(\d+) promise: {NOTE}", shown)
    return [ToolCall("end", {"numbers": [int(number[1])] if number else "the harbour report", "how": "done"}, "e")]


def status(bot):
    return rows(bot, "SELECT status FROM notes WHERE text = :text", text=NOTE)


async def missed(api, model):
    """Note something, begin fresh, speak of it; return the answer that missed it."""
    model.reply = ticking
    await reply(api, PROMISE)
    await reply(api, "/fresh")
    await reply(api, "good morning")
    return await reply(api, TICK)


async def test_the_button_brings_it_back_and_the_message_is_answered_again(api, model, bot_here):
    """In the conversation that was begun fresh, with what was said in it; the answer has no such button any more."""
    bot = await bot_here()
    line = await missed(api, model)
    assert line.buttons == ((BUTTON,),)
    assert status(bot) == [("open",)]
    await tap(api, BUTTON, on=line)
    await shows(api, "Ticked off.")
    await bot.settled()

    assert status(bot) == [("done",)]
    assert "The person has brought that back" in asked(model)[-1].text
    assert "good morning" in asked(model)[-1].text
    assert bot_lines(api)[-1].buttons == (("Undo",),)
    assert heard(bot) == [PROMISE, "good morning", TICK, TICK]
    assert rows(bot, "SELECT COUNT(*) FROM conversation_sessions") == [(2,)]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def test_it_works_again_after_the_next_fresh_start_and_once_each_time(api, model, bot_here):
    """A second tap on the same button does nothing."""
    bot = await bot_here()
    line = await missed(api, model)
    for _ in range(2):
        api.people.presses(PERSON, BUTTON, message_id=line.message_id)
    await shows(api, "Ticked off.")
    await bot.settled()
    assert heard(bot).count(TICK) == 2
    await noted(bot, "promise", NOTE)
    await reply(api, "/fresh")
    again = await reply(api, TICK)
    assert again.buttons == ((BUTTON,),)
    await tap(api, BUTTON, on=again)
    await api.until(lambda: sum(each.text == "Ticked off." for each in bot_lines(api)) == 2)
    await bot.settled()

    assert heard(bot).count(TICK) == 4


async def test_nothing_is_to_bring_back_where_it_was_done_in_the_end(api, model, bot_here):
    """Words missed, the number that the answer showed did it: no button stands under that."""
    await bot_here()
    model.reply = ticking
    await reply(api, PROMISE)
    await reply(api, "/fresh")
    model.reply = noting("I have to buy milk", "task", "Buy milk")
    await reply(api, "I have to buy milk")

    def trying(messages):
        tools = [each["content"] for each in messages if each["role"] == "tool"]
        if messages[-1]["role"] != "tool":
            return [ToolCall("end", {"numbers": "groceries", "how": "done"}, "e1")]
        assert any("brings it back" in each for each in tools)
        return "Ticked off." if "Ended" in tools[-1] else [ToolCall("end", {"numbers": [2], "how": "done"}, "e2")]

    model.reply = trying
    said = await reply(api, "groceries done")

    assert (said.text, said.buttons) == ("Ticked off.", (("Undo",),))


async def test_with_nothing_carried_it_works_the_same(api, model, bot_here):
    """In mode off, as /continue does there: in a new conversation, once; mode off stays chosen."""
    bot = await bot_here(CONTINUITY_RETURN_MODE="off")
    model.reply = ticking
    await reply(api, PROMISE)
    await bot.passes(hours=7)
    line = await reply(api, TICK)
    await tap(api, BUTTON, on=line)
    await shows(api, "Ticked off.")
    await bot.settled()

    assert status(bot) == [("done",)]
    assert rows(bot, "SELECT mode FROM continuity_preferences WHERE mode <> 'off'") == []
    await bot.passes(hours=7)
    await reply(api, "good evening")
    assert NOTE not in asked(model)[-1].text


async def test_in_a_group_only_whoever_asked_may_tap(api, model, bot_here):
    """Another member is told that the button isn't theirs, and nothing is brought back."""
    bot = await bot_here()
    model.reply = ticking
    group = api.people.opens_group("Friends")
    conversation = {"chat_id": group, "session_id": "s_0"}
    await noted(bot, "promise", NOTE, **conversation)
    for text in ("@continuity_bot good morning", "/fresh@continuity_bot", f"@continuity_bot {TICK}"):
        await reply(api, text, group)
        await bot.settled()
    line = await shows(api, MISSED, group)
    api.people.presses(FRIEND, BUTTON, chat_id=group, message_id=line.message_id)
    await api.until(lambda: api.calls_of("answerCallbackQuery"))
    assert tapped(api) == "This button is for somebody else."
    assert status(bot) == [("open",)]
    await tap(api, BUTTON, on=line, chat_id=group, user=PERSON)
    await shows(api, "Ticked off.", group)
