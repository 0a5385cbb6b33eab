"""The gate of a session: before its first turn the user is asked whether to carry context forward (DESIGN section 9).

While they are asked, their messages wait as `parked` rows of the inbox. "Start without" is stored with the question
itself, so the next event (a tap, a message, two minutes, a crash) only has to let the messages go on:
a waiting row is marked as going on by the first of them, worked on by its lane, and finished with its turn, once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Literal

import structlog

from bot import replies
from bot.answers.responder import Ask
from bot.delivery.outbox import OutgoingMessage, Target
from bot.features.continuity.carried import CarriedMatters, SaidBehind, isolated
from bot.features.continuity.carry_on import CarryOn
from bot.features.continuity.preview import offer_message
from bot.features.continuity.typed import TypedUnderPreview
from bot.features.continuity.word import Choice, choice_in
from bot.intake.inbox import GOES_ON, WAITS
from bot.intake.updates import Envelope, batch_text
from bot.turns.lanes import Postponed
from bot.turns.services import Services, language_of
from bot.turns.steps.gate import is_settled
from memory.continuity.bootstrap import BootstrapPreview
from memory.continuity.types import BootstrapOwner, SessionChoice
from memory.errors import Conflict, StorageUnavailable
from memory.ports import Statement
from memory.types import SessionState

ANSWER_AFTER_S = 120.0
"""A message waits so long for the user's word; then it is answered without: offered, not imposed."""

SETTLE_S = 1.0

log = structlog.get_logger(__name__)


class ContinuityGate:
    """Lets messages through to their turns, or lets them wait for the user's word."""

    def __init__(self, services: Services, resubmit: Callable[[Envelope], None]) -> None:
        self._services = services
        self._resubmit = resubmit
        self._timers: dict[str, asyncio.Task[None]] = {}
        self.carried = CarriedMatters(services)
        self.carry_on = CarryOn(services, self.carried)
        self.typed = TypedUnderPreview(services, self.carry_on)

    # --- before a turn ----------------------------------------------------------------------------------------------

    async def enter(self, batch: Sequence[Envelope], turn_id: str, state: SessionState) -> Sequence[Envelope]:
        """Return the messages answered now, as this turn; none when they wait for the user's word.

        Messages that waited come first: in one turn with these where a model answers bursts as one, in one of their
        own for rules, and when somebody else wrote them.
        Raises `Postponed` then, and StorageUnavailable: nothing was stored, the caller tries again.
        """
        if is_settled(batch, state):
            return batch
        known = {envelope.update_id for envelope in batch}
        waiting = () if state.turn_count else await self._held(batch[0], WAITS, GOES_ON, turn_id)
        held = [envelope for envelope in waiting if envelope.update_id not in known]
        if held and await self._says_the_word(batch, state):
            return ()
        if held:
            return await self._with(held, batch, turn_id)
        if await self.typed.takes(batch, turn_id, state):
            self.carried.typed_in(turn_id)
            return batch
        return batch if state.turn_count or not await self._is_asked(batch, turn_id, state) else ()

    async def behind(self, first: Envelope, ask: Ask, answer: str) -> SaidBehind:
        """Return the line under the first answer of a session that context was carried into."""
        return await self.carried.behind(first, ask, answer)

    async def is_shown(self, first: Envelope, state: SessionState) -> bool:
        """Return whether the chat shows the context carried into this first turn of a session."""
        return await self.carried.is_shown(first, state)

    async def carries(self, first: Envelope, state: SessionState) -> bool:
        """Return whether notes of the conversation's other sessions may reach the model in this one."""
        return await self.carried.carries(first, state)

    async def joins(self, edit: Envelope) -> bool:
        """Let an edit wait together with the message that it edits; False when that does not wait."""
        held = await self.held(edit)
        if edit.message_id not in {envelope.message_id for envelope in held}:
            return False
        turn_id = str(held[0].turn_id)
        try:
            await self._services.db.write(
                _mark(turn_id, WAITS, len(held)), self._services.inbox.park(edit, turn_id, WAITS)
            )
        except Conflict:
            return False
        return True

    # --- while messages wait ----------------------------------------------------------------------------------------

    async def held(self, envelope: Envelope) -> list[Envelope]:
        """Return the messages of a conversation that wait for the user's word."""
        return await self._held(envelope, WAITS, WAITS, "")

    def going_on(self, held: Sequence[Envelope]) -> list[Statement]:
        """Return the statement that lets them go on; a Conflict when somebody else did already."""
        return [_mark(str(held[0].turn_id), GOES_ON, len(held))] if held else []

    def release(self, held: Sequence[Envelope]) -> None:
        """Put messages whose mark is committed back into their lane; a crash before it is made up for by `recover`.

        They count as come just now: that a person took their time is no waiting for an answer.
        """
        now_ms = self._services.clock.now_ms()
        for envelope in held:
            self._resubmit(replace(envelope, again=True, received_at_ms=now_ms))

    async def decide(  # the arguments are the fields of POST /continuity/choice
        self,
        owner: BootstrapOwner,
        session_id: str,
        mode: Literal["use", "off"],
        *,
        remember: bool = False,
        skip_preview: bool = False,
        dropped: Sequence[str] = (),
    ) -> SessionChoice:
        """Store the user's word on a session and let the messages that wait for it go on, as one transaction.

        Raises as `Bootstrap.choose` does; `Conflict` when the messages went on meanwhile: nothing was stored.
        """
        services = self._services
        held = await services.inbox.held(services.me, owner.conversation_id, (WAITS, WAITS), "")
        if mode == "off":
            await services.memory.recorder.edit(session_id, isolated)
        choice = await services.memory.bootstrap.choose(
            owner, session_id, mode, remember=remember, skip_preview=skip_preview, dropped=dropped,
            also=self.going_on(held),
        )  # fmt: skip
        self.carried.decided(session_id)
        self.release(held)
        return choice

    async def pass_over(self, held: Sequence[Envelope]) -> bool:
        """Let them go on with nothing carried forward, and tell the user; False when the user's word was first.

        Nothing of other sessions reaches the model until the user asks for it with /continue.
        """
        services, last = self._services, held[-1]
        row = await services.db.read_one("outbox_notice", turn_id=held[0].turn_id)
        shown_at = row["message_id"] if row else None
        with replies.speaking(await language_of(services, last)):
            messages = [OutgoingMessage(replies.say("offer_passed"), edits_message_id=shown_at)] if shown_at else []
        current = await services.memory.recorder.current(last.conversation_id)
        if current is None:
            return False
        try:
            await services.committer.say(
                Target.of(last),
                messages,
                partial(services.memory.recorder.edit, current.session_id, isolated, *self.going_on(held)),
            )
        except Conflict:
            return False
        return True

    async def chosen(self, batch: Sequence[Envelope], state: SessionState, choice: Choice) -> bool:
        """Take a person's own words for a tap on the preview: finish them and let the messages that wait go on.

        False when nothing of theirs waits, or when it went on meanwhile: then nothing was stored.
        """
        services, last = self._services, batch[-1]
        held = await self.held(last)
        if not held or last.user_id is None or any(each.user_id != last.user_id for each in (*held, *batch)):
            return False
        row = await services.db.read_one("outbox_notice", turn_id=held[0].turn_id)
        place = row["message_id"] if row else None
        also = (*(services.inbox.done(envelope) for envelope in batch), *self.going_on(held))
        try:
            with replies.speaking(await language_of(services, last)):
                if choice == "use":
                    shown = await self.carry_on.shown(last, place)
                    await self.carry_on.into(state.session_id, last, also, shown)
                else:
                    await self._start_fresh(last, state.session_id, place, also)
        except Conflict:
            return False
        self.release(held)
        return True

    async def _start_fresh(self, last: Envelope, session_id: str, place: int | None, also: Sequence[Statement]) -> None:
        services = self._services
        message = OutgoingMessage(replies.say("fresh"), edits_message_id=place)
        isolate = partial(services.memory.recorder.edit, session_id, isolated, *also)
        await services.committer.say(Target.of(last), [message], isolate)

    async def recover(self) -> None:
        """Take up messages that waited when the process died: let old ones go on, set the timers of the rest."""
        services = self._services
        for envelope in await services.inbox.held_anywhere(services.me, GOES_ON):
            self.release([envelope])
        waiting = await services.inbox.held_anywhere(services.me, WAITS)
        for _, found in groupby(waiting, key=lambda envelope: envelope.turn_id):
            held = list(found)
            waited_s = (services.clock.now_ms() - held[0].received_at_ms) / 1000
            if waited_s < ANSWER_AFTER_S:
                self._set_timer(held[0], ANSWER_AFTER_S - waited_s)
            else:
                await self.pass_over(held)
                self.release(held)

    async def close(self) -> None:
        """Let go of the timers; the rows wait on."""
        for timer in self._timers.values():
            timer.cancel()
        await asyncio.gather(*self._timers.values(), return_exceptions=True)

    # --- inside -----------------------------------------------------------------------------------------------------

    async def _held(self, where: Envelope, one: str, other: str, turn_id: str) -> list[Envelope]:
        return await self._services.inbox.held(self._services.me, where.conversation_id, (one, other), turn_id)

    async def _says_the_word(self, batch: Sequence[Envelope], state: SessionState) -> bool:
        """Return whether these messages only chose, and so are answered by the messages that they let go on."""
        if len(batch) > 1 or batch[0].third_party:
            return False
        choice = choice_in(batch_text(batch))
        return choice is not None and await self.chosen(batch, state, choice)

    async def _with(self, held: Sequence[Envelope], batch: Sequence[Envelope], turn_id: str) -> Sequence[Envelope]:
        """Let the messages that waited go first, or join those that came; a turn that is begun again finds its own."""
        waiting = [envelope for envelope in held if envelope.turn_id != turn_id]
        if waiting:
            await self.pass_over(waiting)
        joined = any(envelope.turn_id == turn_id for envelope in held)
        alike = all(envelope.user_id == batch[0].user_id for envelope in held)
        if not joined and not (alike and self._services.settings.by_model):
            await self._services.inbox.excuse([turn_id])  # it was not tried yet
            raise Postponed([*(replace(envelope, again=True) for envelope in held), *batch])
        if waiting:
            await self._services.inbox.claim(waiting, turn_id)
        return [*held, *batch]

    async def _is_asked(self, batch: Sequence[Envelope], turn_id: str, state: SessionState) -> bool:
        """Ask the user, or carry forward in silence as they chose; True when the messages wait for their word."""
        services, first = self._services, batch[0]
        session = await services.memory.store.session(state.session_id)
        mine = session is not None and first.user_id is not None and session.user_id == first.user_id
        if session is None or not mine or session.origin != "gap" or any(envelope.again for envelope in batch):
            return False
        if await services.memory.bootstrap.choice(state.session_id) is not None:
            return False
        try:
            owner = await self.carried.owner(first.conversation_id, session.user_id or 0)
            await self._until_noted(first.conversation_id)
            shown = await services.memory.bootstrap.preview(owner)
            if shown.offer == "ask":
                await self._ask(batch, turn_id, owner, state.session_id, shown)
            elif shown.offer != "nothing":
                await services.memory.bootstrap.choose(owner, state.session_id, "use")
            elif shown.mode == "off":
                await services.memory.recorder.edit(state.session_id, isolated)
        except StorageUnavailable:
            raise
        except Exception:
            log.exception("nothing is offered", session_id=state.session_id)
            return False
        return shown.offer == "ask"

    async def _ask(
        self,
        batch: Sequence[Envelope],
        turn_id: str,
        owner: BootstrapOwner,
        session_id: str,
        shown: BootstrapPreview,
    ) -> None:
        """Park the messages, show the preview and store "without" until the user says otherwise, as one transaction."""
        services = self._services
        parks = [services.inbox.park(envelope, turn_id, WAITS) for envelope in batch]
        await services.committer.say(
            Target.of(batch[-1]),
            [offer_message(shown, await self.carry_on.lines(owner, shown), turn_id, ())],
            lambda *rows: services.memory.bootstrap.choose(owner, session_id, "off", also=[*parks, *rows]),
            turn_id=turn_id,
        )
        self._set_timer(replace(batch[0], turn_id=turn_id), ANSWER_AFTER_S)
        log.info("asked what to carry forward", session_id=session_id, arcs=len(shown.arcs))

    async def _until_noted(self, conversation_id: str) -> None:
        """Wait until the session before is noted and read, so that the preview has it; not for long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                await self._services.memory.keeper.read_now(conversation_id)
                await self._services.memory.recorder.settle()

    def _set_timer(self, first: Envelope, seconds: float) -> None:
        key = str(first.turn_id)
        if key in self._timers:
            return
        task = asyncio.create_task(self._after(first, seconds), name=f"offer:{key}")
        self._timers[key] = task
        task.add_done_callback(lambda _: self._timers.pop(key, None))

    async def _after(self, first: Envelope, seconds: float) -> None:
        await asyncio.sleep(seconds)
        try:
            held = [e for e in await self.held(first) if e.turn_id == first.turn_id]
            if held and await self.pass_over(held):
                log.info("answering without the user's word", turn_id=first.turn_id)
                self.release(held)
        except StorageUnavailable as exc:
            log.warning("a message goes on waiting for the user's word", turn_id=first.turn_id, error=str(exc))
            await self._after(first, SETTLE_S)


def _mark(turn_id: str, mark: str, count: int) -> Statement:
    return Statement("inbox_hold", {"turn_id": turn_id, "was": WAITS, "mark": mark}, expect=count)
