"""When a message counts as said."""

import pytest

from memory.pending import said_at

NOW, HOUR = 100 * 3_600_000, 3_600_000


@pytest.mark.parametrize(
    ("sent", "before", "expected"),
    [
        (None, 0, NOW),
        (NOW - 40_000, 0, NOW - 40_000),
        (NOW + HOUR, 0, NOW),
        (NOW - 2 * HOUR, NOW - HOUR, NOW - HOUR),
        (NOW - 50 * HOUR, 0, NOW - 3 * HOUR),
    ],
)
def test_a_message_counts_as_said_when_it_was_sent(sent, before, expected):
    """Not in the future, not before the one before it, and not so long ago that the next one would be a new session."""
    assert said_at(sent, NOW, before, 6 * HOUR) == expected
