"""One turn: claim, hydrate, packet, model, commit, delivery (DESIGN section 4)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import structlog
from structlog.contextvars import bound_contextvars

from bot import replies
from bot.answers import prompts
from bot.answers.responder import Answer, Ask, NoAnswer
from bot.care.care import care
from bot.delivery.local import LocalAnswer
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.delivery.streaming import LiveAnswer, mode_for
from bot.files.fetch import NotFetched
from bot.files.hearing.errors import NotHeard
from bot.intake.updates import Envelope, batch_text
from bot.lines import note_line
from bot.people.choices import CALLED, MODEL, plain_name
from bot.people.personas import instructions_of
from bot.people.spending import Spending, TurnRate, booked, day_budget
from bot.tools.call import CallRow, heard
from bot.tools.tool import CallContext, Place
from bot.turns.services import Services
from bot.turns.steps import attachments
from bot.turns.steps.attachments import NOTHING, FileTurn, Material
from bot.turns.steps.notices import notices, set_without_model, with_footnotes
from bot.turns.steps.took import Took, of_model
from memory import faults
from memory.context.compaction.compactor import nobody_waits
from memory.context.occasion import Occasion, Prepared, Reserved
from memory.context.transcript import clip_ends, clip_to_tokens
from memory.continuity.packet import GUARDRAILS
from memory.errors import Outdated
from memory.ledger.views import Scope
from memory.pending import PendingTurn
from memory.ports import Statement, TokenCounter
from memory.types import CARE, ConversationTurn, SessionState

log = structlog.get_logger(__name__)

HEAD_START_S = 0.01
"""So much ahead of what is done behind it a reply is sent on its way."""
PILE_CHARS = 16_384
"""More than this is read in a thread; four full messages take 2 ms (`benchmarks/floods.py`, November 2026)."""
CARRIED = " ".join((*GUARDRAILS, "When they ask what you remember or where you left off, tell them."))
"""What stands behind the instructions where notes of earlier conversations are told (001)."""
MAX_UNSTORED = 256
"""At most this many answers that could not be stored are kept in memory, in case their turn is tried again."""


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """What is answered when it is not the text of the updates themselves: /retry, [Answer again]."""

    text: str
    third_party: bool = False
    whole_chars: int = 0
    """How long it was before its middle was left out; 0 when nothing was."""
    repeats: tuple[str, ...] = ()
    """The turns that answered this before."""
    calls: tuple[CallRow, ...] = ()
    """Calls of tools that a tap has decided, whose results are answered."""
    material: Material = NOTHING
    """What its files say, and what the person has to know of them."""


@dataclass(frozen=True, slots=True)
class _TurnWork:
    """One turn to be made."""

    batch: Sequence[Envelope]
    turn_id: str
    said: AskedAgain
    effects: Sequence[Statement] = ()
    """Committed with the end of the updates."""
    state: SessionState | None = None
    """Of the session, when it was read just now and nothing has happened since."""
    claimed: Awaitable[None] | None = None
    """The claim of the updates, when it is still being stored."""

    @property
    def target(self) -> Target:
        return Target.of(self.batch[-1])


@dataclass(frozen=True, slots=True)
class _Made:
    """An answer, and the turn that it completes."""

    pending: PendingTurn
    ask: Ask
    answer: Answer


def bounded(said: AskedAgain, max_tokens: int, counter: TokenCounter) -> AskedAgain:
    """Return what was said with its middle left out when it is too long for one turn; the text itself says so."""
    text = clip_to_tokens(said.text, max_tokens, counter, clip_ends)
    return said if text == said.text else replace(said, text=text, whole_chars=said.whole_chars or len(said.text))


def whole_chars(batch: Sequence[Envelope]) -> int:
    """Return how long these messages were together, 0 when none of them was cut as it came in."""
    if not any(envelope.whole_chars for envelope in batch):
        return 0
    return sum(envelope.whole_chars or len(envelope.text) for envelope in batch)


def sent_at_ms(envelope: Envelope) -> int | None:
    """When a message was sent; None of one that was edited or is answered again, which begins now."""
    return None if envelope.kind == "edit" or envelope.again else envelope.sent_at_ms or None


class Behind(Protocol):
    """What is said under an answer, and what is stored with it."""

    @property
    def messages(self) -> Sequence[OutgoingMessage]:
        """The messages behind the answer."""
        ...

    @property
    def effects(self) -> Sequence[Statement]:
        """Committed with the turn."""
        ...


class TurnGate(Protocol):
    """Decides what is answered now, and what is carried forward into it."""

    async def enter(self, batch: Sequence[Envelope], turn_id: str, state: SessionState) -> Sequence[Envelope]:
        """Return what is answered now, as this turn; nothing when the messages wait for the user's word.

        Raises `Postponed` when others have to be answered before.
        """
        ...

    async def carries(self, first: Envelope, state: SessionState) -> bool:
        """Return whether what other sessions of the conversation noted may reach the model in this one."""
        ...

    async def is_shown(self, first: Envelope, state: SessionState) -> bool:
        """Return whether the chat shows what is carried forward into this first turn of a session."""
        ...

    async def behind(self, first: Envelope, state: SessionState, turn_id: str) -> Behind:
        """Return what is said under the first answer of a session that context was carried into."""
        ...

    async def joins(self, edit: Envelope) -> bool:
        """Let an edit wait together with the message that it edits; False when that does not wait."""
        ...


class Turns:
    """Answers messages; knows which answers are being made."""

    def __init__(self, services: Services, gate: TurnGate) -> None:
        self._services = services
        self.gate = gate
        self._spending = Spending(services.db, day_budget(services.settings))
        self._rate = TurnRate(services.settings.continuity_turns_per_minute_per_user)
        self._running: dict[str, asyncio.Task[Answer]] = {}
        self._stopped: set[str] = set()
        self._unstored: OrderedDict[str, _Made] = OrderedDict()
        """Answers that were made, by turn, until they are stored: none is asked (and paid) for twice (P4)."""
        self.answered = 0
        self.until_waiting: Callable[[str], Awaitable[None]] = lambda _: nobody_waits()
        """Returns when something waits in a conversation behind what is done in it."""

    def stop(self, conversation_id: str) -> bool:
        """Stop the answer that is being made; return False when there is none."""
        task = self._running.get(conversation_id)
        if task is None:
            return False
        self._stopped.add(conversation_id)
        task.cancel()
        return True

    def is_answering(self, conversation_id: str) -> bool:
        """Return True while an answer is being made."""
        return conversation_id in self._running

    async def on_turn(
        self,
        batch: Sequence[Envelope],
        turn_id: str,
        *,
        said: AskedAgain | None = None,
        effects: Sequence[Statement] = (),
        claimed: Awaitable[None] | None = None,
    ) -> None:
        """Answer what was said in these claimed updates, unless they wait for the user's word (002 phase 1).

        `claimed` is awaited before the gate is asked, and before a model is. `effects` are committed with the end of
        the updates, whatever that is. A crash before the gate is passed leaves them `claimed` (or `received`, when
        their claim was not stored yet); behind it they are parked, or as `_answer` says. Raises as `_answer` does, and
        `Postponed`.
        """
        whole = said or await self._said(batch)
        if said is not None or care(whole.text):  # nobody in distress waits for a tap on what to carry on
            await self._answer(_TurnWork(batch, turn_id, whole, effects, claimed=claimed))
            return
        state = await self._session(batch)
        unchanged = state if state.turn_count else None  # the gate asks at the beginning of a session alone
        if claimed and unchanged is None:
            await claimed
        if together := await self.gate.enter(batch, turn_id, state):
            whole = whole if together is batch else await self._said(together)
            await self._answer(_TurnWork(together, turn_id, whole, effects, unchanged, claimed))

    async def _answer(self, work: _TurnWork) -> None:
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

    async def _make(self, work: _TurnWork) -> None:
        """Answer these updates as one turn (`on_turn`).

        What a crash leaves behind, line by line:
        before the commit     the updates are `claimed`; the next start answers them again, as the same turn, counted;
                              a preview that was shown is taken up again by its turn id
        in the commit         either nothing of it or all of it: turn, state, snapshot, parts, updates done
        after the commit      the parts are `queued`; the next start sends them, nothing is made again (P4); a session
                              that is over budget is compacted now, or when its next turn begins (by no model)
        Raises Conflict (some of the updates were finished meanwhile), StorageUnavailable and whatever a defect raises:
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
            said = self._bounded(replace(said, text=found.text, material=found))
            work = replace(work, said=said)
            with meters.timed("packet") as took.packet:
                pending, ask = await self._begin(batch, state, turn_id, said)
            if work.claimed:
                await work.claimed
            faults.point("turn_packet_built")
            await self._still_at_work()
            if ask.tools:
                context = CallContext("", ask.turn_id, ask.place, ask.time_zone, ask.now_ms)
                ask = replace(ask, earlier=(*said.calls, *await self._services.calls.resume(context, ask.tools)))
            mode = mode_for(self._services.settings.continuity_streaming, private=batch[0].private)
            async with self._services.previews.live(target, turn_id, mode, _reply_to(batch)) as live:
                with meters.timed("model") as took.model:
                    before = self._unstored.get(turn_id)
                    outcome = before.answer if before else await self._respond(work, ask, live)
            faults.point("turn_answered")
            if isinstance(outcome, Answer):
                made = before or _Made(pending, ask, outcome)
                self._keep(made)
                span.set(**of_model(outcome))
                took.is_second_try = before is not None
                await self._commit(work, made, live, took)
                del self._unstored[turn_id]
            else:
                await self._no_answer(work, ask, outcome, live)
        if isinstance(outcome, Answer):
            await asyncio.sleep(HEAD_START_S)
            waits = partial(self.until_waiting, target.conversation_id)
            await self._services.memory.make_room(pending, hurry=waits)

    async def _material(self, work: _TurnWork, state: SessionState) -> Material | None:
        """Return the message with its files; None when it is finished or waits, since they cannot be had or read."""
        batch, turn_id, said, services = work.batch, work.turn_id, work.said, self._services
        if attachments.has_files(said.text) and work.claimed:
            await work.claimed
        alone = state.isolated or not await self.gate.carries(batch[0], state)
        try:
            found = await attachments.material(services, said.text, FileTurn(turn_id, state, work.target, alone))
        except (NotFetched, NotHeard) as exc:
            log.warning("a file cannot be read just now", reason=str(exc))
            await services.committer.parked(batch, [attachments.unreachable(turn_id, exc)], str(exc), turn_id)
            return None
        if found.is_answer:
            await services.committer.done(batch, found.messages(_reply_to(batch)), *work.effects, turn_id=turn_id)
            return None
        return found

    async def _said(self, batch: Sequence[Envelope]) -> AskedAgain:
        """Return what these messages say together, as much of it as one turn takes in; a pile is read in a thread."""
        third_party = any(envelope.third_party for envelope in batch)
        said = AskedAgain(batch_text(batch), third_party, whole_chars(batch))
        return await asyncio.to_thread(self._bounded, said) if len(said.text) > PILE_CHARS else self._bounded(said)

    def _bounded(self, said: AskedAgain) -> AskedAgain:
        return bounded(said, self._services.settings.message_tokens, self._services.memory.counter)

    def _queued_ms(self, batch: Sequence[Envelope]) -> int:
        """Return how long the last of these messages waited for its turn to begin."""
        arrived_ms = batch[-1].received_at_ms
        waited_ms = max(0, self._services.clock.now_ms() - arrived_ms) if arrived_ms else 0
        self._services.meters.took("queue", waited_ms / 1000)
        return waited_ms

    def has_answer(self, turn_id: str) -> bool:
        """Return whether the answer of a turn was made and could not be stored: trying again stores it."""
        return turn_id in self._unstored

    def _keep(self, made: _Made) -> None:
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
            lambda: services.memory.session(first.conversation_id, first.user_id)
        )

    async def _begin(
        self, batch: Sequence[Envelope], state: SessionState, turn_id: str, said: AskedAgain
    ) -> tuple[PendingTurn, Ask]:
        """Return the turn that waits for its answer, and what is asked of whoever answers."""
        services, first = self._services, batch[0]
        choices = await services.people.choices(first.user_id)
        own, persona = services.people.zone_in(choices), instructions_of(services.personas.persona_in(choices))
        zone = own if first.private else await services.people.clock(first.conversation_id, first.user_id)
        count, responder = services.memory.counter.count, services.responder
        name = plain_name(choices.get(CALLED) or first.user_name)
        place = Place(first.conversation_id, first.user_id, first.private)
        tools = await services.shelf.offered(place)
        tools_tokens = count(responder.tools())
        carries = await self.gate.carries(first, state)
        scope = Scope(
            persona=services.personas.persona_in(choices).name, session_id=None if carries else state.session_id
        )
        pending = await services.memory.begin(
            first.conversation_id,
            said.text,
            user_id=first.user_id,
            dedupe_key=f"tg:{first.bot_id}:{first.update_id}",
            occasion=Occasion(
                person=name,
                names=None if first.private else services.people.names,
                time_zone=zone.name,
                zone_known=zone.chosen,
                scope=scope,
                said_at_ms=sent_at_ms(batch[-1]),
                third_party=said.third_party,
            ),
            reserved=Reserved(
                tokens=count(responder.preface(persona)) + tools_tokens,
                tools_tokens=tools_tokens,
                bootstrap=CARRIED if carries and services.settings.by_model else "",
                files=said.material.told,
                files_title=said.material.title,
            ),
            # its claim may not be stored yet, and a person waits: no model is asked for a summary
            prepared=Prepared(turn_id=turn_id, state=state, is_new=True, models=False),
        )
        ask = Ask(
            turn_id=turn_id,
            conversation_id=first.conversation_id,
            user_id=first.user_id,
            user_name=name,
            text=said.text,
            state=pending.state,
            packet=pending.packet,
            persona=persona,
            time_zone=zone.name,
            time_zone_chosen=zone.chosen,
            now_ms=services.clock.now_ms(),
            private=first.private,
            group=first.title,
            third_party=said.third_party,
            unsure=said.material.is_unsure,
            past_is_shown=await self.gate.is_shown(first, state),
            cared_for=any(turn.action_name == CARE for turn in services.memory.recorder.at_hand(state.session_id)),
            ledger=await services.memory.ledgers.read(first.conversation_id),
            scope=scope,
            tools=tools,
            repeats=said.repeats,
            news=await services.calls.untold(place, said.calls) if tools else (),
            model=str(choices.get(MODEL) or ""),
            pictures=await attachments.pictures_for(services, said.material, pending.packet),
        )
        counted = count(responder.tools(tools)) if tools else tools_tokens  # further tools take none of the cap
        said_before = await notices(services, ask)
        if said_before or tools:
            pending.packet = pending.packet.model_copy(update={"notices": said_before, "tools_tokens": counted})
        return pending, replace(ask, packet=pending.packet)

    async def _respond(self, work: _TurnWork, ask: Ask, live: LiveAnswer | LocalAnswer) -> Answer | NoAnswer | None:
        """Return the answer, why there is none, or None when the user stopped it. Distress is answered before all.

        A model that was told of it goes on with it: the same words a second time would send the person away.
        """
        caring = care(ask.text)
        if caring and not (ask.cared_for and self._services.settings.by_model):
            return caring
        if not self._rate.admits(ask.user_id, ask.now_ms):
            return NoAnswer("the person has had all turns of this minute", replies.say("why_too_fast"))
        if await self._spending.used_up(ask.user_id, ask.today):
            return NoAnswer("the person's budget for today is used up", replies.say("why_budget"))
        key = ask.conversation_id
        responds = self._services.responder.respond(ask, live.grow)
        steps = self._services.waiting.in_steps(ask.turn_id, work.batch[0], responds)
        task = asyncio.create_task(steps, name=f"respond:{ask.turn_id}")
        self._running[key] = task
        try:
            with self._services.waiting.on(ask.turn_id):
                return await task
        except NoAnswer as reason:
            return reason
        except asyncio.CancelledError:
            if key not in self._stopped:
                raise
            return None
        finally:
            self._running.pop(key, None)
            self._stopped.discard(key)
            task.cancel()

    async def _commit(self, work: _TurnWork, made: _Made, live: LiveAnswer | LocalAnswer, took: Took) -> None:
        """Store the turn with its parts and the end of its updates, then deliver. The one transaction of P4."""
        services, batch, ask, answer = self._services, work.batch, made.ask, made.answer
        near = await self._spending.near(ask.user_id, ask.today, answer.uses)
        message = OutgoingMessage(
            with_footnotes(answer, is_near=bool(near)),
            markdown=True,
            kind="reply",
            reply_to_message_id=_reply_to(batch),
            edits_message_id=live.message_id,
            buttons=answer.buttons,
        )
        behind = await self.gate.behind(batch[0], ask.state, ask.turn_id)
        ends = [*work.effects, *behind.effects, *(services.inbox.done(envelope) for envelope in batch)]
        ends += [*booked(ask.user_id, ask.today, answer.uses), *near]
        ends += attachments.described(work.said.material, answer)
        name, title, zone = plain_name(ask.user_name), plain_name(ask.group), ask.time_zone * ask.time_zone_chosen
        ends += await services.people.seen(ask.conversation_id, ask.user_id, name, title=title, zone=zone)
        figures = took.figures(ask.turn_id, answer, services.clock.now_ms())
        ends += [*heard((*ask.news, *work.said.calls), ask.turn_id), figures, *await self._prompt(made, took)]

        async def store(*rows: Statement) -> ConversationTurn:
            stored = await made.pending.record(
                answer.text,
                *ends,
                *answer.effects,
                *rows,
                tool_calls=answer.tool_calls,
                authored=answer.authored,
                action_name=answer.action_name,
                job_refs=answer.job_refs,
                model=answer.model,
                input_tokens=answer.input_tokens,
                output_tokens=answer.output_tokens,
                change=answer.change,
                operations=answer.operations,
                hand=answer.hand,
            )
            faults.point("turn_committed")
            return stored

        with services.meters.timed("commit"):
            messages = [message, *_notices(work.said), *answer.messages, *behind.messages]
            turn = await services.committer.say(work.target, messages, store, turn_id=ask.turn_id)
        if answer.job_refs or answer.operations:
            services.reminders.look()
        self.answered += 1
        services.meters.turns.inc()
        services.meters.gave(ask.packet)
        told = partial(
            log.info,
            "turn stored",
            session_id=turn.session_id,
            seq=turn.seq,
            model=answer.model,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            prompt_tokens=ask.packet.prompt_tokens,
            instructions_tokens=ask.packet.instructions_tokens,
            tools_tokens=ask.packet.tools_tokens,
            update_ids=[envelope.update_id for envelope in batch],
        )
        asyncio.get_running_loop().call_later(HEAD_START_S, told)

    async def _prompt(self, made: _Made, took: Took) -> list[Statement]:
        """Return what writes down what the model was given, so that it can be looked up; nothing when that is off.

        Nothing either of an answer from before: its prompt may hold what was forgotten since (P13).
        """
        services = self._services
        if not services.settings.continuity_prompts_days or took.is_second_try:
            return []
        ask, responder = replace(made.ask, packet=made.answer.packet or made.ask.packet), services.responder
        originals = await services.memory.assembler.history(ask.state)
        texts = (responder.instructions(ask), responder.tools(ask.tools))
        return prompts.keep(ask, made.answer.steps, texts, originals, services.clock.now_ms())

    async def _no_answer(
        self, work: _TurnWork, ask: Ask, reason: NoAnswer | None, live: LiveAnswer | LocalAnswer
    ) -> None:
        batch, turn_id = work.batch, work.turn_id
        if reason is None:
            message = OutgoingMessage(replies.say("stopped"), edits_message_id=live.message_id)
            await self._services.committer.done(batch, [message], *work.effects, turn_id=turn_id)
            return
        log.warning("no answer", reason=reason.reason)
        notes = await set_without_model(self._services, ask)
        what = "\n".join(note_line(note, ask.now_ms, ask.time_zone) for note in notes)
        text = replies.say("model_down_set" if notes else "model_down", why=reason.apology, what=what)
        message = OutgoingMessage(
            text,
            buttons=((Button(replies.say("try_again"), "answer_parked", {"turn_id": turn_id}),),),
            edits_message_id=live.message_id,
        )
        used = booked(ask.user_id, ask.today, reason.uses)
        await self._services.committer.parked(batch, [message], reason.reason, turn_id, used)


def _notices(said: AskedAgain) -> list[OutgoingMessage]:
    """Return what the person has to know besides the answer."""
    if not said.whole_chars:
        return list(said.material.notices)
    read, whole = replies.number(len(said.text)), replies.number(said.whole_chars)
    return [OutgoingMessage(replies.say("too_long", read=read, whole=whole)), *said.material.notices]


def _reply_to(batch: Sequence[Envelope]) -> int | None:
    """Quote the message in groups, where answers of several people cross."""
    return None if batch[-1].private else batch[-1].message_id
