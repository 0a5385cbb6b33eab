"""Notes: facts, preferences and decisions in what a person said, which of them still stand, and what is open. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from bot.answers.offline.corrections import put_right
from bot.answers.offline.words import Words, words_of
from memory.language.due_dates import find_due
from memory.language.intents import is_promise, is_request, read_sentences
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.momentary import is_only_momentary
from memory.language.names import WHO
from memory.language.reported import remark, specifics
from memory.language.sentences import Sentence, lowered
from memory.language.time_rules import blank, merged, rules_of
from memory.longterm.promotion import WORTHY, candidates
from memory.notes.habits import given_up_in, is_given_up
from memory.search.terms import split_words, stem, words_for
from memory.state.loops import ALIVE
from memory.types import ConversationTurn, Memory, MemoryCandidate, MemoryKind, OpenLoop

MAX_NOTE_CHARS: Final = 240
MIN_CONTENT: Final = 1
JOINT: Final = " … "
"""Between words that were said apart: a note with it leans on an earlier message."""
FAMILY: Final = "="
"""How the name of words that speak of the same begins among stems."""
_ONE_DAY_MS: Final = 24 * 3_600_000
_EDGE: Final = " \t\n.,;:!…"


@dataclass(frozen=True, slots=True)
class StatedNote:
    """One thing that a person stated, in their own words."""

    kind: MemoryKind
    subject: str
    """Two notes with one subject compete; empty: it competes with none."""
    text: str
    turn_id: str
    session_id: str
    user_id: int | None
    at_ms: int
    code: str
    """The language it was said in."""
    corrects: str = ""
    """The text of the note that it puts right."""


@dataclass(frozen=True, slots=True)
class Held:
    """A note that stands, and the older one that it took the place of."""

    note: StatedNote
    before: StatedNote | None = None


def notes_of(turn: ConversationTurn, languages: Languages) -> tuple[StatedNote, ...]:
    """Return what the user states in a turn; nothing from forwarded text, questions, requests or suppositions."""
    if turn.third_party or turn.unfiled or not turn.user_text.strip():
        return ()
    read = _read(turn.user_text, turn.language, languages)
    return tuple(
        StatedNote(kind, subject, text, turn.turn_id, turn.session_id, turn.user_id, turn.created_at_ms, code)
        for kind, subject, text, code in read
    )


@lru_cache(maxsize=8_192)
def _read(text: str, code: str | None, languages: Languages) -> tuple[tuple[MemoryKind, str, str, str], ...]:
    language = languages.get(code) if code else languages.detect(text)
    words = words_of(language.code)
    turn = ConversationTurn(
        turn_id="", session_id="", conversation_id="", seq=1, user_text=text, assistant_text="",
        language=language.code, created_at_ms=0,
    )  # fmt: skip
    found = [c for c in candidates(turn, languages) if c.score >= WORTHY]
    notes = [(c.kind, c.subject, _trim(_fact_of(c, words)), language.code) for c in found]
    for sentence in read_sentences(text, language):
        told = told_of(sentence, words)
        if words.reads("meant", sentence.lower):
            continue
        if any(lowered(_fact_of(c, words)).strip(_EDGE) in lowered(sentence.text) for c in found):
            continue
        kind = _kind(sentence, told, language)
        if kind:
            notes.append((kind, subject_of(told, words), _trim(told), language.code))
    return tuple(notes)


def _fact_of(candidate: MemoryCandidate, words: Words) -> str:
    """Return the words of a fact without what leads it, except where that tells that a name is said: "hi, i'm ana"."""
    return candidate.text if candidate.subject == WHO else bare_of(candidate.text, words)


def noted(turns: Sequence[ConversationTurn], languages: Languages) -> list[StatedNote]:
    """Return what the turns state, oldest first; what puts an earlier statement right reads as that one does then."""
    notes: list[StatedNote] = []
    for turn in turns:
        notes += correction_of(turn, notes, languages) or notes_of(turn, languages)
    return notes


def correction_of(
    turn: ConversationTurn, earlier: Sequence[StatedNote], languages: Languages
) -> tuple[StatedNote, ...]:
    """Return the note that a turn puts right, as it reads then; nothing for a turn that corrects none."""
    if turn.third_party or turn.unfiled:
        return ()
    language = languages.get(turn.language) if turn.language else languages.detect(turn.user_text)
    mine = [note for note in earlier if note.user_id == turn.user_id]
    texts = [note.text for note in mine]
    words, sentences = words_of(language.code), read_sentences(turn.user_text, language)
    for sentence in sentences:
        found = put_right(sentence.text, texts, words)
        found = found or _decided_otherwise([each.text for each in sentences], texts, words)
        found = found or _given_up(sentence.text, texts, language)
        if found:
            old = mine[found[0]]
            new = replace(old, text=_trim(found[1]), turn_id=turn.turn_id, at_ms=turn.created_at_ms)
            return (replace(new, session_id=turn.session_id, corrects=old.text),)
    return ()


def _decided_otherwise(said: Sequence[str], earlier: Sequence[str], words: Words) -> tuple[int, str] | None:
    """Return which earlier statement no longer holds, and what does: "we changed our minds, the room will be green".

    What holds now may stand in the next sentence. None when it shares no word with what was stated.
    """
    for number, text in enumerate(said):
        lead = words.reads("other_mind", lowered(text))
        if lead is None or len(lowered(text)) != len(text):
            continue
        new = text[lead.end() :] or " ".join(said[number + 1 : number + 2])
        about = stems(new, words.code)
        place = next((at for at in reversed(range(len(earlier))) if about & stems(earlier[at], words.code)), None)
        if place is not None:
            return place, new[:1].upper() + new[1:]
    return None


def _given_up(text: str, earlier: Sequence[str], language: Language) -> tuple[int, str] | None:
    """Return which earlier statement is over by "I no longer ...", and what holds now."""
    stopped = given_up_in(language.mended(lowered(text)), language)
    places = [at for at, told in enumerate(earlier) if stopped is not None and is_given_up(stopped, told, language)]
    return (places[-1], text) if places else None


def told_of(sentence: Sentence, words: Words) -> str:
    """Return what the sentence tells."""
    return bare_of(sentence.text, words)


def bare_of(text: str, words: Words) -> str:
    """Return the text without "remember that …", "by the way" or an "and" in front of it."""
    asked = words.asked("remember", lowered(text))
    if asked and len(lowered(text)) == len(text):
        text = text[slice(*asked.span("about"))]
    filler = words.reads("fillers", lowered(text))
    text = text[filler.end() :] if filler and filler.start() == 0 else text
    first, _, rest = text.partition(" ")
    return rest if rest and lowered(first) in Languages.load().get(words.code).conjunctions else text


def _kind(sentence: Sentence, told: str, language: Language) -> MemoryKind | None:
    lower = lowered(told)
    asked_to_keep = words_of(language.code).asked("remember", sentence.lower) is not None
    if sentence.asks or is_promise(sentence, language) or language.has("hypothetical", lower):
        return None
    if language.has("forget", sentence.lower) or is_only_momentary(told, language):
        return None
    kind = remark(told, language)
    if kind == "decision":
        return kind
    if (is_request(sentence, language) and not asked_to_keep) or len(sentence.content) < MIN_CONTENT:
        return None
    if kind in {"fact", "preference"}:
        return "preference" if kind == "preference" else "fact"
    return "fact" if asked_to_keep or (subject_of(told, words_of(language.code)) and specifics(told)) else None


def subject_of(text: str, words: Words) -> str:
    """Return what the sentence says something of ("flight leave" of "my flight leaves at 9"); empty if unclear.

    So it is for what somebody is or has: "my sister has an exam" takes the place of nothing else that she has.
    """
    lower, kin = lowered(text), Languages.load().get(words.code).cues["kin"]
    for frame in words.subjects:
        found = frame.search(lower)
        if found:
            of_somebody = not stems(kin.sub(" ", found.group()), words.code)
            return "" if of_somebody else " ".join(sorted(stems(found.group(), words.code)))
    return ""


def _trim(text: str) -> str:
    line = " ".join(text.replace("\u2019", "'").split()).strip(_EDGE)
    return line if len(line) <= MAX_NOTE_CHARS else line[: MAX_NOTE_CHARS - 1].rsplit(" ", 1)[0] + "…"


@lru_cache(maxsize=16_384)
def stems(text: str, code: str) -> frozenset[str]:
    """Return the stems of the words of a text that mean something in a language."""
    stop, common = words_for(code).stop, Languages.load().get(code).stop_words
    return frozenset(stem(code, word) for word in split_words(text) if word not in stop and word not in common)


@lru_cache(maxsize=16_384)
def concepts(text: str, code: str) -> frozenset[str]:
    """Return the stems of a text, nouns and verbs that speak of the same as one: "wedding" and "getting married"."""
    language = Languages.load().get(code)
    lower, found = language.mended(lowered(text)), set[str]()
    for name, pattern in language.families.items():
        spans = [match.span() for match in pattern.finditer(lower)]
        found |= {f"{FAMILY}{name}"} if spans else set()
        lower = blank(lower, spans)
    return stems(lower, code) | found


def named(text: str, words: Words) -> frozenset[str]:
    """Return the stems of a text; one that names a sum speaks of money."""
    found = stems(text, words.code)
    return found | stems(" ".join(words.money), words.code) if words.sums.search(lowered(text)) else found


def note_of_memory(memory: Memory, code: str) -> StatedNote:
    """Return a memory as a note."""
    return StatedNote(
        memory.kind, memory.subject, _trim(memory.text), memory.turn_id, memory.session_id, memory.user_id,
        memory.at_ms, code,
    )  # fmt: skip


@lru_cache(maxsize=16_384)
def _words(text: str) -> frozenset[str]:
    return frozenset(split_words(text))


def same(left: StatedNote, right: StatedNote) -> bool:
    """Return whether two notes say the same in the same words, whatever their order and marks."""
    return left.user_id == right.user_id and _words(left.text) == _words(right.text)


def standing(notes: Iterable[StatedNote]) -> tuple[Held, ...]:
    """Return what stands, oldest first: of one subject the newest and what it replaced, of equal words the first."""
    held: dict[int, Held] = {}
    by_subject: dict[tuple[int | None, str], int] = {}
    by_words: dict[tuple[int | None, frozenset[str]], int] = {}
    for number, note in enumerate(sorted(notes, key=lambda note: note.at_ms)):
        subject, text = (note.user_id, note.subject), (note.user_id, _words(note.text))
        rival = by_subject.get(subject) if note.subject else None
        if note.corrects:
            wrong = by_words.get((note.user_id, _words(note.corrects)))
            rival = wrong if wrong in held else rival
        twin = by_words.get(text)
        if twin in held and rival in {None, twin}:
            continue
        older = held.pop(rival, None) if rival is not None else None
        held[number] = Held(note, older.note if older else None)
        by_subject[subject] = by_words[text] = number
    return tuple(held.values())


def about_it(notes: Iterable[Held], topic: str, code: str, *, share: float = 0.0, limit: int = 8) -> tuple[Held, ...]:
    """Return the notes that speak of the topic, those that name most of it first, then the newest.

    `share` of the topic's words must be named at least, one of them always.
    """
    wanted = concepts(topic, code)
    scored = [(len(wanted & concepts(f"{held.note.text} {held.note.subject}", held.note.code)), held) for held in notes]
    best = max((score for score, _ in scored), default=0)
    if not best:
        return ()
    kept = [(score, held) for score, held in scored if score * 2 >= best and score >= max(1, share * len(wanted))]
    return tuple(held for _, held in sorted(kept, key=lambda item: (-item[0], -item[1].note.at_ms))[:limit])


# --- what is open ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenMatter:
    """An open loop as it is shown: what is to be done, and until when."""

    loop: OpenLoop
    text: str
    """In the words of the person, said back to them: "renew your passport"."""
    due_at_ms: int | None
    exact: bool
    """False when a day was said but no time."""
    turned: bool = True
    """False when the words stand as they were said."""


_BEFORE_MARK = re.compile(r"\s+([,;:.!?])")
"""A blank that a day taken out has left before a comma."""


def matter_of(loop: OpenLoop, zone: str, language: Language, words: Words) -> OpenMatter:
    """Return what a loop is about, without "I need to" in front of it and without the time, which stands apart."""
    text = bare_of(loop.text.rpartition(JOINT)[2], words)
    said = find_due(text, loop.opened_at_ms, zone, language)
    if said and loop.due_at_ms and abs(loop.due_at_ms - said.due_at_ms) > _ONE_DAY_MS:
        said = None
    text = without_lead(_without_days(text, said.spans if said else (), language, words), words)
    mirrored = words.mirror(_trim(text)) if _trim(text) else ""
    bare = mirrored or _trim(text) or _trim(loop.text)
    if said and (said.exact or loop.due_at_ms is None):
        return OpenMatter(loop, bare, said.due_at_ms, exact=said.exact, turned=bool(mirrored))
    exact = said is None and loop.due_exact
    return OpenMatter(loop, bare, loop.due_at_ms, exact=exact, turned=bool(mirrored))


def _without_days(text: str, spans: Sequence[tuple[int, int]], language: Language, words: Words) -> str:
    """Return the text without the time in it, which stands apart; whole where a word would be left hanging there."""
    cut = text
    for start, end in reversed(merged(spans)):
        left, rest = _without_day_lead(cut[:start], words), cut[end:]
        if rest.strip()[:1] in {"", ",", ";"}:
            left = _without_link(left, words)
            if _hangs(left, language):
                return text
        cut = left + rest
    return _BEFORE_MARK.sub(r"\1", " ".join(cut.split()))


def _hangs(left: str, language: Language) -> bool:
    """Return whether a text ends with a word that needs another behind it: "every two weeks on a"."""
    last = (left.split() or [""])[-1].lower()
    return last in language.articles or bool(rules_of(language).joints.fullmatch(last))


def _without_link(text: str, words: Words) -> str:
    """Return "my appointment" of "my appointment is", whose day stands apart."""
    head, _, last = text.rstrip(" .,;:!").rpartition(" ")
    return head if head and last.lower() in words.links else text


def _without_day_lead(text: str, words: Words) -> str:
    """Return what stands before a time without "before the" at its end."""
    lead = words.reads("day_lead", lowered(text))
    return text[: lead.start()] if lead and len(lowered(text)) == len(text) else text


def without_lead(text: str, words: Words) -> str:
    """Return what is to be done without "I need to" or "remind me to" in front of it."""
    lead = words.reads("duty_lead", Languages.load().get(words.code).accented(lowered(text)))
    return text[lead.end() :] if lead and lead.start() == 0 and len(lowered(text)) == len(text) else text


def alive(loops: Sequence[OpenLoop]) -> tuple[OpenLoop, ...]:
    """Return the loops that are open or asleep, in the order of opening."""
    return tuple(loop for loop in loops if loop.status in ALIVE)
