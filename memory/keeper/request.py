"""The text for a keeper: the notes that are worth most or bear on new turns, and the turns. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from math import log
from operator import itemgetter
from types import MappingProxyType
from typing import Final

from memory.foreign import has_foreign, names_files, parts
from memory.keeper.contract import KeeperRequest
from memory.keeper.wording import UNSPACED
from memory.ledger.apply import folded
from memory.ledger.lines import model_line, moment, titled
from memory.ledger.types import Ledger, Note, NoteChange
from memory.ledger.views import Scope, belongs, best_first, is_work, standing, within
from memory.text import asks_at_the_end, sentence_ends
from memory.types import BY_CLOCK, WAS_STOPPED, ConversationTurn, ToolCall

BEST_SHOWN: Final = 25
FOUND_SHOWN: Final = 15
ENDED_SHOWN: Final = 10
"""Notes that ended and that a turn which is shown speaks of: they are not to be noted once more."""
ENDED_FOUND: Final = 5
CHUNK_TURNS: Final = 20
CHUNK_CHARS: Final = 24_000
BEFORE_TURNS: Final = 6
BEFORE_CHARS: Final = 6_000
PERSON_CHARS: Final = 6_000
ASSISTANT_CHARS: Final = 2_000
BEFORE_PERSON_CHARS: Final = 1_000
BEFORE_ASSISTANT_CHARS: Final = 400
"""The length of an answer that was read already: enough for the question of a new one, not for a drafted letter."""
TOOL_CHARS: Final = 200
SEEN_CHARS: Final = 1_500
"""For an album of ten pictures this is half of each description at least."""
BEFORE_SEEN_CHARS: Final = 400
STANDING_CHARS: Final = 800
CONTENT_WORDS: Final = 6
"""A stretch of fewer words, without a number or a tool call, holds nothing to note."""
FENCED: Final = "<data-"
"""The beginning of a tool's result from elsewhere: nobody's words here, and nothing to note by itself."""
LOOKS: Final = frozenset({"search", "search_past", "list_reminders"})
"""Tools that note nothing."""
FORGET: Final = "forget"
SETTINGS: Final = "settings"
NOTES: Final = frozenset({"note", "change", "end", "remind", "schedule", FORGET, SETTINGS})
"""Tools with which the model notes at once what a message says."""
NOT_DONE: Final = ("Not ", "No ", "Nothing ", "There is no ", "That ended already", "Call again", "#")
"""How lines of a result begin that tell of nothing done: a refusal, or the notes that may have been meant."""
TOLD_WORDS: Final = 25
"""A call that noted, or a question at the end, accounts for so many words of a message: the rest may hold more."""
NOTHING_SEEN: Final[Mapping[str, str]] = MappingProxyType({})
TAPPED: Final = "[tapped a button of the assistant's]"
"""Stands for the message of a turn that nobody typed."""
SENT: Final = "[a file that they sent:"
SOMEBODY_ELSE: Final = "[somebody else's words, forwarded or quoted:"

SAID_LATER: Final = "(said after the new turns)"
"""Stands behind a note that turns which are read late, or once more, are older than."""
TAKEN_BACK: Final = "(its last change was taken back by the person: leave it so)"
"""Stands behind a note, since the turns still ask for what was taken back."""
NO_STANDING: Final = "(none yet: give this conversation its title)"
STOPPED_ANSWER: Final = "(the person stopped the answer)"
EDITED: Final = "[edited since: this is what holds; what the assistant did and said below was to other words]"

_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"#(\d+)")
_HOW: Final = re.compile(r'"how":\s*"(\w+)"')
_OF_ONE_DATE: Final = re.compile(r"(?:The date|Left out on) (\d{4}[-T:\d]*)")
"""What `end` and `remind` answer that ended, or left out, one date of a series."""
"""Whether a call of `end` called notes done, dropped them, or let them stand again."""
_OWN_ANSWER: Final = re.compile(r"\A<data-\w{8}>\nYour own tool's answer\.[^\n]*\n\n(.*)\n</data-\w{8}>\Z", re.DOTALL)
"""How the answer of a tool of ours is told in a group."""
_STEM_CHARS: Final = 4
_SHORTEST: Final = 3


# --- which turns ------------------------------------------------------------------------------------------------------


def own_text(turn: ConversationTurn) -> str:
    """The person's own words of a turn: nothing that they forwarded or quoted, nor a button's line."""
    if not has_foreign(turn.user_text):
        return "" if turn.third_party else turn.typed
    return "\n".join(text for is_foreign, text in parts(turn.user_text) if not is_foreign)


def is_shown(turn: ConversationTurn, undone: Collection[str] = ()) -> bool:
    """Whether a keeper may read a turn: not one answered with care, taken back, or not typed."""
    return not turn.unfiled and turn.action_name != BY_CLOCK and turn.turn_id not in undone


def has_content(turns: Iterable[ConversationTurn], seen: Mapping[str, str] = NOTHING_SEEN) -> bool:
    """Whether a stretch may hold something to note: six words, a number, or a tool that was called.

    Words `seen` in the pictures of a turn count where somebody said something to them.
    """
    words = 0
    for turn in turns:
        text = own_text(turn)
        if text.strip():
            words += len(seen.get(turn.turn_id, "").split())
        if turn.tool_calls or any(char.isdigit() for char in text):
            return True
        words += _words(text)
    return words >= CONTENT_WORDS


def _words(text: str) -> int:
    """The number of words; of a script without spaces two signs count as one."""
    return sum(max(1, len(word) // 2) if UNSPACED.match(word) else 1 for word in _WORD.findall(text))


def is_told(turn: ConversationTurn) -> bool:
    """Whether a turn needs no reading of its own: the model noted it as it answered, or it only asks.

    A long message with one note beside it may hold more than that.
    """
    text = own_text(turn)
    noted = sum(call.name in NOTES and (not call.result or bool(_deeds(call))) for call in turn.tool_calls)
    return _words(text) <= TOLD_WORDS * (noted + asks_at_the_end(text))


def untold(turns: Iterable[ConversationTurn], seen: Mapping[str, str] = NOTHING_SEEN) -> list[ConversationTurn]:
    """The turns of which something may lack in the notes: no short question, and none that the model noted."""
    found = [turn for turn in turns if not is_told(turn)]
    return found if has_content(found, seen) else []


def chunk(turns: Sequence[ConversationTurn]) -> list[ConversationTurn]:
    """The first of these turns that one request takes, one at least."""
    taken: list[ConversationTurn] = []
    chars = 0
    for turn in turns[:CHUNK_TURNS]:
        chars += _chars(turn)
        if taken and chars > CHUNK_CHARS:
            break
        taken.append(turn)
    return taken


def before_them(turns: Sequence[ConversationTurn]) -> list[ConversationTurn]:
    """The last of the turns that were read already that come along, oldest first."""
    taken: list[ConversationTurn] = []
    chars = 0
    for turn in reversed(turns[-BEFORE_TURNS:]):
        chars += min(len(turn.user_text), BEFORE_PERSON_CHARS) + min(len(turn.assistant_text), BEFORE_ASSISTANT_CHARS)
        if taken and chars > BEFORE_CHARS:
            break
        taken.insert(0, turn)
    return taken


def _chars(turn: ConversationTurn) -> int:
    return min(len(turn.user_text), PERSON_CHARS) + min(len(turn.assistant_text), ASSISTANT_CHARS)


# --- which notes ------------------------------------------------------------------------------------------------------


def shown_notes(
    ledger: Ledger, scope: Scope, turns: Sequence[ConversationTurn], new: Sequence[ConversationTurn], now_ms: int
) -> tuple[Note, ...]:
    """The notes that are shown: those worth most, those that the new turns speak of, and those that ended lately."""
    open_notes = within(ledger, scope)
    said = "\n".join(f"{turn.user_text}\n{turn.assistant_text}" for turn in new)
    found = found_by(said, open_notes)[:FOUND_SHOWN]
    rest = [note for note in best_first(open_notes, now_ms) if note not in found][
        : BEST_SHOWN + FOUND_SHOWN - len(found)
    ]
    turn_ids = {turn.turn_id for turn in turns}
    stands = {note.number for note in standing(ledger)}
    said_again = {folded(note.text) for note in open_notes}
    over = [
        note
        for note in ledger
        if belongs(note, scope)
        and note.number not in stands
        and note.status != "replaced"
        and folded(note.text) not in said_again
    ]
    spoken_of = found_by(said, over)[:ENDED_FOUND]  # what a button ended stands in no turn
    ended = [note for note in over if turn_ids.intersection(note.turn_ids) or note in spoken_of]
    last = sorted(ended, key=lambda note: -note.version)[:ENDED_SHOWN]
    return tuple(sorted([*found, *rest, *last], key=lambda note: note.number))


def said_later(notes: Iterable[Note], told: Iterable[ConversationTurn], last_ms: int) -> frozenset[int]:
    """The numbers of notes that rest on a turn after this moment, doubtful ones aside; `told` are their turns."""
    after = {turn.turn_id for turn in told if turn.created_at_ms > last_ms}
    return frozenset(note.number for note in notes if not (note.doubtful or after.isdisjoint(note.turn_ids)))


def taken_back(changes: Iterable[NoteChange]) -> frozenset[int]:
    """The numbers of notes of which the person took the last change back, rings and a keeper's words aside."""
    last = {each.number: each for each in changes if each.verb != "ring" and each.hand != "keeper"}
    return frozenset(n for n, each in last.items() if each.verb == "undo" and not each.cause.startswith("edit:"))


def found_by(text: str, notes: Sequence[Note]) -> list[Note]:
    """The notes that share words with a text, the rarest words first; words are compared by how they begin."""
    said = _stems(text)
    stems = {note.number: _stems(f"{note.text} {note.subject}") for note in notes}
    holders = Counter(stem for each in stems.values() for stem in each)
    worth = {
        note.number: sum(log(1 + len(notes) / holders[stem]) for stem in stems[note.number] & said) for note in notes
    }
    return sorted((note for note in notes if worth[note.number] > 0), key=lambda note: -worth[note.number])


def _stems(text: str) -> frozenset[str]:
    """How the words of a text begin; of scripts without spaces each two signs that follow one another."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if run := UNSPACED.search(word):
            found.update(a + b for a, b in pairwise(run.group()))
        elif len(word) >= _SHORTEST:
            found.add(word[: max(_STEM_CHARS, len(word) - 3)])
    return frozenset(found)


# --- as text ----------------------------------------------------------------------------------------------------------


def request_text(request: KeeperRequest) -> str:
    """The text that a keeper reads, to be put into a fence: the clock, `Notes:`, `Read before:` and `New turns:`.

    Notes that ended stand apart: they are only there so that they are not noted once more.
    """
    first_new = len(request.before) + 1
    is_open = [note for note in request.notes if note.is_open]
    ended = [note for note in request.notes if not note.is_open]
    lines = {n: _turn(n, turn, request, is_new=n >= first_new) for n, turn in request.numbered.items()}
    sections = (
        ("Notes", [_note(note, request) for note in is_open] or ["(none yet)"]),
        ("Ended", [_note(note, request) for note in ended]),
        ("Standing until now", [cut(request.standing, STANDING_CHARS) or NO_STANDING]),
        ("Read before", [text for number, text in lines.items() if number < first_new]),
        ("New turns", [text for number, text in lines.items() if number >= first_new]),
    )
    clock = f"It is {moment(request.now_ms, request.zone)} now ({request.zone}); all times are by this clock."
    return "\n\n".join([clock, *(f"{title}:\n" + "\n".join(texts) for title, texts in sections if texts)])


def _note(note: Note, request: KeeperRequest) -> str:
    later = f" {SAID_LATER}" if note.number in request.later else ""
    back = f" {TAKEN_BACK}" if note.number in request.taken_back else ""
    told = note.model_copy(update={"text": titled(note)}) if is_work(note) else note  # its work is the model's
    return model_line(told, request.now_ms, request.zone) + back + later


def _turn(number: int, turn: ConversationTurn, request: KeeperRequest, *, is_new: bool) -> str:
    most = PERSON_CHARS if is_new else BEFORE_PERSON_CHARS
    name = request.names.get(turn.user_id or 0, "")
    person = f"person ({' '.join(name.split())})" if name else "person"
    edited = f"{EDITED} " if turn.turn_id in request.edited else ""
    found = [f"{number}. [{moment(turn.created_at_ms, request.zone)}] {person}: {edited}{_said(turn, most)}"]
    notes = {note.number for note in request.notes}
    if seen := cut(request.seen.get(turn.turn_id, ""), SEEN_CHARS if is_new else BEFORE_SEEN_CHARS):
        found.append(f"   seen by a program: {seen}")
    calls = [_called(call, notes) for call in turn.tool_calls if call.name not in LOOKS]
    found += [f"   ({text})" for text in _together(calls)]
    if turn.action_name == WAS_STOPPED:
        found.append(f"   {STOPPED_ANSWER}")
    elif answer := cut(turn.assistant_text, ASSISTANT_CHARS if is_new else BEFORE_ASSISTANT_CHARS):
        found.append(f"   assistant: {answer}")
    return "\n".join(found)


def _said(turn: ConversationTurn, most: int) -> str:
    """The person's message on one line, with words of others marked as theirs."""
    if not turn.typed:
        return TAPPED
    if not has_foreign(turn.user_text):
        said = cut(turn.user_text, most)
        return f"{SOMEBODY_ELSE} {said}]" if turn.third_party else said
    stretches = ((is_foreign, _whose(text), cut(text, most)) for is_foreign, text in parts(turn.user_text))
    return " ".join(f"{whose} {text}]" if is_foreign else text for is_foreign, whose, text in stretches if text)


def _whose(stretch: str) -> str:
    return SENT if names_files(stretch) else SOMEBODY_ELSE


def _called(call: ToolCall, shown: Collection[int]) -> tuple[str, str]:
    """A call of the assistant's and what it did, so that nothing is noted again: by its number where that is shown.

    Of a tool that brought words from elsewhere only that it was used: they are nobody's here.
    """
    name, result = cut(call.name, TOOL_CHARS), _own_answer(call)
    if FENCED in result or f"&lt;{FENCED[1:]}" in result:
        return f"the assistant used {name}", ""
    deeds = _deeds(call) if call.name in NOTES else [result]
    if result and not deeds:
        return f"the assistant's tool {name} did nothing", ""
    how = "".join(f", {each}" for each in _HOW.findall(call.arguments)) if call.name == "end" else ""
    how += "".join(f", of {date[1]} alone" for deed in deeds if (date := _OF_ONE_DATE.match(deed)))
    tool, numbers = f"the assistant's tool {name}{how}", [_NUMBER.search(deed) for deed in deeds]
    known = [number[0] for number in numbers if number and int(number[1]) in shown]
    if deeds and len(known) == len(deeds):
        return tool, ", ".join(dict.fromkeys(known))
    return tool, cut(call.arguments if call.name == SETTINGS else "\n".join(deeds) or call.arguments, TOOL_CHARS)


def _together(calls: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Calls of one tool in a row as one line."""
    for tool, group in groupby(calls, key=itemgetter(0)):
        came = ", ".join(dict.fromkeys(came for _, came in group if came))
        yield f"{tool}: {came}" if came else tool


def _own_answer(call: ToolCall) -> str:
    """The result of a call, of a tool of ours in a group without its fence."""
    return _OWN_ANSWER.sub(r"\1", call.result)


def _deeds(call: ToolCall) -> list[str]:
    """The lines of a result that tell of something done."""
    return [line for line in _own_answer(call).splitlines() if line.strip() and not line.startswith(NOT_DONE)]


def cut(text: str, most: int) -> str:
    """A text on one line, cut at the end of a sentence (else of a word) where it is too long."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head, ends = line[:most], [*sentence_ends(line, most // 2, most)]
    at = ends[-1] if ends else head.rfind(" ")
    return head[: at if at > 0 else most].rstrip() + " …"
