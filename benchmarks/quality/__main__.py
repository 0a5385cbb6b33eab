"""`python -m benchmarks.quality --data DIR`: measure the memory's quality and print JSON.

`--data` (or `MEM_DATA`) is a folder with the public sets; what is there of them is measured.
"""

from __future__ import annotations

import argparse
import json
import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PARTS = ("public_search", "public_summary", "public_returning")
"""Modules with `run(data: Path) -> dict`, measured when they are there."""


def main() -> None:
    """Run everything that is available."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("MEM_DATA"), help="folder with public data sets")
    arguments = parser.parse_args()
    results: dict[str, Any] = {}
    if arguments.data:
        data = Path(arguments.data)
        for part in PARTS:
            if find_spec(f"benchmarks.quality.{part}"):
                results |= import_module(f"benchmarks.quality.{part}").run(data)
    print(json.dumps(results, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
