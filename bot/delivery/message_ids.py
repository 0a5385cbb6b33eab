"""The highest message ids known: an unrecorded message of ours has an id just above (DESIGN section 6). Pure."""

from __future__ import annotations

from bot.intake.local import is_local


def scope_of(chat_id: int) -> int:
    """Return which message-id counter a chat uses: supergroups have their own, all others of one bot share one."""
    return chat_id if chat_id < -1_000_000_000_000 else 0  # noqa: PLR2004 - how Telegram numbers supergroups


class HighestMessageIds:
    """The highest message id known, per counter: an unrecorded message of ours has an id just above it."""

    def __init__(self) -> None:
        self._top: dict[int, int] = {}

    def saw(self, chat_id: int, message_id: int | None) -> None:
        """Note a message id that was seen."""
        if message_id is not None and not is_local(chat_id):
            scope = scope_of(chat_id)
            self._top[scope] = max(message_id, self._top.get(scope, 0))

    def top(self, chat_id: int) -> int | None:
        """Return the highest id known on this chat's counter."""
        return self._top.get(scope_of(chat_id))
