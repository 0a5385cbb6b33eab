"""The front door: everything of `memory` over one database, opened here and nowhere else."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from memory.clock import RandomIds, SystemClock
from memory.context.budget import Budget
from memory.context.compaction.compactor import Hurry, SummaryWriter, nobody_waits
from memory.context.earlier import SESSIONS_READ
from memory.context.occasion import NOTHING_RESERVED, PLAIN, UNPREPARED, Occasion, Prepared, Reserved
from memory.context.tokens import TiktokenCounter
from memory.continuity.types import Mode
from memory.errors import ContinuityError
from memory.keeper.contract import KeepingModel
from memory.keeper.surroundings import Purse, Surroundings
from memory.ledger.types import Actor, Ledger, Note, Operation, Outcome
from memory.packets import RetrievedItem, TierReceipt
from memory.parts import Given, Parts
from memory.pending import PendingTurn, said_at
from memory.ports import NOBODY, Clock, Database, Ids, Observers, Statement, TokenCounter
from memory.privacy.export import gather
from memory.privacy.forget import Forgotten
from memory.privacy.plan import ForgetRequest
from memory.search.embeddings import Embedder
from memory.search.embeddings import load as load_embedder
from memory.search.languages import Languages
from memory.search.query import Query
from memory.sessions.choice import choose
from memory.sessions.measures import Measures
from memory.sessions.recorder import MAX_LIVE_SESSIONS
from memory.start import OpeningReport, leftovers, log_failure, start, work_behind
from memory.storage.checkpoint import CheckpointFiles
from memory.storage.extension import Extension
from memory.storage.place import places
from memory.storage.store import SessionRow
from memory.types import ConversationTurn, SessionState

SESSION_GAP_S: Final = 6 * 3600.0
REST_S: Final = 5.0
NO_BUDGET_GIVEN: Final = Budget()

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True, eq=False)
class ConversationMemory(Parts):
    """The memory of many conversations over one database; `open` makes it, `async with` closes it in good order.

    One process works on a database at a time, from as many tasks as it likes. Nothing depends on the good order: a
    process that is killed loses no turn that was recorded.
    """

    found: OpeningReport = field(default_factory=OpeningReport)
    _held: AsyncExitStack = field(default_factory=AsyncExitStack)

    # --- open and close ---------------------------------------------------------------------------------------------

    @classmethod
    async def open(
        cls,
        where: str | os.PathLike[str],
        *,
        checkpoints: Path | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        languages: Languages | None = None,
        counter: TokenCounter | None = None,
        budget: Budget = NO_BUDGET_GIVEN,
        write_summary: SummaryWriter | None = None,
        embedder: Callable[[], Embedder | None] | None = load_embedder,
        around: Surroundings | None = None,
        keeper_model: KeepingModel | None = None,
        purse_of: Callable[[Database], Purse] | None = None,
        return_mode: Mode = "use",
        session_gap_s: float = SESSION_GAP_S,
        max_live_sessions: int = MAX_LIVE_SESSIONS,
        extensions: Sequence[Extension] = (),
        observers: Observers = NOBODY,
        exclusive: bool = True,
        worker: str | None = None,
        recover: bool = True,
        background: bool = True,
        read_only: bool = False,
    ) -> Self:
        """Open the memory in a folder (made if need be), at `sqlite:///path` or at `postgresql://…` (an extra).

        The schema is brought up to date.

        Replaceable: `clock`, `ids`, `languages`, the token `counter`, the `budget` of a packet, the writer of summaries
        (`write_summary`: a model, checked by code), the maker of vectors (`embedder`: the extra `semantic` when it is
        installed; None = words alone), the keeper of notes behind the replies (`keeper_model`, checked by code; None =
        no keeper) and its purse (`purse_of`), and the zones, notes and names around a chat (`around`). `return_mode`
        holds after a silence for a user who has not chosen. After `session_gap_s` of silence a new session begins.
        `extensions` bring tables of the caller, `observers` are told of events. `exclusive` takes the lock file,
        `recover` looks for the leftovers of a crash, `background` works behind the replies in a task (else call `run`);
        `read_only` does none of these. `worker` names this start of a program that shares its work with others of its
        kind where the database is a server's; the program sees to it that no two of them work on one conversation.

        Raises `Locked` when another process works there, `StorageError` as the database does.
        """
        path, folder = places(where, checkpoints)
        given = Given(
            measures=Measures(
                clock=clock or SystemClock(),
                ids=ids or RandomIds(),
                languages=languages or Languages.load(),
                counter=counter or TiktokenCounter(),
            ),
            budget=budget,
            write_summary=write_summary,
            embedder=embedder,
            around=around or Surroundings(),
            keeper_model=keeper_model,
            return_mode=return_mode,
            session_gap_s=session_gap_s,
            max_live_sessions=max_live_sessions,
            extensions=tuple(extensions),
            observers=observers,
            purse_of=purse_of,
            read_only=read_only,
        )
        async with AsyncExitStack() as held:
            entry = await start(held, path, folder, given, exclusive=exclusive, worker=worker)
            memory = cls.join(entry.db, CheckpointFiles(folder, given.measures.clock, observers), given)
            if recover and not read_only:
                memory.found = await leftovers(memory, entry)
            if background and not read_only:
                work_behind(held, memory.run())
            memory._held = held.pop_all()  # noqa: SLF001 - its own class
            return memory

    async def warm(self) -> None:
        """Load the counter and the model of the search by meaning, so that the first turn does not wait for them."""
        if isinstance(self.counter, TiktokenCounter):
            await asyncio.to_thread(self.counter.warm)
        await self.semantic.open()

    async def run(self) -> None:
        """Work behind the replies until cancelled: load the counter, make vectors, read. Never raises."""
        if isinstance(self.counter, TiktokenCounter):
            await asyncio.to_thread(self.counter.warm)
        await asyncio.gather(log_failure("vectors", self.semantic.run), log_failure("keeper", self.keeper.run))

    def evict(self, belongs: Callable[[str], bool]) -> None:
        """Drop these conversations from the caches: another process may have gone on with them since."""
        for part in (self.recorder, self.assembler, self.searcher, self.ledgers):
            part.evict(belongs)

    async def rest(self, deadline_s: float = REST_S) -> list[str]:
        """Bring the sessions that changed to rest: last summary, clean checkpoint; return their ids. Never raises."""
        return await self.recorder.shutdown(deadline_s)

    async def settle(self) -> None:
        """Wait until the search index and the checkpoints that are due are written."""
        await self.recorder.settle()

    async def close(self) -> None:
        """Let go of the files, the lock last. A second call does nothing."""
        await self.settle()
        await self.keeper.stop()
        await self._held.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.rest()
        await self.close()

    # --- turns ------------------------------------------------------------------------------------------------------

    async def begin(
        self,
        conversation_id: str,
        text: str,
        *,
        user_id: int | None = None,
        dedupe_key: str | None = None,
        occasion: Occasion = PLAIN,
        reserved: Reserved = NOTHING_RESERVED,
        prepared: Prepared = UNPREPARED,
    ) -> PendingTurn:
        """Take a message in and gather the prompt: hydrated, compacted if due, within the budget.

        Nothing is stored but a session that begins; the turn is stored by `record`. With a `dedupe_key` (your id of the
        message) a message is answered once: one answered before has its turn in `recorded` (a second answer is a
        `Conflict` all the same).

        `occasion` has the author, their clock, and the notes that may be told; `reserved` the tokens of your
        instructions and tools; `prepared` your own knowledge of the turn. Raises `StorageUnavailable`.
        """
        epoch = (await self.ledgers.read(conversation_id)).epoch  # before anything that the answer is made from
        recorded = await self.store.turn_answering(dedupe_key) if dedupe_key and not prepared.is_new else None
        state = prepared.state or await self.session(conversation_id, user_id)
        besides = reserved.tokens + sum(map(self.counter.count, filter(None, (reserved.bootstrap, reserved.files))))
        state = await self.compactor.compact_if_due(
            state, self.assembler.history, self.recorder.edit, reserved_tokens=besides, models=prepared.models
        )
        now_ms = self.clock.now_ms()
        packet = await self.assembler.packet(
            state, text, now_ms=now_ms, user_id=user_id, occasion=occasion, reserved=reserved
        )
        return PendingTurn(
            conversation_id=conversation_id,
            text=text,
            state=state,
            packet=packet,
            turn_id=prepared.turn_id or self.ids.new("t"),
            user_id=user_id,
            third_party=occasion.third_party,
            dedupe_key=dedupe_key,
            time_zone=packet.time_zone,
            recorder=self.recorder,
            said_at_ms=said_at(occasion.said_at_ms, now_ms, state.last_turn_at_ms, self.session_gap_ms),
            epoch=epoch,
            besides_tokens=besides,
            recorded=recorded,
        )

    async def make_room(self, pending: PendingTurn, *, hurry: Hurry = nobody_waits) -> None:
        """Compact the session of a turn that was recorded if it is over budget, so that the next need not wait for it.

        `begin` does it otherwise. Call it behind the reply, before anything else happens in the conversation: words
        forgotten meanwhile would come back in a summary. When `hurry` returns, because somebody waits, no summary model
        is waited for any longer. Never raises.
        """
        try:
            state = await self.recorder.session(pending.state.session_id)
        except ContinuityError as exc:
            log.info("session %s is compacted later: %s", pending.state.session_id, exc)
            return
        await self.compactor.compact_if_due(
            state, self.assembler.history, self.recorder.edit, reserved_tokens=pending.besides_tokens, hurry=hurry
        )

    @staticmethod
    def reads_of_turn(conversation_id: str) -> list[Statement]:
        """Return the reads of each `session` and `begin`, for `memory.storage.ahead`."""
        here = {"conversation_id": conversation_id}
        return [
            Statement("current_session", here),
            Statement("list_sessions", here | {"limit": SESSIONS_READ, "offset": 0}),
            Statement("session_lines_of", here),
        ]

    async def session(self, conversation_id: str, user_id: int | None = None, *, goes_on: bool = False) -> SessionState:
        """Return the session of the next message; opened if there is none yet, or after a long silence.

        `goes_on`: no silence ends it, as for a message by the clock. Raises `StorageUnavailable`.
        """
        current = await self.recorder.current(conversation_id)
        choice = choose(current, self.clock.now_ms(), self.session_gap_ms, goes_on=goes_on)
        if choice == "same" and current is not None:
            return current
        state = await self.recorder.open_session(conversation_id, user_id, choice)
        log.info("session %s opened (%s)", state.session_id, choice)
        return state

    # --- sessions ---------------------------------------------------------------------------------------------------

    async def fresh(self, conversation_id: str, *, user_id: int | None = None) -> SessionState:
        """Start fresh: nothing said before reaches the model, until `resume`. Raises `StorageUnavailable`."""
        return await self.recorder.open_session(conversation_id, user_id, "fresh")

    async def sessions(self, conversation_id: str, *, limit: int = 10) -> list[SessionRow]:
        """Return the sessions of a conversation that hold turns, the latest first. Raises `StorageUnavailable`."""
        return await self.store.sessions(conversation_id, limit=limit)

    async def resume(self, conversation_id: str, session_id: str) -> SessionState:
        """Make an earlier session the one that goes on. Raises `UnknownSession`, `StorageUnavailable`."""
        return await self.recorder.switch(conversation_id, session_id)

    # --- what is known ----------------------------------------------------------------------------------------------

    async def search(self, conversation_id: str, text: str, *, limit: int = 12) -> list[RetrievedItem]:
        """Return older turns that bear on the text, best first. Raises `StorageUnavailable`."""
        return await self.searcher.search(Query(conversation_id, text, limit=limit, now_ms=self.clock.now_ms()))

    async def notes(self, conversation_id: str) -> Ledger:
        """Return the notes of a conversation, by number; `memory.ledger.views` order them for lists.

        Raises `StorageUnavailable`.
        """
        return await self.ledgers.read(conversation_id)

    async def receipt(self, conversation_id: str) -> tuple[TierReceipt, ...]:
        """Return the receipt of the present session's last answer, tier by tier; () for none."""
        session_id = await self.store.current_session_id(conversation_id)
        found = await self.store.context_snapshots(session_id, limit=1) if session_id else []
        receipts = orjson.loads(found[0]["receipts_json"]) if found else ()
        return tuple(TierReceipt.model_validate(each) for each in receipts)

    async def change(
        self, conversation_id: str, operations: Sequence[Operation], by: Actor, *also: Statement
    ) -> list[Outcome]:
        """Change notes between turns (a button, a command, an operator) with `also`, as one transaction.

        Return an outcome for each: `Applied`, or a `Refusal` with its reason. Raises `Conflict` of `also`,
        `StorageUnavailable`.
        """
        outcomes = await self.ledgers.change(conversation_id, operations, by, *also)
        self.recorder.noted(conversation_id)
        return outcomes

    async def edited(self, turn_id: str, text: str, *also: Statement, third_party: bool = False) -> None:
        """Give a turn the new words of its message, edited after the answer, with `also` as one transaction.

        From then on prompts and search have the new words alone. Unless they say the same in other letters, notes that
        rest on changed words are doubtful until the turn is read or answered again; a keeper reads it at once.
        Repeating it is harmless. Raises `Conflict` of `also`, `StorageUnavailable`.
        """
        await self.rewording.reword(turn_id, text, *also, third_party=third_party)

    async def in_doubt(self, turn: ConversationTurn, text: str) -> list[Note]:
        """The open notes on a turn that are in doubt once it reads like this. Raises `StorageUnavailable`."""
        return await self.rewording.in_doubt(turn, text)

    async def withdraw(self, turn_id: str) -> None:
        """Take back the notes of a turn whose edited message is answered again; nothing more is noted of it.

        Raises `StorageUnavailable`.
        """
        await self.rewording.withdraw(turn_id)

    # --- whose it is ------------------------------------------------------------------------------------------------

    async def forget(self, request: ForgetRequest) -> Forgotten:
        """Forget turns, memories, sessions or everything of a conversation, in every row, index, file and cache (P13).

        `forgetter.prove` looks into the raw files afterwards. Raises `StorageUnavailable` with no row changed.
        """
        return await self.forgetter.forget(request)

    async def export(self, conversation_id: str, *, user_id: int | None = None) -> dict[str, Any]:
        """Return all that is kept about a conversation as JSON values; with `user_id` that person's words alone."""
        return await gather(self.db, self.ledgers, self.clock, conversation_id, user_id=user_id)
