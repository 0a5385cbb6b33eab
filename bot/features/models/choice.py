"""/model: which language model answers somebody."""

from __future__ import annotations

from typing import Final

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from bot.intake.updates import Envelope
from bot.people.choices import MODEL
from bot.settings.model_names import ModelNames, NamedModel
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services

DEFAULT_NAMES: Final = {"default", "-"}


def model_message(names: ModelNames, chosen: str, edits_message_id: int | None = None) -> OutgoingMessage:
    """Return who answers this person, with a button for each model that they may choose."""
    current = names.chosen(chosen)
    is_gone, now = current is None, current or names.default
    offered = dict.fromkeys((names.default, *names.named.values()))
    lines = [f"• {_marked(_line(each), is_chosen=each == now)}" for each in offered]
    gone = [replies.say("footnote_gone", other=chosen, model=names.default.name)] if is_gone else []
    fallback = [replies.say("model_fallback", name=names.fallback.name)] if names.fallback else []
    default = replies.say("model_default", name=names.default.name)
    if not names.named:
        return OutgoingMessage("\n".join([replies.say("model_one", name=names.default.name), *fallback]))
    text = "\n".join([*gone, replies.say("model_head"), *lines, "", replies.say("model_tail"), default, *fallback])
    buttons = [(name, name, each == now and bool(chosen) and not is_gone) for name, each in names.named.items()]
    buttons.append((replies.say("model_reset"), "", not chosen or is_gone))
    rows = tuple((Button(_marked(label, is_chosen=on), "choose_model", {MODEL: name}),) for label, name, on in buttons)
    return OutgoingMessage(text, buttons=rows, edits_message_id=edits_message_id)


def _line(named: NamedModel) -> str:
    return named.name if named.name == named.model else f"{named.name} ({named.model})"


def _marked(label: str, *, is_chosen: bool) -> str:
    return f"{replies.say('chosen')} {label}" if is_chosen else label


class ModelChoice:
    """Lets people choose who answers them."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"model": self.model}
        self.actions: dict[str, Action] = {"choose_model": self._choose}

    async def model(self, envelope: Envelope) -> None:
        """Show who answers this person; a name behind the command chooses at once."""
        services, names = self._services, self._services.settings.models
        if envelope.user_id is None:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("only_people"))])
            return
        if not services.settings.by_model:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("start_offline"))])
            return
        wanted = envelope.arguments.strip().lower()
        name = "" if wanted in DEFAULT_NAMES else wanted
        if wanted and (not name or name in names.named):
            choose = await services.people.choose(envelope.user_id, **{MODEL: name})
            await services.committer.done([envelope], [model_message(names, name)], choose)
            return
        chosen = str((await services.people.choices(envelope.user_id)).get(MODEL) or "")
        await services.committer.done([envelope], [model_message(names, chosen)])

    async def _choose(self, tap: Tap) -> bool:
        """Be answered by another model from the next message on."""
        services, envelope, name = self._services, tap.envelope, str(tap.payload[MODEL])
        names = services.settings.models
        choose = await services.people.choose(envelope.user_id or 0, **{MODEL: name})
        message = model_message(names, name, envelope.message_id)
        await services.committer.done([envelope], [message], tap.use, choose)
        return True
