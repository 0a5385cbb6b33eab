"""Reminders in plain words: recognised before any model is asked, so that they are set at once and for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.answers.follow_up import promises_in, with_follow_ups
from bot.answers.offline.words import words_of
from bot.answers.rearrange import SHORT_WORDS, rearranged, repeated
from bot.answers.remind_before import moves_an_event, with_known_time, with_told_hour
from bot.answers.responder import QUOTED_MATTER, Answer, Ask, Responder, Show, own_words
from bot.delivery.outbox import Button
from bot.reminders import steps
from bot.reminders.repeats import Repeating, coming, first_at, read_repeat, rule_of
from bot.reminders.rules import MAX_AHEAD_MS, MORNING_HOUR, Reminder, insert_reminder, job_id_of
from bot.reminders.wished import Scene, wish_of
from bot.reminders.words import ReminderWords, begin_of_day, words_for
from memory.language.due_dates import (
    ReminderRequest,
    asks_to_remind,
    find_due,
    leads_matter,
    parse_when,
    reminder_request,
    says_before,
    speaks_of_reminding,
)
from memory.language.intents import calls_off, is_promise, is_request, read_sentences, reports_done, starts_with
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.reported import remark
from memory.language.sentences import Sentence, plain_sentence
from memory.notes.types import Matter
from memory.state.state_manager import close_loop, live_loops
from memory.types import ASKS_BACK, MOVES, REMINDS, WHICH, ConversationTurn, SessionState

MAX_CHARS: Final = 400
MAX_WHAT_WORDS: Final = 25
ASIDE_WORDS: Final = 2
"""A sentence beside the reminder that is no longer than this ("Hi!", "Thank you") needs no answer of its own."""
ASK_WHEN: Final = "remind_when"
ASK_WHAT: Final = "remind_what"
ASK_EVENT: Final = "remind_event"
"""Action of the question when that is before which a reminder shall come."""
BESIDE_WORDS: Final = 1
"""At most this many words that mean something may stand beside a time that answers "When?"."""
MATTER_WORDS: Final = 12
Upcoming = Callable[[str, int | None], Awaitable[list[Reminder]]]
"""Returns the reminders that somebody still has to come in a conversation."""
Noted = Callable[[Ask], Awaitable[Sequence[Matter]]]
"""Returns what is known to go on where a message is written."""


def asked_for(text: str, now_ms: int, zone: str, language: Language) -> ReminderRequest | None:
    """Return the reminder that a message asks for, None when it asks for none or calls one off.

    `due_at_ms` is None when no time was understood, `what` is empty when nothing else was said. Never raises.
    """
    if len(text) > MAX_CHARS:
        return None
    sentences = read_sentences(text, language)
    asking = [s for s in sentences if reminder_request(s.text, now_ms, zone, language) is not None]
    if len(asking) != 1:
        return None
    found = reminder_request(asking[0].text, now_ms, zone, language)
    if found is None or _is_not_one(asking[0], found.what, language):
        return None
    if (found.due_at_ms is None or not found.what) and len(sentences) > 1:
        found = reminder_request(text, now_ms, zone, language)  # "Remind me tomorrow at 9. Call Ana"
    if found is None or (found.due_at_ms is None and _is_about_the_past(found.what, language)):
        return None
    too_far = found.due_at_ms is not None and found.due_at_ms > now_ms + MAX_AHEAD_MS
    return ReminderRequest(None, found.what) if too_far else found


def _is_not_one(sentence: Sentence, what: str, language: Language) -> bool:
    """Return whether it is negated (unlike "don't let me forget"), asks about a reminder, or calls one off."""
    begun = set(sentence.lower.split()[:2]) & set(what.lower().split()[:2])
    called_off = bool(words_for(language.code).negations & begun)
    asks_about = sentence.asks and not is_request(sentence, language)
    return called_off or asks_about or language.has("drop", sentence.lower)


def _is_about_the_past(what: str, language: Language) -> bool:
    """Return whether it only wants to know again: "remind me what we said"."""
    told = read_sentences(what, language)
    return bool(told) and (told[0].asks or told[0].lower.startswith(words_for(language.code).recalls))


def stands_alone(text: str, found: ReminderRequest, now_ms: int, zone: str, language: Language) -> bool:
    """Return whether the message is a whole reminder and nothing else, so that no model has to see it."""
    if found.due_at_ms is None or not found.what or len(found.what.split()) > MAX_WHAT_WORDS:
        return False
    others = [s for s in read_sentences(text, language) if reminder_request(s.text, now_ms, zone, language) is None]
    return "?" not in found.what and all(len(other.words) <= ASIDE_WORDS for other in others)


def completed(
    last: ConversationTurn | None, ask: Ask, language: Language, matters: Sequence[Matter] = ()
) -> ReminderRequest | None:
    """Return the reminder that this answer to our own question ("When?", "What about?") completes, or None.

    Only what can be such an answer counts: a time with hardly a word beside it, or a matter in a few words. Anything
    else that is said next is a message of its own, and the question is let go.
    """
    text, now_ms, zone = ask.text, ask.now_ms, ask.time_zone
    if last is None or last.action_name not in (ASK_WHEN, ASK_WHAT, ASK_EVENT) or len(text) > MAX_CHARS:
        return None
    begun = asked_for(last.user_text, last.created_at_ms, zone, language)
    sentences = read_sentences(text, language)
    if begun is None or len(sentences) != 1 or _is_its_own(sentences[0], language):
        return None
    if last.action_name == ASK_EVENT:
        return with_told_hour(with_known_time(begun, ask, matters, language), ask, language)
    if last.action_name == ASK_WHAT:
        fits = begun.due_at_ms is not None and begun.due_at_ms > now_ms and is_matter(sentences[0], language)
        return ReminderRequest(begun.due_at_ms, text.strip()) if fits else None
    timed = parse_when(text, now_ms, zone, language)
    if timed is None or len(plain_sentence(timed[1].lower(), language).content) > BESIDE_WORDS:
        return None
    return ReminderRequest(timed[0], begun.what or timed[1])


def _is_its_own(sentence: Sentence, language: Language) -> bool:
    """Return whether it asks, promises, reports, greets or calls off: no answer to "When?" or "What about?"."""
    cues = ("greeting", "goodbye", "thanks", "no", "drop")
    own = sentence.asks or is_promise(sentence, language) or reports_done(sentence, language)
    return own or any(starts_with(cue, sentence, language) for cue in cues) or calls_off(sentence, language)


def is_matter(sentence: Sentence, language: Language) -> bool:
    """Return whether one can be reminded of it ("call Ana", "the vet"), unlike of a statement ("Ana lives here")."""
    return 0 < len(sentence.words) <= MATTER_WORDS and remark(sentence.text, language) == "said"


def set_text(
    found: ReminderRequest, now_ms: int, zone: str, *, kind: str, zone_chosen: bool, words: ReminderWords
) -> str:
    """Return the confirmation: what, when by whose clock, and how often."""
    when = words.when(found.due_at_ms or now_ms, now_ms, zone)
    every = words.every(kind) if kind else ""
    lines = [words.say("set_repeating" if kind else "set", when=when, zone=zone, title=found.what, every=every)]
    if not zone_chosen:
        lines.append(words.say("zone_hint", zone=zone))
    return "\n".join(lines)


def undo_button(job_id: str, words: ReminderWords) -> tuple[tuple[Button, ...], ...]:
    """Return [Never mind]."""
    return ((Button(words.say("undo"), "job_cancel", {"job_id": job_id, "language": words.code}),),)


def reminder_answer(ask: Ask, found: ReminderRequest, kind: str, words: ReminderWords) -> Answer:
    """Return the answer that sets a reminder in the same commit as its turn."""
    call_key = f"{ask.turn_id}:{REMINDS}"
    due_at_ms = found.due_at_ms or ask.now_ms
    effect = insert_reminder(
        call_key,
        conversation_id=ask.conversation_id,
        session_id=ask.state.session_id,
        user_id=ask.user_id,
        turn_id=ask.turn_id,
        title=found.what,
        due_at_ms=due_at_ms,
        time_zone=ask.time_zone,
        now_ms=ask.now_ms,
        repeats=rule_of(kind, due_at_ms, ask.time_zone) if kind else "",
    )
    job_id = job_id_of(call_key)
    text, authored = (
        set_text(each, ask.now_ms, ask.time_zone, kind=kind, zone_chosen=ask.time_zone_chosen, words=words)
        for each in (found, replace(found, what=QUOTED_MATTER))
    )
    return Answer(
        text,
        action_name=REMINDS,
        authored=authored,
        job_refs=(job_id,),
        effects=(effect,),
        change=steps.keeping([steps.made(ask.turn_id, effect)]),
        buttons=undo_button(job_id, words),
    )


def repeating(
    often: Repeating, now_ms: int, zone: str, read: Callable[[str, int], ReminderRequest | None]
) -> ReminderRequest | None:
    """Return a reminder that comes again, with its first time; `read` reads a text as at a given time.

    It is read as of this midnight, so that "every day at 7:30" means half past seven also in the afternoon.
    """
    found = read(often.plain, now_ms if often.kind == "hour" else begin_of_day(now_ms, zone) - 1)
    if found is None or not found.what:
        return found
    due_at_ms = found.due_at_ms or first_at(often.kind, now_ms, zone, MORNING_HOUR)
    return ReminderRequest(coming(often.kind, due_at_ms, now_ms, zone), found.what)


def routine(often: Repeating, now_ms: int, zone: str, language: Language) -> ReminderRequest | None:
    """Return the reminder in a routine that is told without "remind me" ("every Monday at 9 water the plants").

    Only with a clock time, and only for something to do: "every Monday at 9 I swim" tells of a habit.
    """
    timed = parse_when(often.plain, now_ms, zone, language)
    found = find_due(often.plain, now_ms, zone, language)
    if timed is None or found is None or not found.exact:
        return None
    words = words_of(language.code)
    if not words.reads("errand", timed[1].lower().strip()):
        return None
    return repeating(often, now_ms, zone, lambda _said, _at: ReminderRequest(timed[0], timed[1]))


def continued(
    last: ConversationTurn | None, ask: Ask, often: Repeating | None, language: Language
) -> ReminderRequest | None:
    """Return one more reminder, said right behind one that was set or moved: "and at 9pm to lock the door".

    Only for something to do, or what is led as the matter of a reminder is: "and at 9 I swim" tells of a habit.
    """
    text, zone = ask.text, ask.time_zone
    sentences = read_sentences(text, language) if len(text) <= MAX_CHARS else ()
    if last is None or last.action_name not in {REMINDS, MOVES}:
        return None
    if len(sentences) != 1 or _is_its_own(sentences[0], language):
        return None
    if sentences[0].words[:1] not in {(joint,) for joint in language.conjunctions}:
        return None

    def read(said: str, at_ms: int) -> ReminderRequest | None:
        timed = parse_when(said, at_ms, zone, language)
        return ReminderRequest(*timed) if timed else None

    found = repeating(often, ask.now_ms, zone, read) if often else read(text, ask.now_ms)
    if found is None or not 0 < len(found.what.split()) <= MATTER_WORDS:
        return None
    led = leads_matter(text[: text.rfind(found.what)].partition(" ")[2], language)
    return found if led or words_of(language.code).reads("errand", found.what.lower()) else None


def answered_back(answer: Answer, asked: ConversationTurn, now_ms: int) -> Answer:
    """Return the answer that sets a reminder; what the question back had left open is taken care of with it."""

    def settled(state: SessionState) -> SessionState:
        for loop in live_loops(state):
            if loop.turn_id == asked.turn_id:
                state = close_loop(state, loop.loop_id, "done", now_ms)
        return state

    return replace(answer, change=steps.keeping((), settled, answer.change))


@dataclass(frozen=True, slots=True)
class RemindFirst:
    """A responder that sets reminders said in plain words itself and leaves everything else to the next one.

    A model is spared only messages that are nothing but a reminder, or are about one that is set; it has tools for the
    others. The concierge has none, so here it is also asked back when the time or the matter is missing.
    """

    next: Responder
    languages: Languages
    next_has_tools: bool
    upcoming: Upcoming | None = None
    noted: Noted | None = None

    def preface(self, persona: str) -> str:
        """Return what the next responder puts before the packet."""
        return self.next.preface(persona)

    def instructions(self, ask: Ask) -> str:
        """Return the next responder's instructions."""
        return self.next.instructions(ask)

    def tools(self) -> str:
        """Return the tools of the next responder."""
        return self.next.tools()

    async def warm(self) -> None:
        """Load what the next responder needs."""
        await self.next.warm()

    async def close(self) -> None:
        """Close what the next responder opened."""
        await self.next.close()

    async def respond(self, ask: Ask, show: Show) -> Answer:
        """Return the confirmation, a question back, or what the next responder says. Raises what that raises."""
        if not ask.third_party:
            reminders = await self.upcoming(ask.conversation_id, ask.user_id) if self.upcoming else []
            concerns = reminders or self._speaks_of_reminders(ask)
            matters = await self._matters(ask, reminders) if concerns else ()
            answer = await asyncio.to_thread(self.answer, ask, reminders, matters) if concerns else None
            if answer is not None:
                show(answer.text)
                return answer
        answer = await self.next.respond(ask, show)
        if not self.next_has_tools or not promises_in(ask, answer, self.languages)[1]:
            return answer
        return await asyncio.to_thread(with_follow_ups, ask, answer, self.languages)

    async def _matters(self, ask: Ask, reminders: Sequence[Reminder]) -> Sequence[Matter]:
        """Return what is known of what a reminder comes before; nothing where the message speaks of none such."""
        last, language = ask.packet.history[-1] if ask.packet.history else None, self._language_of(ask)
        answers = last is not None and last.action_name == ASK_EVENT
        answers = answers or bool(reminders and (wish := wish_of(ask.text, language)) and wish.kind == "move")
        return await self.noted(ask) if self.noted and (answers or says_before(ask.text, language)) else ()

    def _speaks_of_reminders(self, ask: Ask) -> bool:
        """Return False when `answer` has nothing to say as long as no reminder is set. Quick."""
        last = ask.packet.history[-1] if ask.packet.history else None
        language = self._language_of(ask)
        return (
            not self.next_has_tools
            or bool(last and last.action_name == WHICH)
            or read_repeat(ask.text, words_for(language.code)) is not None
            or wish_of(ask.text, language) is not None
            or any(speaks_of_reminding(each.text, language) for each in read_sentences(ask.text, language))
        )

    def _language_of(self, ask: Ask) -> Language:
        """Return the language of the message; of a short one the one in which it asks for a reminder."""
        last = ask.packet.history[-1] if ask.packet.history else None
        before = (last.language if last else None) or ask.state.language or "en"
        language = self.languages.detect(ask.text, before)
        if len(ask.text.split()) > SHORT_WORDS or asks_to_remind(ask.text, language):
            return language
        codes = dict.fromkeys((before, *self.languages.codes))
        return next((each for each in map(self.languages.get, codes) if asks_to_remind(ask.text, each)), language)

    def answer(self, ask: Ask, reminders: Sequence[Reminder] = (), matters: Sequence[Matter] = ()) -> Answer | None:
        """Return the answer to a message that asks for a reminder or is about one that is set, None for any other."""
        last = ask.packet.history[-1] if ask.packet.history else None
        language = self._language_of(ask)
        words = words_for(language.code)
        often = _how_often(ask, words, language)
        text, kind = (often.plain, often.kind) if often else (ask.text, "")

        def read(said: str, at_ms: int) -> ReminderRequest | None:
            return asked_for(said, at_ms, ask.time_zone, language)

        found = repeating(often, ask.now_ms, ask.time_zone, read) if often else read(text, ask.now_ms)
        if found is None and not self.next_has_tools and moves_an_event(ask, reminders, matters, language):
            return None
        if found is None:
            of_reminders = bool(last and (last.action_name or "").startswith(REMINDS))
            scene = Scene(ask.state, ask.now_ms, of_reminders=of_reminders)
            about_set = repeated(often, ask, scene, reminders, language) if often else None
            about_set = about_set or rearranged(ask, reminders, language, self.languages)
            if about_set is not None:
                return about_set
        found = with_known_time(found, ask, matters, language) if found else None
        if self.next_has_tools:
            alone = found and stands_alone(text, found, ask.now_ms, ask.time_zone, language)
            return reminder_answer(ask, found, kind, words) if found and alone else None
        asked = found or completed(last, replace(ask, text=text), language, matters)
        found = asked or continued(last, ask, often, language)
        found = found or (routine(often, ask.now_ms, ask.time_zone, language) if often else None)
        if found is None:
            return None
        if question := _asked_back(found, words):
            return question
        answer = reminder_answer(ask, found, kind, words)
        return answered_back(answer, last, ask.now_ms) if last and asked and last.action_name in ASKS_BACK else answer


def _how_often(ask: Ask, words: ReminderWords, language: Language) -> Repeating | None:
    """Return how often what is asked for shall come; what another sentence tells of counts where this one has no time.

    "I swim every Monday. Remind me tomorrow to buy goggles" is a reminder for tomorrow.
    """
    orders = [each.text for each in read_sentences(ask.text, language) if speaks_of_reminding(each.text, language)]
    if len(orders) == 1 and find_due(orders[0], ask.now_ms, ask.time_zone, language):
        return read_repeat(ask.text, words, ordered=True) if read_repeat(orders[0], words, ordered=True) else None
    return read_repeat(ask.text, words, ordered=bool(orders))


def _asked_back(found: ReminderRequest, words: ReminderWords) -> Answer | None:
    """Return the question for what is missing, None where nothing is."""
    if found.due_at_ms is None and found.ahead_ms:
        return own_words(words.say("ask_event" if found.day_ms is None else "ask_hour"), ASK_EVENT)
    if found.due_at_ms is None:
        return own_words(words.say("ask_when"), ASK_WHEN)
    return None if found.what else own_words(words.say("ask_what"), ASK_WHAT)
