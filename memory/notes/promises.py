"""What the assistant takes upon itself for later, and in which words that is noted. Pure."""

from __future__ import annotations

import re

from memory.language.languages import Language
from memory.notes.clauses import CLAUSE_MAX_CHARS, Clause, TurnClauses
from memory.notes.kinds import ANSWER_STEMS, BRIEF_WORDS
from memory.notes.quoting import JOINT
from memory.notes.types import TEXT_MAX_CHARS

_QUOTED = re.compile('^[\'"\u201c\u00ab\u201e]|["\u201c\u00ab\u201e].*["\u201d\u00bb\u201c]')
"""Words that the assistant puts into somebody's mouth are no promise of its own."""
_TAIL_CHARS = 20
_CLEAR_PROMISE_STEMS = 4
"""A promise with fewer words of meaning is told with what it answers."""
_DEFERRED = frozenset({"later", "deferral", "when_ready"})
_ASKED_FOR = frozenset({"request", "imperative", "offer", "when_ready"})


def is_promised(clause: Clause, said: TurnClauses) -> bool:
    """Return whether the assistant takes something upon itself that it has not done by the end of its answer."""
    if not {"commitment", "will_do"} & clause.cues or {"not_a_promise", "offer", "hypothetical"} & clause.cues:
        return False
    if clause.asks or _QUOTED.search(clause.text) or len(clause.text) > CLAUSE_MAX_CHARS:
        return False
    after = said.turn.assistant_text.partition(clause.text[-_TAIL_CHARS:])[2]
    if len(after.split()) >= BRIEF_WORDS or "\n" in after.strip() or clause.text.endswith(":"):
        return False
    asked = any(each.asks or _ASKED_FOR & each.cues for each in said.user)
    return asked or bool(_DEFERRED & clause.cues) or clause.due is not None


def accepted_offer(said: TurnClauses, before: TurnClauses | None, language: Language) -> Clause | None:
    """Return what the assistant offered to do, was told to do, and has not done in its answer; else None."""
    offers = [each for each in (before.assistant[-1:] if before else ()) if each.asks and "offer" in each.cues]
    first = said.user[0].lower.split(",", 1)[0] if said.user else ""
    agreed = language.has("yes", first) and not language.has("no", first)
    answer = said.turn.assistant_text
    done = len(answer.split()) >= BRIEF_WORDS or "\n" in answer.strip() or _QUOTED.search(answer)
    return offers[-1] if offers and agreed and not done else None


def promised_text(clause: Clause, said: TurnClauses, before: TurnClauses | None) -> tuple[str, tuple[str, ...]]:
    """Return the promise and its turns; where it says little alone ("I'll do it"), with what was asked for."""
    text, stems = clause.text, clause.stems
    turn_ids: tuple[str, ...] = (clause.turn_id,)
    earlier = [each for each in (before.user if before else ()) if len(each.stems) >= ANSWER_STEMS]
    asked = [each for each in (*earlier, *said.user) if each.asks or _ASKED_FOR & each.cues]
    nearest = asked[-1:] or list(said.user[-1:])
    for each in (*nearest, *(one for one in earlier[-1:] if one not in nearest)):
        clear = len(stems) >= _CLEAR_PROMISE_STEMS and (each not in asked or stems & each.stems)
        if clear or len(each.text) + len(text) > TEXT_MAX_CHARS - len(JOINT):
            break
        text, stems = f"{each.text}{JOINT}{text}", stems | each.stems
        turn_ids = tuple(dict.fromkeys((each.turn_id, *turn_ids)))
    return text, turn_ids
