"""Token counts: exact without a network, estimated when that fails, never an exception."""

import socket
import sys

import pytest

from memory.context.tokens import MERGED_CHARS, NO_TOKEN, TiktokenCounter, load_counter, open_ranks, rough_count
from memory.context.tokens import published as ranks_of_the_package

TAIL = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
BEFORE = r"[^\r\n\p{L}\p{N}]?"
REST = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = f"{BEFORE}{UPPER}*{LOWER}+{TAIL}{BEFORE}{UPPER}+{LOWER}*{TAIL}{REST}"
"""How tiktoken cuts a text into words, as `tiktoken_ext.openai_public` has it."""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CONTINUITY_CACHE_DIR", str(tmp_path / "tables"))
    return tmp_path / "tables"


def test_counts_are_those_of_o200k_without_a_network(cache, monkeypatch):
    """The ranks come from a package; no socket is opened."""

    def no_network(*_):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    counter = TiktokenCounter()

    assert counter.count("hello world, how are you") == 6
    assert counter.count("Grüße aus Köln 👋") == 7
    assert counter.count("") == 0
    assert len(list(cache.iterdir())) == 1


TEXTS = (
    "We said 900 euros, but the hotel alone is 540 now: shall I book?\n\n- [x] done   twice",
    "Könntest du dir das Budget für die Reise nach Köln im Mai anschauen? Naïve Straßenbahnhaltestelle!",
    "Можешь посмотреть бюджет поездки? Высокопревосходительство, пожалуйста.",
    "我们明天早上去上海开会，请提前准备好所有的文件。 明日の朝、会議があります。",
    "def f(x):\n    return {'a': [1, 22, 333, 4444]}  # 👋🏽 ---------------------------------",
)


@pytest.fixture(scope="module")
def encoding():
    """Return OpenAI's own encoding; to build it takes as long as a thousand counts."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = dict(ranks_of_the_package())
    return tiktoken.Encoding("o200k", pat_str=O200K, mergeable_ranks=ranks, special_tokens={})


@pytest.mark.parametrize("text", TEXTS)
def test_a_count_is_exactly_that_of_tiktoken(encoding, text):
    """The table and the merging give what OpenAI's own library gives, in any language."""
    assert load_counter()(text) == len(encoding.encode_ordinary(text))


def test_rare_words_beyond_a_bound_are_estimated():
    """A text of nothing but rare words is counted from its first ones, within a tenth, so that nobody is held up."""
    rare = " ".join(f"xq{number:04d}zv" for number in range(400))
    count = TiktokenCounter().count

    assert len(rare) > 4 * MERGED_CHARS
    assert count(rare) == pytest.approx(sum(count(word) for word in rare.split()), rel=0.1)


def test_a_damaged_table_is_made_again(cache):
    """A file of another length is not believed."""
    open_ranks()
    (file,) = cache.iterdir()
    file.write_bytes(b"damaged")

    assert open_ranks().rank(b"hello") != NO_TOKEN
    assert file.stat().st_size > 1_000_000


def test_an_unwritable_cache_is_no_obstacle(tmp_path, monkeypatch):
    """Where nothing can be kept the table is made for this process alone."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONTINUITY_CACHE_DIR", str(tmp_path / "file" / "below"))

    assert load_counter()("hello world") == 2


def test_without_an_encoding_characters_are_counted_and_it_is_said_once():
    """A quarter of the characters, one warning however often it is asked."""
    warnings = []

    def broken():
        raise OSError("no ranks")

    counter = TiktokenCounter(broken, warnings.append)

    assert [counter.count("twelve chars"), counter.count("ab"), counter.count("")] == [3, 1, 0]
    assert counter.warm() is False
    assert len(warnings) == 1
    assert "no ranks" in warnings[0]


def test_a_text_that_the_tokenizer_refuses_still_has_a_size():
    """Half an emoji is estimated instead of raising."""
    assert TiktokenCounter().count("abcd\ud83d") in {2, 3}
    assert rough_count("x") == 1


def test_nothing_is_loaded_before_it_is_needed():
    """A counter that was not asked has not loaded anything, so that a start does not wait for it."""
    loads = []
    TiktokenCounter(lambda: loads.append(1))

    assert loads == []
    assert "memory.context.tokens" in sys.modules


def test_a_very_long_text_is_estimated_from_its_ends():
    """The beginning and the end of a pasted book stand for what is between them."""
    counter = TiktokenCounter()
    said = "We sail to the harbour tomorrow morning. "

    assert counter.count(5_000 * said) == pytest.approx(5_000 * counter.count(said), rel=0.15)
