"""An answer from a server that speaks OpenAI's chat completions: tools are run until there is one, nothing is half.

The way of `openai-chat:…` models. pydantic-ai speaks with every other provider and could with these: its import and
its machinery take 40 MB, more than a second of a start, and most of the time between a message and its answer.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from bot.answers.chat_server import ChatServer, ModelError, broken, endless, garbage
from bot.answers.cost import Usage, list_price
from bot.answers.outcome import Outcome, Prompted
from bot.answers.responder import Show
from bot.answers.tools import calls as tool_calls
from bot.answers.tools.toolbox import Toolbox
from memory.context.transcript import PromptMessage, clip_tool_output
from memory.text import clean
from memory.types import ToolCall

PREFIX = "openai-chat:"
MAX_REQUESTS = 16
"""Requests of one answer: a model that calls tools for ever is stopped."""
WRONG_CALLS = 1
"""How many wrong calls of a tool are forgiven: the model is told what was wrong and may try again."""
MOST_CHARS = 200_000
"""Of one response, its calls of tools included: fifty messages of Telegram. A model that says more says it for ever."""
MOST_CALLS = 128
"""Of tools in one response."""
MOST_TOKENS = 10**9
"""No request takes more: a larger number is none."""
_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)


@dataclass(slots=True)
class GrowingReply:
    """One response as it grows."""

    text: str = ""
    finished: bool = False
    usage: dict[str, Any] = field(default_factory=dict)
    """What the server said last that it took: some say it with every piece, and each time the whole of it."""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)

    chars: int = 0
    """How much was taken, of text and of calls."""

    def take(self, delta: dict[str, Any]) -> bool:
        """Take one piece; return True when the text grew. Raises `ModelError` when it has become too long."""
        for asked in delta.get("tool_calls") or ():
            call = self.calls.setdefault(asked.get("index", len(self.calls)), {"id": "", "name": "", "arguments": ""})
            function = asked.get("function") or {}
            call["id"] = str(asked.get("id") or call["id"])
            call["name"] = self._grown(call["name"], function.get("name") or "")
            call["arguments"] = self._grown(call["arguments"], function.get("arguments") or "")
        content = delta.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text") or "" for part in content if isinstance(part, dict))
        self.text = self._grown(self.text, content or "")
        if self.chars > MOST_CHARS or len(self.calls) > MOST_CALLS:
            raise endless()
        return bool(content)

    def _grown(self, text: str, piece: str) -> str:
        self.chars += len(piece)
        return joined(text, piece)

    @property
    def shown(self) -> str:
        """The text without the thoughts that some models write before it."""
        return _THOUGHT.sub("", self.text[:-1] if _is_first_half(self.text[-1:]) else self.text)


def joined(text: str, piece: str) -> str:
    """Return both together; of two halves of one character, which a stream may part, that character."""
    if piece and _is_first_half(text[-1:]) and "\udc00" <= piece[0] <= "\udfff":
        both = (text[-1] + piece[0]).encode("utf-16", "surrogatepass").decode("utf-16")
        return text[:-1] + both + piece[1:]
    return text + piece


def _is_first_half(letter: str) -> bool:
    return "\ud800" <= letter <= "\udbff"


class ChatModel:
    """One model of one server."""

    def __init__(self, name: str, server: ChatServer, tool_output_max_chars: int, *, listed: bool) -> None:
        """Ask this server; `listed` says whether the price list is looked at, which knows no server on this machine."""
        self._name = name.removeprefix(PREFIX)
        self._server = server
        self._max_chars = tool_output_max_chars
        self._listed = listed

    async def run(self, prompted: Prompted, toolbox: Toolbox, show: Show, alive: Callable[[], None]) -> Outcome:
        """Return the answer, once the model calls no tool any more. Raises `ModelError`."""
        said = (each for message in prompted.messages for each in _message(message))
        asked = [{"role": "system", "content": prompted.instructions}, *said]
        usage, made, steps, wrong = Usage(), list[ToolCall](), list[PromptMessage](), 0
        for _ in range(MAX_REQUESTS):
            reply = await self._reply(asked, toolbox, usage, show, alive)
            if not reply.calls:
                if not clean(reply.shown).strip():
                    raise broken("nothing was said")
                usage.cost = await priced(self._name, self._server, usage, listed=self._listed)
                return Outcome(reply.shown, tuple(made), usage, tuple(steps))
            calls: list[ToolCall] = []
            for called in reply.calls.values():
                calls.append(_named(called, [*made, *calls]))
            thought = clean(reply.shown)
            asked.append(_calling(thought, calls))
            steps.append(PromptMessage("assistant", thought, tuple(calls)))
            for call in calls:
                done, result = await self._make(call, toolbox)
                made += [done] if done else []
                wrong += done is None
                if wrong > WRONG_CALLS:
                    raise garbage("a tool was called wrongly again and again")
                returned = ToolCall(call_id=call.call_id, name=call.name, result=result)
                steps.append(PromptMessage("tool", tool_calls=(returned,)))
                asked.append(_returned(call, result))
                alive()
        raise ModelError("Endless", "why_endless", "too many requests for one answer")

    async def _make(self, call: ToolCall, toolbox: Toolbox) -> tuple[ToolCall | None, str]:
        """Return the call as it was made, None for a wrong one, and what the model is told of it."""
        try:
            result = await toolbox.call(call.call_id, call.name, call.arguments)
        except tool_calls.WrongCall as exc:
            return None, clean(str(exc))
        result = clean(result)
        return call.model_copy(update={"result": clip_tool_output(result, self._max_chars)}), result

    async def _reply(
        self, asked: list[dict[str, Any]], toolbox: Toolbox, usage: Usage, show: Show, alive: Callable[[], None]
    ) -> GrowingReply:
        body = {"model": self._name, "messages": asked, "tool_choice": "auto", "tools": toolbox.offered()}
        reply = GrowingReply()
        async with aclosing(self._server.stream(body)) as arriving:
            async for pieces in arriving:
                alive()
                grew = [read_piece(reply, piece) for piece in pieces]
                if any(grew):
                    show(reply.shown)
        count(reply.usage, usage)
        if not reply.finished:
            raise broken("the stream ended before the model said that it was finished")
        return reply

    async def close(self) -> None:
        """Close the connections to the server."""
        await self._server.close()


def read_piece(reply: GrowingReply, piece: dict[str, Any]) -> bool:
    """Take one piece of the stream; return True when the text grew. Raises `ModelError` for one of another shape."""
    try:
        reply.usage = piece.get("usage") or reply.usage
        grew = False
        for choice in (piece.get("choices") or ())[:1]:
            grew = reply.take(choice.get("delta") or {})
            reply.finished = reply.finished or bool(choice.get("finish_reason"))
    except (AttributeError, TypeError, LookupError) as exc:
        raise garbage("a piece of the answer has another shape") from exc
    return grew


def count(told: Any, usage: Usage) -> None:
    """Add what a server says that one request took; what is no number of tokens counts as none."""
    usage.input_tokens += _tokens(told, "prompt_tokens")
    usage.output_tokens += _tokens(told, "completion_tokens")
    usage.cache_read_tokens += _tokens(told, "prompt_tokens_details", "cached_tokens")


def _tokens(told: Any, *path: str) -> int:
    for name in path:
        told = told.get(name) if isinstance(told, dict) else None
    return told if type(told) is int and 0 <= told <= MOST_TOKENS else 0


async def priced(name: str, server: ChatServer, usage: Usage, *, listed: bool) -> Decimal | None:
    """Return the cost by the price list, which knows no server on this machine; None when it is not asked."""
    return await asyncio.to_thread(list_price, name, server.url, usage) if listed and not server.is_here else None


def _message(message: PromptMessage) -> list[dict[str, Any]]:
    """Return a neutral message as the server knows it; a call and its return keep their id."""
    if message.role == "tool":
        return [_returned(call, call.result) for call in message.tool_calls]
    if message.tool_calls:
        return [_calling("", message.tool_calls)]
    return [{"role": message.role, "content": message.text}]


def _calling(text: str, calls: Sequence[ToolCall]) -> dict[str, Any]:
    made = [
        {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]
    return {"role": "assistant", "content": text or None, "tool_calls": made}


def _returned(call: ToolCall, result: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.call_id, "content": result}


def _named(call: dict[str, str], made: Sequence[ToolCall]) -> ToolCall:
    """Return a call with an id that no other call of the turn has; arguments that are no JSON are kept as they are."""
    taken = {each.call_id for each in made}
    call = {field: clean(text) for field, text in call.items()}
    wanted = call["id"] or f"call_{len(made) + 1}"
    call_id = next(i for i in (wanted, *(f"{wanted}_{n}" for n in range(2, len(taken) + 3))) if i not in taken)
    return ToolCall(call_id=call_id, name=call["name"], arguments=call["arguments"] or "{}", result="")
