"""Output of `notes list`, `notes history` and `prompt`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC
from typing import Any, Final

from rich.console import Console

from bot.answers.prompts import as_json
from bot.ops.format import moment
from bot.ops.records.notes import SeenNotes
from bot.ops.records.prompts import SeenPrompt
from bot.ops.screens.lines import columns, said
from memory.ledger.spans import last_of
from memory.ledger.types import Note, NoteChange
from memory.types import ToolCall
from memory.zones import zone_of

_FIELDS: Final = frozenset({"kind", "text", "owner", "status", "due_at_ms", "ends_at_ms", "rings_from", "repeats"})


def notes_as_json(found: SeenNotes) -> dict[str, Any]:
    """Return every note and every refused change as JSON values."""
    return {
        "conversation_id": found.conversation_id,
        "version": found.ledger.version,
        "notes": [each.model_dump(mode="json") for each in (*found.standing, *found.ended)],
        "refused": [asdict(each) for each in found.refused],
    }


def show_notes(console: Console, found: SeenNotes, *, ended: bool) -> None:
    """Show the notes with the numbers that name them."""
    listed = (*found.standing, *(found.ended if ended else ()))
    if not listed:
        console.print("Nothing is noted.")
    else:
        table = columns("number!", "kind", "status", "")
        for note in listed:
            table.add_row(f"#{note.number}", note.kind, note.status, said(_with_times(note)))
        console.print(table)
    for each in found.refused:
        console.print(said(f"refused ({each.hand}): {each.wanted}: {each.reason}"), style="yellow")


def _with_times(note: Note) -> str:
    zone = zone_of(note.time_zone)
    times = [f"due {moment(note.due_at_ms, zone)}"] if note.due_at_ms else []
    times += [f"ends {moment(last_ms, zone)}"] if (last_ms := last_of(note)) is not None else []
    times += [f"rings {moment(note.rings_at_ms, zone)} {note.time_zone}"] if note.rings_at_ms else []
    times += [note.repeats] if note.repeats else []
    return note.text + (f" ({', '.join(times)})" if times else "")


def show_history(console: Console, found: Sequence[NoteChange]) -> None:
    """Show the changes of a note, the first change first."""
    table = columns("version!", "when", "what", "by", "")
    for each in found:
        became = "; ".join(f"{name}: {value}" for name, value in each.after.items() if name in _FIELDS)
        told = f"{became} (“{each.said}”)" if each.said else became
        table.add_row(str(each.version), moment(each.at_ms, UTC), each.verb, each.hand, said(told))
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
    """Return a call of a tool, or its result."""
    return f"{call.name}: {call.result}" if call.result else f"{call.name}({call.arguments})"


def show_prompt(console: Console, seen: SeenPrompt) -> None:
    """Show the model's prompt, message by message, and whether it is proven."""
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
