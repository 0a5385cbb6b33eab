"""`python -m benchmarks.quality [--data DIR] [--verbose]`: measure the memory's quality and print JSON.

The labelled cases of this folder always run. With `--data` (or `MEM_DATA`) a folder with the public sets is measured
too, as far as its files are there: `emailintent_*.txt`, `tiage_*.json`, and what other parts of this package know.
"""

from __future__ import annotations

import argparse
import json
import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.quality import labelled, public_state

OTHER_PARTS = ("public_search", "public_summary", "public_returning")
"""Modules with `run(data: Path) -> dict`, measured when they are there."""


def main() -> None:
    """Run everything that is available."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("MEM_DATA"), help="folder with public data sets")
    parser.add_argument("--verbose", action="store_true", help="print each labelled case that went wrong")
    arguments = parser.parse_args()
    results: dict[str, Any] = labelled.run(verbose=arguments.verbose)
    if arguments.data:
        data = Path(arguments.data)
        results |= public_state.run(data)
        for part in OTHER_PARTS:
            if find_spec(f"benchmarks.quality.{part}"):
                results |= import_module(f"benchmarks.quality.{part}").run(data)
    print(json.dumps(results, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
