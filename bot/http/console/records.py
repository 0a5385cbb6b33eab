"""The pages about the bot as a whole: continuity, checkpoints, starts, and figures of the last 30 days."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from bot.http.console import charts
from bot.http.served import Served
from bot.meters.spent import NANODOLLARS
from bot.ops.copies.checkpoints import verify
from bot.ops.records.sessions import list_sessions
from bot.ops.runs.history import DAY_MS, iso_day, recovered_by_day
from bot.ops.runs.status import Boot, read_boot, report_in_words
from bot.ops.runs.workers import read_workers
from bot.people.names import read_names
from bot.tools.choices import EVERYBODY, server_name
from bot.tools.mcp.naming import names_in
from memory.ports import Row
from memory.text import shorten

SESSIONS: Final = 60
VERDICTS: Final = 100
DAYS: Final = 30
BEHIND: Final = "notes and summaries"
"""Tokens of models behind the replies."""


WHY_CHARS: Final = 160
NO_CALLS: Final[Mapping[str, Any]] = {"calls": 0, "asked": 0, "unsure": 0, "failed_at_ms": None}
NO_CHOICES: Final[Mapping[str, Any]] = {"always": 0, "off": 0}


class Records:
    """Reads the values of each page. Everything raises `StorageUnavailable`."""

    def __init__(self, bot: Served) -> None:
        self._bot = bot

    async def continuity(self) -> dict[str, Any]:
        """Return the people's preferences for carrying forward, one line for each conversation."""
        names = await read_names(self._bot.services.db)
        lines = []
        for one in await list_sessions(self._bot.workspace(), conversation=None, limit=SESSIONS):
            if one.current and one.row.user_id is not None:
                owner = await self._bot.continuity_gate.carried.owner(one.row.conversation_id, one.row.user_id)
                chosen = await self._bot.services.memory.bootstrap.preference(owner)
                chat = names.chat(one.row.conversation_id)
                lines.append({"id": one.row.session_id, "chat": chat, "persona": owner.persona.name, "chosen": chosen})
        return {"lines": lines}

    async def checkpoints(self) -> dict[str, Any]:
        """Return a verdict on each of the latest sessions' checkpoints against the log, and the files set aside."""
        workspace, files = self._bot.workspace(), self._bot.services.memory.checkpoints
        names = await read_names(self._bot.services.db)
        listed = {one.row.session_id: one for one in await list_sessions(workspace, conversation=None, limit=VERDICTS)}
        verdicts = [
            (one, names.chat(listed[one.session_id].row.conversation_id))
            for one in await verify(workspace, list(listed))
        ]
        return {"verdicts": verdicts, "set_aside": await asyncio.to_thread(files.quarantined)}

    async def starts(self) -> dict[str, list[tuple[Boot, tuple[str, ...], bool]]]:
        """Return the last starts, each with its finds and whether it runs."""
        boots = [read_boot(row) for row in await self._bot.services.db.read("boots_latest", limit=20)]
        workers = await read_workers(self._bot.workspace().memory.db)
        running = {worker.boot_id for worker in workers} or {boot.boot_id for boot in boots[:1]}
        return {"starts": [(boot, report_in_words(boot.report), boot.boot_id in running) for boot in boots]}

    async def tools(self) -> dict[str, Any]:
        """Return the servers of MCP, and each tool that is there, known or was called, with the operator's choice."""
        db, shelf = self._bot.services.db, self._bot.services.shelf
        servers, everybody = shelf.servers, await shelf.choices.of(EVERYBODY)
        choices = {row["name"]: row for row in await db.read("console_tool_choices")}
        logins = {row["server"]: row["people"] for row in await db.read("console_logins")}
        lines = []
        for name in servers.names if servers else ():
            off = choices.pop(server_name(name), NO_CHOICES)["off"]
            why_not = servers.why_not(name) if servers else ""
            is_off = everybody.is_off(server_name(name))
            lines.append({"name": name, "why": why_not, "logins": logins.get(name, 0), "off": off, "is_off": is_off})
        why: dict[str, str] = {}
        for row in await db.read("console_tool_failures"):
            why.setdefault(row["tool"], shorten(row["result"] or "", WHY_CHARS))
        known = {(tool.server, tool.name): NO_CALLS for tool in await shelf.inside()}
        known |= {(row["server"], name): NO_CALLS for row in await db.read("tool_listings") for name in names_in(row)}
        used = {(row["server"], row["tool"]): dict(row) for row in await db.read("console_tools")}
        found = [
            {**counts, "server": server, "tool": tool, **choices.get(tool, NO_CHOICES), "why": why.get(tool, "")}
            | {"is_off": everybody.is_off(tool)}
            for (server, tool), counts in sorted((known | used).items())
        ]
        return {"servers": lines, "tools": found}

    async def history(self) -> dict[str, Any]:
        """Return charts of the last days."""
        db, now_ms = self._bot.services.db, self._bot.services.clock.now_ms()
        days = charts.last_days(datetime.fromtimestamp(now_ms / 1000, UTC).date(), DAYS)
        since = {"since_ms": now_ms - DAYS * DAY_MS}
        turns, spending = await db.read("console_days", **since), await db.read("console_spending", **since)
        waits, starts = await db.read("console_waits", **since), await db.read("console_boot_days", **since)
        boots = [read_boot(row) for row in await db.read("console_boots", **since)]
        recovered = {iso_day(day): float(count) for day, count in recovered_by_day(boots).items()}
        uses = await db.read("console_uses", **since)
        tokens = (
            charts.Series("answers, what went in", _by_day(spending, "input_tokens")),
            charts.Series("answers, what came out", _by_day(spending, "output_tokens")),
            charts.Series(BEHIND, _by_day(uses, "tokens")),
        )
        slow = (
            charts.Series("19 of 20 came within", _by_day(waits, "most_ms", per=1000)),
            charts.Series("half came within", _by_day(waits, "half_ms", per=1000)),
        )
        spent = (
            charts.Series("answers", _by_day(spending, "cost_nanodollars", per=NANODOLLARS)),
            charts.Series(BEHIND, _by_day(uses, "cost_nanodollars", per=NANODOLLARS)),
        )
        number = charts.whole_number

        def count(title: str, unit: str, values: dict[str, float]) -> charts.Chart:
            return charts.stacked(title, unit, [charts.Series(unit, values)], days, number)

        drawn = [
            count("Answers", "answers a day", _by_day(turns, "turns")),
            charts.nested("Time to an answer", "seconds, from the message's arrival", slow, days, charts.seconds),
            charts.stacked("Tokens", "tokens a day", tokens, days, number),
            charts.stacked("Cost", "US dollars a day", spent, days, charts.dollars),
            count("Recovered after a crash", "messages, turns and parts a day", recovered),
            count("Starts", "starts a day", _by_day(starts, "starts")),
        ]
        return {"charts": drawn, "unpriced": sum(row["unpriced"] or 0 for row in (*spending, *uses))}


def _by_day(rows: Sequence[Row], *names: str, per: float = 1) -> dict[str, float]:
    return {iso_day(row["day"]): sum(float(row[name] or 0) for name in names) / per for row in rows}
