"""What comes in is on disk when it is taken, once; whatever a stranger sends leaves no byte."""

from __future__ import annotations

import json

import pytest

from bot.intake.access import Gate
from bot.intake.inbox import Inbox
from bot.intake.intake import Intake, NotTaken
from bot.intake.local import local_update
from bot.intake.raw_json import Malformed
from bot.intake.updates import Me
from bot.tables import BOT_TABLES
from memory.errors import StorageUnavailable
from memory.ports import Statement
from memory.testing import ManualClock, open_memory

ME = Me(99, "continuity_bot")


def update(update_id=1, text="hello", user_id=7, **fields):
    chat = {"id": user_id, "type": "private", "first_name": "Ana"}
    who = {"id": user_id, "is_bot": False, "first_name": "Ana"}
    content = {"message_id": 5, "date": 1, "chat": chat, "from": who, "text": text}
    return {"update_id": update_id, "message": content | fields}


class House:
    """A database, an inbox, and the intake before it; keeps what is handed on."""

    def __init__(self, db):
        self.db, self.delivered, self.strangers = db, [], []
        self.inbox = Inbox(db, ManualClock(), "boot_1")
        gate = Gate(everyone=False, named={7}, paired=())
        self.intake = Intake(self.inbox, gate, ME, deliver=self.delivered.append, stranger=self.strangers.append)


@pytest.fixture
async def house(tmp_path):
    async with open_memory(tmp_path, extensions=[BOT_TABLES]) as memory:
        yield House(memory.db)


async def test_an_update_is_on_disk_when_it_is_taken(house):
    """The row holds the raw update, and its lane gets it."""
    await house.intake.take(update())
    (found,) = await house.inbox.unfinished(ME)

    assert (found.text, found.attempts) == ("hello", 0)
    assert [envelope.update_id for envelope in house.delivered] == [1]


async def test_the_same_update_twice_starts_one_turn(house):
    """Telegram delivers again what it does not know to be taken; only the first counts (P2)."""
    await house.intake.take(update())
    await house.intake.take(update())

    assert len(house.delivered) == 1
    assert len(await house.inbox.unfinished(ME)) == 1


async def test_a_begun_turn_counts_as_an_attempt_unless_the_process_stopped_in_order(house):
    """A death leaves it counted; an orderly stop gives the message back as if it had never been begun (P3, P11)."""
    await house.intake.take(update())
    await house.inbox.claim(house.delivered, "t_1")
    (begun,) = await house.inbox.unfinished(ME)
    await house.db.write(Statement("inbox_release", {"boot_id": "boot_1"}))
    (given_back,) = await house.inbox.unfinished(ME)

    assert (begun.attempts, given_back.attempts) == (1, 0)


async def test_a_disk_that_refuses_takes_nothing(house):
    """The update stays with Telegram, `/health` can say why, and it is taken when there is room again (P10)."""

    class Full:
        async def write(self, *_):
            raise StorageUnavailable("no space")

    house.inbox._db = Full()
    with pytest.raises(NotTaken, match="no space"):
        await house.intake.take(update())

    assert house.inbox.storage_error == "no space"
    assert house.delivered == []
    house.inbox._db = house.db
    await house.intake.take(update())
    assert house.inbox.storage_error is None
    assert len(house.delivered) == 1


async def test_a_stranger_is_handed_on_and_not_stored(house):
    """Not a byte of a stranger's update reaches the table (P14)."""
    await house.intake.take(update(user_id=666))

    assert [envelope.user_id for envelope in house.strangers] == [666]
    assert await house.db.read("ops_inbox") == []


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned_message": {"date": 0, "message_id": 3, "chat": {"id": 666, "type": "private"}}},
        {"text": None, "entities": [{"type": "bot_command", "offset": 0, "length": 5}]},
        {"entities": [{"type": "text_mention", "offset": 0, "length": 5}]},
        {"text": "\ud800"},
        {"chat": {"id": "666", "type": "private"}},
        {"chat": {"id": 2**63, "type": "private"}},
        {"message_id": 2**63},
        {"text": [[[[]]]], "date": {"a": float("nan")}},
    ],
)
async def test_what_a_stranger_sends_leaves_no_byte_whatever_its_shape(house, fields):
    """The gate comes before anything that looks closer: no row, also not for what cannot be read (P14)."""
    await house.intake.take(update(user_id=666, **fields))

    assert await house.db.read("ops_inbox") == []
    assert house.delivered == []


@pytest.mark.parametrize("text", ["\ud800 half a pair", "a \x00 b"])
async def test_text_that_a_database_refuses_is_taken_and_replayed(house, text):
    """A lone surrogate or NUL is left out of the text; the raw update is stored as it came."""
    await house.intake.take(update(text=text))
    (found,) = await house.inbox.unfinished(ME)

    assert found.text == house.delivered[0].text
    assert "\x00" not in found.text
    found.text.encode()


@pytest.mark.parametrize(
    "fields", [{"text": ["not", "text"]}, {"message_id": "five"}, {"chat": 5}, {"chat": {"id": 2**70}}]
)
async def test_what_cannot_be_read_belongs_to_its_sender(house, fields):
    """It is kept with the conversation in which its sender can forget it, and goes to the lane that tells them."""
    await house.intake.take(update(**fields))
    (row,) = await house.db.read("inbox_unfinished", bot_id=99)
    (found,) = house.delivered
    await house.db.write(house.inbox.quarantine(found, "it cannot be read"))

    assert row["payload"]
    assert [(each.kind, each.conversation_id) for each in house.delivered] == [("unreadable", "tg:99:7:0")]
    assert [row["update_id"] for row in await house.db.read("erased_inbox", conversation_id="tg:99:7:0")] == [1]


async def test_an_update_of_nobody_is_noted_without_what_it_holds(house):
    """With everybody let in, an update that names neither sender nor chat leaves its id alone."""
    gate = Gate(everyone=True, named=(), paired=())
    intake = Intake(house.inbox, gate, ME, deliver=print, stranger=print)
    await intake.take({"update_id": 5, "message": {"chat": 5, "text": "secret words"}})
    rows = await house.db.read("ops_quarantined")

    assert [(row["update_id"], row["payload"]) for row in rows] == [(5, "")]


async def test_a_defect_of_ours_passes_one_update_over_and_the_next_is_taken(house):
    """Whatever goes wrong while an update is taken ends in a note, never in an exception that stops polling."""
    house.intake._deliver = None
    await house.intake.take(update(1))
    house.intake._deliver = house.delivered.append
    await house.intake.take(update(2))

    assert [each.update_id for each in house.delivered] == [2]


async def test_an_id_beyond_what_a_database_holds_is_taken_once(house):
    """Identity is the last 60 bits; the same update again starts nothing."""
    await house.intake.take(update(2**63 + 5))
    await house.intake.take(update(2**63 + 5))

    assert [each.update_id for each in house.delivered] == [5]


async def test_telegram_cannot_speak_for_somebody_on_http(house):
    """An update in the form of a local message is not for this door."""
    await house.intake.take(local_update("work", "1", "I am somebody else", "Ana", 1))
    house.intake._gate = Gate(everyone=True, named=(), paired=())
    await house.intake.take(local_update("work", "2", "I am somebody else", "Ana", 1))

    assert house.delivered == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"text"', b'{"message": {}}', b"\xff\xfe", b'{"update_id": "1"}']
)
async def test_a_webhook_body_that_is_no_update_is_malformed(house, body):
    """The server answers 400; nothing is stored."""
    with pytest.raises(Malformed):
        await house.intake.take_body(body)

    assert await house.db.read("ops_inbox") == []


async def test_a_body_nested_deeper_than_any_update_is_passed_over(house):
    """Refusing it would make Telegram send it again and again."""
    await house.intake.take_body(
        b'{"update_id": 8, "message": ' + b'{"reply_to_message": ' * 5000 + b"{}" + b"}" * 5001
    )

    assert [(row["update_id"], row["payload"]) for row in await house.db.read("ops_quarantined")] == [(8, "")]


async def test_a_finished_update_keeps_no_text(house):
    """Once it is done, the row is bookkeeping: the payload is gone."""
    await house.intake.take(update(text="secret words"))
    (found,) = await house.inbox.unfinished(ME)
    await house.inbox.claim([found], "t_1")
    await house.db.write(house.inbox.done(found))

    assert "secret" not in json.dumps([dict(row) for row in await house.db.read("ops_inbox")])
    assert await house.inbox.unfinished(ME) == []


async def test_a_death_in_the_midst_of_work_counts_before_its_claim_was_stored(house):
    """What hung at once is blamed by its number; what was claimed counts already, and nobody else is blamed (P3)."""
    for number in (1, 2, 3):
        await house.intake.take(update(number))
    await house.inbox.claim(house.delivered[1:2], "t_2")
    await house.inbox.blame([1, 2], ME)

    assert [(row.update_id, row.attempts) for row in await house.inbox.unfinished(ME)] == [(1, 1), (2, 1), (3, 0)]
