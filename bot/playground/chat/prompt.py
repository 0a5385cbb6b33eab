"""The input line of the terminal chat, below the text that the bot is writing right now."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

_REFRESH_S = 0.5  # typing signs and drafts run out by themselves
_MARK = "\x1b[1;36m›\x1b[0m "  # noqa: RUF001 - the mark of the input line


class CommandCompleter(Completer):
    """Offers the bot's commands after a slash."""

    def __init__(self, commands: Callable[[], dict[str, str]]) -> None:
        self._commands = commands

    def get_completions(self, document: Document, _complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return the commands that begin with the text before the cursor."""
        typed = document.text_before_cursor
        if not typed.startswith("/") or " " in typed or "\n" in typed:
            return
        for name, description in self._commands().items():
            if f"/{name}".startswith(typed):
                yield Completion(f"/{name}", start_position=-len(typed), display_meta=description)


class Prompt:
    """One input line that stays while messages are printed above it."""

    def __init__(self, live: Callable[[], str], commands: Callable[[], dict[str, str]]) -> None:
        self._session: PromptSession[str] = PromptSession(
            lambda: ANSI(f"{live()}{_MARK}"),
            completer=CommandCompleter(commands),
            complete_while_typing=True,
            erase_when_done=True,
            history=InMemoryHistory(),
            key_bindings=_keys(),
            refresh_interval=_REFRESH_S,
            prompt_continuation="  ",
            reserve_space_for_menu=4,
        )

    async def ask(self) -> str:
        """Return the next line, which may hold line breaks. Raises EOFError on Ctrl-D, KeyboardInterrupt on Ctrl-C."""
        return await self._session.prompt_async()

    async def above(self, write: Callable[[], None] | None) -> None:
        """Run `write`, which prints, above the input line, and show changes of the live part."""
        if write and self._session.app.is_running:
            await run_in_terminal(write)
        elif write:
            write()
        self._session.app.invalidate()


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _break_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
