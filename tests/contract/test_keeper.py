"""The keeper behind the reply: what it reads and when, what becomes of its answer, and what that may cost."""

import asyncio
import json

import pytest

from bot.answers.errors import ModelError
from memory.keeper import queue
from memory.keeper.backlog import READ_BACK_TOKENS
from memory.keeper.contract import ContractBroken, KeeperAnswer, Keeping, ProposedChange
from memory.keeper.job import ASKED_TOKENS, RETRY_AFTER_MS, Keeper
from memory.keeper.queue import CALM_MS, COMPANY_TURNS, QUIET_MS, UNREAD_TURNS, postpone
from memory.keeper.request import EDITED, SAID_LATER, TAKEN_BACK, request_text
from memory.keeper.session_lines import session_lines, stored_lines
from memory.keeper.surroundings import Surroundings
from memory.ledger.series import local_of
from memory.ledger.types import Actor, Add, Change, End
from memory.ports import Statement
from memory.privacy.plan import ForgetRequest
from memory.sessions.measures import Measures
from memory.testing import make_exchange, open_memory
from memory.types import ToolCall

HERE = "tg:1:1:0"
SURGERY = "My mother has her knee surgery on Friday at 8, I'm worried."
LATER = "My mother has her knee surgery on Friday at 9, I'm worried."
PLUMBER = "I have to call the plumber tomorrow about the leak in the kitchen."


class Scripted:
    """A model that answers what it was told to, or fails; it keeps what it was asked."""

    name = "scripted:1"

    def __init__(self, *answers, price=500):
        self.answers = list(answers)
        self.requests, self.again = [], []
        self.price = price
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    def estimate(self, _request):
        return self.price

    async def __call__(self, request, again=None):
        self.requests.append(request)
        self.again.append(again)
        self.asked.set()
        await self.may_answer.wait()
        answer = self.answers.pop(0) if self.answers else KeeperAnswer()
        if isinstance(answer, Exception):
            raise answer
        return Keeping(answer, self.price - 100, 100)


class Purse:
    def __init__(self, *, full=True):
        self.full = full
        self.paid = []

    async def may_spend(self, _user_id):
        return self.full

    async def booked(self, user_id, tokens, _cost_nanodollars):
        self.paid.append((user_id, tokens))
        return [Statement("hasten_reading", {"session_id": "", "at_ms": 0})]


def change(**fields):
    return ProposedChange(**({"op": "change", "number": 1, "turns": [1], "said": "her knee surgery"} | fields))


def event(text="Mother's knee surgery", **fields):
    given = {"op": "add", "kind": "event", "text": text, "turns": [1], "said": "her knee surgery on Friday"}
    return ProposedChange(**(given | fields))


RIGHT = KeeperAnswer(
    title="mother's knee surgery",
    standing="Her surgery is on Friday at 8.",
    standing_turns=[1],
    changes=[event(due="2023-11-17T08:00", weight=0.9)],
)


@pytest.fixture
def answers():
    return []


@pytest.fixture
def model(answers):
    found = Scripted()
    found.answers = answers
    return found


@pytest.fixture
async def memory(place, model):
    async with open_memory(place, keeper_model=model) as opened:
        yield opened


@pytest.fixture
def say(memory):
    numbers = iter(range(1, 10_000))

    async def said(*texts, tokens=4000, session=None, **fields):
        session = session or await memory.recorder.current(HERE) or await memory.recorder.open_session(HERE, 7, "first")
        for text in texts:
            given = {"session_id": session.session_id, "conversation_id": HERE, "user_text": text}
            given |= {"created_at_ms": memory.clock.now_ms(), "input_tokens": tokens, "model": "scripted:1"}
            await memory.recorder.record(make_exchange(next(numbers), **(given | fields)), None)
        return session.session_id

    return said


async def texts(memory):
    return [note.text for note in await memory.ledgers.read(HERE) if note.is_open]


async def logged(memory, session_id):
    rows = await memory.db.read("model_readings_of_session", session_id=session_id)
    return [(row["error"], row["kept"], json.loads(row["dropped_json"])) for row in rows]


async def refused(memory):
    rows = await memory.db.read("note_refusals_of", conversation_id=HERE, limit=10)
    return [(row["hand"], row["reason"], json.loads(row["turn_ids_json"])) for row in rows]


async def test_what_was_said_is_noted_when_the_session_falls_quiet(memory, model, say, answers):
    """An hour after a lone message, with title, day, words and the turn that it rests on; and it is paid for."""
    answers.append(RIGHT)
    memory.keeper.purse = Purse()
    session_id = await say(SURGERY)
    await memory.keeper.read_due()
    assert model.requests == []
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()

    (note,) = await memory.ledgers.read(HERE)
    (change,) = await memory.ledgers.history(note.note_id)
    assert (note.text, note.source, note.turn_ids, note.weight) == ("Mother's knee surgery", "keeper", ("t_1",), 0.9)
    assert (change.said, change.cause, note.due_exact) == (
        "her knee surgery on Friday",
        model.requests[0].reading_id,
        True,
    )
    line = (await stored_lines(memory.db, HERE))[session_id]
    assert (line.title, line.turn_ids, line.read_through_seq) == ("mother's knee surgery", ("t_1",), 1)
    assert memory.keeper.purse.paid == [(7, 500)]
    assert await logged(memory, session_id) == [("", 1, {})]
    assert await memory.keeper.queue.here(HERE) == []


async def test_a_lone_message_waits_for_company_and_three_are_read_after_two_minutes(memory, model, say):
    """Each reading costs the notes and the turns before it: one new turn is no reason for one."""
    for text in (SURGERY, "ja tomei, às 8 e meia", PLUMBER):
        assert model.requests == []
        await say(text)
        memory.clock.advance(ms=QUIET_MS)
        await memory.keeper.read_due()

    assert [len(request.turns) for request in model.requests] == [COMPANY_TURNS]


async def test_a_lone_message_is_read_at_once_when_a_list_is_asked_for(memory, model, say):
    """Whoever looks at the notes sees what was said last."""
    await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    await memory.keeper.read_due()
    assert await memory.keeper.unread(HERE) == 1
    await memory.keeper.read_now(HERE)

    assert [len(request.turns) for request in model.requests] == [1]


async def test_a_long_talk_is_read_without_waiting_for_quiet(memory, model, say):
    """Twenty unread turns are enough."""
    await say(*[PLUMBER] * (UNREAD_TURNS - 1))
    await memory.keeper.read_due()
    assert model.requests == []
    await say(PLUMBER)
    await memory.keeper.read_due()

    assert len(model.requests) == 1
    assert len(model.requests[0].turns) == UNREAD_TURNS


async def test_the_end_of_a_session_is_read_at_once(memory, model, say):
    """A new session begins: the one before is read without two minutes of quiet."""
    await say(SURGERY)
    await memory.fresh(HERE, user_id=7)
    await memory.keeper.read_due()

    assert [turn.user_text for turn in model.requests[0].turns] == [SURGERY]


async def test_the_end_of_a_session_that_was_quiet_is_read_at_once(memory, model, say):
    """It ends between its two minutes and the keeper's look: its lone message waits for no company."""
    await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS + 1)
    await memory.fresh(HERE, user_id=7)
    await memory.keeper.read_due()

    assert [len(request.turns) for request in model.requests] == [1]


async def test_what_came_while_a_reading_was_put_off_is_not_put_off_with_it(memory, say):
    """The session ends, or goes on, between the keeper's look and its word that this waits."""
    await say(SURGERY)
    (looked,) = await memory.keeper.queue.here(HERE)
    await memory.fresh(HERE, user_id=7)
    (ended,) = await memory.keeper.queue.here(HERE)
    await memory.db.write(postpone(looked, looked.due_at_ms + CALM_MS))
    assert await memory.keeper.queue.here(HERE) == [ended]

    await memory.db.write(postpone(ended, ended.due_at_ms + CALM_MS))
    (waits,) = await memory.keeper.queue.here(HERE)
    assert waits.due_at_ms == ended.due_at_ms + CALM_MS


async def test_small_talk_costs_nothing(memory, model, say):
    """Fewer than six words without a number or a tool call wait for what comes; how it began is not told."""
    session_id = await say("hey", "haha yes")
    assert await memory.keeper.unread(HERE) == 0
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()

    assert model.requests == []
    assert (await stored_lines(memory.db, HERE))[session_id].written_at_ms
    assert await memory.keeper.queue.here(HERE) == []


async def test_small_talk_is_read_with_what_is_said_next(memory, model, say):
    """“no nudge, please” may say something about what the next messages are about: no turn is passed over."""
    await say("no nudge please")
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()
    await say(SURGERY)
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()

    assert [turn.user_text for turn in model.requests[0].turns] == ["no nudge please", SURGERY]


async def test_what_the_model_noted_itself_is_read_but_lacks_on_no_list(memory, say):
    """A message that was answered with a note is unread, yet not missing; nor is what holds nothing to note."""
    await say(SURGERY, tool_calls=(ToolCall(call_id="1", name="note"),))
    await say("haha yes")
    assert await memory.keeper.unread(HERE) == 0
    await say(PLUMBER, tool_calls=(ToolCall(call_id="2", name="search"),))
    assert await memory.keeper.unread(HERE) == 2


async def test_a_lone_turn_that_the_model_noted_costs_no_reading(memory, model, say):
    """Nothing of it lacks in the notes: of 37 readings in two trials 25 changed none."""
    await say(SURGERY, tool_calls=(ToolCall(call_id="1", name="note"),))
    await memory.fresh(HERE, user_id=7)
    await memory.keeper.read_due()
    assert model.requests == []
    assert await memory.keeper.queue.here(HERE) == []

    await say(PLUMBER)
    await memory.fresh(HERE, user_id=7)
    await memory.keeper.read_due()
    assert [turn.user_text for request in model.requests for turn in request.turns] == [PLUMBER]


async def test_an_edited_lone_turn_is_read_though_the_model_noted_its_words_before(memory, model, say):
    """What it says now stands in no note."""
    await say(SURGERY, tool_calls=(ToolCall(call_id="1", name="note"),))
    await memory.edited("t_1", LATER)
    await memory.fresh(HERE, user_id=7)
    await memory.keeper.read_due()

    assert [turn.user_text for request in model.requests for turn in request.turns] == [LATER]


@pytest.mark.parametrize("ends", ["", "by an hour", "by a new session"])
async def test_what_the_model_noted_as_it_answered_is_read_at_the_sessions_end(memory, model, say, ends):
    """Short turns whose notes stand, and questions, cost no reading each, and a list lacks nothing of them."""
    noted = (ToolCall(call_id="1", name="note"),)
    for text, calls in ((SURGERY, noted), ("What should I bring her at 8, flowers?", ()), ("Call her at 7.", noted)):
        await say(text, tool_calls=calls)
        memory.clock.advance(ms=QUIET_MS + 1)
        await memory.keeper.read_due()
    assert model.requests == []
    assert await memory.keeper.unread(HERE) == 0

    if ends == "by an hour":
        memory.clock.advance(ms=CALM_MS)
    if ends == "by a new session":
        await memory.fresh(HERE, user_id=7)
    await (memory.keeper.read_due() if ends else memory.keeper.read_now(HERE))
    assert [len(request.turns) for request in model.requests] == [3]


async def test_what_is_said_while_it_reads_is_read_next_time_and_nothing_is_lost(memory, model, say, answers):
    """The person writes on: the answer is stored all the same, and the new turn waits for its own quiet."""
    answers += [
        RIGHT,
        KeeperAnswer(changes=[event("Call the plumber", kind="task", turns=[2], said="call the plumber")]),
    ]
    model.may_answer.clear()
    session_id = await say(SURGERY)
    memory.clock.advance(ms=CALM_MS)
    reading = asyncio.create_task(memory.keeper.read_due())
    await model.asked.wait()
    await say(PLUMBER)
    model.may_answer.set()
    await reading

    assert await texts(memory) == ["Mother's knee surgery"]
    assert await memory.keeper.unread(HERE) == 1
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()
    assert await texts(memory) == ["Mother's knee surgery", "Call the plumber"]
    assert [[turn.seq for turn in asked.turns] for asked in model.requests] == [[1], [2]]
    assert [turn.seq for turn in model.requests[1].before] == [1]
    assert (await stored_lines(memory.db, HERE))[session_id].read_through_seq == 2


async def test_what_the_person_changed_meanwhile_stands(memory, model, say, answers):
    """Their text wins over the keeper's, what they ended stays ended, and the rest of the answer is kept."""
    by = Actor("person", memory.clock.now_ms(), "b_1")
    for n, text in enumerate(("Mother's surgery", "Call the plumber"), 1):
        await memory.change(HERE, [Add(kind="task", text=text, note_id=f"n_{n}")], by)
    answers.append(
        KeeperAnswer(
            changes=[
                event(op="change", number=1, kind=None, text="Mother's knee surgery on Friday", weight=0.9),
                event(op="change", number=2, kind=None, text="Call the plumber on Friday"),
            ]
        )
    )
    answers.append(KeeperAnswer())
    model.may_answer.clear()
    await say(f"{SURGERY} {PLUMBER}")
    memory.clock.advance(ms=CALM_MS)
    reading = asyncio.create_task(memory.keeper.read_due())
    await model.asked.wait()
    await memory.change(HERE, [Change(number=1, fields={"text": "Mum's operation"}), End(number=2)], by)
    model.may_answer.set()
    await reading

    one, two = await memory.ledgers.read(HERE)
    assert (one.text, one.weight, two.status) == ("Mum's operation", 0.9, "done")
    assert [hand for hand, *_ in await refused(memory)] == ["keeper"]


@pytest.mark.parametrize("meanwhile", [False, True])
async def test_what_is_noted_counts_from_when_it_was_stored(memory, model, say, answers, meanwhile):
    """Who was answered as the keeper read is told it next; its line is as old as the talk that it knows."""
    answers.append(RIGHT)
    model.may_answer.clear()
    session_id = await say(SURGERY)
    memory.clock.advance(ms=CALM_MS)
    reading = asyncio.create_task(memory.keeper.read_due())
    await model.asked.wait()
    memory.clock.advance(ms=30_000)
    answered_ms = memory.clock.now_ms()
    if meanwhile:
        other = Add(kind="task", text="Call the plumber", note_id="n_1")
        await memory.change(HERE, [other], Actor("person", answered_ms, "b_1"))
    memory.clock.advance(ms=5_000)
    model.may_answer.set()
    await reading

    assert "keeper" in [change.hand for change in await memory.ledgers.after(HERE, answered_ms)]
    line = (await stored_lines(memory.db, HERE))[session_id]
    assert line.written_at_ms == (model.requests[0].now_ms if meanwhile else memory.clock.now_ms())


async def test_what_is_forgotten_while_it_reads_never_comes_back(memory, model, say, answers):
    """The answer was made of a turn that is gone: it is thrown away, and only its price is stored."""
    answers.append(RIGHT)
    memory.keeper.purse = Purse()
    model.may_answer.clear()
    session_id = await say(SURGERY, PLUMBER)
    memory.clock.advance(ms=CALM_MS)
    reading = asyncio.create_task(memory.keeper.read_due())
    await model.asked.wait()
    await memory.forget(ForgetRequest(HERE, turn_ids=("t_1",)))
    model.may_answer.set()
    await reading

    assert await texts(memory) == []
    assert await stored_lines(memory.db, HERE) == {}
    assert memory.keeper.purse.paid == [(7, 500)]
    assert (await logged(memory, session_id))[0][0] == "thrown away"
    await memory.keeper.read_now(HERE)
    assert [turn.user_text for turn in model.requests[-1].turns] == [PLUMBER]


async def test_no_keeper_is_shown_what_the_person_had_forgotten(memory, model, say, answers):
    """Neither the note nor what it rested on, also when the turns around it are read again, nor the session's line."""
    answers.append(RIGHT)
    await say(SURGERY, tokens=40_000)
    await memory.keeper.read_now(HERE)
    hand = Actor("model", memory.clock.now_ms(), "t_2")
    await memory.change(HERE, [Change(number=1, fields={"confidence": 0.0}), End(number=1, how="dropped")], hand)
    await say(PLUMBER, tokens=40_000)
    await memory.keeper.read_now(HERE)
    await memory.edited("t_2", f"{PLUMBER} And the roofer.")
    await memory.keeper.read_due()

    seen = "".join(request_text(request) for request in model.requests[1:])
    assert len(model.requests) == 3
    assert "plumber" in seen
    assert "surgery" not in seen
    assert "t_1" not in {turn.turn_id for request in model.requests[1:] for turn in request.beside}


async def test_turns_that_are_read_once_more_settle_nothing_that_was_said_after_them(memory, model, say):
    """What was forgotten rested on an old turn, too: the keeper hears which notes are newer than that turn."""
    hand = Actor("keeper", memory.clock.now_ms(), "r_1")
    await say(SURGERY, PLUMBER, tokens=40_000)
    await memory.fresh(HERE, user_id=7)
    memory.clock.advance(ms=1000)
    await say("It's on Saturday now, the surgery.", "And the piano is Ben's idea.", tokens=40_000)
    told = {"Mother's knee surgery": ("t_1", "t_3"), "Call the plumber": ("t_2",), "Ben's piano": ("t_1", "t_4")}
    notes = [
        Add(kind="event", text=each, note_id=f"n_{n}", fields={"turn_ids": on})
        for n, (each, on) in enumerate(told.items())
    ]
    await memory.change(HERE, notes, hand)
    await memory.keeper.read_now(HERE)
    assert SAID_LATER not in request_text(model.requests[-1])
    await memory.forget(ForgetRequest(HERE, turn_ids=("t_4",)))
    await memory.keeper.read_due()

    again = next(each for each in reversed(model.requests) if each.turns[0].turn_id == "t_1")
    text = request_text(again)
    assert (len(model.requests), [turn.turn_id for turn in again.turns]) == (4, ["t_1", "t_2"])
    assert f"#1 event: Mother's knee surgery {SAID_LATER}\n#2 event: Call the plumber\n\n" in text


async def test_what_is_edited_while_it_reads_is_thrown_away(memory, model, say, answers):
    """The words that it was given are not what the person says any more."""
    answers.append(RIGHT)
    model.may_answer.clear()
    session_id = await say(SURGERY)
    memory.clock.advance(ms=CALM_MS)
    reading = asyncio.create_task(memory.keeper.read_due())
    await model.asked.wait()
    await memory.edited("t_1", LATER)
    model.may_answer.set()
    await reading

    assert await texts(memory) == []
    assert (await logged(memory, session_id))[0][0] == "thrown away"


async def test_an_edited_message_is_read_again_at_once(memory, model, say, answers):
    """What rests on the old words is in doubt until then; the keeper sees the new ones alone."""
    answers.append(RIGHT)
    await say(SURGERY, PLUMBER)
    await memory.keeper.read_now(HERE)
    await memory.edited("t_1", LATER)
    assert [note.doubtful for note in await memory.ledgers.read(HERE)] == [True]

    answers.append(KeeperAnswer(changes=[change(due="2023-11-17T09:00", said="knee surgery on Friday at 9")]))
    await memory.keeper.read_due()
    [note] = await memory.ledgers.read(HERE)
    text = request_text(model.requests[-1])
    assert (note.doubtful, local_of(note.due_at_ms, "UTC")) == (False, "2023-11-17T09:00")
    assert f"person: {EDITED} {LATER}" in text
    assert "doubtful" in text
    assert SURGERY not in text


async def standing_of(memory, session_id):
    return (await session_lines(memory.db, await memory.ledgers.read(HERE)))[session_id].standing


async def test_an_edit_takes_from_a_standing_what_rests_on_the_old_words_alone(memory, model, say, answers):
    """All of it was gone, for the prompt and for the keeper: after some readings a standing rests on every turn."""
    both = "Her surgery is on Friday. The plumber is to be called about the leak."
    answers.append(RIGHT.model_copy(update={"standing": both, "standing_turns": (1, 2)}))
    session_id = await say(SURGERY, PLUMBER)
    await memory.keeper.read_now(HERE)
    assert await standing_of(memory, session_id) == both
    await memory.edited("t_1", LATER)
    assert await standing_of(memory, session_id) == "The plumber is to be called about the leak."

    await memory.keeper.read_due()
    assert "Standing until now:\nThe plumber is to be called about the leak." in request_text(model.requests[-1])


async def test_an_edit_takes_a_standing_whole_where_nobody_can_tell_which_of_it_rests_on_it(memory, say, answers):
    """A keeper's own words need share none with the message; what cites other turns alone stays."""
    own = "They are anxious about a hospital."
    for turns, left in (((1,), ""), ((2,), own)):
        answers.append(RIGHT.model_copy(update={"standing": own, "title": "Anxious", "standing_turns": turns}))
        session_id = await say(SURGERY, PLUMBER)
        await memory.keeper.read_now(HERE)
        first = next(turn for turn in await memory.store.last_turns(session_id, 2) if turn.user_text == SURGERY)
        await memory.edited(first.turn_id, LATER)
        assert await standing_of(memory, session_id) == left


async def test_a_standing_is_read_on_after_an_edited_message_was_answered_again(memory, model, say, answers):
    """The turn is read no more; what was written of its new words holds, as it does in the prompts."""
    answers += [RIGHT, RIGHT.model_copy(update={"standing": "Her surgery is on Friday at 9."})]
    await say(SURGERY, PLUMBER)
    await memory.keeper.read_now(HERE)
    await memory.edited("t_1", LATER)
    await memory.keeper.read_due()
    await memory.withdraw("t_1")
    await say(PLUMBER)
    await memory.keeper.read_now(HERE)

    assert "Standing until now:\nmother's knee surgery: Her surgery is on Friday at 9." in request_text(
        model.requests[-1]
    )


async def test_what_the_person_took_back_says_so_until_it_is_changed_again(memory, model, say):
    """The turns ask for it still: a day that [Undo] put back, and a note that it dropped, were noted once more."""
    session_id = await say(PLUMBER)
    now = memory.clock.now_ms
    add = [Add(kind="task", text=text, note_id=f"n_{n}", fields={"turn_ids": ("t_1",)}) for n, text in enumerate("AB")]
    await memory.change(HERE, add, Actor("model", now(), "t_0"))
    ended = [Change(number=1, fields={"text": "A on Friday"}), End(number=2, how="dropped")]
    added = Add(kind="task", text="Call the plumber", note_id="n_3", fields={"turn_ids": ("t_1",)})
    await memory.change(HERE, [*ended, added], Actor("model", now(), "t_1"))
    await memory.ledgers.undo(HERE, await memory.ledgers.caused_by(HERE, "t_1"), Actor("person", now(), "b_1"))
    await memory.keeper.read_now(HERE)
    text = request_text(model.requests[-1])
    assert f"Notes:\n#1 task: A {TAKEN_BACK}\n#2 task: B {TAKEN_BACK}\n\n" in text
    assert f"Ended:\n#3 task: Call the plumber (dropped) {TAKEN_BACK}\n\n" in text

    await memory.change(HERE, [Change(number=1, fields={"text": "A, says Ana"})], Actor("keeper", now(), "r_1"))
    await say(SURGERY)
    await memory.keeper.read_now(HERE)
    assert f"#1 task: A, says Ana {TAKEN_BACK}\n" in request_text(model.requests[-1]), "a keeper's words change nothing"

    await memory.change(HERE, [Change(number=1, fields={"text": "A on Sunday"})], Actor("model", now(), "t_2"))
    await say(LATER)
    await memory.keeper.read_now(HERE)
    assert "#1 task: A on Sunday\n" in request_text(model.requests[-1])
    assert session_id


async def test_a_doubt_ends_when_the_keeper_leaves_a_note_as_it_is(memory, say, answers):
    """It saw the note beside the new words; a change of it that is refused leaves it in doubt."""
    answers.append(RIGHT)
    await say(SURGERY, tokens=40_000)
    await memory.keeper.read_now(HERE)
    await memory.edited("t_1", LATER)
    wrong = KeeperAnswer(changes=[change(text="Aunt Petunia's surgery at 17:45")])
    answers += [wrong, wrong]
    await memory.keeper.read_due()
    assert [note.doubtful for note in await memory.ledgers.read(HERE)] == [True]

    await memory.edited("t_1", f"{LATER} So much.")
    await memory.keeper.read_due()
    assert [note.doubtful for note in await memory.ledgers.read(HERE)] == [False]


async def test_an_edit_in_other_letters_doubts_nothing_and_asks_nobody(memory, model, say, answers):
    """The words stand as they are written now; the notes hold, and no model is paid to read them again."""
    answers.append(RIGHT)
    session_id = await say(SURGERY.replace("worried", "woried"))
    await memory.keeper.read_now(HERE)
    await memory.edited("t_1", SURGERY)
    await memory.keeper.read_due()

    assert [note.doubtful for note in await memory.ledgers.read(HERE)] == [False]
    assert [turn.user_text for turn in await memory.store.last_turns(session_id, 9)] == [SURGERY]
    assert len(model.requests) == 1


async def test_an_edit_takes_back_a_day_and_its_ring_together_or_neither(memory, say):
    """A reminder that was moved again since stays where it is, whole."""
    await say(SURGERY, PLUMBER)
    add = Add(kind="task", text="Fetch the bike", note_id="n_1", fields={"rings_from": "2030-12-03T14:45"})
    await memory.change(HERE, [add], Actor("model", memory.clock.now_ms(), "t_0"))
    move = Change(number=1, fields={"rings_from": "2030-12-04T11:00", "turn_ids": ("t_1",)})
    await memory.change(HERE, [move], Actor("model", memory.clock.now_ms(), "t_1"))
    due = Change(number=1, fields={"due_at_ms": 1_922_612_400_000, "due_exact": True})
    await memory.change(HERE, [due], Actor("keeper", memory.clock.now_ms(), "r_1"))
    await memory.withdraw("t_1")

    [note] = await memory.ledgers.read(HERE)
    assert (note.rings_from, note.due_at_ms) == ("2030-12-04T11:00", 1_922_612_400_000)


async def test_an_edited_message_that_is_answered_again_takes_its_notes_along(memory, model, say, answers):
    """What rested on it alone is gone, and it is not read once more; what others say, too, holds."""
    both = event("Worried about mother's knee", kind="fact", turns=[1, 2], said="I'm worried")
    answers.append(KeeperAnswer(changes=[*RIGHT.changes, both]))
    await say(SURGERY, PLUMBER)
    await memory.keeper.read_now(HERE)
    await memory.edited("t_1", LATER)
    await memory.withdraw("t_1")

    assert [(note.text, note.doubtful) for note in await memory.ledgers.read(HERE) if note.is_open] == [
        ("Worried about mother's knee", False)
    ]
    await say(PLUMBER)
    await memory.keeper.read_now(HERE)
    assert "t_1" not in {turn.turn_id for turn in model.requests[-1].numbered.values()}


async def test_what_is_refused_goes_back_once_with_the_reason(memory, model, say, answers):
    """What it puts right is kept; what stays wrong is counted and written down with the turn that it cites."""
    wrong = event("Mother and Gustav have knee surgery"), event("Pay 700", kind="task")
    mended = event("Mother has knee surgery"), event("Pay 800", kind="task")
    answers += [KeeperAnswer(changes=wrong), KeeperAnswer(changes=mended)]
    session_id = await say(SURGERY)
    await memory.keeper.read_now(HERE)

    assert await texts(memory) == ["Mother has knee surgery"]
    assert model.again[0] is None
    assert "Gustav" in model.again[1].reasons[0]
    assert await logged(memory, session_id) == [("", 1, {"number": 1})]
    ((hand, reason, turn_ids),) = await refused(memory)
    assert (hand, turn_ids) == ("keeper", ["t_1"])
    assert "800" in reason


async def test_two_who_ask_at_once_cause_one_reading(memory, model, say, answers):
    """/loops and /memory, tapped together."""
    answers.append(RIGHT)
    await say(SURGERY)
    assert await memory.keeper.unread(HERE) == 1
    await asyncio.gather(memory.keeper.read_now(HERE), memory.keeper.read_now(HERE), memory.keeper.read_due())

    assert len(model.requests) == 1
    assert await memory.keeper.unread(HERE) == 0


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (RuntimeError("overloaded"), "RuntimeError"),
        (TimeoutError(), "TimeoutError"),
        (ModelError("Status", "why_refused", "with words of the prompt", status_code=401), "Status 401"),
    ],
)
async def test_a_model_that_fails_is_asked_once_more_later_and_then_waits_for_news(  # noqa: PLR0917 - asked for by name
    memory, model, say, answers, failure, reason
):
    """The turns stay unread meanwhile, and are read with the next message; kept is why, without a word of them."""
    answers += [failure, failure]
    session_id = await say(SURGERY)
    await memory.keeper.read_now(HERE)
    await memory.keeper.read_now(HERE)
    assert len(model.requests) == 1
    for _ in range(3):
        memory.clock.advance(ms=RETRY_AFTER_MS)
        await memory.keeper.read_due()

    assert len(model.requests) == 2
    assert [error for error, *_ in await logged(memory, session_id)] == [reason] * 2
    assert await memory.keeper.unread(HERE) == 1
    assert session_id not in await stored_lines(memory.db, HERE)
    await say(PLUMBER)
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()
    assert [turn.user_text for turn in model.requests[-1].turns] == [SURGERY, PLUMBER]


async def test_what_was_given_up_is_tried_once_more_before_a_session_with_new_turns(memory, model, say, answers):
    """Its turns stand before the new ones as read; a model that is away meanwhile is not asked again and again."""
    answers += [TimeoutError()] * 4 + [RIGHT]
    first = await say(SURGERY)
    for _ in range(2):
        memory.clock.advance(ms=CALM_MS)
        await memory.keeper.read_due()
    second = await memory.recorder.open_session(HERE, 7, "pause")
    await say(PLUMBER, session=second)
    memory.clock.advance(ms=CALM_MS)
    for _ in range(3):
        await memory.keeper.read_due()
    assert [each.session_id for each in model.requests] == [first, first, first, second.session_id]

    memory.clock.advance(ms=RETRY_AFTER_MS)
    await say(PLUMBER, session=second)
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()
    assert [each.session_id for each in model.requests[4:]] == [first, second.session_id]
    assert await texts(memory) == ["Mother's knee surgery"]
    assert await memory.keeper.queue.here(HERE) == []


async def test_what_was_given_up_is_tried_once_more_when_a_list_is_asked_for(memory, model, say, answers):
    """Somebody wants to see it: not each time they look, but once in ten minutes."""
    answers += [TimeoutError()] * 3 + [RIGHT]
    await say(SURGERY)
    for _ in range(2):
        memory.clock.advance(ms=CALM_MS)
        await memory.keeper.read_due()
    asked = []
    for _ in range(3):
        memory.clock.advance(ms=RETRY_AFTER_MS - 1)
        await memory.keeper.read_now(HERE)
        asked.append(len(model.requests))
    assert asked == [2, 3, 3]

    memory.clock.advance(ms=1)
    await memory.keeper.read_now(HERE)
    assert await texts(memory) == ["Mother's knee surgery"]


async def test_a_model_that_keeps_to_no_contract_hands_over(memory, model, say, answers):
    """Three answers in a row that were none: it is not asked again before the next start, and who asks can see it."""
    answers += [ContractBroken("no call")] * 5
    told = []
    memory.keeper.asking.on_handover = lambda: told.append(True)
    for _ in range(4):
        await say(SURGERY)
        memory.clock.advance(ms=CALM_MS)
        await memory.keeper.read_due()

    assert len(model.requests) == 3
    assert (memory.keeper.handed_over, memory.keeper.is_on, told) == (True, False, [True])


async def test_an_answer_between_two_failures_keeps_the_keeper(memory, model, say, answers):
    """Only failures in a row hand over."""
    broken = ContractBroken("no call")
    answers += [broken, broken, KeeperAnswer(), broken, broken]
    for _ in range(5):
        await say(SURGERY)
        memory.clock.advance(ms=CALM_MS)
        await memory.keeper.read_due()

    assert len(model.requests) == 5
    assert memory.keeper.is_on


async def test_reading_takes_a_quarter_of_the_talk_at_most(memory, model, say):
    """What is too dear is read once there was more talk."""
    model.price = 2000
    await say(SURGERY, tokens=7000)
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()
    assert model.requests == []
    assert await memory.keeper.unread(HERE) == 1
    await say(PLUMBER, tokens=1000)
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()

    assert len(model.requests) == 1


async def test_who_wants_to_see_the_notes_of_a_short_talk_sees_them(memory, model, say):
    """A little is read beyond the share, a week; then the share counts again."""
    model.price = ASKED_TOKENS // 2
    for _ in range(3):
        await say(SURGERY, tokens=100)
        await memory.keeper.read_now(HERE)

    assert len(model.requests) == 2


async def test_what_a_picture_shows_is_read_with_what_was_said_to_it(place, model, answers):
    """Three words and a picture are worth reading; the keeper is asked with what it shows, of the turn before, too."""
    asked = []

    async def seen_in(conversation_id, turn_ids):
        asked.append(conversation_id)
        return dict.fromkeys(turn_ids, "picture #1: Grey hexagonal tiles beside an oak floor.")

    async with open_memory(place, keeper_model=model, around=Surroundings(seen_in=seen_in)) as memory:
        answers += [KeeperAnswer(changes=[event("Tile you take: grey, hexagonal", kind="fact", said="our new tile")])]
        session = await memory.recorder.open_session(HERE, 7, "first")
        for number, text in enumerate(("> picture #1 (JPEG)\nour new tile", "and the grout?"), 1):
            given = {"session_id": session.session_id, "conversation_id": HERE, "user_text": text}
            given |= {"created_at_ms": memory.clock.now_ms(), "input_tokens": 9000, "model": "scripted:1"}
            await memory.recorder.record(make_exchange(number, third_party=number == 1, **given), None)
            memory.clock.advance(ms=CALM_MS)
            await memory.keeper.read_due()

        assert await texts(memory) == ["Tile you take: grey, hexagonal"]
        assert request_text(model.requests[0]).count("seen by a program: picture #1: Grey") == 1
        assert set(asked) == {HERE}


async def test_whose_budget_is_used_up_is_not_read(memory, model, say):
    """Until the next day."""
    memory.keeper.purse = Purse(full=False)
    await say(SURGERY)
    await memory.keeper.read_now(HERE)
    assert model.requests == []
    memory.keeper.purse.full = True
    memory.clock.advance(ms=RETRY_AFTER_MS)
    await memory.keeper.read_due()

    assert len(model.requests) == 1


async def test_what_was_taken_back_and_words_of_distress_are_not_shown(memory, model, say):
    """Nothing is noted of them, so nobody reads them."""
    await say(SURGERY, PLUMBER)
    await say("I can't go on, 2 nights without sleep", action_name="care")
    await memory.withdraw("t_1")
    await memory.keeper.read_now(HERE)

    assert [turn.user_text for turn in model.requests[0].turns] == [PLUMBER]


async def test_a_session_that_was_started_fresh_shows_its_own_notes_alone(memory, model, say):
    """What was noted before does not reach the model."""
    before = Add(kind="task", text="Call the plumber", note_id="n_1", fields={"session_id": "s_0"})
    await memory.change(HERE, [before], Actor("person", memory.clock.now_ms()))
    await say(SURGERY, session=await memory.fresh(HERE, user_id=7))
    await memory.keeper.read_now(HERE)

    assert model.requests[0].notes == ()


async def test_a_second_process_does_not_pay_for_the_same_turns(memory, model, say, answers):
    """One keeper a conversation: who comes second leaves it to the first."""
    answers.append(RIGHT)
    measures = Measures(clock=memory.clock, ids=memory.ids, languages=memory.languages, counter=memory.counter)
    other = Keeper(memory.store, memory.ledgers, measures, model)
    model.may_answer.clear()
    await say(SURGERY)
    memory.clock.advance(ms=CALM_MS)
    first = asyncio.create_task(memory.keeper.read_due())
    await model.asked.wait()
    await other.read_due()
    model.may_answer.set()
    await first

    assert len(model.requests) == 1
    assert await texts(memory) == ["Mother's knee surgery"]


async def test_what_is_being_read_at_the_end_is_read_by_the_next_start(memory, model, say):
    """Whoever asked is gone; the turns wait, and nothing runs on."""
    model.may_answer.clear()
    await say(SURGERY)
    asking = asyncio.create_task(memory.keeper.read_now(HERE))
    await model.asked.wait()
    await memory.keeper.stop()
    await asyncio.gather(asking, return_exceptions=True)

    assert [each.unread for each in await memory.keeper.queue.here(HERE)] == [1]


async def test_without_a_model_nothing_waits_to_be_read(place):
    """Nobody would ever read it."""
    async with open_memory(place) as memory:
        session = await memory.recorder.open_session(HERE, 7, "first")
        await memory.recorder.record(make_exchange(1, session_id=session.session_id, conversation_id=HERE), None)

        assert not memory.keeper.is_on
        assert await memory.keeper.queue.here(HERE) == []


async def test_a_keeper_that_comes_later_reads_back_the_newest_talk(memory, model, say):
    """Of what was said before, 20,000 tokens at most; the rest counts as read."""
    long = " ".join(["word"] * (READ_BACK_TOKENS // 10))
    await say(*[f"{n} {long}" for n in range(1, 16)], tokens=400_000)
    await memory.db.write(Statement("erase_reading", {"session_id": (await memory.recorder.current(HERE)).session_id}))
    await say(SURGERY)
    await memory.keeper.read_now(HERE)

    shown = [turn.seq for asked in model.requests for turn in asked.turns]
    assert shown == [7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    assert await memory.keeper.queue.here(HERE) == []


async def test_a_lease_that_nobody_gave_back_runs_out(memory, model, say):
    """A process died while it read: another reads once it counts as dead."""
    await say(SURGERY)
    now_ms = memory.clock.now_ms()
    (waiting,) = await memory.keeper.queue.here(HERE)
    await memory.db.write(*queue.claim(waiting, "r_dead", now_ms, now_ms + CALM_MS + 1))
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()
    assert model.requests == []
    memory.clock.advance(ms=CALM_MS)
    await memory.keeper.read_due()

    assert len(model.requests) == 1
