"""Logging in at servers: a button leads there, the address that comes back ends it, /tools logs out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import structlog

from bot import replies
from bot.delivery.outbox import OutgoingMessage
from bot.intake.updates import Envelope
from bot.tools import questions
from bot.tools.mcp.login.pasted import Pasted, pasted
from bot.tools.tool import NotDone
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.errors import Conflict
from memory.process import faults

if TYPE_CHECKING:
    from bot.tools.mcp.login.logins import Back
    from bot.tools.mcp.servers import Servers

log = structlog.get_logger(__name__)

MINUTE_MS = 60_000


class ToolLogins:
    """Begins logins, ends them, and takes the addresses that come back."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {}
        self.actions: dict[str, Action] = {questions.LOG_IN: self._begin, questions.LOG_OUT: self._log_out}

    @property
    def _servers(self) -> Servers:
        servers = self._services.shelf.servers
        if servers is None:
            raise NotDone("there are no servers")
        return servers

    async def _begin(self, tap: Tap) -> None:
        """Tell where to log in. The login is written down before: it outlives the process."""
        envelope, server = tap.envelope, str(tap.payload["server"])
        if not envelope.private or envelope.user_id is None:
            await self._say(envelope, OutgoingMessage(replies.say("login_private")), tap)
            return
        try:
            found = await self._servers.logins.begin(server, envelope.user_id, envelope.conversation_id)
        except NotDone as exc:
            log.warning("a login cannot be begun", server=server, why=str(exc))
            text = replies.say("login_failed", server=server)
            await self._say(envelope, OutgoingMessage(text, buttons=questions.login(server).buttons), tap)
            return
        shown = {"host": found.host, "address": found.address}
        if found.code:
            minutes = replies.counted(max(1, found.lasts_ms // MINUTE_MS), "minute")
            text = replies.say("login_code", code=found.code, minutes=minutes, **shown)
            self._servers.codes.look()
        else:
            text = replies.say("login_go", **shown)
        await self._say(envelope, OutgoingMessage(text), tap)

    async def _log_out(self, tap: Tap) -> None:
        envelope, server = tap.envelope, str(tap.payload["server"])
        if envelope.user_id is not None:
            await self._servers.log_out(server, envelope.user_id)
        await self._say(envelope, OutgoingMessage(replies.say("login_is_out", server=server)), tap)

    async def _say(self, envelope: Envelope, message: OutgoingMessage, tap: Tap) -> None:
        await self._services.committer.done([envelope], [message], tap.use)

    # --- addresses that come back -----------------------------------------------------------------------------------

    async def take(self, batch: Sequence[Envelope]) -> Sequence[Envelope]:
        """Take the address that ends a login out of a batch and return the others; its text is in no turn.

        A crash before `used` leaves nothing behind; later the code may have gone out, and the person is asked to log in
        again; the tokens are stored in one transaction with the end of the message.
        """
        if self._services.shelf.servers is None:
            return batch
        for envelope in batch:
            found = pasted(envelope.text)
            logins = self._servers.logins
            back = found and await logins.came_back(found, envelope.user_id, envelope.conversation_id)
            if found and back:
                await self._take(envelope, found, back)
                return [each for each in batch if each is not envelope]
        return batch

    async def _take(self, envelope: Envelope, found: Pasted, back: Back) -> None:
        logins, user_id = self._servers.logins, envelope.user_id
        if back.why == "refused":
            try:
                await logins.use(found)  # whoever sent it, that login is over
            except Conflict:
                log.info("a login was over already", server=back.server)
        if back.why or back.way is None or user_id is None:
            buttons = () if back.why == "else" else questions.login(back.server).buttons
            message = OutgoingMessage(replies.say(f"login_{back.why or 'refused'}"), buttons=buttons)
            await self._services.committer.done([envelope], [message])
            return
        await logins.use(found)
        faults.point("login_used")
        try:
            keep = await logins.finish(found, back.way, user_id, envelope.conversation_id)
        except NotDone as exc:
            log.warning("a login failed", server=back.server, why=str(exc))
            text, buttons = replies.say("login_failed", server=back.server), questions.login(back.server).buttons
            await self._services.committer.done([envelope], [OutgoingMessage(text, buttons=buttons)])
            return
        faults.point("login_given")
        text = replies.say("login_done", server=back.server)
        await self._services.committer.done([envelope], [OutgoingMessage(text)], keep)
        await self._servers.forget(back.server, user_id)
