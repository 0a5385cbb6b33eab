"""A story that two tell together stands where its last scene ended."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memory.language.languages import Languages
from memory.notes.requests import request_of
from memory.notes.rules import read_by_rules
from memory.notes.types import Matter, SessionNotes
from memory.notes.view import loops, merge, preview
from memory.types import ConversationTurn

LANGUAGES = Languages.load()
MONDAY_MS = 1_772_438_400_000  # Monday 2 March 2026, 08:00 UTC
OUT_MS = 3_600_000
KNOCK = "Three knocks from under the floor. What do you do?"
LAMP = "The lamp goes out, and somebody breathes beside you."
STORY = [("((evening! a haunted mill, please, and no gore))", f"The wheel turns without water. {KNOCK}")]


def read(sessions: Sequence[Sequence[tuple[str, str]]]) -> list[SessionNotes]:
    """Return what is read in sessions of these exchanges, an hour apart."""
    notes: list[SessionNotes] = []
    for place, exchanges in enumerate(sessions):
        turns = [
            ConversationTurn(
                turn_id=f"t_{place}_{number}", session_id=f"s_{place}", conversation_id="c", seq=number,
                user_text=user, assistant_text=answer, created_at_ms=MONDAY_MS + place * OUT_MS + number, language="en",
            )
            for number, (user, answer) in enumerate(exchanges, 1)
        ]  # fmt: skip
        request = request_of(turns, [], None, notes, LANGUAGES, zone="UTC", now_ms=turns[-1].created_at_ms)
        notes.append(read_by_rules(request, LANGUAGES))
    return notes


def scenes(notes: Sequence[SessionNotes]) -> list[Matter]:
    """Return what is alive of the story."""
    view = merge(notes, MONDAY_MS + 10 * OUT_MS, LANGUAGES)
    return [matter for matter in view.matters if matter.kind == "story"]


@pytest.mark.parametrize(
    "goes",
    [
        STORY,
        [("(ooc: a haunted mill, no gore)", KNOCK)],
        [("*opens the mill door*", "It groans."), ("*lights the lamp*", KNOCK)],
        [("// a haunted mill, please", KNOCK)],
    ],
)
def test_a_story_stands_where_its_last_scene_ended(goes):
    """It is offered and listed in the words of the scene, whatever sign shows that a part is played."""
    view = merge(read([goes]), MONDAY_MS + OUT_MS, LANGUAGES)

    assert [each.note.text.endswith(KNOCK) for each in loops(view)[:1]] == [True]
    assert any(each.note.text.endswith(KNOCK) for each in preview(view))


def test_what_is_said_out_of_the_story_is_no_scene():
    """A pause is agreed upon in brackets: the scene before it is where the story stands."""
    notes = read([[*STORY, ("((off to bed))", "((Sleep well, the mill waits.))")]])

    assert [scene.text.endswith(KNOCK) for scene in scenes(notes)] == [True]


def test_the_newest_scene_takes_the_place_of_the_one_before():
    """Also in another session: nobody goes on where the story stood last week."""
    notes = read([STORY, [("((back!)) i lift the board", LAMP)]])

    assert [scene.text for scene in scenes(notes)] == [LAMP]


def test_a_greeting_in_between_is_no_scene():
    """Whoever comes back says hello first: the story stands where it was left."""
    notes = read([STORY, [("// back, give me a minute", "Good to hear from you.")]])

    assert [scene.text.endswith(KNOCK) for scene in scenes(notes)] == [True]


def test_emphasis_brackets_and_code_tell_no_story():
    """One word in asterisks, an aside in brackets or a call in code is how people write."""
    talk = [
        ("can i print((a + b)) here? i *really* need it (ooh, and soon)", "Yes, but one pair of brackets is enough.")
    ]

    assert scenes(read([talk])) == []
