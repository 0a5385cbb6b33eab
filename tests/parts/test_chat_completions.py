"""Answers from a server that speaks chat completions over a real socket: whole or none, however its bytes come."""

from __future__ import annotations

import asyncio
import json
import re

import pytest

from bot import replies
from bot.answers.one_model import ATTEMPTS
from bot.answers.wires import server

CUT = object()
"""The server drops the line here."""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
DONE = b"data: [DONE]\n\n"
USED = {"prompt_tokens": 30, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 10}}


def chunk(data: bytes) -> bytes:
    """Return one chunk of the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(delta, finish=None, **more) -> bytes:
    """Return one piece of the stream, its signs written as they are."""
    piece = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}
    return f"data: {json.dumps(piece, ensure_ascii=False)}\n\n".encode()


def says(text: str) -> bytes:
    """Return a whole answer."""
    return HEAD + chunk(event({"content": text})) + chunk(event({}, "stop", usage=USED)) + chunk(DONE) + END


def status(code: int) -> bytes:
    """Return a refusal."""
    return b"HTTP/1.1 %d No\r\nContent-Length: 2\r\n\r\n{}" % code


class Wire:
    """The server: each request gets the next script, the last one again and again. A script is bytes, events, `CUT`."""

    def __init__(self) -> None:
        self.scripts: list[list] = []
        self.requests: list[dict] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(re.search(rb"content-length: (\d+)", head.lower())[1])
                self.requests.append(json.loads(await reader.readexactly(length)))
                for step in self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]:
                    if step is CUT:
                        return
                    if isinstance(step, asyncio.Event):
                        await step.wait()
                    else:
                        writer.write(step)
                        await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.transport.abort()


@pytest.fixture
async def wire(monkeypatch):
    """Serve on a port of this machine, under the name that `openai-chat:` models are asked by."""
    made = Wire()
    running = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    yield made
    running.close()


@pytest.fixture
def asks(start, wire):
    """Offer a function that writes to a bot whose model follows these scripts, one for each request."""

    async def ask(*scripts, **settings):
        wire.scripts = [script if isinstance(script, list) else [script] for script in scripts]
        one = await start(continuity_model="openai-chat:m", continuity_memory_model="off", **settings)
        await one.take(1, "hello")
        await one.settled()
        return one

    return ask


async def test_an_answer_is_whole_however_its_bytes_come(asks, wire, screen):
    """One byte at a time, through signs of several bytes, lines that end in CRLF, a comment, a raw line separator."""
    text = "Grüße, 👋🏽 日本\u2028und mehr"
    stream = b": wait\r\n\r\n" + event({"content": text[:9]}) + event({"content": text[9:]}, usage=USED)
    stream += event({}, "stop", usage=USED).replace(b"\n", b"\r\n") + DONE
    one = await asks([HEAD, b"".join(chunk(bytes([byte])) for byte in stream) + END])

    assert screen.sent == [text]
    assert await one.rows("turn_figures", "input_tokens, output_tokens, cached_tokens") == [(30, 4, 10)]


@pytest.mark.parametrize("end", [event({}, "stop"), DONE], ids=["the reason", "the sign"])
async def test_one_end_of_the_stream_is_enough(asks, wire, screen, end):
    """Some servers leave out `[DONE]`, others the reason: with either the answer is whole."""
    await asks(HEAD + chunk(event({"content": "Good morning"})) + chunk(end) + END)

    assert screen.sent == ["Good morning"]
    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ([status(401)], ("why_refused", 1)),
        ([status(429)], ("why_busy", ATTEMPTS)),
        ([status(500)], ("why_busy", ATTEMPTS)),
        ([HEAD, chunk(event({"content": "Once upon"})), CUT], ("why_broken", ATTEMPTS)),
        ([HEAD + chunk(event({"content": "Once upon"})) + END], ("why_broken", ATTEMPTS)),
        ([HEAD + chunk(b"<html>log in</html>\n") + END], ("why_broken", ATTEMPTS)),
        ([HEAD + chunk(b'data: {"error": {"message": "full"}}\n\n') + END], ("why_busy", ATTEMPTS)),
    ],
    ids=["401", "429", "500", "cut", "no end", "a page", "an error inside"],
)
async def test_what_lasts_is_said_and_nothing_half_is_kept(asks, wire, screen, script, told):
    """The person learns why, once, and the message waits for [Try again]."""
    why, times = told
    one = await asks(script)

    assert screen.sent == [replies.say("model_down", why=replies.say(why))]
    assert len(wire.requests) == times
    assert await one.rows("conversation_turns", "turn_id") == []
    assert await one.rows("inbox", "state") == [("parked",)]


@pytest.mark.parametrize(
    "hiccup", [[status(429)], [status(503)], [HEAD, chunk(event({"content": "Once"})), CUT], [CUT]]
)
async def test_what_passes_is_not_worth_a_word(asks, wire, screen, hiccup):
    """Refused or cut off once, it is asked again; the answer stands there once and whole."""
    await asks(hiccup, says("Good morning"))

    assert screen.sent == ["Good morning"]
    assert len(wire.requests) == 2


WRONG = [
    b'{"choices": [null]}', b'{"choices": {"0": 1}}', b'{"choices": [{"delta": "Hi"}]}', b"[]", b"5", b"{",
    b'{"choices": [{"delta": {"content": 5}}]}', b'{"choices": [{"delta": {"tool_calls": [null]}}]}',
    b'{"choices": [{"delta": {"tool_calls": [{"index": [], "function": "x"}]}}]}',
    b'{"choices": [{"delta": {"content": "\xff"}}]}', b'{"x": "' + b"x" * server.LINE_MAX_BYTES,
]  # fmt: skip


async def test_pieces_of_another_shape_are_said_and_put_nothing_aside(asks, wire, screen):
    """Whatever stands in a piece, the person is told that the answer makes no sense, and may try again."""
    one = await asks(*([HEAD, chunk(b"data: " + piece + b"\n\n") + END] for piece in WRONG))
    for number in range(2, len(WRONG) + 1):
        await one.take(number, "hello")
        await one.settled()

    assert screen.sent == [replies.say("model_down", why=replies.say("why_garbage"))] * len(WRONG)
    assert set(await one.rows("inbox", "state")) == {("parked",)}


async def test_a_first_byte_that_is_late_is_waited_for(asks, wire, screen):
    """Nothing comes for a while, then all of it; the words that come first are shown as they come."""
    first, rest = asyncio.Event(), asyncio.Event()
    writing = asyncio.create_task(
        asks([first, HEAD, chunk(event({"content": "Good "})), rest, *[says("morning")[len(HEAD) :]]])
    )
    await screen.until(lambda: screen.of("send_chat_action") or screen.of("send_message_draft"))
    first.set()
    await screen.until(lambda: [each for each in screen.of("send_message_draft") if "Good" in each["text"]])
    rest.set()
    await writing

    assert screen.sent == ["Good morning"]


async def test_a_first_byte_that_never_comes_is_said(asks, wire, screen):
    """After the time that the settings give it the person is told."""
    await asks([asyncio.Event()], continuity_model_timeout_s=1)

    assert screen.sent == [replies.say("model_down", why=replies.say("why_timeout"))]


async def test_a_tool_that_is_called_in_pieces_is_called_once(asks, wire, screen):
    """Its name first, its arguments bit by bit: the reminder is stored with the answer that was made of its result."""
    arguments = json.dumps({"text": "Call Ana", "at": "2023-11-15T09:00"})
    begun = {"index": 0, "id": "c_1", "type": "function", "function": {"name": "remind", "arguments": ""}}
    bits = [{"index": 0, "function": {"arguments": arguments[at : at + 5]}} for at in range(0, len(arguments), 5)]
    calls = [event({"tool_calls": [call]}) for call in (begun, *bits)]
    one = await asks([HEAD, *map(chunk, calls), chunk(event({}, "tool_calls")), chunk(DONE), END], says("I will."))

    assert screen.sent == ["I will."]
    assert await one.rows("notes", "text, rings_from") == [("Call Ana", "2023-11-15T09:00")]
    called, returned = wire.requests[1]["messages"][-2:]
    assert json.loads(called["tool_calls"][0]["function"]["arguments"])["text"] == "Call Ana"
    assert (returned["role"], returned["tool_call_id"]) == ("tool", "c_1")


async def test_numbers_that_cannot_be_are_not_billed(asks, wire):
    """Tokens below nothing, beyond the database, or in words count as none."""
    told = {"prompt_tokens": -5, "completion_tokens": 10**30, "prompt_tokens_details": "many"}
    one = await asks(HEAD + chunk(event({"content": "Hi"}, "stop", usage=told)) + chunk(DONE) + END)

    assert await one.rows("turn_figures", "input_tokens, output_tokens, cached_tokens") == [(0, 0, 0)]


async def test_the_next_question_goes_over_the_same_connection(asks, wire, screen):
    """An answer that was read to its end leaves its connection to the next one."""
    one = await asks(says("one"))
    await one.take(2, "again")
    await one.settled()

    assert (screen.sent, wire.connections) == (["one", "one"], 1)


async def test_a_stream_that_stays_open_behind_its_end_holds_nobody_up(asks, wire, screen, monkeypatch):
    """The answer is shown; its connection is given up."""
    monkeypatch.setattr(server, "DRAIN_S", 0.01)
    await asks([says("one").removesuffix(END), asyncio.Event()])

    assert screen.sent == ["one"]


async def test_a_character_that_two_pieces_share_is_one(asks, wire, screen):
    """A server that cuts its stream by code units parts an emoji: it arrives whole."""
    halves = (rf'data: {{"choices": [{{"delta": {{"content": "{half}"}}}}]}}' for half in (r"hi \ud83d", r"\ude00!"))
    await asks([HEAD, *(chunk(f"{half}\n\n".encode()) for half in halves), chunk(event({}, "stop")), chunk(DONE), END])

    assert screen.sent == ["hi \U0001f600!"]


@pytest.mark.parametrize("odd", [r"a\u0000b", r"ab\ud83d", r"\ude00ab"], ids=["NUL", "a first half", "a second half"])
async def test_what_no_database_takes_is_cleaned_out_of_an_answer(asks, wire, screen, odd):
    """NUL, and halves without their other one: the answer is kept as a person's words are, and asked for once."""
    piece = f'data: {{"choices": [{{"delta": {{"content": "{odd}"}}}}]}}\n\n'
    one = await asks([HEAD, chunk(piece.encode()), chunk(event({}, "stop")), chunk(DONE), END])

    assert [sent.replace("\ufffd", "") for sent in screen.sent] == ["ab"]
    assert await one.rows("conversation_turns", "assistant_text") == [(screen.sent[0],)]
    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    "delta", [{"content": "x" * 1000}, {"reasoning_content": "y" * 1000}], ids=["text", "thoughts"]
)
async def test_an_answer_without_an_end_is_ended(asks, wire, screen, delta, monkeypatch):
    """A model that never stops, whatever it says: the person hears so, and it is not asked again."""
    monkeypatch.setattr(server, "ANSWER_MAX_BYTES", 500_000)
    await asks([HEAD, *[chunk(event(delta))] * 2000, chunk(event({}, "stop")), chunk(DONE), END])

    assert screen.sent == [replies.say("model_down", why=replies.say("why_too_long"))]
    assert len(wire.requests) == 1
