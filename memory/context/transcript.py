"""Turns as messages that any model library understands; words of others in them stand in fences.

A turn and its tool calls are one piece: in every cut a call and its return go or stay together (003 FR-001).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal

from memory.context.fence import END_CHARS, closed, fence, fence_once
from memory.foreign import MARK, has_foreign, is_inside, names_files, parts
from memory.ports import TokenCounter
from memory.text import sentence_ends
from memory.types import ConversationTurn, ToolCall
from memory.zones import zone_of

NO_TEXT: Final = "(no text)"
"""Stands for an empty message: model providers refuse empty content."""

EDITED: Final = "[edited since; the answer below was to other words]"
"""Stands before a message that reads anew."""

NO_REPLY: Final = "(no reply)"
"""Stands for an answer that never came."""

MESSAGE_TOKENS: Final = 4
"""Tokens of a message beside its text (role and separators)."""

NOBODY: Final[Mapping[int, str]] = MappingProxyType({})
_WIDEST_TOKEN_CHARS: Final = 64
_ABRIDGED_TOOL_CHARS: Final = 200
FOREIGN_TITLE: Final = "Written by somebody else; the person forwarded or quoted it."
FILE_TITLE: Final = "Sent by the person as a file; its name may be somebody else's."
MEMBER_TITLE: Final = "Said in this group."
RESULT_TITLE: Final = "Your own tool's answer."
NOTING: Final = frozenset({"note", "remind", "schedule"})
"""Tools of ours whose answers may repeat nobody: whoever called them has just written the note."""
_NOTED: Final = re.compile(r"(?:(?:Noted|Set): #\d+ [a-z]+(?=$|\.| \()[^#\u201c]*)")
"""A line that names a note without its text: `Noted: #1 event (owner everyone; due Fri 2026-12-11)`."""
SOMEBODY: Final = "somebody"
_CUT_BEHIND: Final = " …"
_CUT_BEFORE: Final = "… "
CACHED_MOMENTS: Final = 4096
"""Those of the turns in a prompt, which is made of the same ones again and again."""
_LEAST_SHARE: Final = 3
"""A cut at a sentence that leaves less than a third of the room is made between two words instead."""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a prompt, free of any model library.

    role `user`: `text`. role `assistant`: `text`, or the calls that it made in `tool_calls` (then `text` is empty).
    role `tool`: the returns of the same calls, in `tool_calls[n].result`; it always follows the message that made them.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


def truncation_marker(turns: int, *, again: bool = False) -> str:
    """Return the sentence that stands where `turns` earlier turns were left out; `again` behind one that was kept."""
    how_many = f"{turns} turn{'s' * (turns != 1)}"
    return f"[… {how_many}]" if again else f"[Earlier messages truncated: {how_many}]"


def clip(text: str, max_chars: int) -> str:
    """Return `text`, or its beginning up to the end of a sentence with "…": `Buy milk. And …` → `Buy milk. …`.

    Never longer than `max_chars`. Where no sentence ends in time it is cut between two words.
    """
    if len(text) <= max_chars:
        return text
    room = max_chars - len(_CUT_BEHIND)
    if room <= 0:
        return text[: max(0, max_chars)]
    ends = [end for end in sentence_ends(text, 0, room + 1) if end <= room]
    end = ends[-1] if ends and ends[-1] >= room // _LEAST_SHARE else text.rfind(" ", room // 2, room)
    return text[: end if end > 0 else room].rstrip() + _CUT_BEHIND


def clip_start(text: str, max_chars: int) -> str:
    """Return `text`, or its end from the beginning of a sentence on: where a question stands that a reply answers."""
    if len(text) <= max_chars:
        return text
    room = max_chars - len(_CUT_BEFORE)
    if room <= 0:
        return text[: max(0, max_chars)]
    at = len(text) - room
    latest = len(text) - room // _LEAST_SHARE
    start = next((end for end in sentence_ends(text, max(0, at - 1)) if at <= end), len(text))
    start = start if start <= latest else max(at, text.find(" ", at, at + room // 2))
    tail = text[start:].strip()
    if is_inside(text, start):
        return f"…\n{MARK} {tail[len(MARK) + 1 :]}"
    return f"…\n{tail}" if tail.startswith(MARK) else _CUT_BEFORE + tail


def clip_ends(text: str, max_chars: int) -> str:
    """Return `text`, or its beginning and its end, both whole sentences, with "…" between them.

    For a text that one turn cannot take in: the request about a long paste stands before it or behind it.
    """
    if len(text) <= max_chars:
        return text
    head = clip(text, max_chars * 2 // 3)
    return f"{head}\n{clip_start(text, max_chars - len(head) - 1)}"


def clip_tool_output(text: str, max_chars: int) -> str:
    """Return a tool's output capped at `max_chars` (004 phase 1); a block of data that is cut keeps its end."""
    return text if len(text) <= max_chars else closed(clip(text, max_chars - END_CHARS))


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
    """The people of a group: everybody is quoted, since nobody speaks for the others.

    The same turns read the same in an answer to any of them: so the prompt begins alike for all members.
    """

    names: Mapping[int, str] = field(default_factory=dict)

    def said(self, turn: ConversationTurn) -> str:
        """Return the words of a turn's person, under their name, fenced."""
        name = self.names.get(turn.user_id or 0, "")
        return fence(f"{' '.join(name.split()) or SOMEBODY}: {turn.user_text or NO_TEXT}", MEMBER_TITLE)

    def returned(self, turn: ConversationTurn) -> tuple[ToolCall, ...]:
        """Return a turn's calls; their results are fenced once where they may repeat somebody's words."""
        return tuple(
            call
            if call.name in NOTING and repeats_nobody(call.result)
            else call.model_copy(update={"result": fence_once(call.result, RESULT_TITLE)})
            for call in turn.tool_calls
        )


def repeats_nobody(result: str) -> bool:
    """Whether the answer of a tool of ours names only notes that the call made, without their text."""
    return all(map(_NOTED.fullmatch, result.splitlines()))


def spoken(name: str, text: str) -> str:
    """Return the words of somebody of several, with their name before them; "" = there is only one."""
    return f"{name}: {text}" if name else text


def to_messages(
    turns: Sequence[ConversationTurn], company: Company | None = None, marks: Sequence[str] = ()
) -> tuple[PromptMessage, ...]:
    """Return the turns as messages, oldest first; in a `company` of several each is told with its speaker.

    Per turn: user, then assistant and tool if there were calls, then assistant. So roles always alternate and every
    call has its return, for any choice of whole turns. `marks` stand before the words (`turn_marks`).
    """
    messages: list[PromptMessage] = []
    for turn, mark in zip(turns, marks or [""] * len(turns), strict=True):
        said = company.said(turn) if company else user_message(turn.user_text)
        messages.append(PromptMessage("user", mark + said))
        if turn.tool_calls:
            calls = company.returned(turn) if company else turn.tool_calls
            messages.append(PromptMessage("assistant", "", calls))
            messages.append(PromptMessage("tool", "", calls))
        messages.append(PromptMessage("assistant", turn.assistant_text or NO_REPLY))
    return tuple(messages)


def turn_marks(
    turns: Sequence[ConversationTurn],
    time_zone: str,
    *,
    times: bool = True,
    edited: Collection[str] = (),
    taken_back: Collection[int] = (),
) -> list[str]:
    """Return the mark before each turn: `[Mon 2026-11-23 19:20] `, of the next ones of a day `[19:24] `.

    A turn behind a gap is told as such, also without `times`, and so is one that was `edited` after its answer. A turn
    that was `taken_back` (its seq) is no gap. Marks do not change when a turn is added behind them.
    """
    marks: list[str] = []
    day, last_seq, is_cut = "", 0, False
    for turn in turns:
        left_out = turn.seq - last_seq - 1 - sum(last_seq < seq < turn.seq for seq in taken_back)
        gap = f"{truncation_marker(left_out, again=is_cut)}\n\n" if left_out > 0 else ""
        today, minute = local_moment(turn.created_at_ms, time_zone)
        mark = (f"[{minute}] " if today == day else f"[{today} {minute}] ") if times else ""
        marks.append(gap + mark + (f"{EDITED} " if turn.turn_id in edited else ""))
        day, last_seq, is_cut = today, turn.seq, is_cut or left_out > 0
    return marks


@lru_cache(maxsize=CACHED_MOMENTS)
def local_moment(at_ms: int, time_zone: str) -> tuple[str, str]:
    """Return day and minute by a clock, `("Mon 2026-11-23", "19:20")`; of a time outside the calendar `?`."""
    try:
        at = datetime.fromtimestamp(at_ms / 1000, zone_of(time_zone))
    except (OverflowError, OSError, ValueError):
        return "?", "?"
    return f"{at:%a %Y-%m-%d}", f"{at:%H:%M}"


def local_time(now_ms: int, time_zone: str, *, known: bool) -> str:
    """Return the local time: `Sun 2026-11-22 14:05 (Europe/Lisbon)`; a clock that nobody chose is called so."""
    day, minute = local_moment(now_ms, time_zone)
    return f"{day} {minute} ({time_zone})" if known else f"{day} {minute} ({time_zone}; their time zone is not known)"


def user_message(text: str) -> str:
    """Return a person's message as the model gets it: words of others in it, and files, are fenced."""
    if not has_foreign(text):
        return text or NO_TEXT
    shown = (fence(part, _whose(part)) if is_foreign else part.strip("\n") for is_foreign, part in parts(text))
    return "\n\n".join(filter(None, shown)) or NO_TEXT


def _whose(stretch: str) -> str:
    return FILE_TITLE if names_files(stretch) else FOREIGN_TITLE


def clip_to_tokens(text: str, max_tokens: int, counter: TokenCounter, cut: Callable[[str, int], str] = clip) -> str:
    """Return `text` clipped by `cut` so that it costs at most `max_tokens`; empty when there is no room at all."""
    if max_tokens <= 0:
        return ""
    text = cut(text, max_tokens * _WIDEST_TOKEN_CHARS)
    tokens = counter.count(text)
    while tokens > max_tokens:
        chars = min(len(text) - 1, len(text) * max_tokens // tokens)
        if chars <= 0:
            return ""
        text = cut(text, chars)
        tokens = counter.count(text)
    return text


def turn_tokens(turn: ConversationTurn, counter: TokenCounter) -> int:
    """Return the tokens of a turn in a prompt: the stored counts, counted again only where none was stored."""
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
    """Return the number of messages of the turn: two, or four with tool calls."""
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
    answer = clip_to_tokens(short.assistant_text, room - user_tokens, counter, clip_start)
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


def chat_messages(messages: Sequence[PromptMessage]) -> list[dict[str, Any]]:
    """Return the messages as `{"role": …, "content": …}`; a call and its return keep their common id.

    A message that made tool calls has them under `tool_calls`, and each return is a message of role `tool`.
    """
    return [each for message in messages for each in _chat(message)]


def _chat(message: PromptMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"role": "tool", "tool_call_id": call.call_id, "content": call.result} for call in message.tool_calls]
    chat: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.tool_calls:
        chat["tool_calls"] = [
            {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    return [chat]
