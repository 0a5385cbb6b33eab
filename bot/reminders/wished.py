"""What somebody wants of a reminder that is set, in plain words: which one, moved to when, ended how. Pure.

A sentence is about the reminder that it names, the line of the list that was shown last, the one that was spoken of
last, or the only one there is. Where that leaves several, it has to be asked which; another one is never meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bot.reminders.rules import MAX_AHEAD_MS, Reminder, next_id_of, one_per_series
from bot.reminders.words import begin_of_day, local, words_for
from memory.language.due_dates import find_due, parse_when, says_day
from memory.language.intents import is_promise, read_sentences, reports_done, tells_the_past
from memory.language.language import Language
from memory.language.sentences import Sentence, lowered, plain_sentence, stem_of, without_possessive
from memory.language.time_rules import first, halves_of, rules_of
from memory.state.listed import numbers_in, picked, shown_last
from memory.state.loops import alive
from memory.types import SessionState

MAX_CHARS: Final = 400
NAMED: Final = 0.5
"""Share of the words, of a reminder or of a request, that both must have."""
RANG_MS: Final = 30 * 60_000
"""For so long "it" is the reminder that was delivered."""
SURE_STEM_CHARS: Final = 4
"""Words with a shorter stem are the same only when they differ by a letter: "dog" and "dogs", not "tom" and "tomar"."""
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
    said = language.accented(said)
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
    chosen |= {each.job_id for each in reminders if each.status == "delivered" and next_id_of(each) in chosen}
    found = tuple(reminder for reminder in reminders if reminder.job_id in chosen)
    if found and len(one_per_series(found)) == len(numbers):
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


def names_some(wish: ChangeRequest, reminders: Sequence[Reminder], language: Language) -> bool:
    """Return whether the wish names some of the reminders in words of theirs."""
    return bool(_by_name(plain_sentence(wish.what, language), reminders, language, _large(wish.what)))


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
    texts = [when, f"{words.at} {when}"]
    due = reminder.due_at_ms or now_ms
    if find_due(when, now_ms, zone, language) is None:
        texts.insert(0, f"{words.within} {when}")
    days = [text for text in texts if says_day(text, now_ms, zone, language)]
    if days:
        timed = next((timed for text in days if (timed := parse_when(text, now_ms, zone, language))), None)
        at_ms = keeping_hour(timed[0], when, reminder, now_ms, language) if timed else None
    else:
        before = begin_of_day(max(due, now_ms), zone) - 1
        found = next((found for text in texts if (found := find_due(text, before, zone, language))), None)
        at_ms = _afternoon(found.due_at_ms, when, due, zone, language) if found else None
        if at_ms is not None and at_ms <= now_ms:
            later = next((later for text in texts if (later := find_due(text, now_ms, zone, language))), None)
            at_ms = later.due_at_ms if later else None
    return at_ms if at_ms is not None and now_ms < at_ms <= now_ms + MAX_AHEAD_MS else None


def keeping_hour(at_ms: int, when: str, reminder: Reminder, now_ms: int, language: Language) -> int:
    """Return the new day at the old hour when no hour was said ("move it to Friday")."""
    zone = reminder.time_zone
    found = find_due(when, now_ms, zone, language)
    if found is None or found.exact or reminder.due_at_ms is None:
        return at_ms
    old = local(reminder.due_at_ms, zone)
    return int(local(at_ms, zone).replace(hour=old.hour, minute=old.minute).timestamp() * 1000)


def _afternoon(at_ms: int, when: str, due_ms: int, zone: str, language: Language) -> int:
    """Return nine in the evening for "9" where the reminder was one of the evening: the hour that lies nearer to it.

    Where hours are counted twice, an early one is of the afternoon, as the reminder was.
    """
    at, was = local(at_ms, zone), local(due_ms, zone)
    told = re.search(rf"{halves_of(language)}|:\d\d|(?<!\d)0\d", when)
    said_half = told or first(rules_of(language).parts, lowered(when))
    if said_half or at.hour >= HALF_DAY or was.hour < HALF_DAY:
        return at_ms
    early = bool(language.time.get("twelve_hour")) and at.hour < MORNING
    nearer = 2 * (was.hour - at.hour) > HALF_DAY
    return at_ms + HALF_DAY * 3_600_000 if early or nearer else at_ms
