"""The search over a real store: what is found, what is not, what is left after forgetting."""

from functools import partial
from pathlib import Path

import pytest

import memory
from memory.ports import Statement
from memory.search import terms
from memory.search.languages import Languages
from memory.search.lookups import texts_of
from memory.search.query import Query
from memory.search.relevance import FLOOR, relevant
from memory.search.searcher import index_turn, merge_index, unindex_turn
from memory.storage.extension import Extension
from memory.storage.store import insert_session
from memory.storage.turn_rows import insert_turn
from memory.testing import make_state, make_turn, open_memory
from memory.types import BY_TAP, NotesMark

PACKAGE = Path(memory.__file__).parent
HERE = "tg:1:1:0"
FORGET = """-- name: test_docs
-- All of the index.
SELECT * FROM search_docs;

-- name: test_turns
-- All turns.
SELECT * FROM conversation_turns;

-- name: test_forget_turn
-- What the cascade of forgetting does to a turn.
DELETE FROM conversation_turns WHERE turn_id = :turn_id;

-- name: test_damage
-- A byte of a session's state is lost.
UPDATE conversation_sessions SET state_json = '{' WHERE session_id = :session_id;

"""


@pytest.fixture
async def opened(tmp_path, place):
    extra = tmp_path / "forget.sql"
    extra.write_text(FORGET, encoding="utf-8")
    async with open_memory(place, extensions=[Extension((extra,))]) as memory:
        yield memory


@pytest.fixture
def db(opened):
    return opened.db


async def said_in(db, word):
    """Count a word in the files, of a server in its rows."""
    if not db.shared:
        return db.path.read_bytes().count(word.encode())
    rows = [*await db.read("test_docs"), *await db.read("test_turns")]
    return sum(str(dict(row)).count(word) for row in rows)


@pytest.fixture
def languages():
    return Languages.load()


@pytest.fixture
def searcher(opened):
    return opened.searcher


@pytest.fixture
def say(db, languages):
    async def store(*turns):
        await db.write(*(s for turn in turns for s in (insert_turn(turn, ""), index_turn(turn, languages))))

    return store


def talk(*texts, **more):
    return [make_turn(seq=n, user_text=text, assistant_text="Noted.", **more) for n, text in enumerate(texts, start=1)]


def refs(items):
    return [item.ref for item in items]


async def test_finds_what_was_said(say, searcher):
    """A question in other forms of the words finds the turn, with its place, its reasons and its cost."""
    await say(*talk("Nothing new today", "We bought a sailing boat in Lisbon", "It rains"))

    (first, *_) = await searcher.search(Query(HERE, "Where did we buy the boat?", limit=2))

    assert (first.ref, first.source, first.seq, first.session_id) == ("t_2", "turn", 2, "s_1")
    assert first.text == "User: We bought a sailing boat in Lisbon\nAssistant: Noted."
    assert first.tokens == len(first.text.split())
    assert first.score == pytest.approx(sum(first.breakdown.values()), abs=0.01)


async def test_an_answer_is_shown_with_what_the_person_said_to_it_at_once(say, searcher):
    """It may put that right; what came later, or from somebody else, is no reply."""
    answer = {"assistant_text": "Make Aoife's share of the buns wheat-free."}
    for number, after_ms, user_id in ((1, 60_000, 7), (3, 3_600_000, 7), (5, 60_000, 8)):
        asked = make_turn(turn_id=f"t_{number}", seq=number, user_text="Hm?", user_id=7, **answer)
        at_ms = asked.created_at_ms + after_ms
        reply = {"user_text": f"eh WHEAT free, number {number}??", "user_id": user_id, "created_at_ms": at_ms}
        await say(asked, make_turn(turn_id=f"t_{number + 1}", seq=number + 1, assistant_text="Right.", **reply))

    found = await searcher.search(Query(HERE, "share of the buns for Aoife", limit=3))
    texts = {item.ref: item.text for item in found}
    assert texts["t_1"].endswith("\nUser, to that: eh WHEAT free, number 1??")
    assert not any("to that" in texts[ref] for ref in ("t_3", "t_5"))


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [
        ("ru", "Мы купили красную собаку в Москве", "Где мы видели собак?"),
        ("es", "Compramos dos bicicletas rojas en Madrid", "¿dónde está la bicicleta?"),
        ("pt", "Comprei muitos livros usados em Lisboa", "onde está o livro?"),
        ("de", "Wir haben gestern zwei alte Häuser besichtigt", "welches Haus war das?"),
        ("fr", "Nous avons visité deux maisons anciennes", "quelle maison était-ce ?"),
        ("ja", "来週は東京へ旅行します", "東京"),
    ],
)
async def test_finds_in_other_languages(say, searcher, language, said, asked):
    """Forms of a word are found in each language, whichever the question seems to be in."""
    await say(*talk("…", said, "!", language=language))

    assert refs(await searcher.search(Query(HERE, asked, limit=1))) == ["t_2"]


async def test_keeps_conversations_apart(say, searcher):
    """Nothing of another conversation is ever found."""
    await say(*talk("the password is swordfish"))

    assert await searcher.search(Query("tg:1:2:0", "swordfish password")) == []


async def test_of_what_is_not_wanted_no_text_is_read(say, searcher, monkeypatch):
    """Whoever searches chooses by the scores; the texts of the others stay where they are."""
    await say(*talk("the harbour is closed", "a remark on the harbour"))
    read = []
    monkeypatch.setattr("memory.search.searcher.texts_of", lambda found: read.append(found) or texts_of(found))
    best, _ = await searcher.order(Query(HERE, "harbour"))
    found = await searcher.search(Query(HERE, "harbour"), lambda scored: scored[:1])

    assert refs(found) == [best.message.ref]
    assert read == [[("turn", best.message.ref)]]


async def test_a_word_with_the_hash_of_one_in_another_conversation_is_found(say, searcher, monkeypatch):
    """Forty bits are few among millions of words: what another conversation has under the same hash is passed over."""
    monkeypatch.setattr(terms, "_key", lambda _: b"one for all")
    monkeypatch.setattr(terms, "_indexed", terms._indexed.__wrapped__)  # without what it holds of other tests
    await say(
        make_turn(turn_id="t_1", user_text="the harbour is closed"),
        make_turn(turn_id="t_2", session_id="s_2", conversation_id="tg:1:2:0", user_text="the harbour is open"),
    )

    assert refs(await searcher.search(Query(HERE, "harbour"))) == ["t_1"]


async def test_keeps_a_fresh_session_apart(say, searcher):
    """With `session_ids` only those sessions are searched, and their turns are not crowded out by others."""
    old = [make_turn(seq=n, user_text="harbour harbour plan") for n in range(1, 120)]
    fresh = make_turn(seq=1, turn_id="t_f", session_id="s_2", user_text="a remark on the harbour, long and winding")
    await say(*old, fresh)

    assert refs(await searcher.search(Query(HERE, "harbour plan", session_ids={"s_2"}))) == ["t_f"]
    assert await searcher.search(Query(HERE, "harbour plan", session_ids=())) == []


async def test_leaves_out_what_history_shows(say, searcher):
    """A turn that is excluded is not found, even when it fits best."""
    await say(*talk("the harbour is deep", "harbour", "the harbour closes at nine"))

    assert "t_2" not in refs(await searcher.search(Query(HERE, "harbour", exclude_turn_ids={"t_2"})))


async def test_date_finds_what_no_word_fits(say, searcher):
    """A question for a day finds what was said on it, though it shares no word."""
    day_ms = 86_400_000
    await say(
        *(make_turn(seq=n, user_text=f"sunny {n}", created_at_ms=1_767_225_600_000 + n * 9 * day_ms) for n in (1, 2, 3))
    )

    found = await searcher.search(Query(HERE, "What did I tell you on 19 January 2026?", limit=1))

    assert refs(found) == ["t_2"]


async def test_words_without_meaning_find_nothing(say, searcher):
    """A query of stop words, signs or nothing finds nothing and raises nothing."""
    await say(*talk("and so it was"))

    assert [await searcher.search(Query(HERE, query)) for query in ("", "and so it was", "?!", '"')] == [[], [], [], []]


async def test_indexing_again_changes_nothing(say, db, searcher, languages):
    """Recovery may index a turn again: it is found once."""
    turn = make_turn(user_text="the harbour is deep")
    await say(turn)
    await db.write(index_turn(turn, languages))

    assert refs(await searcher.search(Query(HERE, "harbour"))) == ["t_1"]


async def test_what_a_person_says_comes_with_the_passage_that_answers_it(say, searcher):
    """A turn found by the person's words shows of the long answer what bears on the question too."""
    filler = " ".join(f"filler{n}" for n in range(500))
    await say(make_turn(user_text="Who is my pilot?", assistant_text=f"{filler} your pilot is called Ines {filler}"))

    (found,) = await searcher.search(Query(HERE, "what was my pilot called?"))

    assert found.text.startswith("User: Who is my pilot?")
    assert "called Ines" in found.text


async def test_long_answer_is_shown_by_its_passage(say, searcher):
    """Of a long message the part that fits is shown, with marks where it was cut."""
    filler = " ".join(f"filler{n}" for n in range(500))
    await say(make_turn(user_text="Tell me", assistant_text=f"{filler} the harbour pilot is called Ines {filler}"))

    (found,) = await searcher.search(Query(HERE, "harbour pilot"))

    assert "harbour pilot is called Ines" in found.text
    assert found.text.count("…") == 2
    assert found.tokens < 200


async def test_short_texts_are_shown_without_a_guess_at_their_language(say, db, searcher, languages, monkeypatch):
    """Where nothing is cut, nobody asks what language it is in: that guess takes longer than the rest of a search."""
    await say(*talk("We bought a sailing boat in Lisbon"))
    guessed = []
    monkeypatch.setattr(type(languages), "detect", lambda _, text: guessed.append(text) or languages.get("en"))

    assert await searcher.search(Query(HERE, "Where did we buy the boat?", language="en"))
    assert guessed == []


async def test_forgotten_turn_leaves_no_readable_byte(say, db, searcher, tmp_path):
    """After a turn is deleted it is not found, and no file holds its words, not even as a term (P13)."""
    await say(*talk("nothing", "the code word is zanzibarium", "nothing else"))

    await db.write(Statement("test_forget_turn", {"turn_id": "t_2"}), merge_index())
    await db.wal_truncate()

    assert "t_2" not in refs(await searcher.search(Query(HERE, "what is the code word zanzibarium?")))
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"zanzibar" in file.read_bytes()]


async def test_index_never_holds_a_readable_word(say, db, tmp_path):
    """The index is made of hashes: before anything is forgotten a word stands in the turn alone."""
    await say(*talk("the code word is zanzibarium"))
    await db.wal_truncate()

    assert await said_in(db, "zanzibar") == 1


async def test_same_question_same_answer(say, searcher):
    """The order is the same each time, equal turns newest first."""
    await say(*(make_turn(seq=n, session_id=f"s_{n}", turn_id=f"t_{n}", user_text="harbour") for n in range(1, 6)))

    first = await searcher.search(Query(HERE, "harbour"))

    assert refs(first) == ["t_5", "t_4", "t_3", "t_2", "t_1"]
    assert await searcher.search(Query(HERE, "harbour")) == first


async def test_words_are_found_whoever_said_them(searcher, say):
    """Who looks for words wants where they stand: an answer that asks back counts as much as the person's message."""
    answer = "I would take the sage ones (15x15), the muted green makes the oak look warm. Is the oak light or dark?"
    await say(
        make_turn(turn_id="t_a", seq=1, conversation_id=HERE, user_text="which fits oak?", assistant_text=answer),
        *(
            make_turn(turn_id=f"t_{n}", seq=n, conversation_id=HERE, user_text=f"and the bins on day {n}")
            for n in range(2, 16)
        ),
    )

    found = await searcher.search(Query(HERE, "ochre sage tiles", limit=8, by_words=True))

    assert found[0].ref == "t_a"
    assert found[0].share > FLOOR


async def test_a_buttons_line_is_nobodys_words(searcher, say):
    """The turn is found by its answer alone, and shown without the line."""
    tapped = make_turn(
        turn_id="t_a",
        conversation_id=HERE,
        user_text="Yes, use house \u2192 calendar.",
        assistant_text="The dentist is on Thursday.",
        action_name=BY_TAP,
    )
    await say(tapped)

    assert await searcher.search(Query(HERE, "calendar")) == []
    assert [each.text for each in await searcher.search(Query(HERE, "dentist"))] == [
        "Assistant: The dentist is on Thursday."
    ]


async def test_what_a_person_keeps_saying_bears_on_nothing(say, searcher):
    """A greeting and words of every day find themselves; with something rare in it, or asked, the same is told."""
    days = [f"morning all, what shall we cook on day {'x' * n}?" for n in range(1, 9)]
    await say(*talk("what time is it?", "good morning, all!", *days, "what time is it?", "what time is it?"))

    async def told(text):
        found = await searcher.search(Query(HERE, text, limit=12), partial(relevant, message=text))
        return [item.text.splitlines()[0] for item in found]

    assert await told("hi, what time is it now") == []
    assert "User: what time is it?" not in await told("what time is it now?")
    assert await told("good morning all, what shall we cook?") != []
    assert await told("so, what shall we cook") == []
    assert await told("so, what shall we cook?") != []
    assert (await told("what was it on day xxx?"))[0] == f"User: {days[2]}"


async def test_a_find_tells_who_answered_in_its_session_and_whether_its_message_was_edited(db, say, searcher):
    """Both stand in the session's state; of one that cannot be read, or is not there, nothing is known."""
    turns = talk("We bought a boat", "A boat in Lisbon")
    await say(*turns, *(make_turn(seq=1, turn_id=f"x_{n}", session_id=f"x_{n}", user_text="My boat") for n in (1, 2)))
    mark = NotesMark(version=1, at_ms=1, time_zone="UTC", persona="bard")
    state = make_state(edited=("t_2",), notes_marks=(mark, mark.model_copy(update={"time_zone": "Europe/Rome"})))
    for each in (state, make_state(session_id="x_1")):
        await db.write(insert_session(each, user_id=7, origin="first", created_at_ms=1, title=""))
    await db.write(Statement("test_damage", {"session_id": "x_1"}))
    found = {item.ref: (item.edited, item.personas) for item in await searcher.search(Query(HERE, "Which boat?"))}

    told = {"t_1": (False, ("bard",)), "t_2": (True, ("bard",)), "x_1": (False, ()), "x_2": (False, ())}
    assert found == told
    said = await searcher.said(HERE, 0, turns[-1].created_at_ms + 1, session_id=None, limit=9)
    assert {item.ref: (item.edited, item.personas) for item in said} == told


async def test_the_turns_of_a_stretch_of_time_are_told_the_newest_first(db, say, searcher):
    """Those that a search may find: what was said in private is not in its index."""
    first, second, third = talk("Rain on Monday", "Sun on Tuesday", "Snow on Wednesday")
    await say(first, second, third)
    where = {"session_id": None, "limit": 9}

    async def told(from_ms, to_ms, **other):
        return [item.ref for item in await searcher.said(HERE, from_ms, to_ms, **(where | other))]

    assert await told(first.created_at_ms, third.created_at_ms) == ["t_2", "t_1"]
    assert await told(0, third.created_at_ms + 1, limit=1) == ["t_3"]
    assert await told(0, third.created_at_ms + 1, session_id="s_2") == []
    assert await searcher.said("tg:1:2:0", 0, third.created_at_ms + 1, **where) == []
    await db.write(unindex_turn("t_2"))
    assert await told(0, third.created_at_ms + 1) == ["t_3", "t_1"]
