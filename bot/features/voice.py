"""/voice: whether answers in a private chat are said aloud, too; per person."""

from __future__ import annotations

from typing import Final

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from bot.intake.updates import Envelope
from bot.people.choices import VOICE
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services

WORDS: Final = {"on": True, "off": False}


class VoiceChoice:
    """Shows the choice with a button for the other; a word behind the command chooses at once."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"voice": self.voice}
        self.actions: dict[str, Action] = {"voice_choose": self._choose}

    async def voice(self, envelope: Envelope) -> None:
        """Choose, or show the choice."""
        services, wanted = self._services, WORDS.get(envelope.arguments.strip().lower())
        if envelope.user_id is None or not envelope.private:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("voice_private"))])
        elif not services.speaker.speaks:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("voice_none"))])
        elif wanted is None:
            choices = await services.people.choices(envelope.user_id)
            await services.committer.done([envelope], [_message(speaks=bool(choices.get(VOICE)))])
        else:
            choose = await services.people.choose(envelope.user_id, **{VOICE: wanted})
            await services.committer.done([envelope], [_message(speaks=wanted)], choose)

    async def _choose(self, tap: Tap) -> bool:
        """Keep a choice, and show it in place."""
        envelope, speaks = tap.envelope, bool(tap.payload[VOICE])
        choose = await self._services.people.choose(envelope.user_id or 0, **{VOICE: speaks})
        message = _message(speaks=speaks, edits_message_id=envelope.message_id)
        await self._services.committer.done([envelope], [message], tap.use, choose)
        return True


def _message(*, speaks: bool, edits_message_id: int | None = None) -> OutgoingMessage:
    button = Button(replies.say("voice_turn_off" if speaks else "voice_turn_on"), "voice_choose", {VOICE: not speaks})
    text = replies.say("voice_is_on" if speaks else "voice_is_off")
    return OutgoingMessage(text, buttons=((button,),), edits_message_id=edits_message_id)
