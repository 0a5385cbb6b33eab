"""/fresh private: nothing of it is noted, found or carried, whoever wants to, across kills, until it is over."""

from __future__ import annotations

import json

import pytest
from loopback.model import ToolCall
from story import FRIEND, NOTE, PERSON, PROMISE, answered, asked, bot_texts, noted, noting, reply, rows, shows, tap
from test_pictures_sent import photo

from bot import replies

pytestmark = pytest.mark.acceptance

SECRET = "I am going to quit at Halden, the codeword is zebra"
OTHER = "Private from here on"
OVER = "The private conversation is over."


def calling(*calls):
    """A model that calls these tools for each message, and then says so."""
    return lambda messages: "Understood." if messages[-1]["role"] == "tool" else list(calls)


EVERY_TOOL = [
    ToolCall("note", {"text": "Quits at Halden", "kind": "decision"}, "a"),
    ToolCall("remind", {"text": "Write the notice", "at": "2031-03-05T09:00"}, "b"),
    ToolCall("settings", {"name": "Zebra"}, "c"),
]


def notes(bot):
    return rows(bot, "SELECT text FROM notes ORDER BY number")


async def test_no_tool_and_no_keeper_writes_anything(api, model, bot_here):
    """The tools say so to the model, nothing waits for the keeper or is indexed, nothing of before is seen."""
    bot = await bot_here(CONTINUITY_MEMORY_MODEL="openai-chat:keeper")
    await reply(api, PROMISE)
    await noted(bot, "promise", NOTE)
    await reply(api, "/fresh private")
    await shows(api, OTHER)
    await bot.app.services.memory.settle()
    before = rows(bot, "SELECT COUNT(*) FROM search_docs"), rows(bot, "SELECT COUNT(*) FROM people")
    model.reply = calling(*EVERY_TOOL)
    assert (await reply(api, SECRET)).text == "Understood."
    await bot.app.services.memory.settle()

    told = [m["content"] for m in asked(model)[-1].body["messages"] if m["role"] == "tool"]
    assert len(told) == 3
    assert all("is private" in each for each in told)
    assert NOTE not in asked(model)[-1].text
    assert notes(bot) == [(NOTE,)]
    assert (rows(bot, "SELECT COUNT(*) FROM search_docs"), rows(bot, "SELECT COUNT(*) FROM people")) == before
    private = rows(bot, "SELECT session_id FROM conversation_sessions WHERE origin = 'private'")[0][0]
    assert rows(bot, "SELECT 1 FROM readings WHERE session_id = :id", id=private) == []
    assert "private: nothing of it is kept" in (await reply(api, "/status")).text


async def test_the_model_is_offered_no_tool_that_keeps_something(api, model, bot_here):
    """Neither notes nor work by the clock; after it they are there again, and each prompt is counted as it was."""
    bot = await bot_here()

    async def offered(text):
        await reply(api, text)
        return {tool["function"]["name"] for tool in asked(model)[-1].body["tools"]}

    usual = await offered("good morning")
    await reply(api, "/fresh private")
    private = await offered(SECRET)
    await reply(api, "/fresh")

    assert await offered("good evening") == usual
    assert usual - private == {"note", "change", "end", "remind", "forget", "settings", "schedule"}
    assert "search" in private
    kept = [len(json.loads(text)) for (text,) in rows(bot, "SELECT text FROM prompt_texts WHERE text LIKE '[%'")]
    assert sorted(kept) == sorted([len(usual), len(private)])


async def test_who_asks_to_continue_is_not_begun_fresh_with(api, model, bot_here):
    """Typed eleven hours behind /continue, “what do I need today?” was answered without a date of theirs."""
    bot = await bot_here()
    model.reply = calling(ToolCall("note", {"text": "Fetch the van", "kind": "task"}, "n"))
    await reply(api, "I have to fetch the van")
    await reply(api, "/fresh private")
    await reply(api, SECRET)
    await reply(api, "/continue")
    await reply(api, "/loops")
    await bot.passes(hours=11)
    model.reply = "The van."
    await reply(api, "what do I need today?")

    assert "Fetch the van" in asked(model)[-1].text
    assert "began without what was noted" not in asked(model)[-1].text


@pytest.mark.parametrize("ends", ["/fresh", "/continue"])
async def test_nothing_of_it_reaches_the_conversations_after_it(api, model, bot_here, ends):
    """It is in no prompt, no search, no list of sessions; that it is over is said."""
    bot = await bot_here(CONTINUITY_MAX_HISTORY_MESSAGES="6")
    await reply(api, "good morning")
    await reply(api, "/fresh private")
    await reply(api, SECRET)
    await reply(api, ends)
    await shows(api, OVER)
    model.reply = calling(ToolCall("search", {"query": "codeword zebra Halden"}, "s"))
    await reply(api, "which codeword was it?")
    await api.until(lambda: asked(model)[-1].body["messages"][-1]["role"] == "tool")

    assert "zebra" not in asked(model)[-1].text
    assert "Halden," not in asked(model)[-1].text
    for command in ("/sessions", "/continue", "/memory", "/loops", "/summary"):
        assert "quit" not in (await reply(api, command)).text
    states = rows(bot, "SELECT origin, state_json FROM conversation_sessions ORDER BY created_at_ms")
    assert [(origin, json.loads(state)["private"]) for origin, state in states if origin == "private"] == [
        ("private", True)
    ]


async def test_that_it_is_over_is_said_once(api, bot_here):
    """By /continue; not again under the first answer of whom they chose then."""
    bot = await bot_here()
    await reply(api, "good morning")
    await noted(bot, "task", "Call the vet")
    await reply(api, "/fresh private")
    await reply(api, SECRET)
    await reply(api, "/continue")
    await shows(api, "Here's what we could go on with")
    await tap(api, "Carry this forward", "Carrying this forward")
    await reply(api, "/persona companion")
    await reply(api, "so where were we?")
    await reply(api, "/status")

    assert sum(OVER in text for text in bot_texts(api)) == 1


async def test_the_keeper_of_a_group_sees_what_everybody_heard(api, model, bot_here):
    """Whoever speaks: what was said there belongs to the group."""
    bot = await bot_here(CONTINUITY_MEMORY_MODEL="openai-chat:keeper")
    group = api.people.opens_group("Friends")
    await noted(bot, "fact", "The boat lies in Fernley", chat_id=group, session_id="s_0")

    async def reads(user, text):
        api.people.says(user, f"@continuity_bot {text}", chat_id=group)
        await answered(api, group, text)
        await bot.app.services.memory.keeper.read_now(f"tg:{bot.app.services.me.bot_id}:{group}:0")
        return [each for each in model.requests if each.messages[0][1].startswith("You keep the notes")][-1].text

    assert "Fernley" in await reads(PERSON, "the sails are to be mended before we go out again in May")
    assert "Fernley" in await reads(FRIEND, "somebody has to ask the harbour master for the new key")


async def test_a_pause_ends_it_and_that_is_said(api, model, bot_here):
    """Who comes back after hours is told that notes are kept again."""
    bot = await bot_here()
    await reply(api, "/fresh private")
    await reply(api, SECRET)
    await bot.passes(hours=7)
    await reply(api, "good evening")

    await shows(api, OVER)
    assert "zebra" not in asked(model)[-1].text
    await reply(api, "and another thing")
    assert sum(OVER in text for text in bot_texts(api)) == 1


BEFORE = "the private conversation just before this one"


def told_of_it(model):
    """Return whether the last prompt tells that a private conversation came just before."""
    return BEFORE in asked(model)[-1].text


@pytest.mark.parametrize("ends", ["/fresh", "/continue", "a pause"])
async def test_the_model_is_told_that_nothing_brings_it_back(api, model, bot_here, ends):
    """In the conversation after it alone, while it matters: asked for it, nobody is sent to /continue."""
    bot = await bot_here()
    await reply(api, "good morning")
    assert not told_of_it(model)
    await reply(api, "/fresh private")
    await reply(api, SECRET)
    assert not told_of_it(model)
    await (bot.passes(hours=7) if ends == "a pause" else reply(api, ends))
    for number in range(11):
        api.people.says(PERSON, f"which codeword was it? {number}")
        await answered(api, PERSON, f"which codeword was it? {number}")
        assert told_of_it(model) == (number < 10)

    await reply(api, "/fresh")
    await reply(api, "good evening")
    assert not told_of_it(model)


async def test_a_private_conversation_in_which_nothing_was_said_is_none(api, model, bot_here):
    """Nothing is to be missed of it; one that is passed through in silence hides none before it."""
    await bot_here()
    await reply(api, "/fresh private")
    await reply(api, "/fresh")
    await reply(api, "good morning")
    assert not told_of_it(model)

    await reply(api, "/fresh private")
    await reply(api, SECRET)
    await reply(api, "/fresh")
    await reply(api, "/fresh private")
    await reply(api, "/fresh")
    await shows(api, OVER)
    api.people.says(PERSON, "good evening")
    await answered(api, PERSON, "good evening")
    assert told_of_it(model)


async def test_the_offline_reader_keeps_nothing_of_it_either(api, bot_here):
    """Without a model an explicit form notes nothing there."""
    bot = await bot_here(CONTINUITY_MODEL="offline")
    await reply(api, "/fresh private")
    await reply(api, "remember that my locker is 42")
    assert notes(bot) == []

    await reply(api, "/fresh")
    await reply(api, "remember that my locker is 42")
    assert len(notes(bot)) == 1


@pytest.mark.crash
@pytest.mark.file
async def test_it_is_private_after_a_kill_and_from_a_checkpoint_alone(api, model, bot_process):
    """Killed in the middle, and with the database lost: still nothing is noted, indexed or listed."""
    model.reply = noting(SECRET, "decision", "Quits at Halden")
    bot = await bot_process()
    api.people.says(PERSON, "hello there")
    await answered(api, PERSON, "hello there")
    api.people.says(PERSON, "/fresh private")
    await shows(api, OTHER)
    await bot.restart()
    api.people.says(PERSON, "it is about my job")
    await answered(api, PERSON, "it is about my job")
    await api.until(lambda: any("about my job" in file.read_text() for file in bot.checkpoints.glob("*.json")))
    await bot.kill()
    for file in bot.database.parent.glob(f"{bot.database.name}*"):
        if file.suffix not in {".lock", ".waiting"}:
            file.unlink()
    await bot.start()
    api.people.says(PERSON, SECRET)
    await answered(api, PERSON, SECRET)
    api.people.says(PERSON, "/fresh")
    await shows(api, OVER)
    await bot.restart()
    api.people.says(PERSON, "and now?")
    await answered(api, PERSON, "and now?")

    assert told_of_it(model)
    assert notes(bot) == []
    [(origin, state)] = rows(
        bot,
        "SELECT origin, state_json FROM conversation_sessions JOIN conversation_turns USING (session_id)"
        " WHERE user_text = :text",
        text=SECRET,
    )
    assert (origin, json.loads(state)["private"]) == ("private", True)
    assert rows(bot, "SELECT 1 FROM search_docs d JOIN conversation_turns t ON t.turn_id = d.ref"
                     " WHERE t.user_text LIKE '%zebra%' OR t.user_text LIKE '%my job%'") == []  # fmt: skip


async def test_files_tell_nothing_of_what_was_said_to_a_picture_in_it(api, model, bot_here):
    """`/files` after it lists the picture by its kind; its caption stays there."""
    await bot_here()
    await reply(api, "/fresh private")
    before = len(bot_texts(api))
    api.people.sends_file(PERSON, photo(), kind="photo", caption=SECRET)
    await api.until(lambda: len(bot_texts(api)) > before)
    await reply(api, "/fresh")
    await shows(api, OVER)

    listed = (await reply(api, "/files")).text
    assert f"1. {replies.say('file_kinds.picture')}" in listed
    assert "quit" not in listed
