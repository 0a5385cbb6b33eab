"""/memory: what is remembered here beyond a session, listed or searched, each with a way to forget it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage
from bot.intake.updates import Envelope
from bot.turns.feature import Action, Command, Tap
from bot.turns.listing import say_list
from bot.turns.services import Services
from memory.language.sentences import lowered, words_of
from memory.longterm.promoter import read_memory_row
from memory.notes.lines import day_of_year
from memory.notes.types import LastingNote, Matter, is_order, key_of
from memory.notes.view import NotesView, Standing
from memory.search.query import Query
from memory.types import ListedItem, Memory

LISTED = 8
READ_MOST = 500
SAME_WORDS = 0.6
"""Share of a memory's words in a note of the same turn from which the note tells it."""
TEXT_CHARS = 160
BUTTONS_A_ROW = 4


# --- pure -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """Something that is remembered: how it reads, when it was said, and what forgets it."""

    ref: str
    """Its memory_id, note_id or matter_id."""
    session_id: str
    words: str
    text: str
    """The same as it is stored."""
    at_ms: int
    payload: dict[str, list[str]]
    turn_ids: tuple[str, ...]


def known_memory(memory: Memory) -> Known:
    """Return a long-term memory for the list."""
    words = f"{replies.say(f'memory_kinds.{memory.kind}')}: {replies.shorten(memory.text, TEXT_CHARS)}"
    payload = {"memory_ids": [memory.memory_id]}
    return Known(memory.memory_id, memory.session_id, words, memory.text, memory.at_ms, payload, (memory.turn_id,))


def known_note(standing: Standing) -> Known:
    """Return a note for the list, quoted as it was said; the turns it rests on are what is forgotten with it."""
    note = standing.note
    text = replies.shorten(note.text, TEXT_CHARS)
    words = replies.say("quoted", text=text) if note.quoted else text
    payload = {"turn_ids": list(note.turn_ids)}
    return Known(key_of(note), standing.session_id, words, note.text, note.said_at_ms, payload, note.turn_ids)


def everything_known(memories: Sequence[Memory], view: NotesView) -> list[Known]:
    """Return all that is remembered: what stays true first, then what goes on; nothing twice in other words.

    A memory whose words stand in a note of the same turn is told by the note. What the assistant was told to do is no
    memory: it is open, or a reminder.
    """
    clear = [each for each in view.standings if not each.note.faint and not is_order(each.note)]
    lasting = [known_note(each) for each in clear if isinstance(each.note, LastingNote)]
    going = [known_note(each) for each in clear if isinstance(each.note, Matter)]
    told = [each for each in map(known_memory, memories) if not any(tells(note, each) for note in (*lasting, *going))]
    return [*told, *lasting, *going]


def tells(note: Known, memory: Known) -> bool:
    """Return whether a note says what the memory of the same turn says."""
    words = set(words_of(lowered(memory.words.partition(": ")[2])))
    same_turn = bool(set(note.turn_ids) & set(memory.turn_ids))
    return same_turn and len(words & set(words_of(lowered(note.words)))) >= SAME_WORDS * len(words)


def memory_line(number: int, known: Known, zone: str) -> str:
    """Return one line: what, since when."""
    return f"{number}. {known.words} ({day_of_year(known.at_ms, zone, replies.spoken())})"


def memory_list(head: str, listed: Sequence[Known], zone: str, *, first: int = 1, more: int = 0) -> OutgoingMessage:
    """Return a numbered list with a button to forget each, and one to go on when there is more."""
    lines = [head, *(memory_line(number, each, zone) for number, each in enumerate(listed, first))]
    forget = [
        Button(replies.say("forget_number", number=number), "forget_ask", each.payload)
        for number, each in enumerate(listed, first)
    ]
    rows = [tuple(forget[at : at + BUTTONS_A_ROW]) for at in range(0, len(forget), BUTTONS_A_ROW)]
    if more:
        lines.append(replies.say("memory_more", count=more))
        rows.append((Button(replies.say("show_more"), "memory_page", {"offset": first - 1 + len(listed)}),))
    return OutgoingMessage("\n".join(lines), buttons=tuple(rows))


def listed_known(known: Sequence[Known]) -> list[ListedItem]:
    """Return the lines of such a list, so that "/forget 2" has a meaning; not their words, which may be forgotten."""
    return [ListedItem(kind="memory", ref=each.ref, text="") for each in known]


def holding(known: Sequence[Known], words: str) -> list[Known]:
    """Return what holds these words, in any case."""
    return [each for each in known if words.casefold() in each.words.casefold()]


# --- feature --------------------------------------------------------------------------------------------------------


class Memories:
    """Shows what is remembered in this conversation: never what was said in another one, so none of it in a group."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.commands: dict[str, Command] = {"memory": self.show}
        self.actions: dict[str, Action] = {"memory_page": self._page}

    async def show(self, envelope: Envelope) -> None:
        """List what is remembered, or what of it has to do with some words."""
        message, known = await (self._search(envelope) if envelope.arguments else self._listed(envelope, 0))
        await say_list(self._services, envelope, message, listed_known(known))

    async def _page(self, tap: Tap) -> bool:
        """Show the next page in place; its numbers go on, and so do the lines that they mean."""
        services, envelope = self._services, tap.envelope
        message, known = await self._listed(envelope, tap.payload["offset"])
        message = replace(message, edits_message_id=envelope.message_id)
        await say_list(services, envelope, message, listed_known(known), effects=(tap.use,))
        return bool(message.buttons)

    async def _listed(self, envelope: Envelope, offset: int) -> tuple[OutgoingMessage, list[Known]]:
        """Return one page, and all that was listed up to its end."""
        known = await self.read(envelope)
        page = known[offset : offset + LISTED]
        if not page:
            return OutgoingMessage(
                replies.say("memory_none") if envelope.private else replies.say("memory_none_group")
            ), []
        head = replies.say("memory_head") if envelope.private else replies.say("memory_head_group")
        end = offset + len(page)
        message = memory_list(head, page, await self._zone(envelope), first=offset + 1, more=len(known) - end)
        return message, known[:end]

    async def _search(self, envelope: Envelope) -> tuple[OutgoingMessage, list[Known]]:
        """Return what holds the words; failing that, what the search finds of the same meaning."""
        words = envelope.arguments
        known = await self.read(envelope)
        found = (holding(known, words) or await self._related(envelope, words, known))[:LISTED]
        quoted = replies.shorten(words, 60)
        if not found:
            return OutgoingMessage(replies.say("memory_not_found", words=quoted)), []
        return memory_list(replies.say("memory_found", words=quoted), found, await self._zone(envelope)), found

    async def _related(self, envelope: Envelope, words: str, known: Sequence[Known]) -> list[Known]:
        services = self._services
        items = await services.memory.searcher.search(
            Query(envelope.conversation_id, words, limit=4 * LISTED, now_ms=services.clock.now_ms())
        )
        found: list[Known] = []
        for item in items:
            refs = (each for each in known if item.ref in (*each.payload.get("memory_ids", ()), *each.turn_ids))
            found += [each for each in refs if item.source == "memory" and each not in found]
        return found

    async def read(self, envelope: Envelope) -> list[Known]:
        """Return all that is remembered of this conversation; in a group only one's own."""
        user_id = None if envelope.private else envelope.user_id
        where = {"conversation_id": envelope.conversation_id, "user_id": user_id}
        rows = await self._services.db.read("memories_remembered", **where, limit=READ_MOST, offset=0)
        view = await self._services.memory.notes.view(envelope.conversation_id, user_id=user_id)
        return everything_known(list(map(read_memory_row, rows)), view)

    async def _zone(self, envelope: Envelope) -> str:
        return (await self._services.people.time_zone(envelope.user_id)).name
