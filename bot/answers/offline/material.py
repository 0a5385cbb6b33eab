"""What an answer of the offline concierge is made of, and how its pieces are set. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from bot.answers.offline.notes import Held, OpenMatter, StatedNote, matter_of
from bot.answers.offline.request import Request
from bot.answers.offline.times import day_of, due_of
from bot.answers.offline.words import Words, words_of
from bot.answers.open_list import ListedLoop
from bot.reminders.rules import Reminder
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.names import WHO, name_in
from memory.language.sentences import lowered, shorten
from memory.notes.types import LastingNote, Matter
from memory.ports import Statement
from memory.types import (
    ConversationTurn,
    JobProgress,
    JobStep,
    ListedItem,
    OpenLoop,
    PendingClarification,
    SessionState,
)

MAX_CHARS: Final = 3_500
PAGE: Final = 8
MAX_QUOTE_CHARS: Final = 220
MAX_LISTED: Final = 3
DAY_MS: Final = 24 * 3_600_000
TALKING_MS: Final = 2 * 3_600_000
"""So long after a message the next one is of the same talk: "boa noite" ends it and is no greeting."""
KEY_WORDS: Final = 4
MIN_WORD_CHARS: Final = 3

RECALL: Final = "recall"
BEYOND: Final = "beyond"
NOTE: Final = "note"


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that was said before."""

    text: str
    at_ms: int
    who: str
    """"user", "other" or "assistant"."""
    turn_id: str
    code: str = "en"
    behind: str = ""
    """The sentence that followed it in the same message."""


@dataclass(frozen=True, slots=True)
class Glance:
    """A session in a few words."""

    session_id: str
    title: str
    """As its notes name it; "" for mere talk."""
    messages: int
    first_at_ms: int
    at_ms: int
    held: tuple[Held, ...] = ()
    lines: tuple[str, ...] = ()
    """What mattered in it, in the person's own words, best first."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A turn that is taken back, and what it had changed."""

    turn: ConversationTurn
    notes: tuple[StatedNote, ...] = ()
    """What it noted."""
    opened: tuple[OpenLoop, ...] = ()
    """What it put on the list."""
    ended: tuple[OpenLoop, ...] = ()
    """What it took off the list."""
    corrected: tuple[OpenLoop, ...] = ()
    """What it put right, as that read before."""
    reminders: tuple[tuple[JobStep, Reminder], ...] = ()
    """What it did to reminders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything an answer is made of."""

    request: Request
    text: str
    turn_id: str = ""
    user_id: int | None = None
    words: Words
    language: Language
    now_ms: int
    zone: str
    name: str = ""
    third_party: bool = False
    before: SessionState
    after: SessionState
    """The state as this message leaves it."""
    held: tuple[Held, ...] = ()
    """Notes that stood before this message, oldest first."""
    new: tuple[StatedNote, ...] = ()
    """Notes in this message."""
    back: TakenBack | None = None
    """What the user takes back now."""
    quotes: tuple[Quote, ...] = ()
    current: Glance | None = None
    earlier: tuple[Glance, ...] = ()
    """Other sessions, the latest first; none in a session that was started fresh."""
    open: tuple[ListedLoop, ...] = ()
    """What is open, as /loops lists it; nothing for a message that does not speak of that."""
    matters: tuple[Matter, ...] = ()
    """What was noted, for a question: there a corrected value has taken the place of the first."""
    read: tuple[Matter | LastingNote, ...] = ()
    """What a reading of this message alone notes, for a message of which nothing else was taken in."""
    settled: tuple[OpenLoop, ...] = ()
    """Noted matters that a reading of this message ends."""
    corrected: tuple[Matter, ...] = ()
    """What was noted and reads otherwise by this message: another day, another sum."""
    were: Mapping[str, Matter] = field(default_factory=dict)
    """By its id how it read before, where it had a day."""
    in_part: bool = False
    """True where those are lists of which a part is done."""
    moved: tuple[tuple[Reminder, Statement], ...] = ()
    """Reminders that move or end with their matters."""
    stopped: tuple[str, ...] = ()
    """What reminders are about that are stopped: the person does it no longer."""
    reminders: tuple[JobProgress, ...] = ()
    """Reminders that are to come or were not called done."""
    history: tuple[ConversationTurn, ...] = ()
    past_is_shown: bool = False
    """As `Ask` says it."""
    rest: bool = False
    """True when the first page was shown already and the user wants what is left."""
    trouble: bool = False

    def day(self, at_ms: int) -> str:
        """Return the day as it is said in a sentence: "on 21 Nov"."""
        return day_of(at_ms, self.now_ms, self.zone, self.words)

    def say_once(self, key: str, **fields: str) -> str:
        """Return a sentence that explains itself the first time, and its short form once this talk has seen it."""
        head = self.words.answers[key].partition("{")[0].split(".")[0].split(",")[0]
        said = any(head in (turn.assistant_text or "") for turn in self.history)
        return self.words.say(f"{key}_again" if said else key, **fields)

    def matter(self, loop: OpenLoop) -> OpenMatter:
        """Return an open loop as it is shown, read in the language it was put in."""
        language = Languages.load().detect(loop.text, default=self.language.code)
        return matter_of(loop, self.zone, language, words_of(language.code))

    def is_theirs(self, note: StatedNote) -> bool:
        """Return whether whoever is answered said it, and not somebody else in the group."""
        return note.user_id is None or note.user_id == self.user_id

    @property
    def put_right(self) -> Mapping[str, Matter]:
        """What was said and reads otherwise by now, by the ids of its turns: their words do not hold any more."""
        right = [matter for matter in self.matters if matter.replaces and matter.quoted is None]
        return {turn_id: matter for matter in right for turn_id in matter.turn_ids}

    @property
    def is_talking(self) -> bool:
        """True while the talk goes on: the message before was said just now."""
        return bool(self.history) and self.now_ms - self.history[-1].created_at_ms < TALKING_MS

    @property
    def called(self) -> str:
        """What the person said they are called, "" when they never did."""
        own = (one.note for one in reversed(self.held) if one.note.subject == WHO and self.is_theirs(one.note))
        return next((name for note in own if (name := name_in(note.text, Languages.load().get(note.code)))), "")

    def is_ours(self, pending: PendingClarification) -> bool:
        """Return whether the concierge asked it, and not a model that answered before."""
        return any(turn.turn_id == pending.turn_id and turn.authored is not None for turn in self.history)

    @property
    def pending(self) -> PendingClarification | None:
        """The question that waits for an answer."""
        return self.before.pending_clarifications[-1] if self.before.pending_clarifications else None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, what it is called in the turn log, and the questions that it asks."""

    text: str
    action_name: str
    asks: tuple[str, ...] = ()
    listed: tuple[ListedItem, ...] | None = None
    """The lines that it numbers, None when it lists nothing."""


def cite(text: str) -> str:
    """Return people's words as they go into an answer: on one line, without marks that would make it a question."""
    bare = " ".join(text.split()).translate(_UNWANTED).translate(_QUOTES)
    return shorten(bare, MAX_QUOTE_CHARS).rstrip(" .,;:")


_UNWANTED: Final = {ord(mark): None for mark in "?\uff1f\u061f`*_[]<>"}
_QUOTES: Final = {ord("\u201c"): "'", ord("\u201d"): "'", ord('"'): "'", ord("\u201e"): "'"}


def said(m: Material, text: str, words: Words) -> str:
    """Return the user's words said back to them, quoted where they cannot be turned; `words` are of their language."""
    mirrored = words.mirror(text)
    return cite(mirrored) if mirrored else m.words.quoted(cite(text))


def lower_first(text: str, words: Words) -> str:
    """Return a sentence to go on in the middle of another; names keep their capitals."""
    return text[:1].lower() + text[1:] if words.reads("small_inside", text.lower()) else text


def bullets(lines: Iterable[str]) -> str:
    """Return the lines as a list."""
    return "\n".join(f"• {line}" for line in lines)


def count_of(m: Material, count: int) -> str:
    """Return "1 message", "3 messages"."""
    return m.words.say("one_message") if count == 1 else m.words.say("messages", count=count)


def capital(text: str) -> str:
    """Return the text with a capital in front."""
    return text[:1].upper() + text[1:]


def matter_text(m: Material, loop: OpenLoop) -> str:
    """Return what an open loop is about, without its day."""
    matter = m.matter(loop)
    return cite(matter.text) if matter.turned else m.words.quoted(cite(matter.text))


def open_line(m: Material, listed: ListedLoop) -> str:
    """Return what is open on one line: what, and until when; of an event when it is."""
    matter = m.matter(listed.loop)
    if not listed.is_event or matter.due_at_ms is None:
        return loop_line(m, listed.loop)
    text = matter_text(m, listed.loop)
    due = due_of(matter.due_at_ms, m.now_ms, m.zone, m.words, exact=matter.exact)
    return m.words.say("loop_event", text=text, due=due)


def loop_line(m: Material, loop: OpenLoop) -> str:
    """Return an open loop on one line: what, and until when."""
    matter = m.matter(loop)
    text = matter_text(m, loop)
    if matter.due_at_ms is None:
        waits = loop.owner == "assistant" and loop.kind == "question"
        return m.words.say("loop_me", text=text) if waits else text
    due = due_of(matter.due_at_ms, m.now_ms, m.zone, m.words, exact=matter.exact)
    key = "loop_due" if matter.due_at_ms >= m.now_ms else "loop_overdue"
    return m.words.say(key, text=text, due=due)


def open_in_short(m: Material, listed: Sequence[ListedLoop]) -> str:
    """Return what is open: one matter on the same line, more as a short list."""
    lines = [open_line(m, each) for each in listed[:MAX_LISTED]]
    if len(lines) == 1:
        return m.words.say("still_one", text=lower_first(lines[0], m.words))
    more = [m.words.say("still_more", count=len(listed) - MAX_LISTED)] if len(listed) > MAX_LISTED else []
    return f"{m.words.say('still_head')}\n{bullets([*map(capital, lines), *more])}"


def stated(m: Material, note: StatedNote) -> str:
    """Return a note said back to the user; of a decision only what was decided."""
    text, words = note.text, words_of(note.code)
    lead = words.reads("decision_lead", lowered(text)) if note.kind == "decision" else None
    if lead and lead.start() == 0 and lead.end() < len(text) == len(lowered(text)):
        text = text[lead.end() :]
    return said(m, text, words) if m.is_theirs(note) else m.words.quoted(cite(text))


def listed_items(listed: Sequence[ListedLoop]) -> tuple[ListedItem, ...]:
    """Return numbered matters as lines, so that "the first one" has a meaning."""
    return tuple(ListedItem(kind="loop", ref=each.loop.loop_id, text=each.loop.text) for each in listed)


def note_line(m: Material, held: Held) -> str:
    """Return a note on one line: what, since when, and what it replaced."""
    text, day = capital(stated(m, held.note)), m.day(held.note.at_ms)
    if held.before:
        return m.words.say("note_line_replaced", text=text, day=day, old=lower_first(stated(m, held.before), m.words))
    return m.words.say("note_line", text=text, day=day)


def right_line(m: Material, matter: Matter) -> str:
    """Return what was put right on one line: what, since when."""
    return m.words.say("note_line", text=capital(_turned(m, matter)), day=m.day(matter.said_at_ms))


def right_sentence(m: Material, matter: Matter) -> str:
    """Return what was put right as an answer."""
    return f"{capital(_turned(m, matter))}."


def _turned(m: Material, matter: Matter) -> str:
    return said(m, matter.text, words_of(Languages.load().detect(matter.text, default=m.language.code).code))


def quote_line(m: Material, quote: Quote) -> str:
    """Return what was said before on one line, with its day."""
    key = {"user": "said_line", "other": "other_said_line"}.get(quote.who, "bot_said_line")
    day = m.day(quote.at_ms)
    return m.words.say(key, Day=capital(day), day=day, text=cite(quote.text))
