"""Checks of tools: the operator's own can be imported, each MCP server starts and lists its tools."""

from __future__ import annotations

import asyncio
import tempfile
from typing import Final, TextIO

from bot.ops.checks.check import Check
from bot.settings import Settings
from bot.tools.mcp import config
from bot.tools.own import ToolsError, load
from bot.tools.tool import NotDone

START_S: Final = 60.0
LAST_CHARS: Final = 300


async def of_tools(settings: Settings) -> list[Check]:
    """Judge the tools of the settings; no check where none are set. Starts each server once, all together."""
    found: list[Check] = []
    try:
        own = load(settings.continuity_tools)
    except ToolsError as exc:
        found.append(Check("tools.own", "fail", str(exc), "mend the file, or take CONTINUITY_TOOLS away"))
    else:
        names = ", ".join(tool.name for tool in own)
        found += [Check("tools.own", "ok", f"the model may call {names}")] if own else []
    path = settings.mcp_config
    if path is None:
        return found
    try:
        servers = config.read(path)
    except config.ConfigError as exc:
        return [*found, Check("tools.mcp", "fail", str(exc), f"mend {path}")]
    found += await asyncio.gather(*map(_of_server, servers))
    unknown = sorted(settings.trusted_servers - {server.name for server in servers})
    if unknown:
        says = f"CONTINUITY_TRUSTED_SERVERS names {', '.join(unknown)}, which {path} does not"
        found.append(Check("tools.trusted", "warn", says, "write the name as it stands there"))
    return found


async def _of_server(server: config.ServerConfig) -> Check:
    from bot.tools.mcp.session import Session

    name = f"tools.mcp.{server.name}"
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        session = Session(server, None, errors)
        try:
            async with asyncio.timeout(START_S):
                await session.start()
        except (NotDone, TimeoutError) as exc:
            if session.wants_login:
                return Check(name, "ok", "each person logs in there: /tools in a private chat")
            said = _last(errors)
            why = str(exc) or "it did not start in time"
            return Check(name, "fail", f"{why}{f': {said}' if said else ''}", "try its command by hand")
        finally:
            await session.end()
    tools = ", ".join(tool.name for tool in session.tools)
    return Check(name, "ok", f"{len(session.tools)} tools: {tools[:LAST_CHARS]}")


def _last(errors: TextIO) -> str:
    """The server's last words on its error output."""
    errors.seek(0)
    return " ".join(errors.read()[-LAST_CHARS:].split())
