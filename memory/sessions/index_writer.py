"""The search index behind the replies: a turn is indexed soon after its commit, and at the latest before a search."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from itertools import groupby
from typing import Final

from memory.errors import Conflict, StorageUnavailable
from memory.ports import Row, Statement, unobserved
from memory.process.faults import point, without
from memory.sessions.evidence import state_of_row
from memory.storage.ahead import apart
from memory.storage.store import Store
from memory.storage.turn_rows import LoggedTurn, checked
from memory.types import ConversationTurn

LOOKED_BACK, LOOKED_BACK_MOST = 16, 1_024
"""The newest turns of a conversation that are compared with its index; more, while half of them are missing there."""
CAUGHT_UP: Final = 4_096
"""Conversations that are known to be whole; one more is looked at again before its next search."""

Indexed = Callable[[ConversationTurn], Awaitable[Sequence[Statement]]]

log = logging.getLogger(__name__)


class IndexWriter:
    """Writes the index of turns in their order. A death in between costs nothing: `catch_up` finds what is missing."""

    def __init__(
        self,
        store: Store,
        indexed: Indexed,
        *,
        notice: Callable[[], None] = unobserved,
        read_only: bool = False,
    ) -> None:
        """`indexed` returns the statements that make a turn findable; `notice` is told when some were written."""
        self._store = store
        self._indexed = indexed
        self._notice = notice
        self._read_only = read_only
        self._due: dict[str, LoggedTurn] = {}
        self._whole: OrderedDict[str, None] = OrderedDict()
        self._writing = asyncio.Lock()

    def later(self, logged: LoggedTurn) -> None:
        """Have a turn that was stored indexed with the next `flush`."""
        self._due[logged.turn.turn_id] = logged

    async def flush(self, conversation_id: str | None = None) -> None:
        """Index the turns that wait, those of many conversations at once, or of one alone.

        Raises `StorageUnavailable`: they wait on.
        """
        async with self._writing:
            waiting = (each for each in self._due.values() if conversation_id in {None, _conversation(each)})
            due = sorted(waiting, key=_place)
            if not due:
                return
            with apart():
                done = [self._in_order(list(turns)) for _, turns in groupby(due, key=_conversation)]
                failed = [each for each in await asyncio.gather(*done, return_exceptions=True) if each is not None]
            self._notice()
            if failed:
                raise failed[0]

    async def try_to_flush(self) -> None:
        """Index what waits. Never raises: what could not be written is tried again with the next turn or search."""
        try:
            await self.flush()
        except StorageUnavailable as exc:
            log.warning("turns are not in the search index yet: %s", exc)
        except Exception:
            log.exception("turns could not be indexed")

    async def catch_up(self, conversation_id: str) -> None:
        """Have everything in the index that was said in a conversation; call it before a search there.

        The first time the newest turns are compared with the index: one commit may separate a turn from it, and a
        process that died between them has left it out. Raises `StorageUnavailable` when that cannot be read.
        """
        if self._read_only or without("index_catch_up"):
            return
        if conversation_id not in self._whole:
            with apart():
                for logged in await self._left_out(conversation_id):
                    self.later(logged)
            self._whole[conversation_id] = None
            if len(self._whole) > CAUGHT_UP:
                self._whole.popitem(last=False)
        if self._due:
            await self.try_to_flush()

    def evict(self, belongs: Callable[[str], bool]) -> None:
        """Look again at these conversations before their next search: another process may have gone on with them.

        What waits of them is dropped: the other one may have withdrawn it.
        """
        self._due = {turn_id: each for turn_id, each in self._due.items() if not belongs(_conversation(each))}
        for conversation_id in [each for each in self._whole if belongs(each)]:
            del self._whole[conversation_id]

    async def _left_out(self, conversation_id: str) -> list[LoggedTurn]:
        """The newest turns that are not in the index, but for those whose message was edited and answered again."""
        most, rows = LOOKED_BACK, await self._unindexed(conversation_id, LOOKED_BACK)
        while 2 * len(rows) > most and most < LOOKED_BACK_MOST:
            most *= 2
            rows = await self._unindexed(conversation_id, most)
        found = [checked(row) for row in rows if row["turn_id"] not in self._due]
        sessions = {each.turn.session_id: await self._store.session(each.turn.session_id) for each in found}
        states = [state_of_row(row)[0] for row in sessions.values() if row]
        undone = {turn_id for state in states if state for turn_id in state.undone}
        return [each for each in found if each.turn.turn_id not in undone]

    async def _unindexed(self, conversation_id: str, most: int) -> list[Row]:
        return await self._store.db.read("turns_unindexed", conversation_id=conversation_id, most=most)

    async def _in_order(self, turns: Sequence[LoggedTurn]) -> None:
        for logged in turns:
            if logged.turn.turn_id not in self._due:  # its conversation was evicted meanwhile
                continue
            try:
                await self._index(logged)
            except StorageUnavailable:
                raise
            except Conflict:  # it was forgotten or edited meanwhile, and indexed by whoever did that
                self._whole.pop(logged.turn.conversation_id, None)
            except Exception:
                log.exception("turn %s cannot be indexed; only its session shows it", logged.turn.turn_id)
            self._due.pop(logged.turn.turn_id, None)

    async def _index(self, logged: LoggedTurn) -> None:
        statements = await self._indexed(logged.turn)
        if statements:
            there = {"turn_id": logged.turn.turn_id, "digest": logged.digest}
            point("index_before_write")
            await self._store.db.write(Statement("turn_as_said", there, expect=1), *statements)


def _conversation(logged: LoggedTurn) -> str:
    return logged.turn.conversation_id


def _place(logged: LoggedTurn) -> tuple[str, int, int]:
    turn = logged.turn
    return turn.conversation_id, turn.created_at_ms, turn.seq
