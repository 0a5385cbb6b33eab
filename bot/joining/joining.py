"""The parts that work on updates, joined: services, features, lanes, sharing of the work, intake."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial

from telegram import Bot

from bot.delivery.outbox import Outbox
from bot.delivery.rate_limit import RateLimiter
from bot.features.continuity.gate import ContinuityGate
from bot.features.continuity.idle import Idle
from bot.features.follow_ups import FollowUps
from bot.features.tasks.commands import Tasks
from bot.features.tasks.running import TaskRunning
from bot.features.tools.logins import ToolLogins
from bot.intake.access import Gate
from bot.intake.chat_moves import ReportedMoves
from bot.intake.intake import Intake, Refuse
from bot.intake.polling import Poller
from bot.intake.updates import Envelope
from bot.joining.features import build_features
from bot.joining.process import Process
from bot.joining.services import build_services
from bot.joining.storage import Stored, read_paired
from bot.joining.telegram import TelegramLink
from bot.reminders.scheduler import Around
from bot.turns.buttons import Buttons
from bot.turns.dispatch import Dispatch
from bot.turns.feature import actions_of, commands_of
from bot.turns.lanes import LOOKS_AFTER_S, Lanes
from bot.turns.recovery import Recovery
from bot.turns.services import Services
from bot.turns.sharing.leases import Leases
from bot.turns.sharing.one_process import Duties, OneProcess, Sharing
from bot.turns.sharing.workers import Workers
from bot.turns.steps.offers import Offers
from bot.turns.stop_words import is_stop
from bot.turns.strangers import Strangers
from bot.turns.turn import Turns
from memory.opening import ConversationMemory
from memory.storage.engine import shared_database


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
    """Hands on a stored update."""


async def join(process: Process, stored: Stored, line: TelegramLink) -> Joined:
    """Build and join the parts that work on updates; nothing is taken in yet. Raises `StorageError`."""
    settings, memory, bot = process.settings, stored.memory, line.bot
    pace = RateLimiter(process.limits)

    def submit(envelope: Envelope) -> None:
        sharing.submit(envelope)

    async def until_waiting(conversation_id: str) -> None:
        await lanes.until_waiting(conversation_id)

    async def look_besides() -> None:
        await follow_ups.ask()
        await services.calls.run_out()

    services = await build_services(process, stored, line, pace, Around(stored.chats, submit, look_besides))
    follow_ups = FollowUps(services)
    continuity_gate = ContinuityGate(services, submit)
    turns = Turns(services, continuity_gate, until_waiting)
    lanes: Lanes = Lanes(
        lambda batch, do=None: dispatch.work(batch, do),
        limit=settings.continuity_max_concurrent_turns,
        merge_window_s=settings.continuity_merge_window_ms / 1000,
        joins_bursts=settings.by_model,
        looks_after_s=LOOKS_AFTER_S * process.pauses.factor,
        halts=lambda envelope: (
            envelope.kind == "text" and turns.answers.is_answering(envelope.conversation_id) and is_stop(envelope.text)
        ),
        on_rest=stored.chats.rested,
    )
    idle = Idle(services, lambda: lanes.idle)
    features = build_features(line, services, continuity_gate, turns, lanes)
    logins = ToolLogins(services)
    features += [follow_ups, Tasks(services, submit), logins]
    buttons = Buttons(bot, services, actions_of(features), process.behind)
    run_task = TaskRunning(services, turns).run
    dispatch: Dispatch = Dispatch(services, turns, commands_of(features), buttons, run_task, take=logins.take)
    strangers = Strangers(bot, services, stored.gate, stored.message_ids, process.announce, chats=stored.chats)
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
    """Return the intake: for people who are let in `deliver`, for others a greeting."""

    def stranger(envelope: Envelope) -> None:
        process.behind(strangers.greet(envelope), "stranger")

    def trouble() -> str | None:
        """Return why no update may be confirmed; a refused inbox shows when it is tried."""
        return stored.memory.db.trouble(besides=("inbox_insert",))

    return Intake(
        stored.inbox,
        stored.gate,
        line.me,
        deliver=deliver,
        stranger=stranger,
        trouble=trouble,
        moves=ReportedMoves(line.moves, partial(line.moves.is_so, line.bot), partial(line.moves.find, line.bot)),
        refuse=refuse,
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
    """Return the sharing, which hands updates to lanes: of this process, or of the one that holds their chat."""
    memory, recovery = stored.memory, Recovery(services, stored.outbox, lanes)
    db = shared_database(memory.db)

    async def recover_all() -> None:
        """Take up the work of timers, and ask about unfinished calls of tools."""
        alive = [row["boot_id"] for row in await db.workers() if not row["is_dead"]] if db is not None else ()
        await services.calls.settle({process.boot_id, *alive})
        if services.shelf.servers is not None:
            services.shelf.servers.codes.look()
        services.speaker.look()
        services.describer.look()
        await Offers(services).recover()
        await recover()

    if db is None:
        return OneProcess(lanes, recovery, keep=process.keep, recover=recover_all)

    async def met() -> None:
        """Learn of people and chats that other processes have met."""
        for user_id in await read_paired(db):
            stored.gate.pair(user_id)
        await line.moves.open(line.me.bot_id)

    if not isinstance(stored.chats, Leases):
        raise TypeError("a shared database has leases")
    return Workers(
        services,
        stored.outbox,
        lanes,
        recovery,
        stored.chats,
        pace=pace,
        duties=Duties(process.keep, recover_all, met),
        news=stored.news,
    )
