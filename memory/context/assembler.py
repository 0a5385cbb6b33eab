"""Gather what a packet is made of and build it: history, search, today, threads, last conversation, jobs (003).

Every tier is gathered by itself; one that fails is left out, logged, and named in its receipt.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol, TypeVar

from pydantic import ValidationError

from memory.context.budget import Budget
from memory.context.compaction import verbatim
from memory.context.context_builder import ContextInputs, build
from memory.context.earlier import CACHED_SESSIONS, EarlierSessions, Ending, by_day
from memory.context.transcript import NOBODY, turn_tokens, user_message
from memory.language.intents import read_sentences
from memory.language.languages import Languages
from memory.language.reported import is_small_talk
from memory.notes.current import STATES_READ, CurrentNotes
from memory.notes.lines import loop_of
from memory.notes.types import Matter
from memory.notes.view import NotesView, loops
from memory.ports import TokenCounter
from memory.search.query import Query
from memory.storage.store import SessionRow, Store
from memory.types import (
    ConversationContextPacket,
    ConversationTurn,
    JobProgress,
    OpenLoop,
    RetrievedItem,
    SessionState,
    Tier,
)
from memory.zones import zone_of

MAX_RETRIEVED: Final = 12
MAX_RETRIEVED_FOR_A_STATEMENT: Final = 6
MIN_RETRIEVED: Final = 6
"""So much is offered for a question, however far it is behind the best."""
YOUNG_TURNS: Final = 6
"""A session of fewer turns shows little of the past by itself: whatever is said in it is looked up like a question."""
MAX_OTHER_SESSIONS: Final = 8
"""At most this many sessions of the conversation are looked at for today, threads and the last conversation."""

_RELEVANT: Final = 0.5
_FOLLOW_UP_WORDS: Final = 5
_FOLLOWED_CHARS: Final = 300
log = logging.getLogger(__name__)
T = TypeVar("T")

Names = Callable[[Collection[int]], Awaitable[Mapping[int, str]]]
"""User id → name, of those that are known."""


class SearchPort(Protocol):
    """What is used of `memory.search.searcher.SearchPort`."""

    async def search(self, query: Query) -> list[RetrievedItem]:
        """Return older turns and memories that bear on the query, best first."""
        ...


def nothing_at_hand(_: str) -> Sequence[ConversationTurn]:
    """Return no turns: every one is read."""
    return ()


class Assembler:
    """Builds the packet of a session; keeps the turns of sessions in use at hand, so that a turn costs one read."""

    def __init__(
        self,
        store: Store,
        searcher: SearchPort | None,
        budget: Budget,
        languages: Languages,
        counter: TokenCounter,
        *,
        notes: CurrentNotes | None = None,
        at_hand: Callable[[str], Sequence[ConversationTurn]] = nothing_at_hand,
    ) -> None:
        """`at_hand` returns turns of a session that somebody holds in memory: they need not be read."""
        self._at_hand = at_hand
        self._store = store
        self._searcher = searcher
        self._notes = notes
        self._budget = budget
        self._languages = languages
        self._counter = counter
        self._turns: OrderedDict[str, dict[int, ConversationTurn]] = OrderedDict()
        self._earlier = EarlierSessions(store, budget, languages, counter)

    async def packet(
        self,
        state: SessionState,
        message: str,
        *,
        now_ms: int,
        time_zone: str = "UTC",
        isolated: bool | None = None,
        bootstrap: str = "",
        reserved_tokens: int = 0,
        tools_tokens: int = 0,
        person: str = "",
        person_id: int | None = None,
        names: Names | None = None,
    ) -> ConversationContextPacket:
        """Return the packet for the model call that answers `message`; never raises.

        `isolated` (default: the state's own) keeps everything of other sessions out of every tier (/fresh).
        `reserved_tokens` is what instructions and tools take (`tools_tokens` of them the tools); the message is added
        here, so that the whole prompt keeps to the cap. `person` is who wrote it; in a group `names` tells who the
        others are, and only what `person_id` said stands there as it was said: the others are quoted.
        """
        alone = state.isolated if isolated is None else isolated
        errors: dict[Tier, str] = {}
        history = await self._tier("history", errors, lambda: self.history(state), list[ConversationTurn]())
        rows = await self._tier("today", errors, lambda: self._sessions(state, alone=alone), None)
        others = [row for row in rows or () if row.session_id != state.session_id][:MAX_OTHER_SESSIONS]
        if "today" in errors:
            errors["last_conversation"] = errors["today"]
        midnight_ms = _midnight_ms(now_ms, time_zone)
        today, before = by_day(others, midnight_ms)
        view = await self._tier("threads", errors, lambda: self._view(state, rows, alone=alone), NotesView())
        said_tokens = self._counter.count(user_message(message))
        lent = self._budget.lent(sum(turn_tokens(turn, self._counter) for turn in history))
        ending = await self._tier(
            "last_conversation", errors, lambda: self._earlier.ending(others[:1], view, time_zone, lent), Ending()
        )
        told = {*(turn.turn_id for turn in history), *ending.turn_ids}
        inputs = ContextInputs(
            state=state,
            history=history,
            retrieved=await self._tier(
                "retrieved", errors, lambda: self._search(state, message, history, told, now_ms, alone=alone), []
            ),
            today=await self._tier(
                "today", errors, lambda: self._earlier.today(today, view, midnight_ms, time_zone, ending), []
            ),
            threads=await self._tier("threads", errors, lambda: self._threads(state, others, view), ()),
            last_conversation=await self._tier(
                "last_conversation", errors, lambda: self._earlier.last(before, view, now_ms, time_zone, ending), ""
            ),
            lent={"today" if today else "last_conversation": lent},
            jobs=await self._jobs(state, alone=alone),
            bootstrap="" if alone else bootstrap,
            tools_tokens=tools_tokens,
            message_tokens=said_tokens,
            reserved_tokens=reserved_tokens + said_tokens,
            errors=errors,
            now_ms=now_ms,
            local_time=f"{datetime.fromtimestamp(now_ms / 1000, zone_of(time_zone)):%A %H:%M}",
            person=person,
            person_id=person_id,
            is_group=names is not None,
            speakers=await self._speakers(history, names),
        )
        packet = build(inputs, self._budget, self._counter)
        _log(packet, state)
        return packet

    async def history(self, state: SessionState) -> list[ConversationTurn]:
        """Return the turns of the session that may be shown verbatim, oldest first.

        One turn more than `max_history_messages` (so that a compaction sees that the limit is reached), and the older
        ones that a compaction kept; a session in use is read only where it has grown. Raises `StorageUnavailable`.
        """
        if not state.last_seq:
            return []
        known = self._turns.pop(state.session_id, {})
        first = max(1, state.last_seq - self._budget.max_history_turns)
        first = max(first, state.compaction.history_from_seq) if state.compaction else first
        kept = state.compaction.kept_seqs if state.compaction else ()
        known |= {turn.seq: turn for turn in self._at_hand(state.session_id)}
        held = {seq: turn for seq, turn in known.items() if first <= seq <= state.last_seq or seq in kept}
        for start, end in _gaps(held, first, state.last_seq, kept):
            for turn in await self._store.turns_between(state.session_id, start, end):
                held[turn.seq] = turn
        self._turns[state.session_id] = held
        while len(self._turns) > CACHED_SESSIONS:
            self._turns.popitem(last=False)
        return verbatim(state, list(held.values()))

    def clear_cache(self) -> None:
        """Let go of everything kept in memory; call it when turns were deleted or healed (P13)."""
        self._turns.clear()
        self._earlier.clear_cache()

    def evict(self, belongs: Callable[[str], bool]) -> None:
        """Drop what is kept of these conversations."""
        gone = [
            key for key, kept in self._turns.items() if any(belongs(turn.conversation_id) for turn in kept.values())
        ]
        for key in gone:
            del self._turns[key]
        self._earlier.clear_cache()

    async def _tier(self, tier: Tier, errors: dict[Tier, str], gather: Callable[[], Awaitable[T]], nothing: T) -> T:
        """Return what was gathered; when it fails the tier is left out and the turn goes on (003 NFR-002)."""
        if tier in errors:
            return nothing
        try:
            return await gather()
        except Exception as error:  # noqa: BLE001 - no conversation fails because of its memory
            errors[tier] = f"{type(error).__name__}: {error}"
            log.warning("the %s tier is left out of the packet: %s", tier, errors[tier])
            return nothing

    async def _speakers(self, history: Sequence[ConversationTurn], names: Names | None) -> Mapping[int, str]:
        """Return who is who in a group; nobody in a conversation of one person, or when it cannot be told now."""
        if names is None:
            return NOBODY
        try:
            return await names({turn.user_id for turn in history if turn.user_id is not None})
        except Exception as error:  # noqa: BLE001 - no conversation fails because of its memory
            log.warning("the names of a group are left out of the packet: %s", error)
            return NOBODY

    async def _sessions(self, state: SessionState, *, alone: bool) -> list[SessionRow] | None:
        """Return the conversation's sessions, the latest first; None for a session that was started fresh."""
        return None if alone else await self._store.sessions(state.conversation_id, limit=STATES_READ)

    async def _search(
        self,
        state: SessionState,
        message: str,
        history: Sequence[ConversationTurn],
        told: Collection[str],
        now_ms: int,
        *,
        alone: bool,
    ) -> list[RetrievedItem]:
        """Return what bears on the message beside what is told anyway (turn ids); nothing for small talk."""
        language = self._languages.detect(message)
        if self._searcher is None or not self._budget.retrieved_tokens or is_small_talk(message, language):
            return []
        asked = len(history) < YOUNG_TURNS or any(each.asks for each in read_sentences(message, language))
        wanted = _query(message, history)
        found = await self._searcher.search(
            Query(
                state.conversation_id,
                wanted,
                language=language.code if wanted == message else None,
                session_ids=[state.session_id] if alone else None,
                exclude_turn_ids=sorted(told),
                limit=MAX_RETRIEVED if asked else MAX_RETRIEVED_FOR_A_STATEMENT,
                now_ms=now_ms,
                open_turn_ids=[loop.turn_id for loop in state.open_loops if loop.status == "open"],
            )
        )
        relevant = _relevant(found, MIN_RETRIEVED if asked else 0)
        return [item for item in relevant if not alone or item.session_id == state.session_id]

    async def _view(self, state: SessionState, rows: Sequence[SessionRow] | None, *, alone: bool) -> NotesView:
        """Return what is alive in the conversation, or in this session alone."""
        if self._notes is None:
            return NotesView()
        only = state.session_id if alone else None
        return await self._notes.view(state.conversation_id, only=only, catch_up=False, rows=rows)

    async def _threads(
        self, state: SessionState, others: Sequence[SessionRow], view: NotesView
    ) -> tuple[OpenLoop, ...]:
        """Return what is open: the matters that were noted, and the loops of this session and of those not read."""
        elsewhere = [each for each in loops(view) if each.session_id != state.session_id]
        noted = [loop_of(each.note) for each in elsewhere if isinstance(each.note, Matter)]
        unread = [row for row in others if row.session_id not in view.session_ids]
        return (*noted, *state.open_loops, *(loop for row in unread for loop in _loops(row)))

    async def _jobs(self, state: SessionState, *, alone: bool) -> list[JobProgress]:
        """Return the running jobs with their progress; without them rather than not at all."""
        try:
            jobs = await self._store.active_jobs(state.conversation_id)
        except Exception as error:  # noqa: BLE001 - no conversation fails because of its memory
            log.warning("the running jobs are left out of the packet: %s", error)
            return []
        return [job for job in jobs if not alone or job.job_id in state.active_job_refs]


def _query(message: str, history: Sequence[ConversationTurn]) -> str:
    """Return what to search for; a short question ("and how much?") goes together with what the person said before."""
    follows = history and "?" in message and len(message.split()) <= _FOLLOW_UP_WORDS
    return f"{message} {history[-1].user_text[:_FOLLOWED_CHARS]}" if follows else message


def _relevant(found: Sequence[RetrievedItem], least: int) -> list[RetrievedItem]:
    """Return the first `least` and what is not far behind the best: on LoCoMo half hold 99 % of the evidence."""
    best = max((item.score for item in found), default=0.0)
    return [item for n, item in enumerate(found) if n < least or item.score >= best - abs(best) * _RELEVANT]


def _gaps(held: Collection[int], first: int, last: int, kept: Sequence[int]) -> list[tuple[int, int]]:
    """Return the stretches that have to be read: the window's missing part, and each kept turn that is missing."""
    missing = [seq for seq in range(first, last + 1) if seq not in held]
    window = [(missing[0], missing[-1])] if missing else []
    return window + [(seq, seq) for seq in kept if seq not in held and seq < first]


def _loops(row: SessionRow) -> tuple[OpenLoop, ...]:
    """Return the open loops of another session; none when its state cannot be read."""
    if '"open"' not in row.state_json:
        return ()
    try:
        state = SessionState.model_validate_json(row.state_json)
    except ValidationError as error:
        log.warning(
            "the open loops of session %s are left out: %d faults in its state", row.session_id, error.error_count()
        )
        return ()
    return tuple(loop for loop in state.open_loops if loop.status == "open")


def _midnight_ms(now_ms: int, time_zone: str) -> int:
    """Return when the day began where the user is."""
    now = datetime.fromtimestamp(now_ms / 1000, zone_of(time_zone))
    return int(now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp() * 1000)


def _log(packet: ConversationContextPacket, state: SessionState) -> None:
    """Say how much was loaded and cut (000 section 5); no text of anybody."""
    receipts = {receipt.tier: receipt for receipt in packet.receipts}
    log.info(
        "packet of session %s: %d of %d turns, %d tokens (%s)",
        packet.session_id,
        len(packet.history),
        state.last_seq,
        sum(receipt.used_tokens for receipt in packet.receipts),
        ", ".join(f"{tier} {receipt.used_tokens}" for tier, receipt in receipts.items()),
    )
