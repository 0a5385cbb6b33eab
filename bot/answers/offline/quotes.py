"""What was said about a topic, a sentence of each turn, to be quoted in an answer. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.answers.offline.material import Quote
from bot.answers.offline.notes import named, stems
from bot.answers.offline.request import read_request
from bot.answers.offline.words import words_of
from memory.language.intents import read_sentences
from memory.language.languages import Languages
from memory.types import ConversationTurn

MAX_QUOTES: Final = 6
_STATED: Final = frozenset({"tell", "done", "drop", "remind", "yes", "no"})
"""Kinds of messages whose words are worth quoting; questions to the concierge are not."""


def quotes_of(
    turns: Iterable[ConversationTurn],
    topic: str,
    code: str,
    user_id: int | None,
    languages: Languages,
    *,
    share: float = 0.0,
) -> tuple[Quote, ...]:
    """Return the sentence of each turn that says most about the topic, the turns' order kept, each sentence once.

    `share` of the topic's words must be named at least, one of them always. Messages that only asked the concierge
    something are left out, and so is what it answered.
    """
    wanted = stems(topic, code)
    quotes: dict[str, Quote] = {}
    for turn in turns:
        if turn.unfiled:
            continue
        sides = [(turn.user_text, "user" if turn.user_id == user_id else "other")]
        if turn.authored is None:
            sides.append((turn.assistant_text, "assistant"))
        elif read_request(turn.user_text, languages).kind not in _STATED:
            continue
        best = max((_best(text, who, turn, wanted, languages) for text, who in sides), key=lambda found: found[0])
        if best[0] >= max(1, share * len(wanted)):
            quotes.setdefault(best[1].text.lower(), best[1])
    return tuple(list(quotes.values())[:MAX_QUOTES])


def _best(
    text: str, who: str, turn: ConversationTurn, wanted: frozenset[str], languages: Languages
) -> tuple[float, Quote]:
    language = languages.get(turn.language) if turn.language else languages.detect(text)
    said = read_sentences(text, language)
    scored = [
        (len(wanted & named(sentence.text, words_of(language.code))), -number) for number, sentence in enumerate(said)
    ]
    score, place = max(scored, default=(0, 0))
    best, behind = (*(sentence.text for sentence in said[-place : 2 - place]), "", "")[:2]
    needed = 1 if who != "assistant" else max(1, (len(wanted) + 1) // 2)
    return (score if score >= needed else 0), Quote(
        best, turn.created_at_ms, who, turn.turn_id, language.code, behind=behind
    )
