"""What one poll brought is one write, on every database; a tap that is refused is none. Nothing is taken before."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from test_intake import ME, House, update

from bot.intake.intake import NotTaken
from bot.intake.slices import FEW, in_slices
from bot.tables import BOT_TABLES
from bot.turns.buttons import WORDS_AT_ONCE, Buttons
from memory.errors import StorageUnavailable
from memory.ports import Statement
from memory.testing import ManualClock, open_memory

PERSON = 7


class Counted:
    """A database that counts its transactions and looks, and refuses those that the test says."""

    def __init__(self, db):
        self._db, self.writes, self.looks, self.order, self.refuses = db, [], 0, [], lambda _: False

    def __getattr__(self, name):
        return getattr(self._db, name)

    async def write(self, *statements):
        update_ids = [statement.params.get("update_id") for statement in statements]
        if self.refuses(update_ids):
            raise StorageUnavailable("no room")
        found = await self._db.write(*statements)
        self.writes.append(update_ids)
        self.order.append("stored")
        return found

    async def read_all(self, *statements):
        self.looks += 1
        return await self._db.read_all(*statements)


@pytest.fixture
async def house(place):
    async with open_memory(place, extensions=[BOT_TABLES]) as memory:
        counted = Counted(memory.db)
        house = House(counted)
        house.memory, house.counted, house.taken = memory, counted, []
        await house.inbox.open()
        yield house


async def take(house, *updates):
    """Take what a poll brought; note what was told to be taken."""
    await house.intake.take_all(updates, lambda raw: house.taken.append(raw["update_id"]))


async def test_a_hundred_messages_are_one_transaction(house):
    """All of them, in order, and none is told to be taken, or worked on, before it is stored."""
    house.intake._deliver = lambda envelope: house.counted.order.append(envelope.update_id)
    await house.intake.take_all(
        [update(n, str(n)) for n in range(1, 101)], lambda raw: house.counted.order.append(-raw["update_id"])
    )

    assert house.counted.writes == [list(range(1, 101))]
    assert house.counted.order == ["stored", *(each for n in range(1, 101) for each in (n, -n))]
    assert [row.update_id for row in await house.inbox.unfinished(ME)] == list(range(1, 101))


async def test_strangers_and_what_is_not_for_us_break_no_batch(house):
    """In between they are taken without a row, once each, and the rest stays one transaction."""
    mixed = [update(n, user_id=PERSON if n % 2 else 666) for n in range(1, 51)]
    mixed[10] = {"update_id": 11, "channel_post": {"chat": {"id": 1}}}
    await take(house, *mixed)

    assert house.taken == list(range(1, 51))
    assert [len(each) for each in house.counted.writes] == [24]
    assert len(house.strangers) == 25


async def test_the_same_update_twice_in_a_batch_is_worked_on_once(house):
    """As is one that was taken before (P2)."""
    await take(house, update(1), update(2))
    await take(house, update(2), update(3), update(3))

    assert house.taken == [1, 2, 2, 3, 3]
    assert [envelope.update_id for envelope in house.delivered] == [1, 2, 3]


async def test_one_that_cannot_be_stored_holds_up_only_what_comes_behind_it(house):
    """Those before it are taken by themselves; it and the rest stay with Telegram (P1)."""
    house.counted.refuses = lambda update_ids: 3 in update_ids
    with pytest.raises(NotTaken):
        await take(house, *(update(n) for n in range(1, 6)))

    assert house.taken == [1, 2] == [envelope.update_id for envelope in house.delivered]


async def test_what_cannot_be_read_is_set_aside_alone(house):
    """Its neighbours are taken with it, in the same order."""
    deep = update(2)
    nested = deep["message"]["more"] = []
    for _ in range(100_000):
        nested.append([])
        nested = nested[0]
    await take(house, update(1), deep, update(3))

    assert house.taken == [1, 2, 3]
    assert [envelope.update_id for envelope in house.delivered] == [1, 3]
    assert [row["update_id"] for row in await house.counted.read("ops_quarantined")] == [2]


async def test_a_group_that_moves_in_the_middle_keeps_the_order(house):
    """What came before the move is stored before it, what came after it behind."""
    moved = {"update_id": 2, "message": {"message_id": 1, "chat": {"id": -5}, "migrate_to_chat_id": -100}}
    await take(house, update(1), moved, update(3))

    assert house.taken == [1, 2, 3]
    assert [envelope.update_id for envelope in house.delivered] == [1, 3]


# --- taps -----------------------------------------------------------------------------------------------------------


def tapped(update_id, button_id, user_id=PERSON):
    """Return a tap on a button under a message in the private chat."""
    chat = {"id": user_id, "type": "private"}
    query = {"id": f"q{update_id}", "from": {"id": user_id}, "message": {"message_id": 9, "chat": chat}}
    return {"update_id": update_id, "callback_query": query | {"data": button_id}}


def button(button_id, **values):
    """Return what stores a button that this person may tap."""
    row = {"conversation_id": f"tg:99:{PERSON}:0", "user_id": PERSON, "action": "a", "payload_json": "{}"}
    row |= {"button_id": button_id, "group_id": button_id, "expires_at_ms": 2**60, "created_at_ms": 1}
    return Statement("button_insert", row | values)


@pytest.fixture
async def taps(house):
    """Let the intake refuse taps; `house.words` are what is said, `house.behind` who says it."""
    house.words, house.clock, house.behind = [], ManualClock(), []

    async def say(callback_id, text):
        house.words.append((callback_id, text))

    async def language(*_):
        return "en"

    services = SimpleNamespace(
        db=house.counted, inbox=house.inbox, me=ME, clock=house.clock, memory=house.memory,
        people=SimpleNamespace(known_language=language),
    )  # fmt: skip
    screen = SimpleNamespace(answer_callback_query=say)
    behind = lambda work, _: house.behind.append(asyncio.ensure_future(work))  # noqa: E731 - a word for it
    house.intake._refuse = Buttons(screen, services, {}, behind).refuse
    return house


async def test_unknown_taps_are_one_look_and_no_row(taps):
    """A hundred of one person: five words, silence from then on, and a word again a second later."""
    await take(taps, *(tapped(n, f"b_{n}") for n in range(1, 101)))
    await asyncio.gather(*taps.behind)
    said = len(taps.words)
    taps.clock.advance(ms=1000)
    await take(taps, tapped(101, "b_x"), tapped(102, "b_x"))
    await asyncio.gather(*taps.behind)

    assert (said, len(taps.words)) == (WORDS_AT_ONCE, WORDS_AT_ONCE + 1)
    assert len(taps.taken) == 102
    assert (taps.counted.writes, taps.counted.looks) == ([], 4)
    assert taps.delivered == []


async def test_one_persons_taps_take_nobody_elses_word(taps):
    """Whoever taps once, in the middle of another one's flood, hears why nothing happens."""
    taps.intake._gate._allowed.add(8)
    await take(taps, *(tapped(n, "b_x") for n in range(1, 50)), tapped(50, "b_x", user_id=8))
    await asyncio.gather(*taps.behind)

    assert "q50" in {callback_id for callback_id, _ in taps.words}


@pytest.mark.parametrize(
    "values",
    [{"user_id": 8}, {"expires_at_ms": 1}, {"conversation_id": "tg:99:8:0"}],
    ids=["other's", "old", "elsewhere"],
)
async def test_known_buttons_that_this_person_may_not_tap_are_no_row_either(taps, values):
    """Somebody else's, one that is too old, one of another chat."""
    await taps.counted.write(button("b_1", **values))
    taps.counted.writes.clear()
    await take(taps, *(tapped(n, "b_1") for n in range(1, 20)))

    assert (taps.counted.writes, taps.delivered, len(taps.taken)) == ([], [], 19)


async def test_of_many_taps_on_one_button_the_first_is_obeyed(taps):
    """It gets its row and its lane; the others at the same moment, and all behind its use, are refused."""
    await taps.counted.write(button("b_1"))
    taps.counted.writes.clear()
    await take(taps, *(tapped(n, "b_1") for n in range(1, 20)))
    await taps.counted.write(Statement("button_use", {"group_id": "b_1", "at_ms": 5}))
    await take(taps, *(tapped(n, "b_1") for n in range(20, 40)))

    assert [envelope.update_id for envelope in taps.delivered] == [1]
    assert taps.counted.writes[0] == [1]


async def test_a_tap_that_was_obeyed_and_comes_again_is_not_called_refused(taps):
    """The process died before Telegram knew; the second delivery changes nothing and says nothing."""
    await taps.counted.write(button("b_1"))
    await take(taps, tapped(1, "b_1"))
    await taps.counted.write(Statement("button_use", {"group_id": "b_1", "at_ms": 5}))
    await take(taps, tapped(1, "b_1"))

    assert (taps.behind, [envelope.update_id for envelope in taps.delivered]) == ([], [1])


async def test_a_tap_that_cannot_be_looked_up_is_written_down(taps):
    """A database that refuses the look may take the row: nothing that may be obeyed is lost (P1)."""

    async def refuses(*_):
        raise StorageUnavailable("away")

    taps.counted.read_all = refuses
    await take(taps, tapped(1, "b_1"))

    assert [envelope.update_id for envelope in taps.delivered] == [1]


async def test_others_have_the_loop_while_much_is_read():
    """After every few things whatever waits is let in."""
    order = []

    async def other():
        while True:
            order.append("other")
            await asyncio.sleep(0)

    beside = asyncio.create_task(other())
    await asyncio.sleep(0)
    order.clear()
    async for number in in_slices(range(3 * FEW)):
        order.append(number)  # noqa: PERF401 - the other one appends in between
    beside.cancel()

    assert [at for at, each in enumerate(order) if each == "other"] == [FEW, 2 * FEW + 1]
