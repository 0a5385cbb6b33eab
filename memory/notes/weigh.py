"""How much a clause matters, by what it holds: a date ahead, a name, a task, a fact; less for jokes and reports. Pure.

The weights are few and the same for every language; the words behind the cues are language data.
"""

from __future__ import annotations

from memory.notes.clauses import Clause, TurnClauses
from memory.notes.reports import CALLED_OFF, HAPPENED, NOT_ENDED, NOT_IN_SPITE, TO_COME
from memory.notes.types import Sign
from memory.types import REMINDS

FULL = 6.0
"""The sum that counts as weight 1."""
_CUES = {
    "waits": 1.0,
    "wish": 1.0,
    "lasting": 0.6,
    "event": 0.6,
    "feeling": 0.5,
    "limit": 0.45,
    "others": 0.2,
    "kin": 0.2,
    "bare": -1.0,
    "laugh": -0.7,
    "greeting": -0.4,
    "goodbye": -0.4,
    "imperative": -0.3,
}
_NAME, _NAMES_MAX = 0.5, 2
_CONTENT, _CONTENT_MAX = 0.1, 10
_DUE = 0.9
_TODO = 0.4
_ASKED_BACK, _DATED_BACK = 0.3, 0.3
_ECHO, _ECHO_MAX = 0.12, 3
_CLOSES = -0.7
_ASKS = -0.25
_THIN, _THIN_STEMS = -0.5, 2
_OPENS = -0.6
_OWED = frozenset({"obligation", "takes_on"})
_OWED_LEAST = 0.12
"""What somebody has to do is said in a word or two: "need stamps"."""
_STILL = frozenset(NOT_ENDED)
_AHEAD = frozenset((*NOT_IN_SPITE, "correct"))
LASTING_CUES = frozenset({"lasting", "wish", "limit"})
_TAKEN_UP = frozenset({"will_do", "offer"})
_PENDING = frozenset({"waits", "deadline", "others"})
_HAPPENED, _TO_COME = frozenset(HAPPENED), frozenset(TO_COME)
_ANSWERED = 2
"""How many clauses of the answer say whether it takes the matter up."""


def weigh(clause: Clause, said: TurnClauses, *, named: bool) -> float:
    """Return the weight of a person's clause, 0..1; `said` is its turn with the assistant's answer to it.

    `named` says that the sentence which names its bare pronoun comes along.
    """
    total = sum(weight for cue, weight in _CUES.items() if cue in clause.cues)
    total -= _CUES["bare"] * ("bare" in clause.cues and named)
    total += _NAME * min(len(clause.names), _NAMES_MAX) + _CONTENT * min(len(clause.stems), _CONTENT_MAX)
    total += (
        _DUE * (clause.due is not None)
        + _TODO * is_todo(clause)
        + _ECHO * min(len(clause.stems & said.reply_stems), _ECHO_MAX)
    )
    total += _ASKED_BACK * any(reply.asks for reply in said.assistant)
    total += _DATED_BACK * any(reply.due for reply in said.assistant)
    total += (
        _CLOSES * closes(clause)
        + _ASKS * clause.asks
        + _THIN * (len(clause.stems) < _THIN_STEMS and clause.due is None)
    )
    total += _OPENS * (
        said.turn.seq == 1 and clause.due is None and not LASTING_CUES & clause.cues and not is_todo(clause)
    )
    least = _OWED_LEAST if _OWED & clause.cues and clause.stems and not (clause.asks or "bare" in clause.cues) else 0.0
    return round(max(least, min(1.0, total / FULL)), 3)


def signs_of(clause: Clause, said: TurnClauses) -> tuple[Sign, ...]:
    """Return what in a clause, and in the answer to it, says that somebody has to act."""
    taken_up = any(_TAKEN_UP & reply.cues for reply in said.assistant[:_ANSWERED])
    found: dict[Sign, bool] = {
        "taken_up": taken_up,
        "pending": bool(_PENDING & clause.cues),
        "told": bool(_HAPPENED & clause.cues) and not (_TO_COME & clause.cues or clause.asks),
        "reminds": said.turn.action_name == REMINDS or any(call.name == REMINDS for call in said.turn.tool_calls),
    }
    return tuple(sign for sign, holds in found.items() if holds)


def is_todo(clause: Clause) -> bool:
    """Return whether the person says that they have to do something, will, or want to."""
    return owes(clause) or "intention" in clause.cues


def owes(clause: Clause) -> bool:
    """Return whether the person has to do something, or will: what one does counts when it has a day."""
    promised = "commitment" in clause.cues and "intention" not in clause.cues
    return promised or bool(_OWED & clause.cues) or ("acts" in clause.cues and clause.due is not None)


def reports_an_end(clause: Clause) -> bool:
    """Return whether a sentence of the clause reports that something came to its end."""
    ahead = clause.due is not None and clause.due.due_at_ms > clause.at_ms and clause.due.exact
    return bool(clause.ended) and not ahead


def calls_off(clause: Clause) -> bool:
    """Return whether the clause says that something will not be, and nothing of what is still to come."""
    off = bool(CALLED_OFF & clause.cues) and reports_an_end(clause)
    return off and not _AHEAD & clause.cues and not clause.asks


def closes(clause: Clause) -> bool:
    """Return whether the clause reports an end, and says of nothing that it is still to come."""
    return reports_an_end(clause) and not _STILL & clause.cues and not clause.asks
