"""Tasks over kills: a date runs once or is asked about, wherever the process dies and whoever takes it over."""

from __future__ import annotations

import asyncio
import time

import pytest
from loopback.effects import LoopbackEffects
from loopback.model import ToolCall
from story import PERSON, answered, bot_texts, change, reply, rows, shows, tap

from memory.ledger import series

pytestmark = [pytest.mark.acceptance, pytest.mark.crash, pytest.mark.sweep]

TEXT = "Say what is new"
WORK = {"title": "News", "text": TEXT}
SWEEP = [
    ["task_due", "task_begun", "turn_claimed", "task_called_first"],
    ["turn_answered", "turn_committed"],
    ["task_done"],
]
"""The points of a run, in order; after three deaths in its midst an update is put aside."""


@pytest.fixture
async def effects(tmp_path):
    """Start the service that counts effects, with the tools that call it in a file."""
    async with LoopbackEffects(tmp_path / "my_tools.py") as service:
        yield service


def acting(*calls: ToolCall):
    """Make a model that calls these tools in a run, once."""

    def reply_to(messages):
        last = messages[-1]
        is_run = last["role"] == "user" and last["content"].endswith(f"⏰ News: {TEXT}")
        return list(calls) if is_run and calls else "Nothing else."

    return reply_to


async def scheduled(api, model, *, first=None) -> None:
    """Somebody has asked for a task of every hour."""
    wish = WORK | {"at": "2035-01-01T07:00", "repeats": "FREQ=HOURLY"} | ({"first": first} if first else {})
    model.reply = lambda messages: (
        [ToolCall("schedule", wish, "call_s")] if messages[-1]["role"] == "user" else "I will."
    )
    await reply(api, "every hour")
    model.reply = acting()


def make_due(bot, ago_min: int) -> None:
    """Let the next date of a dead bot's task be so many minutes ago."""
    local = series.local_of(int(time.time() - ago_min * 60) * 1000, "UTC")
    due = {"local": local, "at_ms": series.at_ms_of(local, "UTC")}
    change(bot, "UPDATE notes SET rings_from = :local, rings_at_ms = :at_ms WHERE rings_at_ms IS NOT NULL", **due)


def runs(bot) -> list[tuple[str, str]]:
    return rows(bot, "SELECT state, why FROM task_runs ORDER BY due_at_ms")


async def test_a_date_runs_once_wherever_the_process_dies(api, model, bot_process, effects):
    """Killed at each point of a run, one after another: one answer to a date, one turn, and a look that is not lost."""
    bot = await bot_process(CONTINUITY_TOOLS=effects.path)
    await scheduled(api, model, first={"tool": "look", "arguments": {"what": "news"}})
    await bot.kill()
    for number, points in enumerate(SWEEP, 1):
        effects.answer = f"news {number}"
        make_due(bot, 50 - 10 * number)
        for point in points:
            await bot.launch(CONTINUITY_FAULT=point)
            assert await bot.wait() == -9, point
        await bot.start()
        await api.until(lambda: bot_texts(api).count("Nothing else.") == number)  # noqa: B023 - waited for here
        await api.until(lambda: runs(bot) == [("done", "")] * number)  # noqa: B023
        await bot.kill()

    turns = rows(bot, "SELECT COUNT(*) FROM conversation_turns WHERE user_text LIKE '⏰%'")
    assert turns == [(len(SWEEP),)]
    assert bot_texts(api).count("Nothing else.") == len(SWEEP)
    assert effects.count("/look") >= len(SWEEP)


async def test_what_a_run_may_have_done_is_asked_about(api, model, bot_process, effects):
    """A tool that was allowed: killed behind its effect, it is not made again, and the person is asked."""
    bot = await bot_process(CONTINUITY_TOOLS=effects.path)
    await scheduled(api, model)
    model.reply = acting(ToolCall("add", {"item": "milk"}, "call_a"))
    await bot.kill()
    make_due(bot, 30)
    await bot.start()
    await tap(api, "Always", on=await shows(api, "May I use add?"))
    await shows(api, "✓ Done: add")
    await api.until(lambda: bot_texts(api).count("Nothing else.") == 2)
    await bot.kill()

    make_due(bot, 20)
    await bot.launch(CONTINUITY_FAULT="tool_ran")
    assert await bot.wait() == -9
    before = effects.count("/add")
    await bot.start()
    doubt = await shows(api, "I was about to use add")
    await api.until(lambda: runs(bot) == [("done", "")] * 2)
    await tap(api, "Leave it", on=doubt)

    assert (before, effects.count("/add")) == (2, 2)


@pytest.mark.postgres
async def test_two_workers_run_a_date_once(api, model, postgres, bot_here):
    """Also when both look at the same moment."""
    one, other = [await bot_here(start=False, folder=name, CONTINUITY_DATABASE_URL=postgres) for name in ("one", "two")]
    one.database = other.database = postgres
    await one.start()
    api.people.says(PERSON, "hello")  # the poll that brings it ends, and another one begins
    await other.start()
    await answered(api, PERSON, "hello")
    wish = WORK | {
        "at": series.local_of(one.clock.now_ms() + 3_600_000, "UTC"),
        "repeats": "FREQ=DAILY",
    }
    model.reply = lambda messages: (
        [ToolCall("schedule", wish, "call_s")] if messages[-1]["role"] == "user" else "I will."
    )
    await reply(api, "every day")
    model.reply = acting()
    for worker in (one, other):
        worker.clock.advance(s=3600)
    await asyncio.gather(*(worker.app.services.reminders.run() for worker in (one, other, one, other)))
    await api.until(lambda: "Nothing else." in bot_texts(api))
    await one.settled()
    await other.settled()

    assert runs(one) == [("done", "")]
    assert bot_texts(api).count("Nothing else.") == 1
