"""What the offline concierge answers, from what was gathered. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from bot.answers.offline.acknowledge import changes, ended, forget, met, noted_lines, noted_text, remind, tell
from bot.answers.offline.known import known
from bot.answers.offline.material import (
    BEYOND,
    DAY_MS,
    MAX_CHARS,
    MAX_LISTED,
    NOTE,
    PAGE,
    RECALL,
    Glance,
    Material,
    Quote,
    Reply,
    bullets,
    capital,
    cite,
    count_of,
    listed_items,
    loop_line,
    lower_first,
    matter_text,
    note_line,
    open_in_short,
    open_line,
    quote_line,
    right_line,
    stated,
)
from bot.answers.offline.notes import Held, about_it, stems
from bot.answers.offline.request import MEDIA
from bot.answers.offline.times import due_of, is_near, is_today, since_of
from bot.answers.offline.words import Words
from bot.answers.open_list import ListedLoop
from bot.reminders.rules import is_late
from bot.reminders.steps import told
from bot.reminders.words import words_for as reminder_words
from memory.language.sentences import lowered
from memory.state.references import resolve
from memory.types import UNDOES, JobProgress, OpenLoop, PendingClarification


def compose(m: Material) -> Reply:
    """Return the answer; never empty, at most 3,500 characters."""
    reply = _ANSWERS[m.request.kind](m)
    lines = [reply.text.strip() or m.words.say("beyond")]
    if MEDIA.match(m.text):
        lines.insert(0, m.words.say("unseen"))
    if m.trouble:
        lines.append(m.words.say("trouble"))
    if m.request.tells and m.request.kind not in {"tell", "done", "drop"}:
        noted = noted_lines(m)
        lines = [*([noted_text(m, noted)] if noted else []), *lines]
    return replace(reply, text=_clip("\n\n".join(lines)))


def _clip(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    return text[: MAX_CHARS - 2].rsplit("\n", 1)[0].rstrip() + "\n…"


# --- what it is asked -----------------------------------------------------------------------------------------------


def _found(m: Material) -> list[str]:
    topic, code = m.request.about, m.language.code
    held = about_it(m.held, topic, code, share=m.request.share, limit=3 * PAGE)
    shown = {note.turn_id for one in held for note in (one.note, one.before) if note}
    quotes = [quote for quote in m.quotes if quote.turn_id not in shown]
    if m.request.share:
        held, quotes = _best(held, quotes, stems(topic, code))
    lines = [_as_it_is(m, one.note.turn_id) or note_line(m, one) for one in held]
    lines += [_as_it_is(m, quote.turn_id) or quote_line(m, quote) for quote in quotes]
    return [*dict.fromkeys(lines)]


def _as_it_is(m: Material, turn_id: str) -> str:
    """Return the line of what was put right since a turn, "" where its words still hold."""
    matter = m.put_right.get(turn_id)
    return right_line(m, matter) if matter else ""


def _best(
    held: Sequence[Held], quotes: Sequence[Quote], wanted: frozenset[str]
) -> tuple[tuple[Held, ...], list[Quote]]:
    """Return what names most of what is wanted: a free question has words that matter less."""
    notes = [(len(wanted & stems(one.note.text, one.note.code)), one) for one in held]
    said = [(len(wanted & stems(quote.text, quote.code)), quote) for quote in quotes]
    most = max((score for score, _ in (*notes, *said)), default=0)
    return tuple(one for score, one in notes if score == most), [quote for score, quote in said if score == most]


def _paged(m: Material, head: str, lines: Sequence[str], action: str, tail: str = "") -> Reply:
    if m.rest:
        return Reply(f"{m.words.say('more_head')}\n{bullets(lines[PAGE:] or lines)}", action)
    left = len(lines) - PAGE
    question = m.words.say("more", count=left) if left > 0 else ""
    text = "\n\n".join(filter(None, (f"{head}\n{bullets(lines[:PAGE])}", tail, question)))
    return Reply(text, action, (question,) if question else ())


def _know(m: Material) -> Reply:
    about = m.words.quoted(cite(m.request.about))
    lines = _found(m)
    if lines:
        return _paged(m, m.words.say("know_head", about=about), lines, RECALL)
    fresh = m.before.isolated
    return Reply(m.words.say("know_nothing_fresh" if fresh else "know_nothing", about=about), RECALL)


def _know_all(m: Material) -> Reply:
    order = {"fact": 0, "preference": 1, "decision": 2}
    held = sorted(m.held, key=lambda one: (order[one.note.kind], -one.note.at_ms))
    if held:
        return _paged(m, m.words.say("know_all_head"), [note_line(m, one) for one in held], RECALL)
    fresh = m.before.isolated
    return Reply(m.words.say("know_nothing_yet_fresh" if fresh else "know_nothing_yet"), RECALL)


def _open(m: Material) -> Reply:
    """List what is open, and the reminders that are to come."""
    reply = _open_loops(m)
    if not m.reminders:
        return reply
    reminders = (
        f"{m.words.say('reminders_head')}\n{bullets(_reminder_line(m, reminder) for reminder in m.reminders[:PAGE])}"
    )
    parts = (reminders, reply.text) if reply.asks else (reply.text, reminders)
    return replace(reply, text="\n\n".join(parts))


def _reminder_line(m: Material, reminder: JobProgress) -> str:
    if reminder.due_at_ms is None:
        return cite(reminder.title)
    key = "reminder_late" if reminder.due_at_ms <= m.now_ms else "reminder_due"
    return m.words.say(key, text=cite(reminder.title), due=due_of(reminder.due_at_ms, m.now_ms, m.zone, m.words))


def _open_loops(m: Material) -> Reply:
    if not m.open:
        return Reply(m.words.say("open_none_fresh" if m.before.isolated else "open_none"), "list_open")
    question = _did_you(m) if len(m.open) == 1 else ""
    if len(m.open) == 1:
        text = m.words.say("open_one", text=lower_first(open_line(m, m.open[0]), m.words))
    else:
        lines = (f"{number}. {capital(open_line(m, each))}" for number, each in enumerate(m.open, 1))
        text = "\n".join([m.words.say("open_head"), *lines, "", m.words.say("open_hint")])
    asks = (question,) if question else ()
    return Reply("\n".join(filter(None, (text, question))), "list_open", asks, listed_items(m.open))


def _did_you(m: Material) -> str:
    """Return the question whether an overdue matter was done; its answer closes it. Only where it can be put well."""
    return next(filter(None, (_asked_about(m, each) for each in m.open)), "")


def _asked_about(m: Material, listed: ListedLoop) -> str:
    matter = m.matter(listed.loop)
    late = matter.due_at_ms is not None and is_late(matter.due_at_ms, m.now_ms, m.zone, exact=matter.exact)
    fits = matter.turned and m.words.reads("errand", lowered(matter.text)) if m.words.mirrored else True
    mine = listed.loop.owner == "user" and not listed.is_event
    return m.words.say("did_you", text=cite(matter.text)) if late and mine and fits else ""


def _decided(m: Material) -> Reply:
    decisions = [one for one in m.held if one.note.kind == "decision"]
    topic = m.request.about
    if topic:
        found = about_it(decisions, topic, m.language.code, limit=3 * PAGE)
        if not found:
            text = m.words.say("decided_none_about", about=m.words.quoted(cite(topic)))
            lines = [note_line(m, one) for one in about_it(m.held, topic, m.language.code, limit=MAX_LISTED)]
            return Reply("\n".join([text, *([bullets(lines)] if lines else [])]), "list_decisions")
        head = m.words.say("decided_about_head", about=m.words.quoted(cite(topic)))
        return _paged(m, head, [note_line(m, one) for one in found], "list_decisions")
    if not decisions:
        return Reply(m.words.say("decided_none"), "list_decisions")
    lines = [note_line(m, one) for one in reversed(decisions)]
    return _paged(m, m.words.say("decided_head"), lines, "list_decisions")


def _glance_lines(m: Material, glance: Glance) -> list[str]:
    messages, day = count_of(m, glance.messages), capital(m.day(glance.at_ms))
    key = "talked_earlier" if glance.title else "talked_earlier_plain"
    head = m.words.say(key, Day=day, topics=cite(glance.title), messages=messages)
    if glance.lines:
        return [head, *(f"  · {m.words.quoted(cite(line))}" for line in glance.lines[:MAX_LISTED])]
    return [head, *(f"  · {capital(stated(m, one.note))}" for one in glance.held[-MAX_LISTED:])]


def _talked(m: Material) -> Reply:
    earlier = m.earlier
    lines: list[str] = []
    if m.request.span != "before":
        lines.append(_now_line(m))
        lines += [f"  · {m.words.quoted(cite(line))}" for line in (m.current.lines if m.current else ())[:MAX_LISTED]]
    if m.request.span == "today":
        earlier = tuple(glance for glance in earlier if is_today(glance.at_ms, m.now_ms, m.zone))
    elif m.request.span == "":
        earlier = earlier[:1]
    for glance in earlier[:MAX_LISTED]:
        lines += _glance_lines(m, glance)
    if m.before.isolated:
        lines.append(m.words.say("talked_fresh"))
    elif m.request.span == "before" and not earlier:
        lines += [m.words.say("talked_no_earlier"), _now_line(m)]
    return Reply("\n".join(lines), "recap")


def _now_line(m: Material) -> str:
    if m.current is None or not m.current.messages:
        return m.words.say("talked_nothing")
    messages, since = count_of(m, m.current.messages), since_of(m.current.first_at_ms, m.now_ms, m.zone, m.words)
    key = "talked_now" if m.current.title else "talked_now_plain"
    return m.words.say(key, messages=messages, since=since, topics=cite(m.current.title))


def _summarize(m: Material) -> Reply:
    parts = [_now_line(m)]
    if m.current and m.current.held:
        parts.append(f"{m.words.say('know_all_head')}\n{bullets(note_line(m, one) for one in m.current.held[-PAGE:])}")
    if m.open:
        lines = (capital(open_line(m, each)) for each in m.open[:PAGE])
        parts.append(f"{m.words.say('open_head')}\n{bullets(lines)}")
    elif m.current and m.current.messages:
        parts.append(m.words.say("open_none"))
    return Reply("\n\n".join(parts), "summarize")


def _undo(m: Material) -> Reply:
    """Say what is taken back, and how it is again now."""
    if m.back is None:
        return Reply(m.words.say("undo_nothing"), "explain")
    back, words = m.back, reminder_words(m.language.code)
    lines = [told(step, reminder, m.now_ms, m.zone, words) for step, reminder in back.reminders]
    if not lines:
        lines += [m.words.say("corrected", text=loop_line(m, loop)) for loop in back.corrected]
        lines += [m.words.say("reopened", text=matter_text(m, loop)) for loop in back.ended]
    if not lines:
        wrong = [*(stated(m, note) for note in back.notes), *(loop_line(m, loop) for loop in back.opened)]
        wrong = wrong or [m.words.quoted(cite(back.turn.user_text))]
        lines = [m.words.say("undone", text="; ".join(wrong))]
    return Reply("\n".join(lines), UNDOES)


def _question(m: Material) -> Reply:
    answer = known(m)
    if answer:
        return Reply(answer, RECALL)
    return _related(m) or Reply(m.say_once("beyond"), BEYOND)


def _task(m: Material) -> Reply:
    if noted_lines(m) or m.read or m.corrected:
        return tell(m)
    return _related(m) or Reply(m.words.say("beyond_task"), BEYOND)


def _related(m: Material) -> Reply | None:
    """Return what was said about it, None when nothing was."""
    lines = _found(m)[: PAGE // 2]
    return Reply(f"{m.words.say('beyond_found')}\n{bullets(lines)}", RECALL) if lines else None


# --- short replies and courtesies -----------------------------------------------------------------------------------


def _yes(m: Material) -> Reply:
    _, closed = changes(m)
    if closed:
        return ended(m)
    if m.pending is None:
        plain = m.words.asked("plain_yes", lowered(m.text.strip()))
        return Reply(m.words.say("yes_nothing" if plain else "ok"), "acknowledge")
    return _answer_kept(m, m.pending)


def _no(m: Material) -> Reply:
    if m.corrected:
        return tell(m)
    if m.pending is None:
        return Reply(m.words.say("no_nothing"), "acknowledge")
    overdue = next((each for each in m.open if _asked_about(m, each) == m.pending.question), None)
    if overdue:
        return Reply(m.words.say("stays_open", text=open_line(m, overdue)), "acknowledge")
    if is_more(m.pending.question, m.words):
        return Reply(m.words.say("no_fine"), "acknowledge")
    return _answer_kept(m, m.pending)


def _answer_kept(m: Material, pending: PendingClarification) -> Reply:
    question, reply = cite(pending.question), cite(m.text)
    return Reply(m.words.say("yes_other", reply=reply, question=m.words.quoted(question)), "acknowledge")


def is_more(question: str, words: Words) -> bool:
    """Return whether this is our own question whether to show the rest."""
    head, _, tail = words.answers["more"].partition("{count}")
    return question.startswith(head) and question.endswith(tail)


def _choice(m: Material) -> Reply:
    values = resolve(m.before, m.text, m.language).values()
    loops = {loop.loop_id: loop for loop in m.before.open_loops}
    _, closed = changes(m)
    if closed:
        return ended(m)
    for value in values:
        if value in loops:
            return Reply(_loop_detail(m, loops[value]), "list_open")
        if m.pending and value in m.pending.options:
            question = cite(m.pending.question)
            return Reply(m.words.say("chosen_option", question=question, option=cite(value)), "acknowledge")
    return Reply(m.words.say("choice_nothing"), "acknowledge")


def _loop_detail(m: Material, loop: OpenLoop) -> str:
    since = m.words.say("said_line", Day=capital(m.day(loop.opened_at_ms)), text=cite(loop.text))
    return f"{capital(loop_line(m, loop))}.\n{since}"


_WHY: Final = {RECALL: "why_found", BEYOND: "why_beyond", NOTE: "why_note", "list_add": "why_note", "done": "why_note"}


def _why(m: Material) -> Reply:
    if not m.history:
        return Reply(m.words.say("why_nothing"), "explain")
    return Reply(m.words.say(_WHY.get(m.history[-1].action_name or "", "why_beyond")), "explain")


def _my_name(m: Material) -> Reply:
    if m.called:
        return Reply(m.words.say("your_name", name=m.called), RECALL)
    key = "telegram_name" if m.name else "no_name_fresh" if m.before.isolated else "no_name"
    return Reply(m.words.say(key, name=m.name), RECALL)


def _hello(m: Material) -> Reply:
    name = m.called or m.name
    head = [met(m) or m.words.say("hello", name=m.words.say("hello_to", name=name) if name else "")]
    if m.past_is_shown or m.is_talking:
        return Reply(head[0], "greet")
    question = _did_you(m)
    if question:
        head.append(question)
    elif not m.open and not m.history and m.earlier and m.earlier[0].title:
        glance = m.earlier[0]
        head.append(m.words.say("hello_last", day=m.day(glance.at_ms), topics=cite(glance.title)))
    elif not m.open:
        head.append(m.words.say("hello_new"))
    rest = open_in_short(m, m.open) if m.open and not question else ""
    return Reply("\n".join(filter(None, (" ".join(head), rest))), "greet", (question,) if question else ())


def _bye(m: Material) -> Reply:
    rest = open_in_short(m, m.open) if m.open else ""
    return Reply("\n".join(filter(None, (m.words.say("bye"), rest))), "farewell")


def _good_night(m: Material) -> Reply:
    """Say good night back, and what is to be done by the end of the next day."""
    due = ((each, each.loop.due_at_ms) for each in m.open)
    near = [each for each, due_at_ms in due if due_at_ms is not None and is_near(due_at_ms, m.now_ms, m.zone)]
    rest = open_in_short(m, near) if near else ""
    return Reply("\n".join(filter(None, (m.words.say("good_night"), rest))), "farewell")


def _clock(m: Material) -> Reply:
    moment = due_of(m.now_ms, m.now_ms + 7 * DAY_MS, m.zone, m.words)
    return Reply(m.words.say("clock", moment=moment, zone=m.zone), "small_talk")


def _line(key: str, action: str) -> Callable[[Material], Reply]:
    return lambda m: Reply(m.words.say(key), action)


_ANSWERS: Final[dict[str, Callable[[Material], Reply]]] = {
    "undo": _undo,
    "who": _line("who", "introduce"),
    "my_name": _my_name,
    "help": _line("help", "help"),
    "connect": _line("connect", "help"),
    "clock": _clock,
    "here": _line("here", "small_talk"),
    "how_are_you": _line("how_are_you", "small_talk"),
    "thanks": _line("thanks", "small_talk"),
    "laughs": _line("laughs", "small_talk"),
    "insult": _line("insult", "small_talk"),
    "wordless": _line("wordless", "small_talk"),
    "forget_all": _line("forget_all", "explain"),
    "greeting": _hello,
    "goodbye": _bye,
    "good_night": _good_night,
    "open": _open,
    "decided": _decided,
    "talked": _talked,
    "summarize": _summarize,
    "know_all": _know_all,
    "know": _know,
    "yes": _yes,
    "no": _no,
    "why": _why,
    "choice": _choice,
    "done": ended,
    "drop": ended,
    "forget": forget,
    "remind": remind,
    "task": _task,
    "question": _question,
    "tell": tell,
}
