"""Killed around a return: whatever was chosen holds, and every message is answered once."""

from __future__ import annotations

import json
import re

import pytest
from loopback.model import Gate
from story import (
    NOTE,
    OFFER,
    PACKET,
    PERSON,
    PROMISE,
    answered,
    answers_to,
    asked,
    bot_lines,
    change,
    heard,
    noting,
    rows,
    shows,
)
from test_brought_back import BUTTON, TICK, missed

from bot.intake.inbox import GOES_ON

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.sweep]
GUARDRAIL = "Do not quote, paraphrase, or summarize this content to the user."
AGO_MS = 7 * 3_600_000
ASK = {"CONTINUITY_RETURN_MODE": "ask"}


@pytest.fixture
def model(model):
    """Offer a model that notes the promise by its tool and otherwise repeats what it is told."""
    model.reply = noting(PROMISE, "promise", NOTE)
    return model


def long_ago(bot):
    """Let what was said have been said hours ago; the bot must not be running."""
    for session_id, state in rows(bot, "SELECT session_id, state_json FROM conversation_sessions"):
        older = json.loads(state)
        older["last_turn_at_ms"] -= AGO_MS
        change(
            bot,
            "UPDATE conversation_sessions SET last_turn_at_ms = last_turn_at_ms - :ms, state_json = :state"
            " WHERE session_id = :id",
            ms=AGO_MS,
            state=json.dumps(older),
            id=session_id,
        )
    for checkpoint in bot.checkpoints.glob("*.json"):
        checkpoint.unlink()


def notes_in(prompt):
    """Return the lines of a prompt that are notes."""
    return [line for line in prompt.splitlines() if re.match(r"-? ?#\d", line)]


def waited(bot, seconds):
    """Let the waiting message have come so many seconds earlier; the bot must not be running."""
    change(bot, "UPDATE inbox SET received_at_ms = received_at_ms - :ms WHERE state = 'parked'", ms=seconds * 1000)


async def yesterday(api, bot):
    """Say something in a session that ended hours ago, and die."""
    api.people.says(PERSON, PROMISE)
    await answered(api, PERSON, PROMISE)
    await bot.kill()
    long_ago(bot)
    await bot.start()


async def offered(api, bot, text="good morning"):
    """Come back after hours with this text; return the line that asks."""
    await yesterday(api, bot)
    api.people.says(PERSON, text)
    return await shows(api, OFFER)


async def test_after_fresh_nothing_and_after_continue_the_chosen_context(api, model, bot_process):
    """/fresh: no word of before; /continue with [Carry this forward]: the packet; kills change neither."""
    bot = await bot_process(**ASK)
    await yesterday(api, bot)
    api.people.says(PERSON, "/fresh")
    await shows(api, "Fresh start")
    await bot.restart()
    api.people.says(PERSON, "anything about the harbour?")
    await answered(api, PERSON, "anything about the harbour?")
    assert "I will send" not in asked(model)[-1].text
    assert NOTE not in asked(model)[-1].text

    api.people.says(PERSON, "/continue")
    offer = await shows(api, "Here's what we could go on with:")
    assert "harbour report" in offer.text
    api.people.presses(PERSON, "Carry this forward")
    await shows(api, "Carrying this forward")
    await bot.restart()
    api.people.says(PERSON, "so, the harbour")
    await answered(api, PERSON, "so, the harbour")
    assert NOTE in asked(model)[-1].text
    assert GUARDRAIL in asked(model)[-1].text
    assert any("anything about the harbour?" in said for _, said in asked(model)[-1].messages[:-1])  # said once


async def test_a_message_that_waited_too_long_is_answered_at_the_start(api, model, bot_process):
    """Killed while waiting, started after two minutes: answered once, without injection."""
    bot = await bot_process(**ASK)
    await offered(api, bot)
    await bot.kill()
    waited(bot, 121)
    await bot.start()
    await answered(api, PERSON, "good morning")
    await bot.restart()

    assert answers_to(api, PERSON, "good morning") == ["You said: good morning"]
    assert NOTE not in asked(model)[-1].text
    assert len(heard(bot)) == 2


async def test_a_younger_one_gets_its_timer_again(api, model, bot_process):
    """Killed while waiting and started before the two minutes are over: it still waits, then it is answered."""
    bot = await bot_process(**ASK)
    await offered(api, bot)
    await bot.kill()
    waited(bot, 116)
    await bot.start()
    await answered(api, PERSON, "good morning")

    assert NOTE not in asked(model)[-1].text
    assert "/continue brings it in" in bot_lines(api)[-2].text


async def test_a_tap_after_a_kill_counts(api, model, bot_process):
    """The buttons outlive kill -9 while the message waits; the answer is one, with the context."""
    bot = await bot_process(**ASK)
    await offered(api, bot)
    await bot.restart()
    api.people.presses(PERSON, "Carry on")
    await answered(api, PERSON, "good morning")

    assert NOTE in asked(model)[-1].text
    assert len(heard(bot)) == 2


async def test_a_kill_between_the_tap_and_the_answer_changes_neither_choice_nor_packet(api, model, bot_process):
    """The model is asked again after the kill with the very same notes, and one answer is on the screen."""
    bot = await bot_process(**ASK)
    await offered(api, bot)
    model.gate = Gate()
    api.people.presses(PERSON, "Carry on")
    await model.until(lambda: asked(model)[-1].said == "good morning")
    await bot.kill()
    model.gate.open()
    await bot.start()
    await answered(api, PERSON, "good morning")

    before, after = (request.text for request in asked(model)[-2:])
    assert NOTE in before
    assert notes_in(before) == notes_in(after)
    assert len(answers_to(api, PERSON, "good morning")) == 1
    assert len(heard(bot)) == 2


async def test_the_operator_sees_every_stage_and_can_clear(api, bot_process):
    """`bootstrap run` prints the stages beside the running bot; `clear` is refused then; later it keeps preferences."""
    bot = await bot_process(**ASK)
    await offered(api, bot)
    api.people.presses(PERSON, "Always")
    await answered(api, PERSON, "good morning")
    ((session_id,),) = rows(bot, "SELECT current_session_id FROM conversations")
    operator = await bot_process(start=False)
    operator.folder, operator.log_path = bot.folder, bot.folder / "operator.log"

    await operator.launch("bootstrap", "run", "--session", session_id)
    assert await operator.wait() == 0
    assert all(word in operator.log for word in ("relationship state", "candidate", "scores", "core", PACKET, OFFER))
    await operator.launch("bootstrap", "clear", "--all")
    assert await operator.wait() == 1
    await bot.terminate()
    await operator.launch("bootstrap", "clear", "--all")
    assert await operator.wait() == 0
    assert rows(bot, "SELECT 1 FROM continuity_bootstrap_cache UNION ALL SELECT 1 FROM continuity_arcs") == []
    assert rows(bot, "SELECT mode FROM continuity_preferences") == [("use",)]


async def test_a_kill_between_the_stored_tap_and_the_turn_loses_nothing(api, model, bot_process):
    """The choice was committed and the message marked as going on, no more: the start answers it, once."""
    bot = await bot_process(**ASK)
    await offered(api, bot)
    await bot.kill()
    change(bot, "UPDATE inbox SET error = :mark WHERE state = 'parked'", mark=GOES_ON)
    change(bot, "UPDATE continuity_choices SET mode = 'use', internal_packet = :packet", packet=f"{PACKET} chosen")
    await bot.start()
    await answered(api, PERSON, "good morning")
    await bot.restart()

    assert NOTE in asked(model)[-1].text
    assert len(answers_to(api, PERSON, "good morning")) == 1
    assert len(heard(bot)) == 2


async def test_a_kill_while_both_messages_are_answered_keeps_them_together(api, model, bot_process):
    """The waiting message was joined to the next one; after the kill they are again one turn, answered once."""
    bot = await bot_process(**ASK)
    await offered(api, bot)
    model.gate = Gate()
    api.people.says(PERSON, "never mind that")
    await model.until(lambda: asked(model)[-1].said.endswith("never mind that"))
    await bot.kill()
    model.gate.open()
    await bot.start()
    await answered(api, PERSON, "never mind that")

    assert asked(model)[-1].said == "good morning\nnever mind that"
    assert heard(bot)[1:] == ["good morning\nnever mind that"]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def returned(api, bot):
    """Come back after hours in mode use; return the small line under the answer."""
    await yesterday(api, bot)
    api.people.says(PERSON, "good morning")
    await answered(api, PERSON, "good morning")
    return await shows(api, "Carrying on from: ")


async def test_a_return_that_was_cut_off_is_answered_once_with_its_small_line(api, model, bot_process):
    """Killed while the model writes the first answer: after the start one answer, one line, the notes in both tries."""
    bot = await bot_process()
    await yesterday(api, bot)
    model.gate = Gate()
    api.people.says(PERSON, "good morning")
    await model.until(lambda: asked(model)[-1].said == "good morning")
    await bot.kill()
    model.gate.open()
    await bot.start()
    line = await shows(api, "Carrying on from: ")
    await bot.restart()

    assert line.text == f"Carrying on from: {NOTE}"
    assert [NOTE in request.text for request in asked(model)[-2:]] == [True, True]
    assert answers_to(api, PERSON, "good morning") == ["You said: good morning"]
    assert sum("Carrying on from" in each.text for each in bot_lines(api)) == 1
    assert heard(bot) == [PROMISE, "good morning"]


@pytest.mark.parametrize("point", ["turn_packet_built", "turn_answered", "turn_committed"])
async def test_start_fresh_under_the_answer_survives_a_kill(api, model, bot_process, point):
    """Killed while [Start fresh] answers again: answered once more, in one fresh session, with nothing of before."""
    bot = await bot_process()
    line = await returned(api, bot)
    await bot.restart(CONTINUITY_FAULT=point)
    api.people.presses(PERSON, "Start fresh", message_id=line.message_id)
    await bot.wait()
    await bot.start()
    await api.until(lambda: len(answers_to(api, PERSON, "good morning")) == 2)
    await bot.restart()

    assert NOTE not in asked(model)[-1].text
    assert "I will send" not in asked(model)[-1].text
    assert heard(bot) == [PROMISE, "good morning", "good morning"]
    assert len(answers_to(api, PERSON, "good morning")) == 2
    assert rows(bot, "SELECT COUNT(*) FROM conversation_sessions") == [(3,)]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


@pytest.mark.parametrize("point", ["turn_packet_built", "turn_answered", "before_commit", "turn_committed"])
async def test_bringing_back_what_was_before_survives_a_kill(api, model, bot_process, point):
    """Killed while the button's answer is made: after the start it is made once, with the notes of before."""
    bot = await bot_process()
    line = await missed(api, model)
    await bot.restart(CONTINUITY_FAULT=point)
    api.people.presses(PERSON, BUTTON, message_id=line.message_id)
    await bot.wait()
    await bot.start()
    await shows(api, "Ticked off.")
    await bot.restart()

    assert sum(each.text == "Ticked off." for each in bot_lines(api)) == 1
    assert heard(bot) == [PROMISE, "good morning", TICK, TICK]
    assert rows(bot, "SELECT status FROM notes WHERE text = :text", text=NOTE) == [("done",)]
    assert rows(bot, "SELECT COUNT(*) FROM conversation_sessions") == [(2,)]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def test_ask_me_first_survives_a_kill(api, model, bot_process):
    """The tap changed the mode; after kill -9 the next return waits for the person's word."""
    bot = await bot_process()
    await returned(api, bot)
    api.people.presses(PERSON, "Ask before carrying on")
    await shows(api, "after a break I'll ask first")
    await bot.kill()
    long_ago(bot)
    await bot.start()
    api.people.says(PERSON, "me again")
    await shows(api, OFFER)

    assert asked(model)[-1].said == "good morning"


async def test_a_passed_over_preview_isolates_until_continue_across_a_kill(api, model, bot_process):
    """Who wrote on has chosen without: after kill -9 still without, until /continue brings it in."""
    bot = await bot_process(**ASK)
    await offered(api, bot)
    api.people.says(PERSON, "never mind that")
    await answered(api, PERSON, "never mind that")
    await bot.restart()
    api.people.says(PERSON, "anything about the harbour?")
    await answered(api, PERSON, "anything about the harbour?")
    for request in asked(model)[-2:]:
        assert NOTE not in request.text
        assert "I will send" not in request.text

    api.people.says(PERSON, "/continue")
    await shows(api, "Here's what we could go on with:")
    api.people.presses(PERSON, "Carry this forward")
    await shows(api, "Carrying this forward")
    api.people.says(PERSON, "so, the harbour")
    await answered(api, PERSON, "so, the harbour")
    assert NOTE in asked(model)[-1].text


async def test_mode_off_carries_nothing_across_a_kill(api, model, bot_process):
    """With CONTINUITY_RETURN_MODE=off the session stays by itself, before kill -9 and after."""
    bot = await bot_process(CONTINUITY_RETURN_MODE="off")
    await yesterday(api, bot)
    api.people.says(PERSON, "good morning")
    await answered(api, PERSON, "good morning")
    await bot.restart()
    api.people.says(PERSON, "and the harbour?")
    await answered(api, PERSON, "and the harbour?")

    for request in asked(model)[-2:]:
        assert NOTE not in request.text
        assert "I will send" not in request.text
