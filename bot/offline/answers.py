"""Answers without a model: short sentences of our own around notes and quotes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot import replies
from bot.answers.responder import QUOTED_MATTER, Ask
from bot.dates import every_text, when_text
from bot.lines import bare, name_of, note_line
from bot.offline.forms import content_of, shared
from bot.offline.words import Words
from memory.ledger.types import Add, Applied, Change, End, Note, Operation, Outcome
from memory.ledger.views import best_first, moment_of, to_do, within
from memory.text import shorten

MOST_LINES: Final = 8
MOST_QUOTES: Final = 4
QUOTED_CHARS: Final = 160
ALIKE: Final = 0.5
"""Share of the words that are asked about which a note or a find must have."""
_USER, _ASSISTANT = "User: ", "Assistant: "


@dataclass(frozen=True, slots=True)
class Reply:
    """A text, and the part of it that the bot says in its own name."""

    text: str
    authored: str


def own(key: str, **values: object) -> Reply:
    """A sentence of ours; the person's words in it are not the bot's own."""
    text = replies.say(f"offline.{key}", **values)
    return Reply(text, replies.say(f"offline.{key}", **dict.fromkeys(values, QUOTED_MATTER)))


def joined(parts: Iterable[Reply], by: str = "\n") -> Reply:
    """Several replies as one."""
    parts = list(parts)
    return Reply(by.join(part.text for part in parts), by.join(part.authored for part in parts))


def bullets(head: Reply, lines: Sequence[str]) -> Reply:
    """A head with lines below it."""
    return Reply("\n".join([head.text, *(f"• {line}" for line in lines)]), head.authored)


def when(at_ms: int, ask: Ask, *, exact: bool = True) -> str:
    """`tomorrow at 09:00`, `on Fri 27 Nov`, in the language that is spoken."""
    return when_text(at_ms, ask.now_ms, ask.time_zone, replies.spoken(), exact=exact)


def line(note: Note, ask: Ask) -> str:
    """A note as a line of a list: with its time where it has one."""
    return note_line(note, ask.now_ms, ask.time_zone)


# --- what was done ----------------------------------------------------------------------------------------------------


def told(operations: Sequence[Operation], outcomes: Sequence[Outcome], after: Iterable[Note], ask: Ask) -> list[Reply]:
    """A sentence on each operation, by its outcome."""
    after = list(after)
    parts = [_told(operation, outcome, after, ask) for operation, outcome in zip(operations, outcomes, strict=True)]
    found = [part for part in parts if part]
    ended = [each for each in operations if isinstance(each, End) and each.how == "done"]
    if ended and found:
        left = to_do(after, ask.now_ms)
        one = own("others", text=line(left[0], ask)) if len(left) == 1 else None
        rest = own("nothing_else") if not left else one
        found = [joined([*found, rest], " ")] if rest else found
    return found


def _told(operation: Operation, outcome: Outcome, notes: Sequence[Note], ask: Ask) -> Reply | None:
    if not isinstance(outcome, Applied):
        known = next((note for note in notes if note.number == outcome.number), None)
        return own("known", text=known.text) if known and outcome.code == "known" else None
    note = outcome.note
    if isinstance(operation, End):
        if note.lasts:
            return own("off_notes", text=sentence_inside(note.text))
        text = sentence_inside(name_of(note)) if note.kind == "event" else name_of(note)
        return own("done" if operation.how == "done" else "dropped", text=text)
    if isinstance(operation, Change):
        return _reminding(note, ask) if note.rings_at_ms is not None else own("changed", text=line(note, ask))
    return _noted(note, ask) if isinstance(operation, Add) else None


def _noted(note: Note, ask: Ask) -> Reply:
    if note.rings_at_ms is not None:
        return _reminding(note, ask)
    if note.kind == "event" and note.due_at_ms is not None:
        return own("fact", text=f"{bare(line(note, ask))}.")
    if note.kind in {"task", "promise"}:
        return own("task", text=line(note, ask))
    return own("decision" if note.kind == "decision" else "fact", text=sentence_inside(note.text))


def sentence_inside(text: str) -> str:
    """A sentence as it is written behind a colon."""
    return text[:1].lower() + text[1:]


def _reminding(note: Note, ask: Ask) -> Reply:
    at = when(note.rings_at_ms or ask.now_ms, ask)
    if note.repeats:
        return own("reminding_again", every=every_text(note.repeats, replies.spoken()), when=at, text=name_of(note))
    return own("reminding", when=at, text=name_of(note))


# --- what is asked ----------------------------------------------------------------------------------------------------


def open_list(notes: Iterable[Note], ask: Ask) -> Reply:
    """The notes with something to do."""
    left = to_do(notes, ask.now_ms)
    if not left:
        return own("open_none")
    if len(left) == 1:
        return own("open_one", text=line(left[0], ask))
    return bullets(own("open_many"), [line(note, ask) for note in left[: 2 * MOST_LINES]])


def known_list(notes: Iterable[Note], ask: Ask, kinds: Iterable[str] = ()) -> Reply:
    """The notes, best first; of some kinds alone when they are named."""
    kinds = frozenset(kinds)
    kept = [note for note in best_first(notes, ask.now_ms) if not kinds or note.kind in kinds]
    if not kept:
        return own("decided_none" if kinds else "know_nothing")
    return bullets(own("decided" if kinds else "know"), [dated(note, ask) for note in kept[: 2 * MOST_LINES]])


def dated(note: Note, ask: Ask) -> str:
    """A note with the day on which it was said, or its own where it has one."""
    if moment_of(note) is not None:
        return line(note, ask)
    return f"{name_of(note)} ({day(note.said_at_ms, ask)})"


def day(at_ms: int, ask: Ask) -> str:
    """The day of something that was said."""
    return when(at_ms, ask, exact=False)


def about(what: str, ask: Ask, words: Words) -> Reply | None:
    """Notes and quotes about something; None for none."""
    asked = content_of(what, words)
    if not asked:
        return None
    notes = [note for note in within(ask.ledger, ask.scope) if fits(asked, note.text, words)]
    lines = [dated(note, ask) for note in best_first(notes, ask.now_ms)[:MOST_LINES]]
    told_by = {turn_id for note in notes for turn_id in note.turn_ids}
    lines += list(_quotes(asked, ask, words, told_by))[:MOST_QUOTES]
    return bullets(own("know_about", about=what), lines) if lines else None


def fits(asked: list[str], text: str, words: Words) -> bool:
    """Whether a text has most of the words that are asked about."""
    return shared(asked, content_of(text, words)) / len(asked) >= ALIKE


def _quotes(asked: list[str], ask: Ask, words: Words, told_by: Iterable[str]) -> Iterable[str]:
    """Quotes with day and speaker: the hits of the search first, then the messages at hand."""
    seen = set(told_by)
    for item in ask.packet.retrieved:
        text = _said_in(item.text)
        if item.source == "turn" and item.ref not in seen and fits(asked, text, words) and not text.endswith("?"):
            seen.add(item.ref)
            mine = not item.text.startswith(_USER)
            yield replies.say("offline.me" if mine else "offline.you", day=day(item.at_ms, ask), text=_short(text))
    for turn in reversed(ask.packet.history):
        if turn.turn_id in seen or turn.unfiled or turn.user_text.endswith("?") or turn.action_name == "asked":
            continue
        if fits(asked, turn.user_text, words):
            seen.add(turn.turn_id)
            name = ask.packet.speakers.get(turn.user_id or 0, "") if turn.user_id != ask.user_id else ""
            key = "offline.named" if name else "offline.you"
            yield replies.say(key, name=name, day=day(turn.created_at_ms, ask), text=_short(turn.user_text))


def _said_in(text: str) -> str:
    """The person's side of a find, else the assistant's."""
    first = text.split(f"\n{_ASSISTANT}", 1)[0]
    return first.removeprefix(_USER).removeprefix(_ASSISTANT).strip()


def _short(text: str) -> str:
    return shorten(text, QUOTED_CHARS)
