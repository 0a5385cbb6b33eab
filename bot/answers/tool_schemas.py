"""The model's tools as pydantic-ai knows them: names, arguments and what each is for; `toolbox.py` does the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic_ai import FunctionToolset, RunContext

from bot.answers.tools import Toolbox


@dataclass(frozen=True, slots=True)
class Hand:
    """What a run of the agent is given: the tools of this answer, and its instructions."""

    toolbox: Toolbox
    instructions: str


async def remember(
    context: RunContext[Hand], text: str, kind: Literal["fact", "preference", "decision"] = "fact"
) -> str:
    """Note something about the person that should outlive this conversation.

    Args:
        text: One sentence in the person's own words, for example "My daughter is called Mia".
        kind: What it is.
    """
    return await context.deps.toolbox.remember(text, kind)


async def forget(context: RunContext[Hand], what: str) -> str:
    """Stop using notes about something, when the person asks for it.

    Args:
        what: What the notes are about, in a few words.
    """
    return await context.deps.toolbox.forget(what)


async def take_back(context: RunContext[Hand]) -> str:
    """Take back what you noted or put on the list last, when the person says that it is wrong."""
    return await context.deps.toolbox.take_back()


async def open_loop(
    context: RunContext[Hand], text: str, owner: Literal["user", "assistant"] = "user", due: str | None = None
) -> str:
    """Put something unfinished on the list of open matters: a task, a promise, a question to come back to.

    Args:
        text: What has to be done, for example "send Ben the slides".
        owner: Who has to act.
        due: Until when, if that was said.
    """
    return await context.deps.toolbox.open_loop(text, owner, due)


async def close_loop(
    context: RunContext[Hand], what: str, outcome: Literal["done", "answered", "dropped"] = "done"
) -> str:
    """Take something off the list of open matters.

    Args:
        what: Which matter, in its own words.
        outcome: How it ended.
    """
    return await context.deps.toolbox.close_loop(what, outcome)


async def remind(context: RunContext[Hand], what: str, when: str) -> str:
    """Set a reminder, which comes as a message of its own, once or again and again.

    Args:
        what: What to remind the person of, for example "call Ana".
        when: The time, for example "tomorrow at 9" or "every Monday at 9".
    """
    return await context.deps.toolbox.remind(what, when)


async def list_reminders(context: RunContext[Hand]) -> str:
    """List the reminders that are to come."""
    return await context.deps.toolbox.list_reminders()


async def advance_reminder(context: RunContext[Hand], what: str, when: str) -> str:
    """Give a reminder that is set another time.

    Args:
        what: Which reminder, in its own words.
        when: The new time, for example "6pm" or "Friday at 9".
    """
    return await context.deps.toolbox.advance_reminder(what, when)


async def cancel_reminder(context: RunContext[Hand], what: str) -> str:
    """Take back a reminder that is set.

    Args:
        what: Which reminder, in its own words.
    """
    return await context.deps.toolbox.cancel_reminder(what)


async def search_past(context: RunContext[Hand], query: str) -> str:
    """Search everything that was said here before, when the messages at hand do not tell.

    Args:
        query: Names and words that were probably used.
    """
    return await context.deps.toolbox.search_past(query)


def toolset() -> FunctionToolset[Hand]:
    """Return the tools. They run one after another, so that the same calls always do the same."""
    return FunctionToolset(
        [
            remember,
            forget,
            take_back,
            open_loop,
            close_loop,
            remind,
            list_reminders,
            advance_reminder,
            cancel_reminder,
            search_past,
        ],
        sequential=True,
        id="memory",
    )
