"""A matter that gets another day stands on that day alone, in whatever words it is moved."""

from __future__ import annotations

import pytest
from test_notes_endings import viewed

from memory.notes.lines import line_of
from memory.notes.types import Matter


def days(language: str, earlier: str, later: str) -> list[str]:
    """Return the days of what goes on, after something was said in one session and something else in the next."""
    view = viewed(language, earlier, later)
    dated = sorted(m.due_at_ms for m in view.matters if m.due_at_ms is not None)
    return [line_of(_on(day), view.now_ms, "UTC").split(":", 1)[0] for day in dated]


def _on(due_at_ms: int) -> Matter:
    return Matter(
        matter_id="t.u0", kind="event", text="x", turn_ids=("t",), said_at_ms=1, weight=1, due_at_ms=due_at_ms
    )


@pytest.mark.parametrize(
    ("language", "earlier", "later", "day"),
    [
        ("en", "our concert is on 19 march, parents and all", "concert got moved to the 20th btw", "Fri 20 Mar"),
        ("en", "Ines is on the ship till 21 march", "Ines emailed from the ship. its the 28th now", "Sat 28 Mar"),
        ("en", "the postmortem is due on 18 march", "postmortem moved to tue 24 march, Ingrid is away", "Tue 24 Mar"),
        ("en", "my hip operation is on tuesday 24 march", "it's thursday the 19th now", "Thu 19 Mar"),
        ("it", "il 20 marzo mi mettono una protesi all'anca", "mi hanno spostata a lunedì 23", "Mon 23 Mar"),
        ("de", "die Untersuchung ist am 18. März", "die Untersuchung wurde verschoben auf den 25. März", "Wed 25 Mar"),
        ("es", "la boda de mi prima es el 21 de marzo", "movieron la boda para el 28 de marzo", "Sat 28 Mar"),
        ("fr", "le concert de la chorale est le 21 mars", "le concert est maintenant le 28 mars", "Sat 28 Mar"),
    ],
)  # fmt: skip
def test_a_matter_that_was_moved_has_one_day(language, earlier, later, day):
    """The old day is said nowhere: two days of one thing would send somebody on the wrong one."""
    assert days(language, earlier, later) == [day]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("dinner with Petra on 19 march", "now I also have the dentist on 24 march"),
        ("the concert is on 19 march", "my flight got moved to the 24th"),
        ("the concert is on 19 march", "the concert hall is great, see you on 24 march"),
    ],
)
def test_another_day_of_something_else_moves_nothing(earlier, later):
    """What shares no word, or only a name, is another matter."""
    assert "Thu 19 Mar" in days("en", earlier, later)
