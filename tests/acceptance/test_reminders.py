"""Reminders as a person meets them: set, kept over kills, delivered once, put off, done."""

from __future__ import annotations

import asyncio
import re
import time

import pytest
from story import FRIEND, PERSON, bot_lines, bot_texts, change, ledger_of, noted, reply, rows, swept, tap, tapped

from memory.ledger import series
from memory.ledger.types import Actor, Change, End

pytestmark = pytest.mark.acceptance


def reminders(api) -> list[str]:
    return [line.text for line in bot_lines(api) if line.text.startswith("⏰")]


def note_rows(bot) -> list[tuple[str, str]]:
    return rows(bot, "SELECT text, status FROM notes ORDER BY number")


def dates(bot) -> list[str]:
    return [state for (state,) in rows(bot, "SELECT state FROM occurrences ORDER BY note_id, original_local")]


def make_due(bot, ago_s: float) -> None:
    """Set every reminder of a dead bot so far into the past."""
    local = series.local_of(int((time.time() - ago_s) * 1000), "UTC")
    change(
        bot,
        "UPDATE notes SET rings_from = :local, rings_at_ms = :at_ms WHERE rings_at_ms IS NOT NULL",
        local=local,
        at_ms=series.at_ms_of(local, "UTC"),
    )


async def test_a_reminder_is_set_comes_in_time_and_is_done(api, model, bot_here):
    """/remind says when it will come; it comes by itself, [Done] ends it, and no model was asked."""
    bot = await bot_here()

    said = await reply(api, "/remind in 2 hours call Ana")
    assert said.text.splitlines()[0] == "I'll remind you today at 12:00: call Ana"
    assert "/timezone" in said.text
    await bot.passes(hours=1, s=3590)
    assert reminders(api) == []
    await bot.passes(s=10)
    assert reminders(api) == ["⏰ call Ana"]
    await tap(api, "Done", "^Ticked off: call Ana$")

    assert note_rows(bot) == [("call Ana", "done")]
    assert rows(bot, "SELECT 1 FROM jobs") == []

    back = await tap(api, "Undo", "Here again: call Ana")
    assert back.buttons == (("Done", "In an hour", "Tomorrow"),)
    await tap(api, "Done", "^Ticked off: call Ana$", on=back)
    assert note_rows(bot) == [("call Ana", "done")]
    assert model.requests == []


async def test_what_was_just_set_is_taken_back_by_one_tap(api, bot_here):
    """[Never mind] under the confirmation; it does not ring then."""
    bot = await bot_here()
    said = await reply(api, "/remind in 2 hours call Ana")
    await tap(api, "Never mind", "Gone: call Ana", on=said)
    await bot.passes(hours=3)

    assert note_rows(bot) == [("call Ana", "dropped")]
    assert reminders(api) == []


async def test_unclear_words_set_nothing_and_are_asked_about(api, bot_here):
    """/remind explains itself without words, asks back for a time or a matter, and stores nothing; zones likewise."""
    bot = await bot_here()

    assert "/remind tomorrow at 9 call Ana" in (await reply(api, "/remind")).text
    assert "give me a time" in (await reply(api, "/remind call Ana")).text
    assert "What should I" in (await reply(api, "/remind tomorrow at 9")).text
    assert "Nothing's planned" in (await reply(api, "/jobs")).text
    assert "UTC" in (await reply(api, "/timezone")).text
    assert "don't know the time zone" in (await reply(api, "/timezone Atlantis")).text
    assert note_rows(bot) == []
    assert rows(bot, "SELECT * FROM people") == []


async def test_the_list_is_shown_again_after_each_tap(api, bot_here):
    """/reminders lists what rings; cancelling one and putting one off leaves the others with their buttons."""
    bot = await bot_here()
    await reply(api, "/remind tomorrow at 9 call Ana")
    await reply(api, "/remind tomorrow at 10 write to Ben")
    listed = await reply(api, "/reminders")
    assert "Tomorrow\n1. call Ana (⏰ 09:00)\n2. write to Ben (⏰ 10:00)" in listed.text

    await tap(api, "1", r"\Acall Ana")
    await tap(api, "An hour later", "I'll remind you again tomorrow at 10:00: call Ana")
    await tap(api, "2", r"\Awrite to Ben")
    await tap(api, "Don't remind me", "^Okay, I won't remind you")
    await tap(api, "Done", "^Ticked off")

    assert sorted(status for _, status in note_rows(bot)) == ["done", "dropped"]
    assert "Nothing's planned" in (await reply(api, "/jobs")).text


async def test_snoozing_brings_it_back_later(api, bot_here):
    """[In an hour] puts a delivered reminder off, however often it is tapped; then it comes once more."""
    bot = await bot_here()
    await reply(api, "/remind in 1 hour call Ana")
    await bot.passes(hours=1)
    for _ in range(2):
        api.people.presses(PERSON, "In an hour")
    await api.until(lambda: len(api.calls_of("answerCallbackQuery")) == 2)
    assert sum("already chosen" in call.params["text"] for call in api.calls_of("answerCallbackQuery")) == 1
    assert dates(bot) == ["snoozed"]

    await bot.passes(hours=1)
    await bot.passes(hours=1)

    assert reminders(api) == ["⏰ call Ana"]
    assert note_rows(bot) == [("call Ana", "open")]


async def test_a_tap_on_what_was_done_long_ago_says_so_by_its_name_now(api, bot_here):
    """The note was reworded and ticked off since; its ring does not ring of it as if it were news."""
    bot = await bot_here()
    await reply(api, "/remind in 1 hour get the log back")
    await bot.passes(hours=1)
    ring = next(line for line in bot_lines(api) if line.text == "⏰ get the log back")
    [note] = await ledger_of(bot)
    by = Actor("model", bot.clock.now_ms(), "t_2")
    new = [Change(number=note.number, fields={"text": "Niamh brings the log"}), End(number=note.number)]
    await bot.app.services.memory.change(note.conversation_id, new, by)

    await tap(api, "Done", "^Already ticked off: Niamh brings the log$", on=ring)


async def test_a_tap_on_a_ring_behind_which_the_next_came_changes_nothing_and_says_so(api, bot_here):
    """Nothing is said to be ticked off, and nothing is there to be undone: the date of today waits as before."""
    bot = await bot_here()
    await reply(api, "/remind every day at 9 stretch")
    await bot.passes(hours=24)
    await bot.passes(hours=24)
    first, second = (each for each in bot_lines(api) if each.text.startswith("⏰ stretch"))
    [before] = await ledger_of(bot)
    await tap(api, "Done", "^The next reminder has come since, so tick that one: stretch$", on=first)

    [after] = await ledger_of(bot)
    assert (after.version, dates(bot)) == (before.version, ["rang"])
    assert "Undo" not in str(bot_lines(api)[-1].buttons)
    await tap(api, "Done", "^Ticked off: stretch$", on=second)
    assert dates(bot) == ["done"]


async def test_what_was_put_off_comes_also_after_a_kill(api, bot_process):
    """Put off until tomorrow, killed, started again: it stands on the list at the new time, and nothing rings twice."""
    bot = await bot_process()
    await reply(api, "/remind tomorrow at 9 call Ana")
    await bot.kill()
    make_due(bot, 30)
    await bot.start()
    await api.until(lambda: reminders(api))
    told = await tap(api, "Tomorrow", r"I'll remind you again tomorrow at \d\d:\d\d: call Ana")
    (hour,) = re.findall(r"\d\d:\d\d", told.text)
    await bot.restart()

    assert f"Tomorrow\n1. call Ana (⏰ {hour})" in (await reply(api, "/reminders")).text
    assert dates(bot) == ["snoozed"]


async def test_what_rang_stays_open_until_somebody_says_so(api, bot_here):
    """A day later it still stands on both lists, with when it came; [Done] there ends it."""
    bot = await bot_here()
    await reply(api, "/remind in 1 hour call Ana")
    await bot.passes(hours=1)
    await bot.passes(hours=26)

    assert "1. call Ana (yesterday at 11:00)" in (await reply(api, "/reminders")).text
    listed = await reply(api, "/loops")
    assert "Overdue\n1. call Ana (reminded yesterday at 11:00)" in listed.text
    await tap(api, "Done", "Nothing's open", on=listed)
    assert note_rows(bot) == [("call Ana", "done")]


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

    (told,) = reminders(api)
    assert told.startswith("⏰ call Ana\n(should have come ") if ago_s > 120 else told == "⏰ call Ana"
    assert dates(bot) == ["rang"]


async def test_many_that_became_due_come_as_one_list(api, bot_process):
    """After a long downtime five reminders come as one message with a button for each, that opens its line."""
    bot = await bot_process()
    for number in range(5):
        await reply(api, f"/remind tomorrow at 9 thing {'abcde'[number]}")
    await bot.kill()
    make_due(bot, 7200)
    await bot.start()
    await api.until(lambda: reminders(api))

    assert len(reminders(api)) == 1
    assert reminders(api)[0].count("should have come ") == 5
    assert [len(row) for row in bot_lines(api)[-1].buttons] == [5]
    assert dates(bot) == ["rang"] * 5
    await tap(api, "2", r"\Athing b \(reminded ")
    await tap(api, "Done", r"\ATicked off: thing b\n\nYour reminders:")
    assert ("thing b", "done") in note_rows(bot)


@pytest.mark.sweep
@pytest.mark.crash
@pytest.mark.parametrize(
    "point",
    swept(
        ["job_due", "job_delivered", "outbox_marked_sending", "outbox_sent_unrecorded", "outbox_recorded"],
        *("job_due", "job_delivered", "outbox_sent_unrecorded"),
    ),
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
    assert dates(bot) == ["rang"]


async def test_in_a_group_reminders_are_the_groups(api, bot_here):
    """Everybody sees what rings there, and nobody else taps the buttons of a message to one person."""
    bot = await bot_here()
    group = api.people.opens_group("Friends")
    said = await reply(api, "/remind@continuity_bot tomorrow at 9 call Ana", chat_id=group)
    shown = await reply(api, "/jobs@continuity_bot", chat_id=group, user=FRIEND)
    assert "call Ana" in shown.text

    await tap(api, "Never mind", on=said, chat_id=group, user=FRIEND)
    assert "somebody else" in tapped(api)
    assert note_rows(bot) == [("call Ana", "open")]
    assert "Nothing's planned" in (await reply(api, "/jobs")).text


async def test_a_stop_in_good_order_is_not_held_up(api, bot_process):
    """With a reminder far ahead the process ends at once, cleanly."""
    bot = await bot_process()
    await reply(api, "/remind tomorrow at 9 call Ana")
    async with asyncio.timeout(10):
        assert await bot.terminate() == 0


async def test_done_on_the_list_leaves_the_next_of_a_series(api, bot_here):
    """Whether it has rung or not: [Done] is said of one time, and [Stop it for good] of all that come."""
    bot = await bot_here()
    await reply(api, "/remind every day at 9 stretch")
    await bot.passes(hours=24)
    assert len(reminders(api)) == 1

    assert (await reply(api, "/jobs")).text.count("stretch") == 1
    await tap(api, "Done", "^Ticked off")
    assert dates(bot) == ["done"]
    await tap(api, "Not this time", "^Okay, not this time: stretch. The next is")
    assert "stretch" in (await reply(api, "/jobs")).text
    await tap(api, "Stop it for good", "^Okay, I won't remind you: stretch")
    assert "Nothing's planned" in (await reply(api, "/jobs")).text


async def test_a_reminder_that_comes_again_comes_again(api, bot_here):
    """Each time it rings the next stands, also after a restart; what was missed meanwhile comes once."""
    bot = await bot_here()
    await reply(api, "/remind every day at 9 stretch")
    await bot.passes(hours=47)
    assert len(reminders(api)) == 1
    await bot.restart()
    await bot.passes(hours=24)
    assert len(reminders(api)) == 2
    await bot.passes(hours=24 * 7)
    assert len(reminders(api)) == 3
    assert note_rows(bot) == [("stretch", "open")]


async def test_one_date_of_a_series_is_moved_and_the_series_stays(api, bot_here):
    """“This Sunday at ten” is that Sunday alone: the week after it is at seven in the evening again."""
    bot = await bot_here()
    await reply(api, "/remind every day at 9 call mum")
    await reply(api, "/reminders")
    assert "tomorrow at 10:00" in (await reply(api, "/move 1 to tomorrow at 10")).text
    await bot.passes(hours=23)
    assert reminders(api) == []
    await bot.passes(hours=1)
    assert len(reminders(api)) == 1

    assert "⏰ every day at 09:00" in (await reply(api, "/reminders")).text


async def test_reminders_are_moved_repeated_and_cancelled_by_commands(api, bot_here):
    """By the number on the list that was shown last, or by name; asked which when it is not clear."""
    await bot_here()
    await reply(api, "hello")
    await reply(api, "/remind tomorrow at 9 call Ana")
    await reply(api, "/remind tomorrow at 10 water the plants")
    assert "Which one do you mean?" in (await reply(api, "/cancel zebra")).text
    await reply(api, "/reminders")

    assert (await reply(api, "/move 1 to 6pm")).text.startswith("I'll remind you today at 18:00: call Ana")
    assert "every Monday, first on Mon" in (await reply(api, "/repeat 2 every Monday at 9")).text
    cancelled = await reply(api, "/cancel call Ana")
    assert cancelled.text == "Okay, I won't remind you: call Ana"
    assert "call Ana" not in (await reply(api, "/reminders")).text
    await tap(api, "Undo", "I've taken that back", on=cancelled)
    assert "call Ana" in (await reply(api, "/reminders")).text


@pytest.mark.parametrize("by", ["button", "command"])
async def test_an_appointment_that_comes_again_stays_without_its_reminder(api, bot_here, by):
    """Pilates on Mondays at noon, rung an hour before: the ring is stopped, the days stay, and [Undo] has it ring."""
    bot = await bot_here()
    await reply(api, "/remind every Monday at 11:00 Pilates")
    [note] = await ledger_of(bot)
    due_ms = series.at_ms_of(f"{note.rings_from[:10]}T12:00", note.time_zone)
    own = Change(number=note.number, fields={"kind": "event", "due_at_ms": due_ms, "due_exact": True})
    await bot.app.services.memory.change(note.conversation_id, [own], Actor("model", bot.clock.now_ms(), "t_2"))
    assert "Pilates (every Monday at 12:00, ⏰ 11:00)" in (await reply(api, "/reminders")).text
    stays = r"Okay, I won't remind you: Pilates \(every Monday at 12:00\)"
    if by == "command":
        await tap(api, "Undo", "I've taken that back", on=await reply(api, "/cancel 1"))
        assert re.search(stays, (await reply(api, "/cancel Pilates")).text)
    else:
        await tap(api, "Stop it for good", stays)

    assert "Pilates (every Monday at 12:00)" in (await reply(api, "/loops")).text
    [after] = await ledger_of(bot)
    assert (after.repeats, after.rings) == (note.repeats, False)


async def test_another_zone_says_when_what_is_set_rings(api, bot_here):
    """What was set by the bot's clock rings at the same moment; it is said by the person's."""
    await bot_here()
    await reply(api, "/remind tomorrow at 9 call Ana")

    told = (await reply(api, "/timezone berlin")).text
    assert "Europe/Berlin" in told
    assert "• call Ana (⏰ tomorrow at 10:00)" in told


async def test_the_first_zone_is_the_one_in_which_hours_were_meant(api, bot_here):
    """A course at half past six stays there; the next zone, on a journey, moves nothing."""
    bot = await bot_here()
    await reply(api, "/start")
    day = f"{series.local_of(bot.clock.now_ms() + 24 * 3_600_000, 'UTC')[:10]}T18:30"
    await noted(bot, "event", "the course", due_at_ms=series.at_ms_of(day, "UTC"), due_exact=True, time_zone="UTC")

    await reply(api, "/timezone berlin")
    assert "Tomorrow: the course (at 18:30)" in (await reply(api, "/loops")).text
    await reply(api, "/timezone tokyo")
    assert [note.time_zone for note in await ledger_of(bot)] == ["Europe/Berlin"]


async def test_what_was_ended_elsewhere_is_said_to_be_over(api, bot_here):
    """A button of a reminder that ended meanwhile changes nothing."""
    bot = await bot_here()
    await reply(api, "/start")
    local = series.local_of(bot.clock.now_ms() + 3_600_000, "UTC")
    note = await noted(bot, "task", "call Ana", rings_from=local)
    await bot.passes(hours=2)
    await reply(api, "/loops")
    await tap(api, "Drop", "Nothing's open")
    ringing = next(line for line in bot_lines(api) if line.text.startswith("⏰"))
    await tap(api, "Done", "Dropped: call Ana", on=ringing)

    assert (await ledger_of(bot)).find(note.number).status == "dropped"
    assert bot_texts(api)


async def test_a_date_of_a_series_is_ticked_the_day_after(api, bot_here):
    """[Done] under a ring of yesterday: that date is done on both lists, the series goes on, also at another hour."""
    bot = await bot_here()
    await reply(api, "/remind every Monday at 11:00 take the bins out")
    await bot.passes(hours=1)
    await bot.passes(hours=22)
    assert ", reminded yesterday)" in (await reply(api, "/loops")).text
    await reply(api, "/repeat 1 every Monday at 12:00")
    await tap(
        api, "Done", "^Ticked off: take the bins out$", on=next(each for each in bot_lines(api) if "⏰" in each.text)
    )

    for command in ("/reminders", "/loops"):
        listed = (await reply(api, command)).text
        assert "take the bins out (⏰ every Monday at 12:00)" in listed
        assert "Mon 8 Mar" in listed
    assert dates(bot) == ["done"]
