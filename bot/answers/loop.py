"""One loop for every provider: a model's tools are run until it answers; nothing half is taken for an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Final

from bot.answers.cost import Usage
from bot.answers.errors import ModelError, broken, garbage
from bot.answers.outcome import Outcome, Prompted
from bot.answers.responder import STOPPED, Show
from bot.answers.tools.calls import WrongCall
from bot.answers.tools.toolbox import Toolbox
from bot.answers.wires.port import GrowingCall, GrowingReply, Round, Wire, WireRequest, last_said, own_words
from bot.tools.web.searching import WEB_SEARCH
from memory.context.transcript import PromptMessage, clip_tool_output
from memory.text import clean
from memory.types import ToolCall

MAX_REQUESTS: Final = 16
"""Requests of one answer: a model that calls tools for ever is stopped."""
WRONG_CALLS: Final = 1
"""So many wrong calls of a tool are forgiven: the model is told the fault and may try again."""
UNSEEN: Final = "[{count} picture(s) came with this message; you can't see pictures.]"
_BLIND: Final = {HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, 422}
"""Statuses by which servers refuse a picture that their model cannot see, or a search that it does not have."""


def nobody_looks(_: str) -> None:
    """Show nothing."""


def nobody_listens() -> None:
    """Tell nobody."""


Require = Callable[[], Awaitable[None]]
"""Called before each request. Raises `ModelError` where no more may be taken."""


async def nothing_required() -> None:
    """Let every request go."""


@dataclass(slots=True)
class Progress:
    """Progress of an answer, for those who wait for it."""

    show: Show = nobody_looks
    """Gets the text so far each time it grows."""
    alive: Callable[[], None] = nobody_listens
    """Called at each sign of life."""
    working: Callable[[], None] = nobody_listens
    """Called when the model has begun to work on the answer, be it with thoughts."""
    begun: bool = False
    """A word was shown, or a tool was called: no other model answers in its place."""
    usage: Usage = field(default_factory=Usage)
    """Everything that was used."""
    tool_usage: Usage = field(default_factory=Usage)
    """Of it, the part that went into going on with the results of tools."""

    def grew(self, text: str) -> None:
        """Show the text so far."""
        self.begun = self.begun or bool(text.strip())
        self.show(text)


@dataclass(slots=True)
class Run:
    """The work done for one answer so far."""

    toolbox: Toolbox
    progress: Progress
    made: list[ToolCall] = field(default_factory=list)
    steps: list[PromptMessage] = field(default_factory=list)
    wrong: int = 0
    said: str = ""
    """The text of responses that their provider only paused."""

    def begin(self, earlier: tuple[ToolCall, ...]) -> tuple[Round, ...]:
        """Count the calls that were made for this answer before, and return them as if the model had just made them."""
        if not earlier:
            return ()
        self.made += earlier
        self.steps.append(PromptMessage("assistant", tool_calls=earlier))
        self.steps += [PromptMessage("tool", tool_calls=(call,)) for call in earlier]
        return (Round(GrowingReply(), earlier),)

    def shown(self, text: str) -> None:
        """Show the text behind the words from before a pause."""
        self.progress.grew(self.said + text)


class ModelLoop:
    """Asks one model over its wire."""

    def __init__(self, wire: Wire, tool_output_max_chars: int, *, searches: bool = False) -> None:
        """`searches` says whether the provider's own search may be used, where it has one."""
        self._wire = wire
        self._searches = searches and wire.searches
        self._has_searched = False
        """Whether a request that offered the search was answered."""
        self._max_chars = tool_output_max_chars
        self.sees: bool | None = None
        """True for a model that sees pictures; None until it was shown one."""

    async def run(
        self, prompted: Prompted, toolbox: Toolbox, progress: Progress, require: Require = nothing_required
    ) -> Outcome:
        """Return the answer, once the model calls no tool any more; of one that the person stops the calls made.

        Raises `ModelError`, and errors of `require`.
        """
        run = Run(toolbox, progress)
        try:
            return await self._answered(prompted, run, require)
        except asyncio.CancelledError as exc:
            if STOPPED not in exc.args:
                raise
            return Outcome("", tuple(run.made), tuple(run.steps), stopped=True)

    async def _answered(self, prompted: Prompted, run: Run, require: Require) -> Outcome:
        toolbox = run.toolbox
        before = run.begin(toolbox.earlier)
        await toolbox.look_again()
        pictures = (*prompted.pictures, *toolbox.pictures)
        asked = WireRequest(prompted.instructions, prompted.messages, pictures, toolbox.offered(), before)
        asked = replace(asked, searches=self._searches)
        if self.sees is False:
            asked = _unseen(asked)
        for _ in range(MAX_REQUESTS):
            await require()
            asked, reply = await self._reply(asked, run)
            await self._note_searches(reply, run)
            if not reply.calls and not reply.paused:
                return await self._outcome(run, reply, blind=bool(prompted.pictures) and not asked.pictures)
            calls = await self._called(reply, run)
            run.said += reply.shown if reply.paused else ""
            asked = replace(asked, rounds=(*asked.rounds, Round(reply, calls)))
            if toolbox.pictures and self.sees is not False:
                asked = replace(asked, pictures=(*prompted.pictures, *toolbox.pictures))
        raise ModelError("Endless", "why_endless", "too many requests for one answer")

    async def price(self, usage: Usage) -> None:
        """Give a usage its cost by the price list."""
        usage.cost = await self._wire.price(usage)

    async def _outcome(self, run: Run, reply: GrowingReply, *, blind: bool) -> Outcome:
        text = run.said + reply.shown
        if not clean(text).strip():
            raise broken("nothing was said")
        return Outcome(text, tuple(run.made), tuple(run.steps), blind=blind)

    async def _note_searches(self, reply: GrowingReply, run: Run) -> None:
        """Keep the provider's own search like a call of a tool: its words are somebody else's."""
        for search in reply.searches:
            given = json.dumps({"query": search.query}, ensure_ascii=False)
            call = _named(GrowingCall(search.search_id, WEB_SEARCH, given), run.made)
            result = clean(await run.toolbox.searched(search.query, search.found))
            told = call.model_copy(update={"result": clip_tool_output(result, self._max_chars)})
            run.made.append(told)
            run.steps += [PromptMessage("assistant", tool_calls=(call,)), PromptMessage("tool", tool_calls=(told,))]

    async def _reply(self, asked: WireRequest, run: Run) -> tuple[WireRequest, GrowingReply]:
        """Return the response, and the request that it answers: without the search where the model refuses it."""
        try:
            answered = await self._reply_seen(asked, run)
        except ModelError as exc:
            if not asked.searches or self._has_searched or exc.status_code not in _BLIND:
                raise
            answered = await self._reply_seen(replace(asked, searches=False), run)
            self._searches = False
        self._has_searched = self._has_searched or answered[0].searches
        return answered

    async def _reply_seen(self, asked: WireRequest, run: Run) -> tuple[WireRequest, GrowingReply]:
        """Return the response, and the request that it answers: without pictures where the model refuses them."""
        try:
            reply = await self._asked(asked, run)
        except ModelError as exc:
            if not asked.pictures or self.sees or exc.status_code not in _BLIND:
                raise
            asked = _unseen(asked)
            reply = await self._asked(asked, run)
            self.sees = False
        self.sees = True if asked.pictures else self.sees
        return asked, reply

    async def _asked(self, asked: WireRequest, run: Run) -> GrowingReply:
        """Return one response; its usage is counted, also when it broke off."""
        usage = Usage()
        try:
            return await reply_to(asked, self._wire, usage, replace(run.progress, show=run.shown))
        finally:
            run.progress.usage.add(usage)
            if asked.rounds:
                run.progress.tool_usage.add(usage)

    async def _called(self, reply: GrowingReply, run: Run) -> tuple[ToolCall, ...]:
        """Make the calls of a response, one after another; return them with the text for the model."""
        calls: list[ToolCall] = []
        for called in reply.calls.values():
            calls.append(_named(called, [*run.made, *calls]))
        if not calls:
            return ()
        run.progress.begun = True
        run.steps.append(PromptMessage("assistant", own_words(reply), tuple(calls)))
        returned: list[ToolCall] = []
        for call in calls:
            done, result = await self._make(call, run.toolbox)
            run.made += [done] if done else []
            run.wrong += done is None
            if run.wrong > WRONG_CALLS:
                raise garbage("a tool was called wrongly again and again")
            told = ToolCall(call_id=call.call_id, name=call.name, result=result)
            run.steps.append(PromptMessage("tool", tool_calls=(told,)))
            returned.append(call.model_copy(update={"result": result}))
            run.progress.alive()
        return tuple(returned)

    async def _make(self, call: ToolCall, toolbox: Toolbox) -> tuple[ToolCall | None, str]:
        """Return the call as it was made, None for a wrong one, and the text for the model."""
        try:
            result = await toolbox.call(call.call_id, call.name, call.arguments)
        except WrongCall as exc:
            return None, clean(str(exc))
        result = clean(result)
        return call.model_copy(update={"result": clip_tool_output(result, self._max_chars)}), result

    async def close(self) -> None:
        """Close the connections to the provider."""
        await self._wire.close()


async def reply_to(asked: WireRequest, wire: Wire, usage: Usage, progress: Progress | None = None) -> GrowingReply:
    """Return one whole response, and add its tokens to `usage`, also when it broke off. Raises `ModelError`."""
    reply, told = GrowingReply(), progress or Progress()
    try:
        async with aclosing(wire.stream(asked, reply)) as pieces:
            async for grew in pieces:
                told.alive()
                if reply.working:
                    told.working()
                if grew:
                    told.show(reply.shown)
    finally:
        usage.add(reply.usage)
    if not reply.finished:
        raise broken("the stream ended before the model said that it was finished")
    return reply


def _unseen(asked: WireRequest) -> WireRequest:
    """Return the request without its pictures, of which the model is told."""
    if not asked.pictures:
        return asked
    at, told = last_said(asked), UNSEEN.format(count=len(asked.pictures))
    messages = list(asked.messages)
    messages[at] = replace(messages[at], text=f"{messages[at].text}\n\n{told}")
    return replace(asked, messages=tuple(messages), pictures=())


def _named(called: GrowingCall, made: Sequence[ToolCall]) -> ToolCall:
    """Return a call with an id that no other call of the turn has; arguments that are no JSON are kept as they are."""
    taken = {each.call_id for each in made}
    wanted = clean(called.call_id) or f"call_{len(made) + 1}"
    call_id = next(i for i in (wanted, *(f"{wanted}_{n}" for n in range(2, len(taken) + 3))) if i not in taken)
    return ToolCall(call_id=call_id, name=clean(called.name), arguments=clean(called.arguments) or "{}", result="")
