"""A message whose answer never came: the next one of its person takes it up, and one turn answers both."""

from __future__ import annotations

import pytest
from loopback.model import Gate, ModelFault, ToolCall
from story import (
    FRIEND,
    NOTE,
    OFFER,
    PERSON,
    PROMISE,
    asked,
    bot_lines,
    bot_texts,
    noted,
    reply,
    rows,
    shows,
    stored_turns,
    swept,
    tap,
    tapped,
)

from bot import replies

pytestmark = pytest.mark.acceptance

LANDLORD = "The landlord comes to look at the boiler"
SALT = "And how much salt goes into pasta water?"
BOTH = f"{LANDLORD}\n{SALT}"
ANSWER = f"You said: {SALT}"
BELOW = replies.say("answered_below")


async def unanswered(api, model, text: str = LANDLORD, chat_id: int = PERSON):
    """Say something to a model that is down, and return the notice with its button; then the model works again."""
    model.plant(ModelFault.SERVER_ERROR, times=None)
    notice = await reply(api, text, chat_id)
    assert notice.buttons == (("Try again",),)
    model.heal()
    return notice


async def test_the_next_message_takes_an_unanswered_one_up(api, model, bot_here):
    """The model is given both in order, both are in the log as one turn, and what it notes of the first is listed."""
    bot = await bot_here()
    await unanswered(api, model)
    noted = ToolCall("note", {"text": "The landlord looks at the boiler", "kind": "task", "owner": "user"})
    model.reply = lambda messages: "Noted; ten grams." if messages[-1]["role"] == "tool" else [noted]

    before = len(asked(model))
    await reply(api, SALT)
    await bot.settled()

    assert asked(model)[before].said == BOTH
    assert stored_turns(bot) == [(BOTH, "Noted; ten grams.")]
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []
    assert next((line.text, line.buttons) for line in bot_lines(api)) == (BELOW, ())
    assert "landlord" in (await reply(api, "/loops")).text


async def test_all_that_went_unanswered_is_taken_up_at_once(api, model, bot_here):
    """Two messages fail one after the other: the third is answered with both, and no notice offers to try again."""
    bot = await bot_here()
    await unanswered(api, model, "first")
    await unanswered(api, model, "second")

    await reply(api, SALT)
    await bot.settled()

    assert [text for text, _ in stored_turns(bot)] == [f"first\nsecond\n{SALT}"]
    assert bot_texts(api) == [BELOW, BELOW, ANSWER]


async def test_a_tap_while_the_message_is_taken_up_does_nothing_twice(api, model, bot_here):
    """The next message was first: the tap is told so, and there is one answer."""
    bot = await bot_here()
    notice = await unanswered(api, model)
    model.gate = Gate()
    before = len(asked(model))
    api.people.says(PERSON, SALT)
    await model.until(lambda: len(asked(model)) > before)

    await tap(api, "Try again", on=notice)
    said = tapped(api)
    model.gate.open()
    await shows(api, ANSWER)
    await bot.settled()

    assert said == replies.say("tap_used")
    assert len(asked(model)) == before + 1
    assert [text for text, _ in stored_turns(bot)] == [BOTH]


async def test_a_tap_that_is_first_keeps_its_own_turn(api, model, bot_here, monkeypatch):
    """Somebody taps [Try again] just as the next message looks for it: two turns, and nothing twice."""
    bot = await bot_here()
    await unanswered(api, model)
    inbox = bot.app.services.inbox
    look = inbox.parked_here

    async def look_then_tap(me, conversation_id):
        found = await look(me, conversation_id)
        for each in found:
            await bot.app.reopen(each.envelope.turn_id)
        return found

    monkeypatch.setattr(inbox, "parked_here", look_then_tap)
    api.people.says(PERSON, SALT)
    await shows(api, ANSWER)
    await shows(api, f"You said: {LANDLORD}")
    await bot.settled()

    assert sorted(text for text, _ in stored_turns(bot)) == sorted([LANDLORD, SALT])
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


async def test_messages_that_wait_for_the_preview_leave_the_old_notice_alone(api, model, bot_here):
    """Taken up after hours in mode ask: typing on changes the preview's words, not those of the failure."""
    bot = await bot_here(CONTINUITY_RETURN_MODE="ask")
    await reply(api, PROMISE)
    await noted(bot, "promise", NOTE)
    notice = await unanswered(api, model)
    await bot.passes(hours=7)
    api.people.says(PERSON, SALT)
    offer = await shows(api, OFFER)

    await reply(api, "And?")
    passed = await shows(api, replies.say("offer_passed"))

    assert passed.message_id == offer.message_id != notice.message_id


async def test_a_reminder_that_was_set_without_the_model_is_shown_as_set(api, model, bot_here):
    """It is the reminder of the same turn; one that the second message asks for in vain is set as well, each once."""
    bot = await bot_here()
    await unanswered(api, model, "remind me tomorrow at 9 to call Ana")
    second = await unanswered(api, model, "remind me tomorrow at 10 to call Bob")
    assert "Bob" in second.text

    await reply(api, SALT)

    assert rows(bot, "SELECT rings_from FROM notes") == [("2027-03-02T09:00",), ("2027-03-02T10:00",)]
    assert asked(model)[-1].text.count("Set already for this message, while you could not be reached: ") == 2


async def test_it_is_taken_up_as_it_reads_now(api, model, bot_here):
    """An edit of the unanswered message waited with it: the model reads the new words alone."""
    bot = await bot_here()
    model.plant(ModelFault.SERVER_ERROR, times=None)
    said = api.people.says(PERSON, "The landlord comes on Monday")
    await api.until(lambda: bot_lines(api))
    api.people.edits(PERSON, said.message_id, LANDLORD)
    await api.until(lambda: len(rows(bot, "SELECT 1 FROM inbox WHERE state = 'parked'")) == 2)
    model.heal()

    await reply(api, SALT)
    await bot.settled()

    assert [text for text, _ in stored_turns(bot)] == [BOTH]
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


async def test_the_model_is_told_when_it_was_written(api, model, bot_here, clock):
    """Hours later "in an hour" is over: each earlier message stands there with its own time."""
    await bot_here()
    await unanswered(api, model)
    clock.advance(hours=3)

    await reply(api, SALT)

    assert f"“{LANDLORD}” was written on Mon 1 Mar " in asked(model)[-1].text


@pytest.mark.parametrize("between", ["/fresh", "/fresh private", "a day", "a private talk that is over"])
async def test_what_is_over_is_not_taken_up(api, model, bot_here, clock, between):
    """A clean start, a day, or the end of a private talk lies between: the message waits for its button."""
    bot = await bot_here()
    if between == "a private talk that is over":
        await reply(api, "/fresh private")
        await reply(api, "hello")
    notice = await unanswered(api, model)
    if between.startswith("/"):
        await reply(api, between)
    else:
        clock.advance(hours=25 if between == "a day" else 20)

    await reply(api, SALT)

    assert asked(model)[-1].said == SALT
    assert LANDLORD not in asked(model)[-1].text
    assert ("Try again",) in next(line for line in bot_lines(api) if line.message_id == notice.message_id).buttons
    assert rows(bot, "SELECT COUNT(*) FROM inbox WHERE state = 'parked'") == [(1,)]


async def test_what_somebody_else_wrote_waits_for_them(api, model, bot_here):
    """In a group the next message of another person leaves it alone; that of the same person takes it up."""
    await bot_here()
    group = api.people.opens_group("House", owner=PERSON)
    await unanswered(api, model, f"@continuity_bot {LANDLORD}", group)

    model.plant(ModelFault.SERVER_ERROR, times=None)
    await reply(api, "@continuity_bot What of the lamp?", group, FRIEND)
    model.heal()
    api.people.says(PERSON, f"@continuity_bot {SALT}", chat_id=group)
    await shows(api, ANSWER, group)
    both = asked(model)[-1].said
    api.people.says(FRIEND, "@continuity_bot Anybody?", chat_id=group)
    await shows(api, "You said: Anybody?", group)

    assert LANDLORD in both
    assert "lamp" not in both
    assert "lamp" in asked(model)[-1].said


async def test_what_was_forgotten_is_not_taken_up(api, model, bot_here):
    """/forget everything takes the message that waits, too."""
    bot = await bot_here()
    await reply(api, "hello")
    await unanswered(api, model)
    offer = await reply(api, "/forget everything")
    await tap(api, offer.buttons[0][0], on=offer)
    await bot.settled()

    api.people.says(PERSON, SALT)
    await shows(api, ANSWER)

    assert LANDLORD not in asked(model)[-1].text


async def test_a_kill_while_the_model_works_loses_neither_message(api, model, bot_process):
    """The first is answered by the next start; one written meanwhile comes behind it, or with it."""
    bot = await bot_process()
    model.plant(ModelFault.HANG, times=1)
    api.people.says(PERSON, LANDLORD)
    await model.until(lambda: model.requests)
    await bot.kill()
    api.people.says(PERSON, SALT)
    await bot.start()
    await shows(api, ANSWER)

    assert "\n".join(text for text, _ in stored_turns(bot)) == BOTH
    assert LANDLORD in asked(model)[-1].text
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


@pytest.mark.parametrize(
    "point",
    swept(
        [
            "unanswered_taken_up",
            "turn_claimed",
            "turn_packet_built",
            "turn_answered",
            "before_commit",
            "turn_committed",
        ],
        "unanswered_taken_up",
        "turn_answered",
    ),
)
@pytest.mark.sweep
async def test_a_death_while_both_are_answered_loses_neither(api, model, bot_process, point):
    """The next start answers each once, in order, and the notice loses its button."""
    bot = await bot_process()
    await unanswered(api, model)
    await bot.kill()
    await bot.launch(CONTINUITY_FAULT=point)
    api.people.says(PERSON, SALT)
    assert await bot.wait() == -9
    await bot.start()
    await shows(api, ANSWER)
    await shows(api, BELOW)

    assert "\n".join(text for text, _ in stored_turns(bot)) == BOTH
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


async def test_old_half_done_turns_are_taken_up_too(api, model, bot_process):
    """Asked whether they want an answer to two old messages, somebody just writes on: one turn answers all three."""
    bot = await bot_process()
    model.plant(ModelFault.HANG, times=None)
    api.people.says(PERSON, "first")
    await model.until(lambda: model.requests)
    api.people.says(PERSON, "second")
    await api.until(lambda: len(rows(bot, "SELECT 1 FROM inbox")) == 2)
    await bot.kill()
    model.heal()
    await bot.start(CONTINUITY_RESUME_WINDOW_MINUTES="0")
    await api.until(lambda: len([line for line in bot_lines(api) if line.buttons]) == 2)

    api.people.says(PERSON, SALT)
    await shows(api, ANSWER)
    await api.until(lambda: not any(line.buttons for line in bot_lines(api)))

    assert [text for text, _ in stored_turns(bot)] == [f"first\nsecond\n{SALT}"]
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


async def test_a_file_comes_along_with_its_message(api, model, bot_here):
    """The model is given the document with the question behind it; it is still the file of that one turn."""
    bot = await bot_here()
    model.plant(ModelFault.SERVER_ERROR, times=None)
    api.people.sends_file(PERSON, b"Notice is ninety days.", name="lease.txt", caption="What about notice?")
    await api.until(lambda: bot_lines(api))
    model.heal()

    await reply(api, SALT)
    await bot.settled()

    assert "Notice is ninety days." in asked(model)[-1].text
    [(turn_id,)] = rows(bot, "SELECT turn_id FROM conversation_turns")
    assert rows(bot, "SELECT turn_id FROM files") == [(turn_id,)]


async def test_in_a_group_the_answer_stands_below_the_second_message(api, model, bot_here):
    """The half answer became the notice: the new answer is a new message, and the notice names it."""
    await bot_here()
    group = api.people.opens_group("House", owner=PERSON)
    model.plant(ModelFault.BREAK, times=None)
    model.gate = Gate()
    api.people.says(PERSON, f"@continuity_bot {LANDLORD}", chat_id=group)
    await model.until(lambda: model.requests)
    model.gate.let(3)
    await api.until(lambda: bot_lines(api, group))
    model.gate.open()
    notice = await shows(api, "I couldn't get an answer", group)
    model.heal()

    api.people.says(PERSON, f"@continuity_bot {SALT}", chat_id=group)
    answer = await shows(api, ANSWER, group)
    below = await shows(api, BELOW, group)

    assert below.message_id == notice.message_id < answer.message_id


async def test_over_http_both_requests_have_the_one_answer(served, model):
    """The second request is answered with the first; the first, sent again with its key, gets that answer."""
    _, client = await served()
    first, second = ({"message": text, "session_id": "shop"} for text in (LANDLORD, SALT))
    model.plant(ModelFault.SERVER_ERROR, times=None)
    down = await client.post("/chat", json=first, headers={"Idempotency-Key": "k1"})
    model.heal()

    both = (await client.post("/chat", json=second, headers={"Idempotency-Key": "k2"})).json()
    again = (await client.post("/chat", json=first, headers={"Idempotency-Key": "k1"})).json()

    assert down.status_code == 503
    assert asked(model)[-1].said == BOTH
    assert again == both
