"""What a person can do with what is remembered: loops, memories, forgetting, export, the receipt, a daily budget."""

from __future__ import annotations

import json

import pytest
from story import FRIEND, PERSON, answered, bot_lines, reply, rows, stored_turns, tap

pytestmark = pytest.mark.acceptance


def readable(bot, word):
    """Return the files of a bot's folder in which a word can be read; the log is the test's own.

    A file that was renamed while we looked may stand under its new name in a folder already passed: look again.
    """
    while True:
        files = [file for file in bot.folder.rglob("*") if file.is_file() and file != bot.log_path]
        try:
            return [file.name for file in files if word.lower().encode() in file.read_bytes().lower()]
        except FileNotFoundError:
            continue


async def remembered(bot, api, count):
    """Wait until so many memories are stored: they are written behind the reply."""
    await api.until(lambda: len(rows(bot, "SELECT 1 FROM memories")) >= count)


async def test_loops_are_listed_and_ended_in_place(api, model, bot_process):
    """/loops numbers what is open; Done and Snooze change the list where it stands, also after a kill."""
    bot = await bot_process()
    assert "Nothing's open" in (await reply(api, "/loops")).text
    model.reply = lambda _: "Understood."
    await reply(api, "I will send Maria the contract on Friday.")
    await reply(api, "I will call the plumber.")
    listed = await reply(api, "/loops")
    assert "1. " in listed.text
    assert "2. " in listed.text

    after = await tap(api, "1 Done", r"(?s)\A(?!.*2\. )")
    assert after.message_id == listed.message_id
    await bot.restart()
    await tap(api, "1 Snooze", "snoozed, back")
    await tap(api, "1 Drop", "Nothing's open")
    assert "Nothing's open" in (await reply(api, "/loops")).text


async def test_a_memory_is_listed_found_reaches_the_model_and_is_forgotten(api, model, bot_process):
    """A fact is noted behind the reply, shows in /memory, is given to the model later, and one tap forgets it all."""
    bot = await bot_process(CONTINUITY_HISTORY_TOKENS="200", CONTINUITY_MAX_HISTORY_MESSAGES="8")
    assert "anything lasting" in (await reply(api, "/memory")).text
    model.reply = lambda _: "Good to know."
    await reply(api, "My dog is called Zebrafish.")
    await remembered(bot, api, 1)
    for number in range(6):
        await reply(api, f"Let us talk about the weather in town {number}.")
    await reply(api, "What is my dog called?")
    assert "Zebrafish" in model.requests[-1].text

    assert "don't remember anything" in (await reply(api, "/memory quantum")).text
    listed = await reply(api, "/memory dog")
    assert "My dog is called Zebrafish" in listed.text
    await tap(api, "Forget 1", "Should I forget this")
    report = await tap(api, "Yes, forget it", "Checked: no trace")

    assert "1 message and its answer, 1 note" in report.text
    assert readable(bot, "zebrafish") == []
    assert "anything lasting" in (await reply(api, "/memory")).text
    await reply(api, "What is my dog called?")
    assert "Zebrafish" not in model.requests[-1].text


async def test_a_group_never_shows_what_was_said_in_private(api, model, bot_here):
    """/memory and /loops in a group know only what was said there; /export sends no file there."""
    bot = await bot_here()
    await reply(api, "My dog is called Zebrafish. I will call the plumber.")
    await remembered(bot, api, 1)
    group = api.people.opens_group("Friends")
    await reply(api, "@continuity_bot hi", chat_id=group)

    for command in ("/memory", "/memory dog", "/loops", "/export", "/forget zebrafish"):
        shown = await reply(
            api, f"{command.split()[0]}@continuity_bot {command[len(command.split()[0]) :]}".strip(), group
        )
        assert "called Zebrafish" not in shown.text
        assert "plumber" not in shown.text
    assert not api.calls_of("sendDocument")


async def test_forgetting_everything_starts_clean(api, model, bot_process):
    """After /forget everything no file holds a word of it, the model neither, and a restart keeps it so."""
    bot = await bot_process()
    await reply(api, "The codeword is zebrafish")
    await reply(api, "/fresh")
    await reply(api, "I live in Reykjavik.")
    await remembered(bot, api, 1)
    await reply(api, "/summary")
    await tap(api, "Never mind", "haven't forgotten anything") if (await reply(api, "/forget")).buttons else None
    await reply(api, "/forget everything")
    report = await tap(api, "Yes, forget it", "Checked: no trace in")

    assert "2 messages and their answers, 1 note" in report.text
    assert readable(bot, "zebrafish") == readable(bot, "reykjavik") == []
    assert "any earlier conversations" in (await reply(api, "/continue")).text
    await bot.restart()
    await reply(api, "what is the codeword, and where do I live?")
    assert "zebrafish" not in model.requests[-1].text
    assert "Reykjavik" not in model.requests[-1].text
    assert stored_turns(bot)[0][0] == "what is the codeword, and where do I live?"
    await bot.terminate()
    assert readable(bot, "zebrafish") == readable(bot, "reykjavik") == []


async def test_the_last_message_is_forgotten_and_the_conversation_goes_on(api, model, bot_process):
    """/forget last takes the last message and its answer; what was said before is still given to the model."""
    bot = await bot_process()
    await reply(api, "Let us plan the ferry trip")
    await reply(api, "The codeword is zebrafish")
    asked = await reply(api, "/forget last")
    assert "The codeword is zebrafish" in asked.text
    await tap(api, "Yes, forget it", "Checked: no trace")
    await reply(api, "and then?")

    assert "zebrafish" not in model.requests[-1].text
    assert ("user", "Let us plan the ferry trip") in model.requests[-1].messages
    assert [user for user, _ in stored_turns(bot)] == ["Let us plan the ferry trip", "and then?"]
    assert readable(bot, "zebrafish") == []
    await bot.terminate()
    await bot.start()
    assert "does not match" not in bot.log


async def test_words_are_found_and_forgotten_wherever_they_stand(api, model, bot_process):
    """/forget with words lists the notes and messages that hold them; all of them go with one tap."""
    bot = await bot_process()
    assert "can't find anything" in (await reply(api, "/forget zebrafish")).text
    await reply(api, "My dog is called Zebrafish.")
    await reply(api, "Does the zebrafish bite?")
    await reply(api, "What is the weather like?")
    await remembered(bot, api, 1)
    found = await reply(api, "/forget Zebrafish")
    assert "My dog is called Zebrafish" in found.text
    await tap(api, "All 3 of them", "Should I forget this")
    await tap(api, "Yes, forget it", "Checked: no trace")

    assert readable(bot, "zebrafish") == []
    assert [user for user, _ in stored_turns(bot)] == ["What is the weather like?"]


@pytest.mark.parametrize("fault", ["forget_checkpoints_gone", "forget_rows_gone"])
async def test_a_kill_while_forgetting_is_made_good(api, model, bot_process, fault):
    """Killed at any step of it, the next start finishes it: nothing readable is left, and nothing else is lost."""
    bot = await bot_process(start=False)
    await bot.start(CONTINUITY_FAULT=fault)
    await reply(api, "Let us plan the ferry trip")
    await reply(api, "The codeword is zebrafish")
    await reply(api, "/forget last")
    api.people.presses(PERSON, "Yes, forget it")
    await bot.wait()
    await bot.start()
    await api.until(lambda: "Forgotten" in bot_lines(api)[-1].text)
    await bot.terminate()

    assert readable(bot, "zebrafish") == []
    assert [user for user, _ in stored_turns(bot)] == ["Let us plan the ferry trip"]


async def test_export_sends_all_of_ones_data(api, model, bot_here):
    """/export is one JSON document: turns, sessions, memories, loops, jobs and choices, and nobody else's."""
    bot = await bot_here()
    assert "nothing to export" in (await reply(api, "/export")).text
    await reply(api, "secret of a friend", chat_id=FRIEND, user=FRIEND)
    await reply(api, "My dog is called Zebrafish. I will call the plumber.")
    await remembered(bot, api, 1)
    await reply(api, "/export")

    (call,) = api.calls_of("sendDocument")
    line = bot_lines(api)[-1]
    document = json.loads(api.world.files[line.file_id])
    (session,) = document["sessions"]
    assert session["turns"][0]["user_text"].startswith("My dog is called")
    assert any("plumber" in loop["text"] for loop in session["loops"])
    assert [note["text"] for note in document["notes"]] == ["My dog is called Zebrafish"]
    assert document["person"]["user_id"] == PERSON
    assert "secret of a friend" not in json.dumps(document)
    assert call is not None


async def test_the_receipt_shows_tiers_and_takes_a_compaction_back(api, model, bot_here):
    """/context shows what the model was given and what was cut; Undo brings the messages back word for word."""
    bot = await bot_here(CONTINUITY_HISTORY_TOKENS="200")
    assert "haven't answered anything in this conversation yet" in (await reply(api, "/context")).text
    assert "nothing to sum up" in (await reply(api, "/summary")).text
    await reply(api, "We have decided to take the ferry to Bergen.")
    receipt = await reply(api, "/context")
    assert "Messages as they were" in receipt.text
    assert "▱" in receipt.text

    for number in range(12):
        await reply(api, f"Tell me something about the harbour, number {number}, with a good many words in it.")
    receipt = await reply(api, "/context")
    assert "went into the summary" in receipt.text
    await tap(api, "Undo: use them word for word again", "word for word again, as far")
    assert rows(bot, "SELECT COUNT(*) FROM compactions WHERE undone_at_ms IS NOT NULL") == [(1,)]
    assert (await reply(api, "/context")).text != receipt.text


async def test_a_day_has_a_budget(api, model, bot_here):
    """When the day's tokens are used up the model is not asked, the person is told, and forgetting renews nothing."""
    bot = await bot_here(CONTINUITY_DAILY_TOKENS_PER_USER="1")
    await reply(api, "one")
    asked = len(model.requests)
    told = await reply(api, "two")
    assert "budget" in told.text
    assert len(model.requests) == asked
    await reply(api, "/forget everything")
    await tap(api, "Yes, forget it", "Forgotten")
    assert "budget" in (await reply(api, "three")).text

    await bot.passes(hours=24)
    await reply(api, "/retry")
    await answered(api, PERSON, "three")


async def test_everybody_has_a_budget_of_their_own(api, model, bot_here):
    """What one person used is not held against another."""
    await bot_here(CONTINUITY_DAILY_TOKENS_PER_USER="1")
    await reply(api, "one")

    assert "budget" not in (await reply(api, "hello", chat_id=FRIEND, user=FRIEND)).text
    assert "budget" in (await reply(api, "two")).text


async def test_a_day_has_a_budget_in_money(api, model, bot_here):
    """When the day's dollars are used up the model is not asked; a model without a price costs nothing."""
    prices = {"CONTINUITY_PRICES": "openai-chat:loopback=1000/1000"}
    await bot_here(CONTINUITY_DAILY_COST_PER_USER="0.001", **prices)
    await reply(api, "one")
    asked = len(model.requests)

    assert "budget" in (await reply(api, "two")).text
    assert len(model.requests) == asked


async def test_a_minute_has_a_number_of_turns(api, model, bot_here):
    """Who writes faster than that is told so and can try again; others and the next minute are not concerned."""
    bot = await bot_here(CONTINUITY_TURNS_PER_MINUTE_PER_USER="2")
    await reply(api, "one")
    await reply(api, "two")
    asked = len(model.requests)
    assert "a lot at once" in (await reply(api, "three")).text
    assert len(model.requests) == asked
    assert "at once" not in (await reply(api, "hello", chat_id=FRIEND, user=FRIEND)).text

    await bot.passes(hours=1)
    await tap(api, "Try again")
    await answered(api, PERSON, "three")
