"""Talk from before there was a keeper, or apart from the notes: it is read back, of much only the newest part."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from memory.keeper.queue import read_again, revoke, waits
from memory.keeper.session_lines import SessionLine, put_session_line, stored_lines
from memory.ports import Clock, Database, Row, Statement
from memory.types import SessionState

READ_BACK_TOKENS: Final = 20_000


async def read_anew(db: Database, state: SessionState) -> None:
    """Have a session read again at once, from its first turn: the notes of before stand beside it from now on.

    A reading that is under way is thrown away, since it knows none of them. Raises `Conflict` when one was stored just
    now, and `StorageUnavailable`.
    """
    line = (await stored_lines(db, state.conversation_id)).get(state.session_id)
    seq = line.read_through_seq if line else 0
    reset = [put_session_line(replace(line, read_through_seq=0))] if line and seq else []
    stopped = [revoke(state.conversation_id)] if seq < state.last_seq else []
    await db.write(*reset, *stopped, read_again(state.session_id))


class BacklogReader:
    """Opens the sessions of a conversation that no keeper has seen."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def open(self, conversation_id: str) -> None:
        """Have the newest 20,000 tokens of sessions without a line read, and no more. Raises `StorageUnavailable`."""
        never = await self._db.read("sessions_never_read", conversation_id=conversation_id)
        left = READ_BACK_TOKENS
        statements: list[Statement] = []
        for row in never:
            begins = 1 if row["tokens"] <= left else await self._begin_of(row["session_id"], left)
            left -= row["tokens"] if begins == 1 else left
            statements += self._opened(conversation_id, row, begins)
        if statements:
            await self._db.write(*statements)

    def _opened(self, conversation_id: str, row: Row, begins: int) -> list[Statement]:
        """The statements that have a session read from a turn on."""
        found: list[Statement] = []
        if begins > 1:
            line = SessionLine(row["session_id"], conversation_id, read_through_seq=begins - 1)
            found.append(put_session_line(line))
        if begins <= row["last_seq"] and not row["waits"]:
            found.append(
                waits(row["session_id"], conversation_id, row["user_id"], row["last_seq"], self._clock.now_ms())
            )
        return found

    async def _begin_of(self, session_id: str, tokens: int) -> int:
        """The first of the last turns of a session that cost at most so many tokens."""
        begins = 0
        for row in await self._db.read("tokens_of_turns", session_id=session_id):
            begins = begins or row["seq"] + 1
            tokens -= row["tokens"]
            if tokens < 0:
                break
            begins = row["seq"]
        return begins
