"""Arcs: from notes, loops and memories to at most ten framed, scored and selected ones (001)."""

from __future__ import annotations

import pytest

from memory.continuity.candidates import candidates
from memory.continuity.framing import frame
from memory.continuity.generate import generate
from memory.continuity.merging import merge
from memory.continuity.scoring import score, select, without
from memory.continuity.types import BootstrapInputs, DroppedArc
from memory.notes.types import Matter, key_of
from memory.notes.view import NotesView, Standing
from memory.testing import (
    START_MS,
    make_arc,
    make_loop,
    make_memory,
    make_owner,
    make_persona,
    make_session,
    make_topic,
)


def inputs_of(*sessions, memories=(), **rest):
    return BootstrapInputs(sessions=sessions, memories=memories, **rest)


def found(*sessions, persona=None, **rest):
    return candidates(inputs_of(*sessions, **rest), persona or make_persona())


# --- candidates


def test_open_loop_becomes_a_project_and_a_question_stays_one():
    """A promise is a project, a question left open is a question; both name the loop as their source."""
    promise = make_loop()
    question = make_loop("Which hotel did you mean?", kind="question", loop_id="t_2.1", turn_id="t_2")

    kinds = {one.sources: one.kind for one in found(make_session(open_loops=(promise, question)))}

    assert kinds == {("t_1.1",): "project", ("t_2.1",): "question"}


@pytest.mark.parametrize("status", ["done", "answered", "dropped"])
def test_closed_loop_is_nothing_to_carry_forward(status):
    """What is done, answered or dropped is no arc."""
    assert found(make_session(open_loops=(make_loop(status=status),))) == ()


def test_loop_of_somebody_else_is_not_this_users():
    """In a shared session a loop opened by another person's turn is left out."""
    session = make_session(open_loops=(make_loop(),))

    assert found(session, foreign_turn_ids=frozenset({"t_1"})) == ()


def test_short_words_say_what_they_were_about():
    """Words like "I'll send it tomorrow" carry the topic it was said in; words that name it themselves do not."""
    topics = (make_topic("quarterly report"),)
    vague = make_loop("I'll send it tomorrow.")
    clear = make_loop("I'll send the quarterly report.", loop_id="t_2.1")

    texts = [
        one.text for one in found(make_session(open_loops=(vague, clear), active_topics=topics)) if "." in one.text
    ]

    assert texts == ["I'll send it tomorrow. (quarterly report)", "I'll send the quarterly report."]


@pytest.mark.parametrize(
    ("kind", "role", "arc_kind"),
    [
        ("decision", "assistant", "project"),
        ("preference", "assistant", "constraint"),
        ("preference", "companion", "relationship"),
        ("fact", "assistant", "relationship"),
    ],
)
def test_memory_becomes_the_arc_that_fits_the_role(kind, role, arc_kind):
    """A decision is a project, a preference binds an assistant and shapes a companion's relationship."""
    (arc,) = found(memories=(make_memory(kind=kind),), persona=make_persona(role=role))

    assert arc.kind == arc_kind


def known(*texts, session_id="s_1", **overrides):
    """Return what is alive, best first, as if one session had been read."""
    standings = [
        Standing(
            note=Matter(
                **{
                    "matter_id": f"t_{n}.u0", "kind": "task", "text": text, "quoted": "user", "turn_ids": (f"t_{n}",),
                    "said_at_ms": START_MS,
                } | overrides
            ),
            session_id=session_id, value=9.0 - n, waits=9.0 - n, stems=frozenset(text.split()),
        )
        for n, text in enumerate(texts)
    ]  # fmt: skip
    return NotesView(standings=tuple(standings), session_ids=frozenset({session_id}))


def test_session_that_was_read_speaks_through_its_notes():
    """Its loops and memories are left out, the person's words come quoted with their day."""
    session = make_session(open_loops=(make_loop(),))

    arcs = found(session, memories=(make_memory(),), known=known("call the dentist"), now_ms=START_MS)

    assert [(arc.evidence, arc.text) for arc in arcs] == [("note", "“call the dentist” (14 Nov)")]


def test_notes_keep_their_order_through_the_scores():
    """What the view puts first is the first core arc; ten at most are shown."""
    view = known("call the dentist", "paint the fence", "write to Ana", "renew passport")
    stages = generate(make_owner(), inputs_of(make_session(), known=view, now_ms=START_MS))

    titles = [arc.title for arc in stages.selection.arcs]
    assert titles == ["call the dentist", "paint the fence", "write to Ana", "renew passport"]
    assert len(stages.selection.core) == 3


def test_roleplay_calls_a_thread_a_story():
    """A story thread of roleplay is one."""
    (arc,) = found(make_session(), known=known("the lantern", kind="story"), persona=make_persona(role="roleplay"))

    assert arc.kind == "story"


def test_notes_that_are_not_shown_are_also_known():
    """What the preview has no room for is told to the model; what it shows or what was dropped is not."""
    texts = [
        f"{word} has to be looked after" for word in ("roof", "boat", "cat", "tax", "vine", "fence", "car", "loft")
    ]
    view = known(*texts, "gutter has to be cleaned", "a shed that nobody wants")
    gone = (DroppedArc(arc_id="a_x", sources=(key_of(view.standings[-1].note),)),)

    selection = generate(make_owner(), inputs_of(make_session(), known=view, now_ms=START_MS, dropped=gone)).selection

    shown = {source for arc in selection.arcs for source in arc.sources}
    told = {one.source for one in selection.also}
    assert told == {key_of(standing.note) for standing in view.standings[:-1]} - shown
    assert told


def test_memory_from_before_all_sessions_is_old():
    """A memory whose session is out of sight is as old as all of the sessions in sight."""
    (arc,) = found(make_session(session_id="s_2"), memories=(make_memory(session_id="s_0"),))

    assert arc.conversations_ago == 1


def test_many_loops_do_not_keep_out_a_memory():
    """However many loops are open, what was promoted to memory is a candidate too, and the number is bounded."""
    loops = tuple(make_loop(f"Do thing number {n}", loop_id=f"t_{n}.1") for n in range(300))

    evidence = [one.evidence for one in found(make_session(open_loops=loops), memories=(make_memory(),))]

    assert "preference" in evidence
    assert len(evidence) <= 41


# --- merging


def test_same_matter_twice_is_one_arc_with_all_its_evidence():
    """A loop and a memory in nearly the same words become one, surer than each was alone."""
    loop = make_loop("Send the report to Anna", kind="request")
    memory = make_memory("Send Anna the report.", kind="fact", score=0.5)

    (arc,) = merge(found(make_session(open_loops=(loop,)), memories=(memory,)))

    assert arc.sources == ("t_1.1", "m_1")
    assert arc.confidence == "high"
    assert arc.text == "Send the report to Anna"


def test_singular_and_plural_are_one_matter():
    """The memory "Prefers short answers" and the topic "prefer short answers" are one."""
    session = make_session(active_topics=(make_topic("prefer short answers"),))

    assert len(merge(found(session, memories=(make_memory(),)))) == 1


def test_different_matters_stay_apart():
    """Two loops with one word in common are two arcs."""
    loops = (make_loop("Send the report to Anna"), make_loop("Call the plumber", loop_id="t_2.1"))

    assert len(merge(found(make_session(open_loops=loops)))) == 2


# --- framing


@pytest.mark.parametrize(
    ("role", "immersion", "label"),
    [
        ("assistant", "minimal", "In progress"),
        ("companion", "balanced", "Something being worked on"),
        ("companion", "minimal", "In progress"),
        ("roleplay", "full", "A thread in motion"),
    ],
)
def test_same_matter_is_framed_by_role_and_immersion(role, immersion, label):
    """Each role has its words; minimal immersion allows only the plain ones."""
    owner = make_owner(role=role, immersion=immersion)

    (arc,) = frame(found(make_session(open_loops=(make_loop(),))), owner, ())

    assert arc.summary == f"{label}: Send the report to Anna"


def test_uncertain_arc_loses_its_specifics():
    """Of an arc of low confidence neither numbers nor addresses are left."""
    memory = make_memory("Pays 950 euros rent to lena@example.org", kind="fact", score=0.3)

    (arc,) = frame(found(memories=(memory,)), make_owner(), ())

    assert arc.generalized
    assert "950" not in arc.summary
    assert "@" not in arc.summary
    assert "uncertain" in arc.summary


def test_arc_of_which_nothing_is_left_is_not_told():
    """When an uncertain arc is nothing but specifics, it is left out."""
    memory = make_memory("+48 555 0199", kind="fact", score=0.3)

    assert frame(found(memories=(memory,)), make_owner(), ()) == ()


def test_roleplay_is_not_locked_into_what_is_only_likely():
    """In roleplay an arc of medium confidence is generalized, for an assistant it is not."""
    memory = make_memory("The inn has 3 doors", kind="fact", score=0.5)

    framed = {
        role: frame(found(memories=(memory,)), make_owner(role=role), ())[0] for role in ("roleplay", "assistant")
    }

    assert framed["roleplay"].generalized
    assert "3" not in framed["roleplay"].summary
    assert not framed["assistant"].generalized


def test_label_is_not_said_twice():
    """What says "I decided to …" is not told as "Decided: I decided to …"."""
    memory = make_memory("I decided to take the train.", kind="decision")

    assert frame(found(memories=(memory,)), make_owner(), ())[0].summary == "I decided to take the train."


def test_dropped_arc_stays_away_until_something_new_is_said():
    """What the user dropped is not offered again, until there is evidence that was not there then."""
    arcs = merge(found(make_session(open_loops=(make_loop(),))))
    dropped = (DroppedArc(arc_id="a_gone", sources=("t_1.1",)),)
    new = (arcs[0].model_copy(update={"sources": ("t_1.1", "t_9.1")}),)

    assert frame(arcs, make_owner(), dropped) == ()
    assert len(frame(new, make_owner(), dropped)) == 1


# --- scoring and selection


def test_score_is_the_sum_of_its_visible_parts():
    """Every score can be read from its breakdown: confidence, stickiness, emphasis, recency."""
    (scored,) = score((make_arc(conversations_ago=3, stickiness="high"),), make_persona())

    assert scored.breakdown == {"confidence": 1.0, "stickiness": 0.6, "emphasis": 0.15, "recency": -0.12}
    assert scored.score == pytest.approx(1.63)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"confidence": "high"}, {"confidence": "medium"}),
        ({"confidence": "medium"}, {"confidence": "low"}),
        ({"stickiness": "high"}, {"stickiness": "normal"}),
        ({"stickiness": "normal"}, {"stickiness": "low"}),
        ({"conversations_ago": 1}, {"conversations_ago": 2}),
    ],
)
def test_surer_stickier_and_more_recent_arcs_score_higher(better, worse):
    """Confidence and stickiness add, conversations ago take away."""
    first, second = (make_arc("one", **better), make_arc("two", **worse))

    assert [one.arc.title for one in score((second, first), make_persona())] == ["one", "two"]


def test_role_decides_what_is_emphasized():
    """An assistant puts a project before a theme, a companion the theme before the project."""
    arcs = (make_arc("plan"), make_arc("music", kind="theme"))

    first = {role: score(arcs, make_persona(role=role))[0].arc.title for role in ("assistant", "companion")}

    assert first == {"assistant": "plan", "companion": "music"}


def test_selection_is_three_core_and_seven_active_at_most():
    """Of twenty strong arcs three are core, seven active, and the rest is listed with a reason."""
    kinds = ("project", "theme", "question", "story", "relationship", "constraint")
    arcs = tuple(make_arc(f"arc {n}", kind=kinds[n % 6], stickiness="high") for n in range(20))

    chosen = select(score(arcs, make_persona()))

    assert (len(chosen.core), len(chosen.active), len(chosen.left_out)) == (3, 7, 10)
    assert {reason for _, reason in chosen.left_out} == {"no room"}


def test_selection_prefers_another_kind_to_more_of_the_same():
    """With four strong projects and one weaker theme the theme is core too."""
    projects = tuple(make_arc(f"project {n}", stickiness="high") for n in range(4))
    theme = make_arc("theme", kind="theme", stickiness="high")

    core = select(score((*projects, theme), make_persona())).core

    assert "theme" in {one.arc.kind for one in core}
    assert core[-1].breakdown["diversity"] < 0


def test_weak_arc_is_core_when_it_is_the_only_one():
    """There is always a core arc when there is an arc at all."""
    weak = make_arc(confidence="low", stickiness="low", conversations_ago=9, kind="theme")

    chosen = select(score((weak,), make_persona()))

    assert len(chosen.core) == 1


def test_weak_arcs_do_not_fill_the_places():
    """A weak arc is left out though there is room, and the reason says so."""
    weak = make_arc("weak", confidence="low", stickiness="low", conversations_ago=9, kind="theme")

    chosen = select(score((make_arc(), weak), make_persona()))

    assert [one.arc.title for one in chosen.core] == ["report for Anna"]
    assert [(one.arc.title, why) for one, why in chosen.left_out] == [("weak", "too weak")]


def test_active_arc_moves_up_when_the_user_drops_all_of_the_core():
    """Dropping every core arc makes the best active one core, so that the core context is never silently empty."""
    kinds = ("project", "theme", "question", "constraint", "story")
    chosen = select(score(tuple(make_arc(kind, kind=kind) for kind in kinds), make_persona()))

    left = without(chosen, frozenset(one.arc.arc_id for one in chosen.core))

    assert left.core == chosen.active[:1]


def test_arc_of_another_conversation_cannot_get_the_same_id():
    """The id of an arc is made of its owner too."""
    session = make_session(open_loops=(make_loop(),))
    here, there = (make_owner(), make_owner(conversation_id="tg:1:-5:0"))

    ids = {frame(found(session), owner, ())[0].arc_id for owner in (here, there)}

    assert len(ids) == 2


def test_same_inputs_always_give_the_same_bootstrap():
    """A generation is a function of its inputs."""
    inputs = inputs_of(
        make_session(open_loops=(make_loop(),), active_topics=(make_topic(),)), memories=(make_memory(),)
    )

    assert generate(make_owner(), inputs) == generate(make_owner(), inputs)
