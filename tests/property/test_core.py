"""Whatever order of talking, killing, damaging and restarting: the session is its plain list of turns, folded."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.state.state_manager import new_state
from memory.storage.turn_rows import LoggedTurn, chain, insert_turn, turn_digest
from memory.testing import SequentialIds, make_exchange, start_memory
from memory.types import ConversationTurn, ToolCall

CONVERSATION = "tg:1:1:0"
TEXTS = st.one_of(
    st.sampled_from(
        [
            "Please remind me to call Ana tomorrow.", "yes", "the second one", "What is still open?", "Forget it.",
            "I like the museum in Rome.", "Shall I book it, or wait?", "I will send you the list.", "",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60),
)  # fmt: skip
ACTIONS = st.one_of(
    st.tuples(st.just("say"), TEXTS, TEXTS),
    st.tuples(
        st.sampled_from(["restart", "kill", "lose checkpoint", "tear checkpoint", "old checkpoint", "lose state"])
    ),
)


class Story:
    """One session under test beside the plain list that it must equal."""

    def __init__(self, folder):
        self.folder = folder
        self.said: list[ConversationTurn] = []
        self.ids = SequentialIds()
        self.old_checkpoint = None

    async def start(self):
        self.memory = await start_memory(self.folder, ids=self.ids)
        state = await self.memory.recorder.current(CONVERSATION)
        state = state or await self.memory.recorder.open_session(CONVERSATION, 7, "first")
        self.session_id = state.session_id
        self.file = self.memory.checkpoints.path(self.session_id)

    async def stop(self, *, checkpoint=True):
        """End without a shutdown; a kill may come before the checkpoint is written."""
        if not checkpoint:
            self.memory.recorder._behind._due.clear()
        await self.memory.close()

    async def say(self, user_text, assistant_text):
        if self.file.exists() and self.old_checkpoint is None:
            self.old_checkpoint = self.file.read_bytes()
        number = len(self.said) + 1
        exchange = make_exchange(number, session_id=self.session_id, user_text=user_text, assistant_text=assistant_text)
        self.said.append(await self.memory.recorder.record(exchange, None))

    async def act(self, action, *texts):
        if action == "say":
            await self.say(*texts)
            return
        await self.stop(checkpoint=action != "kill")
        if action == "lose checkpoint":
            self.file.unlink(missing_ok=True)
        if action == "tear checkpoint" and self.file.exists():
            data = self.file.read_bytes()
            self.file.write_bytes(data[: len(data) * 2 // 3])
        if action == "old checkpoint" and self.old_checkpoint:
            self.file.write_bytes(self.old_checkpoint)
        await self.start()
        if action == "lose state":
            await self.damage_state()

    async def damage_state(self):
        await self.memory.db._writer.call(lambda c: c.execute("UPDATE conversation_sessions SET state_json = '?'"))
        await self.stop()
        await self.start()

    async def check(self):
        state = await self.memory.recorder.session(self.session_id)
        assert await self.memory.store.turns_after(self.session_id, 0) == self.said
        assert await self.memory.recorder.recent_turns(self.session_id) == tuple(self.said[-13:])
        wanted = new_state(self.session_id, CONVERSATION)
        for index, logged in enumerate(chain("", self.said)):
            wanted = self.memory.hydrator.fold.advance(wanted, logged, self.said[:index])
        assert state.model_copy(update={"status": wanted.status}) == wanted


async def play(folder, actions):
    story = Story(folder)
    await story.start()
    for action in actions:
        await story.act(*action)
    await story.check()
    await story.stop()


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(ACTIONS, max_size=25))
def test_any_life_of_a_session_equals_its_plain_list(actions):
    """Turns, last turns and state are those of the list, after any mix of turns, kills, restarts and damage."""
    folder = Path(tempfile.mkdtemp())
    try:
        asyncio.run(play(folder, actions))
    finally:
        shutil.rmtree(folder)


TURNS = st.builds(
    ConversationTurn,
    turn_id=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=8),
    session_id=st.just("s_1"),
    conversation_id=st.just(CONVERSATION),
    seq=st.integers(1, 2**53),
    user_id=st.none() | st.integers(-(2**52), 2**52),
    user_text=TEXTS,
    assistant_text=TEXTS,
    job_refs=st.lists(TEXTS, max_size=2).map(tuple),
    tool_calls=st.lists(st.builds(ToolCall, call_id=TEXTS, name=TEXTS, arguments=TEXTS, result=TEXTS), max_size=2).map(
        tuple
    ),
    third_party=st.booleans(),
    authored=st.none() | TEXTS,
    created_at_ms=st.integers(0, 2**50),
)


@given(st.lists(TURNS, min_size=1, max_size=8, unique_by=(lambda turn: turn.turn_id, lambda turn: turn.seq)))
def test_any_turn_comes_back_as_it_went_in(turns):
    """Row and back: equal turns with matching digests, whatever the texts."""

    async def round_trip(folder):
        memory = await start_memory(folder)
        await memory.db.write(*(insert_turn(turn, turn_digest("", turn)) for turn in turns))
        found = await memory.store.last_logged("s_1", 100)
        await memory.close()
        return found

    folder = Path(tempfile.mkdtemp())
    try:
        found = asyncio.run(round_trip(folder))
    finally:
        shutil.rmtree(folder)
    assert found == [LoggedTurn(turn, turn_digest("", turn)) for turn in sorted(turns, key=lambda turn: turn.seq)]
