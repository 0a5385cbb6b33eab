"""Forgetting and notes (P13): what rests on a forgotten turn is read again without it, in every session."""

import pytest

from memory.language.languages import Languages
from memory.notes.requests import texts_of
from memory.privacy.export import gather
from memory.privacy.plan import ForgetRequest
from memory.testing import make_exchange, open_memory

HERE = "tg:1:7:0"
LANGUAGES = Languages.load()
SURGERY = "My mother Zebrafish has her knee surgery on Friday at 8, I'm worried."
PLUMBER = "I have to call the plumber tomorrow about the leak in the kitchen."


@pytest.fixture
async def memory(place):
    async with open_memory(place) as opened:
        yield opened


@pytest.fixture
def readings(memory):
    return memory.readings


@pytest.fixture
def forgetter(memory):
    return memory.forgetter


@pytest.fixture
def say(memory, readings):
    numbers = iter(range(1, 10_000))

    async def said(*texts, origin="gap"):
        session = await memory.recorder.open_session(HERE, 7, origin)
        fields = {"session_id": session.session_id, "conversation_id": HERE, "assistant_text": "Good."}
        for text in texts:
            fields["created_at_ms"] = memory.clock.advance(s=60)
            await memory.recorder.record(make_exchange(next(numbers), user_text=text, **fields), None)
        await readings.catch_up(HERE)
        return session.session_id

    return said


async def noted(readings):
    return "\n".join(text for notes in await readings.notes.of_conversation(HERE) for text in texts_of(notes))


async def test_notes_are_as_if_the_turn_had_never_been(memory, readings, forgetter, say):
    """Nothing of it is left in the notes or in the files; what else was noted stays."""
    session_id = await say(SURGERY, PLUMBER)
    assert "Zebrafish" in await noted(readings)

    forgotten = await forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))

    left = await noted(readings)
    assert "Zebrafish" not in left
    assert "plumber" in left
    notes = await readings.notes.of_session(session_id)
    assert notes.read_through_seq == 1
    assert (await forgetter.prove(forgotten)).found == 0


async def test_a_later_session_that_spoke_of_it_is_read_again_too(memory, readings, forgetter, say):
    """A matter keeps its id over sessions; with its first turn gone, the later notes do not name it any more."""
    await say(SURGERY)
    later = await say("How is the weather?")
    stored = await readings.notes.load(later)
    borrowed = (await readings.notes.of_conversation(HERE))[0].matters
    await readings.notes.change(later, lambda notes: notes.model_copy(update={"matters": borrowed}))
    assert "Zebrafish" in "".join(texts_of((await readings.notes.load(later)).notes))

    await forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))

    after = await readings.notes.load(later)
    assert "Zebrafish" not in "".join(texts_of(after.notes))
    assert after.version > stored.version


async def test_a_later_session_does_not_name_what_a_forgotten_session_said(memory, readings, forgetter, say):
    """The same when the whole first session goes."""
    first = await say(SURGERY)
    later = await say("How is the weather?")
    borrowed = (await readings.notes.of_conversation(HERE))[0].matters
    await readings.notes.change(later, lambda notes: notes.model_copy(update={"matters": borrowed}))

    await forgetter.forget(ForgetRequest(HERE, session_ids=(first,)))

    assert "Zebrafish" not in await noted(readings)
    assert await readings.notes.of_session(first) is None


async def test_what_was_ended_by_hand_stays_ended(memory, readings, forgetter, say):
    """Reading again does not open it again."""
    session_id = await say(SURGERY, PLUMBER)

    def ended(notes):
        done = [matter.model_copy(update={"status": "settled"}) for matter in notes.matters]
        return notes.model_copy(update={"matters": tuple(done)})

    await readings.notes.change(session_id, ended)
    await forgetter.forget(ForgetRequest(HERE, turn_ids=("t_1",)))

    notes = await readings.notes.of_session(session_id)
    assert [matter.status for matter in notes.matters if "plumber" in matter.text] == ["settled"]


async def test_everything_takes_all_notes_and_readings(memory, readings, forgetter, say):
    """Also those that wait."""
    await say(SURGERY)
    session = await memory.recorder.open_session(HERE, 7, "gap")
    await memory.recorder.record(
        make_exchange(99, session_id=session.session_id, conversation_id=HERE, user_text=PLUMBER), None
    )

    await forgetter.forget(ForgetRequest(HERE, everything=True))

    assert await readings.notes.of_conversation(HERE) == []
    assert await readings.notes.unread(HERE) == []


async def test_the_export_holds_the_notes(memory, readings, say):
    """A person gets what was noted with each session."""
    await say(SURGERY)
    document = await gather(memory.db, memory.clock, HERE)

    [session] = document["sessions"]
    assert any("Zebrafish" in matter["text"] for matter in session["notes"]["matters"])
