"""Gather the pieces of a packet and build it: history, notes, earlier sessions, finds (003).

Every tier is gathered by itself; one that fails is left out, logged, and named in its receipt.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from memory.context.budget import Budget
from memory.context.compaction.plan import gap, verbatim
from memory.context.context_builder import ContextInputs, Moment, build, fields_of
from memory.context.earlier import CACHED_SESSIONS, UNREAD, EarlierSessions, SessionReading, beginning, title_of
from memory.context.finds import (
    SearchPort,
    find,
    of_this_world,
    replace_by_notes,
    with_forgotten,
    with_notes,
    with_over,
)
from memory.context.notes_block import (
    COLD_MS,
    MAX_OUTDATED,
    NO_BLOCK,
    NOTHING_SINCE,
    SINCE_TOKENS,
    Block,
    Since,
    since,
    since_taken,
    take,
)
from memory.context.occasion import (
    NOTHING_RESERVED,
    PLAIN,
    Need,
    Occasion,
    Reserved,
    need_of,
    speakers,
    without_ring,
)
from memory.context.tiers import shown_whole
from memory.context.transcript import local_time, user_message
from memory.keeper.session_lines import SessionLine, session_lines
from memory.ledger.ledgers import Ledgers
from memory.ledger.types import Ledger
from memory.ledger.undo import as_of
from memory.ledger.views import forgotten_turns
from memory.packets import ConversationContextPacket, RetrievedItem, Tier
from memory.ports import TokenCounter
from memory.search.query import Query
from memory.search.relevance import MAX_FINDS
from memory.state.notes_marks import mark_for, new_mark
from memory.storage.store import Store
from memory.types import ConversationTurn, NotesMark, SessionState

CACHED_BLOCKS: Final = 256

NO_TITLES: Final[Mapping[str, SessionLine]] = MappingProxyType({})
NO_SESSIONS: Final[tuple[list[str], list[str]]] = ([], [])

log = logging.getLogger(__name__)
T = TypeVar("T")


class Remembered(NamedTuple):
    """The ledger's part of a prompt."""

    ledger: Ledger
    block: Block = NO_BLOCK
    since: Since = NOTHING_SINCE

    @property
    def then(self) -> Ledger:
        """The ledger as the block tells it: later changes are told as news."""
        return self.block.ledger or self.ledger


class Past(NamedTuple):
    """Earlier sessions as a packet tells them."""

    silent: Collection[str]
    """Turns that are told nowhere."""
    titles: Mapping[str, SessionLine]
    today: Sequence[str]
    before: Sequence[str]
    reading: SessionReading

    @property
    def worked_on(self) -> set[str]:
        """The turns in which a text was worked on."""
        return {turn_id for line in self.titles.values() for turn_id in line.worked_on}


def moment_of(need: Need, occasion: Occasion, user_id: int | None, names: Mapping[int, str]) -> Moment:
    """The moment of a message, by its author's clock."""
    return Moment(
        now_ms=need.now_ms,
        time_zone=need.zone,
        has_times=occasion.times,
        local_time=local_time(need.now_ms, need.zone, known=occasion.zone_known),
        person=occasion.person,
        person_id=user_id,
        is_group=occasion.names is not None,
        speakers=names,
    )


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
        counter: TokenCounter,
        ledgers: Ledgers,
        *,
        at_hand: Callable[[str], Sequence[ConversationTurn]] = nothing_at_hand,
    ) -> None:
        """`at_hand` returns turns of a session that somebody holds in memory: they need not be read."""
        self._at_hand = at_hand
        self._store = store
        self._searcher = searcher
        self._budget = budget
        self._counter = counter
        self._ledgers = ledgers
        self._turns: OrderedDict[str, dict[int, ConversationTurn]] = OrderedDict()
        self._blocks: OrderedDict[tuple[str, NotesMark, str, frozenset[int]], Block] = OrderedDict()
        self._earlier = EarlierSessions(store, ledgers)
        self._near: set[str] = set()

    async def packet(
        self,
        state: SessionState,
        message: str,
        *,
        now_ms: int,
        user_id: int | None = None,
        occasion: Occasion = PLAIN,
        reserved: Reserved = NOTHING_RESERVED,
    ) -> ConversationContextPacket:
        """Return the packet for the model call that answers `message`; never raises.

        A session that was started fresh, or a scope of its own session, keeps everything of other sessions out of
        every tier. The notes that it begins with are those of the session's mark; without one they are taken now, and
        the packet carries the mark for the storing of the reply.
        """
        need, errors = need_of(state, message, occasion, now_ms), dict[Tier, str]()
        history = await self._tier("history", errors, self.history(state), list[ConversationTurn]())
        shown = shown_whole(state, history, self._budget, self._counter)
        nothing = Remembered(Ledger(state.conversation_id))
        remembered = await self._tier("memories", errors, self._remembered(need, shown), nothing)
        if "memories" in errors:
            errors["threads"] = errors["memories"]
        past = await self._past(need, remembered, errors)
        found, news = await self._finds(need, shown, remembered, past, errors)
        title = title_of(past.titles.get(state.session_id), beginning(history, past.silent), need.zone)
        inputs = ContextInputs(
            state=state,
            moment=moment_of(need, occasion, user_id, await speakers([*history, *found], occasion)),
            history=history,
            taken_back=self._taken_back(state),
            block=remembered.block,
            since=news,
            fields=fields_of(remembered.ledger, need.scope, title, now_ms),
            retrieved=found,
            reading=past.reading,
            today=past.today,
            last_conversation=past.before,
            reserved=reserved,
            message_tokens=self._counter.count(user_message(message)),
            errors=errors,
        )
        packet = build(inputs, self._budget, self._counter)
        self._report(packet, state)
        return packet

    async def history(self, state: SessionState) -> list[ConversationTurn]:
        """Return the turns of the session that may be shown verbatim, oldest first.

        One turn more than `max_history_messages`, so that a compaction sees that the limit is reached; a session in
        use is read only where it has grown. Raises `StorageUnavailable`.
        """
        if not state.last_seq:
            return []
        known = self._turns.pop(state.session_id, {})
        first = max(1, state.last_seq - self._budget.max_history_turns)
        mark = state.compaction
        first = min((max(first, mark.history_from_seq), *mark.kept_seqs)) if mark else first
        known |= {turn.seq: turn for turn in self._at_hand(state.session_id)}
        held = {seq: turn for seq, turn in known.items() if first <= seq <= state.last_seq}
        if missing := gap(held, first, state.last_seq):
            held |= {turn.seq: turn for turn in await self._store.turns_between(state.session_id, *missing)}
        self._turns[state.session_id] = held
        while len(self._turns) > CACHED_SESSIONS:
            self._turns.popitem(last=False)
        return verbatim(state, list(held.values()))

    def _taken_back(self, state: SessionState) -> frozenset[int]:
        """Return the seqs of turns at hand that were edited and answered again."""
        held = self._turns.get(state.session_id, {}).values() if state.undone else ()
        return frozenset(turn.seq for turn in held if turn.turn_id in state.undone)

    def clear_cache(self) -> None:
        """Let go of everything kept in memory; call it when turns were deleted or healed (P13)."""
        self._turns.clear()
        self._blocks.clear()
        self._earlier.clear_cache()

    def evict(self, belongs: Callable[[str], bool]) -> None:
        """Drop everything kept of these conversations."""
        for key, kept in list(self._turns.items()):
            if any(belongs(turn.conversation_id) for turn in kept.values()):
                del self._turns[key]
        self._blocks.clear()
        self._earlier.clear_cache()

    async def _tier(self, tier: Tier, errors: dict[Tier, str], gathered: Awaitable[T], nothing: T) -> T:
        """Return the gathered tier; when it fails the tier is left out and the turn goes on (003 NFR-002)."""
        try:
            return await gathered
        except Exception as error:  # noqa: BLE001 - no conversation fails because of its memory
            errors[tier] = f"{type(error).__name__}: {error}"
            log.warning("the %s tier is left out of the packet: %s", tier, errors[tier])
            return nothing

    async def _remembered(self, need: Need, shown: Sequence[ConversationTurn]) -> Remembered:
        """Return the session's block of notes, taken anew after many changes of the ledger, and the changes since."""
        state, scope, zone, now_ms, rung = need.state, need.scope, need.zone, need.now_ms, need.rung
        here = state.conversation_id
        ledger, answered_ms = await self._ledgers.read(here), await self._earlier.answered_ms(state, shown)
        forgotten = frozenset(note.number for note in ledger if note.is_forgotten)
        mark = mark_for(state, scope, zone)
        if mark is None or mark.version > ledger.version:
            changes = await self._ledgers.after(here, answered_ms) if answered_ms else []
        else:
            changes = await self._ledgers.since(here, mark.version) if ledger.version > mark.version else []
            known = self._blocks.get((state.session_id, mark, ledger.epoch, forgotten))
            block = known or self._block(need, mark, as_of(ledger, changes), forgotten)
            told = {turn.turn_id for turn in shown if turn.tool_calls}
            news = since(
                block, ledger, without_ring(changes, rung), scope, told=told, now_ms=now_ms, answered_ms=answered_ms
            )
            most = 0 if now_ms - max(answered_ms, mark.at_ms) > COLD_MS else MAX_OUTDATED
            news = with_over(news, ledger, scope, shown)
            if news.outdated <= most and sum(map(self._counter.count, news.changed)) <= SINCE_TOKENS:
                return Remembered(ledger, block, with_forgotten(news, ledger, changes, scope, shown))
        taken = self._block(need, new_mark(state, ledger, scope, zone, now_ms), ledger, forgotten)
        news = since_taken(taken, ledger, without_ring(changes, rung), scope, answered_ms=answered_ms, now_ms=now_ms)
        news = with_over(news, ledger, scope, shown)
        return Remembered(ledger, taken, with_forgotten(news, ledger, changes, scope, shown))

    def _block(self, need: Need, mark: NotesMark, ledger: Ledger, forgotten: frozenset[int]) -> Block:
        block = take(ledger, need.scope, mark, self._budget.threads_tokens, self._counter, is_scene=need.is_scene)
        self._blocks[need.state.session_id, mark, ledger.epoch, forgotten] = block
        while len(self._blocks) > CACHED_BLOCKS:
            self._blocks.popitem(last=False)
        return block

    async def _past(self, need: Need, remembered: Remembered, errors: dict[Tier, str]) -> Past:
        """Return what is told of earlier sessions, and of the turns of this one that are cut."""
        state, then, now_ms, zone, scope = need.state, remembered.then, need.now_ms, need.zone, need.scope
        silent, block = forgotten_turns(remembered.ledger), remembered.block
        lines = session_lines(self._store.db, remembered.ledger)
        titles = await self._tier("last_conversation", errors, lines, NO_TITLES)
        told = self._earlier.told(
            state, titles, then, (now_ms, zone),
            scope=scope, silent=silent, notes=block.lines, is_scene=need.is_scene,
        )  # fmt: skip
        today, before = await self._tier("today", errors, told, NO_SESSIONS)
        line = titles.get(state.session_id)
        read = self._earlier.reading(state, line, block.mark, then, (now_ms, zone), scope=scope, silent=silent)
        return Past(silent, titles, today, before, await self._tier("summary", errors, read, UNREAD))

    async def _finds(
        self,
        need: Need,
        shown: Sequence[ConversationTurn],
        remembered: Remembered,
        past: Past,
        errors: dict[Tier, str],
    ) -> tuple[list[RetrievedItem], Since]:
        """Return the finds with the notes that rest on them, and the news with those of the others."""
        ledger, scope, words, state = remembered.ledger, need.scope, need.words, need.state
        worked_on, now_ms, zone = past.worked_on, need.now_ms, need.zone
        found = await self._tier("retrieved", errors, self._search(need, shown, past.silent), list[RetrievedItem]())
        real = of_this_world(found, words, ledger, scope, state.session_id, plays=need.plays)
        known = (remembered.block, remembered.since)
        finds, news = replace_by_notes(real, words, ledger, scope, known, worked_on=worked_on, now_ms=now_ms, zone=zone)
        since_ms = min((item.at_ms for item in finds), default=now_ms)
        changed = await self._ledgers.reworded(state.conversation_id, since_ms) if finds else {}
        known = (remembered.block, news)
        return with_notes(
            finds, ledger, scope, known, changed=changed, worked_on=worked_on, now_ms=now_ms, zone=zone
        ), news

    async def _search(
        self, need: Need, shown: Sequence[ConversationTurn], silent: Collection[str]
    ) -> list[RetrievedItem]:
        """Return finds that bear on the message, and stand neither in the messages nor in `silent` turns."""
        if self._searcher is None or not self._budget.retrieved_tokens or not need.words:
            return []
        state, alone = need.state, need.scope.session_id is not None
        query = Query(
            state.conversation_id,
            need.words,
            session_ids=[state.session_id] if alone else None,
            exclude_turn_ids=sorted({*(turn.turn_id for turn in shown), *state.undone, *silent}),
            limit=MAX_FINDS,
            now_ms=need.now_ms,
        )
        return await find(self._searcher, state.session_id, query, shown, alone=alone)

    def _report(self, packet: ConversationContextPacket, state: SessionState) -> None:
        """Log the sizes loaded and cut (000 section 5), and once when they get close to the cap; no text."""
        log.info("conversation context loaded", extra=packet.figures(state.last_seq))
        if not packet.is_near_limit:
            self._near.discard(packet.session_id)
        elif packet.session_id not in self._near:
            self._near.add(packet.session_id)
            log.warning(
                "the prompt of session %s takes %d of %d tokens: its history is compacted soon",
                packet.session_id, packet.prompt_tokens, self._budget.cap_tokens,
            )  # fmt: skip
