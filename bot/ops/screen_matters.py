"""How `matters list` and `prompt` look."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console

from bot.answers.prompts import as_json
from bot.ops.format import moment
from bot.ops.matters import Matters
from bot.ops.prompts import SeenPrompt
from bot.ops.screen import columns, said
from memory.types import ToolCall
from memory.zones import zone_of


def matters_as_json(found: Matters) -> dict[str, Any]:
    """Return notes, open matters and reminders as JSON values, each with its id."""
    return {
        "conversation_id": found.conversation_id,
        "notes": [{"id": each.ref, "text": each.text, "at_ms": each.at_ms} for each in found.notes],
        "open": [
            {
                "id": each.loop.loop_id,
                "text": each.loop.text,
                "owner": each.loop.owner,
                "due_at_ms": each.loop.due_at_ms,
            }
            for each in found.loops
        ],
        "reminders": [
            {"id": each.job_id, "title": each.title, "status": each.status, "due_at_ms": each.due_at_ms}
            for each in found.reminders
        ],
    }


def show_matters(console: Console, found: Matters) -> None:
    """Show notes, open matters and reminders with the ids that name them."""
    rows = [("note", each.ref, each.words) for each in found.notes]
    rows += [("open", each.loop.loop_id, each.words) for each in found.loops]
    for each in found.reminders:
        due = moment(each.due_at_ms, zone_of(each.time_zone)) if each.due_at_ms else "no time"
        rows.append(("reminder", each.job_id, f"{each.title} ({each.status}, {due} {each.time_zone})"))
    if not rows:
        console.print("Nothing is noted, open or to come.")
        return
    table = columns("what!", "id", "")
    for what, ref, words in rows:
        table.add_row(what, said(ref), said(words))
    console.print(table)


def prompt_as_json(seen: SeenPrompt) -> dict[str, Any]:
    """Return the prompt of an answer as JSON values."""
    prompt = None
    if seen.prompt:
        messages = {"messages": seen.prompt.messages, "steps": seen.prompt.steps}
        prompt = asdict(seen.prompt) | {name: list(map(as_json, found)) for name, found in messages.items()}
    return {
        "turn_id": seen.turn.turn_id,
        "exact": seen.is_exact,
        "why": seen.why,
        "prompt": prompt,
        "found": [each.model_dump(mode="json") for each in seen.retrieved],
    }


def _call(call: ToolCall) -> str:
    """Return a call of a tool, or what it returned."""
    return f"{call.name}: {call.result}" if call.result else f"{call.name}({call.arguments})"


def show_prompt(console: Console, seen: SeenPrompt) -> None:
    """Show what the model was given, message by message, and whether that is proven."""
    if seen.prompt is None:
        console.print(f"It is not kept: {seen.why}.", highlight=False)
        return
    proof = "This is what was sent, to the letter." if seen.is_exact else f"Not proven to be what was sent: {seen.why}."
    for title, text in (("instructions", seen.prompt.instructions), ("carried forward", seen.prompt.bootstrap)):
        if text:
            console.rule(title, align="left")
            console.print(said(text))
    for message in (*seen.prompt.messages, *seen.prompt.steps):
        console.rule(message.role, align="left")
        console.print(said("\n".join(filter(None, (message.text, *map(_call, message.tool_calls))))))
    console.print(proof, style="green" if seen.is_exact else "yellow", highlight=False)
