"""/start, /help, /privacy."""

from __future__ import annotations

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from bot.intake.updates import Envelope
from bot.people.choices import CALLED, MODEL
from bot.settings.model_names import read_sound_model
from bot.turns.feature import Action, Command, Tap
from bot.turns.group_word import told_with
from bot.turns.services import Services
from memory.ports import Statement

FIRST_COMMANDS = 6
"""So many fit on a phone's screen; the others are behind a button."""


class Basics:
    """Says hello, lists the commands, and the data that are stored."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"start": self.start, "help": self.help, "privacy": self.privacy}
        self.actions: dict[str, Action] = {"help_all": self._help_all}

    async def start(self, envelope: Envelope) -> None:
        """Say hello, and where there is no model, say that; in a group what is read there."""
        called = (await self._services.people.choices(envelope.user_id)).get(CALLED) or envelope.user_name
        name = f", {called}" if called else ""
        offline = [replies.say("start_offline")] if self._offline else []
        here, told = replies.say("start_how"), list[Statement]()
        if not envelope.private:
            here, told = await told_with(self._services, envelope.conversation_id)
        text = "\n\n".join(filter(None, (replies.say("start", name=name), here, *offline)))
        await self._services.committer.done([envelope], [OutgoingMessage(text)], *told)

    async def help(self, envelope: Envelope) -> None:
        """List the commands that people need first, with a button for all; in a group also what is read there."""
        text, told = await self._help(envelope, FIRST_COMMANDS)
        message = OutgoingMessage(text, buttons=((Button(replies.say("help_all"), "help_all"),),))
        await self._services.committer.done([envelope], [message], *told)

    async def _help_all(self, tap: Tap) -> None:
        """List all commands in the place of the first ones."""
        text, told = await self._help(tap.envelope)
        message = OutgoingMessage(text, edits_message_id=tap.envelope.message_id)
        await self._services.committer.done([tap.envelope], [message], tap.use, *told)

    async def _help(self, envelope: Envelope, most: int | None = None) -> tuple[str, list[Statement]]:
        """The commands, and in a group what is read there, with the statements that it was said."""
        if envelope.private:
            return replies.help_text(replies.say("help_tail"), most), []
        word, told = await told_with(self._services, envelope.conversation_id)
        return "\n\n".join(filter(None, (replies.help_text("", most), word))), told

    async def privacy(self, envelope: Envelope) -> None:
        """Tell which data are stored, and which leave the machine."""
        model = replies.say("privacy_offline") if self._offline else await self._models(envelope)
        await self._say(envelope, "\n".join([replies.say("privacy", model=model), *self._sounds()]))

    def _sounds(self) -> list[str]:
        """Speech that leaves the machine."""
        settings = self._services.settings
        models = {"listening": settings.continuity_transcribe, "speaking": settings.continuity_speech}
        named = {what: read_sound_model(text) for what, text in models.items()}
        return [replies.say(f"privacy_{what}") for what, model in named.items() if model and not model.is_local]

    async def _models(self, envelope: Envelope) -> str:
        """Name the models that may read this person's messages."""
        names, chosen = self._services.settings.models, await self._services.people.choices(envelope.user_id)
        reads = (names.chosen(chosen.get(MODEL)) or names.default, *filter(None, (names.fallback,)))
        return replies.say("privacy_model", model="”, “".join(dict.fromkeys(each.model for each in reads)))

    @property
    def _offline(self) -> bool:
        return not self._services.settings.by_model

    async def _say(self, envelope: Envelope, text: str) -> None:
        await self._services.committer.done([envelope], [OutgoingMessage(text)])
