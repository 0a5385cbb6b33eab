"""Gather a keeper's request: the turns before the new ones, the notes that bear on them, the world around."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from memory.keeper.contract import KeeperRequest
from memory.keeper.queue import COMPANY_TURNS, WaitingReading
from memory.keeper.request import (
    BEFORE_TURNS,
    before_them,
    has_content,
    is_shown,
    said_later,
    shown_notes,
    taken_back,
    untold,
)
from memory.keeper.surroundings import Surroundings
from memory.ledger.ledgers import Ledgers
from memory.ledger.types import Note
from memory.ledger.views import Scope, forgotten_turns
from memory.ports import Clock, Ids
from memory.sessions.evidence import state_of_row
from memory.state.notes_marks import played_in
from memory.storage.store import Store
from memory.storage.turn_rows import checked
from memory.types import ConversationTurn, SessionState

LOOKED_THROUGH_TURNS: Final = 200
"""Turns before the new ones that are looked through for a number or name; after a fresh start those of the session.

Of 18 people with a keeper who names matters told weeks ago .96 of the open ones stood in their previews (measured with
`benchmarks.quality.plugins:returning`), .88 where only the session was looked through.
"""
LATELY_TURNS: Final = 3
"""Turns of the session before that come along where a session has just begun: "yes" may answer them."""


class RequestMaker:
    """Makes requests; reads only, and raises `StorageUnavailable`."""

    def __init__(self, store: Store, ledgers: Ledgers, clock: Clock, ids: Ids, around: Surroundings) -> None:
        self._store = store
        self._ledgers = ledgers
        self._clock = clock
        self._ids = ids
        self._around = around

    async def state(self, session_id: str) -> SessionState | None:
        """Return the stored state of a session."""
        row = await self._store.session(session_id)
        return state_of_row(row)[0] if row else None

    async def silent(self, waiting: WaitingReading, state: SessionState | None) -> frozenset[str]:
        """Return the turns that no keeper is shown: taken back, or with words that the person had forgotten since."""
        self._ledgers.evict(lambda each: each == waiting.conversation_id)  # another process may have gone on with it
        ledger = await self._ledgers.read(waiting.conversation_id)
        return forgotten_turns(ledger).union(state.undone if state else ())

    async def make(
        self,
        waiting: WaitingReading,
        state: SessionState | None,
        turns: Sequence[ConversationTurn],
        silent: Collection[str] = (),
    ) -> KeeperRequest:
        """Return the request to read these turns of a session, one at least; without words of `silent` turns.

        Silent turns of the session before are looked up there.
        """
        conversation_id, user_id, first = waiting.conversation_id, turns[-1].user_id, turns[0].seq
        scope = await self._scope(state, turns)
        alone = state is None or scope.session_id is not None
        earlier = await self._shown(waiting.session_id, first - BEFORE_TURNS, first - 1, silent)
        lately = await self._lately(waiting, silent) if len(earlier) < BEFORE_TURNS and not alone else []
        before = before_them([*lately, *earlier])
        ledger = await self._ledgers.read(conversation_id)
        now_ms = self._clock.now_ms()
        played = played_in(state, scope.persona, self._around.plays())
        notes = shown_notes(ledger, replace(scope, persona=played), (*before, *turns), turns, now_ms)
        held = {turn.turn_id for turn in (*before, *turns)}
        rested_on = await self._rested_on(notes)
        told = [
            *rested_on,
            *await self._told_before(waiting, turns[0], alone=alone and state is not None),
        ]
        beside = {turn.turn_id: turn for turn in told if turn.turn_id not in {*held, *silent}}
        seen = await self._seen(conversation_id, [*before, *turns])
        speakers = {turn.user_id for turn in (*before, *turns) if turn.user_id is not None}
        return KeeperRequest(
            reading_id=self._ids.new("r"),
            session_id=waiting.session_id,
            conversation_id=conversation_id,
            ledger=ledger,
            notes=notes,
            before=tuple(before),
            turns=tuple(turns),
            beside=tuple(beside.values()),
            zone=await self._around.zone_of(conversation_id, user_id),
            now_ms=now_ms,
            persona=scope.persona,
            played=played,
            character=await self._around.character_of(user_id),
            names=await self._around.names_of(conversation_id, speakers),
            edited=state.edited if state else (),
            later=said_later(notes, rested_on, turns[-1].created_at_ms),
            taken_back=taken_back(await self._ledgers.after(conversation_id, (*before, *turns)[0].created_at_ms - 1)),
            seen=seen,
        )

    async def is_worth_reading(
        self, conversation_id: str, state: SessionState | None, turns: Sequence[ConversationTurn], *, is_asked: bool
    ) -> bool:
        """Whether turns may hold something to note; of a few something has to lack in the notes, unless somebody asks.

        What an edited message says stands in no note yet. Pictures are looked up only where the words are too few.
        """
        is_edited = state is not None and not {turn.turn_id for turn in turns}.isdisjoint(state.edited)
        if is_asked or is_edited or len(turns) >= COMPANY_TURNS:
            return has_content(turns) or has_content(turns, await self._seen(conversation_id, turns))
        return bool(await self.untold(conversation_id, turns))

    async def untold(self, conversation_id: str, turns: Sequence[ConversationTurn]) -> list[ConversationTurn]:
        """Return the turns of which something may lack in the notes, or in their pictures where words are too few."""
        return untold(turns) or untold(turns, await self._seen(conversation_id, turns))

    async def _seen(self, conversation_id: str, turns: Sequence[ConversationTurn]) -> Mapping[str, str]:
        """Return the descriptions of these turns' pictures, by turn id."""
        return await self._around.seen_in(conversation_id, [turn.turn_id for turn in turns]) if turns else {}

    async def _shown(self, session_id: str, first: int, last: int, silent: Collection[str]) -> list[ConversationTurn]:
        turns = await self._store.turns_between(session_id, first, last)
        return [turn for turn in turns if is_shown(turn, silent)]

    async def _scope(self, state: SessionState | None, turns: Sequence[ConversationTurn]) -> Scope:
        """The scope of notes: only the session's own as soon as one of the speakers may see no others."""
        scopes = [
            await self._around.scope_of(state, user_id)
            for user_id in dict.fromkeys(turn.user_id for turn in reversed(turns))
        ]
        return next((scope for scope in scopes if scope.session_id is not None), scopes[0])

    async def _lately(self, waiting: WaitingReading, silent: Collection[str]) -> list[ConversationTurn]:
        """The last turns of the session before this one."""
        rows = await self._store.sessions(waiting.conversation_id, limit=12)
        at = next((n for n, row in enumerate(rows) if row.session_id == waiting.session_id), len(rows))
        for row in rows[at + 1 : at + 2]:
            before = state_of_row(row)[0]
            also = {*silent, *(before.undone if before else ())}
            return await self._shown(row.session_id, row.last_seq - LATELY_TURNS + 1, row.last_seq, also)
        return []

    async def _told_before(
        self, waiting: WaitingReading, first: ConversationTurn, *, alone: bool
    ) -> list[ConversationTurn]:
        """The last turns before the new ones, of this session alone where no other reaches it; the latest first."""
        where = {"conversation_id": waiting.conversation_id, "limit": LOOKED_THROUGH_TURNS}
        rows = await self._store.db.read("turns_told_before", **where, before_ms=first.created_at_ms)
        told = (checked(row).turn for row in rows)
        return [turn for turn in told if is_shown(turn) and (not alone or turn.session_id == waiting.session_id)]

    async def _rested_on(self, notes: Sequence[Note]) -> list[ConversationTurn]:
        """The turns that these notes rest on."""
        return await self._store.turns(sorted({turn_id for note in notes for turn_id in note.turn_ids}))
