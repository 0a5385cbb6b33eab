"""The calls of further tools in one attempt at one answer: made, told from before, or asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from bot import replies
from bot.delivery.outbox import OutgoingMessage
from bot.tools import questions
from bot.tools.call import ASKED_FOR_MS, CallRow, definition, did_like, planned, verdict, written
from bot.tools.calls import Calls
from bot.tools.choices import Choices
from bot.tools.presence import can_be_asked
from bot.tools.results import WAITS, text_for_model
from bot.tools.tool import CallContext, NotDone, Place, Tool, chosen_as
from bot.tools.visible import all_visible
from memory.ports import Statement
from memory.types import ToolCall

MOST_QUESTIONS: Final = 5
ENOUGH: Final = "Not done: the person has enough questions to answer. Wait for them."
NEVER: Final = "Not done: the person said [Never] to {name}; only /tools turns it on again."
NOBODY: Final = "Not done: nobody is there who could be asked."


@dataclass(frozen=True, slots=True)
class CallingTurn:
    """The turn for which calls are made."""

    turn_id: str
    place: Place
    time_zone: str
    now_ms: int
    third_party: bool = False
    repeats: tuple[str, ...] = ()
    """The turns that answered the same message before."""
    earlier: tuple[CallRow, ...] = ()
    """Calls that were made for this turn before."""
    said: str = ""
    """The message that is answered, word for word."""
    heard: frozenset[str] = frozenset()
    """The servers whose words stand in the prompt, brought by calls for earlier messages."""

    def context(self, call_id: str = "") -> CallContext:
        """Return the context of a call for its tool."""
        return CallContext(call_id, self.turn_id, self.place, self.time_zone, self.now_ms, self.said)


class TurnCalls:
    """Makes calls for one attempt."""

    def __init__(self, calls: Calls, asked: CallingTurn, max_chars: int) -> None:
        self._calls = calls
        self._asked = asked
        self._max_chars = max_chars
        self._seen: Counter[tuple[str, str]] = Counter()
        self._stored: dict[str, CallRow] | None = None
        """The calls of this turn as they are written down."""
        self._made: set[str] = set()
        """Ids of the calls that this attempt asked for."""
        self._choices = Choices()
        self._questions: dict[str, tuple[CallRow, OutgoingMessage]] = {}
        self._origins = {call.server for call in asked.earlier if call.is_foreign}
        """The servers whose words came in."""
        self.is_foreign = bool(self._origins)
        """True once somebody else's words came in."""

    @property
    def earlier(self) -> tuple[ToolCall, ...]:
        """The calls that the model is told of from the start, as it would have made them."""
        return tuple(
            ToolCall(
                call_id=call.call_id,
                name=call.tool,
                arguments=call.arguments_json,
                result=text_for_model(call, self._max_chars),
            )
            for call in self._asked.earlier
        )

    @property
    def messages(self) -> tuple[OutgoingMessage, ...]:
        """Questions for the person, behind the answer."""
        return tuple(message for _, message in self._questions.values())

    @property
    def effects(self) -> tuple[Statement, ...]:
        """The statements that write the questions down, committed with the turn."""
        return tuple(call.insert(self._asked.now_ms) for call, _ in self._questions.values())

    def drop_questions(self) -> None:
        """Ask the person nothing."""
        self._questions.clear()

    async def make(self, tool: Tool, given: Mapping[str, Any]) -> str:
        """Make one call and return the text for the model. Raises `StorageUnavailable`.

        Invisible signs never go out: the arguments that a person is asked about are those that are sent.
        """
        rows, given = await self._read(), all_visible(given)
        arguments = written(given)
        nth = self._seen[tool.name, arguments]
        self._seen[tool.name, arguments] += 1
        new = planned(tool, self._asked.place, self._asked.turn_id, arguments, nth=nth, now_ms=self._asked.now_ms)
        call_id, stored = new.call_id, rows.get(new.call_id)
        self._made.add(call_id)
        again = await self._is_again(tool, rows)
        try:
            asks = stored is None and tool.asks is not None and await tool.asks(given, self._asked.context(call_id))
        except NotDone as exc:
            return f"Not done: {exc}."
        name = chosen_as(tool, given)
        if asks and self._choices.is_off(name):
            return NEVER.format(name=name)
        found = verdict(tool, stored, allowed=self._may_run(tool, name), again=again, asks=asks)
        if found == "ask":
            return await self._ask(tool, name, new, again=again)
        call = stored or new
        if found == "run":
            context = self._asked.context(call_id)
            call = await self._calls.make(call, tool, context, is_new=stored is None)
        elif found == "doubt":
            call = await self._calls.doubt(call)
        rows[call_id] = call
        if call.has_ended and call.is_foreign:
            self.is_foreign = True
            self._origins.add(call.server)
        return text_for_model(call, self._max_chars)

    async def _read(self) -> dict[str, CallRow]:
        if self._stored is None:
            self._choices = await self._calls.choices.of(self._asked.place)
            found = await self._calls.of_turns([self._asked.turn_id])
            self._stored = {call.call_id: call for call in found}
        return self._stored

    def _may_run(self, tool: Tool, name: str) -> bool:
        """The person lets this run unasked, and nobody else's words are behind the call."""
        return self._choices.always(tool, name) and not self._is_behind_others(tool, name)

    def _is_behind_others(self, tool: Tool, name: str) -> bool:
        """Return whether words of somebody else than its own server may have led to a call."""
        return self._asked.third_party or bool(self._others(tool, name))

    def _others(self, tool: Tool, name: str) -> frozenset[str]:
        """The servers besides its own whose words may have led to a call.

        Pages are no server: any of them may have made up an address. A page read for an earlier message counts while it
        stands in the prompt, since it may have asked to wait for the next one; but not against a choice about one
        site: only that site could have gained by it.
        """
        own = {tool.server} if tool.server else set()
        heard = self._asked.heard if name == tool.name else frozenset()
        return (heard | self._origins) - own

    async def _is_again(self, tool: Tool, rows: Mapping[str, CallRow]) -> bool:
        """Something like it was done for this message: in a turn that it repeats, or before this one was broken off."""
        if tool.runs_unasked or tool.idempotent:
            return False
        broken_off = [call for call_id, call in rows.items() if call_id not in self._made]
        return did_like(broken_off, tool.name) or await self._calls.repeats(self._asked.repeats, tool.name)

    async def _ask(self, tool: Tool, name: str, call: CallRow, *, again: bool) -> str:
        if not can_be_asked(self._asked.place):
            return NOBODY
        waiting = await self._calls.waiting(self._asked.place.conversation_id)
        if any(_is_same(each, call) for each in (*waiting, *(asked for asked, _ in self._questions.values()))):
            return WAITS
        if len(self._questions) >= MOST_QUESTIONS:
            return ENOUGH
        title = replies.say(tool.spoken) if tool.spoken else call.title
        call = replace(call, state="asked", title=title, expires_at_ms=self._asked.now_ms + ASKED_FOR_MS)
        message = questions.consent(
            call,
            self._choices.before(tool),
            definition(tool),
            again=again,
            spared=not self._is_behind_others(tool, name),
            is_behind_others=bool(self._others(tool, name)),
        )
        self._questions[call.call_id] = (call, message)
        return WAITS


def _is_same(one: CallRow, other: CallRow) -> bool:
    return all(getattr(one, name) == getattr(other, name) for name in ("tool", "arguments_json", "user_id"))
