"""Search the past of a conversation: terms into the full-text index, documents out of it, ranked by the retriever."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from memory.errors import StorageUnavailable
from memory.language.languages import Languages
from memory.language.sentences import is_question, lowered
from memory.ports import Database, Row, Statement, TokenCounter
from memory.search.retriever import (
    PASSAGE_TERMS,
    WEIGHTS,
    Hit,
    Key,
    Matches,
    Message,
    Question,
    Scored,
    Weights,
    interleaved,
    rank,
    shortlist,
    term_weights,
    weigh,
)
from memory.search.semantic import NO_FIT, Fit, Semantic
from memory.search.terms import (
    asks,
    hashed,
    index_terms,
    other_spellings,
    read_question,
    split_words,
    time_words,
    unnamed,
)
from memory.types import ConversationTurn, Memory, RetrievedItem

SHORTLIST = 70
"""At most so many documents are looked at with their neighbours, fewer for a short answer."""
SHORTLIST_LEAST = 20
AROUND = 2
"""Turns on each side of a found one that are looked at; more when little was found."""
AROUND_MOST = 40
LOOKED_AT = 120
"""About half so many turns are looked at in all."""
HITS = 350
"""The rarest terms are looked up until they have so many places."""
DATED = 60
"""So many turns of a time that the question names are looked at, the newest ones."""
MERGE_PAGES = 500
EXCERPT_WORDS = 120
OTHER_SIDE_WORDS = 30
LITTLE_MORE = 1.25
"""A text that is longer by less than this is not cut."""

log = logging.getLogger(__name__)


def index_turn(turn: ConversationTurn, languages: Languages) -> Statement:
    """Return the statement that makes a turn findable, for the transaction that stores it; repeating is harmless."""
    code = turn.language or languages.detect(turn.user_text or turn.assistant_text).code
    user, assistant = split_words(turn.user_text), split_words(turn.assistant_text)
    user_terms = index_terms(turn.conversation_id, user, code)
    assistant_terms = index_terms(turn.conversation_id, assistant, code)
    traits = [
        _traits(turn.user_text, user, user_terms, code),
        _traits(turn.assistant_text, assistant, assistant_terms, code),
    ]
    return Statement(
        "index_document",
        {
            "conversation_id": turn.conversation_id,
            "source": "turn",
            "ref": turn.turn_id,
            "session_id": turn.session_id,
            "seq": turn.seq,
            "user_id": turn.user_id,
            "traits": json.dumps(traits, separators=(",", ":")),
            "user_terms": user_terms,
            "assistant_terms": assistant_terms,
            "at_ms": turn.created_at_ms,
        },
    )


def index_memory(memory: Memory, conversation_id: str, languages: Languages) -> Statement:
    """Return the statement that makes a memory findable, for the transaction that stores it."""
    code = languages.detect(memory.text).code
    words = split_words(memory.text)
    terms = index_terms(conversation_id, words, code)
    return Statement(
        "index_document",
        {
            "conversation_id": conversation_id,
            "source": "memory",
            "ref": memory.memory_id,
            "session_id": memory.session_id,
            "seq": 0,
            "user_id": memory.user_id,
            "traits": json.dumps([_traits(memory.text, words, terms, code), None], separators=(",", ":")),
            "user_terms": terms,
            "assistant_terms": "",
            "at_ms": memory.at_ms,
        },
    )


def unindex_memory(memory_id: str) -> Statement:
    """Return the statement that takes a superseded memory out of the search; deleting its row does so by itself."""
    return Statement("unindex_document", {"ref": memory_id, "source": "memory"})


def merge_index(pages: int = MERGE_PAGES) -> Statement:
    """Return the statement that cleans the index after a deletion; it works on at most about so many pages."""
    return Statement("merge_index", {"pages": pages})


def _traits(text: str, words: Sequence[str], terms: str, code: str) -> list[int] | None:
    if not words:
        return None
    return [len(words), terms.count(" ") + 1 if terms else 0, asks(text), time_words(words, code)]


class Searcher:
    """Finds what was said before. Reads only; the statements above keep the index in step with the turns."""

    def __init__(
        self,
        db: Database,
        languages: Languages,
        *,
        counter: TokenCounter | None = None,
        weights: Weights = WEIGHTS,
        semantic: Semantic | None = None,
    ) -> None:
        self._db = db
        self._languages = languages
        self._counter = counter
        self._weights = weights
        self._semantic = semantic

    def clear_cache(self) -> None:
        """Drop what is held in memory of the conversations; for `Forgetter(caches=…)`."""
        if self._semantic:
            self._semantic.let_go()

    async def search(
        self,
        conversation_id: str,
        query: str,
        *,
        session_ids: Collection[str] | None = None,
        exclude_turn_ids: Collection[str] = (),
        limit: int = 12,
        now_ms: int = 0,
        language: str | None = None,
        names: Mapping[str, int | None] | None = None,
        open_turn_ids: Collection[str] = (),
    ) -> list[RetrievedItem]:
        """Return older turns and memories that bear on the query, best first, each once, none that is excluded.

        `session_ids` restricts to these sessions (a session that was started fresh). `names`: first name → user id
        (None: the assistant) in a chat of several people. `open_turn_ids`: evidence of open loops, preferred.
        A query without a word that means something finds nothing. Raises `StorageUnavailable`.
        """
        best = await self.order(
            conversation_id,
            query,
            session_ids=session_ids,
            exclude_turn_ids=exclude_turn_ids,
            limit=limit,
            now_ms=now_ms,
            language=language,
            names=names,
            open_turn_ids=open_turn_ids,
        )
        texts = await self._texts([(one.message.source, one.message.ref) for one in best])
        return [self._item(one, texts[ref]) for one in best if (ref := (one.message.source, one.message.ref)) in texts]

    async def order(
        self,
        conversation_id: str,
        query: str,
        *,
        session_ids: Collection[str] | None = None,
        exclude_turn_ids: Collection[str] = (),
        limit: int = 12,
        now_ms: int = 0,
        language: str | None = None,
        names: Mapping[str, int | None] | None = None,
        open_turn_ids: Collection[str] = (),
    ) -> list[Scored]:
        """Return what `search` would show, each turn by its best side, without reading the texts."""
        speaks = self._languages.get(language) if language else self._languages.detect(query)
        question = read_question(query, speaks, now_ms=now_ms, names=names)
        sessions = None if session_ids is None else json.dumps(sorted(session_ids))
        most = min(SHORTLIST, SHORTLIST_LEAST + 2 * limit) + len(exclude_turn_ids)
        fit = await self._fit(
            conversation_id, unnamed(query, names or {}), speaks.code, session_ids=session_ids, exclude=exclude_turn_ids
        )
        messages, matches = await self._candidates(conversation_id, question, sessions, most, fit.nearest)
        ranked = rank(
            question,
            messages,
            matches,
            weights=self._weights,
            open_refs=open_turn_ids,
            now_ms=now_ms,
            dense=fit.scores,
        )
        if fit.nearest and not is_question(query, lowered(query), speaks):
            ranked = interleaved(ranked, fit.nearest)
        chosen: dict[tuple[str, str], Scored] = {}
        for scored in ranked:
            message = scored.message
            if len(chosen) == limit:
                break
            if message.ref not in exclude_turn_ids:
                chosen.setdefault((message.source, message.ref), scored)
        return list(chosen.values())

    async def _fit(
        self,
        conversation_id: str,
        query: str,
        code: str,
        *,
        session_ids: Collection[str] | None,
        exclude: Collection[str],
    ) -> Fit:
        """Return what is close to the query in meaning; nothing without the extra, or once the model has failed."""
        if self._semantic is None:
            return NO_FIT
        try:
            fit = await self._semantic.fit(conversation_id, query, code, session_ids=session_ids, exclude=exclude)
        except StorageUnavailable:
            raise
        except Exception:
            log.exception("the model of the semantic search failed; from now on words alone find things")
            self._semantic = None
            return NO_FIT
        return fit or NO_FIT

    async def _candidates(
        self, conversation_id: str, question: Question, sessions: str | None, most: int, nearest: Sequence[Key]
    ) -> tuple[list[Message], Matches]:
        hits, idf = await self._hits(conversation_id, question, sessions)
        docs = shortlist(idf, hits, most)
        docs += await self._dated(conversation_id, question)
        docs += [doc for doc, _ in nearest]
        messages = await self._documents(conversation_id, docs, sessions) if docs else []
        return messages, weigh(idf, hits, {message.key: message.terms for message in messages}, self._weights)

    async def _hits(
        self, conversation_id: str, question: Question, sessions: str | None
    ) -> tuple[list[Hit], list[float]]:
        """Return where the question's terms stand and what each is worth.

        A term that the conversation does not have in the question's language is looked for in the other spellings:
        each look-up reads every segment of the index, and few questions need it.
        """
        count = len(question.terms)
        if not count:
            return [], []
        first = {hashed(conversation_id, spelling): term for term, spelling in enumerate(question.terms)}
        hits, counts, turns = await self._look_up(conversation_id, first, count, sessions)
        others = {
            hashed(conversation_id, spelling): term
            for term, (stemmed, word) in enumerate(zip(question.terms, question.words, strict=True))
            if not counts[term]
            for spelling in other_spellings(stemmed, word, self._languages.codes)
        }
        if others:
            more, found, _ = await self._look_up(conversation_id, others, count, sessions)
            hits, counts = hits + more, [a + b for a, b in zip(counts, found, strict=True)]
        return hits, term_weights(counts, turns)

    async def _look_up(
        self, conversation_id: str, tokens: Mapping[str, int], terms: int, sessions: str | None
    ) -> tuple[list[Hit], list[int], int]:
        """Return hits, how many turns have each term, and how many turns there are."""
        counts = [0] * terms
        row = await self._db.read_one(
            "search_terms",
            conversation_id=conversation_id,
            terms=json.dumps(list(tokens)),
            passage_terms=PASSAGE_TERMS,
            sessions=sessions,
            most=HITS,
        )
        if row is None:
            return [], counts, 0
        for token, docs in orjson.loads(row["counts"]):
            counts[tokens[token]] += docs
        rows = orjson.loads(row["hits"])
        hits = [Hit((doc, side), tokens[token], passage, times) for token, doc, side, passage, times in rows]
        return hits, counts, row["turns"]

    async def _dated(self, conversation_id: str, question: Question) -> list[int]:
        docs: list[int] = []
        for span in sorted({span for day in question.days if (span := day.span_ms())}):
            row = await self._db.read_one(
                "search_between", conversation_id=conversation_id, from_ms=span[0], to_ms=span[1] - 1, most=DATED
            )
            docs += orjson.loads(row["docs"]) if row else []
        return docs

    async def _documents(self, conversation_id: str, docs: Sequence[int], sessions: str | None) -> list[Message]:
        row = await self._db.read_one(
            "search_documents",
            conversation_id=conversation_id,
            docs=json.dumps(docs),
            around=min(AROUND_MOST, max(AROUND, LOOKED_AT // len(docs))),
            sessions=sessions,
        )
        return [one for values in orjson.loads(row["docs"] if row else "[]") for one in _sides(values)]

    async def _texts(self, refs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Row]:
        if not refs:
            return {}
        rows = await self._db.read(
            "search_texts",
            turns=json.dumps([ref for source, ref in refs if source == "turn"]),
            memories=json.dumps([ref for source, ref in refs if source == "memory"]),
        )
        return {(row["source"], row["ref"]): row for row in rows}

    def _item(self, scored: Scored, row: Row) -> RetrievedItem:
        message = scored.message
        text = _shown(scored, row)
        return RetrievedItem.model_construct(  # from our own rows: checking them again would double the time
            source="memory" if message.source == "memory" else "turn",
            ref=message.ref,
            text=text,
            seq=message.seq or None,
            session_id=message.session_id,
            at_ms=message.at_ms,
            score=round(scored.score, 4),
            breakdown={name: round(value, 4) for name, value in scored.breakdown.items() if value},
            tokens=self._counter.count(text) if self._counter else -(-len(text) // 4),
        )


def _sides(values: Sequence[Any]) -> list[Message]:
    doc_id, source, ref, session_id, seq, ordinal, user_id, traits, at_ms = values
    found = []
    for side, trait in enumerate(traits):
        if trait:
            words, terms, asking, times = trait
            key = (doc_id, side)
            found.append(
                Message(key, source, ref, session_id, seq, ordinal, user_id, words, terms, asking, times, at_ms)
            )
    return found


def _shown(scored: Scored, row: Row) -> str:
    """Return the text of a found turn: the matching side (around its best passage), the other side as its context."""
    message = scored.message
    if message.source == "memory":
        return str(row["user_text"])
    begins = scored.passage * PASSAGE_TERMS / max(1, message.terms)
    shown = []
    for side, (who, column) in enumerate((("User", "user_text"), ("Assistant", "assistant_text"))):
        if row[column]:
            found = side == message.key[1]
            text = _excerpt(row[column], EXCERPT_WORDS if found else OTHER_SIDE_WORDS, begins if found else 0.0)
            shown.append(f"{who}: {text}")
    return "\n".join(shown)


def _excerpt(text: str, most: int, begins: float) -> str:
    """Return the text; of a long one about `most` words from the share `begins` (0..1) on, marked where it was cut."""
    if len(text) <= most * 4:
        return text.strip()
    words = text.split()
    if len(words) <= most * LITTLE_MORE:
        return text.strip()
    start = max(0, min(int(begins * len(words)) - most // 4, len(words) - most))
    head, tail = "… " if start else "", " …" if start + most < len(words) else ""
    return head + " ".join(words[start : start + most]) + tail
