"""How long somebody waits for the first good thing: `python -m benchmarks.stopwatch [--machine-cache] [NAME …]`.

Prints JSON: seconds of the clock from the first command until the answer, or until `doctor` fails no check. Every
measurement has a home, a folder and a cache of pip of its own, so each package comes over the network (the one that is
there may be a mirror nearby); with `--machine-cache` pip takes what it has. Python, git and make are there already.
The model is a loopback one that answers at once, or nobody: the concierge without a model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.answer import UNPACED
from benchmarks.beside import bot, ours_over
from benchmarks.startup import fill

ROOT = Path(__file__).parents[1]
RECOVER = ROOT / "docs" / "how-to" / "recover.md"
SAID = "My dog is called Rex.\n"
ANSWER = re.compile(r"^bot .+", re.MULTILINE)
SHELL = ("/bin/bash", "-ec")
KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "SSL_CERT_FILE")
"""Variables of the machine that a newcomer has too, besides those that tell pip where packages are."""
SESSIONS = 100
PACE_S = 0.05
"""Between two words of the loopback model, so that there is a moment to kill it in."""


def newcomer(home: Path, *, machine_cache: bool) -> dict[str, str]:
    """Return the variables of somebody who has just sat down at the machine."""
    home.mkdir(parents=True)
    env = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("PIP_")}
    env |= {"HOME": str(home), "CONTINUITY_CACHE_DIR": str(home / "cache")}
    return env if machine_cache else env | {"PIP_CACHE_DIR": str(home / "pip")}


def typed(line: str, folder: Path, env: Mapping[str, str], said: str = "") -> str:
    """Type a line into a shell and return what it printed. Raises `RuntimeError` with that when it fails."""
    done = subprocess.run(  # noqa: S603 - lines of ours and of the page
        [*SHELL, line], cwd=folder, env=env, input=said, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{line}\n{done.stdout}{done.stderr}")
    return done.stdout


def answered_after_s(line: str, folder: Path, env: Mapping[str, str]) -> float:
    """Type a line, give it the first message, and return the seconds until the answer stands there."""
    began_s = time.perf_counter()
    with subprocess.Popen(  # noqa: S603 - lines of ours
        [*SHELL, line], cwd=folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    ) as child:  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(SAID)
        child.stdin.close()
        printed = ""
        while not ANSWER.search(printed):
            piece = child.stdout.readline()
            if not piece:
                raise RuntimeError(f"no answer came:\n{printed}")
            printed += piece
        took_s = time.perf_counter() - began_s
        child.stdout.read()
    return took_s


def clone(folder: Path, *, machine_cache: bool) -> float:
    """From `git clone` of this checkout over `make run` until the answer."""
    env = newcomer(folder / "home", machine_cache=machine_cache)
    line = f"git clone -q file://{ROOT} cloned && cd cloned && make run"
    return answered_after_s(line, folder, env | {"PYTHON": sys.executable})


def wheel(folder: Path, *, machine_cache: bool) -> float:
    """From a wheel over `pip install` until the answer of `continuity-bot chat`; building the wheel is not counted."""
    env = newcomer(folder / "home", machine_cache=machine_cache)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)  # noqa: S603 - the builder of this checkout
    made = next(folder.glob("*.whl"))
    line = f"{sys.executable} -m venv own && own/bin/pip install -q {made} && own/bin/continuity-bot chat"
    return answered_after_s(line, folder, env)


async def telegram(folder: Path) -> tuple[float, float]:
    """From `continuity-bot run` with a token until the first reply; from a kill in mid-answer until the answer."""
    async with bot(ours_over("openai-chat"), folder, pace_s=PACE_S, **UNPACED) as ours:
        first = ours.says()
        began_s = time.perf_counter()
        await ours.life.start()
        await ours.until_answered(first)
        token_s = time.perf_counter() - began_s

        asked_at_s, cut = ours.model.asked_at_s, ours.says()
        while ours.model.asked_at_s == asked_at_s:  # noqa: ASYNC110 - the model tells nobody that it was asked
            await asyncio.sleep(0.005)
        await ours.life.kill()
        began_s = time.perf_counter()
        await ours.life.start()
        await ours.until_answered(cut)
        return token_s, time.perf_counter() - began_s


def damaged(folder: Path) -> float:
    """From a torn database until `doctor` fails no check, by the commands of docs/how-to/recover.md and no others."""
    asyncio.run(fill(folder, SESSIONS, 1))
    (folder / ".venv").symlink_to(Path(sys.prefix))
    backup = folder / "backups" / "newest"
    env = newcomer(folder / "home", machine_cache=True) | {"BACKUP": str(backup), "CONTINUITY_ALLOWED_USERS": "7"}
    env |= {"PYTHONPATH": str(ROOT)}
    backup.parent.mkdir()
    typed(f".venv/bin/continuity-bot backup {backup}", folder, env)
    database = folder / "continuity.db"
    database.write_bytes(database.read_bytes()[:6000])

    began_s = time.perf_counter()
    typed("! .venv/bin/continuity-bot doctor", folder, env)
    for block in re.findall(r"```sh\n(.*?)```", section("A lost or damaged database"), re.DOTALL):
        typed(block, folder, env)
    return time.perf_counter() - began_s


def section(heading: str) -> str:
    """Return one section of the page."""
    return RECOVER.read_text(encoding="utf-8").split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def main(names: list[str], *, machine_cache: bool) -> dict[str, Any]:
    """Measure what was asked for."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:

        def measured(name: str, work: Callable[[Path], None]) -> None:
            if not names or name in names:
                (Path(place) / name).mkdir()
                work(Path(place) / name)

        def of_telegram(folder: Path) -> None:
            found["token_to_first_reply_s"], found["kill_to_answer_s"] = asyncio.run(telegram(folder))

        measured("clone", lambda at: found.update(clone_to_answer_s=clone(at, machine_cache=machine_cache)))
        measured("wheel", lambda at: found.update(wheel_to_answer_s=wheel(at, machine_cache=machine_cache)))
        measured("telegram", of_telegram)
        measured("damaged", lambda at: found.update(damaged_to_green_s=damaged(at)))
    return {
        "benchmark": "stopwatch",
        "pip_cache": "the machine's" if machine_cache else "empty",
        "load": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count(),
        **{name: round(seconds, 1) for name, seconds in found.items()},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="clone, wheel, telegram, damaged; without one, all")
    parser.add_argument("--machine-cache", action="store_true", help="let pip take what it has fetched before")
    given = parser.parse_args()
    print(json.dumps(main(given.names, machine_cache=given.machine_cache)))
