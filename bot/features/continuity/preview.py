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
    shown: BootstrapPreview, turn_id: str, dropped: Sequence[str], edits_message_id: int | None = None
) -> OutgoingMessage:
    """Return the question at the start of a session, with a row for each arc that can be dropped."""
    payload = {"turn_id": turn_id, "dropped": list(dropped)}
    first = (Button(replies.CARRY_ON if shown.arcs else replies.GO_ON, "carry_on", payload),)
    fresh = (Button(replies.START_FRESH, "start_fresh", payload),)
    always = ((Button(replies.ALWAYS, "carry_always", payload),),) if shown.arcs else ()
    buttons = ((*first, *fresh), *always, *drop_rows(shown, payload))
    return OutgoingMessage(shown.text or replies.NOTHING_LEFT, buttons=buttons, edits_message_id=edits_message_id)


def asked_message(
    shown: BootstrapPreview, sessions: Rows, dropped: Sequence[str], edits_message_id: int | None = None
) -> OutgoingMessage:
    """Return the answer to /continue: what would be carried forward, then the last sessions, each a button."""
    payload = {"dropped": list(dropped)}
    carry = ((Button(replies.CARRY_FORWARD, "carry_on", payload),), *drop_rows(shown, payload)) if shown.arcs else ()
    head = replies.CONTINUE_HEAD_TOO if shown.arcs else replies.CONTINUE_HEAD
    text = "\n\n".join(filter(None, ("\n".join(bullets(shown.text)), head if sessions else "")))
    if shown.arcs:
        text = f"{replies.CARRY_HEAD}\n{text}"
    return OutgoingMessage(text, buttons=(*carry, *sessions), edits_message_id=edits_message_id)


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
