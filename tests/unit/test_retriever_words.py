"""What the search reads in a text: words, terms, people, dates."""

import pytest

from memory.search.languages import Languages
from memory.search.question import DayOf
from memory.search.terms import (
    MAX_WORD_CHARS,
    index_terms,
    read_question,
    search_words,
    split_words,
    stem,
    words_at,
    words_for,
)

NOW_MS = 1_779_000_000_000
"""17 May 2026."""


@pytest.fixture(scope="module")
def languages():
    return Languages.load()


def read(languages, text, code="en", **more):
    return read_question(text, languages.get(code), now_ms=NOW_MS, **more)


@pytest.mark.parametrize(
    ("code", "asked", "said"),
    [
        ("en", "buy", "bought"),
        ("en", "child", "children"),
        ("ru", "собака", "собаку"),
        ("es", "recomendación", "recomendaciones"),
        ("pt", "livro", "livros"),
        ("de", "Bücher".lower(), "buch"),
        ("de", "gehen", "ging"),
        ("fr", "maison", "maisons"),
    ],
)
def test_forms_of_a_word_are_one_term(code, asked, said):
    """Forms of one word meet in one term in all six languages."""
    assert stem(code, asked) == stem(code, said)


def test_every_language_has_search_words(languages):
    """Each language of the project has its words for the search, and twelve months."""
    assert set(search_words()) == set(languages.codes)
    assert all(len(words.months) == 12 for words in search_words().values())


def test_unspaced_script_gives_pairs():
    """A Chinese sentence is cut into pairs of signs, so that a part of it can be found."""
    assert "东京" in split_words("我去东京旅行")


def test_clitics_are_no_words():
    """What hangs on an apostrophe is dropped, with the straight and the curly one."""
    assert split_words("Anna's dog can't swim, we\u2019ll see") == ["anna", "dog", "can", "swim", "we", "see"]


def test_index_holds_no_readable_word():
    """The terms of a text are hashes: no word of it can be read in them, and another conversation has others."""
    mine = index_terms("tg:1:1:0", ["zanzibar", "lunch"], "en")

    assert "zanzibar" not in mine
    assert not set(mine.split()) & set(index_terms("tg:1:2:0", ["zanzibar", "lunch"], "en").split())


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("What is my dog called?", "user"),
        ("Which restaurant have you recommended?", "assistant"),
        ("Can you remind me what you said about my visa?", "assistant"),
        ("Could you find out where I parked?", "user"),
        ("Which harbour is deepest?", None),
    ],
)
def test_whose_words_a_question_wants(languages, text, role):
    """A question with "my" asks for the user's words, one with "you said" for the assistant's."""
    assert read(languages, text).role == role


def test_name_is_no_search_term(languages):
    """The first name of a member says whose words are wanted and is not searched for."""
    question = read(languages, "What did Anna cook?", names={"Anna": 3, "Ben": 4})

    assert question.user_ids == {3}
    assert question.terms == ("cook",)


@pytest.mark.parametrize(
    ("code", "text", "day"),
    [
        ("en", "What did I say on 7 May 2026?", DayOf(2026, 5, 7)),
        ("en", "Where was I on August 11th?", DayOf(None, 8, 11)),
        ("en", "What happened in March?", DayOf(None, 3, None)),
        ("en", "the meeting of 2026-02-03", DayOf(2026, 2, 3)),
        ("en", "what did we plan yesterday", DayOf(2026, 5, 16)),
        ("de", "Was war am 3. Oktober?", DayOf(None, 10, 3)),
        ("ru", "Что было 5 июня 2026 года?", DayOf(2026, 6, 5)),
        ("es", "¿Qué dije el 2 de enero?", DayOf(None, 1, 2)),
        ("fr", "le 14 juillet 2025", DayOf(2025, 7, 14)),
        ("pt", "em março de 2026", DayOf(2026, 3, None)),
    ],
)
def test_dates_are_read(languages, code, text, day):
    """A date in a question is read as far as it is named, in six languages."""
    assert read(languages, text, code).days == (day,)


def test_may_is_not_always_a_month(languages):
    """The verb "may" names no month."""
    assert read(languages, "What may I eat?").days == ()


def test_what_is_longer_than_a_word_is_no_term():
    """A key or an encoded picture is neither indexed nor looked for."""
    longest = "a" * MAX_WORD_CHARS

    assert split_words(f"the key {'0f' * 40} opens {longest}") == ["the", "key", "opens", longest]


def test_framing_words_are_known_in_every_language(languages):
    """How something is asked for is told from what is asked for."""
    question = read(languages, "How many boats did we mention?")

    assert {question.words[n] for n in question.framing} == {"many", "mention"}
    assert all(words_for(code).framing for code in languages.codes)


def test_words_are_found_where_they_stand():
    """Clitics leave the places of what follows them as they are."""
    text = "Ines's boat isn't the pilot's"

    assert all(text[at : at + len(word)].lower() == word for word, at in words_at(text))
