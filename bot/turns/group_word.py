"""The bot's first words in each group, as soon as it is there: which messages it reads, and which can reach it.

Which of them was said is kept with the group's choices.
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
from memory.ports import Statement

TOLD: Final = "told_what_is_read"
"""The name of the sentence that a group was told; True for one of an earlier version."""
_WORDS: Final = {"administrator": "group_reads_all", "admin": "group_reads_all", "member": "group_reads"}
"""The sentences by the bot's role in a group, as updates name it (of those with which it joins) and as `Members` do."""


async def word_of(services: Services, conversation_id: str, role: str = "") -> str:
    """The name of the sentence on the bot's reading in a group: as one of its admins it reads all that is written.

    Without the bot's role Telegram is asked; "" when it does not say. Never raises.
    """
    group, me = group_of(conversation_id), services.me
    if me.hears_all:
        return "group_reads_all"
    if not role and group is not None:
        role = await services.groups.members.standing(group, me.bot_id)
    return _WORDS.get(role, "")


def word_text(services: Services, word: str) -> str:
    """The sentence of this name, with the name by which the bot is mentioned; "" for none."""
    return replies.say(word, me=f"@{services.me.username}") if word else ""


async def told_with(services: Services, conversation_id: str) -> tuple[str, list[Statement]]:
    """The sentence on the bot's reading in a group, and statements, for its message's commit, that it was said there.

    "" and nothing to note when that is not known just now.
    """
    word, group = await word_of(services, conversation_id), group_of(conversation_id)
    if not word or group is None:
        return "", []
    return word_text(services, word), [await services.people.choose(group, **{TOLD: word})]


class GroupWord:
    """Tells a group how much the bot reads: when it is added, else behind the first work that is done there.

    Told again when the bot has become an admin, or is none any more, and reads more or less than it said.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._told: set[int] = set()
        """Groups that are known to have been told."""

    async def say_once(self, envelope: Envelope) -> None:
        """Send the sentence to a group not told yet; a disk that refuses is asked again next time. Never raises."""
        services, group = self._services, group_of(envelope.conversation_id)
        is_new = envelope.kind == "membership" and envelope.text in _WORDS
        if group is None or not (is_new or (envelope.kind in {"text", "command"} and group not in self._told)):
            return
        with suppress(StorageError):
            told = (await services.people.choices(group)).get(TOLD)
            role = envelope.text if is_new else ""
            word = await word_of(services, envelope.conversation_id, role) if is_new or not told else told
            if not word:
                return
            if word != told:
                choice = await services.people.choose(group, **{TOLD: word})
                target = Target(
                    envelope.bot_id, envelope.conversation_id, envelope.chat_id, envelope.thread_id, envelope.user_id
                )
                await services.committer.write(target, [OutgoingMessage(word_text(services, word))], choice)
            self._told.add(group)
