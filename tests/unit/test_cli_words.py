"""How the commands name sessions, read the lock and make other people's text safe."""

import os
from zoneinfo import ZoneInfo

import pytest

from bot.ops.format import find_session, printable, short_ids, size, when
from bot.ops.lock import Holder, holder
from bot.ops.records.sessions import chat_of
from bot.ops.runs.status import Backlog, report_in_words, unfinished_in_words
from memory.errors import UnknownSession
from memory.storage.place import lock_path, take_lock

IDS = ["s_aaaaaaaaaa11", "s_aaaaaaaaaa22", "s_bbbbbbbbbb33"]


def test_short_ids_name_one_session_each():
    """They are as long as the two most alike need, and at least ten characters."""
    assert short_ids(IDS) == {
        "s_aaaaaaaaaa11": "s_aaaaaaaaaa1",
        "s_aaaaaaaaaa22": "s_aaaaaaaaaa2",
        IDS[2]: "s_bbbbbbbbbb3",
    }
    assert short_ids(["s_1234567890abc"]) == {"s_1234567890abc": "s_12345678"}
    assert short_ids([]) == {}


def test_a_session_is_found_by_its_beginning():
    """Whole, short, and without the prefix."""
    for asked in (IDS[2], "s_b", "bbb"):
        assert find_session(IDS, asked) == IDS[2]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("s_aaa", "2 sessions begin with 's_aaa': s_aaaaaaaaaa11, s_aaaaaaaaaa22"),
        ("s_bbbbbbbbbb34", "did you mean s_bbbbbbbbbb33"),
        ("", "there is no session ''"),
        ("\x1b[31m", "<U+001B>"),
    ],
)
def test_a_session_that_is_not_meant_clearly_is_asked_back(asked, told):
    """Ambiguous, misspelt, empty, hostile: the error says what to write instead."""
    with pytest.raises(UnknownSession) as caught:
        find_session(IDS, asked)
    assert told in str(caught.value)


def test_text_of_others_cannot_steer_the_terminal():
    """Controls and direction marks are shown; line ends, joiners and every script stay."""
    assert printable("a\x1b[2Jb\u202ec\x9bd") == "a<U+001B>[2Jb<U+202E>c<U+009B>d"
    assert printable("два\n\t👩\u200d🔬 é") == "два\n\t👩\u200d🔬 é"


def test_looking_at_the_lock_neither_takes_nor_makes_it(tmp_path):
    """Held, free and never taken are told apart, the holder is named, and the lock can be taken right after."""
    database = tmp_path / "continuity.db"
    assert holder(database) is None
    assert not lock_path(database).exists()
    with take_lock(database):
        assert holder(database) == Holder(os.getpid())
    assert holder(database) is None
    with take_lock(database):
        pass


@pytest.mark.parametrize("written", [b"", b"none", b"0", b"4194305", b"\xff" * 30])
def test_what_a_lock_file_says_without_being_true_is_not_believed(tmp_path, written):
    """A number that no process here has (it died, it is another container's), or none, names nobody."""
    database = tmp_path / "continuity.db"
    with take_lock(database):
        lock_path(database).write_bytes(written)
        assert holder(database) == Holder(None)
    lock_path(database).write_bytes(b"%d" % os.getpid())
    assert holder(database) is None


def test_unfinished_work_is_told_by_what_it_means():
    """Sending parts are on their way while the bot runs and to be probed when it died; nothing is nothing."""
    outbox = {"sending": Backlog(2, 0), "sent": Backlog(9, 0)}

    assert unfinished_in_words({}, outbox, 60_000, runs=True) == (
        "2 message parts on the way (the first came 1 minute ago)",
    )
    assert unfinished_in_words({}, outbox, 60_000, runs=False) == (
        "2 message parts perhaps sent: probed at the next start (the first came 1 minute ago)",
    )
    assert unfinished_in_words({"done": Backlog(5, 0)}, {}, 0, runs=True) == ()


def test_a_start_report_is_told_in_words():
    """Only what happened, with the warnings behind it; an empty report is no words."""
    report = {"updates_recovered": 1, "turns_resumed": 0, "replies_to_send": 2, "warnings": ["turn 3 was altered"]}

    assert report_in_words(report) == ("1 update recovered", "2 reply parts re-sent", "turn 3 was altered")
    assert report_in_words({}) == ()


def test_times_sizes_and_chats_are_short():
    """As they stand in tables."""
    assert when(0, 3_600_000, ZoneInfo("Europe/Berlin")) == "1970-01-01 01:00 Europe/Berlin (1 hour ago)"
    assert [size(number) for number in (5, 2048, 3 * 1024**2, 5 * 1024**4)] == [
        "5 bytes",
        "2.0 KiB",
        "3.0 MiB",
        "5.0 TiB",
    ]
    assert [chat_of(key) for key in ("tg:1:-100:0", "tg:1:-100:7", "http:x")] == ["-100", "-100/7", "http:x"]
