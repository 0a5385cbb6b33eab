"""What the user sees of a bootstrap on Telegram: the preview with its buttons. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from memory.continuity.bootstrap import BootstrapPreview

LABEL_CHARS = 36
BULLET = "• "

Rows = tuple[tuple[Button, ...], ...]


def offer_message(
    shown: BootstrapPreview,
    turn_id: str,
    dropped: Sequence[str],
    edits_message_id: int | None = None,
    *,
    editing: bool = False,
) -> OutgoingMessage:
    """Return the question at the start of a session; it says that the message waits for the answer.

    While one edits it, a row for each line that can be left out takes the place of the other choices.
    """
    payload = {"turn_id": turn_id, "dropped": list(dropped)}
    go_on = Button(replies.CARRY_ON if shown.arcs else replies.GO_ON, "carry_on", payload)
    fresh = Button(replies.START_FRESH, "start_fresh", payload)
    if editing and shown.arcs:
        buttons = (*drop_rows(shown, payload), (go_on, _back(payload)))
    elif shown.arcs:
        always = Button(replies.ALWAYS, "carry_always", payload)
        buttons = ((go_on, fresh), (always, _edit(payload)))
    else:
        buttons = ((go_on, fresh),)
    text = f"{shown.text or replies.NOTHING_LEFT}\n\n{replies.ANSWER_WAITS}"
    return OutgoingMessage(text, buttons=buttons, edits_message_id=edits_message_id)


def asked_message(
    shown: BootstrapPreview,
    sessions: Rows,
    dropped: Sequence[str],
    edits_message_id: int | None = None,
    *,
    waits: bool = False,
    editing: bool = False,
) -> OutgoingMessage:
    """Return the answer to /continue: what would be carried forward, then the last sessions, each a button.

    `waits` says that a message of this person waits for the choice.
    """
    payload = {"dropped": list(dropped)}
    carry = Button(replies.CARRY_FORWARD, "carry_on", payload)
    if editing and shown.arcs:
        buttons = (*drop_rows(shown, payload), (carry, _back(payload)))
    else:
        buttons = (*([(carry, _edit(payload))] if shown.arcs else ()), *sessions)
    head = replies.CONTINUE_HEAD_TOO if shown.arcs else replies.CONTINUE_HEAD
    carried = "\n".join((replies.CARRY_HEAD, *bullets(shown.text))) if shown.arcs else ""
    parts = (carried, head if sessions and not editing else "", replies.ANSWER_WAITS if waits else "")
    return OutgoingMessage("\n\n".join(filter(None, parts)), buttons=buttons, edits_message_id=edits_message_id)


def _edit(payload: dict[str, Any]) -> Button:
    return Button(replies.EDIT, "edit_offer", {**payload, "editing": True})


def _back(payload: dict[str, Any]) -> Button:
    return Button(replies.BACK, "edit_offer", {**payload, "editing": False})


def shown_message(shown: BootstrapPreview, edits_message_id: int | None = None) -> OutgoingMessage:
    """Return what says that this is carried forward."""
    text = "\n".join((replies.CARRYING, *bullets(shown.text)))
    return OutgoingMessage(text, edits_message_id=edits_message_id)


def bullets(text: str) -> list[str]:
    """Return the lines of a preview that name what is carried."""
    return [line for line in text.splitlines() if line.startswith(BULLET)]


def drop_rows(shown: BootstrapPreview, payload: dict[str, Any]) -> Rows:
    """Return one row for each arc: a tap leaves it out."""
    return tuple(
        (
            Button(
                replies.DROP.format(title=replies.shorten(arc.title, LABEL_CHARS)),
                "drop_arc",
                {**payload, "arc_id": arc.arc_id},
            ),
        )
        for arc in shown.arcs
    )
