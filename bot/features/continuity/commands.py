"""/continue and /fresh, and the buttons of the preview: continue, start fresh, always, leave one out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import structlog

from bot import replies
from bot.answers.answer_buttons import JOIN_AGAIN
from bot.delivery.outbox import OutgoingMessage, Target
from bot.features.continuity.carried import isolated
from bot.features.continuity.gate import ContinuityGate
from bot.features.continuity.preview import asked_message, offer_message
from bot.features.sessions import Sessions
from bot.features.undo import withdraw
from bot.intake.updates import Envelope
from bot.turns.feature import Action, Command, Tap
from bot.turns.lanes import Lanes
from bot.turns.services import Services
from bot.turns.steps.work import AskedAgain
from bot.turns.turn import Turns
from memory.continuity.bootstrap import BootstrapPreview
from memory.continuity.types import Preference
from memory.errors import Conflict
from memory.ports import Statement
from memory.types import BY_TAP, PRIVATE, SessionState

log = structlog.get_logger(__name__)

NOTHING = BootstrapPreview(offer="nothing", mode="ask", skip_preview=False)


class Continuity:
    """Carries the past into a session when the user says so; lets the message go on that waited for their word."""

    def __init__(
        self, services: Services, turns: Turns, lanes: Lanes, gate: ContinuityGate, sessions: Sessions
    ) -> None:
        self._services = services
        self._turns = turns
        self._lanes = lanes
        self._gate = gate
        self._sessions = sessions
        self.commands: dict[str, Command] = {"continue": self.offer, "fresh": self.fresh, "new": self.fresh}
        self.actions: dict[str, Action] = {
            "carry_on": self._carry_on,
            "carry_always": self._carry_always,
            "start_fresh": self._start_fresh,
            "edit_offer": self._edit,
            "drop_arc": self._drop,
            "continue": self._take_up,
            "fresh_again": self._fresh_again,
            JOIN_AGAIN: self._join_again,
            "ask_first": self._ask_first,
        }

    # --- commands ---------------------------------------------------------------------------------------------------

    async def offer(self, envelope: Envelope) -> None:
        """Show the context that would be carried forward, and the last sessions by topic and age, each a button.

        While the preview waits for this person's word, the command is that word.
        """
        if not envelope.arguments and await self._is_the_word(envelope):
            return
        over = await self._sessions.end_private(envelope)
        sessions = await self._sessions.choices(envelope)
        shown = await self._preview(envelope, has_others=bool(sessions))
        if not shown.arcs and not sessions:
            await self._sessions.nothing_to_offer(envelope, over)
            return
        waits = bool(await self._gate.held(envelope))
        told = await self._told(envelope, shown)
        said = [OutgoingMessage(over)] if over else []
        current = await self._services.memory.recorder.current(envelope.conversation_id)
        session_id = current.session_id if current else ""
        offered = asked_message(shown, told, sessions, (), session_id=session_id, waits=waits)
        await self._services.committer.done([envelope], [*said, offered])

    async def fresh(self, envelope: Envelope) -> None:
        """Open a session with nothing carried over, or a `private` one; a message that waits is answered in it."""
        private = envelope.arguments.strip().casefold() in {PRIVATE, *map(str.casefold, replies.every("private_word"))}
        closes = await self._gate.typed.withdrawn(envelope.conversation_id)
        await self._letting_go(
            envelope, lambda effects: self._sessions.fresh(envelope, *effects, *closes, private=private)
        )

    # --- buttons ----------------------------------------------------------------------------------------------------

    async def _carry_on(self, tap: Tap) -> None:
        await self._carry(tap, always=False)

    async def _carry_always(self, tap: Tap) -> None:
        await self._carry(tap, always=True)

    async def _carry(self, tap: Tap, *, always: bool) -> None:
        """Store the choice with its packet, finish the tap and let the waiting message go on, as one transaction.

        A new session may be opened before; a crash in between leaves it empty, and the tap, done again, uses it.
        """
        services, envelope = self._services, tap.envelope
        held = await self._gate.held(envelope)
        if self._is_over(tap, held) or envelope.user_id is None:
            await self._over(tap)
            return
        state = await self._ready(envelope)
        dropped = tap.payload["dropped"]
        shown = await self._gate.carry_on.shown(envelope, envelope.message_id, dropped)
        also = (tap.use, services.inbox.done(envelope), *self._gate.going_on(held))
        await self._gate.carry_on.into(state.session_id, envelope, also, shown, dropped=dropped, always=always)
        self._gate.release(held)

    async def _start_fresh(self, tap: Tap) -> None:
        """Isolate the session, finish the tap and let the waiting message go on, as one transaction.

        That nothing is injected was stored with the question already.
        """
        services, envelope = self._services, tap.envelope
        held = await self._gate.held(envelope)
        state = await services.memory.recorder.current(envelope.conversation_id)
        if self._is_over(tap, held) or state is None:
            await self._over(tap)
            return
        also = (tap.use, services.inbox.done(envelope), *self._gate.going_on(held))
        await services.committer.say(
            Target.of(envelope),
            [_plain(replies.say("fresh"), envelope)],
            partial(services.memory.recorder.edit, state.session_id, isolated, *also),
        )
        self._gate.release(held)

    async def _fresh_again(self, tap: Tap) -> None:
        """Answer the message once more in a session started fresh, without carried context."""
        self._answer_again(tap, self._begin_fresh, ())

    async def _join_again(self, tap: Tap) -> None:
        """Answer the message once more with what was before it, which a call of its answer missed."""
        self._answer_again(tap, self._bring_back, (tap.payload["turn_id"],))

    def _answer_again(
        self, tap: Tap, prepare: Callable[[Envelope, str], Awaitable[None]], repeats: tuple[str, ...]
    ) -> None:
        """Answer a turn's message once more in the session that `prepare` makes ready, in the tap's own turn.

        After a crash the tap does it again, and finds the session ready.
        """
        services = self._services

        async def answer(envelope: Envelope) -> None:
            turn = await services.memory.store.turn(tap.payload["turn_id"])
            if turn is None or turn.conversation_id != envelope.conversation_id:
                await services.committer.done([envelope], [_plain(replies.say("offer_over"), envelope)], tap.use)
                return
            await prepare(envelope, turn.turn_id)
            said = AskedAgain(
                turn.user_text,
                third_party=turn.third_party,
                repeats=repeats,
                why_again="joined" if repeats else "asked",
                by_tap=turn.action_name == BY_TAP,
            )
            turn_id = envelope.turn_id or services.ids.new("t")
            await self._turns.on_turn([envelope], turn_id, said=said, effects=(tap.use,))

        self._lanes.submit(tap.envelope, answer)

    async def _begin_fresh(self, envelope: Envelope, turn_id: str) -> None:
        services = self._services
        current = await services.memory.recorder.current(envelope.conversation_id)
        if current is not None and current.isolated and not current.turn_count:
            return
        await withdraw(services, envelope, turn_id)
        await services.committer.until_stored(
            lambda: services.memory.recorder.open_session(envelope.conversation_id, envelope.user_id, "fresh")
        )

    async def _bring_back(self, envelope: Envelope, turn_id: str) -> None:
        """Carry what was before into the session that goes on, as [Carry this forward] does, or into a new one."""
        services = self._services
        await withdraw(services, envelope, turn_id)
        current = await services.memory.recorder.current(envelope.conversation_id)
        if envelope.user_id is None or (current and await self._gate.carries(envelope, current)):
            return
        state, held = await self._ready(envelope), await self._gate.held(envelope)
        owner = await self._gate.carried.owner(envelope.conversation_id, envelope.user_id)
        await services.memory.bootstrap.choose(owner, state.session_id, "use", also=self._gate.going_on(held))
        self._gate.release(held)

    async def _ask_first(self, tap: Tap) -> None:
        """Show the preview first from now on, for this persona."""
        services, envelope = self._services, tap.envelope
        owner = await self._gate.carried.owner(envelope.conversation_id, envelope.user_id or 0)
        also = (tap.use, services.inbox.done(envelope))
        await services.committer.say(
            Target.of(envelope),
            [_plain(replies.say("asks_first"), envelope)],
            lambda *rows: services.memory.bootstrap.prefer(owner, Preference(mode="ask"), also=[*also, *rows]),
        )

    async def _edit(self, tap: Tap) -> bool:
        """Show a row for each line that can be left out, or go back to the choices."""
        return await self._show_again(tap, tap.payload["dropped"], editing=tap.payload["editing"])

    async def _drop(self, tap: Tap) -> bool:
        """Show the preview again without one arc; the dropped arcs are stored with the choice."""
        return await self._show_again(tap, [*tap.payload["dropped"], tap.payload["arc_id"]], editing=True)

    async def _show_again(self, tap: Tap, dropped: list[str], *, editing: bool) -> bool:
        """Show the preview in place, without dropped arcs; when its message went on, say that it is over."""
        services, envelope = self._services, tap.envelope
        held = await self._gate.held(envelope)
        if self._is_over(tap, held) or envelope.user_id is None:
            await self._over(tap)
            return False
        owner = await self._gate.carried.owner(envelope.conversation_id, envelope.user_id)
        shown = await services.memory.bootstrap.preview(owner, asked_for=True, dropped=dropped)
        told, place = await self._gate.carry_on.lines(owner, shown), envelope.message_id
        if "turn_id" in tap.payload:
            message = offer_message(shown, told, tap.payload["turn_id"], dropped, place, editing=editing)
        else:
            sessions = await self._sessions.choices(envelope)
            options = {"session_id": tap.payload.get("session_id", ""), "waits": bool(held), "editing": editing}
            message = asked_message(shown, told, sessions, dropped, place, **options)
            message = message if message.text else _plain(replies.say("nothing_left"), envelope)
        await services.committer.done([envelope], [message], tap.use)
        return bool(message.buttons)

    async def _take_up(self, tap: Tap) -> None:
        """Make an earlier session current again; a message that waits is answered there."""
        await self._letting_go(tap.envelope, lambda effects: self._sessions.take_up(tap, *effects))

    # --- inside -----------------------------------------------------------------------------------------------------

    async def _is_the_word(self, envelope: Envelope) -> bool:
        current = await self._services.memory.recorder.current(envelope.conversation_id)
        return current is not None and not current.turn_count and await self._gate.chosen([envelope], current, "use")

    async def _preview(self, envelope: Envelope, *, has_others: bool) -> BootstrapPreview:
        """Return the context that this person could carry forward; none into the only session that there is."""
        current = await self._services.memory.recorder.current(envelope.conversation_id)
        held = await self._gate.held(envelope)
        is_only = current is not None and current.turn_count > 0 and not has_others
        if envelope.user_id is None or is_only or any(e.user_id != envelope.user_id for e in held):
            return NOTHING
        owner = await self._gate.carried.owner(envelope.conversation_id, envelope.user_id)
        return await self._services.memory.bootstrap.preview(owner, asked_for=True)

    async def _told(self, envelope: Envelope, shown: BootstrapPreview) -> list[str]:
        if envelope.user_id is None or not shown.arcs:
            return []
        owner = await self._gate.carried.owner(envelope.conversation_id, envelope.user_id)
        return await self._gate.carry_on.lines(owner, shown)

    async def _ready(self, envelope: Envelope) -> SessionState:
        is_answering = self._turns.answers.is_answering(envelope.conversation_id)
        return await self._gate.carry_on.ready(envelope, is_answering=is_answering)

    def _is_over(self, tap: Tap, held: list[Envelope]) -> bool:
        """Return True for a preview whose message does not wait any more, or when somebody else's waits."""
        if "turn_id" in tap.payload:
            return not held or held[0].turn_id != tap.payload["turn_id"]
        return any(envelope.user_id != tap.envelope.user_id for envelope in held)

    async def _over(self, tap: Tap) -> None:
        await self._services.committer.done([tap.envelope], [_plain(replies.say("offer_over"), tap.envelope)], tap.use)

    async def _letting_go(self, envelope: Envelope, change: Callable[[list[Statement]], Awaitable[object]]) -> None:
        """Make a change that lets waiting messages go on; when they went on meanwhile, only the change."""
        held = await self._gate.held(envelope)
        if not held:
            await change([])
            return
        try:
            await change(self._gate.going_on(held))
        except Conflict:
            await change([])
        else:
            self._gate.release(held)


def _plain(text: str, envelope: Envelope) -> OutgoingMessage:
    """Return a text in the place of the message that was tapped."""
    return OutgoingMessage(text, edits_message_id=envelope.message_id)
