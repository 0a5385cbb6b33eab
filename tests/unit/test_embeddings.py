"""The optional model: absent without its packages, and what it makes when it is there."""

import struct

import pytest

from memory.search import embeddings
from memory.search.embeddings import load
from memory.search.semantic import PASSAGE_WORDS, PASSAGES, passages

WITHOUT = "the extra `semantic` is not installed: pip install -e '.[semantic]'"


@pytest.fixture(scope="module")
def model():
    return load() or pytest.skip(WITHOUT)


def product(one, other):
    return sum(a * b for a, b in zip(struct.unpack("<384e", one), struct.unpack("<384e", other), strict=True))


def test_nothing_is_loaded_without_the_packages(monkeypatch):
    """Without the extra there is no embedder, and nobody is bothered about it."""
    monkeypatch.setattr(embeddings, "MODEL_PACKAGE", "no_such_package")

    assert load() is None


def test_broken_packages_are_named(monkeypatch, tmp_path, caplog):
    """A model that cannot be used is left out, and the log says how to put it right."""
    monkeypatch.setattr(embeddings, "_file", lambda *_: tmp_path / "torn.onnx")

    assert load() is None
    assert "pip install" in caplog.text


def test_passages_hold_the_whole_of_a_usual_text():
    """A usual message is one passage, a long one several, an empty one none; very long ones are cut."""
    assert passages("how are you") == ["how are you"]
    assert passages(" \n") == []
    assert len(passages("word " * (PASSAGE_WORDS + 1))) == 2
    assert len(passages("word " * 100_000)) == PASSAGES


def test_meaning_is_closer_than_words(model):
    """What means the same is closer than what shares a word."""
    asked, same, other = model.encode(["We bought a boat", "They purchased a yacht", "She bought a hat for winter"])

    assert product(asked, same) > product(asked, other)
    assert product(asked, asked) == pytest.approx(1.0, abs=0.01)


def test_vectors_come_in_the_order_of_the_texts(model):
    """Batches are made by length, the answer is in the order asked; any text has a vector."""
    texts = ["b " * 40, "", "a", "\ud800 torn", "c " * 2000]

    together, alone = model.encode(texts), [model.encode([text])[0] for text in texts]

    assert all(product(one, other) > 0.95 for one, other in zip(together, alone, strict=True))
    assert len(set(together)) == len(texts)


def test_no_texts_no_vectors(model):
    """Asked for nothing, it makes nothing."""
    assert model.encode([]) == []
