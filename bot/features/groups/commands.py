"""/group: in a group, its admins decide how much is read and who may ask for it; in private, the groups to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bot import replies
from bot.dates import when_text
from bot.delivery.outbox import Button, OutgoingMessage
from bot.groups.past import BEFORE, Found, OpenGroup
from bot.intake.updates import Envelope
from bot.lines import note_line
from bot.people.choices import OPEN, group_of
from bot.turns.feature import Action, Command, Tap
from bot.turns.group_word import told_with, word_of, word_text
from bot.turns.services import Services
from memory.foreign import parts
from memory.ledger.types import Note
from memory.text import shorten


class GroupCommands:
    """Shows and changes whether members may ask in private, and answers them."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._past = services.groups
        self.commands: dict[str, Command] = {"group": self.group}
        self.actions: dict[str, Action] = {"group_open": self._open}

    async def group(self, envelope: Envelope) -> None:
        """In a group show how it is, to its admins with the button that changes it; in private answer a member."""
        number = group_of(envelope.conversation_id)
        if number is None:
            await self._services.committer.done([envelope], [OutgoingMessage(await self._asked(envelope))])
            return
        was, words = self._past.before(envelope.conversation_id), envelope.arguments.strip()
        if was is not None and words:
            await self._services.committer.done([envelope], [OutgoingMessage(await self._found(envelope, [was]))])
            return
        is_open = bool((await self._services.people.choices(number)).get(OPEN))
        leads = await self._past.members.leads(envelope.conversation_id, envelope.user_id)
        reads, told = await told_with(self._services, envelope.conversation_id)
        message = self._shown(envelope, reads, is_open=is_open, leads=leads)
        await self._services.committer.done([envelope], [message], *told)

    async def _asked(self, envelope: Envelope) -> str:
        """The groups' answer to these words; without any, the list of groups that may be asked."""
        words, groups = envelope.arguments.strip(), await self._past.open_to(envelope.user_id)
        if not groups:
            return replies.say("group_none_open")
        if not words:
            return replies.say("group_may_ask", groups=", ".join(group.title for group in groups))
        return await self._found(envelope, groups)

    async def _found(self, envelope: Envelope, groups: Sequence[OpenGroup]) -> str:
        """Finds of these groups for the words behind the command, in the person's language."""
        words = envelope.arguments.strip()
        zone = (await self._services.people.clock(envelope.conversation_id, envelope.user_id)).name
        found = [(group, await self._past.told(group, words)) for group in groups]
        line = partial(_line, now_ms=self._services.clock.now_ms(), zone=zone)
        heads = {BEFORE: replies.say("group_before_head")}
        shown = [(heads.get(group.title, group.title), told) for group, told in found if told]
        pages = ["\n".join([f"{head}:", *map(line, told)]) for head, told in shown]
        return "\n\n".join(pages) or replies.say("group_nothing_found", words=shorten(words, 60))

    async def _open(self, tap: Tap) -> bool | str:
        """Keep the decision of an admin; one who is none any more only hears so."""
        services, envelope = self._services, tap.envelope
        number, is_open = group_of(envelope.conversation_id), bool(tap.payload["open"])
        if number is None or not await self._past.members.leads(envelope.conversation_id, envelope.user_id):
            await services.committer.done([envelope], [], tap.use)
            return "group_admins_only"
        word = await word_of(services, envelope.conversation_id)
        choose = await services.people.choose(number, **{OPEN: is_open})
        shown = self._shown(envelope, word_text(services, word), is_open=is_open, leads=True)
        message = replace(shown, edits_message_id=envelope.message_id)
        await services.committer.done([envelope], [message], tap.use, choose)
        return True

    def _shown(self, envelope: Envelope, reads: str, *, is_open: bool, leads: bool) -> OutgoingMessage:
        """The settings of this group, with a button for its admins."""
        before = ("group_before",) if self._past.before(envelope.conversation_id) is not None else ()
        said = ("group_is_open" if is_open else "group_is_closed", "group_who_forgets", *before)
        button = Button(replies.say("group_close" if is_open else "group_open"), "group_open", {"open": not is_open})
        text = "\n\n".join(filter(None, (*map(replies.say, said), reads)))
        return OutgoingMessage(text, buttons=((button,),) if leads else ())


def _line(find: Found, *, now_ms: int, zone: str) -> str:
    """`• Ana, on Sat 12 Dec: the tiles come on Tuesday`, without what she replied to; a note as on every list."""
    if isinstance(find, Note):
        return f"• {note_line(find, now_ms, zone, brief=True)}"
    head = ", ".join(filter(None, (find.who, when_text(find.at_ms, now_ms, zone, replies.spoken(), exact=False))))
    said = parts(find.text)
    own = [text for is_foreign, text in said if not is_foreign and text.strip()] or [text for _, text in said]
    return f"• {head}: {' '.join(' '.join(own).split())}"
