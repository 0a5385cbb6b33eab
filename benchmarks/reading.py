"""What reading for the notes costs beside the talk itself: the whole bot against a scripted model that counts tokens.

    python benchmarks/reading.py [--kinds short daily chatty long]

Prints JSON. A model on 127.0.0.1 answers and reads; what it is given and says is counted with tiktoken, schemas too.
What it reads it notes as a model would: some lines in the words of the turns, with the turns cited. The clock is moved,
so a session falls quiet when the person pauses.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.context import COUNTER, chatter
from benchmarks.quality.plugin_returning import PERSON, TURN_LINE, Stage, is_keeping
from bot.answers.keeper import TOOL
from memory.keeper.job import SHARE_OF_TALK
from memory.keeper.session_lines import stored_lines
from tests.loopback.model import LoopbackModel, ModelRequest, Reply, ToolCall, billed

START = "2026-03-02T09:00:00"
MODEL = "openai-chat:reader-"
NOTED = 3
"""So many tasks and as many facts are drawn from one reading."""
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Said:
    """One exchange, and how long after the one before."""

    after_s: float
    user: str
    assistant: str


def noted(prompt: str) -> Reply:
    """Return changes in the words of the new turns, as many and as long as a model writes."""
    turns = TURN_LINE.findall(prompt.partition("New turns:")[2])
    said = [(int(number), text.partition(". ")[0].strip(". ")[:160]) for number, text in turns]
    changes = [_added("task", *each) for each in said[:NOTED]] + [_added("fact", *each) for each in said[-NOTED:]]
    answer = {
        "title": " ".join(said[-1][1].split()[:5]) if said else "Talk",
        "standing": ". ".join(text for _, text in said[-3:]),
        "standing_turns": [number for number, _ in said[-3:]],
        "worked_on": [],
        "changes": changes,
    }
    return [ToolCall(TOOL, answer)]


def _added(kind: str, number: int, text: str) -> dict[str, Any]:
    said = " ".join(text.split()[:10])
    return {"op": "add", "kind": kind, "text": text, "weight": 0.5, "turns": [number], "said": said}


# --- conversations --------------------------------------------------------------------------------------------------


def short() -> Iterator[Said]:
    """Eight messages within five minutes, then nothing."""
    for number in range(8):
        yield Said(40, *chatter(number))


def daily() -> Iterator[Said]:
    """Five messages a day for eight days: every session starts with a small prompt."""
    for number in range(40):
        yield Said(DAY_S if number % 5 == 0 else 60, *chatter(number))


def chatty() -> Iterator[Said]:
    """Sixty short messages, three minutes apart: the session falls quiet after each."""
    for number in range(60):
        user, assistant = chatter(number)
        yield Said(180, user.partition(".")[0][:60] + ".", assistant.partition(".")[0] + ".")


def long() -> Iterator[Said]:
    """Write a hundred and twenty messages in one sitting, half a minute apart."""
    for number in range(120):
        yield Said(30, *chatter(number))


KINDS = {"short": short, "daily": daily, "chatty": chatty, "long": long}


# --- played ---------------------------------------------------------------------------------------------------------


class Reader(Stage):
    """The bot with a model that answers and reads."""

    def kept(self, prompt: str) -> Reply:
        """Return the notes of a request."""
        return noted(prompt)


async def played(kind: str) -> dict[str, Any]:
    """Hold a conversation with the bot, have it read whatever falls due, and return the bill."""
    said, model = list(KINDS[kind]()), LoopbackModel(tokens=COUNTER.count)
    case = {"language": "en", "persona": "assistant", "sessions": [{"start": START}], "memory_model": MODEL + kind}
    with tempfile.TemporaryDirectory() as folder:
        async with Reader(case, Path(folder), model) as stage:
            memory = stage.app.services.memory
            for turn in said:
                stage.clock.advance(turn.after_s)
                await memory.keeper.read_due()
                await stage.say(turn.user, turn.assistant)
            stage.clock.advance(DAY_S)
            await memory.keeper.read_due()
            lines = await stored_lines(memory.db, f"tg:{stage.app.services.me.bot_id}:{PERSON}:0")
    bills = [(is_keeping(asked.body["messages"]), bill(asked)) for asked in model.requests]
    talk = sum(tokens for reading, tokens in bills if not reading)
    readings = [tokens for reading, tokens in bills if reading]
    read = sum(line.read_through_seq for line in lines.values())
    return {
        "turns": len(said),
        "talk_tokens": talk,
        "readings": len(readings),
        "reading_tokens": sum(readings),
        "share": round(sum(readings) / talk, 3),
        "allowed": SHARE_OF_TALK,
        "turns_read_by_model": round(read / len(said), 3),
        "tokens_per_reading": round(sum(readings) / len(readings)) if readings else 0,
    }


def bill(asked: ModelRequest) -> int:
    """Return the tokens of a request and its answer."""
    return sum(billed(asked.body, asked.reply, COUNTER.count))


async def run(kinds: Sequence[str]) -> dict[str, Any]:
    COUNTER.warm()
    return {"bench": "reading"} | {kind: await played(kind) for kind in kinds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", choices=sorted(KINDS), default=list(KINDS))
    print(json.dumps(asyncio.run(run(parser.parse_args().kinds)), indent=1))


if __name__ == "__main__":
    main()
