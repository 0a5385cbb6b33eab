"""Who may use the bot, and which deaths are held against a turn."""

from __future__ import annotations

import random

from bot.intake.access import ALPHABET, MAX_TOLD, TRIES, Gate
from bot.turns.model_waits import ModelWaits, is_given_up


def gate(**overrides):
    return Gate(**{"everyone": False, "named": (), "paired": ()} | overrides)


def test_nobody_is_let_in_by_default():
    """An empty list means nobody, and a code to pair with."""
    closed = gate()

    assert not closed.admits(7)
    assert not closed.admits(None)
    assert len(closed.code) == 8


def test_named_and_paired_people_are_let_in_and_no_code_is_shown():
    """Whoever is on the list needs no code; nobody else can pair then."""
    opened = gate(named={7}, paired={8})

    assert opened.admits(7)
    assert opened.admits(8)
    assert not opened.admits(9)
    assert opened.code is None


def test_the_code_is_spent_with_the_first_pairing():
    """The second who sends it is a stranger."""
    closed = gate()
    code = closed.code
    assert closed.knows_code(7, f"/start {code.lower()}")
    closed.pair(7)

    assert closed.admits(7)
    assert not closed.knows_code(8, code)


def test_guessing_ends_after_a_few_tries():
    """After five wrong codes a user is not heard any more, even with the right one; others still are."""
    closed = gate()
    for _ in range(TRIES):
        assert not closed.knows_code(7, "AAAAAAAA")

    assert not closed.knows_code(7, closed.code)
    assert closed.knows_code(8, closed.code)


def test_a_crowd_that_guesses_gets_nowhere_and_takes_no_memory():
    """A hundred thousand guesses of twenty thousand people: none hits, few are remembered, and the owner gets in."""
    closed = gate()
    chance = random.Random(1)
    guesses = ("".join(chance.choices(ALPHABET, k=8)) for _ in range(TRIES))
    tried = list(guesses)
    hits = sum(
        closed.knows_code(user_id, guess) for user_id in range(20_000) for guess in tried if guess != closed.code
    )

    assert hits == 0
    assert len(closed._tries) <= MAX_TOLD
    assert len(ALPHABET) ** 8 > 2**39
    assert closed.knows_code(-1, closed.code)


def test_a_stranger_is_told_once():
    """One polite line, then silence."""
    closed = gate()

    assert [closed.should_tell(7) for _ in range(3)] == [True, False, False]


def test_waiting_turns_are_known_after_a_death(tmp_path):
    """What waited when the process died is known to the next; what came back in time is not among it."""
    first = ModelWaits(tmp_path / "w")
    first.open()
    with first.on("t_1"):
        pass
    wait = first.on("t_2")
    wait.__enter__()
    second = ModelWaits(tmp_path / "w")
    second.open()

    assert second.before == frozenset({"t_2"})
    assert is_given_up(3, 0)
    assert not is_given_up(2, 9)
    assert is_given_up(0, 10)


def test_of_several_turns_at_work_none_is_blamed(tmp_path):
    """Alone a turn is to blame for a death; together with others, or while it waits for its model, it is not."""
    waits = ModelWaits(tmp_path / "w")
    waits.open()

    def excused():
        later = ModelWaits(tmp_path / "w")
        later.open()
        return later.before

    with waits.at_work("t_1"):
        assert excused() == frozenset()
        with waits.at_work("t_2"):
            assert excused() == frozenset({"t_1", "t_2"})
        assert excused() == frozenset()
        with waits.on("t_1"):
            assert excused() == frozenset({"t_1"})


def test_a_damaged_note_of_waiting_turns_excuses_nothing(tmp_path):
    """The file is a hint: garbage, or a folder that cannot be written, counts as no note."""
    (tmp_path / "w").write_bytes(b"\x00garbage")
    damaged, nowhere = ModelWaits(tmp_path / "w"), ModelWaits(tmp_path / "no" / "w")
    damaged.open()
    nowhere.open()
    with nowhere.on("t_1"):
        pass

    assert damaged.before == nowhere.before == frozenset()
