"""/settings and /persona: how earlier conversations are taken up, and who the assistant is; per person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.features.continuity.gate import ContinuityGate
from bot.intake.updates import Envelope
from bot.people.choices import FOLLOW_UPS, LANGUAGE, group_of
from bot.people.personas import OFF, OWN, PERSONA, PERSONA_WORDS, WORDS_CHARS
from bot.sentences import SPEAKABLE
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.continuity.types import Mode, Persona, Preference
from memory.text import shorten

MODES: tuple[Mode, ...] = ("ask", "use", "off")
TONGUES_A_ROW = 4
OWN_CHARS = 40


class ContinuitySettings:
    """Shows the choices with a button for each alternative; a tap changes one and the message with it."""

    def __init__(self, services: Services, gate: ContinuityGate) -> None:
        self._services = services
        self._gate = gate
        self.commands: dict[str, Command] = {"settings": self.settings, "persona": self.persona}
        self.actions: dict[str, Action] = {
            "prefer": self._prefer,
            "be": self._be,
            "tongues": self._tongues,
            "speak": self._speak,
            "follow_up": self._follow_up,
        }

    async def settings(self, envelope: Envelope) -> None:
        """Show this person's choices."""
        if envelope.user_id is None:
            await self._services.committer.done([envelope], [OutgoingMessage(replies.say("only_people"))])
            return
        owner = await self._gate.carried.owner(envelope.conversation_id, envelope.user_id)
        chosen = await self._services.memory.bootstrap.preference(owner)
        message = settings_message(chosen, owner.persona.name, await self._own(envelope))
        await self._services.committer.done([envelope], [message])

    async def persona(self, envelope: Envelope) -> None:
        """Show who the assistant can be; a name or a description behind the command chooses at once."""
        services, words = self._services, " ".join(envelope.arguments.split())[:WORDS_CHARS]
        if envelope.user_id is None:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("only_people"))])
            return
        chosen = self._meant(words)
        effects = [await services.people.choose(envelope.user_id, **chosen)] if chosen else []
        shown = await self._personas(envelope, chosen)
        await services.committer.done([envelope], [shown], *effects)

    def _meant(self, words: str) -> dict[str, str]:
        """The choice that some words make: a persona by its name in any language, else one that they describe.

        `off` ends whatever is played: the first of them is back.
        """
        if not words:
            return {}
        plain = words.casefold()
        names = {
            name: {name.casefold(), *map(str.casefold, replies.every(f"personas.{name}"))}
            if replies.known(f"personas.{name}")
            else {name.casefold()}
            for name in self._services.personas.by_name
        }
        first = next(iter(names)) if plain == OFF else ""
        named = first or next((name for name, called in names.items() if plain in called), "")
        return {PERSONA: named} if named else {PERSONA: OWN, PERSONA_WORDS: words}

    async def _personas(
        self, envelope: Envelope, chosen: Mapping[str, str], edits_message_id: int | None = None
    ) -> OutgoingMessage:
        """Who the assistant can be for this person, with the choice just made."""
        services = self._services
        choices = {**await services.people.choices(envelope.user_id), **chosen}
        state = await services.memory.recorder.current(envelope.conversation_id)
        current, words = services.personas.persona_in(choices).name, str(choices.get(PERSONA_WORDS) or "")
        message = persona_message(services.personas.by_name, current, words, edits_message_id)
        if state is None or not state.private:
            return message
        return replace(message, text=f"{message.text}\n\n{replies.say('status_private')}")

    async def _prefer(self, tap: Tap) -> bool:
        """Store the choice with the end of the tap, and show it in place."""
        services, envelope = self._services, tap.envelope
        owner = await self._gate.carried.owner(envelope.conversation_id, envelope.user_id or 0)
        chosen = Preference.model_validate(tap.payload)
        message = settings_message(chosen, owner.persona.name, await self._own(envelope), envelope.message_id)
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
        message = await self._personas(envelope, {PERSONA: name}, envelope.message_id)
        await self._services.committer.done([envelope], [message], tap.use, choose)
        return True

    async def _tongues(self, tap: Tap) -> bool:
        """Show the languages in place of the settings."""
        envelope = tap.envelope
        message = language_message(await self._language(envelope), envelope.message_id)
        await self._services.committer.done([envelope], [message], tap.use)
        return True

    async def _speak(self, tap: Tap) -> bool:
        """Speak another language to this person from now on; the settings come back in it."""
        services, envelope, code = self._services, tap.envelope, tap.payload[LANGUAGE]
        owner = await self._gate.carried.owner(envelope.conversation_id, envelope.user_id or 0)
        chosen = await services.memory.bootstrap.preference(owner)
        choose = await services.people.choose(_whose(envelope), **{LANGUAGE: code})
        own = replace(await self._own(envelope), language=code)
        where = (envelope.conversation_id, envelope.user_id, envelope.language)
        with replies.speaking(code or await services.people.language(*where, as_written=True)):
            message = settings_message(chosen, owner.persona.name, own, envelope.message_id)
        await services.committer.done([envelope], [message], tap.use, choose)
        return True

    async def _follow_up(self, tap: Tap) -> bool:
        """Ask this person how things went, or don't, from now on."""
        services, envelope, wanted = self._services, tap.envelope, bool(tap.payload[FOLLOW_UPS])
        owner = await self._gate.carried.owner(envelope.conversation_id, envelope.user_id or 0)
        chosen = await services.memory.bootstrap.preference(owner)
        own = replace(await self._own(envelope), follow_ups=wanted)
        message = settings_message(chosen, owner.persona.name, own, envelope.message_id)
        choose = await services.people.choose(envelope.user_id or 0, **{FOLLOW_UPS: wanted})
        await services.committer.done([envelope], [message], tap.use, choose)
        return True

    async def _own(self, envelope: Envelope) -> OwnChoices:
        people = self._services.people
        zone = (await people.clock(envelope.conversation_id, envelope.user_id)).name
        followed_up = bool((await people.choices(envelope.user_id)).get(FOLLOW_UPS))
        return OwnChoices(zone, await self._language(envelope), follow_ups=followed_up)

    async def _language(self, envelope: Envelope) -> str:
        return str((await self._services.people.choices(_whose(envelope))).get(LANGUAGE, ""))


@dataclass(frozen=True, slots=True)
class OwnChoices:
    """Somebody's choices that hold for every persona."""

    time_zone: str
    language: str = ""
    """A code; "" for the language that they write."""
    follow_ups: bool = False
    """True for who wants to be asked once how it went."""


def _whose(envelope: Envelope) -> int:
    """Whose language is chosen: a group's in a group."""
    return group_of(envelope.conversation_id) or envelope.user_id or 0


def settings_message(
    chosen: Preference, persona: str, own: OwnChoices, edits_message_id: int | None = None
) -> OutgoingMessage:
    """Return the present choice, and a button for each other one."""
    language = replies.tongue(own.language)
    text = replies.say(
        "settings", choice=_told(chosen), persona=_named("personas", persona), zone=own.time_zone, language=language
    )
    modes = tuple(
        Button(_marked(replies.say(f"settings_labels.{mode}"), mode == chosen.mode), "prefer", {"mode": mode})
        for mode in MODES
    )
    skip = Button(
        _marked(replies.say("settings_skip"), chosen.skip_preview),
        "prefer",
        {"mode": chosen.mode, "skip_preview": not chosen.skip_preview},
    )
    skips = (skip,) if chosen.mode == "ask" else ()
    speak = Button(replies.say("settings_language"), "tongues")
    follow_up = Button(
        _marked(replies.say("settings_follow_ups"), own.follow_ups), "follow_up", {FOLLOW_UPS: not own.follow_ups}
    )
    return OutgoingMessage(text, buttons=(modes, (*skips, speak), (follow_up,)), edits_message_id=edits_message_id)


def _told(chosen: Preference) -> str:
    """Return the choice in words; to be asked without a preview is not to be asked, and nothing is carried."""
    if chosen.mode == "ask" and not chosen.skip_preview:
        return f"{replies.say('settings_modes.ask')} {replies.say('settings_preview_on')}"
    return replies.say("settings_modes.use" if chosen.mode == "use" else "settings_modes.off")


def persona_message(
    personas: Mapping[str, Persona], current: str, words: str, edits_message_id: int | None = None
) -> OutgoingMessage:
    """Return who the assistant can be, a button for each; the one that was described is last, in its words."""
    labels = {name: _named("personas", name) for name in personas}
    tones = {name: ", ".join(_named("tones", each) for each in persona.tone) for name, persona in personas.items()}
    lines = [
        replies.say("persona_line", name=_marked(label, name == current), tone=tones[name])
        for name, label in labels.items()
    ]
    if words:
        labels[OWN] = replies.say("quoted", text=shorten(words, OWN_CHARS))
        lines.append(f"• {_marked(replies.say('quoted', text=words), current == OWN)}")
    buttons = tuple((Button(_marked(label, name == current), "be", {PERSONA: name}),) for name, label in labels.items())
    text = "\n".join((replies.say("persona_head"), *lines, "", replies.say("persona_tail")))
    return OutgoingMessage(text, buttons=buttons, edits_message_id=edits_message_id)


def _named(table: str, word: str) -> str:
    """A persona's name, or a word for its tone, in the language that is spoken; an operator's own as it is."""
    key = f"{table}.{word}"
    return replies.say(key) if replies.known(key) else word


def language_message(chosen: str, edits_message_id: int | None = None) -> OutgoingMessage:
    """Return the question in which language to speak, a button for each; "" is the one that the person writes."""
    buttons = [
        Button(_marked(replies.tongue(code), code == chosen), "speak", {LANGUAGE: code}) for code in ("", *SPEAKABLE)
    ]
    rows = tuple(tuple(buttons[at : at + TONGUES_A_ROW]) for at in range(0, len(buttons), TONGUES_A_ROW))
    return OutgoingMessage(replies.say("language_ask"), buttons=rows, edits_message_id=edits_message_id)


def _marked(label: str, is_chosen: bool) -> str:  # noqa: FBT001 - the two sides of one label
    return f"{replies.say('chosen')} {label}" if is_chosen else label
