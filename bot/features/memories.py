"""/memory: the notes of this chat, under headings or searched, each line with a way to forget it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from bot.features.lists import Group, Listing, by_story
from bot.features.shown import View, show, turn_page
from bot.headings import Heading, by_heading
from bot.intake.updates import Envelope
from bot.lines import name_of, note_line, with_owner
from bot.told_days import day_names, month_names
from bot.turns.feature import Action, Command, Tap
from bot.turns.services import Services
from memory.keeper.wording import UNSPACED
from memory.ledger.own_dates import at_next_date
from memory.ledger.types import Ledger, Note
from memory.ledger.views import agenda, best_first, standing
from memory.search.same_words import JOINED_CHARS, Forms, asked_words, held
from memory.search.terms import split_words
from memory.text import folded, shorten
from memory.zones import whole_month

FOUND_MOST = 60
WORDS_CHARS = 60
FORGET_A_ROW = 3
OVER_MOST = 5
INSIDE_LETTERS = 3
"""A word of fewer letters is inside nearly every other, and a longer one has at least so many more; of a script that
does not part its words one sign may do.
"""


# --- pure -----------------------------------------------------------------------------------------------------------


def memory_list(
    ledger: Ledger, now_ms: int, zone: str, *, private: bool = True, whole: bool = False
) -> Listing | OutgoingMessage:
    """All that is remembered under its headings, or that nothing is, and where what is open stands.

    Dates that were over days ago are only counted, unless the list is to be `whole`: a run of shifts would fill pages.
    """
    headed = dict(by_heading(ledger, now_ms))
    faded = headed.pop("faded", [])
    if whole and faded:
        headed["over"], faded = [*headed.get("over", []), *faded], []
    groups = [group for name, notes in headed.items() for group in _groups(name, notes, private=private)]
    where, also = "" if private else "_group", replies.say("dates_over") if faded else ""
    if not groups:
        is_open = replies.say("memory_open") if agenda(ledger, now_ms) else ""
        return OutgoingMessage("\n\n".join(filter(None, [replies.say(f"memory_none{where}"), is_open, also])))
    return replace(_listing(replies.say(f"memory_head{where}"), groups, now_ms, zone), also=also)


def _groups(name: Heading, notes: Sequence[Note], *, private: bool) -> list[Group]:
    """The notes under their heading; each story that has a name under one of its own."""
    return by_story(notes) if name == "stories" else [Group(_head(name, private=private), notes)]


def _head(name: Heading, *, private: bool) -> str:
    return replies.say(f"memory_heads.{name}" if private or name != "you" else "memory_heads.group")


def found_list(words: str, ledger: Ledger, now_ms: int, zone: str) -> Listing | OutgoingMessage:
    """Notes about some words, else what was done about them, or the sentence that there is nothing."""
    quoted = shorten(words, WORDS_CHARS)
    found = looked_up(best_first(standing(ledger), now_ms), words, now_ms, zone)
    if not found:
        done = [note for note in ledger if note.status == "done" and not note.is_forgotten]
        lines = [f"• {name_of(note)}" for note in looked_up(done, words, now_ms, zone)[-OVER_MOST:]]
        head = replies.say("memory_found_over" if lines else "memory_not_found", words=quoted)
        return OutgoingMessage("\n".join([head, *lines]))
    head = replies.say("memory_found", words=quoted)
    return _listing(head, [Group("", found)], now_ms, zone, {"found": [note.note_id for note in found[:FOUND_MOST]]})


def _listing(
    head: str, groups: Sequence[Group], now_ms: int, zone: str, payload: Mapping[str, Any] | None = None
) -> Listing:
    return Listing(
        head=head,
        groups=groups,
        line=lambda note: note_line(note, now_ms, zone, heading="" if payload else "story"),
        button=forget_button,
        turns_page="memory_page",
        payload=payload or {},
        a_row=FORGET_A_ROW,
    )


def forget_button(number: int, note: Note) -> Button:
    """[Forget n] of one line; it carries the note's id, never its words."""
    return Button(replies.say("forget_number", number=number), "forget_ask", {"note_ids": [note.note_id]})


def days_of(note: Note, now_ms: int, zone: str) -> str:
    """The names of a note's days: by `training on Saturday` it is found, too, that is due on one.

    What is for a whole month is found by its name, and by no day.
    """
    note = at_next_date(note, now_ms)
    clock = zone if note.due_exact else note.time_zone
    days = [each for each in (note.due_at_ms, note.ends_at_ms) if each is not None]
    month = whole_month(days[0], days[-1], clock) if days else None
    moments = {*([] if month else days), *([] if note.rings_at_ms is None else [note.rings_at_ms])}
    names = [month_names(month)] if month else []
    return "\n".join([*names, *(day_names(at_ms, now_ms, clock) for at_ms in sorted(moments))])


def holding(notes: Sequence[Note], words: str, now_ms: int, zone: str) -> list[Note]:
    """The notes that hold most of these words, in any form and order; none when none holds any."""
    asked = asked_words(words)
    counts = [len(held_by(note, asked, now_ms, zone)) for note in notes]
    most = max(counts, default=0)
    return [note for note, count in zip(notes, counts, strict=True) if count == most > 0]


def held_by(note: Note, asked: Mapping[str, Forms], now_ms: int, zone: str) -> set[str]:
    """Those of the asked words that a note holds, or that name its days."""
    return {*held(asked, note.text), *_named(asked, days_of(note, now_ms, zone))}


def _named(asked: Mapping[str, Forms], days: str) -> list[str]:
    """Those of the asked words that name a day, a short name by itself alone: `Mi` is no form of Mia."""
    names = split_words(days)
    long = " ".join(name for name in names if len(name) >= JOINED_CHARS)
    return [*(asked.keys() & {*map(folded, names)}), *held(asked, long)]


def looked_up(notes: Sequence[Note], words: str, now_ms: int, zone: str) -> list[Note]:
    """The notes that hold these words, then those that have each of them in a longer one: `tee` in `Kräutertee`.

    Work is looked up by its title, as it stands there, and a note by who has to act, too.
    """
    titled = [note.model_copy(update={"text": with_owner(note, name_of(note))}) for note in notes]
    asked = asked_words(words)
    found = [note.note_id for note in holding(titled, words, now_ms, zone)]
    inside = [note.note_id for note in titled if asked and all(_is_part(*each, note.text) for each in asked.items())]
    by_id = {note.note_id: note for note in notes}
    return [by_id[each] for each in dict.fromkeys((*found, *inside))]


def _is_part(word: str, own: Forms, text: str) -> bool:
    """Whether a longer word begins or ends with this one, or begins with its stem: `Weihnachten`, `Weihnachtsferien`.

    A script that does not part its words has it anywhere. Neither `ben` is in `Heiligabend`, nor `ring` in `bring`.
    """
    if UNSPACED.match(word):
        return word in folded(text)
    stems = tuple(stem for _, stem in own if len(stem) >= JOINED_CHARS)
    longer = [other for other in map(folded, split_words(text)) if len(other) >= len(word) + INSIDE_LETTERS]
    ends = [other for other in longer if other.startswith(word) or other.endswith(word)]
    return any(other.startswith(stems) for other in longer) or (len(word) >= INSIDE_LETTERS and bool(ends))


# --- feature --------------------------------------------------------------------------------------------------------


class Memories:
    """Shows the notes of this conversation: never those of another one, so none of a private chat in a group."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"memory": self.show}
        self.actions: dict[str, Action] = {"memory_page": self._page}

    async def show(self, envelope: Envelope) -> None:
        """List the notes, or those that hold some words."""
        await show(self._services, envelope, self._view(envelope, envelope.arguments))

    async def _page(self, tap: Tap) -> bool:
        ids: list[str] = tap.payload.get("found", [])
        view = View("memory", partial(self._again, ids)) if ids else self._view(tap.envelope, "")
        return await turn_page(self._services, tap, view)

    def _again(self, ids: Sequence[str], ledger: Ledger, zone: str) -> Listing | OutgoingMessage:
        """Earlier finds, as far as they stand: the words that were searched for are on no button."""
        found = [note for note in map(ledger.by_id, ids) if note is not None and note.is_open]
        now_ms = self._services.clock.now_ms()
        listing = _listing(replies.say("memory_head"), [Group("", found)], now_ms, zone, {"found": list(ids)})
        return listing if found else OutgoingMessage(replies.say("memory_none"))

    def _view(self, envelope: Envelope, words: str) -> View:
        def made(ledger: Ledger, zone: str) -> Listing | OutgoingMessage:
            now_ms = self._services.clock.now_ms()
            if not words:
                return memory_list(ledger, now_ms, zone, private=envelope.private)
            return found_list(words, ledger, now_ms, zone)

        return View("memory", made)
