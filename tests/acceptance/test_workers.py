"""Several processes on one PostgreSQL: each works on chats that it holds; others finish what a dead one began."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import contextmanager

import pytest
from loopback.bot_process import is_stopped
from loopback.hanging import HOLDS, hanging
from loopback.model import Gate
from story import PERSON, answered, answers_to, bot_texts, rows, shows

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.sweep]


@pytest.fixture
async def two(api, postgres, bot_process):
    """Return two workers on one database, with folders of their own; the first polls."""
    made = []
    for name in ("one", "other"):
        bot = await bot_process(
            start=False, folder=name, CONTINUITY_DATABASE_URL=postgres, CONTINUITY_MAX_CONCURRENT_TURNS="1"
        )
        bot.database = postgres
        await (bot.start() if not made else bot.launch())
        made.append(bot)
    await joined(api, made[0], 2)
    return made


async def joined(api, bot, count):
    """Wait until so many workers are there."""
    await api.until(lambda: len(rows(bot, "SELECT worker FROM workers")) == count)


def by_work(bots):
    """Return the worker that holds a chat, and the other one: whoever is quicker takes it."""
    held = "SELECT workers.place FROM leases JOIN workers ON workers.worker = leases.worker WHERE name LIKE 'tg:%'"
    ((place,),) = rows(bots[0], held)
    return sorted(bots, key=lambda bot: bot.pid != int(place.split()[-1]))


async def test_the_work_of_a_killed_worker_is_finished_by_the_other(api, model, two):
    """A message whose answer was being made is answered by the other process, once, with what was said before known."""
    api.people.says(PERSON, "My boat is called Albatross")
    await answered(api, PERSON, "My boat is called Albatross")
    model.gate = Gate()
    api.people.says(PERSON, "What is my boat called?")
    await api.until(lambda: len(model.requests) == 2)
    one, other = by_work(two)
    model.gate = None
    await one.kill()
    await answered(api, PERSON, "What is my boat called?")

    assert len(answers_to(api, PERSON, "What is my boat called?")) == 1
    assert "Albatross" in model.requests[-1].text
    assert [n for (n,) in rows(other, "SELECT COUNT(*) FROM conversation_turns")] == [2]


async def test_a_stopped_worker_that_wakes_neither_stores_nor_sends(api, model, two):
    """Stopped in the middle of an answer it is taken for dead; when it wakes, its answer is refused and it ends."""
    model.gate = gate = Gate()
    api.people.says(PERSON, "hello")
    await api.until(lambda: len(model.requests) == 1)
    one, other = by_work(two)
    os.kill(one.pid, signal.SIGSTOP)
    model.gate = None
    gate.open()
    await answered(api, PERSON, "hello")
    os.kill(one.pid, signal.SIGCONT)

    assert await one.wait() == 1
    assert "others have declared this process dead" in one.log
    assert len(answers_to(api, PERSON, "hello")) == 1
    assert rows(other, "SELECT user_text FROM conversation_turns") == [("hello",)]
    api.people.says(PERSON, "still there?")
    await answered(api, PERSON, "still there?")


async def test_chats_are_shared_by_who_has_room(api, model, two):
    """With one place each, two chats that are answered at the same time are answered by two workers."""
    one, _ = two
    model.gate = gate = Gate()
    for person in (PERSON, PERSON + 1):
        api.people.says(person, f"hello from {person}")
    await api.until(lambda: len(model.requests) == 2)

    held = rows(one, "SELECT name, worker FROM leases WHERE worker IS NOT NULL AND name LIKE :chat", chat="tg:%")
    assert len({worker for _, worker in held}) == 2
    gate.open()
    for person in (PERSON, PERSON + 1):
        await answered(api, person, f"hello from {person}")
        assert len(answers_to(api, person, f"hello from {person}")) == 1


async def test_a_stop_reaches_the_worker_that_is_answering(api, model, two):
    """/stop comes in at the one that polls and stops the answer that the other one makes."""
    model.gate = Gate()
    for person in (PERSON, PERSON + 1):
        api.people.says(person, f"hello from {person}")
    await api.until(lambda: len(model.requests) == 2)
    for person in (PERSON, PERSON + 1):
        api.people.says(person, "/stop")
        await shows(api, "Stopped", person)


async def test_operators_see_who_works(api, two, postgres, bot_process):
    """`status` and `doctor` name each worker, what it holds, and which one polls."""
    api.people.says(PERSON, "hello")
    await answered(api, PERSON, "hello")
    looking = await bot_process(start=False, folder="looking", CONTINUITY_DATABASE_URL=postgres)
    await looking.launch("status")
    assert await looking.wait() == 0
    await looking.launch("doctor")
    await looking.wait()

    assert looking.log.count("holds 0 chats") + looking.log.count("holds 1 chat") >= 4
    assert "polls and keeps time" in looking.log


async def test_who_leaves_in_good_order_is_not_waited_for(api, two):
    """After SIGTERM the other one polls and answers."""
    one, other = two
    api.people.says(PERSON, "first")
    await answered(api, PERSON, "first")
    assert await one.terminate() == 0
    api.people.says(PERSON, "second")
    await answered(api, PERSON, "second")

    assert len(rows(other, "SELECT worker FROM workers")) == 1
    assert "a worker is dead" not in other.log


STOPS = {
    "turn_claimed": 1,
    "turn_packet_built": 1,
    "turn_answered": 2,
    "before_commit": 2,
    "after_commit": 1,
    "outbox_marked_sending": 1,
}
"""Points of a turn, and how often the model is asked when a worker stops there: again only for what was lost."""


async def workers_of(bot_process, postgres):
    """Return two workers on one database that are not started yet."""
    made = [await bot_process(start=False, folder=name, CONTINUITY_DATABASE_URL=postgres) for name in ("one", "other")]
    for bot in made:
        bot.database = postgres
    return made


ON_THE_SERVER = """SELECT pid, application_name, state, wait_event, pg_blocking_pids(pid), xact_start, query
    FROM pg_stat_activity WHERE datname = current_database() ORDER BY pid"""


@contextmanager
def shown_when_it_fails(bot):
    """Say of a wait that was in vain which transactions were open on the server, and who waited for whom."""
    try:
        yield
    except AssertionError as exc:
        exc.add_note("\n".join(["on the server:", *map(str, rows(bot, ON_THE_SERVER))]))
        raise


async def stopped_at(api, postgres, bot_process, point, **env):
    """Let a worker stop at a point of a turn, and wake it when one that came then has finished its work."""
    one, other = await workers_of(bot_process, postgres)
    await one.start(CONTINUITY_FAULT=point, CONTINUITY_FAULT_SIGNAL="STOP", **env)
    api.people.says(PERSON, "only once")
    await api.until(lambda: is_stopped(one.pid))
    await other.launch()
    with shown_when_it_fails(other):
        await answered(api, PERSON, "only once")
        await api.until(lambda: rows(other, "SELECT 1 FROM outbox WHERE state = 'sent'"))
    os.kill(one.pid, signal.SIGCONT)
    return one, other


@pytest.mark.parametrize("point", STOPS)
async def test_a_worker_that_stops_anywhere_in_a_turn_and_wakes_does_nothing_more(
    api, model, postgres, bot_process, point
):
    """Whatever it was about to do, the other one has done it, and it ends; nor does it ask the model."""
    one, other = await stopped_at(api, postgres, bot_process, point)

    assert await one.wait() == 1
    assert "others have declared this process dead" in one.log
    assert answers_to(api, PERSON, "only once") == ["You said: only once"]
    assert rows(other, "SELECT user_text FROM conversation_turns") == [("only once",)]
    assert len(model.requests) == STOPS[point]


async def test_a_worker_that_stops_in_the_midst_of_what_it_sends_to_the_server_holds_up_nobody(
    api, postgres, bot_process, tmp_path
):
    """What it had sent of a transaction locks rows, and the server waits for the rest: others let go of them."""
    one, other = await workers_of(bot_process, postgres)
    order = tmp_path / "stop"
    await one.start(CONTINUITY_FAULT=f"@{order}", CONTINUITY_FAULT_SIGNAL="STOP")
    order.write_text("db_before_sync")  # of whichever write comes next, the renewal of its row if no other
    await api.until(lambda: is_stopped(one.pid))
    assert rows(other, "SELECT 1 FROM pg_locks WHERE relation = CAST('workers' AS REGCLASS) AND mode LIKE 'Row%'")
    await other.launch()
    api.people.says(PERSON, "only once")
    with shown_when_it_fails(other):
        await answered(api, PERSON, "only once")
    os.kill(one.pid, signal.SIGCONT)

    assert await one.wait() == 1
    assert "others have declared this process dead" in one.log


async def test_without_the_fence_a_worker_that_wakes_sends_again(api, postgres, bot_process):
    """Negative control: stopped between the mark and the send, it sends what the other one has sent."""
    await stopped_at(api, postgres, bot_process, "outbox_marked_sending", CONTINUITY_FAULT_WITHOUT="fence")

    await api.until(lambda: len(answers_to(api, PERSON, "only once")) == 2)


async def test_a_message_that_hangs_one_worker_after_the_other_is_put_aside(api, postgres, bot_process):
    """A worker that is silent and still connected has hung: its turns are counted, however many it had begun."""
    bots = []
    for name in ("one", "other"):
        bot = await bot_process(start=False, folder=name, CONTINUITY_DATABASE_URL=postgres, CONTINUITY_LOOP_LIMIT_S="6")
        bot.database, bot.work = postgres, hanging
        await (bot.start() if not bots else bot.launch())
        bots.append(bot)
    await joined(api, bots[0], 2)
    for person in range(1, 4):
        api.people.says(person, f"hello {person}")
    api.people.says(PERSON, f"please {HOLDS}")

    async def started_again(bot):
        while True:
            await bot.wait(60)
            await bot.launch()

    supervisors = [asyncio.create_task(started_again(bot)) for bot in bots]
    await api.until(lambda: rows(bots[0], "SELECT 1 FROM inbox WHERE state = 'quarantined'"), 90)
    await api.until(lambda: all(bot_texts(api, person) == [f"heard: hello {person}"] for person in range(1, 4)))
    for supervisor in supervisors:
        supervisor.cancel()

    assert rows(bots[0], "SELECT attempts FROM inbox WHERE state <> 'done'") == [(3,)]
