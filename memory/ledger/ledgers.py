"""The ledgers of many conversations over one database: read once, kept at hand, changed by one writer at a time."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final

import orjson

from memory.errors import Conflict
from memory.ledger import store
from memory.ledger.apply import apply_all
from memory.ledger.restoring import MOST_CHANGES, NotesCopy, notes_of_others, notes_of_session, restored
from memory.ledger.types import Actor, Applied, Ledger, Note, NoteChange, Operation, Outcome
from memory.ledger.undo import rebuilt, undo
from memory.ports import Database, Statement
from memory.process.turn_taking import TurnTaking

AT_HAND: Final = 256
"""Ledgers that are kept in memory."""

REWORDED: Final = frozenset(
    {"text", "subject", "due_at_ms", "ends_at_ms", "lasts_ms", "rings_from", "repeats", "rings_again_min"}
)
"""Fields whose change makes earlier words about a note wrong."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Carried:
    """A ledger at its opening: the notes of the stores before it, and the statements that clear those."""

    ledger: Ledger
    changes: Sequence[NoteChange] = ()
    also: Sequence[Statement] = ()
    left: Mapping[str, int] = field(default_factory=dict)
    """Reason for not carrying a row over → number of rows."""


CarryOver = Callable[[str], Awaitable[Carried]]
"""Gathers the rows of a conversation in the stores before the ledger; reads only."""


@dataclass(slots=True)
class Writing:
    """A ledger that one writer has to itself: operations are applied here and stored with the writer's statements."""

    begun: Ledger
    """As it stands in the database."""
    ledger: Ledger
    changes: list[NoteChange] = field(default_factory=list)
    is_stored: bool = False

    def apply(self, operations: Sequence[Operation], by: Actor) -> list[Outcome]:
        """Apply operations one upon the other and return their outcomes; nothing is stored yet."""
        self.ledger, outcomes = apply_all(self.ledger, operations, by)
        return self._taken(outcomes)

    def undo(self, changes: Sequence[NoteChange], by: Actor) -> list[Outcome]:
        """Undo these changes, where nobody touched their fields since."""
        self.ledger, outcomes = undo(self.ledger, changes, by)
        return self._taken(outcomes)

    def restore(self, known: Sequence[NoteChange], copy: NotesCopy, may_return: Callable[[Note], bool]) -> None:
        """Bring back the ledger's losses from a checkpoint's copy; `known` are all changes of the ledger."""
        self.ledger, changes = restored(self.ledger, known, copy, may_return)
        self.changes += changes

    def _taken(self, outcomes: list[Outcome]) -> list[Outcome]:
        self.changes += [change for each in outcomes if isinstance(each, Applied) for change in each.changes]
        return outcomes

    @property
    def statements(self) -> list[Statement]:
        """The statements that store it, for its owner's transaction; `Conflict` when another process was first."""
        return store.statements(self.begun, self.ledger, self.changes)

    def stored(self) -> None:
        """Say that the statements were committed."""
        self.is_stored = True


class Ledgers:
    """Reads and changes ledgers; each method raises `StorageUnavailable`."""

    def __init__(
        self, db: Database, carry_over: CarryOver | None = None, *, read_only: bool = False, shared: bool = False
    ) -> None:
        """`read_only`: nothing is written, also not the notes that an opening carries over.

        `shared`: other processes write too, so that each read asks first whether the ledger at hand is the newest.
        """
        self._shared = shared
        self._db = db
        self._carry_over = carry_over
        self._read_only = read_only
        self._taking = TurnTaking()
        self._kept: OrderedDict[str, Ledger] = OrderedDict()
        self._reserved: dict[str, int] = {}
        """Conversation → the next number not told to anybody, where that is ahead of the stored one."""

    def reserve(self, ledger: Ledger) -> int:
        """A number for a note that is told before it is stored: nobody else in this process is given it.

        It is never used when its note is not stored: gaps are fine.
        """
        number = max(ledger.next_number, self._reserved.get(ledger.conversation_id, 0))
        self._reserved[ledger.conversation_id] = number + 1
        return number

    async def read(self, conversation_id: str) -> Ledger:
        """The committed ledger; opened, with the notes of older stores, when it never was."""
        kept = self._kept.get(conversation_id)
        if kept is not None and self._shared and not await self._stands(kept):
            self._kept.pop(conversation_id, None)
            kept = None
        if kept is not None:
            self._keep(kept)
            return kept
        async with self._taking.of(conversation_id):
            return await self._load(conversation_id)

    async def _load(self, conversation_id: str) -> Ledger:
        kept = self._kept.get(conversation_id)
        if kept is not None:
            return kept
        found = await self._db.read_chain(store.reading(conversation_id))
        if found is None:
            return self._keep(await self._open(conversation_id))
        return self._keep(found.ledger if found.is_sound else await self._mended(found))

    async def _stands(self, ledger: Ledger) -> bool:
        row = await self._db.read_one("ledger_version", conversation_id=ledger.conversation_id)
        return row is not None and (row["version"], row["epoch"]) == (ledger.version, ledger.epoch)

    async def _open(self, conversation_id: str) -> Ledger:
        """Store the first row with the notes carried over, as one transaction, unless another process was first."""
        carried = await self._carry_over(conversation_id) if self._carry_over else Carried(Ledger(conversation_id))
        ledger = replace(carried.ledger, epoch=store.new_epoch())
        if self._read_only:
            return ledger
        put = [each for note in ledger for each in store.put_note(note, None)]
        put += [Statement("note_change_put", store.change_row(change)) for change in carried.changes]
        try:
            await self._db.write(store.begin(ledger, carried.left), *put, *carried.also)
        except Conflict:
            found = await self._db.read_chain(store.reading(conversation_id))
            if found is None:
                raise
            return found.ledger
        if carried.changes:
            log.info("%d notes carried over into the ledger of %s", len(ledger.notes), conversation_id)
        return ledger

    async def _mended(self, damaged: store.Loaded) -> Ledger:
        """Make a ledger again from its changes: a row of it was altered on the disk."""
        conversation_id = damaged.ledger.conversation_id
        log.warning("the notes of %s are made again from their changes", conversation_id)
        ledger = rebuilt(conversation_id, await self.since(conversation_id, 0), damaged.ledger.next_number)
        version = max(ledger.version, damaged.ledger.version)
        ledger = replace(ledger, version=version, epoch=store.new_epoch())
        if not self._read_only:
            await self._db.write(*store.written_anew(ledger, damaged.left))
        return ledger

    async def rebuild(self, conversation_id: str) -> Ledger:
        """Write all notes again as their changes have made them, and return the ledger. Raises `StorageUnavailable`."""
        async with self._taking.of(conversation_id):
            self._kept.pop(conversation_id, None)
            await self._load(conversation_id)
            found = await self._db.read_chain(store.reading(conversation_id))
            return self._keep(await self._mended(found or store.Loaded(Ledger(conversation_id))))

    def _keep(self, ledger: Ledger) -> Ledger:
        self._kept[ledger.conversation_id] = ledger
        self._kept.move_to_end(ledger.conversation_id)
        if self._reserved.get(ledger.conversation_id, 0) <= ledger.next_number:
            self._reserved.pop(ledger.conversation_id, None)
        while len(self._kept) > AT_HAND:
            self._kept.popitem(last=False)
        return ledger

    async def reworded(self, conversation_id: str, since_ms: int) -> Mapping[str, int]:
        """When notes were last given other words or another day since a moment, by their ids."""
        rows = await self._db.read("note_changes_later", conversation_id=conversation_id, at_ms=since_ms)
        told = [row for row in rows if not REWORDED.isdisjoint(orjson.loads(row["after_json"]))]
        return {row["note_id"]: row["at_ms"] for row in sorted(told, key=lambda row: row["at_ms"])}

    @asynccontextmanager
    async def writing(self, conversation_id: str) -> AsyncIterator[Writing]:
        """Have a ledger to oneself. Changes not `stored` by the end of the block are dropped, and it is read again."""
        async with self._taking.of(conversation_id):
            begun = await self._load(conversation_id)
            told = self._reserved.get(conversation_id, 0)
            writing = Writing(begun, replace(begun, next_number=told) if told > begun.next_number else begun)
            try:
                yield writing
            finally:
                if writing.is_stored:
                    self._keep(writing.ledger if writing.changes else begun)
                elif writing.changes:
                    self._kept.pop(conversation_id, None)

    async def change(
        self, conversation_id: str, operations: Sequence[Operation], by: Actor, *also: Statement
    ) -> list[Outcome]:
        """Store operations with `also` in one transaction and return their outcomes.

        When another process was first they are applied again to its ledger. Raises `Conflict` of `also`.
        """
        return await self._stored(conversation_id, lambda writing: writing.apply(operations, by), also)

    async def undo(
        self, conversation_id: str, changes: Sequence[NoteChange], by: Actor, *also: Statement
    ) -> list[Outcome]:
        """Store the undoing of these changes with `also`, and return the outcomes, the latest first."""
        return await self._stored(conversation_id, lambda writing: writing.undo(changes, by), also)

    async def _stored(
        self, conversation_id: str, work: Callable[[Writing], list[Outcome]], also: Sequence[Statement]
    ) -> list[Outcome]:
        for last_try in (False, True):
            try:
                async with self.writing(conversation_id) as writing:
                    outcomes = work(writing)
                    if writing.changes or also:
                        await self._db.write(*also, *writing.statements)
                    writing.stored()
                    return outcomes
            except Conflict:
                self.evict(lambda each: each == conversation_id)
                if last_try:
                    raise
        raise AssertionError("the loop returns or raises")

    async def since(self, conversation_id: str, version: int) -> list[NoteChange]:
        """The changes since a version of the ledger, in order."""
        rows = await self._db.read("note_changes_since", conversation_id=conversation_id, version=version)
        return [store.read_change(row) for row in rows]

    async def after(self, conversation_id: str, at_ms: int) -> list[NoteChange]:
        """The changes after a moment, in order."""
        rows = await self._db.read("note_changes_after", conversation_id=conversation_id, at_ms=at_ms)
        return [store.read_change(row) for row in rows]

    async def caused_by(self, conversation_id: str, cause: str) -> list[NoteChange]:
        """The changes of one turn, tap or reading."""
        rows = await self._db.read("note_changes_by_cause", conversation_id=conversation_id, cause=cause)
        return [store.read_change(row) for row in rows]

    async def history(self, note_id: str) -> list[NoteChange]:
        """The changes of one note, from its beginning."""
        return [store.read_change(row) for row in await self._db.read("note_changes_of", note_id=note_id)]

    async def said_for(self, ledger: Ledger, turn_id: str) -> dict[str, str]:
        """The words that bear out each note that rests on a turn, by the note's id; "" where no hand gave any."""
        resting = [note.note_id for note in ledger if note.is_open and turn_id in note.turn_ids]
        return {each: " ".join(change.said for change in await self.history(each)) for each in resting}

    async def differs(self, conversation_id: str) -> bool:
        """Whether the stored notes differ from those rebuilt from their changes. Raises `StorageUnavailable`."""
        found = await self._db.read_chain(store.reading(conversation_id))
        told = rebuilt(conversation_id, await self.since(conversation_id, 0))
        return found is not None and (not found.is_sound or found.ledger.notes != told.notes)

    async def copy_of(self, conversation_id: str, session_id: str) -> NotesCopy:
        """The copy of a session's notes for its checkpoint. Raises `StorageUnavailable`."""
        ledger = await self.read(conversation_id)
        notes, others = notes_of_session(ledger, session_id), notes_of_others(ledger, session_id)
        changes: list[NoteChange] = []
        if notes:
            here = {"conversation_id": conversation_id, "session_id": session_id, "limit": MOST_CHANGES}
            rows = await self._db.read("note_changes_of_session", **here)
            last = {note.note_id: note.version for note in notes}
            changes = [store.read_change(row) for row in reversed(rows)]
            changes = [each for each in changes if each.version <= last.get(each.note_id, 0)]
        return NotesCopy((*notes, *others), tuple(changes), ledger.version, ledger.next_number)

    @asynccontextmanager
    async def alone(self, conversation_id: str) -> AsyncIterator[Ledger]:
        """Have a ledger's rows to oneself while they are rewritten (P13); it is read again afterwards."""
        async with self._taking.of(conversation_id):
            self._kept.pop(conversation_id, None)
            try:
                yield await self._load(conversation_id)
            finally:
                self._kept.pop(conversation_id, None)

    def evict(self, belongs: Callable[[str], bool]) -> None:
        """Drop the ledgers at hand of these conversations: another process may have gone on with them since."""
        for conversation_id in [each for each in self._kept if belongs(each)]:
            self._kept.pop(conversation_id, None)
