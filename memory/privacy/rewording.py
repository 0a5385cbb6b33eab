"""The rewording of an edited message: its turn changes in every row, index and copy, and the keeper reads it again.

The old words are nowhere in the memory any more, as they are nowhere on the person's screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from memory.errors import UnknownSession
from memory.keeper.edited import doubted, says_the_same, undoable, withdrawn
from memory.keeper.job import Keeper
from memory.keeper.queue import revoke
from memory.ledger.ledgers import Ledgers
from memory.ledger.types import Actor, Change, Ledger, Note
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
    ledgers: Ledgers
    caches: Sequence[Callable[[Callable[[str], bool]], None]]
    """Each drops what it keeps of conversations."""

    async def reword(self, turn_id: str, text: str, *also: Statement, third_party: bool) -> None:
        """Give a turn the new words of its message, with `also`; notes that rest on changed ones come into doubt."""
        turn = await self.store.turn(turn_id)
        if turn is None:
            await self.store.db.write(*also)
            return
        here, differs = turn.conversation_id, not says_the_same(turn.user_text, text)
        if differs:
            operations = await self._doubts(await self.ledgers.read(here), turn, text)
            await self.ledgers.change(here, operations, Actor("person", self.clock.now_ms()), revoke(here))
        await self.write(Reworded(turn, text, third_party, differs), *also)
        for evict in self.caches:
            evict(lambda each: each == here)

    async def in_doubt(self, turn: ConversationTurn, text: str) -> list[Note]:
        """The open notes on a turn that are in doubt once it reads like this."""
        ledger = await self.ledgers.read(turn.conversation_id)
        numbers = {each.number for each in await self._doubts(ledger, turn, text)}
        resting = (note for note in ledger if note.is_open and turn.turn_id in note.turn_ids)
        return [note for note in resting if note.doubtful or note.number in numbers]

    async def _doubts(self, ledger: Ledger, turn: ConversationTurn, text: str) -> list[Change]:
        said = await self.ledgers.said_for(ledger, turn.turn_id)
        return doubted(ledger, turn.turn_id, turn.user_text, text, said)

    async def withdraw(self, turn_id: str) -> None:
        """Take back the notes of a turn whose edited message is answered again, and the turn out of its session."""
        turn = await self.store.turn(turn_id)
        if turn is None:
            return
        here, by = turn.conversation_id, Actor("person", self.clock.now_ms(), f"edit:{turn_id}")
        changes = await self.ledgers.caused_by(here, turn_id)
        since = await self.ledgers.since(here, min(each.version for each in changes) - 1) if changes else []
        await self.ledgers.undo(here, undoable(changes, since), by, revoke(here))
        await self.ledgers.change(here, withdrawn(await self.ledgers.read(here), turn_id, changes), by)
        await self.recorder.index.flush(here)
        with suppress(UnknownSession):
            await self.recorder.edit(
                turn.session_id, lambda state: state_manager.withdrawn_from(state, turn_id), unindex_turn(turn_id)
            )

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
