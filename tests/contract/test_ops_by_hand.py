"""What a person said, changed by an operator: notes, preferences, files; what cannot be done is said."""

from __future__ import annotations

import pytest


@pytest.fixture
def house(house):
    """Make a house in which two things are noted of what somebody said."""
    house.fill(1)
    house.note("The dog is called Rex", kind="fact")
    house.note("Call the landlord about the heating", kind="task", owner="user", rings_from="2099-12-01T09:00")
    return house


def texts(house):
    return [each["text"] for each in house.json("notes", "list", "s_")["notes"] if each["status"] == "open"]


def test_a_note_is_listed_corrected_and_forgotten(house):
    """Each by the number that the list shows; what is forgotten is not listed any more."""
    (note,) = [each for each in house.json("notes", "list", "s_")["notes"] if "Rex" in each["text"]]
    number = str(note["number"])

    assert house.run("notes", "correct", "s_", number, "The dog is called Max").exit_code == 0
    assert f"#{number}" in house.run("notes", "list", "s_").stdout
    assert "Max" in house.run("notes", "history", "s_", f"#{number}").stdout
    assert "The dog is called Max" in texts(house)
    assert house.run("notes", "forget", "s_", number, "--yes").exit_code == 0
    assert "Max" not in house.run("notes", "list", "s_", "--ended").stdout


def test_a_note_is_called_done_and_stands_again(house):
    """It leaves the list; a second time that is said; reopened it is listed as before."""
    assert "Done: #2" in house.run("notes", "done", "s_", "2").stdout
    assert texts(house) == ["The dog is called Rex"]
    assert "landlord" in house.run("notes", "list", "s_", "--ended").stdout
    again = house.run("notes", "drop", "s_", "2")
    assert again.exit_code == 1
    assert "has ended already" in again.stderr
    assert house.run("notes", "reopen", "s_", "2").exit_code == 0
    assert len(texts(house)) == 2


def test_a_note_rings_at_another_time_and_stands_for_two(house):
    """`move` gives it a new time by its own clock, `merge` lets one note stand for both."""
    assert "Rings 2099-12-02 10:00: #2" in house.run("notes", "move", "s_", "2", "2099-12-02 10:00").stdout
    assert house.run("notes", "merge", "s_", "1", "2").exit_code == 0
    assert texts(house) == ["Call the landlord about the heating"]


def test_a_preference_is_set(house):
    """One of three words; another is asked wrongly."""
    assert house.json("bootstrap", "prefer", "s_", "off") == {"mode": "off", "skip_preview": False}
    assert house.run("bootstrap", "prefer", "s_", "sometimes").exit_code == 2
    (listed,) = house.json("bootstrap", "list")["conversations"]
    assert (listed["session_id"], listed["mode"], listed["skip_preview"]) == (house.sessions[0], "off", False)
    assert "off" in house.run("bootstrap", "list").stdout


def test_a_checkpoint_is_told_with_its_age_and_digest(house):
    """`checkpoint verify` and `show` say the same of the file as the console; without a file they say none."""
    (verdict,) = house.json("checkpoint", "verify")["sessions"]
    shown = house.json("show", "s_")["checkpoint"]
    printed = house.run("show", "s_").stdout.split()
    house.checkpoint(0).unlink()

    assert shown == verdict["file"]
    assert shown["bytes"] > 0
    assert shown["digest"][:12] in printed
    assert house.json("show", "s_")["checkpoint"] is None


def test_a_prompt_that_is_not_kept_is_said(house):
    """Turns that no model answered have none."""
    assert "It is not kept" in house.run("prompt", "s_").stdout
    assert house.json("prompt", "s_", "1")["prompt"] is None


def test_a_time_that_is_none_is_asked_wrongly(house):
    """With an example of one that is right."""
    result = house.run("notes", "move", "s_", "2", "tomorrow")

    assert result.exit_code == 2
    assert "2026-12-01 09:00" in result.stderr
