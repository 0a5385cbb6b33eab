"""What a sentence asks of somebody (request, promise, question, clarification) and the intent of a turn. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from memory.language.corrected import as_meant
from memory.language.errands import errands_of
from memory.language.language import Language
from memory.language.sentences import MAX_SENTENCES, Sentence, has_question_mark, is_question, pieces, plain_sentence
from memory.types import ResponseType

SHORT_REPLY_WORDS = 6
LEAD_CHARS = 25
"""How far into a sentence a request or promise may begin to be what the sentence is about."""


@dataclass(frozen=True, slots=True)
class TurnSigns:
    """What one turn is, before it is stored."""

    intent: str
    action_name: str | None
    response_type: ResponseType
    language: str


def sentence_signs(sentence: Sentence, language: Language) -> frozenset[str]:
    """Return which of request, commitment, question and clarification the sentence is; it may be several."""
    signs = set()
    if is_question(sentence.text, sentence.lower, language):
        signs.add("question")
    if any(language.has(cue, sentence.lower) for cue in ("request", "imperative", "proposal")) and (
        not language.has("not_a_request", sentence.lower)
    ):
        signs.add("request")
    if language.has("commitment", sentence.lower) or language.has("acceptance", sentence.lower):
        signs.add("commitment")
    if language.has("clarification", sentence.lower):
        signs.add("clarification")
    return frozenset(signs)


@lru_cache(maxsize=64)
def read_sentences(text: str, language: Language) -> tuple[Sentence, ...]:
    """Return the sentences of a text, as they are meant, with their signs, at most 40.

    Kept for a moment: a turn is read before it is stored and again when it is folded.
    """
    parts = (
        (part, listed) for piece, listed in pieces(as_meant(text, language)) for part in errands_of(piece, language)
    )
    plain = ((plain_sentence(part, language), listed) for part, listed in islice(parts, MAX_SENTENCES))
    return tuple(replace(s, signs=sentence_signs(s, language), listed=listed) for s, listed in plain)


def starts_with(cue: str, sentence: Sentence, language: Language) -> bool:
    """Return whether the sentence begins with a phrase of the cue."""
    pattern = language.cues.get(cue)
    found = pattern.match(sentence.lower) if pattern else None
    return found is not None


def is_short(sentences: tuple[Sentence, ...]) -> bool:
    """Return whether the text is a reply of at most six words, which means nothing by itself."""
    return 0 < sum(len(sentence.words) for sentence in sentences) <= SHORT_REPLY_WORDS


def reply_sign(sentences: tuple[Sentence, ...], language: Language) -> str | None:
    """Return `yes`, `no`, `why` or `choice` for a short reply that leans on what was said before, else None."""
    if not sentences or not is_short(sentences):
        return None
    first = sentences[0]
    bare = first.lower.strip(" .,!?\u2026:;)(\u00bf\u00a1")
    for sign in ("no", "yes"):
        if starts_with(sign, first, language) and (sign == "no" or not first.asks):
            return sign
    pattern = language.cues.get("why")
    if pattern and pattern.fullmatch(bare):
        return "why"
    chosen = language.ordinal_pattern.search(first.lower)
    if chosen and not first.asks and len(first.content) <= SHORT_REPLY_WORDS // 2:
        return "choice"
    return None


def action_of(sentences: tuple[Sentence, ...], language: Language) -> str | None:
    """Return the name of what is asked for (`remind`, `translate` …) or None when nothing is asked."""
    asked = [sentence for sentence in sentences if "request" in sentence.signs or sentence.asks]
    hits = [
        (found.start(), name)
        for sentence in asked[:3]
        for name, pattern in language.actions.items()
        if (found := pattern.search(sentence.lower))
    ]
    return min(hits)[1] if hits else None


_BY_CUE = (("thanks", "thanks"), ("goodbye", "goodbye"), ("greeting", "greeting"))


def intent_of(sentences: tuple[Sentence, ...], language: Language) -> str:
    """Return what the user's message does: request, question, promise, confirm, choose, done, greeting, … or chat."""
    if not sentences:
        return "chat"
    if sentences[0].text.startswith("/"):
        return "command"
    reply = reply_sign(sentences, language)
    if reply:
        return {"yes": "confirm", "no": "deny", "why": "clarify", "choice": "choose"}[reply]
    short = is_short(sentences)
    for cue, intent in _BY_CUE:
        if short and starts_with(cue, sentences[0], language):
            return intent
    return _intent_by_signs(sentences, language)


def _intent_by_signs(sentences: tuple[Sentence, ...], language: Language) -> str:
    signs = frozenset[str]().union(*(sentence.signs for sentence in sentences))
    rules: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("drop", lambda: any(calls_off(sentence, language) for sentence in sentences)),
        ("reminder", lambda: action_of(sentences, language) == "remind"),
        ("request", lambda: "request" in signs),
        ("question", lambda: "question" in signs),
        ("done", lambda: any(reports_done(sentence, language) for sentence in sentences)),
        ("promise", lambda: any(is_promise(sentence, language) for sentence in sentences)),
        ("statement", lambda: sum(len(sentence.content) for sentence in sentences) > 1),
    )
    return next((intent for intent, holds in rules if holds()), "chat")


def reports_done(sentence: Sentence, language: Language) -> bool:
    """Return whether the sentence says that something has been done (and not that it is still to do)."""
    return language.has("done", sentence.lower) and not sentence.asks and not language.has("not_yet", sentence.lower)


def is_promise(sentence: Sentence, language: Language) -> bool:
    """Return whether the speaker takes something upon himself, leaving out turns of phrase and suppositions."""
    if sentence.asks:
        return False
    found = [language.cues[cue].search(sentence.lower) for cue in ("commitment", "obligation") if cue in language.cues]
    starts = [match.start() for match in found if match]
    if not any(_leads(sentence.lower, start) or _joins(sentence.lower, start, language) for start in starts):
        return False
    return not (language.has("not_a_promise", sentence.lower) or _called_off(sentence, language))


def _called_off(sentence: Sentence, language: Language) -> bool:
    """Return whether the promise is taken back ("I don't need to … any more"), which "I must cancel the …" is not."""
    drop = language.cues["drop"].search(sentence.lower) if "drop" in language.cues else None
    if drop is None:
        return False
    found = [language.cues[cue].search(sentence.lower) for cue in ("obligation", "commitment") if cue in language.cues]
    return all(match.end() > drop.start() for match in found if match)


def calls_off(sentence: Sentence, language: Language) -> bool:
    """Return whether the sentence says that something is not wanted any longer."""
    return not sentence.asks and language.has("drop", sentence.lower) and not is_promise(sentence, language)


def tells_the_past(sentence: Sentence, language: Language) -> bool:
    """Return whether the sentence tells what the speaker did, which closes only what it names."""
    return language.has("past", sentence.lower) and not sentence.asks and not language.has("not_yet", sentence.lower)


def is_request(sentence: Sentence, language: Language) -> bool:
    """Return whether somebody is asked to do something, not only asked or proposed."""
    if language.has("not_a_request", sentence.lower):
        return False
    if language.has("imperative", sentence.lower):
        return True
    found = language.cues["request"].search(sentence.lower) if "request" in language.cues else None
    return found is not None and (sentence.asks or _leads(sentence.lower, found.start()))


def _leads(lower: str, start: int) -> bool:
    """Return whether what begins there is a main thing said: near the beginning or behind a comma."""
    return start <= LEAD_CHARS or lower[:start].rstrip()[-1:] in {",", ";", ":", "-", "\u2013", "\u2014"}


def _joins(lower: str, start: int, language: Language) -> bool:
    """Return whether what begins there follows an "and"."""
    return language.has("joining", lower[:start].rstrip().rsplit(" ", 1)[-1])


def is_offer(sentence: Sentence, language: Language) -> bool:
    """Return whether the question offers to do something."""
    return sentence.asks and language.has("offer", sentence.lower)


def response_type_of(sentences: tuple[Sentence, ...], language: Language) -> ResponseType:
    """Return what the assistant's reply is: error, refusal, question, action, confirmation, answer; `none` if empty."""
    if not sentences:
        return "none"
    head = sentences[:3]
    short = sum(len(sentence.words) for sentence in sentences) <= 2 * SHORT_REPLY_WORDS
    first = sentences[0]
    rules: tuple[tuple[ResponseType, Callable[[], bool]], ...] = (
        ("error", lambda: any(language.has("error", sentence.lower) for sentence in head)),
        ("refusal", lambda: any(language.has("refusal", sentence.lower) for sentence in head)),
        ("question", lambda: bool(asked_at_the_end(sentences, language))),
        ("action", lambda: any(language.has("action_report", sentence.lower) for sentence in head)),
        ("confirmation", lambda: short and (starts_with("yes", first, language) or is_promise(first, language))),
    )
    return next((kind for kind, holds in rules if holds()), "answer")


def asked_at_the_end(sentences: tuple[Sentence, ...], language: Language) -> tuple[Sentence, ...]:
    """Return the questions with which a reply ends and that wait for an answer; courtesies do not.

    Choices listed behind the question and a "let me know" do not take the last word from it; anything else does.
    """
    asked: list[Sentence] = []
    for sentence in reversed(sentences):
        question = has_question_mark(sentence.text)
        if question and not language.has("courtesy_question", sentence.lower):
            asked.append(sentence)
        if not question and (asked or not (sentence.listed or language.has("request", sentence.lower))):
            break
    return tuple(reversed(asked[:3]))
