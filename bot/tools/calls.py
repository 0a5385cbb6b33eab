"""Calls that are made once: written down before the effect and after it, and asked about where nobody knows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

import orjson
import structlog

from bot import replies
from bot.delivery.commit import Committer
from bot.delivery.outbox import OutgoingMessage
from bot.people.choices import PersonalChoices
from bot.reminders.messages import target_of
from bot.tools import questions, results
from bot.tools.call import CallRow, call_of, did_like
from bot.tools.choices import ToolChoices, choices_read
from bot.tools.tool import CallContext, NotDone, Place, Tool, ToolResult
from memory.errors import Conflict
from memory.ports import Clock, Database, Row, Statement, unobserved
from memory.process import faults

log = structlog.get_logger(__name__)

ON_ITS_WAY: Final = frozenset({"queued", "sending"})
"""States of a question that the person has not been sent yet: its message cannot be changed."""
NO_ANSWER: Final = "The tool did not answer ({why})."


class Calls:
    """Makes calls and knows how they ended."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        committer: Committer,
        people: PersonalChoices,
        *,
        boot_id: str,
        longest_s: float,
        behind: Callable[..., object] = unobserved,
    ) -> None:
        """A call ends after `longest_s`, even where its tool allows more; `behind` runs work that nobody waits for."""
        self.db = db
        self.clock = clock
        self.choices = ToolChoices(db, clock)
        self._committer = committer
        self._people = people
        self._boot_id = boot_id
        self._longest_s = longest_s
        self._behind = behind
        self._in_flight: set[str] = set()

    # --- reading ----------------------------------------------------------------------------------------------------

    @staticmethod
    def reads_of_turn(place: Place, turn_id: str) -> list[Statement]:
        """Return the reads of each turn with tools, for `memory.storage.ahead`."""
        return [choices_read(place), _untold_read(place), Statement("tool_calls_of_turn", {"turn_id": turn_id})]

    async def find(self, call_id: str) -> CallRow | None:
        """Return a call, None when it was forgotten. Raises `StorageUnavailable`."""
        row = await self.db.read_one("tool_call_find", call_id=call_id)
        return call_of(row) if row else None

    async def of_turns(self, turn_ids: Collection[str]) -> list[CallRow]:
        """Return the calls of these turns, in order. Raises `StorageUnavailable`."""
        rows = [await self.db.read("tool_calls_of_turn", turn_id=turn_id) for turn_id in turn_ids]
        return [call_of(row) for found in rows for row in found]

    async def waiting(self, conversation_id: str) -> list[CallRow]:
        """Return the calls about which a question stands in a conversation. Raises `StorageUnavailable`."""
        rows = await self.db.read("tool_calls_waiting", conversation_id=conversation_id)
        return [call_of(row) for row in rows]

    async def untold(self, place: Place, but: Sequence[CallRow] = ()) -> tuple[CallRow, ...]:
        """Return the decisions about calls since the model heard last. Raises `StorageUnavailable`."""
        asked, told = _untold_read(place), {each.call_id for each in but}
        rows = await self.db.read(asked.name, **asked.params)
        return tuple(call_of(row) for row in rows if row["call_id"] not in told)

    # --- making -----------------------------------------------------------------------------------------------------

    async def make(self, call: CallRow, tool: Tool, context: CallContext, *, is_new: bool) -> CallRow:
        """Make a call and return its row afterwards.

        A crash leaves behind, line by line:
        before `planned`     nothing
        `planned`            surely not begun: it is made when its turn or tap is worked on again
        `running`            it may have happened: made again where it only reads or takes our key, else asked about
        `done`, `failed`     its end is stored, and told when its turn or tap is worked on again
        Raises `StorageUnavailable`; rows stored by then stand.
        """
        self._in_flight.add(call.call_id)
        try:
            return await self._make(call, tool, context, is_new=is_new)
        except Conflict:  # another process was first
            found = await self.find(call.call_id)
            return found or replace(call, state="declined")
        finally:
            self._in_flight.discard(call.call_id)

    async def _make(self, call: CallRow, tool: Tool, context: CallContext, *, is_new: bool) -> CallRow:
        if tool.ready is not None:
            if is_new:
                call = await self._insert(replace(call, state="planned", boot_id=self._boot_id))
            faults.point("tool_planned")
            try:
                async with asyncio.timeout(self._longest_s):
                    await tool.ready()
            except TimeoutError:
                return await self._failed_before(call, NotDone("it did not start in time"))
            except NotDone as exc:
                return await self._failed_before(call, exc)
            call = await self._begin(call)
        elif is_new:
            call = await self._insert(replace(call, state="running", boot_id=self._boot_id, runs=1))
        else:
            call = await self._begin(call)
        faults.point("tool_running")
        ended = await self._run(call, tool, context)
        faults.point("tool_recorded")
        return ended

    async def _insert(self, call: CallRow) -> CallRow:
        statement = call.insert(self.clock.now_ms())
        (result,) = await self._committer.until_stored(lambda: self.db.write(statement))
        return replace(call, number=result.rows[0]["number"] if result.rows else 0)

    async def _begin(self, call: CallRow) -> CallRow:
        values = {"call_id": call.call_id, "boot_id": self._boot_id, "at_ms": self.clock.now_ms()}
        await self._committer.until_stored(lambda: self.db.write(Statement("tool_call_run", values, expect=1)))
        return replace(call, state="running", boot_id=self._boot_id, runs=call.runs + 1)

    async def _failed_before(self, call: CallRow, why: NotDone) -> CallRow:
        """End a call that surely did not happen; one that was begun before stays in doubt."""
        if call.state == "running" and call.changes:
            return await self.doubt(call)
        values = {"call_id": call.call_id, "boot_id": self._boot_id, "at_ms": self.clock.now_ms()}
        if call.boot_id != self._boot_id:
            await self.db.write(Statement("tool_call_run", values, expect=1))
        ended = ToolResult(str(why), foreign=why.foreign, failed=True)
        return await self._end(replace(call, boot_id=self._boot_id), ended)

    async def _run(self, call: CallRow, tool: Tool, context: CallContext) -> CallRow:
        try:
            result = await self._answer_of(call, tool, context)
        except NotDone as exc:
            result = ToolResult(str(exc), foreign=exc.foreign, failed=True)
        except asyncio.CancelledError:
            if call.changes:
                self._behind(self.doubt(call), "doubt")
            raise
        except Exception as exc:  # noqa: BLE001 - foreign code: whatever it raises costs one result
            why = type(exc).__name__
            log.warning("a tool did not answer", tool=call.tool, error=why)
            if call.changes:
                return await self.doubt(call)
            result = ToolResult(NO_ANSWER.format(why=why), foreign=False, failed=True)
        faults.point("tool_ran")
        return await self._end(call, result)

    async def _answer_of(self, call: CallRow, tool: Tool, context: CallContext) -> ToolResult:
        """Return the text of the tool; one that takes our key is tried once more when it doesn't answer."""
        longest_s = min(tool.longest_s, self._longest_s)
        for is_last in (not tool.idempotent, True):
            try:
                async with asyncio.timeout(longest_s):
                    return await tool.run(call.arguments, context)
            except NotDone:
                raise
            except Exception:
                if is_last:
                    raise
        raise AssertionError("the last try returns or raises")

    async def _end(self, call: CallRow, result: ToolResult) -> CallRow:
        ended = replace(
            call,
            state="failed" if result.failed else "done",
            result=results.storable_text(result.text),
            is_foreign=result.foreign,
        )
        values = {
            "call_id": call.call_id,
            "boot_id": self._boot_id,
            "state": ended.state,
            "result": ended.result,
            "is_foreign": int(ended.is_foreign),
            "cost_nanodollars": result.cost_nanodollars,
            "at_ms": self.clock.now_ms(),
        }
        await self._committer.until_stored(lambda: self.db.write(Statement("tool_call_end", values, expect=1)))
        return ended

    # --- doubts -----------------------------------------------------------------------------------------------------

    async def doubt(self, call: CallRow) -> CallRow:
        """Write down that nobody knows whether a call happened, and ask the person: one transaction, once."""
        values = {"call_id": call.call_id, "at_ms": self.clock.now_ms()}
        try:
            await self._committer.write(
                target_of(call.conversation_id, call.user_id),
                [questions.doubt(call)],
                Statement("tool_call_doubt", values, expect=1),
                turn_id=call.turn_id,
            )
        except Conflict:  # it's asked about already
            return await self.find(call.call_id) or call
        return replace(call, state="unknown")

    async def settle(self, alive: Collection[str]) -> None:
        """Ask about calls that dead processes had begun; `alive` are the living ones. Raises `StorageUnavailable`."""
        for row in await self.db.read("tool_calls_running"):
            call = call_of(row)
            if call.changes and call.boot_id not in alive and not faults.without("tool_doubt"):
                with replies.speaking(await self._people.language(call.conversation_id, call.user_id)):
                    await self.doubt(call)

    async def say(self, place: Place, message: Callable[[], OutgoingMessage], *effects: Statement) -> None:
        """Send a person a message beside the answer, in their language, in one transaction with its `effects`.

        Raises `Conflict` and `StorageUnavailable`.
        """
        with replies.speaking(await self._people.language(place.conversation_id, place.user_id)):
            await self._committer.write(target_of(place.conversation_id, place.user_id), [message()], *effects)

    def is_left(self, call: CallRow) -> bool:
        """Return whether a call that was begun is made by nobody any more, as far as this process knows."""
        return call.state in {"planned", "running"} and call.call_id not in self._in_flight

    async def resume(self, context: CallContext, tools: Sequence[Tool]) -> list[CallRow]:
        """Return the calls of a turn that was broken off, those that may be made again made to their end.

        Raises `StorageUnavailable`.
        """
        by_name = {tool.name: tool for tool in tools}
        found = []
        for call in await self.of_turns([context.turn_id]):
            tool, at = by_name.get(call.tool), replace(context, call_id=call.call_id)
            if not self.is_left(call):
                found.append(call)
            elif call.state == "running" and call.changes and not faults.without("tool_doubt"):
                found.append(await self.doubt(call))
            elif tool is not None:
                found.append(await self.make(call, tool, at, is_new=False))
        return [call for call in found if call.state != "asked"]

    # --- questions --------------------------------------------------------------------------------------------------

    async def run_out(self) -> None:
        """Close the questions that nobody answered, and let their messages say so. Raises `StorageUnavailable`."""
        for row in await self.db.read("tool_calls_run_out", now_ms=self.clock.now_ms()):
            call = call_of(row)
            shown = await self._question(call)
            if shown and shown["state"] in ON_ITS_WAY:
                continue
            with replies.speaking(await self._people.language(call.conversation_id, call.user_id)):
                text = questions.outcome(replace(call, state="expired"))
            message = questions.edit(text, shown["message_id"] if shown else None)
            try:
                target = target_of(call.conversation_id, call.user_id)
                await self._committer.write(target, [message], self.close(call, "expired"), turn_id=call.turn_id)
            except Conflict:  # tapped at the last moment
                continue

    async def beside(
        self, call: CallRow, *, spared: bool = False, again: bool = False
    ) -> list[tuple[CallRow, int | None]]:
        """Return the other calls of a tool about which its person is asked, each with the message that asks.

        A question that is still on its way is left: its message cannot be changed yet.

        With `spared` only those that an [Always] would have spared: they asked neither because of somebody else's words
        nor whether to do it once more. With `again`, when a tap is worked on once more, also those that it had begun to
        settle: their messages may still ask. Raises `StorageUnavailable`.
        """
        found = []
        rows = await self.db.read("tool_calls_allowed", conversation_id=call.conversation_id) if again else []
        for each in (*await self.waiting(call.conversation_id), *map(call_of, rows)):
            if (each.tool, each.user_id) == (call.tool, call.user_id) and each.call_id != call.call_id:
                shown = await self._question(each)
                if shown and shown["state"] in ON_ITS_WAY:
                    continue
                if not spared or (shown and orjson.loads(shown["payload_json"]).get("spared")):
                    found.append((each, shown["message_id"] if shown else None))
        return found

    async def _question(self, call: CallRow) -> Row | None:
        here = {"conversation_id": call.conversation_id, "turn_id": call.turn_id, "call_id": call.call_id}
        return await self.db.read_one("tool_question_shown", **here)

    def plan(self, call: CallRow) -> Statement:
        """The statement that the person said yes; a `Conflict` when the call was settled in another way meanwhile."""
        values = {"call_id": call.call_id, "was": call.state, "boot_id": self._boot_id}
        return Statement("tool_call_plan", values, expect=1)

    def close(self, call: CallRow, state: str) -> Statement:
        """The statement that a call is not made; a `Conflict` when it was settled in another way meanwhile."""
        values = {"call_id": call.call_id, "was": call.state, "state": state, "at_ms": self.clock.now_ms()}
        return Statement("tool_call_close", values, expect=1)

    async def repeats(self, turn_ids: Collection[str], tool: str) -> bool:
        """Return whether such a call changed something in one of these turns. Raises `StorageUnavailable`."""
        return did_like(await self.of_turns(turn_ids), tool) if turn_ids else False


def _untold_read(place: Place) -> Statement:
    return Statement("tool_calls_untold", {"conversation_id": place.conversation_id, "user_id": place.user_id})
