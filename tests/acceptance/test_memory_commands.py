"""What a person can do with what is remembered: loops, memories, forgetting, export, the receipt, a daily budget."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest
from loopback.model import ToolCall
from story import (
    FRIEND,
    GROUP_WORD,
    PERSON,
    answered,
    bot_lines,
    noted,
    noting,
    reply,
    rows,
    shows,
    stored_turns,
    tap,
)

from memory.ledger.types import Actor, End
from memory.testing import START_MS

pytestmark = pytest.mark.acceptance
GERMAN_WORD = "Damit ihr es wisst"


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


async def test_loops_are_listed_and_ended_in_place(api, model, bot_process):
    """/loops numbers what is open; a number opens its line, what is done there changes the list, also after a kill."""
    bot = await bot_process(CONTINUITY_MODEL="offline")
    assert "Nothing's open" in (await reply(api, "/loops")).text
    await reply(api, "I have to send Maria the contract on Friday.")
    await reply(api, "I have to call the plumber.")
    listed = await reply(api, "/loops")
    assert "1. " in listed.text
    assert "2. " in listed.text
    assert "2. " not in (await reply(api, "/loops plumber")).text
    none = (await reply(api, "/loops unicorns")).text
    assert none.startswith("Nothing open mentions “unicorns”. This is all that's open:")
    assert "2. " in none

    listed = await reply(api, "/loops")
    opened = await tap(api, "1", r"\A(?!Still open)")
    assert opened.buttons == (("Done", "Drop"), ("Back",))
    await tap(api, "Back", r"\AStill open")
    await tap(api, "1", r"\A(?!Still open)")
    await bot.restart()
    after = await tap(api, "Done", r"(?s)\ATicked off: (?!.*2\. )")
    assert after.message_id == listed.message_id
    await bot.restart()
    await tap(api, "Tomorrow", "put off")
    await tap(api, "Drop", "Nothing's open")
    assert "Nothing's open" in (await reply(api, "/loops")).text
    await reply(api, "I have to buy paint.")
    old = await reply(api, "/loops")
    await tap(api, "Done", r"\ATicked off: ", on=await reply(api, "/loops"))
    await reply(api, "I have to sand the hull.")
    await tap(api, "Drop", r"(?s)\AThat's no longer open. This is how it stands:.*1\. [^\n]*sand the hull", on=old)


async def test_a_note_is_listed_found_and_forgotten_with_its_message(api, model, bot_process):
    """What was told shows in /memory, is found by its words, and two taps take it and its message everywhere."""
    bot = await bot_process(CONTINUITY_MODEL="offline")
    assert "anything lasting" in (await reply(api, "/memory")).text
    await reply(api, "Remember that the dog is called Zebrafish.")
    await reply(api, "Remember that the kitchen is green.")

    assert "don't remember anything" in (await reply(api, "/memory quantum")).text
    listed = await reply(api, "/memory dog")
    assert "dog is called Zebrafish" in listed.text
    assert "kitchen" not in listed.text
    await tap(api, "Forget 1", "Should I forget this note")
    await tap(api, "Delete the messages too", "The messages it was said in go")
    report = await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert "forgotten: the message with my answer" in report.text
    assert readable(bot, "zebrafish") == []
    assert "kitchen" in (await reply(api, "/memory")).text


async def test_everything_is_on_a_page(api, model, bot_here):
    """Sixteen things are three pages, turned in place; none is left out, and the numbers go on."""
    bot = await bot_here()
    await reply(api, "hello")
    now_ms = bot.clock.now_ms()
    for number, letter in enumerate("abcdefghijklmnop"):
        await noted(bot, "fact", f"Thing {letter} is known", said_at_ms=now_ms - number * 60_000)
    first = await reply(api, "/memory")
    assert "Good to know\n1. Thing a is known" in first.text
    assert "and 10 more" in first.text
    second = await tap(api, "Show more", "Thing g is known")
    assert second.message_id == first.message_id
    last = await tap(api, "Show more", "Thing p is known")
    assert "\n16. Thing p is known" in last.text
    assert last.buttons[-1] == ("Back",)

    assert "Thing n" in (await reply(api, "/forget 14")).text


async def test_words_in_another_order_find_note_and_message_together(api, model, bot_here):
    """/forget lena fish offers the note and the message that says it, with one tap for both."""
    bot = await bot_here()
    await reply(api, "my sister Lena comes on Sunday, she eats no fish")
    await noted(bot, "person", "Lena is the sister and eats no fish")
    found = await reply(api, "/forget lena fish")

    assert "1. Lena is the sister" in found.text
    assert "my sister Lena comes" in found.text
    assert ("All 2 of them",) in found.buttons
    question = await tap(api, "All 2 of them", "can't be undone")
    assert "backups" not in question.text


def reading_late(bot, text: str) -> asyncio.Event:
    """Give a bot a keeper that notes this once the event is set."""
    gate, left = asyncio.Event(), [text]

    class Keeper:
        is_on = True

        async def unread(self, _: str) -> int:
            return 0 if gate.is_set() else 3

        async def read_now(self, _: str) -> None:
            await gate.wait()
            if left:
                await noted(bot, "task", left.pop())

        async def stop(self) -> None:
            """Nothing is under way."""

    bot.app.services.memory.keeper = Keeper()
    return gate


async def test_what_takes_several_messages_is_not_edited_into_the_last(api, model, bot_here):
    """Its beginning would stand there twice."""
    bot = await bot_here()
    await reply(api, "hello")
    [(session_id,)] = rows(bot, "SELECT session_id FROM conversation_sessions")
    for number in range(8):
        long = f"Thing {number}: " + "much to do " * 40
        note = await noted(bot, "task", long, session_id=session_id)
        ended = [End(number=note.number)]
        await bot.app.services.memory.change(note.conversation_id, ended, Actor("person", START_MS, "test"))
        await noted(bot, "fact", f"Fact {long}", session_id=session_id)
        await noted(bot, "task", f"Open {long}", session_id=session_id)
    gate = reading_late(bot, "Thing 6")
    await reply(api, "/summary")
    told = await shows(api, "I'm still reading")
    assert "This conversation" not in told.text
    gate.set()
    await bot.settled()

    assert bot_lines(api)[-1].text == told.text


async def test_what_is_not_read_yet_is_said_and_the_list_edited(api, model, bot_here):
    """The list comes at once and says how many messages it may lack; then it shows what the keeper noted."""
    bot = await bot_here()
    await reply(api, "hello")
    gate = reading_late(bot, "Send Maria the contract")
    listed = await reply(api, "/loops")
    assert listed.text.endswith("\n\nI'm still reading your last 3 messages…")
    gate.set()

    edited = await shows(api, "Send Maria the contract")
    assert edited.message_id == listed.message_id
    assert "I'm still reading" not in edited.text
    done = await tap(api, "Done", "Nothing's open")
    assert done.buttons[-1] == ("Undo",)
    await tap(api, "Undo", "Send Maria the contract")
    assert "Send Maria the contract" in (await reply(api, "/loops")).text


@pytest.mark.parametrize("command", ["/loops", "/memory", "/reminders", "/tasks", "/status", "/summary"])
async def test_every_list_that_may_lack_something_says_so_until_that_is_read(api, model, bot_here, command):
    """Whoever asks one of them alone is not left with what the others would have told."""
    bot = await bot_here()
    await reply(api, "hello")
    gate = reading_late(bot, "Send Maria the contract")
    told = await reply(api, command)
    assert told.text.endswith("\n\nI'm still reading your last 3 messages…")
    gate.set()

    await api.until(lambda: not any("Still going" in line.text for line in bot_lines(api)))
    assert len(bot_lines(api)) == 2


async def test_a_page_that_is_turned_while_the_keeper_reads_lacks_it_as_its_list_did(api, model, bot_here):
    """The line goes with the list, and so does the edit once it is read."""
    bot = await bot_here()
    await reply(api, "hello")
    for number in range(12):
        await noted(bot, "task", f"Thing {number}")
    gate = reading_late(bot, "Send Maria the contract")
    listed = await reply(api, "/loops")
    turned = await tap(api, "Show more", "Thing 11(.|\n)*I'm still reading", on=listed)
    assert turned.message_id == listed.message_id
    gate.set()

    edited = await shows(api, "Send Maria the contract")
    assert edited.message_id == listed.message_id
    assert "I'm still reading" not in edited.text


async def test_a_group_has_notes_of_its_own(api, model, bot_here):
    """Its lists show what belongs to it to all; what was said in private never; /export sends no file there."""
    bot = await bot_here()
    await noted(bot, "fact", "The dog is called Zebrafish")
    await noted(bot, "task", "Call the plumber")
    group = api.people.opens_group("Friends")
    await reply(api, "@continuity_bot hi", chat_id=group)
    await noted(bot, "task", "Bring the salad", chat_id=group, owner="Rui")

    for command in ("/memory", "/memory dog", "/export", "/forget zebrafish"):
        name, _, words = command.partition(" ")
        shown = await reply(api, f"{name}@continuity_bot {words}".strip(), group)
        assert "called Zebrafish" not in shown.text
    loops = (await reply(api, "/loops@continuity_bot", group, user=FRIEND)).text
    assert "1. Rui: Bring the salad" in loops
    assert "plumber" not in loops
    assert not api.calls_of("sendDocument")


async def test_a_group_is_told_once_what_is_read(api, model, bot_here):
    """Behind the first answer, and never again: also not after a restart, and not in private."""
    bot = await bot_here()
    group = api.people.opens_group("Friends")
    await reply(api, "@continuity_bot hi", chat_id=group)
    await bot.settled()
    await bot.restart()
    await reply(api, "@continuity_bot and again", chat_id=group)
    await reply(api, "hello")
    await bot.settled()

    said = [line.text for chat in (group, PERSON) for line in api.view(chat).lines if GROUP_WORD in line.text]
    assert len(said) == 1
    assert "messages that mention me" in said[0]


async def test_a_group_hears_what_is_read_as_soon_as_the_bot_is_added(api, model, bot_here):
    """In the language of who adds it, once, before anything is missed; /help there says it too."""
    bot = await bot_here()
    group = api.people.opens_group("Freunde")
    api.world.user(PERSON, language_code="de")
    api.people.adds_bot(PERSON, group)
    await shows(api, GERMAN_WORD, group)
    await reply(api, "@continuity_bot hallo, wer bringt denn heute den Grill mit?", group)
    await bot.settled()

    assert sum(GERMAN_WORD in line.text or GROUP_WORD in line.text for line in api.view(group).lines) == 1
    assert GERMAN_WORD in (await reply(api, "/help@continuity_bot", group)).text


async def test_a_groups_lists_speak_as_its_members_write(api, model, bot_here):
    """Whoever asks for them, and whatever their phone speaks."""
    bot = await bot_here()
    group = api.people.opens_group("Freunde")
    for text in ("wer bringt denn am Samstag den Grill mit?", "ich kaufe morgen noch die Getränke für alle ein"):
        await reply(api, f"@continuity_bot {text}", group)
        await bot.settled()

    assert "Nichts ist offen." in (await reply(api, "/loops@continuity_bot", group, FRIEND)).text


async def test_what_is_half_done_says_so_in_a_fresh_conversation_too(api, model, bot_here):
    """It was said just before /fresh, and no keeper had read it: the person's own list has it all the same."""
    await bot_here()
    said, half = "i have to translate 14 pages", "Translate 14 pages: half of them are done"
    change = {"op": "change", "number": 1, "text": half, "turns": [2], "said": "half of the pages are done"}
    talk = noting(said, "task", "Translate 14 pages")
    keep = [ToolCall("keep", {"changes": [change]})]
    model.reply = lambda messages: keep if "New turns:" in str(messages) else talk(messages)
    await reply(api, said)
    await reply(api, "half of the pages are done")
    await reply(api, "/fresh")
    await reply(api, "/loops")

    assert (await shows(api, half)).text.splitlines()[-1] == f"1. {half}"
    await reply(api, "how are you?")
    assert half not in model.requests[-1].text


async def test_a_conversation_is_named_by_what_matters_in_it_never_by_a_scrap(api, model, bot_here):
    """Without a title by its note, by how it began where that tells something, else by its day."""
    bot = await bot_here()
    model.reply = noting("the tiler wants 200", "task", "Pay the tiler 200.")
    for said in ("back.", "the tiler wants 200"):
        await reply(api, said)
    for said in ("given.", "which ferry goes to Elba in May"):
        await bot.passes(s=60)
        await reply(api, "/fresh")
        await reply(api, said)
    lines = (await reply(api, "/sessions")).text.splitlines()[1:4]

    assert [line.split(" · ")[0] for line in lines] == [
        "• which ferry goes to Elba in May", "• Today at 10:01", "• Pay the tiler 200",
    ]  # fmt: skip


async def test_no_conversation_is_named_by_a_long_fact(api, model, bot_here):
    """A subject is short: a fact about the person is none, whatever it weighs."""
    bot = await bot_here()
    said = "i am a nurse on nights and want plain answers"
    model.reply = noting(said, "fact", "You are a nurse on nights at the children's ward and want plain answers")
    await reply(api, said)
    await bot.passes(s=60)
    await reply(api, "/fresh")

    lines = (await reply(api, "/sessions")).text
    assert "• i am a nurse on nights and want plain answers · " in lines
    assert "children's ward" not in lines


async def test_what_was_said_apart_is_read_again_when_it_is_carried_on(api, model, bot_here):
    """The fresh conversation knows no task; once the earlier ones are carried into it, what it said of one is noted."""
    bot = await bot_here()
    said, half = "i have to translate 14 pages", "Translate 14 pages: half of them are done"
    change = {"op": "change", "number": 1, "text": half, "turns": [2], "said": "half of the pages are done"}
    talk = noting(said, "task", "Translate 14 pages")

    def answer(messages):
        text = str(messages)
        if "New turns:" not in text:
            return talk(messages)
        return [ToolCall("keep", {"changes": [change] if "half of the pages" in text and "#1 task" in text else []})]

    model.reply = answer
    await reply(api, said)
    await bot.passes(s=60)
    await reply(api, "/fresh")
    await reply(api, "half of the pages are done")
    read = partial(bot.app.services.memory.keeper.read_now, f"tg:{bot.app.services.me.bot_id}:{PERSON}:0")
    await read()
    assert half not in (await reply(api, "/loops")).text
    await reply(api, "/continue")
    await tap(api, "Carry this forward")
    await read()

    assert f"1. {half}" in (await reply(api, "/loops")).text


async def test_a_summary_after_continue_is_of_that_conversation(api, model, bot_here):
    """What was noted in another one since then isn't told as of this one."""
    bot = await bot_here()
    await reply(api, "the kitchen tiles are grey")
    await bot.passes(hours=30)
    await reply(api, "/fresh")
    await reply(api, "and the garden")
    garden = rows(bot, "SELECT session_id FROM conversation_sessions ORDER BY created_at_ms")[-1][0]
    await noted(bot, "task", "Order the roses", session_id=garden)
    await bot.passes(hours=30)
    offer = await reply(api, "/continue")
    await tap(api, offer.buttons[-1][0], "back in")

    assert "roses" not in (await reply(api, "/summary")).text


async def test_forgetting_everything_starts_clean(api, model, bot_process):
    """After /forget everything no file holds a word of it, the model neither, and a restart keeps it so."""
    bot = await bot_process()
    await reply(api, "The codeword is zebrafish")
    await reply(api, "/fresh")
    await reply(api, "I live in Reykjavik.")
    await reply(api, "/summary")
    await tap(api, "Never mind", "leave it at that") if (await reply(api, "/forget")).buttons else None
    await reply(api, "/forget everything")
    report = await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert "forgotten: the messages with my answers" in report.text
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
    await tap(api, "Yes, forget it", "I've checked|Only the messages")
    await reply(api, "and then?")

    assert "zebrafish" not in model.requests[-1].text
    assert any("Let us plan the ferry trip" in text for who, text in model.requests[-1].messages if who == "user")
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
    found = await reply(api, "/forget Zebrafish")
    assert "My dog is called Zebrafish" in found.text
    await tap(api, "All 2 of them", "Should I forget this")
    await tap(api, "Yes, forget it", "I've checked|Only the messages")

    assert readable(bot, "zebrafish") == []
    assert [user for user, _ in stored_turns(bot)] == ["What is the weather like?"]


@pytest.mark.parametrize("fault", ["forget_checkpoints_gone", "forget_rows_gone"])
@pytest.mark.sweep
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
    await api.until(lambda: "forgotten" in bot_lines(api)[-1].text)
    await bot.terminate()

    assert readable(bot, "zebrafish") == []
    assert [user for user, _ in stored_turns(bot)] == ["Let us plan the ferry trip"]


async def test_export_sends_all_of_ones_data(api, model, bot_here):
    """/export is one JSON document: turns, sessions, notes and choices, nobody else's; and the notes to be read."""
    bot = await bot_here()
    assert "nothing to export" in (await reply(api, "/export")).text
    await reply(api, "secret of a friend", chat_id=FRIEND, user=FRIEND)
    await reply(api, "My dog is called Zebrafish. I will call the plumber.")
    await noted(bot, "fact", "My dog is called Zebrafish")
    await reply(api, "/export")

    await api.until(lambda: len(api.calls_of("sendDocument")) > 1)
    line, notes = bot_lines(api)[-2:]
    document = json.loads(api.world.files[line.file_id])
    (session,) = document["sessions"]
    assert session["turns"][0]["user_text"].startswith("My dog is called")
    assert session["turns"][0]["user_text"].endswith("call the plumber.")
    assert [note["text"] for note in document["notes"]] == ["My dog is called Zebrafish"]
    assert document["person"]["user_id"] == PERSON
    assert "secret of a friend" not in json.dumps(document)
    assert api.world.files[notes.file_id].decode().endswith("- My dog is called Zebrafish\n")


async def test_the_receipt_shows_tiers_and_takes_a_compaction_back(api, model, bot_here):
    """/context shows what the model was given and what was cut; Undo brings the messages back word for word."""
    bot = await bot_here(CONTINUITY_HISTORY_TOKENS="200")
    assert "haven't answered anything in this conversation yet" in (await reply(api, "/context")).text
    assert "nothing to sum up" in (await reply(api, "/summary")).text
    await reply(api, "We have decided to take the ferry to Bergen.")
    receipt = await reply(api, "/context")
    assert "Our messages, word for word" in receipt.text
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
    await tap(api, "Yes, forget it", "forgotten")
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
