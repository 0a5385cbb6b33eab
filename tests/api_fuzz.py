"""Schemathesis against the HTTP API of a running bot: `make fuzz-api`. It must find nothing."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from bot.playground.browser import Playground  # noqa: E402 - after the path
from bot.playground.moved_clock import MovedClock  # noqa: E402

SCHEMATHESIS = HERE.parent / ".venv-api" / "bin" / "schemathesis"
EXAMPLES = ("--max-examples", "30")


async def main(arguments: list[str]) -> int:
    """Run it against a bot of its own, whose data goes afterwards; return schemathesis's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        for name in [name for name in os.environ if name.startswith(("CONTINUITY_", "TELEGRAM_"))]:
            del os.environ[name]
        playground = Playground(Path(folder), MovedClock(Path(folder) / "clock"))
        await playground.start(0)
        try:
            await playground.running()
            url, token = playground.bot_address
            command = [str(SCHEMATHESIS), "run", f"{url}/openapi.json", "-H", f"Authorization: Bearer {token}"]
            found = await asyncio.create_subprocess_exec(*command, *EXAMPLES, *arguments)
            return await found.wait()
        finally:
            await playground.stop()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
