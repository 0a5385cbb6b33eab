"""A `Session` of the OpenAI Agents SDK over `memory`: bounded history, durable turns, summaries of what is older.

    session = MemorySession(memory, "shop:42")
    result = await Runner.run(agent, "Where is my order?", session=session)

The SDK adds items one by one; a turn is stored when its answer has come. Until then its items wait in this object: a
process that dies in the middle of a run has no answer to show, and the caller asks again. `get_items` gives what fits
the budget, not all there ever was: blocks of older data first, then the turns. Pictures and reasoning are not kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from agents import TResponseInputItem
from agents.memory import SessionSettings

from memory import ConversationMemory, ForgetRequest, Occasion, ToolCall

Item = dict[str, Any]


AS_SAID = Occasion(times=False)


class MemorySession:
    """`agents.memory.Session` for one conversation of a memory."""

    def __init__(self, memory: ConversationMemory, conversation_id: str, *, user_id: int | None = None) -> None:
        self.session_id = conversation_id
        self.session_settings: SessionSettings | None = None
        self._memory = memory
        self._user_id = user_id
        self._waiting: list[Item] = []

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the packet's messages, then what waits for its answer; with a limit the newest of them."""
        turn = await self._memory.begin(self.session_id, "", user_id=self._user_id, occasion=AS_SAID)
        items = [item for message in turn.messages[:-1] for item in _items(message)] + self._waiting
        newest = items if limit is None else items[max(0, len(items) - limit) :]
        return cast("list[TResponseInputItem]", newest)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep the items; each answer that completes a turn stores it, durable when this returns."""
        for item in cast("list[Item]", items):
            kind = item.get("type", "message")
            if kind == "message" and item.get("role") == "user" and _answered(self._waiting):
                await self._record()
            if kind in {"message", "function_call", "function_call_output"}:
                self._waiting.append(item)
        if _answered(self._waiting):
            await self._record()

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the newest item and return it; None when there is nothing. A stored turn is forgotten for it."""
        if not self._waiting:
            state = await self._memory.recorder.current(self.session_id)
            turns = await self._memory.recorder.recent_turns(state.session_id) if state else ()
            if not turns:
                return None
            last = turns[-1]
            calls = [{"id": each.call_id, "function": each.model_dump()} for each in last.tool_calls]
            returns = [
                {"role": "tool", "tool_call_id": each.call_id, "content": each.result} for each in last.tool_calls
            ]
            messages: list[dict[str, Any]] = [
                {"role": "user", "content": last.user_text},
                {"role": "assistant", "content": "", "tool_calls": calls},
                *returns,
                {"role": "assistant", "content": last.assistant_text},
            ]
            await self._memory.forget(ForgetRequest(self.session_id, turn_ids=(last.turn_id,)))
            self._waiting = [item for message in messages for item in _items(message)]
        return cast("TResponseInputItem", self._waiting.pop())

    async def clear_session(self) -> None:
        """Forget the conversation, in every row, index and file."""
        self._waiting.clear()
        await self._memory.forget(ForgetRequest(self.session_id, everything=True))

    async def _record(self) -> None:
        waiting, self._waiting = self._waiting, []
        said = [item for item in waiting if item.get("type", "message") == "message"]
        returns = {item["call_id"]: item["output"] for item in waiting if item.get("type") == "function_call_output"}
        calls = [
            ToolCall(
                call_id=item["call_id"],
                name=item["name"],
                arguments=item["arguments"],
                result=_text(returns.get(item["call_id"], "")),
            )
            for item in waiting
            if item.get("type") == "function_call"
        ]
        user = "\n".join(_text(item["content"]) for item in said if item["role"] == "user")
        answer = "\n".join(_text(item["content"]) for item in said if item["role"] == "assistant")
        turn = await self._memory.begin(self.session_id, user, user_id=self._user_id)
        await turn.record(answer, tool_calls=calls)


def _answered(items: Iterable[Item]) -> bool:
    """Return whether the last thing said is the assistant's, and every call has its return."""
    last = ""
    calls, returns = set(), set()
    for item in items:
        last = item.get("role", "") if item.get("type", "message") == "message" else ""
        if item.get("type") == "function_call":
            calls.add(item["call_id"])
        elif item.get("type") == "function_call_output":
            returns.add(item["call_id"])
    return last == "assistant" and calls <= returns


def _items(message: Mapping[str, Any]) -> list[Item]:
    """Return a message of chat completions as items of the Responses API."""
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}]
    calls = [
        {
            "type": "function_call",
            "call_id": each["id"],
            "name": each["function"]["name"],
            "arguments": each["function"]["arguments"],
        }
        for each in message.get("tool_calls", ())
    ]
    return calls or ([{"role": message["role"], "content": message["content"]}] if message["content"] else [])


def _text(content: Any) -> str:
    """Return the words of an item's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or part.get("refusal") or "(not kept)") for part in content)
    return json.dumps(content, default=str)
