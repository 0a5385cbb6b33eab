"""The tests that 002 section 9 asks for, line by line; the folders beside this file test each of them in depth.

The six modules of 002 stand in `memory/`: store and checkpoint in `storage`, state manager in `state`, summarizer in
`sessions`, retriever in `search`, context builder in `context`. What is open is noted in `ledger`.
"""

import pytest

from memory.context.budget import Budget
from memory.context.context_builder import ContextInputs, Fields, Moment, build
from memory.ledger.types import Add, End
from memory.search.languages import Languages
from memory.search.question import Question, SearchedMessage, TermHits
from memory.search.retriever import place, rank, term_weights, weigh
from memory.sessions.hydrator import snapshot_of
from memory.sessions.summarizer import fold_due, summarize
from memory.state.fields import loops_of
from memory.state.state_manager import apply_turn
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.turn_rows import chain
from memory.testing import (
    START_MS,
    ManualClock,
    WordCounter,
    make_exchange,
    make_note,
    make_state,
    make_turn,
    open_memory,
)

LANGUAGES = Languages.load()
CONVERSATION = "tg:1:1:0"


async def talk(folder, *texts):
    """Say these things to a memory in a folder; return the id of the session."""
    async with open_memory(folder) as memory:
        state = await memory.recorder.open_session(CONVERSATION, 7, "first")
        for number, text in enumerate(texts, 1):
            await memory.recorder.record(
                make_exchange(number, user_text=text, session_id=state.session_id, conversation_id=CONVERSATION), None
            )
        return state.session_id


async def test_append_turn(tmp_path):
    """The store keeps what was appended, in order, and never changes it: `seq` counts up from 1."""
    session_id = await talk(tmp_path, "My dog is called Rex.", "He is four.")

    async with open_memory(tmp_path) as memory:
        stored = await memory.store.turns_after(session_id, 0)
        assert [(turn.seq, turn.user_text) for turn in stored] == [(1, "My dog is called Rex."), (2, "He is four.")]


@pytest.mark.parametrize("checkpoint", ["there", "gone"])
async def test_load_session(tmp_path, checkpoint):
    """A session is loaded after a restart, from its checkpoint or, without one, from the turn log alone."""
    session_id = await talk(tmp_path, "My dog is called Rex.", "I will call the plumber tomorrow.")
    if checkpoint == "gone":
        (tmp_path / "checkpoints" / f"{session_id}.json").unlink()

    async with open_memory(tmp_path) as memory:
        found = await memory.hydrator.hydrate(session_id)
        assert (found.state.session_id, found.state.last_seq) == (session_id, 2)
        assert found.report.warnings == ()


def test_build_packet():
    """The packet has the last turns, the rolling summary and what is open, and counts what it gives."""
    turns = [make_turn(seq=seq) for seq in (3, 4, 5)]
    state = make_state(
        last_seq=5,
        turn_count=5,
        summarized_through_seq=2,
        rolling_summary="They planned a trip.",
    )
    fields = Fields(loops=loops_of([make_note()], START_MS))

    packet = build(
        ContextInputs(state=state, moment=Moment(now_ms=START_MS), history=turns, fields=fields),
        Budget(),
        WordCounter(),
    )

    assert [turn.user_text for turn in packet.history] == ["question 3", "question 4", "question 5"]
    assert packet.rolling_session_summary == "They planned a trip."
    assert [loop.text for loop in packet.open_loops] == ["Send the report to Anna"]
    assert sum(tier.used_tokens for tier in packet.receipts) > 0


def test_checkpoint_round_trip(tmp_path):
    """What was saved is loaded, equal in everything: state, last turns, summary."""
    turns = chain("", [make_turn(seq=seq) for seq in (1, 2)])
    state = make_state(last_seq=2, turn_count=2, last_turn_digest=turns[-1].digest)
    snapshot = snapshot_of(state, turns, "", saved_at_ms=5)
    files = CheckpointFiles(tmp_path / "checkpoints", ManualClock())

    files.save(snapshot)

    assert files.load(state.session_id) == snapshot


def test_retriever_scoring():
    """Of two turns with the word, the one with both words of the question comes first; its parts add up."""
    messages = [
        SearchedMessage(
            key=2 * n,
            source="turn",
            ref=f"t_{n}",
            session_id="s_1",
            seq=n,
            ordinal=n,
            user_id=7,
            words=12,
            terms=8,
            asks=False,
            time_words=0,
            at_ms=START_MS,
        )
        for n in (1, 9)
    ]
    question = Question(("harbour", "lunch"))
    idf = term_weights([3, 3], 100, question.framing)

    found = TermHits([place(2, 0, 0), place(18, 0, 0), place(18, 0, 1)], {2: 8, 18: 8})
    ranked = list(rank(question, messages, weigh(idf, found)))

    assert [one.message.ref for one in ranked] == ["t_9", "t_1"]
    assert ranked[0].score == pytest.approx(sum(ranked[0].breakdown.values()))


def test_a_question_waits_until_it_is_answered():
    """A clarification is pending while the reply ends by asking; the session is named after its beginning."""
    asked = apply_turn(make_state(), make_turn(seq=1, user_text="Book a table.", assistant_text="For how many?"))
    answered = apply_turn(asked, make_turn(seq=2, user_text="Four.", assistant_text="Booked."))

    assert (asked.status, [each.question for each in asked.pending_clarifications]) == (
        "awaiting_clarification",
        ["For how many?"],
    )
    assert (answered.status, answered.pending_clarifications, answered.turn_count) == ("active", (), 2)
    assert [topic.name for topic in answered.active_topics] == ["Book a table."]


async def test_what_is_open_is_in_the_state_that_is_saved_until_it_is_done(tmp_path):
    """Loops and references are filled from the notes with each turn, in the row and in the checkpoint."""
    plumber = Add(kind="task", text="Call the plumber", note_id="n_1", fields={"turn_ids": ("t_1",), "owner": "user"})
    saved = []
    async with open_memory(tmp_path) as memory:
        session_id = (await memory.recorder.open_session(CONVERSATION, 7, "first")).session_id
        for number, operation in enumerate((plumber, End(number=1)), 1):
            said = make_exchange(number, session_id=session_id, operations=(operation,), hand="model")
            await memory.recorder.record(said, None)
            await memory.recorder.settle()
            saved.append(memory.checkpoints.load(session_id).state)
            row = await memory.store.session(session_id)
            assert row.state_json == saved[-1].model_dump_json()

    (loop,) = saved[0].open_loops
    assert (loop.text, loop.owner, loop.turn_id) == ("Call the plumber", "user", "t_1")
    assert saved[0].resolved_entities == {"#1": "n_1"}
    assert (saved[1].open_loops, saved[1].resolved_entities) == ((), {})


def test_summaries_keep_what_names_and_counts_without_a_model():
    """Ten turns are folded at once, the last three stay raw; what somebody stated survives, small talk goes."""
    turns = [
        make_turn(seq=1, user_text="We decided to take the flat on Bergstrasse 14.", assistant_text="Good."),
        make_turn(seq=2, user_text="haha ok", assistant_text="Good."),
    ]

    summary = summarize(turns, "", LANGUAGES, WordCounter(), 200)

    assert "- Person: We decided to take the flat on Bergstrasse 14." in summary
    assert "haha" not in summary
    assert summary in summarize([], summary, LANGUAGES, WordCounter(), 200)
    assert fold_due(make_state(last_seq=9, turn_count=9)) is None
    assert fold_due(make_state(last_seq=13, turn_count=13)) is not None
