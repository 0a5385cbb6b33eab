"""Work on a batch from a lane: claim it, do it, and when it fails again and again put it aside (P3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

import structlog

from bot import replies
from bot.delivery.after_failure import backoff_s
from bot.delivery.outbox import OutgoingMessage
from bot.intake.updates import Envelope
from bot.tasks.task import given_up
from bot.tools.mcp.login.pasted import pasted
from bot.turns.buttons import Buttons
from bot.turns.feature import Command
from bot.turns.group_word import GroupWord
from bot.turns.lanes import Postponed
from bot.turns.model_waits import is_given_up
from bot.turns.parked import try_again
from bot.turns.services import Services, language_of, reads_ahead
from bot.turns.steps.correction import head_of
from bot.turns.steps.edit import Edits
from bot.turns.steps.reaction import keep_reaction
from bot.turns.steps.unanswered import UnansweredMessages
from bot.turns.turn import Turns
from bot.turns.waiting import Do
from memory.errors import Conflict, Fenced, StorageUnavailable
from memory.process import faults
from memory.storage.ahead import apart, let_go

log = structlog.get_logger(__name__)

GONE = ("kicked", "left")
BY_NOBODY = ("task", "addition")
"""Kinds with which nobody writes to the chat."""
POSTPONED_S = 10.0
"""So long a lane rests when the disk takes nothing at all."""


COMMAND_CHARS = 32
LIKE = 0.75


def unknown_command(said: str, known: Collection[str]) -> str:
    """Return the answer to a command that is none, with the one that was probably meant."""
    near = get_close_matches(said.lower(), [*known, *replies.MEANT_COMMANDS], n=1, cutoff=LIKE)
    like = replies.MEANT_COMMANDS.get(near[0], near[0]) if near else ""
    if like in known:
        return replies.say("unknown_command_like", command=said, like=like)
    return replies.say("unknown_command", command=said)


Take = Callable[[Sequence[Envelope]], Awaitable[Sequence[Envelope]]]


async def take_nothing(batch: Sequence[Envelope]) -> Sequence[Envelope]:
    """Return the whole batch."""
    return batch


class Dispatch:
    """The work function of the lanes."""

    def __init__(
        self,
        services: Services,
        turns: Turns,
        commands: Mapping[str, Command],
        taps: Buttons,
        run_task: Command,
        *,
        take: Take = take_nothing,
    ) -> None:
        """`take` takes addresses that end a login out of a batch, and returns the others."""
        self._services = services
        self._turns = turns
        self._commands = commands
        self._taps = taps
        self._run_task = run_task
        self._take = take
        self._group_word = GroupWord(services)
        reaction = partial(keep_reaction, services.db, services.committer)
        edits = Edits(services, turns.gate, turns.has_answer)
        self._others: dict[str, Command] = {
            "command": self._command,
            "tap": self._taps.run,
            "reaction": reaction,
            "edit": edits.take,
            "addition": edits.take,
        }
        self._unanswered = UnansweredMessages(services, turns.has_answer)
        self._told: set[int] = set()
        """Chats that know that nothing can be stored just now."""
        self._suspects = asyncio.Lock()
        """Held by a turn in which a process died before: the next death is that of one turn, and no other is blamed."""

    async def work(self, batch: Sequence[Envelope], do: Do | None = None) -> None:
        """Work on a batch until it is done, parked or quarantined; with `do`, do that (its tap is claimed already).

        Raises Postponed when the disk takes nothing at all, and when something else has to be answered before: the
        batch stays at the head of its lane. Otherwise only a defect of the last resort raises.
        """
        new_id, untold = self._services.ids.new("t"), self._services.previews.untold
        turn_id = batch[0].turn_id or new_id
        untold.add(new_id)
        try:
            if batch[0].kind not in BY_NOBODY:
                await self._services.delivery.reachable(batch[0].bot_id, batch[0].chat_id)
            ahead = await reads_ahead(self._services, [replace(envelope, turn_id=turn_id) for envelope in batch])
            with ahead.at_hand(), replies.speaking(await language_of(self._services, batch[-1])):
                batch = await self._with_unanswered(batch) if do is None else batch
                turn_id = batch[0].turn_id or turn_id
                batch = [replace(envelope, turn_id=turn_id) for envelope in batch]
                async with self._suspects if batch[0].attempts else nullcontext():
                    await self._services.waiting.in_steps(turn_id, batch[0], self._work(batch, turn_id, do))
                await self._group_word.say_once(batch[-1])
        finally:
            untold.discard(new_id)

    async def _with_unanswered(self, batch: Sequence[Envelope]) -> Sequence[Envelope]:
        """Return the batch with the messages that it takes up; alone when the disk refuses that: its own turn tells."""
        try:
            return await self._unanswered.with_these(batch)
        except StorageUnavailable as exc:
            log.warning("unanswered messages wait on", error=str(exc))
            return batch

    async def _work(self, batch: Sequence[Envelope], turn_id: str, do: Do | None) -> None:
        claimed = do is not None
        try:
            while batch:
                batch = await self._attempt(batch, turn_id, do, claimed=claimed)
                claimed = False
            self._told.clear()
        except Fenced as exc:  # the process that has taken over does it
            update_ids = [each.update_id for each in batch]
            log.error("left to another process", error=str(exc), update_ids=update_ids)  # noqa: TRY400 - expected
        except StorageUnavailable as exc:
            await self._refused(batch, turn_id, exc)

    async def _attempt(
        self, batch: Sequence[Envelope], turn_id: str, do: Do | None, *, claimed: bool
    ) -> Sequence[Envelope]:
        """Carry out the batch; return the updates to be tried again: all of it when it failed, nothing when not.

        Updates that somebody else finished meanwhile are left out, and only they.
        """
        attempts = max(envelope.attempts for envelope in batch)
        try:
            if is_given_up(attempts, max(envelope.waits for envelope in batch)):
                await self._quarantine(batch, turn_id, attempts)
            elif do is not None and claimed:
                await do(batch[0])
            else:
                await self._claimed(batch, turn_id, do)
        except (StorageUnavailable, Postponed):
            raise
        except Conflict as exc:
            left = await self._services.inbox.still_open(batch)
            log.info("finished already", update_ids=[each.update_id for each in batch if each not in left])
            return left if len(left) < len(batch) else await self._failed(batch, attempts, exc)
        except Exception as exc:  # noqa: BLE001 - counted, and put aside in the end (P3)
            return await self._failed(batch, attempts, exc)
        return ()

    async def _failed(self, batch: Sequence[Envelope], attempts: int, error: Exception) -> list[Envelope]:
        """Log a failed attempt, wait, and return the batch with the attempt counted."""
        update_ids = [envelope.update_id for envelope in batch]
        log.error("work failed", update_ids=update_ids, attempt=attempts + 1, exc_info=error)
        self._services.meters.tried_again()
        let_go()
        await self._services.pauses.rest(backoff_s(attempts))
        return [replace(envelope, attempts=attempts + 1) for envelope in batch]

    async def _claimed(self, batch: Sequence[Envelope], turn_id: str, do: Do | None) -> None:
        """Claim the updates, then work on them.

        The packet of a turn is gathered while its claim is stored; nothing is asked, said or stored before. A death in
        that moment is an attempt that nobody counted: so only updates that came in just now are worked on like this,
        and the next start, which finds them unfinished, waits for each claim (P3).
        """
        is_turn = do is None and batch[0].kind == "text"
        if is_turn:
            await self._services.responder.warm()  # slow at first; a death meanwhile is no attempt
        with self._services.waiting.at_work(turn_id):
            with apart():
                claimed = asyncio.create_task(self._claim(batch, turn_id), name=f"claim:{turn_id}")
            try:
                await asyncio.sleep(0)  # it is on its way to the disk before the packet takes the loop
                if not is_turn or not all(each.fresh for each in batch):
                    await claimed
                work = partial(do, batch[0]) if do is not None else partial(self._do, batch, turn_id, claimed)
                await self._services.committer.until_stored(work)  # what is read may be refused as well
            except asyncio.CancelledError:
                claimed.cancel()  # a stop doesn't wait for a disk that takes nothing
                raise
            finally:
                await asyncio.gather(claimed, return_exceptions=True)

    async def _claim(self, batch: Sequence[Envelope], turn_id: str) -> None:
        await self._services.committer.until_stored(partial(self._services.inbox.claim, batch, turn_id))
        faults.point("turn_claimed")

    async def _refused(self, batch: Sequence[Envelope], turn_id: str, error: StorageUnavailable) -> None:
        """Let the person know that something could not be stored, and their updates wait for [Try again].

        When the disk does not take that either, they are told without writing it down, once, and the work is postponed
        (P10): it goes on by itself when there is room.
        """
        services, last = self._services, batch[-1]
        log.error("storage refuses", error=str(error), update_ids=[envelope.update_id for envelope in batch])
        try:
            edits_message_id = await services.delivery.preview(turn_id)
            message = OutgoingMessage(
                replies.say("storage_refused"), buttons=((try_again(turn_id),),), edits_message_id=edits_message_id
            )
            await services.committer.refused(batch, message, str(error)[:300], turn_id)
        except Conflict:
            return
        except StorageUnavailable as exc:
            if last.chat_id not in self._told:
                self._told.add(last.chat_id)
                await services.delivery.say_now(last.chat_id, last.thread_id, replies.say("storage_down"))
            raise Postponed(batch, POSTPONED_S) from exc

    async def _do(self, batch: Sequence[Envelope], turn_id: str, claimed: Awaitable[None]) -> None:
        if batch[0].kind == "text" and any(pasted(each.text) for each in batch):
            await claimed
            batch = await self._take(batch)
        if batch:
            await self._do_one(batch, turn_id, claimed)

    async def _do_one(self, batch: Sequence[Envelope], turn_id: str, claimed: Awaitable[None]) -> None:
        head = await head_of(self._services, batch, claimed)
        if head.kind == "text":
            await self._turns.on_turn(batch, turn_id, claimed=claimed)
        elif work := self._others.get(head.kind):
            await work(head)
        elif head.kind == "task":
            await self._run_task(head)
        elif head.kind == "media":
            named = f"media_names.{head.text}"
            other = replies.say("media_other", what=head.text.replace("_", " "))
            what = replies.say(named) if replies.known(named) else other
            await self._services.committer.done([head], [OutgoingMessage(replies.say("only_text", what=what))])
        elif head.kind == "unreadable":
            message = OutgoingMessage(replies.say("unreadable"))
            await self._services.committer.quarantined([head], [message], "it cannot be read", turn_id)
        else:
            await self._membership(head)

    async def _command(self, envelope: Envelope) -> None:
        command = self._commands.get(envelope.command)
        if command is not None:
            await command(envelope)
            return
        unknown = OutgoingMessage(unknown_command(envelope.command[:COMMAND_CHARS], self._commands))
        await self._services.committer.done([envelope], [unknown] if envelope.private else [])

    async def _membership(self, envelope: Envelope) -> None:
        log.info("membership changed", chat_id=envelope.chat_id, status=envelope.text)
        if envelope.text in GONE:
            self._services.delivery.unreachable[envelope.chat_id] = f"the bot is {envelope.text} there"
        await self._services.committer.done([envelope], [])

    async def _quarantine(self, batch: Sequence[Envelope], turn_id: str, attempts: int) -> None:
        log.error("quarantined", update_ids=[envelope.update_id for envelope in batch], turn_id=turn_id)
        services, runs = self._services, [envelope.run_id for envelope in batch if envelope.run_id]
        text = replies.say("task_set_aside" if runs else "quarantined")
        message = OutgoingMessage(text, edits_message_id=await services.delivery.preview(turn_id))
        ends = [given_up(run_id, services.clock.now_ms()) for run_id in runs]
        await services.committer.quarantined(batch, [message], f"{attempts} attempts failed", turn_id, ends)
