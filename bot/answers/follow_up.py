"""What the assistant promises for a certain time is kept as a reminder of its own. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.answers.responder import Answer, Ask
from bot.reminders.rules import FOLLOW_UP, MAX_AHEAD_MS, insert_reminder
from memory.language.due_dates import find_due
from memory.language.intents import is_promise, read_sentences
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.sentences import Sentence
from memory.ports import Statement
from memory.state.loops import defers
from memory.types import CARE

MAX_PROMISES: Final = 2


def promises_in(ask: Ask, answer: Answer, languages: Languages) -> tuple[Language, list[Sentence]]:
    """Return the sentences of an answer that promise something for later, and their language.

    None of an answer that set a reminder, which has taken care of it already.
    """
    language = languages.detect(answer.text, ask.state.language or "en")
    if answer.job_refs or answer.action_name == CARE:
        return language, []
    return language, [
        sentence
        for sentence in read_sentences(answer.text, language)
        if not sentence.asks
        and (
            (is_promise(sentence, language) and language.has("later", sentence.lower)) or defers((sentence,), language)
        )
    ]


def with_follow_ups(ask: Ask, answer: Answer, languages: Languages) -> Answer:
    """Return the answer with a reminder for each promise in it that has a time to come ("I'll check tomorrow at 9").

    Committed with the turn; the same turn makes each once.
    """
    effects: list[Statement] = []
    language, promised = promises_in(ask, answer, languages)
    for sentence in promised:
        due = find_due(sentence.text, ask.now_ms, ask.time_zone, language)
        if due is None or not ask.now_ms < due.due_at_ms <= ask.now_ms + MAX_AHEAD_MS:
            continue
        effects.append(
            insert_reminder(
                f"{ask.turn_id}:{FOLLOW_UP}:{len(effects) + 1}",
                conversation_id=ask.conversation_id,
                session_id=ask.state.session_id,
                user_id=ask.user_id,
                turn_id=ask.turn_id,
                title=sentence.text,
                due_at_ms=due.due_at_ms,
                time_zone=ask.time_zone,
                now_ms=ask.now_ms,
                kind=FOLLOW_UP,
            )
        )
    return replace(answer, effects=(*answer.effects, *effects[:MAX_PROMISES])) if effects else answer
