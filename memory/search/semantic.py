"""Likeness in meaning: vectors of talk, made behind the turns, compared with a question."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import pairwise
from typing import Any

from memory.errors import StorageUnavailable
from memory.ports import Database, Row, Statement
from memory.search.embeddings import Embedder, load
from memory.search.question import Key

WINDOW = 64
"""Documents that are looked at in one step; those that lack vectors get them and are stored together."""
AT_ONCE = 16
"""Passages that are turned into vectors at once: a process that is asked to stop waits for no more."""
PASSAGE_WORDS = 120
PASSAGES = 8
"""A long text has a vector for each of its first passages."""
LEAST = 8
"""Fewer texts to compare give no measure of "unusually close"."""
NEAREST = 40
ALIKE = 0.2
"""Texts with nothing in common are below this (the cosine); most talk has little to do with the past."""
NEIGHBOURS = 0.2
"""The share of its closeness that a text lends to those beside it."""
VECTORS_OF_ONE = 20_000
VECTORS_HELD = 60_000
"""The vectors of the conversations that were searched last stay in memory: 1.5 KB each."""
RETRY_S = 30.0
QUERY_CHARS = 2_000

log = logging.getLogger(__name__)
Numbers = Any
"""A numpy array: numpy comes with the extra and is imported with it."""


def passages(text: str) -> list[str]:
    """Return the passages of a text that get a vector each: one of a usual message, at most `PASSAGES`."""
    words = text.split()
    starts = range(0, len(words), PASSAGE_WORDS)[:PASSAGES]
    return [" ".join(words[start : start + PASSAGE_WORDS]) for start in starts]


@dataclass(frozen=True, slots=True)
class Fit:
    """The fit of each text of a conversation to a question, in deviations from their mean."""

    nearest: tuple[Key, ...]
    """The closest texts that are neither excluded nor in other sessions, best first."""
    scores: Mapping[Key, float]
    """Of the nearest and of all others with a vector."""


NO_FIT = Fit((), {})


@dataclass(slots=True)
class _Held:
    """The vectors of one conversation, a row for each passage, in the order in which it was said."""

    keys: list[Key] = field(default_factory=list)
    refs: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    ordinals: list[int] = field(default_factory=list)
    matrix: Numbers = None
    firsts: list[int] = field(default_factory=list)
    """The row with which each text begins."""
    together: Numbers = None
    """For each text but the first, 1.0 when it stands beside the one before it in one session, else 0.0."""
    stale: bool = True


class Semantic:
    """Keeps a vector for every text (behind the turns) and tells which texts are close to a question.

    Words alone find things while vectors are missing. A forgotten text takes its vectors along, by a trigger.
    """

    def __init__(self, db: Database, load: Callable[[], Embedder | None] = load) -> None:
        self._db = db
        self._load = load
        self._embedder: Embedder | None = None
        self._np: Any = None
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._after = 0
        self._forgettings = 0
        self._news = asyncio.Event()

    async def open(self) -> bool:
        """Load the model; False when the extra is not installed: then nothing is made and everything fits alike."""
        embedder = await asyncio.to_thread(self._load)
        if embedder:
            self._np = await asyncio.to_thread(import_module, "numpy")
            self._embedder = embedder
        return bool(embedder)

    # --- behind the turns -------------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Say that there may be new texts."""
        self._news.set()

    def clear_cache(self) -> None:
        """Drop all vectors held in memory, after something was forgotten; row numbers may be given again now."""
        self._held.clear()
        self._after = 0
        self._forgettings += 1

    def evict(self, belongs: Callable[[str], bool]) -> None:
        """Drop the vectors held of these conversations."""
        for conversation_id in [each for each in self._held if belongs(each)]:
            del self._held[conversation_id]

    async def run(self) -> None:
        """Load the model, catch up, then follow the news until cancelled. Ends at once without the extra.

        A disk that refuses is tried again.
        """
        running = await self.open()
        while running:
            self._news.clear()
            try:
                await self.catch_up()
            except StorageUnavailable as exc:
                log.warning("vectors cannot be stored just now: %s", exc)
                await asyncio.sleep(RETRY_S)
            else:
                await self._news.wait()

    async def catch_up(self) -> int:
        """Make the missing vectors and return the number of their texts. A crash leaves out whole texts at most.

        Raises `StorageUnavailable`; vectors stored before stay, and the next call goes on there.
        """
        if self._embedder is None:
            return 0
        made, languages = 0, json.dumps(sorted(self._embedder.languages))
        while True:
            forgettings = self._forgettings
            rows = await self._db.read(
                "embeddings_due", model=self._embedder.name, languages=languages, after=self._after, most=WINDOW
            )
            if rows:
                made += await self._make(self._embedder, rows)
            if self._forgettings != forgettings:
                continue  # row numbers may have been given again: from the beginning
            if not rows:
                return made
            self._after = rows[-1]["doc_id"]

    async def _make(self, embedder: Embedder, rows: Sequence[Row]) -> int:
        due = [
            (row, side, number, text)
            for row in rows
            for side, column in enumerate(("user_text", "assistant_text"))
            for number, text in enumerate(passages(row[column]))
        ]
        if not due:
            return 0
        vectors: list[bytes] = []
        for start in range(0, len(due), AT_ONCE):
            texts = [text for *_, text in due[start : start + AT_ONCE]]
            vectors += await asyncio.to_thread(embedder.encode, texts)
        await self._db.write(
            *(
                Statement(
                    "embedding_put",
                    {
                        "doc_id": row["doc_id"],
                        "source": row["source"],
                        "ref": row["ref"],
                        "side": side,
                        "passage": number,
                        "model": embedder.name,
                        "vector": vector,
                    },
                )
                for (row, side, number, _), vector in zip(due, vectors, strict=True)
            )
        )
        for row in rows:
            if row["conversation_id"] in self._held:
                self._held[row["conversation_id"]].stale = True
        return sum(number == 0 for _, _, number, _ in due)

    # --- before a turn ----------------------------------------------------------------------------------------------

    async def fit(
        self,
        conversation_id: str,
        query: str,
        language: str,
        *,
        session_ids: Collection[str] | None = None,
        exclude: Collection[str] = (),
    ) -> Fit | None:
        """Return the fit of the conversation's texts to the query; None when the model cannot say.

        That is: another language, or too few texts to compare. Raises `StorageUnavailable`.
        """
        embedder = self._embedder
        if embedder is None or language not in embedder.languages or not query.strip():
            return None
        held = await self._vectors(conversation_id, embedder.name)
        if len(held.firsts) < LEAST:
            return None
        (vector,) = await asyncio.to_thread(embedder.encode, [query[:QUERY_CHARS]])
        return self._fit(held, vector, session_ids, exclude)

    def _fit(self, held: _Held, vector: bytes, session_ids: Collection[str] | None, exclude: Collection[str]) -> Fit:
        np = self._np
        near = held.matrix @ np.frombuffer(vector, "<f2").astype(np.float32)
        alike = np.maximum.reduceat(near, held.firsts)
        near = _standardised(alike)
        lent = np.zeros_like(near)
        lent[1:] += near[:-1] * held.together
        lent[:-1] += near[1:] * held.together
        near = _standardised(near + NEIGHBOURS * lent)
        keys = [held.keys[row] for row in held.firsts]
        nearest: list[Key] = []
        for text in np.argsort(-near, kind="stable").tolist():
            row = held.firsts[text]
            here = session_ids is None or held.sessions[row] in session_ids
            if here and alike[text] >= ALIKE and held.refs[row] not in exclude:
                nearest.append(keys[text])
            if len(nearest) == NEAREST:
                break
        return Fit(tuple(nearest), dict(zip(keys, near.tolist(), strict=True)))

    async def _vectors(self, conversation_id: str, model: str) -> _Held:
        held = self._held.setdefault(conversation_id, _Held())
        self._held.move_to_end(conversation_id)
        if not held.stale:
            return held
        held.stale = False
        new = await self._read(conversation_id, model, held)
        new.stale = held.stale  # something was stored meanwhile: the next search reads it
        if self._held.get(conversation_id) is held:  # else something was forgotten meanwhile
            self._held[conversation_id] = held = new
        while len(self._held) > 1 and sum(len(each.keys) for each in self._held.values()) > VECTORS_HELD:
            self._held.popitem(last=False)
        return held

    async def _read(self, conversation_id: str, model: str, old: _Held) -> _Held:
        np = self._np
        rows = await self._db.read(
            "embeddings_of",
            conversation_id=conversation_id,
            after=old.keys[-1] >> 1 if old.keys else 0,
            model=model,
            most=VECTORS_OF_ONE,
        )
        rows.reverse()
        if not rows:
            return replace(old)
        new = np.frombuffer(b"".join(row["vector"] for row in rows), "<f2").reshape(len(rows), -1).astype(np.float32)
        held = _Held(
            [*old.keys, *(2 * row["doc_id"] + row["side"] for row in rows)][-VECTORS_OF_ONE:],
            [*old.refs, *(row["ref"] for row in rows)][-VECTORS_OF_ONE:],
            [*old.sessions, *(row["session_id"] for row in rows)][-VECTORS_OF_ONE:],
            [*old.ordinals, *(row["ordinal"] for row in rows)][-VECTORS_OF_ONE:],
            (new if old.matrix is None else np.concatenate([old.matrix, new]))[-VECTORS_OF_ONE:],
        )
        held.firsts = [row for row, key in enumerate(held.keys) if not row or held.keys[row - 1] != key]
        held.together = np.array(
            [float(_beside(held, one, other)) for one, other in pairwise(held.firsts)], dtype=np.float32
        )
        return held


def _standardised(values: Numbers) -> Numbers:
    return (values - values.mean()) / (values.std() + 1e-6)


def _beside(held: _Held, one: int, other: int) -> bool:
    return held.sessions[one] == held.sessions[other] and abs(held.ordinals[one] - held.ordinals[other]) <= 1
