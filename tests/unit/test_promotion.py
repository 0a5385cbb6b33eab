"""Promotion: what is proposed for long-term memory and what the gate does with it."""

import pytest

from memory.language.languages import Languages
from memory.longterm.promotion import WORTHY, candidates, write_if_worthy
from memory.types import ConversationTurn, Memory, MemoryCandidate

LANGUAGES = Languages.load()


def turn(text, **overrides):
    values = {
        "turn_id": "t1",
        "session_id": "s",
        "conversation_id": "c",
        "seq": 1,
        "user_text": text,
        "assistant_text": "My name is Bot and I live in the cloud.",
        "created_at_ms": 100,
    }
    return ConversationTurn(**(values | overrides))


def found(text, **overrides):
    return [(item.kind, item.subject) for item in candidates(turn(text, **overrides), LANGUAGES)]


def candidate(text="I live in Berlin", subject="user.home", score=0.9, at_ms=100):
    return MemoryCandidate(
        kind="fact", subject=subject, text=text, score=score, turn_id="t1", session_id="s", at_ms=at_ms
    )


def memory(text="I live in Rome", subject="user.home", at_ms=50, **overrides):
    values = candidate(text, subject, 0.9, at_ms).model_dump() | {"memory_id": "m_1"} | overrides
    return Memory(**values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My dog's name is Rex.", [("fact", "user.dog.name")]),
        ("I moved to Berlin.", [("fact", "user.home")]),
        ("I'm allergic to peanuts.", [("fact", "user.allergy.peanut")]),
        ("I hate cilantro.", [("preference", "user.likes.cilantro")]),
        ("We decided to use PostgreSQL.", [("decision", "decision.postgresql")]),
        ("Please remember that the gate code is 4711.", [("fact", "note.4711_code_gate")]),
        ("Mein Hund heißt Bello.", [("fact", "user.hund.name")]),
        ("Vivo en Sevilla.", [("fact", "user.home")]),
        ("Moro em Lisboa.", [("fact", "user.home")]),
        ("J'habite à Lyon.", [("fact", "user.home")]),
        ("Меня зовут Олег.", [("fact", "user.name")]),
    ],
)
def test_what_people_say_about_themselves_is_proposed(text, expected):
    """Facts, preferences and decisions are found by how people state them, in six languages."""
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Berlin?",
        "Where should I move to?",
        "I like it.",
        "The weather is nice today.",
        "lol ok",
        "What is my dog's name?",
    ],
)
def test_questions_and_chatter_are_not_proposed(text):
    """A question states nothing, and neither does small talk."""
    assert found(text) == []


def test_words_of_others_are_never_proposed():
    """A forwarded text is about somebody else."""
    assert found("My name is Eve and I live in Paris.", third_party=True) == []


def test_a_supposition_is_noise():
    """What somebody would do if is below the gate."""
    (item,) = candidates(turn("If I live in Paris I will eat well."), LANGUAGES)

    assert item.score < WORTHY
    assert write_if_worthy(item, []).action == "skip"


def test_the_text_is_a_sentence_of_its_own():
    """Each fact of a sentence becomes a text that can be read alone."""
    items = candidates(turn("My dog's name is Rex and I moved to Berlin."), LANGUAGES)

    assert [item.text for item in items] == ["My dog's name is Rex", "I moved to Berlin"]


def test_a_new_fact_is_written():
    """What nobody knew is written."""
    assert write_if_worthy(candidate(), []).action == "write"


def test_a_newer_value_supersedes_the_older():
    """Two values of one subject: the newer takes over and names the memory it replaces."""
    decision = write_if_worthy(candidate(), [memory()])

    assert (decision.action, decision.superseded) == ("supersede", ("m_1",))


def test_an_older_value_does_not_replace_a_newer():
    """A turn that is promoted late does not undo what was learned since; which is later, no clock decides."""
    assert write_if_worthy(candidate(), [memory(turn_id="t9")], {"t9"}).action == "skip"
    assert write_if_worthy(candidate(at_ms=10), [memory()]).action == "supersede"


def test_what_is_known_is_not_written_again():
    """The same statement in other capitals is known already."""
    assert write_if_worthy(candidate("i live in berlin"), [memory("I live in Berlin")]).action == "skip"


def test_a_superseded_memory_does_not_stand_in_the_way():
    """A value that was true before may become true again."""
    old = memory("I live in Berlin", status="superseded", superseded_by="m_2")

    assert write_if_worthy(candidate(), [old]).action == "write"
