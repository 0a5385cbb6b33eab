"""Killed while a message waits for the person's word on what to carry forward: it is answered once, as was chosen."""

from __future__ import annotations

import json

import pytest
from loopback.model import Gate
from story import OFFER, PACKET, PERSON, PROMISE, answered, answers_to, bot_lines, change, heard, rows, shows

from bot.turns.parked import GOES_ON

pytestmark = [pytest.mark.acceptance, pytest.mark.crash]
GUARDRAIL = "Do not quote, paraphrase, or summarize this content to the user."
AGO_MS = 7 * 3_600_000


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
    bot = await bot_process()
    await yesterday(api, bot)
    api.people.says(PERSON, "/fresh")
    await shows(api, "Fresh start")
    await bot.restart()
    api.people.says(PERSON, "anything about the harbour?")
    await answered(api, PERSON, "anything about the harbour?")
    assert "I will send" not in model.requests[-1].text

    api.people.says(PERSON, "/continue")
    offer = await shows(api, "I can carry this forward:")
    assert "harbour report" in offer.text
    api.people.presses(PERSON, "Carry this forward")
    await shows(api, "Carrying this forward")
    await bot.restart()
    api.people.says(PERSON, "so, the harbour")
    await answered(api, PERSON, "so, the harbour")
    assert "harbour report" in model.requests[-1].messages[0][1]
    assert model.requests[-1].messages[0][1].rstrip().endswith(GUARDRAIL)


async def test_a_message_that_waited_too_long_is_answered_at_the_start(api, model, bot_process):
    """Killed while waiting, started after two minutes: answered once, without injection."""
    bot = await bot_process()
    await offered(api, bot)
    await bot.kill()
    waited(bot, 121)
    await bot.start()
    await answered(api, PERSON, "good morning")
    await bot.restart()

    assert answers_to(api, PERSON, "good morning") == ["You said: good morning"]
    assert [PACKET in request.text for request in model.requests] == [False, False]
    assert len(heard(bot)) == 2


async def test_a_younger_one_gets_its_timer_again(api, model, bot_process):
    """Killed while waiting and started before the two minutes are over: it still waits, then it is answered."""
    bot = await bot_process()
    await offered(api, bot)
    await bot.kill()
    waited(bot, 116)
    await bot.start()
    await answered(api, PERSON, "good morning")

    assert PACKET not in model.requests[-1].text
    assert "let's go on" in bot_lines(api)[-2].text


async def test_a_tap_after_a_kill_counts(api, model, bot_process):
    """The buttons outlive kill -9 while the message waits; the answer is one, with the context."""
    bot = await bot_process()
    await offered(api, bot)
    await bot.restart()
    api.people.presses(PERSON, "Continue")
    await answered(api, PERSON, "good morning")

    assert PACKET in model.requests[-1].text
    assert len(heard(bot)) == 2


async def test_a_kill_between_the_tap_and_the_answer_changes_neither_choice_nor_packet(api, model, bot_process):
    """The model is asked again after the kill with the very same packet, and one answer is on the screen."""
    bot = await bot_process()
    await offered(api, bot)
    model.gate = Gate()
    api.people.presses(PERSON, "Continue")
    await model.until(lambda: len(model.requests) == 2)
    await bot.kill()
    model.gate.open()
    await bot.start()
    await answered(api, PERSON, "good morning")

    before, after = (request.messages[0][1].split(PACKET)[1] for request in model.requests[1:])
    assert before == after
    assert len(answers_to(api, PERSON, "good morning")) == 1
    assert len(heard(bot)) == 2


async def test_the_operator_sees_every_stage_and_can_clear(api, bot_process):
    """`bootstrap run` prints the stages beside the running bot; `clear` is refused then; later it keeps preferences."""
    bot = await bot_process()
    await offered(api, bot)
    api.people.presses(PERSON, "Always do this")
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
    bot = await bot_process()
    await offered(api, bot)
    await bot.kill()
    change(bot, "UPDATE inbox SET error = :mark WHERE state = 'parked'", mark=GOES_ON)
    change(bot, "UPDATE continuity_choices SET mode = 'use', internal_packet = :packet", packet=f"{PACKET} chosen")
    await bot.start()
    await answered(api, PERSON, "good morning")
    await bot.restart()

    assert f"{PACKET} chosen" in model.requests[-1].messages[0][1]
    assert len(answers_to(api, PERSON, "good morning")) == 1
    assert len(heard(bot)) == 2


async def test_a_kill_while_both_messages_are_answered_keeps_them_together(api, model, bot_process):
    """The waiting message was joined to the next one; after the kill they are again one turn, answered once."""
    bot = await bot_process()
    await offered(api, bot)
    model.gate = Gate()
    api.people.says(PERSON, "never mind that")
    await model.until(lambda: len(model.requests) == 2)
    await bot.kill()
    model.gate.open()
    await bot.start()
    await answered(api, PERSON, "never mind that")

    assert model.requests[-1].said == "good morning\nnever mind that"
    assert heard(bot)[1:] == ["good morning\nnever mind that"]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []
