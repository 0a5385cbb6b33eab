"""docs/pictures/kill.svg from a real session: a chat on a terminal is killed in mid-answer and started again.

`make pictures` runs it. It needs tmux. The bot is the real one; the model is one on this machine that says a fixed
answer word by word, so that the picture shows the same thing each time.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.color import ColorType
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from loopback.model import Gate, LoopbackModel  # noqa: E402 - the project's folders have to be on the path first

PICTURE = ROOT / "docs" / "pictures" / "kill.svg"
COLUMNS, ROWS = 88, 22
SAID = "Why is the sea salty?"
ANSWER = (
    "Rain is slightly sour, so it takes tiny amounts of salt out of the rocks it runs over. Rivers carry that salt "
    "to the sea, the sun takes only the water up again, and the salt stays behind. After some billion years of that, "
    "every litre of sea water holds about 35 grams of it."
)
PROMPT = "›"
"""How the chat shows that it listens."""
KILLED_AFTER_WORDS = 22
WORD_S = 0.09
LOOK_S = 0.2
LONGEST_S = 1.6
"""No frame is shown longer, however long the session waited; the last one is."""
LAST_S = 5.0
CHAR_PX, LINE_PX, PAD_PX = 8.4, 19, 16


@dataclass(frozen=True, slots=True)
class Frame:
    """What the terminal showed, and since when."""

    at_s: float
    lines: tuple[Text, ...]


class Terminal:
    """A terminal of its own in tmux, looked at again and again."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux")
        self.frames: list[Frame] = []
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        shell = "env PS1='$ ' bash --norc --noprofile"
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, "-c", str(folder), shell)

    def _tmux(self, *words: str) -> str:
        command = ["tmux", "-S", self._socket, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def look(self) -> str:
        """Keep what is shown now as a frame when it is new; return it without colours."""
        shown = tuple(AnsiDecoder().decode(self._tmux("capture-pane", "-p", "-e").rstrip()))
        if not self.frames or self.frames[-1].lines != shown:
            self.frames.append(Frame(time.monotonic(), shown))
        return "\n".join(line.plain for line in shown)

    async def types(self, text: str) -> None:
        """Type a line, a few letters at a time, and press Enter."""
        for start in range(0, len(text), 4):
            self._tmux("send-keys", "-l", text[start : start + 4])
            await asyncio.sleep(0.08)
            self.look()
        self._tmux("send-keys", "Enter")

    async def until(self, sign: str) -> None:
        """Look until the terminal shows something. Raises TimeoutError after a minute."""
        async with asyncio.timeout(60):
            while sign not in self.look():  # noqa: ASYNC110 - a terminal tells nobody that it changed
                await asyncio.sleep(LOOK_S)

    def child(self) -> int:
        """Return the process that runs in the shell."""
        shell = self._tmux("display-message", "-p", "#{pane_pid}").strip()
        return int(Path(f"/proc/{shell}/task/{shell}/children").read_text(encoding="ascii").split()[0])

    def close(self) -> None:
        """End the terminal and what runs in it."""
        self._tmux("kill-server")


async def record(folder: Path) -> list[Frame]:
    """Chat, kill in mid-answer, start again, wait for the answer; return what was seen."""
    gate = Gate()
    async with LoopbackModel(reply=lambda _: ANSWER, gate=gate) as model:
        program = shlex.quote(str(Path(sys.executable).with_name("continuity-bot")))
        (folder / "chat").write_text(f"#!/bin/sh\nexec {program} chat\n", encoding="utf-8")
        (folder / "chat").chmod(0o700)
        os.environ |= {"CONTINUITY_MODEL": "openai-chat:demo", "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none"}
        terminal = Terminal(folder)
        try:
            await terminal.until("$")
            await terminal.types("./chat")
            await terminal.until(PROMPT)
            await terminal.types(SAID)
            for _ in range(KILLED_AFTER_WORDS):
                gate.let()
                await asyncio.sleep(WORD_S)
                terminal.look()
            await terminal.until("Rivers")
            os.kill(terminal.child(), signal.SIGKILL)
            await terminal.until("Killed")
            await asyncio.sleep(1)
            await terminal.types("./chat")
            gate.open()
            await terminal.until("35 grams of it.")
            await asyncio.sleep(1)
            terminal.look()
        finally:
            terminal.close()
    return terminal.frames


# --- the picture ----------------------------------------------------------------------------------------------------


def times(frames: list[Frame]) -> list[float]:
    """Return when each frame begins in the picture, and when the last one ends."""
    found = [0.0]
    for frame, after in pairwise(frames):
        found.append(found[-1] + min(after.at_s - frame.at_s, LONGEST_S))
    return [*found, found[-1] + LAST_S]


def fill(style: Style) -> str:
    """Return the colour of a piece of text."""
    color = style.color
    if color is None or color.type is ColorType.DEFAULT:
        return "#8b949e" if style.dim else "#e6edf3"
    return color.get_truecolor(MONOKAI).hex


def drawn(text: Text) -> str:
    """Return one line of the terminal as the inside of a <text>."""
    pieces = []
    for start, end, style in _runs(text):
        piece = text.plain[start:end]
        if piece.strip():
            weight = ' font-weight="bold"' if style.bold else ""
            x = PAD_PX + start * CHAR_PX
            long = f'textLength="{len(piece) * CHAR_PX:.1f}"'
            pieces.append(f'<tspan x="{x:.1f}" {long} fill="{fill(style)}"{weight}>{escape(piece)}</tspan>')
    return "".join(pieces)


def _runs(text: Text) -> list[tuple[int, int, Style]]:
    """Return the stretches of a line that look alike."""
    styles = [Style() for _ in text.plain]
    for span in text.spans:
        for at in range(span.start, min(span.end, len(styles))):
            styles[at] += span.style if isinstance(span.style, Style) else Style.parse(span.style)
    runs: list[tuple[int, int, Style]] = []
    for at, style in enumerate(styles):
        if runs and runs[-1][2] == style:
            runs[-1] = (runs[-1][0], at + 1, style)
        else:
            runs.append((at, at + 1, style))
    return runs


def picture(frames: list[Frame]) -> str:
    """Return the session as an SVG that plays itself; where nothing moves, its last frame."""
    starts = times(frames)
    whole = starts[-1]
    width, height = COLUMNS * CHAR_PX + 2 * PAD_PX, ROWS * LINE_PX + 2 * PAD_PX
    lines: dict[str, int] = {}
    shown, moves = [], []
    for number, frame in enumerate(frames):
        uses = []
        for row, line in enumerate(frame.lines):
            if inside := drawn(line):
                which = lines.setdefault(inside, len(lines))
                uses.append(f'<use href="#l{which}" y="{PAD_PX + (row + 1) * LINE_PX - 5}"/>')
        begin, end = 100 * starts[number] / whole, 100 * starts[number + 1] / whole
        hidden = "" if number == 0 else f"0%,{begin - 0.001:.3f}%{{opacity:0}}"
        after = "" if number == len(frames) - 1 else f"{end:.3f}%,100%{{opacity:0}}"
        moves.append(f"@keyframes k{number}{{{hidden}{begin:.3f}%,{end - 0.001:.3f}%{{opacity:1}}{after}}}")
        moves.append(f"#f{number}{{animation:k{number} {whole:.2f}s step-end infinite}}")
        still = ' class="last"' if number == len(frames) - 1 else ""
        shown.append(f'<g id="f{number}"{still}>{"".join(uses)}</g>')
    defined = "".join(f'<text id="l{which}" xml:space="preserve">{inside}</text>' for inside, which in lines.items())
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">
<title>A chat in a terminal is killed in mid-answer; started again, it gives the whole answer</title>
<style>text{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}}
g{{opacity:0}}.last{{opacity:1}}
@media (prefers-reduced-motion:no-preference){{{"".join(moves)}}}</style>
<defs>{defined}</defs>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
{"".join(shown)}
</svg>
"""


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        seen = asyncio.run(record(Path(place)))
    PICTURE.write_text(picture(seen), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {len(seen)} frames, {PICTURE.stat().st_size // 1024} KiB")  # noqa: T201
