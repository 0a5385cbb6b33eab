"""Text without a language: made storable, cut to a length, parted into sentences and words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final
from unicodedata import combining, normalize

HEAD_CHARS: Final = 1_600
TAIL_CHARS: Final = 800
MAX_SENTENCES: Final = 40
MAX_SENTENCE_CHARS: Final = 320
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_HIDDEN = re.compile("(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{4,6}\U000e007f)|[\U000e0000-\U000e007f]")
"""Tag characters: a copy of ASCII that no screen shows, for flags such as Scotland's, and that models read."""
_NOISE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|www\.\S+", re.DOTALL)
_STOP = re.compile(
    "[.!?\u2026]+[\"')\\]\u00bb\u201d\u2019*_]*(?=\\s)"
    "|[\u3002\uff01\uff1f\uff1b\u061f\u0964]+[\"')\u300d\u300f\uff09\u201d]*|\\n\\s*"
    "|([.!?\u2026]+)"
)
"""Ends of sentences, in any script: a stop before a space, a full-width stop, the end of a line.

Stops that end none are the group: a long run of them is read once, not again from each of its stops."""
_LAST_WORD = re.compile("[^\\s(\\[\"'\u201e\u201c\u00ab\u201a]*\\Z")
_LOOK_BACK: Final = 24
_PARTS = re.compile(r"\d{1,2}(?:(?:\.|\.?[/\u2013-])\d{1,2})*|(?:[^\W\d_]{1,3}\.)+[^\W\d_]{1,3}|[^\W\d_]")
"""Words whose full stop ends no sentence: days ("am 12. Mai", "11.12.", "5./6."), letters with stops ("z.B."), one
letter."""
_TITLE_CHARS: Final = 4
"""A word of so few letters with a capital is mostly a title ("Ms. Lindqvist")."""
_SHORTENED = re.compile(
    "abs|approx|av|avda|bd|bzgl|bzw|ca|cap|cf|dott|dr|dra|env|evtl|fig|ggf|hr|incl|inkl|jr|lt|max|min|mio|mlle|mme|mr|mrd|mrs|"
    "ms|nr|num|n\xfam|pag|p\xe1g|pp|prof|profa|ref|rev|sig|sog|sr|sra|std|str|tel|t\xe9l|tgl|vgl|vol|vs|zzgl|"
    "\u0433\u0433|\u0434\u043e\u043a|\u043d\u0430\u043f\u0440|\u043f\u0440\u0438\u043c|\u043f\u0440\u043e\u0444|\u0440\u0438\u0441|"
    "\u0440\u0443\u0431|\u0441\u043c|\u0441\u0442\u0440|\u0442\u0435\u043b|\u0442\u044b\u0441|\u0443\u043b",
    re.IGNORECASE,
)
"""Words that are written short, in the languages that the search knows. Where one stands at the end of a sentence the
next one stays with it; one that is missing here cuts a sentence in its middle."""
_BULLET = re.compile("^\\s*(?:[-*\u2022\u2013\u2014]\\s+|\\d{1,2}[.)]\\s+|[a-dA-D]\\)\\s+|>+\\s*|#+\\s+)+")
_CLAUSES: Final = (", ", "; ", ": ", ". ", "! ", "? ", " \u2013 ", " (")
_NEAR: Final = 2 / 3
"""A clause that ends before so much of what there is room for leaves too little."""
_LITTLE: Final = 3
"""Letters of a word that opens a phrase in most languages: `for the`, `mit dem`, `de la`."""
_LOOSE: Final = " ,;:.!?\u2013("
_WORD = re.compile(r"[^\W_]+(?:['\u2019\-][^\W_]+)*")
_QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f")
_CLOSING: Final = " \t\n\"')]*_\u00bb\u201d"
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω][\w'\u2019-]+")


def clean(text: str) -> str:
    """The text as JSON and databases take it: no NUL, halves of one character joined, a lone half as U+FFFD.

    Tag characters go too: the person who pasted them could not see them, and a model would read them.
    """
    if text.isascii() and "\x00" not in text:
        return text
    text = _HIDDEN.sub(r"\1", text)
    if not _UNSTORABLE.search(text):
        return text
    return text.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clip(text: str, head: int = HEAD_CHARS, tail: int = TAIL_CHARS) -> str:
    """The text, or its beginning and its end when it is longer than both together."""
    return text if len(text) <= head + tail else f"{text[:head]}\n{text[-tail:]}"


def shorten(text: str, limit: int) -> str:
    """The text on one line, at most `limit` characters: cut at a clause's end where one is near, else at a word.

    Not behind a little word, which belongs to what follows: `The tiers of the cake…`, never `… the cake for…`.
    """
    line = unbroken(text)
    if len(line) <= limit:
        return line
    head = line[:limit].rpartition(" ")[0]
    head = head if len(head) > limit // 2 else line[: limit - 1]
    clause = max(f"{head} ".rfind(mark) for mark in _CLAUSES)
    head = head[:clause] if clause > len(head) * _NEAR else head
    while " " in head and (last := head.rsplit(" ", 1)[1]).islower() and len(last) <= _LITTLE:
        head = head.rsplit(" ", 1)[0]
    return head.rstrip(_LOOSE) + "…"


def lowered(text: str) -> str:
    """The text in lower case with straight apostrophes."""
    return text.lower().replace("\u2019", "'").replace("\u02bc", "'")


def folded(text: str) -> str:
    """The text in small letters without accents: `Alérgico` → `alergico`."""
    return "".join(letter for letter in normalize("NFKD", text.casefold()) if not combining(letter))


def words_of(lower: str) -> tuple[str, ...]:
    """The words of a lower-cased text in order."""
    return tuple(_WORD.findall(lower))


def asks_at_the_end(text: str) -> bool:
    """Whether the last sentence ends in a question mark of any script (002: then a clarification is pending)."""
    return text.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def has_question_mark(text: str) -> bool:
    """Whether the text holds a question mark of any script."""
    return any(mark in text for mark in _QUESTION_MARKS)


def sentence_ends(text: str, start: int = 0, stop: int | None = None) -> Iterator[int]:
    """The ends of sentences within a text, behind their stops; none where it is not sure.

    >>> list(sentence_ends("Call Dr. Li on 11.12. at 9 a.m. or so. Bye."))
    [38]
    """
    for found in _STOP.finditer(text, start, len(text) if stop is None else stop):
        if not found[1] and (found[0] != "." or not _is_part(text, found.start())):
            yield found.end()


def _is_part(text: str, at: int) -> bool:
    """Whether the full stop at this place belongs to the word before it."""
    found = _LAST_WORD.search(text, max(0, at - _LOOK_BACK), at)
    word = found[0] if found else ""
    is_title = len(word) <= _TITLE_CHARS and word.isalpha() and word[0].isupper()
    return is_title or bool(_PARTS.fullmatch(word) or _SHORTENED.fullmatch(word))


def whole_sentences(text: str) -> list[str]:
    """The sentences of a text, unchanged."""
    ends = [0, *sentence_ends(text), len(text)]
    return [piece for start, end in pairwise(ends) if (piece := text[start:end].strip())]


def first_sentences(text: str, most: int) -> str:
    """The first sentences of a text, whole, in so many characters; of one that is longer its beginning.

    >>> first_sentences("We paid it. The rest is due in May.", 20)
    'We paid it.'
    """
    kept = ""
    for each in whole_sentences(text):
        if kept and len(kept) + 1 + len(each) > most:
            break
        kept = f"{kept} {each}".lstrip()
    if len(kept) <= most:
        return kept
    head = kept[: max(0, most - len(" …"))]
    return f"{head[: head.rfind(' ') if ' ' in head else None]} …"[: max(0, most)]


def last_sentences(text: str, most: int) -> str:
    """The last sentences of a text, in so many characters; of one that is longer its end."""
    kept = ""
    for each in reversed(whole_sentences(text)):
        if kept and len(each) + 1 + len(kept) > most:
            break
        kept = f"{each} {kept}".rstrip()
    return kept if len(kept) <= most else f"… {kept[-most:].split(maxsplit=1)[-1]}"


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text without code, links and bullets: at most 40, of at most 320 characters each."""
    count = 0
    for piece in whole_sentences(_NOISE.sub(" ", clip(clean(text)))):
        plain = _BULLET.sub("", piece).strip()
        if not plain:
            continue
        yield plain[:MAX_SENTENCE_CHARS]
        count += 1
        if count == MAX_SENTENCES:
            return


def specific_words(sentence: str) -> frozenset[str]:
    """The names and the words with digits: two sentences that differ in one of them say different things."""
    numbers = (word.strip(".,;:!?") for word in sentence.split() if _NUMBER.search(word))
    return frozenset((*_NAME.findall(sentence), *numbers))


def specifics(sentence: str) -> int:
    """The weight of the numbers and names in a sentence, which nobody can reconstruct from the gist.

    >>> specifics("We meet Anna at 9")
    3
    """
    return len(_NUMBER.findall(sentence)[:4]) + 2 * len(_NAME.findall(sentence)[:4])


def unbroken(text: str) -> str:
    """The text without breaks."""
    return " ".join(text.split())


def on_one_line(text: str, most: int) -> str:
    """A text on one line, cut at the end of a word where it is too long."""
    line = unbroken(text)
    if len(line) <= most:
        return line
    head = line[: most - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[most // 2 :] else head).rstrip(" ,;:-") + "…"
