"""What a person can do with commands and buttons, and what the model is given afterwards."""

from __future__ import annotations

import pytest
from loopback.model import Gate
from story import FRIEND, PERSON, answered, bot_lines, noted, reply, rows, stored_turns, stores, tap, tapped

from bot.sentences import commands

pytestmark = pytest.mark.acceptance


async def test_fresh_forgets_and_continue_takes_up_again(api, model, bot_here):
    """After /fresh the model is given nothing of before; /continue offers the session and the tap brings it back."""
    await bot_here()
    await reply(api, "The codeword is zebra")
    fresh = await reply(api, "/fresh")
    assert "/continue" in fresh.text
    await reply(api, "what is the codeword?")
    assert "zebra" not in model.requests[-1].text

    offer = await reply(api, "/continue")
    assert "The codeword is zebra" in offer.buttons[-1][0]
    await tap(api, offer.buttons[-1][0], "We're back in")
    await reply(api, "and now, the codeword?")

    assert any(said.endswith("The codeword is zebra") for _, said in model.requests[-1].messages)


async def test_a_restart_changes_neither_fresh_nor_continue(api, model, bot_process):
    """A kill between /fresh and the next message keeps the session clean; one after /continue keeps the chosen one."""
    bot = await bot_process()
    await reply(api, "The codeword is zebra")
    await reply(api, "/fresh")
    await bot.restart()
    await reply(api, "hello")
    assert "zebra" not in model.requests[-1].text

    offer = await reply(api, "/continue")
    await tap(api, offer.buttons[-1][0], "We're back in")
    await bot.restart()
    await reply(api, "codeword?")
    assert any(said.endswith("The codeword is zebra") for _, said in model.requests[-1].messages)


async def test_a_button_works_once_and_for_its_owner_only(api, bot_here):
    """A second tap, and a tap by somebody else in a group, change nothing."""
    bot = await bot_here()
    group = api.people.opens_group("Friends")
    await reply(api, "@continuity_bot one", chat_id=group, user=PERSON)
    await reply(api, "/fresh@continuity_bot", chat_id=group, user=PERSON)
    await reply(api, "@continuity_bot two", chat_id=group, user=PERSON)
    offer = await reply(api, "/continue@continuity_bot", chat_id=group, user=PERSON)
    current = rows(bot, "SELECT current_session_id FROM conversations")

    await tap(api, offer.buttons[-1][0], chat_id=group, user=FRIEND)
    assert "somebody else" in tapped(api)
    assert rows(bot, "SELECT current_session_id FROM conversations") == current

    await tap(api, offer.buttons[-1][0], "We're back in", chat_id=group)
    assert rows(bot, "SELECT current_session_id FROM conversations") != current


async def test_the_empty_cases_are_said(api, bot_here):
    """/continue, /sessions, /stop and /retry have an answer also when there is nothing to act on."""
    await bot_here()

    assert "any earlier conversations" in (await reply(api, "/continue")).text
    assert "any earlier conversations" in (await reply(api, "/sessions")).text
    assert "not writing" in (await reply(api, "/stop")).text
    assert "no message of yours" in (await reply(api, "/retry")).text
    assert "don't know /dance" in (await reply(api, "/dance")).text
    assert "language model" in (await reply(api, "/privacy")).text


async def test_help_begins_with_six_commands_and_has_all_behind_a_button(api, bot_here):
    """Thirty lines hid on a phone what somebody needs first."""
    await bot_here()
    first = await reply(api, "/help")
    named = [line.split()[0] for line in first.text.splitlines() if line.startswith("/")]
    whole = await tap(api, "All commands", "/privacy", on=first)

    assert named == ["/loops", "/memory", "/reminders", "/fresh", "/forget", "/settings"]
    assert whole.message_id == first.message_id
    assert whole.text.count("\n/") == len(commands())
    assert whole.buttons == ()


async def test_retry_answers_the_last_message_again(api, model, bot_here):
    """/retry asks the model the last message again and shows the new answer."""
    await bot_here()
    await reply(api, "roll a die")
    model.reply = lambda _: "Six!"

    assert (await reply(api, "/retry")).text == "Six!"
    assert model.requests[-1].said == "roll a die"
    newest, before = (str(request.messages[-1]) for request in (model.requests[-1], model.requests[0]))
    assert ("another answer" in newest, "another answer" in before) == (True, False)


async def test_texts_that_pile_up_become_one_turn(api, model, bot_here):
    """What is written while an answer is being made becomes one next turn; a long paste in pieces is one turn."""
    bot = await bot_here()
    model.gate = Gate()
    api.people.says(PERSON, "one")
    await model.until(lambda: model.requests)
    updates = [api.people.says(PERSON, text).update_id for text in ("two", "three")]
    await api.until(lambda: api.is_confirmed(updates[-1]))
    model.gate.open()
    await answered(api, PERSON, "three")
    assert model.requests[-1].said == "two\nthree"

    model.reply = lambda _: "Read."
    long = "word " * 2000
    api.people.pastes(PERSON, long.strip())
    await api.until(lambda: len(stored_turns(bot)) == 3)
    assert len(stored_turns(bot)[2][0]) > 9000


async def test_an_edit_before_the_answer_replaces_and_after_it_offers(api, model, bot_here):
    """A message edited while it waits is answered as edited; one that was answered offers [Answer again]."""
    bot = await bot_here()
    model.gate = Gate()
    api.people.says(PERSON, "first")
    await model.until(lambda: model.requests)
    said = api.people.says(PERSON, "secnod")
    edit = api.people.edits(PERSON, said.message_id, "second")
    await api.until(lambda: api.is_confirmed(edit.update_id))
    model.gate.open()
    await answered(api, PERSON, "second")

    api.people.edits(PERSON, said.message_id, "second, and more")
    await api.until(lambda: bot_lines(api)[-1].buttons)
    api.people.presses(PERSON, "Answer again")
    await answered(api, PERSON, "second, and more")
    assert [user for user, _ in stored_turns(bot)] == ["first", "second, and more", "second, and more"]


async def test_a_group_is_heard_only_when_it_speaks_to_the_bot(api, bot_process):
    """Talk among people is neither answered nor stored; forum topics are conversations of their own."""
    bot = await bot_process()
    forum = api.people.opens_group("Forum", is_forum=True)
    topic = api.people.opens_topic(forum, "Cats")
    talk = api.people.says(PERSON, "nobody asked the bot: tulip", chat_id=forum)
    api.people.says(PERSON, "@continuity_bot hi", chat_id=forum)
    api.people.says(PERSON, "@continuity_bot meow", chat_id=forum, thread_id=topic)
    await api.until(lambda: len(stored_turns(bot)) == 2)

    assert len(rows(bot, "SELECT * FROM conversations")) == 2
    assert rows(bot, "SELECT 1 FROM inbox WHERE update_id = :u", u=talk.update_id) == []
    assert not stores(bot, "tulip")


async def test_what_is_not_text_is_answered_plainly(api, bot_here):
    """A photo without words gets one line that says what the bot can read."""
    await bot_here()
    before = len(bot_lines(api))
    api.people.sends(PERSON, {"voice": {"file_id": "v", "file_unique_id": "u", "duration": 1}})
    await api.until(lambda: len(bot_lines(api)) > before)

    assert "voice message" in bot_lines(api)[-1].text


async def test_commands_that_people_know_from_other_bots(api, model, bot_here):
    """/new starts fresh, /status says where things stand; a command that is none gets the one that was meant."""
    bot = await bot_here(CONTINUITY_MODEL="offline")
    assert "only just begun" in (await reply(api, "/status")).text
    await reply(api, "hello")
    await noted(bot, "task", "Call the vet")
    await noted(bot, "fact", "Rex is 4 years old")
    await reply(api, "/remind tomorrow at 9 water the plants")

    status = (await reply(api, "/status")).text
    assert "Still open: 2 (/loops)\n• water the plants (⏰ tomorrow at 09:00)\n• Call the vet" in status
    assert "What I remember is in /memory." in status
    assert "Next reminder" not in status, "it stands above"
    assert "Fresh start" in (await reply(api, "/new")).text
    for wrong, meant in (("setings", "settings"), ("todo", "loops"), ("delete", "forget"), ("hilfe", "help")):
        assert f"Did you mean /{meant}?" in (await reply(api, f"/{wrong}")).text
    assert (await reply(api, "/xyzzy")).text == "I don't know /xyzzy. /help shows what I can do."


async def test_status_beside_the_first_answer_after_a_silence_knows_the_person(api, model, bot_here):
    """On the fourth day it said “We've only just begun here.” as long as the first answer took."""
    bot = await bot_here()
    await reply(api, "hello")
    await bot.passes(hours=31)
    model.gate, asked = Gate(), len(model.requests)
    api.people.says(PERSON, "good morning")
    await model.until(lambda: len(model.requests) > asked)

    assert "only just begun" not in (await reply(api, "/status")).text
    model.gate.open()


@pytest.mark.parametrize("kind", ["dice", "poll", "game", "story", "checklist", "hologram"])
async def test_whatever_has_no_words_gets_a_sentence(api, model, bot_here, kind):
    """Dice, polls, games, stories, checklists and kinds that nobody knows yet: nobody waits for nothing."""
    await bot_here()
    api.people.sends(PERSON, {kind: {"id": "1"}})

    await api.until(lambda: bot_lines(api))
    assert bot_lines(api)[0].text.startswith("I can't read")
    assert "message messages" not in bot_lines(api)[0].text
