"""The clock of the playground that can be moved."""

from __future__ import annotations

import pytest

from bot.playground.moved_clock import MovedClock, skipped_ms

SKIPS = [
    ("/skip 8h", 28_800_000),
    (" /SKIP 30 m ", 1_800_000),
    ("/skip 2d", 172_800_000),
    ("/skip", None),
    ("skip 8h", None),
    ("/skip -1h", None),
    ("/skip 8h please", None),
]


@pytest.mark.parametrize(("typed", "ms"), SKIPS)
def test_a_skip_says_how_far(typed, ms):
    """`/skip 8h` is eight hours; anything else is a message for the bot."""
    assert skipped_ms(typed) == ms


def test_two_readers_agree(tmp_path):
    """What one moves the other one reads, also after a restart; without the file it is the time of day."""
    one, other = MovedClock(tmp_path / "clock"), MovedClock(tmp_path / "clock")
    before = other.ahead_ms()

    one.move(1000)
    one.move(500)

    assert (before, other.ahead_ms(), MovedClock(tmp_path / "clock").ahead_ms()) == (0, 1500, 1500)


def test_a_broken_file_stops_no_clock(tmp_path):
    """A file that holds no number leaves the clock as it was."""
    (tmp_path / "clock").write_text("soon", encoding="utf-8")

    assert MovedClock(tmp_path / "clock").ahead_ms() == 0
