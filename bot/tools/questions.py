"""Questions about a call, in plain words, with their buttons. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from bot.tools.call import CallRow
from bot.tools.visible import visible
from memory.text import shorten

MAX_SHOWN: Final = 12
"""Arguments that are shown; of more it's said how many."""
VALUE_CHARS: Final = 300
DESCRIPTION_CHARS: Final = 300
ONCE, ALWAYS, NEVER, AGAIN, LEAVE = "tool_once", "tool_always", "tool_never", "tool_again", "tool_leave"
LOG_IN, LOG_OUT = "tool_log_in", "tool_log_out"


def named(call: CallRow) -> str:
    """Return how a call's tool is called in a sentence: its server, then itself: `board: move card`."""
    title = shorten(visible(call.title), 60)
    return f"{call.server}: {title.replace('_', ' ')}" if call.server else title


def details(call: CallRow) -> str:
    """Return the arguments, one to a line; "" for none."""
    found = list(_lines(call.arguments))
    more = [f"… +{len(found) - MAX_SHOWN}"] if len(found) > MAX_SHOWN else []
    return "\n".join([*found[:MAX_SHOWN], *more])


def _lines(arguments: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for name, value in arguments.items():
        at = f"{path}{name}"
        if isinstance(value, dict) and value:
            yield from _lines(value, f"{at}.")
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            yield f"• {shorten(visible(at), 60)}: {_beginning(visible(text))}"


def _beginning(text: str) -> str:
    """Return the beginning of a value on one line, and how many signs more there are: `milk, bread… (+1741)`."""
    line = " ".join(text.split())
    shown = shorten(line, VALUE_CHARS)
    return shown if shown == line else f"{shown} (+{len(line) - len(shown) + 1})"


def consent(
    call: CallRow,
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    *,
    again: bool,
    spared: bool,
    is_behind_others: bool,
) -> OutgoingMessage:
    """Return the question whether a tool may be used; `before` is its allowed form from before it changed.

    `spared` says that an [Always] would have spared it; words of a page or of another tool may be behind it.
    """
    payload = {"call_id": call.call_id, "runs": 0, "spared": spared and not again}
    lines = [replies.say("tool_ask", tool=named(call)), details(call)]
    if again:
        lines = [replies.say("tool_ask_again", tool=named(call)), details(call)]
    elif is_behind_others:
        lines += ["", replies.say("tool_ask_behind")]
    if before:
        lines += ["", replies.say("tool_changed"), *difference(before, now)]
    yes, no = (("tool_once", ONCE), ("tool_always", ALWAYS)), (("tool_no", LEAVE), ("tool_never", NEVER))
    choices = ((("tool_again", AGAIN), ("tool_leave", LEAVE)),) if again else (yes, no)
    rows = tuple(tuple(Button(replies.say(key), action, payload) for key, action in row) for row in choices)
    return OutgoingMessage("\n".join(filter(None, lines)), buttons=rows)


def doubt(call: CallRow) -> OutgoingMessage:
    """Return the question about a call of which nobody knows whether it happened."""
    payload = {"call_id": call.call_id, "runs": call.runs}
    text = "\n".join(filter(None, (replies.say("tool_doubt", tool=named(call)), details(call))))
    row = (Button(replies.say("tool_again"), AGAIN, payload), Button(replies.say("tool_leave"), LEAVE, payload))
    return OutgoingMessage(text, buttons=(row,))


def login(server: str) -> OutgoingMessage:
    """Return the message that offers somebody to log in at a server."""
    return OutgoingMessage(replies.say("login_ask", server=server), buttons=((login_button(server),),))


def logged_in(server: str) -> OutgoingMessage:
    """Return the message that somebody is in, by a code."""
    return OutgoingMessage(replies.say("login_in_by_code", server=server))


def code_over(server: str) -> OutgoingMessage:
    """Return the message that a code is good for nothing any more."""
    return OutgoingMessage(replies.say("login_code_over", server=server), buttons=((login_button(server),),))


def login_button(server: str) -> Button:
    """Return the statements that begin a login."""
    return Button(replies.say("login_button", server=server), LOG_IN, {"server": server})


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the changes of a tool, a line each."""
    said: list[str] = []
    if before.get("description") != now.get("description"):
        was, is_now = (shorten(visible(str(each.get("description"))), DESCRIPTION_CHARS) for each in (before, now))
        said.append(replies.say("tool_changed_words", before=was, now=is_now))
    old, new = (set((each.get("parameters") or {}).get("properties") or ()) for each in (before, now))
    if new - old:
        said.append(replies.say("tool_changed_new", names=shorten(visible(", ".join(sorted(new - old))), VALUE_CHARS)))
    if old - new:
        said.append(replies.say("tool_changed_gone", names=shorten(visible(", ".join(sorted(old - new))), VALUE_CHARS)))
    if before.get("origin") != now.get("origin"):
        said.append(replies.say("tool_changed_setup"))
    return said or [replies.say("tool_changed_other")]


def outcome(call: CallRow) -> str:
    """Return the text of the question once it's known how the call ended."""
    key = {
        "done": "tool_done",
        "failed": "tool_failed",
        "declined": "tool_declined",
        "expired": "tool_expired",
        "left": "tool_left",
    }.get(call.state, "tool_unsure")
    return "\n".join(filter(None, (replies.say(key, tool=named(call)), details(call))))


def never(call: CallRow, about: str) -> str:
    """Return the text of the question after [Never]: it's for good, about a site where there is one; how to undo it."""
    tool = f"{named(call)} ({about})" if about else named(call)
    return "\n".join(filter(None, (replies.say("tool_declined_for_good", tool=tool), details(call))))


def edit(text: str, message_id: int | None) -> OutgoingMessage:
    """The message that takes the place of a question; a message of its own where nobody knows which one asked."""
    return OutgoingMessage(text, edits_message_id=message_id)
