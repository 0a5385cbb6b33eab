"""Joins the parts of one bot: what lives on its database, who it is on Telegram, and what works on updates."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from telegram import Bot

from bot.answers.responder import Responder
from bot.delivery.commit import Committer
from bot.delivery.connection import StartError, make_bot, until_reached
from bot.delivery.message_ids import HighestMessageIds
from bot.delivery.outbox import Outbox
from bot.delivery.rate_limit import RateLimiter, RateLimits
from bot.delivery.sender import Delivery
from bot.delivery.streaming import LivePreviews
from bot.features.answering import Answering
from bot.features.basics import Basics
from bot.features.continuity.commands import Continuity
from bot.features.continuity.gate import ContinuityGate
from bot.features.continuity.idle import Idle
from bot.features.continuity.scope import is_carried
from bot.features.continuity.settings import ContinuitySettings
from bot.features.exporting import Exporting
from bot.features.files.commands import FileCommands
from bot.features.follow_ups import FollowUps
from bot.features.forgetting.commands import Forgetting
from bot.features.loops import Loops
from bot.features.memories import Memories
from bot.features.models.choice import ModelChoice
from bot.features.models.usage import ModelUsage
from bot.features.overview import Overview
from bot.features.receipt import Receipt
from bot.features.reminders import Reminders
from bot.features.sessions import Sessions
from bot.features.tasks.commands import Tasks
from bot.features.tasks.running import TaskRunning
from bot.features.tools.listing import ToolList
from bot.features.tools.taps import ToolTaps
from bot.features.undo import Undoing
from bot.features.voice import VoiceChoice
from bot.files.hearing.sound_server import sound_server
from bot.files.room import build_room
from bot.files.speaking import Speaker
from bot.intake.access import Gate
from bot.intake.chat_moves import ChatMoves
from bot.intake.inbox import Inbox
from bot.intake.intake import Intake, Refuse
from bot.intake.polling import Poller
from bot.intake.updates import Envelope, Me, is_group
from bot.joining.choose import make_responder, make_shelf, reading_model, summary_writer
from bot.meters.meters import Meters
from bot.pauses import Pauses
from bot.people.choices import PersonalChoices
from bot.people.personas import Personas
from bot.people.spending import ReadingPurse, Spending, UseLog, day_budget
from bot.reminders.scheduler import ReminderScheduler
from bot.settings import Settings
from bot.settings.model_names import read_sound_model
from bot.tables import BOT_TABLES
from bot.tasks.rows import TaskRows
from bot.tasks.starts import TaskStarts
from bot.tasks.task import read_quiet_hours
from bot.tools.calls import Calls
from bot.tools.mcp.config import ConfigError
from bot.tools.own import ToolsError
from bot.tools.shelf import Shelf
from bot.tools.tool import Source
from bot.tools.web.addresses import Reach, is_public
from bot.turns.buttons import Buttons
from bot.turns.dispatch import Dispatch
from bot.turns.feature import Feature, actions_of, commands_of
from bot.turns.lanes import Lanes
from bot.turns.model_waits import ModelWaits
from bot.turns.parked import GOES_ON
from bot.turns.recovery import Recovery
from bot.turns.services import Services
from bot.turns.sharing.workers import PEOPLE, REMINDERS, OneProcess, Sharing, Workers
from bot.turns.stop_words import is_stop
from bot.turns.strangers import Strangers
from bot.turns.turn import Turns
from memory.keeper.surroundings import Surroundings, scope_of_state
from memory.ledger.views import Scope
from memory.opening import ConversationMemory
from memory.ports import Clock, Database, Ids, Statement
from memory.storage.engine import OpenDatabase, shared_database
from memory.types import SessionState

TOOL_SHARE = 0.45
"""Of the time that a model may be silent, a tool may take so much for its start, and as much for a call."""
NOTE_STOP_S = 1.0
"""How long the stop may take to be written down."""


@dataclass(frozen=True, slots=True)
class Process:
    """What one start of the bot was given, and what tells it from the starts before."""

    settings: Settings
    clock: Clock
    ids: Ids
    boot_id: str
    meters: Meters
    limits: RateLimits
    pauses: Pauses
    responder: Responder | None
    """Who answers; None for the one that the settings name."""
    announce: Callable[[str], None]
    """Prints for whoever reads the console."""
    fail: Callable[[str], None]
    """Ends the process: going on can never work."""
    behind: Callable[..., object]
    """Runs work that nobody waits for, by its name; it ends with the bot."""
    keep: Callable[[], Awaitable[None]]
    """Begins what has to be done once over all processes that share the work."""
    may_reach: Reach = is_public
    """Which addresses a page may be read from."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What lives on the database."""

    memory: ConversationMemory
    people: PersonalChoices
    personas: Personas
    waiting: ModelWaits
    inbox: Inbox
    message_ids: HighestMessageIds
    outbox: Outbox
    gate: Gate

    @property
    def db(self) -> OpenDatabase:
        """The database itself."""
        return self.memory.db


@dataclass(frozen=True, slots=True)
class TelegramLink:
    """The way to Telegram, and who we are there."""

    bot: Bot
    moves: ChatMoves
    me: Me


@dataclass(frozen=True, slots=True)
class Joined:
    """One bot, ready to take up unfinished work and to listen."""

    memory: ConversationMemory
    outbox: Outbox
    gate: Gate
    bot: Bot
    services: Services
    continuity_gate: ContinuityGate
    turns: Turns
    lanes: Lanes
    sharing: Sharing
    idle: Idle
    intake: Intake
    poller: Poller
    deliver: Callable[[Envelope], None]
    """Hands on what was written down."""


async def open_storage(process: Process, opened: AsyncExitStack) -> Stored:
    """Open the database with its schema, and everything that lives on it; `opened` closes it again.

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

    uses = UseLog(process.meters.spend, clock, ids)
    memory = await ConversationMemory.open(
        settings.continuity_database_url,
        checkpoints=settings.checkpoint_dir,
        clock=clock,
        ids=ids,
        budget=settings.budget(),
        session_gap_s=settings.session_gap_ms / 1000,
        write_summary=summary_writer(settings, uses),
        around=Surroundings(zone_of, scope_of, names_of),
        keeper_model=reading_model(settings, uses),
        return_mode=settings.continuity_return_mode,
        extensions=[BOT_TABLES],
        background=False,
        worker=process.boot_id,
    )
    opened.push_async_callback(memory.close)
    db = memory.db
    uses.begin(db)
    opened.push_async_callback(uses.settle)
    people = PersonalChoices(db, clock, settings.continuity_timezone)
    personas = Personas(people, settings.continuity_persona)
    spending = Spending(db, day_budget(settings))
    memory.keeper.purse = ReadingPurse(spending, clock, own_zone_of)
    waiting = ModelWaits(settings.beside.with_name(settings.beside.name + ".waiting"))
    waiting.open()
    opened.callback(waiting.close)
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
        paired=await _paired(db),
        secret=token.get_secret_value() if token and memory.db.shared else None,
    )
    return Stored(memory, people, personas, waiting, inbox, message_ids, outbox, gate)


async def _paired(db: Database) -> set[int]:
    return {row["user_id"] for row in await db.read("people_all") if row["allowed"]}


async def _note_the_stop(db: Database, process: Process) -> None:
    with suppress(Exception):  # a disk that refuses must not keep the process from ending
        async with asyncio.timeout(NOTE_STOP_S):
            await db.write(
                Statement("inbox_release", {"boot_id": process.boot_id}),
                Statement("boot_stopped", {"boot_id": process.boot_id, "stopped_at_ms": process.clock.now_ms()}),
            )


async def connect(process: Process, db: OpenDatabase, opened: AsyncExitStack) -> TelegramLink:
    """Learn who we are. Waits for a network that is down; raises StartError when the token is missing or refused."""
    settings = process.settings
    token = settings.telegram_bot_token
    if token is None:
        raise StartError("TELEGRAM_BOT_TOKEN is missing")
    bot = make_bot(token.get_secret_value(), settings.telegram_api_url, db.owned)
    opened.push_async_callback(_hang_up, bot)
    await until_reached(settings.telegram_api_url, bot.initialize, process.pauses)
    moves = ChatMoves(db)
    await moves.open(bot.id)
    return TelegramLink(bot, moves, Me(bot.id, bot.username or "", moves.origins))


async def _hang_up(bot: Bot) -> None:
    with suppress(Exception):
        await bot.shutdown()


async def join(process: Process, stored: Stored, line: TelegramLink) -> Joined:
    """Build what works on updates and join it; nothing is taken in yet. Raises `StorageError`."""
    settings, memory, bot = process.settings, stored.memory, line.bot
    pace = RateLimiter(process.limits)
    services = await _services(process, stored, line, pace)
    _measure(process.meters, memory, services.delivery)
    submit: Callable[[Envelope], None] = lambda envelope: sharing.submit(envelope)  # noqa: E731, PLW0108 - built later
    continuity_gate = ContinuityGate(services, submit)
    services.reminders.on_run = submit
    turns = Turns(services, continuity_gate)
    lanes: Lanes = Lanes(
        lambda batch, do=None: dispatch.work(batch, do),
        limit=settings.continuity_max_concurrent_turns,
        merge_window_s=settings.continuity_merge_window_ms / 1000,
        joins_bursts=settings.by_model,
        halts=lambda envelope: (
            envelope.kind == "text" and turns.answers.is_answering(envelope.conversation_id) and is_stop(envelope.text)
        ),
    )
    turns.until_waiting = lanes.until_waiting
    idle = Idle(services, lambda: lanes.idle)
    features = _features(bot, memory, services, continuity_gate=continuity_gate, turns=turns, lanes=lanes)
    features.append(Tasks(services, submit))
    buttons = Buttons(bot, services, actions_of(features), process.behind)
    dispatch: Dispatch = Dispatch(services, turns, commands_of(features), buttons, TaskRunning(services, turns).run)
    strangers = Strangers(bot, services, stored.gate, stored.message_ids, process.announce)
    strangers.on_paired = line.moves.on_new = lambda: sharing.tell(PEOPLE)
    sharing = _sharing(process, stored, line, services, lanes=lanes, pace=pace, recover=continuity_gate.recover)

    def deliver(envelope: Envelope) -> None:
        stored.message_ids.saw(envelope.chat_id, envelope.message_id)
        idle.message_arrived()
        sharing.submit(replace(envelope, received_at_ms=process.clock.now_ms()))

    intake = _intake(process, stored, line, strangers, deliver=deliver, refuse=buttons.refuse)
    return Joined(
        memory=memory,
        outbox=stored.outbox,
        gate=stored.gate,
        bot=bot,
        services=services,
        continuity_gate=continuity_gate,
        turns=turns,
        lanes=lanes,
        sharing=sharing,
        idle=idle,
        intake=intake,
        poller=Poller(
            bot.base_url,
            intake,
            fatal=process.fail,
            recovered=memory.db.condition.recovered,
            sleep=process.pauses.rest,
        ),
        deliver=deliver,
    )


def _intake(
    process: Process,
    stored: Stored,
    line: TelegramLink,
    strangers: Strangers,
    *,
    deliver: Callable[[Envelope], None],
    refuse: Refuse,
) -> Intake:
    """Return what takes updates in: for people who are let in `deliver`, for others a greeting behind it."""

    def stranger(envelope: Envelope) -> None:
        process.behind(strangers.greet(envelope), "stranger")

    def trouble() -> str | None:
        """Return why no update may be confirmed; whether the inbox itself is refused shows when it is tried."""
        return stored.memory.db.trouble(besides=("inbox_insert",))

    return Intake(
        stored.inbox,
        stored.gate,
        line.me,
        deliver=deliver,
        stranger=stranger,
        trouble=trouble,
        moves=line.moves,
        refuse=refuse,
        is_move=partial(line.moves.is_so, line.bot),
    )


def _sharing(
    process: Process,
    stored: Stored,
    line: TelegramLink,
    services: Services,
    *,
    lanes: Lanes,
    pace: RateLimiter,
    recover: Callable[[], Awaitable[None]],
) -> Sharing:
    """Return what hands updates to lanes: of this process, or of the one that holds their chat."""
    memory, recovery = stored.memory, Recovery(services, stored.outbox, lanes)
    db = shared_database(memory.db)

    async def recover_all() -> None:
        """Take up what timers were for, and ask about what tools were in the midst of."""
        alive = [row["boot_id"] for row in await db.workers() if not row["is_dead"]] if db is not None else ()
        await services.calls.settle({process.boot_id, *alive})
        services.speaker.look()
        await recover()

    if db is None:
        return OneProcess(lanes, recovery, keep=process.keep, recover=recover_all)

    async def met() -> None:
        """Learn of people and chats that others have met."""
        for user_id in await _paired(db):
            stored.gate.pair(user_id)
        await line.moves.open(line.me.bot_id)

    workers = Workers(
        db,
        services,
        stored.outbox,
        lanes,
        recovery,
        pace=pace,
        behind=process.behind,
        keep=process.keep,
        evict=memory.evict,
        recover=recover_all,
        met=met,
        goes_on=GOES_ON,
    )
    db.on_news = workers.heard
    db.excused_json = stored.waiting.noted
    lanes.on_rest = workers.rested
    services.delivery.holds = workers.holds
    services.delivery.elsewhere = workers.left
    services.reminders.on_look = lambda: workers.tell(REMINDERS)
    services.reminders.on_change = workers.tell_changed
    return workers


def _measure(meters: Meters, memory: ConversationMemory, delivery: Delivery) -> None:
    """Let the parts tell the meters what they do."""
    memory.db.on_commit = meters.commit.observe
    memory.db.on_fsync = partial(meters.waited_for_disk, "database")
    memory.checkpoints.on_fsync = partial(meters.waited_for_disk, "checkpoint")
    memory.keeper.on_outcome = lambda reader, outcome: meters.read(
        reader, outcome.kept, outcome.dropped, failed=bool(outcome.error)
    )
    delivery.on_failure = meters.failed
    delivery.on_shown = meters.shown


async def _services(process: Process, stored: Stored, line: TelegramLink, pace: RateLimiter) -> Services:
    """Return what the features work with, with the way out open."""
    settings, clock, memory, db = process.settings, process.clock, stored.memory, stored.db
    delivery = Delivery(
        line.bot,
        db,
        clock,
        pace,
        stored.outbox,
        moves=line.moves,
        probe_ids=settings.continuity_probe_ids,
        resend_unproven=settings.continuity_resend_unproven,
        pauses=process.pauses,
        owned=memory.db.owned,
    )
    await delivery.open(line.me.bot_id)
    patience_s = settings.continuity_storage_patience_s
    committer = Committer(db, stored.inbox, stored.outbox, delivery, patience_s=patience_s, pauses=process.pauses)
    quiet = read_quiet_hours(settings.continuity_quiet_hours)
    tasks = TaskStarts(TaskRows(db), stored.inbox, line.me, quiet)
    reminders = ReminderScheduler(
        db, clock, committer, memory.ledgers, tasks, people=stored.people, bot_id=line.me.bot_id
    )
    calls = Calls(
        db,
        clock,
        committer,
        stored.people,
        boot_id=process.boot_id,
        longest_s=settings.continuity_model_timeout_s * TOOL_SHARE,
        behind=process.behind,
    )
    files = build_room(settings, memory, line.bot, process.pauses)
    responder = process.responder or make_responder(
        settings, memory, people=stored.people, calls=calls, meters=process.meters, pauses=process.pauses
    )
    return Services(
        settings=settings,
        me=line.me,
        clock=clock,
        ids=process.ids,
        memory=memory,
        db=db,
        inbox=stored.inbox,
        committer=committer,
        delivery=delivery,
        previews=LivePreviews(line.bot, db, stored.outbox, delivery),
        responder=responder,
        waiting=stored.waiting,
        people=stored.people,
        reminders=reminders,
        tasks=tasks,
        files=files,
        speaker=_speaker(process, stored, delivery),
        personas=stored.personas,
        calls=calls,
        shelf=_shelf(
            settings,
            calls,
            files.tools.offered,
            count=memory.counter.count,
            behind=process.behind,
            may_reach=process.may_reach,
        ),
        meters=process.meters,
        pauses=process.pauses,
        behind=process.behind,
    )


def _speaker(process: Process, stored: Stored, delivery: Delivery) -> Speaker:
    settings = process.settings
    key, url = settings.continuity_speech_key, settings.continuity_speech_url
    return Speaker(
        stored.db,
        process.clock,
        stored.outbox,
        delivery,
        model=read_sound_model(settings.continuity_speech),
        server=sound_server(url, key, settings.continuity_model_timeout_s),
        pauses=process.pauses,
        behind=process.behind,
    )


def _shelf(settings: Settings, calls: Calls, of_files: Source, **with_it: Any) -> Shelf:
    try:
        return make_shelf(settings, calls, of_files, **with_it)
    except (ToolsError, ConfigError) as exc:
        raise StartError(str(exc)) from exc


def _features(
    bot: Bot,
    memory: ConversationMemory,
    services: Services,
    *,
    continuity_gate: ContinuityGate,
    turns: Turns,
    lanes: Lanes,
) -> list[Feature]:
    """Return everything that a person can do."""
    sessions, memories, follow_ups = Sessions(services), Memories(services), FollowUps(services)

    async def look_besides() -> None:
        await follow_ups.ask()
        await services.calls.run_out()

    services.reminders.besides = look_besides
    return [
        Basics(services),
        sessions,
        Answering(services, turns, lanes, sessions),
        Reminders(services),
        Continuity(services, turns, lanes, continuity_gate, sessions),
        ContinuitySettings(services, continuity_gate),
        ModelChoice(services),
        ModelUsage(services),
        Loops(services),
        follow_ups,
        memories,
        Undoing(services),
        Overview(services),
        Forgetting(services, memory.forgetter, turns, lanes, memories),
        Exporting(services, bot),
        Receipt(services),
        ToolTaps(services, turns, lanes),
        ToolList(services),
        FileCommands(services),
        VoiceChoice(services),
    ]
