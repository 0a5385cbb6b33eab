"""Show a chat in the terminal with rich: speakers, formatting, numbered buttons, drafts."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from bot.playground.bot_api.world import ShownMessage
from bot.playground.chat.feed import News, pressed

_STYLES = {
    "bold": "bold",
    "italic": "italic",
    "underline": "underline",
    "strikethrough": "strike",
    "spoiler": "reverse",
    "code": "yellow",
    "pre": "yellow",
    "blockquote": "italic dim",
    "expandable_blockquote": "italic dim",
    "url": "underline blue",
    "text_link": "underline blue",
    "bot_command": "cyan",
    "mention": "cyan",
    "hashtag": "cyan",
}
_NAME_WIDTH = 5
_DRAFT_MAX_LINES = 12
_TEXT_MAX_WIDTH = 100


def formatted(text: str, entities: Sequence[dict[str, Any]]) -> Text:
    """Return the text with its entities as styles; offsets count UTF-16 units."""
    positions = [0]
    for character in text:
        positions.append(positions[-1] + (2 if ord(character) > 0xFFFF else 1))  # noqa: PLR2004 - outside of the BMP
    place = {unit: index for index, unit in enumerate(positions)}
    shown = Text(text)
    for entity in entities:
        start, end = place.get(entity["offset"]), place.get(entity["offset"] + entity["length"])
        style = _STYLES.get(entity["type"])
        if style and start is not None and end is not None:
            shown.stylize(f"{style} link {entity['url']}" if entity.get("url") else style, start, end)
    return shown


def buttons(line: ShownMessage) -> list[Text]:
    """Return one text per row of buttons, numbered over all rows: `[1] Continue  [2] Start fresh`."""
    rows, number = [], 0
    for row in line.buttons:
        shown = Text()
        for text in row:
            number += 1
            shown.append(f"[{number}]", "bold yellow").append(f" {text}  ")
        shown.rstrip()
        rows.append(shown)
    return rows


class Screen:
    """Writes to the console; on a terminal in two columns, into a pipe without wrapping."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def header(self, lines: Sequence[str]) -> None:
        """Print the box at the start: a title and lines of markup."""
        title, *rest = lines
        body = Text.from_markup("\n".join(rest))
        self.console.print(Panel(body, title=f"[bold]{escape(title)}", title_align="left", border_style="green"))

    def earlier(self, lines: Sequence[ShownMessage]) -> None:
        """Show the last earlier lines, dimmed, with the buttons that a number still presses."""
        if not lines:
            return
        self.console.print(Rule("earlier", style="dim"))
        waiting = pressed("1", lines)
        for line in lines:
            shown = buttons(line) if waiting and line.message_id == waiting.message_id else []
            self.console.print(self._message(line, style="dim", rows=shown))
        self.console.print(Rule("now", style="dim"))

    def show(self, item: News) -> None:
        """Print one piece of news."""
        if item.kind == "gone":
            self.note("a message was taken back")
            return
        apart = "\n" if "\n" in item.line.text else " "
        mark = f"{apart}(edited)" if item.kind == "edited" else ""
        self.console.print(self._message(item.line, mark=mark, rows=buttons(item.line)), soft_wrap=self._is_piped)

    def note(self, text: str) -> None:
        """Print a remark of the playground itself, apart from the conversation."""
        remark = Text(text, style="dim italic")
        self.console.print(
            remark if self._is_piped else Padding(remark, (0, 0, 0, _NAME_WIDTH)), soft_wrap=self._is_piped
        )

    def live(self, text: str, *, is_typing: bool) -> str:
        """Return the draft, or the typing sign, as ANSI text ending in a new line; "" without either."""
        if not text and not is_typing:
            return ""
        body = Text(text or "typing…", style="dim" if text else "dim italic")
        out = Console(file=StringIO(), force_terminal=True, width=self.console.width, no_color=self.console.no_color)
        out.print(self._columns(Text("bot", style="green dim"), body))
        rows = str(out.file.getvalue()).splitlines()  # type: ignore[attr-defined]  # it is the StringIO of above
        room = max(1, min(_DRAFT_MAX_LINES, self.console.height - 6))
        return "\n".join(rows[-room:]) + "\n"

    @property
    def _is_piped(self) -> bool:
        return not self.console.is_terminal

    def _message(
        self, line: ShownMessage, *, style: str = "", mark: str = "", rows: Sequence[Text] = ()
    ) -> RenderableType:
        name = Text("bot", style=f"bold green {style}") if line.by_bot else Text("you", style=f"bold cyan {style}")
        body = formatted(line.text, line.entities)
        body.stylize(style)
        if line.file_name:
            body = Text(f"📄 {line.file_name}\n", style="bold") + body
        body.append(mark, "dim italic")
        if self._is_piped:
            lines = [part for row in (body, *rows) for part in row.split("\n", allow_blank=True)]
            indented = [Text("    ") + part if index and part else part for index, part in enumerate(lines)]
            return name + Text(" ") + Text("\n").join(indented)
        return self._columns(name, Group(body, *rows))

    def _columns(self, name: Text, body: RenderableType) -> Table:
        table = Table.grid(padding=(0, 0))
        table.add_column(width=_NAME_WIDTH)
        table.add_column(max_width=min(_TEXT_MAX_WIDTH, self.console.width - _NAME_WIDTH - 1), overflow="fold")
        table.add_row(name, body)
        return table
