"""Whom the death of a worker is held against: pure rules, for databases on a server."""

import pytest

from bot.turns.sharing.holding import excused


@pytest.mark.parametrize(
    ("begun", "noted", "hung", "expected"),
    [
        ({"t_1"}, [], (), []),
        ({"t_1"}, ["t_1"], (), ["t_1"]),
        ({"t_1", "t_2"}, [], (), ["t_1", "t_2"]),
        ({"t_1", "t_2"}, ["t_1"], {"t_1"}, ["t_2"]),
        ({"t_1"}, ["t_1"], {"t_1"}, []),
        ({"t_1", "t_2"}, ["t_1", "t_2"], None, []),
    ],
    ids=["alone", "waits", "not alone", "it hung in one", "it hung while it waited", "it still held its connection"],
)
def test_who_is_excused(begun, noted, hung, expected):
    """Who waited or was not alone is; the turn that it hung in is not, nor anybody where it is not known which."""
    assert excused(begun, noted, hung) == expected
