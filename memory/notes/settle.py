"""What a clause does to what was noted before: it settles a matter, or corrects it. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory.language.language import Language
from memory.language.listing import is_in_part
from memory.language.sentences import lowered, stems_of, words_of
from memory.language.time_rules import first, rules_of
from memory.notes.clauses import TAKEN_ON, Clause
from memory.notes.reports import Report
from memory.notes.telling import telling_stems, without_denied_day
from memory.notes.types import DAY_MS
from memory.notes.weigh import reports_an_end

_TAKEN_ON = frozenset(TAKEN_ON)
"""Cues of what somebody has to do or will do: "I must ask Betty instead" is more than a name."""
NEAR_TURNS = 2
"""How many turns back "done" without a name may reach."""
_SAME_MATTER = 0.3
"""Share of common stems, of the smaller side, from which a report speaks of a matter."""
_SAME_NAME = 0.5
"""The same where they share nothing but a name or a number: one hears of people again and again."""
_ENDED_SHARE = 0.6
"""Share of the stems that a report names, without its verb, from which it is about a note with another verb."""
_TOLD_SHARE = 0.5
"""Share of the stems of a sentence in passing from which it tells of a task: "tyres on now"."""
_KNOWN_SHARE = 0.25
"""Share of the stems of the task that it has to name at least: a long one is not over by one word of it, unless it was
spoken of just before.
"""
_PART_STEMS = 3
"""A part of a compound has one letter more than this, at its beginning two; the rest of the compound has so many."""
_COMMON = 6
"""A stem that stands in at least this many notes is what the whole conversation is about: it tells no two apart."""
_MOVED_STEMS, _MOVED_SHARE = 2, 0.6
_NAMED_STEMS = 1
"""With so many stems of a note a correction stands for it."""
_MOVE_MARKS = frozenset({"correct", "moves", "extends"})
_MOVED_DAYS, _MOVED_NEAR_DAYS = 45, 14
"""How far the new day may be, and how far where nothing but the day tells what is meant."""
_ASKED_STEMS = 2
_MERE_VALUE_WORDS, _MERE_VALUE_STEMS, _MERE_VALUE_LEFT = 8, 1, 2
_DAY = re.compile(r"\d{1,2}(?!\d)")
_VALUE = r"[£$€]?\d[\w.,:%/]*|[^\W\d_]{2,}"


@dataclass(frozen=True, slots=True)
class Noted:
    """A matter or lasting note as the comparison sees it."""

    key: str
    stems: frozenset[str]
    numbers: frozenset[str]
    due_at_ms: int | None
    place: int
    """Number of its turn; -1 for one of an earlier session."""
    lasts: bool
    todo: bool
    """True for what can be done or is over one day."""
    names: frozenset[str] = frozenset()
    """Those in it, as words and as stems."""
    people: frozenset[str] = frozenset()
    """Stems of those in it who are named without a name ("mum")."""
    values: frozenset[str] = frozenset()
    outcomes: frozenset[int] = frozenset()
    """By which of the language's outcomes it can end."""
    is_debt: bool = False
    """True for what somebody owes: there may be several."""
    asks_somebody: bool = False
    """True for a task that is to ask, call or write to somebody: their answer ends it."""
    mine: bool = True
    """True for what the person has to do: a bare "done" is said of nothing else."""
    is_event: bool = False
    """True for what takes place: before its day it can only be called off."""
    items: tuple[frozenset[str], ...] = ()
    """The stems of each item of a list: one that is done doesn't end the others."""
    days: frozenset[str] = frozenset()
    """The day of the month and of the week on which it is due: "the 23rd, not the 16th" corrects that of the 16th."""


@lru_cache(maxsize=4096)
def stems_of_text(text: str, language: Language) -> frozenset[str]:
    """Return the stems of the words that carry meaning, without days and months."""
    return telling_stems(words_of(language.mended(lowered(text))), language)


def outcomes_of(text: str, language: Language) -> frozenset[int]:
    """Return by which of the language's outcomes a matter in these words can end."""
    lower = language.mended(lowered(text))
    return frozenset(number for number, outcome in enumerate(language.outcomes) if outcome.of.search(lower))


def is_debt(text: str, language: Language) -> bool:
    """Return whether the text says that somebody owes something, or has what is another's."""
    lower = language.mended(lowered(text))
    return any(outcome.mere is not None and outcome.of.search(lower) for outcome in language.outcomes)


def settled_by(
    clause: Clause,
    noted: Sequence[Noted],
    reply_before: frozenset[str],
    asked_before: frozenset[str] = frozenset(),
    *,
    compounds: bool = False,
    bare: bool = True,
) -> list[str]:
    """Return the keys of what the clause ends.

    `reply_before` are the stems of the assistant's message that it answers, `asked_before` those of what the person had
    asked for there: "sent" says of what was just written for them that it is done.
    With `compounds` a part of a word stands for the whole: "Reifen" for "Winterreifen". Without `bare` a report that
    names nothing ends nothing: the reply has said what it ended. "Told her" ends only what was to be told or asked.
    """
    noted = [
        each
        for each in noted
        if not (each.lasts or _is_still_ahead(each, clause) or is_in_part(clause.stems, each.items))
    ]
    turned_out = [each for each in noted if _has_turned_out(clause, each)]
    often = Counter(stem for each in noted for stem in each.stems)
    told = [
        each.key
        for each in noted
        if _is_told(clause, each, often, compounds=compounds) or _is_answered(clause, each, often)
    ]
    if not reports_an_end(clause):
        return told or [each.key for each in turned_out[-1:]]
    named = [each for each in noted if _speaks_of(clause, each, often)]
    if named or told:
        return list(dict.fromkeys([*(each.key for each in named), *told]))
    if turned_out:
        return [turned_out[-1].key]
    mine = [each for each in noted if each.mine]
    near = [each for each in mine if 0 <= clause.place - each.place <= NEAR_TURNS and each.place >= 0]
    if "over" in clause.cues:
        return [each.key for each in mine if each in near or (each.todo and each.stems & reply_before)]
    if bare and not any(report.named for report in clause.ended):
        todo = [each for each in near if each.todo] or [each for each in noted if _was_asked_for(each, asked_before)]
        if "told_them" in clause.cues:
            todo = [each for each in todo if each.asks_somebody]
        return [todo[-1].key] if todo else []
    return []


def _has_turned_out(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause tells how the note turned out, without naming it; of a debt nothing that it is not."""
    if not clause.outcomes & noted.outcomes or noted.place == clause.place or _is_part_of_it(clause.stems, noted):
        return False
    return not noted.is_debt or not clause.settles or bool(clause.settles & noted.stems)


def _is_still_ahead(noted: Noted, clause: Clause) -> bool:
    """Return whether an event is on a later day, and the clause does not call it off."""
    later = noted.due_at_ms is not None and noted.due_at_ms - clause.at_ms > DAY_MS
    return noted.is_event and later and not any(report.calls_off for report in clause.ended)


def _speaks_of(clause: Clause, noted: Noted, often: Counter[str]) -> bool:
    """Return whether one of the reports of the clause is about the note."""
    if noted.place == clause.place:
        return False
    names = clause.names | noted.names | noted.people
    return any(_ends(report, noted, names, often) for report in clause.ended)


def _ends(report: Report, noted: Noted, names: frozenset[str], often: Counter[str]) -> bool:
    """Return whether a report is about the note: by what it names, and by the verb alone only where it names nothing.

    Of somebody who is named in both it has to say what was to be done, too, or call it off. What nobody has to do is
    not over by what somebody did.
    """
    if _is_part_of_it(report.stems, noted):
        return False
    if not report.named:
        return noted.todo and _is_about(report.stems, noted.stems, names, often)
    shared = report.named & noted.stems
    if not noted.todo and not report.is_over:
        return False
    tied = report.calls_off or (noted.todo and bool(report.verbs & noted.stems))
    if not tied and (shared <= names or len(shared) < _ENDED_SHARE * len(report.named)):
        return False
    return bool(shared) and _is_about(report.stems, noted.stems, names, often)


def _is_part_of_it(said: frozenset[str], noted: Noted) -> bool:
    """Return whether a report gives another number than the note: "paid 400" is not the end of "owes me 900"."""
    given = {stem for stem in said if stem.isdigit()}
    known = {re.sub(r"\D", "", number) for number in noted.numbers} - {""}
    return bool(given and known) and not given & known


def _is_answered(clause: Clause, noted: Noted, often: Counter[str]) -> bool:
    """Return whether the clause tells the answer of whom the task was to ask: "Malc said yes"."""
    if not noted.asks_somebody or not noted.todo or noted.place == clause.place or clause.asks:
        return False
    return "agrees" in clause.cues and any(often[stem] < _COMMON for stem in clause.stems & noted.stems)


def _was_asked_for(noted: Noted, asked: frozenset[str]) -> bool:
    """Return whether a task is what the person asked the assistant to do for them."""
    shared = noted.stems & asked
    return (
        noted.todo and len(shared) >= _ASKED_STEMS and len(shared) >= _SAME_MATTER * min(len(noted.stems), len(asked))
    )


def _is_told(clause: Clause, noted: Noted, often: Counter[str], *, compounds: bool) -> bool:
    """Return whether the clause tells of a task that it is done, or how the thing it was about is now.

    Most of what such a sentence names is the task: others only happen to share a word with it.
    """
    past = noted.due_at_ms is not None and noted.due_at_ms < clause.at_ms
    if not noted.todo or (noted.is_event and not past) or noted.place == clause.place or clause.asks:
        return False
    names = clause.names | noted.names | noted.people
    told = [_as_whole(said, noted.stems) if compounds else said for said in clause.told]
    told = [said for said in told if not _shares_only_verbs(said, noted.stems, clause)]
    near = 0 < clause.place - noted.place <= NEAR_TURNS and noted.place >= 0
    known_share = 0.0 if near else _KNOWN_SHARE
    return any(
        _is_mostly(said, noted.stems, names, known_share) and _is_about(said, noted.stems, names, often)
        for said in told
    )


def _shares_only_verbs(said: frozenset[str], known: frozenset[str], clause: Clause) -> bool:
    """Return whether a sentence names another thing: "the dentist is booked" is no end of "return the books"."""
    verbs = frozenset[str]().union(*(report.verbs for report in clause.ended))
    return "pronoun" not in clause.cues and said & known <= verbs and not said <= known | verbs


def _is_mostly(said: frozenset[str], known: frozenset[str], names: frozenset[str], known_share: float) -> bool:
    """Return whether most of the stems said are known; a name alone has to be all that is said."""
    shared = said & known
    much = len(shared) >= _TOLD_SHARE * len(said) and len(shared) >= known_share * len(known)
    return much and (shared == said or not shared <= names)


def _as_whole(said: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """Return the stems with those that are the head or the beginning of a known compound as that compound."""
    return frozenset(next((word for word in known if _is_part(stem, word)), stem) for stem in said)


def _is_part(stem: str, word: str) -> bool:
    longer = len(word) >= len(stem) + _PART_STEMS
    head = len(stem) > _PART_STEMS and word.endswith(stem)
    return longer and (head or (len(stem) > _PART_STEMS + 1 and word.startswith(stem)))


def _is_about(said: frozenset[str], known: frozenset[str], names: frozenset[str], often: Counter[str]) -> bool:
    """Return whether the stems of a report and of a note have enough in common, and not only a name or a number."""
    shared = said & known
    if not shared or min(often[stem] for stem in shared) >= _COMMON:
        return False
    mere = all(stem in names or any(map(str.isdigit, stem)) for stem in shared)
    return len(shared) / min(len(said), len(known)) >= (_SAME_NAME if mere else _SAME_MATTER)


def corrected_by(clause: Clause, noted: Sequence[Noted], language: Language) -> list[str]:
    """Return the keys of what the clause corrects: another date or number of the same thing, or a value it denies."""
    denied = denied_values(clause.lower, language)
    wrong = [
        each.key
        for each in noted
        if denied & (each.numbers | each.stems | each.values) and _is_denied_of(clause, each, denied, language)
    ]
    by_name = _shares_most(_worded(clause.stems), [each for each in noted if _is_moved_by_name(clause, each)])
    moved = [each.key for each in noted if _is_moved(clause, each) or _is_reversed(clause, each) or by_name == [each]]
    if "correct" not in clause.cues:
        return wrong or moved
    return list(dict.fromkeys([*wrong, *(each.key for each in noted if _other_value(clause, each)), *moved]))


def _is_denied_of(clause: Clause, noted: Noted, denied: frozenset[str], language: Language) -> bool:
    """Return whether what the clause denies was said of the note: it shares more with it, or denies a name of it."""
    shared = clause.stems & noted.stems
    return bool(shared - denied or shared & stems_of(tuple(clause.names), language))


def value_alone(
    clause: Clause, noted: Sequence[Noted], language: Language, asked: frozenset[str] = frozenset()
) -> str | None:
    """Return the key of what a mere value corrects ("sorry, 1240", "no, the 14th", "I meant Max"): the newest such.

    One that says of what ("sorry, the exam is on the 4th") corrects that, else what was `asked` about in the message
    before, of which the stems are given, or something that was just said; at the beginning of a session that may be
    something of the session before. None when the clause says more than the value, corrects nothing, or nothing near
    has such a value; nor does it correct another matter than the one it names.
    """
    named = _named_by_value(clause, noted, language)
    if named is None or (named and "moves" in clause.cues and not any(named & each.stems for each in noted)):
        return None
    near = [each for each in noted if 0 < clause.place - each.place <= NEAR_TURNS and each.place >= 0]
    earlier = [each for each in noted if each.place < 0 and clause.place < NEAR_TURNS and "correct" in clause.cues]
    another = [each for each in reversed(noted) if _has_another(clause, each)]
    meant = [each for each in another if named & each.stems]
    moves = "moves" in clause.cues  # what takes place, and not a reminder of it
    meant.sort(key=lambda each: (len(named - each.stems), moves and not each.is_event))
    days = denied_days(clause.lower, language)
    on_day = [each for each in another if each.days & days]
    vague = len(named) <= _MERE_VALUE_STEMS and not _is_of_one(named, noted)
    meant = [each for each in on_day if each in meant] or (on_day if vague else []) or meant
    if not meant and not named and len(answered := _shares_most(asked, another)) == 1:
        meant = answered
    if not meant and _is_of_one(named, noted):
        return None
    return next((each.key for each in meant or [*reversed(near), *reversed(earlier)] if each in another), None)


def corrects_nothing(clause: Clause, noted: Sequence[Noted], language: Language) -> bool:
    """Return whether the clause is only a value put right ("I meant the 21st") of nothing that is known: no note."""
    meant = clause.due is not None or bool(clause.numbers)
    denied = denied_days(clause.lower, language)
    corrects = "correct" in clause.cues or (bool(denied) and not any(denied & each.days for each in noted))
    return meant and corrects and _named_by_value(clause, noted, language) == frozenset()


def _named_by_value(clause: Clause, noted: Sequence[Noted], language: Language) -> frozenset[str] | None:
    """Return what a correction says beside its value; None for a clause that says more, or corrects nothing."""
    says_so = "correct" in clause.cues or language.has("no", clause.lower.split(",", 1)[0])
    denied_day = without_denied_day(clause.lower, language) != clause.lower
    denies = clause.due is not None and (denied_day or bool(denied_days(clause.lower, language)))
    says_so = says_so or denies or ("moves" in clause.cues and clause.due is not None)
    plain = clause.lower
    for cue in {"correct", "moves"} & clause.cues:
        plain = language.cues[cue].sub(" ", plain)
    words = [word for word in words_of(plain) if not word[0].isdigit()]
    known = frozenset[str]().union(*(each.stems for each in noted))
    new = telling_stems((word for word in words if word in clause.names), language) - known
    named = telling_stems(words, language) - new
    of_one = len(named) <= _MERE_VALUE_STEMS + denies or _is_of_one(named, noted)
    mere = clause.words <= _MERE_VALUE_WORDS * (1 + denies) and of_one
    return named if says_so and mere and not clause.asks else None


def _is_of_one(named: frozenset[str], noted: Sequence[Noted]) -> bool:
    """Return whether one note says all that a correction names, and it names something."""
    return bool(named) and any(named <= each.stems for each in noted)


def says_only_the_value(clause: Clause, noted: Noted, language: Language) -> bool:
    """Return whether a correction names the values but not of what ("MySQL it is, not Postgres")."""
    denied = denied_values(clause.lower, language)
    left = {stem for stem in clause.stems if stem.isalpha()} - denied - clause.names
    beyond = (clause.stems & noted.stems) - denied - stems_of(tuple(clause.names), language)
    return bool(denied) and not beyond and clause.words <= _MERE_VALUE_WORDS and len(left) <= _MERE_VALUE_LEFT


def names_the_matter(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause says so much of what the note is about that it can stand in its place."""
    known = _worded(noted.stems)
    return len(_worded(clause.stems) & known) >= min(_NAMED_STEMS, len(known))


def _has_another(clause: Clause, noted: Noted) -> bool:
    """Return whether both hold one value of a kind, and not the same: a day, a number of one unit, a name."""
    if clause.due is not None:
        return noted.due_at_ms is not None and clause.due.due_at_ms != noted.due_at_ms
    if clause.numbers:
        kinds = {kind_of(one) for one in clause.numbers} & {kind_of(one) for one in noted.numbers}
        return bool(kinds) and not clause.numbers & noted.numbers
    if "correct" not in clause.cues or _TAKEN_ON & clause.cues:
        return False
    return bool(clause.names and noted.names) and not clause.names & noted.names


def kind_of(number: str) -> tuple[str, int]:
    """Return what makes two numbers values of one thing: their unit, and how long they are."""
    return (re.sub(r"[\d.,:/\s]", "", number), len(re.sub(r"\D", "", number)))


def denied_values(lower: str, language: Language) -> frozenset[str]:
    """Return the values that the text says do not hold: "not 1.0", "pas le 8", "nicht 4000"."""
    cue = language.cues.get("negates")
    if cue is None:
        return frozenset()
    found = re.finditer(rf"(?:{cue.pattern})\s+(?:[^\W\d_]\s+)?(?P<first>{_VALUE})(?:\s+(?P<second>{_VALUE}))?", lower)
    values = [hit["second"] or "" if hit["first"] in language.stop_words else hit["first"] for hit in found]
    return frozenset(value.strip(".,:") for value in values) | stems_of(tuple(values), language)


def denied_days(lower: str, language: Language) -> frozenset[str]:
    """Return the days that the text says do not hold: "16" of "the 23rd, not the 16th", "w3" of "not Thursday"."""
    held = without_denied_day(lower, language)
    gone = "".join(was if was != now else " " for was, now in zip(lower, held, strict=True))
    denied = denied_values(lower, language) | frozenset(gone.split())
    weekdays = (first(rules_of(language).weekdays, each) for each in denied)
    days = {found.group() for each in denied if (found := _DAY.match(each))}
    return frozenset(days) | {weekday_of(int(found[1])) for found in weekdays if found}


def weekday_of(number: int) -> str:
    """Return how a day of the week stands among the days on which something is due."""
    return f"w{number}"


def _is_reversed(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause says what somebody does after all of whom the note says how it was before."""
    if "reverses" not in clause.cues or clause.asks or noted.lasts or noted.place == clause.place:
        return False
    shared = _worded(clause.stems & noted.stems)
    return bool(clause.names & noted.names) and len(shared) >= _MOVED_STEMS


def _other_value(clause: Clause, noted: Noted) -> bool:
    """Return whether both give a date, or a number, of one thing, and not the same."""
    shared = _worded(clause.stems & noted.stems)
    if not shared:
        return False
    dates = clause.due is not None and noted.due_at_ms is not None and clause.due.due_at_ms != noted.due_at_ms
    numbers = bool(clause.numbers and noted.numbers) and not clause.numbers & noted.numbers
    close = len(shared) / max(1, min(len(_worded(clause.stems)), len(_worded(noted.stems)))) >= _SAME_MATTER
    return close and (dates or numbers)


def _worded(stems: frozenset[str]) -> frozenset[str]:
    """Return the stems without the values: they say what is spoken of."""
    return frozenset(stem for stem in stems if not any(map(str.isdigit, stem)))


def _is_moved_by_name(clause: Clause, noted: Noted) -> bool:
    """Return whether who is named in both has another day now, as the clause says; of an event it must say of which."""
    shared = _worded(clause.stems & noted.stems)
    same = shared - noted.names or "event" not in clause.cues
    return bool(shared & noted.names and same and _MOVE_MARKS & clause.cues) and _has_another_day(clause, noted)


def _is_moved(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause gives another day to the same event, in whatever words."""
    said, known = _worded(clause.stems), _worded(noted.stems)
    shared = said & known
    much = len(shared) >= _MOVED_STEMS and len(shared) / min(len(said), len(known)) >= _MOVED_SHARE
    return much and _has_another_day(clause, noted)


def _has_another_day(clause: Clause, noted: Noted) -> bool:
    """Return whether the clause tells of another day than that of an event that is still ahead."""
    if clause.due is None or noted.due_at_ms is None or not noted.is_event or clause.asks or clause.due.is_hour_alone:
        return False
    return abs(clause.due.due_at_ms - noted.due_at_ms) >= DAY_MS / 2 and noted.due_at_ms >= clause.at_ms


def moved_alone(clause: Clause, noted: Sequence[Noted], beside: frozenset[str], language: Language) -> list[str]:
    """Return the key of the one dated matter to which a clause gives another day: "the show got moved to the 12th".

    `beside` are the stems of what stands around the clause: they tell what is meant where it names nothing itself
    ("it's the 28th now"). Empty where nothing or more than one thing can be meant.
    """
    marks = _MOVE_MARKS & clause.cues
    if not marks or clause.due is None or clause.asks or clause.due.is_hour_alone:
        return []
    day = clause.due.due_at_ms
    dated = [
        each
        for each in noted
        if not each.lasts
        and each.place != clause.place
        and each.due_at_ms is not None
        and each.due_at_ms > clause.at_ms
        and DAY_MS / 2 <= abs(each.due_at_ms - day) <= _MOVED_DAYS * DAY_MS
    ]
    plain = language.cues["correct"].sub(" ", clause.lower) if "correct" in marks else clause.lower
    said = _worded(telling_stems(words_of(plain), language))
    named = stems_of(tuple(clause.names), language) if "event" in clause.cues else frozenset()
    meant = _shares_most(said if "correct" in marks else said - named, dated)
    if not said:
        near = [each for each in dated if abs((each.due_at_ms or 0) - day) <= _MOVED_NEAR_DAYS * DAY_MS]
        meant = _shares_most(_worded(beside), dated) or near
    return [meant[0].key] if len(meant) == 1 else []


def rescheduled(clause: Clause, noted: Sequence[Noted], language: Language) -> list[str]:
    """Return the key of what the clause moves to another day by its name: "snooze the vet till Tuesday"."""
    cue = language.cues.get("reschedules")
    asked = cue.search(clause.lower) if cue and clause.due else None
    if asked is None or clause.due is None or clause.asks:
        return []
    day_from, until_from = min(clause.due.spans)[0], asked.end() - len(asked.group().split()[-1])
    if day_from < until_from or len(clause.lower[asked.end() : day_from].split()) > 1:
        return []
    meant = _shares_most(_worded(clause.stems), [each for each in noted if not each.lasts])
    return [meant[0].key] if len(meant) == 1 else []


def is_set_aside(clause: Clause, noted: Noted, language: Language) -> bool:
    """Return whether the clause puts off what is due later than the day that it names: the due day stays."""
    if clause.due is None or noted.due_at_ms is None:
        return False
    return language.has("sets_aside", clause.lower) and clause.due.due_at_ms < noted.due_at_ms


def _shares_most(said: frozenset[str], noted: Sequence[Noted]) -> list[Noted]:
    shared = [(len(said & _worded(each.stems)), each) for each in noted]
    most = max((n for n, _ in shared), default=0)
    return [each for n, each in shared if most and n == most]


def put_off(clause: Clause, noted: Sequence[Noted]) -> list[str]:
    """Return the keys of what has a later day now, the newest last: what was due on the day that was said most often.

    "They gave me until the 7th" does not say what for.
    """
    if "extends" not in clause.cues or clause.due is None:
        return []
    until = clause.due.due_at_ms
    dated = [each for each in noted if each.todo and each.due_at_ms and clause.at_ms < each.due_at_ms < until]
    days = Counter((each.due_at_ms or 0) // DAY_MS for each in reversed(dated))
    often = max(days, key=lambda day: days[day], default=None)
    return [each.key for each in dated if (each.due_at_ms or 0) // DAY_MS == often]


def same_matter(stems: frozenset[str], noted: Iterable[Noted], share: float) -> Noted | None:
    """Return what says nearly the same, the newest first; None when nothing does. A list is more than a part of it."""
    for each in reversed(list(noted)):
        together = 0 if is_in_part(stems, each.items) else len(stems | each.stems)
        if together and len(stems & each.stems) / together >= share:
            return each
    return None
