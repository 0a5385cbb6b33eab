"""The order that the retriever gives: words, neighbours, people, dates, open loops, and a breakdown that adds up."""

from dataclasses import replace

import pytest

from memory.search.question import WEIGHTS, DayOf, Question, SearchedMessage, TermHits
from memory.search.retriever import place, rank, shortlist, term_weights, weigh

DAY_MS = 86_400_000
TERMS = ("harbour", "lunch")


def message(n, **overrides):
    fields = {
        "key": (n, 0),
        "source": "turn",
        "ref": f"t_{n}",
        "session_id": "s_1",
        "seq": n,
        "ordinal": n,
        "user_id": 7,
        "words": 12,
        "terms": 8,
        "asks": False,
        "time_words": 0,
        "at_ms": n * DAY_MS,
    }
    found = SearchedMessage(**(fields | overrides))
    return found._replace(key=number(*found.key))


def number(doc, side):
    return 2 * doc + side


def places(hits, lengths):
    """Return hits of ((document, side), passage, term, times) as a look-up brings them."""
    said = [place(number(*key), passage, term) for key, passage, term, times in hits for _ in range(times)]
    return TermHits(said, lengths)


def order(messages, hits, question=None, *, weights=WEIGHTS, **more):
    question = question or Question(TERMS)
    idf = term_weights([3] * len(question.terms), 100, question.framing, weights)
    matches = weigh(idf, places(hits, {m.key: m.terms for m in messages}), weights)
    return list(rank(question, messages, matches, weights=weights, **more))


def refs(scored):
    return [one.message.ref for one in scored]


def test_rare_word_is_worth_more():
    """The fewer turns have a term, the more it is worth; never less than nothing."""
    rare, common, everywhere = term_weights([1, 50, 100], 100)

    assert rare > common > everywhere > 0


def test_both_words_come_before_one():
    """A message with both words of the question stands before messages with one of them."""
    hits = [((1, 0), 0, 0, 1), ((9, 0), 0, 0, 1), ((9, 0), 0, 1, 1), ((17, 0), 0, 1, 1)]

    found = order([message(1), message(9), message(17)], hits)

    assert refs(found)[0] == "t_9"


def test_breakdown_adds_up():
    """The parts of the breakdown add up to the score."""
    hits = [((1, 0), 0, 0, 1), ((2, 0), 0, 1, 2)]
    question = Question(TERMS, role="user", days=(DayOf(1970, 1, 3),), wants_time=True)

    found = order([message(1, asks=True), message(2), message(3)], hits, question, now_ms=9 * DAY_MS, open_refs={"t_2"})

    assert all(one.score == pytest.approx(sum(one.breakdown.values())) for one in found)
    assert {"words", "neighbours", "person", "date", "open_loop", "recency"} <= set(found[0].breakdown)


def test_answer_after_the_matching_question_is_found():
    """What follows a question with the words that are looked for comes before a message that has one of them itself."""
    hits = [((4, 0), 0, 0, 1), ((4, 0), 0, 1, 1), ((9, 0), 0, 0, 1)]
    asked, answer, far = message(4, asks=True), message(5), message(9)

    found = order([asked, answer, far], hits)

    assert refs(found) == ["t_4", "t_5", "t_9"]
    assert found[1].breakdown["answer"] > 0


def test_neighbour_of_another_session_lends_nothing():
    """Two messages that stand side by side in the log but belong to two sessions are strangers."""
    found = order([message(4), message(5, session_id="s_2")], [((4, 0), 0, 0, 1)])

    assert "neighbours" not in found[1].breakdown


def test_long_message_needs_less_from_its_neighbours():
    """What neighbours lend shrinks with the length of the message."""
    hits = [((4, 0), 0, 0, 1)]

    short = order([message(4), message(5)], hits)[1]
    long = order([message(4), message(5, words=900)], hits)[1]

    assert long.breakdown["neighbours"] < short.breakdown["neighbours"] / 5


def test_long_message_counts_by_its_best_passage():
    """A long message with both words together is worth more than one in which they are far apart."""
    near = [((1, 0), 2, 0, 1), ((1, 0), 2, 1, 1)]
    apart = [((9, 0), 0, 0, 1), ((9, 0), 4, 1, 1)]

    found = order([message(1, words=400, terms=200), message(9, words=400, terms=200)], near + apart)

    assert refs(found) == ["t_1", "t_9"]
    assert found[0].passage == 2


@pytest.mark.parametrize(("role", "first"), [("user", (1, 0)), ("assistant", (2, 1))])
def test_whose_words_are_wanted(role, first):
    """A question for somebody's words prefers that side among equal messages."""
    messages = [message(1), message(2, key=(2, 1), session_id="s_2")]
    hits = [((1, 0), 0, 0, 1), ((2, 1), 0, 0, 1)]

    found = order(messages, hits, Question(TERMS, role=role))

    assert found[0].message.key == number(*first)


def test_named_person_is_preferred_in_a_group():
    """In a chat of two people the messages of the one who is named come first."""
    messages = [message(1, user_id=1), message(9, user_id=2)]
    hits = [((1, 0), 0, 0, 1), ((9, 0), 0, 0, 1)]

    found = order(messages, hits, Question(TERMS, user_ids=frozenset({1}), people=2))

    assert refs(found) == ["t_1", "t_9"]


def test_open_loop_goes_first_among_equals():
    """The evidence of an open loop stands before an equal message."""
    hits = [((1, 0), 0, 0, 1), ((9, 0), 0, 0, 1)]

    found = order([message(1), message(9)], hits, open_refs={"t_1"}, weights=replace(WEIGHTS, recency=0.0))

    assert refs(found) == ["t_1", "t_9"]


def test_ties_are_broken_by_the_newest():
    """Of two messages with one score the newer stands first, in whatever order they are given."""
    hits = [((1, 0), 0, 0, 1), ((9, 0), 0, 0, 1)]
    old, new = message(1), message(9)

    assert refs(order([old, new], hits)) == refs(order([new, old], hits[::-1])) == ["t_9", "t_1"]


def test_neighbours_complete_a_message():
    """Two neighbours that have one word each come before two strangers that do."""
    hits = [((4, 0), 0, 0, 1), ((5, 0), 0, 1, 1), ((9, 0), 0, 0, 1), ((17, 0), 0, 1, 1)]

    assert set(refs(order([message(4), message(5), message(9), message(17)], hits))[:2]) == {"t_4", "t_5"}


def test_long_answer_lends_less_than_a_person():
    """An assistant's answer that repeats the words of the question lifts the messages beside it only a little."""
    person = order([message(4), message(5)], [((4, 0), 0, 0, 1)])[1]
    answer = order([message(4, key=(4, 1)), message(5)], [((4, 1), 0, 0, 1)])
    beside = next(one for one in answer if one.message.key == number(5, 0))

    assert 0 < beside.breakdown["neighbours"] < person.breakdown["neighbours"] / 2


def test_question_about_the_person_puts_the_assistants_answers_behind():
    """A question for "my ..." finds what the person said before an answer of the assistant with the same words."""
    hits = [((4, 0), 0, 0, 1), ((9, 1), 0, 0, 1), ((9, 1), 0, 1, 1)]

    found = order([message(4), message(9, key=(9, 1), words=600, terms=300)], hits, Question(TERMS, role="user"))

    assert refs(found) == ["t_4", "t_9"]


def test_framing_word_hardly_counts():
    """What a question is about outweighs how it is asked."""
    hits = [((1, 0), 0, 0, 1), ((9, 0), 0, 1, 1)]

    assert refs(order([message(1), message(9)], hits, Question(TERMS, framing=frozenset({1})))) == ["t_1", "t_9"]


def test_shortlist_keeps_the_best_and_the_newest():
    """A shortlist holds the documents with the most of the question, the newest among equals."""
    hits = [((n, 0), 0, 0, 1) for n in range(1, 9)] + [((2, 0), 1, 0, 1)]
    lengths = dict.fromkeys((number(n, 0) for n in range(1, 9)), 8)

    assert shortlist(weigh([1.0, 2.0], places(hits, lengths)), 3) == [2, 8, 7]


@pytest.mark.parametrize(
    ("wanted", "said", "worth"),
    [
        (DayOf(2026, 5, 7), DayOf(2026, 5, 7), 1.0),
        (DayOf(2026, 5, 7), DayOf(2026, 5, 9), 0.6),
        (DayOf(None, 5, None), DayOf(2026, 5, 9), 0.5),
        (DayOf(2025, 5, 7), DayOf(2026, 5, 7), 0.0),
        (DayOf(2026, None, None), DayOf(2026, 5, 7), 0.1),
    ],
)
def test_date_matches_as_far_as_it_is_named(wanted, said, worth):
    """A message of the named day fits best, of the days after it well, of another year not at all."""
    assert wanted.match(said) == worth


def test_impossible_date_spans_nothing():
    """The 31st of June spans no time and raises nothing."""
    assert DayOf(2026, 6, 31).span_ms() is None


def test_what_only_its_neighbours_hold_is_lent():
    """A turn with a word of the question on either side, or of a day asked for, stands for itself."""
    messages = [message(n, key=(n, side)) for n in (1, 2) for side in (0, 1)]
    found = order(messages, [((1, 1), 0, 0, 1)])
    of_day = order([message(1), message(2)], [((1, 0), 0, 0, 1)], Question(TERMS, days=(DayOf.of(2 * DAY_MS),)))

    assert {(one.message.ref, one.lent) for one in found} == {("t_1", False), ("t_2", True)}
    assert [one.lent for one in of_day] == [False, False]
