"""An update as the bot works on it: the envelope, whose conversation it belongs to, and several said together. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from bot.intake.media import SentFile
from memory.foreign import has_foreign

Kind = Literal["text", "edit", "command", "tap", "media", "membership", "reaction", "addition", "task", "unreadable"]
LONG_PIECE_CHARS = 3900
"""Telegram clients cut a long paste into messages of 4096; a piece this long is probably not the last."""
LOOKS = frozenset({
    "context", "files", "help", "jobs", "loops", "memory", "privacy", "reminders", "sessions", "status", "summary",
    "tasks", "usage",
})  # fmt: skip
"""Commands that change no more than a tap on [More] does: they show something."""
ALLOWED_UPDATES = ("message", "edited_message", "callback_query", "my_chat_member", "message_reaction", "poll")


@dataclass(frozen=True, slots=True)
class Me:
    """The bot's own identity, from getMe."""

    bot_id: int
    username: str
    origins: Mapping[int, int] = field(default_factory=dict, compare=False)
    """Supergroups that were groups before: the number in their conversation's key (`bot.intake.chat_moves`)."""
    earlier: Mapping[int, int] = field(default_factory=dict, compare=False)
    """Supergroups with a conversation of their own: the number of the one of before, which is kept beside it."""
    hears_all: bool = False
    """Whether its privacy mode is off: Telegram hands it everything that is written in groups it is added to."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One update with everything that the lanes and handlers need to know about it."""

    bot_id: int
    update_id: int
    conversation_id: str
    chat_id: int
    thread_id: int | None
    private: bool
    kind: Kind
    user_id: int | None = None
    user_name: str = ""
    language: str | None = None
    title: str = ""
    """The group's name; "" in private."""
    text: str = ""
    command: str = ""
    arguments: str = ""
    message_id: int | None = None
    callback_id: str = ""
    button_id: str = ""
    third_party: bool = False
    sent_at_ms: int = 0
    turn_id: str | None = None
    attempts: int = 0
    received_at_ms: int = 0
    waits: int = 0
    """Number of deaths of the process for which the update is not to blame: its turn waited for the model, or was not
    alone at work."""
    behind: int | None = None
    """The update before it in its conversation, which any worker may have written down, when that was not finished."""
    fresh: bool = False
    """True when this process took it in just now; False when an earlier one, or another, left it unfinished."""
    person: str = ""
    """Whose share of the places a message over HTTP takes; "" is that of all who do not say."""
    digest: int | None = None
    """Of the whole request over HTTP; the same key with another one is another message."""
    whole_chars: int = 0
    """Length of the text before its middle was left out; 0 when it is whole."""
    again: bool = False
    """True when the user tapped [Try again] or [Answer now]: no further question is asked."""
    files: tuple[SentFile, ...] = ()
    """Files of the message, and of the one that it replies to; each has its line in the text."""
    replies_to: int | None = None
    """The message of ours that it replies to."""
    album: str = ""
    """Telegram's id of the album that the message belongs to; "" for none."""
    poll_id: str = ""
    """The poll that came with the message, unless that is over; or the one that has ended."""
    run_id: str = ""
    """The run of a task that the clock began (`bot.tasks`)."""

    @property
    def urgent(self) -> bool:
        """True when the update must not wait behind a running answer."""
        return self.kind == "tap" or (self.kind == "command" and self.command == "stop")

    @property
    def only_looks(self) -> bool:
        """True for a command that only shows something: it may be answered beside work that takes long."""
        return self.kind == "command" and self.command in LOOKS

    @property
    def mergeable(self) -> bool:
        """True when it may become one turn with its neighbours; a reply to words of ours is a matter of its own."""
        return self.kind in ("text", "edit") and (self.replies_to is None or is_cut(self.text))


def conversation_key(bot_id: int, chat_id: int, thread_id: int | None) -> str:
    """Return `tg:<bot_id>:<chat_id>:<thread_id or 0>`."""
    return f"tg:{bot_id}:{chat_id}:{thread_id or 0}"


def earlier_key(me: Me, chat_id: int) -> str | None:
    """Return the conversation of before of a supergroup that has one of its own; None for any other chat."""
    before = me.earlier.get(chat_id)
    return conversation_key(me.bot_id, before, None) if before is not None else None


def is_cut(piece: str) -> bool:
    """Return whether a message is so long that it is probably not the last piece of a pasted text."""
    return len(piece) >= LONG_PIECE_CHARS


def texts(batch: Sequence[Envelope]) -> list[str]:
    """Return the text of each of these messages, in order; an edit replaces the message that it edits.

    The outcome of a poll or a checklist is a text of its own.
    """
    found: dict[tuple[int | None, bool], str] = {}
    for envelope in batch:
        found[envelope.message_id, envelope.kind == "addition"] = envelope.text
    return list(found.values())


def batch_text(batch: Sequence[Envelope]) -> str:
    """Return the user's words in these messages, in order: the pieces of a long paste are one text."""
    pieces = texts(batch)
    joined = pieces[:1]
    for before, piece in pairwise(pieces):
        goes_on = is_cut(before) and not has_foreign(before) and not has_foreign(piece)
        joined += [piece] if goes_on else ["\n", piece]
    return "".join(joined)
