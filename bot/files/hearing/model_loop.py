"""The side of a child that works with sound: its model is loaded once, and asked one thing after another."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

NICER = 10


def say(said: Mapping[str, object]) -> None:
    """Hand one line out at once."""
    sys.stdout.write(json.dumps(said, ensure_ascii=True) + "\n")
    sys.stdout.flush()


def serve(opened: Callable[[Path], Any], answers: Callable[[Any, dict[str, Any]], Iterator[dict[str, object]]]) -> None:
    """Answer each line with lines, by the model of the folder that is named, until nobody asks any more.

    `{"error": "missing"}` where it cannot be `opened`, `{"error": "damaged"}` where a line cannot be answered.
    """
    os.nice(NICER)
    for what in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(what, (0, 0))
    model: Any = None
    for line in sys.stdin:
        try:
            if model is None:
                model = opened(Path(sys.argv[1]))
        except Exception:  # noqa: BLE001 - no extra, or a folder that holds no model, or a broken one
            say({"error": "missing"})
            continue
        try:
            for said in answers(model, json.loads(line)):
                say(said)
        except Exception:  # noqa: BLE001 - a library's error over somebody's words; its text may repeat them
            say({"error": "damaged"})
