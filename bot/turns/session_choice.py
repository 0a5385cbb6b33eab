"""How sessions are named to people. Pure."""

from __future__ import annotations

from bot import replies

TITLE_CHARS = 48


def label(title: str, turn_count: int, elapsed_ms: int, *, current: bool) -> str:
    """Return one line about a session, short enough for a button."""
    when = replies.say("current") if current else replies.ago(elapsed_ms)
    name = replies.shorten(title or replies.say("untitled"), TITLE_CHARS)
    return f"{name} · {replies.counted(turn_count, 'message')} · {when}"
