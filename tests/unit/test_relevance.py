"""Which finds a prompt tells: for a question, for a message that tells something, and for an answer."""

import pytest

from memory.packets import RetrievedItem
from memory.search.relevance import SURE, of_part, relevant

CLOSE, FAR = SURE, SURE - 0.01
TELLING = "the tiler came at last. he wants the rest by friday"


def finds(*shares, **values):
    """Finds with these shares, named by their places."""
    found = {"source": "turn", "text": "", "at_ms": 0, "score": 1} | values
    return [RetrievedItem(ref=str(n), share=share, **found) for n, share in enumerate(shares)]


@pytest.mark.parametrize(
    ("message", "shares", "told"),
    [
        ("when does the tiler come", [CLOSE, CLOSE, CLOSE], 3),
        ("when does the tiler come", [FAR, FAR, FAR], 3),
        (TELLING, [CLOSE, CLOSE, CLOSE], 2),
        (TELLING, [CLOSE, CLOSE / 3, CLOSE], 2),
        (TELLING, [FAR, FAR], 0),
        (f"{TELLING}. right?", [CLOSE, CLOSE, CLOSE], 3),
        (f"{TELLING}. right?", [FAR, FAR], 1),
        ("hi there", [CLOSE], 0),
    ],
)
def test_who_asks_is_told_more_than_who_tells(message, shares, told):
    """Several sentences tell something: little in the past bears on them, and the notes have where things stand."""
    assert len(relevant(finds(*shares), message)) == told


def test_an_answer_leans_on_its_question():
    """Behind a question a short message answers it: its words bring what they meant elsewhere."""
    answer = "yes thursday at ten, callum does prices"

    assert relevant(finds(CLOSE), answer)
    assert not relevant(finds(CLOSE), answer, answers=True)
    assert relevant(finds(CLOSE), f"{answer}?", answers=True)
    assert relevant(finds(CLOSE), f"{answer} and tells Ann", answers=True)


def test_what_shares_but_common_words_is_told_beside_rarer_ones_alone():
    """What is said all the time bears on nothing, and what the person keeps saying says nothing at all."""
    common, rare, habit = finds(CLOSE, common=True), finds(CLOSE), finds(CLOSE, repeats=True)

    assert relevant([*common, *common], "when does the tiler come") == []
    assert relevant([*common, *rare, *habit], "when does the tiler come") == [*common, *rare]
    assert of_part([*finds(1, common=True), *finds(1, repeats=True)]) == []


def test_a_question_is_told_what_is_said_all_the_time():
    """Somebody who is named every day is asked about as others are; not what was only asked again and again."""
    common, habit = finds(CLOSE, common=True), finds(CLOSE, repeats=True)

    assert relevant([*common, *common], "What do you know about Clara?") == [*common, *common]
    assert relevant([*habit, *common], "What time is it?") == common
    assert relevant([*common, *common], "right? Clara is here with her bike") == []
    assert relevant(habit, "packing list for Norway") == []


def test_what_neighbours_lend_is_told_beside_a_close_find_alone():
    lent = finds(0.1, lent=True)

    assert relevant([*finds(CLOSE), *lent], "when does the tiler come")[1:] == lent
    assert relevant([*finds(FAR), *lent], "when does the tiler come") == finds(FAR)
