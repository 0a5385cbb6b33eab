"""The HTTP service as a client sees it: over a real socket, in front of a bot with a loopback Bot API and model."""

from __future__ import annotations

import asyncio
import json

import httpx
from loopback.model import Gate, ModelFault
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.meters.tracing import tracer_of
from memory.testing import ManualClock

DAY_S = 24 * 3600


async def say(client, message, *, key=None, **fields):
    """Send one message and return the response."""
    headers = {"Idempotency-Key": key} if key else {}
    return await client.post("/chat", json={"message": message, **fields}, headers=headers)


async def test_the_second_message_knows_the_first(served, model):
    """Two messages with one session id are one conversation: the model is given the first with the second (000)."""
    _, client = await served()

    first = (await say(client, "My dog is called Rex.")).json()
    second = await say(client, "What is my dog called?", session_id=first["session_id"])

    assert second.status_code == 200
    assert second.json()["reply"] == "You said: What is my dog called?"
    assert "My dog is called Rex." in str(model.requests[-1].messages)
    listed = (await client.get("/sessions")).json()["sessions"]
    assert [(one["turn_count"], one["current"]) for one in listed] == [(2, True)]


async def test_the_same_key_is_answered_once(served, model):
    """Sent again, also side by side, a message with its key gets the same answer and makes no second turn."""
    app, client = await served()

    answers = await asyncio.gather(*(say(client, "hello", session_id="shop", key="k1") for _ in range(4)))
    again = await say(client, "hello", session_id="shop", key="k1")

    assert len({answer.text for answer in [*answers, again]}) == 1
    assert app.joined.turns.answered == 1
    assert len(model.requests) == 1


async def test_a_key_belongs_to_its_message(served):
    """Another message under a used key is refused, and so is a key that no header can carry."""
    _, client = await served()
    await say(client, "hello", session_id="shop", key="k1")

    other = await say(client, "something else", session_id="shop", key="k1")
    odd = await say(client, "hello", session_id="shop", key="k 1")

    assert (other.status_code, odd.status_code) == (409, 422)
    assert other.headers["content-type"] == "application/problem+json"
    assert "used for another message" in other.json()["detail"]


async def test_an_answer_grows_as_events(served, model):
    """Whoever accepts events sees the answer grow and then whole."""
    model.reply = lambda _: "one two three"
    _, client = await served()

    response = await client.post("/chat", json={"message": "count"}, headers={"Accept": "text/event-stream"})

    events = [block.split("\n", 1) for block in response.text.strip().split("\n\n") if block.startswith("event: ")]
    assert events[-1][0] == "event: answer"
    assert json.loads(events[-1][1].removeprefix("data: "))["reply"] == "one two three"
    assert {name for name, _ in events[:-1]} <= {"event: growing"}


async def test_a_stored_answer_outlives_the_process(served):
    """After a restart the key still gives the stored answer, without the model."""
    first, client = await served()
    told = (await say(client, "hello", session_id="shop", key="k1")).json()
    await first.stop()

    second, client = await served()
    again = (await say(client, "hello", session_id="shop", key="k1")).json()

    assert again == told
    assert second.joined.turns.answered == 0


async def test_a_message_that_failed_is_tried_again_with_its_key(served, model):
    """When the model is down the client is told so; the same key, later, is answered."""
    _, client = await served()
    model.plant("server_error", times=None)
    down = await say(client, "hello", session_id="shop", key="k1")
    model.heal()

    up = await say(client, "hello", session_id="shop", key="k1")

    assert down.status_code == 503
    assert "Retry-After" in down.headers
    assert (up.status_code, up.json()["reply"]) == (200, "You said: hello")


async def test_a_new_conversation_is_offered_what_went_before(served):
    """In mode ask the client is asked after a long silence (001); its choice lets the message be answered."""
    clock = ManualClock()
    _, client = await served(clock, continuity_return_mode="ask", continuity_model="offline")
    for text in ("I need to call the landlord by Friday about the heating.", "I am renovating my kitchen in May."):
        await say(client, text, session_id="home")
    clock.advance(s=3 * DAY_S)

    asked = (await say(client, "hey", session_id="home", key="back")).json()
    preview = (await client.get("/continuity/preview", params={"session_id": "home"})).json()
    chosen = await client.post("/continuity/choice", json={"session_id": "home", "mode": "use"})
    answer = (await say(client, "hey", session_id="home", key="back")).json()

    assert asked["status"] == "asks"
    assert "landlord" in asked["reply"]
    assert "landlord" in preview["text"]
    assert chosen.json()["mode"] == "use"
    assert answer["status"] == "answered"


async def test_a_generation_can_be_asked_for(served):
    """`/continuity/refresh` makes it again and shows each arc with its score."""
    _, client = await served()
    await say(client, "I need to call the landlord by Friday about the heating.", session_id="home")

    made = (await client.post("/continuity/refresh", json={"session_id": "home"})).json()
    nobody = await client.post("/continuity/refresh", json={"session_id": "nobody"})

    assert [sorted(one) for one in made["arcs"]] == [["arc", "breakdown", "score"]] * len(made["arcs"])
    assert nobody.status_code == 404


async def test_nothing_is_told_without_the_token(served):
    """Without the token, or with another one of any characters, nothing but health is answered."""
    app, _ = await served()
    async with httpx.AsyncClient(base_url=app.http_url) as stranger:
        for path in ("/sessions", "/metrics", "/openapi.json", "/continuity/preview?session_id=x"):
            plain = await stranger.get(path)
            wrong = await stranger.get(path, headers={b"Authorization": "Bearer größer".encode()})
            assert (plain.status_code, wrong.status_code) == (401, 401), path
        said = await stranger.post("/chat", json={"message": "hello"})
        health = await stranger.get("/health")

    assert said.status_code == 401
    assert health.json() == {"status": "ok", "problems": []}
    assert app.joined.turns.answered == 0


async def test_one_session_is_shown_whole(served):
    """A session's page has its turns, state and what the model was given; an unknown id is a 404."""
    _, client = await served()
    await say(client, "hello", session_id="shop")
    session_id = (await client.get("/sessions")).json()["sessions"][0]["session_id"]

    page = (await client.get(f"/sessions/{session_id}", params={"packet": "true"})).json()
    missing = await client.get("/sessions/s_nothing")

    assert [turn["user_text"] for turn in page["turns"]] == ["hello"]
    assert page["state"]["turn_count"] == page["checkpoint"]["last_seq"] == 1
    assert len(page["context_snapshots"]) == 1
    assert page["packet"]["conversation_id"] == page["session"]["conversation_id"]
    assert missing.status_code == 404


async def test_metrics_tell_what_happened(served):
    """Turns, stages, commits and the state of the boxes are there for Prometheus."""
    app, client = await served()
    await say(client, "hello", session_id="shop")

    text = (await client.get("/metrics")).text

    assert "continuity_turns_total 1.0" in text
    for stage in ("queue", "packet", "model", "commit", "delivery"):
        assert f'continuity_turn_stage_seconds_count{{stage="{stage}"}} 1.0' in text
    shared = app.workspace().memory.db.shared  # its disk is the server's, and it has workers
    assert ('continuity_fsync_seconds_count{what="database"}' in text) is not shared
    assert ("continuity_worker_silent_seconds{worker=" in text) is shared
    assert 'continuity_model_calls_total{model="openai-chat:loopback",priced="no",purpose="answer"} 1.0' in text
    assert 'continuity_model_tokens_total{kind="output",model="openai-chat:loopback",purpose="answer"}' in text
    assert 'continuity_inbox_rows{state="done"} 1.0' in text
    assert "continuity_healthy 1.0" in text


async def test_refusals_of_the_model_are_counted(served, model):
    """A 429 that was tried again and then answered is one failure, by its kind."""
    _, client = await served()
    model.plant(ModelFault.TOO_MANY)
    await say(client, "hello", session_id="shop")

    text = (await client.get("/metrics")).text

    assert 'continuity_model_failures_total{kind="rate_limit",model="openai-chat:loopback"} 1.0' in text


async def test_a_turn_is_traced_without_a_word_of_it(served):
    """Its stages are its children; names and numbers are told, never what was said or answered."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    _, client = await served(tracer=tracer_of(provider))
    answer = (await say(client, "The codeword is zebrafish.", session_id="shop", name="Ana")).json()

    spans = {span.name: span for span in exporter.get_finished_spans()}
    turn = spans["turn"]
    assert set(spans) == {"turn", "packet", "model", "commit"}
    assert {span.parent.span_id for name, span in spans.items() if name != "turn"} == {turn.context.span_id}
    assert turn.attributes["continuity.turn_id"] == answer["turn_id"]
    assert turn.attributes["gen_ai.usage.output_tokens"] == answer["output_tokens"]
    told = " ".join(span.to_json() for span in spans.values())
    assert "zebrafish" not in told
    assert "Ana" not in told


async def test_what_is_said_over_http_never_reaches_telegram(served, api):
    """A chat over HTTP is no chat of Telegram: not one call is made for it."""
    _, client = await served()
    before = {call.method for call in api.calls}

    await say(client, "hello", session_id="shop")

    assert {call.method for call in api.calls} - before <= {"getUpdates", "setMyCommands"}


async def test_health_tells_of_a_loop_that_stood_still(served):
    """For half a minute, since nobody was answered meanwhile; what is usual on a busy machine is no fault."""
    app, client = await served()
    well = await client.get("/health")
    app._process.meters.woke_late(1.0)
    busy = await client.get("/health")
    app._process.meters.woke_late(12.0)
    stood = await client.get("/health")

    assert [answer.status_code for answer in (well, busy, stood)] == [200, 200, 503]
    assert stood.json()["problems"] == ["loop: the bot stood still for 12.0 s"]
    assert stood.json()["loop_lag_s"] == 12.0


async def test_a_key_stands_for_the_whole_request(served):
    """Whatever else is sent under a used key is refused, whole and as a stream; the first is still answered."""
    _, client = await served()
    body = {"message": "hello", "session_id": "shop"}
    headers = {"Idempotency-Key": "k1"}
    first = await client.post("/chat", json=body, headers=headers)
    for other in ({"message": "hell"}, {"message": "hello "}, {"message": "HELLO"}, {"name": "Ana"}, {"person": "p"}):
        refused = await client.post("/chat", json=body | other, headers=headers)
        streamed = await client.post("/chat", json=body | other, headers=headers | {"Accept": "text/event-stream"})

        assert refused.status_code == 409, other
        assert '"status":409' in streamed.text, other
    assert (await client.post("/chat", json=body, headers=headers)).json() == first.json()


async def test_a_key_without_a_session_names_one(served, model):
    """The same message sent twice begins one conversation; another one under the key is refused there, too."""
    _, client = await served()

    first, again = [(await say(client, "hello", key="k1")).json() for _ in range(2)]
    other = await say(client, "something else", key="k1")

    assert again == first
    assert other.status_code == 409
    assert len(model.requests) == 1


async def test_a_key_is_refused_while_its_message_is_being_answered(served, model):
    """Nobody waits for the answer to somebody else's message."""
    _, client = await served()
    model.gate = Gate()
    first = asyncio.create_task(say(client, "hello", session_id="shop", key="k1"))
    await model.until(lambda: model.requests)
    other = await say(client, "hello?", session_id="shop", key="k1")
    model.gate.open()

    assert other.status_code == 409
    assert (await first).status_code == 200
