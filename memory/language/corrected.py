"""A value that people put right in the same breath: "at 5, no wait, 6" means "at 6". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Final, Literal

from memory.language.language import Language
from memory.language.sentences import lowered
from memory.language.time_rules import NEVER, halves_of, rules_of, units_of

Kind = Literal["", "number", "day", "month", "name"]

_PAUSE: Final = r"[ ,;.!\u2026(\u2013\u2014-]{1,4}"
_BREAK: Final = re.compile(r"[,;!?\u2026)\u2013\u2014]|\.(?!\d)")
_HOUR: Final = r"\d{1,2}(?:[:.h]\d\d)?(?!\d|[.,]\d|%)"
_MOVES: Final = ("moves", "reschedules")
_MAX_CHARS: Final = 1_000
"""Behind so many characters nothing is put right."""
_WINDOW: Final = 60
"""So far before and behind a correction words are looked at."""
_NEAR: Final = 4
"""How many words before the correction the wrong value may stand, and how many may lead the right one ("on the")."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int
    kind: Kind
    is_small: bool
    """True for a word that has little meaning of its own."""


@dataclass(slots=True)
class _Edit:
    """A wrong value, and what stands in its place."""

    wrong: _Token
    right: str


def as_meant(text: str, language: Language) -> str:
    """Return the text with the later value in the place of the one that it corrects; nothing else is changed.

    "the 3rd, sorry, the 4th", "um 15 Uhr, quatsch, 16 Uhr", "with Tom, I mean Tim". What follows has to be a value of
    the same kind that stands alone, else nothing is corrected: "at 5, sorry, 3 friends are coming".
    """
    marks, place = _marks(language), 0
    text, rest = text[:_MAX_CHARS], text[_MAX_CHARS:]
    while (mark := marks.search(lower := lowered(text), place)) and len(lower) == len(text):
        right = _put_right(text, mark, language)
        text, place = (text, mark.end()) if right is None else (right, 0)
    return text + rest


def as_moved(lower: str, language: Language) -> str:
    """Return a lower-cased text with the hour alone to which something moves: "moved from 3 to 4" as "moved to at 4".

    Only for reading: it is no sentence. "From 3 to 4" without a word of moving is how long something takes.
    """
    if not any(language.has(cue, lower) for cue in _MOVES):
        return lower
    found = _moved_hours(language).search(lower)
    if found is None:
        return lower
    behind = _tokens(lower, found.end(), found.end() + _WINDOW, language)[:1]
    alone = not behind or behind[0].is_small or behind[0].kind in {"day", "month"}
    alone = alone or any(language.cues[cue].match(lower, behind[0].start) for cue in _MOVES if cue in language.cues)
    if not (alone or _parted(lower, _token(found, language, first=False), behind[0])):
        return lower
    hour_to = str(language.time["hour_to"]).replace("{b}", found["b"])
    return lower[: found.start()] + hour_to + lower[found.end() :]


@lru_cache(maxsize=16)
def _token_pattern(language: Language) -> re.Pattern[str]:
    """Return what finds words and values, a number with the half of the day or the unit behind it."""
    number = rf"\d+(?:[.:,]\d+)*(?: ?(?:{halves_of(language)})(?!\w)|[^\W\d_]*\d*)[€$£%]?"
    return re.compile(rf"{number}|[^\W_]+(?:['\u2019-][^\W_]+)*", re.IGNORECASE)


@lru_cache(maxsize=16)
def _half(language: Language) -> re.Pattern[str]:
    return re.compile(rf"[\d:.]+(?P<half> ?(?:{halves_of(language)})|h)")


@lru_cache(maxsize=16)
def _moved_hours(language: Language) -> re.Pattern[str]:
    """Return what finds "from 3 to 4"; nothing where no words for it are known."""
    frame = str(language.time.get("hour_from_to", r"(?!)"))
    unit = rf"(?: ?(?:{halves_of(language)}|{units_of(language)})(?!\w))?"
    return re.compile(rf"(?<!\w){frame.replace('{a}', _HOUR + unit).replace('{b}', f'(?P<b>{_HOUR}{unit})')}")


@lru_cache(maxsize=16)
def _marks(language: Language) -> re.Pattern[str]:
    cue = language.cues.get("self_corrects")
    return re.compile(rf"{_PAUSE}{cue.pattern}(?:{_PAUSE}{cue.pattern}){{0,3}}{_PAUSE}") if cue else NEVER


def _put_right(text: str, mark: re.Match[str], language: Language) -> str | None:
    before = _near(text, mark, language)
    after = _tokens(text, mark.end(), mark.end() + _WINDOW, language)
    leads = [*takewhile(lambda token: token.is_small and not token.kind, after[:_NEAR])]
    after = after[len(leads) :]
    edits: list[_Edit] = []
    end = 0
    for number, token in enumerate(after):
        if number and number == end and _parted(text, after[number - 1], token):
            break
        wrong = next((each for each in reversed(before) if token.kind and each.kind == token.kind), None)
        if wrong is not None and (token.kind != "name" or (not number and wrong.end == mark.start())):
            edits.append(_Edit(wrong, token.text))
        elif edits and token.kind == "month":
            edits[-1].right += text[after[end - 1].end : token.end]
        elif not (edits and _is_unit_of(edits[-1].wrong, token, before)):
            if edits and token.is_small and not token.kind:
                continue
            break
        end = number + 1
    alone = end >= len(after) or after[end].is_small or _parted(text, after[end - 1], after[end])
    if not edits or not (alone or _is_clock(after[0]) or _leads_both(leads, edits[0].wrong, before)):
        return None
    rest = text[after[end - 1].end :]
    if text[edits[-1].wrong.end :].startswith(".") and rest.startswith("."):
        rest = rest[1:]  # both are ordinals: "am 3. Mai, nein, am 4."
    text = text[: mark.start()] + rest
    for edit in sorted(edits, key=lambda edit: -edit.wrong.start):
        text = text[: edit.wrong.start] + _whole(edit, language) + text[edit.wrong.end :]
    return text


def _near(text: str, mark: re.Match[str], language: Language) -> list[_Token]:
    """Return the words right before a correction, back to the last pause; none where it is part of a sentence.

    "It is actually 60" corrects nothing that stands in it.
    """
    near: list[_Token] = []
    for token in reversed(_tokens(text, max(0, mark.start() - _WINDOW), mark.start(), language)[-_NEAR:]):
        if near and _parted(text, token, near[0]):
            break
        near.insert(0, token)
    goes_on = bool(near) and near[-1].is_small and not near[-1].kind and mark.group().lstrip()[0].isalpha()
    return [] if goes_on or (near and near[-1].end < mark.start()) else near


def _parted(text: str, token: _Token, following: _Token) -> bool:
    """Return whether a pause stands between two words; the full stop of an ordinal is none ("4. Mai")."""
    gap = text[token.end : following.start]
    return bool(_BREAK.search(gap)) and not (gap.startswith(".") and following.kind == "month")


def _is_unit_of(wrong: _Token, token: _Token, before: Sequence[_Token]) -> bool:
    """Return whether a word is the one behind the wrong value, said again: "15 Uhr, nein, 16 Uhr"."""
    behind = before[before.index(wrong) + 1 :]
    return bool(behind) and behind[0].text.lower() == token.text.lower()


def _is_clock(token: _Token) -> bool:
    return token.text[0].isdigit() and not token.text.isdigit()


def _leads_both(leads: Sequence[_Token], wrong: _Token, before: Sequence[_Token]) -> bool:
    """Return whether the right value is led by the word that led the wrong one: "at 5, no, at 6 call Ana"."""
    ahead = before[: before.index(wrong)]
    return bool(leads and ahead) and leads[-1].text.lower() == ahead[-1].text.lower()


def _whole(edit: _Edit, language: Language) -> str:
    """Return the right value; an hour keeps the half of the day that was said: "5pm, no, 6"."""
    half = _half(language).fullmatch(edit.wrong.text.lower())
    return edit.right + half["half"] if half and edit.right.isdigit() else edit.right


def _tokens(text: str, start: int, end: int, language: Language) -> list[_Token]:
    found = _token_pattern(language).finditer(text, start, end)
    return [_token(each, language, first=not text[: each.start()].strip()) for each in found]


def _token(found: re.Match[str], language: Language, *, first: bool) -> _Token:
    text, lower = found.group(), lowered(found.group())
    small = lower in language.stop_words or lower in language.determiners
    large = text[:1].isupper() and not first and not small
    kind: Kind = _kind(lower, language) or ("name" if large else "")
    return _Token(text, found.start(), found.end(), kind, small)


def _kind(word: str, language: Language) -> Kind:
    if word[0].isdigit():
        return "number"
    if _names("weekdays", language).fullmatch(word) or any(day.fullmatch(word) for day, _ in rules_of(language).days):
        return "day"
    if _names("months", language).fullmatch(word):
        return "month"
    return "number" if language.time and rules_of(language).numbers.get(word, 1) > 1 else ""


@lru_cache(maxsize=32)
def _names(group: str, language: Language) -> re.Pattern[str]:
    return re.compile("|".join(name for names in language.time.get(group, ()) for name in names) or r"(?!)")
