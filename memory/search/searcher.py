"""Search the past of a conversation: terms into the full-text index, documents out of it, ranked by the retriever."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import orjson

from memory.errors import StorageUnavailable
from memory.packets import RetrievedItem
from memory.ports import Database, Reads, Statement, TokenCounter
from memory.search.languages import Languages
from memory.search.lookups import UNKNOWN, Origin, Texts, dated, documents, look_up, origins, texts_of
from memory.search.passages import excerpt
from memory.search.query import Query
from memory.search.question import WEIGHTS, Key, Question, SearchedMessage, TermHits, Weights
from memory.search.retriever import Matches, Scored, interleaved, rank, shortlist, term_weights, weigh
from memory.search.semantic import NO_FIT, Fit, Semantic
from memory.search.terms import (
    MAX_CHARS,
    asks,
    hashed,
    index_terms,
    other_spellings,
    read_question,
    split_words,
    time_words,
    unnamed,
)
from memory.storage.turn_rows import checked
from memory.text import clip, has_question_mark, shorten
from memory.types import ConversationTurn

SHORTLIST = 40
SHORTLIST_LEAST = 18
"""Documents that are looked at with their neighbours: the least and one more for each result wanted, and the most."""
QUERY_HEAD_CHARS, QUERY_TAIL_CHARS = 1_500, 500
"""Characters read of a long query."""
LOOKED_AT, LOOKED_AT_LEAST = 120, 56
"""Messages that are looked at in all: the most, and the least with two more for each result wanted; a turn has two."""
MERGE_PAGES = 500
EXCERPT_WORDS = 120
BESIDE_WORDS = 60
"""The words of the turn's other side, where it has something of the question too."""
CONTEXT_WORDS = 30
"""The words of the turn's other side where it has nothing of it."""
REPLY_WORDS, REPLY_MS = 30, 600_000
"""With an answer the person's reply is shown, if it came so soon and has so few words: it may put the answer right."""

SAID_CHARS, ANSWERED_CHARS = 200, 100
"""Of what was said in a stretch of time the beginnings of message and answer are told: a query finds the rest."""

Choose = Callable[[Sequence[Scored]], list[Scored]]
"""Returns the wanted ones of the scored, in their order."""

log = logging.getLogger(__name__)


def index_turn(turn: ConversationTurn, languages: Languages) -> Statement:
    """Return the statement that makes a turn findable, for the transaction that stores it; repeating is harmless."""
    code = turn.language or languages.detect(turn.typed or turn.assistant_text).code
    user, assistant = split_words(turn.typed[:MAX_CHARS]), split_words(turn.assistant_text[:MAX_CHARS])
    user_terms = index_terms(turn.conversation_id, user, code)
    assistant_terms = index_terms(turn.conversation_id, assistant, code)
    traits = [
        _traits(turn.typed, user, user_terms, code),
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
            "traits": orjson.dumps(traits).decode(),
            "user_terms": user_terms,
            "assistant_terms": assistant_terms,
            "at_ms": turn.created_at_ms,
        },
    )


def unindex_turn(turn_id: str) -> Statement:
    """Return the statement that takes a turn out of the search whose message was edited and answered again."""
    return Statement("unindex_document", {"ref": turn_id, "source": "turn"})


def merge_index() -> Statement:
    """Return the statement that cleans the index after a deletion; it works on about `MERGE_PAGES` pages at most."""
    return Statement("merge_index", {"pages": MERGE_PAGES})


def _traits(text: str, words: Sequence[str], terms: str, code: str) -> Sequence[int] | None:
    if not words:
        return None
    return [len(words), terms.count(" ") + 1 if terms else 0, asks(text), time_words(words, code)]


async def _is_whole(_: str) -> None:
    """Return at once: nothing is missing in the index."""


class Searcher:
    """Finds older turns and memories. Reads only; the statements above keep the index in step with the turns."""

    def __init__(
        self,
        db: Database,
        languages: Languages,
        *,
        counter: TokenCounter | None = None,
        weights: Weights = WEIGHTS,
        semantic: Semantic | None = None,
        catch_up: Callable[[str], Awaitable[None]] = _is_whole,
    ) -> None:
        """`catch_up` brings the index of a conversation up to what was said there."""
        self._db = db
        self._catch_up = catch_up
        self._languages = languages
        self._counter = counter
        self._weights = weights
        self._semantic = semantic

    def evict(self, belongs: Callable[[str], bool]) -> None:
        """Drop the vectors of these conversations that are held in memory."""
        if self._semantic is not None:
            self._semantic.evict(belongs)

    def clear_cache(self) -> None:
        """Drop all vectors held in memory; for `Forgetter(caches=…)`."""
        if self._semantic:
            self._semantic.clear_cache()

    async def search(self, query: Query, choose: Choose = list) -> list[RetrievedItem]:
        """Return older turns and memories that bear on the query, best first, each once, none that is excluded.

        Of a long text the passage that matches is returned. A query without a meaningful word finds nothing. `choose`
        leaves out unwanted hits before their texts are read. Raises `StorageUnavailable`.
        """
        reads = await self._reads(query)
        best, texts, whence = await self._db.read_chain(_with_texts(reads, choose))
        refs = {one.message.ref for one in best}
        return [
            _from(
                whence.get(one.message.session_id),
                self._item(one, texts[ref], texts.get(("turn", one.reply)) if one.reply not in refs else None),
            )
            for one in best
            if (ref := (one.message.source, one.message.ref)) in texts
        ]

    async def said(
        self, conversation_id: str, from_ms: int, to_ms: int, *, session_id: str | None, limit: int
    ) -> list[RetrievedItem]:
        """Return how turns begin from a moment to before another, the newest first. Raises `StorageUnavailable`."""
        await self._catch_up(conversation_id)
        between = {"from_ms": from_ms, "to_ms": to_ms, "session_id": session_id, "most": limit}
        rows = await self._db.read("search_said", conversation_id=conversation_id, **between)
        turns = [checked(row).turn for row in rows]
        whence = await self._db.read_chain(origins(turn.session_id for turn in turns))
        return [_from(whence.get(turn.session_id), beginnings(turn)) for turn in turns]

    async def order(self, query: Query) -> list[Scored]:
        """Return the turns that `search` would show, each by its best side, without reading the texts."""
        return await self._db.read_chain(await self._reads(query))

    async def _reads(self, query: Query) -> Reads[list[Scored]]:
        """Return the reads whose result `search` shows; the index is brought up to date and the model asked here."""
        await self._catch_up(query.conversation_id)
        text = clip(query.text, QUERY_HEAD_CHARS, QUERY_TAIL_CHARS)
        speaks = self._languages.get(query.language) if query.language else self._languages.detect(text)
        question = read_question(text, speaks, now_ms=query.now_ms, names=query.names)
        fit = await self._fit(query, unnamed(text, query.names), speaks.code)
        asks_now = has_question_mark(text)
        return self._ordered(query, question, fit, hinted=bool(fit.nearest) and not asks_now)

    def _ordered(self, query: Query, question: Question, fit: Fit, *, hinted: bool) -> Reads[list[Scored]]:
        messages, matches = yield from self._candidates(query, question, fit.nearest)
        excluded = frozenset(query.exclude_turn_ids)
        if excluded.issuperset(message.ref for message in messages):
            return []
        ranked = rank(
            question,
            messages,
            matches,
            weights=self._weights.without_sides() if query.by_words else self._weights,
            open_refs=query.open_turn_ids,
            now_ms=query.now_ms,
            dense=fit.scores,
        )
        chosen: dict[tuple[str, str], Scored] = {}
        for scored in interleaved([*ranked], fit.nearest) if hinted else ranked:
            message = scored.message
            if len(chosen) == query.limit:
                break
            if message.ref not in excluded:
                chosen.setdefault((message.source, message.ref), scored)
        replies = {(each.session_id, each.seq): each for each in messages if not each.key & 1 and each.source == "turn"}
        best = map(matches.weighed, chosen.values())
        return [each._replace(reply=_reply(each.message, replies, excluded)) for each in best]

    async def _fit(self, query: Query, text: str, code: str) -> Fit:
        """Return the turns close to the query in meaning; none without the extra, or once the model has failed."""
        if self._semantic is None:
            return NO_FIT
        try:
            fit = await self._semantic.fit(
                query.conversation_id, text, code, session_ids=query.session_ids, exclude=query.exclude_turn_ids
            )
        except StorageUnavailable:
            raise
        except Exception:
            log.exception("the model of the semantic search failed; from now on words alone find things")
            self._semantic = None
            return NO_FIT
        return fit or NO_FIT

    def _candidates(
        self, query: Query, question: Question, nearest: Sequence[Key]
    ) -> Reads[tuple[list[SearchedMessage], Matches]]:
        here = query.conversation_id
        sessions = None if query.session_ids is None else json.dumps(sorted(query.session_ids))
        most = min(SHORTLIST, SHORTLIST_LEAST + query.limit) + len(query.exclude_turn_ids)
        matches = yield from self._matches(here, question, sessions)
        docs = shortlist(matches, most)
        docs += yield from dated(here, question)
        docs += [key >> 1 for key in nearest]
        looked_at = min(LOOKED_AT, LOOKED_AT_LEAST + 2 * query.limit)
        messages = (yield from documents(here, docs, looked_at, sessions)) if docs else []
        return messages, matches

    def _matches(self, conversation_id: str, question: Question, sessions: str | None) -> Reads[Matches]:
        """Return the texts with the question's terms, weighed.

        A term that the conversation does not have in the question's language is looked for in the other spellings:
        each look-up reads every segment of the index, and few questions need it.
        """
        first = {hashed(conversation_id, spelling): term for term, spelling in enumerate(question.terms)}
        found, counts, turns = yield from look_up(conversation_id, first, question, sessions)
        others = {
            hashed(conversation_id, spelling): term
            for term, (stemmed, word) in enumerate(zip(question.terms, question.words, strict=True))
            if not counts[term]
            for spelling in other_spellings(stemmed, word, self._languages.codes)
        }
        if others:
            more, added, _ = yield from look_up(conversation_id, others, question, sessions)
            counts = [a + b for a, b in zip(counts, added, strict=True)]
            found = TermHits([*more.places, *found.places], {**found.lengths, **more.lengths})
        idf = term_weights(counts, turns, question.framing, self._weights)
        return replace(weigh(idf, found, self._weights), counts=counts, turns=turns)

    def _item(self, scored: Scored, texts: Texts, reply: Texts | None) -> RetrievedItem:
        message = scored.message
        text = texts.user_text if message.source == "memory" else self._shown(scored, texts)
        text += f"\nUser, to that: {reply.user_text}" if reply and reply.user_text else ""
        return RetrievedItem.model_construct(  # from our own rows: checking them again would double the time
            source="memory" if message.source == "memory" else "turn",
            ref=message.ref,
            text=text,
            seq=message.seq or None,
            session_id=message.session_id,
            user_id=message.user_id,
            at_ms=message.at_ms,
            score=round(scored.score, 4),
            share=round(scored.share, 4),
            lent=scored.lent,
            common=scored.common,
            repeats=scored.repeats,
            breakdown={name: round(value, 4) for name, value in scored.breakdown.items()},
            tokens=self._counter.count(text) if self._counter else -(-len(text) // 4),
        )

    def _shown(self, scored: Scored, texts: Texts) -> str:
        """Return the excerpt of a turn: the passage that matches, and words of the other side."""
        shown = []
        for side, (who, text) in enumerate((("User", texts.user_text), ("Assistant", texts.assistant_text))):
            if not text:
                continue
            if side == scored.message.key & 1:
                passage, most_words = scored.passage, EXCERPT_WORDS
            elif scored.beside is not None:
                passage, most_words = scored.beside, BESIDE_WORDS
            else:
                passage, most_words = 0, CONTEXT_WORDS
            shown.append(f"{who}: {excerpt(text, partial(self._code, texts), passage, most_words)}")
        return "\n".join(shown)

    def _code(self, texts: Texts) -> str:
        """Return the code of the language in which a turn was indexed."""
        return texts.language or self._languages.detect(texts.user_text or texts.assistant_text).code


def _reply(
    message: SearchedMessage, replies: Mapping[tuple[str, int], SearchedMessage], excluded: Collection[str]
) -> str:
    """The turn in which a person answered the assistant's message at once and shortly: it may put that right."""
    reply = replies.get((message.session_id, message.seq + 1)) if message.key & 1 else None
    if reply is None or reply.ref in excluded or reply.user_id != message.user_id:
        return ""
    return reply.ref if reply.words <= REPLY_WORDS and reply.at_ms - message.at_ms <= REPLY_MS else ""


def beginnings(turn: ConversationTurn) -> RetrievedItem:
    """A turn as a find: the beginnings of what was said and answered."""
    said, answered = shorten(turn.typed, SAID_CHARS), shorten(turn.assistant_text, ANSWERED_CHARS)
    return RetrievedItem(
        source="turn",
        ref=turn.turn_id,
        text="\n".join(filter(None, (said and f"User: {said}", answered and f"Assistant: {answered}"))),
        session_id=turn.session_id,
        user_id=turn.user_id,
        at_ms=turn.created_at_ms,
        score=0,
    )


def _from(origin: Origin | None, item: RetrievedItem) -> RetrievedItem:
    """The find with what its session tells of it."""
    origin = origin or UNKNOWN
    return item.model_copy(update={"edited": item.ref in origin.edited, "personas": origin.personas})


def _with_texts(
    reads: Reads[list[Scored]], choose: Choose
) -> Reads[tuple[list[Scored], dict[tuple[str, str], Texts], dict[str | None, Origin]]]:
    best = choose((yield from reads))
    refs = [(one.message.source, one.message.ref) for one in best]
    replies = [("turn", one.reply) for one in best if one.reply]
    texts = yield from texts_of(list(dict.fromkeys((*refs, *replies))))
    return best, texts, (yield from origins(one.message.session_id for one in best))
