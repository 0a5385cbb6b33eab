"""The questions, lists and reports of /forget, and which request a button stands for. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from memory.ledger.types import Note
from memory.ports import Row
from memory.privacy import erasure
from memory.privacy.forget import Echo, Foreseen, Proof
from memory.privacy.plan import ForgetCounts, ForgetRequest
from memory.text import folded
from memory.types import ListedItem

LISTED = 8
SHORT_CHARS = 2
FOUND_MOST = 200
QUOTED_CHARS = 140
BUTTONS_A_ROW = 4
QUOTED_ECHOES = 3
OF_GROUP = "group"
"""The word by which an admin of a group means all that was said there, by everybody."""
OF_ALL = "of_all"
"""In a button's payload: an admin asked, for what others said, too."""
STOPPING = ("session", "everything", OF_GROUP)
"""An answer that is being made is stopped before these."""


@dataclass(frozen=True, slots=True)
class ForgetMatch:
    """A note or a turn that holds the words that were asked for."""

    payload: dict[str, list[str]]
    line: str


def menu() -> OutgoingMessage:
    """Return the things that can be forgotten, as buttons."""
    choices = (
        (replies.say("forget_last"), "last"),
        (replies.say("forget_session"), "session"),
        (replies.say("forget_all"), "everything"),
    )
    rows = [(Button(label, "forget_ask", {"what": what}),) for label, what in choices]
    return OutgoingMessage(
        replies.say("forget_menu"), buttons=(*rows, (Button(replies.say("never_mind"), "forget_no"),))
    )


def question(
    what: str, payload: Mapping[str, Any], foreseen: Foreseen, *, private: bool, is_rest: bool = False
) -> OutgoingMessage:
    """Return the question before anything is forgotten, with what would go: nothing is confirmed unseen.

    The answer's button carries ids alone, never words. Of a note alone the messages stay, unless they are asked for.
    `is_rest`: its notes are used no more already, whatever is answered.
    """
    if foreseen.echoes:
        payload = {**payload, "turn_ids": [*payload.get("turn_ids", ()), *(each.turn_id for each in foreseen.echoes)]}
    table = "forget_ask" if private else "forget_ask_group"
    yes = Button(replies.say("forget_yes"), "forget_yes", payload)
    more = Button(replies.say("forget_messages_too"), "forget_ask", {**payload, "messages_too": True})
    no = Button(replies.say("never_mind"), "forget_no", {"is_rest": True} if is_rest else {})
    buttons = (*([more] if what == "notes" else ()), yes, no)
    parts = [replies.say(f"{table}.{what}"), goes_text(foreseen, counted=what in STOPPING)]
    stays = "; ".join(replies.shorten(text, QUOTED_CHARS) for text in foreseen.stays[:LISTED])
    parts += [replies.say("forget_stays", texts=stays)] if stays else []
    final = replies.say("forget_final" if what in STOPPING else "forget_final_notes")
    return OutgoingMessage("\n\n".join((*parts, final)), buttons=(buttons,))


def goes_text(foreseen: Foreseen, *, counted: bool = False) -> str:
    """Return the lines that would go, or how much of a whole conversation."""
    if counted:
        return replies.say("forget_goes_counted", what=counts_text(foreseen.counts))
    goes = (
        ("forget_goes_said", foreseen.said),
        ("forget_goes_note", foreseen.notes),
        ("forget_goes_reminder", foreseen.reminders),
    )
    lines = [replies.say(line, text=replies.shorten(text, QUOTED_CHARS)) for line, texts in goes for text in texts]
    echoes = (_around(each.text, min(each.words)) for each in foreseen.echoes)
    lines += [replies.say("forget_goes_answer", text=text) for text in echoes]
    if not lines:
        gone = (replies.shorten(text, QUOTED_CHARS) for text in foreseen.forgotten)
        lines = [replies.say("forget_goes_gone", text=text) for text in gone]
    more = [replies.say("forget_goes_more", count=len(lines) - LISTED)] if len(lines) > LISTED else []
    return "\n".join([replies.say("forget_goes_head"), *lines[:LISTED], *more])


def payload_of(items: Sequence[ListedItem]) -> dict[str, list[str]]:
    """Return the payload that forgets these lines of a list: notes by their ids."""
    return {"note_ids": list(dict.fromkeys(item.ref for item in items))}


def found_list(words: str, found: Sequence[ForgetMatch], *, of_all: bool = False) -> OutgoingMessage:
    """Return the list of finds for the words, with a button for each of the first eight and one for all of it.

    `of_all`: it is what others said, too, and an admin of their group asks.
    """
    also: dict[str, Any] = {OF_ALL: True} if of_all else {}
    lines = [replies.say("forget_found", words=words)]
    lines += [f"{number}. {each.line}" for number, each in enumerate(found[:LISTED], 1)]
    if len(found) > LISTED:
        lines.append(replies.say("forget_found_more", count=len(found) - LISTED))
    single = [
        Button(replies.say("forget_number", number=number), "forget_ask", {**each.payload, **also})
        for number, each in enumerate(found[:LISTED], 1)
    ]
    rows = [tuple(single[at : at + BUTTONS_A_ROW]) for at in range(0, len(single), BUTTONS_A_ROW)]
    if len(found) > 1:
        together: dict[str, list[str]] = {}
        for each in found:
            for name, ids in each.payload.items():
                together.setdefault(name, []).extend(ids)
        rows.append((Button(replies.say("forget_all_found", count=len(found)), "forget_ask", {**together, **also}),))
    rows.append((Button(replies.say("never_mind"), "forget_no"),))
    return OutgoingMessage("\n".join(lines), buttons=tuple(rows))


def found_in(notes: Sequence[Note], turns: Sequence[Row], words: str) -> list[ForgetMatch]:
    """Return notes first, then turns, each with one line around the words."""
    noted = [ForgetMatch({"note_ids": [note.note_id]}, replies.shorten(note.text, QUOTED_CHARS)) for note in notes]
    said = [
        ForgetMatch({"turn_ids": [row["turn_id"]]}, replies.say("forget_said", text=_said(row, words))) for row in turns
    ]
    return noted + said


def _said(row: Row, words: str) -> str:
    text = row["user_text"] if words.casefold() in row["user_text"].casefold() else row["assistant_text"]
    return _around(text, words)


def _around(text: str, words: str) -> str:
    """Return the words with what stands around them, on one line."""
    at = text.casefold().find(words.casefold())
    start = max(0, at - QUOTED_CHARS // 3)
    return ("…" if start else "") + replies.shorten(text[start:], QUOTED_CHARS)


def says_all(row: Row, words: str) -> bool:
    """Tell whether a message or its answer holds all of the words that tell, with or without accents."""
    said = folded(f"{row['user_text']}\n{row['assistant_text']}")
    return all(folded(word) in said for word in erasure.telling_words([words]) or words.split())


def telling_words(text: str) -> set[str]:
    """The words that a search for what to forget goes by."""
    return {word for word in re.findall(r"[^\W_]+", text.casefold()) if len(word) > SHORT_CHARS or word.isdigit()}


def request_of(payload: Mapping[str, Any], conversation_id: str, user_id: int | None) -> ForgetRequest:
    """Return the request of a confirmed button; `user_id` restricts it to the words of one person (groups)."""
    return ForgetRequest(
        conversation_id,
        turn_ids=tuple(payload.get("turn_ids", ())),
        note_ids=tuple(payload.get("note_ids", ())),
        messages_too=bool(payload.get("messages_too")),
        session_ids=tuple(payload.get("session_ids", ())),
        everything=payload.get("what") == "everything",
        user_id=user_id,
    )


def counts_text(counts: ForgetCounts) -> str:
    """Return `12 messages and their answers, 3 notes, 1 summary`."""
    named = (
        (counts.turns, "forgotten_turn"),
        (counts.notes, "note"),
        (counts.summaries, "summary"),
        (counts.jobs, "reminder"),
    )
    beside = ((count, word) for word, count in counts.beside.items())
    parts = [replies.counted(count, word) for count, word in (*named, *beside) if count]
    return ", ".join(parts) if parts else replies.say("forgotten_nothing")


def report_text(counts: ForgetCounts, proof: Proof | None = None, *, log_emptied: bool = True) -> str:
    """Return the report: how much was forgotten, and what the look into the files found."""
    text = replies.say("forgotten", what=counts_text(counts))
    if proof is None:
        return f"{text}\n{replies.say('forgotten_looking')}"
    files = replies.counted(proof.files, "file")
    if proof.set_aside:
        text += "\n" + replies.say("forgotten_aside", names=", ".join(proof.set_aside))
    if proof.found is None:
        return f"{text}\n{replies.say('forgotten_unknown')}"
    if proof.found or not log_emptied:
        return f"{text}\n{replies.say('forgotten_traces')}"
    return f"{text}\n{replies.say('forgotten_proven', files=files)}"


def with_echoes(report: OutgoingMessage, echoes: Sequence[Echo]) -> OutgoingMessage:
    """Return the report with the answers that still repeat what was forgotten, and the offer to forget those too."""
    if not echoes:
        return report
    quoted = [replies.say("quoted", text=_around(each.text, min(each.words))) for each in echoes[:QUOTED_ECHOES]]
    count = replies.counted(len(echoes), "answer")
    text = "\n".join([report.text, "", replies.say("forgotten_echoes", count=count), *quoted])
    payload = {"turn_ids": [each.turn_id for each in echoes[:FOUND_MOST]]}
    return replace(report, text=text, buttons=((Button(replies.say("forget_those_too"), "forget_ask", payload),),))
