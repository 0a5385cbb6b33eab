"""Reminders that are set, in plain words: "move it to 6pm", "cancel the dentist", "which reminders do I have". Pure.

A sentence acts on the reminder that it names, on the line of the list that was shown last, on the one that was spoken
of last, or on the only one there is. Where that leaves several, it is asked which; another one is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Final, Literal, Protocol

from bot.answers.responder import QUOTED_MATTER, Answer, Ask, own_words
from bot.answers.take_back import undo_buttons
from bot.reminders import steps
from bot.reminders.repeats import Repeating, coming, kind_of, read_repeat, rule_of
from bot.reminders.rules import LISTED, MAX_AHEAD_MS, Reminder, advance_reminder, listed_reminders, move_to, next_status
from bot.reminders.steps import Change
from bot.reminders.words import ReminderWords, local, words_for
from memory.language.due_dates import find_due, parse_when, says_day
from memory.language.intents import is_promise, read_sentences, reports_done, tells_the_past
from memory.language.languages import Language, Languages
from memory.language.sentences import Sentence, lowered, plain_sentence, stem_of, without_possessive
from memory.ports import Statement
from memory.state.listed import numbers_in, picked, show, shown_last
from memory.state.loops import alive
from memory.state.state_manager import end_job
from memory.types import CANCELS, FINISHES, LISTS_REMINDERS, MOVES, REMINDS, WHICH, ConversationTurn, SessionState

MAX_CHARS: Final = 400
NAMED: Final = 0.5
"""Share of the words, of a reminder or of a request, that both must have."""
RANG_MS: Final = 30 * 60_000
"""For so long "it" is the reminder that was delivered."""
SURE_STEM_CHARS: Final = 4
"""Words with a shorter stem are the same only when they differ by a letter: "dog" and "dogs", not "tom" and "tomar"."""
SHORT_WORDS: Final = 8
"""A message up to this length is read in every language: it is too short to tell which one it is in."""
DONE: Final = "done"
HALF_DAY: Final = 12
MORNING: Final = 8
_ENDS: Final = " .!?…,;:\u00bf\u00a1\"'"

Kind = Literal["cancel", "move", "show", "finish"]


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """What somebody wants of a reminder that is set: which one in their words, and the new time."""

    kind: Kind
    what: str = ""
    when: str = ""
    alone: bool = False
    """True for "done" that says of nothing what."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The reminders that are meant; several of which one has to be chosen when `unclear`."""

    reminders: tuple[Reminder, ...]
    unclear: bool = False


def wish_of(text: str, language: Language) -> ChangeRequest | None:
    """Return what a message of one sentence wants of a reminder, None when it speaks of something else."""
    sentences = read_sentences(text, language) if len(text) <= MAX_CHARS else ()
    if len(sentences) != 1:
        return None
    words, said, written = words_for(language.code), sentences[0].lower.strip(_ENDS), sentences[0].text.strip(_ENDS)
    if words.show.search(said):
        return ChangeRequest("show")
    for pattern in words.move:
        if found := pattern.search(said):
            return ChangeRequest("move", _as_written(found, written), found["when"].strip(_ENDS))
    for pattern in words.cancel:
        if found := pattern.search(said):
            return ChangeRequest("cancel", _as_written(found, written))
    return _reported_done(sentences[0], said, language)


def _as_written(found: re.Match[str], written: str) -> str:
    """Return what is named, with the capitals that tell names."""
    text = written if len(written) == len(found.string) else found.string
    return text[slice(*found.span("what"))].strip(_ENDS)


def _reported_done(sentence: Sentence, said: str, language: Language) -> ChangeRequest | None:
    """Return what a sentence reports as done, None when it reports nothing."""
    done = reports_done(sentence, language)
    if not (done or tells_the_past(sentence, language)) or is_promise(sentence, language):
        return None
    rest = language.cues["done"].sub(" ", sentence.lower) if done else sentence.lower
    return ChangeRequest("finish", said, alone=not plain_sentence(rest, language).content)


class SaidAt(Protocol):
    """When and where something is said; a question to a responder is one."""

    @property
    def now_ms(self) -> int:
        """UTC epoch milliseconds."""
        ...

    @property
    def time_zone(self) -> str:
        """The person's, as an IANA name."""
        ...

    @property
    def turn_id(self) -> str:
        """The turn that says it, "" for a command."""
        ...


@dataclass(frozen=True, slots=True)
class Here:
    """Where a command about reminders is given."""

    state: SessionState
    now_ms: int
    time_zone: str
    turn_id: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What was said and shown before the wish."""

    state: SessionState
    now_ms: int
    of_reminders: bool = False
    """True when the last turn was about reminders."""
    last_at_ms: int = 0
    """When the last turn was."""


def meant_by(wish: ChangeRequest, reminders: Sequence[Reminder], scene: Scene, language: Language) -> Meant | None:
    """Return which reminders are meant, None when the sentence is about something else than reminders."""
    words, what = words_for(language.code), lowered(wish.what)
    named = bool(words.reminder.search(what))
    bare = " ".join(words.reminder.sub(" ", what).split())
    sentence = plain_sentence(bare, language)
    numbers = numbers_in(sentence, language)
    items = shown_last(scene.state)
    by_name = _by_name(sentence, reminders, language, _large(wish.what))
    if wish.alone and not by_name:
        return _called_done(reminders, scene)
    if bare in words.all or (named and any(bare.startswith(f"{each} ") for each in words.all)):
        whole = named or (bool(items) and all(item.kind == "job" for item in items))
        return Meant(tuple(reminders)) if whole else None
    if numbers:
        return _numbered(numbers, reminders, scene.state, named=named)
    if not sentence.content or bare in words.pronouns:
        return _spoken_of(wish, reminders, scene, named=named)
    if not by_name:
        return Meant((), unclear=True) if named else None
    return Meant(by_name, unclear=len({reminder.title for reminder in by_name}) > 1)


def _numbered(
    numbers: Sequence[int], reminders: Sequence[Reminder], state: SessionState, *, named: bool
) -> Meant | None:
    items = shown_last(state)
    chosen = {item.ref for item in picked(items, numbers) if item.kind == "job"}
    found = tuple(reminder for reminder in reminders if reminder.job_id in chosen)
    if found and len(found) == len(numbers):
        return Meant(found)
    of_reminders = named or any(item.kind == "job" for item in items)
    return Meant(tuple(reminders), unclear=True) if of_reminders else None


def _spoken_of(wish: ChangeRequest, reminders: Sequence[Reminder], scene: Scene, *, named: bool) -> Meant | None:
    """Return what "it" is: what was spoken of last, what rang just now, else the only one; an open matter is none."""
    last = scene.state.resolved_entities.get("that task")
    found = next((reminder for reminder in reminders if reminder.job_id == last), None) or _rang(
        reminders, scene.now_ms
    )
    if found:
        return Meant((found,))
    if not named and (wish.kind == "cancel" and not scene.of_reminders):
        return None
    matter = next((loop for loop in alive(scene.state.open_loops) if loop.loop_id == last), None)
    if not named and matter is not None and matter.due_at_ms is not None:
        return None  # it has a day of its own, which is put right
    if len(reminders) == 1 and (named or matter is None):
        return Meant(tuple(reminders))
    return Meant(tuple(reminders), unclear=True) if reminders or named else None


def _called_done(reminders: Sequence[Reminder], scene: Scene) -> Meant | None:
    """Return what "done" alone is said of: what rang since the last message; of several it is asked which."""
    rang = tuple(each for each in reminders if (each.due_at_ms or 0) > scene.last_at_ms)
    return Meant(rang, unclear=len({each.title for each in rang}) > 1) if rang else None


def _rang(reminders: Sequence[Reminder], now_ms: int) -> Reminder | None:
    rang = [
        reminder
        for reminder in reminders
        if reminder.status == "delivered" and now_ms - (reminder.due_at_ms or 0) < RANG_MS
    ]
    return rang[0] if len(rang) == 1 else None


def _by_name(
    sentence: Sentence, reminders: Sequence[Reminder], language: Language, names: frozenset[str]
) -> tuple[Reminder, ...]:
    """Return the reminders of which the sentence names most; `names` are its words that are written large."""
    scored = []
    for reminder in reminders:
        title, large = plain_sentence(reminder.title, language), _large(reminder.title)
        alike = {
            stem_of(word, language)
            for word in map(without_possessive, sentence.content)
            for other in map(without_possessive, title.content)
            if _is_the_same(word, other, language, as_names=word in names and other not in large)
        }
        shared = len(alike)
        share = shared / min(len(title.stems), len(sentence.stems)) if shared else 0.0
        scored.append((share, shared, reminder))
    best = max(((share, shared) for share, shared, _ in scored), default=(0.0, 0))
    if best[0] < NAMED or best[1] < NAMED * len(sentence.stems):
        return ()
    return tuple(reminder for share, shared, reminder in scored if (share, shared) == best)


def _large(text: str) -> frozenset[str]:
    """Return the lower-cased words of a text that are written with a capital."""
    words = (word.strip(_ENDS) for word in text.replace("\u2019", "'").split())
    return frozenset(without_possessive(word.lower()) for word in words if word[:1].isupper())


def _is_the_same(word: str, other: str, language: Language, *, as_names: bool) -> bool:
    """Return whether two words are forms of one; a name, and what is as short as "Tom", is no form of a longer word."""
    if word == other or as_names:
        return word == other
    stem = stem_of(word, language)
    return stem == stem_of(other, language) and (len(stem) >= SURE_STEM_CHARS or abs(len(word) - len(other)) <= 1)


def moved_to(when: str, reminder: Reminder, now_ms: int, zone: str, language: Language) -> int | None:
    """Return the new time: of its own day when only an hour is said ("6pm"); None when none is understood."""
    words = words_for(language.code)
    texts = (when, f"{words.at} {when}")
    due = reminder.due_at_ms or now_ms
    if any(says_day(text, now_ms, zone, language) for text in texts):
        timed = next((timed for text in texts if (timed := parse_when(text, now_ms, zone, language))), None)
        at_ms = _keeping_hour(timed[0], when, reminder, now_ms, language) if timed else None
    else:
        midnight = local(max(due, now_ms), zone).replace(hour=0, minute=0, second=0, microsecond=0)
        before = int(midnight.timestamp() * 1000) - 1
        found = next((found for text in texts if (found := find_due(text, before, zone, language))), None)
        at_ms = _afternoon(found.due_at_ms, when, due, zone, language) if found else None
        if at_ms is not None and at_ms <= now_ms:
            later = next((later for text in texts if (later := find_due(text, now_ms, zone, language))), None)
            at_ms = later.due_at_ms if later else None
    return at_ms if at_ms is not None and now_ms < at_ms <= now_ms + MAX_AHEAD_MS else None


def _keeping_hour(at_ms: int, when: str, reminder: Reminder, now_ms: int, language: Language) -> int:
    """Return the new day at the old hour when no hour was said ("move it to Friday")."""
    zone = reminder.time_zone
    found = find_due(when, now_ms, zone, language)
    if found is None or found.exact or reminder.due_at_ms is None:
        return at_ms
    old = local(reminder.due_at_ms, zone)
    return int(local(at_ms, zone).replace(hour=old.hour, minute=old.minute).timestamp() * 1000)


def _afternoon(at_ms: int, when: str, due_ms: int, zone: str, language: Language) -> int:
    """Return six in the evening for "6" where the reminder was one of the afternoon and hours are counted twice."""
    at, was = local(at_ms, zone), local(due_ms, zone)
    said_half = re.search(r"[ap]\.?m|:\d\d", when)
    if not language.time.get("twelve_hour") or said_half or at.hour >= MORNING or was.hour < HALF_DAY:
        return at_ms
    return at_ms + HALF_DAY * 3_600_000


# --- answers --------------------------------------------------------------------------------------------------------


def rearranged(ask: Ask, reminders: Sequence[Reminder], language: Language, languages: Languages) -> Answer | None:
    """Return the answer to a message that wants something of a reminder that is set, None for any other message."""
    last = ask.packet.history[-1] if ask.packet.history else None
    of_reminders = bool(last and (last.action_name or "").startswith("remind"))
    scene = Scene(ask.state, ask.now_ms, of_reminders, last.created_at_ms if last else 0)
    short = len(ask.text.split()) <= SHORT_WORDS
    for code in dict.fromkeys((language.code, *(languages.codes if short and reminders else ()))):
        spoken = languages.get(code)
        wish = wish_of(ask.text, spoken)
        answer = _granted(wish, reminders, scene, ask, spoken) if wish else None
        if answer:
            return answer
    if last is not None and last.action_name in {REMINDS, MOVES}:
        return _set_right(ask, reminders, language)
    if last is not None and last.action_name == WHICH:
        return _chosen(ask, last, reminders, scene, languages)
    return None


def _set_right(ask: Ask, reminders: Sequence[Reminder], language: Language) -> Answer | None:
    """Return the answer to "no, at 7" right behind a reminder that was set or moved; None for any other message."""
    meant = ask.state.resolved_entities.get("that task")
    last = tuple(reminder for reminder in reminders if reminder.job_id == meant)
    when = another_time(ask, language)
    return moved(last, when, ask, language) if last and when else None


def another_time(ask: Ask, language: Language) -> str:
    """Return the time in a correction that says nothing else ("no, friday", "actually 6pm"); "" for other messages."""
    words = words_for(language.code)
    leads = (language.cues.get("no"), language.cues.get("correct"), words.again)
    said = whole = lowered(ask.text).strip(_ENDS)
    while found := next((hit for lead in leads if lead and (hit := lead.match(said))), None):
        said = said[found.end() :].strip(_ENDS)
    if said == whole or language.has("negates", said):
        return ""
    for text in (said, f"{words.at} {said}"):
        timed = parse_when(text, ask.now_ms, ask.time_zone, language)
        if timed and not plain_sentence(timed[1], language).content:
            return said
    return ""


def _granted(
    wish: ChangeRequest, reminders: Sequence[Reminder], scene: Scene, ask: Ask, language: Language
) -> Answer | None:
    words = words_for(language.code)
    if wish.kind == "show":
        return listing(words.say("listed"), reminders, ask, words, LISTS_REMINDERS)
    if wish.kind == "finish":
        reminders = [each for each in reminders if each.status == "delivered"]
        if not reminders:
            return None
    found = meant_by(wish, reminders, scene, language)
    return _done(wish, found, reminders, ask, language) if found else None


def _chosen(
    ask: Ask, last: ConversationTurn, reminders: Sequence[Reminder], scene: Scene, languages: Languages
) -> Answer | None:
    """Return the answer when this message says which one was meant by the one before, or when; else None."""
    language = languages.get(last.language)
    begun = wish_of(last.user_text, language)
    sentences = read_sentences(ask.text, language)
    if begun is None or len(sentences) != 1 or sentences[0].asks:
        return None
    if begun.kind == "finish":
        reminders = [each for each in reminders if each.status == "delivered"]
    found = meant_by(replace(begun, what=sentences[0].lower.strip(_ENDS)), reminders, scene, language)
    return _done(begun, found, reminders, ask, language) if found and found.reminders and not found.unclear else None


def _done(wish: ChangeRequest, found: Meant, reminders: Sequence[Reminder], ask: SaidAt, language: Language) -> Answer:
    words = words_for(language.code)
    if not reminders:
        return own_words(words.say("none_at_all"), LISTS_REMINDERS)
    if found.unclear:
        head = "which" if found.reminders else "none"
        return listing(words.say(head), found.reminders or reminders, ask, words, WHICH)
    if wish.kind == "cancel":
        return cancelled(found.reminders, ask, words)
    if wish.kind == "finish":
        named = bool(_by_name(plain_sentence(wish.what, language), found.reminders, language, _large(wish.what)))
        return finished(found.reminders, ask, words, named=named)
    return moved(found.reminders, wish.when, ask, language)


def listing(head: str, reminders: Sequence[Reminder], ask: SaidAt, words: ReminderWords, action: str) -> Answer:
    """Return a numbered list of reminders, remembered as what was shown last."""
    if not reminders:
        return own_words(words.say("none_at_all"), action)
    lines = [f"{number}. {line(reminder, ask, words)}" for number, reminder in enumerate(reminders[:LISTED], 1)]
    change = partial(show, items=listed_reminders(reminders), at_ms=ask.now_ms)
    return Answer("\n".join([head, *lines]), action_name=action, authored=head, change=change)


def by_command(command: str, said: str, reminders: Sequence[Reminder], here: Here, language: Language) -> Answer | None:
    """Return the answer to /cancel, /move or /repeat with what stands behind it; None when that says too little.

    "2 to 6pm" and "dentist to Friday" move, "dentist every week" repeats; a number is a line of the list shown last.
    """
    words = words_for(language.code)
    scene = Scene(here.state, here.now_ms, of_reminders=True)
    text = said.strip(_ENDS).lower()
    if not text or not reminders:
        return None
    if command == "cancel":
        wish = ChangeRequest("cancel", text)
        found = meant_by(wish, reminders, scene, language)
        return _done(wish, found or Meant((), unclear=True), reminders, here, language)
    if command == "repeat":
        often = read_repeat(said, words)
        return repeated(often, here, scene, reminders, language, by_name=True) if often else None
    move = next((match for pattern in words.move if (match := pattern.search(f"{words.verb} {text}"))), None)
    if move is None:
        return None
    wish = ChangeRequest("move", move["what"].strip(_ENDS), move["when"].strip(_ENDS))
    found = meant_by(wish, reminders, scene, language)
    return _done(wish, found or Meant((), unclear=True), reminders, here, language)


def repeated(
    often: Repeating,
    at: SaidAt,
    scene: Scene,
    reminders: Sequence[Reminder],
    language: Language,
    *,
    by_name: bool = False,
) -> Answer | None:
    """Return the answer to "every Monday at 9" said of a reminder that is set; None when it says what to do as well.

    `by_name` lets the rest name the reminder, as behind /repeat.
    """
    words = words_for(language.code)
    timed = parse_when(often.plain, at.now_ms, at.time_zone, language)
    rest = words.again.sub(" ", (timed[1] if timed else often.plain).lower()).strip(_ENDS)
    if rest and not by_name:
        return None
    found = meant_by(ChangeRequest("move", rest), reminders, scene, language) if reminders else None
    if found is None:
        return None
    if found.unclear or len({each.title for each in found.reminders}) != 1:
        return listing(words.say("which"), found.reminders or reminders, at, words, WHICH)
    chosen = next((each for each in found.reminders if each.status == "scheduled"), found.reminders[0])
    due_at_ms = timed[0] if timed else (chosen.due_at_ms or at.now_ms)
    if timed and not _says_clock(often.plain, at, language):
        due_at_ms = _keeping_hour(timed[0], often.plain, chosen, at.now_ms, language)
    due_at_ms = coming(often.kind, due_at_ms, at.now_ms, at.time_zone)
    rule = rule_of(often.kind, due_at_ms, at.time_zone)
    move = advance_reminder(chosen, "snooze", at.now_ms, due_at_ms=due_at_ms, repeats=rule)
    when = words.when(due_at_ms, at.now_ms, at.time_zone)
    every = words.say(often.kind)
    text, authored = (
        words.say("set_repeating", every=every, when=when, zone=at.time_zone, title=title)
        for title in (chosen.title, QUOTED_MATTER)
    )
    return _with_undo(
        Answer(text, action_name=MOVES, authored=authored, job_refs=(chosen.job_id,)), at, [(chosen, move)]
    )


def _says_clock(text: str, ask: SaidAt, language: Language) -> bool:
    """Return whether a text names an hour."""
    found = find_due(text, ask.now_ms, ask.time_zone, language)
    return found is not None and found.exact


def line(reminder: Reminder, ask: SaidAt, words: ReminderWords) -> str:
    """Return one reminder: what, when, how often."""
    when = words.when(reminder.due_at_ms or ask.now_ms, ask.now_ms, ask.time_zone)
    kind = kind_of(reminder.repeats)
    return f"{reminder.title} ({', '.join(filter(None, (when, words.say(kind) if kind else '')))})"


def cancelled(reminders: Sequence[Reminder], ask: SaidAt, words: ReminderWords) -> Answer:
    """Return the answer that takes reminders back in the commit of its turn."""
    ends = [
        (reminder, advance_reminder(reminder, "cancel", ask.now_ms))
        for reminder in reminders
        if next_status(reminder.status, "cancel")
    ]
    one = len({reminder.title for reminder in reminders}) == 1
    if not one:
        answer = own_words(words.say("cancelled_all", count=len(reminders)), CANCELS, change=_ended(reminders))
    else:
        text, authored = (words.say("cancelled", title=title) for title in (reminders[0].title, QUOTED_MATTER))
        answer = Answer(text, action_name=CANCELS, authored=authored, change=_ended(reminders))
    return _with_undo(answer, ask, ends)


def finished(reminders: Sequence[Reminder], ask: SaidAt, words: ReminderWords, *, named: bool) -> Answer:
    """Return the answer that calls reminders done in the commit of its turn; a report by name ends a matter, too."""
    ends = [(each, advance_reminder(each, "finish", ask.now_ms)) for each in reminders]
    titles = ", ".join(dict.fromkeys(each.title for each in reminders))
    text, authored = (words.say("finished", title=title) for title in (titles, QUOTED_MATTER))
    action = DONE if named else FINISHES
    return _with_undo(Answer(text, action_name=action, authored=authored, change=_ended(reminders)), ask, ends)


def _ended(reminders: Sequence[Reminder]) -> Change:
    return lambda state: reduce(end_job, (each.job_id for each in reminders), state)


def _with_undo(answer: Answer, at: SaidAt, moves: Sequence[tuple[Reminder, Statement]]) -> Answer:
    """Return the answer with what it does to reminders, and [Undo] for it; what they did meanwhile is left."""
    kept = [steps.taken(at.turn_id, reminder, move) for reminder, move in moves] if at.turn_id else []
    return replace(
        answer,
        effects=tuple(replace(move, expect=None) for _, move in moves),
        change=steps.keeping(kept, answer.change) if kept else answer.change,
        buttons=undo_buttons(at.turn_id) if kept else (),
    )


def moved(reminders: Sequence[Reminder], when: str, ask: SaidAt, language: Language) -> Answer:
    """Return the answer that moves reminders in the commit of its turn, or asks for a time that it understands."""
    words = words_for(language.code)
    lines, authored, moves = [], [], []
    reminders = [each for each in reminders if each.status == "scheduled"] or reminders  # of a series, what is to come
    for reminder in reminders:
        due_at_ms = moved_to(when, reminder, ask.now_ms, ask.time_zone, language)
        if due_at_ms is None:
            return own_words(words.say("no_time"), WHICH)
        moves.append((reminder, move_to(reminder, due_at_ms, ask.now_ms)))
        at = words.when(due_at_ms, ask.now_ms, ask.time_zone)
        lines.append(words.say("moved", title=reminder.title, when=at))
        authored.append(words.say("moved", title=QUOTED_MATTER, when=at))
    refs = tuple(reminder.job_id for reminder in reminders)
    answer = Answer("\n".join(lines), action_name=MOVES, authored="\n".join(authored), job_refs=refs)
    return _with_undo(answer, ask, moves)
