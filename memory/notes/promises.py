"""What the assistant takes upon itself for later, and in which words that is noted. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from memory.language.due_dates import asks_to_remind, find_due, reminder_request, says_before
from memory.language.language import Language
from memory.language.sentences import words_of
from memory.notes.clauses import Clause, TurnClauses
from memory.notes.cutting import CLAUSE_MAX_CHARS
from memory.notes.kinds import ANSWER_STEMS, BRIEF_WORDS, asked_for_later, lasting_kind
from memory.notes.noted import Noted, stems_of_text
from memory.notes.quoting import JOINT
from memory.notes.telling import telling_stems
from memory.notes.types import DAY_MS, TEXT_MAX_CHARS, Matter
from memory.notes.weigh import owes
from memory.types import REMINDS, ToolCall

_QUOTED = re.compile('^[\'"\u201c\u00ab\u201e]|["\u201c\u00ab\u201e].*["\u201d\u00bb\u201c]')
"""Words that the assistant puts into somebody's mouth are no promise of its own."""
_FIRST_WORDS = re.compile(r"[,.!;:]")
"""What ends the yes or no at the head of an answer."""
_YES_WORDS = 6
"""A longer answer says something beside its yes."""
_TAIL_CHARS = 20
_CLEAR_PROMISE_STEMS = 4
"""A promise with fewer words of meaning is told with what it answers."""
_DEFERRED = frozenset({"later", "deferral", "when_ready"})
_ASKED_FOR = frozenset({"request", "imperative", "offer", "when_ready"})
_WEIGHT = 0.55
_STEMS = 2
"""A promise of fewer words of meaning says nothing that could be kept."""
_DELIVERED_WORDS, _ASKED_WORDS, _DELIVERED_SHARE, _NEXT_SHARE = 45, 15, 0.4, 0.25
_LISTS, _LISTED = "open_loop", "On the list"
"""The tool that puts something on the list, and how its result begins when it did."""
_LISTED_WEIGHT = 0.7


def is_promised(clause: Clause, said: TurnClauses) -> bool:
    """Return whether the assistant takes something upon itself that it has not done by the end of its answer."""
    if not _takes_on(clause):
        return False
    if clause.asks or _QUOTED.search(clause.text) or len(clause.text) > CLAUSE_MAX_CHARS:
        return False
    after = said.turn.assistant_text.partition(clause.text[-_TAIL_CHARS:])[2]
    if len(after.split()) >= BRIEF_WORDS or "\n" in after.strip() or clause.text.endswith(":"):
        return False
    asked = any(each.asks or _ASKED_FOR & each.cues for each in said.user)
    return asked or bool(_DEFERRED & clause.cues) or clause.due is not None


def _takes_on(clause: Clause) -> bool:
    """Return whether the words are those of a promise; one with a condition is one where it names a day."""
    if "jointly" in clause.cues and clause.due is not None:
        return True
    if {"not_a_promise", "offer"} & clause.cues or ("hypothetical" in clause.cues and clause.due is None):
        return False
    return bool({"commitment", "will_do"} & clause.cues)


def accepted_offer(said: TurnClauses, before: TurnClauses | None, language: Language) -> Clause | None:
    """Return what the assistant offered to do, was told to do, and has not done in its answer; else None."""
    offers = [each for each in (before.assistant[-1:] if before else ()) if each.asks and "offer" in each.cues]
    first = _FIRST_WORDS.split(said.user[0].lower, maxsplit=1)[0] if said.user else ""
    agreed = (language.has("yes", first) or language.has("accepts", first)) and not language.has("no", first)
    answer = said.turn.assistant_text
    done = len(answer.split()) >= BRIEF_WORDS or "\n" in answer.strip() or _QUOTED.search(answer)
    return offers[-1] if offers and agreed and not done else None


def only_agrees(clause: Clause, said: TurnClauses) -> bool:
    """Return whether a clause of the answer to an offer says no more than yes, or when."""
    another_day = clause.due is not None and clause.due.due_at_ms - clause.at_ms > DAY_MS
    tells_more = clause.words > _YES_WORDS or owes(clause) or another_day or lasting_kind(clause) is not None
    return asked_for_later(clause, said) or (clause.text == said.user[0].text and not tells_more)


def promised_text(clause: Clause, said: TurnClauses, before: TurnClauses | None) -> tuple[str, tuple[str, ...]]:
    """Return the promise and its turns; where it says little alone ("I'll do it"), with what was asked for."""
    text, stems = clause.text, clause.stems
    turn_ids: tuple[str, ...] = (clause.turn_id,)
    earlier = [each for each in (before.user if before else ()) if len(each.stems) >= ANSWER_STEMS]
    asked = [each for each in (*earlier, *said.user) if each.asks or _ASKED_FOR & each.cues]
    owed = [each for each in said.user if owes(each)]
    nearest = asked[-1:] or owed[-1:] or list(said.user[-1:])
    for each in (*nearest, *(one for one in earlier[-1:] if one not in nearest)):
        clear = len(stems) >= _CLEAR_PROMISE_STEMS and (each not in (*asked, *owed) or stems & each.stems)
        if clear or len(each.text) + len(text) > TEXT_MAX_CHARS - len(JOINT):
            break
        text, stems = f"{each.text}{JOINT}{text}", stems | each.stems
        turn_ids = tuple(dict.fromkeys((each.turn_id, *turn_ids)))
    return text, turn_ids


def asked_for(said: TurnClauses | None) -> list[Clause]:
    """Return the clauses of a turn in which the person asks the assistant to do something."""
    return [each for each in said.user if {"request", "imperative"} & each.cues] if said else []


def asked_about(said: TurnClauses | None, language: Language) -> frozenset[str]:
    """Return the stems of a turn in which the person only asks something; none for one that tells something."""
    if said is None or any(not each.asks for each in said.user):
        return frozenset()
    return stems_of_text(said.turn.user_text, language) if said.turn.user_text else frozenset()


def promise_of(
    clause: Clause, key: str, said: TurnClauses, before: TurnClauses | None, language: Language
) -> Matter | None:
    """Return what the assistant said it would do later, with what was asked of it where it does not say that."""
    if not is_promised(clause, said):
        return None
    text, turn_ids = promised_text(clause, said, before)
    if len(stems_of_text(text, language)) < _STEMS:
        return None
    due = clause.due
    return Matter(
        matter_id=key, kind="promise", text=text,
        quoted="assistant" if text == clause.text else "user", owner="assistant",
        due_at_ms=due.due_at_ms if due else None, due_exact=bool(due and due.exact),
        turn_ids=turn_ids, said_at_ms=clause.at_ms, weight=_WEIGHT,
    )  # fmt: skip


def agreed(offer: Clause, said: TurnClauses) -> Matter:
    """Return what the assistant offered to do and was told to, with the promise of its answer."""
    promised = [each for each in said.assistant if is_promised(each, said)]
    texts = [offer.text, *(each.text for each in promised[:1])]
    due = next((each.due for each in (*promised, offer) if each.due), None)
    return Matter(
        matter_id=f"{said.turn.turn_id}.o", kind="promise", text=JOINT.join(texts)[:TEXT_MAX_CHARS],
        quoted="assistant", owner="assistant",
        due_at_ms=due.due_at_ms if due else None, due_exact=bool(due and due.exact),
        turn_ids=(offer.turn_id, said.turn.turn_id), said_at_ms=said.turn.created_at_ms, weight=_WEIGHT,
    )  # fmt: skip


def is_delivered(matter: Matter, stems: frozenset[str], place: int, said: TurnClauses) -> bool:
    """Return whether a turn gives what the assistant promised: a long answer that speaks of it, or one to a request.

    A shorter one will do, too, right after the promise and for a message that names what it waited for.
    """
    words = sum(clause.words for clause in said.assistant)
    if not stems or not said.user or words < _ASKED_WORDS:
        return False
    theirs = frozenset[str]().union(*(clause.stems for clause in said.user))
    is_next = said.user[0].place - place == 1
    waited_for = bool(asked_for(said)) or is_next or bool(theirs & stems)
    if words < _DELIVERED_WORDS and (said.turn.turn_id in matter.turn_ids or not waited_for):
        return False  # a short answer says what it will do
    if any(is_promised(clause, said) for clause in said.assistant):
        return False
    share = _NEXT_SHARE if is_next else _DELIVERED_SHARE
    return len(stems & (said.reply_stems | theirs)) >= share * len(stems)


def is_put_on_the_list(call: ToolCall) -> bool:
    """Return whether a tool call of the assistant put something on the list."""
    return call.name == _LISTS and call.result.startswith(_LISTED)


def put_on_the_list(call: ToolCall, key: str, said: TurnClauses, zone: str) -> Matter | None:
    """Return what such a call put there."""
    arguments = json.loads(call.arguments)
    text = " ".join(str(arguments.get("text", "")).split())[:TEXT_MAX_CHARS]
    due = find_due(str(arguments.get("due") or ""), said.turn.created_at_ms, zone, said.language)
    if not text:
        return None
    return Matter(
        matter_id=key, kind="task", text=text, owner=str(arguments.get("owner") or "user"),
        due_at_ms=due.due_at_ms if due else None, due_exact=bool(due and due.exact),
        turn_ids=(said.turn.turn_id,), said_at_ms=said.turn.created_at_ms, weight=_LISTED_WEIGHT,
    )  # fmt: skip


def only_recalls(clause: Clause, noted: Iterable[Noted], language: Language) -> bool:
    """Return whether the clause only says of what has to be done anyway that it is to be kept in mind."""
    found = language.cues["obligation"].match(clause.lower) if "obligation" in language.cues else None
    if found is None or clause.due is not None:
        return False
    named = clause.stems - telling_stems(words_of(found.group()), language)
    return named < clause.stems and any(each.todo and named <= each.stems for each in noted if named)


def only_says_when_to_remind(clause: Clause, zone: str, language: Language) -> bool:
    """Return whether the clause orders a reminder so long before what it does not name: "an hour before"."""
    if not says_before(clause.lower, language) or not asks_to_remind(clause.lower, language):
        return False
    order = reminder_request(clause.lower, clause.at_ms, zone, language)
    return order is not None and order.due_at_ms is None and not order.what


def only_reminds_of(clause: Clause, said: TurnClauses, noted: Iterable[Noted], zone: str, language: Language) -> bool:
    """Return whether the clause set a reminder of what is noted to take place then or later, and says no more."""
    order = reminder_request(clause.lower, clause.at_ms, zone, language) if said.turn.action_name == REMINDS else None
    about = stems_of_text(order.what, language) if order else frozenset()
    at_ms = clause.due.due_at_ms if clause.due else clause.at_ms
    events = (each for each in noted if each.is_event and each.due_at_ms is not None and each.due_at_ms >= at_ms)
    return bool(about) and any(about <= each.stems for each in events)
