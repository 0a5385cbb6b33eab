"""What the offline concierge says to what it is told: noted, on the list, done, dropped. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.answers.offline.corrections import name_in
from bot.answers.offline.material import (
    KEY_WORDS,
    MIN_WORD_CHARS,
    NOTE,
    Material,
    Reply,
    bullets,
    cite,
    listed_loops,
    loop_line,
    loops_in_short,
    lower_first,
    stated,
)
from bot.answers.offline.notes import NAME, StatedNote, alive, bare_of, same
from bot.answers.offline.request import as_written
from bot.answers.offline.words import words_of
from memory.language.intents import read_sentences
from memory.language.reported import is_small_talk
from memory.types import OpenLoop

LINE_END: Final = "\n"


def changes(m: Material) -> tuple[list[OpenLoop], list[OpenLoop]]:
    """Return the loops that this message opens, and those that it closes."""
    known = {loop.loop_id for loop in m.before.open_loops}
    living = {loop.loop_id for loop in alive(m.before.open_loops)}
    opened = [loop for loop in alive(m.after.open_loops) if loop.loop_id not in known and loop.kind != "question"]
    closed = [loop for loop in m.after.open_loops if loop.loop_id in living and loop not in alive(m.after.open_loops)]
    return opened, closed


def noted_lines(m: Material) -> list[tuple[str, str, str]]:
    """Return what this message brought as (kind, text, remark)."""
    opened, closed = changes(m)
    lines = [_noted(m, note) for note in m.new if note.subject != NAME]
    lines += [("open", loop_line(m, loop), "") for loop in opened]
    return lines + [("dropped" if loop.status == "dropped" else "closed", loop_line(m, loop), "") for loop in closed]


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
    name = next((name_in(note.text, words_of(note.code)) for note in m.new if note.subject == NAME), "")
    if not name:
        return ""
    return m.words.say("nice_to_meet" if m.called in {"", name} else "name_changed", name=name)


_SENTENCES: Final = {"open": "opened", "closed": "closed", "dropped": "dropped"}


def noted_text(m: Material, lines: Sequence[tuple[str, str, str]]) -> str:
    """Return what was taken in, as (kind, text, remark), as a sentence or as a list."""
    if len(lines) == 1:
        kind, text, remark = lines[0]
        if kind == "known":
            return m.words.say("known_already", day=remark, text=text)
        return " ".join(filter(None, (m.words.say(_SENTENCES.get(kind, f"noted_{kind}"), text=text), remark)))
    items = []
    for kind, text, remark in lines:
        if kind == "known":
            items.append(m.words.say("known_already", day=remark, text=text))
        else:
            items.append(". ".join(filter(None, (m.words.say(f"item_{kind}", text=text), remark))))
    return f"{m.words.say('noted_many')}\n{bullets(items)}\n"


def tell(m: Material) -> Reply:
    """Answer a statement by what it was taken for."""
    if m.third_party:
        return Reply(m.words.say("third_party"), NOTE)
    lines, greeting = noted_lines(m), met(m)
    parts = [part for part in (greeting, noted_text(m, lines) if lines else "") if part]
    if not parts:
        parts.append(_answered(m) or _touched(m) or _nod(m) or _kept(m))
    return Reply("\n".join(parts), NOTE)


def _answered(m: Material) -> str:
    if m.pending is None or m.after.pending_clarifications == m.before.pending_clarifications:
        return ""
    return m.words.say("kept_answer", question=cite(m.pending.question))


def _touched(m: Material) -> str:
    """Return a line about a matter that was open already and is only said again."""
    touched = {loop.loop_id: loop.touched_at_ms for loop in m.before.open_loops}
    again = [loop for loop in alive(m.after.open_loops) if touched.get(loop.loop_id, m.now_ms) < loop.touched_at_ms]
    return m.words.say("opened_again", text=loop_line(m, again[0])) if again else ""


def _nod(m: Material) -> str:
    return m.words.say("ok") if is_small_talk(m.text, m.language) else ""


def _kept(m: Material) -> str:
    said = [word for s in read_sentences(bare_of(m.text, m.words), m.language) for word in as_written(s, s.content)]
    names = dict.fromkeys(word for word in said if len(word) >= MIN_WORD_CHARS)
    if len(names) <= 1:
        return m.say_once("kept_plain")
    return m.say_once("kept", words=", ".join(cite(word) for word in list(names)[:KEY_WORDS]))


def remind(m: Material) -> Reply:
    """Put on the list what asks for a reminder and yet is none that could be set, and say how to set one."""
    opened, _ = changes(m)
    if not opened:
        return Reply(_touched(m) or f"{_kept(m)} {m.words.say('no_alarm')}", "list_add")
    return Reply(f"{m.words.say('opened', text=loop_line(m, opened[-1]))} {m.words.say('no_alarm')}", "list_add")


def ended(m: Material) -> Reply:
    """Answer "… is done" and "forget about …"."""
    _, closed = changes(m)
    dropping = m.request.kind == "drop"
    if not closed and m.new:
        return tell(m)
    if closed:
        left = alive(m.after.open_loops)
        rest = m.words.say("left", items=loops_in_short(m, left)) if left else m.words.say("left_none")
        told = noted_text(m, noted_lines(m))
        return Reply(f"{told}{'' if told.endswith(LINE_END) else ' '}{rest}", "drop" if dropping else "done")
    open_now = alive(m.before.open_loops)
    if not dropping and (not open_now or len(m.text.split()) > 2 * KEY_WORDS):
        return tell(m)
    if not open_now:
        return Reply(f"{m.words.say('not_on_list')} {m.words.say('left_none')}", "drop")
    lines = "\n".join(f"{number}. {loop_line(m, loop)}" for number, loop in enumerate(open_now, 1))
    action = "drop" if dropping else "done"
    return Reply(m.words.say("not_on_list_items", items=lines), action, listed=listed_loops(open_now))
