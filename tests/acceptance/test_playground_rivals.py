"""Two playgrounds in one folder: the second says where the first is and ends, and changes nothing."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from loopback.forked import OURS

pytestmark = [pytest.mark.acceptance, pytest.mark.sweep]


async def begun(folder: Path, *words: str, stdin: int = asyncio.subprocess.DEVNULL) -> asyncio.subprocess.Process:
    """Start a command in this folder, as a newcomer does without a token."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *words, cwd=folder, env=env | {"PYTHONPATH": str(Path.cwd())}, stdin=stdin,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    """Return the first one's files, but for the log and what its running bot writes."""
    return {path.name: path.read_bytes() for path in folder.glob("playground*") if path.suffix != ".lock"}


async def test_a_second_playground_names_the_first_and_touches_nothing(tmp_path):
    """In the browser or in the terminal: exit 1 with one sentence, and no page that says for ever that it starts."""
    first = await begun(tmp_path, "play", "--port", "0")
    try:
        address = None
        while address is None:
            address = re.search(r"http://127\.0\.0\.1:\d+", (await first.stdout.readline()).decode())
        first.send_signal(signal.SIGSTOP)  # from here on only the second could change anything
        before = contents(tmp_path / ".playground")
        for second in (["start"], ["play", "--port", "0"], ["chat"]):
            rival = await begun(tmp_path, *second)
            out, said = await rival.communicate()

            assert rival.returncode == 1, second
            who = f"another playground (process {first.pid}) is running in .playground, at {address[0]}"
            assert who in said.decode(), second
            assert "Open http" not in out.decode(), second
            assert contents(tmp_path / ".playground") == before, second
    finally:
        first.send_signal(signal.SIGCONT)
        first.terminate()
        await first.wait()
    assert not (tmp_path / ".playground" / "playground.address").exists()
