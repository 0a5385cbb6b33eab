"""The scheduler on a real database: what is due is written down with its message, once, whatever happens (P5)."""

from __future__ import annotations

import asyncio

import pytest

from bot.reminders.scheduler import LOOK_EVERY_S
from memory.ledger import series
from memory.ledger.types import Actor, Add, Change, End

PERSON = 7
HERE = f"tg:99:{PERSON}:0"


async def remind(one, text: str, due_in_s: int, repeats: str = "") -> int:
    """Store a reminder of the person's; return its number."""
    now_ms = one.clock.now_ms()
    local = series.local_of(now_ms + due_in_s * 1000, "UTC")
    fields = {"rings_from": local, "repeats": repeats, "user_id": PERSON, "owner": "user"}
    add = Add(kind="task", text=text, note_id=f"n_{text}", fields=fields)
    [outcome] = await one.services.memory.change(HERE, [add], Actor("person", now_ms, "test"))
    return outcome.note.number


async def do(one, operation) -> None:
    """Change the ledger by the person's hand."""
    await one.services.memory.change(HERE, [operation], Actor("person", one.clock.now_ms(), "test"))


async def looks(one) -> float:
    """Let the scheduler look at the table once, and everything be sent."""
    wait_s = await one.services.reminders.run()
    await one.settled()
    return wait_s


async def until_minute(one) -> None:
    """Let the clock stand at the beginning of a minute: reminders have no seconds."""
    one.clock.advance(s=60 - one.clock.now_ms() // 1000 % 60)


async def rang(one) -> list[tuple]:
    """The states of the dates that are stored."""
    return await one.rows("occurrences", "state")


async def test_what_is_due_is_said_once_and_the_next_is_waited_for(one, screen, clock):
    """Before its time nothing comes; at its time it does; a further look says nothing again."""
    await until_minute(one)
    await remind(one, "vet", 60)
    assert await looks(one) <= 60
    assert screen.sent == []

    clock.advance(s=60)
    assert [await looks(one), await looks(one)] == [LOOK_EVERY_S, LOOK_EVERY_S]

    assert screen.sent == ["⏰ vet"]
    assert await rang(one) == [("rang",)]


async def test_what_comes_again_rings_each_day_and_stays_one_note(one, screen, clock):
    """Each time it is said once; the note goes on to its next date."""
    await until_minute(one)
    await remind(one, "pills", 60, repeats="FREQ=DAILY")
    for day in (1, 2):
        clock.advance(s=60 if day == 1 else 24 * 3600)
        await looks(one)
        assert len(screen.sent) == day

    assert await one.rows("notes", "status") == [("open",)]
    [(rings_at_ms,)] = await one.rows("notes", "rings_at_ms")
    assert rings_at_ms == clock.now_ms() + 24 * 3_600_000


async def test_the_text_is_read_when_it_rings(one, screen, clock):
    """What was reworded meanwhile comes in its new words."""
    await until_minute(one)
    number = await remind(one, "vet", 60)
    await do(one, Change(number=number, fields={"text": "Vet, with the papers"}))
    clock.advance(s=60)
    await looks(one)

    assert screen.sent == ["⏰ Vet, with the papers"]


async def test_what_ended_does_not_ring(one, screen, clock):
    """What was called done before its time is not spoken of any more."""
    await until_minute(one)
    number = await remind(one, "vet", 60)
    await do(one, End(number=number))
    clock.advance(s=60)
    await looks(one)

    assert screen.sent == []


async def test_many_at_once_come_as_one_list_that_says_since_when(one, screen, clock):
    """After a long downtime nobody gets five messages in a row."""
    await until_minute(one)
    for number in range(5):
        await remind(one, f"thing {number}", 60 + number * 60)
    clock.advance(s=3 * 3600)
    await looks(one)

    assert len(screen.sent) == 1
    assert screen.sent[0].startswith("⏰ While I was off:")
    assert all(f"{number + 1}. thing {number} (should have come" in screen.sent[0] for number in range(5))


@pytest.mark.parametrize("refused", ["outbox_insert", "ledger_move"])
async def test_a_disk_that_refuses_keeps_it_for_later(one, screen, clock, refused):
    """Message and note are one: neither is stored, it is looked at again, and then it comes once."""
    await until_minute(one)
    await remind(one, "vet", 60)
    clock.advance(s=60)
    one.refuse(refused)
    assert await looks(one) == LOOK_EVERY_S
    assert screen.sent == []
    assert (await rang(one), await one.rows("outbox", "text")) == ([], [])

    one.refuse()
    await looks(one)
    assert len(screen.sent) == 1


async def test_what_another_process_rang_is_left_alone(one, screen, clock):
    """The ledger moved on behind our back: nothing is said twice, and what stands is read again."""
    await until_minute(one)
    await remind(one, "vet", 60)
    stale = await one.services.memory.ledgers.read(HERE)
    clock.advance(s=60)
    await looks(one)
    one.services.memory.ledgers._keep(stale)
    one.services.memory.ledgers._kept[HERE] = stale
    due = stale.notes[1]
    await one.services.reminders._deliver_of(HERE, clock.now_ms())
    await one.settled()

    assert due.rings_at_ms is not None
    assert screen.sent == ["⏰ vet"]
    assert (await one.services.memory.ledgers.read(HERE)).notes[1].rings_at_ms is None


async def test_what_was_written_down_before_a_death_is_sent_by_the_next_start_alone(start, screen, clock):
    """The process dies between the commit and the send: the next one sends the message and sets off no other."""
    one = await start()
    await until_minute(one)
    await remind(one, "vet", 60)
    clock.advance(s=60)
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
    await remind(one, "vet", 60)
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
