"""News on the screen and the meaning of a typed line: the decisions of the terminal, without a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bot.playground.bot_api.world import ShownMessage

QUIT = "/quit"


@dataclass(frozen=True, slots=True)
class News:
    """One thing to show: a new line, a line whose text or buttons changed, or a line that was taken back."""

    kind: Literal["new", "edited", "buttons", "gone"]
    line: ShownMessage


def news(before: Sequence[ShownMessage], after: Sequence[ShownMessage]) -> list[News]:
    """Return the lines to show a person, in the order of the messages. Buttons that vanish are no news."""
    known = {line.message_id: line for line in before}
    found: list[News] = []
    for line in after:
        was = known.pop(line.message_id, None)
        if was is None:
            found.append(News("new", line))
        elif was.text != line.text:
            found.append(News("edited", line))
        elif was.buttons != line.buttons and line.buttons:
            found.append(News("buttons", line))
    first_kept = after[0].message_id if after else 0
    return found + [News("gone", line) for line in known.values() if line.message_id >= first_kept]


@dataclass(frozen=True, slots=True)
class Press:
    """A button: the message that has it, its text, and its effect (callback data or an address)."""

    message_id: int
    text: str
    does: str

    @property
    def is_link(self) -> bool:
        """Whether the button opens an address instead of telling the bot."""
        return self.does.startswith(("http://", "https://", "tg://"))


def pressed(typed: str, lines: Sequence[ShownMessage]) -> Press | None:
    """Return the button that the typed line presses, or None when it is a text.

    `/2` presses button 2 of the newest keyboard. `2` does so only while nothing was written since that keyboard, so
    that a number can be an answer; ` 2` (with a space before it) is always a text.
    """
    number = typed.removeprefix("/")
    if not (number.isascii() and number.isdigit()):
        return None
    newest = next((line for line in reversed(lines) if line.by_bot and line.buttons), None)
    if newest is None or not 1 <= int(number) <= len(newest.presses):
        return None
    wrote_since = any(not line.by_bot and line.message_id > newest.message_id for line in lines)
    if wrote_since and not typed.startswith("/"):
        return None
    position = int(number) - 1
    texts = [text for row in newest.buttons for text in row]
    return Press(newest.message_id, texts[position], newest.presses[position])
