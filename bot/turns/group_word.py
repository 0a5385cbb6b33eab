"""The bot's first words in each group, as soon as it is there: which messages it reads.

That it was said is kept with the group's choices.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from bot import replies
from bot.delivery.outbox import OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.people.choices import group_of
from bot.turns.services import Services
from memory.errors import StorageError

TOLD: Final = "told_what_is_read"
JOINED: Final = frozenset({"member", "administrator"})
"""Roles of the bot in a group that it is added to."""


class GroupWord:
    """Says it when the bot is added to a group, else behind the first thing that is done there."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._told: set[int] = set()
        """Groups that are known to have been told."""

    async def say_once(self, envelope: Envelope) -> None:
        """Say it in a group that was not told yet; a disk that refuses is asked again next time. Never raises."""
        services, group = self._services, group_of(envelope.conversation_id)
        is_there = envelope.kind in {"text", "command"} or (envelope.kind == "membership" and envelope.text in JOINED)
        if group is None or group in self._told or not is_there:
            return
        with suppress(StorageError):
            if not (await services.people.choices(group)).get(TOLD):
                told = await services.people.choose(group, **{TOLD: True})
                target = Target(
                    envelope.bot_id, envelope.conversation_id, envelope.chat_id, envelope.thread_id, envelope.user_id
                )
                await services.committer.write(target, [OutgoingMessage(replies.say("group_reads"))], told)
            self._told.add(group)
