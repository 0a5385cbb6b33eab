"""A model that hangs, breaks off, is overloaded or talks nonsense: the person is told, nothing half passes as whole."""

from __future__ import annotations

import pytest
from loopback.model import Gate, ModelFault
from story import PERSON, answered, bot_lines, reply, rows, stored_turns

from memory.types import WAS_STOPPED

pytestmark = [pytest.mark.acceptance, pytest.mark.sweep]


@pytest.mark.parametrize("fault", list(ModelFault))
async def test_a_failing_model_is_said_and_try_again_works(api, model, bot_here, fault):
    """The person reads why there is no answer; a tap on [Try again] answers the very message, once."""
    bot = await bot_here(CONTINUITY_MODEL_TIMEOUT_S="1")
    model.plant(fault, times=None)
    api.people.says(PERSON, "are you there?")
    notice = (await api.until(lambda: bot_lines(api), 40))[-1]
    assert "Your message is safe" in notice.text
    assert notice.buttons == (("Try again",),)
    assert stored_turns(bot) == []

    model.heal()
    api.people.presses(PERSON, "Try again")
    await answered(api, PERSON, "are you there?")

    assert stored_turns(bot) == [("are you there?", "You said: are you there?")]


async def test_one_hiccup_of_the_model_is_not_worth_a_word(api, model, bot_here):
    """A single 500 or 429 is retried within the turn; the person sees only the answer."""
    await bot_here()
    model.plant(ModelFault.SERVER_ERROR)
    api.people.says(PERSON, "hello")
    await answered(api, PERSON, "hello")

    assert len(bot_lines(api)) == 1


async def test_sigterm_in_the_middle_of_a_stream_loses_nothing(api, model, bot_process):
    """SIGTERM while words arrive: exit 0 within 10 s, no half answer, and the next start answers the message."""
    bot = await bot_process()
    model.gate = Gate()
    api.people.says(PERSON, "tell me a story")
    await model.until(lambda: model.requests)
    model.gate.let(2)

    assert await bot.terminate(timeout_s=10) == 0
    assert stored_turns(bot) == []
    assert bot_lines(api) == []

    model.gate.open()
    model.gate = None
    await bot.start()
    await answered(api, PERSON, "tell me a story")
    assert len(bot_lines(api)) == 1


async def test_stop_ends_the_answer_that_is_being_written(api, model, bot_here):
    """/stop does not wait behind the running answer; nothing of that answer is kept, but what was asked is."""
    bot = await bot_here()
    model.gate = Gate()
    api.people.says(PERSON, "count to a million")
    await model.until(lambda: model.requests)
    model.gate.let(1)

    api.people.says(PERSON, "/stop")
    await api.until(lambda: bot_lines(api))

    stopped = "Stopped."
    assert [line.text for line in bot_lines(api)] == [stopped]
    model.gate = None
    await reply(api, "to ten is enough")
    asked, answered_with, _ = (text for _, text in model.requests[-1].messages[-3:])
    assert asked.endswith("count to a million")
    assert answered_with == stopped
    assert rows(bot, "SELECT action_name FROM conversation_turns WHERE seq = 1") == [(WAS_STOPPED,)]


async def test_a_group_sees_the_answer_grow_in_one_message(api, model, bot_process):
    """In a group the answer is one message that is edited until it is whole; a kill in between leaves no “…” behind."""
    bot = await bot_process()
    group = api.people.opens_group("Friends")
    model.gate = Gate()
    api.people.says(PERSON, "@continuity_bot tell us a long story now", chat_id=group)
    await model.until(lambda: model.requests)
    model.gate.let(4)
    await api.until(lambda: bot_lines(api, group))
    assert bot_lines(api, group)[0].text.endswith("…")

    await bot.kill()
    model.gate.open()
    model.gate = None
    await bot.start()
    await api.until(lambda: stored_turns(bot) and not bot_lines(api, group)[0].text.endswith("…"))

    assert [line.text for line in bot_lines(api, group)] == ["You said: tell us a long story now"]


async def test_a_preview_that_was_sent_but_not_recorded_is_found(api, model, bot_process):
    """Killed between the first words on the screen and their record, the answer still ends up in that one message."""
    bot = await bot_process(start=False)
    group = api.people.opens_group("Friends")
    model.gate = Gate()
    api.people.says(PERSON, "@continuity_bot tell us a story", chat_id=group)
    await bot.launch(CONTINUITY_FAULT="outbox_sent_unrecorded")
    await model.until(lambda: model.requests)
    model.gate.let(4)
    assert await bot.wait() == -9
    model.gate.open()
    model.gate = None
    await bot.start()
    await api.until(lambda: stored_turns(bot) and not bot_lines(api, group)[0].text.endswith("…"))

    assert [line.text for line in bot_lines(api, group)] == ["You said: tell us a story"]


async def test_an_old_half_done_turn_is_asked_about(api, model, bot_process):
    """A turn that was cut off longer ago than the window is not spent tokens on: [Answer now] [Skip] [Fresh start]."""
    bot = await bot_process()
    model.plant(ModelFault.HANG, times=None)
    api.people.says(PERSON, "what about Monday?")
    await model.until(lambda: model.requests)
    await bot.kill()
    model.heal()
    asked = len(model.requests)

    await bot.start(CONTINUITY_RESUME_WINDOW_MINUTES="0")
    question = (await api.until(lambda: bot_lines(api)))[0]
    assert "what about Monday?" in question.text
    assert question.buttons == (("Answer now",), ("Skip", "Fresh start"))
    assert len(model.requests) == asked

    api.people.presses(PERSON, "Answer now")
    await answered(api, PERSON, "what about Monday?")
    assert len(stored_turns(bot)) == 1


async def test_skip_and_fresh_start_end_an_old_turn_without_the_model(api, model, bot_process):
    """[Skip] edits the question away; the message is never answered, and later ones are."""
    bot = await bot_process()
    model.plant(ModelFault.HANG, times=None)
    api.people.says(PERSON, "never mind this")
    await model.until(lambda: model.requests)
    await bot.kill()
    model.heal()
    asked = len(model.requests)
    await bot.start(CONTINUITY_RESUME_WINDOW_MINUTES="0")
    await api.until(lambda: bot_lines(api))

    api.people.presses(PERSON, "Skip")
    await api.until(lambda: bot_lines(api)[0].text == "Skipped.")
    api.people.says(PERSON, "hello again")
    await answered(api, PERSON, "hello again")

    assert len(model.requests) == asked + 1


async def test_three_deaths_put_a_message_aside(api, model, bot_process):
    """A message on which the process dies three times is quarantined with one short word; the rest goes on (P3)."""
    bot = await bot_process(start=False)
    api.people.says(PERSON, "poison")
    on_server = isinstance(bot.database, str)  # there it is known half a second later that it no longer waits
    for _ in range(3):
        await bot.launch(CONTINUITY_FAULT="turn_packet_built" if on_server else "turn_answered")
        assert await bot.wait() == -9
    await bot.start()
    await api.until(lambda: bot_lines(api))
    api.people.says(PERSON, "still there?")
    await answered(api, PERSON, "still there?")

    assert "set it aside" in bot_lines(api)[0].text
    assert [user for user, _ in stored_turns(bot)] == ["still there?"]


async def test_a_message_is_not_blamed_for_kills_while_it_waits(api, model, bot_process):
    """Killed four times while it waits for its model, a message is still answered: the death was not its doing."""
    bot = await bot_process()
    model.plant(ModelFault.HANG, times=4)
    api.people.says(PERSON, "patience")
    for asked in range(1, 5):
        await model.until(lambda asked=asked: len(model.requests) == asked)
        if isinstance(bot.database, str):  # others learn of it with the next word that it is alive
            await api.until(lambda: rows(bot, "SELECT 1 FROM workers WHERE excused_json <> '[]'"))
        await bot.kill()
        await bot.launch()
    await answered(api, PERSON, "patience")

    assert len(stored_turns(bot)) == 1
