"""Words beside an answer: to the model, of refused changes and reminders set without it; to the person, below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import orjson

from bot import replies
from bot.answers.responder import Again, Answer, Ask, EndedPoll
from bot.intake.media import file_numbers
from bot.tools.call import CallRow
from bot.turns.services import Services
from memory.foreign import parts
from memory.ledger import lines, views
from memory.ledger.types import Actor, Note
from memory.ports import Statement
from memory.state.notes_marks import played_in
from memory.text import shorten

_WHY = {
    "unknown": "it is not there any more",
    "ended": "it had ended meanwhile",
    "changed": "somebody changed it meanwhile",
    "known": "it was noted meanwhile",
    "past": "its time was over",
    "date": "that date was changed meanwhile",
}

ANOTHER = "The person asked for another answer to this message than the one you gave above."
EDITED = (
    "This message was edited after you had answered it. That answer is gone, and so is anything you noted "
    "for it: do anew what it asks for as it reads now."
)
JOINED = (
    "You answered this message without what was noted and said before. The person has brought that back; anything you "
    "noted for it is gone: do anew what it asks for."
)
_AGAIN: Final[dict[Again, str]] = {"asked": ANOTHER, "edited": EDITED, "joined": JOINED}

PLAYED = "Some of the earlier messages here were played in a role: fiction, none of it happened or is to be done."
DELETED = (
    "Deleted by the person: file {names}. Nobody can look at it any more. What you know of it is from your messages or "
    "notes: say that, not that it stands there."
)


async def notices(services: Services, ask: Ask) -> tuple[str, ...]:
    """Notices about the turn before, and about this one when it was tried before. Raises `StorageUnavailable`."""
    decided = (_decided(call, ask) for call in ask.news)
    told = (*await _not_stored(services, ask), *_set_before(ask), *decided, *_ended(ask))
    scene = PLAYED if played_in(ask.state, ask.scope.persona, services.personas.plays) != ask.scope.persona else ""
    return (*told, *await _taken_back(services, ask), *await _deleted(services, ask), *filter(None, [scene]))


def orders(ask: Ask) -> tuple[str, ...]:
    """What the program asks for with a message that was answered before."""
    return (_AGAIN[ask.why_again],) if ask.repeats else ()


async def _deleted(services: Services, ask: Ask) -> list[str]:
    """Files of which the prompt tells and that are not here any more."""
    packet = ask.packet
    spoken_of = (ask.text, *(turn.user_text for turn in packet.history), *(item.text for item in packet.retrieved))
    numbers = file_numbers("\n".join(spoken_of))
    shelf, here = services.files.shelf, ask.conversation_id
    known = {file.number for file in await shelf.all(here)} if numbers else set()
    gone = [f"#{each}" for each in numbers if each not in known and await shelf.find(here, each) is None]
    return [DELETED.format(names=", ".join(gone))] if gone else []


async def _taken_back(services: Services, ask: Ask) -> list[str]:
    """Notes whose changes were undone with the first answer of a message, as they stand now."""
    if ask.why_again == "asked":
        return []
    before = ask.repeats
    causes = [await services.memory.ledgers.caused_by(ask.conversation_id, f"edit:{turn_id}") for turn_id in before]
    doubtful = {
        note.number for note in ask.ledger if note.is_open and note.doubtful and set(before) & set(note.turn_ids)
    }
    numbers = sorted(doubtful.union(change.number for changes in causes for change in changes))
    notes = [note for number in numbers if (note := ask.ledger.find(number)) and views.belongs(note, ask.scope)]
    return [f"How the notes of that answer stand now: {'; '.join(_line(note, ask) for note in notes)}"] if notes else []


def _decided(call: CallRow, ask: Ask) -> str:
    """The outcome of a call about which the person was asked."""
    became = {
        "done": "is done",
        "failed": "was tried and failed",
        "declined": "was declined by the person" + (", for good" if call.tool in ask.switched_off else ""),
        "expired": "was not answered by the person in time and is not done",
    }.get(call.state, "is left as it is; nobody knows whether it happened")
    more = f" (read_result {call.number} has what came of it)" if call.result else ""
    return f"The call of {call.tool} with {shorten(call.arguments_json, 200)} {became}{more}."


async def ended_polls(services: Services, conversation_id: str, session_id: str | None) -> tuple[EndedPoll, ...]:
    """Return the polls of a conversation, or of one session alone, whose end was not told yet.

    Raises `StorageUnavailable`.
    """
    rows = await services.db.read("polls_ended", conversation_id=conversation_id)
    return tuple(EndedPoll(**row) for row in rows if session_id in (None, row["session_id"]))


def polls_told(ask: Ask) -> list[Statement]:
    """Return the statements that note that the ends of these polls were told, for the transaction of the turn."""
    return [
        Statement("poll_gone", {name: getattr(poll, name) for name in ("bot_id", "poll_id", "conversation_id")})
        for poll in ask.polls
    ]


def _ended(ask: Ask) -> list[str]:
    """Ends of polls, unless the messages tell of them anyway."""
    shown = {turn.turn_id for turn in ask.packet.history}
    return ["\n".join(text for _, text in parts(poll.outcome)) for poll in ask.polls if poll.turn_id not in shown]


async def _not_stored(services: Services, ask: Ask) -> list[str]:
    last = next(iter(services.memory.recorder.at_hand(ask.state.session_id)[-1:]), None)
    if last is None or not last.tool_calls:
        return []
    rows = await services.db.read(
        "note_refusals_of_turn",
        conversation_id=ask.conversation_id,
        hand="model",
        turn_ids_json=orjson.dumps([last.turn_id]).decode(),
    )
    lost = (row for row in rows if row["reason"].partition(" ")[0] != "same")  # else it stands as the model was told
    return [_sentence(orjson.loads(row["change_json"]), row["reason"], ask) for row in lost]


def _sentence(change: dict[str, Any], reason: str, ask: Ask) -> str:
    """One change that was not stored as the model was told, and the note's state."""
    code, _, detail = reason.partition(" ")
    number = change.get("number")
    if code == "number":
        return f"The note that was told to you as #{number} is {detail}: {change.get('text', '')}"
    note = ask.ledger.find(int(number)) if number else None
    now = f" It stands now: {_line(note, ask)}" if note is not None and views.belongs(note, ask.scope) else ""
    what = f"#{number}" if number else f"“{change.get('text', '')}”"
    return f"Of your last turn, “{change.get('op')}” of {what} was not stored: {_WHY.get(code, reason)}.{now}"


def _set_before(ask: Ask) -> list[str]:
    """Reminders that the program set for this very message while the model could not be reached."""
    there = [note for note in views.within(ask.ledger, ask.scope) if ask.turn_id in note.turn_ids]
    return [f"Set already for this message, while you could not be reached: {_line(note, ask)}" for note in there]


def _line(note: Note, ask: Ask) -> str:
    return lines.model_line(note, ask.now_ms, ask.time_zone)


# --- without the model ----------------------------------------------------------------------------------------------


async def set_without_model(services: Services, ask: Ask, texts: Sequence[str]) -> list[Note]:
    """Set the reminders that these messages ask for, bound to their turn, and return its notes; [] where none does.

    A message that is tried again sets it once: the note's id is the turn's. Raises `StorageUnavailable`.
    """
    if ask.third_party or ask.state.private or not services.settings.by_model:
        return []
    from bot.offline.safety import reminder_of

    single = [each for text in texts if len(texts) > 1 for each in reminder_of(replace(ask, text=text))]
    operations = single or reminder_of(ask)
    if operations:
        by = Actor("offline", services.clock.now_ms(), ask.turn_id)
        await services.memory.change(ask.conversation_id, operations, by)
        services.reminders.look()
    ledger = await services.memory.ledgers.read(ask.conversation_id)
    return [note for note in views.standing(ledger) if ask.turn_id in note.turn_ids]


def with_footnotes(answer: Answer, *, is_near: bool) -> str:
    """Return an answer as it is shown: with small lines under it, which are no part of its text."""
    lines = [*answer.footnotes, *([replies.say("footnote_near")] if is_near else [])]
    return "\n\n".join([answer.text, *(f"_{line}_" for line in lines)])
