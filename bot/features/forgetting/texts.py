"""The questions, lists and reports of /forget, and which request a button stands for. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot import replies
from bot.dates import listed, when_text
from bot.delivery.markup import unmarked
from bot.delivery.outbox import Button, OutgoingMessage
from bot.features.memories import held_by
from bot.lines import bare, note_line
from memory.ledger.types import Note
from memory.ports import Row
from memory.privacy.forget import Echo, Foreseen, Proof
from memory.privacy.plan import ForgetCounts, ForgetRequest
from memory.search.same_words import Forms, asked_words, held
from memory.text import shorten, whole_sentences
from memory.types import ListedItem

LISTED = 8
FOUND_MOST = 200
QUOTED_CHARS = 140
BUTTONS_A_ROW = 4
QUOTED_ECHOES = 3
OF_GROUP = "group"
"""The word by which an admin of a group means all that was said there, by everybody."""
OF_ALL = "of_all"
"""In a button's payload: an admin asked, for words of others, too."""
BESIDE_STAYS = "beside_stays"
"""In a button's payload: of a message that was found by its words, its other notes stay."""
MOST_FROM = 3
"""Of so many words one may differ from those that were said."""
FEW = 3
"""So many notes that hold half of the words are told."""
SHARED = 2
"""So many of the words a note holds that is told where nothing holds them all."""
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
    """Return the question before anything is forgotten, with all that would go: nothing is confirmed unseen.

    The answer's button carries ids alone, never words. Of a note alone the messages stay, unless they are asked for.
    `is_rest`: its notes are used no more already, with either answer.
    """
    if foreseen.echoes:
        payload = {**payload, "turn_ids": [*payload.get("turn_ids", ()), *(each.turn_id for each in foreseen.echoes)]}
    table = "forget_ask" if private else "forget_ask_group"
    yes = Button(replies.say("forget_yes"), "forget_yes", payload)
    more = Button(replies.say("forget_messages_too"), "forget_ask", {**payload, "messages_too": True})
    no = Button(replies.say("never_mind"), "forget_no", {"is_rest": True} if is_rest else {})
    buttons = (*([more] if what == "notes" else ()), yes, no)
    parts = [replies.say(f"{table}.{'parts' if foreseen.parts else what}")]
    if what in STOPPING:
        parts.append(replies.say("forget_goes_counted", what=counts_text(foreseen.counts)))
    else:
        parts.append(goes_text(foreseen))
    stays = "\n".join(f"• {shorten(bare(text), QUOTED_CHARS)}" for text in foreseen.stays[:LISTED])
    parts += [replies.say("forget_stays", texts=stays)] if stays else []
    final = replies.say("forget_final" if what in STOPPING else "forget_final_notes")
    return OutgoingMessage("\n\n".join((*parts, final)), buttons=(buttons,))


def goes_text(foreseen: Foreseen) -> str:
    """Return the lines that would go."""
    goes = (
        ("forget_goes_said", foreseen.said),
        ("forget_goes_note", foreseen.notes),
        ("forget_goes_reminder", foreseen.reminders),
    )
    lines = [replies.say(line, text=shorten(text, QUOTED_CHARS)) for line, texts in goes for text in texts]
    for each in foreseen.parts:
        line = "forget_goes_part" if each.by_person else "forget_goes_part_answer"
        lines.append(replies.say(line, text=shorten(unmarked(each.text), QUOTED_CHARS)))
    in_part = {each.turn_id for each in foreseen.parts}
    for each in (each for each in foreseen.echoes if each.turn_id not in in_part):
        line = "forget_goes_said" if each.by_person else "forget_goes_answer"
        lines.append(replies.say(line, text=_around(each.text, each.word)))
    if not lines:
        gone = (shorten(text, QUOTED_CHARS) for text in foreseen.forgotten)
        lines = [replies.say("forget_goes_gone", text=text) for text in gone]
    more = [replies.say("forget_goes_more", count=len(lines) - LISTED)] if len(lines) > LISTED else []
    return "\n".join([replies.say("forget_goes_head"), *lines[:LISTED], *more])


def payload_of(items: Sequence[ListedItem]) -> dict[str, list[str]]:
    """Return the payload that forgets these lines of a list: notes by their ids."""
    return {"note_ids": list(dict.fromkeys(item.ref for item in items))}


def found_list(
    words: str, found: Sequence[ForgetMatch], keys: Sequence[str] = (), *, of_all: bool = False
) -> OutgoingMessage:
    """Return the list of finds for the words, with a button for each of the first eight and one for all of it.

    `keys`: the words as a button may carry them. `of_all`: words of others are among them; an admin asks.
    """
    also: dict[str, Any] = {OF_ALL: True} if of_all else {}
    also |= {BESIDE_STAYS: True, "words": list(keys)} if any("turn_ids" in each.payload for each in found) else {}
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
                together[name] = list(dict.fromkeys([*together.get(name, ()), *ids]))
        rows.append((Button(replies.say("forget_all_found", count=len(found)), "forget_ask", {**together, **also}),))
    rows.append((Button(replies.say("never_mind"), "forget_no"),))
    return OutgoingMessage("\n".join(lines), buttons=tuple(rows))


def found_in(notes: Sequence[Note], turns: Sequence[Row], words: str, now_ms: int, zone: str) -> list[ForgetMatch]:
    """Return the notes that hold the words, then the turns that do, each with one line around them.

    All of the words, in whatever form and order; where nothing holds them all, of three and more all but one. Notes,
    which are short and say it in words of their own, are told beside such turns where they hold half of the words and
    are few; where no turn does, those that hold the most of them, at least two. A turn comes with those of the
    notes that rest on it: what else was noted of it stays.
    """
    asked = asked_words(words)
    in_notes = [len(held_by(note, asked, now_ms, zone)) for note in notes]
    in_turns = [len(held(asked, f"{row['user_text']}\n{row['assistant_text']}")) for row in turns]
    least = max(1, len(asked) - (len(asked) >= MOST_FROM))
    most = max([least, *in_notes, *in_turns])
    best = max(in_notes, default=0)
    holding = [note for note, count in zip(notes, in_notes, strict=True) if count and count == best]
    is_said = max(in_turns, default=0) >= least
    is_near = 2 * best >= len(asked) if is_said else best >= SHARED
    if best < least and (not is_near or len(holding) > FEW):
        holding = []
    lines = [note_line(note, now_ms, zone) for note in holding]
    ids = [note.note_id for note in holding]
    noted = [ForgetMatch({"note_ids": [each]}, line) for each, line in zip(ids, lines, strict=True)]
    said = [
        _said(row, asked, holding, now_ms, zone) for row, count in zip(turns, in_turns, strict=True) if count == most
    ]
    return noted + said


def _said(row: Row, asked: Mapping[str, Forms], notes: Sequence[Note], now_ms: int, zone: str) -> ForgetMatch:
    """The turn with its time, quoted from the sentence where most of the words stand, of the message or the answer."""
    when = when_text(row["created_at_ms"], now_ms, zone, replies.spoken())
    said = [*whole_sentences(row["user_text"]), *whole_sentences(row["assistant_text"])] or [""]
    sentence = max(said, key=lambda each: len(held(asked, each)))
    text = row["user_text"] if sentence in row["user_text"] else row["assistant_text"]
    around = next((word for word in held(asked, sentence) if word in sentence.casefold()), "")
    text = text[text.index(sentence) :] if around and len(text) > QUOTED_CHARS else text
    theirs = [note.note_id for note in notes if row["turn_id"] in note.turn_ids]
    payload = {"turn_ids": [row["turn_id"]]} | ({"note_ids": theirs} if theirs else {})
    return ForgetMatch(payload, replies.say("forget_said", when=when, text=_around(text, around)))


def _around(text: str, words: str) -> str:
    """Return the words with the text around them, on one line, from the beginning of a word."""
    text = unmarked(text)
    at = text.casefold().find(words.casefold())
    start = max(0, at - QUOTED_CHARS // 3)
    start = (text.find(" ", start - 1, at) + 1 or start) if start else 0
    return ("…" if start else "") + shorten(text[start:], QUOTED_CHARS)


def request_of(payload: Mapping[str, Any], conversation_id: str, user_id: int | None) -> ForgetRequest:
    """Return the request of a confirmed button; `user_id` restricts it to the words of one person (groups)."""
    return ForgetRequest(
        conversation_id,
        turn_ids=tuple(payload.get("turn_ids", ())),
        note_ids=tuple(payload.get("note_ids", ())),
        messages_too=bool(payload.get("messages_too")),
        kept_ids=tuple(payload.get("kept_ids", ())),
        beside_stays=bool(payload.get(BESIDE_STAYS)),
        words=tuple(payload.get("words", ())),
        session_ids=tuple(payload.get("session_ids", ())),
        everything=payload.get("what") == "everything",
        user_id=user_id,
    )


def counts_text(counts: ForgetCounts) -> str:
    """How much a whole conversation has that a person knows of: `12 messages and their answers, 3 notes, 1 file`."""
    named = {"forgotten_turn": counts.turns, "note": counts.notes, "reminder": counts.jobs, **counts.beside}
    return ", ".join(replies.counted(count, word) for word, count in named.items() if count)


def gone_text(counts: ForgetCounts) -> str:
    """All kinds of things that are gone: `Okay, that's forgotten: the message with my answer and my note`."""
    named = {"turn": counts.turns, "part": counts.parts, "reminder": counts.jobs, **counts.beside, "note": counts.notes}
    words = [f"{word}s" if count > 1 else word for word, count in named.items() if count]
    if words in (["note"], ["notes"]):
        return replies.say("forgotten_note")
    gone = [replies.say(f"forgotten_what.{word}") for word in words]
    return replies.say("forgotten", what=listed(gone, replies.spoken())) if gone else replies.say("forgotten_nothing")


def report_text(
    counts: ForgetCounts,
    proof: Proof | None = None,
    *,
    log_emptied: bool = True,
    messages_stay: bool = False,
    is_echoed: bool = False,
) -> str:
    """Return the report: what was forgotten, and the proof from the files; none where the echoes are listed."""
    text = gone_text(counts)
    if proof is None:
        return f"{text}\n{replies.say('forgotten_looking')}"
    if proof.set_aside:
        text += "\n" + replies.say("forgotten_aside", names=", ".join(proof.set_aside))
    if proof.found is None:
        return f"{text}\n{replies.say('forgotten_unknown')}"
    if proof.found or not log_emptied:
        return f"{text}\n{replies.say('forgotten_traces')}"
    if is_echoed:
        return text
    return f"{text}\n{replies.say('forgotten_proven_notes' if messages_stay else 'forgotten_proven')}"


def with_echoes(report: OutgoingMessage, echoes: Sequence[Echo]) -> OutgoingMessage:
    """Return the report with the answers that still repeat forgotten words, and the offer to forget those too."""
    if not echoes:
        return report
    quoted = [replies.say("quoted", text=_around(each.text, each.word)) for each in echoes[:QUOTED_ECHOES]]
    text = "\n".join([report.text, "", replies.say("forgotten_echoes"), *quoted])
    payload = {"turn_ids": [each.turn_id for each in echoes[:FOUND_MOST]], BESIDE_STAYS: True}
    return replace(report, text=text, buttons=((Button(replies.say("forget_those_too"), "forget_ask", payload),),))
