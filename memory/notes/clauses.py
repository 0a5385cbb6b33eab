"""The turns of a session as clauses: a person's own words, cut where they stand alone, with what they hold. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memory.language.corrected import as_meant, as_moved
from memory.language.due_dates import Due
from memory.language.errands import errands_of
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.sentences import (
    lowered,
    stems_of,
    without_possessive,
    words_of,
)
from memory.language.time_rules import blank
from memory.notes.cutting import joined, sentences_in, unfused
from memory.notes.names import addressed_names, leading_names, names_of
from memory.notes.reports import Report, ended, outcomes, tells, told_ends, told_of_debts
from memory.notes.telling import telling_stems, without_denied_day
from memory.notes.types import Speaker
from memory.notes.when import coming_day
from memory.types import ABOUT_REMINDERS, REARRANGES, ConversationTurn

CUES = (
    "acts", "ago", "agrees", "attends", "awaits", "bare", "closing", "commitment", "correct", "deadline",
    "deferral", "done", "drop", "event", "extends", "feeling", "forget", "goodbye", "greeting", "happening",
    "hypothetical", "imperative", "in_vain", "intention", "jointly", "kin", "lasting", "later", "laugh", "limit",
    "moves", "negates", "no_longer", "not_a_promise", "not_yet", "obligation", "off", "offer", "others", "over", "past",
    "pronoun", "proposal", "question", "request", "restored", "reverses", "stands", "takes_on", "tells", "thanks",
    "ticks_off", "told_them", "waits", "when_ready", "will_do", "wish",
)  # fmt: skip
"""The cues of the language data that the reader looks for."""
TAKEN_ON = ("obligation", "commitment", "takes_on", "acts", "intention")
"""Cues of what somebody has to do or will do; what they only ask, quote or say as a turn of phrase is none."""
_FIRST = 2
"""How many clauses of an answer are read for what it is an answer to."""
_STAYS = frozenset({"lasting", "limit"})
_PAUSE = re.compile(r"[,;:.!?()]|\s[-\u2013\u2014]\s")
_ROUTINE_CHARS = 25
"""How far behind "I'll" stands what one does every day: sleep, eat, go home."""
_NEAR_CHARS = 4
_ACTOR_WORDS = 3
"""Whoever acts is named among the first words, or beside the verb."""
_EDGE = " .,:;!?()\"'\u201c\u201d\u00ab\u00bb*"
NUMBER = re.compile(r"(?<![\w.])[£$€₽]?\d+(?:[.,:/]\d+)*(?:\s?[%€£$°]|[a-zµ]{1,3}\b)?")
_FACES = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\U0001f1e6-\U0001f1ff]")
_LAUGHS = re.compile(
    "[\U0001f602\U0001f923\U0001f639\U0001f600-\U0001f606\U0001f61c-\U0001f61d\U0001f92a\U0001f92d]|\\){2,}|xd"
)
_ASIDE = re.compile(r"\(\(.*?(?:\)\)|\Z)", re.DOTALL)
_ENDS = re.compile(r"(?<=[.!?\u2026])\s+")
_SPOKEN = re.compile('["\u201c\u201e\u00ab][^"\u201d\u201c\u00bb]{3,}["\u201d\u201c\u00bb]')


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of one message that can be quoted, and what was found in it."""

    turn_id: str
    place: int
    """Number of its turn among those that are read."""
    at_ms: int
    speaker: Speaker
    text: str = ""
    """Verbatim, on one line."""
    lower: str = ""
    """Lower-cased and mended: what the cues were looked for in."""
    stems: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    """Lower-cased names of people and places in it."""
    actor: str = ""
    """Who acts, of those named, as it was written; "" when nobody does."""
    numbers: frozenset[str] = frozenset()
    due: Due | None = None
    is_deadline: bool = False
    """True when something has to be done by then: "by Friday", not only "on Friday"."""
    cues: frozenset[str] = frozenset()
    aside: bool = False
    """True when it stands in double brackets: out of the story that is being told."""
    before: str = ""
    """The clause right before it in the same message."""
    words: int = 0
    values: frozenset[str] = frozenset()
    """Stems of the words that say when: what "not nine" denies, though it says of nothing what it is."""
    ended: tuple[Report, ...] = ()
    """The sentences in it that report an end."""
    told: tuple[frozenset[str], ...] = ()
    """Stems of each sentence in it that tells what was done, or how a thing is now ("tyres on now")."""
    reports: bool = False
    """True once something was found that it ends."""
    outcomes: frozenset[int] = frozenset()
    """Which of the language's outcomes it tells: "passed!" says of no exam by name how it went."""
    settles: frozenset[str] = frozenset()
    """Stems of what it says of a debt beside that it is paid: whose, or what came back."""

    @property
    def asks(self) -> bool:
        """True for a question; what is told beside a short one counts as told."""
        marked = [part for part in _ENDS.split(self.text.replace("\uff1f", "?")) if "?" in part]
        if not marked:
            return "question" in self.cues
        return 2 * sum(len(part.split()) for part in marked) >= len(self.text.split())


@dataclass(frozen=True, slots=True)
class Frame:
    """How a text is read: its language, the person's time zone, the names that are known."""

    language: Language
    zone: str
    names: frozenset[str]
    guessed: frozenset[str] = frozenset()
    """Those of the names that may be plain words: the assistant only ever began a sentence with them."""


@dataclass(frozen=True, slots=True)
class TurnClauses:
    """One turn as clauses: what the person said, what the assistant answered."""

    turn: ConversationTurn
    language: Language
    user: tuple[Clause, ...]
    assistant: tuple[Clause, ...]

    @property
    def reply_stems(self) -> frozenset[str]:
        """The stems of the whole answer."""
        return frozenset().union(*(clause.stems for clause in self.assistant)) if self.assistant else frozenset()


def read_turns(
    turns: Sequence[ConversationTurn], languages: Languages, zone: str, default_language: str, known: frozenset[str]
) -> list[TurnClauses]:
    """Return the turns as clauses, in order. `known` are names from before; a foreign text is no word of the person."""
    language = main_language(turns, languages, default_language)
    written, guessed = names_of(turns, language)
    addressed, leading = addressed_names(turns, language), leading_names(turns, language)
    names = known | written | guessed | addressed | leading
    frame = Frame(language, zone, names, (names if language.nouns_are_large else guessed - leading) - addressed)
    return [_said(turn, place, frame) for place, turn in enumerate(turns) if not turn.unfiled]


def named_in(said: Iterable[TurnClauses]) -> frozenset[str]:
    """Return the names that were used."""
    return frozenset(name for each in said for clause in (*each.user, *each.assistant) for name in clause.names)


def main_language(turns: Sequence[ConversationTurn], languages: Languages, default: str) -> Language:
    """Return the language in which the person writes: that of all their messages together."""
    text = " ".join(turn.user_text for turn in turns[-40:] if not (turn.third_party or turn.unfiled))
    return languages.detect(text, default) if text.strip() else languages.get(default)


def _said(turn: ConversationTurn, place: int, frame: Frame) -> TurnClauses:
    """Return a turn as clauses: nothing of a change to a reminder, nor of what is answered about reminders.

    What the program itself was asked ("what's still open?") it has answered: that is no question of the person's.
    """
    foreign = turn.third_party or turn.action_name in REARRANGES
    user = () if foreign else clauses_of(turn, place, "user", frame)
    user = [clause for clause in user if turn.authored is None or not clause.asks]
    of_reminders = turn.action_name in ABOUT_REMINDERS
    assistant = () if of_reminders else clauses_of(turn, place, "assistant", frame)
    if any("ticks_off" in clause.cues and not clause.asks for clause in assistant[:_FIRST]):
        user = [replace(clause, ended=clause.ended or told_ends(clause.lower, frame.language)) for clause in user]
    return TurnClauses(turn, frame.language, tuple(user), tuple(assistant))


def clauses_of(turn: ConversationTurn, place: int, speaker: Speaker, frame: Frame) -> list[Clause]:
    """Return the clauses of one side of a turn."""
    text = as_meant(turn.user_text, frame.language) if speaker == "user" else turn.spoken
    bare = Clause(turn_id=turn.turn_id, place=place, at_ms=turn.created_at_ms, speaker=speaker)
    whole = joined(sentences_in(_ASIDE.sub("\n", text), frame.language), frame.language)
    errands = [each for part in whole for each in errands_of(part, frame.language)]
    apart = unfused(errands, turn.created_at_ms, frame.zone, frame.language)
    found = [_clause(part, bare, frame) for part in apart]
    for aside in _ASIDE.findall(text):
        inside = joined(sentences_in(aside.strip("() \n"), frame.language), frame.language)
        found += [_clause(part, replace(bare, aside=True), frame) for part in inside]
    chained: list[Clause] = []
    for number, clause in enumerate(found):
        before = found[number - 1].text if number and found[number - 1].aside == clause.aside else ""
        chained.append(replace(clause, before=before))
    return chained


def within(clause: Clause, text: str, zone: str, language: Language) -> Clause:
    """Return a part of a clause's text as a clause of its own."""
    bare = Clause(turn_id=clause.turn_id, place=clause.place, at_ms=clause.at_ms, speaker=clause.speaker)
    return _clause(text, bare, Frame(language, zone, clause.names))


def _clause(text: str, bare: Clause, frame: Frame) -> Clause:
    language = frame.language
    lower = as_moved(language.mended(lowered(text)), language)
    words = words_of(lower)
    cues = cues_of(lower, language)
    holds = coming_day(without_denied_day(lower, language), bare.at_ms, frame.zone, language)
    due = holds or coming_day(lower, bare.at_ms, frame.zone, language)
    stems = telling_stems(words_of(blank(lower, due.spans)) if due else words, language)
    names = frozenset(name for word in words if (name := without_possessive(word)) in frame.names)
    return replace(
        bare,
        text=_FACES.sub("", text).strip() or text,
        lower=lower,
        stems=stems,
        names=names,
        actor=_actor(text, names, frame) if names else "",
        numbers=frozenset(NUMBER.findall(lower)),
        values=_values(lower, due, language),
        due=due,
        is_deadline=due is not None and _is_deadline(due, lower, language),
        cues=cues | {"laugh"} if _LAUGHS.search(text.lower()) else cues,
        words=len(words),
        ended=ended(lower, language),
        told=tells(lower, language),
        outcomes=outcomes(lower, language),
        settles=told_of_debts(lower, language),
    )


def cues_of(lower: str, language: Language) -> frozenset[str]:
    """Return the cues of a lower-cased, mended text. What is taken on counts only where it is told, not asked."""
    found = {cue for cue in CUES if language.has(cue, lower)}
    told = _told(lower, language)
    meant = language.cues["not_a_promise"].sub(" ~ ", told) if "not_a_promise" in found else told
    found -= {cue for cue in TAKEN_ON if cue in found and not _takes_on(cue, meant, language)}
    if "awaits" in found:
        found.add("waits")
    if "others" in found and "attends" in found:
        acted = language.cues["attends"].sub(" ~ ", lower)
        found -= set() if language.has("others", acted) else {"others"}
    return frozenset(found)


def _values(lower: str, due: Due | None, language: Language) -> frozenset[str]:
    said = " ".join(lower[start:end] for start, end in due.spans) if due else ""
    return stems_of(words_of(said), language)


def with_reason(clause: Clause, language: Language) -> Clause | None:
    """Return the part of a sentence that gives a reason which stays true, as a clause of its own; None without one.

    "The ring came, and since I'm allergic to nickel anyway, I sent it back" → "since I'm allergic to nickel anyway".
    """
    lower = lowered(clause.text)
    if "because" not in language.cues or clause.asks or len(lower) != len(clause.text):
        return None
    for found in language.cues["because"].finditer(lower):
        end = _PAUSE.search(lower, found.end())
        start, stop = found.start(), end.start() if end else len(lower)
        text = clause.text[start:stop].strip()
        said = language.mended(lowered(text))
        cues = cues_of(said, language)
        if len(text) < len(clause.text.rstrip(_EDGE)) and (_STAYS & cues or states(text, said, language)):
            words = words_of(said)
            stems = telling_stems(words, language)
            names = frozenset(name for name in clause.names if name in said)
            return replace(
                clause, text=text, lower=said, stems=stems, cues=cues, names=names, due=None, is_deadline=False,
                words=len(words), ended=(), before="",
            )  # fmt: skip
    return None


def states(text: str, lower: str, language: Language) -> bool:
    """Return whether the text states a fact about the person ("I live in Bonn"), by the rules of the language."""
    return any(rule.pattern.search(lower) or rule.pattern.search(text) for rule in language.facts)


def _is_deadline(due: Due, lower: str, language: Language) -> bool:
    """Return whether a word that sets a limit stands right before the day, or belongs to it."""
    plain = language.cues["not_a_deadline"].sub(_dots, lower) if "not_a_deadline" in language.cues else lower
    limits = (
        [found.span() for found in language.cues["deadline"].finditer(plain)] if "deadline" in language.cues else []
    )
    return any(start <= day[1] and day[0] - end <= _NEAR_CHARS for start, end in limits for day in due.spans)


def _dots(found: re.Match[str]) -> str:
    """Return as many signs that mean nothing as were found, so that places stay."""
    return "~" * len(found.group())


def _told(lower: str, language: Language) -> str:
    """Return the text without its questions and without what stands in quotation marks."""
    parts = _ENDS.split(_SPOKEN.sub(" ~ ", lower))
    return " ".join(part for part in parts if not part.rstrip().endswith("?") and not language.has("question", part))


def _takes_on(cue: str, told: str, language: Language) -> bool:
    """Return whether the cue stands there for more than what one does every day."""
    daily = [match.start() for match in language.cues["routine"].finditer(told)] if "routine" in language.cues else []
    return any(
        not any(found.start() <= start <= found.end() + _ROUTINE_CHARS for start in daily)
        for found in language.cues[cue].finditer(told)
    )


def _actor(text: str, names: frozenset[str], frame: Frame) -> str:
    """Return the name that a part of the text begins with, or that stands beside a verb of what others say or do.

    What is only guessed to be a name has to stand beside such a verb.
    """
    written = text.split()
    words = [word.strip(_EDGE) for word in written]
    plain = [lowered(without_possessive(word)) for word in words]
    for number, word in enumerate(words):
        if plain[number] not in names:
            continue
        sure = plain[number] not in frame.guessed
        begins = sure and (number < _ACTOR_WORDS or written[number - 1][-1] in ",.;:!?")
        beside = (*plain[max(0, number - 1) : number], *plain[number + 1 : number + 2])
        if begins or any(frame.language.has(cue, each) for each in beside for cue in ("others", "tells")):
            more = [each for each in words[number + 1 : number + 2] if lowered(each) in names]
            return " ".join([without_possessive(word), *more])
    return ""
