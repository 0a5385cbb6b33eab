"""Whatever a keeper answers, nothing of it that nobody said gets into the notes, and nothing breaks."""

from hypothesis import given
from hypothesis import strategies as st

from memory.keeper.contract import KeeperAnswer, KeeperRequest, ProposedChange
from memory.keeper.judge import judged, line_of, spoken_reasons
from memory.keeper.session_lines import SessionLine
from memory.ledger.apply import apply_all
from memory.ledger.types import Actor, Add, Ledger
from memory.testing import START_MS, make_turn

SAID = "halden wants 2,400 for the tiles by friday, and priya sends the plan"
TOLD = "I'll remind you of the 18 boxes."
NOTED = Add(kind="task", text="Order 14 lamps from Orla", note_id="n_1", fields={"turn_ids": ("t_0",)})
WORDS = st.sampled_from(
    [*SAID.replace(",", "").split(), "Halden", "Gustav", "Priya", "77", "2.4k", "14", "18", "5", "。"]
)
LINES = st.lists(WORDS, max_size=9).map(" ".join)
ANYTHING = st.text(max_size=40)
CHANGES = st.builds(
    ProposedChange,
    op=st.sampled_from(["add", "change", "end", "merge", "delete"]),
    number=st.none() | st.integers(-1, 3),
    into=st.none() | st.integers(0, 2),
    kind=st.none() | st.sampled_from(["fact", "task", "promise", "project", "story", "event"]),
    text=LINES | ANYTHING,
    owner=st.none() | st.sampled_from(["user", "assistant", "", "Gustav", "Priya"]),
    due=st.sampled_from(["", "2023-11-20", "2023-11-20T09:30", "1999-01-01", "9999-12-31", "x"]) | ANYTHING,
    about=st.sampled_from(["", "The Lighthouse"]),
    weight=st.none() | st.floats(),
    turns=st.lists(st.integers(-1, 3), max_size=3).map(tuple),
    said=LINES | st.sampled_from([SAID, "wants 2,400 for the tiles"]) | ANYTHING,
)
ANSWERS = st.builds(
    KeeperAnswer,
    title=LINES,
    standing=LINES | ANYTHING,
    standing_turns=st.lists(st.integers(0, 3), max_size=2).map(tuple),
    worked_on=st.lists(st.integers(0, 2), max_size=2).map(tuple),
    changes=st.lists(CHANGES, max_size=4).map(tuple),
)
BY = Actor("keeper", START_MS, "r_1")


def asked():
    ledger, _ = apply_all(Ledger("tg:1:1:0"), [NOTED], Actor("model", START_MS, "t_0"))
    return KeeperRequest(
        reading_id="r_1",
        session_id="s_1",
        conversation_id="tg:1:1:0",
        ledger=ledger,
        notes=tuple(ledger),
        before=(),
        turns=(make_turn(user_text=SAID, assistant_text=TOLD),),
        zone="Europe/Berlin",
        now_ms=START_MS,
    )


@given(ANSWERS)
def test_what_was_made_up_never_gets_into_the_notes(answer):
    """A name or number that nobody said, and a to-do of a story or of worked-on text alone, stand in no note."""
    request = asked()
    found = judged(answer, request, BY)
    line = line_of(answer, request, SessionLine("s_1", "tg:1:1:0"))
    spoken_reasons(found, answer, request)
    mid_sentence = [" ".join(note.text.split(" ")[1:]) for note in found.ledger]

    assert all("77" not in note.text and note.owner != "Gustav" for note in found.ledger)
    assert all("Gustav" not in text for text in mid_sentence if "。" not in text)
    assert "77" not in line.title + line.standing
    assert all(note.turn_ids for note in found.ledger)
    new = [note for note in found.ledger if note.number > 1]
    assert all(note.is_real or note.kind not in {"task", "promise", "question"} for note in new)
    if 1 in answer.worked_on:
        assert all(note.kind in {"project", "story"} for note in new)
