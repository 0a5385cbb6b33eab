"""A message that was edited reads anew everywhere at once, on every database and after a death."""

import pytest

from memory.context.packet_text import prompt
from memory.context.transcript import EDITED
from memory.errors import Conflict
from memory.ports import Statement
from memory.testing import make_exchange, open_memory

HERE = "tg:1:1:0"
OLD, NEW = "The dentist is at three on Tuesday.", "The orthodontist is at five on Tuesday."


@pytest.fixture
async def memory(place):
    async with open_memory(place) as opened:
        yield opened


@pytest.fixture
async def session_id(memory):
    """A session in which the dentist was spoken of first."""
    session = await memory.recorder.open_session(HERE, 7, "first")
    for number, text in enumerate([OLD, "And the cat is asleep."], 1):
        given = {"session_id": session.session_id, "conversation_id": HERE, "user_text": text}
        await memory.recorder.record(make_exchange(number, **given, assistant_text="Noted."), None)
    return session.session_id


async def prompt_of(memory, text="And now?"):
    pending = await memory.begin(HERE, text)
    return [message.text for message in prompt(pending.packet, text)]


async def found(memory, text):
    return [item.text for item in await memory.search(HERE, text)]


async def test_the_next_prompt_has_the_new_words_and_says_that_the_answer_was_to_others(memory, session_id):
    """They stand where the old ones stood, in the very next prompt, also of the process after this one."""
    await memory.edited("t_1", NEW)

    first, *_ = await prompt_of(memory)
    assert first.endswith(f"{EDITED} {NEW}")
    assert OLD not in "".join(await prompt_of(memory))


async def test_a_process_that_comes_later_knows_the_new_words_alone(place, memory, session_id):
    """Rows, digests, state and search are the new ones; the old checkpoint brings nothing back."""
    await memory.settle()
    await memory.edited("t_1", NEW)
    async with open_memory(place) as after:
        state = await after.recorder.session(session_id)
        turns = await after.store.last_turns(session_id, 9)

        assert [turn.user_text for turn in turns] == [NEW, "And the cat is asleep."]
        assert (state.edited, state.last_seq) == (("t_1",), 2)
        assert [topic.name for topic in state.active_topics] == [NEW]
        assert (await after.recorder.report(session_id)).warnings == ()
        assert EDITED in (await prompt_of(after))[0]
        assert any("orthodontist" in text for text in await found(after, "orthodontist at five"))
        assert not any("dentist is at three" in text for text in await found(after, "dentist at three"))


async def test_nothing_changes_when_the_update_was_finished_by_somebody_else(memory, session_id):
    """It is one transaction with the end of the update: all of it, or nothing."""
    lost = Statement("get_turn", {"turn_id": "t_none"}, expect=1)
    with pytest.raises(Conflict):
        await memory.edited("t_1", NEW, lost)

    assert [turn.user_text for turn in await memory.store.last_turns(session_id, 1)] != [NEW]
    assert OLD in (await prompt_of(memory))[0]


async def test_a_slip_put_right_leaves_no_mark(memory, session_id):
    """The words are as they were meant, and so is the answer."""
    await memory.edited("t_1", OLD.replace("dentist", "dentsit"))
    await memory.edited("t_1", OLD)

    assert (await prompt_of(memory))[0].endswith(OLD)
    assert EDITED not in (await prompt_of(memory))[0]


async def test_a_turn_that_goes_on_is_stored_upon_the_new_words(memory, session_id):
    """The chain of digests holds on: the next turn is appended, and nothing counts as altered."""
    await memory.edited("t_1", NEW)
    given = {"session_id": session_id, "conversation_id": HERE}
    await memory.recorder.record(make_exchange(3, **given, user_text="And now?"), None)
    memory.evict(lambda _: True)

    assert (await memory.recorder.session(session_id)).last_seq == 3
    assert (await memory.recorder.report(session_id)).warnings == ()
