"""Turns as messages that any model library understands; what others wrote in them stands in fences.

A turn and its tool calls are one piece: whatever is cut, a call and its return go or stay together (003 FR-001).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from memory.context.fence import fence
from memory.language.foreign import MARK, has_foreign, is_inside, parts
from memory.ports import TokenCounter
from memory.types import ConversationTurn, ToolCall

NO_TEXT: Final = "(no text)"
"""Stands for an empty message: model providers refuse empty content."""

NO_REPLY: Final = "(no reply)"
"""Stands for an answer that never came."""

MESSAGE_TOKENS: Final = 4
"""What a message costs beside its text (role and separators)."""

NOBODY: Final[Mapping[int, str]] = MappingProxyType({})
_WIDEST_TOKEN_CHARS: Final = 64
_ABRIDGED_TOOL_CHARS: Final = 200
FOREIGN_TITLE: Final = "Written by somebody else; the person forwarded or quoted it."
MEMBER_TITLE: Final = "Said by another member of this group."
SOMEBODY: Final = "somebody"


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a prompt, free of any model library.

    role `user`: `text`. role `assistant`: `text`, or the calls that it made in `tool_calls` (then `text` is empty).
    role `tool`: the returns of the same calls, in `tool_calls[n].result`; it always follows the message that made them.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


def truncation_marker(turns: int) -> str:
    """Return the sentence that stands where `turns` earlier turns were left out."""
    return f"[Earlier messages truncated: {turns} turns]"


def clip(text: str, max_chars: int, what: str = "text") -> str:
    """Return `text`, or its beginning and end around a marker saying how many characters are missing.

    The result is never longer than `max_chars`; of an answer the end gets the larger part of the room, because
    a question stands at its end.
    """
    if len(text) <= max_chars:
        return text
    marker = "\n[… {:,} of " + f"{len(text):,} characters of {what} left out …]\n"
    room = max_chars - len(marker.format(len(text)))
    if room <= 0:
        return text[: max(0, max_chars)]
    head = room // 3 if what == "answer" else room * 2 // 3
    tail = room - head
    again = f"{MARK} " if tail and is_inside(text, len(text) - tail) else ""
    tail = max(0, tail - len(again))
    return text[:head] + marker.format(len(text) - head - tail) + again + text[len(text) - tail :]


def clip_tool_output(text: str, max_chars: int) -> str:
    """Return a tool's output capped at `max_chars`, with a marker that says how much was cut (004 phase 1)."""
    return clip(text, max_chars, "tool output")


def clip_tools(turn: ConversationTurn, max_chars: int) -> ConversationTurn:
    """Return the turn with every tool output capped; the same object when nothing is too long."""
    if all(len(call.result) <= max_chars for call in turn.tool_calls):
        return turn
    calls = tuple(
        call.model_copy(update={"result": clip_tool_output(call.result, max_chars)}) for call in turn.tool_calls
    )
    return turn.model_copy(update={"tool_calls": calls, "tool_tokens": 0})


@dataclass(frozen=True, slots=True)
class Company:
    """Who talks in a group: everybody but the one who is answered is quoted, since nobody speaks for the others."""

    asker: int | None = None
    """Whose message is answered; None = nobody in the history is known to be the same."""
    names: Mapping[int, str] = field(default_factory=dict)

    def said(self, turn: ConversationTurn) -> str:
        """Return what a turn's person said, under their name: the asker's own words as they are, others' fenced."""
        name = self.names.get(turn.user_id or 0, "")
        if self._is_own(turn):
            return spoken(name, user_message(turn.user_text))
        return fence(f"{' '.join(name.split()) or SOMEBODY}: {turn.user_text or NO_TEXT}", MEMBER_TITLE)

    def returned(self, turn: ConversationTurn) -> tuple[ToolCall, ...]:
        """Return a turn's calls; what came back for somebody else repeats their words, and is fenced like them."""
        if self._is_own(turn):
            return turn.tool_calls
        fenced = (call.model_copy(update={"result": fence(call.result, MEMBER_TITLE)}) for call in turn.tool_calls)
        return tuple(fenced)

    def _is_own(self, turn: ConversationTurn) -> bool:
        return turn.user_id is not None and turn.user_id == self.asker


def spoken(name: str, text: str) -> str:
    """Return what somebody of several says, with their name before it; "" = there is only one."""
    return f"{name}: {text}" if name else text


def to_messages(turns: Sequence[ConversationTurn], company: Company | None = None) -> tuple[PromptMessage, ...]:
    """Return the turns as messages, oldest first; in a `company` of several each is told with its speaker.

    Per turn: user, then assistant and tool if there were calls, then assistant. So roles always alternate and every
    call has its return, whichever whole turns are given.
    """
    messages: list[PromptMessage] = []
    for turn in turns:
        messages.append(PromptMessage("user", company.said(turn) if company else user_message(turn.user_text)))
        if turn.tool_calls:
            calls = company.returned(turn) if company else turn.tool_calls
            messages.append(PromptMessage("assistant", "", calls))
            messages.append(PromptMessage("tool", "", calls))
        messages.append(PromptMessage("assistant", turn.assistant_text or NO_REPLY))
    return tuple(messages)


def user_message(text: str) -> str:
    """Return what a person wrote as the model gets it: what others wrote in it is fenced, stretch by stretch."""
    if not has_foreign(text):
        return text or NO_TEXT
    shown = (fence(part, FOREIGN_TITLE) if is_foreign else part.strip("\n") for is_foreign, part in parts(text))
    return "\n\n".join(filter(None, shown)) or NO_TEXT


def clip_to_tokens(text: str, max_tokens: int, counter: TokenCounter, what: str = "text") -> str:
    """Return `text` clipped so that it costs at most `max_tokens`; empty when there is no room at all."""
    if max_tokens <= 0:
        return ""
    text = clip(text, max_tokens * _WIDEST_TOKEN_CHARS, what)
    tokens = counter.count(text)
    while tokens > max_tokens:
        chars = min(len(text) - 1, len(text) * max_tokens // tokens)
        if chars <= 0:
            return ""
        text = clip(text, chars, what)
        tokens = counter.count(text)
    return text


def turn_tokens(turn: ConversationTurn, counter: TokenCounter) -> int:
    """Return what the turn costs in a prompt: the stored counts, counted again only where none was stored."""
    fenced = has_foreign(turn.user_text)
    user = 0 if fenced else turn.user_tokens
    user = user or counter.count(user_message(turn.user_text))
    assistant = turn.assistant_tokens or counter.count(turn.assistant_text or NO_REPLY)
    tools = turn.tool_tokens
    if turn.tool_calls and not tools:
        tools = sum(
            counter.count(f"{call.call_id} {call.name}{call.arguments} {call.call_id} {call.result}")
            for call in turn.tool_calls
        )
    return user + assistant + tools + MESSAGE_TOKENS * turn_messages(turn)


def turn_messages(turn: ConversationTurn) -> int:
    """Return how many messages the turn becomes: two, or four with tool calls."""
    return 4 if turn.tool_calls else 2


def abridge(turn: ConversationTurn, max_tokens: int, counter: TokenCounter) -> ConversationTurn:
    """Return the turn shortened to about `max_tokens`, the end of the answer kept: a short reply needs its question.

    Tool outputs shrink first; when even that is too much, all calls of the turn go together with their returns.
    """
    short = clip_tools(turn, _ABRIDGED_TOOL_CHARS)
    if turn_tokens(short, counter) <= max_tokens:
        return short
    if short.tool_calls:
        short = short.model_copy(update={"tool_calls": (), "tool_tokens": 0})
    room = max(2, max_tokens - MESSAGE_TOKENS * 2)
    user_tokens = min(counter.count(short.user_text or NO_TEXT), room // 3)
    answer = clip_to_tokens(short.assistant_text, room - user_tokens, counter, "answer")
    answer_tokens = counter.count(answer or NO_REPLY)
    user = clip_to_tokens(short.user_text, room - answer_tokens, counter)
    return short.model_copy(
        update={
            "user_text": user,
            "assistant_text": answer,
            "user_tokens": counter.count(user or NO_TEXT),
            "assistant_tokens": answer_tokens,
        }
    )
