"""Tool calls that repeat forgotten words lose their arguments and results; the call itself stays in its turn. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Final

from memory.privacy.erasure import MIN_OWN_WORD_CHARS, MIN_TRACE_CHARS, pieces, spelled_out
from memory.storage.turn_rows import LoggedTurn
from memory.types import ToolCall

FORGOTTEN: Final = "(forgotten, as the person asked: say no more of it)"
"""Read by models, in the place of what a call noted."""


def needles(texts: Iterable[str], notes: Iterable[str]) -> frozenset[str]:
    """The words to look for: long pieces of messages, and notes as a whole, in small letters.

    >>> sorted(needles(["Yes. The PIN is Zebrafish!"], ["Likes tea"]))
    ['likes tea', 'the pin is zebrafish']
    """
    said = (piece for text in texts for piece in pieces(text) if len(piece) >= MIN_TRACE_CHARS)
    noted = (text for text in notes if len(text) >= MIN_OWN_WORD_CHARS)
    return frozenset(text.lower() for text in (*said, *noted))


def silenced(turns: Iterable[LoggedTurn], words: Collection[str]) -> list[LoggedTurn]:
    """The turns, with calls emptied that hold one of these words; digests are not made again."""
    return [_without(logged, words) if logged.turn.tool_calls else logged for logged in turns]


def _without(logged: LoggedTurn, words: Collection[str]) -> LoggedTurn:
    calls = tuple(forgotten(call) if _tells(call, words) else call for call in logged.turn.tool_calls)
    return replace(logged, turn=logged.turn.model_copy(update={"tool_calls": calls}))


def forgotten(call: ToolCall) -> ToolCall:
    """The call without its arguments and result."""
    return call.model_copy(update={"arguments": "{}", "result": FORGOTTEN})


def _tells(call: ToolCall, words: Collection[str]) -> bool:
    """Return whether a call holds one of these words, in any spelling of JSON."""
    said = "\n".join((call.arguments, call.result, *spelled_out(call.arguments), *spelled_out(call.result))).lower()
    return any(word in said for word in words)
