"""What is for a whole month is told as the month: on lists, in the model's lines, and where it is looked for."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from bot import replies
from bot.features.lists import page
from bot.features.loops import loop_list
from bot.features.memories import looked_up
from bot.sentences import LANGUAGES
from memory.continuity.candidates import _when
from memory.ledger.lines import model_line
from memory.ledger.types import Ledger, Note

LONDON = "Europe/London"
IN_JANUARY = {
    "en": "In January 2027",
    "de": "Im Januar 2027",
    "es": "En enero de 2027",
    "fr": "En janvier 2027",
    "it": "A gennaio 2027",
    "pt": "Em janeiro de 2027",
    "ru": "В январе 2027 г.",
}


def at(local: str) -> int:
    """The moment of a minute in London."""
    return int(datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(LONDON)).timestamp() * 1000)


NOW_MS = at("2026-11-27T10:00")


def january(number: int = 1, **overrides) -> Note:
    fields = {
        "note_id": f"n_{number}",
        "conversation_id": "tg:1:7:0",
        "number": number,
        "kind": "task",
        "text": "Find a new accountant",
        "owner": "user",
        "said_at_ms": NOW_MS,
        "time_zone": LONDON,
        "due_at_ms": at("2027-01-01T00:00"),
        "ends_at_ms": at("2027-01-31T00:00"),
    }
    return Note.model_validate(fields | overrides)


def shown(now: str, *notes: Note) -> list[str]:
    """The heads and lines of /loops, without the buttons' explanation."""
    ledger = Ledger("tg:1:7:0", notes={note.number: note for note in notes})
    text = page(loop_list(ledger, at(now), LONDON)).text
    return [line for line in text.splitlines()[1:] if line and line != replies.say("loops_foot")]


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_month_stands_over_what_is_for_all_of_it(code):
    """It stood under “Fri 1 Jan”, as if it were due that day, and the line said the month once more."""
    with replies.speaking(code):
        assert shown("2026-11-27T10:00", january()) == [IN_JANUARY[code], "1. Find a new accountant"]


def test_a_month_stands_behind_its_days():
    """“In December” stood above tomorrow; a ring keeps its own day, also where it is the month's first."""
    rings = {"rings_from": "2027-01-01T09:00", "rings_at_ms": at("2027-01-01T09:00"), "text": "Order oak"}
    first = january(2, text="Ring Karl", ends_at_ms=None)
    dentist = january(3, text="Send the form", due_at_ms=at("2027-01-15T00:00"), ends_at_ms=None)

    assert shown("2026-12-30T10:00", january(4, **rings), first, dentist) == [
        "Fri 1 Jan 2027", "1. Ring Karl",
        "Fri 15 Jan 2027", "2. Send the form",
        "In January 2027", "3. Order oak (⏰ Fri 1 Jan 2027 at 09:00)",
    ]  # fmt: skip
    assert shown("2027-01-15T10:00", january(), dentist)[::2] == ["Today", "In January"]


def test_a_month_that_is_over_or_put_off_until_a_day_stands_elsewhere():
    late = shown("2027-02-01T10:00", january())
    put_off = shown("2027-01-04T10:00", january(snoozed_until_ms=at("2027-01-20T09:00")))

    assert late == ["Overdue", "1. Find a new accountant (was due in January)"]
    assert put_off == ["Wed 20 Jan", "1. Find a new accountant (in January, put off)"]


@pytest.mark.parametrize("brief", [True, False])
def test_a_model_is_told_the_month(brief):
    """Its first and last day are how it is kept, not what was said."""
    assert model_line(january(), NOW_MS, LONDON, brief=brief) == "#1 task: Find a new accountant (due January 2027)"
    assert "(was January 2027)" in model_line(january(), at("2027-02-01T10:00"), LONDON, brief=brief)
    assert _when(january(), LONDON) == " (January 2027)"


def test_a_month_is_looked_for_by_its_name_and_by_no_day():
    """The list says “in January”, and 1 January is a Friday."""
    found = [len(looked_up([january()], words, NOW_MS, LONDON)) for words in ("January", "январе", "Friday", "Sunday")]

    assert found == [1, 1, 0, 0]
