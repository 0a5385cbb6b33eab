"""`python -m benchmarks.quality.samples`: play three made-up people (`cases/returns.toml`) and print what they see."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from benchmarks.quality import plugins

CASES = Path(__file__).parent / "cases" / "returns.toml"


def case_of(person: dict[str, Any]) -> dict[str, Any]:
    """Return one person as the player takes them, a minute between two messages."""
    sessions = [
        {
            "start": session["start"],
            "turns": [{"user": user, "assistant": answer, "after_s": 60} for user, answer in session["turns"]],
        }
        for session in person["sessions"]
    ]
    return {**person, "language": "en", "sessions": sessions, "expect": {"callbacks": []}}


def main() -> None:
    """Print each person's return as Markdown."""
    for person in tomllib.loads(CASES.read_text(encoding="utf-8"))["person"]:
        played = plugins.returning(case_of(person))
        print(f"## {person['title']}\n")
        for name in ("preview", "loops", "memory"):
            print(f"```text\n{'' if name == 'preview' else '/' + name + chr(10)}{played[name]}\n```\n")


if __name__ == "__main__":
    main()
