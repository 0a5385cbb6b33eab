"""Models, tools and voices by the settings; libraries are imported when they are needed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from bot.answers.responder import Responder
from bot.files.describing import Describer
from bot.files.finding import FileFinder
from bot.files.hearing.sound_server import sound_server
from bot.files.readings import Readings
from bot.files.speech.child import SpeakingChild
from bot.files.speech.server import SpeakingServer
from bot.files.speech.speaker import Speaker, Voice, WayOut
from bot.meters.meters import Meters
from bot.meters.spent import Spend, Spent
from bot.pauses import Pauses
from bot.people.choices import PersonalChoices
from bot.people.spending import USED_UP, ReadingPurse
from bot.settings import OFFLINE, Settings
from bot.settings.model_names import read_sound_model
from bot.tasks.task import read_quiet_hours
from bot.tools.calls import Calls
from bot.tools.many import fitted
from bot.tools.mcp.config import read as read_config
from bot.tools.results import Results
from bot.tools.shelf import Shelf
from bot.tools.tool import Place, Source, Tool
from bot.tools.web.addresses import Reach
from memory.context.compaction.compactor import SummaryWriter
from memory.keeper.contract import KeepingModel
from memory.opening import ConversationMemory
from memory.ports import Database
from memory.types import ConversationTurn

if TYPE_CHECKING:
    from bot.tools.mcp.servers import Servers

OFF = "off"
log = structlog.get_logger(__name__)


def make_responder(
    settings: Settings,
    memory: ConversationMemory,
    *,
    people: PersonalChoices,
    calls: Calls,
    files: FileFinder,
    meters: Meters,
    pauses: Pauses,
) -> Responder:
    """Return the responder: the concierge without a model, or the model of the settings."""
    if not settings.by_model:
        from bot.offline.responder import OfflineResponder

        return OfflineResponder()
    from bot.answers.model import ModelResponder
    from bot.answers.one_model import Means
    from bot.answers.tools.past import Places
    from bot.answers.tools.toolbox import Tools

    quiet = read_quiet_hours(settings.continuity_quiet_hours)
    places = Places(memory.searcher, files)
    tools = Tools(memory.ledgers, places, people, settings.continuity_tool_output_max_chars, calls, quiet)
    timeout_s = settings.continuity_model_timeout_s
    model = ModelResponder(
        settings.models,
        Means(tools, meters, timeout_s, settings.prices, pauses, settings.continuity_task_tokens, settings.searches),
    )
    if not memory.keeper.is_on:
        return model
    from bot.offline.handover import Handover

    return Handover(model, lambda: memory.keeper.handed_over)


def make_shelf(
    settings: Settings,
    calls: Calls,
    of_rooms: Sequence[Source],
    *,
    count: Callable[[str], int],
    behind: Callable[..., object],
    may_reach: Reach,
) -> Shelf:
    """Return the tools beyond the notes, for a model that can call them. Raises `ToolsError` and `ConfigError`."""
    choices, results = calls.choices, Results(calls.db, settings.continuity_tool_output_max_chars)
    if not settings.by_model:
        return Shelf((), choices, results)
    from bot.answers.tools.scheduling import offered as of_tasks
    from bot.answers.tools.sending import offered as of_sending
    from bot.tools.own import load

    own, servers = load(settings.continuity_tools), mcp_servers(settings, calls, behind, may_reach)
    web = web_tools(settings, calls, may_reach)

    async def of_operator(_: Place) -> Sequence[Tool]:
        return own

    async def of_web(_: Place) -> Sequence[Tool]:
        return web

    def fit(tools: Sequence[Tool]) -> tuple[Tool, ...]:
        return fitted(tools, settings.continuity_tools_tokens, count)

    sources = (of_tasks, of_sending, *of_rooms, of_operator, of_web)
    return Shelf(sources, choices, results, fit=fit, servers=servers)


def mcp_servers(settings: Settings, calls: Calls, behind: Callable[..., object], may_reach: Reach) -> Servers | None:
    """Return the MCP servers of the settings, None without any; nothing is started. Raises `ConfigError`."""
    path = settings.mcp_config
    if path is None:
        return None
    from bot.tools.mcp.login.logins import Logins
    from bot.tools.mcp.login.seal import Seal
    from bot.tools.mcp.servers import Servers

    configs, token = read_config(path), settings.telegram_bot_token
    seal = Seal(token.get_secret_value() if token else "")
    return Servers(
        configs,
        settings.trusted_servers,
        calls.db,
        calls.clock,
        records=settings.beside.with_name(settings.beside.name + ".servers"),
        logins=Logins(configs, calls.db, calls.clock, seal, may_reach),
        say=calls.say,
        behind=behind,
    )


def web_tools(settings: Settings, calls: Calls, may_reach: Reach) -> list[Tool]:
    """Return the tools that read pages and search; none where the web is off."""
    if settings.continuity_web == OFF:
        return []
    from bot.files.reader import read_pdf
    from bot.tools.web.fetch import WebFetcher
    from bot.tools.web.pages import WebPages
    from bot.tools.web.searching import Searching

    address = settings.continuity_search_url
    searching = Searching(address.get_secret_value(), os.environ).tools() if address else []
    return [*WebPages(calls.db, WebFetcher(may_reach), read_pdf).tools(), *searching]


def reading_model(settings: Settings, spend: Spend) -> KeepingModel | None:
    """Return the model that keeps the notes behind the replies; None for nobody (`off`, or no model that answers)."""
    name = settings.models.id_of(settings.continuity_memory_model or settings.continuity_model)
    if name in {OFF, OFFLINE} or not settings.by_model:
        return None
    from bot.answers.keeper import KeeperModel

    return KeeperModel(name, prices=settings.prices, spend=spend)


def make_describer(
    settings: Settings,
    memory: ConversationMemory,
    readings: Readings,
    *,
    people: PersonalChoices,
    spend: Spend,
    pauses: Pauses,
    behind: Callable[..., object],
) -> Describer:
    """Return the describer of pictures; its import waits for the first one."""
    model, longest_s = settings.models.default.model, settings.continuity_model_timeout_s

    async def ask(data: bytes, language: str) -> tuple[str, Spent]:
        from bot.answers.summary import describe

        async with asyncio.timeout(longest_s):
            return await describe(model, data, language, settings.prices)

    purse, by_model = memory.keeper.purse, ask if settings.by_model else None
    return Describer(
        memory.db,
        readings,
        people=people,
        purse=purse,
        describe=by_model,
        spend=spend,
        pauses=pauses,
        behind=behind,
    )


def make_speaker(settings: Settings, spoken: WayOut, *, pauses: Pauses, behind: Callable[..., object]) -> Speaker:
    """Return the speaker, which says answers aloud."""
    model, silent_s = read_sound_model(settings.continuity_speech), settings.continuity_model_timeout_s
    voice: Voice | None = None
    if model is not None and model.is_local:
        voice = SpeakingChild(Path(model.name), silent_s)
    elif model is not None:
        server = sound_server(settings.continuity_speech_url, settings.continuity_speech_key, silent_s)
        voice = SpeakingServer(server, model, pauses)
    return Speaker(spoken, voice, behind=behind)


Payer = Callable[[], tuple[ReadingPurse, Database]]
"""Returns the purse and the database that uses are booked with; called once the database is open."""


def summary_writer(settings: Settings, spend: Spend, payer: Payer) -> SummaryWriter | None:
    """Return the writer of summaries when a model is set for it; its import waits for the first summary.

    The person who spoke last pays for it. Raises `ModelError` when they have nothing left for today.
    """
    if settings.continuity_summary_model in {None, "", OFFLINE}:
        return None
    model = settings.models.id_of(str(settings.continuity_summary_model))

    async def write(turns: Sequence[ConversationTurn], previous: str) -> str:
        from bot.answers.errors import ModelError
        from bot.answers.summary import write_summary

        (purse, db), user_id = payer(), turns[-1].user_id
        if not await purse.may_spend(user_id):
            raise ModelError("Budget", "why_budget", USED_UP)
        text, spent = await write_summary(model, turns, previous, settings.prices)
        spend(spent)
        await db.write(*await purse.bill(user_id, spent))
        return text

    return write
