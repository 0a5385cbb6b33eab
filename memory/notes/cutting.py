"""How a message is cut into stretches that can be quoted: sentences, with fragments joined and long ones cut. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from textwrap import wrap

from memory.language.due_dates import find_due, says_day
from memory.language.errands import joints_of
from memory.language.language import Language
from memory.language.listing import OWED, is_owed
from memory.language.sentences import clean, clip, content_words, lowered, no_end, words_of
from memory.language.time_rules import blank
from memory.notes.reports import ended
from memory.notes.telling import names_a_day

CLAUSE_MAX_CHARS = 170
UNPAUSED_MAX_CHARS = 320
"""A stretch without a pause is cut between two words behind so many: hundreds of rules look at each as a whole."""
_SHORT_WORDS = 5
_CLAUSE_WORDS = 3
_MATTER_WORDS = 3
"""Behind a comma a few words that mean so much, its day among them, are a matter of their own."""
_COMMA = re.compile(r"[,;] ")
_ANOTHER_DAY = ("correct", "negates", "moves", "reschedules", "extends", "bare")
"""Cues of what says another day of the same matter: "dentist on Monday, moved to Friday"."""
_STOP = re.compile(r"(?<!\d)[.!?\u2026] ")
_SOFT_CUT = re.compile(r"(?<=[,;:])\s+|\s+[-\u2013\u2014]+\s+|\s+(?=\()")
_NOISE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_ITEM = re.compile("^\\s*(?:[-*\u2022\u2013\u2014>#]+\\s+|\\d{1,2}\\)\\s+|\\*+)")
_LETTER = re.compile(r"[^\W\d_]")


@lru_cache(maxsize=2)
def _sentence_end(*, after_numbers: bool) -> re.Pattern[str]:
    """Return what parts sentences; a single letter with a full stop ends none either ("J. Smith")."""
    return re.compile(rf"(?<=[.!?\u2026]){no_end(after_numbers=after_numbers)}(?<!\b[A-Za-z]\.)[\"')\]»”]*\s+")


def sentences_in(text: str, language: Language) -> list[str]:
    """Return the sentences of a text as they stand, without code and links."""
    lines = _NOISE.sub(" ", clip(clean(text))).splitlines()
    end = _sentence_end(after_numbers=not language.ordinals_have_dots)
    return [part for line in lines for part in end.split(_ITEM.sub("", line)) if part and part.strip()]


def joined(parts: Sequence[str], language: Language) -> list[str]:
    """Return the parts with fragments of a few words joined to what follows or came before, and long ones cut.

    A value put right ("sorry, 1240.") is none: what follows is said of something else; nor are two errands,
    or two that name a day each.
    """
    whole: list[str] = []
    for part in parts:
        both = (part, *whole[-1:])
        owed = _is_owed(part, language) and any(_is_whole(each, language) for each in whole[-1:])
        dated = all(_is_dated(each, language) for each in both)
        alone = owed or dated or any(_corrects(each, language) for each in both)
        fragments = any(map(_is_fragment, both)) and not alone
        if whole and fragments and len(whole[-1]) + len(part) < CLAUSE_MAX_CHARS:
            whole[-1] = f"{whole[-1]} {part}"
        else:
            whole += _cut(part)
    return [" ".join(part.split()) for part in whole if _LETTER.search(part)]


def _is_dated(part: str, language: Language) -> bool:
    """Return whether a part names a day by its number."""
    return names_a_day(language.mended(lowered(part)), language) and any(map(str.isdigit, part))


def _is_fragment(part: str) -> bool:
    return len(words_of(lowered(part))) < _SHORT_WORDS


def _is_owed(part: str, language: Language) -> bool:
    """Return whether a part says by itself what has to be done: "need wipes."."""
    lower = language.mended(lowered(part))
    said = is_owed(lower, language) and "?" not in lower
    return said and bool(content_words(words_of(lower), language))


def _is_whole(part: str, language: Language) -> bool:
    """Return whether an errand behind it is another matter: it says what has to be done, or what is."""
    return _is_owed(part, language) or _ends(part, language)


def _ends(part: str, language: Language) -> bool:
    """Return whether a part reports an end: "got the milk"."""
    return bool(ended(language.mended(lowered(part)), language))


def _corrects(part: str, language: Language) -> bool:
    """Return whether a fragment is a value put right: a number or a day after "sorry" or "I meant"."""
    lower = language.mended(lowered(part))
    words = words_of(lower)
    valued = names_a_day(lower, language) or any(word[0].isdigit() for word in words)
    return valued and _is_fragment(part) and language.has("correct", lower)


def unfused(parts: Iterable[str], at_ms: int, zone: str, language: Language) -> list[str]:
    """Return the parts with what somebody has to do for a coming day apart from that day: it ends before.

    And apart from what is done: "got the milk, need bread too".

    And with what has a day of its own apart: "swimming is on Tuesday, and Mia sees the dentist on Thursday".
    """
    apart: list[str] = []
    for part in parts:
        owed = _where_owed(part, language)
        is_owed = owed and (find_due(part[:owed], at_ms, zone, language) or _ends(part[:owed], language))
        cut = (owed, owed) if is_owed else _between_days(part, at_ms, zone, language)
        apart += [part[: cut[0]].rstrip(), *unfused([part[cut[1] :]], at_ms, zone, language)] if cut else [part]
    return apart


def _between_days(part: str, at_ms: int, zone: str, language: Language) -> tuple[int, int] | None:
    """Return where an "and" or a comma parts two matters, each told with a day of its own; None where none does."""
    lower = language.mended(lowered(part))
    first = find_due(lower, at_ms, zone, language)
    if first is None or not says_day(blank(lower, first.spans), at_ms, zone, language):
        return None
    for joint in (*joints_of(language).finditer(part), *_COMMA.finditer(part)):
        before, behind = _STOP.split(part[: joint.start()])[-1], _STOP.split(part[joint.end() :])[0]
        is_pause = bool(_COMMA.fullmatch(joint.group()))
        if is_pause and not _tells_another(before, behind, language):
            continue
        least = (1 if is_pause else _CLAUSE_WORDS, _CLAUSE_WORDS)
        told = zip((before, behind), least, strict=True)
        days = {_told_day(side, each, at_ms, zone, language) for side, each in told}
        if None not in days and len(days) > 1:
            return joint.span()
    return None


def _tells_another(before: str, behind: str, language: Language) -> bool:
    """Return whether what stands behind a comma is another matter than what stands before it, not its other day.

    "Dinner on Friday, Saturday at the latest" is one matter; what is told of a past day goes on behind it.
    """
    lower = language.mended(lowered(behind))
    if language.has("past", language.mended(lowered(before))) or any(language.has(cue, lower) for cue in _ANOTHER_DAY):
        return False
    words = words_of(lower)
    return len(words) > _CLAUSE_WORDS + 1 or len(content_words(words, language)) >= _MATTER_WORDS


def _told_day(side: str, least: int, at_ms: int, zone: str, language: Language) -> int | None:
    """Return the day that a side of an "and" names, None where it does not tell in so many words what is then."""
    lower = language.mended(lowered(side))
    due = find_due(lower, at_ms, zone, language) if says_day(lower, at_ms, zone, language) else None
    rest = words_of(blank(lower, due.spans)) if due else ()
    return due.due_at_ms if due and len(rest) >= least and content_words(rest, language) else None


def _where_owed(part: str, language: Language) -> int:
    """Return where behind a comma begins what somebody has to do, 0 when it does nowhere."""
    lower = lowered(part)
    for pause in _COMMA.finditer(lower) if len(lower) == len(part) else ():
        owed = any(language.cues[cue].match(lower, pause.end()) for cue in OWED if cue in language.cues)
        before, behind = len(part[: pause.start()].split()), len(part[pause.end() :].split())
        if owed and min(before, behind) >= _CLAUSE_WORDS:
            return pause.end()
    return 0


def _cut(part: str) -> list[str]:
    """Return a long sentence in stretches of at most `CLAUSE_MAX_CHARS`, cut where it pauses.

    One that does not pause may be longer, up to `UNPAUSED_MAX_CHARS`.
    """
    if len(part) <= CLAUSE_MAX_CHARS:
        return [part]
    out: list[str] = []
    for piece in (
        each for paused in _SOFT_CUT.split(part) for each in wrap(paused, UNPAUSED_MAX_CHARS, break_on_hyphens=False)
    ):
        if out and len(out[-1]) + len(piece) + 2 <= CLAUSE_MAX_CHARS:
            out[-1] = f"{out[-1]} {piece}"
        else:
            out.append(piece)
    return out
