"""Promotion at work: the candidates of a session's last turns pass the gate into `memories` and the search index."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Sequence

from memory.errors import Conflict
from memory.language.languages import Languages
from memory.longterm.promotion import PromotionDecision, candidates, write_if_worthy
from memory.ports import Database, Row, Statement
from memory.search.searcher import index_memory, unindex_memory
from memory.types import ConversationTurn, Memory, MemoryCandidate, SessionState

EVERY_TURNS = 5
HIGH_SCORE = 0.9
"""A candidate this sure does not wait for the fifth turn."""
KNOWN_MAX = 2000
"""At most this many memories of a person are compared with a candidate, the newest first."""

log = logging.getLogger(__name__)


# --- pure -----------------------------------------------------------------------------------------------------------


def due(turn: ConversationTurn, languages: Languages) -> bool:
    """Return whether promotion runs behind this turn: every fifth, or when it states something surely worth keeping."""
    if turn.seq % EVERY_TURNS == 0:
        return True
    return any(candidate.score >= HIGH_SCORE for candidate in candidates(turn, languages))


def memory_id_of(candidate: MemoryCandidate) -> str:
    """Return the id of what a candidate becomes: the same turn and subject always give the same, so nothing doubles."""
    key = f"{candidate.turn_id}\n{candidate.subject}".encode()
    return f"m_{hashlib.blake2b(key, digest_size=16).hexdigest()}"


def memory_of(candidate: MemoryCandidate, user_id: int | None) -> Memory:
    """Return the memory that a candidate becomes."""
    return Memory(**candidate.model_dump(), memory_id=memory_id_of(candidate), user_id=user_id)


def writes(memory: Memory, decision: PromotionDecision, conversation_id: str, languages: Languages) -> list[Statement]:
    """Return one transaction: the older values step back and keep their provenance, the new one is there and found.

    It is a `Conflict` when the memory exists already, when its turn was forgotten meanwhile, or when an older value
    stepped back for another: nothing of it is stored then.
    """
    params = memory.model_dump(exclude={"superseded_by", "at_ms"}) | {
        "conversation_id": conversation_id,
        "created_at_ms": memory.at_ms,
    }
    statements = [Statement("insert_memory", params, expect=1), index_memory(memory, conversation_id, languages)]
    for older in decision.superseded:
        by = {"memory_id": older, "superseded_by": memory.memory_id}
        statements += [Statement("supersede_memory", by, expect=1), unindex_memory(older)]
    return statements


def read_memory_row(row: Row) -> Memory:
    """Return the memory in a row; its time is when it was said."""
    fields = dict(row)
    fields.pop("conversation_id", None)
    return Memory(at_ms=fields.pop("created_at_ms"), **fields)


# --- orchestration --------------------------------------------------------------------------------------------------


class Promoter:
    """Keeps what the user said about themselves beyond the session. Never called inside a reply's path."""

    def __init__(self, db: Database, languages: Languages) -> None:
        self._db = db
        self._languages = languages
        self._one_at_a_time = asyncio.Lock()

    async def notice(self, state: SessionState, turns: Sequence[ConversationTurn]) -> None:
        """Promote the session's last turns when the newest makes it due (002 phase 3). Raises as `promote` does."""
        if turns and due(turns[-1], self._languages):
            await self.promote(state, turns)

    async def promote(self, state: SessionState, turns: Sequence[ConversationTurn]) -> None:
        """Pass the candidates of these turns through the gate, oldest first; turns seen before change nothing.

        The turns overlap from call to call, so what a crash left out comes with the next call. Each memory is one
        transaction with its search entry. What the person took back does not come again. Raises `StorageUnavailable`;
        what was written before stays.
        """
        async with self._one_at_a_time:
            known: dict[int | None, list[Memory]] = {}
            for turn in (each for each in turns if each.turn_id not in state.undone):
                for candidate in candidates(turn, self._languages):
                    if turn.user_id not in known:
                        known[turn.user_id] = await self._known(state.conversation_id, turn.user_id)
                    await self._gate(candidate, turn, known[turn.user_id])

    async def _known(self, conversation_id: str, user_id: int | None) -> list[Memory]:
        rows = await self._db.read(
            "memories_of_person", conversation_id=conversation_id, user_id=user_id, limit=KNOWN_MAX
        )
        return [read_memory_row(row) for row in rows]

    async def _later(self, candidate: MemoryCandidate, turn: ConversationTurn, known: Sequence[Memory]) -> set[str]:
        """Return the turns stored after this one in which other values of the subject were said."""
        if all(each.subject != candidate.subject for each in known):
            return set()
        where = {"conversation_id": turn.conversation_id, "turn_id": turn.turn_id, "subject": candidate.subject}
        return {row["turn_id"] for row in await self._db.read("turns_that_followed", **where)}

    async def _gate(self, candidate: MemoryCandidate, turn: ConversationTurn, known: list[Memory]) -> None:
        memory = memory_of(candidate, turn.user_id)
        if any(each.memory_id == memory.memory_id for each in known):
            return
        decision = write_if_worthy(candidate, known, await self._later(candidate, turn, known))
        log.debug("candidate of turn %s: %s, %s", turn.turn_id, decision.action, decision.reason)
        if decision.action == "skip":
            return
        try:
            await self._db.write(*writes(memory, decision, turn.conversation_id, self._languages))
        except Conflict as exc:  # known already, or forgotten meanwhile
            log.debug("candidate of turn %s was not kept: %s", turn.turn_id, exc)
            return
        gone = {"status": "superseded", "superseded_by": memory.memory_id}
        known[:] = [each.model_copy(update=gone) if each.memory_id in decision.superseded else each for each in known]
        known.append(memory)
