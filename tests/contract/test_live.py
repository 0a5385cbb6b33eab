"""`doctor --live`: what is set is tried for real, and each failure says what to do."""

from __future__ import annotations

import pytest
from loopback.model import LoopbackModel, ModelFault, ToolCall
from pydantic import SecretStr

from bot.ops.checks.live import clock, failed, models_of, token_check, try_out
from bot.playground.bot_api.server import LoopbackBotApi
from bot.settings import Settings

NOON_MS = 1_780_000_000_000


def echoing(messages):
    """A model that calls the tool, and answers with what it returned."""
    if messages[-1]["role"] == "tool":
        return f"{messages[-1]['content']}."
    return [ToolCall("echo", {"word": "continuity"})]


@pytest.fixture
async def model(monkeypatch):
    async with LoopbackModel(reply=echoing, strict=True) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.removesuffix("/v1"))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-loopback")
        yield server


@pytest.fixture
async def tried(model):
    """Offer a function that tries settings; return the checks by id, models by their names."""

    async def attempt(**settings):
        async with LoopbackBotApi() as api:
            given = {"telegram_bot_token": SecretStr(api.token), "telegram_api_url": api.url}
            found = await try_out(Settings(_env_file=None, **(given | settings)))
        names = models_of(Settings(_env_file=None, **(given | settings)))
        keys = ["live.token", *names, "live.timezone"]
        return dict(zip(keys, found, strict=True))

    return attempt


async def test_everything_that_is_set_is_tried_once(tried, model):
    """The bot's name, a round trip of a tool over each provider with its tokens, the clock."""
    found = await tried(
        continuity_model="openai:m",
        continuity_models="deep=anthropic:deep, chat=openai-chat:c",
        continuity_memory_model="deep",
    )

    assert not failed(list(found.values()))
    assert "@" in found["live.token"].says
    assert list(found)[1:-1] == ["openai:m", "anthropic:deep", "openai-chat:c"]
    assert all("called a tool and answered" in found[name].says for name in list(found)[1:-1])
    assert len(model.requests) == 6


@pytest.mark.parametrize(
    ("reply", "level", "says"),
    [
        (lambda _: "hello", "warn", "called no tool"),
        (lambda _: [ToolCall("other", {})], "warn", "called no tool"),
        (lambda m: "hm" if m[-1]["role"] == "tool" else echoing(m), "warn", "without the result"),
    ],
)
async def test_a_model_that_cannot_use_tools_is_told_apart(tried, model, reply, level, says):
    """It answers, and would still note nothing and set no reminder."""
    model.reply = reply
    check = (await tried(continuity_model="openai-chat:m"))["openai-chat:m"]

    assert check.level == level
    assert says in check.says
    assert check.do


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (ModelFault.TOO_MANY, "busy, or the account is empty"),
        (ModelFault.SERVER_ERROR, "answered 500"),
        (ModelFault.GARBAGE, "no whole answer"),
    ],
)
async def test_a_model_that_fails_says_what_to_do(tried, model, fault, says):
    """Nothing is raised, and no word of a request is repeated."""
    model.plant(fault, times=None)
    check = (await tried(continuity_model="anthropic:m"))["anthropic:m"]

    assert (check.level, bool(check.do)) == ("fail", True)
    assert says in check.says
    assert "echo" not in check.says


async def test_a_missing_key_and_a_dead_address_are_said(tried, monkeypatch):
    """By the name of the variable that is to be set."""
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    missing = (await tried(continuity_model="openai:m"))["openai:m"]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    dead = await tried(continuity_model="openai:m", telegram_api_url="http://127.0.0.1:9")

    assert "OPENAI_API_KEY" in missing.do
    assert "base URL" in dead["openai:m"].do
    assert "could not be reached" in dead["live.token"].says


@pytest.mark.parametrize(
    ("status", "body", "level"),
    [
        (200, b'{"ok":true,"result":{"username":"my_bot"}}', "ok"),
        (401, b'{"ok":false,"description":"Unauthorized"}', "fail"),
        (502, b"<html>", "fail"),
    ],
)
def test_telegrams_answer_is_judged(status, body, level):
    """A refused token says where to copy it again."""
    check = token_check(status, body)
    assert check.level == level
    assert bool(check.do) == (level == "fail")


def test_the_clock_says_what_time_it_is(monkeypatch):
    """A machine that lives by another clock is worth a look."""
    monkeypatch.setenv("TZ", "UTC")
    assert clock("UTC", NOON_MS).level == "ok"
    assert "Asia/Tokyo" in clock("Asia/Tokyo", NOON_MS).says
