"""One turn: claim, hydrate, packet, model, commit, delivery (DESIGN section 4)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import structlog
from structlog.contextvars import bound_contextvars

from bot import replies
from bot.answers.responder import Answer, Ask, NoAnswer
from bot.care.care import care
from bot.delivery.local import LocalAnswer
from bot.delivery.outbox import OutgoingMessage
from bot.delivery.streaming import LiveAnswer, mode_for
from bot.files.fetch import NotFetched
from bot.files.hearing.errors import NotHeard
from bot.intake.updates import Envelope, texts
from bot.lines import note_line
from bot.people.spending import Spending, booked, day_budget
from bot.tools.tool import CallContext
from bot.turns.parked import try_again
from bot.turns.services import Services
from bot.turns.steps.answers import Answers
from bot.turns.steps.attachments import FileTurn, Material, has_files, material, unreachable
from bot.turns.steps.commit import HEAD_START_S, Commit, seen
from bot.turns.steps.gate import TurnGate, is_settled
from bot.turns.steps.notices import set_without_model
from bot.turns.steps.question import begin, bounded_for, read_together
from bot.turns.steps.took import Took, of_model
from bot.turns.steps.work import AskedAgain, Made, TurnWork, reply_to
from memory.context.compaction.compactor import nobody_waits
from memory.errors import Outdated
from memory.ports import Statement
from memory.process import faults
from memory.types import SessionState

log = structlog.get_logger(__name__)

MAX_UNSTORED = 256
"""At most this many answers that could not be stored are kept in memory, in case their turn is tried again."""


class Turns:
    """Answers messages; knows which answers are being made."""

    def __init__(
        self,
        services: Services,
        gate: TurnGate,
        until_waiting: Callable[[str], Awaitable[None]] = lambda _: nobody_waits(),
    ) -> None:
        """`until_waiting` returns when an update waits in a conversation behind the current work."""
        self._services = services
        self.gate = gate
        spending = Spending(services.db, day_budget(services.settings))
        self.answers = Answers(services, spending)
        self._commit = Commit(services, gate, spending)
        self._unstored: OrderedDict[str, Made] = OrderedDict()
        """Answers that were made, by turn, until they are stored: none is asked (and paid) for twice (P4)."""
        self.answered = 0
        self._until_waiting = until_waiting

    async def on_turn(
        self,
        batch: Sequence[Envelope],
        turn_id: str,
        *,
        said: AskedAgain | None = None,
        effects: Sequence[Statement] = (),
        claimed: Awaitable[None] | None = None,
    ) -> None:
        """Answer these claimed updates, unless they wait for the user's word (002 phase 1).

        `claimed` is awaited before the gate is asked, and before a model is. `effects` are committed with any end of
        the updates. A crash before the gate is passed leaves them `claimed` (or `received`, when
        their claim was not stored yet); behind it they are parked, or as `_answer` says. Raises as `_answer` does, and
        `Postponed`.
        """
        whole = said or await read_together(self._services, batch)
        if said is not None or care(whole.text):  # nobody in distress waits for a tap on what to carry on
            await self._answer(TurnWork(batch, turn_id, whole, effects, claimed=claimed))
            return
        state = await self._session(batch)
        unchanged = state if is_settled(batch, state) else None
        if claimed and unchanged is None:
            await claimed
        if together := await self.gate.enter(batch, turn_id, state):
            whole = whole if together is batch else await read_together(self._services, together)
            await self._answer(TurnWork(together, turn_id, whole, effects, unchanged, claimed))

    async def _answer(self, work: TurnWork) -> None:
        """Answer these updates; once more when something that the answer was made from was forgotten meanwhile.

        Raises as `_make` does.
        """
        for last_try in (False, True):
            try:
                await self._make(work)
            except Outdated:
                self._unstored.pop(work.turn_id, None)
                if last_try:
                    raise
                log.info("an answer is made again: something of its conversation was forgotten", turn_id=work.turn_id)
                work = replace(work, state=None, claimed=None)
            else:
                return

    async def _make(self, work: TurnWork) -> None:
        """Answer these updates as one turn (`on_turn`).

        A crash leaves behind, line by line:
        before the commit     the updates are `claimed`; the next start answers them again, as the same turn, counted;
                              a preview that was shown is taken up again by its turn id
        in the commit         either nothing of it or all of it: turn, state, snapshot, parts, updates done
        after the commit      the parts are `queued`; the next start sends them, nothing is made again (P4); a session
                              that is over budget is compacted now, or when its next turn begins (by no model)
        Raises Conflict (some of the updates were finished meanwhile), StorageUnavailable and the errors of defects:
        nothing was stored. An answer that was made is kept for the next try of the same turn.
        """
        batch, turn_id, said, target = work.batch, work.turn_id, work.said, work.target
        meters, took = self._services.meters, Took(self._queued_ms(batch))
        with bound_contextvars(turn_id=turn_id, conversation=target.conversation_id), meters.turn(turn_id) as span:
            state = work.state or await self._session(batch)
            span.set(continuity__session_id=state.session_id)
            found = await self._material(work, state)
            if found is None:
                return
            said = bounded_for(self._services, replace(said, text=found.text, material=found))
            work = replace(work, said=said)
            with meters.timed("packet") as took.packet:
                pending, ask = await begin(self._services, self.gate, work, state)
            if work.claimed:
                await work.claimed
            faults.point("turn_packet_built")
            await self._still_at_work()
            if ask.tools:
                context = CallContext("", ask.turn_id, ask.place, ask.time_zone, ask.now_ms)
                ask = replace(ask, earlier=(*said.calls, *await self._services.calls.resume(context, ask.tools)))
            mode = mode_for(self._services.settings.continuity_streaming, private=batch[0].private)
            async with self._services.previews.live(target, turn_id, mode, reply_to(batch)) as live:
                with meters.timed("model") as took.model:
                    before = self._unstored.get(turn_id)
                    outcome = before.answer if before else await self.answers.respond(work, ask, live)
            faults.point("turn_answered")
            if isinstance(outcome, Answer):
                made = before or Made(pending, ask, outcome)
                self._keep(made)
                span.set(**of_model(outcome))
                took.is_second_try = before is not None
                await self._commit.store(work, made, took, live.message_id)
                self.answered += 1
                del self._unstored[turn_id]
            else:
                await self._no_answer(work, ask, outcome, live)
        if isinstance(outcome, Answer):
            await asyncio.sleep(HEAD_START_S)
            waits = partial(self._until_waiting, target.conversation_id)
            await self._services.memory.make_room(pending, hurry=waits)

    async def _material(self, work: TurnWork, state: SessionState) -> Material | None:
        """Return the message with its files; None when it is finished or waits, since they cannot be had or read."""
        batch, turn_id, said, services = work.batch, work.turn_id, work.said, self._services
        if has_files(said.text) and work.claimed:
            await work.claimed
        alone = state.isolated or not await self.gate.carries(batch[0], state)
        turn = FileTurn(turn_id, state, work.target, alone, searches=not said.by_tap)
        try:
            found = await material(services, said.text, turn)
        except (NotFetched, NotHeard) as exc:
            log.warning("a file cannot be read just now", reason=str(exc))
            await services.committer.parked(batch, [unreachable(turn_id, exc)], str(exc), turn_id)
            return None
        if found.is_answer:
            await services.committer.done(batch, found.messages(reply_to(batch)), *work.effects, turn_id=turn_id)
            return None
        return found

    def _queued_ms(self, batch: Sequence[Envelope]) -> int:
        """Return how long the last of these messages waited for its turn to begin."""
        arrived_ms = batch[-1].received_at_ms
        waited_ms = max(0, self._services.clock.now_ms() - arrived_ms) if arrived_ms else 0
        self._services.meters.took("queue", waited_ms / 1000)
        return waited_ms

    def has_answer(self, turn_id: str) -> bool:
        """Return whether the answer of a turn was made and could not be stored: trying again stores it."""
        return turn_id in self._unstored

    def _keep(self, made: Made) -> None:
        self._unstored[made.ask.turn_id] = made
        while len(self._unstored) > MAX_UNSTORED:
            self._unstored.popitem(last=False)

    async def _still_at_work(self) -> None:
        """Return when nobody can have declared this process dead: else the model would be paid twice.

        Raises `StorageUnavailable`, also when that has happened.
        """
        while not self._services.memory.db.owned():
            await self._services.committer.until_stored(self._services.db.write)

    async def _session(self, batch: Sequence[Envelope]) -> SessionState:
        services, first = self._services, batch[0]
        return await services.committer.until_stored(
            lambda: services.memory.session(first.conversation_id, first.user_id, goes_on=bool(first.run_id))
        )

    async def _no_answer(self, work: TurnWork, ask: Ask, reason: NoAnswer, live: LiveAnswer | LocalAnswer) -> None:
        batch, turn_id = work.batch, work.turn_id
        if work.said.by_clock is not None:
            await work.said.by_clock.unanswered(reason, live.message_id)
            return
        log.warning("no answer", reason=reason.reason)
        notes = await set_without_model(self._services, ask, texts(batch))
        what = "\n".join(note_line(note, ask.now_ms, ask.time_zone) for note in notes)
        text = replies.say("model_down_set" if notes else "model_down", why=reason.apology, what=what)
        message = OutgoingMessage(
            text,
            buttons=((try_again(turn_id),),),
            edits_message_id=live.message_id,
        )
        ends = [*booked(ask.user_id, ask.today, reason.uses), *await seen(self._services, ask)]
        await self._services.committer.parked(batch, [message], reason.reason, turn_id, ends)
