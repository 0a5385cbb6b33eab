"""Which day a sentence speaks of: what is over is no day ahead, and is told at the day on which it was."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.language.due_dates import Due
from memory.language.languages import Languages
from memory.language.sentences import lowered
from memory.notes.when import coming_day, past_day

LANGUAGES = Languages.load()
MONDAY_MS = 1_795_420_800_000
"""Monday 23 November 2026, 08:00 UTC."""


def day(due: Due | None) -> str:
    return f"{datetime.fromtimestamp(due.due_at_ms / 1000, UTC):%a %d %b}" if due else ""


@pytest.mark.parametrize(
    ("code", "said", "coming", "past"),
    [
        ("en", "had my dance lesson tuesday", "", "Tue 17 Nov"), ("en", "the dentist was on monday", "", "Mon 16 Nov"),
        ("en", "my exam was on the 3rd", "", "Tue 03 Nov"), ("en", "we met on friday", "", "Fri 20 Nov"),
        ("en", "the interview went well on thursday", "", "Thu 19 Nov"),
        ("en", "i have a dance lesson tuesday", "Tue 24 Nov", ""), ("en", "it was moved to tuesday", "Tue 24 Nov", ""),
        ("en", "the dentist was booked for tuesday", "Tue 24 Nov", ""),
        ("en", "i wish it was on tuesday", "Tue 24 Nov", ""),
        ("en", "the exam was on tuesday, now it's on thursday", "Thu 26 Nov", "Tue 17 Nov"),
        ("de", "hatte am dienstag tanzstunde", "", "Tue 17 Nov"),
        ("de", "der zahnarzt war am montag", "", "Mon 16 Nov"),
        ("de", "ich habe den zahnarzt auf dienstag gelegt", "Tue 24 Nov", ""),
        ("es", "tuve clase de baile el martes", "", "Tue 17 Nov"), ("es", "el dentista fue el lunes", "", "Mon 16 Nov"),
        ("es", "reservé mesa para el viernes", "Fri 27 Nov", ""), ("fr", "le dentiste c'était lundi", "", "Mon 16 Nov"),
        ("fr", "j'ai eu mon cours de danse mardi", "", "Tue 17 Nov"),
        ("fr", "j'ai réservé pour vendredi", "Fri 27 Nov", ""), ("it", "il dentista era lunedì", "", "Mon 16 Nov"),
        ("it", "ho avuto lezione di ballo martedì", "", "Tue 17 Nov"),
        ("it", "ho prenotato per venerdì", "Fri 27 Nov", ""), ("pt", "o dentista foi na segunda", "", "Mon 16 Nov"),
        ("pt", "tive aula de dança na terça", "", "Tue 17 Nov"), ("pt", "marquei para a sexta", "Fri 27 Nov", ""),
        ("ru", "у меня был урок танцев во вторник", "", "Tue 17 Nov"),
        ("ru", "записалась на вторник", "Tue 24 Nov", ""),
    ],
)  # fmt: skip
def test_a_day_is_over_where_the_sentence_tells_the_past(code, said, coming, past):
    """In seven languages; what was only booked or moved then is still to come."""
    language = LANGUAGES.get(code)
    lower = language.mended(lowered(said))

    assert day(coming_day(lower, MONDAY_MS, "UTC", language)) == coming
    assert day(past_day(lower, MONDAY_MS, "UTC", language)) == past
