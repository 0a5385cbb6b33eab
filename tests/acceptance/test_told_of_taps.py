"""What a person does by a button or a command reaches the model before their next message, and does not get lost."""

from __future__ import annotations

import pytest
from loopback.model import Gate, ToolCall
from story import PERSON, asked, bot_lines, reply, shows, tap

pytestmark = pytest.mark.acceptance

SLIDES = ToolCall("note", {"text": "Send Ben the slides", "kind": "task"}, "c1")
BEN = ToolCall("note", {"text": "Ben lives in Kiel", "kind": "fact"}, "c2")
FRIDAY = ToolCall("change", {"numbers": [1], "due": "2027-03-05"}, "c3")
RING = ToolCall("remind", {"text": "Call Ana", "at": "2027-03-01T12:00"}, "c4")
DAILY = ToolCall("remind", {"text": "Take the pill", "at": "2027-03-01T12:00", "repeats": "FREQ=DAILY"}, "c5")

WORK = ToolCall(
    "schedule",
    {"title": "Bread history", "text": "Tell me of bread", "at": "2027-03-02T09:00", "repeats": "FREQ=DAILY"},
    "c6",
)


def calling(*calls):
    """Make a model that makes these calls for the next message, and afterwards only talks."""
    left = list(calls)

    def reply_to(messages):
        if messages[-1]["role"] == "user" and left:
            made, left[:] = list(left), []
            return made
        return "Fine."

    return reply_to


async def told(api, model, text="and now?"):
    """Return what stands before the person's next message."""
    await reply(api, text)
    return asked(model)[-1].messages[-1][1]


async def after(api, model, bot, *calls):
    """Say something for which the model makes these calls; return the answer."""
    model.reply = calling(*calls)
    said = await reply(api, "do it")
    await bot.settled()
    return said


async def on_a_ring(api, model, bot, call, label):
    await after(api, model, bot, call)
    await bot.passes(hours=3)
    rang = [line for line in bot_lines(api) if line.text.startswith("⏰")][-1]
    await tap(api, label, on=rang)
    await bot.settled()
    return await told(api, model)


@pytest.mark.parametrize(
    "case",
    [
        (RING, "Done", "#1 Call Ana: rang late at 13:00 for 12:00, ticked off at 13:00"),
        (RING, "In an hour", "#1 Call Ana: rang late at 13:00 for 12:00, put off at 13:00 until"),
        (DAILY, "Done", "#1 Take the pill: rang late at 13:00 for 12:00, ticked off at 13:00"),
    ],
)
async def test_a_tap_on_what_rang(api, model, bot_here, case):
    call, label, words = case

    assert words in await on_a_ring(api, model, await bot_here(), call, label)


async def listed(api, bot, command, *labels):
    """Tap these buttons, one after the other, on a list."""
    await reply(api, command)
    for label in labels:
        await tap(api, label)
    await bot.settled()


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("Done", "#1 Send Ben the slides: ticked off at 10:00"),
        ("Drop", "#1 Send Ben the slides: dropped at 10:00"),
        ("Tomorrow", "#1 Send Ben the slides: put off at 10:00 until Tue 2 Mar 09:00"),
    ],
)
async def test_a_tap_on_a_list(api, model, bot_here, label, words):
    bot = await bot_here()
    await after(api, model, bot, SLIDES)
    await listed(api, bot, "/loops", label)

    assert words in await told(api, model)


@pytest.mark.parametrize(
    "case",
    [
        (RING, "/cancel call ana", "#1 Call Ana: dropped at 10:00"),
        (RING, "/move call ana tomorrow at 9", "#1 task: Call Ana (rings Tue 2 Mar 09:00)"),
        (DAILY, "/move take the pill today at 15:00", "moved from Mon 1 Mar 12:00"),
        (RING, "/repeat call ana every day at 9", "#1 task: Call Ana (rings Tue 2 Mar 09:00, every day"),
        (RING, "/remind tomorrow at 9 write to Ben", "#2 task: write to Ben (rings Tue 2 Mar 09:00)"),
    ],
)
async def test_a_command_about_a_reminder(api, model, bot_here, case):
    call, command, words = case
    bot = await bot_here()
    await after(api, model, bot, call)
    await reply(api, command)
    await bot.settled()

    assert words in await told(api, model)


async def test_what_was_taken_back_is_told_as_long_as_the_messages_tell_it(api, model, bot_here):
    """“Noted: #1” stands there for fifty messages; that it was taken back was said once, and no more after a pause."""
    bot = await bot_here()
    said = await after(api, model, bot, SLIDES, BEN)
    await tap(api, "Undo", on=said)
    await bot.settled()
    assert "#1: taken back at 10:00; now #1 task: Send Ben the slides" in await told(api, model)

    await bot.passes(hours=2)
    await told(api, model)
    assert {"#1 (dropped)", "#2 (dropped)"} <= set((await told(api, model)).splitlines())


async def test_a_day_that_was_put_back_is_told_as_long_as_the_messages_tell_the_other(api, model, bot_here):
    """The block reads as before, so nothing seemed to be new: but the messages say Friday."""
    bot = await bot_here()
    await after(api, model, bot, SLIDES)
    await bot.passes(hours=2)
    said = await after(api, model, bot, FRIDAY)
    await tap(api, "Undo", on=said)
    await bot.settled()
    await bot.passes(hours=2)
    await told(api, model)

    assert "#1 task: Send Ben the slides" in (await told(api, model)).splitlines()


async def test_what_was_put_back_at_the_end_of_a_conversation_is_told_in_the_next(api, model, bot_here):
    """The note stands there as it was before, and nobody was told that the answer that moved it holds no more."""
    bot = await bot_here()
    await after(api, model, bot, SLIDES)
    said = await after(api, model, bot, FRIDAY)
    await tap(api, "Undo", on=said)
    await bot.passes(hours=30)

    prompt = await told(api, model)
    assert "\n#1 task: Send Ben the slides\n" in prompt
    assert "\n#1 Send Ben the slides: taken back on Mon 1 Mar 10:00\n" in prompt


@pytest.mark.parametrize(
    "case",
    [
        ("Done", "(rings Tue 2 Mar 12:00, every day)\n", ": ticked off on Mon 1 Mar 13:01 for 12:00\n"),
        ("Tomorrow", "(rings Tue 2 Mar 12:00; rang Mon 1 Mar 12:00, put off)\n", ""),
    ],
)
async def test_a_tap_on_what_rang_at_the_end_of_a_conversation(api, model, bot_here, case):
    """The ring itself was told with a message before it; of a date that was put off the block's line tells all."""
    label, line, words = case
    bot = await bot_here()
    await after(api, model, bot, DAILY if label == "Done" else RING)
    await bot.passes(hours=3)
    rang = [line for line in bot_lines(api) if line.text.startswith("⏰")][-1]
    await bot.passes(s=60)
    await told(api, model)
    await tap(api, label, on=rang)
    await bot.passes(hours=20)

    prompt = await told(api, model)
    assert line in prompt
    assert words in prompt
    assert ("Since your last answer" in prompt) == bool(words)
    await bot.settled()
    assert "Since your last answer" not in await told(api, model)


@pytest.mark.parametrize(
    ("label", "line"), [("", "rang Mon 1 Mar 12:00, not called done"), ("In an hour", "rang Mon 1 Mar 12:00, put off")]
)
async def test_what_a_command_set_stands_in_no_message_and_is_told_while_it_is_open(api, model, bot_here, label, line):
    """Its ring and what was tapped on it were told once; with the next message they were gone."""
    bot = await bot_here()
    await told(api, model, "hello")
    await reply(api, "/remind at 12 write to Ben")
    await bot.passes(hours=2)
    if label:
        await tap(api, label, on=[each for each in bot_lines(api) if each.text.startswith("⏰")][-1])
    await bot.settled()

    for _ in range(3):
        await bot.passes(s=60)
        assert line in await told(api, model)
        await bot.settled()


async def test_the_ring_of_an_event_that_was_seen_and_a_date_that_was_left_out(api, model, bot_here):
    """[Done] on the ring of a dentist to come ends the ring, not the dentist."""
    bot = await bot_here()
    dentist = {"text": "Dentist", "at": "2027-03-01T12:00", "due": "2027-03-01T15:00"}
    await after(api, model, bot, ToolCall("remind", dentist, "c8"), DAILY)
    await tap(api, "2", on=await reply(api, "/reminders"))
    await bot.settled()
    await tap(api, "Not this time")
    await bot.settled()
    await bot.passes(hours=2)
    rang = [line for line in bot_lines(api) if line.text.startswith("⏰ Dentist")][-1]
    await tap(api, "Done", on=rang)
    await bot.settled()

    prompt = await told(api, model)
    assert "#1 Dentist: rang at 12:00, silenced at 12:00\n" in prompt
    assert "#2 Take the pill: left out at 10:00 for 12:00\n" in prompt


async def test_what_a_block_tells_of_a_tap_is_no_news_beside_it(api, model, bot_here):
    """Its line says until when the matter was put off."""
    bot = await bot_here()
    await after(api, model, bot, ToolCall("note", {"text": "Call Ana", "kind": "task"}, "c7"))
    await bot.passes(hours=20)
    await listed(api, bot, "/loops", "Tomorrow")
    await bot.passes(hours=12)

    prompt = await told(api, model)
    assert prompt.count("put off") == 1


async def test_what_was_forgotten_by_a_list_is_in_no_message_and_no_note(api, model, bot_here):
    bot = await bot_here()
    await after(api, model, bot, BEN)
    await listed(api, bot, "/memory", "Forget 1")
    await tap(api, "Yes, forget it", "I've checked|Only the messages")
    await told(api, model)

    assert "Kiel" not in asked(model)[-1].text
    assert "Noted: #1" not in asked(model)[-1].text or "Forgotten, as the person asked" in asked(model)[-1].text


async def test_a_task_that_was_paused_and_goes_on(api, model, bot_here):
    bot = await bot_here()
    await after(api, model, bot, WORK)
    page = await tap(api, "1", "Tell me of bread", on=await reply(api, "/tasks"))
    await tap(api, "Pause", "paused", on=page)
    await bot.settled()
    assert ": paused at 10:00" in await told(api, model)

    await tap(api, "Go on", on=page)
    await bot.settled()
    assert "#1 task: Bread history" in (said := await told(api, model))
    assert "paused until they say so" not in said


async def test_an_answer_to_the_question_how_it_went(api, model, bot_here):
    bot = await bot_here()
    await reply(api, "/settings")
    await tap(api, "Ask me how it went", "When a new conversation begins")
    await after(api, model, bot, ToolCall("note", {"text": "Call Ana", "kind": "task", "due": "2027-03-02"}, "c7"))
    for hours in (24, 16, 8):
        await bot.passes(hours=hours)
    asked_about = next(line for line in bot_lines(api) if line.buttons and "Not yet" in line.buttons[0])
    await tap(api, "Yes", on=asked_about)
    await bot.settled()

    assert "#1 Call Ana: ticked off at" in await told(api, model)


async def test_a_tap_while_an_answer_is_written(api, model, bot_here):
    """The answer under way knows nothing of it; the next one does."""
    bot = await bot_here()
    await after(api, model, bot, RING)
    await bot.passes(hours=3)
    rang = [line for line in bot_lines(api) if line.text.startswith("⏰")][-1]
    model.gate, seen = Gate(), len(model.requests)
    api.people.says(PERSON, "tell me a story")
    await model.until(lambda: len(model.requests) > seen)
    api.people.presses(PERSON, "Done", message_id=rang.message_id)
    model.gate.open()
    await shows(api, "Fine.")
    model.gate = None
    await bot.settled()

    assert "#1 Call Ana: rang late at 13:00 for 12:00, ticked off at 13:00" in await told(api, model)
