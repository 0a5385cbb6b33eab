"""Updates that wait for the bot: numbered, delivered again and again until confirmed."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.playground.bot_api.rules import Json

FIRST_UPDATE_ID = 100_000_001
LIMIT_MAX = 100
_ONLY_WHEN_ASKED = {"chat_member", "message_reaction", "message_reaction_count"}


@dataclass(slots=True)
class Updates:
    """The queue of one bot. An update leaves it when a poll with a higher offset, or a webhook's 200, confirms it."""

    waiting: list[Json] = field(default_factory=list)
    next_id: int = FIRST_UPDATE_ID
    allowed: list[str] = field(default_factory=list)

    def add(self, update: Json) -> int:
        """Give the update its id and keep it if the bot wants its kind; return the id."""
        update = {"update_id": self.next_id, **update}
        self.next_id = update["update_id"] + 1
        kind = next((name for name in update if name != "update_id"), "")
        if kind in self.allowed or (not self.allowed and kind not in _ONLY_WHEN_ASKED):
            self.waiting.append(update)
        return int(update["update_id"])

    def confirm(self, offset: int) -> bool:
        """Drop updates older than `offset` (negative: keep so many of the newest); return whether there were any."""
        before = len(self.waiting)
        if offset < 0:
            self.waiting = self.waiting[offset:]
        elif offset > 0:
            self.waiting = [update for update in self.waiting if update["update_id"] >= offset]
        return len(self.waiting) != before

    def batch(self, limit: int) -> list[Json]:
        """Return the oldest updates that wait; they keep waiting."""
        return self.waiting[: max(1, min(limit, LIMIT_MAX))]

    def is_waiting(self, update_id: int) -> bool:
        """Whether the bot has not confirmed the update yet."""
        return any(update["update_id"] == update_id for update in self.waiting)
