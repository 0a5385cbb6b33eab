"""Reminders as a person meets them: set, kept over kills, delivered once, put off, done."""

from __future__ import annotations

import asyncio
import time

import pytest
from story import FRIEND, PERSON, answered, bot_lines, change, reply, rows, tap

pytestmark = pytest.mark.acceptance


def reminders(api) -> list[str]:
    return [line.text for line in bot_lines(api) if line.text.startswith("⏰")]


def reminder_rows(bot) -> list[tuple[str, str]]:
    return rows(bot, "SELECT title, status FROM jobs ORDER BY created_at_ms, job_id")


def make_due(bot, ago_s: float) -> None:
    """Set every reminder of a dead bot so far into the past."""
    due_at_ms = int((time.time() - ago_s) * 1000)
    change(bot, "UPDATE jobs SET due_at_ms = :due_at_ms WHERE status = 'scheduled'", due_at_ms=due_at_ms)


async def test_a_reminder_is_set_comes_in_time_and_is_done(api, model, bot_here):
    """/remind says when it will come; it comes by itself, [Done] ends it, and no model was asked."""
    bot = await bot_here()

    said = await reply(api, "/remind in 2 hours call Ana")
    assert "I'll remind you today at 12:00" in said.text
    assert said.text.splitlines()[0].endswith("call Ana")
    assert "/timezone" in said.text
    await bot.passes(hours=1, s=3590)
    assert reminders(api) == []
    await bot.passes(s=10)
    assert reminders(api) == ["⏰ call Ana"]
    await tap(api, "Done", "^Done: call Ana$")

    assert reminder_rows(bot) == [("call Ana", "done")]
    assert model.requests == []


async def test_plain_words_set_a_reminder_without_a_model(api, model, bot_here):
    """A message that is nothing but a reminder is a turn of its own with its job; the next packet shows the job."""
    bot = await bot_here()
    await reply(api, "/timezone berlin")

    said = await reply(api, "Can you remind me tomorrow at 9 to call Ana?")

    assert said.text == "I'll remind you tomorrow at 09:00 (Europe/Berlin): call Ana"
    assert said.buttons == (("Never mind",),)
    assert model.requests == []
    [(refs, action, job_id, zone)] = rows(
        bot,
        "SELECT t.job_refs, t.action_name, j.job_id, j.time_zone FROM conversation_turns t JOIN jobs j USING (turn_id)",
    )
    assert (refs, action, zone) == (f'["{job_id}"]', "remind", "Europe/Berlin")
    await reply(api, "what is planned?")
    assert "call Ana (scheduled" in model.requests[-1].text

    await tap(api, "Never mind", "Okay, I won't remind you", on=said)
    assert reminder_rows(bot) == [("call Ana", "cancelled")]
    assert 'active_job_refs":[]' in rows(bot, "SELECT state_json FROM conversation_sessions")[0][0]
    await reply(api, "and now?")
    assert "call Ana (scheduled" not in model.requests[-1].text


async def test_what_is_more_than_a_reminder_goes_to_the_model(api, model, bot_here):
    """A model, which has a tool for it, gets messages that say more, negate it or ask about the past."""
    bot = await bot_here()
    for text in (
        "I had a terrible day with my mother. Remind me tomorrow at 9 to call her",
        "don't remind me tomorrow at 9",
        "remind me what we said about Rome",
        "remind me to call Ana",
    ):
        api.people.says(PERSON, text)
        await answered(api, PERSON, text)
    assert reminder_rows(bot) == []


async def test_the_concierge_sets_reminders_and_asks_back(api, model, bot_here):
    """Without a model the time that is missing is asked for, and the answer sets the reminder."""
    bot = await bot_here(CONTINUITY_MODEL="offline")

    assert "When" in (await reply(api, "remind me to call Ana")).text
    assert reminder_rows(bot) == []
    assert "tomorrow at 09:00 (UTC): call Ana" in (await reply(api, "tomorrow at 9")).text
    assert "What" in (await reply(api, "remind me on Friday at 10")).text
    assert "Fri" in (await reply(api, "the report for Ben")).text
    assert "every day" in (await reply(api, "remind me every day at 9 to stretch")).text
    assert [title for title, _ in reminder_rows(bot)][:2] == ["call Ana", "the report for Ben"]
    open_now = (await reply(api, "What is still open?")).text
    assert "Reminders:\n" in open_now
    assert "• call Ana, tomorrow 09:00" in open_now


async def test_unclear_words_set_nothing_and_are_asked_about(api, bot_here):
    """/remind explains itself without words, asks back for a time or a matter, and stores nothing; zones likewise."""
    bot = await bot_here()

    assert "/remind tomorrow at 9 call Ana" in (await reply(api, "/remind")).text
    assert "give me a time" in (await reply(api, "/remind call Ana")).text
    assert "What should I" in (await reply(api, "/remind tomorrow at 9")).text
    assert "Nothing's planned" in (await reply(api, "/jobs")).text
    assert "UTC" in (await reply(api, "/timezone")).text
    assert "don't know the time zone" in (await reply(api, "/timezone Atlantis")).text
    assert reminder_rows(bot) == []
    assert rows(bot, "SELECT * FROM people") == []


async def test_the_list_is_shown_again_after_each_tap(api, bot_here):
    """/jobs lists what is to come; cancelling one and putting one off leaves the others with their buttons."""
    bot = await bot_here()
    await reply(api, "/remind tomorrow at 9 call Ana")
    await reply(api, "/remind tomorrow at 10 write to Ben")
    listed = await reply(api, "/jobs")
    assert listed.text == "Coming up:\n1. call Ana (tomorrow at 09:00)\n2. write to Ben (tomorrow at 10:00)"

    await tap(api, "1 Snooze 1 h", "I'll remind you again tomorrow at 10:00: call Ana")
    await tap(api, "2 Cancel", "^Okay, I won't remind you")
    await tap(api, "1 Done", "^Done")

    assert {status for _, status in reminder_rows(bot)} == {"done", "cancelled"}
    assert "Nothing's planned" in (await reply(api, "/jobs")).text


async def test_snoozing_brings_it_back_later(api, bot_here):
    """[Snooze 1 h] puts a delivered reminder off, however often it is tapped; then it comes once more."""
    bot = await bot_here()
    await reply(api, "/remind in 1 hour call Ana")
    await bot.passes(hours=1)
    for _ in range(2):
        api.people.presses(PERSON, "Snooze 1 h")
    await api.until(lambda: len(api.calls_of("answerCallbackQuery")) == 2)
    assert sum("already chosen" in call.params["text"] for call in api.calls_of("answerCallbackQuery")) == 1
    assert reminder_rows(bot) == [("call Ana", "scheduled")]

    await bot.passes(hours=1)
    await bot.passes(hours=1)

    assert reminders(api) == ["⏰ call Ana"]


@pytest.mark.parametrize("ago_s", [3 * 3600 + 60, 30])
async def test_what_became_due_while_the_process_was_down_comes_once(api, bot_process, ago_s):
    """It comes at the start, marked late when it is, and neither a minute later nor at the start after that again."""
    bot = await bot_process()
    await reply(api, "/remind tomorrow at 9 call Ana")
    await bot.kill()
    make_due(bot, ago_s)

    await bot.start()
    await api.until(lambda: reminders(api))
    await bot.restart()
    await reply(api, "/jobs")

    late = "\n(was due 3 hours ago)" if ago_s > 120 else ""
    assert reminders(api) == [f"⏰ call Ana{late}"]
    assert reminder_rows(bot) == [("call Ana", "delivered")]


async def test_many_that_became_due_come_as_one_list(api, bot_process):
    """After a long downtime five reminders come as one message with buttons for each."""
    bot = await bot_process()
    for number in range(5):
        await reply(api, f"/remind tomorrow at 9 thing {number}")
    await bot.kill()
    make_due(bot, 7200)
    await bot.start()
    await api.until(lambda: reminders(api))

    assert len(reminders(api)) == 1
    assert reminders(api)[0].count("was due 2 hours ago") == 5
    assert [len(row) for row in bot_lines(api)[-1].buttons] == [3, 3, 3, 3, 3]
    assert {status for _, status in reminder_rows(bot)} == {"delivered"}


@pytest.mark.crash
@pytest.mark.parametrize(
    "point", ["job_due", "job_delivered", "outbox_marked_sending", "outbox_sent_unrecorded", "outbox_recorded"]
)
async def test_a_kill_around_the_delivery_does_not_double_it(api, bot_process, point):
    """Wherever the process dies while a reminder is delivered, twice in a row, it is on the screen once."""
    bot = await bot_process()
    await reply(api, "/remind tomorrow at 9 call Ana")
    await bot.kill()
    make_due(bot, 1)

    await bot.launch(CONTINUITY_FAULT=point)
    assert await bot.wait() == -9
    if point == "job_due":
        await bot.launch(CONTINUITY_FAULT="job_delivered")
        assert await bot.wait() == -9
    await bot.start()
    await api.until(lambda: reminders(api))
    await bot.restart()
    await reply(api, "/jobs")

    assert reminders(api) == ["⏰ call Ana"]
    assert reminder_rows(bot) == [("call Ana", "delivered")]


@pytest.mark.crash
@pytest.mark.parametrize("point", ["turn_answered", "before_commit", "after_commit", "turn_committed"])
async def test_a_kill_while_it_is_set_makes_one_reminder(api, bot_process, point):
    """A turn that sets a reminder and dies is finished once: one confirmation, one job."""
    bot = await bot_process(start=False)
    api.people.says(PERSON, "remind me tomorrow at 9 to call Ana")
    await bot.launch(CONTINUITY_FAULT=point)
    assert await bot.wait() == -9

    await bot.start()
    await api.until(lambda: bot_lines(api))
    await reply(api, "/jobs")

    assert sum("I'll remind you" in line.text for line in bot_lines(api)) == 1
    assert reminder_rows(bot) == [("call Ana", "scheduled")]


async def test_in_a_group_reminders_are_ones_own(api, bot_here):
    """/jobs in a group shows only one's own reminders, and nobody else can tap their buttons."""
    bot = await bot_here()
    group = api.people.opens_group("Friends")
    api.people.says(PERSON, "/remind@continuity_bot tomorrow at 9 call Ana", chat_id=group)
    await api.until(lambda: bot_lines(api, group))
    api.people.says(FRIEND, "/jobs@continuity_bot", chat_id=group)
    await api.until(lambda: len(bot_lines(api, group)) == 2)
    assert "Nothing's planned" in bot_lines(api, group)[-1].text

    await tap(api, "Never mind", chat_id=group, user=FRIEND)
    assert reminder_rows(bot) == [("call Ana", "scheduled")]


async def test_a_stop_in_good_order_is_not_held_up(api, bot_process):
    """With a reminder far ahead the process ends at once, cleanly."""
    bot = await bot_process()
    await reply(api, "/remind tomorrow at 9 call Ana")
    async with asyncio.timeout(10):
        assert await bot.terminate() == 0


async def test_a_reminder_is_moved_and_cancelled_in_words(api, bot_here):
    """Without a model: "move it to 6pm" and "cancel the dentist" act on the reminder, and a second one stays."""
    bot = await bot_here(CONTINUITY_MODEL="offline")
    await reply(api, "remind me tomorrow at 9 to call the dentist")
    assert "tomorrow at 18:00" in (await reply(api, "move it to 6pm")).text
    await reply(api, "remind me every Monday at 9 to water the plants")
    assert "won't remind you: call the dentist" in (await reply(api, "cancel the dentist")).text

    assert rows(bot, "SELECT title, status, repeats FROM jobs ORDER BY title") == [
        ("call the dentist", "cancelled", ""),
        ("water the plants", "scheduled", "week@09:00"),
    ]
    assert "every week" in (await reply(api, "/jobs")).text


async def test_done_on_the_list_leaves_the_next_of_a_series(api, bot_here):
    """Whether it has rung or not: [Done] is said of one time, and [Cancel] of all that come."""
    bot = await bot_here(CONTINUITY_MODEL="offline", CONTINUITY_SESSION_GAP_MINUTES="100000")
    await reply(api, "remind me every day at 9 to stretch")
    await bot.passes(hours=24)
    await api.until(lambda: len(reminders(api)) == 1)

    assert (await reply(api, "/jobs")).text.count("stretch") == 1
    await tap(api, "1 Done", "^Done")
    assert sorted(status for _, status in reminder_rows(bot)) == ["done", "scheduled"]
    await tap(api, "1 Done", "^Done")
    assert sorted(status for _, status in reminder_rows(bot)) == ["done", "done", "scheduled"]
    assert "stretch" in (await reply(api, "/jobs")).text


@pytest.mark.parametrize(
    "story",
    [
        (
            "the dentist is on 3 december at 10:00 > remind me an hour before > move the dentist to 5 december > "
            "3 Dec > 5 Dec at 09:00 > undo"
        ),
        (
            "the dentist is on 3 december at 10:00 > remind me an hour before > move the dentist to 5pm > 10:00 > "
            "3 Dec at 16:00 > undo"
        ),
        (
            "meeting on 3 december at 3 > remind me about the meeting on 3 december at 2pm > "
            "the meeting moved from 3 to 4 > 15:00 > 3 Dec at 15:00 > undo"
        ),
        (
            "der Zahnarzt ist am 3.12. um 10 Uhr > erinner mich ne stunde vorher > "
            "verschieb den Zahnarzt auf den 5.12. > 3. Dez > 5. Dez., um 09:00 > rückgängig"
        ),
        (
            "le dentiste c'est le 3 décembre à 10h > rappelle-moi une heure avant > décale le dentiste au 5 décembre > "
            "3 déc > 5 déc. à 09:00 > c'est faux"
        ),
    ],
)
async def test_a_reminder_goes_along_with_what_it_is_of(api, bot_here, story):
    """It keeps its lead, the old day is said, and undo puts both back."""
    told, order, moved, was, now, undo = story.split(" > ")
    bot = await bot_here(CONTINUITY_MODEL="offline")
    await reply(api, told)
    await reply(api, order)
    [before] = rows(bot, "SELECT due_at_ms FROM jobs")

    assert was in (await reply(api, moved)).text
    assert now in (await reply(api, "/jobs")).text
    await reply(api, undo)
    assert rows(bot, "SELECT due_at_ms FROM jobs") == [before]


async def test_a_reminder_that_comes_again_comes_again(api, bot_here):
    """Each delivery sets the next one, also after a pause; cancelling ends the series."""
    bot = await bot_here(CONTINUITY_MODEL="offline", CONTINUITY_SESSION_GAP_MINUTES="100000")
    await reply(api, "remind me every day at 9 to stretch")
    await bot.passes(hours=47)
    await api.until(lambda: len([text for text in reminders(api) if "stretch" in text]) == 1)
    await bot.restart()
    await bot.passes(hours=24)
    await api.until(lambda: len([text for text in reminders(api) if "stretch" in text]) == 2)

    assert "won't remind you" in (await reply(api, "cancel the reminder to stretch")).text
    await bot.passes(hours=24)
    await bot.settled()
    assert len([text for text in reminders(api) if "stretch" in text]) == 2
