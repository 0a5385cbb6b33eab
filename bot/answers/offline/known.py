"""What the concierge can answer from what it was told: a name, a day, a number, or the sentence itself. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Final

from bot.answers.offline.material import (
    MIN_WORD_CHARS,
    Material,
    Quote,
    capital,
    cite,
    quote_line,
    right_sentence,
    stated,
)
from bot.answers.offline.notes import FAMILY, JOINT, bare_of, concepts, named, stems
from bot.answers.offline.request import ENDS
from bot.answers.offline.times import is_today
from bot.answers.offline.words import Words, about, words_of
from memory.language.due_dates import find_due, says_day
from memory.language.errands import joints_of
from memory.language.intents import read_sentences
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.sentences import lowered
from memory.language.time_rules import blank, rules_of
from memory.notes.cutting import sentences_in
from memory.notes.when import coming_day, past_day
from memory.search.terms import stem

_TOKEN: Final = re.compile(r"[^\W_]+")
_PAUSE: Final = re.compile(r"[.,;:!?()](?!\d)")
_STOP: Final = re.compile(r"[.!?;:]")
_OWNED: Final = re.compile(r"(?<=\w)(?:['\u2019]s|(?<=s)['\u2019]) ")
"""What stands between an owner and the thing in English."""
_JOINING: Final = 4
"""How many words may stand between somebody and their name: "my daughter's name is …"."""
_NAME_WORDS: Final = 3
_TITLE_CHARS: Final = 3
"""Behind a word as short as "Dr" a full stop ends no sentence."""
_ENOUGH: Final = 0.5
"""Share of what is asked about that a dated sentence must name: "coming" may be "is booked"."""


_DAYS_MAX: Final = 3
"""So many days of a sentence are left out where an amount is asked for."""
_TOLD_WORDS: Final = 3
"""With so many words on either side of an "and" two things are told: "Max plays football and …"."""


_ASKED_FOR: Final = ("amount", "age", "value", "when")
_NUMBERED: Final = frozenset({"amount", "when"})
"""What is asked for by these is a number, an hour at least."""


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence that somebody said, and how it is said back."""

    text: str
    code: str
    at_ms: int
    line: str
    mine: bool = True
    """True for words of the person who asks."""
    due: tuple[int, bool] | None = None
    """When it is about, and whether an hour was said; None when only its words may say so."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of what was told that has a day."""

    text: str
    own: frozenset[str]
    """What it speaks of itself."""
    about: frozenset[str]
    """The same with what it leans on."""
    due: tuple[int, bool]
    """As `Told` says it."""


def known(m: Material) -> str:
    """Return the answer to the question in the message, "" when nothing that was told answers it."""
    told = [*_told(m)]
    return _name(m, told) or _day(m, told) or _statement(m, told)


def _told(m: Material) -> Iterator[Told]:
    """Yield what was told, newest first: what stands of it, then other sentences that the search found."""
    for matter in {matter.matter_id: matter for matter in m.put_right.values()}.values():
        code = Languages.load().detect(matter.text, default=m.language.code).code
        yield Told(matter.text, code, matter.said_at_ms, right_sentence(m, matter))
    for note in (one.note for one in reversed(m.held) if one.note.turn_id not in m.put_right):
        turned = m.is_theirs(note) and words_of(note.code).mirror(note.text)
        quote = Quote(note.text, note.at_ms, "user" if m.is_theirs(note) else "other", note.turn_id, note.code)
        line = f"{capital(stated(m, note))}." if turned and _still_reads(m, quote) else quote_line(m, quote)
        yield Told(note.text, note.code, note.at_ms, line, m.is_theirs(note))
    replaced = {note.turn_id for one in m.held for note in (one.before,) if note}
    for quote in sorted(m.quotes, key=lambda quote: -quote.at_ms):
        if quote.turn_id not in replaced and quote.turn_id not in m.put_right:
            turned = words_of(quote.code).mirror(quote.text) if quote.who == "user" else ""
            line = f"{capital(cite(turned))}." if turned and _still_reads(m, quote) else quote_line(m, quote)
            yield Told(quote.text, quote.code, quote.at_ms, line, quote.who == "user")


def _still_reads(m: Material, quote: Quote) -> bool:
    """Return whether words mean today what they meant: "tomorrow", said on another day, is told with that day."""
    language = Languages.load().get(quote.code)
    return is_today(quote.at_ms, m.now_ms, m.zone) or not says_day(quote.text, quote.at_ms, m.zone, language)


def _question(m: Material) -> str:
    """Return the sentence that asks, as it was written, without its mark and a "hi," in front of it."""
    text = read_sentences(m.text, m.language)[-1].text.strip(ENDS)
    greeting = m.language.cues.get("greeting")
    hello = greeting.match(lowered(text)) if greeting else None
    return bare_of(text[hello.end() :].strip(ENDS) if hello else text, m.words)


# --- what somebody is called ------------------------------------------------------------------------------------------


def _name(m: Material, told: Sequence[Told]) -> str:
    whose = _whose(m)
    wanted, bearer = (stems(_bare(each, m.words), m.language.code) for each in (whose, bearer_of(whose, m.words)))
    about_it = (each for each in told if each.mine and wanted and bearer)
    if bearer != wanted:  # of whom the bearer is has to be told with the name
        about_it = (each for each in about_it if wanted <= stems(each.text, each.code))
    names = (name_of(each.text, bearer, words_of(each.code)) for each in about_it)
    name = next(filter(None, names), "")
    return m.words.say("called", Whose=capital(m.words.turned(whose)), name=name) if name else ""


def _whose(m: Material) -> str:
    """Return whose name is asked for ("my daughter"), "" when none is."""
    question = _question(m)
    found = m.words.asked("called", lowered(question))
    return about(found, question) if found else ""


def bearer_of(whose: str, words: Words) -> str:
    """Return who bears the name that is asked for: the dog of "my sister's dog", "el perro de mi hermana"."""
    *_, thing = _OWNED.split(whose)
    said = thing.split()
    owned = (at for at, word in enumerate(said) if word.lower() in words.possessives and _means(said[:at], words))
    return " ".join(said[: next(owned, len(said))])


def _means(said: Sequence[str], words: Words) -> bool:
    """Return whether one of these words means something: "a minha" is no thing that is somebody's."""
    return bool(stems(" ".join(word for word in said if word.lower() not in words.possessives), words.code))


def _bare(whose: str, words: Words) -> str:
    return " ".join(word for word in whose.split() if word.lower() not in words.possessives)


def topic_of(m: Material) -> tuple[str, float]:
    """Return what has to be found to answer, and which share of its words must be named: a name needs its bearer."""
    bearer = _bare(bearer_of(_whose(m), m.words), m.words) if m.request.kind == "question" else ""
    return (bearer, 1.0) if bearer else (m.request.about, m.request.share)


def asks_for_money(m: Material) -> bool:
    """Return whether money is asked about, which a sum may answer that shares no word with the question."""
    return not m.words.money.isdisjoint(_TOKEN.findall(lowered(m.request.about)))


def name_of(text: str, wanted: frozenset[str], words: Words) -> str:
    """Return how somebody ("daughter") is called in a sentence: "my daughter Ella", "Ella is my daughter"; or ""."""
    tokens = [*_TOKEN.finditer(text)]
    places = [at for at, token in enumerate(tokens) if stem(words.code, token.group().lower()) in wanted]
    for at in places:
        after = _first(text, tokens[at : at + _JOINING + _NAME_WORDS + 1], words.links)
        before = _first(text, tokens[max(0, at - _JOINING) : at + 1][::-1], words.links | words.possessives)
        if after or before:
            return after or before
    return ""


def _first(text: str, tokens: Sequence[re.Match[str]], between: frozenset[str]) -> str:
    """Return the words with a capital that follow the first token, with nothing but words of `between` in between."""
    name: list[re.Match[str]] = []
    for last, token in pairwise(tokens):
        gap = text[min(last.end(), token.end()) : max(last.start(), token.start())]
        is_title = name and min(len(last.group()), len(token.group())) <= _TITLE_CHARS
        if (_STOP.search(gap) and not is_title) or (name and "," in gap):
            break
        word = token.group()
        if word[0].isupper() and len(word) > 1 and word.lower() not in between:
            name.append(token)
        elif name or word.lower() not in between:
            break
    kept = sorted(name[:_NAME_WORDS], key=lambda token: token.start())
    return text[kept[0].start() : kept[-1].end()] if kept else ""


# --- when something is ------------------------------------------------------------------------------------------------


def _day(m: Material, told: Sequence[Told]) -> str:
    question = m.language.mended(lowered(_question(m)))
    asked = m.words.asked("when", question)
    wanted = concepts(question[asked.end() :] or m.request.about, m.language.code) if asked else frozenset()
    if not asked or not wanted:
        return _day_of_the_last(m) if asked else ""
    found = [
        (len(wanted & part.about), len(wanted & part.own), each.due is not None, each.at_ms, each, part)
        for each in (*_matters(m), *told)
        for part in _dated(each, m.zone)
        if _families(wanted) <= part.about
    ]
    best = max(found, key=lambda one: one[:4], default=None)
    if best is None or best[0] < _ENOUGH * len(wanted):
        return ""
    *_, each, part = best
    return _when(m, each, part.text, part.due)


def _day_of_the_last(m: Material) -> str:
    """Return the day of what was told or moved in the message before: "when is it now?"."""
    last = m.history[-1].turn_id if m.history else ""
    just = replace(m, matters=tuple(matter for matter in m.matters if last in matter.turn_ids))
    told = max(_matters(just), key=lambda each: each.at_ms, default=None)
    return _when(m, told, told.text, told.due) if told and told.due else ""


def _when(m: Material, told: Told, text: str, due: tuple[int, bool]) -> str:
    due_at_ms, exact = due
    when = capital(m.words.calendar.when(due_at_ms, m.now_ms, m.zone, exact=exact))
    return m.words.say("known_when", When=when, day=m.day(told.at_ms), text=cite(text))


def _families(found: frozenset[str]) -> frozenset[str]:
    """Return those of the concepts that are known by several words: "when does she move" is asked of moving alone."""
    return frozenset(concept for concept in found if concept.startswith(FAMILY))


def _dated(told: Told, zone: str) -> list[_Part]:
    """Return the parts that tell of a day of their own: "she moves on the 14th. I pack on the 10th" has two.

    What was said before one of them, without a day, in the same sentence, or meant by a pronoun, says what it is about.
    """
    language = Languages.load().get(told.code)
    found: list[_Part] = []
    before = frozenset[str]()
    for sentence in (each for text in told.text.split(JOINT) for each in sentences_in(text, language)):
        due = None
        for number, text in enumerate(_by_day(sentence, told, zone, language)):
            before_has_day = due is not None
            own, due = concepts(text, told.code), _due_in(replace(told, text=text), zone)
            leans = before_has_day if number else not found
            leans = leans or language.has("bare", language.mended(lowered(text)))
            found += [_Part(text, own, own | before if leans else own, due)] if due else []
            before = own if found and not number else before | own
    if told.due is None or len(found) > 1:
        return found
    whole = concepts(told.text, told.code)
    return [replace(found[0], text=told.text, due=told.due)] if found else [_Part(told.text, whole, whole, told.due)]


def _by_day(sentence: str, told: Told, zone: str, language: Language) -> list[str]:
    """Return a sentence in parts that each tell something, on a day of its own or behind an "and"."""
    joints = joints_of(language)
    for pause in re.finditer(rf"{joints.pattern}|[,;] ", sentence):
        sides = sentence[: pause.start()], sentence[pause.end() :]
        days, words = zip(*(_day_and_words(side, told, zone, language) for side in sides), strict=True)
        apart = min(words) >= _TOLD_WORDS and joints.fullmatch(pause.group())
        if (all(days) and all(words)) or (any(days) and apart):
            return [sides[0], *_by_day(sides[1], told, zone, language)]
    return [sentence]


def _day_and_words(side: str, told: Told, zone: str, language: Language) -> tuple[bool, int]:
    """Return whether a part of a sentence has a day, and how many words it has beside that; 0 where none tells much."""
    lower = language.mended(lowered(side))
    due = find_due(lower, told.at_ms, zone, language) if says_day(lower, told.at_ms, zone, language) else None
    rest = blank(lower, due.spans) if due else lower
    return due is not None, len(rest.split()) if concepts(rest, told.code) else 0


def _matters(m: Material) -> Iterator[Told]:
    """Yield what was noted with a day: there a corrected day has taken the place of the first."""
    for matter in m.matters:
        language = Languages.load().detect(matter.text, default=m.language.code)
        clear = not matter.quoted or says_day(matter.text, matter.said_at_ms, m.zone, language)
        if matter.due_at_ms is not None and clear:
            due = (matter.due_at_ms, matter.due_exact)
            yield Told(matter.text, language.code, matter.said_at_ms, "", due=due)


def _due_in(told: Told, zone: str) -> tuple[int, bool] | None:
    """Return when a sentence is about; None for one without a day: "at 9 in the morning" says it all by itself."""
    language = Languages.load().get(told.code)
    lower = language.mended(lowered(told.text))
    says = says_day(lower, told.at_ms, zone, language)
    due = says and (coming_day(lower, told.at_ms, zone, language) or past_day(lower, told.at_ms, zone, language))
    return (due.due_at_ms, due.exact) if due else None


# --- the sentence that says it ----------------------------------------------------------------------------------------


def _statement(m: Material, told: Sequence[Told]) -> str:
    """Return the one sentence in the language of the question that names all that is asked about.

    Of several the one that is closest in its small words too ("I live", not "my sister lives"), then the newest; where
    the question may be about anything, only if it is the only one. To "how much" and "when" only a number answers, in
    figures or a word, and a sum is money.
    """
    code, question = m.language.code, lowered(_question(m))
    asked_for = {kind: found for kind in _ASKED_FOR if (found := m.words.asked(kind, question))}
    wanted = stems(m.request.about, code) - stems(" ".join(found.group() for found in asked_for.values()), code)
    share = _ENOUGH if "when" in asked_for else 1.0
    asked = frozenset(_TOKEN.findall(question))
    about_it = [
        each for each in told if each.code == code and len(wanted & named(each.text, m.words)) >= share * len(wanted)
    ]
    if wanted <= stems(" ".join(m.words.money), code):  # a sum alone may be of anything
        small = {word for word in asked if len(word) >= MIN_WORD_CHARS}
        about_it = [each for each in about_it if small & frozenset(_TOKEN.findall(lowered(each.text)))]
    fits = about_it
    if asked_for.keys() & _NUMBERED:
        tells = _tells_age if "age" in asked_for else _is_numbered
        fits = [each for each in about_it if tells(_amounts(each, m, asked_for), m.language)]
        fits = fits or list(filter(None, (_with_what_follows(m, each, asked) for each in about_it)))
    if not wanted or not fits:
        return ""
    scored = [(len(asked & frozenset(_TOKEN.findall(lowered(each.text)))), each) for each in fits]
    most = max(score for score, _ in scored)
    best = [each for score, each in scored if score == most]
    is_clear = asked_for or len({lowered(each.text) for each in best}) == 1
    return max(best, key=lambda each: each.at_ms).line if is_clear else ""


def _amounts(told: Told, m: Material, asked_for: Container[str]) -> str:
    """Return what was told; without its days where an amount is asked for: no date tells how old somebody is."""
    lower = m.language.mended(lowered(told.text))
    for _ in range(_DAYS_MAX if "amount" in asked_for else 0):
        due = find_due(lower, told.at_ms, m.zone, m.language)
        lower = blank(lower, due.spans) if due else lower
    return lower


def _with_what_follows(m: Material, told: Told, asked: frozenset[str]) -> Told | None:
    """Return it with the sentence behind it, when that one gives the number: "Rex is my dog. He is four years old."."""
    quote = next((quote for quote in m.quotes if quote.behind and told.text in quote.text), None)
    if quote is None or not _is_numbered(quote.behind, m.language):
        return None
    if asked.isdisjoint(_TOKEN.findall(lowered(quote.behind))):
        return None
    both = replace(quote, text=f"{quote.text} {quote.behind}")
    return replace(told, text=both.text, line=quote_line(m, both))


def _tells_age(text: str, language: Language) -> bool:
    """Return whether the text holds a number of years or months, or one alone: "Max is 9", not "two grandkids"."""
    years = words_of(language.code).years
    parts = (part.split() for part in _PAUSE.split(lowered(text)))
    pairs = [pair for words in parts for pair in zip_longest(words, words[1:])]
    return any(_is_numbered(word, language) and (behind is None or behind in years) for word, behind in pairs)


def _is_numbered(text: str, language: Language) -> bool:
    """Return whether the text holds a number, in figures or as a word that is no article."""
    numbers = rules_of(language).numbers
    return any(word[0].isdigit() or numbers.get(word, 1) != 1 for word in _TOKEN.findall(lowered(text)))
