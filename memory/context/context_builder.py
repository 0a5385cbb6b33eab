"""Build the packet: seven tiers, each within its own budget, then the cap with its cut order (003, DESIGN section 7).

Pure: for any inputs `build` returns a packet; a tier that cannot be built is left out and its receipt says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from memory.context import packet_text
from memory.context.budget import (
    CUT_ORDER,
    FRAME_TOKENS,
    MIN_HISTORY_TOKENS,
    MIN_TURNS,
    NEAR_LIMIT_PERCENT,
    TIERS,
    Budget,
)
from memory.context.earlier import ASKED_CHARS, UNREAD, SessionReading
from memory.context.notes_block import NO_BLOCK, NOTHING_SINCE, Block, Since
from memory.context.occasion import NOTHING_RESERVED, Reserved
from memory.context.packet_text import prompt, reference_text, stable_text, turn_text
from memory.context.repeats import NoteWords
from memory.context.tiers import TierPart, fill_history, is_said, shorten_into
from memory.context.transcript import clip, clip_to_tokens
from memory.ledger.types import Ledger
from memory.ledger.views import Scope, to_do, to_ring, within
from memory.packets import ConversationContextPacket, JobProgress, RetrievedItem, Tier
from memory.ports import TokenCounter
from memory.sessions.summarizer import HEADER, without_lines
from memory.state.fields import entities_of, job_refs_of, loops_of
from memory.text import first_sentences, last_sentences
from memory.types import ConversationTurn, OpenLoop, PendingClarification, SessionState

__all__ = [
    "ContextInputs",
    "Fields",
    "Moment",
    "build",
    "fields_of",
    "prompt",
    "reference_text",
    "stable_text",
    "turn_text",
]

ASKING: Final = ("?", "\uff1f", "\u061f")
"""A text that ends so asks (002: pending clarifications): the question marks of all scripts that have one."""
_CLOSING: Final = ' \n"\u201d\u2019\u00bb)*_'

MAX_FIELD_ITEMS: Final = 50
"""Open matters that a packet's fields name, the first by time: a ledger may hold hundreds."""
_ROUNDS: Final = 4
_LINE_TOKENS: Final = 16
_LINE_CHARS: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields of 002 section 3.3 about a session, from the ledger; none of them stands in the prompt as such."""

    title: str = ""
    loops: tuple[OpenLoop, ...] = ()
    job_refs: tuple[str, ...] = ()
    jobs: tuple[JobProgress, ...] = ()
    entities: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Who writes, and when by their clock."""

    now_ms: int
    time_zone: str = "UTC"
    has_times: bool = True
    local_time: str = ""
    person: str = ""
    person_id: int | None = None
    is_group: bool = False
    speakers: Mapping[int, str] = field(default_factory=dict)
    """Names of those who speak in a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextInputs:
    """All pieces of a packet; a missing one stays empty."""

    state: SessionState
    moment: Moment
    history: Sequence[ConversationTurn] = ()
    """Turns of the session that may be shown verbatim, in any order."""
    taken_back: frozenset[int] = frozenset()
    """The seqs of turns that stand among them in another form."""
    block: Block = NO_BLOCK
    since: Since = NOTHING_SINCE
    fields: Fields = Fields()
    retrieved: Sequence[RetrievedItem] = ()
    """Best first."""
    reading: SessionReading = UNREAD
    """What a keeper read of the turns that are cut."""
    today: Sequence[str] = ()
    """Earlier sessions of the day, a line each, the latest first."""
    last_conversation: Sequence[str] = ()
    """Sessions before the day, likewise."""
    reserved: Reserved = NOTHING_RESERVED
    message_tokens: int = 0
    """Tokens of the new message."""
    errors: Mapping[Tier, str] = field(default_factory=dict)
    """Tiers that could not be gathered, and why."""


_Section = Literal["changed", "events", "lasting"]


def build(inputs: ContextInputs, budget: Budget, counter: TokenCounter) -> ConversationContextPacket:
    """Return the packet for the next model call, all within the cap less what is reserved; never raises."""
    more, errors = inputs.block.more_line, inputs.errors
    parts = {t: TierPart(t, budget.tokens(t), error=errors.get(t), uncounted=(more, ("lasting", more))) for t in TIERS}
    _guarded(parts["history"], lambda part: fill_history(part, inputs.state, inputs.history, budget, counter))
    missing = _missing(inputs, parts["history"])
    _guarded(parts["summary"], lambda part: _summary(part, inputs, parts["history"].values, missing, counter))
    _guarded(parts["memories"], lambda part: _memories(part, inputs, counter))
    waiting = (*inputs.block.open, more) if inputs.block.open else ()
    parts["threads"].budget += inputs.block.room
    _guarded(parts["threads"], lambda part: part.offer_lines(waiting, counter))
    _guarded(parts["retrieved"], lambda part: _retrieved(part, inputs, parts["history"], counter))
    _guarded(parts["today"], lambda part: part.offer_lines(inputs.today, counter))
    _guarded(parts["last_conversation"], lambda part: part.offer_lines(inputs.last_conversation, counter))
    bootstrap_tokens = counter.count(inputs.reserved.bootstrap)
    taken = max(0, inputs.reserved.tokens) + inputs.message_tokens + bootstrap_tokens
    room = max(budget.cap_tokens - taken, MIN_HISTORY_TOKENS + FRAME_TOKENS)
    packet = _packet(inputs, parts)
    for _ in range(_ROUNDS):
        over = parts["history"].used + packet_text.tokens(packet, counter) - room
        if over <= 0:
            break
        _cut(parts, over, counter)
        packet = _packet(inputs, parts)
    return _weighed(packet, inputs, parts, bootstrap_tokens, budget=budget, counter=counter)


def _weighed(
    packet: ConversationContextPacket,
    inputs: ContextInputs,
    parts: Mapping[Tier, TierPart],
    bootstrap_tokens: int,
    *,
    budget: Budget,
    counter: TokenCounter,
) -> ConversationContextPacket:
    """Return the packet with the text beside its tiers, so that all of it adds up to the prompt."""
    tiers = sum(part.used for tier, part in parts.items() if tier != "history")
    packet = packet.model_copy(
        update={
            "instructions_tokens": max(0, inputs.reserved.tokens - inputs.reserved.tools_tokens),
            "tools_tokens": inputs.reserved.tools_tokens + inputs.reserved.further_tokens,
            "bootstrap_tokens": bootstrap_tokens,
            "message_tokens": inputs.message_tokens,
            "frame_tokens": max(0, packet_text.tokens(packet, counter) - tiers),
        }
    )
    bounded = packet.prompt_tokens - inputs.reserved.further_tokens
    is_near = bounded * 100 > budget.cap_tokens * NEAR_LIMIT_PERCENT
    return packet.model_copy(update={"is_near_limit": is_near})


def _guarded(part: TierPart, fill: Callable[[TierPart], None]) -> None:
    """Fill one tier; a failure in it leaves only this tier out (003 NFR-002)."""
    if part.error or not part.budget:
        return
    try:
        fill(part)
    except Exception as error:  # noqa: BLE001 - no conversation fails because of its memory
        part.items.clear()
        part.error = f"{type(error).__name__}: {error}"


def _missing(inputs: ContextInputs, history: TierPart) -> int:
    """Return the number of the session's turns that are not shown verbatim."""
    last_seq = max((turn.seq for turn in inputs.history), default=0)
    return max(0, max(inputs.state.last_seq, last_seq) - len(history.items) - len(inputs.taken_back))


def _summary(
    part: TierPart, inputs: ContextInputs, shown: Sequence[ConversationTurn], missing: int, counter: TokenCounter
) -> None:
    """Take the compaction's summary with its subject, or the rolling one when turns are missing.

    Before it the keeper's standing. Without the lines that notes tell, and of ours those whose sentence is `shown` word
    for word, or that a keeper has read: it may hold no longer, or be somebody else's, in a pasted text.
    """
    notes, compaction = inputs.block.lines.values(), inputs.state.compaction
    if not (compaction or missing):
        return
    summary = compaction.summary if compaction else inputs.state.rolling_summary
    words, reading = NoteWords.of(notes), inputs.reading
    task = compaction.current_task if compaction and not notes and not reading.standing else ""
    standing = clip_to_tokens(reading.standing, part.budget - 1, counter, first_sentences)
    part.offer_lines([standing, f"At work on: {task}" if task else ""], counter)
    if summary.startswith(HEADER):
        said = " ".join(" ".join(f"{turn.user_text} {turn.assistant_text}" for turn in shown).split())
        summary = without_lines(
            summary, lambda line: line.rstrip(" …") in said or words.tell(line) or not reading.tells(line)
        )
    part.offer_lines(words.untold(summary.splitlines()), counter)


def _memories(part: TierPart, inputs: ContextInputs, counter: TokenCounter) -> None:
    """Take the lines of the block, which always stay the same, then events, the latest first, and changes of notes."""
    block = inputs.block
    lasting = block.lasting if block.open or not block.more_line else (*block.lasting, block.more_line)
    sections: tuple[tuple[_Section, Sequence[str]], ...] = (
        ("lasting", lasting), ("events", inputs.since.events[::-1]), ("changed", inputs.since.changed),
    )  # fmt: skip
    for section, lines in sections:
        for line in lines:
            part.offer((section, line), 1 + counter.count(line))


def _retrieved(part: TierPart, inputs: ContextInputs, history: TierPart, counter: TokenCounter) -> None:
    """Take the best items that fit; none that stands verbatim in the history."""
    stored = {turn.turn_id: turn for turn in inputs.history}
    shown = {turn.turn_id for turn in history.values if is_said(turn, stored[turn.turn_id])}
    packet = _bare(inputs)
    for item in inputs.retrieved:
        if shown & {item.ref, item.text}:
            continue
        shown |= {item.ref, item.text}
        cost = 1 + counter.count(packet_text.retrieved_line(item, packet))
        if cost > part.budget // 2:
            text = clip_to_tokens(item.text, part.budget // 2 - _LINE_TOKENS - counter.count(item.note), counter)
            item = item.model_copy(update={"text": text})  # noqa: PLW2901 - the shortened item stands for the long one
            cost = 1 + counter.count(packet_text.retrieved_line(item, packet))
        part.offer(item, cost)


def _cut(parts: Mapping[Tier, TierPart], over: int, counter: TokenCounter) -> None:
    """Take `over` tokens out in the cut order; of the history the last exchange stays, shortened if need be."""
    goal = sum(part.used for part in parts.values()) - over
    for tier in CUT_ORDER:
        part = parts[tier]
        keep = 1 if tier == "history" else 0
        while sum(each.used for each in parts.values()) > goal and len(part.items) > keep:
            part.drop()
    rest = sum(part.used for part in parts.values()) - goal
    history = parts["history"]
    if rest > 0 and history.items:
        turn, before = history.items.pop()
        shorten_into(history, turn, max(MIN_HISTORY_TOKENS, before - rest), counter)


def _bare(inputs: ContextInputs) -> ConversationContextPacket:
    """Return the packet of a moment, with nothing in it yet."""
    state, moment = inputs.state, inputs.moment
    return ConversationContextPacket(
        conversation_id=state.conversation_id,
        session_id=state.session_id,
        session_status=state.status,
        time_zone=moment.time_zone,
        has_times=moment.has_times,
        local_time=moment.local_time,
        person=moment.person,
        person_id=moment.person_id,
        is_group=moment.is_group,
        speakers=dict(moment.speakers),
        context_compiled_at_ms=moment.now_ms,
    )


def _packet(inputs: ContextInputs, parts: Mapping[Tier, TierPart]) -> ConversationContextPacket:
    """Return the packet that the parts make up, with a receipt for each tier."""
    state, fields = inputs.state, inputs.fields
    turns = tuple(sorted(parts["history"].values, key=lambda turn: turn.seq))
    missing, summary = _missing(inputs, parts["history"]), parts["summary"].values
    standing = summary[:1] if inputs.reading.standing else []
    of_notes: dict[_Section, list[str]] = {"changed": [], "events": [], "lasting": []}
    for section, line in parts["memories"].values:
        of_notes[section].append(line)
    update: dict[str, Any] = {
        "recent_turn_summaries": tuple(map(_turn_line, turns[-MIN_TURNS:])),
        "rolling_session_summary": "\n".join(summary[len(standing) :]),
        "standing": "".join(standing),
        "active_topics": (fields.title,) if fields.title else (),
        "active_job_refs": fields.job_refs,
        "jobs": fields.jobs,
        "pending_clarifications": pending(turns[-1] if turns else None),
        "open_loops": fields.loops,
        "resolved_entities_map": dict(fields.entities),
        "last_response_type": state.last_response_type,
        "history": turns,
        "taken_back": tuple(sorted(inputs.taken_back)),
        "edited": tuple(turn.turn_id for turn in turns if turn.turn_id in state.edited),
        "history_truncated": missing > 0,
        "notes_lasting": "\n".join(of_notes["lasting"]),
        "threads": "\n".join(parts["threads"].values),
        "notes_mark": inputs.block.mark,
        "notes_changed": "\n".join(of_notes["changed"]),
        "notes_events": "\n".join(reversed(of_notes["events"])),
        "today": "\n".join(reversed(parts["today"].values)),
        "last_conversation": "\n".join(reversed(parts["last_conversation"].values)),
        "retrieved": tuple(parts["retrieved"].values),
        "bootstrap": inputs.reserved.bootstrap,
        "files": inputs.reserved.files,
        "files_title": inputs.reserved.files_title,
        "receipts": tuple(parts[tier].receipt(missing) for tier in TIERS),
    }
    return _bare(inputs).model_copy(update=update)


def fields_of(ledger: Ledger, scope: Scope, title: str, now_ms: int) -> Fields:
    """Return the fields of 002 as views of the ledger."""
    notes = within(ledger, scope)
    waiting = to_do(notes, now_ms)[:MAX_FIELD_ITEMS]
    running = to_ring(notes)[:MAX_FIELD_ITEMS]
    return Fields(
        title=title,
        loops=loops_of(waiting, now_ms),
        job_refs=job_refs_of(running),
        jobs=tuple(
            JobProgress(job_id=note.note_id, title=note.text, status="scheduled", due_at_ms=note.rings_at_ms)
            for note in running
        ),
        entities=entities_of(waiting, now_ms),
    )


def pending(turn: ConversationTurn | None) -> tuple[PendingClarification, ...]:
    """Return the question that waits for an answer: the last sentence of the last reply, when it asks (002)."""
    said = turn.assistant_text.rstrip(_CLOSING) if turn else ""
    if turn is None or not said.endswith(ASKING):
        return ()
    return (
        PendingClarification(
            question=last_sentences(said, ASKED_CHARS),
            turn_id=turn.turn_id,
            asked_seq=turn.seq,
            asked_at_ms=turn.created_at_ms,
        ),
    )


def _turn_line(turn: ConversationTurn) -> str:
    """Return one turn on one line (002 section 3.3, recent_turn_summaries)."""
    user, assistant = (" ".join(clip(text, _LINE_CHARS).split()) for text in (turn.user_text, turn.assistant_text))
    return f"user: {user} | assistant: {assistant}"
