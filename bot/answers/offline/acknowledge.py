"""What the offline concierge says to what it is told: noted, on the list, done, dropped. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.answers.offline.corrections import gives_another
from bot.answers.offline.material import (
    KEY_WORDS,
    MAX_LISTED,
    NOTE,
    Material,
    Reply,
    bullets,
    cite,
    listed_items,
    loop_line,
    lower_first,
    matter_text,
    open_in_short,
    open_line,
    said,
    stated,
)
from bot.answers.offline.notes import JOINT, StatedNote, alive, bare_of, same
from bot.answers.offline.request import ENDS
from bot.answers.offline.times import due_of
from bot.answers.open_list import ListedLoop
from memory.language.corrected import as_moved
from memory.language.languages import Languages
from memory.language.listing import speaks_of_some
from memory.language.momentary import is_only_momentary
from memory.language.names import WHO, name_in
from memory.language.reported import is_small_talk
from memory.language.sentences import has_question_mark, lowered
from memory.notes.lines import loop_of
from memory.notes.rearranged import says_all_of
from memory.notes.types import Matter
from memory.state.loops import says_the_same
from memory.types import OpenLoop

LINE_END: Final = "\n"
_FEW_WORDS: Final = 2
_DROPS: Final = frozenset({"drop", "forget"})
_OVER: Final = frozenset({"closed", "dropped"})
_TODO: Final = frozenset({"task", "promise"})


def changes(m: Material) -> tuple[list[OpenLoop], list[OpenLoop]]:
    """Return the loops that this message opens, and those that it closes; what time alone ended is neither."""
    known = {loop.loop_id for loop in m.before.open_loops}
    living = {loop.loop_id for loop in alive(m.before.open_loops)}
    opened = [loop for loop in alive(m.after.open_loops) if loop.loop_id not in known and loop.kind != "question"]
    ended = [loop for loop in m.after.open_loops if loop.loop_id in living and loop.closed_turn_id is not None]
    moved = {ref for matter in m.corrected for ref in matter.replaces}
    closed = [loop for loop in ended if loop not in alive(m.after.open_loops) and loop.loop_id not in moved]
    closed += [loop for loop in m.settled if not any(says_the_same(loop, each) for each in closed)]
    return opened, closed


def noted_lines(m: Material) -> list[tuple[str, str, str]]:
    """Return what this message brought as (kind, text, remark)."""
    opened, closed = changes(m)
    closed = [loop for loop in closed if not any(says_all_of(title, loop.text, m.language) for title in m.stopped)]
    lines = [_noted(m, note) for note in m.new if note.subject != WHO]
    lines += [("open", loop_line(m, loop), "") for loop in opened]
    return lines + [("dropped" if loop.status == "dropped" else "closed", matter_text(m, loop), "") for loop in closed]


def _noted(m: Material, note: StatedNote) -> tuple[str, str, str]:
    text = lower_first(stated(m, note), m.words)
    twin = next((held.note for held in m.held if same(held.note, note)), None)
    if twin:
        return "known", text, m.day(twin.at_ms)
    older = next((h.note for h in m.held if _rivals(h.note, note)), None)
    if older is None or older.user_id != note.user_id:
        return note.kind, text, ""
    return note.kind, text, m.words.say("replaces", day=m.day(older.at_ms), text=cite(older.text))


def _rivals(older: StatedNote, newer: StatedNote) -> bool:
    if newer.corrects:
        return older.text == newer.corrects
    return bool(newer.subject) and older.subject == newer.subject


def met(m: Material) -> str:
    """Return what is said to somebody who gives their name, "" when they did not."""
    name = next((name_in(note.text, Languages.load().get(note.code)) for note in m.new if note.subject == WHO), "")
    if not name:
        return ""
    return m.words.say("nice_to_meet" if m.called in {"", name} else "name_changed", name=name)


_SENTENCES: Final = {
    "open": "opened", "closed": "closed", "dropped": "dropped", "fact": "noted_fact", "preference": "noted_fact",
    "decision": "noted_decision",
}  # fmt: skip
_ITEMS: Final = {"preference": "item_fact"}


def noted_text(m: Material, lines: Sequence[tuple[str, str, str]]) -> str:
    """Return what was taken in, as (kind, text, remark), as a sentence or as a list."""
    if len(lines) == 1:
        kind, text, remark = lines[0]
        if kind == "known":
            return m.words.say("known_already", day=remark, text=text)
        return " ".join(filter(None, (m.words.say(_SENTENCES[kind], text=text), remark)))
    items = []
    for kind, text, remark in lines:
        if kind == "known":
            items.append(m.words.say("known_already", day=remark, text=text))
        else:
            items.append(". ".join(filter(None, (m.words.say(_ITEMS.get(kind, f"item_{kind}"), text=text), remark))))
    return f"{m.words.say('noted_many')}\n{bullets(items)}\n"


def tell(m: Material) -> Reply:
    """Answer a statement by what it was taken for."""
    if m.third_party:
        return Reply(m.words.say("third_party"), NOTE)
    if m.words.reads("sorrow", lowered(m.text)):
        return Reply(m.words.say("sorry_for_you"), NOTE)
    lines, greeting = noted_lines(m), met(m)
    if m.corrected:
        over = [line for line in lines if line[0] in _OVER]
        put_right = (_put_right(m, matter) for matter in m.corrected[:MAX_LISTED])
        return Reply("\n".join((*put_right, *([noted_text(m, over)] if over else []))), NOTE)
    stopped = (m.words.say("reminder_stopped", text=cite(title)) for title in m.stopped)
    parts = [part for part in (greeting, *stopped, noted_text(m, lines) if lines else "") if part]
    if not parts:
        parts.append(_answered(m) or _touched(m) or _unclear(m) or _nod(m) or _felt(m) or _read(m) or _kept(m))
    parts[0] = _with_feeling(m, parts[0])
    if m.words.reads("worry", lowered(m.text)):
        parts[-1] = f"{parts[-1].rstrip()}{LINE_END if LINE_END in parts[-1] else ' '}{m.words.say('hope_well')}"
    return Reply("\n".join(parts), NOTE)


_NEWS = (("joy", "congrats"), ("relief", "relieved"), ("setback", "sorry_it_failed"))
"""What is told, and what a friend says to it."""


def _with_feeling(m: Material, text: str) -> str:
    """Return the text behind what a friend says to news, good or bad; that is enough where nothing else was to say."""
    said = _to_news(m)
    if said is None:
        return text
    return m.words.say(said) if text == m.words.say("kept") else f"{m.words.say(said)} {text}"


def _to_news(m: Material) -> str | None:
    """Return what is said to the news in the message; None without any: good ones are not denied, nor only supposed."""
    lower = lowered(m.text)
    if has_question_mark(m.text) or m.language.has("hypothetical", lower):
        return None
    denied = m.language.has("negates", lower)
    found = (said for news, said in _NEWS if m.words.reads(news, lower) is not None)
    return next((said for said in found if said == "sorry_it_failed" or not denied), None)


def _put_right(m: Material, matter: Matter) -> str:
    """Return a line about a matter as it reads now, or until when it rests."""
    if m.in_part:
        dropped = m.request.kind in _DROPS
        return m.words.say("stays_open" if dropped else "part_done", text=loop_line(m, loop_of(matter)))
    until_ms = matter.snoozed_until_ms
    if until_ms is None or until_ms <= m.now_ms:
        told = m.words.say("corrected", text=loop_line(m, loop_of(matter)))
        old = m.were.get(matter.matter_id)
        lower = m.language.mended(lowered(m.text))
        moves = m.language.has("reschedules", lower) or as_moved(lower, m.language) != lower
        if old is None or not moves or not old.due_at_ms or old.due_at_ms == matter.due_at_ms:
            return told
        due = due_of(old.due_at_ms, m.now_ms, m.zone, m.words, exact=old.due_exact)
        return f"{told} {m.words.say('corrected_was', due=due)}"
    due = due_of(until_ms, m.now_ms, m.zone, m.words, exact=False)
    return m.words.say("set_aside", due=due, text=loop_line(m, loop_of(matter)))


def _answered(m: Material) -> str:
    """Return a line about the question that this answers; what the concierge asks itself is a yes or a no."""
    if m.pending is None or m.after.pending_clarifications == m.before.pending_clarifications or m.is_ours(m.pending):
        return ""
    return m.words.say("kept_answer", question=cite(m.pending.question))


def _touched(m: Material) -> str:
    """Return a line about a matter that was open already and is only said again."""
    touched = {loop.loop_id: loop.touched_at_ms for loop in m.before.open_loops}
    again = [loop for loop in alive(m.after.open_loops) if touched.get(loop.loop_id, m.now_ms) < loop.touched_at_ms]
    return m.words.say("opened_again", text=loop_line(m, again[0])) if again else ""


def _unclear(m: Material) -> str:
    """Return that nothing was changed, for another value of something that is not found."""
    return m.words.say("corrects_nothing") if gives_another(m.text, m.words, m.language) else ""


def _nod(m: Material) -> str:
    shrugs = m.words.asked("shrugs", lowered(m.text).strip(ENDS)) is not None
    nods = shrugs or is_small_talk(m.text, m.language) or is_only_momentary(m.text, m.language)
    return m.words.say("ok") if nods else ""


def _read(m: Material) -> str:
    """Return what the notes will say of the message: a matter for the list, or what somebody told."""
    notes = [each for each in m.read if JOINT not in each.text][:MAX_LISTED]
    todo = [each for each in notes if isinstance(each, Matter) and each.kind in _TODO and each.owner == "user"]
    lines = [("open", loop_line(m, loop_of(each)), "") for each in todo]
    lines += [("fact", _said_back(m, each.text), "") for each in notes if each not in todo]
    return noted_text(m, lines) if lines else ""


def _said_back(m: Material, text: str) -> str:
    return lower_first(said(m, bare_of(text, m.words), m.words), m.words)


def _felt(m: Material) -> str:
    return m.words.say("kept_feeling") if m.words.reads("feelings", lowered(m.text)) else ""


def _kept(m: Material) -> str:
    if len(m.text.split()) <= _FEW_WORDS:
        return m.words.say("kept_word", text=m.words.quoted(cite(m.text)))
    return m.words.say("kept_feeling" if m.language.has("feeling", lowered(m.text)) else "kept")


def remind(m: Material) -> Reply:
    """Put on the list what asks for a reminder and yet is none that could be set, and say how to set one."""
    opened, _ = changes(m)
    if not opened:
        return Reply(_touched(m) or f"{_kept(m)} {m.words.say('no_alarm')}", "list_add")
    return Reply(f"{m.words.say('opened', text=loop_line(m, opened[-1]))} {m.words.say('no_alarm')}", "list_add")


def forget(m: Material) -> Reply:
    """Take what is to be forgotten off the list; where nothing of it is there, name the command that forgets."""
    if changes(m)[1] or m.corrected or not m.request.about or _named_in_part(m):
        return ended(m)
    lines = noted_lines(m)
    how = m.words.say("forget_this", about=cite(m.request.about))
    return Reply("\n".join([*([noted_text(m, lines)] if lines else []), how]), "explain")


def _named_in_part(m: Material) -> list[ListedLoop]:
    """Return the lists of which the message names some items, and not all."""
    return [each for each in m.open if speaks_of_some(m.text, each.loop.text, m.language)]


def ended(m: Material) -> Reply:
    """Answer "… is done" and "forget about …"."""
    _, closed = changes(m)
    dropping = m.request.kind in _DROPS
    if m.stopped or (not closed and (m.new or m.corrected or _to_news(m))):
        return tell(m)
    if closed:
        left = [each for each in m.open if not any(says_the_same(each.loop, loop) for loop in closed)]
        rest = open_in_short(m, left) if left else m.words.say("left_none")
        told = _with_feeling(m, noted_text(m, noted_lines(m)))
        return Reply(f"{told}{'' if told.endswith(LINE_END) else ' '}{rest}", "drop" if dropping else "done")
    lists = _named_in_part(m)
    if lists:
        return Reply(m.words.say("stays_open" if dropping else "part_done", text=open_line(m, lists[0])), NOTE)
    if not dropping and (not m.open or len(m.text.split()) > 2 * KEY_WORDS):
        return tell(m)
    if not m.open:
        return Reply(f"{m.words.say('not_on_list')} {m.words.say('left_none')}", "drop")
    lines = "\n".join(f"{number}. {open_line(m, each)}" for number, each in enumerate(m.open, 1))
    action = "drop" if dropping else "done"
    return Reply(m.words.say("not_on_list_items", items=lines), action, listed=listed_items(m.open))
