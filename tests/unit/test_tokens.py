"""Token counts: exact without a network, estimated when that fails, never an exception."""

import socket
import sys

import pytest

from memory.context.tokens import RANKS_SHA256, TiktokenCounter, load_encoding, place_ranks, rough_count


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "ranks"))
    return tmp_path / "ranks"


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


def test_damaged_ranks_are_replaced(cache):
    """A file with other content is not handed to tiktoken, which would go to the network for it."""
    place_ranks(cache)
    (file,) = cache.iterdir()
    file.write_bytes(b"damaged")
    place_ranks(cache)

    assert file.stat().st_size > 1_000_000
    assert len(RANKS_SHA256) == 64


def test_an_unwritable_cache_is_no_obstacle(tmp_path, monkeypatch):
    """Where nothing can be kept the ranks are unpacked for once."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file" / "below"))

    assert len(load_encoding().encode_ordinary("hello world")) == 2


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


def test_a_text_that_the_tokenizer_refuses_still_has_a_size(cache):
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
