"""Text into sentences with their words, stems and signs; bounded whatever the length of the text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from unicodedata import combining, normalize

from memory.language.language import Language
from memory.language.languages import Languages

HEAD_CHARS = 1_600
TAIL_CHARS = 800
MAX_SENTENCES = 40
MAX_SENTENCE_CHARS = 320
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_HIDDEN = re.compile("(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{4,6}\U000e007f)|[\U000e0000-\U000e007f]")
"""Tag characters: a copy of ASCII that no screen shows, for flags such as Scotland's, and that models read."""
_NOISE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|www\.\S+", re.DOTALL)
_STOP, _BEHIND_STOP = "(?<=[.!?\u2026])", "[\"')\\]\u00bb\u201d]*\\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\\n+"
_BULLET = re.compile("^\\s*(?:[-*\u2022\u2013\u2014]\\s+|\\d{1,2}[.)]\\s+|[a-dA-D]\\)\\s+|>+\\s*|#+\\s+)+")
_ITEM = re.compile("\\s*(?:[-*\u2022]\\s|\\d{1,2}[.)]\\s|[a-hA-H]\\)\\s)")
_WORD = re.compile(r"[^\W_]+(?:['\u2019\-][^\W_]+)*")
_QUESTION_MARK = re.compile("[?\uff1f\u061f]")
_MIN_WORD_CHARS = 2


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: as written, lower-cased, its content words and their stems, and what it asks of somebody."""

    text: str
    lower: str
    words: tuple[str, ...]
    joined: tuple[bool, ...]
    """For each word whether only a space parts it from the one before."""
    content: tuple[str, ...]
    stems: frozenset[str]
    signs: frozenset[str] = field(default_factory=frozenset)
    listed: bool = False
    """True for an item of a list."""

    @property
    def asks(self) -> bool:
        """True when it is a question."""
        return "question" in self.signs


def clean(text: str) -> str:
    """Return the text as JSON and databases take it: no NUL, halves of one character joined, a lone half as U+FFFD.

    What is written in tag characters goes too: whoever pasted it could not see it, and a model would read it.
    """
    if text.isascii() and "\x00" not in text:
        return text
    text = _HIDDEN.sub(r"\1", text)
    if not _UNSTORABLE.search(text):
        return text
    return text.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clip(text: str, head: int = HEAD_CHARS, tail: int = TAIL_CHARS) -> str:
    """Return the text, or its beginning and its end when it is longer than both together."""
    if len(text) <= head + tail:
        return text
    return f"{text[:head]}\n{text[-tail:]}"


def shorten(text: str, limit: int) -> str:
    """Return the text on one line, at most `limit` characters, cut at a word with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return (cut.rsplit(" ", 1)[0] or cut).rstrip(" ,;:") + "…"


def lowered(text: str) -> str:
    """Return the text in lower case with straight apostrophes, as the cue phrases expect it."""
    return text.lower().replace("\u2019", "'").replace("\u02bc", "'")


def words_of(lower: str) -> tuple[str, ...]:
    """Return the words of a lower-cased text in order."""
    return tuple(_WORD.findall(lower))


def content_words(words: tuple[str, ...], language: Language) -> tuple[str, ...]:
    """Return the words that carry meaning: no stop words, no single letters."""
    if not language.known:
        return ()
    return tuple(
        word
        for word in words
        if word not in language.stop_words
        and len(word) >= _MIN_WORD_CHARS
        and word.partition("'")[0] not in language.stop_words
    )


def without_elision(word: str, language: Language) -> str:
    """Return the word without what is elided before it: the `hôtel` of `l'hôtel`."""
    head, mark, tail = word.partition("'")
    return tail if mark and head in language.elisions and word not in language.stop_words else word


def stems_of(words: tuple[str, ...], language: Language) -> frozenset[str]:
    """Return the stems of the words; neither a possessive ending nor an accent counts: people leave them out."""
    return frozenset(stem_of(without_possessive(word), language) for word in words)


def stem_of(word: str, language: Language) -> str:
    """Return the stem of a lower-cased word without its accents."""
    stem = language.stem(word)
    return stem if stem.isascii() else "".join(c for c in normalize("NFD", stem) if not combining(c))


def without_possessive(word: str) -> str:
    """Return a word without 's: a rule and no data, since names carry it in texts of every language."""
    return word.removesuffix("'s")


def is_question(text: str, lower: str, language: Language) -> bool:
    """Return whether the sentence asks: by its mark, or by how it begins where there is none."""
    return has_question_mark(text) or language.has("question", lower)


def has_question_mark(text: str) -> bool:
    """Return whether the text holds a question mark of any script."""
    return bool(_QUESTION_MARK.search(text))


def no_end(*, after_numbers: bool = False) -> str:
    """Return the pattern of a full stop that ends a sentence: not after a title of any language.

    Nor after a number of one or two digits, unless `after_numbers` says that the language writes no ordinals so.
    """
    titles = {title for language in Languages.load() for title in language.titles}
    return ("" if after_numbers else r"(?<!\b\d\.)(?<!\b\d\d\.)") + "".join(
        rf"(?<!\b{title}\.)" for title in sorted(titles)
    )


@lru_cache(maxsize=1)
def _ends() -> re.Pattern[str]:
    """Return what parts sentences. Whether there is a full stop at all is looked at first: most places have none."""
    return re.compile(_STOP + no_end() + _BEHIND_STOP)


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of a text, without code, links, bullets and quote marks, and whether each is a list item.

    At most 40, of at most 320 characters each.
    """
    count = 0
    for piece in _ends().split(_NOISE.sub(" ", clip(clean(text)))):
        plain = _BULLET.sub("", piece or "").strip()
        if not plain:
            continue
        yield plain[:MAX_SENTENCE_CHARS], _ITEM.match(piece) is not None
        count += 1
        if count == MAX_SENTENCES:
            return


def plain_sentence(text: str, language: Language) -> Sentence:
    """Return the sentence with its words and without signs."""
    lower = lowered(text)
    words: list[str] = []
    joined: list[bool] = []
    before = 0
    for match in _WORD.finditer(lower):
        start, end = match.span()
        word = without_elision(match[0], language) if "'" in match[0] else match[0]
        words.append(word)
        joined.append(len(word) == end - start and lower[before:start].isspace())
        before = end
    content = content_words(tuple(words), language)
    return Sentence(text, lower, tuple(words), tuple(joined), content, stems_of(content, language))
