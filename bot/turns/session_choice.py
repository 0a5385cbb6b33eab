"""How sessions are named to people. Pure."""

from __future__ import annotations

from bot import replies

TITLE_CHARS = 48


def label(title: str, turn_count: int, ago: str, *, current: bool) -> str:
    """Return one line about a session, short enough for a button; `ago` is when its last turn was, in words."""
    when = replies.say("current") if current else ago
    name = replies.shorten(title or replies.say("untitled"), TITLE_CHARS)
    return f"{name} · {replies.counted(turn_count, 'message')} · {when}"
