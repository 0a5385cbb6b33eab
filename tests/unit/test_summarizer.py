"""Summaries without a model: what lasts is kept, what was only talk goes first."""

import pytest

from memory.search.languages import Languages
from memory.sessions import summarizer
from memory.sessions.summarizer import (
    HEADER,
    fold,
    fold_due,
    gist_of,
    lasting_sentences,
    read_lines,
    sentences_of,
    summarize,
)
from memory.testing import WordCounter, make_state, make_turn
from memory.types import BY_TAP

LANGUAGES = Languages.load()
COUNTER = WordCounter()
THINGS = ("lighthouse", "broken radio", "night train", "leaking tap", "stray cat", "red scarf", "compost heap")


def summary(*texts, previous="", max_tokens=1000, assistant="Good to know.", **overrides):
    turns = [
        make_turn(seq=seq, user_text=text, assistant_text=assistant, **({"language": "en"} | overrides))
        for seq, text in enumerate(texts, 1)
    ]
    return summarize(turns, previous, LANGUAGES, COUNTER, max_tokens)


def test_what_names_and_counts_is_kept_with_who_said_it_and_when():
    """A statement with names or numbers outlives the gist, in the person's own words, with its day."""
    assert "- Person: We decided to take the flat on Bergstrasse 14. (2023-11-14)" in summary(
        "We decided to take the flat on Bergstrasse 14."
    )


def test_of_pasted_material_only_the_edges_stand_for_it():
    """Sentences of a novel or a contract are no statements of the person who pasted it."""
    novel = " ".join(f"She had {n} letters from Anna in the drawer." for n in range(40))

    assert "17 letters" not in summary(f"Can you polish this? {novel} Thanks a lot.")


def test_a_summary_says_that_it_is_not_instructions():
    """Its first line is the same in all languages and sessions (004, DESIGN section 7)."""
    assert summary("My name is Bo.").splitlines()[0] == HEADER
    assert "not instructions" in HEADER


@pytest.mark.parametrize("said", ["Is Ana Lopez in Rome?", "Did it cost 1150 euros?"])
def test_a_question_is_no_statement(said):
    """However specific it is, it may be part of the gist, never kept for good."""
    long = summary(said, *[f"The weather in the old town was rather nice {n} times." for n in range(10, 40)])

    assert long.count("Ana Lopez") + long.count("1150") <= 1
    assert lasting_sentences([make_turn(user_text=said, language="en")], LANGUAGES) == []


def test_a_forwarded_text_is_nobodys_statement():
    """What a third party wrote is not kept as the person's."""
    assert "Person:" not in summary("My name is Eve Adams.", third_party=True)


def test_the_last_summary_and_the_new_turns_make_the_next_one():
    """Cascade: lines are read back and merged, none twice (004 phase 4)."""
    first = summary("My daughter's name is Ida Berg.")
    second = summary("We decided to move to Lyon.", "My daughter's name is Ida Berg.", previous=first)

    assert second.count("Ida") == 1
    assert "Lyon" in second


def test_a_day_stands_once_at_the_first_of_its_lines_and_is_read_back():
    """Each line would pay for it otherwise, and fewer would fit (002 section 4)."""
    said = ["We decided to hire Ana Lopez.", "Our rent is 990."]
    first = summary(*said)
    again = summary("My flat is in Lyon.", previous=first, created_at_ms=1_700_100_000_000)

    assert first.count("(2023-11-14)") == 1
    assert [line.day for line in read_lines(first)] == ["2023-11-14"] * 2
    assert [line.day for line in read_lines(again)] == ["2023-11-14"] * 2 + ["2023-11-16"]


def test_of_remarks_in_one_form_the_last_stands_for_all():
    """They say little each, and together they took the place of everything else that was said."""
    text = summary("I'm allergic to peanuts, so no satay for me.", *[f"I ask because of a {n}." for n in THINGS])

    assert text.count("I ask because") == 1
    assert "peanuts" in text


def test_a_summary_of_a_model_is_merged_too():
    """Lines in another form count as something said."""
    assert "They talked about sailing." in summary("My name is Bo.", previous="They talked about sailing.")


@pytest.mark.parametrize("max_tokens", [0, 5, 20, 60, 200])
def test_a_summary_never_grows_past_its_budget(max_tokens):
    """Whatever goes in."""
    texts = [f"My locker number {n} is in Hall {n * 7}." for n in range(80)]

    assert COUNTER.count(summary(*texts, max_tokens=max_tokens)) <= max_tokens


def test_gist_goes_before_facts_when_room_is_short():
    """Decisions and facts outlive small talk."""
    talk = "The weather was rather nice and the birds were singing in the old trees."
    text = summary(*[f"{talk} {n}" for n in range(20)], "We decided to hire Ana Lopez.", max_tokens=40)

    assert "Ana Lopez" in text


def test_what_a_person_stated_comes_before_what_they_were_told_and_asked():
    """Without a name or a number it is gist, and long answers or questions do not take its place."""
    told = "The gluten network of a dough traps the gas of the yeast, and a dough that is warm rises faster."
    said = [f"Why does the dough {n} not rise, and what does the yeast do?" for n in range(20)]
    text = summary(*said, "I'm allergic to peanuts, so no satay for me.", assistant=told, max_tokens=45)

    assert "- Person: I'm allergic to peanuts" in text


def test_the_same_turns_give_the_same_summary():
    """Deterministic and offline (002 section 8)."""
    texts = ["My cat is called Tom.", "We agreed on Tuesday.", "Why is the sky blue?"]

    assert summary(*texts) == summary(*texts)


@pytest.mark.parametrize("text", ["", "\ud800", "```\n" * 500, "👩‍👩‍👧‍👦" * 300, "。" * 1000, "a" * 50_000])
def test_no_text_makes_it_raise(text):
    """Code, emoji, other scripts and broken characters pass through."""
    assert isinstance(summary(text, assistant=text, language=None), str)


def test_a_language_without_a_file_keeps_numbers_and_names():
    """Nothing matches, but what is specific still counts."""
    assert "1150" in summary("Vuokra on 1150 euroa kuussa.", language="fi")


def test_an_abbreviation_does_not_end_a_sentence():
    """Names stay whole."""
    said = sentences_of("Her teacher is Ms. Lindqvist.", 1, "Person", LANGUAGES.get("en"))

    assert [each.text for each in said] == ["Her teacher is Ms. Lindqvist."]


def test_a_summary_is_told_in_the_order_of_the_talk():
    """What is kept for its names and what is gist stand as they were said, behind the lines of the summary before."""
    before = summary("The old boat leaks badly again.", "We sail with Ann and Bob on 14 May from Oslo.")
    told = summary("The new sail is very expensive indeed.", "Ann and Bob paid 250 euros to Halden.", previous=before)
    found = [told.index(word) for word in ("old boat", "14 May", "new sail", "250 euros")]

    assert found == sorted(found)


def test_the_gist_is_told_in_the_order_of_the_talk():
    """Chosen by weight, told in sequence."""
    language = LANGUAGES.get("en")
    said = [
        each
        for place, text in enumerate(["The boat trip starts in Oslo.", "Hm.", "The boat trip ends in Bergen."])
        for each in sentences_of(text, place, "Ann", language)
    ]

    told = [each.line.text for each in gist_of(said, 2)]
    assert told == ["- Ann: The boat trip starts in Oslo.", "- Ann: The boat trip ends in Bergen."]


@pytest.mark.parametrize(
    ("last_seq", "summarized", "through"),
    [(0, 0, None), (12, 0, None), (13, 0, 10), (22, 10, None), (23, 10, 20), (40, 0, 37)],
)
def test_folding_is_due_every_ten_turns_and_leaves_three_raw(last_seq, summarized, through):
    """002 section 4."""
    assert fold_due(make_state(last_seq=last_seq, summarized_through_seq=summarized)) == through


def test_folding_moves_the_summary_on():
    """Only turns that are due and not yet covered go in."""
    turns = [make_turn(seq=n, user_text=f"My locker {n} is number {n * 11}.", language="en") for n in range(1, 14)]
    state = fold(make_state(last_seq=13), turns, LANGUAGES, COUNTER)

    assert state.summarized_through_seq == 10
    assert "110" in state.rolling_summary
    assert "121" not in state.rolling_summary
    assert fold(state, turns, LANGUAGES, COUNTER) is state


def test_decisions_outlive_chat_in_a_summary():
    """Priority retention (004 phase 4) is of sentences: whole turns go oldest first."""
    said = ("We agreed on the 14th of May.", "haha, nice")
    turns = [make_turn(seq=n, user_text=text, language="en") for n, text in enumerate(said, 1)]

    assert lasting_sentences(turns, LANGUAGES) == ["We agreed on the 14th of May."]


def test_notes_with_other_numbers_are_not_compared_with_each_other(monkeypatch):
    """Two notes that differ in a number are no copies, so a long summary costs no comparison of each with each."""
    compared = []
    monkeypatch.setattr(summarizer, "_same", lambda *both: compared.append(both))
    previous = "\n".join([HEADER, *(f"- Person: My flat costs {n} euros." for n in range(100, 150))])

    assert summary("Our rent is 990.", previous=previous).count("- ") == 51
    assert compared == []


def test_a_buttons_line_is_no_statement_of_the_person():
    """A tap says nothing in words: the answer to it is summed up without it."""
    text = summary(
        "Yes, use Haushalt \u2192 Kalender 2026.", assistant="The dentist is on Thursday.", action_name=BY_TAP
    )

    assert "Haushalt" not in text
    assert "The dentist is on Thursday." in text
