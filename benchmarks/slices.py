"""Start the bot and note how long each step of its event loop takes: `python slices.py` with SLICES naming a file.

A step that takes longer than `LEAST_MS` becomes a line of JSON: its milliseconds of processor time, of the clock, of
looking for garbage, and what ran. Processor time is what counts: other programs do not change it.
"""

from __future__ import annotations

import gc
import json
import os
import time
from asyncio import events
from typing import Any

LEAST_MS = 3.0

run = events.Handle._run  # noqa: SLF001 - the one place that every step passes
notes = open(os.environ["SLICES"], "a", buffering=1, encoding="utf-8")  # noqa: SIM115, PTH123 - until the process ends


class Garbage:
    """How long was looked for garbage, in whichever thread asked for memory."""

    def __init__(self) -> None:
        self.spent_s = self._began_s = 0.0

    def __call__(self, phase: str, _: dict[str, int]) -> None:
        """Hear that a search begins or ends."""
        now_s = time.thread_time()
        if phase == "start":
            self._began_s = now_s
        else:
            self.spent_s += now_s - self._began_s


garbage = Garbage()
gc.callbacks.append(garbage)


def timed(handle: Any) -> None:
    """Do the step and note it when it was long."""
    busy_s, began_s, garbage_s = time.thread_time(), time.perf_counter(), garbage.spent_s
    run(handle)
    cpu_ms = (time.thread_time() - busy_s) * 1000
    if cpu_ms >= LEAST_MS:
        step = {
            "cpu_ms": round(cpu_ms, 2),
            "wall_ms": round((time.perf_counter() - began_s) * 1000, 2),
            "garbage_ms": round((garbage.spent_s - garbage_s) * 1000, 2),
            "what": named(handle),
        }
        notes.write(json.dumps(step) + "\n")


def named(handle: Any) -> str:
    """Return the coroutine of a task with those that it waits in, else the callback."""
    task = getattr(handle._callback, "__self__", None)  # noqa: SLF001 - see above
    if not hasattr(task, "get_coro"):
        return repr(handle._callback)[:120]  # noqa: SLF001 - see above
    coro, names = task.get_coro(), []
    while coro is not None and len(names) < 6:
        names.append(getattr(coro, "__qualname__", ""))
        coro = getattr(coro, "cr_await", None)
    return " > ".join(filter(None, names))


events.Handle._run = timed  # type: ignore[method-assign]  # noqa: SLF001 - see above

if __name__ == "__main__":
    from bot.cli import app

    app(["run"], prog_name="python -m bot")
