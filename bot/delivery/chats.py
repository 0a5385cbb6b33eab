"""The chats that this process works on, and its signals to the other processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from bot.intake.chat_moves import ChatMoves

REMINDERS: Final = "reminders"
PEOPLE: Final = "people"
"""Kinds of news: notes may ring at another time; people or chats were met."""


class Chats(Protocol):
    """The chats of this process among those of all that share the work."""

    def holds(self, conversation_id: str) -> bool:
        """Return whether this process works on the chat of a conversation."""
        ...

    def left(self, conversation_id: str) -> None:
        """Take note that something was written down for a chat that is not held."""
        ...

    def rested(self, conversation_id: str) -> None:
        """Take note that a conversation needs no place any more, or none for a while."""
        ...

    def tell(self, what: str) -> None:
        """Let the others know, behind the current work."""
        ...

    def tell_changed(self, conversation_id: str) -> None:
        """Let the one that holds a chat know that its notes were changed here."""
        ...


class AllChats:
    """Every chat is this process's, and there is nobody to tell anything."""

    def holds(self, _: str) -> bool:
        """Return True."""
        return True

    def left(self, _: str) -> None:
        """Do nothing."""

    def rested(self, _: str) -> None:
        """Do nothing."""

    def tell(self, _: str) -> None:
        """Do nothing."""

    def tell_changed(self, _: str) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Present ids of chats, and those that this process works on."""

    moves: ChatMoves
    chats: Chats
