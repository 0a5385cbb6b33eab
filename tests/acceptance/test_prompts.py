"""What the model was given for an old answer: proven to be the same, or the reason why it isn't shown."""

from __future__ import annotations

import json

import pytest
from loopback.model import ToolCall

from bot.joining.upkeep import purge
from bot.ops.records.prompts import read_prompt
from bot.ops.screens.notes import prompt_as_json
from memory.context.transcript import NO_REPLY
from memory.errors import StorageUnavailable
from memory.privacy.plan import ForgetRequest
from memory.testing import ManualClock

DAY_S = 86_400


async def say(client, text: str, session: str = "home") -> str:
    """Say something and return the turn's id."""
    return (await client.post("/chat", json={"session_id": session, "message": text})).json()["turn_id"]


def words(prompt) -> str:
    """Return everything that a prompt says."""
    return "\n".join((prompt.instructions, prompt.bootstrap, *(message.text for message in prompt.messages)))


async def test_the_prompt_of_an_old_answer_is_what_the_model_got(served, model):
    """Message by message what came over the line, also when more was said since."""
    app, client = await served()
    await say(client, "My dog is called Rex.")
    turn_id = await say(client, "What is my dog called?")
    asked = model.requests[-1].messages
    for text in ("And my cat is called Tom.", "Thanks!"):
        await say(client, text)

    seen = await read_prompt(app.workspace(), turn_id)

    assert (seen.is_exact, seen.why) == (True, "")
    system, *messages = asked
    assert "\n\n".join(filter(None, (seen.prompt.instructions, seen.prompt.bootstrap))) == system[1]
    assert [(message.role, message.text) for message in seen.prompt.messages] == [
        tuple(message) for message in messages
    ]
    assert "remind" in seen.prompt.tools


async def test_what_followed_calls_of_tools_is_kept_as_it_was_sent(served, model):
    """The prompt of the last request, to the letter: every call and return, and what a wrong call was told."""
    app, client = await served()
    noted = ToolCall("note", {"text": "My dog is called Rex", "kind": "fact"}, "call_1")
    wrong = ToolCall("note", {"kind": "nonsense"}, "call_2")
    calls = iter(([noted, wrong], [ToolCall("search", {"query": "dog"}, "call_3")], "All done."))
    model.reply = lambda _: next(calls)

    turn_id = await say(client, "My dog is called Rex, please note that.")

    seen = await read_prompt(app.workspace(), turn_id)
    assert (seen.is_exact, seen.why) == (True, "")
    sent = model.requests[-1].body["messages"][1:]
    kept = [each for message in (*seen.prompt.messages, *seen.prompt.steps) for each in as_sent(message)]
    assert kept == [
        (m["role"], m.get("content") or "", [c["function"]["name"] for c in m.get("tool_calls") or []]) for m in sent
    ]
    assert [message.role for message in seen.prompt.steps] == ["assistant", "tool", "tool", "assistant", "tool"]
    assert "Rex" in json.dumps(prompt_as_json(seen)["prompt"]["steps"])


def as_sent(message):
    """Yield a message of a prompt as role, text and the names of calls."""
    if message.role == "tool":
        yield from (("tool", call.result, []) for call in message.tool_calls)
    else:
        yield message.role, message.text, [call.name for call in message.tool_calls]


async def test_a_long_turn_that_was_shortened_is_kept_as_it_was_shown(served):
    """A turn that the prompt had to abridge can't be taken from the log: it is kept itself."""
    app, client = await served(continuity_history_tokens=200)
    await say(client, "word " * 900)
    turn_id = await say(client, "short")

    seen = await read_prompt(app.workspace(), turn_id)

    assert seen.is_exact
    assert 0 < words(seen.prompt).count("word ") < 300


async def test_what_was_forgotten_is_in_no_prompt(served):
    """Forgetting one message lets go of every prompt of the conversation, and of no other's."""
    app, client = await served()
    forgotten = await say(client, "The codeword is zebrafish.")
    later, elsewhere = await say(client, "What is the codeword?"), await say(client, "hello", session="other")
    row = await app.services.memory.store.turn(later)
    await app.joined.memory.forget(ForgetRequest(row.conversation_id, turn_ids=(forgotten,)))

    seen, other = await read_prompt(app.workspace(), later), await read_prompt(app.workspace(), elsewhere)

    assert seen.prompt is None
    assert "forgotten" in seen.why
    assert other.is_exact
    assert await app.services.db.read_one("prompt_of_turn", turn_id=forgotten) is None


async def test_a_changed_log_is_told(served, tmp_path):
    """A prompt that can't be said again as it was is shown as not exact, with the reason."""
    app, client = await served()
    first = await say(client, "My dog is called Rex.")
    turn_id = await say(client, "What is my dog called?")
    turn = await app.services.memory.store.turn(first)
    app.services.memory.assembler.clear_cache()
    real = app.services.memory.store.turns

    async def altered(wanted):
        other = turn.model_copy(update={"assistant_text": NO_REPLY})
        return [other if found.turn_id == turn.turn_id else found for found in await real(wanted)]

    app.joined.memory.store.turns = altered
    seen = await read_prompt(app.workspace(), turn_id)
    app.joined.memory.store.turns = real

    assert not seen.is_exact
    assert "altered" in seen.why


@pytest.mark.parametrize(("days", "why"), [(0, "not kept"), (30, "older than 30 days")])
async def test_prompts_are_kept_as_long_as_the_setting_says(served, days, why):
    """After that time, or with 0, there is nothing to look at, and the page says why."""
    clock = ManualClock()
    app, client = await served(clock, continuity_prompts_days=days)
    turn_id = await say(client, "hello")
    clock.advance(s=31 * DAY_S)
    await purge(app.services)

    seen = await read_prompt(app.workspace(), turn_id)

    assert seen.prompt is None
    assert why in seen.why
    assert await app.services.db.read("prompt_of_turn", turn_id=turn_id) == []


async def test_an_answer_that_was_stored_late_keeps_no_prompt(served, model):
    """What was forgotten while the disk refused may stand in its prompt: the answer is stored, the prompt is not."""
    app, client = await served(continuity_storage_patience_s=0.1)
    recorder, real = app.services.memory.recorder, app.services.memory.recorder.record

    async def refused(*_, **__):
        raise StorageUnavailable("the disk is full")

    recorder.record = refused
    said = {"session_id": "home", "message": "hello"}
    late = await client.post("/chat", json=said, headers={"Idempotency-Key": "k"})
    recorder.record = real
    answer = (await client.post("/chat", json=said, headers={"Idempotency-Key": "k"})).json()

    seen = await read_prompt(app.workspace(), answer["turn_id"])

    assert late.status_code == 503
    assert (answer["reply"], len(model.requests)) == ("You said: hello", 1)
    assert seen.prompt is None
