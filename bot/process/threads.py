"""Threads for slow work, for which no end of the process waits; each carries the mark of its work."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from functools import partial
from queue import SimpleQueue
from typing import Any

END_S = 1.0
"""Wait of the end for running work."""

Mark = AbstractContextManager[object]

AT_WORK: ContextVar[Mark | None] = ContextVar("at_work", default=None)
"""The mark of the work in whose name a thread is asked for something."""

_Job = tuple[Future[Any], Mark, Callable[[], Any]]


class Threads(ThreadPoolExecutor):
    """The threads behind `asyncio.to_thread`. A thread that never comes back keeps nothing from ending.

    Those of the library are waited for at the end of the process, for ever.
    """

    def __init__(self, at_most: int | None = None) -> None:
        self._at_most = at_most or min(32, (os.cpu_count() or 1) + 4)
        super().__init__(self._at_most)  # it starts none of its own: `submit` is all that begins one
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._waiting = threading.Semaphore(0)
        self._started: list[threading.Thread] = []
        self._guard = threading.Lock()
        self._ended = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run it in a thread. Raises RuntimeError behind the end."""
        future: Future[Any] = Future()
        with self._guard:
            if self._ended:
                raise RuntimeError("the threads have ended")
            self._jobs.put((future, AT_WORK.get() or nullcontext(), partial(fn, *args, **kwargs)))
            if not self._waiting.acquire(blocking=False) and len(self._started) < self._at_most:
                thread = threading.Thread(target=self._serve, name=f"work {len(self._started)}", daemon=True)
                self._started.append(thread)
                thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 - as inherited
        """Let each thread finish its work; one that takes longer than a second is left behind."""
        with self._guard:
            if not self._ended:
                self._ended = True
                for _ in self._started:
                    self._jobs.put(None)
        until_s = time.monotonic() + END_S
        for thread in self._started if wait and not cancel_futures else ():
            thread.join(max(0.0, until_s - time.monotonic()))

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            _run(*job)
            del job
            self._waiting.release()


def _run(future: Future[Any], mark: Mark, work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        with mark:
            result = work()
    except BaseException as exc:  # noqa: BLE001 - it belongs to whoever asked
        future.set_exception(exc)
    else:
        future.set_result(result)
