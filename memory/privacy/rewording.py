"""The rewording of an edited message: its turn changes in every row, index and copy, and the keeper reads it again.

The old words are nowhere in the memory any more, as they are nowhere on the person's screen.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from memory.keeper.job import Keeper
from memory.keeper.queue import revoke
from memory.ports import Clock, Statement, TokenCounter
from memory.privacy import erasure
from memory.privacy.notes import NotesPlanner
from memory.privacy.planner import refolded
from memory.process.faults import point
from memory.search.languages import Languages
from memory.search.searcher import unindex_turn
from memory.sessions.evidence import state_of_row
from memory.sessions.hydrator import Hydrator
from memory.sessions.recorder import Recorder
from memory.state import state_manager
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.store import Store, update_session
from memory.storage.turn_rows import heal_turn, rewrite_turn
from memory.text import clean
from memory.types import ConversationTurn


@dataclass(frozen=True, slots=True)
class Reworded:
    """A turn, and its message after the edit."""

    turn: ConversationTurn
    text: str
    third_party: bool = False
    differs: bool = True
    """False when it says the same in other letters: no note of it comes into doubt."""


@dataclass(frozen=True, slots=True)
class Rewording:
    """Writes turns again; one call at a time per conversation."""

    store: Store
    recorder: Recorder
    checkpoints: CheckpointFiles
    hydrator: Hydrator
    keeper: Keeper
    languages: Languages
    counter: TokenCounter
    clock: Clock

    async def write(self, reworded: Reworded, *also: Statement) -> None:
        """Write a turn with the edited message, and `also` with it.

        A crash leaves behind, line by line (the same call once more finishes it in every case):
        1. while it is gathered: nothing has changed;
        2. when the checkpoint is gone: nothing is lost, the rows are the truth, and it is written again when the
           session is loaded. It goes first, since a checkpoint would bring the old words back;
        3. in the transaction: all of it or nothing: the turn, the digests behind it, the state folded again, the
           search, the keeper's reading of it, `also`.
        Raises `Conflict` of `also`, or when another process was at work in the session, and `StorageUnavailable`, with
        no row changed.
        """
        turn = reworded.turn
        here, session_id = turn.conversation_id, turn.session_id
        async with self.keeper.alone(here), self.recorder.alone(here, [session_id]):
            statements = await self._statements(reworded)
            if statements:
                await asyncio.to_thread(self.checkpoints.remove, session_id)
            point("edit_checkpoint_gone")
            await self.store.db.write(*also, *statements)
            point("edit_stored")

    async def _statements(self, reworded: Reworded) -> list[Statement]:
        turn, db = reworded.turn, self.store.db
        row = await self.store.session(turn.session_id)
        before = await self.store.logged_between(turn.session_id, 1)
        new = self._turn(reworded)
        old = next((each.turn for each in before if each.turn.turn_id == turn.turn_id), new)
        state = state_of_row(row)[0] if row else None
        if row is None or state is None or old == new:
            return []
        after = erasure.renumbered(
            [replace(each, turn=new) if each.turn.turn_id == turn.turn_id else each for each in before]
        )
        moved = erasure.moved(before, after)
        changed = state_manager.reworded(
            state, await refolded(self.hydrator.fold, state, after), turn.turn_id, differs=reworded.differs
        )
        told_of = erasure.is_summed_up(state, new.seq)
        changed = changed.model_copy(update={"compaction": None}) if told_of else changed
        is_read = not (new.unfiled or turn.turn_id in state.undone)
        is_reread = is_read and reworded.differs and self.keeper.asking is not None
        now_ms = self.clock.now_ms()
        return [
            *(heal_turn(new, each.digest) if each.turn is new else rewrite_turn(each) for each in moved),
            update_session(
                changed, version=row.version, title=state_manager.session_title(changed), at_ms=row.created_at_ms
            ),
            *([Statement("erase_compactions", {"session_id": turn.session_id})] if told_of else []),
            *([unindex_turn(turn.turn_id), *await self.hydrator.derived(new)] if is_read else []),
            *(await NotesPlanner(db).read_again(new, old.user_text, now_ms) if is_reread else []),
            *([revoke(turn.conversation_id)] if is_read else []),
        ]

    def _turn(self, reworded: Reworded) -> ConversationTurn:
        turn, text = reworded.turn, clean(reworded.text)
        return turn.model_copy(
            update={
                "user_text": text,
                "user_tokens": self.counter.count(text),
                "language": self.languages.detect(text, turn.language or "en").code,
                "third_party": turn.third_party or reworded.third_party,
            }
        )
