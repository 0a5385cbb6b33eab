"""Whatever people write: the search takes it as words, finds what it stored, and its index stays whole."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memory
from memory.search.query import Query
from memory.search.searcher import index_turn
from memory.search.terms import index_terms, most_words, split_words
from memory.storage.turn_rows import chain, insert_turn
from memory.testing import make_turn, open_memory

PACKAGE = Path(memory.__file__).parent
HERE = "tg:1:1:0"
HOSTILE = [
    "NEAR(",
    '"',
    "a AND",
    "* OR *",
    "^x",
    "col:y",
    "-z",
    "{a b}:c",
    "'; DROP TABLE search_docs; --",
    "\x00",
    "\ud800",
    "%_",
]
anything = st.one_of(
    st.text(st.characters(), max_size=80), st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE)).map(" ".join)
)


@given(text=anything)
def test_terms_are_plain_tokens(text):
    """Each indexed term of any text is ten hexadecimal digits: nothing of it can be query syntax."""
    terms = index_terms(HERE, split_words(text), "en").split()

    assert all(len(term) == 10 and set(term) <= set("0123456789abcdef") for term in terms)


@given(text=st.one_of(anything, st.text("aé1İ日本กข 's’_-.", max_size=30)))
def test_no_text_has_more_words_than_it_has_at_most(text):
    """A text that is taken for one passage by the quick count is one."""
    assert len(split_words(text)) <= most_words(text)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(said=st.lists(anything, min_size=1, max_size=4), asked=anything)
def test_any_text_can_be_stored_and_asked(said, asked):
    """Any text is indexed and asked for without an error, and FTS5 finds its index whole."""
    storable = [text.replace("\x00", " ").encode("utf-8", "replace").decode() for text in said]

    async def run(folder):
        turns = chain("", [make_turn(seq=n, user_text=each, assistant_text=each) for n, each in enumerate(storable, 1)])
        async with open_memory(folder) as opened:
            for each in turns:
                await opened.db.write(insert_turn(each.turn, each.digest), index_turn(each.turn, opened.languages))
            words = Query(HERE, f"{storable[0]} lighthouse", language="en", limit=10)
            return await opened.search(HERE, asked, limit=3), await opened.searcher.search(words)

    with TemporaryDirectory() as folder:
        found, again = asyncio.run(run(folder))
        with closing(sqlite3.connect(Path(folder) / "continuity.db")) as raw:
            raw.execute("INSERT INTO search_index (search_index) VALUES ('integrity-check')")

    assert len(found) <= 3
    assert len({item.ref for item in again}) == len(again)
