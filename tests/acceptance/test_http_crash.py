"""A client of the HTTP service whose bot is killed: the key of its message brings the answer, once."""

from __future__ import annotations

import json

import httpx
import pytest
from loopback.model import Gate

from bot.playground.keeper import free_port

TOKEN = "a-token-for-the-tests"


async def read_until_killed(client, message, model, bot):
    """Read the stream of an answer and kill the bot when it begins to grow."""
    async with client.stream("POST", "/chat", json=message, headers={"Accept": "text/event-stream"}) as half:
        model.gate.let(2)
        async for line in half.aiter_lines():
            if line.startswith("event: growing"):
                await bot.kill()


@pytest.mark.sweep
async def test_a_kill_in_mid_stream_is_made_good_by_the_key(bot_process, model, api):
    """Killed -9 while the answer streams, the bot answers the same key after the restart: one turn, and whole."""
    port = free_port()
    model.gate = Gate()
    bot = await bot_process(CONTINUITY_HTTP_PORT=str(port), CONTINUITY_HTTP_TOKEN=TOKEN)
    headers = {"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": "k1"}
    message = {"session_id": "shop", "message": "one two three"}

    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
        with pytest.raises(httpx.HTTPError):
            await read_until_killed(client, message, model, bot)
        model.gate.open()
        await bot.start()
        answer = (await client.post("/chat", json=message)).json()
        again = (await client.post("/chat", json=message)).json()
        sessions = (await client.get("/sessions")).json()["sessions"]

    assert answer["reply"] == "You said: one two three"
    assert json.dumps(again) == json.dumps(answer)
    assert [one["turn_count"] for one in sessions] == [1]
    assert len(model.requests) == 2
