"""What of a model's draft may be believed: every item is held against the turns that it cites. Pure.

An item may say again what the person said, in their words with neutral words between; it may not know anything more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final

from memory.language.drafted import drafted
from memory.language.due_dates import Due, find_due
from memory.language.language import Language, cue_pattern
from memory.language.languages import Languages
from memory.language.sentences import lowered, without_possessive
from memory.language.time_rules import halves_of
from memory.notes.drafts import Reason
from memory.notes.types import ReadingRequest
from memory.types import ConversationTurn
from memory.zones import zone_of

UNSAID_SHARE: Final = 0.25
"""At most this share of an item's words may differ from what was said: no names, people or numbers among them."""
MIN_WORDS_FOR_LANGUAGE: Final = 5
_PREFIX_CHARS: Final = 5

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_NUMBER: Final = re.compile(r"\d+(?:[.,:/h\u00a0\u202f'-]\d+)*")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[.,'\u00a0\u202f]\d{3})+")
_SPACED: Final = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))")
_SYMBOLS: Final = {"thousands": ["k"], "hours": ["h"]}
"""The signs that are written in every language, for one without data of its own."""
_MARKUP: Final = re.compile(r"https?:|www\.|[<>{}`\[\]\\|]|\S@\S|[\x00-\x1f]")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;…]\s+|[\"“„«(]\s*)$")
_BETWEEN: Final = re.compile(r"[^\w']+")
_NOON: Final = 12


@dataclass(frozen=True, slots=True)
class Source:
    """The words that an item may rest on."""

    turns: tuple[ConversationTurn, ...]
    text: str
    language: Language
    dues: tuple[Due, ...] = ()
    days: frozenset[datetime] = frozenset()
    """Midnights of the days that were meant, in the person's zone."""
    stems: frozenset[str] = field(default_factory=frozenset)
    numbers: frozenset[str] = field(default_factory=frozenset)


def own_words(turn: ConversationTurn, *, of_user_alone: bool = False) -> str:
    """Return what was said in a turn by the two themselves: nothing forwarded or quoted, nothing from a tool."""
    if turn.third_party or turn.unfiled:
        return ""
    echo = of_user_alone or bool(turn.tool_calls)
    return turn.user_text if echo else f"{turn.user_text}\n{turn.assistant_text}"


def cited(numbers: Iterable[int], request: ReadingRequest) -> tuple[ConversationTurn, ...] | None:
    """Return the turns of these numbers (1 is the first that is new), oldest first; None when one does not exist."""
    wanted = sorted(set(numbers))
    if not wanted or wanted[0] < 1 or wanted[-1] > len(request.turns):
        return None
    return tuple(request.turns[number - 1] for number in wanted)


def source_of(
    turns: Sequence[ConversationTurn],
    request: ReadingRequest,
    languages: Languages,
    *,
    beside: str = "",
    of_user_alone: bool = False,
) -> Source | None:
    """Return what may be said again of these turns; `beside` was checked before. None when all of it is foreign."""
    said = [(turn, own_words(turn, of_user_alone=of_user_alone)) for turn in turns]
    said = [(turn, text) for turn, text in said if text.strip()]
    if not said:
        return None
    language = languages.get(next((turn.language for turn, _ in said if turn.language), None) or request.language)
    text = "\n".join([*(text for _, text in said), beside])
    dues = tuple(due for turn, words in said for due in _dues(words, turn.created_at_ms, request.zone, language))
    days = frozenset(_midnight(due.due_at_ms, request.zone) for due in dues)
    stems = frozenset(_stems(_WORD.findall(text), language))
    return Source(tuple(turns), text, language, dues, days, stems, numbers_of(text, language))


def problem(text: str, source: Source, languages: Languages, quote: str = "") -> Reason | None:
    """Return why a text may not be kept, None when everything in it stands in its source."""
    if not text.strip() or _MARKUP.search(text):
        return "shape"
    if any(drafted(code).orders.search(lowered(text)) for code in {source.language.code, *languages.codes}):
        return "order"
    if quote.strip() and _flat(quote) not in _flat(source.text):
        return "no such quote"
    if numbers_of(text, source.language) - source.numbers - _numbers_of_days(source):
        return "number"
    return None if _flat(text) in _flat(source.text) else _reworded(text, source, languages)


def speaks_of(source: Source, matter: str) -> bool:
    """Return whether the words can end a matter: they name it, or say that something is done or not wanted any more."""
    language, lower = source.language, lowered(source.text)
    content = [word for word in _WORD.findall(matter) if lowered(word) not in language.stop_words]
    ends = ("done", "over", "closing", "drop", "off")
    return bool(_stems(content, language) & source.stems) or any(language.has(cue, lower) for cue in ends)


def touches(text: str, turns: Sequence[ConversationTurn], request: ReadingRequest, languages: Languages) -> bool:
    """Return whether a text has a telling word in common with the turns themselves."""
    source = source_of(turns, request, languages)
    if source is None:
        return False
    telling = [word for word in _WORD.findall(text) if lowered(word) not in source.language.stop_words]
    return bool(_stems(telling, source.language) & source.stems or numbers_of(text, source.language) & source.numbers)


def due_of(said: str, source: Source) -> Due | None:
    """Return the point in time that an item names as `YYYY-MM-DD`, if it was said, with the hour that was said."""
    return next((due for due in source.dues if said and _day_of(due, source) == said[:10]), None)


@lru_cache(maxsize=64)
def _abbreviated(language: Language) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return how thousands ("1.2k") and times of day ("8 pm", "14h30") are written short in a language."""
    thousands, hours = (
        "|".join(map(re.escape, language.time.get(key, _SYMBOLS[key]))) for key in ("thousands", "hours")
    )
    return (
        re.compile(rf"(\d+(?:[.,]\d+)?)\s?(?:{thousands})(?!\w)", re.IGNORECASE),
        re.compile(rf"(\d{{1,2}})(?::(\d\d)|h(\d\d)?)?\s?((?:{halves_of(language)}|{hours})(?!\w))?", re.IGNORECASE),
    )


def numbers_of(text: str, language: Language) -> frozenset[str]:
    """Return the numbers in a text in one spelling: `1,200`, `1.2k` and `1200`, or `8 pm` and `20:00`, are the same."""
    plain = _SPACED.sub("", text)
    thousands, clock = _abbreviated(language)
    found: set[str] = set()
    for match in thousands.finditer(plain):
        found.add(_trimmed(str(float(match.group(1).replace(",", ".")) * 1000)))
    plain = thousands.sub(" ", plain)
    spans: list[tuple[int, int]] = []
    for match in clock.finditer(plain):
        hour, minute = int(match.group(1)), match.group(2) or match.group(3) or "00"
        mark = (match.group(4) or "").lower()
        if not (match.group(2) or match.group(3) or mark) or hour > 24:  # noqa: PLR2004 - hours of a day
            continue
        hour = hour % _NOON + _NOON * mark.startswith("p") if mark[:1] in {"a", "p"} else hour
        found |= {f"{hour}:{minute}"} if minute != "00" else {str(hour)}
        spans.append(match.span())
    for start, end in reversed(spans):
        plain = plain[:start] + " " * (end - start) + plain[end:]
    for token in _NUMBER.findall(plain):
        found |= _spellings(token)
    words = language.time.get("numbers", {})
    found |= {_trimmed(str(float(words[word]))) for word in lowered(text).split() if words.get(word, 1) > 1}
    return frozenset(found)


# --- inside ---------------------------------------------------------------------------------------------------------


def _reworded(text: str, source: Source, languages: Languages) -> Reason | None:
    """Return what is wrong with words that nobody said in this order."""
    if not source.language.known:
        return "words"
    long = len(_WORD.findall(text)) >= MIN_WORDS_FOR_LANGUAGE
    if long and languages.detect(text, source.language.code).code != source.language.code:
        return "language"
    return _strange_word(text, source)


def _strange_word(text: str, source: Source) -> Reason | None:
    """Return what is wrong with the words: a name or a person that nobody named, or too many words that nobody said."""
    language, extra = source.language, drafted(source.language.code)
    content, unsaid = 0, 0
    for match in _WORD.finditer(text):
        word = match.group()
        lower = lowered(word)
        if lower in language.stop_words or (calendar := _calendar_word(lower, language)) == "free":
            continue
        if calendar:
            if calendar not in _calendar_of(source):
                return "number"
            continue
        content += 1
        if _is_said(word, source):
            continue
        if _stems([lower], language) & _people(language):
            return "name"
        if lower in extra.neutral:
            content -= 1
            continue
        if word[0].isupper() and not _common_noun(text, match.start(), language):
            return "name"
        unsaid += 1
    return "words" if unsaid > int(content * UNSAID_SHARE) else None


def _is_said(word: str, source: Source) -> bool:
    """Return whether somebody said the word, in any form of it; a name only as it is."""
    language = source.language
    for part in {word, *word.split("-")}:
        if _stems([part], language) & source.stems:
            return True
        start = lowered(part)[:_PREFIX_CHARS]
        related = part.islower() and len(start) == _PREFIX_CHARS and not _stems([part], language) & _people(language)
        if related and any(stem.startswith(start) for stem in source.stems):
            return True
    return False


@lru_cache(maxsize=32)
def _people(language: Language) -> frozenset[str]:
    return _stems(drafted(language.code).people, language)


def _common_noun(text: str, start: int, language: Language) -> bool:
    """Return whether a word that is written large is a noun and no name, where all nouns are written so."""
    before = _WORD.findall(text[:start])
    return language.nouns_are_large and bool(before) and lowered(before[-1]) in language.before_nouns


def _stems(words: Iterable[str], language: Language) -> frozenset[str]:
    found: set[str] = set()
    for word in words:
        lower = lowered(word).replace("\u2019", "'")
        lower = without_possessive(lower).removesuffix("'")
        head, mark, rest = lower.partition("'")
        forms = {lower, rest if mark and head in language.elisions else lower}
        found |= {_folded(language.stem(form)) for form in forms} | {_folded(form) for form in forms}
    return frozenset(found)


def _folded(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _flat(text: str) -> str:
    """Return the words with a space on either side, so that one is never found inside another."""
    plain = lowered(text).replace("\u2019", "'")
    return f" {' '.join(_BETWEEN.sub(' ', plain).split())} "


def _spellings(token: str) -> set[str]:
    if _GROUPED.fullmatch(token):
        return {re.sub(r"\D", "", token)}
    if re.fullmatch(r"\d+[.,]\d+", token):
        return {_trimmed(token.replace(",", "."))}
    return {_trimmed(part) for part in re.findall(r"\d+", token)}


def _trimmed(number: str) -> str:
    whole = number.lstrip("0") or "0"
    whole = f"0{whole}" if whole.startswith(".") else whole
    return whole.rstrip("0").rstrip(".") if "." in whole else whole


def _dues(text: str, at_ms: int, zone: str, language: Language) -> list[Due]:
    parts = re.split(r"(?<=[.!?;\n])\s+|,\s+", text)
    return [due for part in parts if (due := find_due(part, at_ms, zone, language))]


def _midnight(at_ms: int, zone: str) -> datetime:
    return _local(at_ms, zone).replace(hour=0, minute=0, second=0, microsecond=0)


def _local(at_ms: int, zone: str) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, zone_of(zone))


def _day_of(due: Due, source: Source) -> str:
    zone = next(iter(source.days)).tzinfo
    return f"{datetime.fromtimestamp(due.due_at_ms / 1000, zone):%Y-%m-%d}"


def _numbers_of_days(source: Source) -> frozenset[str]:
    return frozenset(str(part) for day in source.days for part in (day.day, day.month, day.year))


@lru_cache(maxsize=32)
def _calendar(language: Language) -> tuple[tuple[str, re.Pattern[str]], ...]:
    kinds = ("weekdays", "months")
    named = [(f"{kind}{n}", words) for kind in kinds for n, words in enumerate(language.time.get(kind, ()))]
    free = ("free", [*language.time.get("days", {}), *language.time.get("next_words", ())])
    return tuple((name, cue_pattern(words)) for name, words in (*named, free))


def _calendar_word(lower: str, language: Language) -> str:
    return next((name for name, pattern in _calendar(language) if pattern.fullmatch(lower)), "")


def _calendar_of(source: Source) -> frozenset[str]:
    said = {_calendar_word(lowered(word), source.language) for word in _WORD.findall(source.text)}
    meant = {f"weekdays{day.weekday()}" for day in source.days} | {f"months{day.month - 1}" for day in source.days}
    return frozenset(said | meant)
