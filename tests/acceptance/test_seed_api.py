"""The acceptance lines of 000 and 001 that speak of the API, line by line: each test names the line that it shows.

000, acceptance criteria:
1. Two messages with the same `session_id` to `POST /chat`: the second response is aware of the first.
2. Conversation history loaded from the database matches what was persisted (no duplication, correct order).
3. A 100-message conversation is truncated to fit the token budget.
4. Truncation preserves the most recent messages and inserts a marker for dropped messages.
5. The configuration fields (messages of history, tokens of context) are respected.
6. Telemetry logs context loading metrics (messages loaded, truncated, estimated tokens).
7. Existing single-turn behaviour is unchanged.
8. Short history, long history, empty and a single message (in depth: `tests/unit/test_context_builder.py`).
001, API and validation checklist:
9. `GET /continuity/preview` offers it in "carry forward" words, with fresh as good a choice.
10. `POST /continuity/choice`: use injects, off injects nothing; taken before the first assistant message.
11. The choice can be remembered and the preview skipped.
12. `POST /continuity/refresh` makes it again; the internal packet always ends with its guardrails; scores are shown.
"""

from __future__ import annotations

import logging

import pytest

from memory.context.tokens import TiktokenCounter
from memory.context.transcript import truncation_marker
from memory.ledger.types import Actor, Add
from memory.testing import ManualClock, make_exchange

HOME = "home"
MARKER = truncation_marker(0).partition(":")[0]
GUARDRAIL = "Do not quote, paraphrase, or summarize this content to the user."


async def say(client, text: str, session: str = HOME, **fields) -> dict:
    """Send one message and return the answer."""
    answer = await client.post("/chat", json={"session_id": session, "message": text, **fields})
    assert answer.status_code == 200, answer.text
    return answer.json()


def given(model) -> list[tuple[str, str]]:
    """Return the conversation that the model was given last, without the instructions."""
    return [message for message in model.requests[-1].messages if message[0] != "system"]


async def the_session(app, client) -> str:
    """Return the id of the latest session."""
    return (await client.get("/sessions")).json()["sessions"][0]["session_id"]


async def long_talk(app, client, turns: int, words: int) -> str:
    """Let a conversation have so many turns more, as if they had been said; return its session."""
    session_id = await the_session(app, client)
    row = await app.services.memory.store.session(session_id)
    for number in range(2, turns + 1):
        exchange = make_exchange(
            turn_id=f"t_long_{number}", session_id=session_id, conversation_id=row.conversation_id, user_id=row.user_id,
            user_text=f"question {number} " + "word " * words, assistant_text=f"answer {number}",
            created_at_ms=app.services.clock.now_ms(),
        )  # fmt: skip
        await app.services.memory.recorder.record(exchange, None)
    return session_id


async def test_line_1_the_second_response_is_aware_of_the_first(served, model):
    """The model sees the first message and its answer when it is asked the second."""
    _, client = await served()
    await say(client, "My dog is called Rex.")
    await say(client, "What is my dog called?")

    first, answer = [text for _, text in given(model)[:2]]
    assert first.endswith("] My dog is called Rex.")
    assert answer == "You said: My dog is called Rex."


async def test_line_2_what_is_loaded_is_what_was_stored(served, model):
    """Every turn once, in order, also after a restart's worth of forgetting what was in memory."""
    app, client = await served()
    said = [f"sentence number {number}" for number in range(6)]
    for text in said:
        await say(client, text)
    app.services.memory.assembler.clear_cache()
    await say(client, "last")

    stored = (await client.get(f"/sessions/{await the_session(app, client)}")).json()["turns"]
    users = [text for role, text in given(model) if role == "user"]
    assert [text.partition("] ")[2] for text in users[:-1]] == said == [turn["user_text"] for turn in stored[:-1]]
    assert [turn["seq"] for turn in stored] == list(range(1, 8))


async def test_lines_3_and_4_a_long_conversation_fits_and_says_what_it_lacks(served, model):
    """Of 100 messages the newest are there whole, the prompt keeps to its cap, and a marker stands for the others."""
    app, client = await served()
    await say(client, "question 1")
    session_id = await long_talk(app, client, 50, words=120)
    await say(client, "and now?")

    messages = given(model)
    counter = TiktokenCounter()
    shown = (await client.get(f"/sessions/{session_id}")).json()["context_snapshots"][0]
    assert sum(counter.count(text) for _, text in messages) < app.settings.continuity_context_tokens
    assert shown["total_tokens"] <= app.settings.continuity_context_tokens
    assert shown["messages_truncated"] > 0
    assert sum(MARKER in text for _, text in messages) == 1
    assert messages[-2][1] == "answer 50"
    assert "] question 50 " in messages[-3][1]
    assert not any("question 2 " in text for role, text in messages[1:] if role == "user")


@pytest.mark.parametrize("settings", [{"continuity_max_history_messages": 8}, {"continuity_history_tokens": 300}])
async def test_line_5_the_settings_are_respected(served, model, settings):
    """So many messages, or so many tokens, and no more."""
    app, client = await served(**settings)
    await say(client, "question 1")
    session_id = await long_talk(app, client, 12, words=100)
    await say(client, "and now?")

    whole = [text for role, text in given(model)[:-1] if role == "assistant"]
    shown = (await client.get(f"/sessions/{session_id}")).json()["context_snapshots"][0]
    assert whole[-1] == "answer 12"
    assert len(whole) == shown["message_history_count"] <= app.settings.continuity_max_history_messages // 2
    assert 0 < shown["message_history_tokens"] <= app.settings.continuity_history_tokens
    assert shown["messages_truncated"] == 12 - len(whole) > 0


async def test_line_6_it_is_told_how_much_was_loaded_and_cut(served, caplog):
    """In the log and in the session's snapshots: turns, how many were left out, tokens."""
    app, client = await served(continuity_max_history_messages=8)
    await say(client, "question 1")
    session_id = await long_talk(app, client, 12, words=5)
    with caplog.at_level(logging.INFO, logger="memory.context.assembler"):
        await say(client, "and now?")

    shown = (await client.get(f"/sessions/{session_id}")).json()["context_snapshots"][0]
    *_, told = [record for record in caplog.records if record.getMessage() == "conversation context loaded"]
    assert (told.total_messages, told.messages_loaded) == (24, 2 * shown["message_history_count"])
    assert told.messages_truncated == 2 * shown["messages_truncated"]
    assert told.estimated_tokens == shown["total_tokens"]
    assert shown["messages_truncated"] == 12 - shown["message_history_count"] > 0
    assert shown["message_history_tokens"] > 0


async def test_lines_7_and_8_a_single_message_is_answered_as_ever(served, model):
    """Without a history there is the message alone: no marker, nothing invented, a session of its own."""
    _, client = await served()
    answer = (await client.post("/chat", json={"message": "hello"})).json()
    other = (await client.post("/chat", json={"message": "hello"})).json()

    assert answer["reply"] == "You said: hello"
    assert answer["session_id"] != other["session_id"]
    assert [role for role, _ in given(model)] == ["user"]
    assert MARKER not in given(model)[0][1]


async def noted(app, client, kind: str, text: str, **fields) -> None:
    """Note something in the latest session, as the person's own hand does."""
    services = app.services
    row = await services.memory.store.session(await the_session(app, client))
    fields |= {"session_id": row.session_id, "user_id": row.user_id}
    add = Add(kind=kind, text=text, note_id=services.ids.new("n"), fields=fields)
    await services.memory.change(row.conversation_id, [add], Actor("person", services.clock.now_ms(), "test"))


async def a_new_conversation(served, **settings):
    """Return a bot that is asked something three days after it was told something, and the answer."""
    clock = ManualClock()
    app, client = await served(clock, **({"continuity_return_mode": "ask"} | settings))
    for text in ("I need to call the landlord by Friday about the heating.", "I am renovating my kitchen in May."):
        await say(client, text)
    await noted(app, client, "task", "Call the landlord about the heating", owner="user")
    await noted(app, client, "project", "The kitchen is renovated in May")
    clock.advance(s=3 * 86_400)
    answer = await client.post(
        "/chat", json={"session_id": HOME, "message": "hey"}, headers={"Idempotency-Key": "back"}
    )
    return app, client, clock, answer.json()


async def answered(client) -> dict:
    """Return the answer to the message that waited."""
    answer = await client.post(
        "/chat", json={"session_id": HOME, "message": "hey"}, headers={"Idempotency-Key": "back"}
    )
    return answer.json()


async def test_line_9_the_preview_offers_to_carry_forward(served):
    """Arcs in words of their own, and fresh is fine too."""
    _, client, _, asked = await a_new_conversation(served)
    preview = (await client.get("/continuity/preview", params={"session_id": HOME})).json()

    assert asked["status"] == "asks"
    assert "carry forward this context" in preview["text"]
    assert "landlord" in preview["text"]
    assert "start fresh" in preview["text"]
    assert (preview["offer"], preview["mode"]) == ("ask", "ask")


@pytest.mark.parametrize(("mode", "injected"), [("use", True), ("off", False)])
async def test_line_10_it_is_injected_only_when_chosen(served, model, mode, injected):
    """From the first answer on in mode use, the same in every turn; with off nothing of before is told."""
    _, client, _, _ = await a_new_conversation(served)
    await client.post("/continuity/choice", json={"session_id": HOME, "mode": mode})
    await answered(client)
    first = [text for _, text in model.requests[-1].messages]
    await say(client, "and then?")
    second = [text for _, text in model.requests[-1].messages]

    assert (GUARDRAIL in first[0], "landlord" in first[1]) == (injected, injected)
    assert (GUARDRAIL in second[0], "landlord" in second[1]) == (injected, injected)


async def test_line_11_the_choice_is_remembered(served):
    """Chosen once for good, without a preview: the next conversation is answered at once."""
    _, client, clock, _ = await a_new_conversation(served)
    chosen = {"session_id": HOME, "mode": "use", "remember": True, "skip_preview": True}
    await client.post("/continuity/choice", json=chosen)
    await answered(client)
    clock.advance(s=3 * 86_400)
    later = await say(client, "hey again")
    preview = (await client.get("/continuity/preview", params={"session_id": HOME})).json()

    assert later["status"] == "answered"
    assert (preview["mode"], preview["skip_preview"]) == ("use", True)


async def test_line_12_it_is_made_again_with_its_guardrails_and_scores(served):
    """The packet ends with the instructions to use it subtly; each arc shows what its score is made of."""
    _, client, _, _ = await a_new_conversation(served)
    made = (await client.post("/continuity/refresh", json={"session_id": HOME})).json()

    assert made["internal_packet"].rstrip().endswith(GUARDRAIL)
    assert made["arcs"]
    scores = [arc["score"] for arc in made["arcs"]]
    assert scores == sorted(scores, reverse=True)
    assert all(arc["breakdown"] for arc in made["arcs"])
