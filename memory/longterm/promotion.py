"""From the session to long-term memory: facts, preferences and decisions, and which are worth keeping. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from memory.language.corrected import as_meant
from memory.language.language import FactRule, Language
from memory.language.languages import Languages
from memory.language.names import WHO, name_of
from memory.language.sentences import (
    clean,
    content_words,
    has_question_mark,
    lowered,
    pieces,
    shorten,
    stems_of,
    words_of,
)
from memory.types import ConversationTurn, Memory, MemoryCandidate, MemoryKind

WORTHY = 0.5
"""A candidate below this score is noise."""
SUPPOSED = 0.5
"""What a supposition ("if", "maybe") costs."""
VAGUE = 0.3
"""What a long value costs."""
LONG_VALUE_WORDS = 14
MAX_TEXT_CHARS = 240
MAX_PER_TURN = 5
MAX_SUBJECT_WORDS = 3
SAME_WORDS = 0.85
_NOT_A_WORD = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class PromotionDecision:
    """What becomes of a candidate, why, and which memories it replaces."""

    action: Literal["write", "skip", "supersede"]
    reason: str
    superseded: tuple[str, ...] = ()


def candidates(turn: ConversationTurn, languages: Languages) -> list[MemoryCandidate]:
    """Return the facts, preferences and decisions that the user states in the turn, at most five.

    Only the user's own words count: nothing from forwarded or quoted text, from questions, from what is to be forgotten
    or from the assistant. Each text is one sentence in the user's words; the subject is normalised, so that a newer
    value competes with the older.
    """
    if turn.third_party or turn.unfiled:
        return []
    language = languages.get(turn.language) if turn.language else languages.detect(turn.user_text)
    found: dict[str, MemoryCandidate] = {}
    for sentence, _ in pieces(as_meant(turn.user_text, language)):
        lower = lowered(sentence)
        if has_question_mark(sentence) or language.has("question", lower) or language.has("forget", lower):
            continue
        for candidate in _from_sentence(sentence, turn, language):
            known = found.get(candidate.subject)
            if known is None or candidate.score > known.score:
                found[candidate.subject] = candidate
    return list(found.values())[:MAX_PER_TURN]


def _from_sentence(sentence: str, turn: ConversationTurn, language: Language) -> Iterator[MemoryCandidate]:
    plain = sentence.replace("\u2019", "'")
    taken: list[tuple[int, int]] = []
    for rule in language.facts:
        found = rule.pattern.search(plain)
        if not found or any(start < found.end() and found.start() < end for start, end in taken):
            continue
        subject = _subject(rule, found, language)
        if subject is None:
            continue
        taken.append(found.span())
        text = shorten(clean(found.group()), MAX_TEXT_CHARS)
        yield MemoryCandidate(
            kind=cast("MemoryKind", rule.kind),
            subject=subject,
            text=text[:1].upper() + text[1:],
            score=_score(rule, plain, found.group("value"), language),
            turn_id=turn.turn_id,
            session_id=turn.session_id,
            at_ms=turn.created_at_ms,
        )


def _subject(rule: FactRule, found: re.Match[str], language: Language) -> str | None:
    """Return the normalised subject, or None when the value says nothing ("I like it") or is no name."""
    value = content_words(words_of(lowered(found.group("value"))), language)
    digits = any(ch.isdigit() for ch in found.group("value"))
    if (not value and not digits) or (rule.subject == WHO and not name_of(found.group("value"), language)):
        return None
    groups = {name: _slug(text) for name, text in found.groupdict().items() if text}
    groups["value"] = _value_slug(value, found.group("value"), language)
    return rule.subject.format_map(groups)


def _slug(text: str) -> str:
    return _NOT_A_WORD.sub("_", lowered(text)).strip("_")


def _value_slug(words: tuple[str, ...], raw: str, language: Language) -> str:
    if not words:
        return _slug(raw)[:40]
    return "_".join(sorted(stems_of(words[:MAX_SUBJECT_WORDS], language)))


def _score(rule: FactRule, sentence: str, value: str, language: Language) -> float:
    score = rule.score
    if language.has("hypothetical", lowered(sentence)):
        score -= SUPPOSED
    if len(value.split()) > LONG_VALUE_WORDS:
        score -= VAGUE
    return round(max(score, 0.0), 3)


def write_if_worthy(
    candidate: MemoryCandidate, existing: Sequence[Memory], later_turn_ids: Collection[str] = ()
) -> PromotionDecision:
    """Decide about a candidate: write it, skip it as noise or as known, or let it take the place of an older value.

    `existing` are the memories of the same person; superseded ones are ignored. Memories of the same subject with
    another value are superseded and keep their own provenance, unless they were said in one of `later_turn_ids`: turns
    that were stored after the candidate's. No clock is asked: it may have jumped.
    """
    if candidate.score < WORTHY:
        return PromotionDecision("skip", f"noise: score {candidate.score:.2f} is under {WORTHY:.2f}")
    active = [memory for memory in existing if memory.status == "active"]
    same = next((memory for memory in active if _says_the_same(candidate.text, memory.text)), None)
    if same is not None:
        return PromotionDecision("skip", f"known already as {same.memory_id}")
    rivals = [memory for memory in active if memory.subject == candidate.subject]
    newer = next((memory for memory in rivals if memory.turn_id in later_turn_ids), None)
    if newer is not None:
        return PromotionDecision("skip", f"older than {newer.memory_id} about {candidate.subject}")
    if rivals:
        ids = tuple(memory.memory_id for memory in rivals)
        return PromotionDecision("supersede", f"newer value of {candidate.subject}", ids)
    return PromotionDecision("write", f"new: {candidate.subject}")


def _says_the_same(left: str, right: str) -> bool:
    one, other = set(words_of(lowered(left))), set(words_of(lowered(right)))
    return bool(one and other) and len(one & other) / len(one | other) >= SAME_WORDS
