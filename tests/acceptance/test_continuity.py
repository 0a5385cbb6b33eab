"""A return in mode ask: what is offered, what reaches the model, and that a waiting message is answered once."""

from __future__ import annotations

import json

import pytest
from story import (
    FRIEND,
    NOTE,
    OFFER,
    PERSON,
    PROMISE,
    answered,
    asked,
    bot_lines,
    heard,
    noted,
    reply,
    rows,
    shows,
    tap,
    tapped,
)

from bot.care.care import caring_answer

pytestmark = pytest.mark.acceptance
GUARDRAIL = "Do not quote, paraphrase, or summarize this content to the user."
CHOICES = (("Carry on", "Start fresh"), ("Always", "Edit"))
ASK = {"CONTINUITY_RETURN_MODE": "ask"}


async def yesterday(api, bot, *, chat_id=PERSON, name="", words=PROMISE):
    """Say something in a session that ended hours ago, and have it noted."""
    api.people.says(PERSON, f"{name}{words}", **({"chat_id": chat_id} if chat_id != PERSON else {}))
    await answered(api, chat_id, words)
    await noted(bot, "promise", NOTE, chat_id=chat_id)
    await bot.passes(hours=7)


async def offered(api, bot, text="good morning"):
    """Come back after hours with this text; return the line that asks."""
    await yesterday(api, bot)
    api.people.says(PERSON, text)
    return await shows(api, OFFER)


def is_isolated(bot):
    """Return whether the session that was begun last takes nothing from others."""
    [(state,)] = rows(bot, "SELECT state_json FROM conversation_sessions ORDER BY created_at_ms DESC LIMIT 1")
    return json.loads(state)["isolated"]


def assert_nothing_of_before(request):
    """Check that a prompt has neither the words nor the note of the session before, nor how to use notes."""
    assert "I will send" not in request.text
    assert NOTE not in request.text
    assert GUARDRAIL not in request.text


async def edited(api):
    """Wait until the preview shows a row for each line, and return it."""
    await api.until(lambda: bot_lines(api)[-1].buttons[0][0].startswith("✕"))
    return bot_lines(api)[-1]


async def test_the_first_message_after_a_silence_waits_for_the_users_word(api, model, bot_here):
    """Mode ask: the preview comes with its buttons, the model is not asked, the message is parked."""
    bot = await bot_here(**ASK)
    offer = await offered(api, bot)

    assert "harbour report" in offer.text
    assert offer.text.endswith("Either is fine.\n\nI'll answer your message right after you choose.")
    assert offer.buttons == CHOICES
    assert len(asked(model)) == 1
    assert rows(bot, "SELECT state FROM inbox ORDER BY position DESC LIMIT 1") == [("parked",)]


async def test_the_time_to_choose_is_no_time_to_answer(api, model, bot_here):
    """An hour until the tap, and the figures of the answer know nothing of it."""
    bot = await bot_here(**ASK)
    await offered(api, bot)
    await bot.passes(hours=1)
    await tap(api, "Carry on")
    await answered(api, PERSON, "good morning")

    [(queue_ms,)] = rows(bot, "SELECT queue_ms FROM turn_figures ORDER BY at_ms DESC LIMIT 1")
    assert queue_ms < 1_800_000


async def test_distress_does_not_wait_for_a_tap(api, model, bot_here):
    """After a silence others are asked first what to carry forward; somebody in distress is answered at once."""
    bot = await bot_here(**ASK)
    await yesterday(api, bot)
    api.people.says(PERSON, "ich will nicht mehr leben")

    assert (await shows(api, "findahelpline.com")).text == caring_answer("de")
    assert len(asked(model)) == 1


async def test_after_carry_on_the_notes_are_in_the_prompts(api, model, bot_here):
    """What was chosen stands in the prompts of the session, with the guardrails, and on the screen."""
    bot = await bot_here(**ASK)
    await offered(api, bot)
    api.people.presses(PERSON, "Carry on")
    await answered(api, PERSON, "good morning")
    first = asked(model)[-1]
    api.people.says(PERSON, "and now something else")
    await answered(api, PERSON, "and now something else")

    assert first.said == "good morning"
    for request in (first, asked(model)[-1]):
        assert NOTE in request.text
        assert (
            GUARDRAIL in request.text.partition("asked what you remember or where you left off, tell them plainly")[2]
        )
    assert "Carrying this forward" in (await shows(api, "Carrying")).text
    assert heard(bot)[1:] == ["good morning", "and now something else"]


@pytest.mark.parametrize("word", ["/continue", "carry on", "Carry on."])
async def test_a_word_chooses_as_a_tap_does(api, model, bot_here, word):
    """Under the preview the button's own words and /continue mean [Carry on]: shown in place, answered once."""
    bot = await bot_here(**ASK)
    offer = await offered(api, bot)
    api.people.says(PERSON, word)
    await answered(api, PERSON, "good morning")

    assert NOTE in asked(model)[-1].text
    assert heard(bot)[1:] == ["good morning"]
    line = await shows(api, "Carrying this forward")
    assert line.message_id == offer.message_id
    assert line.buttons == ()
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def test_the_other_button_may_be_typed_as_well(api, model, bot_here):
    """The words "start fresh" under the preview are [Start fresh]."""
    bot = await bot_here(**ASK)
    await offered(api, bot)
    api.people.says(PERSON, "start fresh")
    await answered(api, PERSON, "good morning")

    assert heard(bot)[1:] == ["good morning"]
    assert_nothing_of_before(asked(model)[-1])
    await shows(api, "Fresh start")


async def test_after_start_fresh_no_word_of_before_is_in_any_tier(api, model, bot_here):
    """[Start fresh] isolates the session: neither packet nor search nor today nor last conversation, also later on."""
    bot = await bot_here(**ASK)
    await offered(api, bot, "what about the harbour?")
    api.people.presses(PERSON, "Start fresh")
    await answered(api, PERSON, "what about the harbour?")
    api.people.says(PERSON, "and the report to Anna?")
    await answered(api, PERSON, "and the report to Anna?")

    for request in asked(model)[1:]:
        assert_nothing_of_before(request)


async def test_the_next_message_is_answered_together_with_the_waiting_one(api, model, bot_here):
    """Who writes on has answered the question with "without": one turn with both, nothing injected."""
    bot = await bot_here(**ASK)
    await offered(api, bot)
    api.people.says(PERSON, "never mind that")
    await answered(api, PERSON, "never mind that")

    assert asked(model)[-1].said == "good morning\nnever mind that"
    assert_nothing_of_before(asked(model)[-1])
    assert len(asked(model)) == 2
    assert (await shows(api, "/continue brings it in")).text.startswith("You wrote on")
    assert is_isolated(bot)
    assert heard(bot)[1:] == ["good morning\nnever mind that"]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def test_a_double_tap_and_an_old_preview_change_nothing(api, model, bot_here):
    """Of two taps the first counts; a tap on a preview that was passed over only gets a word."""
    bot = await bot_here(**ASK)
    offer = await offered(api, bot)
    api.people.presses(PERSON, offer.presses[1], message_id=offer.message_id)
    api.people.presses(PERSON, offer.presses[0], message_id=offer.message_id)
    await answered(api, PERSON, "good morning")
    await api.until(lambda: len(api.calls_of("answerCallbackQuery")) == 2)

    assert sorted(call.params["text"] for call in api.calls_of("answerCallbackQuery")) == [
        "Done",
        "You've already chosen.",
    ]
    assert_nothing_of_before(asked(model)[-1])
    assert len(heard(bot)) == 2


async def test_somebody_else_cannot_answer_for_the_primary_user(api, model, bot_here):
    """In a group the preview is for whoever opened the session: others' taps are refused, their words come after."""
    bot = await bot_here(**ASK)
    group = api.people.opens_group("Friends")
    await yesterday(api, bot, chat_id=group, name="@continuity_bot ")
    api.people.says(PERSON, "@continuity_bot morning", chat_id=group)
    await shows(api, OFFER, group)
    await tap(api, "Carry on", chat_id=group, user=FRIEND)
    assert "somebody else" in tapped(api)

    api.people.says(FRIEND, "@continuity_bot hello all", chat_id=group)
    await answered(api, group, "hello all")
    assert heard(bot)[1:] == ["morning", "hello all"]
    assert not any(NOTE in request.text for request in asked(model))


async def test_an_arc_can_be_dropped_before_continuing(api, model, bot_here):
    """[Edit] shows a row for each line, [Back] takes it away; a row takes its line off, and off the packet."""
    bot = await bot_here(**ASK)
    api.people.says(PERSON, "green it is")
    await answered(api, PERSON, "green it is")
    await noted(bot, "decision", "Paint the boat green.")
    await offered(api, bot)
    api.people.presses(PERSON, "Edit")
    offer = await edited(api)
    drop = next(row[0] for row in offer.buttons if row[0].startswith("✕") and "boat" in row[0].lower())
    assert "boat" in offer.text
    api.people.presses(PERSON, "Back")
    await api.until(lambda: bot_lines(api)[-1].buttons == CHOICES)
    api.people.presses(PERSON, "Edit")
    await edited(api)
    api.people.presses(PERSON, drop)
    await api.until(lambda: "boat" not in bot_lines(api)[-1].text and bot_lines(api)[-1].buttons)
    api.people.presses(PERSON, "Carry on")
    await answered(api, PERSON, "good morning")

    ((packet,),) = rows(bot, "SELECT internal_packet FROM continuity_choices")
    assert "harbour" in packet
    assert "boat" not in packet


async def test_always_do_this_carries_forward_in_silence_from_then_on(api, model, bot_here):
    """[Always] is remembered: the next session asks nothing and has its packet."""
    bot = await bot_here(**ASK)
    await offered(api, bot)
    api.people.presses(PERSON, "Always")
    await answered(api, PERSON, "good morning")
    await bot.passes(hours=7)
    api.people.says(PERSON, "and again")
    await answered(api, PERSON, "and again")

    assert NOTE in asked(model)[-1].text
    assert sum(OFFER in line.text for line in bot_lines(api)) == 0
    assert sum("Carrying on from" in line.text for line in bot_lines(api)) == 0


async def test_mode_off_generates_and_injects_nothing(api, model, bot_here):
    """Switched off in /settings: no preview, no packet, and no row of a generation in the tables."""
    bot = await bot_here(**ASK)
    api.people.says(PERSON, "/settings")
    await shows(api, "I ask whether to carry earlier context forward. I show you what it is first.")
    api.people.presses(PERSON, "Off")
    await shows(api, "carry anything forward")
    await yesterday(api, bot)
    api.people.says(PERSON, "good morning")
    await answered(api, PERSON, "good morning")

    assert_nothing_of_before(asked(model)[-1])
    assert is_isolated(bot)
    assert rows(bot, "SELECT 1 FROM continuity_bootstrap_cache UNION ALL SELECT 1 FROM continuity_arcs") == []
    assert rows(bot, "SELECT 1 FROM continuity_relationship_states") == []


async def test_to_be_asked_without_a_preview_is_to_begin_without(api, model, bot_here):
    """Ask with the preview skipped asks nothing and carries nothing, and /settings says so."""
    bot = await bot_here(**ASK)
    api.people.says(PERSON, "/settings")
    await shows(api, "I ask whether")
    api.people.presses(PERSON, "Skip the preview")
    await shows(api, "I don't carry anything forward. /continue still works.")
    await yesterday(api, bot)
    api.people.says(PERSON, "good morning")
    await answered(api, PERSON, "good morning")

    assert_nothing_of_before(asked(model)[-1])
    assert not any(OFFER in line.text for line in bot_lines(api))


async def test_the_persona_is_chosen_per_person(api, model, bot_here):
    """/persona changes who answers this person, in place, and nobody else."""
    await bot_here(**ASK)
    api.people.says(PERSON, "/persona")
    await shows(api, "I can be:")
    api.people.presses(PERSON, "companion")
    await shows(api, "✓ companion: warm, curious, unhurried")
    for user in (PERSON, FRIEND):
        api.people.says(user, "hello there")
        await answered(api, user, "hello there")

    assert ["companion" in request.messages[0][1] for request in asked(model)] == [True, False]


async def test_a_persona_is_described_in_ones_own_words(api, model, bot_here):
    """What stands behind /persona is who answers from then on; a name in any language chooses, one tap goes back."""
    await bot_here()
    shown = await reply(api, "/persona a grumpy old lighthouse keeper")
    assert "• ✓ “a grumpy old lighthouse keeper”" in shown.text
    api.people.says(PERSON, "hello there")
    await answered(api, PERSON, "hello there")
    assert "whom you play: “a grumpy old lighthouse keeper”" in asked(model)[-1].messages[0][1]

    await tap(api, "assistant", "✓ assistant: ", on=shown)
    assert "• “a grumpy old lighthouse keeper”\n" in (await reply(api, "/persona")).text
    assert "✓ companion: warm, curious, unhurried" in (await reply(api, "/persona Compagnon")).text
    assert "✓ assistant" in (await reply(api, "/persona off")).text


async def test_commands_do_not_lose_a_waiting_message(api, model, bot_here):
    """/fresh while a message waits answers it in the fresh session, once."""
    bot = await bot_here(**ASK)
    await offered(api, bot)
    api.people.says(PERSON, "/fresh")
    await answered(api, PERSON, "good morning")

    assert_nothing_of_before(asked(model)[-1])
    assert len(heard(bot)) == 2
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def test_an_edit_of_a_waiting_message_is_what_gets_answered(api, model, bot_here):
    """The edit waits with the message that it edits; the answer is to the edited text."""
    bot = await bot_here(**ASK)
    await yesterday(api, bot)
    typo = api.people.says(PERSON, "godo mornign")
    await shows(api, OFFER)
    edit = api.people.edits(PERSON, typo.message_id, "good morning")
    await api.until(lambda: api.is_confirmed(edit.update_id))
    await api.until(lambda: rows(bot, "SELECT COUNT(*) FROM inbox WHERE state = 'parked'") == [(2,)])
    api.people.presses(PERSON, "Carry on")
    await answered(api, PERSON, "good morning")

    assert heard(bot)[1:] == ["good morning"]


async def test_a_tap_on_a_preview_that_was_passed_over_only_says_so(api, model, bot_here):
    """A client that still shows the old buttons: nothing is carried into a session that went on without."""
    bot = await bot_here(**ASK)
    offer = await offered(api, bot)
    query_of = {"id": PERSON, "is_bot": False, "first_name": "Mia"}
    api.people.says(PERSON, "never mind that")
    await answered(api, PERSON, "never mind that")
    api.people.injects(
        {
            "callback_query": {
                "id": "1",
                "from": query_of,
                "chat_instance": "1",
                "data": offer.presses[0],
                "message": {
                    "message_id": offer.message_id,
                    "date": 1,
                    "chat": {"id": PERSON, "type": "private"},
                    "text": offer.text,
                },
            }
        }
    )
    await shows(api, "We've moved on since")
    api.people.says(PERSON, "go on")
    await answered(api, PERSON, "go on")

    assert not any(NOTE in request.text for request in asked(model))
    assert rows(bot, "SELECT mode FROM continuity_choices") == [("off",)]
