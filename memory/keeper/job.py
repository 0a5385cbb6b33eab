"""The job behind the reply that keeps the ledger: durable, one keeper a conversation, never in an answer's way."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from memory.errors import Conflict, StorageUnavailable
from memory.keeper import queue
from memory.keeper.asking import MODEL_LIMIT_S, Asked, Asking
from memory.keeper.backlog import BacklogReader
from memory.keeper.contract import KeeperRequest, KeepingModel
from memory.keeper.edited import settled
from memory.keeper.gather import RequestMaker
from memory.keeper.judge import NOTHING_NEW, line_of, no_place, upon
from memory.keeper.queue import ReadingQueue, WaitingReading
from memory.keeper.request import CHUNK_TURNS, chunk, is_shown, untold
from memory.keeper.session_lines import SessionLine, put_session_line, stored_lines, without
from memory.keeper.surroundings import Purse, Surroundings
from memory.ledger.ledgers import Ledgers
from memory.ledger.store import unforgotten
from memory.ledger.types import Actor, Refusal
from memory.ledger.views import forgotten_turns
from memory.ports import NOBODY, Observers, Statement
from memory.process.faults import point
from memory.process.shielded import Shielded
from memory.process.turn_taking import TurnTaking
from memory.sessions.measures import Measures
from memory.storage.store import Store
from memory.types import ConversationTurn

LOOK_EVERY_S: Final = 5.0
RETRY_AFTER_MS: Final = 600_000
SHARE_OF_TALK: Final = 0.25
"""Reading takes at most this share of the tokens that the conversation itself took in the last week."""
WEEK_MS: Final = 7 * 86_400_000
CARRIED_WEEKS: Final = 4
"""So many weeks share one budget: the unused part of a share is not lost to a short session after it."""
ASKED_TOKENS: Final = 8_000
"""Tokens that any week may take while somebody waits to see the notes: a talk of three messages is read, too."""
LEASE_LOOK_S: Final = 0.25
"""How often it is looked whether another process has read."""

log = logging.getLogger(__name__)


class Keeper:
    """Has a model read new turns of sessions, and changes the ledger by its answers.

    A row waits from the transaction of the turn until that of its notes. So a process that dies at any step has the
    model asked again, twice in a row for the same turns at most, and turns with stored notes are never read twice. An
    answer is stored although somebody wrote meanwhile; it is thrown away when something here was forgotten or edited
    meanwhile.
    """

    def __init__(
        self,
        store: Store,
        ledgers: Ledgers,
        measures: Measures,
        model: KeepingModel | None,
        *,
        around: Surroundings | None = None,
        purse: Purse | None = None,
        observers: Observers = NOBODY,
        model_limit_s: float = MODEL_LIMIT_S,
    ) -> None:
        self.queue = ReadingQueue(store.db)
        self.asking = Asking(model, model_limit_s) if model else None
        """None when no model keeps the notes."""
        self.purse = purse
        """The purse for the model; None asks nobody."""
        self._observers = observers
        self._store = store
        self._ledgers = ledgers
        self._clock = measures.clock
        self._maker = RequestMaker(store, ledgers, measures.clock, measures.ids, around or Surroundings())
        self._backlog = BacklogReader(store.db, measures.clock)
        self._reading, self._storing = TurnTaking(), TurnTaking()
        self._shielded = Shielded()

    @property
    def is_on(self) -> bool:
        """Whether a model keeps the notes just now."""
        return self.asking is not None and not self.asking.handed_over

    @property
    def handed_over(self) -> bool:
        """Whether the model failed its contract three times in a row, so that rules keep notes until the next start."""
        return self.asking is not None and self.asking.handed_over

    # --- when -------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Read sessions as they fall due until cancelled; a failure is logged and tried again at the next look."""
        while True:
            try:
                await self.read_due()
            except StorageUnavailable as exc:
                log.warning("sessions are read later: %s", exc)
            except Exception:
                log.exception("a session could not be read")
            await asyncio.sleep(LOOK_EVERY_S)

    async def stop(self) -> None:
        """Leave readings that somebody asked for: they wait in their rows, as after a crash."""
        tasks = list(self._shielded.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def read_due(self) -> int:
        """Read the sessions that are due now, at most 20, and return their number. Raises `StorageUnavailable`."""
        if not self.is_on:
            return 0
        due = await self.queue.due(self._clock.now_ms())
        here: dict[str, set[str]] = {}
        for waiting in due:
            here.setdefault(waiting.conversation_id, set()).add(waiting.session_id)
        await asyncio.gather(*(self._read_conversation(each, session_ids) for each, session_ids in here.items()))
        return len(due)

    async def read_now(self, conversation_id: str) -> None:
        """Read the unread turns of a conversation at once; return when that is stored or has failed. Never raises.

        When the caller is cancelled the reading goes on: it was paid for.
        """
        if not self.is_on:
            return
        try:
            await self._shielded.run(self._read_conversation(conversation_id), name=f"keeper:{conversation_id}")
        except Exception as exc:  # noqa: BLE001 - what stands is shown
            log.warning("what is unread is read later: %s", type(exc).__name__)

    async def unread(self, conversation_id: str) -> int:
        """The number of unread turns of which something may lack in the notes. Raises `StorageUnavailable`.

        None of those that the model noted as it answered, no short question, and no small talk.
        """
        if not self.is_on:
            return 0
        turns = [turn for each in await self.queue.here(conversation_id) for turn in await self._unread_of(each)]
        return len(await self._maker.untold(conversation_id, turns))

    async def _unread_of(self, waiting: WaitingReading) -> list[ConversationTurn]:
        turns = await self._store.turns_between(waiting.session_id, waiting.read_through_seq + 1, waiting.last_seq)
        return [turn for turn in turns if is_shown(turn)]

    @asynccontextmanager
    async def alone(self, conversation_id: str) -> AsyncIterator[None]:
        """Let no reading be stored meanwhile: for the removal of turns (P13)."""
        async with self._storing.of(conversation_id):
            yield

    async def free_leases(self) -> None:
        """Let go of readings of a process that died, at the start of the only one. Raises `StorageUnavailable`."""
        await self._store.db.write(Statement("keeper_leases_clear"))

    # --- reading ----------------------------------------------------------------------------------------------------

    async def _read_conversation(self, conversation_id: str, session_ids: Collection[str] | None = None) -> None:
        """Read these sessions of a conversation, or with None all that are not put off, one after the other."""
        async with self._reading.of(conversation_id):
            await self._backlog.open(conversation_id)
            here = await self.queue.here(conversation_id)
            for waiting in queue.in_turn(here, session_ids, self._clock.now_ms()):
                while self.is_on and await self._read_stretch(waiting, is_asked=session_ids is None):
                    pass
            if session_ids is None:
                await self._until_free(conversation_id)

    async def _read_stretch(self, waiting: WaitingReading, *, is_asked: bool) -> bool:
        """Have the next turns of a session read; False when that is all, or all for now.

        A crash leaves behind: before the claim nothing; after it an attempt that is counted and a lease that runs out:
        the model is asked once more; after the answer the same, it was in memory only; after the transaction all its
        changes, and the row only if turns are left.
        """
        lines = await stored_lines(self._store.db, waiting.conversation_id)
        line = lines.get(waiting.session_id) or SessionLine(waiting.session_id, waiting.conversation_id)
        turns = await self._store.turns_after(waiting.session_id, line.read_through_seq, limit=CHUNK_TURNS)
        turns = chunk([turn for turn in turns if turn.seq <= waiting.last_seq])
        if not turns:
            await self._store.db.write(queue.end_reading(waiting.session_id, line.read_through_seq))
            return False
        state = await self._maker.state(waiting.session_id)
        silent = await self._maker.silent(waiting, state)
        shown = [turn for turn in turns if is_shown(turn, silent)]
        if not await self._maker.is_worth_reading(waiting.conversation_id, state, shown, is_asked=is_asked):
            return await self._move_on(line, waiting, turns[-1].seq)
        request = await self._maker.make(waiting, state, shown, silent)
        before = without(line, forgotten_turns(request.ledger))  # the words of an edited turn went with its edit
        request = replace(request, standing=": ".join(filter(None, (before.title, before.standing))))
        if (put_off_ms := await self._put_off_ms(waiting, request, is_asked=is_asked)) or self.asking is None:
            await self._store.db.write(queue.postpone(waiting, put_off_ms))
            return False
        if not await self._claimed(waiting, request, self.asking.limit_s):
            return False
        point("keeper_claimed")
        asked = await self.asking.ask(request, Actor("keeper", request.now_ms, request.reading_id))
        point("keeper_answered")
        if asked.answer is None:
            await self._postpone(waiting, request, asked)
            return False
        line = await asyncio.to_thread(line_of, asked.answer, request, line)
        line = replace(line, read_through_seq=turns[-1].seq)
        return await self._keep(waiting, request, line, asked)

    async def _move_on(self, line: SessionLine, waiting: WaitingReading, seq: int) -> bool:
        """Leave turns with too little to note until more is said; True where more was: then they count as read."""
        has_more = seq < waiting.last_seq
        read = seq if has_more else line.read_through_seq
        moved = replace(line, read_through_seq=read, written_at_ms=line.written_at_ms or self._clock.now_ms())
        async with self._storing.of(line.conversation_id):
            statements = [put_session_line(moved)] if moved != line else []
            await self._store.db.write(*statements, queue.end_reading(line.session_id, seq))
        return has_more

    async def _put_off_ms(self, waiting: WaitingReading, request: KeeperRequest, *, is_asked: bool) -> int:
        """When these turns are read that are not read now: they wait for more, or it costs too much; 0 for now."""
        lacking = len(untold(request.turns, request.seen))
        if not is_asked and queue.may_wait(waiting, request.turns, lacking, request.now_ms):
            return request.turns[-1].created_at_ms + queue.CALM_MS
        return 0 if await self._is_affordable(waiting, request, is_asked=is_asked) else request.now_ms + RETRY_AFTER_MS

    async def _is_affordable(self, waiting: WaitingReading, request: KeeperRequest, *, is_asked: bool) -> bool:
        """Whether reading stays under its share of the cost of the last weeks' talk, and in the budget.

        When somebody wants to see the notes, a little is read beyond that.
        """
        if self.asking is None or (self.purse and not await self.purse.may_spend(waiting.user_id)):
            return False
        costs, beyond = self.asking.model.estimate(request), ASKED_TOKENS if is_asked else 0
        for weeks in (1, CARRIED_WEEKS):
            talk, reading = await self.queue.spent(waiting.conversation_id, request.now_ms - weeks * WEEK_MS)
            if reading + costs <= talk * SHARE_OF_TALK + beyond:
                return True
        return False

    async def _claimed(self, waiting: WaitingReading, request: KeeperRequest, limit_s: float) -> bool:
        """Count an attempt and take the lease; False where another process has it, or asked often enough."""
        until_ms = request.now_ms + round(3 * limit_s * 1000)
        try:
            await self._store.db.write(*queue.claim(waiting, request.reading_id, request.now_ms, until_ms))
        except Conflict:
            return False
        return True

    async def _until_free(self, conversation_id: str) -> None:
        """Wait until no other process reads there any more, but no longer than that may take."""
        limit_s = self.asking.limit_s if self.asking else 0
        for _ in range(round(3 * limit_s / LEASE_LOOK_S)):
            if not await self.queue.is_leased(conversation_id, self._clock.now_ms()):
                return
            await asyncio.sleep(LEASE_LOOK_S)

    # --- storing ----------------------------------------------------------------------------------------------------

    async def _paid(self, waiting: WaitingReading, asked: Asked) -> Sequence[Statement]:
        if self.purse is None or not asked.tokens:
            return ()
        return await self.purse.booked(waiting.user_id, asked.tokens, asked.cost_nanodollars)

    async def _postpone(self, waiting: WaitingReading, request: KeeperRequest, asked: Asked) -> None:
        """Write down the model's failure and its cost; it is asked again later, and the turns stay unread."""
        name, outcome = self._model_name, asked.outcome()
        await self._store.db.write(
            *await self._paid(waiting, asked),
            queue.postpone(waiting, self._clock.now_ms() + RETRY_AFTER_MS),
            queue.log_reading(request, name, outcome),
            queue.give_back(waiting.conversation_id, request.reading_id, held=False),
        )
        self._observers.reading(name, outcome)

    async def _keep(self, waiting: WaitingReading, request: KeeperRequest, line: SessionLine, asked: Asked) -> bool:
        """Store the believed changes with everything that belongs to them; False when the answer is thrown away.

        That is so when a turn of the request was forgotten or edited meanwhile: then only the cost is stored, and the
        rest is read again. When another process changed the ledger first, the changes are made upon that.
        """
        paid = await self._paid(waiting, asked)
        for last_try in (False, True):
            try:
                await self._stored(request, line, asked, paid)
            except Conflict as exc:
                self._ledgers.evict(lambda each: each == waiting.conversation_id)
                if last_try:
                    log.info("what was read in %s is thrown away: %s", waiting.session_id, exc)
                    await self._throw_away(request, asked, paid)
                    return False
            else:
                break
        point("keeper_stored")
        return True

    async def _stored(self, request: KeeperRequest, line: SessionLine, asked: Asked, paid: Sequence[Statement]) -> None:
        here = request.conversation_id
        async with self._storing.of(here), self._ledgers.writing(here) as writing:
            by = Actor("keeper", self._clock.now_ms(), request.reading_id)  # who was answered meanwhile is told next
            since = await self._ledgers.since(here, request.ledger.version)
            if line.written_at_ms == request.now_ms and not since:  # else it may not know what was changed meanwhile
                line = replace(line, written_at_ms=by.at_ms)
            wanted, lost = upon(asked.judgement, since)
            refused = [*asked.judgement.refused, *lost]
            outcomes = writing.apply([operation for _, operation in wanted], by)
            named = {change.number for change, _ in wanted} | {each.change.number for each in refused}
            left = {note.number for note in request.notes} - named
            texts = {turn.turn_id: turn.user_text for turn in request.numbered.values()}
            writing.apply(settled(writing.ledger, {turn.turn_id for turn in request.turns}, left, texts), by)
            for (change, operation), outcome in zip(wanted, outcomes, strict=True):
                if isinstance(outcome, Refusal) and outcome.code not in NOTHING_NEW:
                    refused.append(no_place(change, operation, outcome))
            kept = len(outcomes) - sum(isinstance(each, Refusal) for each in outcomes)
            result = asked.outcome(kept, Counter(each.code for each in refused))
            await self._store.db.write(
                unforgotten(request.ledger),
                queue.give_back(here, request.reading_id, held=True),
                *(Statement("get_turn", {"turn_id": turn.turn_id}, expect=1) for turn in request.numbered.values()),
                *writing.statements,
                put_session_line(line),
                *(queue.put_refused(request, each, place) for place, each in enumerate(refused, 1)),
                queue.log_reading(request, self._model_name, result),
                queue.renew(request.session_id),
                queue.end_reading(request.session_id, line.read_through_seq),
                *paid,
            )
            writing.stored()
        self._observers.reading(self._model_name, result)

    async def _throw_away(self, request: KeeperRequest, asked: Asked, paid: Sequence[Statement]) -> None:
        """Store the cost; the remaining turns are read once more, as long as attempts are left."""
        await self._store.db.write(
            *paid,
            queue.log_reading(request, self._model_name, replace(asked.outcome(), error="thrown away")),
            queue.give_back(request.conversation_id, request.reading_id, held=False),
        )

    @property
    def _model_name(self) -> str:
        return self.asking.model.name if self.asking else ""
