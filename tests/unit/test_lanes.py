"""Lanes: one after another within a conversation, side by side between them, urgent things at once."""

from __future__ import annotations

import asyncio

from bot.intake.local import FIRST_LOCAL_ID
from bot.intake.updates import Envelope
from bot.turns.lanes import Lanes, Postponed
from bot.turns.waiting import MAX_MERGED, MAX_MERGED_CHARS, next_batch


def envelope(update_id=1, *, conversation="c1", kind="text", **fields):
    defaults = {"bot_id": 9, "chat_id": 7, "thread_id": None, "private": True, "user_id": 7, "message_id": update_id}
    return Envelope(update_id=update_id, conversation_id=conversation, kind=kind, **defaults | fields)


class Work:
    """Notes what is worked on; holds it until it is let go."""

    def __init__(self):
        self.batches = []
        self.started = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self, batch, _do=None):
        self.batches.append([each.update_id for each in batch])
        self.started.set()
        await self.go.wait()


DONE = asyncio.Event()
DONE.set()


async def until(check):
    """Let others go on until it is so."""
    while not check():  # noqa: ASYNC110 - what is worked on tells no event
        await asyncio.sleep(0)


async def a_while():
    """Let others go on as far as they can without anything that is still to come."""
    for _ in range(50):
        await asyncio.sleep(0)


def lanes(work, **options):
    return Lanes(work, **{"limit": 32, "merge_window_s": 0.01} | options)


def test_texts_that_wait_together_are_one_batch():
    """Texts of one person merge; a command, another person or another turn ends the batch."""
    texts = [envelope(1), envelope(2), envelope(3)]

    assert next_batch(texts) == 3
    assert next_batch([envelope(1), envelope(2, kind="command"), envelope(3)]) == 1
    assert next_batch([envelope(1), envelope(2, user_id=8)]) == 1
    assert next_batch([envelope(1, turn_id="t_1"), envelope(2)]) == 1
    assert next_batch([envelope(1, kind="command"), envelope(2)]) == 1


def test_an_edit_joins_only_the_message_that_it_edits():
    """An edit of a waiting message merges, an edit of an older one stands alone."""
    assert next_batch([envelope(1), envelope(2, kind="edit", message_id=1)]) == 2
    assert next_batch([envelope(1), envelope(2, kind="edit", message_id=77)]) == 1
    assert next_batch([envelope(1, kind="edit"), envelope(2)]) == 1


def test_for_rules_each_message_is_a_turn_of_its_own():
    """Only the pieces of a long paste, an edit, and what a turn that died had claimed together are one batch."""
    paste = [envelope(1, text="x" * 4096), envelope(2, text="end"), envelope(3)]
    claimed = [envelope(1, turn_id="t_1"), envelope(2, turn_id="t_1"), envelope(3)]

    assert next_batch([envelope(1), envelope(2)], joins_bursts=False) == 1
    assert next_batch(paste, joins_bursts=False) == 2
    assert next_batch([envelope(1), envelope(2, kind="edit", message_id=1)], joins_bursts=False) == 2
    assert next_batch(claimed, joins_bursts=False) == 2


def test_updates_of_a_begun_turn_stay_together_whatever_they_are():
    """A reply that went unanswered and the message that took it up are one turn, also after a restart."""
    reply = envelope(1, turn_id="t_1", replies_to=9)
    outcome = envelope(2, turn_id="t_1", kind="addition", message_id=1)

    assert next_batch([reply, outcome, envelope(3, turn_id="t_1"), envelope(4)]) == 3
    assert next_batch([envelope(1, replies_to=9), envelope(2)]) == 1


async def test_one_conversation_waits_and_another_does_not():
    """The second message of a conversation waits for the first; another conversation is worked on meanwhile."""
    work = Work()
    line = lanes(work)
    line.submit(envelope(1))
    await work.started.wait()
    line.submit(envelope(2))
    line.submit(envelope(3, conversation="c2"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert work.batches == [[1], [3]]
    work.go.set()
    await line.until_idle()
    assert work.batches == [[1], [3], [2]]


async def test_a_tap_and_stop_do_not_wait():
    """Urgent updates run beside the running answer of their own conversation."""
    work = Work()
    line = lanes(work)
    line.submit(envelope(1))
    await work.started.wait()
    line.submit(envelope(2, kind="tap"))
    line.submit(envelope(3, kind="command", command="stop"))
    await asyncio.sleep(0)

    assert work.batches == [[1], [2], [3]]
    work.go.set()
    await line.until_idle()


async def test_a_list_does_not_wait_for_work_that_takes_long():
    """What only looks is worked on beside it, in order; what changes something waits, and all that came behind that."""
    work = Work()
    line = lanes(work, looks_after_s=0)
    line.submit(envelope(1))
    await work.started.wait()
    line.submit(envelope(2, kind="command", command="reminders"))
    line.submit(envelope(3, kind="command", command="status"))
    line.submit(envelope(4, kind="command", command="forget"))
    line.submit(envelope(5, kind="command", command="loops"))
    await until(lambda: len(work.batches) > 1)

    assert work.batches == [[1], [2]]
    assert line.has(envelope(2))
    work.go.set()
    await line.until_idle()
    assert work.batches == [[1], [2], [3], [4], [5]]


async def test_a_list_does_not_wait_for_messages_that_wait_themselves():
    """The person wrote again while an answer takes long, and then asks for the list."""
    work = Work()
    line = lanes(work, looks_after_s=0)
    line.submit(envelope(1))
    await work.started.wait()
    line.submit(envelope(2))
    line.submit(envelope(3, kind="command", command="loops"))
    await until(lambda: len(work.batches) > 1)

    assert work.batches == [[1], [3]]
    work.go.set()
    await line.until_idle()
    assert work.batches == [[1], [3], [2]]


async def test_a_list_comes_behind_work_that_is_done_soon():
    """It shows then what that noted."""
    work = Work()
    line = lanes(work, looks_after_s=3600)
    line.submit(envelope(1))
    await work.started.wait()
    line.submit(envelope(2, kind="command", command="reminders"))
    await a_while()
    assert work.batches == [[1]]

    work.go.set()
    await line.until_idle()
    assert work.batches == [[1], [2]]


async def test_what_waits_comes_behind_a_list_that_is_still_being_made():
    """`/forget 2` means the list that was asked for before it, though the work before both has ended meanwhile."""
    first, look = asyncio.Event(), asyncio.Event()
    begun, ended = [], []

    async def work(batch, _do=None):
        begun.append(batch[0].update_id)
        await {1: first, 2: look}.get(batch[0].update_id, DONE).wait()
        ended.append(batch[0].update_id)

    line = lanes(work, looks_after_s=0)
    line.submit(envelope(1))
    line.submit(envelope(2, kind="command", command="loops"))
    line.submit(envelope(3, kind="command", command="forget"))
    await until(lambda: begun == [1, 2])
    first.set()
    await until(lambda: ended == [1])
    await a_while()
    assert begun == [1, 2]

    look.set()
    await line.until_idle()
    assert ended == [1, 2, 3]


async def test_a_list_that_is_postponed_holds_no_place_and_nobody_up():
    """The disk refuses it: the work beside it ends, another conversation has the place, and what came behind waits."""
    first, refuses = asyncio.Event(), True
    tried, ended = [], []

    async def work(batch, _do=None):
        number = batch[0].update_id
        tried.append(number)
        await (first if number == 1 else DONE).wait()
        if number == 2 and refuses:
            raise Postponed(batch)
        ended.append(number)

    line = lanes(work, limit=1, looks_after_s=0)
    line.submit(envelope(1))
    line.submit(envelope(2, kind="command", command="loops"))
    line.submit(envelope(3, kind="command", command="forget"))
    line.submit(envelope(4, conversation="c2"))
    await until(lambda: tried.count(2) > 1)  # beside the work
    first.set()
    await a_while()
    assert ended == [1, 4]

    refuses = False
    await line.until_idle()
    assert ended == [1, 4, 2, 3]


async def test_a_stop_ends_a_list_that_is_made_beside_an_answer():
    """Both are cancelled after the patience, and nothing is left running."""
    work = Work()
    line = lanes(work, looks_after_s=0)
    line.submit(envelope(1))
    line.submit(envelope(2, kind="command", command="loops"))
    await until(lambda: work.batches == [[1], [2]])

    assert not await line.close(0)
    assert line.idle


async def test_taps_on_one_message_take_turns():
    """The first of two taps is the first, and neither waits for a tap on another message."""
    work = Work()
    line = lanes(work)
    line.submit(envelope(1, kind="tap", message_id=50))
    line.submit(envelope(2, kind="tap", message_id=50))
    line.submit(envelope(3, kind="tap", message_id=51))
    await work.started.wait()

    assert work.batches == [[1], [3]]
    assert line.has(envelope(2))  # nobody takes it for left behind meanwhile
    work.go.set()
    await line.until_idle()
    assert work.batches == [[1], [3], [2]]
    assert not line.has(envelope(2))


async def test_at_most_so_many_conversations_at_once():
    """The limit holds conversations back, not updates."""
    work = Work()
    line = lanes(work, limit=1)
    line.submit(envelope(1))
    line.submit(envelope(2, conversation="c2"))
    await work.started.wait()
    await asyncio.sleep(0)

    assert work.batches == [[1]]
    work.go.set()
    await line.until_idle()
    assert work.batches == [[1], [2]]


async def test_a_long_piece_waits_for_the_next():
    """A piece near 4096 characters is probably not the last: what comes within the window joins it."""
    work = Work()
    work.go.set()
    line = lanes(work, merge_window_s=5)
    line.submit(envelope(1, text="x" * 4096))
    await asyncio.sleep(0)
    line.submit(envelope(2, text="end"))
    await line.until_idle()

    assert work.batches == [[1, 2]]


async def test_closing_takes_nothing_more_and_cuts_short_what_is_late():
    """After the patience running work is cancelled; waiting updates are left to their inbox rows."""
    work = Work()
    line = lanes(work)
    line.submit(envelope(1))
    await work.started.wait()
    line.submit(envelope(2))

    assert await line.close(0.01) is False
    line.submit(envelope(3))
    assert work.batches == [[1]]


async def test_a_defect_in_one_batch_does_not_stop_the_line():
    """What the work raises is logged; the next batch is worked on."""
    done = []

    async def work(batch, _do=None):
        done.append(batch[0].update_id)
        if batch[0].update_id == 1:
            raise RuntimeError("defect")

    line = lanes(work)
    line.submit(envelope(1, kind="command"))
    line.submit(envelope(2))
    await line.until_idle()

    assert done == [1, 2]


async def test_an_update_waits_in_its_line_once():
    """Sent to its lane again and again while it waits there, an update is worked on once."""
    work = Work()
    line = lanes(work)
    line.submit(envelope(1))
    await work.started.wait()
    line.submit(envelope(2, turn_id="t_1", again=True))
    line.submit(envelope(2, turn_id="t_1", again=True))
    work.go.set()
    await line.until_idle()

    assert work.batches == [[1], [2]]


async def test_what_is_postponed_stays_at_the_head_and_gives_its_place_back():
    """A lane that cannot go on keeps its order; another conversation takes the only place meanwhile."""
    done, first = [], True

    async def work(batch, _do=None):
        nonlocal first
        if batch[0].update_id == 1 and first:
            first = False
            line.submit(envelope(2))
            line.submit(envelope(3, conversation="c2"))
            raise Postponed(batch, 0.01)
        done.append([each.update_id for each in batch])

    line = lanes(work, limit=1)
    line.submit(envelope(1, kind="command"))
    await line.until_idle()

    assert done == [[3], [1], [2]]


async def test_one_person_leaves_places_to_others():
    """Somebody who writes in forty topics takes a quarter of the places; the next person starts at once."""
    work = Work()
    line = lanes(work, limit=8)
    for number in range(40):
        line.submit(envelope(number, conversation=f"topic {number}", user_id=7))
    line.submit(envelope(99, conversation="other", user_id=8))
    await asyncio.sleep(0.01)

    assert [99] in work.batches
    assert len(work.batches) == 3
    work.go.set()
    await line.until_idle()
    assert len(work.batches) == 41


async def test_a_pile_is_worked_on_in_bounded_batches():
    """Ten thousand messages are not one batch."""
    work = Work()
    work.go.set()
    line = lanes(work)
    for number in range(MAX_MERGED + 10):
        line.submit(envelope(number))
    await line.until_idle()

    assert [len(batch) for batch in work.batches] == [MAX_MERGED, 10]


async def test_work_that_is_handed_in_waits_its_turn():
    """A confirmed tap is done in its lane, after what is being answered there."""
    work, done = Work(), []

    async def do(each):
        done.append(each.update_id)

    async def both(batch, what=None):
        await (what(batch[0]) if what else work(batch))

    line = lanes(both)
    line.submit(envelope(1))
    await work.started.wait()
    line.submit(envelope(2, kind="tap"), do)
    await asyncio.sleep(0)
    assert done == []

    work.go.set()
    await line.until_idle()
    assert done == [2]


async def test_whoever_is_alone_waits_for_what_runs_and_holds_up_what_comes():
    """Nothing is worked on in a conversation meanwhile; other conversations go on."""
    work = Work()
    line = lanes(work)
    line.submit(envelope(1))
    await work.started.wait()
    inside, leave = asyncio.Event(), asyncio.Event()

    async def stay():
        async with line.alone("c1"):
            inside.set()
            await leave.wait()

    staying = asyncio.create_task(stay())
    await asyncio.sleep(0)
    waited = not inside.is_set()
    work.go.set()
    await inside.wait()
    line.submit(envelope(2))
    line.submit(envelope(3, conversation="c2"))
    for _ in range(5):
        await asyncio.sleep(0)
    meanwhile = list(work.batches)
    leave.set()
    await staying
    await line.until_idle()

    assert waited
    assert meanwhile == [[1], [3]]
    assert work.batches[-1] == [2]


def over_http(number, **fields):
    return envelope(
        number, conversation=f"h{number}", chat_id=FIRST_LOCAL_ID + number, user_id=FIRST_LOCAL_ID + number, **fields
    )


async def at_work(sent, limit=16):
    """Return the updates of those that have a place when all of these want one."""
    work = Work()
    line = lanes(work, limit=limit)
    for each in sent:
        line.submit(each)
    await work.started.wait()
    await asyncio.sleep(0)
    work.go.set()
    begun = [batch[0] for batch in work.batches]
    await line.until_idle()
    return begun


async def test_who_comes_over_http_with_one_token_is_one_person():
    """However many sessions they name, they have one person's share of the places."""
    begun = await at_work([over_http(number) for number in range(40)])

    assert len(begun) == 4


async def test_all_who_come_over_http_leave_half_of_the_places():
    """Also when each says that it speaks for somebody else: whoever writes on Telegram then has a place at once."""
    crowd = [over_http(number, person=f"p{number}") for number in range(40)]

    begun = await at_work([*crowd, envelope(100, user_id=8), envelope(101, conversation="c2", user_id=9)])

    assert len([number for number in begun if number < 40]) == 8
    assert {100, 101} <= set(begun)


def test_a_pile_of_long_messages_is_cut_into_batches():
    """A batch has a bounded length, whatever its messages hold."""
    long = MAX_MERGED_CHARS // 3

    assert next_batch([envelope(number, text="x" * long) for number in range(9)]) == 3
