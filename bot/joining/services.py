"""The services of the features, built with the way out open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.delivery.chats import Whereabouts
from bot.delivery.commit import Committer
from bot.delivery.connection import StartError
from bot.delivery.probe import Doubt
from bot.delivery.rate_limit import RateLimiter
from bot.delivery.sender import Delivery
from bot.delivery.streaming import LivePreviews
from bot.files.room import build_room
from bot.files.speech.speaker import WayOut
from bot.groups.members import Members
from bot.groups.past import GroupPast
from bot.groups.tools import GroupTools
from bot.joining.choose import make_describer, make_responder, make_shelf, make_speaker
from bot.joining.process import Process
from bot.joining.storage import Stored
from bot.joining.telegram import TelegramLink
from bot.reminders.scheduler import Around, ReminderScheduler
from bot.settings import Settings
from bot.tasks.rows import TaskRows
from bot.tasks.starts import TaskStarts
from bot.tasks.task import read_quiet_hours
from bot.tools.calls import Calls
from bot.tools.mcp.config import ConfigError
from bot.tools.own import ToolsError
from bot.tools.shelf import Shelf
from bot.tools.tool import Source
from bot.turns.services import Services

TOOL_SHARE = 0.45
"""The part of a model's silent time that a tool may take for its start, and again for a call."""


async def build_services(
    process: Process, stored: Stored, line: TelegramLink, pace: RateLimiter, around: Around
) -> Services:
    """Return the services of the features, with the way out open."""
    settings, clock, memory, db = process.settings, process.clock, stored.memory, stored.db
    delivery = Delivery(
        line.bot,
        db,
        clock,
        pace,
        stored.outbox,
        places=Whereabouts(line.moves, stored.chats),
        meters=process.meters,
        doubt=Doubt(settings.continuity_probe_ids, settings.continuity_resend_unproven, process.pauses),
    )
    await delivery.open(line.me.bot_id)
    patience_s = settings.continuity_storage_patience_s
    committer = Committer(db, stored.inbox, stored.outbox, delivery, patience_s=patience_s, pauses=process.pauses)
    quiet = read_quiet_hours(settings.continuity_quiet_hours)
    tasks = TaskStarts(TaskRows(db), stored.inbox, line.me, quiet)
    reminders = ReminderScheduler(
        db, clock, committer, memory.ledgers, tasks, people=stored.people, bot_id=line.me.bot_id, around=around
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
    files = build_room(settings, memory, line.bot, process.pauses, committer.until_stored)
    groups = GroupPast(memory, stored.people, Members(line.bot, line.moves.today), line.me)
    of_groups = GroupTools(groups, settings.continuity_tool_output_max_chars)
    responder = process.responder or make_responder(
        settings,
        memory,
        people=stored.people,
        calls=calls,
        files=files.finder,
        meters=process.meters,
        pauses=process.pauses,
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
        groups=groups,
        describer=make_describer(
            settings,
            memory,
            files.readings,
            people=stored.people,
            spend=process.meters.spend,
            pauses=process.pauses,
            behind=process.behind,
        ),
        speaker=make_speaker(
            settings, WayOut(db, clock, stored.outbox, delivery), pauses=process.pauses, behind=process.behind
        ),
        personas=stored.personas,
        calls=calls,
        shelf=_shelf(
            settings,
            calls,
            (files.tools.offered, of_groups.offered),
            count=memory.counter.count,
            behind=process.behind,
            may_reach=process.may_reach,
        ),
        meters=process.meters,
        pauses=process.pauses,
        behind=process.behind,
    )


def _shelf(settings: Settings, calls: Calls, of_rooms: Sequence[Source], **with_it: Any) -> Shelf:
    try:
        return make_shelf(settings, calls, of_rooms, **with_it)
    except (ToolsError, ConfigError) as exc:
        raise StartError(str(exc)) from exc
