"""Arcs: from the notes that stand to at most ten framed, scored and selected ones (001)."""

from __future__ import annotations

import pytest

from memory.continuity.candidates import CANDIDATES_MAX, JUST_BEEN_MS, candidates
from memory.continuity.framing import frame
from memory.continuity.generate import generate
from memory.continuity.scoring import score, select, without
from memory.continuity.text import one_line
from memory.continuity.types import SUMMARY_MAX_CHARS, TITLE_MAX_CHARS, BootstrapInputs, DroppedArc
from memory.testing import START_MS, make_arc, make_note, make_owner, make_persona, make_session

DAY_MS = 86_400_000


def inputs_of(*notes, **rest):
    return BootstrapInputs(notes=notes, **{"sessions": (make_session(),), "now_ms": START_MS} | rest)


def found(*notes, persona=None, **rest):
    return candidates(inputs_of(*notes, **rest), persona or make_persona())


def framed(*notes, dropped=(), **persona):
    owner = make_owner(**persona)
    return frame(found(*notes, persona=owner.persona), owner, dropped)


# --- candidates


@pytest.mark.parametrize(
    ("kind", "arc_kind"),
    [
        ("project", "project"), ("event", "project"), ("task", "project"), ("promise", "project"),
        ("decision", "project"), ("question", "question"), ("story", "story"), ("person", "relationship"),
        ("fact", "relationship"), ("preference", "constraint"), ("constraint", "constraint"),
    ],
)  # fmt: skip
def test_every_note_becomes_an_arc_of_its_kind(kind, arc_kind):
    """What is to be done is a project, what was asked a question; the note and its turns are the evidence."""
    (arc,) = found(make_note(kind=kind, number=12))

    assert (arc.number, arc.kind, arc.text, arc.sources) == (12, arc_kind, "Send the report to Anna", ("n_12", "t_12"))


def test_a_note_with_a_day_says_when_by_the_persons_clock():
    """So that "tomorrow" is not read as tomorrow; a day without an hour stays the day that was said."""
    hour = make_note("Call Ana", due_at_ms=START_MS, due_exact=True)
    day = make_note("Pay the rent", number=2, due_at_ms=START_MS - 22 * 3_600_000, time_zone="UTC")

    texts = [arc.text for arc in found(hour, day, zone="Asia/Tokyo")]

    assert texts == ["Call Ana (Wed 2023-11-15 07:13)", "Pay the rent (Tue 2023-11-14)"]


def test_a_long_note_keeps_its_day():
    """The words are cut, not the day behind them."""
    (arc,) = found(make_note("word " * 70, due_at_ms=START_MS))

    assert arc.text.endswith("word… (Tue 2023-11-14)")
    assert len(arc.text) <= SUMMARY_MAX_CHARS


def test_an_event_that_has_just_been_is_carried_and_one_long_over_is_not():
    """So that "how did it go?" can be asked, until four days after its own; what is overdue stays until it is ended."""
    exam = make_note("The exam", kind="event", due_at_ms=START_MS, due_exact=True)
    feast = make_note("The feast", number=2, kind="event", due_at_ms=START_MS)
    rent = make_note("Pay the rent", number=3, due_at_ms=START_MS)
    just, later, long = (
        [arc.number for arc in found(exam, feast, rent, now_ms=START_MS + over_ms, sessions=(talked(DAY_MS + 1),))]
        for over_ms in (JUST_BEEN_MS - 1, JUST_BEEN_MS, JUST_BEEN_MS + DAY_MS)
    )

    assert (just, later, long) == ([1, 2, 3], [2, 3], [3])


def test_a_limit_that_is_over_is_not_carried():
    """“Off sick (was until Wed 9 Dec)” was kept in mind on the tenth."""
    until = {"kind": "constraint", "due_at_ms": START_MS - 5 * DAY_MS, "time_zone": "UTC"}
    sick = make_note("Off sick", **until, ends_at_ms=START_MS - DAY_MS)
    calls = make_note("No calls", number=2, **until, ends_at_ms=START_MS)

    assert [arc.text.split(" (")[0] for arc in found(sick, calls)] == ["No calls"]


def test_a_shift_that_is_over_is_not_carried():
    """Nobody is asked how a shift went; what weighs is asked about, whatever its hours."""
    hours = {"kind": "event", "due_at_ms": START_MS, "due_exact": True, "lasts_ms": 3_600_000}
    shift, operation = make_note("Shift", **hours), make_note("The new knee", number=2, weight=0.9, **hours)

    assert [arc.number for arc in found(shift, operation, now_ms=START_MS)] == [1, 2]
    assert [arc.number for arc in found(shift, operation, now_ms=START_MS + 3_600_000)] == [2]


def test_a_lesson_of_every_week_is_nothing_to_take_up():
    """It comes by itself, with a reminder, too: a pill of each evening; what is due once a year may be taken up."""
    weekly = {"due_at_ms": START_MS, "due_exact": True, "repeats": "FREQ=WEEKLY"}
    rings = {"rings_from": "2023-11-14T22:00", "rings_at_ms": START_MS}
    judo, pill = make_note("Judo", kind="event", **weekly), make_note("Pill", number=2, kind="task", **weekly, **rings)
    yearly = weekly | rings | {"repeats": "FREQ=YEARLY"}
    birthday = make_note("Ana's birthday", number=3, kind="event", **yearly)

    assert [arc.number for arc in found(judo, pill, birthday, now_ms=START_MS)] == [3]


def talked(after_ms, turn_count=9):
    """A session whose last turn was so long after the start."""
    return make_session(turn_count=turn_count, last_turn_at_ms=START_MS + after_ms)


def test_an_event_since_which_nobody_has_talked_is_carried_for_a_month():
    """Whoever comes back two weeks after their operation is asked how it went, also once they have said hello."""
    knee = make_note("The new knee", kind="event", due_at_ms=START_MS, due_exact=True)
    before, hello = talked(-DAY_MS), talked(13 * DAY_MS, turn_count=1)

    assert len(found(knee, now_ms=START_MS + 14 * DAY_MS, sessions=(hello, before))) == 1
    assert found(knee, now_ms=START_MS + 31 * DAY_MS, sessions=(before,)) == ()
    assert found(knee, now_ms=START_MS + 14 * DAY_MS, sessions=(talked(13 * DAY_MS), before)) == ()


def test_what_was_put_off_is_not_carried_until_its_time():
    """A person who said "not now" is not asked again in the next session."""
    note = make_note(snoozed_until_ms=START_MS + DAY_MS)

    assert found(note) == ()
    assert len(found(note, now_ms=START_MS + DAY_MS)) == 1


def test_work_by_the_clock_is_no_matter_to_go_on_with():
    """It goes on by itself; a task of the assistant's that rings at no time is carried."""
    digest = make_note(
        "What's on today: Tell me", owner="assistant", rings_from="2023-11-20T07:00", rings_at_ms=START_MS
    )
    owed = make_note("I look up the tiler", number=2, owner="assistant")

    assert [arc.number for arc in found(digest, owed)] == [2]


def test_a_role_play_carries_its_story_first():
    """It picks up its scene; the world outside comes behind it, whatever it weighs."""
    rent = make_note("Pay the rent", weight=1.0)
    scene = make_note("The lantern went out in the crypt", number=2, kind="fact", about="The crypt")

    assert [arc.number for arc in found(rent, scene, persona=make_persona(role="roleplay"))] == [2, 1]
    assert [arc.number for arc in found(rent, scene)] == [1, 2]


def test_candidates_are_bounded_and_keep_their_order():
    """Of a ledger of hundreds the first, which are the best, may be carried."""
    numbers = [arc.number for arc in found(*(make_note(number=n) for n in range(1, 301)))]

    assert numbers == list(range(1, CANDIDATES_MAX + 1))


def test_conversations_are_counted_back_from_the_newest():
    """What was said in no session in sight is as old as all of them."""
    sessions = (make_session(session_id="s_2"), make_session(session_id="s_1"))
    notes = [make_note(number=n, session_id=each) for n, each in enumerate(("s_2", "s_1", "s_0", None), 1)]

    assert [arc.conversations_ago for arc in found(*notes, sessions=sessions)] == [0, 1, 2, 2]


@pytest.mark.parametrize(
    ("fields", "level"),
    [({"confidence": 0.75}, "high"), ({"confidence": 0.45}, "medium"), ({"confidence": 0.4}, "low"),
     ({"doubtful": True}, "low")],
)  # fmt: skip
def test_how_sure_a_note_is_decides_how_sure_its_arc_is(fields, level):
    """A note whose message was edited is in doubt, however sure it was."""
    assert found(make_note(**fields))[0].confidence == level


@pytest.mark.parametrize(
    ("fields", "stickiness"),
    [({"weight": 0.7}, "high"), ({"due_at_ms": START_MS}, "high"), ({"kind": "constraint"}, "high"),
     ({"kind": "project"}, "high"), ({"kind": "preference"}, "normal"), ({}, "low")],
)  # fmt: skip
def test_what_binds_or_has_a_day_sticks(fields, stickiness):
    """What lasts stays longer than what merely was said."""
    assert found(make_note(**fields))[0].stickiness == stickiness


# --- framing


def test_an_arc_says_what_the_note_says():
    """Each fact once and in the same words, wherever it is shown; the title is its beginning."""
    text = "Send the report about the harbour to Anna, before she leaves for Lisbon."
    (arc,) = framed(make_note(text))

    assert arc.summary == text
    assert arc.title == one_line(text, TITLE_MAX_CHARS) == "Send the report about the harbour to Anna…"
    assert not arc.generalized


def test_an_uncertain_arc_loses_its_specifics():
    """Of a note of low confidence neither numbers nor addresses are left."""
    (arc,) = framed(make_note("Pays 950 euros rent to lena@example.org", kind="fact", confidence=0.3))

    assert arc.generalized
    assert "950" not in arc.title + arc.summary
    assert "@" not in arc.title + arc.summary
    assert arc.summary == "Possibly still of interest: Pays euros rent to. Details are uncertain."


@pytest.mark.parametrize(
    ("role", "immersion", "begins"),
    [
        ("assistant", "minimal", "Possibly still of interest:"),
        ("companion", "balanced", "Perhaps:"),
        ("companion", "minimal", "Possibly still of interest:"),
        ("roleplay", "full", "Touched on in the story:"),
    ],
)
def test_the_same_doubt_is_framed_by_role_and_immersion(role, immersion, begins):
    """Each role has its words; minimal immersion allows only the plain ones."""
    (arc,) = framed(make_note(confidence=0.2), role=role, immersion=immersion)

    assert arc.summary.startswith(begins)


def test_an_arc_of_which_nothing_is_left_is_not_told():
    """When an uncertain note is nothing but specifics, it is left out."""
    assert framed(make_note("+48 555 0199", kind="fact", confidence=0.3)) == ()


@pytest.mark.parametrize(
    ("persona", "generalized"),
    [({"role": "roleplay"}, True), ({"immersion": "unbounded"}, True), ({"role": "assistant"}, False)],
)
def test_a_story_is_not_locked_into_what_is_only_likely(persona, generalized):
    """In role play and in unbounded immersion medium confidence is generalized, for an assistant it is not."""
    (arc,) = framed(make_note("The inn has 3 doors", kind="story", confidence=0.5), **persona)

    assert arc.generalized is generalized
    assert ("3" in arc.summary) is not generalized


def test_a_dropped_arc_stays_away_until_something_new_is_said():
    """What the user dropped is not offered again, until the note rests on a turn that was not there then."""
    dropped = (DroppedArc(arc_id="a_gone", sources=("n_1", "t_1")),)

    assert framed(make_note(), dropped=dropped) == ()
    assert len(framed(make_note(turn_ids=("t_1", "t_9")), dropped=dropped)) == 1


def test_an_arc_of_another_conversation_cannot_get_the_same_id():
    """The id of an arc is made of its owner and its note: the note's words may change."""
    here, there = make_owner(), make_owner(conversation_id="tg:1:-5:0")

    ids = [
        frame(found(make_note(text)), owner, ())[0].arc_id
        for text, owner in (("Call Jo", here), ("Call Jo at noon", here), ("Call Jo", there))
    ]

    assert ids[0] == ids[1] != ids[2]


# --- scoring and selection


def test_a_score_is_the_sum_of_its_visible_parts():
    """Every score can be read from its breakdown: confidence, stickiness, emphasis, recency, what the note is worth."""
    arc = make_arc(
        conversations_ago=3, stickiness="high", worth={"weight": 0.5, "confidence": -0.1, "recency": 0.2, "near": 0.0}
    )

    (scored,) = score((arc,), make_persona())

    assert scored.breakdown == {
        "confidence": 1.0, "stickiness": 0.6, "emphasis": 0.15, "recency": -0.12, "weight": 0.5,
    }  # fmt: skip
    assert scored.score == pytest.approx(2.13)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"confidence": "high"}, {"confidence": "medium"}),
        ({"confidence": "medium"}, {"confidence": "low"}),
        ({"stickiness": "high"}, {"stickiness": "normal"}),
        ({"stickiness": "normal"}, {"stickiness": "low"}),
        ({"conversations_ago": 1}, {"conversations_ago": 2}),
        ({"worth": {"near": 0.3}}, {"worth": {"near": 0.1}}),
    ],
)
def test_surer_stickier_more_recent_and_nearer_arcs_score_higher(better, worse):
    """Confidence, stickiness and worth add, conversations ago take away."""
    first, second = make_arc("one", **better), make_arc("two", **worse)

    assert [one.arc.title for one in score((second, first), make_persona())] == ["one", "two"]


def test_a_project_that_is_due_is_carried_however_long_ago_it_was_said():
    """Ten fresh remarks took its place three days before its day; one whose day is far fades as before."""
    day = {"kind": "project", "session_id": "s_old", "weight": 0.5}
    sessions = tuple(make_session(session_id=f"s_{n}") for n in range(20))
    fresh = [
        make_note(f"Fact {n}", number=n, kind=kind, session_id="s_0", weight=0.8)
        for n, kind in enumerate(["constraint"] * 10, 10)
    ]
    due, far = (
        make_note(text, number=number, due_at_ms=START_MS + days * DAY_MS, **day)
        for number, text, days in ((1, "The stand at the fair", 3), (2, "The book", 60))
    )

    chosen = generate(make_owner(), inputs_of(due, far, *fresh, sessions=sessions)).selection
    assert 1 in {arc.number for arc in chosen.arcs}
    assert 2 not in {arc.number for arc in chosen.arcs}


@pytest.mark.parametrize(("role", "first"), [("assistant", "plan"), ("companion", "music"), ("roleplay", "crypt")])
def test_the_role_decides_what_is_emphasized(role, first):
    """An assistant puts a project first, a companion what you share, a role play its story."""
    arcs = (make_arc("plan"), make_arc("music", kind="relationship"), make_arc("crypt", kind="story"))

    assert score(arcs, make_persona(role=role))[0].arc.title == first


def test_a_selection_is_three_core_and_seven_active_at_most():
    """Of twenty strong arcs three are core, seven active, and the rest is listed with a reason."""
    kinds = ("project", "theme", "question", "story", "relationship", "constraint")
    arcs = tuple(make_arc(f"arc {n}", kind=kinds[n % 6], stickiness="high") for n in range(20))

    chosen = select(score(arcs, make_persona()))

    assert (len(chosen.core), len(chosen.active), len(chosen.left_out)) == (3, 7, 10)
    assert {reason for _, reason in chosen.left_out} == {"no room"}


def test_a_selection_prefers_another_kind_to_more_of_the_same():
    """With four projects and one weaker question the question is core too."""
    projects = tuple(make_arc(f"project {n}", conversations_ago=2) for n in range(4))
    question = make_arc("question", kind="question")

    core = select(score((*projects, question), make_persona(role="companion"))).core

    assert [one.arc.kind for one in core] == ["question", "project", "project"]
    assert [one.breakdown["diversity"] for one in core] == [0.0, 0.0, -0.05]


def test_a_weak_arc_is_core_when_it_is_the_only_one():
    """There is always a core arc when there is an arc at all."""
    weak = make_arc(confidence="low", stickiness="low", conversations_ago=9, kind="theme")

    assert len(select(score((weak,), make_persona())).core) == 1


def test_weak_arcs_do_not_fill_the_places():
    """A weak arc is left out though there is room, and the reason says so."""
    weak = make_arc("weak", confidence="low", stickiness="low", conversations_ago=9, kind="theme")

    chosen = select(score((make_arc(), weak), make_persona()))

    assert [one.arc.title for one in chosen.core] == ["report for Anna"]
    assert [(one.arc.title, why) for one, why in chosen.left_out] == [("weak", "too weak")]


def test_an_active_arc_moves_up_when_the_user_drops_all_of_the_core():
    """Dropping every core arc makes the best active one core, so that the core context is never silently empty."""
    kinds = ("project", "theme", "question", "constraint", "story")
    chosen = select(score(tuple(make_arc(kind, kind=kind) for kind in kinds), make_persona()))

    left = without(chosen, frozenset(one.arc.arc_id for one in chosen.core))

    assert left.core == chosen.active[:1]
    assert left.active == chosen.active[1:]


def test_the_same_inputs_always_give_the_same_bootstrap():
    """A generation is a function of its inputs, and an arc is there for each note."""
    inputs = inputs_of(make_note(), make_note("No meetings before ten", number=2, kind="constraint"))
    stages = generate(make_owner(), inputs)

    assert generate(make_owner(), inputs) == stages
    assert {arc.number for arc in stages.selection.arcs} == {1, 2}
    assert stages.available


def test_an_assistant_goes_on_with_matters_rather_than_with_facts():
    """“Dee is Joss's wife” is nothing to go on with (three trials); with nothing else facts stand there."""
    facts = [make_note(f"Fact {n}", number=n, kind="person") for n in range(1, 9)]
    tasks = [make_note(f"Task {n}", number=n, kind="task") for n in range(10, 14)]

    likes = make_note("Short answers", number=9, kind="preference")

    assert {arc.number for arc in found(*facts, likes, *tasks, now_ms=START_MS)} == {*range(10, 14)}
    assert {arc.number for arc in found(*facts, likes, *tasks[:2], now_ms=START_MS)} == {9, 10, 11}
    assert len(found(*facts, now_ms=START_MS)) == len(facts)
