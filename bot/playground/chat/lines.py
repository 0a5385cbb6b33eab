"""Read lines from standard input without a thread, so that Ctrl-C ends the program at once."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator

_READ_MAX_BYTES = 65_536


async def typed_lines() -> AsyncIterator[str]:
    """Yield the lines of standard input without their line ends, until it ends; broken UTF-8 is replaced."""
    arrived = asyncio.Event()
    loop = asyncio.get_running_loop()
    try:
        handle = sys.stdin.fileno()
        loop.add_reader(handle, arrived.set)
    except (OSError, ValueError):  # a file, or no real input: reading it never waits
        for line in sys.stdin:
            yield line.rstrip("\r\n")
        return
    try:
        async for line in _split(handle, arrived):
            yield line
    finally:
        loop.remove_reader(handle)


async def _split(handle: int, arrived: asyncio.Event) -> AsyncIterator[str]:
    rest = b""
    while True:
        await arrived.wait()
        read = os.read(handle, _READ_MAX_BYTES)
        arrived.clear()
        *lines, rest = (rest + read).split(b"\n")
        for line in lines if read else [rest]:
            if line or read:
                yield line.decode(errors="replace").rstrip("\r")
        if not read:
            return
