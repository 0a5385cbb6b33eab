"""A list is said and remembered as what was shown last, so that "the first one" has a meaning; one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from bot.delivery.outbox import OutgoingMessage, Target
from bot.intake.updates import Envelope
from bot.turns.services import Services
from memory.ports import Statement
from memory.state.listed import show
from memory.types import ListedItem, SessionState

Change = Callable[[SessionState], SessionState]


async def say_list(
    services: Services,
    envelope: Envelope,
    message: OutgoingMessage,
    items: Sequence[ListedItem],
    first: Change = lambda state: state,
    *,
    effects: Sequence[Statement] = (),
) -> None:
    """Finish the update, say the list and remember its lines in the session that goes on. Raises `Conflict`.

    `first` brings into the session what the lines speak of, so that "the first one is done" finds it there. `effects`
    are committed with it, e.g. the use of a button.
    """
    now_ms = services.clock.now_ms()
    session_id = await services.memory.store.current_session_id(envelope.conversation_id)

    def shown(state: SessionState) -> SessionState:
        return show(first(state), items, now_ms)

    store = partial(services.reminders.change, session_id, shown, services.inbox.done(envelope), *effects)
    await services.committer.say(Target.of(envelope), [message], store)
