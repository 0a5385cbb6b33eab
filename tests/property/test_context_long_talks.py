"""Long conversations turn by turn: every prompt within the cap, in shape, with the end verbatim and the facts kept."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from memory.context.budget import Budget
from memory.context.compaction.plan import mark_of, plan, truncation, verbatim
from memory.context.context_builder import ContextInputs, Moment, build, prompt
from memory.context.tokens import TiktokenCounter
from memory.search.languages import Languages
from memory.sessions.summarizer import summarize
from memory.testing import make_state, make_turn
from memory.types import ToolCall

LANGUAGES = Languages.load()
COUNTER = TiktokenCounter()
BUDGET = Budget()
TALK = tomllib.loads(Path(__file__).with_name("talk.toml").read_text(encoding="utf-8"))


def a_turn(seq, user, assistant, calls=()):
    return make_turn(
        seq=seq,
        user_text=user,
        assistant_text=assistant,
        tool_calls=calls,
        language="en",
        user_tokens=COUNTER.count(user),
        assistant_tokens=COUNTER.count(assistant),
    )


def mixed(seq):
    """One of: chatter, a long code block, CJK, emoji, a tool call with a long return."""
    chatter = TALK["chatter"][seq % len(TALK["chatter"])]
    code = "```python\n" + "".join(f"value_{n} = compute({n}, {seq})\n" for n in range(120)) + "```"
    call = ToolCall(call_id=f"call_{seq}", name="search", arguments='{"q": "x"}', result=f"row {seq}\n" * 3000)
    kinds = [
        (chatter["user"], chatter["assistant"], ()),
        (f"show me the code {seq}", code, ()),
        (f"会議は三月{seq}日の午後三時に東京で行われます。" * 6, "承知しました。", ()),
        ("👩‍👩‍👧‍👦🎉🏳️‍🌈" * 15, "🎈 lovely!", ()),
        (f"look up {seq}", "It is in the list.", (call,)),
        ("yes", "Shall I go on with the next one?", ()),
    ]
    return a_turn(seq, *kinds[seq % len(kinds)])


def step(state, turns):
    """Compact as the bot does before a model call."""
    made = plan(state, turns, BUDGET, COUNTER)
    if made is None:
        return state
    text = summarize(made.segment, made.previous, LANGUAGES, COUNTER, made.summary_max_tokens)
    mark = mark_of(made, "c", text, COUNTER) or truncation(made, "c", COUNTER)
    return state.model_copy(update={"compaction": mark})


def tokens(messages):
    """Count the prompt again, message by message: texts, calls with their arguments, returns."""
    return sum(
        COUNTER.count(each.text)
        + sum(
            COUNTER.count(f"{call.call_id} {call.result if each.role == 'tool' else call.name + call.arguments}")
            for call in each.tool_calls
        )
        for each in messages
    )


@pytest.mark.parametrize("compacting", [True, False])
@pytest.mark.parametrize("count", [250, pytest.param(1000, marks=pytest.mark.soak)])
def test_a_long_conversation_of_everything(count, compacting):
    """Within 6150 tokens at every turn, roles alternate, no orphaned call, the marker, the last exchange verbatim."""
    state, turns = make_state(), []
    for seq in range(1, count + 1):
        turns.append(mixed(seq))
        state = state.model_copy(update={"last_seq": seq})
        state = step(state, turns) if compacting else state
        if seq % 7 and seq < count - 10:
            continue
        packet = build(ContextInputs(state=state, history=turns, moment=Moment(now_ms=0)), BUDGET, COUNTER)
        messages = prompt(packet, "why?")
        roles = [each.role for each in messages if each.role != "tool" and not each.tool_calls]

        assert tokens(messages) <= BUDGET.cap_tokens
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
        assert all(
            (one.role == "assistant" and bool(one.tool_calls)) == (two.role == "tool")
            for one, two in pairwise(messages)
        )
        assert [each.text for each in messages[-2:]] == [turns[-1].assistant_text, "why?"]
        marks = re.findall(r"truncated: (\d+) turns]", "".join(each.text for each in messages))
        assert sum(map(int, marks)) == seq - len(packet.history)


@pytest.mark.parametrize("how", ["plain", "loose"])
def test_thirty_planted_facts_are_known_at_the_end_of_two_hundred_turns(how):
    """Said once among chatter, in whole sentences or as people type: in the summary or verbatim, all of them."""
    planted = iter(TALK[how])
    state, turns = make_state(), []
    for seq in range(1, 201):
        fact = next(planted, None) if seq % 6 == 3 else None
        chatter = TALK["chatter"][seq * 7 % len(TALK["chatter"])]
        user, assistant = (fact["said"], "Good to know.") if fact else (chatter["user"], chatter["assistant"])
        state = step(state, turns)
        turns.append(a_turn(seq, user, assistant))
        state = state.model_copy(update={"last_seq": seq})
        turns = verbatim(state, turns)
    packet = build(ContextInputs(state=state, history=turns, moment=Moment(now_ms=0)), BUDGET, COUNTER)
    text = " ".join(message.text for message in prompt(packet, "hello")).lower()

    assert state.compaction is not None
    assert [row["said"] for row in TALK[how] if not all(word.lower() in text for word in row["known"])] == []
