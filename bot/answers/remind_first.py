"""Reminders in plain words: recognised before any model is asked, so that they are set at once and for nothing."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Final

from bot import replies
from bot.answers.responder import Answer, Ask, Responder, Show
from bot.delivery.outbox import Button
from bot.reminders.rules import MAX_AHEAD_MS, insert_job, job_id_of, when_text
from memory.language import due_dates
from memory.language.due_dates import Reminder, parse_when, reminder
from memory.language.intents import is_request, read_sentences, starts_with
from memory.language.languages import Language, Languages
from memory.language.sentences import Sentence
from memory.types import ConversationTurn

MAX_CHARS: Final = 400
MAX_WHAT_WORDS: Final = 25
ASIDE_WORDS: Final = 2
"""A sentence beside the reminder that is no longer than this ("Hi!", "Thank you") needs no answer of its own."""
REMIND: Final = "remind"
ASK_WHEN: Final = "remind_when"
ASK_WHAT: Final = "remind_what"
_NEGATIONS: Final = frozenset({"don't", "dont", "not", "never", "no", "не", "nicht", "não", "ne", "nunca"})
_REPEATING: Final = re.compile(
    r"(?<!\w)(?:every|each|daily|weekly|monthly|jede[nrs]?|täglich|каждый|каждую|каждое|cada|todos|todas|tous|toutes"
    r"|chaque)(?!\w)"
)


def asked_for(text: str, now_ms: int, zone: str, language: Language) -> Reminder | None:
    """Return the reminder that a message asks for, None when it asks for none or calls one off.

    `due_at_ms` is None when no time was understood, `what` is empty when nothing else was said. Never raises.
    """
    if len(text) > MAX_CHARS:
        return None
    sentences = read_sentences(text, language)
    asking = [s for s in sentences if reminder(s.text, now_ms, zone, language) is not None]
    if len(asking) != 1:
        return None
    found = reminder(asking[0].text, now_ms, zone, language)
    if found is None or _is_not_one(asking[0], found.what, language):
        return None
    if (found.due_at_ms is None or not found.what) and len(sentences) > 1:
        found = reminder(text, now_ms, zone, language)  # "Remind me tomorrow at 9. Call Ana"
    if found is None or (found.due_at_ms is None and _is_about_the_past(found.what, language)):
        return None
    too_far = found.due_at_ms is not None and found.due_at_ms > now_ms + MAX_AHEAD_MS
    return Reminder(None, found.what) if too_far else found


def _is_not_one(sentence: Sentence, what: str, language: Language) -> bool:
    """Return whether it is negated (unlike "don't let me forget"), asks about a reminder, or calls one off."""
    called_off = bool(_NEGATIONS & set(sentence.lower.split()[:2]) & set(what.lower().split()[:2]))
    asks_about = sentence.asks and not is_request(sentence, language)
    return called_off or asks_about or language.has("drop", sentence.lower)


def _is_about_the_past(what: str, language: Language) -> bool:
    """Return whether it only wants to know again: "remind me what we said"."""
    told = read_sentences(what, language)
    return bool(told) and (told[0].asks or starts_with("question", told[0], language))


def stands_alone(text: str, found: Reminder, now_ms: int, zone: str, language: Language) -> bool:
    """Return whether the message is a whole reminder and nothing else, so that no model has to see it."""
    if found.due_at_ms is None or not found.what or repeats(text) or len(found.what.split()) > MAX_WHAT_WORDS:
        return False
    others = [s for s in read_sentences(text, language) if reminder(s.text, now_ms, zone, language) is None]
    return "?" not in found.what and all(len(other.words) <= ASIDE_WORDS for other in others)


def completed(last: ConversationTurn | None, text: str, now_ms: int, zone: str, language: Language) -> Reminder | None:
    """Return the reminder that this answer to our own question ("When?", "What about?") completes, or None."""
    if last is None or last.action_name not in (ASK_WHEN, ASK_WHAT):
        return None
    begun = asked_for(last.user_text, last.created_at_ms, zone, language)
    if begun is None:
        return None
    if last.action_name == ASK_WHAT:
        fits = begun.due_at_ms is not None and begun.due_at_ms > now_ms and len(text) <= MAX_CHARS
        return Reminder(begun.due_at_ms, text.strip()) if fits else None
    timed = parse_when(text, now_ms, zone, language)
    return Reminder(timed[0], begun.what or timed[1]) if timed else None


def repeats(text: str) -> bool:
    """Return whether it shall come again and again, which is not to be had yet."""
    return _REPEATING.search(text.lower()) is not None


def set_text(found: Reminder, now_ms: int, zone: str, *, once_only: bool, zone_chosen: bool) -> str:
    """Return the confirmation: what, and when by whose clock."""
    when = when_text(found.due_at_ms or now_ms, now_ms, zone)
    lines = [replies.REMIND_SET.format(when=when, zone=zone, title=found.what)]
    if once_only:
        lines.append(replies.REMIND_ONCE)
    if not zone_chosen:
        lines.append(replies.REMIND_ZONE_HINT.format(zone=zone))
    return "\n".join(lines)


def undo_button(job_id: str) -> tuple[tuple[Button, ...], ...]:
    """Return [Change my mind]."""
    return ((Button(replies.JOB_UNDO, "job_cancel", {"job_id": job_id}),),)


def reminder_answer(ask: Ask, found: Reminder) -> Answer:
    """Return the answer that sets a reminder in the same commit as its turn."""
    call_key = f"{ask.turn_id}:{REMIND}"
    effect = insert_job(
        call_key,
        conversation_id=ask.conversation_id,
        session_id=ask.state.session_id,
        user_id=ask.user_id,
        turn_id=ask.turn_id,
        title=found.what,
        due_at_ms=found.due_at_ms or ask.now_ms,
        time_zone=ask.time_zone,
        now_ms=ask.now_ms,
    )
    text = set_text(found, ask.now_ms, ask.time_zone, once_only=repeats(ask.text), zone_chosen=ask.time_zone_chosen)
    job_id = job_id_of(call_key)
    return Answer(text, action_name=REMIND, job_refs=(job_id,), effects=(effect,), buttons=undo_button(job_id))


@dataclass(frozen=True, slots=True)
class RemindFirst:
    """A responder that sets reminders said in plain words itself and leaves everything else to the next one.

    A model is spared only messages that are nothing but a reminder; it has a tool for the others. The concierge has
    none, so here it is also asked back when the time or the matter is missing.
    """

    next: Responder
    languages: Languages
    next_has_tools: bool

    def preface(self, persona: str) -> str:
        """Return what the next responder puts before the packet."""
        return self.next.preface(persona)

    async def warm(self) -> None:
        """Load what the next responder needs."""
        await asyncio.to_thread(due_dates.warm)
        await self.next.warm()

    async def close(self) -> None:
        """Close what the next responder opened."""
        await self.next.close()

    async def respond(self, ask: Ask, show: Show) -> Answer:
        """Return the confirmation, a question back, or what the next responder says. Raises what that raises."""
        answer = None if ask.third_party else await asyncio.to_thread(self.answer, ask)  # odd dates load a library
        if answer is None:
            return await self.next.respond(ask, show)
        show(answer.text)
        return answer

    def answer(self, ask: Ask) -> Answer | None:
        """Return the answer to a message that asks for a reminder, None for any other."""
        last = ask.packet.history[-1] if ask.packet.history else None
        language = self.languages.detect(ask.text, (last.language if last else None) or "en")
        found = asked_for(ask.text, ask.now_ms, ask.time_zone, language)
        if self.next_has_tools:
            alone = found and stands_alone(ask.text, found, ask.now_ms, ask.time_zone, language)
            return reminder_answer(ask, found) if found and alone else None
        found = found or completed(last, ask.text, ask.now_ms, ask.time_zone, language)
        if found is None:
            return None
        if found.due_at_ms is None:
            return Answer(replies.REMIND_WHEN, action_name=ASK_WHEN)
        if not found.what:
            return Answer(replies.REMIND_WHAT, action_name=ASK_WHAT)
        return reminder_answer(ask, found)
