"""The idle heartbeat: nobody waits for it, and it never undoes what the user did."""

from __future__ import annotations

import asyncio

import pytest
from bootstrap_cases import IDLE, heartbeat_of, new, noted, past, task, words_of

from memory.continuity.bootstrap import Bootstrap
from memory.continuity.heartbeat import Heartbeat, HeartbeatReport
from memory.continuity.staleness import Workload
from memory.errors import StorageUnavailable
from memory.ports import Statement
from memory.testing import WordCounter, make_persona


class Held(Bootstrap):
    """A bootstrap whose generation does not end by itself."""

    def __init__(self, db, clock, ledgers):
        super().__init__(db, clock, WordCounter(), ledgers)
        self.began, self.ended = asyncio.Event(), asyncio.Event()

    async def refresh_if_stale(self, owner):  # noqa: ARG002 - nobody is read
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


class Slow:
    """A database whose next write waits until it is let go."""

    def __init__(self, db):
        self.db = db
        self.reached, self.may_finish = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name):
        return getattr(self.db, name)

    async def write(self, *statements):
        if not self.reached.is_set():
            self.reached.set()
            await self.may_finish.wait()
        return await self.db.write(*statements)


@pytest.mark.parametrize("removal", ["drop", "clear"])
async def test_generation_about_to_be_stored_does_not_bring_back_what_is_removed(db, clock, ledgers, owner, removal):
    """A drop or a clearing that comes while a generation is being stored is done after it, and so counts."""
    await db.write(past(), new())
    await noted(ledgers, task())
    arcs = (await Bootstrap(db, clock, WordCounter(), ledgers).preview(owner)).arcs
    gone = next(arc.arc_id for arc in arcs if "Anna" in arc.summary)
    slow = Slow(db)
    service = Bootstrap(slow, clock, WordCounter(), ledgers)
    generation = asyncio.create_task(service.refresh(owner))
    await slow.reached.wait()

    removing = service.choose(owner, "s_2", "use", dropped=[gone]) if removal == "drop" else service.clear(owner)
    removed = asyncio.create_task(removing)
    for _ in range(50):
        await db.read_one("continuity_session", session_id="s_2")
    slow.may_finish.set()
    await asyncio.gather(generation, removed)

    assert "Anna" not in await words_of(db)


# --- heartbeat


async def test_heartbeat_stops_between_users_when_a_message_comes(db, bootstrap):
    """Busy after the first user: the second waits for the next heartbeat, and the report says why."""
    await db.write(past(), past(session_id="s_8", user_id=8, conversation_id="tg:1:8:0"))
    answers = iter([False, True, False, False])
    heartbeat = heartbeat_of(db, bootstrap, busy=lambda: next(answers))

    first, second = await heartbeat.run(), await heartbeat.run()

    assert (first.generated, first.stopped) == (1, "a message came")
    assert (second.generated, second.stopped) == (1, "")


async def test_message_interrupts_a_generation(db, clock, ledgers, owner):
    """A message that comes while the heartbeat generates ends that at once; the user is done next time."""
    await db.write(past())
    held = Held(db, clock, ledgers)
    heartbeat = heartbeat_of(db, held)
    run = asyncio.create_task(heartbeat.run())
    await held.began.wait()

    heartbeat.message_arrived()
    report = await run

    assert (report.generated, report.stopped, held.ended.is_set()) == (0, "a message came", True)
    assert await db.read_one("continuity_cache", owner_key=owner.artifact_key) is None


async def test_stopping_the_program_ends_the_heartbeat_and_its_generation(db, clock, ledgers):
    """When the heartbeat is cancelled from outside, the generation inside it goes too."""
    await db.write(past())
    held = Held(db, clock, ledgers)
    run = asyncio.create_task(heartbeat_of(db, held).run())
    await held.began.wait()

    run.cancel()

    with pytest.raises(asyncio.CancelledError):
        await run
    assert held.ended.is_set()


async def test_heartbeat_looks_at_nobody_twice_for_nothing(db, bootstrap, clock):
    """A user who said nothing since the last heartbeat is not read again; one who did is generated again."""
    await db.write(past())
    heartbeat = heartbeat_of(db, bootstrap)

    await heartbeat.run()
    assert await heartbeat.run() == HeartbeatReport()

    at_ms = clock.advance(s=60)
    await db.write(Statement("set_turn_count", {"session_id": "s_1", "turn_count": 5, "at_ms": at_ms}))
    assert (await heartbeat.run()).generated == 1


async def test_missing_persona_and_failures_keep_nobody_else_from_their_turn(db, clock, ledgers, caplog):
    """A user without a persona is skipped, a failing one is counted and logged, the rest are done."""
    await db.write(*(past(session_id=f"s_{n}", user_id=n, conversation_id=f"tg:1:{n}:0") for n in (1, 2, 3)))
    bootstrap = Bootstrap(db, clock, WordCounter(), ledgers)

    async def persona_of(user_id):
        return None if user_id == 1 else make_persona()

    async def refresh_if_stale(owner):
        if owner.user_id == 2:
            raise RuntimeError
        return await Bootstrap.refresh_if_stale(bootstrap, owner)

    bootstrap.refresh_if_stale = refresh_if_stale
    report = await Heartbeat(db, bootstrap, persona_of=persona_of, workload=lambda: IDLE, busy=lambda: False).run()

    assert (report.generated, report.skipped, report.failed) == (1, {"persona missing": 1}, 1)
    assert "one generation failed" in caplog.text


async def test_heartbeat_logs_what_it_did_or_why_not(db, bootstrap, ledgers, caplog):
    """Success and skip are both in the log, without a word of what people said."""
    caplog.set_level("INFO")
    await db.write(past())
    await noted(ledgers, task())

    await heartbeat_of(db, bootstrap).run()
    await heartbeat_of(db, bootstrap, workload=Workload(running_turns=1)).run()

    assert "generated=1" in caplog.text
    assert "a turn is running" in caplog.text
    assert "Anna" not in caplog.text


async def test_heartbeat_ends_quietly_when_the_database_is_gone(db, bootstrap):
    """A disk that refuses ends the heartbeat with a reason; it is tried again at the next one."""
    await db.write(past())

    class Full:
        async def read(self, *_, **__):
            raise StorageUnavailable

    report = await Heartbeat(Full(), bootstrap, persona_of=None, workload=lambda: IDLE, busy=lambda: False).run()

    assert "nothing was stored" in report.stopped
