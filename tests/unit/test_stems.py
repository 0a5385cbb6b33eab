"""Stems: the library in C gives the same ones as the one in Python, so an index outlives a change of either."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import snowballstemmer
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from memory.search.languages import Languages

ROOT = Path(__file__).parents[2]
NAMES = sorted({language.stemmer for language in Languages.load() if language.stemmer})
LETTERS = "abcdefghijklmnopqrstuvwxyzäöüßéèêëàâçñíóúáãõîïôùûœæì'абвгдеёжзийклмнопрстуфхцчшщъыьэюя"


def pure(name):
    """Return the stemmer in Python, which `snowballstemmer.stemmer` no longer gives out."""
    return getattr(import_module(f"snowballstemmer.{name}_stemmer"), f"{name.title()}Stemmer")().stemWord


PURE = {name: pure(name) for name in NAMES}
QUICK = {name: snowballstemmer.stemmer(name) for name in NAMES}


@cache
def words_of_our_data():
    """Return every word of all that is written down in seven languages."""
    found = set()
    for file in (*ROOT.glob("memory/**/*.toml"), *ROOT.glob("bot/**/*.toml")):
        text = file.read_text(encoding="utf-8")
        found.update(re.findall(r"[^\W\d_]+", text.lower()))
    return sorted(found)


def test_every_language_is_stemmed():
    """No language with a data file goes without stems."""
    assert [language.code for language in Languages.load() if not language.stemmer] == []


@pytest.mark.parametrize("name", NAMES)
def test_stems_are_made_in_c(name):
    """The library in C is the one that runs."""
    assert isinstance(QUICK[name], Stemmer.Stemmer)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.soak)])
def test_known_words_have_the_same_stem_in_c_and_in_python(name, every):
    """What one machine has indexed, another one finds, whichever of the two it has."""
    words = words_of_our_data()[NAMES.index(name) % every :: every]

    assert len(words) > 5000 / every
    assert QUICK[name].stemWords(words) == [PURE[name](word) for word in words]


@pytest.mark.parametrize("name", NAMES)
@given(word=st.one_of(st.text(LETTERS, max_size=16), st.text(max_size=16)))
@pytest.mark.sweep
def test_any_word_has_the_same_stem_in_c_and_in_python(name, word):
    """Whatever somebody writes has one stem."""
    assert QUICK[name].stemWord(word) == PURE[name](word)
