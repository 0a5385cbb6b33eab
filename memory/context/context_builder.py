"""Build the packet: six tiers, each within its own budget, then the cap with its cut order (003, DESIGN section 7).

Pure: whatever it is given, `build` returns a packet; a tier that cannot be built is left out and its receipt says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memory.context import packet_text
from memory.context.budget import (
    CUT_ORDER,
    FIRST_TURN_TOKENS,
    FRAME_TOKENS,
    MIN_HISTORY_TOKENS,
    MIN_TURNS,
    TIERS,
    Budget,
)
from memory.context.compaction import verbatim
from memory.context.packet_text import prompt, reference_text, stable_text, turn_text
from memory.context.transcript import abridge, clip, clip_to_tokens, clip_tools, turn_messages, turn_tokens
from memory.ports import TokenCounter
from memory.types import (
    ConversationContextPacket,
    ConversationTurn,
    JobProgress,
    OpenLoop,
    PendingClarification,
    RetrievedItem,
    SessionState,
    Tier,
    TierReceipt,
)

__all__ = [
    "MAX_THREADS",
    "ContextInputs",
    "build",
    "prompt",
    "reference_text",
    "select_threads",
    "stable_text",
    "turn_text",
]

MAX_THREADS: Final = 5
"""Open loops that are shown at most (003 AC-3.4)."""

STALE_THREAD_MS: Final = 7 * 24 * 3600 * 1000
"""Open loops untouched for longer come last (003 AC-3.3)."""

_FRAME_ITEMS: Final = 5
_ROUNDS: Final = 4
_MIN_ABRIDGED_TOKENS: Final = 60
_LINE_TOKENS: Final = 16
_MIN_NOTE_CHARS: Final = 12
_LABEL: Final = re.compile(r"^\s*[-•]\s+(?:[^\W\d_]+(?: [^\W\d_]+)?: )?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextInputs:
    """Everything that a packet is made of; what is missing stays empty."""

    state: SessionState
    history: Sequence[ConversationTurn] = ()
    """Turns of the session that may be shown verbatim, in any order."""
    retrieved: Sequence[RetrievedItem] = ()
    """Best first."""
    today: Sequence[str] = ()
    """What was said earlier today in other sessions, one matter a line, the most important first."""
    threads: Sequence[OpenLoop] | None = None
    """Open loops of this and earlier sessions; None: only those of the state."""
    last_conversation: str = ""
    lent: Mapping[Tier, int] = field(default_factory=dict)
    """Tokens that a tier may take beside its own: a short history needs fewer (`Budget.lent`)."""
    jobs: Sequence[JobProgress] = ()
    bootstrap: str = ""
    """Part of the instructions: always whole, since a cut would take its guardrails; taken out of the cap first."""
    tools_tokens: int = 0
    message_tokens: int = 0
    """Of `reserved_tokens`, what the descriptions of tools and the new message take; the rest are instructions."""
    reserved_tokens: int = 0
    """What the rest of the prompt (instructions, the new message) takes out of the cap."""
    errors: Mapping[Tier, str] = field(default_factory=dict)
    """Tiers that could not be gathered, and why."""
    now_ms: int
    local_time: str = ""
    speakers: Mapping[int, str] = field(default_factory=dict)
    """Names of those who speak in a group."""
    is_group: bool = False
    person: str = ""
    """Who wrote the message that is answered."""
    person_id: int | None = None


@dataclass(slots=True)
class _Part:
    """One tier on its way into the packet: its items, the most precious first, with their tokens."""

    tier: Tier
    budget: int
    items: list[tuple[Any, int]] = field(default_factory=list)
    cut_items: int = 0
    cut_tokens: int = 0
    error: str | None = None

    @property
    def used(self) -> int:
        return sum(tokens for _, tokens in self.items)

    @property
    def values(self) -> list[Any]:
        return [value for value, _ in self.items]

    def leave_out(self, tokens: int) -> None:
        self.cut_items += 1
        self.cut_tokens += tokens

    def drop(self) -> None:
        self.leave_out(self.items.pop()[1])

    def offer(self, value: Any, tokens: int) -> bool:
        """Take the item if it fits into what is left of the tier's budget."""
        if self.used + tokens > self.budget:
            self.leave_out(tokens)
            return False
        self.items.append((value, tokens))
        return True


class _Known:
    """What the prompt says already, so that nothing is told twice: the bootstrap, the history, then each note taken."""

    def __init__(self, bootstrap: str, history: Sequence[ConversationTurn]) -> None:
        said = (bootstrap, *(text for turn in history for text in (turn.user_text, turn.assistant_text)))
        self._said = "\n".join(map(_plain, said))

    def tells(self, note: str) -> bool:
        """Return whether the prompt says this word by word."""
        plain = _plain(note)
        return len(plain) >= _MIN_NOTE_CHARS and plain in self._said

    def add(self, note: str) -> None:
        """Remember a note that was taken into the packet."""
        self._said += f"\n{_plain(note)}"

    def new(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that tell something new; a heading with nothing left under it goes too."""
        fresh: list[str] = []
        for line in lines:
            if not self.tells(line):
                fresh.append(line)
                self.add(line)
        return [line for n, line in enumerate(fresh) if not line.endswith(":") or "".join(fresh[n + 1 : n + 2])]


def _plain(text: str) -> str:
    """Return a note without what it is called ("- Stated: "), its case and its final stop."""
    return " ".join(_LABEL.sub("", text.lower()).split()).rstrip(".!")


def build(inputs: ContextInputs, budget: Budget, counter: TokenCounter) -> ConversationContextPacket:
    """Return the packet for the next model call; never raises.

    Each tier keeps to its budget, all together to the cap less `reserved_tokens` (but never less than what must
    always fit: the exchange that a short reply answers and the open question).
    """
    parts = {tier: _part(tier, inputs, budget) for tier in TIERS}
    _guarded(parts["history"], lambda part: _history(part, inputs, budget, counter))
    missing = _missing(inputs, parts["history"])
    known = _Known(inputs.bootstrap, parts["history"].values)
    _guarded(parts["summary"], lambda part: _summary(part, inputs.state, missing, counter))
    _guarded(parts["threads"], lambda part: _threads(part, inputs, known, counter))
    _guarded(parts["retrieved"], lambda part: _retrieved(part, inputs.retrieved, parts["history"], known, counter))
    _guarded(parts["today"], lambda part: _lines(part, known.new(inputs.today), counter))
    last = inputs.last_conversation.splitlines()
    _guarded(parts["last_conversation"], lambda part: _lines(part, known.new(last), counter))
    reserved = max(0, inputs.reserved_tokens) + counter.count(inputs.bootstrap)
    room = max(budget.cap_tokens - reserved, MIN_HISTORY_TOKENS + FRAME_TOKENS)
    frame = _frame(inputs, counter)
    packet = _packet(inputs, parts, frame)
    for _ in range(_ROUNDS):
        over = parts["history"].used + packet_text.tokens(packet, counter) - room
        if over <= 0:
            break
        _cut(parts, over, counter)
        packet = _packet(inputs, parts, frame)
    tiers = sum(part.used for tier, part in parts.items() if tier != "history")
    frame_tokens = max(0, packet_text.tokens(packet, counter) - tiers)
    beside = _beside(inputs, counter.count(inputs.bootstrap))
    return packet.model_copy(update=beside | {"frame_tokens": frame_tokens})


def _part(tier: Tier, inputs: ContextInputs, budget: Budget) -> _Part:
    """Return an empty tier; one that is switched off stays so."""
    own = budget.tokens(tier)
    return _Part(tier, own + inputs.lent.get(tier, 0) if own else 0, error=inputs.errors.get(tier))


def _beside(inputs: ContextInputs, bootstrap_tokens: int) -> dict[str, int]:
    """Return what stands in the prompt beside the tiers."""
    return {
        "instructions_tokens": max(0, inputs.reserved_tokens - inputs.tools_tokens - inputs.message_tokens),
        "tools_tokens": inputs.tools_tokens,
        "bootstrap_tokens": bootstrap_tokens,
        "message_tokens": inputs.message_tokens,
    }


def select_threads(loops: Sequence[OpenLoop], now_ms: int) -> list[OpenLoop]:
    """Return the open loops worth showing: due ones and the latest touched first, older than 7 days last, at most 5."""
    unique = {" ".join(loop.text.lower().split()): loop for loop in reversed(loops) if loop.status == "open"}

    def rank(loop: OpenLoop) -> tuple[bool, bool, int, str]:
        stale = now_ms - max(loop.touched_at_ms, loop.opened_at_ms) > STALE_THREAD_MS
        due = loop.due_at_ms is not None and loop.due_at_ms - now_ms < STALE_THREAD_MS
        return (stale and not due, not due, -max(loop.touched_at_ms, loop.opened_at_ms), loop.loop_id)

    return sorted(unique.values(), key=rank)[:MAX_THREADS]


def _guarded(part: _Part, fill: Callable[[_Part], None]) -> None:
    """Fill one tier; whatever goes wrong in it leaves only this tier out (003 NFR-002)."""
    if part.error or not part.budget:
        return
    try:
        fill(part)
    except Exception as error:  # noqa: BLE001 - no conversation fails because of its memory
        part.items.clear()
        part.error = f"{type(error).__name__}: {error}"


def _history(part: _Part, inputs: ContextInputs, budget: Budget, counter: TokenCounter) -> None:
    """Take turns while they fit: the last three, the first, those that a compaction kept, the others, newest first.

    Of the last three the one at the edge is shortened rather than lost; behind it there is no room for others.
    """
    waiting = _by_worth(inputs)[::-1]
    messages = 0
    while waiting:
        turn = clip_tools(waiting[-1], budget.tool_output_max_chars)
        if turn.seq == 1 and len(part.items) >= MIN_TURNS and turn_tokens(turn, counter) > FIRST_TURN_TOKENS:
            turn = abridge(turn, FIRST_TURN_TOKENS, counter)
        messages += turn_messages(turn)
        cost = turn_tokens(turn, counter)
        if messages > budget.max_history_messages or part.used + cost > part.budget:
            break
        part.items.append((turn, cost))
        waiting.pop()
    if waiting and len(part.items) < MIN_TURNS and messages <= budget.max_history_messages:
        _shorten_into(part, waiting.pop(), part.budget - part.used, counter)
    for turn in waiting:
        part.cut_tokens += turn_tokens(turn, counter)


def _by_worth(inputs: ContextInputs) -> list[ConversationTurn]:
    """Return the turns that may be shown, the most precious first; a cut takes them from the end."""
    turns = verbatim(inputs.state, inputs.history)[::-1]
    kept = set(inputs.state.compaction.kept_seqs) if inputs.state.compaction else set()
    last, older = turns[:MIN_TURNS], turns[MIN_TURNS:]
    return [
        *last,
        *(turn for turn in older if turn.seq == 1),
        *(turn for turn in older if turn.seq in kept and turn.seq != 1),
        *(turn for turn in older if turn.seq not in kept and turn.seq != 1),
    ]


def _shorten_into(part: _Part, turn: ConversationTurn, room: int, counter: TokenCounter) -> None:
    """Put the turn into the history at the size of `room`, or leave it out where that would say nothing."""
    before = turn_tokens(turn, counter)
    if part.items and room < _MIN_ABRIDGED_TOKENS:
        part.cut_tokens += before
        return
    short = abridge(turn, room, counter)
    after = turn_tokens(short, counter)
    part.items.append((short, after))
    part.cut_tokens += max(0, before - after)


def _missing(inputs: ContextInputs, history: _Part) -> int:
    """Return how many turns of the session are not shown verbatim."""
    last_seq = max((turn.seq for turn in inputs.history), default=0)
    return max(0, max(inputs.state.last_seq, last_seq) - len(history.items))


def _summary(part: _Part, state: SessionState, missing: int, counter: TokenCounter) -> None:
    """Take the compaction's summary, or the rolling one when turns are missing from the history."""
    if state.compaction:
        _lines(part, state.compaction.summary.splitlines(), counter)
    elif missing:
        _lines(part, state.rolling_summary.splitlines(), counter)


def _retrieved(
    part: _Part, items: Sequence[RetrievedItem], history: _Part, known: _Known, counter: TokenCounter
) -> None:
    """Take the best items that fit; what the history already shows is not said twice."""
    shown = {turn.turn_id for turn in history.values}
    for item in items:
        if shown & {item.ref, item.text} or known.tells(item.text):
            continue
        shown |= {item.ref, item.text}
        cost = 1 + counter.count(packet_text.retrieved_line(item))
        if cost > part.budget // 2:
            text = clip_to_tokens(item.text, part.budget // 2 - _LINE_TOKENS, counter)
            item = item.model_copy(update={"text": text})  # noqa: PLW2901 - the shortened item stands for the long one
            cost = 1 + counter.count(packet_text.retrieved_line(item))
        if part.offer(item, cost):
            known.add(item.text)


def _threads(part: _Part, inputs: ContextInputs, known: _Known, counter: TokenCounter) -> None:
    """Take the open loops worth showing, each on a line of its own, but none that the history shows anyway."""
    loops = inputs.state.open_loops if inputs.threads is None else inputs.threads
    for loop in select_threads(loops, inputs.now_ms):
        if known.tells(loop.text):
            continue
        short = loop.model_copy(update={"text": clip_to_tokens(loop.text, part.budget // 3, counter)})
        if part.offer(short, 1 + counter.count(packet_text.thread_line(short, inputs.now_ms))):
            known.add(loop.text)


def _lines(part: _Part, lines: Sequence[str], counter: TokenCounter) -> None:
    """Take the lines that fit, in their order; a single line that is too long for the tier is clipped."""
    for line in filter(None, (line.rstrip() for line in lines)):
        text = line
        cost = 1 + counter.count(text)
        if cost > part.budget:
            part.cut_tokens += cost - part.budget
            text = clip_to_tokens(line, part.budget - 1, counter)
            cost = 1 + counter.count(text)
        part.offer(text, cost)


def _cut(parts: Mapping[Tier, _Part], over: int, counter: TokenCounter) -> None:
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
        _shorten_into(history, turn, max(MIN_HISTORY_TOKENS, before - rest), counter)


@dataclass(frozen=True, slots=True)
class _Frame:
    """What is told beside the tiers: small, bounded, never cut by the cap."""

    topics: tuple[str, ...]
    entities: dict[str, str]
    jobs: tuple[JobProgress, ...]
    clarifications: tuple[PendingClarification, ...]


def _frame(inputs: ContextInputs, counter: TokenCounter) -> _Frame:
    """Return topics, what is meant by "it", jobs and the open question, each short and few."""
    state = inputs.state
    topics = sorted(state.active_topics, key=lambda topic: (-topic.weight, topic.name))[:_FRAME_ITEMS]
    return _Frame(
        topics=tuple(clip_to_tokens(topic.name, 8, counter) for topic in topics),
        entities={clip_to_tokens(name, 8, counter): ref for name, ref in list(state.resolved_entities.items())[-3:]},
        jobs=tuple(_short_job(job, counter) for job in inputs.jobs[:3]),
        clarifications=tuple(_short_question(asked, counter) for asked in state.pending_clarifications[-1:]),
    )


def _short_job(job: JobProgress, counter: TokenCounter) -> JobProgress:
    title, progress = clip_to_tokens(job.title, 16, counter), clip_to_tokens(job.progress, 8, counter)
    return job.model_copy(update={"title": title, "progress": progress})


def _short_question(asked: PendingClarification, counter: TokenCounter) -> PendingClarification:
    options = tuple(clip_to_tokens(option, 10, counter) for option in asked.options[:_FRAME_ITEMS])
    question = clip_to_tokens(asked.question, 70, counter, "answer")
    return asked.model_copy(update={"question": question, "options": options})


def _packet(inputs: ContextInputs, parts: Mapping[Tier, _Part], frame: _Frame) -> ConversationContextPacket:
    """Return the packet that the parts make up, with a receipt for each tier."""
    state = inputs.state
    turns = tuple(sorted(parts["history"].values, key=lambda turn: turn.seq))
    loops = tuple(parts["threads"].values)
    missing = _missing(inputs, parts["history"])
    return ConversationContextPacket(
        conversation_id=state.conversation_id,
        session_id=state.session_id,
        session_status=state.status,
        recent_turn_summaries=tuple(map(_turn_line, turns[-MIN_TURNS:])),
        rolling_session_summary="\n".join(parts["summary"].values),
        active_topics=frame.topics,
        active_job_refs=state.active_job_refs,
        jobs=frame.jobs,
        pending_clarifications=frame.clarifications,
        open_loops=loops,
        resolved_entities_map=frame.entities,
        last_response_type=state.last_response_type,
        history=turns,
        history_truncated=missing > 0,
        retrieved=tuple(parts["retrieved"].values),
        today="\n".join(parts["today"].values),
        threads="\n".join(packet_text.thread_line(loop, inputs.now_ms) for loop in loops),
        last_conversation="\n".join(parts["last_conversation"].values),
        local_time=inputs.local_time,
        speakers=dict(inputs.speakers),
        person=inputs.person,
        person_id=inputs.person_id,
        is_group=inputs.is_group,
        bootstrap=inputs.bootstrap,
        receipts=tuple(_receipt(parts[tier], missing) for tier in TIERS),
        context_compiled_at_ms=inputs.now_ms,
    )


def _receipt(part: _Part, missing: int) -> TierReceipt:
    return TierReceipt(
        tier=part.tier,
        budget_tokens=part.budget,
        used_tokens=part.used,
        items=len(part.items),
        cut_items=missing if part.tier == "history" else part.cut_items,
        cut_tokens=part.cut_tokens,
        error=part.error,
    )


def _turn_line(turn: ConversationTurn) -> str:
    """Return one turn on one line (002 section 3.3, recent_turn_summaries)."""
    user, assistant = (" ".join(clip(text, 400).split())[:120] for text in (turn.user_text, turn.assistant_text))
    return f"user: {user} | assistant: {assistant}"
