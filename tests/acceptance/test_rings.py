"""Notes that ring as people see them: at the hour that was meant last, told when they rang, in a group to all."""

from __future__ import annotations

import pytest
from loopback.model import ToolCall
from story import asked, bot_texts, reply, rows, shows, tap

pytestmark = pytest.mark.acceptance
ANA, RUI = 11, 12
NEVER = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"


def calls(*made: ToolCall, says: str = "Done."):
    """Return what a model replies that makes these calls, one after the other, at a message that says please."""

    def reply_to(messages):
        since = [each for each in messages if each["role"] == "user"][-1]
        if "please" not in str(since["content"]) or "New turns:" in str(messages):
            return says
        done = len(messages) - 1 - max(n for n, each in enumerate(messages) if each["role"] == "user")
        return [made[done // 2]] if done // 2 < len(made) else says

    return reply_to


def remind(**wish) -> ToolCall:
    return ToolCall("remind", wish, f"call_{len(str(wish))}")


# --- when it rang -----------------------------------------------------------------------------------------------------


async def test_a_list_tells_when_the_person_was_reminded_and_not_when_they_should_have_been(api, model, bot_here):
    """The bot was down over the hour: what it sent at noon it sent at noon, to the person and to the model."""
    bot = await bot_here(CONTINUITY_TIMEZONE="UTC")
    await reply(api, "/remind tomorrow at 9 call Ana")
    await reply(api, "/remind every day at 8 water the plants")
    await bot.passes(hours=26)
    await shows(api, "⏰ call Ana\n(should have come at 09:00)")

    listed = (await reply(api, "/reminders")).text
    assert "1. call Ana (today at 12:00)" in listed
    assert "water the plants (⏰ every day at 08:00, reminded at 12:00)" in listed
    await reply(api, "what is open?")
    assert "rang Tue 2 Mar 12:00, not called done" in asked(model)[-1].text
    await bot.passes(hours=20)
    assert "water the plants (⏰ every day at 08:00, reminded today)" in (await reply(api, "/reminders")).text


# --- one thing, two nudges --------------------------------------------------------------------------------------------

OPERATION = {"text": "The operation", "due": "2027-03-02T08:00", "at": "2027-03-01T13:00, 2027-03-02T07:00"}


async def test_one_note_rings_a_day_before_and_an_hour_before(api, model, bot_here):
    """It is one line; [Done] under the first ring leaves the second, and another call makes no second note."""
    bot = await bot_here(CONTINUITY_TIMEZONE="UTC")
    model.reply = calls(remind(**OPERATION), remind(**OPERATION | {"at": "2027-03-02T07:00"}))
    await reply(api, "please remind me a day and an hour before the operation")
    results = [text for role, text in asked(model)[-1].messages if role == "tool"]
    assert "rings Mon 2027-03-01 13:00 and Tue 2027-03-02 07:00" in results[0]
    assert "to ring twice give both" in results[1]
    listed = (await reply(api, "/reminders")).text
    assert "Today\n1. The operation (tomorrow at 08:00, ⏰ today at 13:00 and tomorrow at 07:00)" in listed

    await bot.passes(hours=3)
    await tap(api, "Done", "Okay: The operation", on=await shows(api, "⏰ The operation (tomorrow at 08:00)"))
    assert "The operation (at 08:00, ⏰ 07:00)" in (await reply(api, "/reminders")).text
    await bot.passes(hours=18)
    await shows(api, "⏰ The operation (today at 08:00)")
    assert rows(bot, "SELECT COUNT(*), MAX(status) FROM notes") == [(1, "open")]


async def test_both_rings_move_along_with_their_day_and_what_was_missed_rings_once(api, model, bot_here):
    """The day before stays the day before, an hour before an hour before."""
    bot = await bot_here(CONTINUITY_TIMEZONE="UTC")
    move = ToolCall("change", {"numbers": [1], "due": "2027-03-04T10:00"}, "call_m")
    model.reply = calls(remind(**OPERATION), move)
    await reply(api, "please remind me, and move it")
    results = [text for role, text in asked(model)[-1].messages if role == "tool"]
    assert "rings Wed 2027-03-03 13:00 and Thu 2027-03-04 09:00" in results[1]

    await bot.passes(hours=71.5)
    await bot.passes(hours=0.1)
    assert sum(text.startswith("⏰ The operation") for text in bot_texts(api)) == 1
    assert rows(bot, "SELECT rings_at_ms FROM notes") == [(None,)]


# --- rules without a date ---------------------------------------------------------------------------------------------


async def test_a_rule_without_any_date_is_refused_in_words_that_the_model_can_act_on(api, model, bot_here):
    """Nothing is set by it, and the next call puts it right."""
    bot = await bot_here(CONTINUITY_TIMEZONE="UTC")
    right = "FREQ=MONTHLY;BYMONTHDAY=-1"
    model.reply = calls(
        remind(text="Pay the rent", at="2027-03-31T09:00", repeats=NEVER),
        ToolCall("note", {"text": "Leap day party", "kind": "event", "repeats": NEVER}, "call_n"),
        remind(text="Pay the rent", at="2027-03-31T09:00", repeats=right),
    )
    await reply(api, "please remind me of the rent")

    results = [text for role, text in asked(model)[-1].messages if role == "tool"]
    assert all(f"'{NEVER}' has no date in the four years from 2027-03-" in text for text in results[:2])
    assert rows(bot, "SELECT text, repeats FROM notes") == [("Pay the rent", right)]


# --- in a group -------------------------------------------------------------------------------------------------------


async def test_in_a_group_a_reminder_has_one_clock_and_is_told_to_all(api, model, bot_here):
    """Whoever asks reads the hour at which it was set, with its zone where theirs is another; nobody is "du"."""
    bot = await bot_here(CONTINUITY_ALLOWED_USERS=f"{ANA},{RUI}", CONTINUITY_TIMEZONE="UTC")
    group = api.people.opens_group("House", owner=ANA)
    for person, zone in ((ANA, "Berlin"), (RUI, "New York")):
        await reply(api, f"/timezone {zone}", chat_id=person, user=person)

    async def says(text: str, person: int) -> str:
        return (await reply(api, text, chat_id=group, user=person)).text

    set_by_ana = await says("/remind@continuity_bot tomorrow at 00:30 bring the grill", ANA)
    assert set_by_ana == "I'll bring it up here tomorrow at 00:30: bring the grill"
    assert "Tomorrow\n1. bring the grill (⏰ 00:30)" in await says("/reminders@continuity_bot", ANA)
    for command, day in (("/reminders@continuity_bot", "Tomorrow"), ("/loops@continuity_bot", "Tomorrow")):
        listed = await says(command, RUI)
        assert f"{day}\n1. bring the grill (⏰ 00:30, Berlin time)" in listed
    await bot.passes(hours=14)
    assert "Reminders:" in (listed := await says("/reminders@continuity_bot", RUI))
    assert "bring the grill (today at 01:00, Berlin time)" in listed
