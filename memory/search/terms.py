"""Words as the search sees them: the indexed terms of a message; the words, people and dates of a question."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

from memory.search.languages import Language, Languages
from memory.search.question import DAY_MS, DayOf, Question

_DATA = Path(__file__).with_name("terms.toml")
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DOTTED_DATE = re.compile(r"\b(\d{1,2})[./](\d{1,2})[./](\d{4})\b")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTH_LETTERS = 3
_DAYS_IN_MONTH = 31
_DAY_DIGITS = 2
_ROOT_CHARS, _ENDING_CHARS, _COMPOUND_CHARS = 4, 3, 16
MAX_TERMS = 3000
"""More words of one side of a turn are not indexed: a pasted book must not cost a turn its speed."""
MAX_QUESTION_TERMS = 24
MAX_WORD_CHARS = 64
MAX_CHARS = 60_000
"""The characters of one side of a turn that are looked at; `MAX_TERMS` words seldom have more."""


@dataclass(frozen=True, slots=True)
class SearchWords:
    """One language of the search; empty for a language without data, so that every word counts."""

    code: str
    stop: frozenset[str] = frozenset()
    self_words: frozenset[str] = frozenset()
    other_words: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    framing: frozenset[str] = frozenset()
    when: tuple[str, ...] = ()
    time: frozenset[str] = frozenset()
    months: tuple[str, ...] = ()
    calendar: frozenset[str] = frozenset()
    """Both: the words of time and the months."""
    short_months: bool = False
    """True where a month is also written with its first three letters."""
    before_month: frozenset[str] = frozenset()
    """Words that make a month of a word with other meanings ("in may")."""
    day_endings: tuple[str, ...] = ()
    """Endings behind the number of a day ("3rd")."""
    day_ago: Mapping[str, int] | None = None
    base_forms: Mapping[str, str] | None = None


def _parse(code: str, data: Mapping[str, Any]) -> SearchWords:
    groups = [" ".join(group.split()).split() for group in data["forms"].split("|")]
    return SearchWords(
        code=code,
        stop=frozenset(data["stop"].split()),
        self_words=frozenset(data["self"].split()),
        other_words=frozenset(data["other"].split()),
        told=frozenset(data["told"].split()),
        framing=frozenset(data["framing"].split()),
        when=tuple(data["when"]),
        time=frozenset(data["time"].split()),
        months=tuple(data["months"].split()),
        calendar=frozenset(data["time"].split()) | frozenset(data["months"].split()),
        short_months=data.get("short_months", False),
        before_month=frozenset(data.get("before_month", "").split()),
        day_endings=tuple(data.get("day_endings", "").split()),
        day_ago=data["day_ago"],
        base_forms={form: group[0] for group in groups for form in group[1:]},
    )


@lru_cache(maxsize=1)
def search_words() -> Mapping[str, SearchWords]:
    """Return the data of all languages by code; read once per process."""
    data = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return {code: _parse(code, part) for code, part in data.items()}


def words_for(code: str | None) -> SearchWords:
    """Return the data of a language; empty for one that has none."""
    return search_words().get(code or "", SearchWords(code or ""))


@lru_cache(maxsize=1)
def little_words() -> frozenset[str]:
    """The stop words of all languages together."""
    return frozenset().union(*(each.stop for each in search_words().values()))


@lru_cache(maxsize=1)
def calendar_words() -> frozenset[str]:
    """The words of time and the months of all languages together."""
    return frozenset().union(*(each.calendar for each in search_words().values()))


def words_at(text: str) -> Iterator[tuple[str, int]]:
    """Yield the lower-cased words of a text and their places: without clitics ('s, 'll), unspaced scripts as pairs.

    Never raises; NUL, punctuation and lone surrogates part words and are dropped. So is anything too long for a word
    (a key, an encoded picture).
    """
    for match in _WORD.finditer(_without_clitics(text.lower())):
        word, at = match[0], match.start()
        if not word.isascii() and _UNSPACED.search(word):
            for i in range(max(1, len(word) - 1)):
                yield word[i : i + 2], at + i
        elif len(word) <= MAX_WORD_CHARS:
            yield word, at


def most_words(text: str) -> int:
    """Return the most words that `words_at` may find, in a quarter of its time."""
    lowered = text.lower()
    return len(lowered) if _UNSPACED.search(lowered) else len(_WORD.findall(lowered))


def split_words(text: str) -> list[str]:
    """Return the words of a text as `words_at` finds them; plain letters alone take a quarter of the time."""
    if not text.isascii():
        return [word for word, _ in words_at(text)]
    words: list[str] = _WORD.findall(_without_clitics(text.lower()))
    return [word for word in words if len(word) <= MAX_WORD_CHARS]


@lru_cache(maxsize=1)
def _clitic() -> re.Pattern[str]:
    clitics = "|".join({clitic: None for language in Languages.load() for clitic in language.clitics})
    return re.compile(rf"(?<=\w)['\u2019](?:{clitics})\b")


def _without_clitics(text: str) -> str:
    """Return the text with blanks for clitics, so that every other sign stays where it is."""
    return _clitic().sub(lambda found: " " * len(found[0]), text) if "'" in text or "\u2019" in text else text


@lru_cache(maxsize=50_000)
def stem(code: str, word: str) -> str:
    """Return the term that a word is indexed under in a language: irregular forms and accents folded, then stemmed."""
    base = (words_for(code).base_forms or {}).get(word, word)
    stemmed = Languages.load().get(code).stem(base)
    if stemmed.isascii():
        return stemmed
    parts = unicodedata.normalize("NFKD", stemmed)
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def hashed(conversation_id: str, term: str) -> str:
    """Return the term as the index holds it: a hash keyed by the conversation, ASCII letters and digits only."""
    key = conversation_id.encode("utf-8", "replace")
    return blake2b(term.encode("utf-8", "replace"), digest_size=5, key=_key(key)).hexdigest()


@lru_cache(maxsize=1024)
def _key(conversation_id: bytes) -> bytes:
    return blake2b(conversation_id, digest_size=32).digest()


def index_terms(conversation_id: str, words: Iterable[str], code: str) -> str:
    """Return the hashed terms of a text in their order, parted by spaces; stop words are left out."""
    stop = words_for(code).stop
    counted = [word for word in words if word not in stop][:MAX_TERMS]
    return " ".join([_indexed(conversation_id, code, word) for word in counted])


@lru_cache(maxsize=20_000)
def _indexed(conversation_id: str, code: str, word: str) -> str:
    return hashed(conversation_id, stem(code, word))


def asks(text: str) -> bool:
    """Return whether a message ends as a question: such a turn rarely holds the answer."""
    return text.rstrip().endswith(("?", "\uff1f", "\u061f"))


def time_words(words: Sequence[str], code: str) -> int:
    """Return the number of different words of time (or numbers) in a message, at most 2."""
    different = set(words)
    return min(2, len(words_for(code).calendar & different) + sum(map(str.isdecimal, different)))


def read_question(
    text: str,
    language: Language,
    *,
    now_ms: int,
    names: Mapping[str, int | None] | None = None,
) -> Question:
    """Return a question as terms, days and people.

    `names` are the people who may be asked about: first name → user id, None for the assistant; a name is no search
    term, it tells the author.
    """
    data = words_for(language.code)
    people = {name.lower(): who for name, who in (names or {}).items()}
    words = split_words(text)
    terms: dict[str, str] = {}
    for word in words:
        if word in data.stop or _named(word, people) or (len(word) == 1 and word.isascii() and not word.isdecimal()):
            continue
        terms.setdefault(stem(language.code, word), word)
        if len(terms) == MAX_QUESTION_TERMS:
            break
    lowered = " ".join(text.lower().split())
    asked = tuple(terms.values())
    return Question(
        terms=tuple(terms),
        words=asked,
        framing=frozenset(n for n, word in enumerate(asked) if word in data.framing),
        role=_role(words, data) if not people or None in people.values() else None,
        user_ids=frozenset(who for word in words for who in _named(word, people)),
        people=len(set(people.values())),
        days=_days(words, lowered, language, now_ms),
        wants_time=lowered.lstrip("¿¡ ").startswith(data.when) if data.when else False,
    )


def unnamed(text: str, names: Mapping[str, int | None]) -> str:
    """Return the text without the names of the people who talk here: they name a person, not a subject."""
    if not names:
        return text
    people = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return " ".join(re.sub(rf"\b(?:{people})(?:['\u2019]s)?\b", " ", text, flags=re.IGNORECASE).split())


def other_spellings(term: str, word: str, codes: Iterable[str]) -> set[str]:
    """Return the terms that a word is indexed under in other languages, and where its language is unknown.

    So are a derived word's shorter forms ("rental", "rents") and both halves of a compound that others write apart
    ("dead zone"). A word with a digit is spelled alike everywhere.
    """
    if any(map(str.isdigit, word)):
        return {word} - {term}
    shorter = (word[:-cut] for cut in range(1, _ENDING_CHARS + 1) if len(word) - cut >= _ROOT_CHARS)
    halves = (half for at in range(_ROOT_CHARS, len(word) - _ROOT_CHARS + 1) for half in (word[:at], word[at:]))
    plain = {*shorter, *halves} if word.isalpha() and len(word) <= _COMPOUND_CHARS else set()
    return {word, *plain, *(stem(code, word) for code in codes)} - {term}


def _named(word: str, people: Mapping[str, int | None]) -> tuple[int | None, ...]:
    """Return the person named, also with the s of a genitive, which is no ending of a common word ("Annas Auto")."""
    for name in (word, word.removesuffix("s")):
        if name in people:
            return (people[name],)
    return ()


def _role(words: Sequence[str], data: SearchWords) -> str | None:
    """Return the side that is asked about: "you told me …" the assistant, "my …" the user, None when it is open."""
    present = set(words)
    if any(a in data.other_words and b in data.told for a, b in pairwise(words)):
        return "assistant"
    if present & data.self_words:
        return "user"
    return "assistant" if present & data.other_words else None


def _days(words: Sequence[str], lowered: str, language: Language, now_ms: int) -> tuple[DayOf, ...]:
    found: list[DayOf] = [DayOf(int(y), int(m), int(d)) for y, m, d in _ISO_DATE.findall(lowered)]
    found += [DayOf(int(y), int(m), int(d)) for d, m, y in _DOTTED_DATE.findall(lowered) if int(m) <= 12]  # noqa: PLR2004 - months of a year
    years = [int(word) for word in words if _YEAR.fullmatch(word)]
    data = words_for(language.code)
    months = _month_stems(language.code)
    initials = {month[:1] for month in months}  # a stemmer leaves the first letter alone, and takes longer than a look
    for i, word in enumerate(words):
        month = months.get(stem(language.code, word)) if word[:1] in initials else None
        if month:
            day = _day_beside(words, i, data)
            if day or word not in data.stop or (i and words[i - 1] in data.before_month):
                found += [DayOf(year, month, day) for year in years or [None]]  # type: ignore[list-item]
        elif data.day_ago and word in data.day_ago:
            found.append(DayOf.of(now_ms - data.day_ago[word] * DAY_MS))
    return tuple(found) if found else tuple(DayOf(year, None, None) for year in years)


def _day_beside(words: Sequence[str], i: int, data: SearchWords) -> int | None:
    for j in (i - 1, i + 1, i - 2):
        number = _number(words[j], data) if 0 <= j < len(words) else ""
        if number and 1 <= int(number) <= _DAYS_IN_MONTH:
            return int(number)
    return None


def _number(word: str, data: SearchWords) -> str:
    """Return the digits of a word that is the number of a day, "" for any other."""
    ending = next((each for each in data.day_endings if word.endswith(each)), "")
    number = word.removesuffix(ending)
    return number if number.isdecimal() and len(number) <= _DAY_DIGITS else ""


@lru_cache(maxsize=16)
def _month_stems(code: str) -> Mapping[str, int]:
    data = words_for(code)
    names = {stem(code, name): n for n, name in enumerate(data.months, start=1)}
    short = {name[:_MONTH_LETTERS]: n for name, n in names.items()} if data.short_months else {}
    return {**short, **names}
