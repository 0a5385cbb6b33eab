"""The job behind the reply that keeps session notes up to date: durable, read once, never in an answer's way."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from memory.clock import RandomIds
from memory.errors import Conflict, StorageUnavailable
from memory.faults import point
from memory.language.languages import Languages
from memory.notes.drafts import Drafting, ModelReader
from memory.notes.keep import keep
from memory.notes.requests import (
    BEFORE_TURNS,
    CHUNK_TURNS,
    carried,
    ended_between,
    reopened,
    request_of,
    rests_on,
    unfiled,
    unread,
)
from memory.notes.rules import read_by_rules
from memory.notes.store import (
    NotesStore,
    ReadingOutcome,
    StoredNotes,
    WaitingReading,
    claim_reading,
    end_reading,
    log_model_reading,
    postpone_reading,
    put_notes,
    renew_reading,
    rewrite_notes,
)
from memory.notes.types import RULES, ReadByRules, ReadingRequest, SessionNotes
from memory.ports import Clock, Ids, Statement, unobserved
from memory.sessions.evidence import state_of_row
from memory.storage.store import Store
from memory.turn_taking import TurnTaking
from memory.types import ConversationTurn

UNREAD_TURNS = 20
"""From this many unread turns on a session is read without waiting for quiet."""
LOOK_EVERY_S = 5.0
MODEL_LIMIT_S = 60.0
"""A model that has not answered by then is not waited for."""
MODEL_ATTEMPTS = 2
RETRY_AFTER_MS = 600_000
MODELS_AT_ONCE = 2
SHARE_OF_TALK = 0.25
"""Reading by a model takes at most this share of the tokens that the conversation itself took in the last week."""
SHARE_OF_MS = 7 * 86_400_000

ZoneOf = Callable[[int | None], Awaitable[str]]
"""The IANA time zone by which somebody lives."""

log = logging.getLogger(__name__)


class Purse(Protocol):
    """Who pays for reading by a model."""

    async def may_spend(self, user_id: int | None) -> bool:
        """Return whether this person's budget for the day has something left."""
        ...

    async def booked(self, user_id: int | None, tokens: int, cost_nanodollars: int | None) -> Sequence[Statement]:
        """Return what writes tokens and cost (None = not known) down, to be committed with the notes."""
        ...


async def utc(_: int | None) -> str:
    """Return UTC, whoever asks."""
    return "UTC"


def still_there(turns: Sequence[ConversationTurn]) -> list[Statement]:
    """Return what lets a reading fail whose turns were forgotten meanwhile, by whichever process (P13)."""
    return [Statement("get_turn", {"turn_id": turn.turn_id}, expect=1) for turn in turns]


class Readings:
    """Reads what is new in sessions, one conversation at a time.

    A row waits from the transaction of the turn until that of its notes. So a process that dies at any step does the
    reading again, and what was stored is never read twice. Rules run in a thread: they take milliseconds a turn.

    With a model (`by_model`) the rules only stand in until it has answered: their notes are shown meanwhile, and stay
    when it fails twice, is too dear, or the person's budget is used up. It is asked at most twice for the same turns.
    """

    def __init__(
        self,
        store: Store,
        languages: Languages,
        clock: Clock,
        *,
        by_rules: ReadByRules = read_by_rules,
        zone_of: ZoneOf = utc,
        by_model: ModelReader | None = None,
        purse: Purse | None = None,
        ids: Ids | None = None,
        model_limit_s: float = MODEL_LIMIT_S,
    ) -> None:
        self.notes = NotesStore(store.db)
        self._store = store
        self._languages = languages
        self._clock = clock
        self._by_rules = by_rules
        self._zone_of = zone_of
        self._by_model = by_model
        self.purse = purse
        """Who pays for the model; nobody asks when it is None."""
        self.on_outcome: Callable[[str, ReadingOutcome], None] = unobserved
        """Told of each reading: who read (`rules`, or the model's id) and what came of it."""
        self._ids = ids or RandomIds()
        self._model_limit_s = model_limit_s
        self._asking = asyncio.Semaphore(MODELS_AT_ONCE)
        self._looking = asyncio.Lock()
        self._forgotten: Counter[str] = Counter()
        self._taking = TurnTaking()

    async def run(self) -> None:
        """Read what falls due until cancelled; what fails is logged and tried at the next look."""
        while True:
            try:
                await self.read_due()
            except StorageUnavailable as exc:
                log.warning("sessions are read later: %s", exc)
            except Exception:
                log.exception("a session could not be read")
            await asyncio.sleep(LOOK_EVERY_S)

    async def read_due(self) -> int:
        """Read the sessions that are due now, at most 20, and return how many. Raises `StorageUnavailable`."""
        async with self._looking:  # two who look at once would pay a model twice for the same turns
            due = await self.notes.due(self._clock.now_ms(), UNREAD_TURNS, by_model=self._by_model is not None)
            for waiting in due:
                await self._read_session(waiting)
            if self._by_model is not None:
                await asyncio.gather(*(self._ask_model(self._by_model, waiting) for waiting in due))
            return len(due)

    async def catch_up(self, conversation_id: str) -> None:
        """Read everything that is unread in a conversation, due or not, so that what is shown next is current.

        Call it before notes are shown. Raises `StorageUnavailable`.
        """
        for waiting in await self.notes.unread(conversation_id):
            await self._read_session(waiting)

    async def catch_up_session(self, session_id: str) -> None:
        """Read everything that is unread in one session, as before a compaction. Raises `StorageUnavailable`."""
        row = await self._store.session(session_id)
        if row:
            for waiting in await self.notes.unread(row.conversation_id):
                if waiting.session_id == session_id:
                    await self._read_session(waiting)

    @asynccontextmanager
    async def alone(self, conversation_id: str) -> AsyncIterator[None]:
        """Keep readings from a conversation, for whoever takes turns away (P13).

        What a model is reading just now is not kept when it answers: it is asked again about what is left.
        """
        self._forgotten[conversation_id] += 1
        async with self._taking.of(conversation_id):
            yield

    async def reread(
        self, turns: Sequence[ConversationTurn], others: Sequence[SessionNotes], old: SessionNotes | None
    ) -> SessionNotes:
        """Return a session's notes made again from these turns (one at least), with what was ended by hand in the old.

        Stores nothing; for whoever takes turns away (P13), and what was taken back is as if it had not been said.
        """
        notes: SessionNotes | None = None
        for start in range(0, len(turns), CHUNK_TURNS):
            chunk, before = turns[start : start + CHUNK_TURNS], turns[max(0, start - BEFORE_TURNS) : start]
            notes = await self._read(await self._request(chunk, before, notes, others))
        if notes is None:
            raise ValueError("there are no turns to read")
        return carried(notes, old) if old else notes

    async def read_without(self, notes: SessionNotes, turn_ids: Collection[str]) -> SessionNotes:
        """Return a session's notes as they would be if these turns were taken back. Stores nothing."""
        if rests_on(notes).isdisjoint(turn_ids):
            return notes
        turns = await self._store.turns_after(notes.session_id, 0)
        turns = [unfiled(turn) if turn.turn_id in turn_ids else turn for turn in turns]
        others = await self._others(notes.session_id, notes.conversation_id)
        return await self.reread(turns, others, reopened(notes, turn_ids))

    # --- by rules ---------------------------------------------------------------------------------------------------

    async def _read_session(self, waiting: WaitingReading) -> None:
        """Read all unread turns of a session by rules and store the notes, twenty turns at a time.

        What a crash leaves behind: before a write nothing, the row waits and the turns are read again; after it the
        notes, and the row is gone unless turns came meanwhile.
        """
        async with self._taking.of(waiting.conversation_id):
            try:
                read = await self._store_rules(waiting)
                if not read and self._by_model is None:  # it was read before, or its last turns are gone
                    await self._store.db.write(end_reading(waiting.session_id, waiting.last_seq))
            except Conflict as exc:  # a choice made by hand, or something forgotten by another process: next time
                log.debug("session %s is read again: %s", waiting.session_id, exc)

    async def _store_rules(self, waiting: WaitingReading) -> bool:
        """Return whether there was anything to read."""
        stored = at_first = await self._without_undone(waiting)
        others: list[SessionNotes] | None = None
        while turns := await self._unread_turns(stored):
            if others is None:
                others = await self._others(waiting.session_id, waiting.conversation_id)
            before = await self._before(turns[0])
            notes = await self._read(await self._request(turns, before, stored.notes, others))
            point("reading_done")
            ends = [] if self._by_model else [end_reading(waiting.session_id, turns[-1].seq)]
            await self._store.db.write(put_notes(stored, notes, stored.by_model, turns[-1]), *ends)
            point("reading_stored")
            stored = StoredNotes(stored.session_id, notes, stored.by_model, stored.version + 1)
            self.on_outcome(RULES, ReadingOutcome(len(notes.matters) + len(notes.lasting)))
        return stored is not at_first

    async def _without_undone(self, waiting: WaitingReading) -> StoredNotes:
        """Return the notes of a session; where they rest on what the person took back, read again from its turns."""
        stored = await self.notes.load(waiting.session_id)
        undone = await self._undone(waiting.session_id)
        if stored.notes is None or undone.isdisjoint(rests_on(stored.notes)):
            return stored
        notes = await self.read_without(stored.notes, undone)
        last = (await self._store.last_turns(waiting.session_id, 1))[0]
        await self._store.db.write(*rewrite_notes(stored, notes, last, self._clock.now_ms()))
        return await self.notes.load(waiting.session_id)

    # --- with a model -----------------------------------------------------------------------------------------------

    async def _ask_model(self, model: ModelReader, waiting: WaitingReading) -> None:
        """Have a session read by the model as far as it can be paid for, twenty turns at a time.

        What a crash leaves behind: after the claim an attempt that is counted, the model is asked once more at the
        next start; after the answer the same, it was in memory only; after the transaction the notes, what they cost,
        and the row only if turns are left.
        """
        async with self._asking:
            while await self._read_by_model(model, waiting):
                pass

    async def _read_by_model(self, model: ModelReader, waiting: WaitingReading) -> bool:
        """Have the next turns read; False when that is all, or all for now."""
        forgotten = self._forgotten[waiting.conversation_id]
        stored = await self.notes.load(waiting.session_id)
        seq = stored.by_model.read_through_seq if stored.by_model else 0
        turns = await self._store.turns_after(waiting.session_id, seq, limit=CHUNK_TURNS)
        if not turns:
            await self._store.db.write(end_reading(waiting.session_id, max(seq, waiting.last_seq)))
            return False
        before = await self._before(turns[0])
        others = await self._others(waiting.session_id, waiting.conversation_id)
        request = await self._request(turns, before, stored.by_model, others)
        if not (await self._is_affordable(model, waiting, request) and await self._claimed(waiting)):
            await self._store.db.write(end_reading(waiting.session_id, waiting.last_seq))
            return False
        point("model_reading_claimed")
        drafting = await self._draft(model, waiting, request)
        if drafting is None:
            return False
        point("model_reading_answered")
        async with self._taking.of(waiting.conversation_id):
            gone = self._forgotten[waiting.conversation_id] != forgotten
            await self._keep(model, waiting, request, drafting, at_first=None if gone else stored)
        return True

    async def _claimed(self, waiting: WaitingReading) -> bool:
        """Count an attempt; False when the model was asked often enough: the rules' notes stay."""
        try:
            await self._store.db.write(claim_reading(waiting.session_id, MODEL_ATTEMPTS))
        except Conflict:
            return False
        return True

    async def _draft(self, model: ModelReader, waiting: WaitingReading, request: ReadingRequest) -> Drafting | None:
        """Return what the model answered; None when it failed, which is logged, and tried once more later.

        A call that ran out of time was paid for all the same: its estimate is booked.
        """
        try:
            async with asyncio.timeout(self._model_limit_s):
                return await model(request)
        except Exception as exc:  # noqa: BLE001 - whatever is wrong with a model, the rules' notes stand
            log.warning("session %s was not read by the model: %s", request.session_id, type(exc).__name__)
            estimate = model.estimate(request) if isinstance(exc, TimeoutError) else 0
            failed = ReadingOutcome(error=type(exc).__name__, input_tokens=estimate)
            self.on_outcome(model.name, failed)
            paid = await self.purse.booked(waiting.user_id, estimate, None) if self.purse and estimate else ()
            await self._store.db.write(
                *paid,
                postpone_reading(request.session_id, self._clock.now_ms() + RETRY_AFTER_MS),
                log_model_reading(self._ids.new("r"), request, model.name, failed),
            )
            return None

    async def _keep(
        self,
        model: ModelReader,
        waiting: WaitingReading,
        request: ReadingRequest,
        drafting: Drafting,
        *,
        at_first: StoredNotes | None,
    ) -> None:
        """Store what may be believed of the draft with what it cost.

        `at_first` is what was stored when the model was asked; None when turns were forgotten since: then only the
        cost is stored.
        """
        tokens = drafting.input_tokens + drafting.output_tokens
        paid = await self.purse.booked(waiting.user_id, tokens, drafting.cost_nanodollars) if self.purse else ()
        if at_first is None:
            await self._store.db.write(*paid, renew_reading(waiting.session_id))
            return
        by_rules = await self._read(request)
        kept = await asyncio.to_thread(keep, drafting.draft, request, by_rules, self._languages, model.name)
        outcome = ReadingOutcome(kept.kept, kept.dropped, "", drafting.input_tokens, drafting.output_tokens)
        record = log_model_reading(self._ids.new("r"), request, model.name, outcome)
        for last_try in (False, True):
            stored = await self.notes.load(waiting.session_id)
            notes = ended_between(kept.notes, at_first.notes, stored.notes)
            try:
                await self._store.db.write(
                    put_notes(stored, notes, notes, request.turns[-1]),
                    *still_there(request.turns),
                    record,
                    renew_reading(waiting.session_id),
                    end_reading(waiting.session_id, notes.read_through_seq),
                    *paid,
                )
                break
            except Conflict:  # a choice by hand came between, or turns were forgotten by another process
                if last_try:
                    await self._store.db.write(*paid, renew_reading(waiting.session_id))
                    return
        point("model_reading_stored")
        self.on_outcome(model.name, outcome)
        await self._store_rules(waiting)

    async def _is_affordable(self, model: ModelReader, waiting: WaitingReading, request: ReadingRequest) -> bool:
        """Return whether reading stays under its share of what the talk of the last days cost, and in the budget."""
        if self.purse and not await self.purse.may_spend(waiting.user_id):
            return False
        talk, reading = await self.notes.spent(waiting.conversation_id, request.now_ms - SHARE_OF_MS)
        return reading + model.estimate(request) <= talk * SHARE_OF_TALK

    # --- inside -----------------------------------------------------------------------------------------------------

    async def _unread_turns(self, stored: StoredNotes) -> list[ConversationTurn]:
        seq = stored.notes.read_through_seq if stored.notes else 0
        return await self._store.turns_after(stored.session_id, seq, limit=CHUNK_TURNS)

    async def _before(self, first: ConversationTurn) -> list[ConversationTurn]:
        return await self._store.turns_between(first.session_id, first.seq - BEFORE_TURNS, first.seq - 1)

    async def _others(self, session_id: str, conversation_id: str) -> list[SessionNotes]:
        """Return the notes of the other sessions; none for a session that was started fresh."""
        row = await self._store.session(session_id)
        state = state_of_row(row)[0] if row else None
        if state is not None and state.isolated:
            return []
        return await self.notes.of_conversation(conversation_id, except_session_id=session_id)

    async def _undone(self, session_id: str) -> frozenset[str]:
        """Return the turns of a session of which the person said that what was noted of them is wrong."""
        row = await self._store.session(session_id)
        state = state_of_row(row)[0] if row else None
        return frozenset(state.undone if state else ())

    async def _request(
        self,
        turns: Sequence[ConversationTurn],
        before: Sequence[ConversationTurn],
        notes: SessionNotes | None,
        others: Sequence[SessionNotes],
    ) -> ReadingRequest:
        zone, now_ms = await self._zone_of(turns[-1].user_id), self._clock.now_ms()
        undone = await self._undone(turns[0].session_id)
        turns, before = (
            [unfiled(turn) if turn.turn_id in undone else turn for turn in each] for each in (turns, before)
        )
        return request_of(turns, before, notes, others, self._languages, zone=zone, now_ms=now_ms)

    async def _read(self, request: ReadingRequest) -> SessionNotes:
        """Return the notes by rules, made in a thread; a defect in them costs these turns only and is logged."""
        try:
            return await asyncio.to_thread(self._by_rules, request, self._languages)
        except Exception:
            log.exception("turns up to %s of session %s were not read", request.turns[-1].seq, request.session_id)
            return unread(request)
