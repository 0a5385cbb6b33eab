"""Three made-up people who come back (`cases/returns.toml`): what they see when rules have read, and when a model has.

    python -m benchmarks.quality.samples [--write docs/explanation/sample-returns.md]

The model is scripted: it writes the notes that stand in the file beside each session. What the bot believes of them,
and what it makes of them, is the bot's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from benchmarks.quality import plugins
from benchmarks.quality.plugin_returning import ACKNOWLEDGED, LISTS, TURN_LINE, Stage
from bot.answers.keeper import TOOL
from tests.loopback.model import Reply, ToolCall

CASES = Path(__file__).parent / "cases" / "returns.toml"
SHOWN = ("preview", "loops", "memory")
QUIET_S = 600
END = "## What is still missed"


def people() -> list[dict[str, Any]]:
    """Return the people of the file."""
    return list(tomllib.loads(CASES.read_text(encoding="utf-8"))["person"])


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


def by_rules(person: dict[str, Any]) -> dict[str, Any]:
    """Return what a person sees at their return when nobody but the rules has read."""
    return plugins.returning(case_of(person))


def by_model(person: dict[str, Any]) -> dict[str, Any]:
    """Return what they see when a model has read each session."""
    return asyncio.run(_play(person))


class _Read(Stage):
    """A bot whose model notes what the file says."""

    def kept(self, prompt: str) -> Reply:
        """Return what the file says of the session whose turns are shown as new, its turns by their numbers here."""
        new = TURN_LINE.findall(prompt.partition("New turns:")[2])
        read = (each["notes"] for each in self._case["read"] if each["turns"][0][0] == new[0][1])
        answer = json.loads(next(read, "{}"))
        before = int(new[0][0]) - 1
        for change in answer.get("changes", ()):
            change["turns"] = [number + before for number in change["turns"]]
        return [ToolCall(TOOL, answer | {"standing_turns": []})]


async def _play(person: dict[str, Any]) -> dict[str, Any]:
    case = case_of(person) | {
        "memory_model": f"openai-chat:reader-{people().index(person)}",
        "read": person["sessions"],
    }
    with tempfile.TemporaryDirectory() as folder:
        async with _Read(case, Path(folder)) as stage:
            for session in case["sessions"]:
                stage.clock.set(session["start"])
                for turn in session["turns"]:
                    stage.clock.advance(turn["after_s"])
                    await stage.say(turn["user"], turn["assistant"])
                stage.clock.advance(QUIET_S)
                await stage.read_all()
            stage.clock.set(case["return_at"])
            preview = await stage.say(case["return_message"], ACKNOWLEDGED)
            shown: dict[str, Any] = {"preview": preview or await stage.command("continue")}
            return shown | {name: await stage.command(name) for name in LISTS}


def as_markdown(person: dict[str, Any]) -> str:
    """Return a person's return as a part of the page."""
    parts = [f"## {person['title']}"]
    for title, played in (("By rules", by_rules(person)), ("With a model", by_model(person))):
        parts.append(f"### {title}")
        parts += [_block(played[name], name) for name in SHOWN]
    return "\n\n".join(parts)


def _block(text: str, name: str) -> str:
    command = "" if name == "preview" else f"/{name}\n"
    return f"```text\n{command}{text}\n```"


def main() -> None:
    """Print all returns, or put them in the place of those of a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="the page to write them into")
    page = parser.parse_args().write
    found = [(person["title"], as_markdown(person)) for person in people()]
    text = "\n\n".join(part for _, part in found)
    if page is None:
        print(text)
        return
    before, _, rest = page.read_text(encoding="utf-8").partition(f"## {found[0][0]}\n")
    page.write_text(f"{before}{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
