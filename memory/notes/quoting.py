"""Which words are quoted so that a note stands alone: a clause, and what names its "he" or "it". Pure."""

from __future__ import annotations

import re
from functools import lru_cache

from memory.language.language import Language
from memory.language.sentences import lowered
from memory.notes.clauses import Clause, TurnClauses
from memory.notes.kinds import ANSWER_STEMS
from memory.notes.types import TEXT_MAX_CHARS
from memory.notes.weigh import is_todo, owes
from memory.types import ABOUT_REMINDERS

JOINT = " … "
_EDGE = " .,;:!?"
_STOPS = (".", "!", "?", "…", ",", ";", ":", ")", '"')
_DIGITS = re.compile(r"\d+")
_CLEAR_STEMS = 4
"""From this many stems on a sentence is understood in spite of its pronoun."""
_POINTS = frozenset({"bare", "pronoun"})
"""What points back to something, also in an order about a reminder; what merely says little does not lean on one."""
_WITH_BEFORE_STEMS = 8
"""The same where the sentence before it, in the same message, says of what."""


def standing_alone(clause: Clause, before: TurnClauses | None, language: Language) -> tuple[str, tuple[str, ...]]:
    """Return the words to quote and the turns they come from; "" when they mean nothing alone.

    What begins with a bare pronoun, or says what is to be done without saying of what, brings what was said before it;
    an answer of a word or two brings the question. Where that begins with a bare pronoun, too, who it is comes along.
    """
    if len(clause.stems) < ANSWER_STEMS and not (clause.before or clause.asks) and before is not None:
        asked = [each for each in before.assistant if each.asks]
        if asked and len(asked[-1].text) + len(clause.text) < TEXT_MAX_CHARS - len(JOINT):
            return f"{asked[-1].text}{JOINT}{clause.text}", (asked[-1].turn_id, clause.turn_id)
    added = _is_added(clause, language)
    if "bare" in clause.cues or (leans(clause) and not added):
        old = bool(clause.numbers) and "correct" in clause.cues
        orders = before is not None and before.turn.action_name in ABOUT_REMINDERS
        said_before = before.user if before and not (orders and not _POINTS & clause.cues) else ()
        named = [each for each in said_before if says_of_what(each, clause)]
        named = [each for each in named if each.names or "kin" in each.cues] or named
        named = [each for each in named if not (old and each.numbers)]
        if clause.before and len(clause.before) + len(clause.text) < TEXT_MAX_CHARS:
            whole = with_before(clause)
            who = named[-1:] if language.has("bare", language.mended(lowered(clause.before))) else []
            if who and len(who[0].text) + len(whole) < TEXT_MAX_CHARS - len(JOINT):
                return f"{who[0].text}{JOINT}{whole}", (who[0].turn_id, clause.turn_id)
            return whole, (clause.turn_id,)
        answered = before.assistant if before and not old else ()
        named = named or [each for each in answered if suggests(each, clause)]
        if named and len(named[-1].text) + len(clause.text) < TEXT_MAX_CHARS - len(JOINT):
            return f"{named[-1].text}{JOINT}{clause.text}", (named[-1].turn_id, clause.turn_id)
        if "bare" in clause.cues and len(clause.stems) < _CLEAR_STEMS:
            return "", ()
    leaning = clause.before and (_dates_it(clause, language) or (leans(clause, _WITH_BEFORE_STEMS) and not added))
    whole = with_before(clause) if leaning else clause.text
    return (whole if len(whole) <= TEXT_MAX_CHARS else clause.text[:TEXT_MAX_CHARS]), (clause.turn_id,)


def with_before(clause: Clause) -> str:
    """Return the clause behind the one before it, parted where an "and" stood between them or a line ended."""
    return f"{clause.before}{'' if clause.before.endswith(_STOPS) else ';'} {clause.text}"


def without_denied(text: str, language: Language) -> str:
    """Return a text without the number that it denies beside one that holds: "the 23rd … at 7", not "not the 22nd"."""
    lower = lowered(text)
    if len(lower) != len(text) or "negates" not in language.cues:
        return text
    found = _denied_number(language).search(lower)
    if found is None:
        return text
    before, behind = text[: found.start()].strip(), text[found.end() :].lstrip(_EDGE)
    holds = any(len(number) == len(found["digits"]) for number in _DIGITS.findall(before))
    return f"{before}{JOINT}{behind}" if holds and behind else before if holds else text


@lru_cache(maxsize=16)
def _denied_number(language: Language) -> re.Pattern[str]:
    """Return what finds a number that does not hold, with the "not" and the comma before it."""
    denies = language.cues["negates"].pattern
    return re.compile(rf"[,;]?\s*(?:{denies})\s+(?:[^\W\d_]+\s+){{0,2}}[£$€]?(?P<digits>\d+)[\w.,:%/]*")


def leans(clause: Clause, clear: int = _CLEAR_STEMS) -> bool:
    """Return whether the clause says that something is to be done or awaited, but not of what: "I'll ring them"."""
    acts = is_todo(clause) or "waits" in clause.cues or clause.due is not None
    if not acts or clause.names or {"event", "happening", "kin"} & clause.cues or len(clause.stems) >= clear:
        return False
    return "pronoun" in clause.cues or len(clause.stems) < ANSWER_STEMS


def _dates_it(clause: Clause, language: Language) -> bool:
    """Return whether the clause gives a day to what only "it" names: "the room was taken, so now it's on Friday"."""
    if clause.due is None or "it_is" not in language.cues:
        return False
    head = clause.lower[: clause.due.spans[0][0]].rstrip()
    return any(found.end() == len(head) for found in language.cues["it_is"].finditer(head))


def _is_added(clause: Clause, language: Language) -> bool:
    """Return whether the clause is one more errand behind another, and names a thing: "and the parcel has to go"."""
    return bool(clause.stems) and owes(clause) and "pronoun" not in clause.cues and language.has("adds", clause.lower)


def says_of_what(clause: Clause, later: Clause) -> bool:
    """Return whether the clause can say who "he" is in a later one, or what is to be done there."""
    if "bare" in clause.cues or len(clause.stems) < ANSWER_STEMS:
        return False
    return bool(clause.names or "kin" in clause.cues) or "bare" not in later.cues


def suggests(clause: Clause, later: Clause) -> bool:
    """Return whether the assistant's clause can be what the person takes on in the next message."""
    if len(clause.stems) < ANSWER_STEMS or "bare" in clause.cues:
        return False
    advises = bool(clause.names or clause.asks or {"imperative", "proposal", "request"} & clause.cues)
    return advises or "pronoun" in later.cues or owes(later)
