"""A new session on Telegram: what is offered, what reaches the model, and that a waiting message is answered once."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from loopback.model import Gate
from story import PERSON, answered, answers_to, rows

from bot.features.continuity.gate import GOES_ON
from memory.language.distress import caring_answer

pytestmark = pytest.mark.acceptance
FRIEND = 4712
PROMISE = "I will send the harbour report to Anna"
OFFER = "I can carry forward this context"
PACKET = "## Relationship State"
GUARDRAIL = "Do not quote, paraphrase, or summarize this content to the user."


def lines(api, chat_id=PERSON):
    return [line for line in api.view(chat_id).lines if line.by_bot]


async def shows(api, words, chat_id=PERSON):
    """Wait until a line of the bot with these words is on the screen, and return the last such line."""
    await api.until(lambda: any(words in line.text for line in lines(api, chat_id)))
    return [line for line in lines(api, chat_id) if words in line.text][-1]


def said(bot):
    """Return what people said in the stored turns, in the order of time."""
    return [text for (text,) in rows(bot, "SELECT user_text FROM conversation_turns ORDER BY created_at_ms, seq")]


def long_ago(bot, hours=7):
    """Let what was said have been said hours ago; the bot must not be running."""
    with closing(sqlite3.connect(bot.database)) as connection, connection:
        connection.execute(
            "UPDATE conversation_sessions SET last_turn_at_ms = last_turn_at_ms - :ms", {"ms": hours * 3_600_000}
        )
        for session_id, state in connection.execute(
            "SELECT session_id, state_json FROM conversation_sessions"
        ).fetchall():
            connection.execute(
                "UPDATE conversation_sessions SET state_json = json_set(:state, '$.last_turn_at_ms',"
                " json_extract(:state, '$.last_turn_at_ms') - :ms) WHERE session_id = :id",
                {"state": state, "ms": hours * 3_600_000, "id": session_id},
            )


def waited(bot, seconds):
    """Let the waiting message have come so many seconds earlier; the bot must not be running."""
    with closing(sqlite3.connect(bot.database)) as connection, connection:
        connection.execute(
            "UPDATE inbox SET received_at_ms = received_at_ms - :ms WHERE state = 'parked'", {"ms": seconds * 1000}
        )


async def yesterday(api, bot, *, chat_id=PERSON, name="", words=PROMISE):
    """Say something in a session that ended hours ago."""
    where = {"chat_id": chat_id} if chat_id != PERSON else {}
    api.people.says(PERSON, f"{name}{words}", **where)
    await answered(api, chat_id, words)
    await bot.kill()
    for checkpoint in bot.checkpoints.glob("*.json"):
        checkpoint.unlink()
    long_ago(bot)
    return await bot.start()


async def offered(api, bot, text="good morning"):
    """Come back after hours with this text; return the line that asks."""
    await yesterday(api, bot)
    api.people.says(PERSON, text)
    return await shows(api, OFFER)


async def test_the_first_message_after_a_silence_waits_for_the_users_word(api, model, bot_process):
    """Mode ask: the preview comes with its buttons, the model is not asked, the message is parked."""
    bot = await bot_process()
    offer = await offered(api, bot)

    assert "harbour report" in offer.text
    assert offer.text.endswith("Or we can start fresh-either is fine.")
    assert offer.buttons[0] == ("Continue", "Start fresh")
    assert offer.buttons[1] == ("Always do this",)
    assert offer.buttons[2][0].startswith("✕ ")
    assert len(model.requests) == 1
    assert rows(bot, "SELECT state FROM inbox ORDER BY position DESC LIMIT 1") == [("parked",)]


async def test_distress_does_not_wait_for_a_tap(api, model, bot_process):
    """After a silence others are asked first what to carry forward; somebody in distress is answered at once."""
    bot = await bot_process()
    await yesterday(api, bot)
    api.people.says(PERSON, "ich will nicht mehr leben")

    assert (await shows(api, "findahelpline.com")).text == caring_answer("de")
    assert len(model.requests) == 1


async def test_after_continue_the_context_is_in_the_first_prompt_only(api, model, bot_process):
    """The packet is in the instructions of the first reply, guardrails last, and in no later prompt."""
    bot = await bot_process()
    await offered(api, bot)
    api.people.presses(PERSON, "Continue")
    await answered(api, PERSON, "good morning")
    first = model.requests[-1]
    api.people.says(PERSON, "and now something else")
    await answered(api, PERSON, "and now something else")

    system = first.messages[0][1]
    assert system.rstrip().endswith(GUARDRAIL)
    assert "harbour report" in system[system.index(PACKET) :]
    assert first.messages[-1] == ("user", "good morning")
    assert PACKET not in model.requests[-1].text
    assert "Carrying this forward" in (await shows(api, "Carrying")).text
    assert said(bot)[1:] == ["good morning", "and now something else"]


async def test_after_start_fresh_no_word_of_before_is_in_any_tier(api, model, bot_process):
    """[Start fresh] isolates the session: neither packet nor search nor today nor last conversation, also later on."""
    bot = await bot_process()
    await offered(api, bot, "what about the harbour?")
    api.people.presses(PERSON, "Start fresh")
    await answered(api, PERSON, "what about the harbour?")
    api.people.says(PERSON, "and the report to Anna?")
    await answered(api, PERSON, "and the report to Anna?")

    for request in model.requests[1:]:
        assert "I will send" not in request.text
        assert PACKET not in request.text


async def test_after_fresh_nothing_and_after_continue_the_chosen_context(api, model, bot_process):
    """/fresh: no word of before; /continue with [Carry this forward]: the packet; kills change neither."""
    bot = await bot_process()
    await yesterday(api, bot)
    api.people.says(PERSON, "/fresh")
    await shows(api, "Started fresh")
    await bot.restart()
    api.people.says(PERSON, "anything about the harbour?")
    await answered(api, PERSON, "anything about the harbour?")
    assert "I will send" not in model.requests[-1].text

    api.people.says(PERSON, "/continue")
    offer = await shows(api, "I can carry forward:")
    assert "harbour report" in offer.text
    api.people.presses(PERSON, "Carry this forward")
    await shows(api, "Carrying this forward")
    await bot.restart()
    api.people.says(PERSON, "so, the harbour")
    await answered(api, PERSON, "so, the harbour")
    assert "harbour report" in model.requests[-1].messages[0][1]
    assert model.requests[-1].messages[0][1].rstrip().endswith(GUARDRAIL)


async def test_the_next_message_is_answered_together_with_the_waiting_one(api, model, bot_process):
    """Who writes on has answered the question with "without": one turn with both, nothing injected."""
    bot = await bot_process()
    await offered(api, bot)
    api.people.says(PERSON, "never mind that")
    await answered(api, PERSON, "never mind that")

    assert model.requests[-1].messages[-1] == ("user", "good morning\nnever mind that")
    assert PACKET not in model.requests[-1].text
    assert len(model.requests) == 2
    assert "I went on without" in (await shows(api, "I went on without")).text
    assert said(bot)[1:] == ["good morning\nnever mind that"]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


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
    assert len(said(bot)) == 2


async def test_a_younger_one_gets_its_timer_again(api, model, bot_process):
    """Killed while waiting and started before the two minutes are over: it still waits, then it is answered."""
    bot = await bot_process()
    await offered(api, bot)
    await bot.kill()
    waited(bot, 117)
    await bot.start()
    await answered(api, PERSON, "good morning")

    assert PACKET not in model.requests[-1].text
    assert "I went on without" in lines(api)[-2].text


async def test_a_tap_after_a_kill_counts(api, model, bot_process):
    """The buttons outlive kill -9 while the message waits; the answer is one, with the context."""
    bot = await bot_process()
    await offered(api, bot)
    await bot.restart()
    api.people.presses(PERSON, "Continue")
    await answered(api, PERSON, "good morning")

    assert PACKET in model.requests[-1].text
    assert len(said(bot)) == 2


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
    assert len(said(bot)) == 2


async def test_a_double_tap_and_an_old_preview_change_nothing(api, model, bot_process):
    """Of two taps the first counts; a tap on a preview that was passed over only gets a word."""
    bot = await bot_process()
    offer = await offered(api, bot)
    api.people.presses(PERSON, offer.presses[1], message_id=offer.message_id)
    api.people.presses(PERSON, offer.presses[0], message_id=offer.message_id)
    await answered(api, PERSON, "good morning")
    await api.until(lambda: len(api.calls_of("answerCallbackQuery")) == 2)

    assert sorted(call.params["text"] for call in api.calls_of("answerCallbackQuery")) == [
        "Done",
        "This was chosen already.",
    ]
    assert PACKET not in model.requests[-1].text
    assert len(said(bot)) == 2


async def test_somebody_else_cannot_answer_for_the_primary_user(api, model, bot_process):
    """In a group the preview is for whoever opened the session: others' taps are refused, their words come after."""
    bot = await bot_process()
    group = api.people.opens_group("Friends")
    await yesterday(api, bot, chat_id=group, name="@continuity_bot ")
    api.people.says(PERSON, "@continuity_bot morning", chat_id=group)
    await shows(api, OFFER, group)
    api.people.presses(FRIEND, "Continue", chat_id=group)
    await api.until(lambda: api.calls_of("answerCallbackQuery"))
    assert "somebody else" in api.calls_of("answerCallbackQuery")[-1].params["text"]

    api.people.says(FRIEND, "@continuity_bot hello all", chat_id=group)
    await answered(api, group, "hello all")
    assert said(bot)[1:] == ["morning", "hello all"]
    assert not any(PACKET in request.text for request in model.requests)


async def test_an_arc_can_be_dropped_before_continuing(api, model, bot_process):
    """The row "✕ title" takes a matter off the preview in place; it is not in the packet then."""
    bot = await bot_process()
    api.people.says(PERSON, "We decided to paint the boat green")
    await answered(api, PERSON, "We decided to paint the boat green")
    offer = await offered(api, bot)
    drop = next(row[0] for row in offer.buttons if row[0].startswith("✕") and "boat" in row[0].lower())
    assert "boat" in offer.text
    api.people.presses(PERSON, drop)
    await api.until(lambda: "boat" not in lines(api)[-1].text and lines(api)[-1].buttons)
    api.people.presses(PERSON, "Continue")
    await answered(api, PERSON, "good morning")

    packet = model.requests[-1].messages[0][1].split(PACKET)[1]
    assert "harbour" in packet
    assert "boat" not in packet


async def test_always_do_this_carries_forward_in_silence_from_then_on(api, model, bot_process):
    """[Always do this] is remembered: the next session asks nothing and has its packet."""
    bot = await bot_process()
    await offered(api, bot)
    api.people.presses(PERSON, "Always do this")
    await answered(api, PERSON, "good morning")
    await bot.kill()
    for checkpoint in bot.checkpoints.glob("*.json"):
        checkpoint.unlink()
    long_ago(bot)
    await bot.start()
    api.people.says(PERSON, "and again")
    await answered(api, PERSON, "and again")

    assert PACKET in model.requests[-1].text
    assert sum(OFFER in line.text for line in lines(api)) == 0


async def test_mode_off_generates_and_injects_nothing(api, model, bot_process):
    """Switched off in /settings: no preview, no packet, and no row of a generation in the tables."""
    bot = await bot_process()
    api.people.says(PERSON, "/settings")
    await shows(api, "I ask whether")
    api.people.presses(PERSON, "Off")
    await shows(api, "prepare nothing")
    await yesterday(api, bot)
    api.people.says(PERSON, "good morning")
    await answered(api, PERSON, "good morning")

    assert PACKET not in model.requests[-1].text
    assert rows(bot, "SELECT 1 FROM continuity_bootstrap_cache UNION ALL SELECT 1 FROM continuity_arcs") == []
    assert rows(bot, "SELECT 1 FROM continuity_relationship_states") == []


async def test_mode_use_says_what_it_carries_and_does_not_wait(api, model, bot_process):
    """Mode use without skipping: the message is answered at once, and what is carried is shown."""
    bot = await bot_process()
    api.people.says(PERSON, "/settings")
    await shows(api, "I ask whether")
    api.people.presses(PERSON, "Use")
    settings = await shows(api, "I carry earlier context forward.")
    assert "✓ Use" in settings.buttons[0]
    await yesterday(api, bot)
    api.people.says(PERSON, "good morning")
    await answered(api, PERSON, "good morning")

    assert "harbour report" in (await shows(api, "Carrying this forward")).text
    assert PACKET in model.requests[-1].text


async def test_the_persona_is_chosen_per_person(api, model, bot_process):
    """/persona changes who answers this person, in place, and nobody else."""
    await bot_process()
    api.people.says(PERSON, "/persona")
    await shows(api, "I can be:")
    api.people.presses(PERSON, "companion")
    await shows(api, "companion: warm, curious, unhurried (now)")
    for user in (PERSON, FRIEND):
        api.people.says(user, "hello there")
        await answered(api, user, "hello there")

    assert ["companion" in request.messages[0][1] for request in model.requests] == [True, False]


async def test_commands_do_not_lose_a_waiting_message(api, model, bot_process):
    """/fresh while a message waits answers it in the fresh session, once."""
    bot = await bot_process()
    await offered(api, bot)
    api.people.says(PERSON, "/fresh")
    await answered(api, PERSON, "good morning")

    assert "I will send" not in model.requests[-1].text
    assert len(said(bot)) == 2
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def test_an_edit_of_a_waiting_message_is_what_gets_answered(api, model, bot_process):
    """The edit waits with the message that it edits; the answer is to the edited text."""
    bot = await bot_process()
    await yesterday(api, bot)
    typo = api.people.says(PERSON, "godo mornign")
    await shows(api, OFFER)
    edit = api.people.edits(PERSON, typo.message_id, "good morning")
    await api.until(lambda: api.is_confirmed(edit.update_id))
    await api.until(lambda: rows(bot, "SELECT COUNT(*) FROM inbox WHERE state = 'parked'") == [(2,)])
    api.people.presses(PERSON, "Continue")
    await answered(api, PERSON, "good morning")

    assert said(bot)[1:] == ["good morning"]


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
    with closing(sqlite3.connect(bot.database)) as connection, connection:
        connection.execute("UPDATE inbox SET error = ? WHERE state = 'parked'", (GOES_ON,))
        connection.execute("UPDATE continuity_choices SET mode = 'use', internal_packet = ?", (f"{PACKET} chosen",))
    await bot.start()
    await answered(api, PERSON, "good morning")
    await bot.restart()

    assert f"{PACKET} chosen" in model.requests[-1].messages[0][1]
    assert len(answers_to(api, PERSON, "good morning")) == 1
    assert len(said(bot)) == 2


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

    assert model.requests[-1].messages[-1] == ("user", "good morning\nnever mind that")
    assert said(bot)[1:] == ["good morning\nnever mind that"]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []


async def test_a_tap_on_a_preview_that_was_passed_over_only_says_so(api, model, bot_process):
    """A client that still shows the old buttons: nothing is carried into a session that went on without."""
    bot = await bot_process()
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
    await shows(api, "We have gone on since")
    api.people.says(PERSON, "go on")
    await answered(api, PERSON, "go on")

    assert not any(PACKET in request.text for request in model.requests)
    assert rows(bot, "SELECT mode FROM continuity_choices") == [("off",)]
