"""Meaning beside words: vectors are made behind the turns, add to the words' score, and go with what is forgotten."""

import asyncio
import hashlib
import struct
from pathlib import Path

import pytest

import memory
from memory.ports import Statement
from memory.search.languages import Languages
from memory.search.query import Query
from memory.search.searcher import Searcher, index_turn
from memory.search.semantic import LEAST, Semantic
from memory.storage.extension import Extension
from memory.storage.turn_rows import insert_turn
from memory.testing import make_turn, open_memory

PACKAGE = Path(memory.__file__).parent
HERE = "tg:1:1:0"
ALIKE = {"vessel": "boat", "sailing": "boat", "ship": "boat", "yacht": "boat"}
QUERIES = """-- name: test_forget_turn
-- What the cascade of forgetting does to a turn.
DELETE FROM conversation_turns WHERE turn_id = :turn_id;

-- name: test_vectors
-- What is stored.
SELECT d.ref, e.side, e.passage, e.model FROM embeddings e LEFT JOIN search_docs d ON d.doc_id = e.doc_id
ORDER BY e.doc_id, e.side, e.passage;
"""


class FakeEmbedder:
    """Words become places in a vector; some words mean the same."""

    def __init__(self, name="fake", languages=("en",)):
        self.name = name
        self.languages = frozenset(languages)
        self.texts = []
        self.before = lambda: None

    def encode(self, texts):
        self.before()
        self.texts += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text):
        numbers = [0.01] * 64
        for word in text.lower().replace(".", "").replace("?", "").split():
            place = hashlib.blake2b(ALIKE.get(word, word).encode(), digest_size=2).digest()
            numbers[int.from_bytes(place) % 64] += 1.0
        length = sum(n * n for n in numbers) ** 0.5
        return struct.pack("<64e", *(n / length for n in numbers))


@pytest.fixture
def embedder():
    return FakeEmbedder()


@pytest.fixture
async def opened(tmp_path, place, embedder):
    extra = tmp_path / "test.sql"
    extra.write_text(QUERIES, encoding="utf-8")
    async with open_memory(place, embedder=lambda: embedder, extensions=[Extension((extra,))]) as memory:
        yield memory


@pytest.fixture
def db(opened):
    return opened.db


async def semantic_with(db, embedder):
    semantic = Semantic(db, lambda: embedder)
    assert await semantic.open()
    return semantic


@pytest.fixture
async def semantic(opened):
    assert await opened.semantic.open()
    return opened.semantic


@pytest.fixture
def languages():
    return Languages.load()


@pytest.fixture
def searcher(opened, semantic):
    return opened.searcher


@pytest.fixture
def say(db, languages):
    async def store(*turns):
        await db.write(*(s for turn in turns for s in (insert_turn(turn, ""), index_turn(turn, languages))))

    return store


def talk(*texts, **more):
    turns = [make_turn(seq=n, user_text=text, assistant_text="", **more) for n, text in enumerate(texts, start=1)]
    return [turn.model_copy(update={"language": "en"}) for turn in turns]


WORDS = ("bread", "rain", "socks", "tea", "lamps", "chairs", "music", "paint")
SMALL_TALK = [f"remark about {word}" for word in WORDS]


async def vectors(db):
    return [(row["ref"], row["side"], row["passage"], row["model"]) for row in await db.read("test_vectors")]


async def test_without_the_extra_nothing_is_made(db, say, languages):
    """Without the model the task behind the turns ends at once and words alone find things."""
    semantic = Semantic(db, lambda: None)
    await say(*talk("we bought a boat", *SMALL_TALK))

    await semantic.run()
    semantic.wake()
    (found,) = await Searcher(db, languages, semantic=semantic).search(Query(HERE, "Which boat?", limit=1))

    assert await semantic.catch_up() == 0
    assert await vectors(db) == []
    assert found.ref == "t_1"
    assert "dense" not in found.breakdown


async def test_both_sides_get_a_vector_once(db, say, semantic, embedder):
    """Each side of a turn has its vector; what has one is not asked for again, not even by a later process."""
    await say(make_turn(seq=1, user_text="one", assistant_text="two"))

    assert await semantic.catch_up() == 2
    assert await semantic.catch_up() == 0
    assert await (await semantic_with(db, embedder)).catch_up() == 0
    assert await vectors(db) == [("t_1", 0, 0, "fake"), ("t_1", 1, 0, "fake")]
    assert embedder.texts == ["one", "two"]


async def test_long_text_has_a_vector_per_passage(db, say, semantic):
    """A long text is not judged by its beginning alone, and a pasted book costs no more than eight vectors."""
    await say(*talk("word " * 5000))

    await semantic.catch_up()

    assert len(await vectors(db)) == 8


async def test_another_model_makes_them_again(db, say, semantic):
    """Vectors of different models do not compare: those of the model before are replaced."""
    await say(*talk("one"))
    await semantic.catch_up()

    assert await (await semantic_with(db, FakeEmbedder("newer"))).catch_up() == 1
    assert await vectors(db) == [("t_1", 0, 0, "newer")]


async def test_other_languages_are_left_alone(db, say, semantic):
    """A text in a language that the model does not understand gets no vector."""
    await say(make_turn(seq=1, user_text="Мы купили лодку", assistant_text="", language="ru"))

    assert await semantic.catch_up() == 0
    assert await vectors(db) == []


async def test_finds_what_means_the_same(say, searcher, semantic):
    """A question finds a turn that has none of its words, and the breakdown shows why; without vectors it does not."""
    await say(*talk("we bought a boat", *SMALL_TALK))

    assert await searcher.search(Query(HERE, "Which vessel?")) == []
    await semantic.catch_up()
    (first, *_) = await searcher.search(Query(HERE, "Which vessel?"))

    assert first.ref == "t_1"
    assert first.breakdown["dense"] > 0
    assert first.score == pytest.approx(sum(first.breakdown.values()), abs=0.01)


async def test_a_statement_brings_what_it_hints_at(say, searcher, semantic):
    """For a statement what is close in meaning comes first, in turn with what shares its words; scores still fall."""
    await say(*talk("we bought a boat", *SMALL_TALK))
    await semantic.catch_up()

    found = await searcher.search(Query(HERE, "I love sailing on a yacht near lamps and chairs."))

    assert found[0].ref == "t_1"
    assert {"t_6", "t_7"} <= {item.ref for item in found[:4]}
    assert [item.score for item in found] == sorted((item.score for item in found), reverse=True)


async def test_a_fresh_session_finds_only_its_own(say, searcher, semantic):
    """Closeness does not reach across the sessions that are searched."""
    await say(*talk("we bought a boat", *SMALL_TALK))
    await say(make_turn(seq=1, turn_id="t_f", session_id="s_2", user_text="the ship is fast", assistant_text=""))
    await semantic.catch_up()

    found = await searcher.search(Query(HERE, "Which vessel?", session_ids=["s_2"]))

    assert [item.ref for item in found] == ["t_f"]


async def test_what_history_shows_takes_no_place(say, searcher, semantic):
    """A turn that is excluded is not among the closest either."""
    await say(*talk("we bought a boat", *SMALL_TALK))
    await semantic.catch_up()

    found = await searcher.search(Query(HERE, "Which vessel?", exclude_turn_ids=["t_1"]))

    assert "t_1" not in {item.ref for item in found}


async def test_new_turns_join_what_is_held(say, searcher, semantic):
    """What was said after the first search is found by the next one, once it has its vector."""
    await say(*talk(*SMALL_TALK))
    await semantic.catch_up()
    await searcher.search(Query(HERE, "Which vessel?"))
    await say(make_turn(seq=20, user_text="we bought a boat", assistant_text=""))
    await semantic.catch_up()

    assert (await searcher.search(Query(HERE, "Which vessel?")))[0].ref == "t_20"


async def test_a_few_texts_tell_nothing(say, searcher, semantic):
    """With too little to compare with, words alone decide."""
    await say(*talk("we bought a boat", *SMALL_TALK[: LEAST - 2]))
    await semantic.catch_up()

    assert await searcher.search(Query(HERE, "Which vessel?")) == []


async def test_forgetting_takes_the_vectors_along(db, say, searcher, semantic):
    """P13: with a turn its vectors go, from the table and, when told, from memory."""
    await say(*talk("we bought a boat", *SMALL_TALK))
    await semantic.catch_up()
    await searcher.search(Query(HERE, "Which vessel?"))

    await db.write(Statement("test_forget_turn", {"turn_id": "t_1"}))
    searcher.clear_cache()

    assert all(ref and ref != "t_1" for ref, *_ in await vectors(db))
    assert "t_1" not in {item.ref for item in await searcher.search(Query(HERE, "Which vessel?"))}


async def test_what_is_held_shows_nothing_forgotten(db, say, searcher, semantic):
    """Even before memory is told, a forgotten turn is not found."""
    await say(*talk("we bought a boat", *SMALL_TALK))
    await semantic.catch_up()
    await searcher.search(Query(HERE, "Which vessel?"))

    await db.write(Statement("test_forget_turn", {"turn_id": "t_1"}))

    assert "t_1" not in {item.ref for item in await searcher.search(Query(HERE, "Which vessel?"))}


async def test_forgotten_while_its_vector_was_made(db, say, semantic, embedder):
    """A turn forgotten meanwhile leaves no vector, also when a new turn has taken its row number."""
    await say(*talk("a secret"))
    loop = asyncio.get_running_loop()

    async def forget():
        await db.write(Statement("test_forget_turn", {"turn_id": "t_1"}))
        await say(make_turn(seq=2, user_text="harmless", assistant_text=""))

    def meanwhile():
        embedder.before = lambda: None
        asyncio.run_coroutine_threadsafe(forget(), loop).result()
        semantic.clear_cache()

    embedder.before = meanwhile
    await semantic.catch_up()

    assert await vectors(db) == [("t_2", 0, 0, "fake")]
    assert embedder.texts == ["a secret", "harmless"]


async def test_follows_the_news_until_it_is_cancelled(db, say, semantic, embedder):
    """The task behind the turns makes the vectors of what is new and waits for more."""
    await say(*talk("one"))
    made = asyncio.Event()
    asked = embedder.encode

    def noticed(texts):
        vectors = asked(texts)
        loop.call_soon_threadsafe(made.set)
        return vectors

    loop, embedder.encode = asyncio.get_running_loop(), noticed
    task = asyncio.create_task(semantic.run())
    for seq, text in ((2, "two"), (3, "three")):
        await made.wait()
        made.clear()
        await say(make_turn(seq=seq, user_text=text, assistant_text=""))
        semantic.wake()
    await made.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert embedder.texts == ["one", "two", "three"]


async def test_words_find_when_the_model_fails(say, searcher, semantic, embedder, caplog):
    """A model that breaks costs nothing but itself: the search goes on with words, and the log says so."""
    await say(*talk("we bought a boat", *SMALL_TALK))
    await semantic.catch_up()

    def broken():
        raise RuntimeError("no memory for the model")

    embedder.before = broken

    for _ in range(2):
        assert [item.ref for item in await searcher.search(Query(HERE, "Which boat?"))][:1] == ["t_1"]
    assert caplog.text.count("words alone") == 1
