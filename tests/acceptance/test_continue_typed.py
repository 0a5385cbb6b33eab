"""A message typed under the preview of /continue: it is taken for the tap, once, and the person sees for what."""

from __future__ import annotations

import pytest
from story import (
    FRIEND,
    NOTE,
    PERSON,
    PROMISE,
    answered,
    answers_to,
    asked,
    bot_lines,
    heard,
    noted,
    noting,
    reply,
    rows,
    shows,
    tap,
)

pytestmark = pytest.mark.acceptance
PREVIEW = "Here's what we could go on with:"
CARRYING = "Carrying this forward:"
LINE = "Carrying on from: "
ASKS = "what about the harbour?"


async def previewed(api, bot, *, begins="/fresh", between=("good morning",)):
    """Note something, begin without it, say this, and send /continue; return its preview."""
    await reply(api, PROMISE)
    await noted(bot, "promise", NOTE)
    await reply(api, begins)
    for text in between:
        await reply(api, text)
    await reply(api, "/continue")
    return await shows(api, PREVIEW)


async def says(api, text=ASKS):
    """Say it and wait for its answer."""
    before = len(answers_to(api, PERSON, text))
    api.people.says(PERSON, text)
    await api.until(lambda: len(answers_to(api, PERSON, text)) > before)


def is_carried(model):
    """Return whether the last prompt has the note of before."""
    return NOTE in asked(model)[-1].text


@pytest.mark.parametrize(
    ("begins", "between"),
    [("/fresh", ("good morning",)), ("/fresh", ()), ("/fresh private", ("good morning",))],
    ids=["fresh", "fresh and silent", "private"],
)
async def test_a_message_typed_under_the_preview_carries_on(api, model, bot_here, begins, between):
    """As a tap: the preview says what is carried and has no button; under the answer one line with [Start fresh]."""
    bot = await bot_here()
    preview = await previewed(api, bot, begins=begins, between=between)
    await says(api)
    line = await shows(api, LINE)

    assert is_carried(model)
    assert (line.text, line.buttons) == (f"{LINE}{NOTE}", (("Start fresh",),))
    shown = await shows(api, CARRYING)
    assert (shown.message_id, shown.buttons) == (preview.message_id, ())
    await says(api, "and then?")
    assert is_carried(model)
    assert sum(LINE in each.text for each in bot_lines(api)) == 1
    assert rows(bot, "SELECT mode FROM continuity_choices") == [("use",)]
    assert rows(bot, "SELECT 1 FROM continuity_preferences") == []


async def test_what_was_said_since_goes_on_with_it(api, model, bot_here):
    """In the conversation that was begun fresh: nobody should have to say things again."""
    bot = await bot_here()
    await previewed(api, bot)
    await says(api)

    assert any(said.endswith("good morning") for _, said in asked(model)[-1].messages[:-1])
    assert rows(bot, "SELECT COUNT(*) FROM conversation_sessions") == [(2,)]


async def test_start_fresh_under_it_answers_once_more_without(api, model, bot_here):
    """The way back from what was only typed."""
    bot = await bot_here()
    await previewed(api, bot)
    await says(api)
    await tap(api, "Start fresh", on=await shows(api, LINE))
    await api.until(lambda: len(answers_to(api, PERSON, ASKS)) == 2)

    assert not is_carried(model)


async def test_commands_in_between_do_not_use_it_up(api, model, bot_here):
    """Who looks at a list first still answers the preview with the next message."""
    bot = await bot_here()
    await previewed(api, bot)
    await reply(api, "/loops")
    await reply(api, "/status")
    await says(api)

    assert is_carried(model)


async def test_a_line_left_out_before_stays_out(api, model, bot_here):
    """[Edit] shows the preview anew in its place; the message answers that one."""
    bot = await bot_here()
    await noted(bot, "decision", "Paint the boat green")
    await previewed(api, bot)
    await tap(api, "Edit")
    await api.until(lambda: bot_lines(api)[-1].buttons[0][0].startswith("✕"))
    drop = next(row[0] for row in bot_lines(api)[-1].buttons if "boat" in row[0])
    await tap(api, drop)
    await api.until(lambda: "boat" not in bot_lines(api)[-1].text and bot_lines(api)[-1].buttons)
    await says(api)

    shown = await shows(api, CARRYING)
    assert NOTE in shown.text
    assert "boat" not in shown.text
    assert shown.buttons == ()


@pytest.mark.parametrize("between", [(), ("good morning",)], ids=["silent", "talked in"])
async def test_not_after_fresh(api, model, bot_here, between):
    """Who begins fresh behind it has chosen without; a tap on the old preview still carries."""
    bot = await bot_here()
    preview = await previewed(api, bot, between=between)
    await reply(api, "/fresh")
    await says(api)
    assert not is_carried(model)

    await tap(api, "Carry this forward", CARRYING, on=preview)
    await says(api, "and now?")
    assert is_carried(model)


async def test_not_after_hours(api, model, bot_here):
    """The next day's message has nothing to do with it."""
    bot = await bot_here(CONTINUITY_RETURN_MODE="off")
    await previewed(api, bot)
    await bot.passes(hours=7)
    await says(api)

    assert not is_carried(model)


async def test_only_the_newest_preview_is_answered_and_only_once(api, model, bot_here):
    """A tap on the newer one has answered it: a message behind a later /fresh is like any other."""
    bot = await bot_here()
    await previewed(api, bot)
    newest = await reply(api, "/continue")
    await tap(api, "Carry this forward", CARRYING, on=newest)
    await says(api)
    assert is_carried(model)
    assert not any(LINE in each.text for each in bot_lines(api))

    await reply(api, "/fresh")
    await says(api, "something else")
    assert not is_carried(model)


async def test_a_talk_that_has_what_was_before_goes_on_as_it_is(api, model, bot_here):
    """Nothing is to be carried there: /continue was only looked at, and no session begins."""
    bot = await bot_here()
    await reply(api, PROMISE)
    await noted(bot, "promise", NOTE)
    await bot.passes(hours=7)
    await says(api, "good morning")
    sessions = rows(bot, "SELECT COUNT(*) FROM conversation_sessions")
    await reply(api, "/continue")
    await shows(api, PREVIEW)
    await says(api)

    assert rows(bot, "SELECT COUNT(*) FROM conversation_sessions") == sessions
    assert not any(CARRYING in each.text for each in bot_lines(api))


@pytest.mark.parametrize("mode", ["ask", "off", "use"])
async def test_after_a_pause_nobody_is_asked_again(api, model, bot_here, mode):
    """/continue first, then the message: it is answered at once, with what was before."""
    bot = await bot_here(CONTINUITY_RETURN_MODE=mode)
    await reply(api, PROMISE)
    await reply(api, "/fresh")
    await reply(api, "good evening")
    await noted(bot, "promise", NOTE)
    await bot.passes(hours=7)
    await reply(api, "/continue")
    await says(api)

    assert is_carried(model)
    assert (await shows(api, CARRYING)).buttons == ()
    assert (await shows(api, LINE)).buttons == (("Start fresh",),)


async def test_in_a_group_only_whoever_sent_it(api, model, bot_here):
    """Another member's message is answered as it was; the sender's then carries on."""
    bot = await bot_here()
    group = api.people.opens_group("Friends")
    await noted(bot, "promise", NOTE, chat_id=group, session_id="s_0")
    for text in (
        "@continuity_bot good morning",
        "/fresh@continuity_bot",
        "@continuity_bot hm",
        "/continue@continuity_bot",
    ):
        await reply(api, text, group)
    await shows(api, PREVIEW, group)
    api.people.says(FRIEND, "@continuity_bot hello all", chat_id=group)
    await answered(api, group, "hello all")
    assert not is_carried(model)

    api.people.says(PERSON, f"@continuity_bot {ASKS}", chat_id=group)
    await answered(api, group, ASKS)
    assert is_carried(model)


@pytest.mark.crash
@pytest.mark.sweep
@pytest.mark.parametrize(
    "point",
    ["turn_claimed", "session_joined", "preview_answered", "turn_packet_built", "turn_answered", "before_commit"],
)
async def test_it_is_one_turn_and_one_choice_across_a_kill(api, model, bot_process, point):
    """Killed between the message and its answer: once answered, once carried, one line under it."""
    model.reply = noting(PROMISE, "promise", NOTE)
    bot = await bot_process()
    for text in (PROMISE, "/fresh", "good morning", "/continue"):
        await reply(api, text)
    await bot.restart(CONTINUITY_FAULT=point)
    api.people.says(PERSON, ASKS)
    await bot.wait()
    await bot.start()
    await answered(api, PERSON, ASKS)
    await shows(api, LINE)
    await bot.restart()

    assert is_carried(model)
    assert answers_to(api, PERSON, ASKS) == [f"You said: {ASKS}"]
    assert sum(LINE in each.text for each in bot_lines(api)) == 1
    assert sum(CARRYING in each.text for each in bot_lines(api)) == 1
    assert heard(bot) == [PROMISE, "good morning", ASKS]
    assert rows(bot, "SELECT mode FROM continuity_choices") == [("use",)]
    assert rows(bot, "SELECT COUNT(*) FROM conversation_sessions") == [(2,)]
    assert rows(bot, "SELECT 1 FROM inbox WHERE state <> 'done'") == []
