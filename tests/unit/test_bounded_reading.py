"""Nothing a person can send takes long to read: libraries see little of it, rules see bounded sentences."""

from __future__ import annotations

import sys

import pytest

from benchmarks.lag import UNITS
from memory.language import due_dates, time_rules
from memory.language import language as one_language
from memory.language.due_dates import LIBRARY_CHARS, LIBRARY_NUMBERS, parse_when
from memory.language.intents import read_sentences
from memory.language.languages import Languages
from memory.language.ready import compile_rules
from memory.language.sentences import MAX_SENTENCE_CHARS, MAX_SENTENCES
from memory.notes.cutting import UNPAUSED_MAX_CHARS, joined, sentences_in
from memory.search import terms
from memory.search.searcher import index_turn
from memory.state.state_manager import apply_turn, new_state, read_turn
from memory.state.summarizer import summarize
from memory.testing import WordCounter, make_turn

NOW = 1_790_000_000_000
HOSTILE = ["1", "1/1/", "2026-11-21 ", "1 2 3 ", "12:30 ", "1,", "1. ", "1:", "monday 1 ", "a1 ", "jan 1 ", "in 5 "]
CODES = ["en", "de", "es", "fr", "pt", "it", "ru"]


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("length", [400, 4_096, 100_000])
def test_the_date_library_sees_little(unit, length, monkeypatch):
    """At most sixty characters with at most six numbers of at most four digits reach it, whatever was sent."""
    given = []
    monkeypatch.setattr(due_dates, "_search_dates", lambda text, *_: given.append(text) or [])
    text = (unit * length)[:length]
    for code in CODES:
        language = Languages.load().get(code)
        parse_when(text, NOW, "UTC", language)

    assert all(len(each) <= LIBRARY_CHARS for each in given)
    assert all(sum(ch.isdigit() for ch in each) <= 4 * LIBRARY_NUMBERS for each in given)


def test_the_date_library_still_reads_what_the_rules_do_not():
    """A form that the language data do not know is understood by the library."""
    language = Languages.load().get("en")

    assert parse_when("12-25-2026 wrap the presents", NOW, "UTC", language) is not None


@pytest.mark.parametrize(
    "unit",
    [
        "a ",
        "i need to ",
        "i must pay monday and pay friday. ",
        "? ",
        ". ",
        "\n",
        "x",
        "```",
        "`",
        '"',
        "'",
        "- ",
        "字。",
    ],
)
def test_rules_see_sentences_of_bounded_length_and_number(unit):
    """Every rule is matched against at most forty sentences of at most 320 characters."""
    for code in CODES:
        sentences = read_sentences(unit * 100_000, Languages.load().get(code))

        assert len(sentences) <= MAX_SENTENCES
        assert all(len(sentence.text) <= MAX_SENTENCE_CHARS for sentence in sentences)


@pytest.mark.parametrize("unit", ["though ", "hab ", "x", "i need to, ", "字"])
def test_notes_are_made_of_stretches_of_bounded_length(unit):
    """Each is looked at by hundreds of rules, some of them for each of its words: a second for one long message."""
    for code in CODES:
        language = Languages.load().get(code)
        stretches = joined(sentences_in(unit * 1_000, language), language)

        assert all(len(stretch) <= UNPAUSED_MAX_CHARS for stretch in stretches)


def test_a_question_is_stemmed_no_further_than_it_is_asked(monkeypatch):
    """Of a long message in words that nobody uses only as many are stemmed as are looked for."""
    english, words = Languages.load().get("en"), [f"z{n}xq" for n in range(400)]
    terms.read_question("in May", english, now_ms=NOW)  # the months are stemmed once and kept
    stemmed = []
    monkeypatch.setattr(terms, "stem", lambda _, word: stemmed.append(word) or word)

    question = terms.read_question(" ".join(words), english, now_ms=NOW)

    assert len(stemmed) == len(question.terms) == terms.MAX_QUESTION_TERMS


def test_no_rule_is_compiled_when_a_message_comes(monkeypatch):
    """What a first message in any language is read with was compiled before, where nobody waits for it."""
    _read_in_every_language(Languages.load())  # what all languages share is read once
    fresh = Languages.load.__wrapped__()
    compile_rules(fresh)
    compiled = []
    for module in (one_language, time_rules):
        monkeypatch.setattr(module, "cue_pattern", lambda phrases: compiled.append(phrases) or time_rules.NEVER)

    _read_in_every_language(fresh)

    assert compiled == []


def _read_in_every_language(known):
    for language in known:
        read_turn(new_state("s_1", "c_1"), "Rex 17:30?", "Rex!", known, language.code)
        parse_when("17:30", NOW, "UTC", language)


@pytest.mark.parametrize("kind", UNITS)
def test_twice_the_text_costs_no_more_than_twice_the_work(kind):
    """Reading, folding and indexing a message calls at most as many functions more as the message is longer."""
    calls = [calls_of(lambda text=(UNITS[kind] * length)[:length]: read_and_filed(text)) for length in (2_048, 4_096)]

    assert calls[1] < 2.5 * calls[0]


def read_and_filed(text):
    known, state = Languages.load(), new_state("s_1", "tg:1:1:0")
    signs = read_turn(state, text, text, known)
    turn = make_turn(user_text=text, assistant_text=text, language=signs.language, intent=signs.intent)
    apply_turn(state, turn, known)
    index_turn(turn, known)
    summarize([turn] * 3, "", known, WordCounter(), 1_000)


def calls_of(work):
    """Return how many functions the work calls once everything is compiled and cached."""
    work()
    read_sentences.cache_clear()
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
