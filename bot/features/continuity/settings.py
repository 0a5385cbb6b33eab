"""/settings and /persona: how earlier conversations are taken up, and who the assistant is; per person."""

from __future__ import annotations

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.features.continuity.gate import ContinuityGate
from bot.intake.updates import Envelope
from bot.people.personas import PERSONA
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.continuity.types import Mode, Preference

MODES: tuple[Mode, ...] = ("ask", "use", "off")


class ContinuitySettings:
    """Shows what was chosen with a button for everything else; a tap changes it and the message with it."""

    def __init__(self, services: Services, gate: ContinuityGate) -> None:
        self._services = services
        self._gate = gate
        self.commands: dict[str, Command] = {"settings": self.settings, "persona": self.persona}
        self.actions: dict[str, Action] = {"prefer": self._prefer, "be": self._be}

    async def settings(self, envelope: Envelope) -> None:
        """Show what this person chose."""
        if envelope.user_id is None:
            await self._services.committer.done([envelope], [OutgoingMessage(replies.ONLY_PEOPLE)])
            return
        owner = await self._gate.owner(envelope.conversation_id, envelope.user_id)
        chosen = await self._services.memory.bootstrap.preference(owner)
        message = settings_message(chosen, owner.persona.name, await self._zone(envelope))
        await self._services.committer.done([envelope], [message])

    async def persona(self, envelope: Envelope) -> None:
        """Show who the assistant can be; a name behind the command chooses at once."""
        services = self._services
        name = envelope.arguments.lower()
        if envelope.user_id is None:
            await services.committer.done([envelope], [OutgoingMessage(replies.ONLY_PEOPLE)])
        elif name in services.personas.by_name:
            choose = await services.people.choose(envelope.user_id, **{PERSONA: name})
            await services.committer.done([envelope], [self._persona_message(name)], choose)
        else:
            current = await services.personas.of(envelope.user_id)
            await services.committer.done([envelope], [self._persona_message(current.name)])

    async def _prefer(self, tap: Tap) -> bool:
        """Store the choice with the end of the tap, and show it in place."""
        services, envelope = self._services, tap.envelope
        owner = await self._gate.owner(envelope.conversation_id, envelope.user_id or 0)
        chosen = Preference.model_validate(tap.payload)
        message = settings_message(chosen, owner.persona.name, await self._zone(envelope), envelope.message_id)
        also = (tap.use, services.inbox.done(envelope))
        await services.committer.say(
            Target.of(envelope),
            [message],
            lambda *rows: services.memory.bootstrap.prefer(owner, chosen, also=[*also, *rows]),
        )
        return True

    async def _be(self, tap: Tap) -> bool:
        """Be somebody else for this person from the next answer on."""
        envelope, name = tap.envelope, tap.payload[PERSONA]
        choose = await self._services.people.choose(envelope.user_id or 0, **{PERSONA: name})
        message = self._persona_message(name, envelope.message_id)
        await self._services.committer.done([envelope], [message], tap.use, choose)
        return True

    async def _zone(self, envelope: Envelope) -> str:
        return (await self._services.people.time_zone(envelope.user_id)).name

    def _persona_message(self, current: str, edits_message_id: int | None = None) -> OutgoingMessage:
        personas = self._services.personas.by_name
        lines = [
            replies.PERSONA_LINE.format(
                name=name, tone=", ".join(one.tone), now=replies.PERSONA_NOW * (name == current)
            )
            for name, one in personas.items()
        ]
        buttons = tuple((Button(_marked(name, name == current), "be", {PERSONA: name}),) for name in personas)
        text = "\n".join((replies.PERSONA_HEAD, *lines, "", replies.PERSONA_TAIL))
        return OutgoingMessage(text, buttons=buttons, edits_message_id=edits_message_id)


def settings_message(
    chosen: Preference, persona: str, time_zone: str, edits_message_id: int | None = None
) -> OutgoingMessage:
    """Return what was chosen, and a button for each other choice."""
    preview = replies.SETTINGS_PREVIEW_OFF if chosen.skip_preview else replies.SETTINGS_PREVIEW_ON
    told = [replies.SETTINGS_MODES[chosen.mode], *([] if chosen.mode == "off" else [preview])]
    text = replies.SETTINGS.format(choice=" ".join(told), persona=persona, zone=time_zone)
    modes = tuple(
        Button(
            _marked(replies.SETTINGS_LABELS[mode], mode == chosen.mode),
            "prefer",
            {"mode": mode, "skip_preview": chosen.skip_preview},
        )
        for mode in MODES
    )
    skip = Button(
        _marked(replies.SETTINGS_SKIP, chosen.skip_preview),
        "prefer",
        {"mode": chosen.mode, "skip_preview": not chosen.skip_preview},
    )
    return OutgoingMessage(text, buttons=(modes, (skip,)), edits_message_id=edits_message_id)


def _marked(label: str, is_chosen: bool) -> str:  # noqa: FBT001 - the two sides of one label
    return f"{replies.CHOSEN} {label}" if is_chosen else label
