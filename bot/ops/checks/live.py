"""`doctor --live`: token, key, model, tools and clock tried for real, each once, and the remedy where one fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final

import orjson
from telegram.error import NetworkError

from bot.answers.cost import Usage, spent_of
from bot.answers.errors import ModelError
from bot.answers.loop import reply_to
from bot.answers.wires.port import GrowingReply, Round, Wire, WireRequest
from bot.answers.wires.providers import wire_to
from bot.intake.telegram_request import TelegramRequest
from bot.meters.spent import NANODOLLARS
from bot.ops.checks.check import Check
from bot.ops.checks.setup import PROVIDER_KEYS
from bot.settings import OFFLINE, Settings
from memory.clock import SystemClock
from memory.context.transcript import PromptMessage
from memory.types import ToolCall
from memory.zones import zone_of

PATIENCE_S: Final = 60.0
"""A model or Telegram that says nothing for so long has failed."""
WORD: Final = "continuity"
RULES: Final = "This tests a connection. Call tools as you are told, then answer in one word."
REQUEST: Final = f"Call the tool echo with the word {WORD}, then answer with the word that it returned."
ECHO: Final = {
    "type": "function",
    "function": {
        "name": "echo",
        "description": "Returns a word.",
        "parameters": {
            "type": "object",
            "properties": {"word": {"type": "string"}},
            "required": ["word"],
            "additionalProperties": False,
        },
    },
}


async def try_out(settings: Settings) -> list[Check]:
    """Try the bot's token, each model that the settings name, and the clock. Never raises."""
    found = await asyncio.gather(_token(settings), *(_model(settings, model) for model in models_of(settings)))
    return [*found, clock(settings.continuity_timezone, SystemClock().now_ms())]


def models_of(settings: Settings) -> list[str]:
    """Return the id of each model that the settings name, once."""
    names = settings.models
    behind = (settings.continuity_memory_model, settings.continuity_summary_model)
    ids = [*(each.model for each in names.all), *(names.id_of(each) for each in behind if each and each != "off")]
    return [model for model in dict.fromkeys(ids) if model != OFFLINE]


# --- Telegram ---------------------------------------------------------------------------------------------------------


async def _token(settings: Settings) -> Check:
    token = settings.telegram_bot_token
    if token is None:
        return Check("live.token", "warn", "there is no token to try", "set TELEGRAM_BOT_TOKEN, as @BotFather gives it")
    request = TelegramRequest(connections=1, read_timeout_s=PATIENCE_S, pool_timeout_s=PATIENCE_S)
    await request.initialize()
    try:
        url = f"{settings.telegram_api_url.rstrip('/')}/bot{token.get_secret_value()}/getMe"
        status, body = await request.do_request(url, "GET")
    except NetworkError:
        do = "check the network, HTTPS_PROXY and TELEGRAM_API_URL"
        return Check("live.token", "fail", f"{settings.telegram_api_url} could not be reached", do)
    finally:
        await request.shutdown()
    return token_check(status, body)


def token_check(status: int, body: bytes) -> Check:
    """Judge Telegram's answer to getMe."""
    try:
        told = orjson.loads(body)
        name = told["result"]["username"] if told["ok"] else ""
    except (orjson.JSONDecodeError, LookupError, TypeError):
        name = ""
    if status == HTTPStatus.OK and name:
        return Check("live.token", "ok", f"Telegram knows the bot as @{name}")
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND}:
        do = "copy it again from @BotFather (/mybots, API Token) into TELEGRAM_BOT_TOKEN"
        return Check("live.token", "fail", "Telegram refuses the token", do)
    return Check("live.token", "fail", f"Telegram answered {status}", "try again in a minute")


# --- models -----------------------------------------------------------------------------------------------------------


async def _model(settings: Settings, model: str) -> Check:
    """Let a model call a tool and answer with its result."""
    began_s, usage = time.perf_counter(), Usage()
    try:
        wire = await wire_to(model, listed=model not in settings.prices)
        try:
            async with asyncio.timeout(PATIENCE_S):
                called, text = await _round_trip(wire, usage)
            usage.cost = await wire.price(usage)
        finally:
            await wire.close()
    except (ModelError, TimeoutError, ImportError) as exc:
        return failure(model, exc)
    took = f"in {time.perf_counter() - began_s:.1f} s"
    if not called:
        do = "take a model that calls tools: without them it notes nothing and sets no reminder"
        return Check("live.model", "warn", f"{model} answered {took}, but called no tool", do)
    if WORD not in text.lower():
        do = "take a better model: it called a tool and did not use what that returned"
        return Check("live.model", "warn", f"{model} answered {took} without the result of its tool", do)
    spent = spent_of(model, "answer", usage, settings.prices)
    cost = spent.cost_nanodollars
    price = "no known price (CONTINUITY_PRICES)" if cost is None else f"${cost / NANODOLLARS:.5f}"
    return Check("live.model", "ok", f"{model} called a tool and answered {took}: {spent.tokens} tokens, {price}")


async def _round_trip(wire: Wire, usage: Usage) -> tuple[bool, str]:
    """Return whether the tool was called as it should be, and the answer after that."""
    asked = WireRequest(RULES, (PromptMessage("user", REQUEST),), tools=(ECHO,))
    reply = await reply_to(asked, wire, usage)
    calls = _echoed(reply)
    if not calls:
        return False, reply.shown
    again = WireRequest(RULES, asked.messages, tools=(ECHO,), rounds=(Round(reply, calls),))
    return True, (await reply_to(again, wire, usage)).shown


def _echoed(reply: GrowingReply) -> tuple[ToolCall, ...]:
    """Return the calls with their results; none when one of them is no call of the tool."""
    calls = [
        ToolCall(call_id=call.call_id or f"call_{at}", name=call.name, arguments=call.arguments, result=_word(call))
        for at, call in enumerate(reply.calls.values(), 1)
    ]
    return tuple(calls) if all(call.name == "echo" and call.result for call in calls) else ()


def _word(call: Any) -> str:
    try:
        return str(orjson.loads(call.arguments)["word"])
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ""


def failure(model: str, error: Exception) -> Check:
    """Say why a model could not be used, and the remedy."""
    provider = model.partition(":")[0]
    key = (PROVIDER_KEYS.get(provider) or ("its key",))[0]
    if isinstance(error, ImportError):
        do = f".venv/bin/pip install 'pydantic-ai-slim[{provider}]'"
        return Check("live.model", "fail", f"{model} needs a library that is not installed", do)
    if isinstance(error, TimeoutError):
        return Check(
            "live.model", "fail", f"{model} said nothing for {PATIENCE_S:.0f} s", "try again, or another model"
        )
    status: int | None = getattr(error, "status_code", None)
    told: dict[int, tuple[str, str]] = {
        HTTPStatus.UNAUTHORIZED: ("refuses the key", f"check {key}: whole, current, of this provider"),
        HTTPStatus.FORBIDDEN: ("does not let this key use the model", f"check what {key} may do at the provider"),
        HTTPStatus.PAYMENT_REQUIRED: ("wants money first", "fill up the account at the provider"),
        HTTPStatus.NOT_FOUND: ("does not know the model or the address", "check the model's name and the base URL"),
        HTTPStatus.BAD_REQUEST: ("refuses the request", "check the model's name; does it call tools?"),
        HTTPStatus.TOO_MANY_REQUESTS: ("is busy, or the account is empty", "wait, or look at limits and credit there"),
    }
    if status in told:
        says, do = told[status]
        return Check("live.model", "fail", f"{model}: the provider {says} ({status})", do)
    if status is not None:
        return Check("live.model", "fail", f"{model}: the provider answered {status}", "try again in a minute")
    if getattr(error, "kind", "") == "NoKey":
        return Check("live.model", "fail", f"{model}: {error}", f"set {key} in the environment or in .env")
    do = "check the network, HTTPS_PROXY and the provider's base URL"
    return Check("live.model", "fail", f"{model} gave no whole answer ({error})", do)


# --- the clock --------------------------------------------------------------------------------------------------------


def clock(zone: str, now_ms: int) -> Check:
    """Say the time where people are, and whether this machine has another time zone."""
    there, here = (
        datetime.fromtimestamp(now_ms / 1000, zone_of(zone)),
        datetime.fromtimestamp(now_ms / 1000).astimezone(),
    )
    says = f"it is {there:%A %H:%M} by CONTINUITY_TIMEZONE={zone}"
    if there.utcoffset() == here.utcoffset():
        return Check("live.timezone", "ok", says)
    says += f", and {here:%H:%M} by this machine"
    return Check("live.timezone", "warn", says, "set CONTINUITY_TIMEZONE to where people live, e.g. Europe/Berlin")


def failed(found: Sequence[Check]) -> bool:
    """Return whether something did not work."""
    return any(check.level == "fail" for check in found)
