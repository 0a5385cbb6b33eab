"""Fill .venv with locked packages, and say so meanwhile: `python3 .ci/install.py .venv LOCK [--project]`.

It may be interrupted at any point: the next run does what is missing. Needs nothing but Python.
"""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from collections import deque
from collections.abc import Iterator
from pathlib import Path

OLDEST = (3, 11)
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")
SHOWN_LINES = 15
SEEN = ("Collecting", "Processing", "Requirement", "Ignoring")
"""How lines of pip begin that speak of one package: to be fetched, found here, installed, not for this machine."""


def main(folder: Path, lock: Path, *, with_project: bool) -> str | None:
    """Install; return None, or a sentence that says why not and what to do."""
    if sys.version_info < OLDEST:
        return "Python 3.11 or newer is needed; name one with PYTHON=python3.12"
    count = sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines())
    print(f"Setting up {folder} with {count} packages from {lock.name}. The first time takes a minute or two.")
    python = folder / "bin" / "python"
    if not has_pip(python):
        try:
            venv.create(folder, with_pip=True, clear=True)
        except (OSError, subprocess.CalledProcessError) as exc:
            return f"{folder} could not be made ({exc}); on Debian and Ubuntu, apt install python3-venv helps"
    steps = [("install", "--progress-bar", "off", "--require-hashes", "-r", str(lock))]
    if with_project:
        steps.append(("install", "--no-deps", "--no-build-isolation", "-e", "."))
    for words in steps:
        if not pip(python, words, count):
            return "The set-up stopped there. Run the same command again: it goes on with what is missing."
    print("Done." if not with_project else f"Done. {folder}/bin/continuity-bot is ready.")
    return None


def has_pip(python: Path) -> bool:
    """Return whether this is a Python that was made to its end."""
    return python.exists() and subprocess.run([python, *PIP, "--version"], capture_output=True).returncode == 0


def pip(python: Path, words: tuple[str, ...], count: int) -> bool:
    """Run pip, show how far it is; show its last lines when it fails."""
    last: deque[str] = deque(maxlen=SHOWN_LINES)
    with subprocess.Popen(
        [str(python), *PIP, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        assert child.stdout is not None
        for progress in told(child.stdout, last, count):
            show(progress)
    show("")
    if child.returncode:
        print("".join(last), end="")
    return child.returncode == 0


def told(lines: Iterator[str], last: deque[str], count: int) -> Iterator[str]:
    """Yield how far pip is, line by line of what it prints; keep its last lines."""
    done = 0
    for line in lines:
        last.append(line)
        head, _, rest = line.partition(" ")
        if head in SEEN:
            done += 1
            name = "" if head == "Requirement" else re.split("[-=<>]", Path(rest.split()[0]).name)[0]
            yield f"  {min(done, count)} of {count} {name}"
        elif head == "Installing":
            yield "  putting them in place …"


def show(progress: str) -> None:
    """Show progress on one line of a terminal; elsewhere, now and then, on lines of its own."""
    if sys.stdout.isatty():
        print(f"\r\033[K{progress[:78]}", end="", flush=True)
    elif progress.endswith("…") or progress.split(" of ", maxsplit=1)[0].endswith("0"):
        print(progress, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), with_project="--project" in sys.argv))
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. Run the same command again: it goes on with what is missing.")
