"""Reads of a search, each a chain: places of terms, neighbours of a document, texts, sessions. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import orjson
from pydantic import ValidationError

from memory.ports import Reads, Statement
from memory.search.question import Key, Question, SearchedMessage, TermHits
from memory.search.retriever import PASSAGE_TERMS
from memory.storage.turn_rows import checked
from memory.types import SessionState

HITS = 150
"""The rarest terms are looked up on both sides of a turn while they stand in at most this many turns together."""
HITS_OF_SIDE = 450
HITS_OF_ANSWERS = 300
"""The same for the other terms, on the side alone that the question is about; answers are longer."""
DATED = 60
"""Turns of a time named by the question that are looked at, the newest ones."""
AROUND = 2
"""Turns on each side of a found one that are looked at; more when little was found."""
AROUND_MOST = 40


@dataclass(frozen=True, slots=True)
class Texts:
    """The words of a hit: both sides of a turn, or the text of a memory."""

    user_text: str
    assistant_text: str = ""
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The session of a hit."""

    edited: frozenset[str] = frozenset()
    """Its turns whose message says something else than when it was answered."""
    personas: tuple[str, ...] = ()
    """Who answered in it."""


UNKNOWN: Final = Origin()


def look_up(
    conversation_id: str, tokens: Mapping[str, int], question: Question, sessions: str | None
) -> Reads[tuple[TermHits, list[int], int]]:
    """Return the places of the tokens, the number of turns with each term of the question, and of turns in all."""
    counts = [0] * len(question.terms)
    if not tokens:
        return TermHits((), {}), counts, 0
    of_answers = question.role == "assistant"
    (row,) = yield Statement(
        "search_terms",
        {
            "conversation_id": conversation_id,
            "terms": json.dumps([[token, term] for token, term in tokens.items()]),
            "passage_terms": PASSAGE_TERMS,
            "sessions": sessions,
            "most": HITS,
            "side": "assistant_terms" if of_answers else "user_terms",
            "most_of_side": HITS_OF_ANSWERS if of_answers else HITS_OF_SIDE,
        },
    )
    for term, docs in orjson.loads(row["counts"]):
        counts[term] += docs
    lengths: dict[Key, int] = {}
    for doc, (user, assistant) in orjson.loads(row["traits"]):
        lengths[2 * doc] = user[1] if user else 0
        lengths[2 * doc + 1] = assistant[1] if assistant else 0
    return TermHits(orjson.loads(row["hits"]), lengths), counts, row["turns"]


def dated(conversation_id: str, question: Question) -> Reads[list[int]]:
    """Return the documents of the times that the question names."""
    docs: list[int] = []
    for from_ms, to_ms in sorted({span for day in question.days if (span := day.span_ms())}):
        where = {"conversation_id": conversation_id, "from_ms": from_ms, "to_ms": to_ms - 1, "most": DATED}
        (row,) = yield Statement("search_between", where)
        docs += orjson.loads(row["docs"])
    return docs


def documents(
    conversation_id: str, docs: Sequence[int], looked_at: int, sessions: str | None
) -> Reads[list[SearchedMessage]]:
    """Return the messages of these documents and of the turns around them, about `looked_at` in all."""
    (row,) = yield Statement(
        "search_documents",
        {
            "conversation_id": conversation_id,
            "docs": json.dumps(docs),
            "around": min(AROUND_MOST, max(AROUND, looked_at // len(docs))),
            "sessions": sessions,
        },
    )
    found = []
    for doc, source, ref, session_id, seq, ordinal, user_id, traits, at_ms in orjson.loads(row["docs"]):
        for key, trait in enumerate(traits, 2 * doc):
            if trait:
                words, terms, asks, times = trait
                found.append(
                    SearchedMessage(
                        key, source, ref, session_id, seq, ordinal, user_id, words, terms, asks, times, at_ms
                    )
                )
    return found


def texts_of(refs: Sequence[tuple[str, str]]) -> Reads[dict[tuple[str, str], Texts]]:
    """Return the words of hits, by source and ref."""
    turns = [ref for source, ref in refs if source == "turn"]
    memories = [ref for source, ref in refs if source == "memory"]
    found: dict[tuple[str, str], Texts] = {}
    if turns:
        for row in (yield Statement("search_turns", {"turns": json.dumps(turns)})):
            turn = checked(row).turn
            found["turn", turn.turn_id] = Texts(turn.typed, turn.assistant_text, turn.language)
    if memories:
        for row in (yield Statement("search_memories", {"memories": json.dumps(memories)})):
            found["memory", row["memory_id"]] = Texts(row["text"])
    return found


def origins(session_ids: Iterable[str | None]) -> Reads[dict[str | None, Origin]]:
    """Return the sessions of hits by their ids; one whose state cannot be read tells nothing."""
    found: dict[str | None, Origin] = {}
    for session_id in dict.fromkeys(session_ids):
        for row in (yield Statement("get_session", {"session_id": session_id})):
            found[session_id] = _origin(row["state_json"])
    return found


def _origin(state_json: str) -> Origin:
    try:
        state = SessionState.model_validate_json(state_json)
    except ValidationError:
        return UNKNOWN
    return Origin(frozenset(state.edited), state.personas)
