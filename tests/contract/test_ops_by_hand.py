"""What a person said, changed by an operator: notes, open matters, preferences; what cannot be done is said."""

from __future__ import annotations

import pytest


@pytest.fixture
def house(house):
    """Make a house in which somebody said two things that matter, and read what they said."""
    house.fill(1)
    house.say(house.sessions[0], "My dog is called Rex and he is four years old.")
    house.say(house.sessions[0], "I still have to call the landlord about the heating.")
    assert house.run("bootstrap", "refresh", "s_").exit_code == 0
    return house


def test_a_note_is_listed_corrected_and_forgotten(house):
    """Each by the id that the list shows; what is forgotten is not listed any more."""
    (note, *_) = [each for each in house.json("matters", "list", "s_")["notes"] if "Rex" in each["text"]]

    assert house.run("matters", "correct", "s_", note["id"], "The dog is called Max.").exit_code == 0
    assert "Max" in house.run("matters", "list", "s_").stdout
    assert house.run("matters", "forget", "s_", note["id"], "--yes").exit_code == 0
    assert "Max" not in house.run("matters", "list", "s_").stdout


def test_an_open_matter_is_called_done(house):
    """It leaves the list; a second time it is not there."""
    (matter,) = [each for each in house.json("matters", "list", "s_")["open"] if "landlord" in each["text"]]

    assert "Done: " in house.run("matters", "done", "s_", matter["id"]).stdout
    assert house.json("matters", "list", "s_")["open"] == []
    again = house.run("matters", "drop", "s_", matter["id"])
    assert again.exit_code == 1
    assert "there is no open matter" in again.stderr


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
    result = house.run("matters", "move", "s_", "j_1", "tomorrow")

    assert result.exit_code == 2
    assert "2026-12-01 09:00" in result.stderr
