"""A return as it is unless somebody chose otherwise: answered at once, the first time with one small line."""

from __future__ import annotations

import pytest
from story import (
    NOTE,
    OFFER,
    PERSON,
    PROMISE,
    answered,
    answers_to,
    asked,
    bot_lines,
    heard,
    noted,
    reply,
    rows,
    shows,
    tap,
)

from memory.keeper.session_lines import SessionLine, put_session_line

pytestmark = pytest.mark.acceptance
CARRIED = "Carrying on from: "


async def returned(api, bot, text="good morning"):
    """Say something, have it noted, come back after hours with this text; return the small line."""
    api.people.says(PERSON, PROMISE)
    await answered(api, PERSON, PROMISE)
    await noted(bot, "promise", NOTE)
    return await again(api, bot, text)


async def again(api, bot, text, hours=7):
    """Come back after hours with this text, and return the small line under the answer."""
    before = len(bot_lines(api))
    await comes(api, bot, text, hours)
    await api.until(lambda: any(line.text.startswith(CARRIED) for line in bot_lines(api)[before:]))
    return bot_lines(api)[-1]


async def comes(api, bot, text, hours):
    """Say something after hours of silence, and wait for its answer."""
    await bot.passes(hours=hours)
    api.people.says(PERSON, text)
    await answered(api, PERSON, text)


async def test_a_return_is_answered_at_once_with_one_small_line(api, model, bot_here):
    """Nobody is asked: the notes are in the prompt, and under the answer stands what was carried, with its buttons."""
    bot = await bot_here()
    line = await returned(api, bot)

    assert NOTE in asked(model)[-1].text
    assert line.text == f"{CARRIED}{NOTE}"
    assert line.buttons == (("Start fresh",), ("Ask before carrying on",))
    assert [each.text for each in bot_lines(api)[-2:]] == ["You said: good morning", line.text]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def titled(bot, title):
    """Let the session that goes on have this title, as the keeper of notes would name it."""
    memory, me = bot.app.services.memory, bot.app.services.me
    state = await memory.recorder.current(f"tg:{me.bot_id}:{PERSON}:0")
    await memory.db.write(put_session_line(SessionLine(state.session_id, state.conversation_id, title)))


async def test_the_line_names_no_work_and_nothing_that_merely_lasts(api, bot_here):
    """A task by the clock goes on by itself, and a fact about the person is nothing that goes on."""
    bot = await bot_here()
    api.people.says(PERSON, PROMISE)
    await answered(api, PERSON, PROMISE)
    await noted(bot, "fact", "You are a baker in Leeds", owner="", weight=0.9)
    at = {"rings_from": "2030-01-01T08:00", "repeats": "FREQ=DAILY"}
    await noted(bot, "task", "The day ahead: Say in three lines what is due today.", owner="assistant", **at)
    await noted(bot, "promise", NOTE)

    assert (await again(api, bot, "good morning")).text == f"{CARRIED}{NOTE}"


async def test_the_line_stands_under_whatever_comes_first(api, model, bot_here):
    """Notes were carried into the answer to any message: no count of its words says whether it is a greeting."""
    bot = await bot_here()
    api.people.says(PERSON, PROMISE)
    await answered(api, PERSON, PROMISE)
    await noted(bot, "promise", NOTE)
    await titled(bot, "The harbour report")

    line = await again(api, bot, "tell my boy a story: a knight seeks a horseshoe, one key and some dragon's egg")
    assert line.text == f"{CARRIED}The harbour report"
    assert line.buttons == (("Start fresh",), ("Ask before carrying on",))
    assert NOTE in asked(model)[-1].text


async def test_the_line_names_what_the_last_talk_was_about(api, bot_here):
    """When the keeper of notes named the session before, the small line says that name."""
    bot = await bot_here()
    api.people.says(PERSON, PROMISE)
    await answered(api, PERSON, PROMISE)
    await noted(bot, "promise", NOTE)
    await titled(bot, "The harbour report")

    assert (await again(api, bot, "good morning")).text == f"{CARRIED}The harbour report"


async def test_the_line_comes_once(api, bot_here):
    """Neither the next morning nor after days: who has read it knows of it, and /settings and /fresh have the rest."""
    bot = await bot_here()
    await returned(api, bot)
    await comes(api, bot, "me again", 20)
    await comes(api, bot, "long time no see", 80)
    await bot.settled()

    assert [each.text for each in bot_lines(api) if each.text.startswith(CARRIED)] == [f"{CARRIED}{NOTE}"]


async def test_the_line_does_not_stand_under_an_answer_that_tells_of_it(api, model, bot_here):
    """It named what the answer above had just told in full; it waits for a return that says nothing of it."""
    bot = await bot_here()
    api.people.says(PERSON, PROMISE)
    await answered(api, PERSON, PROMISE)
    await noted(bot, "promise", NOTE)
    model.reply = lambda _: f"Good morning! Today: {NOTE}."
    await bot.passes(hours=7)
    told = await reply(api, "good morning")
    await bot.settled()

    assert bot_lines(api)[-1] == told
    model.reply = lambda _: "The ferry leaves at nine."
    await bot.passes(hours=7)
    api.people.says(PERSON, "when does the ferry leave?")
    assert (await shows(api, CARRIED)).text == f"{CARRIED}{NOTE}"


async def test_start_fresh_answers_once_more_without_what_was_carried(api, model, bot_here):
    """The same message is answered in a session of its own: neither note nor word of before, nor in what follows."""
    bot = await bot_here()
    line = await returned(api, bot)
    await tap(api, "Start fresh", on=line)
    await api.until(lambda: len(answers_to(api, PERSON, "good morning")) == 2)
    fresh = asked(model)[-1]
    api.people.says(PERSON, "and the harbour?")
    await answered(api, PERSON, "and the harbour?")

    assert fresh.said == "good morning"
    for request in (fresh, asked(model)[-1]):
        assert NOTE not in request.text
        assert PROMISE not in request.text
    assert heard(bot) == [PROMISE, "good morning", "good morning", "and the harbour?"]
    assert rows(bot, "SELECT COUNT(DISTINCT session_id) FROM conversation_turns") == [(3,)]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def test_start_fresh_takes_back_what_the_first_answer_noted(api, model, bot_here):
    """A note that the carried answer made does not stand twice: its turn counts no more."""
    bot = await bot_here(CONTINUITY_MODEL="offline")
    api.people.says(PERSON, "I have to send the harbour report to Anna.")
    await shows(api, "harbour report")
    await bot.passes(hours=7)
    api.people.says(PERSON, "I must buy paint.")
    line = await shows(api, CARRIED)
    await tap(api, "Start fresh", on=line)
    await api.until(lambda: sum("buy paint" in each.text for each in bot_lines(api)) == 2)
    await bot.settled()

    ledger = rows(bot, "SELECT text, status FROM notes ORDER BY number")
    assert [text for text, status in ledger if status == "open"] == ["send the harbour report to Anna", "buy paint"]


async def test_no_line_breaks_a_scene(api, bot_here):
    """Whoever plays is told by the scene itself that it goes on."""
    bot = await bot_here()
    api.people.says(PERSON, PROMISE)
    await answered(api, PERSON, PROMISE)
    await noted(bot, "promise", NOTE)
    await reply(api, "/persona roleplay")
    await comes(api, bot, "I open the gate", 7)

    assert rows(bot, "SELECT mode FROM continuity_choices") == [("use",)]
    assert rows(bot, "SELECT 1 FROM outbox WHERE text LIKE 'Carried on%'") == []


async def test_ask_me_first_shows_the_preview_from_then_on(api, model, bot_here):
    """A tap changes the mode: the next return waits for the person's word."""
    bot = await bot_here()
    line = await returned(api, bot)
    await tap(api, "Ask before carrying on", on=line)
    await shows(api, "after a break I'll ask first")
    await bot.passes(hours=7)
    before = len(asked(model))
    api.people.says(PERSON, "me again")
    await shows(api, OFFER)

    assert len(asked(model)) == before
    assert rows(bot, "SELECT mode FROM continuity_preferences") == [("ask",)]


async def test_settings_say_what_is_shown_of_it(api, bot_here):
    """Only who is asked first has a preview, and so a button that skips it."""
    await bot_here()
    api.people.says(PERSON, "/settings")
    used = await shows(api, "I carry earlier context forward.")
    api.people.presses(PERSON, "Ask")
    asks = await shows(api, "I show you what it is first.")

    assert [each.buttons[1] for each in (used, asks)] == [("Language",), ("Skip the preview", "Language")]


async def test_nothing_to_carry_says_nothing(api, bot_here):
    """Where nothing is noted, a return is an answer and no more."""
    bot = await bot_here()
    api.people.says(PERSON, "hello")
    await answered(api, PERSON, "hello")
    await bot.passes(hours=7)
    api.people.says(PERSON, "hello again")
    await answered(api, PERSON, "hello again")
    await bot.settled()

    assert not any(CARRIED in line.text for line in bot_lines(api))


async def test_mode_off_carries_nothing(api, model, bot_here):
    """With CONTINUITY_RETURN_MODE=off neither note nor word of before is in a prompt, and nothing is said of it."""
    bot = await bot_here(CONTINUITY_RETURN_MODE="off")
    api.people.says(PERSON, PROMISE)
    await answered(api, PERSON, PROMISE)
    await noted(bot, "promise", NOTE)
    await bot.passes(hours=7)
    for text in ("good morning", "and the harbour?"):
        api.people.says(PERSON, text)
        await answered(api, PERSON, text)

    for request in asked(model)[1:]:
        assert NOTE not in request.text
        assert PROMISE not in request.text
    assert not any(CARRIED in line.text or OFFER in line.text for line in bot_lines(api))
