"""What short words stand for: "yes", "why?", "the second one", "that task", "it". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.language.intents import read_sentences, reply_sign
from memory.language.language import Language
from memory.language.sentences import Sentence, clean, content_words, lowered, shorten, words_of
from memory.state.listed import shown_last
from memory.state.loops import alive, latest
from memory.types import PendingClarification, SessionState

MAX_ENTITIES = 12
MAX_OPTIONS = 8
MAX_OPTION_CHARS = 80
MAX_VALUE_CHARS = 300
MAX_QUESTION_WORDS = 8
"""A question up to this length may ask about the choices in the sentence before it."""
MAX_NAME_WORDS = 4
"""A reply up to this length may name one of the choices by a word of it."""
_NUMBERED = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*•]|[a-h]\))\s+(.+)$", re.MULTILINE)
_BARE_CHARS = " .,!?\u2026:;\"'()\u00bf\u00a1"


def options_of(question: str, reply: str, language: Language) -> tuple[str, ...]:
    """Return the choices that the question offers, in order: a list in the reply, or `A, B or C?`; else nothing."""
    listed = [shorten(item.strip("*_ "), MAX_OPTION_CHARS) for item in _NUMBERED.findall(reply[-4_000:])]
    if len(listed) > 1:
        return tuple(listed[:MAX_OPTIONS])
    found = _alternatives(question, language)
    if not found and len(question.split()) <= MAX_QUESTION_WORDS:
        found = _alternatives(_sentence_before(question, reply), language)
    return found


def _sentence_before(question: str, reply: str) -> str:
    before = reply[: max(0, reply.find(question))].rstrip()[-MAX_VALUE_CHARS:]
    return re.split(r"[.!?]\s+", before)[-1]


def _alternatives(text: str, language: Language) -> tuple[str, ...]:
    """Return the parts of `A, B or C`, each as long as the last; nothing without an "or"."""
    pattern = language.cues.get("choice_words")
    words = text.rstrip(" ?\uff1f\u061f!.")
    if pattern is None:
        return ()
    cuts = list(pattern.finditer(words.lower())) if len(words.lower()) == len(words) else []
    if not cuts:
        return ()
    left, right = words[: cuts[-1].start()], words[cuts[-1].end() :]
    parts = [part for part in re.split(r"[,:]\s+|\s[\u2013\u2014-]\s", left) if part.strip()]
    size = len(right.split())
    firsts = [" ".join(part.split()[-max(1, size) :]) for part in parts[-3:]] if len(parts) > 1 else [_tail(left, size)]
    if len(parts) > 1:
        firsts[0] = _tail(parts[-len(firsts)], size)
    return tuple(shorten(_plain(option, language), MAX_OPTION_CHARS) for option in (*firsts, right))


def _plain(option: str, language: Language) -> str:
    """Return the option without the small words before it: `For four` → `four`."""
    words = option.strip(_BARE_CHARS).split()
    while len(words) > 1 and lowered(words[0]) in language.stop_words:
        words = words[1:]
    return " ".join(words)


def _tail(text: str, size: int) -> str:
    return " ".join(text.split()[-max(1, size) :])


def _ordinal(sentence: Sentence, language: Language) -> tuple[str, int] | None:
    found = language.ordinal_pattern.search(sentence.lower)
    if not found:
        return None
    word = next(group for group in found.groups() if group)
    return found.group(), language.ordinals[word]


def _pick(items: Sequence[str], number: int) -> str | None:
    index = number - 1 if number > 0 else len(items) + number
    return items[index] if 0 <= index < len(items) else None


def _named_option(options: Sequence[str], text: str, language: Language) -> str | None:
    bare = text.lower().strip(_BARE_CHARS)
    hits = [option for option in options if bare and (bare in option.lower() or option.lower() in bare)]
    if not hits and len(bare.split()) <= MAX_NAME_WORDS:
        said = set(content_words(words_of(bare), language))
        hits = [option for option in options if said & set(words_of(lowered(option)))]
    return hits[0] if len(hits) == 1 else None


def resolve(state: SessionState, text: str, language: Language) -> dict[str, str]:
    """Return what the references of a message stand for, given the state before it.

    The values are loop ids, job ids, options offered, questions asked or turn ids. "yes", "no" → the question asked;
    "why?" → that question or the turn it comments on; "the second one" → the second choice offered, else the second
    line of the list shown last; "that task", "it" → the job or loop touched last. Empty when nothing refers.
    """
    sentences = read_sentences(clean(text), language)
    pending = state.pending_clarifications[-1] if state.pending_clarifications else None
    resolved: dict[str, str] = {}
    resolved |= _short_reply(state, sentences, pending, language)
    resolved |= _choice(state, sentences, pending, language)
    target = standing(state)
    if target:
        for sentence in sentences:
            for found in language.reference_pattern.finditer(sentence.lower):
                resolved.setdefault(found.group(), target)
    return {key: shorten(value, MAX_VALUE_CHARS) for key, value in list(resolved.items())[:MAX_ENTITIES]}


def _short_reply(
    state: SessionState, sentences: Sequence[Sentence], pending: PendingClarification | None, language: Language
) -> dict[str, str]:
    sign = reply_sign(tuple(sentences), language)
    if sign not in {"yes", "no", "why"}:
        return {}
    phrase = sentences[0].lower.strip(_BARE_CHARS)
    meant = pending.question if pending else (state.last_turn_id if sign == "why" else None)
    return {phrase: meant} if meant else {}


def _choice(
    state: SessionState, sentences: Sequence[Sentence], pending: PendingClarification | None, language: Language
) -> dict[str, str]:
    resolved: dict[str, str] = {}
    shown = shown_last(state)
    refs = [item.ref or item.text for item in shown] or [loop.loop_id for loop in alive(state.open_loops)]
    for sentence in sentences:
        named = _named_option(pending.options, sentence.text, language) if pending else None
        if named:
            resolved[sentence.lower.strip(_BARE_CHARS)] = named
            continue
        ordinal = _ordinal(sentence, language)
        if ordinal is None:
            continue
        picked = _pick(pending.options if pending and pending.options else refs, ordinal[1])
        if picked:
            resolved[ordinal[0]] = picked
    return resolved


def standing(state: SessionState) -> str | None:
    """Return what "that task" means without further words: the job of the last turn, else the loop touched last."""
    job = state.resolved_entities.get("that task")
    loop = latest(state.open_loops)
    if job and job in state.active_job_refs:
        return job
    return loop.loop_id if loop else None
