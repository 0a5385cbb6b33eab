"""What the bot says once in each group: which messages it reads. That it was said is kept with the group's choices."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from bot import replies
from bot.delivery.outbox import OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.turns.services import Services
from memory.errors import StorageError

TOLD: Final = "told_what_is_read"


class GroupWord:
    """Says it behind the first thing that is done in a group."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._told: set[int] = set()
        """Groups that are known to have been told."""

    async def say_once(self, envelope: Envelope) -> None:
        """Say it in a group that was not told yet; a disk that refuses is asked again next time. Never raises."""
        services, group = self._services, _first_id(envelope)
        if envelope.private or group in self._told or envelope.kind not in {"text", "command"}:
            return
        with suppress(StorageError):
            if not (await services.people.choices(group)).get(TOLD):
                told = await services.people.choose(group, **{TOLD: True})
                target = Target(
                    envelope.bot_id, envelope.conversation_id, envelope.chat_id, envelope.thread_id, envelope.user_id
                )
                await services.committer.write(target, [OutgoingMessage(replies.say("group_reads"))], told)
            self._told.add(group)


def _first_id(envelope: Envelope) -> int:
    """The chat's id as its conversation has it: the same when the group becomes a supergroup."""
    return int(envelope.conversation_id.split(":")[2])
