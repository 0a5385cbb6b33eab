"""Finds as the prompt tells them: above the floor of relevance, each joined with the note that rests on it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from memory.context.notes_block import Block, Since
from memory.context.repeats import NoteWords, answer_in, keys, says_more, speak_of, speaks_of, word_keys
from memory.context.restating import SENTENCE, Known, Matter, Said, known_by, matter_of
from memory.keeper.request import FORGET, NOTES, found_by
from memory.ledger.lines import as_now, model_line, title_of
from memory.ledger.types import Ledger, Note, NoteChange
from memory.ledger.views import Scope, belongs, forgotten, is_story, is_work, standing, story_of, within, worth
from memory.packets import RetrievedItem
from memory.search.query import Query
from memory.search.relevance import BEST, SURE, of_part, parts_of, relevant
from memory.search.searcher import Choose
from memory.search.terms import little_words, split_words
from memory.text import asks_at_the_end, has_question_mark, shorten
from memory.types import ConversationTurn, ToolCall

FORGOTTEN: Final = "Forgotten, as the person asked; you no longer know it: {numbers}"
_NAMED: Final = re.compile(r"^[^#'\"\n]*: #(\d+(?:, #\d+)*)", re.MULTILINE)
"""The notes of which a line of a tool of ours tells (`Ended: #3 task: …`); their texts have numbers of their own."""
_ENDED: Final = re.compile(r"^Ended: #(\d+)", re.MULTILINE)
OVER: Final = frozenset({"done", "dropped"})
BESIDE_NOTES: Final = 4
"""Finds of a message that a note in the prompt speaks of."""
EDITED: Final = "edited since; the answer was to other words"
"""Marks a find whose message reads anew above its old answer."""
WORKED_ON: Final = "text that was worked on"
"""Marks a pasted, drafted, translated or played text: the person need not mean it."""
CLOSEST_NOTES: Final = 3
"""The notes sharing the most with a message that are looked at for one that the prompt does not tell."""
SEEN_CHARS: Final = 60
"""A find with this many characters in a row in a tool's result is told there."""
NOTES_OF_A_FIND: Final = 2
"""At most this many notes are told with the message that they rest on."""
ENDS_OF_A_FIND, FEW_WORDS = 4, 3
"""So many where they say that it holds no more. Words of a message that a note need share one of alone."""
NAME_CHARS: Final = 60
"""Of a note that is over its beginning says which of a message's matters it is."""


class SearchPort(Protocol):
    """The side of `memory.search.searcher.Searcher` that a packet needs."""

    async def search(self, query: Query, choose: Choose = list) -> list[RetrievedItem]:
        """Return older turns that bear on the query, best first; `choose` says which of the scored are wanted."""
        ...


async def find(
    searcher: SearchPort, session_id: str, query: Query, shown: Sequence[ConversationTurn], *, alone: bool
) -> list[RetrievedItem]:
    """Return finds that bear on the message of this query, best first, none that stands in the messages."""
    answers = bool(shown) and asks_at_the_end(shown[-1].assistant_text)
    found = await searcher.search(query, partial(relevant, message=query.text, answers=answers))
    for part in reversed(parts_of(query.text)):
        more = await searcher.search(replace(query, text=part), of_part)
        found = list({item.ref: item for item in (*more, *found)}.values())[: max(BEST, len(found))]
    turns = [item for item in found if item.source == "turn"]
    return beside_calls([item for item in turns if not alone or item.session_id == session_id], shown)


def beside_notes(found: Sequence[RetrievedItem], message: str, lines: Iterable[str]) -> list[RetrievedItem]:
    """The finds of a message that notes speak of: the first few, since the notes have the present state."""
    return list(found[:BESIDE_NOTES] if found and speak_of(lines, message) else found)


def of_this_world(
    found: Sequence[RetrievedItem],
    message: str,
    ledger: Ledger,
    scope: Scope,
    session_id: str,
    *,
    plays: Collection[str] = (),
) -> list[RetrievedItem]:
    """The finds without fiction in real talk, without real talk where the persona is one that `plays` a role.

    Of a story is a turn on which its notes rest alone. It is told to its own persona: where the story goes on in this
    session, is named, or is asked about. A session in which none but such personas answered is played, one in which
    none did is not; its turns are told in the other world where they are asked about, and what real notes rest on
    wherever nothing is played.
    """
    told = [note for note in ledger if is_story(note) and not note.is_forgotten] if found else []
    real = {turn_id for note in ledger if not is_story(note) for turn_id in note.turn_ids} if found else set[str]()
    wanted, asks, is_played = keys(message), has_question_mark(message), scope.persona in plays

    def is_told(item: RetrievedItem) -> bool:
        is_asked_for = asks and item.share >= SURE
        of_turn = [note for note in told if item.ref in note.turn_ids]
        if item.ref in real or not of_turn:
            is_elsewhere = {each in plays for each in item.personas} == {not is_played}
            return not is_elsewhere or is_asked_for or (item.ref in real and not is_played)
        return any(
            note.persona == scope.persona
            and (
                is_asked_for
                or session_id in {item.session_id, note.session_id}
                or bool(wanted & keys(f"{note.text} {story_of(note)}"))
            )
            for note in of_turn
        )

    return [item for item in found if is_told(item)]


def replace_by_notes(
    found: Sequence[RetrievedItem],
    message: str,
    ledger: Ledger,
    scope: Scope,
    known: tuple[Block, Since],
    *,
    worked_on: Collection[str] = (),
    now_ms: int,
    zone: str,
) -> tuple[list[RetrievedItem], Since]:
    """The finds that say more for the message than the notes that rest on them, and the news with those of the others.

    Such a note is open, bears on the message, and stands nowhere else in the prompt; others of the ledger that do are
    told, too. A story, and text that was `worked_on`, is more than its notes.
    """
    block, since = known
    since = with_bearing(bearing(message, ledger, scope, known), since, now_ms, zone)
    found = beside_notes(found, message, (*block.lines.values(), *since.changed))
    of_turn = _by_turn(ledger, scope, {item.ref for item in found}, now_ms) if found else {}
    told, wanted = _lines(ledger, (block, since)), keys(message)
    kept, instead = list[RetrievedItem](), dict[int, Note]()
    for item in found:
        notes = [note for note, _ in of_turn.get(item.ref, ()) if note.is_open or note.number in told]
        lines = {note.number: told.get(note.number) or model_line(note, now_ms, zone, brief=True) for note in notes}
        new = [note for note in notes if note.number not in told and wanted & keys(lines[note.number])]
        is_told = len(new) <= NOTES_OF_A_FIND and (bool(new) or not told.keys().isdisjoint(lines))
        is_work = item.ref in worked_on or any(map(is_story, notes))
        if is_work or not is_told or says_more(item.text, lines.values(), message):
            kept.append(item)
        else:
            instead |= {note.number: note for note in new}
    return kept, with_bearing(list(instead.values()), since, now_ms, zone)


def _lines(ledger: Ledger, known: tuple[Block, Since]) -> Mapping[int, str]:
    """What the prompt tells of notes, by their numbers."""
    block, since = known
    lines = {number: note.text for number in since.numbers if (note := ledger.find(number))} | {**block.lines}
    for line in (each for each in since.changed if each.startswith("#")):
        number = int(line[1:].split(maxsplit=1)[0])
        lines[number] = f"{block.lines.get(number, '')}\n{line}"
    return lines


def bearing(message: str, ledger: Ledger, scope: Scope, known: tuple[Block, Since]) -> list[Note]:
    """The open notes that the message speaks of and the prompt tells nowhere, or cut: the block had no room for them.

    They are among those that share the rarest words with it, two of a longer one: “la prova” in a play was a rehearsal.
    Little words are none. Work by the clock is spoken of by its title: the words put to the model are no matters.
    """
    words = " ".join(word for word in split_words(message) if word not in little_words())
    closest, wanted = found_by(words, within(ledger, scope))[:CLOSEST_NOTES], keys(message)
    shared = [len(wanted & keys(title_of(note.text) if is_work(note) else note.text)) for note in closest]
    least = 1 if len(wanted) <= FEW_WORDS else 2
    return [note for note, n in zip(closest, shared, strict=True) if n >= least and not _is_whole(note, known)]


def _is_whole(note: Note, known: tuple[Block, Since]) -> bool:
    """Whether the prompt tells all words of a note: whoever changes its text writes it anew."""
    block, since = known
    news = [line for line in (*since.changed, *since.events) if line.startswith(f"#{note.number} ")]
    stands_in_messages = note.number in since.numbers and not news
    return stands_in_messages or any(note.text in line for line in (block.lines.get(note.number, ""), *news))


def with_bearing(notes: Sequence[Note], since: Since, now_ms: int, zone: str) -> Since:
    """The news of the message, with these notes behind it: one that the news told in brief is told once, whole."""
    was, whole = {line.partition(" now ")[0] for line in since.changed}, partial(model_line, brief=True, whole=True)
    told = {f"#{note.number}": whole(note, now_ms, zone) for note in notes}
    lines = [as_now(line) if number in was else line for number, line in told.items()]
    changed = [line for line in since.changed if line.partition(" ")[0] not in told]
    return replace(since, changed=(*changed, *lines), numbers=since.numbers | {note.number for note in notes})


def with_forgotten(
    since: Since, ledger: Ledger, changes: Iterable[NoteChange], scope: Scope, shown: Iterable[ConversationTurn]
) -> Since:
    """The news with the numbers of forgotten notes, without a word of theirs: messages may still name or tell them.

    So a model neither wonders where a note is nor says that it has it. `changes` are those since the block was taken;
    of notes that went with their rows the results in the messages know.
    """
    gone = {each.number for each in changes if (note := ledger.find(each.number)) and note.is_forgotten}
    gone = {n for n in gone if scope.session_id in {None, ledger.notes[n].session_id}}
    calls = [call for turn in shown for call in turn.tool_calls if call.name in NOTES]
    named, told = _named(calls), _named(call for call in calls if call.name == FORGET)
    given = (n for n in named if n < ledger.next_number)
    ended = {int(number) for call in calls for number in _ENDED.findall(call.result)}  # in its own turn: it has no row
    gone |= {n for n in given if (note.is_forgotten if (note := ledger.find(n)) else n not in ended)}
    line = FORGOTTEN.format(numbers=", ".join(f"#{number}" for number in sorted(gone - told)))
    return replace(since, changed=(*since.changed, line)) if gone - told else since


def with_over(since: Since, ledger: Ledger, scope: Scope, shown: Sequence[ConversationTurn]) -> Since:
    """The news with the notes that are over by now, where the last result in the messages that names one has it open.

    What a person ticked off, dropped or took back is told once as an event; the messages say for long that it stands.
    """
    last: dict[int, str] = {}
    for turn in sorted(shown, key=lambda each: each.seq):
        results = (call.result for call in turn.tool_calls if call.name in NOTES)
        for found in (found for result in results for found in _NAMED.finditer(result)):
            last |= dict.fromkeys(map(int, found[1].split(", #")), found.string[found.start() :].split("\n", 1)[0])
    notes = {n: note for n in last if (note := ledger.find(n)) and note.status in OVER and belongs(note, scope)}
    over = [n for n, note in sorted(notes.items()) if not (note.is_forgotten or f"({note.status}" in last[n])]
    lines = [f"#{n} ({notes[n].status})" for n in over if n not in since.numbers]
    return replace(since, changed=(*since.changed, *lines), numbers=since.numbers.union(over)) if lines else since


def _named(calls: Iterable[ToolCall]) -> set[int]:
    """The numbers of the notes of which results tell."""
    lists = (numbers for call in calls for numbers in _NAMED.findall(call.result))
    return {int(number) for numbers in lists for number in numbers.split(", #")}


def without_forgotten(found: Sequence[RetrievedItem], ledger: Ledger) -> list[RetrievedItem]:
    """The finds that tell nothing again of notes that were forgotten while their messages stay (P13)."""
    matters = [matter_of(note) for note in forgotten(ledger)]
    if not (found and matters):
        return list(found)
    gone, said = Matter(matters, (item.text for item in found)), [(item, Said.of(item.text)) for item in found]
    if not any(gone.told_by(text, Known()) for _, text in said):
        return list(found)
    known = known_by(standing(ledger))  # reads every note: only where a find may tell it again
    return [item for item, text in said if not gone.told_by(text, known)]


def beside_calls(found: Sequence[RetrievedItem], shown: Sequence[ConversationTurn]) -> list[RetrievedItem]:
    """The finds that the messages do not hold already as results of a search."""
    told = _plain("\n".join(call.result for turn in shown for call in turn.tool_calls)) if found else ""
    return [item for item in found if not (told and _stands_in(item, told))]


def _stands_in(item: RetrievedItem, told: str) -> bool:
    return any(_plain(line)[:SEEN_CHARS] in told for line in item.text.splitlines() if len(line) >= SEEN_CHARS)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def with_notes(
    found: Sequence[RetrievedItem],
    ledger: Ledger,
    scope: Scope,
    known: tuple[Block, Since],
    *,
    changed: Mapping[str, int],
    worked_on: Collection[str] = (),
    now_ms: int,
    zone: str,
) -> list[RetrievedItem]:
    """The finds, each with the notes that rest on it, in their newest form, marked where it is later than the find.

    `changed` has the times when notes last got other words or another day, by id. A note that the prompt tells
    elsewhere, or with a find before, is named by its number alone: `#12`; one that says something else by now is told
    beside the first find of it; one that is over by its end: `done: #12`, of several matters with its beginning. A find
    in an edited or `worked_on` turn is marked so, and an answer of the assistant's that speaks of a note which was
    changed later. A message is left out whose notes tell all of it, and one that tells a forgotten matter again.
    """
    found = without_forgotten(found, ledger)
    if not found:
        return []
    of_turn = _by_turn(ledger, scope, {item.ref for item in found}, now_ms)
    block, since = known
    told, as_now = {*block.lines, *since.numbers}, set[int]()
    joined: list[RetrievedItem] = []
    notes = NoteWords.of((*block.lines.values(), *since.changed))
    later = _changed_later(ledger, scope, changed)
    for item in found:
        if item.ref in of_turn and not notes.untold(item.text.splitlines()):
            continue
        words = [mark for mark, holds in ((EDITED, item.edited), (WORKED_ON, item.ref in worked_on)) if holds]
        dated = [
            (note, was_other or (changed.get(note.note_id, 0) > item.at_ms and note.turn_ids[-1] != item.ref))
            for note, was_other in of_turn.get(item.ref, ())
        ]
        own = {note.number for note, _ in dated}
        dated += [(note, True) for note in _answered_before(item, later) if note.number not in own]
        ends = [each for each in dated if each[1] or not each[0].is_open][:ENDS_OF_A_FIND]
        others = [each for each in dated if each not in ends][: max(1, NOTES_OF_A_FIND - len(ends))]
        for note, is_later in (*sorted(ends, key=lambda each: not each[1]), *others):  # what is not so any more first
            if note.is_open:
                is_known = note.number in (as_now if is_later else told)
                mark = "later changed: " if is_later else "see " if is_known else ""
                line = f"#{note.number}" if is_known else model_line(note, now_ms, zone, brief=True)
                as_now.add(note.number)
            else:
                name = "" if note.number in told or len(dated) == 1 else f" {shorten(note.text, NAME_CHARS)}"
                mark, line = f"{note.status}: ", f"#{note.number}{name}"
            words.append(mark + line)
            told.add(note.number)
        joined.append(item.model_copy(update={"note": "; ".join(words)}) if words else item)
    return joined


def _changed_later(ledger: Ledger, scope: Scope, changed: Mapping[str, int]) -> list[tuple[Note, Note, int]]:
    """Each note as it was told once, the open one that stands for it, and when that came to say something else."""
    pairs = [(note, ledger.newest(note)) for note in ledger if note.status in {"open", "replaced"}] if changed else []
    return [
        (then, now, changed[now.note_id])
        for then, now in pairs
        if now.note_id in changed and now.is_open and belongs(now, scope)
    ]


def _answered_before(item: RetrievedItem, later: Sequence[tuple[Note, Note, int]]) -> list[Note]:
    """The notes of which an answer in this find speaks as they were before: nobody rests a note on an answer."""
    stood = [each for each in later if each[0].said_at_ms <= item.at_ms < each[2]]
    said = [word_keys(sentence) for sentence in SENTENCE.split(answer_in(item.text))] if stood else []
    found = {now.number: now for then, now, _ in stood if any(speaks_of(word_keys(then.text), each) for each in said)}
    return list(found.values())[:NOTES_OF_A_FIND]


def _by_turn(
    ledger: Ledger, scope: Scope, turn_ids: Collection[str], now_ms: int
) -> Mapping[str, list[tuple[Note, bool]]]:
    """The notes that rest on each of these turns, each in its newest form, the standing and weightiest first.

    With each whether that form is another note's, which took its place.
    """
    of_turn: dict[str, dict[int, tuple[Note, bool]]] = {}
    for note in ledger:
        on = [turn_id for turn_id in note.turn_ids if turn_id in turn_ids]
        if not on:
            continue
        newest = ledger.newest(note)
        if not belongs(newest, scope):
            continue
        for turn_id in on:
            of_turn.setdefault(turn_id, {})[newest.number] = (newest, newest is not note)
    return {
        turn_id: sorted(notes.values(), key=lambda each: (not each[0].is_open, -worth(each[0], now_ms), each[0].number))
        for turn_id, notes in of_turn.items()
    }
