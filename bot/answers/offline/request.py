"""What a message wants of the offline concierge, read from its words alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bot.answers.offline.words import Words, about, words_of
from memory.language.intents import (
    intent_of,
    is_request,
    is_short,
    read_sentences,
    reply_sign,
    reports_done,
    starts_with,
)
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.momentary import is_only_momentary
from memory.language.sentences import Sentence, clean, has_question_mark, lowered, plain_sentence

Kind = Literal[
    "who", "my_name", "help", "greeting", "here", "how_are_you", "thanks", "goodbye", "good_night", "laughs",
    "wordless", "open", "decided", "talked", "summarize", "know_all", "know",
    "clock", "connect", "insult", "yes", "no", "why", "choice",
    "done", "drop", "forget", "undo", "forget_all", "remind", "task", "question", "tell",
]  # fmt: skip
Span = Literal["", "today", "before"]

_QUESTIONS: Final[tuple[Kind, ...]] = (
    "undo", "insult", "who", "my_name", "help", "forget_all", "open", "decided", "summarize", "know_all", "talked",
    "clock", "connect", "know", "here", "how_are_you",
)  # fmt: skip
_COURTESIES: Final[tuple[tuple[str, Kind], ...]] = (
    ("thanks", "thanks"),
    ("goodbye", "goodbye"),
    ("greeting", "greeting"),
)
_REPLIES: Final[dict[str, Kind]] = {"yes": "yes", "no": "no", "why": "why", "choice": "choice"}
_NODS: Final[dict[str, Kind]] = {"yes": "yes", "no": "no"}
"""What may be said with a laugh: "lol ok"."""
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
ENDS: Final = " .!?…,;:\u00bf\u00a1\"'()"
MEDIA: Final = re.compile(r"^\[[a-z_]+\] ")
"""How a caption begins: the kind of what came with it, as intake writes it."""
MAX_ABOUT_CHARS: Final = 120
LONGEST_TAKEN_BACK: Final = 9
"""Words of a message that takes a report back."""
MIN_CONTENT_TOLD: Final = 2
"""With so many words that mean something, who laughs tells something: "i hate doing laundry lol"."""
LONGEST_NOD: Final = 3
"""Words of a "yes" or "no" that says nothing else."""
_DRAWN_OUT: Final = re.compile(r"\b([^\W\d_])\1+\b|([^\W\d_])\2{2,}")
"""Letters that are drawn out ("heyyy", "holaaa"); "kkkk" is a word of its own."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a message wants, about what, and in which language it was put."""

    kind: Kind
    about: str = ""
    span: Span = ""
    language: str = "en"
    tells: bool = False
    """True when the message also states something beside what it asks."""

    @property
    def share(self) -> float:
        """How much of the topic has to be named by what is shown: a free question brings words that matter less."""
        return 0.5 if self.kind in {"question", "task"} else 0.0


def read_request(
    text: str, languages: Languages, *, expected: bool = False, fallback: str = "en", talking: bool = False
) -> Request:
    """Return what the message wants; never raises.

    `expected`: a question of ours is waiting, so that a short reply answers it. `fallback` is the language of a text
    too short to tell, e.g. that of the turn before. `talking`: the talk goes on, so that "boa noite" ends it.
    """
    text = MEDIA.sub("", clean(text)).lstrip("\u00bf\u00a1 ")
    text = _DRAWN_OUT.sub(lambda run: run[2] or run[0], text) if len(text.split()) <= LONGEST_NOD else text
    language = languages.detect(text, default=fallback)
    words = words_of(language.code)
    sentences = read_sentences(text, language)
    if not any(sentence.words for sentence in sentences):
        return Request("wordless", language=language.code)
    asked = _asked(sentences, words, language)
    if asked:
        return asked
    if _says_good_night(sentences, words, language, talking=talking):
        return Request("good_night", language=language.code)
    sentences = behind_courtesies(sentences, language)
    kind = _short(sentences, words, language, expected=expected) or _longer(sentences, words, language)
    topic = _topic(kind, sentences, words, language)[:MAX_ABOUT_CHARS]
    return Request(kind, topic, language=language.code, tells=kind in {"tell", "done", "drop"})


def takes_back(text: str, ended: str, language: Language) -> bool:
    """Return whether a message says of what was just reported as done that it is not: "oh no, not yet".

    It speaks of nothing but that: `ended` are the words of what the report ended. Behind a "no", or in a few words,
    one more may say what was not done.
    """
    plain = lowered(MEDIA.sub("", clean(text)))
    lower = language.mended(plain)
    found = words_of(language.code).asked("not_yet", lower)
    if found is None or len(lower.split()) > LONGEST_TAKEN_BACK or has_question_mark(text):
        return False
    rest = lower[: found.start()] + " " + lower[found.end() :]
    retracts = [language.cues[cue] for cue in ("no", "correct", "self_corrects") if cue in language.cues]
    leads = any(cue.match(plain) for cue in retracts) or len(lower.split()) <= LONGEST_NOD
    for cue in retracts:
        rest = cue.sub(" ", rest)
    about = plain_sentence(rest, language).stems - plain_sentence(language.mended(lowered(ended)), language).stems
    return len(about) <= leads


def behind_courtesies(sentences: tuple[Sentence, ...], language: Language) -> tuple[Sentence, ...]:
    """Return the sentences without a "hi again" or "thanks" in front of what is said."""
    first, *rest = sentences
    polite = is_short((first,)) and not first.asks and any(starts_with(cue, first, language) for cue, _ in _COURTESIES)
    return behind_courtesies(tuple(rest), language) if polite and any(each.words for each in rest) else sentences


def _asked(sentences: tuple[Sentence, ...], words: Words, language: Language) -> Request | None:
    """Return the last thing that is asked for in words of ours, None when nothing is."""
    for sentence in reversed(sentences):
        bare = sentence.lower.strip(ENDS)
        mended = language.mended(bare)
        text = sentence.text.strip(ENDS)
        for kind in _QUESTIONS:
            found = words.asked(kind, bare) or words.asked(kind, mended)
            if kind != "forget_all" and language.has("forget", bare):
                continue  # "forget what I said about Tom"
            if found is None or (kind == "know" and words.asked("remember", bare)):
                continue
            topic = about(found, text if len(text) == len(found.string) else "")[:MAX_ABOUT_CHARS]
            if kind == "know" and (not topic or words.reads("nobody_else", topic.lower())):
                kind = "know_all"  # noqa: PLW2901 - "what do you know about me"
            span: Span = "before" if words.asked("before", bare) else "today" if words.asked("today", bare) else ""
            return Request(kind, topic, span, language.code, tells=len(sentences) > 1)
    return None


def _says_good_night(sentences: tuple[Sentence, ...], words: Words, language: Language, *, talking: bool) -> bool:
    """Return whether a message of a few words ends the day, and tells nothing beside that."""
    lower = " ".join(sentence.lower for sentence in sentences)
    found = words.asked("night", lower) or (words.asked("evening", lower) if talking else None)
    if found is None or not is_short(sentences):
        return False
    return not sentences[-1].asks and len(plain_sentence(lower[found.end() :], language).content) < MIN_CONTENT_TOLD


def _short(sentences: tuple[Sentence, ...], words: Words, language: Language, *, expected: bool) -> Kind | None:
    """Return what a message of a few words is, None for a longer one."""
    if not is_short(sentences):
        return None
    first = sentences[0]
    laughs = words.asked("laughs", first.lower)
    if laughs:
        rest = plain_sentence(first.lower.replace(laughs.group(), " ").strip(ENDS), language)
        if len(rest.content) < MIN_CONTENT_TOLD:
            return _NODS.get(reply_sign((rest,), language) or "", "laughs")
    for cue, kind in _COURTESIES:
        if starts_with(cue, first, language) and not first.asks:
            return kind
    return _reply(reply_sign(sentences, language), first, expected=expected)


def _reply(sign: str | None, first: Sentence, *, expected: bool) -> Kind | None:
    """Return the short reply; what says more than that, and answers no question of ours, is a statement."""
    says_more = len(first.content) > 1 or (first.content and len(first.words) > LONGEST_NOD)
    if sign is None or (sign != "why" and not expected and says_more):
        return None
    return _REPLIES[sign]


def _longer(sentences: tuple[Sentence, ...], words: Words, language: Language) -> Kind:
    intent = intent_of(sentences, language)
    asks = sentences[-1].asks and not is_request(sentences[-1], language)
    kinds: tuple[tuple[Kind, bool], ...] = (
        ("forget", any(language.has("forget", s.lower) for s in sentences)),
        ("drop", any(language.has("drop", s.lower) and not s.asks for s in sentences)),
        ("done", any(reports_done(s, language) for s in sentences)),
        ("remind", intent == "reminder"),
        ("tell", any(words.asked("remember", s.lower) for s in sentences)),
        ("question", asks),
        ("tell", is_only_momentary(" ".join(each.text for each in sentences), language)),
        ("task", intent == "request"),
    )
    return next((kind for kind, holds in kinds if holds), "tell")


def _topic(kind: Kind, sentences: tuple[Sentence, ...], words: Words, language: Language) -> str:
    if kind == "forget":
        return next(filter(None, (_to_forget(sentence, words, language) for sentence in sentences)), "")
    if kind in {"question", "task"}:
        return " ".join(as_written(sentences[-1], sentences[-1].content))
    return ""


def _to_forget(sentence: Sentence, words: Words, language: Language) -> str:
    """Return what is to be forgotten, from its first word that means something to its last: "vegetarian"."""
    asked = language.cues["forget"].search(sentence.lower) if "forget" in language.cues else None
    if asked is None or len(sentence.lower) != len(sentence.text):
        return ""
    text = sentence.text[asked.end() :].strip(ENDS)
    told = words.asked("forget", lowered(text))
    text = about(told, text) if told else text
    meant = [found for found in _WORD.finditer(text) if lowered(found.group()) in sentence.content]
    return text[meant[0].start() : meant[-1].end()] if meant else text


def as_written(sentence: Sentence, wanted: Sequence[str]) -> list[str]:
    """Return words of a sentence with their capitals, each once."""
    written = {word.lower(): word for word in reversed(_WORD.findall(sentence.text))}
    return [written.get(word, word) for word in dict.fromkeys(wanted)]
