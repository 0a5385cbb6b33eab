"""Context carried forward into the session that goes on: by a tap, by its words, by a message typed under a preview."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import structlog

from bot import replies
from bot.delivery.outbox import OutgoingMessage, Target
from bot.features.continuity.carried import CarriedMatters, joined
from bot.features.continuity.preview import preview_lines, shown_message
from bot.intake.updates import Envelope
from bot.turns.services import Services
from memory.continuity.bootstrap import BootstrapPreview
from memory.continuity.types import BootstrapOwner
from memory.errors import Conflict, StorageUnavailable
from memory.keeper.backlog import read_anew
from memory.ports import Statement
from memory.types import SessionState

log = structlog.get_logger(__name__)


class CarryOn:
    """Makes a session ready, stores the choice of it with its packet, and shows what is carried."""

    def __init__(self, services: Services, carried: CarriedMatters) -> None:
        self._services = services
        self._carried = carried

    async def into(
        self,
        session_id: str,
        envelope: Envelope,
        also: Sequence[Statement],
        shown: OutgoingMessage,
        *,
        dropped: Sequence[str] = (),
        always: bool = False,
        turn_id: str | None = None,
    ) -> None:
        """Carry forward what the preview has but for `dropped`, and say `shown`; with `also`, as one transaction.

        With `turn_id` it is said in that turn. Raises as `Bootstrap.choose` does, and `Conflict` when a statement in
        `also` found something else: nothing is stored.
        """
        bootstrap = self._services.memory.bootstrap
        owner = await self._carried.owner(envelope.conversation_id, envelope.user_id or 0)
        choose = partial(bootstrap.choose, remember=always, skip_preview=always, dropped=dropped)
        await self._services.committer.say(
            Target.of(envelope),
            [shown],
            lambda *rows: choose(owner, session_id, "use", also=[*also, *rows]),
            turn_id=turn_id,
        )

    async def shown(self, envelope: Envelope, place: int | None, dropped: Sequence[str] = ()) -> OutgoingMessage:
        """Return the message that says what is carried forward, in the place of the preview."""
        owner = await self._carried.owner(envelope.conversation_id, envelope.user_id or 0)
        found = await self._services.memory.bootstrap.preview(owner, asked_for=True, dropped=dropped)
        if not found.arcs:
            return OutgoingMessage(replies.say("nothing_left"), edits_message_id=place)
        return shown_message(await self.lines(owner, found), place)

    async def lines(self, owner: BootstrapOwner, shown: BootstrapPreview) -> list[str]:
        """Return the notes that would be carried, a line each as a person reads it."""
        ledger = await self._services.memory.ledgers.read(owner.conversation_id)
        zone = (await self._services.people.clock(owner.conversation_id, owner.user_id)).name
        return preview_lines(shown, ledger, self._services.clock.now_ms(), zone)

    async def ready(self, envelope: Envelope, *, is_answering: bool = False) -> SessionState:
        """Return the session that goes on with carried context, else a new one.

        It is the current one when nothing was said in it, or when it was begun fresh: nobody should have to say
        things again. A crash before the choice is stored leaves it whole, without the bounds of a fresh one.
        """
        services = self._services
        current = await services.memory.recorder.current(envelope.conversation_id)
        if current is not None and not is_answering:
            row = await services.memory.store.session(current.session_id)
            if row is not None and row.user_id == envelope.user_id:
                if not current.turn_count and not current.isolated:
                    return current
                if row.origin == "fresh" and await services.memory.bootstrap.choice(current.session_id) is None:
                    state = await services.committer.until_stored(
                        lambda: services.memory.recorder.edit(current.session_id, joined)
                    )
                    await self._read_anew(state)
                    return state
        return await services.committer.until_stored(
            lambda: services.memory.recorder.open_session(envelope.conversation_id, envelope.user_id, "gap")
        )

    async def _read_anew(self, state: SessionState) -> None:
        """Let the keeper read again turns that it read without the earlier notes: they may be about one of them.

        After a crash its turns stand as they were noted.
        """
        keeper = self._services.memory.keeper
        if not keeper.is_on:
            return
        try:
            async with keeper.alone(state.conversation_id):
                await read_anew(self._services.db, state)
        except (Conflict, StorageUnavailable) as exc:
            log.warning("a conversation that was begun fresh is not read again", error=str(exc))
