"""Reminders: what is due, what it says, what an event makes of it; and the table on a real database."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.people.choices import PersonalChoices, choices_in, find_time_zone
from bot.reminders.rules import (
    HOUR_MS,
    Reminder,
    advance_reminder,
    due_reminders,
    insert_reminder,
    job_id_of,
    late_text,
    messages_for,
    next_status,
    read_reminder,
    reminder_list,
    reminder_text,
    snoozed_until,
    target_of,
    tomorrow_ms,
    when_text,
)
from bot.tables import BOT_TABLES
from memory.errors import Conflict
from memory.language.languages import Languages
from memory.state.state_manager import apply_turn, begin_job, end_job
from memory.testing import ManualClock, make_state, make_turn, open_memory

LANGUAGES = Languages.load()
NOW_MS = int(datetime(2026, 11, 21, 12, 0, tzinfo=UTC).timestamp() * 1000)
STATUSES = ("scheduled", "delivered", "done", "cancelled")
EVENTS = ("deliver", "snooze", "finish", "cancel", "settle")


def make_job(**overrides: Any) -> Reminder:
    fields = {
        "job_id": "j_1", "conversation_id": "tg:1:2:0", "session_id": "s_1", "user_id": 2, "kind": "reminder",
        "title": "call Ana", "status": "scheduled", "due_at_ms": NOW_MS, "time_zone": "UTC",
    }  # fmt: skip
    return Reminder(**(fields | overrides))


@pytest.fixture
async def db(tmp_path):
    async with open_memory(tmp_path, extensions=[BOT_TABLES]) as opened:
        yield opened.db


# --- decisions ------------------------------------------------------------------------------------------------------


def test_only_scheduled_jobs_whose_time_has_come_are_due_the_earliest_first():
    """Delivered, ended and future ones are left alone; the boundary is inclusive."""
    reminders = [
        make_job(job_id="j_now"),
        make_job(job_id="j_early", due_at_ms=NOW_MS - 5),
        make_job(job_id="j_future", due_at_ms=NOW_MS + 1),
        make_job(job_id="j_delivered", status="delivered"),
        make_job(job_id="j_undated", due_at_ms=None),
    ]

    assert [reminder.job_id for reminder in due_reminders(reminders, NOW_MS)] == ["j_early", "j_now"]


def test_a_job_that_ended_stays_ended_and_none_is_delivered_twice():
    """No event leads out of done or cancelled, and `deliver` is possible from `scheduled` only."""
    table = {(s, e): next_status(s, e) for s, e in itertools.product(STATUSES, EVENTS)}

    assert all(to is None for (status, _), to in table.items() if status in ("done", "cancelled"))
    assert [status for (status, event), to in table.items() if event == "deliver" and to] == ["scheduled"]
    with pytest.raises(ValueError, match="cannot snooze"):
        advance_reminder(make_job(status="done"), "snooze", NOW_MS)


@pytest.mark.parametrize(
    ("late_s", "said"),
    [
        (0, ""),
        (119, ""),
        (120, "was due 2 minutes ago"),
        (3 * 3600, "was due 3 hours ago"),
        (2 * 86400, "was due 2 days ago"),
        (-60, ""),
    ],
)
def test_late_is_said_from_two_minutes_on(late_s: int, said: str):
    """What comes in time does not speak of time."""
    assert late_text(NOW_MS - late_s * 1000, NOW_MS) == said
    assert said in reminder_text(make_job(due_at_ms=NOW_MS - late_s * 1000), NOW_MS)


@pytest.mark.parametrize(
    ("hours", "zone", "said"),
    [
        (1, "UTC", "today at 13:00"), (24, "UTC", "tomorrow at 12:00"), (10, "Asia/Tokyo", "tomorrow at 07:00"),
        (21 * 24, "UTC", "on Sat 12 Dec at 12:00"), (60 * 24, "UTC", "on Wed 20 Jan 2027 at 12:00"),
        (1, "Nowhere/Land", "today at 13:00"),
    ],
)  # fmt: skip
def test_a_time_is_said_by_the_persons_clock(hours: int, zone: str, said: str):
    """Today, tomorrow, a weekday with its date; the year when it is another; an unknown zone counts as UTC."""
    assert when_text(NOW_MS + hours * HOUR_MS, NOW_MS, zone) == said


def test_tomorrow_morning_is_nine_oclock_also_when_the_clocks_change():
    """In Berlin the night to 2026-03-29 has 23 hours, and 09:00 is still 09:00."""
    evening_ms = int(datetime(2026, 3, 28, 20, 0, tzinfo=UTC).timestamp() * 1000)

    assert when_text(tomorrow_ms(evening_ms, "Europe/Berlin"), evening_ms, "Europe/Berlin") == "tomorrow at 09:00"
    assert snoozed_until("hour", NOW_MS, "UTC") == NOW_MS + HOUR_MS


def test_a_few_come_one_by_one_and_many_as_one_list():
    """Three messages for three reminders; nine reminders make two lists, and no reminder is left out or doubled."""
    few = [make_job(job_id=f"j_{n}") for n in range(3)]
    many = [make_job(job_id=f"j_{n}", due_at_ms=NOW_MS - HOUR_MS) for n in range(9)]

    assert [reminders for _, reminders in messages_for(few, NOW_MS)] == [[reminder] for reminder in few]
    assert [reminder for _, reminders in messages_for(many, NOW_MS) for reminder in reminders] == many
    assert len(messages_for(many, NOW_MS)) == 2
    assert "… and 1 more" in reminder_list("Coming up:", many, NOW_MS, "UTC").text


def test_where_a_job_reports_is_read_from_its_conversation():
    """Chat, topic and the only person who may tap its buttons."""
    target = target_of(make_job(conversation_id="tg:1:-100:7"))

    assert (target.chat_id, target.thread_id, target.user_id) == (-100, 7, 2)


def test_a_session_knows_its_jobs_until_they_end():
    """A reminder made between turns is added once, a turn's by the fold; ending takes it and its references out."""
    state = begin_job(begin_job(make_state(), "j_1"), "j_1")
    state = apply_turn(state, make_turn(seq=1, job_refs=("j_2",)), LANGUAGES)

    assert state.active_job_refs == ("j_1", "j_2")
    assert state.resolved_entities["that task"] == "j_2"
    assert end_job(state, "j_2").active_job_refs == ("j_1",)
    assert "j_2" not in end_job(state, "j_2").resolved_entities.values()


# --- rows -----------------------------------------------------------------------------------------------------------


async def inserted(db: Any, call_key: str = "t_1:remind", **overrides: Any) -> Reminder:
    values = {
        "conversation_id": "tg:1:2:0", "session_id": "s_1", "user_id": 2, "turn_id": "t_1", "title": "call Ana",
        "due_at_ms": NOW_MS, "time_zone": "UTC", "now_ms": NOW_MS,
    }  # fmt: skip
    await db.write(insert_reminder(call_key, **(values | overrides)))
    row = await db.read_one("job_find", job_id=job_id_of(call_key), conversation_id="tg:1:2:0")
    assert row is not None
    return read_reminder(row)


async def test_the_same_call_makes_one_job(db):
    """A repeated call changes nothing, not even the title."""
    first = await inserted(db)

    assert await inserted(db, title="something else") == first
    assert len(await db.read("jobs_due", prefix="tg:1:%", now_ms=NOW_MS, limit=10)) == 1


async def test_a_job_is_moved_only_from_where_we_saw_it(db):
    """Of two that deliver the same reminder one loses, and so does a delivery of one that was put off meanwhile."""
    reminder = await inserted(db)
    await db.write(advance_reminder(reminder, "snooze", NOW_MS, due_at_ms=NOW_MS + HOUR_MS))
    with pytest.raises(Conflict):
        await db.write(advance_reminder(reminder, "deliver", NOW_MS))
    [row] = await db.read("jobs_due", prefix="tg:1:%", now_ms=NOW_MS + HOUR_MS, limit=10)
    await db.write(advance_reminder(read_reminder(row), "deliver", NOW_MS))
    with pytest.raises(Conflict):
        await db.write(advance_reminder(read_reminder(row), "deliver", NOW_MS))


async def test_another_bots_jobs_and_other_peoples_lists_are_left_alone(db):
    """A database that served another bot before rings for this one only; a list shows one's own."""
    await inserted(db)

    assert await db.read("jobs_due", prefix="tg:9:%", now_ms=NOW_MS, limit=10) == []
    assert await db.read_one("job_next_due", prefix="tg:9:%") is None
    assert await db.read("jobs_upcoming", conversation_id="tg:1:2:0", user_id=3) == []
    assert len(await db.read("jobs_upcoming", conversation_id="tg:1:2:0", user_id=2)) == 1


# --- people ---------------------------------------------------------------------------------------------------------


async def test_a_choice_keeps_the_other_choices_and_lets_nobody_in(db):
    """The time zone is added to what stands; the default counts for who chose none or something unknown."""
    people = PersonalChoices(db, ManualClock(), "Europe/Rome")
    assert await people.time_zone(2) == await people.time_zone(None)
    await db.write(await people.choose(2, persona="companion"))
    await db.write(await people.choose(2, time_zone="Asia/Tokyo"))

    assert await people.choices(2) == {"persona": "companion", "time_zone": "Asia/Tokyo"}
    assert (await people.time_zone(2)).name == "Asia/Tokyo"
    assert [row["allowed"] for row in await db.read("people_all")] == [0]
    await db.write(await people.choose(2, time_zone="../../etc/passwd"))
    assert (await people.time_zone(2)).name == "Europe/Rome"
    assert choices_in("not json") == choices_in("[]") == {}


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Europe/Berlin", "Europe/Berlin"), ("berlin", "Europe/Berlin"), ("New York", "America/New_York"),
        ("utc", "UTC"), ("Atlantis", None), ("", None), ("../x", None),
    ],
)  # fmt: skip
def test_a_zone_is_found_by_its_name_or_its_city(said: str, name: str | None):
    """Case and blanks do not matter; what is not one zone is none."""
    assert find_time_zone(said) == name
