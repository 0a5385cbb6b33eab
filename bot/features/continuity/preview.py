"""A bootstrap as the user sees it on Telegram: the preview with its buttons. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf
from typing import Any

from bot import replies
from bot.dates import days_from
from bot.delivery.outbox import Button, OutgoingMessage
from bot.lines import note_line
from memory.continuity.bootstrap import BootstrapPreview
from memory.continuity.types import Arc
from memory.ledger import series
from memory.ledger.apply import folded
from memory.ledger.own_dates import at_next_date, has_own_dates
from memory.ledger.types import Ledger, Note
from memory.ledger.views import comes_by_itself, dates_to_come, day_it_is_for, is_over
from memory.text import shorten

LABEL_CHARS = 36
NEAR_MOST = 3
"""So many events of today and tomorrow stand there that are nothing to go on with."""
SESSIONS = 3
"""So many sessions are offered beside what can be carried forward; /sessions shows all."""

MATTER, COMING, IN_MIND = range(3)
HEADS = {COMING: "carry_coming", IN_MIND: "carry_in_mind"}
"""What stands over notes with which nobody goes on, where others are above them."""

Rows = tuple[tuple[Button, ...], ...]


def preview_lines(shown: BootstrapPreview, ledger: Ledger, now_ms: int, zone: str) -> list[str]:
    """Return the notes that would be carried, a line each: as they stand now; vaguer where they are not sure.

    By their days, as on other lists, a series by its next: those without one behind them, then events that are over.
    Behind what somebody goes on with stand events to come, with those of today and tomorrow that come by themselves,
    and what lasts, which is kept in mind.
    """
    carried, dates = {arc.number for arc in shown.arcs}, dates_to_come(ledger, now_ms)
    coming = [note for note in dates if note.kind == "event" and note.number not in carried]
    found: list[tuple[Arc | None, Note | None]] = [
        (arc, _first_of_its_name(ledger.find(arc.number), dates, carried)) for arc in shown.arcs
    ]
    near = [note for note in coming if days_from(note.due_at_ms or 0, now_ms, zone) <= 1] if found else []
    found += [(None, ledger.find(note.number)) for note in near[:NEAR_MOST]]
    found.sort(key=lambda each: _by_time(each[1], now_ms))
    lines, above = list[str](), MATTER
    for arc, note in found:
        under = _under(note, now_ms)
        if under != above and lines:
            lines.append(f"\n{replies.say(HEADS[under])}")
        lines, above = [*lines, f"• {_preview_line(arc, note, now_ms, zone)}"], under
    return lines


def _first_of_its_name(note: Note | None, dates: Sequence[Note], carried: Collection[int]) -> Note | None:
    """The event, or the next that is called the same and is not shown itself: the stall of the 12th before the 17th."""
    if note is None or note.kind != "event" or note.repeats or note.due_at_ms is None:
        return note
    named = (each for each in dates if folded(each.text) == folded(note.text))
    return next((each for each in named if each.number == note.number or each.number not in carried), note)


def _by_time(note: Note | None, now_ms: int) -> tuple[int, bool, float]:
    at_ms = None if note is None else _day(at_next_date(series.at_its_date(note, now_ms), now_ms))
    if note is not None and note.ends_at_ms is not None and at_ms is not None and at_ms <= now_ms:
        at_ms = note.ends_at_ms
    is_behind = note is not None and is_over(note, now_ms)
    return _under(note, now_ms), is_behind, inf if at_ms is None else at_ms


def _day(note: Note) -> int | None:
    """The day of a note; of a series at its next date that date's, though its ring may be the next year's."""
    return note.due_at_ms if has_own_dates(note) else day_it_is_for(note)


def _under(note: Note | None, now_ms: int) -> int:
    if note is None or not (note.lasts or comes_by_itself(note, now_ms)):
        return MATTER
    return IN_MIND if note.lasts else COMING


def _preview_line(arc: Arc | None, note: Note | None, now_ms: int, zone: str) -> str:
    if arc is not None and arc.generalized:
        return replies.say("offer_unsure", title=arc.title)
    if note is None:
        return arc.summary if arc else ""
    return note_line(note, now_ms, zone, brief=True)


def carried_message(name: str, turn_id: str, *, is_first: bool) -> OutgoingMessage:
    """Return the small line under the first answer that names the matter that goes on."""
    payload = {"turn_id": turn_id}
    buttons = [Button(replies.say("start_fresh"), "fresh_again", payload)]
    buttons += [Button(replies.say("ask_first"), "ask_first", payload)] if is_first else []
    rows = tuple((button,) for button in buttons)
    return OutgoingMessage(replies.say("carried_on", name=name), buttons=rows)


def offer_message(
    shown: BootstrapPreview,
    told: Sequence[str],
    turn_id: str,
    dropped: Sequence[str],
    edits_message_id: int | None = None,
    *,
    editing: bool = False,
) -> OutgoingMessage:
    """Return the question at the start of a session; it says that the message waits for the answer.

    While one edits it, a row for each line that can be left out takes the place of the other choices.
    """
    payload = {"turn_id": turn_id, "dropped": list(dropped)}
    go_on = Button(replies.say("carry_on") if shown.arcs else replies.say("go_on"), "carry_on", payload)
    fresh = Button(replies.say("start_fresh"), "start_fresh", payload)
    if editing and shown.arcs:
        buttons = (*drop_rows(shown, payload), (go_on, _back(payload)))
    elif shown.arcs:
        always = Button(replies.say("always"), "carry_always", payload)
        buttons = ((go_on, fresh), (always, _edit(payload)))
    else:
        buttons = ((go_on, fresh),)
    lines = (replies.say("offer_head"), "", *told, "", replies.say("offer_tail"))
    text = "\n".join(lines) if shown.arcs else replies.say("nothing_left")
    text = f"{text}\n\n{replies.say('answer_waits')}"
    return OutgoingMessage(text, buttons=buttons, edits_message_id=edits_message_id)


def asked_message(
    shown: BootstrapPreview,
    told: Sequence[str],
    sessions: Rows,
    dropped: Sequence[str],
    edits_message_id: int | None = None,
    *,
    session_id: str = "",
    waits: bool = False,
    editing: bool = False,
) -> OutgoingMessage:
    """Return the answer to /continue: the matters to carry forward, then the last sessions, each a button.

    `waits` says that a message of this person waits for the choice. `session_id` is the session that it is shown in,
    where a message typed instead of a tap is taken for one.
    """
    payload = {"dropped": list(dropped), "session_id": session_id}
    carry = Button(replies.say("carry_forward"), "carry_on", payload)
    if editing and shown.arcs:
        buttons = (*drop_rows(shown, payload), (carry, _back(payload)))
    else:
        buttons = ((carry, _edit(payload)), *sessions[:SESSIONS]) if shown.arcs else sessions
    head = replies.say("continue_head_too") if shown.arcs else replies.say("continue_head")
    carried = "\n".join((replies.say("carry_head"), *told)) if shown.arcs else ""
    parts = (carried, head if sessions and not editing else "", replies.say("answer_waits") if waits else "")
    return OutgoingMessage("\n\n".join(filter(None, parts)), buttons=buttons, edits_message_id=edits_message_id)


def _edit(payload: dict[str, Any]) -> Button:
    return Button(replies.say("edit"), "edit_offer", {**payload, "editing": True})


def _back(payload: dict[str, Any]) -> Button:
    return Button(replies.say("back"), "edit_offer", {**payload, "editing": False})


def shown_message(told: Sequence[str], edits_message_id: int | None = None) -> OutgoingMessage:
    """Return the message that says that this is carried forward."""
    return OutgoingMessage("\n".join((replies.say("carrying"), *told)), edits_message_id=edits_message_id)


def drop_rows(shown: BootstrapPreview, payload: dict[str, Any]) -> Rows:
    """Return one row for each arc: a tap leaves it out."""
    return tuple(
        (
            Button(
                replies.say("drop", title=shorten(arc.title, LABEL_CHARS)),
                "drop_arc",
                {**payload, "arc_id": arc.arc_id},
            ),
        )
        for arc in shown.arcs
    )
