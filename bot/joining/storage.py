"""Parts on the database, opened and joined: memory, people, inbox, outbox, gate."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace

from bot.delivery.chats import AllChats, Chats
from bot.delivery.message_ids import HighestMessageIds
from bot.delivery.outbox import Outbox
from bot.features.continuity.scope import is_carried
from bot.files.describing import pictures_of
from bot.intake.access import Gate
from bot.intake.inbox import Inbox
from bot.joining.choose import reading_model, summary_writer
from bot.joining.process import Process
from bot.lines import is_group
from bot.meters.spent import Spent
from bot.people.choices import PersonalChoices
from bot.people.personas import Personas
from bot.people.spending import ReadingPurse, Spending, UseLog, day_budget
from bot.tables import BOT_TABLES
from bot.turns.model_waits import ModelWaits
from bot.turns.sharing.leases import Leases
from bot.turns.sharing.workers import News
from memory.keeper.surroundings import Surroundings, scope_of_state
from memory.ledger.views import Scope
from memory.opening import ConversationMemory
from memory.ports import Database, Observers, Statement
from memory.storage.engine import OpenDatabase, shared_database
from memory.types import SessionState

NOTE_STOP_S = 1.0
"""Time limit for storing the stop."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The parts on the database."""

    memory: ConversationMemory
    people: PersonalChoices
    personas: Personas
    waiting: ModelWaits
    inbox: Inbox
    message_ids: HighestMessageIds
    outbox: Outbox
    gate: Gate
    chats: Chats
    """The chats of this process."""
    news: News
    """News of other processes."""

    @property
    def db(self) -> OpenDatabase:
        """The database itself."""
        return self.memory.db


async def open_storage(process: Process, opened: AsyncExitStack) -> Stored:
    """Open the database with its schema, and every part on it; `opened` closes them again.

    Raises `Locked` when another process works there, and `StorageError`.
    """
    settings, clock, ids = process.settings, process.clock, process.ids

    async def zone_of(conversation_id: str, user_id: int | None) -> str:
        return (await people.clock(conversation_id, user_id)).name

    async def own_zone_of(user_id: int | None) -> str:
        return (await people.time_zone(user_id)).name

    async def scope_of(state: SessionState | None, user_id: int | None) -> Scope:
        scope, persona = await scope_of_state(state, user_id), await personas.of(user_id)
        if state is not None and user_id is not None and not await is_carried(memory, personas, user_id, state):
            scope = Scope(session_id=state.session_id)
        return replace(scope, persona=persona.name)

    async def names_of(conversation_id: str, user_ids: Collection[int]) -> Mapping[int, str]:
        return await people.names(user_ids) if is_group(conversation_id) else {}

    async def seen_in(conversation_id: str, turn_ids: Collection[str]) -> Mapping[str, str]:
        return await pictures_of(memory.db, conversation_id, turn_ids)

    def used(spent: Spent) -> None:
        uses(spent)

    def purse_of(db: Database) -> ReadingPurse:
        return ReadingPurse(Spending(db, day_budget(settings)), clock, own_zone_of)

    meters, news = process.meters, News()
    waiting = ModelWaits(settings.beside.with_name(settings.beside.name + ".waiting"))
    waiting.open()
    opened.callback(waiting.close)
    memory = await ConversationMemory.open(
        settings.continuity_database_url,
        checkpoints=settings.checkpoint_dir,
        clock=clock,
        ids=ids,
        budget=settings.budget(),
        session_gap_s=settings.session_gap_ms / 1000,
        write_summary=summary_writer(settings, used, lambda: (purse_of(memory.db), memory.db)),
        around=Surroundings(
            zone_of,
            scope_of,
            names_of,
            seen_in,
            lambda: personas.plays,
            lambda user_id: personas.words_of(user_id),  # noqa: PLW0108 - they come once the database is there
        ),
        keeper_model=reading_model(settings, used),
        purse_of=purse_of,
        return_mode=settings.continuity_return_mode,
        extensions=[BOT_TABLES],
        observers=Observers(
            commit=meters.commit.observe,
            fsync=meters.waited_for_disk,
            reading=lambda reader, outcome: meters.read(
                reader, outcome.kept, outcome.dropped, failed=bool(outcome.error)
            ),
            news=news.put_nowait,
            excused_json=waiting.noted,
        ),
        background=False,
        worker=process.boot_id,
    )
    opened.push_async_callback(memory.close)
    if (asking := memory.keeper.asking) is not None:  # a slow model of one's own is as slow behind the reply
        asking.limit_s = max(asking.limit_s, settings.continuity_model_timeout_s)
    db = memory.db
    uses = UseLog(db, meters.spend, clock, ids)
    opened.push_async_callback(uses.settle)
    people = PersonalChoices(db, clock, settings.continuity_timezone)
    personas = Personas(people, settings.continuity_persona)
    inbox = Inbox(db, clock, process.boot_id)
    message_ids = HighestMessageIds()
    outbox = Outbox(db, clock, ids, message_ids)
    await inbox.open()
    await outbox.open()
    boot = {"boot_id": process.boot_id, "report_json": "{}", "started_at_ms": clock.now_ms()}
    await db.write(Statement("boot_insert", boot))
    opened.push_async_callback(_note_the_stop, db, process)
    token = settings.telegram_bot_token
    gate = Gate(
        everyone=settings.everyone,
        named=settings.allowed_user_ids,
        paired=await read_paired(db),
        secret=token.get_secret_value() if token and memory.db.shared else None,
    )
    shared = shared_database(db)
    return Stored(
        memory=memory,
        people=people,
        personas=personas,
        waiting=waiting,
        inbox=inbox,
        message_ids=message_ids,
        outbox=outbox,
        gate=gate,
        chats=Leases(shared, process.behind) if shared else AllChats(),
        news=news,
    )


async def read_paired(db: Database) -> set[int]:
    """Return the ids of people let in with the code. Raises `StorageUnavailable`."""
    return {row["user_id"] for row in await db.read("people_all") if row["allowed"]}


async def _note_the_stop(db: Database, process: Process) -> None:
    with suppress(Exception):  # a disk that refuses must not keep the process from ending
        async with asyncio.timeout(NOTE_STOP_S):
            await db.write(
                Statement("inbox_release", {"boot_id": process.boot_id}),
                Statement("boot_stopped", {"boot_id": process.boot_id, "stopped_at_ms": process.clock.now_ms()}),
            )
