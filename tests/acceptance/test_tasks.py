"""Tasks by the clock: work for the model at a time, told with its cost, run once over kills, stopped by a tap."""

from __future__ import annotations

import pytest
from loopback.effects import LoopbackEffects
from loopback.model import ModelFault, ToolCall
from loopback.sites import site
from story import FRIEND, PERSON, asked, bot_texts, ledger_of, noted, reply, rows, shows, tap

from memory.keeper.session_lines import SessionLine, put_session_line
from memory.ledger import series
from memory.privacy.plan import ForgetRequest

pytestmark = pytest.mark.acceptance

TITLE = "What's due"
TEXT = "Tell me what is due today"


def scheduling(bot_clock, *, repeats="FREQ=DAILY", in_s=3600, says="Here is what is due.", **more):
    """A model that schedules at a message that says please, and answers everything else."""
    at = series.local_of(bot_clock.now_ms() + in_s * 1000, "UTC")
    call = ToolCall("schedule", {"title": TITLE, "text": TEXT, "at": at, "repeats": repeats} | more, "call_s")

    def reply_to(messages):
        last = messages[-1]
        if last["role"] == "user" and last["content"].endswith("please"):
            return [call]
        return "I will." if last["role"] == "tool" else says

    return reply_to


def runs(bot) -> list[tuple[str, str]]:
    return rows(bot, "SELECT state, why FROM task_runs ORDER BY created_at_ms, run_id")


async def scheduled(api, model, bot, **options) -> None:
    """Somebody has asked for a task."""
    model.reply = scheduling(bot.clock, **options)
    await reply(api, "every day, please")


@pytest.fixture
async def effects(tmp_path):
    """Start the service that counts effects, with the tools that call it in a file."""
    async with LoopbackEffects(tmp_path / "my_tools.py") as service:
        yield service


async def test_the_work_is_put_to_the_model_word_for_word(api, model, bot_here):
    """A trial's "… and make nothing up" was cut off behind 400 characters; the list shows the title alone."""
    bot = await bot_here()
    work = "Write the toast: " + "how she sold my first cake as hers, " * 40 + "and make nothing up."
    await scheduled(api, model, bot, repeats="", text=work)
    await bot.passes(hours=1)

    assert work in str(asked(model)[-1].messages[-1])
    assert "first cake" not in (await reply(api, "/tasks")).text


async def test_only_tasks_that_stand_are_counted(api, model, bot_here, monkeypatch):
    """A further task is refused while as many as may be stand; one that is over makes room."""
    monkeypatch.setattr("bot.answers.tools.scheduling.MOST_TASKS", 1)
    bot = await bot_here()
    await scheduled(api, model, bot, repeats="")
    await reply(api, "another one, please")
    told = [m["content"] for m in asked(model)[-1].body["messages"] if m["role"] == "tool"]
    assert "there are 1 tasks here already" in told[-1]

    await bot.passes(hours=1)
    assert bot_texts(api)[-1] == "Here is what is due."
    await scheduled(api, model, bot)
    assert rows(bot, "SELECT COUNT(*) FROM tasks") == [(2,)]


async def test_a_task_is_confirmed_run_and_stopped(api, model, bot_here):
    """One line tells when, what it costs and, where nobody chose one, the clock; it comes daily until [Stop these]."""
    bot = await bot_here()
    await scheduled(api, model, bot)
    told = bot_texts(api)[-1]
    assert "every day" in told
    assert "first today at 11:00: What's due." in told
    assert "by the clock of UTC" in told
    assert TEXT not in told

    await bot.passes(hours=1)
    assert bot_texts(api)[-1] == "Here is what is due."
    newest = str(asked(model)[-1].messages[-1])
    assert "The clock sent this message" in newest
    assert "</data" not in newest[newest.index("The clock sent this message") :], "an order stands in no fence"
    assert "their task #1, due Mon" in newest
    assert "rang at" not in newest, "its ring is the message itself"
    assert "[From" not in newest, "nobody wrote it"
    assert "schedule" not in str(asked(model)[-1].body.get("tools"))
    await bot.passes(hours=24)
    assert "Here is what is due." in str(asked(model)[-1].messages)
    assert bot_texts(api).count("Here is what is due.") == 2
    assert runs(bot) == [("done", ""), ("done", "")]
    assert rows(bot, "SELECT purpose, COUNT(*) FROM usage_days WHERE purpose = 'task' GROUP BY purpose") != []

    read = [request.text for request in model.requests if request not in asked(model)]
    assert not [text for text in read if "⏰" in text]  # nobody said it, so no keeper reads it

    await tap(api, "Stop these", "I won't do that any more")
    await bot.passes(hours=48)
    assert bot_texts(api).count("Here is what is due.") == 2
    assert [note.status for note in await ledger_of(bot)] == ["dropped"]


async def test_a_run_after_a_silence_hides_nothing_that_was_said_before_it(api, model, bot_here):
    """Whoever answers it goes on in the conversation that they were in, which no task's words name."""
    bot = await bot_here()
    await scheduled(api, model, bot, in_s=9 * 3600)
    await bot.passes(hours=9)
    await bot.passes(hours=24)
    assert "What you answered at the run before:\nHere is what is due." in str(asked(model)[-1].messages[-1][1])
    assert "&lt;" not in str(asked(model)[-1].messages)
    await reply(api, "haha, dark")

    assert "every day, please" in str(asked(model)[-1].messages)
    assert rows(bot, "SELECT COUNT(*) FROM conversation_sessions") == [(1,)]


async def test_a_session_of_runs_alone_is_no_conversation_to_pick_up(api, model, bot_here):
    """Nobody said a word in it: /sessions and /continue leave it out, and "Last time" is before it."""
    bot = await bot_here()
    await scheduled(api, model, bot, in_s=9 * 3600)
    [(talk,)] = rows(bot, "SELECT DISTINCT session_id FROM conversation_turns")
    memory, here = bot.app.services.memory, f"tg:{bot.app.services.me.bot_id}:{PERSON}:0"
    await memory.db.write(put_session_line(SessionLine(talk, here, "What is due", "The rent comes first.")))
    await memory.recorder.open_session(here, PERSON, "gap")
    await bot.passes(hours=9)
    assert len(rows(bot, "SELECT DISTINCT session_id FROM conversation_turns")) == 2
    await bot.passes(hours=8)

    assert (await reply(api, "/sessions")).text.count("\n• ") == 1
    assert (await reply(api, "/summary")).text.endswith("Last time: What is due.\n\nThe rent comes first.")
    await reply(api, "good morning")
    listed = (await reply(api, "/sessions")).text
    assert listed.count("\n• ") == 2
    offered = await reply(api, "/continue")
    assert [row[0].partition(" · ")[0] for row in offered.buttons if " · " in row[0]] == ["What is due"]
    assert (await reply(api, "/summary")).text.endswith("Last time: What is due.\n\nThe rent comes first.")


async def test_a_run_is_not_told_the_one_before_that_may_tell_what_was_forgotten(api, model, bot_here):
    """The overview of yesterday named the lenses, whose note was forgotten since: no model hears of them again."""
    bot = await bot_here()
    await scheduled(api, model, bot, says="At 4 you ring about the lenses.")
    [(turn_id,)] = rows(bot, "SELECT turn_id FROM conversation_turns")
    lenses = await noted(bot, "task", "Ring about the lenses", turn_ids=(turn_id,))
    await bot.passes(hours=1)
    here = f"tg:{bot.app.services.me.bot_id}:{PERSON}:0"
    await bot.app.services.memory.forgetter.forget(ForgetRequest(here, note_ids=(lenses.note_id,)))
    await bot.passes(hours=24)

    assert "What you answered at the run before" not in str(asked(model)[-1].messages[-1])
    assert runs(bot) == [("done", ""), ("done", "")]


async def test_try_now_runs_once_however_often_it_is_tapped(api, model, bot_here):
    """The series goes on as it was."""
    bot = await bot_here()
    await scheduled(api, model, bot)

    await tap(api, "Try now")
    await shows(api, "Here is what is due.")
    await tap(api, "Try now", on=await shows(api, "Will do, every day"))
    await bot.settled()

    assert runs(bot) == [("done", "")]
    [note] = await ledger_of(bot)
    assert (note.is_open, note.occurrences) == (True, ())
    newest = str(asked(model)[-1].messages[-1])
    assert "the person tapped [Try now]" in newest
    assert "due Mon" not in newest.split("tapped [Try now]")[1], "it is not its time"


async def test_tasks_are_listed_opened_paused_and_skipped(api, model, bot_here):
    """/tasks shows when it runs and how it went; its buttons change it."""
    bot = await bot_here()
    assert "any work by the clock" in (await reply(api, "/tasks")).text
    await scheduled(api, model, bot)
    await bot.passes(hours=1)
    listed = await reply(api, "/tasks")
    assert "What's due (⏰" in listed.text
    assert TEXT not in listed.text
    assert "today" not in listed.text
    assert "I'll send" not in listed.text
    assert "What's due (⏰ I'll send it every day at 11:00)" in (await reply(api, "/reminders")).text
    assert ": What's due (/tasks)" in (await reply(api, "/status")).text

    page = await tap(api, "1", f"\n{TEXT}\n\nLately", on=listed)
    page = await tap(api, "Not next time", "not tomorrow", on=page)
    page = await tap(api, "Pause", "paused", on=page)
    assert "1. What's due (paused)" in (await reply(api, "/tasks")).text
    assert "Nothing's open" in (await reply(api, "/loops")).text
    assert "Nothing's planned" in (await reply(api, "/reminders")).text
    assert "No reminders are set" in (await reply(api, "/status")).text
    await bot.passes(hours=72)
    assert runs(bot) == [("done", "")]
    await tap(api, "Go on", on=page)
    await bot.passes(hours=24)
    assert runs(bot) == [("done", ""), ("done", "")]


async def test_a_task_is_paused_in_words_and_goes_on_by_the_button(api, model, bot_here):
    """“Pause it until I say so”: the same pause as [Pause], which the model sees, too."""
    bot = await bot_here()
    await scheduled(api, model, bot)
    await bot.passes(hours=1)
    pause = ToolCall("change", {"numbers": [1], "not_before": "told"}, "p")
    model.reply = lambda messages: "Paused." if messages[-1]["role"] == "tool" else [pause]
    await reply(api, "pause that until I say so")
    assert "paused until they say so" in str(asked(model)[-1].messages[-1])
    await bot.passes(hours=72)
    assert runs(bot) == [("done", "")]

    model.reply = lambda _: "Here is what is due."
    page = await tap(api, "1", "Lately", on=await reply(api, "/tasks"))
    await tap(api, "Go on", on=page)
    await bot.settled()
    assert runs(bot) == [("done", "")], "what it missed at rest comes no more"
    await bot.passes(hours=24)
    assert runs(bot) == [("done", ""), ("done", "")]


@pytest.mark.parametrize(("missed", "became"), [("once", ("done", "")), ("skip", ("skipped", "missed"))])
async def test_a_missed_date_comes_once_or_not_at_all(api, model, bot_here, missed, became):
    """After two days of silence: one run, late, or none; the next date comes as ever."""
    bot = await bot_here()
    await scheduled(api, model, bot, missed=missed)
    await bot.passes(hours=50)

    assert runs(bot) == [became]
    listed = (await reply(api, "/reminders")).text
    assert ("missed" in listed) == (missed == "skip")
    await bot.passes(hours=23)
    assert runs(bot) == [became, ("done", "")]


async def test_three_failures_in_a_row_pause_it_and_say_why(api, model, bot_here):
    """The first is told, the third pauses; [Go on] begins anew."""
    bot = await bot_here()
    await scheduled(api, model, bot)
    model.plant(ModelFault.SERVER_ERROR, times=None)
    for hours in (1, 24, 24):
        await bot.passes(hours=hours)

    told = [text for text in bot_texts(api) if text.startswith("⏰")]
    assert len(told) == 2
    assert "didn't work" in told[0]
    assert "three times in a row" in told[1]
    assert "overloaded" in told[1]
    model.heal()
    await bot.passes(hours=24)
    assert [state for state, _ in runs(bot)] == ["failed"] * 3
    await tap(api, "Go on")
    await bot.passes(hours=24)
    assert [state for state, _ in runs(bot)][-1] == "done"


async def test_a_task_that_rests_after_failures_goes_on_in_words(api, model, bot_here):
    """As by [Go on], though its note knows of no rest."""
    bot = await bot_here()
    await scheduled(api, model, bot)
    model.plant(ModelFault.SERVER_ERROR, times=None)
    for hours in (1, 24, 24):
        await bot.passes(hours=hours)
    model.heal()
    go_on = ToolCall("change", {"numbers": [1], "not_before": "none"}, "g")
    model.reply = lambda messages: "Here is what is due." if messages[-1]["role"] == "tool" else [go_on]
    await reply(api, "go on with that")
    model.reply = lambda _: "Here is what is due."
    await bot.passes(hours=24)

    assert [state for state, _ in runs(bot)][-1] == "done"


@pytest.mark.parametrize("repeats", ["", "FREQ=DAILY;COUNT=1"])
async def test_what_failed_is_tried_again_and_ends_with_that(api, model, bot_here, repeats):
    """What comes once, and the last date of a series."""
    bot = await bot_here()
    await scheduled(api, model, bot, repeats=repeats)
    model.plant(ModelFault.SERVER_ERROR, times=None)
    await bot.passes(hours=1)
    model.heal()
    await tap(api, "Try again", "Here is what is due.")
    await bot.settled()

    assert runs(bot) == [("failed", ""), ("done", "")]
    assert [note.status for note in await ledger_of(bot)] == ["done"]


async def test_quiet_hours_put_it_off_until_they_are_over(api, model, bot_here):
    """Hourly in the night: one run in the morning; the person was told."""
    bot = await bot_here(CONTINUITY_QUIET_HOURS="11:30-18:00")  # the test begins at 10:00
    await scheduled(api, model, bot, repeats="FREQ=HOURLY", in_s=7200)
    assert "quiet hours" in bot_texts(api)[-1]
    for _ in range(7):
        await bot.passes(hours=1)
        assert runs(bot) == []
    await bot.passes(hours=1)

    assert runs(bot) == [("done", "")]
    await bot.passes(hours=1)
    assert runs(bot) == [("done", ""), ("done", "")]


async def test_forgetting_a_task_takes_its_runs_and_results_with_it(api, model, bot_here):
    """P13: nothing of what it answered is left, nor that it ever ran."""
    bot = await bot_here()
    await scheduled(api, model, bot, says="The harbour code is 7781.")
    await bot.passes(hours=1)
    await reply(api, "/tasks")
    await reply(api, "/forget 1")
    await tap(api, "Yes, forget it", "forgotten")

    assert (rows(bot, "SELECT note_id FROM tasks"), runs(bot)) == ([], [])
    turns = rows(bot, "SELECT assistant_text FROM conversation_turns")
    assert not [text for (text,) in turns if "7781" in text]


async def test_without_a_model_a_task_says_that_it_needs_one(api, model, bot_here):
    """The model was taken away: it's said once, and its dates are kept in the history."""
    bot = await bot_here()
    await scheduled(api, model, bot)
    await bot.restart(CONTINUITY_MODEL="offline")
    for hours in (1, 24):
        await bot.passes(hours=hours)

    assert sum("I need a language model for this" in text for text in bot_texts(api)) == 1
    assert runs(bot) == [("skipped", "no_model")] * 2


async def test_what_is_unchanged_costs_nothing(api, model, bot_here, effects):
    """A tool looks first: only when it returns something else a model is asked, and is told what it returned."""
    bot = await bot_here(CONTINUITY_TOOLS=effects.path)
    effects.answer = "still sold out"
    await scheduled(api, model, bot, first={"tool": "look", "arguments": {"what": "the shop"}})
    await bot.passes(hours=1)
    assert "still sold out" in str(asked(model)[-1].messages)
    before = len(model.requests)
    await bot.passes(hours=24)
    assert (len(model.requests), runs(bot)[-1]) == (before, ("unchanged", ""))

    effects.answer = "back in stock"
    await bot.passes(hours=24)
    assert [state for state, _ in runs(bot)] == ["done", "unchanged", "done"]
    assert "back in stock" in str(asked(model)[-1].messages)
    assert effects.count("/look") == 3


async def test_a_run_that_needs_a_tap_is_parked_at_no_cost(api, model, bot_here, effects):
    """While its question is open the next dates are left out; once it's answered they come again."""
    bot = await bot_here(CONTINUITY_TOOLS=effects.path)
    await scheduled(api, model, bot, repeats="FREQ=HOURLY")
    model.reply = lambda messages: (
        [ToolCall("add", {"item": "milk"}, "c1")] if messages[-1]["role"] == "user" else "I've asked."
    )
    await bot.passes(hours=1)
    question = await shows(api, "May I use add?")
    before = len(model.requests)
    for _ in range(2):
        await bot.passes(hours=1)
    assert runs(bot) == [("done", ""), ("skipped", "asks"), ("skipped", "asks")]
    model.reply = lambda _: "Nothing new."
    await tap(api, "Never", on=question)
    await bot.passes(hours=1)

    assert runs(bot)[3:] == [("done", "")]
    assert (effects.count("/add"), len(model.requests)) == (0, before + 1)


async def test_limits_hold_for_runs_and_are_said_once(api, model, bot_here):
    """A budget that is used up leaves dates out; too many tokens in one run end it."""
    bot = await bot_here(CONTINUITY_DAILY_TOKENS_PER_USER="1000000")
    await scheduled(api, model, bot, repeats="FREQ=HOURLY")
    model.tokens = lambda _: 40_000
    model.reply = lambda messages: [ToolCall("search", {"query": "x"}, f"c{len(messages)}")]
    await bot.passes(hours=1)
    assert "more tokens than one run may" in bot_texts(api)[-1]
    await bot.restart(CONTINUITY_DAILY_TOKENS_PER_USER="1000")
    for _ in range(2):
        await bot.passes(hours=1)

    assert runs(bot)[1:] == [("skipped", "budget")] * 2
    assert sum("budget for the language model is used up" in text for text in bot_texts(api)) == 1


async def test_in_a_group_everybody_may_stop_a_task(api, model, bot_here):
    """The buttons under a run are for whoever asked for it; /tasks is everybody's."""
    bot = await bot_here()
    group = api.people.opens_group("Friends")
    model.reply = scheduling(bot.clock)
    await reply(api, "@continuity_bot every day, please", group)
    await bot.passes(hours=1)
    answer = await shows(api, "Here is what is due.", group)
    await tap(api, "Stop these", on=answer, chat_id=group, user=FRIEND)
    assert [note.is_open for note in await ledger_of(bot, group)] == [True]

    listed = await reply(api, "/tasks@continuity_bot", group, FRIEND)
    page = await tap(api, "1", "Lately", on=listed, chat_id=group, user=FRIEND)
    await tap(api, "Stop", on=page, chat_id=group, user=FRIEND)
    assert [note.status for note in await ledger_of(bot, group)] == ["dropped"]


PAGE = "<html><head><title>Shop</title></head><body><article><p>{}</p></article></body></html>"


async def test_a_page_that_is_unchanged_costs_nothing(api, model, bot_here):
    """Look whether it still says sold out: the page is read at no cost, and the model asked when it's another."""
    async with site(shop=PAGE.format("The blue kettle is sold out until spring.")) as (url, _):
        bot = await bot_here()
        model.reply = scheduling(bot.clock, first={"tool": "read_page", "arguments": {"url": f"{url}/shop"}})
        await reply(api, f"look at {url}/shop every day, please")
        assert "I look first" in bot_texts(api)[-1]
        await bot.passes(hours=1)
        before = len(model.requests)
        await bot.passes(hours=24)

    assert [state for state, _ in runs(bot)] == ["done", "unchanged"]
    assert len(model.requests) == before


async def test_an_address_that_nobody_gave_is_asked_about_in_a_run_too(api, model, bot_here):
    """Neither the tool that looks first nor the words of a task carry one past the person."""
    async with site(take=PAGE.format("Thanks for all you know.")) as (url, fetched):
        bot = await bot_here()
        address = f"{url}/take?notes=secret"
        await scheduled(api, model, bot, first={"tool": "read_page", "arguments": {"url": address}})
        assert [note.text for note in await ledger_of(bot)] == []
        model.reply = scheduling(bot.clock, text=f"Read {address}")
        await reply(api, "every day, please")
        model.reply = lambda messages: (
            [ToolCall("read_page", {"url": address}, "c1")] if messages[-1]["role"] == "user" else "I've asked."
        )
        await bot.passes(hours=1)
        await shows(api, "notes=secret")

    assert fetched == []


async def test_nothing_runs_for_a_chat_that_cannot_be_written_to(api, model, bot_here):
    """Whoever blocked the bot pays for nothing; a date that comes does not make the chat alive, their message does."""
    bot = await bot_here()
    await scheduled(api, model, bot)
    bot.app.services.delivery.unreachable[PERSON] = "Forbidden: bot was blocked by the user"
    before = len(model.requests)
    await bot.passes(hours=24)
    assert (runs(bot), len(model.requests)) == ([("skipped", "unreachable")], before)
    [note] = await ledger_of(bot)
    assert [date.state for date in note.occurrences] == ["passed"]

    model.reply = lambda _: "Here I am."
    await reply(api, "back again")
    await bot.passes(hours=24)
    assert runs(bot)[1:] == [("done", "")]
