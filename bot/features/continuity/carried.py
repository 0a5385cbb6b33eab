"""Context carried into a session: whether notes of others reach it, the chat's view of it, the line about it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from itertools import chain

import structlog

from bot import replies
from bot.answers.responder import Ask
from bot.delivery.outbox import OutgoingMessage
from bot.features.continuity.preview import carried_message
from bot.features.continuity.scope import is_carried
from bot.intake.updates import Envelope
from bot.lines import is_group, name_of
from bot.turns.services import Services
from memory.context.repeats import speaks_of, word_keys
from memory.continuity.types import BootstrapOwner, Preference
from memory.errors import StorageUnavailable
from memory.keeper.session_lines import session_lines
from memory.ports import Statement
from memory.storage.store import SessionRow
from memory.text import shorten
from memory.types import SessionState

CARRIED_CHARS = 50
"""The length of a carried matter's name under the first answer."""

DECISIONS_KEPT = 1_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SaidBehind:
    """The line under an answer, and the statements stored with it."""

    messages: tuple[OutgoingMessage, ...] = ()
    effects: tuple[Statement, ...] = ()


class CarriedMatters:
    """Names the matters that are carried into people's sessions."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._carries: OrderedDict[tuple[str, int], bool] = OrderedDict()
        self._typed: OrderedDict[str, None] = OrderedDict()
        """The latest turns whose message was taken for a tap."""

    async def owner(self, conversation_id: str, user_id: int) -> BootstrapOwner:
        """Return whose context it is: this person here, with the persona that they chose."""
        persona = await self._services.personas.of(user_id)
        return BootstrapOwner(conversation_id=conversation_id, user_id=user_id, persona=persona)

    async def behind(self, first: Envelope, ask: Ask, answer: str) -> SaidBehind:
        """Return the small line under the first answer of a session that context was carried into.

        It names the matter that goes on, with [Start fresh] and [Ask me first]: once for each person and persona, and
        not where the answer tells of it itself. Without [Ask me first] it stands under each message that was taken for
        a tap. Never raises but for the disk's refusal.
        """
        nothing, state = SaidBehind(), ask.state
        is_typed = ask.turn_id in self._typed
        if (state.turn_count and not is_typed) or state.isolated or first.user_id is None:
            return nothing
        over = (OutgoingMessage(replies.say("private_over")),) if await self._was_private(state) else ()
        said = await self._carried_behind(first, ask, answer)
        return replace(said, messages=(*over, *said.messages))

    async def _carried_behind(self, first: Envelope, ask: Ask, answer: str) -> SaidBehind:
        nothing, state = SaidBehind(), ask.state
        try:
            choice = await self._services.memory.bootstrap.choice(state.session_id)
            if choice is None or choice.mode == "off" or not choice.internal_packet:
                return nothing
            owner = await self.owner(first.conversation_id, first.user_id or 0)
            preference = await self._services.memory.bootstrap.preference(owner)
            row = await self._services.memory.store.session(state.session_id)
            is_typed = ask.turn_id in self._typed
            if row is None or not (is_typed or is_named(owner, preference, row)):
                return nothing
            name = await self._carried(owner, ask)
            if not name or (not is_typed and speaks_of(word_keys(name), word_keys(answer))):
                return nothing
            message = carried_message(shorten(name, CARRIED_CHARS), ask.turn_id, is_first=not is_typed)
            kept = [] if is_typed else [self._services.memory.bootstrap.preferring(owner, preference)]
            return SaidBehind((message,), tuple(kept))
        except StorageUnavailable:
            raise
        except Exception:
            log.exception("what was carried forward is not named", session_id=state.session_id)
            return nothing

    async def _was_private(self, state: SessionState) -> bool:
        """Whether a pause has just ended a private session; a command that ended one has said so."""
        row = await self._services.memory.store.session(state.session_id) if state.after_private else None
        return row is not None and row.origin == "gap"

    async def _carried(self, owner: BootstrapOwner, ask: Ask) -> str:
        """The title of a session of which the message speaks, else of the one before; else the best open matter.

        The last where no session has a title; "" where nothing is known to go on.
        """
        memory = self._services.memory
        lines = await session_lines(memory.db, ask.ledger)
        rows = await memory.store.talks(owner.conversation_id, limit=2)  # this one, and the one before
        titles = {key: line.title for key, line in lines.items() if line.title and key != ask.state.session_id}
        keys, said = (item.session_id or "" for item in ask.packet.retrieved), word_keys(ask.text)
        meant = (titles[key] for key in keys if key in titles and speaks_of(word_keys(titles[key]), said))
        before = (titles[row.session_id] for row in rows if row.session_id in titles)
        title = next(chain(meant, before), "")
        if title or any(line.title for line in lines.values()):
            return title
        shown = await memory.bootstrap.preview(owner, asked_for=True)
        notes = (ask.ledger.find(arc.number) for arc in shown.arcs if not arc.generalized)
        return next((name_of(note) for note in notes if note and not note.lasts), "")

    async def is_shown(self, first: Envelope, state: SessionState) -> bool:
        """Return whether the chat shows the context carried into this first turn of a session."""
        if state.turn_count or state.isolated or first.user_id is None:
            return False
        choice = await self._services.memory.bootstrap.choice(state.session_id)
        if choice is None or choice.mode == "off":
            return False
        owner = await self.owner(first.conversation_id, first.user_id)
        preference = await self._services.memory.bootstrap.preference(owner)
        row = await self._services.memory.store.session(state.session_id)
        is_previewed = preference.mode == "ask" and not preference.skip_preview
        return is_previewed or (row is not None and is_named(owner, preference, row))

    async def carries(self, first: Envelope, state: SessionState) -> bool:
        """Return whether notes of the conversation's other sessions may reach the model in this one.

        Not after /fresh, nor where the person who began it chose to begin without.
        """
        if state.isolated or first.user_id is None:
            return False
        key = (state.session_id, first.user_id)
        if not state.turn_count or key not in self._carries:
            self._carries[key] = await is_carried(self._services.memory, self._services.personas, first.user_id, state)
            while len(self._carries) > DECISIONS_KEPT:
                self._carries.popitem(last=False)
        return self._carries[key]

    def typed_in(self, turn_id: str) -> None:
        """Name under this turn's answer what is carried: its message was taken for a tap."""
        self._typed[turn_id] = None
        while len(self._typed) > DECISIONS_KEPT:
            self._typed.popitem(last=False)

    def decided(self, session_id: str) -> None:
        """Ask again whether notes are carried into this session: somebody chose."""
        for key in [each for each in self._carries if each[0] == session_id]:
            del self._carries[key]


def is_named(owner: BootstrapOwner, preference: Preference, row: SessionRow) -> bool:
    """Whether what is carried after a pause may be named: once, to one person, and nobody steps out of a scene for it.

    After days of silence it was in the way as on each morning: what goes on the answer tells, and /fresh is known.
    """
    is_quiet = owner.persona.role == "roleplay" or preference.mode != "use" or preference.is_chosen
    return row.origin == "gap" and not is_quiet and not is_group(owner.conversation_id)


def joined(state: SessionState) -> SessionState:
    """Return the state of a session that sees earlier sessions again."""
    return state.model_copy(update={"isolated": False})


def isolated(state: SessionState) -> SessionState:
    """Return the state of a session into which nothing of others is carried."""
    return state.model_copy(update={"isolated": True})
