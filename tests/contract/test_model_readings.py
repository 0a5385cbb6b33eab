"""A model behind the reply: the rules stand in, its answer is checked, paid for, and asked for at most twice."""

import asyncio
import json

import pytest

from memory.language.languages import Languages
from memory.notes.current import CurrentNotes
from memory.notes.drafts import Drafting, DraftMatter, DraftNote, NotesDraft
from memory.notes.readings import RETRY_AFTER_MS, Readings
from memory.notes.requests import texts_of
from memory.notes.store import QUIET_MS
from memory.ports import Statement
from memory.privacy.plan import ForgetRequest
from memory.state.state_manager import undo
from memory.testing import make_exchange, open_memory

HERE = "tg:1:1:0"
LANGUAGES = Languages.load()
SURGERY = "My mother has her knee surgery on Friday at 8, I'm worried."
PLUMBER = "I have to call the plumber tomorrow about the leak in the kitchen."
WORDED = "Mother has her knee surgery on Friday"


class Scripted:
    """A model that answers what it was told to, or fails; it keeps what it was asked."""

    name = "scripted:1"

    def __init__(self, *answers, price=500):
        self.answers = list(answers)
        self.requests = []
        self.price = price
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    def estimate(self, _request):
        return self.price

    async def __call__(self, request):
        self.requests.append(request)
        self.asked.set()
        await self.may_answer.wait()
        answer = self.answers.pop(0) if self.answers else NotesDraft()
        if isinstance(answer, Exception):
            raise answer
        return Drafting(answer, self.price - 100, 100)


class Purse:
    def __init__(self, *, full=True):
        self.full = full
        self.paid = []

    async def may_spend(self, _user_id):
        return self.full

    async def booked(self, user_id, tokens, _cost_nanodollars):
        self.paid.append((user_id, tokens))
        return [Statement("hasten_reading", {"session_id": "", "at_ms": 0})]


RIGHT = NotesDraft(
    title="Knee surgery of mother",
    standing="Mother has her knee surgery on Friday.",
    standing_turns=[1],
    matters=[
        DraftMatter(kind="event", text=WORDED, turns=[1], due="2023-11-17", importance=1.0),
        DraftMatter(kind="event", text="Gustav has his knee surgery on Friday", turns=[1]),
    ],
    lasting=[DraftNote(kind="relationship", text="Worried about mother", turns=[1])],
)


@pytest.fixture
async def memory(place):
    async with open_memory(place) as opened:
        yield opened


@pytest.fixture
def readings_with(memory):
    def made(model, **options):
        options = {"purse": Purse()} | options
        return Readings(memory.store, LANGUAGES, memory.clock, by_model=model, **options)

    return made


@pytest.fixture
def say(memory):
    numbers = iter(range(1, 10_000))

    async def said(*texts, tokens=4000, session=None):
        session = session or await memory.recorder.current(HERE) or await memory.recorder.open_session(HERE, 7, "first")
        for text in texts:
            fields = {"session_id": session.session_id, "conversation_id": HERE, "user_text": text}
            fields |= {"created_at_ms": memory.clock.now_ms(), "input_tokens": tokens, "model": "scripted:1"}
            await memory.recorder.record(make_exchange(next(numbers), **fields), None)
        return session.session_id

    return said


async def logged(memory, session_id):
    rows = await memory.db.read("model_readings_of_session", session_id=session_id)
    return [(row["error"], row["kept"], json.loads(row["dropped_json"])) for row in rows]


async def test_the_models_notes_take_the_place_of_the_rules(memory, readings_with, say):
    """What was said is kept in the model's words with its day; what it made up is dropped, counted and paid for."""
    model, purse = Scripted(RIGHT), Purse()
    readings = readings_with(model, purse=purse)
    session_id = await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()

    notes = await readings.notes.of_session(session_id)
    assert notes.reader == "scripted:1"
    assert [matter.text for matter in notes.matters] == [WORDED]
    assert notes.matters[0].due_at_ms is not None
    assert notes.title == "Knee surgery of mother"
    assert purse.paid == [(7, 500)]
    assert await logged(memory, session_id) == [("", 2, {"name": 1})]
    assert await readings.notes.waiting(memory.clock.now_ms()) == 0


async def test_the_rules_stand_in_until_the_model_has_answered(memory, readings_with, say):
    """Somebody who looks meanwhile sees the rules' notes at once; the answer comes behind."""
    model = Scripted(RIGHT)
    model.may_answer.clear()
    readings = readings_with(model)
    session_id = await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    reading = asyncio.create_task(readings.read_due())
    await model.asked.wait()

    await readings.catch_up(HERE)
    assert (await readings.notes.of_session(session_id)).reader == "rules"
    model.may_answer.set()
    await reading
    assert (await readings.notes.of_session(session_id)).reader == "scripted:1"


async def test_turns_that_come_while_the_model_reads_are_read_too(memory, readings_with, say):
    """By rules at once and by the model next time, upon what it noted before."""
    model = Scripted(RIGHT, NotesDraft())
    model.may_answer.clear()
    readings = readings_with(model)
    session_id = await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    reading = asyncio.create_task(readings.read_due())
    await model.asked.wait()
    await say(PLUMBER)
    model.may_answer.set()
    await reading

    texts = " / ".join(matter.text for matter in (await readings.notes.of_session(session_id)).matters)
    assert WORDED in texts
    assert "plumber" in texts
    assert [[turn.seq for turn in request.turns] for request in model.requests] == [[1], [2]]
    assert model.requests[1].notes.matters[0].text == WORDED


@pytest.mark.parametrize("failure", [RuntimeError("overloaded"), TimeoutError()])
async def test_a_model_that_fails_is_asked_once_more_later_and_then_no_more(memory, readings_with, say, failure):
    """The rules' notes stand meanwhile and afterwards; each failure is on record without any text."""
    model = Scripted(failure, failure, failure)
    readings = readings_with(model)
    session_id = await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()
    await readings.read_due()
    assert len(model.requests) == 1
    assert (await readings.notes.of_session(session_id)).reader == "rules"
    for _ in range(3):
        memory.clock.advance(ms=RETRY_AFTER_MS)
        await readings.read_due()

    assert len(model.requests) == 2
    assert [error for error, *_ in await logged(memory, session_id)] == [type(failure).__name__] * 2


async def test_a_model_that_hangs_is_not_waited_for(memory, readings_with, say):
    """After its limit it has failed."""
    model = Scripted(RIGHT)
    model.may_answer.clear()
    readings = readings_with(model, model_limit_s=0.01)
    session_id = await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()

    assert (await readings.notes.of_session(session_id)).reader == "rules"
    assert [error for error, *_ in await logged(memory, session_id)] == ["TimeoutError"]


async def test_a_call_that_ran_out_of_time_is_booked_as_it_was_estimated(memory, readings_with, say):
    """The provider was paid for it all the same, so it counts against the quarter and the budget."""
    model = Scripted(RIGHT)
    model.may_answer.clear()
    readings = readings_with(model, model_limit_s=0.01)
    await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()

    _, reading = await readings.notes.spent(HERE, 0)
    assert reading == model.estimate(None)


async def test_reading_never_costs_more_than_a_quarter_of_the_talk(memory, readings_with, say):
    """Talk that was cheap is read by rules until there was enough of it; then everything unread is caught up."""
    model = Scripted(RIGHT)
    readings = readings_with(model)
    session_id = await say(SURGERY, tokens=1000)
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()
    assert model.requests == []
    assert (await readings.notes.of_session(session_id)).read_through_seq == 1

    await say(PLUMBER, tokens=1000)
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()
    assert [[turn.seq for turn in request.turns] for request in model.requests] == [[1, 2]]
    talk, reading = await readings.notes.spent(HERE, 0)
    assert reading <= talk / 4


async def test_a_budget_that_is_used_up_leaves_it_to_the_rules(memory, readings_with, say):
    """Nobody is asked, and nothing waits on."""
    model = Scripted(RIGHT)
    readings = readings_with(model, purse=Purse(full=False))
    await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()

    assert model.requests == []
    assert await readings.notes.waiting(memory.clock.now_ms()) == 0


async def test_an_answer_about_turns_that_were_forgotten_meanwhile_is_not_kept(memory, readings_with, say):
    """It is paid for, and the model is asked again about what is there now."""
    model = Scripted(RIGHT, NotesDraft())
    model.may_answer.clear()
    purse = Purse()
    readings = readings_with(model, purse=purse)
    session_id = await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    reading = asyncio.create_task(readings.read_due())
    await model.asked.wait()
    async with readings.alone(HERE):
        pass
    model.may_answer.set()
    await reading

    assert len(model.requests) == 2
    assert (await readings.notes.of_session(session_id)).lasting == ()
    assert len(purse.paid) == 2


async def test_an_answer_about_turns_that_another_process_forgot_is_not_kept(memory, readings_with, say):
    """Nobody told this one: the rows that are gone tell it, in the same transaction. It is paid for once."""
    model = Scripted(RIGHT, RIGHT)
    model.may_answer.clear()
    purse = Purse()
    readings = readings_with(model, purse=purse)
    session_id = await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    reading = asyncio.create_task(readings.read_due())
    await model.asked.wait()
    stored = await readings.notes.load(session_id)
    rewritten = {"session_id": session_id, "version": stored.version, "model_json": ""}
    await memory.db.write(
        Statement("erase_turns", {"session_id": session_id}),
        Statement("change_notes", rewritten | {"notes_json": stored.notes.model_dump_json()}, expect=1),
    )
    model.may_answer.set()
    await reading

    assert (await readings.notes.load(session_id)).by_model is None
    assert len(purse.paid) == 1


async def test_a_choice_by_hand_while_the_model_reads_is_kept(memory, readings_with, say):
    """What was ended with a button is not opened again by an answer that did not know of it."""
    again = DraftMatter(kind="event", text="Mother has her knee surgery on Friday at 8", turns=[1], continues=1)
    model = Scripted(RIGHT, NotesDraft(matters=[again]))
    readings = readings_with(model)
    session_id = await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()
    model.may_answer.clear()
    model.asked.clear()
    await say("The knee surgery is at 8, I hear.")
    memory.clock.advance(ms=QUIET_MS)
    reading = asyncio.create_task(readings.read_due())
    await model.asked.wait()

    def ended(notes):
        done = [matter.model_copy(update={"status": "settled"}) for matter in notes.matters]
        return notes.model_copy(update={"matters": tuple(done)})

    await readings.notes.change(session_id, ended)
    model.may_answer.set()
    await reading

    assert {matter.status for matter in (await readings.notes.of_session(session_id)).matters} == {"settled"}


async def test_what_a_model_noted_is_read_again_without_a_forgotten_turn(memory, readings_with, say):
    """At once by rules, with nothing of the turn left; then the model is asked about the turns that remain."""
    plumber = NotesDraft(
        title="Call the plumber", matters=[DraftMatter(kind="task", text="Call the plumber", turns=[1])]
    )
    model = Scripted(RIGHT, plumber)
    readings = readings_with(model)
    session_id = await say(SURGERY, "I have to call the plumber.")
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()
    assert (await readings.notes.of_session(session_id)).reader == "scripted:1"

    await memory.forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))

    by_rules = await readings.notes.of_session(session_id)
    assert "surgery" not in "\n".join(texts_of(by_rules)).lower()
    assert "plumber" in "\n".join(texts_of(by_rules))
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()
    assert [turn.user_text for turn in model.requests[-1].turns] == ["I have to call the plumber."]
    assert [matter.text for matter in (await readings.notes.of_session(session_id)).matters] == ["Call the plumber"]


async def test_what_was_taken_back_counts_no_more_whoever_read_it(memory, readings_with, say):
    """A turn whose notes were undone, as when its message was edited: they are on no list, the model's neither."""
    readings = readings_with(Scripted(RIGHT))
    session_id = await say(SURGERY)
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()
    current = CurrentNotes(memory.store, readings, LANGUAGES, memory.clock)
    assert (await current.view(HERE)).matters

    await memory.recorder.edit(session_id, lambda state: undo(state, ["t_1"]))

    assert (await current.view(HERE)).standings == ()
