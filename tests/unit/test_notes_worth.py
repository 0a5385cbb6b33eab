"""What a note is worth when somebody comes back, and whether somebody has to act in it."""

from __future__ import annotations

import pytest

from memory.language.languages import Languages
from memory.notes.types import LastingNote, Matter, SessionNotes, key_of
from memory.notes.view import loops, merge, preview
from memory.notes.worth import DAY_MS, missed, signs_of_worth, waited_for

NOW_MS = 1_772_438_400_000
MATTER = Matter(
    matter_id="t_1.u0", kind="project", text="the shed roof leaks above the bench", quoted="user", turn_ids=("t_1",),
    said_at_ms=NOW_MS, weight=0.4,
)  # fmt: skip


def worth(
    matter: Matter, *, elsewhere: int = 0, again: int = 0, akin: float = 0.0, newest: bool = False
) -> tuple[float, float]:
    """Return by how much it would be missed and is waited for."""
    signs = signs_of_worth(matter, NOW_MS, elsewhere=elsewhere, again=again, akin=akin, newest=newest)
    return missed(signs), waited_for(signs)


def seen(*notes: Matter | LastingNote):
    """Return the view of one session with these notes."""
    matters = tuple(each for each in notes if isinstance(each, Matter))
    lasting = tuple(each for each in notes if isinstance(each, LastingNote))
    session = SessionNotes(session_id="s_1", conversation_id="c", matters=matters, lasting=lasting)
    return merge([session], NOW_MS, Languages.load())


@pytest.mark.parametrize(
    "more",
    [
        worth(MATTER.model_copy(update={"weight": 0.8})),
        worth(MATTER.model_copy(update={"signs": ("taken_up",)})),
        worth(MATTER.model_copy(update={"due_at_ms": NOW_MS + DAY_MS})),
        worth(MATTER, elsewhere=1),
        worth(MATTER, again=1),
        worth(MATTER, akin=1.0),
        worth(MATTER, newest=True),
        worth(MATTER.model_copy(update={"kind": "task"})),
    ],
)
def test_what_speaks_for_a_matter_raises_both(more):
    """Its weight, an answer that takes it up, a day ahead, what is said of it elsewhere, the newest talk, a debt."""
    assert all(high > low for high, low in zip(more, worth(MATTER), strict=True))


def test_what_tells_how_something_went_counts_less():
    """A report of what was done waits for nobody."""
    told = MATTER.model_copy(update={"signs": ("told",)})

    assert all(low < high for low, high in zip(worth(told), worth(MATTER), strict=True))


def test_what_was_said_long_ago_counts_less():
    """Mostly it was done, and nobody told."""
    old = MATTER.model_copy(update={"said_at_ms": NOW_MS - 20 * DAY_MS})

    assert all(low < high for low, high in zip(worth(old), worth(MATTER), strict=True))


@pytest.mark.parametrize(("kind", "listed"), [("task", True), ("question", True), ("event", False), ("theme", False)])
def test_what_a_model_called_something_to_do_is_listed_and_nothing_else(kind, listed):
    """It knew; of a quote the words decide."""
    worded = MATTER.model_copy(update={"kind": kind, "quoted": None, "text": "Roof of the shed", "weight": 0.2})

    assert bool(loops(seen(worded))) is listed


def test_what_waits_for_somebody_is_offered_before_what_is_good_to_know():
    """An errand comes first, whatever else is known."""
    fact = LastingNote(
        note_id="t_2.u0", kind="fact", text="we live above the bakery", turn_ids=("t_2",), said_at_ms=NOW_MS, weight=0.7
    )
    errand = MATTER.model_copy(update={"kind": "task", "weight": 0.5})

    assert [each.note for each in preview(seen(fact, errand))] == [errand, fact]


def test_what_has_just_been_is_asked_after_first():
    """Yesterday's surgery comes before the errand of the day after tomorrow, and before what has no day."""
    surgery = MATTER.model_copy(update={"kind": "event", "due_at_ms": NOW_MS - DAY_MS, "text": "mum has her surgery"})
    errand = MATTER.model_copy(
        update={"matter_id": "t_2.u0", "kind": "task", "due_at_ms": NOW_MS + 2 * DAY_MS, "weight": 0.9}
    )
    someday = errand.model_copy(update={"matter_id": "t_3.u0", "due_at_ms": None, "text": "paint the garden gate"})
    later = errand.model_copy(
        update={"matter_id": "t_4.u0", "due_at_ms": NOW_MS + 30 * DAY_MS, "text": "order a cake for the wedding"}
    )

    first, second, *rest = [each.note for each in preview(seen(later, errand, someday, surgery))]
    assert (first, second, set(map(key_of, rest))) == (surgery, errand, {"t_3.u0", "t_4.u0"})


@pytest.mark.parametrize(("signs", "alive"), [((), True), (("reminds",), False)])
def test_a_reminder_speaks_for_itself_once_its_time_has_come(signs, alive):
    """Its message asks whether it is done; a list that calls it overdue beside that would ask twice."""
    late = MATTER.model_copy(update={"kind": "promise", "due_at_ms": NOW_MS - 3_600_000, "signs": signs})
    ahead = late.model_copy(update={"due_at_ms": NOW_MS + 3_600_000})

    assert (late in seen(late).matters, ahead in seen(ahead).matters) == (alive, True)


def test_what_is_open_is_offered_too():
    """A small task is worth less than a fact, but somebody has to act in it."""
    task = MATTER.model_copy(update={"kind": "task", "weight": 0.3, "signs": ("pending",)})
    others = [
        MATTER.model_copy(update={"matter_id": f"t_{n}.u0", "text": f"the {word} needs paint", "weight": 0.9})
        for n, word in enumerate(("garden gate", "kitchen wall", "attic stair"), 2)
    ]

    assert task in [each.note for each in preview(seen(task, *others))]


def test_a_lone_task_is_listed_though_little_speaks_for_it():
    """Who told little is not told that nothing is open."""
    task = MATTER.model_copy(update={"kind": "task", "weight": 0.1})
    old = task.model_copy(update={"said_at_ms": NOW_MS - 90 * DAY_MS})

    assert [each.note for each in loops(seen(task))] == [task]
    assert [each.note for each in loops(seen(old))] == [old]
    assert loops(seen(MATTER.model_copy(update={"weight": 0.1}))) == []


def test_what_the_other_notes_speak_of_counts_more():
    """The words of many notes tell what somebody is busy with; a note that shares none stands alone."""
    texts = (
        "the wedding cake needs three tiers",
        "the wedding band wants a deposit",
        "a parcel came for the neighbour",
    )
    notes = [MATTER.model_copy(update={"matter_id": f"t_{n}.u0", "text": text}) for n, text in enumerate(texts)]

    akin = {each.note.text: each.signs["akin"] for each in seen(*notes).standings}
    assert akin[texts[0]] == pytest.approx(akin[texts[1]])
    assert akin[texts[0]] > 1.0 > akin[texts[2]]


def test_what_was_left_out_as_a_repeat_does_not_come_back_as_one_of_the_few():
    """One matter in three wordings is one line."""
    words = ("fix the leaking shed roof", "the leaking shed roof needs a fix", "fix that leaking roof of the shed")
    wordings = [
        MATTER.model_copy(update={"matter_id": f"t_{n}.u0", "kind": "task", "text": text, "weight": 0.3})
        for n, text in enumerate(words)
    ]

    assert len(loops(seen(*wordings))) == 1


def test_what_is_coming_is_listed_until_it_is_over():
    """Up to four lines, the next first; a day without an hour lasts until night."""

    def event(number: int, days: float, *, exact: bool = False) -> Matter:
        update = {
            "matter_id": f"t_{number}.u0", "kind": "event", "text": f"visit of number{number} in town{number}",
            "due_at_ms": NOW_MS + int(days * DAY_MS), "due_exact": exact, "weight": 0.4,
        }  # fmt: skip
        return MATTER.model_copy(update=update)

    ahead = [event(number, 1 + number) for number in range(9)]

    assert [each.note for each in loops(seen(*reversed(ahead)))] == ahead[:4]
    assert loops(seen(event(1, -0.1)))
    assert not loops(seen(event(1, -0.1, exact=True)))
    assert not loops(seen(event(1, -1)))


def test_what_was_only_said_in_passing_is_not_listed_as_open():
    """However much the other notes speak of the same."""
    faint = MATTER.model_copy(update={"matter_id": "t_2.u0", "text": "hang on, the roof again", "faint": True})

    listed = loops(seen(MATTER.model_copy(update={"kind": "task"}), faint))

    assert [each.note.matter_id for each in listed] == ["t_1.u0"]
