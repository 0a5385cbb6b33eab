"""/tools: the assistant's tools besides notes, and each person's choices: off, asked, unasked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from bot.intake.updates import Envelope
from bot.tools.choices import Choices, ToolChoice, server_name
from bot.tools.presence import can_be_asked
from bot.tools.questions import LOG_OUT, login_button
from bot.tools.tool import Place, Tool, about_of
from bot.tools.visible import visible
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.ports import Statement
from memory.text import shorten

PAGE: Final = 8
LABEL_CHARS: Final = 40
ABOUT_CHARS: Final = 140
OPEN, TOGGLE, SWITCH, BACK = "tools_open", "tools_toggle", "tools_switch", "tools_back"


# --- pure -----------------------------------------------------------------------------------------------------------


def state_of(tool: Tool, choices: Choices) -> str:
    """Return the name of how a tool is used: off, always, reads, asks."""
    if choices.is_off(tool.name):
        return "off"
    if tool.runs_unasked:
        return "always" if tool.with_turn else "reads"
    return "always" if choices.always(tool) else "asks"


def words_of(tool: Tool) -> tuple[str, str]:
    """Return the name of a tool for people and what it does: ours in their language, others in their own words."""
    ours = f"own_tools.{tool.name}"
    if not (tool.server or tool.origin) and replies.known(f"{ours}.name"):
        return replies.say(f"{ours}.name"), replies.say(f"{ours}.does")
    return shorten(visible(tool.title or tool.name), LABEL_CHARS), shorten(visible(tool.description), ABOUT_CHARS)


def overview(tools: Sequence[Tool], choices: Choices, troubles: Sequence[str]) -> OutgoingMessage:
    """Return the list of tools, a button for each server."""
    if not tools and not troubles:
        return OutgoingMessage(replies.say("tools_none"))
    lines, rows = [replies.say("tools_head")], []
    for server, found in groupby(tools, key=lambda tool: tool.server):
        name = server or replies.say("tools_own")
        off = bool(server) and choices.is_off(server_name(server))
        count = replies.say("tools_state.off") if off else replies.counted(len(list(found)), "tool")
        lines.append(f"• {replies.say('tools_pair', name=name, what=count)}")
        rows.append((Button(shorten(name, LABEL_CHARS), OPEN, {"server": server, "page": 0}),))
    lines += [replies.say("tools_trouble", server=name) for name in troubles]
    return OutgoingMessage("\n".join(lines), buttons=tuple(rows))


def page_of(
    server: str, tools: Sequence[Tool], choices: Choices, page: int, *, login: bool | None = None
) -> OutgoingMessage:
    """Return the tools of one server with their descriptions, and buttons that change their use.

    `login` says whether the person is logged in there, None for a server that asks for none.
    """
    tools = () if login is False else tools
    last = max(0, (len(tools) - 1) // PAGE)
    page = min(max(0, page), last)
    shown = tools[page * PAGE : (page + 1) * PAGE]
    off = bool(server) and choices.is_off(server_name(server))
    lines = [server or replies.say("tools_own"), *([replies.say("tools_state.off")] if off else [])]
    rows: list[tuple[Button, ...]] = []
    for tool in shown:
        state = replies.say(f"tools_state.{state_of(tool, choices)}")
        name, does = words_of(tool)
        lines.append(f"• {replies.say('tools_pair', name=name, what=does)} ({state})")
        labels = {} if off else {tool.name: replies.say("tools_pair", name=name, what=state)}
        sites = {name: chosen.choice for name, chosen in choices.by_name.items() if name.startswith(f"{tool.name}:")}
        labels |= {site: f"{about_of(site)}: {replies.say(f'tools_state.{sites[site]}')}" for site in sorted(sites)}
        for chosen_name, label in labels.items():
            payload = {"tool": chosen_name, "server": server, "page": page}
            rows.append((Button(shorten(label, 2 * LABEL_CHARS), TOGGLE, payload),))
    turn = [
        Button(sign, OPEN, {"server": server, "page": to})
        for sign, to in (("←", page - 1), ("→", page + 1))
        if 0 <= to <= last
    ]
    switch = Button(
        replies.say("tools_switch_on" if off else "tools_switch_off"), SWITCH, {"server": server, "page": page}
    )
    rows.append((*turn, *([switch] if server else []), Button(replies.say("tools_back"), BACK)))
    if login is not None:
        lines.insert(1, replies.say("login_in" if login else "login_none"))
        out = Button(replies.say("login_out_button"), LOG_OUT, {"server": server})
        rows.insert(0, (out if login else login_button(server),))
    return OutgoingMessage("\n".join(lines), buttons=tuple(rows))


# --- feature --------------------------------------------------------------------------------------------------------


class ToolList:
    """Shows the tools of a place and changes how its person lets them be used."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"tools": self.show}
        self.actions: dict[str, Action] = {
            OPEN: self._open,
            TOGGLE: self._toggle,
            SWITCH: self._switch,
            BACK: self._back,
        }

    async def show(self, envelope: Envelope) -> None:
        """List the tools."""
        await self._services.committer.done([envelope], [await self._overview(_place(envelope))])

    async def _overview(self, place: Place) -> OutgoingMessage:
        shelf = self._services.shelf
        tools = await shelf.all(place)
        if not can_be_asked(place):
            tools = tuple(tool for tool in tools if tool.runs_unasked)
        return overview(tools, await shelf.choices.of(place), shelf.troubles())

    async def _open(self, tap: Tap) -> bool:
        await self._shown(tap, await self._page(tap))
        return True

    async def _back(self, tap: Tap) -> bool:
        await self._shown(tap, await self._overview(_place(tap.envelope)))
        return True

    async def _toggle(self, tap: Tap) -> bool:
        """Off; from off or always back to asking."""
        return await self._change(tap, tap.payload["tool"], back=("off", "always"))

    async def _switch(self, tap: Tap) -> bool:
        """All of a server, off or on."""
        return await self._change(tap, server_name(tap.payload["server"]), back=("off",))

    async def _change(self, tap: Tap, name: str, back: Sequence[str]) -> bool:
        """Take a choice back when it is one of these, else switch off: one transaction with the tap's end."""
        shelf, place = self._services.shelf, _place(tap.envelope)
        choices = await shelf.choices.of(place)
        chosen = choices.by_name.get(name)
        others = {each: known for each, known in choices.by_name.items() if each != name}
        if chosen is not None and chosen.choice in back:
            change, after = shelf.choices.forget(place, name), others
        else:
            change = shelf.choices.choose(place, "off", name=name)
            after = others | {name: ToolChoice("off", "", {})}
        await self._shown(tap, await self._page(tap, Choices(after)), change)
        return True

    async def _page(self, tap: Tap, choices: Choices | None = None) -> OutgoingMessage:
        shelf, place, server = self._services.shelf, _place(tap.envelope), tap.payload["server"]
        tools = [tool for tool in await shelf.all(place) if tool.server == server]
        login = await shelf.servers.is_in(server, place.user_id) if shelf.servers else None
        return page_of(server, tools, choices or await shelf.choices.of(place), tap.payload["page"], login=login)

    async def _shown(self, tap: Tap, message: OutgoingMessage, *effects: Statement) -> None:
        edit = OutgoingMessage(message.text, buttons=message.buttons, edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [edit], tap.use, *effects)


def _place(envelope: Envelope) -> Place:
    return Place(envelope.conversation_id, envelope.user_id, envelope.private)
