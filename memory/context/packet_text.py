"""The packet as text: what is stable first, what changes with every turn last, both fenced as data (DESIGN section 7).

Providers cache the longest common beginning of two prompts. So a prompt is: instructions, then the history, whose first
message begins with the stable block (last conversation, today, summary, truncation marker), then the message that is
answered, which begins with the block that changes with every turn. What the person says stands behind its block, and
directly behind the question that it may answer (003 US-1). Nobody is made to say what they did not say: there are no
messages but theirs. The bootstrap stands in the instructions, whole (001).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from memory.context.fence import fence
from memory.context.transcript import (
    MEMBER_TITLE,
    MESSAGE_TOKENS,
    Company,
    PromptMessage,
    spoken,
    to_messages,
    truncation_marker,
    user_message,
)
from memory.ports import TokenCounter
from memory.types import ConversationContextPacket, JobProgress, OpenLoop, PendingClarification, RetrievedItem

STABLE_TITLE: Final = "What came before the messages below, from the assistant's memory."
TURN_TITLE: Final = "What the assistant remembers that may bear on the next message."

NOTICES_TITLE: Final = "What the program has to say about the notes."

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
    """Return what changes with every turn, fenced: retrieved, threads, jobs, meanings, the open question."""
    return fence(_turn_body(packet), TURN_TITLE)


def reference_text(packet: ConversationContextPacket) -> str:
    """Return everything but history and bootstrap as one fenced block of data, the truncation marker behind it."""
    return "\n\n".join(filter(None, (stable_text(packet), turn_text(packet))))


def prompt(packet: ConversationContextPacket, message: str) -> tuple[PromptMessage, ...]:
    """Return the messages for the model, the instructions excepted: roles alternate, the last is what the user said."""
    said = spoken(packet.person if packet.is_group else "", user_message(message))
    before = (turn_text(packet), notices_text(packet), clock_line(packet))
    last = PromptMessage("user", "\n\n".join(filter(None, (*before, said))))
    first, *others = (*to_messages(packet.history, company(packet)), last)
    stable = stable_text(packet)
    return (PromptMessage("user", f"{stable}\n\n{first.text}") if stable else first, *others)


def company(packet: ConversationContextPacket) -> Company | None:
    """Return who talks in the group, None where one person does."""
    return Company(packet.person_id, packet.speakers) if packet.is_group else None


def clock_line(packet: ConversationContextPacket) -> str:
    """Return who writes and what time it is for them, as far as it is known."""
    who = f"From {packet.person}." if packet.person and not packet.is_group else ""
    when = f"It is {packet.local_time} where they are." if packet.local_time else ""
    return f"[{who} {when}]".replace("[ ", "[").replace(" ]", "]") if who or when else ""


def notices_text(packet: ConversationContextPacket) -> str:
    """What the program tells the model before a message, fenced: it may repeat a note; "" for nothing."""
    return fence("\n".join(packet.notices), NOTICES_TITLE)


def tokens(packet: ConversationContextPacket, counter: TokenCounter) -> int:
    """Return the tokens of everything in the packet but the history."""
    blocks = filter(None, (stable_text(packet), turn_text(packet), notices_text(packet), clock_line(packet)))
    return sum(counter.count(block) + MESSAGE_TOKENS for block in blocks) + _names_tokens(packet, counter)


def _names_tokens(packet: ConversationContextPacket, counter: TokenCounter) -> int:
    """Return what names and fences of a group's members add to their words."""
    if not packet.is_group:
        return 0
    frame = counter.count(fence("x", MEMBER_TITLE))
    fenced = sum(1 + len(turn.tool_calls) for turn in packet.history if turn.user_id != packet.person_id)
    names = (f"{packet.speakers.get(turn.user_id or 0, '')}: " for turn in packet.history)
    return fenced * frame + sum(map(counter.count, names))


def left_out(packet: ConversationContextPacket) -> int:
    """Return how many turns of the session are not shown verbatim."""
    return next((receipt.cut_items for receipt in packet.receipts if receipt.tier == "history"), 0)


def retrieved_line(item: RetrievedItem) -> str:
    """Return one line for a retrieved turn or memory, with its day."""
    kind = "noted" if item.source == "memory" else "said"
    return f"- {kind} {day(item.at_ms)}: {item.text.strip()}"


def thread_line(loop: OpenLoop, now_ms: int) -> str:
    """Return one line for an open loop: who has to act, since when, until when."""
    who = {"user": "the user", "assistant": "the assistant"}.get(loop.owner, "somebody else")
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
    return _sections(
        ("Relevant from before", "\n".join(map(retrieved_line, packet.retrieved))),
        ("Still open", packet.threads),
        ("Running jobs", "\n".join(map(job_line, packet.jobs))),
        ("What they may mean", "\n".join(_meanings(packet))),
        ("Open question", "\n".join(map(clarification_line, packet.pending_clarifications[-1:]))),
    )


def _meanings(packet: ConversationContextPacket) -> Iterable[str]:
    """Return what "it" or "that task" stands for in words; nothing for what only an id is known of."""
    known = {loop.loop_id: loop.text for loop in packet.open_loops} | {job.job_id: job.title for job in packet.jobs}
    for phrase, ref in packet.resolved_entities_map.items():
        if ref in known:
            yield f"“{phrase}”: {' '.join(known[ref].split())}"


def _sections(*sections: tuple[str, str]) -> str:
    return "\n\n".join(_titled(sections))


def _titled(sections: Iterable[tuple[str, str]]) -> Iterable[str]:
    for title, text in sections:
        if text.strip():
            yield f"{title}:\n{text.strip()}"
