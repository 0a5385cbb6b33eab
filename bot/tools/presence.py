"""Whether somebody is there who can be asked by buttons. Pure."""

from __future__ import annotations

from bot.intake.local import is_local
from bot.reminders.messages import target_of
from bot.tools.tool import Place


def can_be_asked(place: Place) -> bool:
    """Return whether there's somebody with buttons to tap: nobody taps over HTTP."""
    try:
        target = target_of(place.conversation_id, place.user_id)
    except ValueError:
        return False
    return place.user_id is not None and not is_local(target.chat_id)
