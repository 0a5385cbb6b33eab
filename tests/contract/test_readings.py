"""Readings over a real store: what waits, when it is read, and that it is read once whatever happens in between."""

import asyncio
import time

import pytest

from memory.errors import Conflict, UnknownSession
from memory.language.languages import Languages
from memory.notes.readings import Readings
from memory.notes.rules import read_by_rules
from memory.notes.store import QUIET_MS, ask_to_read_again, put_notes
from memory.state.state_manager import undo
from memory.testing import make_exchange, open_memory

HERE = "tg:1:1:0"
LANGUAGES = Languages.load()
SURGERY = "My mother has her knee surgery on Friday at 8, I'm worried."
PLUMBER = "I have to call the plumber tomorrow about the leak in the kitchen."


@pytest.fixture
async def memory(place):
    async with open_memory(place) as opened:
        yield opened


class Counted:
    """The reader by rules, counting the turns that it was given."""

    def __init__(self):
        self.turns = []
        self.requests = []

    def __call__(self, request, languages):
        self.requests.append(request)
        self.turns += [turn.turn_id for turn in request.turns]
        return read_by_rules(request, languages)


@pytest.fixture
def reader():
    return Counted()


@pytest.fixture
def readings(memory, reader):
    return Readings(memory.store, LANGUAGES, memory.clock, by_rules=reader)


@pytest.fixture
def say(memory):
    numbers = iter(range(1, 10_000))

    async def said(session, *texts):
        for text in texts:
            fields = {"session_id": session.session_id, "conversation_id": session.conversation_id, "user_text": text}
            fields["created_at_ms"] = memory.clock.now_ms()
            await memory.recorder.record(make_exchange(next(numbers), **fields), None)

    return said


async def opened(memory, origin="first"):
    return await memory.recorder.open_session(HERE, 7, origin)


async def test_a_session_is_read_when_it_falls_quiet(memory, readings, say):
    """Two minutes after the last turn its notes are there, and nothing waits any more."""
    session = await opened(memory)
    await say(session, SURGERY)
    memory.clock.advance(ms=QUIET_MS - 1)
    assert await readings.read_due() == 0

    memory.clock.advance(ms=1)
    assert await readings.notes.waiting(memory.clock.now_ms()) == 1
    assert await readings.read_due() == 1

    notes = await readings.notes.of_session(session.session_id)
    assert any("surgery" in matter.text for matter in notes.matters)
    assert notes.read_through_seq == 1
    assert await readings.notes.waiting(memory.clock.now_ms()) == 0


async def test_each_turn_is_read_once(memory, readings, reader, say):
    """Looks that find nothing new, and turns that come later, do not have the first ones read again."""
    session = await opened(memory)
    await say(session, SURGERY, "thanks")
    memory.clock.advance(ms=QUIET_MS)
    await readings.read_due()
    await readings.read_due()
    await say(session, PLUMBER)
    await readings.catch_up(HERE)
    await readings.catch_up(HERE)

    assert reader.turns == ["t_1", "t_2", "t_3"]
    assert [turn.turn_id for turn in reader.requests[-1].before] == ["t_1", "t_2"]


async def test_twenty_unread_turns_are_read_without_waiting_for_quiet(memory, readings, say):
    """Somebody who never pauses is read all the same."""
    session = await opened(memory)
    await say(session, *[f"Line {number} of my story." for number in range(19)])
    assert await readings.read_due() == 0

    await say(session, SURGERY)

    assert await readings.read_due() == 1


@pytest.mark.parametrize("origin", ["gap", "fresh"])
async def test_a_session_that_ends_is_read_at_once(memory, readings, say, origin):
    """A new session does not wait for the old one's two minutes."""
    session = await opened(memory)
    await say(session, SURGERY)
    await opened(memory, origin)

    assert await readings.read_due() == 1
    assert await readings.notes.of_session(session.session_id) is not None


async def test_what_was_noted_before_is_given_to_the_reader_but_not_in_a_fresh_session(memory, readings, reader, say):
    """Open matters of earlier sessions come along; a session that was started fresh knows nothing of them."""
    await say(await opened(memory), SURGERY)
    await say(await opened(memory, "gap"), "Hello again, how are you?")
    await say(await opened(memory, "fresh"), "Hello, how are you?")
    await readings.catch_up(HERE)

    after_gap, in_fresh = (request for request in reader.requests[1:])
    assert any("surgery" in matter.text for matter in after_gap.open_matters)
    assert in_fresh.open_matters == ()


async def test_a_reader_with_a_defect_costs_these_turns_only(memory, say, caplog):
    """The session goes on being read; the defect is in the log."""

    def broken(request, languages):
        if request.turns[0].seq == 1:
            raise ZeroDivisionError
        return read_by_rules(request, languages)

    readings = Readings(memory.store, LANGUAGES, memory.clock, by_rules=broken)
    session = await opened(memory)
    await say(session, "Hello.")
    await readings.catch_up(HERE)
    await say(session, SURGERY)
    await readings.catch_up(HERE)

    notes = await readings.notes.of_session(session.session_id)
    assert [matter.text for matter in notes.matters if "surgery" in matter.text]
    assert "were not read" in caplog.text


async def test_a_change_by_hand_is_kept_and_meets_a_reading_in_peace(memory, readings, say):
    """A matter that was ended with a button stays ended when the session is read on."""
    session = await opened(memory)
    await say(session, SURGERY)
    await readings.catch_up(HERE)

    def ended(notes):
        done = [matter.model_copy(update={"status": "settled"}) for matter in notes.matters]
        return notes.model_copy(update={"matters": tuple(done)})

    await readings.notes.change(session.session_id, ended)
    await say(session, PLUMBER)
    await readings.catch_up(HERE)

    notes = await readings.notes.of_session(session.session_id)
    assert {matter.status for matter in notes.matters if "surgery" in matter.text} == {"settled"}
    assert {matter.status for matter in notes.matters if "plumber" in matter.text} == {"open"}


async def test_a_session_without_notes_cannot_be_changed(readings):
    """It is said which one."""
    with pytest.raises(UnknownSession, match="s_404"):
        await readings.notes.change("s_404", lambda notes: notes)


async def test_reading_does_not_hold_up_the_event_loop(memory, say):
    """While forty long turns are read, the loop goes on turning: a reading is a thread, and readers let go of it."""

    def slow(request, languages):
        time.sleep(0.3)
        return read_by_rules(request, languages)

    readings = Readings(memory.store, LANGUAGES, memory.clock, by_rules=slow)
    await say(await opened(memory), SURGERY)
    reading = asyncio.create_task(readings.catch_up(HERE))
    beats = 0
    while not reading.done():
        await asyncio.sleep(0)
        beats += 1

    assert beats > 20


async def test_two_who_ask_at_once_get_one_reading(memory, readings, reader, say):
    """A preview and /loops may come together."""
    await say(await opened(memory), SURGERY)

    await asyncio.gather(*(readings.catch_up(HERE) for _ in range(4)))

    assert reader.turns == ["t_1"]


async def test_the_next_session_is_told_how_the_one_before_ended(memory, readings, say):
    """Its last words stand in the prompt as they were said, beside what was noted; nothing of it after /fresh."""
    before = await opened(memory)
    await say(before, SURGERY, "or do I ask my brother to drive her?")
    memory.clock.advance(s=40 * 3600)
    await readings.catch_up(HERE)
    session = await opened(memory, "gap")
    packet = await memory.assembler.packet(session, "hi", now_ms=memory.clock.now_ms())
    fresh = await memory.assembler.packet(session, "hi", now_ms=memory.clock.now_ms(), isolated=True)

    assert "- user: or do I ask my brother to drive her?" in packet.last_conversation.splitlines()
    assert "knee surgery" in packet.last_conversation
    assert fresh.last_conversation == ""


async def test_a_young_session_is_told_the_end_of_the_one_before_at_length(memory, readings, say):
    """Its history is short and lends room; when it has grown, only the last exchanges are left."""
    before = await opened(memory)
    tile = "looks blue under the old lamp, and nearly grey under the new one, as my sister says who paints"
    said = [f"tile number {number} {tile}" for number in range(10)]
    await say(before, SURGERY, *said)
    memory.clock.advance(s=40 * 3600)
    await readings.catch_up(HERE)
    session = await opened(memory, "gap")
    young = await memory.assembler.packet(session, "hi", now_ms=memory.clock.now_ms())
    await say(session, " ".join(["word"] * 1_600))
    grown = await memory.recorder.session(session.session_id)
    later = await memory.assembler.packet(grown, "hi", now_ms=memory.clock.now_ms())

    assert [text for text in said if text in young.last_conversation] == said
    assert "knee surgery" in young.last_conversation
    assert 0 < sum(text in later.last_conversation for text in said) < len(said)


async def test_what_is_told_of_the_end_is_not_told_twice_and_what_was_cut_is_found(memory, readings, say):
    """A long answer stands there cut, so a search may bring it whole; a short one stands there already."""
    before = await opened(memory)
    more = "and so on " * 25
    long = f"the grout is anthracite {more}, it is from the shop in Wells, {more}"
    await say(before, SURGERY, long, "the tiles are from the shop in Bath")
    memory.clock.advance(s=40 * 3600)
    await readings.catch_up(HERE)
    session = await opened(memory, "gap")
    packet = await memory.assembler.packet(session, "which shop is it from?", now_ms=memory.clock.now_ms())
    found = " ".join(item.text for item in packet.retrieved)

    assert "- user: the tiles are from the shop in Bath" in packet.last_conversation
    assert "shop in Wells" in found
    assert "shop in Bath" not in found


async def test_what_a_turn_settled_is_open_again_when_it_is_taken_back(memory, readings, say):
    """A session is read again without what was taken back, once; what was ended by hand stays ended."""
    session = await opened(memory)
    await say(session, PLUMBER, "I need to renew my passport next week.", "The plumber is done.")
    await readings.catch_up(HERE)
    undone = (await memory.store.last_turns(session.session_id, 1))[0].turn_id
    passport = "passport"

    def by_hand(notes):
        ended = (m.model_copy(update={"status": "settled"}) if passport in m.text else m for m in notes.matters)
        return notes.model_copy(update={"matters": tuple(ended)})

    await readings.notes.change(session.session_id, by_hand)
    await memory.recorder.edit(
        session.session_id, lambda state: undo(state, [undone]), *ask_to_read_again(session.session_id)
    )
    await readings.catch_up(HERE)
    notes = await readings.notes.of_session(session.session_id)

    assert {passport in matter.text: matter.status for matter in notes.matters} == {True: "settled", False: "open"}
    assert notes.settled == ()
    assert await readings.notes.unread(HERE) == []


async def test_a_reading_that_began_before_a_turn_was_taken_back_is_not_stored(memory, readings, say):
    """Else it would end what that turn ended, until the session is read the next time."""
    session = await opened(memory)
    await say(session, PLUMBER)
    await readings.catch_up(HERE)
    before = await readings.notes.load(session.session_id)
    last = (await memory.store.last_turns(session.session_id, 1))[0]
    await memory.recorder.edit(
        session.session_id, lambda state: undo(state, [last.turn_id]), *ask_to_read_again(session.session_id)
    )

    with pytest.raises(Conflict):
        await memory.db.write(put_notes(before, before.notes, None, last))
    await readings.catch_up(HERE)
    assert (await readings.notes.of_session(session.session_id)).matters == ()
