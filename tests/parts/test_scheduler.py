"""The scheduler on a real database: what is due is written down with its message, once, whatever happens (P5)."""

from __future__ import annotations

import asyncio

import pytest

from bot.reminders.scheduler import LOOK_EVERY_S
from memory.ports import Statement

PERSON = 7
HERE = f"tg:99:{PERSON}:0"


async def remind(one, title: str, due_in_s: int, repeats: str = "") -> None:
    """Store a reminder of the person's."""
    now_ms = one.clock.now_ms()
    job = {"session_id": None, "user_id": PERSON, "turn_id": None, "call_key": title, "kind": "reminder"}
    job |= {"job_id": f"j_{title}", "conversation_id": HERE, "title": title, "time_zone": "UTC", "repeats": repeats}
    await one.services.db.write(
        Statement("job_insert", job | {"due_at_ms": now_ms + due_in_s * 1000, "now_ms": now_ms})
    )


async def looks(one) -> float:
    """Let the scheduler look at the table once, and everything be sent."""
    wait_s = await one.services.reminders.run()
    await one.settled()
    return wait_s


async def test_what_is_due_is_said_once_and_the_next_is_waited_for(one, screen, clock):
    """Before its time nothing comes; at its time it does; a further look says nothing again."""
    await remind(one, "vet", 30)
    assert await looks(one) == 30
    assert screen.sent == []

    clock.advance(s=30)
    assert [await looks(one), await looks(one)] == [LOOK_EVERY_S, LOOK_EVERY_S]

    assert [text for text in screen.sent if "vet" in text] == screen.sent
    assert len(screen.sent) == 1
    assert await one.rows("jobs", "status") == [("delivered",)]


async def test_what_comes_again_is_set_anew_with_its_message(one, screen, clock):
    """Each time it is said once and stands in the table for the next day."""
    await remind(one, "pills", 30, repeats="day@09:00")
    for day in (1, 2):
        clock.advance(s=30 if day == 1 else 24 * 3600)
        await looks(one)
        assert len(screen.sent) == day
        assert [status for (status,) in await one.rows("jobs", "status")].count("scheduled") == 1


@pytest.mark.parametrize("refused", ["outbox_insert", "job_move"])
async def test_a_disk_that_refuses_keeps_it_for_later(one, screen, clock, refused):
    """Message and move are one: neither is there, it is looked at again, and then it comes once."""
    await remind(one, "vet", 30)
    clock.advance(s=30)
    one.refuse(refused)
    assert await looks(one) == LOOK_EVERY_S
    assert screen.sent == []
    assert (await one.rows("jobs", "status"), await one.rows("outbox", "text")) == ([("scheduled",)], [])

    one.refuse()
    await looks(one)
    assert len(screen.sent) == 1


async def test_what_was_written_down_before_a_death_is_sent_by_the_next_start_alone(start, screen, clock):
    """The process dies between the commit and the send: the next one sends the message and sets off no other."""
    one = await start()
    await remind(one, "vet", 30)
    clock.advance(s=30)
    screen.hold = asyncio.Event()
    await one.services.reminders.run()
    await one.die()
    screen.hold.set()
    one = await start(continuity_probe_ids=0)
    await one.recover()
    await looks(one)

    assert len(screen.sent) == 1
    assert "vet" in screen.sent[0]


async def test_what_fell_due_while_nobody_was_there_comes_at_the_start(start, screen, clock):
    """A day late it is still said, once."""
    one = await start()
    await remind(one, "vet", 30)
    await one.die()
    clock.advance(s=24 * 3600)
    one = await start()
    one.services.reminders.start()
    try:
        await screen.until(lambda: screen.sent)
    finally:
        await one.services.reminders.stop()
    await looks(one)

    assert len(screen.sent) == 1
