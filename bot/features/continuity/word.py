"""A button of the preview that was typed instead of tapped: its very words, in any language of the bot. Pure."""

from __future__ import annotations

from typing import Final, Literal

from bot import replies

Choice = Literal["use", "fresh"]

_LABELS: Final[tuple[tuple[Choice, tuple[str, ...]], ...]] = (
    ("use", ("carry_on", "go_on", "carry_forward")),
    ("fresh", ("start_fresh", "fresh_start")),
)
_ENDS: Final = " .!,…"


def choice_in(text: str) -> Choice | None:
    """Return the choice of a message that is a button's label; None for all else, which is a message like any."""
    bare = text.strip(_ENDS).casefold()
    for choice, labels in _LABELS:
        if any(bare == label.casefold() for key in labels for label in replies.every(key)):
            return choice
    return None
