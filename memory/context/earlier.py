"""Earlier sessions in a line each: the keeper's line, else their main matter, else how they began."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from memory.context.occasion import began_by_itself, heard_ms
from memory.context.repeats import NoteWords, speaks_of, word_keys
from memory.context.transcript import clip, local_moment
from memory.keeper.session_lines import SessionLine, is_elsewhere, is_read, main_matter, played_elsewhere
from memory.ledger.ledgers import Ledgers
from memory.ledger.lines import brief_moment, model_line
from memory.ledger.types import Ledger, Note, NoteChange
from memory.ledger.undo import as_of
from memory.ledger.views import Scope, forgotten_words, is_story, says_same
from memory.search.terms import calendar_words, split_words
from memory.sessions.evidence import state_of_row
from memory.storage.store import SessionRow, Store
from memory.text import asks_at_the_end, first_sentences, last_sentences, unbroken, whole_sentences
from memory.types import BY_CLOCK, ConversationTurn, NotesMark, SessionState
from memory.zones import midnight_of

SESSIONS_READ, MAX_SESSIONS = 50, 8
"""Earlier sessions that are looked through."""
STANDINGS: Final = 2
"""The standing of so many sessions is told, the latest that have one: in trials most of older ones was over."""
SCRAP: Final = 3
"""A standing of which less than a third is told nowhere else is left out: “It is your move” says nothing by itself."""
STANDING_CHARS: Final = 600
"""Two to four sentences."""
SINCE_THEN, LATER = " Since then: ", " (messages that followed this: {n})"
MOST_SINCE: Final = 3
"""The latest notes of a session that are told as they stand now."""
FIRST_WORDS_CHARS, ASKED_CHARS = 90, 400
"""The beginning of a session, and the last sentences of an answer that asks."""
LEAST_WORDS, LEAST_TELLING = 4, 2
"""Fewer words, or fewer than two besides the little ones, name nothing: "back.", "good morning!", "where were we?"."""
CACHED_SESSIONS: Final = 256
Now = tuple[int, str]  # the moment, and the clock by which times are told
NO_NOTES: Final[Mapping[int, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SessionReading:
    """How far a keeper read the session whose oldest messages are cut."""

    standing: str = ""
    """Where it stands, without what the notes contradict."""
    unread: str | None = None
    """The words of cut turns that no keeper read and no note rests on; None where no keeper read any."""

    def tells(self, line: str) -> bool:
        """Whether an extractive summary still has to tell a sentence, which may be cut."""
        return self.unread is None or line.rstrip(" …") in self.unread


UNREAD: Final = SessionReading()


class EarlierSessions:
    """Tells of earlier sessions; how one began is read once."""

    def __init__(self, store: Store, ledgers: Ledgers) -> None:
        self._store = store
        self._ledgers = ledgers
        self._turns: OrderedDict[tuple[str, int, str], ConversationTurn | None] = OrderedDict()
        self._standings: OrderedDict[Hashable, Mapping[str, str]] = OrderedDict()
        self._readings: OrderedDict[Hashable, SessionReading] = OrderedDict()

    def clear_cache(self) -> None:
        """Let go of everything kept in memory (P13)."""
        word_keys.cache_clear()
        self._turns.clear()
        self._standings.clear()
        self._readings.clear()

    async def answered_ms(self, state: SessionState, turns: Sequence[ConversationTurn]) -> int:
        """When the last message of a conversation was said that was answered, by these turns of a session; 0: none."""
        if state.turn_count and not began_by_itself(turns):
            return heard_ms(turns, state.last_turn_at_ms)
        rows = await self._store.sessions(state.conversation_id, limit=2)
        return next((row.last_turn_at_ms for row in rows if row.session_id != state.session_id), 0)

    async def told(
        self,
        state: SessionState,
        lines: Mapping[str, SessionLine],
        ledger: Ledger,
        now: Now,
        *,
        scope: Scope,
        silent: Collection[str] = (),
        notes: Mapping[int, str] = NO_NOTES,
        is_scene: bool = False,
    ) -> tuple[list[str], list[str]]:
        """Return a line for each of the latest earlier sessions that have one, of the day and from before it.

        Nothing in the `scope` of one session; in a scene those in which its persona answered. What of them the `ledger`
        contradicts is left out, another persona's story, and each matter that the `notes` of the prompt tell. Of the
        latest, one that nobody read is told by its main matter, without one by how it began, unless a `silent` turn or
        mere talk did; without a keeper and notes all are. The question with which the latest ended is told as it is.
        """
        if scope.session_id is not None:
            return [], []
        rows = await self._store.sessions(state.conversation_id, limit=SESSIONS_READ)
        others = [row for row in rows if row.session_id != state.session_id and row.turn_count]
        others = [row for row in others if not is_scene or scope.persona in _personas(row)][:MAX_SESSIONS]
        latest = others[:1]
        told = [known for row in others if (known := lines.get(row.session_id)) and known.standing]
        standings = await self._standing(told, ledger, scope, now, notes)
        here = {key: line for key, line in lines.items() if not is_elsewhere(line, ledger, scope)}
        texts = {row: _told(row, here.get(row.session_id), standings, is_latest=row in latest) for row in others}
        unread = [row for row in others if not is_read(lines.get(row.session_id))]
        most = STANDINGS if len(unread) < len(others) or ledger.notes else MAX_SESSIONS
        for row in (row for row in unread if row in others[:most]):
            matter = main_matter((note for note in ledger if note.is_real), row.session_id)
            new = matter.text if matter and matter.number not in notes else ""
            texts[row] = _named(new) if matter else await self._beginning(row, ledger.epoch, silent)
        others = [row for row in others if texts[row] or row.session_id in standings][:most]
        hidden = {each for row in latest for each in played_elsewhere(lines.get(row.session_id), ledger, scope)}
        asked = [await self._asked(row, ledger, hidden.union(silent)) for row in latest]
        dated = [*zip(latest, asked, strict=True), *((row, texts[row]) for row in others)]
        said = [
            (row.last_turn_at_ms, f"- {brief_moment(now[0], row.created_at_ms, now[1])}{text}")
            for row, text in dated
            if text
        ]
        midnight_ms = midnight_of(*now)
        return [line for at, line in said if at >= midnight_ms], [line for at, line in said if at < midnight_ms]

    async def _standing(
        self, lines: Sequence[SessionLine], ledger: Ledger, scope: Scope, now: Now, notes: Mapping[int, str] = NO_NOTES
    ) -> Mapping[str, str]:
        """Where sessions stand by the ledger, reckoned once as long as neither changes; none that is told elsewhere.

        "" for one of which `notes` tell all.
        """
        lines = [line for line in lines if not is_elsewhere(line, ledger, scope)]
        if not lines:
            return {}
        forgotten = forgotten_words(await self._ledgers.read(ledger.conversation_id))
        forgotten += [note.text for note in ledger if is_story(note) and note.persona != scope.persona]
        key = (ledger.conversation_id, ledger.version, ledger.epoch, now[1], *forgotten, *lines, *notes.values())
        if key not in self._standings:
            changes = await self._ledgers.after(ledger.conversation_id, min(line.written_at_ms for line in lines))
            held = ((line, standing_now(line, ledger, changes, forgotten)) for line in lines)
            self._standings[key] = {
                line.session_id: _new(line, stands, ledger, changes, notes=notes, now=now, is_latest=line is lines[0])
                for line, stands in held
                if stands
            }
            while len(self._standings) > CACHED_SESSIONS:
                self._standings.popitem(last=False)
        return self._standings[key]

    async def reading(
        self,
        state: SessionState,
        line: SessionLine | None,
        mark: NotesMark | None,
        ledger: Ledger,
        now: Now,
        *,
        scope: Scope,
        silent: Collection[str],
    ) -> SessionReading:
        """Where this session stands, in place of the turns that are folded; the same as long as its block is.

        A new reading would change the prompt's beginning, which providers cache. Turns that nobody read are few: a
        keeper reads every twenty.
        """
        if line is None or not line.standing:
            return UNREAD
        folded_seq = state.compaction.history_from_seq - 1 if state.compaction else state.summarized_through_seq
        key = (line.session_id, mark, now[1], folded_seq, ledger.epoch, scope, *sorted(silent))
        if key not in self._readings:
            first = line.read_through_seq + 1
            turns = await self._store.turns_between(line.session_id, first, folded_seq) if first <= folded_seq else []
            noted = {turn_id for note in ledger for turn_id in note.turn_ids} | played_elsewhere(line, ledger, scope)
            left = (f"{each.user_text} {each.assistant_text}" for each in turns if each.turn_id not in noted)
            standing = (await self._standing([line], ledger, scope, now)).get(line.session_id, "")
            self._readings[key] = SessionReading(unbroken(standing), unbroken(" ".join(left)))
            while len(self._readings) > CACHED_SESSIONS:
                self._readings.popitem(last=False)
        return self._readings[key]

    async def _beginning(self, row: SessionRow, epoch: str, silent: Collection[str]) -> str:
        """Return the first words of a session where they tell something; "" for a `silent` turn's."""
        turn = await self._turn(row, 1, epoch)
        first = beginning([turn] if turn else [], {*silent, *_unanswered(row)})
        return f": began with “{words}”" if first and (words := began_with(first)) else ""

    async def _asked(self, row: SessionRow, ledger: Ledger, silent: Collection[str]) -> str:
        """Return the question that a session ended with; "" for none, and where it may tell what was forgotten."""
        turn = await self._turn(row, row.last_seq, ledger.epoch)
        if turn is None or turn.unfiled or not asks_at_the_end(turn.assistant_text):
            return ""
        if turn.turn_id in {*silent, *_unanswered(row)}:
            return ""
        question = unbroken(last_sentences(turn.assistant_text, ASKED_CHARS))
        keys, forgotten = word_keys(question), forgotten_words(await self._ledgers.read(ledger.conversation_id))
        is_told = any(speaks_of(keys, word_keys(words)) for words in forgotten)
        return "" if is_told else f", your last words: “{question}”"

    async def _turn(self, row: SessionRow, seq: int, epoch: str) -> ConversationTurn | None:
        """The turn of a session, read once, and again when something was forgotten, in whatever process (P13)."""
        key = (row.session_id, seq, epoch)
        if key not in self._turns:
            self._turns[key] = next(iter(await self._store.turns_between(row.session_id, seq, seq)), None)
            while len(self._turns) > CACHED_SESSIONS:
                self._turns.popitem(last=False)
        return self._turns[key]


def _personas(row: SessionRow) -> Collection[str]:
    return state.personas if (state := state_of_row(row)[0]) else ()


def _unanswered(row: SessionRow) -> Sequence[str]:
    """The turns of a session whose answer was taken back with a new one, or was to other words than they have now."""
    state = state_of_row(row)[0]
    return (*state.undone, *state.edited) if state else ()


def _told(row: SessionRow, line: SessionLine | None, standings: Mapping[str, str], *, is_latest: bool) -> str:
    """Where a session stands, behind the keeper's title, and how many turns no keeper has read; "" for nothing.

    Of the latest that the notes tell all of, or contradict, the title alone: else an older one is taken for it.
    """
    if line is None or not (is_latest or line.session_id in standings):
        return ""
    standing = unbroken(standings.get(line.session_id, ""))
    later = (row.last_seq - line.read_through_seq) * bool(line.read_through_seq)
    told = f"{_named(line.title)}: {standing}{LATER.format(n=later) if later > 0 else ''}"
    return told if standing else _named(line.title) * is_latest


def _named(name: str) -> str:
    return f", {unbroken(clip(name, FIRST_WORDS_CHARS))}" if name else ""


def began_with(first: ConversationTurn) -> str:
    """The first words of a session's first turn; "" where they name nothing."""
    words = unbroken(clip(first.typed, FIRST_WORDS_CHARS))
    return words if tells_something(words) else ""


def tells_something(text: str) -> bool:
    """Whether a text has words enough to name a matter."""
    return len(split_words(text)) >= LEAST_WORDS and len(word_keys(text)) >= LEAST_TELLING


def beginning(turns: Sequence[ConversationTurn], silent: Collection[str], seq: int = 1) -> ConversationTurn | None:
    """The first turn of a session; None where it may not be told: kept for itself, or forgotten since.

    Nor one that the program asked at a task's hour: nobody said that.
    """
    first = (turn for turn in turns if turn.seq == seq and turn.action_name != BY_CLOCK)
    return next((turn for turn in first if not turn.unfiled and turn.turn_id not in silent), None)


def title_of(line: SessionLine | None, first: ConversationTurn | None, zone: str) -> str:
    """Return the title of a session: the keeper's, else its day and first words; "" before there are any."""
    if line and line.title:
        return line.title
    if first is None or not first.typed:
        return ""
    day, _ = local_moment(first.created_at_ms, zone)
    return f"{day}: {unbroken(clip(first.user_text, FIRST_WORDS_CHARS))}"


# --- where one stands -------------------------------------------------------------------------------------------------


def standing_now(
    line: SessionLine, ledger: Ledger, changes: Sequence[NoteChange], forgotten: Iterable[str] = ()
) -> str:
    """The sentences of a session's standing that hold still; "" when none does.

    Of `changes`, the latest of the ledger, those that came after the line was written tell which notes it may rest on
    that read otherwise now; `forgotten` are the words of notes that nobody may be told any more. A sentence that speaks
    of one of them is left out: how it stands now the notes tell.
    """
    old = [word_keys(text) for text in (*forgotten, *(note.text for note in _outdated(line, ledger, changes)))]
    kept = [
        each for each in whole_sentences(line.standing) if not any(speaks_of(word_keys(each), keys) for keys in old)
    ]
    return " ".join(kept)


def _new(
    line: SessionLine,
    stands: str,
    ledger: Ledger,
    changes: Sequence[NoteChange],
    *,
    notes: Mapping[int, str],
    now: Now,
    is_latest: bool,
) -> str:
    """The sentences that no note of the prompt says, and behind them the notes of the session that they name otherwise.

    "" where a scrap is left, and of one before the latest where all turns that they rest on have a note there, too: an
    offer of the last evening is in no note. A note that stands there is named by its number.
    """
    noted = {turn_id for note in ledger if note.number in notes for turn_id in note.turn_ids}
    if line.turn_ids and not is_latest and noted.issuperset(line.turn_ids):
        return ""
    new = " ".join(NoteWords.of(notes.values()).unsaid(whole_sentences(stands)))
    if SCRAP * len(new) < len(stands):
        return ""
    new = first_sentences(new, STANDING_CHARS) if notes else new
    since = since_then(line, new, ledger, changes)
    told = [f"see #{each.number}" if each.number in notes else model_line(each, *now, brief=True) for each in since]
    return f"{new}{SINCE_THEN}{'; '.join(told)}." if told else new


def since_then(line: SessionLine, stands: str, ledger: Ledger, changes: Sequence[NoteChange]) -> list[Note]:
    """Notes of a session that read otherwise since its standing was written, and share a word with it: as they are now.

    A sentence in words of its own ("Callum is still open") does not say which note it means.
    """
    words, on = _telling(stands), {*line.turn_ids}
    changed_ms = {each.number: each.at_ms for each in sorted(changes, key=lambda each: each.version)}
    found: dict[int, int] = {}
    for then in _outdated(line, ledger, changes):
        is_of_session = then.session_id == line.session_id or not on.isdisjoint(then.turn_ids)
        now = ledger.newest(ledger.notes[then.number]) if then.number in ledger.notes else None
        if now and is_of_session and not (now.is_forgotten or is_story(now) or words.isdisjoint(_telling(then.text))):
            found[now.number] = changed_ms[then.number]
    return [ledger.notes[number] for number in sorted(found, key=lambda each: (found[each], each))[-MOST_SINCE:]]


def _telling(text: str) -> frozenset[str]:
    """The keys of the words of a text, those of the calendar aside."""
    return word_keys(" ".join(word for word in split_words(text) if word not in calendar_words()))


def _outdated(line: SessionLine, ledger: Ledger, changes: Sequence[NoteChange]) -> Iterable[Note]:
    """The notes as they were when the line was written, where they read otherwise now or are no more."""
    later = [change for change in changes if change.at_ms > line.written_at_ms and change.version <= ledger.version]
    then = as_of(ledger, later) if later else ledger
    for number in {change.number for change in later}:
        note, now = then.find(number), ledger.find(number)
        if note is not None and note.is_open and not (now and says_same(note, now)):
            yield note
