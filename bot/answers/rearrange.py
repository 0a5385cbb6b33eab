"""Reminders that are set, in plain words: "move it to 6pm", "cancel the dentist", "which reminders do I have". Pure.

What is wanted is read by `bot.reminders.wished`; where several may be meant, it is asked which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Final, Protocol

from bot.answers.responder import QUOTED_MATTER, Answer, Ask, own_words
from bot.answers.take_back import undo_buttons
from bot.reminders import steps
from bot.reminders.repeats import Repeating, comes_on_days, coming, kind_of, read_repeat, rule_of
from bot.reminders.rules import (
    LISTED,
    Reminder,
    advance_reminder,
    listed_reminders,
    move_to,
    next_status,
    one_per_series,
)
from bot.reminders.steps import Change
from bot.reminders.wished import ChangeRequest, Meant, Scene, keeping_hour, meant_by, moved_to, names_some, wish_of
from bot.reminders.words import ReminderWords, begin_of_day, local, words_for
from memory.language.due_dates import find_due, parse_when
from memory.language.intents import read_sentences
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.sentences import lowered, plain_sentence
from memory.ports import Statement
from memory.state.listed import show
from memory.state.state_manager import end_job
from memory.types import CANCELS, FINISHES, LISTS_REMINDERS, MOVES, REMINDS, WHICH, ConversationTurn, SessionState

SHORT_WORDS: Final = 8
"""A message up to this length is read in every language: it is too short to tell which one it is in."""
DONE: Final = "done"
_ENDS: Final = " .!?…,;:\u00bf\u00a1\"'"


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
    """Return the time in a message that says nothing else ("no, friday", "actually 6pm", "at 7"); "" for others."""
    words, said = words_for(language.code), _behind_leads(ask.text, language)
    if not said or language.has("negates", said):
        return ""
    for text in (said, f"{words.at} {said}", f"{words.within} {said}"):
        timed = parse_when(text, ask.now_ms, ask.time_zone, language)
        if timed and not plain_sentence(timed[1], language).content:
            return said
    return ""


def _behind_leads(text: str, language: Language) -> str:
    """Return what is said behind words that only put right or say again: "no, actually …", "make it …"."""
    cues = (language.cues.get(cue) for cue in ("no", "correct", "self_corrects"))
    leads = [*filter(None, cues), words_for(language.code).again]
    said = language.accented(lowered(text)).strip(_ENDS)
    while found := next((hit for lead in leads if (hit := lead.match(said)) and hit.end()), None):
        said = said[found.end() :].strip(_ENDS)
    return said


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
        named = names_some(wish, found.reminders, language)
        return finished(found.reminders, ask, words, named=named)
    often = read_repeat(wish.when, words, ordered=True)
    if often is not None:
        return _in_series(often, found.reminders, ask, language)
    return moved(found.reminders, wish.when, ask, language)


def listing(head: str, reminders: Sequence[Reminder], ask: SaidAt, words: ReminderWords, action: str) -> Answer:
    """Return a numbered list of reminders, remembered as what was shown last."""
    if not reminders:
        return own_words(words.say("none_at_all"), action)
    shown = one_per_series(reminders)[:LISTED]
    lines = [f"{number}. {line(reminder, ask, words)}" for number, reminder in enumerate(shown, 1)]
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
    rest = words.again.sub(" ", _behind_leads(timed[1] if timed else often.plain, language)).strip(_ENDS)
    if rest and not by_name:
        return None
    found = meant_by(ChangeRequest("move", rest), reminders, scene, language) if reminders else None
    if found is None:
        return None
    if found.unclear:
        return listing(words.say("which"), found.reminders or reminders, at, words, WHICH)
    return _in_series(often, found.reminders, at, language)


def _in_series(often: Repeating, reminders: Sequence[Reminder], at: SaidAt, language: Language) -> Answer:
    """Return the answer that lets a reminder come again and again; of several it is asked which."""
    words = words_for(language.code)
    if len({each.title for each in reminders}) != 1:
        return listing(words.say("which"), reminders, at, words, WHICH)
    chosen = next((each for each in reminders if each.status == "scheduled"), reminders[0])
    due_at_ms = coming(often.kind, _begins(often, chosen, at, language), at.now_ms, at.time_zone)
    rule = rule_of(often.kind, due_at_ms, at.time_zone)
    move = advance_reminder(chosen, "snooze", at.now_ms, due_at_ms=due_at_ms, repeats=rule)
    when = words.when(due_at_ms, at.now_ms, at.time_zone)
    every = words.every(often.kind)
    text, authored = (
        words.say("set_repeating", every=every, when=when, zone=at.time_zone, title=title)
        for title in (chosen.title, QUOTED_MATTER)
    )
    return _with_undo(
        Answer(text, action_name=MOVES, authored=authored, job_refs=(chosen.job_id,)), at, [(chosen, move)]
    )


def _begins(often: Repeating, reminder: Reminder, at: SaidAt, language: Language) -> int:
    """Return a time at which the series comes: of what is said, else at the hour at which the reminder was to come."""
    from_ms = at.now_ms if often.kind == "hour" else begin_of_day(at.now_ms, at.time_zone) - 1
    timed = parse_when(often.plain, from_ms, at.time_zone, language)
    due_at_ms = reminder.due_at_ms or at.now_ms
    if timed is None and comes_on_days(often.kind):
        old = local(due_at_ms, at.time_zone)
        today = local(at.now_ms, at.time_zone).replace(hour=old.hour, minute=old.minute, second=0, microsecond=0)
        return int(today.timestamp() * 1000)
    if timed is None:
        return due_at_ms
    exact = _says_clock(often.plain, at, language)
    return timed[0] if exact else keeping_hour(timed[0], often.plain, reminder, at.now_ms, language)


def _says_clock(text: str, ask: SaidAt, language: Language) -> bool:
    """Return whether a text names an hour."""
    found = find_due(text, ask.now_ms, ask.time_zone, language)
    return found is not None and found.exact


def line(reminder: Reminder, ask: SaidAt, words: ReminderWords) -> str:
    """Return one reminder: what, when, how often."""
    when = words.when(reminder.due_at_ms or ask.now_ms, ask.now_ms, ask.time_zone)
    kind = kind_of(reminder.repeats)
    return f"{reminder.title} ({', '.join(filter(None, (when, words.every(kind) if kind else '')))})"


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
