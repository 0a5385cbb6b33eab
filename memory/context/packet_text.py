"""The packet as text: what is stable first, what changes with every turn last, both fenced as data (DESIGN section 7).

Providers cache the longest common beginning of two prompts. So a prompt is: instructions, then the stable block (last
conversation, today, summary, truncation marker), then the history, then the block that changes with every turn, then
the new message. A short reply is left beside the question that it answers (003 US-1): there the block stands before the
last exchange. Each block is a message of its own, acknowledged by one word of the assistant (004): what the person says
is never mixed with data, and roles alternate. The bootstrap stands in the instructions, whole (001).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from memory.context.transcript import MESSAGE_TOKENS, Message, fence, to_messages, truncation_marker, user_message
from memory.ports import TokenCounter
from memory.types import ConversationContextPacket, JobProgress, OpenLoop, PendingClarification, RetrievedItem

STABLE_TITLE: Final = "What came before the messages below, from the assistant's memory."
NOTED: Final = "Noted."
SHORT_REPLY_WORDS: Final = 6
TURN_TITLE: Final = "What the assistant remembers that may bear on the next message."

_DAY_MS: Final = 24 * 3600 * 1000


def stable_text(packet: ConversationContextPacket) -> str:
    """Return what stays the same from turn to turn: last conversation, today, summary, marker; empty if none."""
    marker = truncation_marker(left_out(packet)) if packet.history_truncated else ""
    body = _sections(
        ("From earlier conversations", packet.last_conversation),
        ("Earlier today", packet.today),
        ("Summary of earlier messages", packet.rolling_session_summary),
    )
    return "\n\n".join(filter(None, (fence(body, STABLE_TITLE), marker)))


def turn_text(packet: ConversationContextPacket) -> str:
    """Return what changes with every turn, fenced: retrieved, threads, jobs, topics, the open question."""
    return fence(_turn_body(packet), TURN_TITLE)


def reference_text(packet: ConversationContextPacket) -> str:
    """Return everything but history and bootstrap as one fenced block of data, the truncation marker behind it."""
    return "\n\n".join(filter(None, (stable_text(packet), turn_text(packet))))


def prompt(packet: ConversationContextPacket, message: str) -> tuple[Message, ...]:
    """Return the messages for the model, the instructions excepted: roles alternate, the last is what the user said."""
    before = len(packet.history) - (len(message.split()) <= SHORT_REPLY_WORDS)
    return (
        *_noted(stable_text(packet)),
        *to_messages(packet.history[: max(0, before)]),
        *_noted(turn_text(packet)),
        *to_messages(packet.history[max(0, before) :]),
        Message("user", user_message(message)),
    )


def _noted(block: str) -> tuple[Message, ...]:
    """Return a block of data with the assistant's word that it was taken in; () for an empty block."""
    return (Message("user", block), Message("assistant", NOTED)) if block else ()


def tokens(packet: ConversationContextPacket, counter: TokenCounter) -> int:
    """Return the tokens of everything in the packet but the history."""
    blocks = list(filter(None, (stable_text(packet), turn_text(packet))))
    pair = counter.count(NOTED) + 2 * MESSAGE_TOKENS
    return sum(counter.count(block) + pair for block in blocks)


def left_out(packet: ConversationContextPacket) -> int:
    """Return how many turns of the session are not shown verbatim."""
    return next((receipt.cut_items for receipt in packet.receipts if receipt.tier == "history"), 0)


def retrieved_line(item: RetrievedItem) -> str:
    """Return one line for a retrieved turn or memory, with its day."""
    kind = "noted" if item.source == "memory" else "said"
    return f"- {kind} {day(item.at_ms)}: {item.text.strip()}"


def thread_line(loop: OpenLoop, now_ms: int) -> str:
    """Return one line for an open loop: who has to act, since when, until when."""
    who = "the user" if loop.owner == "user" else "the assistant"
    age = max(0, now_ms - loop.opened_at_ms) // _DAY_MS
    since = "today" if not age else f"{age} day{'s' if age > 1 else ''} ago"
    due = f", due {day(loop.due_at_ms)}" if loop.due_at_ms is not None else ""
    return f"- {loop.kind} for {who}, since {since}{due}: {' '.join(loop.text.split())}"


def job_line(job: JobProgress) -> str:
    """Return one line for a running job."""
    due = f", due {moment(job.due_at_ms)}" if job.due_at_ms is not None else ""
    progress = f", {job.progress}" if job.progress else ""
    return f"- {job.title} ({job.status}{progress}{due})"


def clarification_line(asked: PendingClarification) -> str:
    """Return the open question with its numbered options, so that "yes" or "the second one" has a meaning."""
    options = "".join(f" {number}) {option}" for number, option in enumerate(asked.options, 1))
    offered = f" It offered:{options}." if options else ""
    return f"The assistant asked and waits for an answer: {asked.question}{offered} A short reply answers this."


def day(at_ms: int) -> str:
    """Return the UTC day as `2026-11-21`; a time outside the calendar as `?`."""
    return moment(at_ms)[:10]


def moment(at_ms: int) -> str:
    """Return the UTC minute as `2026-11-21 22:05 UTC`; a time outside the calendar as `?`."""
    try:
        return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return "?"


def _turn_body(packet: ConversationContextPacket) -> str:
    entities = "; ".join(f"{name} = {ref}" for name, ref in packet.resolved_entities_map.items())
    return _sections(
        ("Relevant from before", "\n".join(map(retrieved_line, packet.retrieved))),
        ("Still open", packet.threads),
        ("Running jobs", "\n".join(map(job_line, packet.jobs))),
        ("Topics", ", ".join(packet.active_topics)),
        ("References", entities),
        ("Open question", "\n".join(map(clarification_line, packet.pending_clarifications[-1:]))),
    )


def _sections(*sections: tuple[str, str]) -> str:
    return "\n\n".join(_titled(sections))


def _titled(sections: Iterable[tuple[str, str]]) -> Iterable[str]:
    for title, text in sections:
        if text.strip():
            yield f"{title}:\n{text.strip()}"
