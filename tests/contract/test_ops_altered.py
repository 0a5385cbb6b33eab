"""Turns that were altered or lost long ago: `doctor` sees them in every session, and what it advises mends them."""

from __future__ import annotations

import pytest

from bot.ops.checks import doctor
from bot.ops.copies.altered import fitting, rechained
from memory.ports import Statement
from memory.storage.turn_rows import LoggedTurn, chain
from memory.testing import make_turn

LONG = 30
"""More turns than a checkpoint has copies of."""


@pytest.fixture
def house(house):
    house.fill(LONG, 2)
    return house


def match_log(house):
    """Return what `doctor` says of the log."""
    return next(each for each in house.json("doctor")["checks"] if each["id"] == "checkpoints.match_log")


def lose(house, number, seq):
    """Delete a turn's row, as nothing in the program does."""
    turn_id = house.turns(house.sessions[number])[seq - 1]
    house.write(Statement("erase_turn", {"turn_id": turn_id, "session_id": house.sessions[number]}))


def with_altered(log, seq):
    """Return the log with another text in one of its rows, its digest as it was."""
    other = log[seq - 1].turn.model_copy(update={"user_text": "x"})
    return [LoggedTurn(other, each.digest) if each.turn.seq == seq else each for each in log]


def test_an_altered_old_turn_is_found_and_comes_back_from_a_backup(house, tmp_path):
    """The advice of `doctor`, word by word: first without, then with a backup."""
    house.run("backup", str(tmp_path / "copy"))
    house.alter(house.sessions[0], 4)

    found = match_log(house)
    assert found["level"] == "fail"
    assert "hydrate --all --from BACKUP" in found["do"]
    plain = house.run("hydrate", "--all")
    assert "turn 4 of the log not as stored, and no checkpoint has a copy" in " ".join(plain.stdout.split())
    assert match_log(house)["level"] == "fail"
    told = house.run("hydrate", "--all", "--dry-run", "--from", str(tmp_path / "copy"))
    assert "turn 4 would come back from the backup" in " ".join(told.stdout.split())
    assert match_log(house)["level"] == "fail"
    assert house.run("hydrate", "--all", "--from", str(tmp_path / "copy")).exit_code == 0
    assert match_log(house)["level"] == "ok"
    assert "tower number 4?" in house.run("show", house.sessions[0], "--turns", "30").stdout


def test_an_altered_old_turn_can_be_accepted(house):
    """Without a backup the operator takes it as it is; the session goes on, and its later turns keep their text."""
    house.alter(house.sessions[0], 4)

    assert "turn 4 accepted as in the log" in " ".join(
        house.run("hydrate", house.sessions[0], "--accept").stdout.split()
    )
    assert match_log(house)["level"] == "ok"
    house.say(house.sessions[0], "and now?")
    assert match_log(house)["level"] == "ok"
    assert house.turns(house.sessions[0])[-1] == f"t_said_{LONG + 1}"


def test_accepting_changes_nothing_when_all_is_in_order(house):
    """Nor does it keep a checkpoint from healing what it has a copy of."""
    before = house.files()
    assert house.run("hydrate", "--all", "--accept").exit_code == 0
    assert {name: data for name, data in house.files().items() if name.endswith(".json")} == {
        name: data for name, data in before.items() if name.endswith(".json")
    }
    house.alter(house.sessions[0], LONG - 1)
    assert house.run("hydrate", "--all", "--accept").exit_code == 0
    assert f"tower number {LONG - 1}?" in house.run("show", house.sessions[0]).stdout


def test_a_turn_that_was_lost_comes_back_from_a_backup(house, tmp_path):
    """Its row is gone; `checkpoint verify` counts it, the backup has it."""
    house.run("backup", str(tmp_path / "copy"))
    lose(house, 0, 4)
    assert "1 turn of 30 not in the log any more" in " ".join(house.run("checkpoint", "verify").stdout.split())

    house.run("hydrate", "--all", "--from", str(tmp_path / "copy"))

    assert house.turns(house.sessions[0]) == [f"t_0_{seq}" for seq in range(1, LONG + 1)]
    assert house.run("checkpoint", "verify").exit_code == 0


def test_a_backup_of_another_history_gives_nothing(house, tmp_path):
    """Only a copy whose digest the log expects is taken."""
    house.alter(house.sessions[0], 4)
    house.run("backup", str(tmp_path / "copy"))

    house.run("hydrate", "--all", "--from", str(tmp_path / "copy"))

    assert match_log(house)["level"] == "fail"


def test_what_is_no_backup_is_refused(house, tmp_path):
    """With a sentence, and nothing is changed."""
    result = house.run("hydrate", "--all", "--from", str(tmp_path))

    assert result.exit_code == 1
    assert "name a folder made by `backup`" in result.stderr


def test_every_session_of_a_usual_database_is_looked_at(house, monkeypatch):
    """Also those beyond the latest: whatever is still read is proven."""
    monkeypatch.setattr(doctor, "QUICK_SESSIONS", 1)
    house.alter(house.sessions[0], 4)

    assert match_log(house)["level"] == "fail"


def test_only_copies_that_the_digests_prove_fit():
    """An altered row takes the copy it was stored as; a hole takes what follows the turn before it; else nothing."""
    log = chain("", [make_turn(seq=seq, turn_id=f"t_{seq}") for seq in range(1, 6)])
    altered = [
        type(each)(each.turn.model_copy(update={"user_text": "x"}), each.digest) if each.turn.seq == 2 else each
        for each in log
    ]
    other = chain("", [make_turn(seq=seq, turn_id=f"o_{seq}") for seq in range(1, 6)])

    assert fitting(altered, log).seqs == [2]
    assert fitting([*log[:2], *log[3:]], log).seqs == [3]
    assert fitting(log, log).seqs == []
    assert fitting(altered, other).seqs == []
    assert fitting(altered, altered).seqs == []
    assert fitting([], log).seqs == []


def test_a_chain_made_again_fits_the_turns_as_they_are():
    """From the altered turn on the digests change; before it they stay."""
    log = chain("", [make_turn(seq=seq, turn_id=f"t_{seq}") for seq in range(1, 6)])
    altered = [
        type(each)(each.turn.model_copy(update={"user_text": "x"}), each.digest) if each.turn.seq == 3 else each
        for each in log
    ]

    new = rechained(altered)

    assert new == chain("", [each.turn for each in altered])
    assert [each.digest for each in new[:2]] == [each.digest for each in log[:2]]
