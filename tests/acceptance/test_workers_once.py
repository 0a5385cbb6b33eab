"""Over all workers: what is done once, updates that come in anywhere, connections that break, versions that differ."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import asynccontextmanager, suppress

import httpx
import pytest
from aiohttp import web
from loopback.bot_process import is_stopped
from loopback.model import ToolCall
from loopback.served import TOKEN
from story import (
    FRIEND,
    PERSON,
    TURN_POINTS,
    answered,
    answers_to,
    bot_texts,
    change,
    ledger_of,
    noted,
    reply,
    rows,
    stored_turns,
    swept,
)

from bot.playground.keeper import free_port
from memory.ledger import series

pytestmark = [pytest.mark.acceptance, pytest.mark.postgres, pytest.mark.sweep]

ONCE = ["polling", "reminders", "heartbeat", "purge"]
"""The tasks of what is done once."""
SEVER = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'continuity%' AND pid <> pg_backend_pid()"""
REFUSED = "the bot is running on "
LOOK = "SELECT pg_notify('continuity_' || current_schema(), '{\"what\": \"reminders\"}')"


@pytest.fixture
def workers(api, postgres, bot_process):
    """Offer a factory of workers on one database, each in a folder of its own; the first polls."""

    async def make(*envs):
        made = []
        for number, env in enumerate(envs):
            bot = await bot_process(start=False, folder=f"worker{number}", CONTINUITY_DATABASE_URL=postgres)
            bot.database = postgres
            await (bot.launch(**env) if made else bot.start(**env))
            made.append(bot)
        await api.until(lambda: len(rows(made[0], "SELECT worker FROM workers")) == len(made))
        return made

    return make


# --- once -----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def two_here(api, postgres, bot_here):
    """Return two workers in this process; the first does what is done once."""
    one, other = [await bot_here(start=False, folder=name, CONTINUITY_DATABASE_URL=postgres) for name in ("one", "two")]
    one.database = other.database = postgres
    await one.start()
    api.people.says(PERSON, "hello")  # the poll that brings it ends, and another one begins
    await other.start()
    await answered(api, PERSON, "hello")
    return one, other


def at_work(name: str) -> int:
    """Return how many tasks of this name there are in this process."""
    return [task.get_name() for task in asyncio.all_tasks()].count(name)


async def test_polling_reminders_readings_and_heartbeats_are_the_work_of_one(api, two_here):
    """Of two workers one does them; when it leaves the other one does."""
    one, other = two_here
    assert {name: at_work(name) for name in ONCE} == dict.fromkeys(ONCE, 1)
    await one.stop()
    await api.until(lambda: at_work("polling"))
    api.people.says(PERSON, "still there?")
    await answered(api, PERSON, "still there?")

    assert {name: at_work(name) for name in ONCE} == dict.fromkeys(ONCE, 1)
    await other.stop()
    assert {name: at_work(name) for name in ONCE} == dict.fromkeys(ONCE, 0)


async def test_a_session_that_fell_quiet_is_read_once(api, model, two_here):
    """However many workers there are, and also when two look at the same moment, its notes are written once."""
    one, other = two_here
    boat = {
        "op": "add",
        "kind": "fact",
        "text": "Has a boat in Kiel",
        "turns": [2],
        "said": "My boat is called Albatross",
    }
    model.reply = lambda messages: (
        [ToolCall("keep", {"changes": [boat]})] if "New turns:" in str(messages) else "I see."
    )
    await reply(api, "My boat is called Albatross and she lies in Kiel")
    ((conversation_id,),) = rows(one, "SELECT conversation_id FROM conversations")
    await asyncio.gather(*(bot.app.services.memory.keeper.read_now(conversation_id) for bot in two_here))

    assert rows(one, "SELECT text, source FROM notes") == [("Has a boat in Kiel", "keeper")]
    assert rows(one, "SELECT kept FROM model_readings") == [(1,)]
    assert rows(other, "SELECT * FROM readings") == []


async def test_what_one_worker_does_to_notes_the_other_knows(two_here):
    """Whichever of them holds the chat: what the keeper, a reminder or the console changed stands in its next list."""
    for here, there in (two_here, two_here[::-1]):
        before = await ledger_of(there)
        note = await noted(here, "fact", f"Kept by {here.folder.name}")

        assert before.by_id(note.note_id) is None
        assert (await ledger_of(there)).by_id(note.note_id) == note


async def test_a_reminder_is_delivered_once_over_all_workers(api, two_here):
    """Also when two look at the same moment, as they may while one takes over from the other."""
    one, other = two_here
    for number in range(5):
        await reply(api, f"/remind in {10 + number} minutes call number {number}")
    one.clock.advance(s=1200)
    await asyncio.gather(*(bot.app.services.reminders.run() for bot in (one, other, one, other)))
    await api.until(lambda: "number 4" in " ".join(bot_texts(api)[-5:]))
    await one.settled()
    await other.settled()

    said = " ".join(text for text in bot_texts(api) if text.startswith("⏰"))
    assert [said.count(f"number {number}") for number in range(5)] == [1] * 5
    assert rows(one, "SELECT state FROM occurrences") == [("rang",)] * 5


@pytest.mark.parametrize("point", ["job_due", "job_delivered"])
async def test_a_reminder_whose_worker_dies_over_it_comes_once(api, workers, point):
    """Killed before or behind its commit, the other one takes over and it is on the screen once."""
    one, _ = await workers({"CONTINUITY_FAULT": point}, {})
    await reply(api, "/remind in 2 hours call Ana")
    [(said_at_ms,)] = rows(one, "SELECT said_at_ms FROM notes")
    local = series.local_of(said_at_ms, "UTC")
    due = {"local": local, "at_ms": series.at_ms_of(local, "UTC")}
    change(one, "UPDATE notes SET rings_from = :local, rings_at_ms = :at_ms", **due)
    rows(one, LOOK)
    assert await one.wait() == -9
    await api.until(lambda: any("call Ana" in text for text in bot_texts(api) if text.startswith("⏰")))
    await reply(api, "thanks")

    assert sum(text.startswith("⏰") for text in bot_texts(api)) == 1


# --- updates that come in anywhere ----------------------------------------------------------------------------------


@asynccontextmanager
async def balanced(ports):
    """Yield the address of a load balancer that hands each request to the next worker that takes it, and its counts."""
    taken = dict.fromkeys(ports, 0)
    turn = iter(range(1_000_000))

    async def hand_on(request: web.Request) -> web.Response:
        body, headers = await request.read(), dict(request.headers)
        first = next(turn)
        for number in range(len(ports)):
            port = ports[(first + number) % len(ports)]
            try:
                answer = await client.post(f"http://127.0.0.1:{port}{request.path}", content=body, headers=headers)
            except httpx.HTTPError:
                continue
            taken[port] += answer.status_code == 200
            return web.Response(status=answer.status_code)
        return web.Response(status=502)

    app = web.Application()
    app.router.add_post("/telegram/webhook", hand_on)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with httpx.AsyncClient(timeout=30) as client:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/telegram/webhook", taken
    finally:
        await runner.cleanup()


async def ready(port: int) -> None:
    """Wait until a worker says that it takes updates."""
    async with httpx.AsyncClient() as client, asyncio.timeout(30):
        while True:
            with suppress(httpx.HTTPError):
                if (await client.get(f"http://127.0.0.1:{port}/ready")).status_code == 200:
                    return
            await asyncio.sleep(0.05)


async def test_webhook_workers_behind_a_balancer_keep_the_order_of_each_chat(api, model, postgres, bot_process):
    """Updates go to two workers in turn, and to one when the other is killed: each is answered once, in its order."""
    ports = [free_port(), free_port()]
    people = [PERSON, FRIEND]
    bots = []
    async with balanced(ports) as (url, taken):
        for port in ports:
            bot = await bot_process(
                start=False,
                folder=f"worker{port}",
                CONTINUITY_DATABASE_URL=postgres,
                CONTINUITY_HTTP_PORT=str(port),
                TELEGRAM_WEBHOOK_URL=url,
                TELEGRAM_WEBHOOK_SECRET="a-secret-of-16-characters",
            )
            bot.database = postgres
            await bot.launch()
            bots.append(bot)
            await ready(port)
        await api.until(lambda: api.webhook.url)
        for number in range(6):
            for person in people:
                api.people.says(person, f"{person} says {number}")
        await api.until(lambda: min(taken.values()) >= 3)
        await bots[0].kill()
        for number in range(6, 12):
            for person in people:
                api.people.says(person, f"{person} says {number}")
        said = [f"{person} says {number}" for person in people for number in range(12)]
        await api.until(lambda: len(heard_lines(bots[1])) == len(said))

    for person in people:
        lines = [line for line in heard_lines(bots[1]) if line.startswith(str(person))]
        assert lines == [f"{person} says {number}" for number in range(12)]


async def test_what_came_in_at_another_worker_comes_first(api, two_here):
    """The worker that holds a chat may get an update before it hears of the one that another has just written down."""
    one, other = two_here
    later = api.updates.next_id + 1_000
    await other.app.take_webhook(written(later, "first"))
    await one.app.take_webhook(written(later + 1, "second"))
    await api.until(lambda: "second" in heard_lines(one))

    assert heard_lines(one) == ["hello", "first", "second"]


async def test_work_that_nobody_was_told_of_is_found(api, two_here, monkeypatch):
    """When every word between the workers is lost, what came in at the one that does not hold the chat is answered."""
    for bot in two_here:
        monkeypatch.setattr(bot.app.joined.sharing, "_heard", lambda _: None)
    later = api.updates.next_id + 1_000
    for number, bot in enumerate(two_here):
        await bot.app.take_webhook(written(later + number, f"said to {number}"))
        await answered(api, PERSON, f"said to {number}")


async def test_the_messages_of_a_second_are_divided_among_those_who_are_there(api, two_here):
    """Two workers get half of Telegram's thirty each; the one that is left gets all."""
    paces = [bot.app.services.delivery._pace for bot in two_here]
    await api.until(lambda: [pace.workers for pace in paces] == [2, 2])
    await two_here[1].stop()

    await api.until(lambda: paces[0].workers == 1)


def written(update_id: int, text: str) -> bytes:
    """Return the update of a message, as Telegram sends it to a webhook."""
    who = {"id": PERSON, "is_bot": False, "first_name": "Ada"}
    message = {"message_id": update_id, "date": 1, "chat": {"id": PERSON, "type": "private"}, "from": who, "text": text}
    return json.dumps({"update_id": update_id, "message": message}).encode()


def heard_lines(bot) -> list[str]:
    """Return what people said, a line each; texts that piled up are one turn."""
    return [line for text, _ in stored_turns(bot) for line in text.splitlines() if line]


# --- connections that break -----------------------------------------------------------------------------------------

POINTS = [point for point in TURN_POINTS if point != "checkpoint_renamed"]


async def severed_at(api, bot, point: str) -> None:
    """Cut every connection of a bot at a point of a turn, and let it go on."""
    await bot.launch(CONTINUITY_FAULT=point, CONTINUITY_FAULT_SIGNAL="STOP")
    await api.until(lambda: is_stopped(bot.pid))
    rows(bot, SEVER)
    os.kill(bot.pid, signal.SIGCONT)


@pytest.mark.parametrize(
    "point", swept(POINTS, "inbox_after_write", "turn_answered", "after_commit", "outbox_sent_unrecorded")
)
async def test_connections_that_break_at_any_point_of_a_turn_cost_nothing(api, model, postgres, bot_process, point):
    """All of them, also those that hold its lock and hear news: nothing is lost, nothing twice, no model call more."""
    bot = await bot_process(start=False, CONTINUITY_DATABASE_URL=postgres)
    bot.database = postgres
    api.people.says(PERSON, "only once")
    await severed_at(api, bot, point)
    await answered(api, PERSON, "only once")
    await reply(api, "and again")

    assert bot_texts(api) == ["You said: only once", "You said: and again"]
    assert [said for said, _ in stored_turns(bot)] == ["only once", "and again"]
    assert len(model.requests) == 2


async def stopped_or_answered(api, bot, said: str) -> bool:
    """Wait until it has come to its point, or is through; return which."""
    await api.until(lambda: is_stopped(bot.pid) or answers_to(api, PERSON, said))
    return is_stopped(bot.pid)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("point", ["db_before_commit", "db_after_commit"])
async def test_connections_that_break_around_any_commit_cost_nothing(api, model, postgres, bot_process, point):
    """Around the first, second, third … commit of a start and a turn, until the turn is over before."""
    for nth in range(1, 100):
        bot = await bot_process(start=False, folder=f"{point}-{nth}", CONTINUITY_DATABASE_URL=postgres)
        bot.database = postgres
        said = f"{point} {nth}"
        api.people.says(PERSON, said)
        await bot.launch(CONTINUITY_FAULT=f"{point}:{nth}", CONTINUITY_FAULT_SIGNAL="STOP")
        came = await stopped_or_answered(api, bot, said)
        if came:
            rows(bot, SEVER)
            os.kill(bot.pid, signal.SIGCONT)
        await answered(api, PERSON, said)
        await bot.kill()
        if not came:
            break

    assert bot_texts(api) == [f"You said: {point} {each}" for each in range(1, nth + 1)]
    assert len(model.requests) == nth > 10


# --- what an operator sees ------------------------------------------------------------------------------------------


async def test_the_console_and_the_metrics_know_each_worker(served, postgres, tmp_path):
    """Asked of either worker: who holds how many chats, which one does what is done once, which starts run."""
    (app, _), (other, metrics) = [
        await served(continuity_database_url=postgres, continuity_checkpoint_dir=tmp_path / name)
        for name in ("one", "other")
    ]
    async with httpx.AsyncClient(base_url=other.http_url, follow_redirects=True, timeout=30) as browser:
        await browser.post("/console/login", data={"token": TOKEN})
        overview, starts = (await browser.get("/console/sessions")).text, (await browser.get("/console/starts")).text
        figures = (await metrics.get("/metrics")).text
        await app.stop()
        after = (await browser.get("/console/starts")).text

    assert overview.count("holds 0 chats") == 2
    assert overview.count("polls and keeps time") == 1
    assert starts.count(">running<") == 2
    assert (after.count(">running<"), after.count("killed")) == (1, 0)
    assert "continuity_worker_silent_seconds{worker=" in figures


# --- a worker that sleeps, a version that is newer ------------------------------------------------------------------


async def test_a_stopped_worker_holds_up_nobody_but_whoever_wants_the_database_alone(api, model, workers):
    """Its chats are others', a new worker may start; a command that changes data is refused until it is killed."""
    one, other = await workers({}, {})
    api.people.says(PERSON, "hello")
    await answered(api, PERSON, "hello")
    os.kill(one.pid, signal.SIGSTOP)
    await api.until(lambda: len(rows(other, "SELECT worker FROM workers")) == 1)
    api.people.says(PERSON, "still there?")
    await answered(api, PERSON, "still there?")
    assert await other.terminate() == 0

    await other.launch("forget", "--conversation", "1", "--yes")
    assert await other.wait() != 0
    assert other.log.count(REFUSED) == 1
    await other.start()
    api.people.says(PERSON, "and now?")
    await answered(api, PERSON, "and now?")
    assert await other.terminate() == 0
    await one.kill()
    await other.launch("forget", "--conversation", "1", "--yes")
    await other.wait()
    assert other.log.count(REFUSED) == 1


async def test_an_older_version_goes_on_and_does_not_start_again(api, workers):
    """A schema that a newer version has changed: what runs goes on, what starts is refused and says so."""
    one, other = await workers({}, {})
    change(one, "INSERT INTO schema_migrations (number, name, applied_at_ms) VALUES (1999, 'newer', 1)")
    for bot in (one, other):
        api.people.says(PERSON, f"hello {bot.pid}")
        await answered(api, PERSON, f"hello {bot.pid}")
    assert await one.terminate() == 0
    await one.launch()

    assert await one.wait() == 1
    assert "has schema 1999, which this program does not know yet" in one.log
    api.people.says(PERSON, "still there?")
    await answered(api, PERSON, "still there?")
