"""The folder of a playground: one at a time works in it, and a second one is told the address of the first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.ops.lock import holder, take_lock
from memory import Locked


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep others out of the folder meanwhile; nothing in it is touched before. Raises `Locked`, naming the rival."""
    state = folder / "playground.json"
    try:
        lock = take_lock(state)
    except Locked:
        rival, address = holder(state), shown_at(folder)
        who = f"another playground (process {rival.pid})" if rival and rival.pid else "another playground"
        where = f", at {address}: open that one, or stop it first" if address else ": stop that one first"
        raise Locked(f"{who} is running in {folder}{where}; another folder works too (CONTINUITY_PLAYGROUND)") from None
    try:
        yield
    finally:
        (folder / _ADDRESS).unlink(missing_ok=True)
        lock.release()


_ADDRESS = "playground.address"


def show_at(folder: Path, address: str) -> None:
    """Store the address of the page, for a second start."""
    (folder / _ADDRESS).write_text(address, encoding="ascii")


def shown_at(folder: Path) -> str:
    """Return the address of the playground that works in this folder; "" when there is none."""
    try:
        return (folder / _ADDRESS).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
