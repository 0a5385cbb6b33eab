"""A value that is put right in the same breath: the later one is meant, and what only looks so is left alone."""

from __future__ import annotations

import pytest

from memory.language.corrected import as_meant
from memory.language.languages import Languages
from memory.notes.rules import read_by_rules
from memory.notes.types import ReadingRequest
from memory.testing import make_turn

LANGUAGES = Languages.load()
MONDAY_MS = 1_795_420_800_000
"""Monday 23 November 2026, 08:00 UTC."""


@pytest.mark.parametrize(
    ("code", "said", "meant"),
    [
        ("en", "the parcel arrives 3 december, sorry, the 4th", "the parcel arrives 4th december"),
        ("en", "a meeting tomorrow at 5, no wait, 6", "a meeting tomorrow at 6"),
        ("en", "at 5pm, no, 6", "at 6pm"),
        ("en", "on tuesday at 5, no, wednesday at 6 we meet", "on wednesday at 6 we meet"),
        ("en", "at five, no, six, I mean seven", "at seven"),
        ("en", "lunch with Tom, I mean Tim", "lunch with Tim"),
        ("en", "the exam is on the 3rd, sorry, 4 december", "the exam is on the 4 december"),
        ("de", "Morgen um 15 uhr, quatsch, 16 uhr habe ich Zahnarzt", "Morgen um 16 uhr habe ich Zahnarzt"),
        ("de", "am 3. Dezember, nein, am 4. kommt Tom", "am 4. Dezember kommt Tom"),
        ("es", "el 3 de diciembre, perdón, el 4", "el 4 de diciembre"),
        ("es", "el martes a las 5, no, a las 6", "el martes a las 6"),
        ("fr", "demain à 15h30, enfin 16h", "demain à 16h"), ("it", "martedì, anzi mercoledì", "mercoledì"),
        ("pt", "dia 3, desculpa, dia 4 de dezembro", "dia 4 de dezembro"),
        ("ru", "в пятницу, вернее, в субботу", "в субботу"), ("ru", "в 15:00, ой, в 16:00", "в 16:00"),
        *(
            (code, text, text)
            for code, text in (
                ("en", "at 5, sorry, 3 friends are coming"), ("en", "I can't at 5, sorry, I have no car"),
                ("en", "I said it was 65, but it's actually 60"), ("en", "Thanks Tom, sorry, Tomorrow is bad"),
                ("en", "Is it 11? No. Actually, it's 10"), ("en", "no, 6"), ("es", "habitación 5, no 6"),
            )
        ),
    ],
)  # fmt: skip
def test_the_later_value_is_meant(code, said, meant):
    """Of a day, an hour, a number or a name; what follows must be of the same kind and stand alone."""
    assert as_meant(said, LANGUAGES.get(code)) == meant


def test_the_later_day_is_noted():
    """The note reads as it is meant, and is due then."""
    turn = make_turn(user_text="The exam is on 3 december, sorry, the 4th", created_at_ms=MONDAY_MS)
    request = ReadingRequest(session_id="s_1", conversation_id="c", turns=(turn,), now_ms=MONDAY_MS)
    noted = read_by_rules(request, LANGUAGES).matters[0]

    assert noted.text == "The exam is on 4th december"
    assert noted.due_at_ms == MONDAY_MS + (11 * 24 + 1) * 3_600_000
