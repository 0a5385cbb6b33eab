"""`python -m benchmarks.trial serve|person|model|sheet FOLDER …`: see docs/how-to/try-with-a-model.md."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from benchmarks.trial.serve import serve
from benchmarks.trial.sheet import sheet


def person(folder: Path, verb: str, text: str, *, user: int, chat: int | None, wait: float) -> int:
    """Do one thing as a person and print what is new on their screen."""
    port = (folder / "port").read_text()
    body = {"verb": verb, "text": text, "user": user, "chat": chat, "wait": wait}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/do", data=json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=wait + 60) as answer:  # noqa: S310 - our own port
            found = json.loads(answer.read())
    except urllib.error.HTTPError as exc:
        print(exc.read().decode())
        return 1
    print(f"chat {found['chat']}" if found["chat"] else found["shown"] or f"(nothing new; the bot is {found['bot']})")
    return 0


def next_request(folder: Path, wait_s: float) -> int:
    """Print the oldest request that nobody has answered; wait for one."""
    end_s = time.monotonic() + wait_s
    while time.monotonic() < end_s:
        for path in sorted((folder / "model").glob("*.request.txt")):
            number = path.name[:3]
            if not any(
                (folder / "model" / f"{number}.{end}").exists() for end in ("answer.json", "answer.txt", "gone")
            ):
                print(f"REQUEST {number}\n{path.read_text()}")
                return 0
        time.sleep(0.3)
    print("(no request)")
    return 0


def answer(folder: Path, number: str, text: str, calls: str) -> int:
    """Write an answer: a text, or calls of tools as a JSON list of `{"name", "arguments"}`."""
    written = {"text": text, "tool_calls": json.loads(calls) if calls else []}
    fresh = folder / "model" / f"{number}.new"
    fresh.write_text(json.dumps(written, ensure_ascii=False))
    fresh.rename(folder / "model" / f"{number}.answer.json")
    return 0


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trial", description=__doc__)
    parser.add_argument("what", choices=["serve", "person", "next", "answer", "sheet"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--user", type=int, default=101)
    parser.add_argument("--chat", type=int)
    parser.add_argument("--wait", type=float, default=240)
    parser.add_argument("--calls", default="")
    given = parser.parse_args()
    if given.what == "serve":
        given.folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve(given.folder))
        return 0
    if given.what == "sheet":
        print(sheet(given.folder))
        return 0
    if given.what == "next":
        return next_request(given.folder, given.wait)
    first, rest = given.words[0], " ".join(given.words[1:])
    if rest == "-":
        rest = sys.stdin.read().strip()
    if given.what == "answer":
        return answer(given.folder, first, rest, given.calls)
    return person(given.folder, first, rest, user=given.user, chat=given.chat, wait=given.wait)


if __name__ == "__main__":
    sys.exit(main())
