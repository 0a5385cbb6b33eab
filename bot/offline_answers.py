"""What the offline concierge answers, from what was gathered. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.offline_notes import Held, Matter, Note, about_it, alive, bare_of, matter_of, same, stems
from bot.offline_reading import Request, as_written
from bot.offline_times import day_of, due_of, is_today
from bot.offline_words import Words, words_of
from memory.languages import Language, Languages
from memory.references import resolve
from memory.reported import is_small_talk
from memory.sentences import lowered, shorten
from memory.signs import read_sentences
from memory.types import ConversationTurn, OpenLoop, PendingClarification, SessionState

MAX_CHARS: Final = 3_500
PAGE: Final = 8
MAX_QUOTE_CHARS: Final = 220
MAX_LISTED: Final = 3
DAY_MS: Final = 24 * 3_600_000
KEY_WORDS: Final = 4
MIN_WORD_CHARS: Final = 3

RECALL: Final = "recall"
BEYOND: Final = "beyond"
NOTE: Final = "note"


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that was said before."""

    text: str
    at_ms: int
    who: str
    """"user", "other" or "assistant"."""
    turn_id: str
    code: str = "en"


@dataclass(frozen=True, slots=True)
class Glance:
    """A session in a few words."""

    title: str
    messages: int
    first_at_ms: int
    at_ms: int
    held: tuple[Held, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything an answer is made of."""

    request: Request
    text: str
    words: Words
    language: Language
    now_ms: int
    zone: str
    name: str = ""
    third_party: bool = False
    before: SessionState
    after: SessionState
    """The state as this message leaves it."""
    held: tuple[Held, ...] = ()
    """Notes that stood before this message, oldest first."""
    new: tuple[Note, ...] = ()
    """Notes in this message."""
    quotes: tuple[Quote, ...] = ()
    current: Glance | None = None
    earlier: tuple[Glance, ...] = ()
    """Other sessions, the latest first; none in a session that was started fresh."""
    other_loops: tuple[OpenLoop, ...] = ()
    history: tuple[ConversationTurn, ...] = ()
    rest: bool = False
    """True when the first page was shown already and the user wants what is left."""
    trouble: bool = False
    cite: Callable[[str], str] = str
    """How people's words, said back to them, are set."""
    quote: Callable[[str], str] = str
    """How people's words are set as they were said, so that they are not read as the assistant's own."""

    def day(self, at_ms: int) -> str:
        """Return the day as it is said in a sentence: "on 21 Nov"."""
        return day_of(at_ms, self.now_ms, self.zone, self.words)

    def matter(self, loop: OpenLoop) -> Matter:
        """Return an open loop as it is shown, read in the language it was put in."""
        language = Languages.load().detect(loop.text, default=self.language.code)
        return matter_of(loop, self.zone, language, words_of(language.code))

    @property
    def pending(self) -> PendingClarification | None:
        """The question that waits for an answer."""
        return self.before.pending_clarifications[-1] if self.before.pending_clarifications else None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, what it is called in the turn log, and the questions that it asks."""

    text: str
    action_name: str
    asks: tuple[str, ...] = ()


def plain_citation(text: str) -> str:
    """Return people's words as they go into an answer: on one line, without marks that would make it a question."""
    bare = " ".join(text.split()).translate(_UNWANTED).translate(_QUOTES)
    return shorten(bare, MAX_QUOTE_CHARS).rstrip(" .,;:")


_UNWANTED: Final = {ord(mark): None for mark in "?\uff1f\u061f`*_[]<>"}
_QUOTES: Final = {ord("\u201c"): "'", ord("\u201d"): "'", ord('"'): "'", ord("\u201e"): "'"}


def code_citation(text: str) -> str:
    """Return people's words as code, which the session state does not read at all."""
    return f"`{plain_citation(text)}`"


def compose(m: Material) -> Reply:
    """Return the answer; never empty, at most 3,500 characters."""
    reply = _ANSWERS[m.request.kind](m)
    lines = [reply.text.strip() or m.words.say("beyond_plain")]
    if m.trouble:
        lines.append(m.words.say("trouble"))
    if m.request.tells and m.request.kind not in {"tell", "done", "drop"}:
        noted = _noted_lines(m)
        lines = [*([_noted_text(m, noted)] if noted else []), *lines]
    return Reply(_clip("\n\n".join(lines)), reply.action_name, reply.asks)


def _clip(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    return text[: MAX_CHARS - 2].rsplit("\n", 1)[0].rstrip() + "\n…"


# --- small pieces ---------------------------------------------------------------------------------------------------


def _said(m: Material, text: str) -> str:
    """Return the user's words said back to them."""
    return m.cite(m.words.mirror(text))


def _lower_first(text: str) -> str:
    head, _, _ = text.partition(" ")
    return text[:1].lower() + text[1:] if head.lower() in {"your", "you", "the", "a", "an"} else text


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"• {line}" for line in lines)


def _messages(m: Material, count: int) -> str:
    return m.words.say("one_message") if count == 1 else m.words.say("messages", count=count)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _loop_line(m: Material, loop: OpenLoop) -> str:
    matter = m.matter(loop)
    text = m.cite(matter.text)
    if matter.due_at_ms is None:
        waits = loop.owner == "assistant" and loop.kind == "question"
        return m.words.say("loop_me", text=text) if waits else text
    due = due_of(matter.due_at_ms, m.now_ms, m.zone, m.words, exact=matter.exact)
    key = "loop_due" if matter.due_at_ms >= m.now_ms else "loop_overdue"
    return m.words.say(key, text=text, due=due)


def _loops_in_short(m: Material, loops: Sequence[OpenLoop]) -> str:
    lines = [_loop_line(m, loop) for loop in loops[:MAX_LISTED]]
    more = f" (+{len(loops) - MAX_LISTED})" if len(loops) > MAX_LISTED else ""
    return "; ".join(lines) + more


def _stated(m: Material, note: Note) -> str:
    """Return a note said back to the user; of a decision only what was decided."""
    text = note.text
    lead = m.words.reads("decision_lead", lowered(text)) if note.kind == "decision" else None
    if lead and lead.start() == 0 and lead.end() < len(text) == len(lowered(text)):
        text = text[lead.end() :]
    return _said(m, text)


def _note_line(m: Material, held: Held) -> str:
    text, day = _capital(_stated(m, held.note)), m.day(held.note.at_ms)
    if held.before:
        return m.words.say("note_line_replaced", text=text, day=day, old=_lower_first(_stated(m, held.before)))
    return m.words.say("note_line", text=text, day=day)


def _quote_line(m: Material, quote: Quote) -> str:
    key = {"user": "said_line", "other": "other_said_line"}.get(quote.who, "bot_said_line")
    return m.words.say(key, Day=_capital(m.day(quote.at_ms)), text=m.quote(quote.text))


# --- what it is told ------------------------------------------------------------------------------------------------


def _changes(m: Material) -> tuple[list[OpenLoop], list[OpenLoop]]:
    """Return the loops that this message opens, and those that it closes."""
    known = {loop.loop_id for loop in m.before.open_loops}
    living = {loop.loop_id for loop in alive(m.before.open_loops)}
    opened = [loop for loop in alive(m.after.open_loops) if loop.loop_id not in known and loop.kind != "question"]
    closed = [loop for loop in m.after.open_loops if loop.loop_id in living and loop not in alive(m.after.open_loops)]
    return opened, closed


def _noted_lines(m: Material) -> list[tuple[str, str, str]]:
    """Return what this message brought as (kind, text, remark)."""
    opened, closed = _changes(m)
    lines = [_noted(m, note) for note in m.new]
    lines += [("open", _loop_line(m, loop), "") for loop in opened]
    return lines + [("dropped" if loop.status == "dropped" else "closed", _loop_line(m, loop), "") for loop in closed]


def _noted(m: Material, note: Note) -> tuple[str, str, str]:
    text = _lower_first(_stated(m, note))
    twin = next((held.note for held in m.held if same(held.note, note)), None)
    if twin:
        return "known", text, m.day(twin.at_ms)
    older = next((h.note for h in m.held if note.subject and h.note.subject == note.subject), None)
    if older is None or older.user_id != note.user_id:
        return note.kind, text, ""
    return note.kind, text, m.words.say("replaces", day=m.day(older.at_ms), text=m.cite(older.text))


_SENTENCES: Final = {"open": "opened", "closed": "closed", "dropped": "dropped"}


def _noted_text(m: Material, lines: Sequence[tuple[str, str, str]]) -> str:
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
    return f"{m.words.say('noted_many')}\n{_bullets(items)}"


def _tell(m: Material) -> Reply:
    if m.third_party:
        return Reply(m.words.say("third_party"), NOTE)
    lines = _noted_lines(m)
    parts = [_noted_text(m, lines)] if lines else []
    if not lines:
        parts.append(_answered(m) or _touched(m) or _nod(m) or _kept(m))
    return Reply("\n".join(parts), NOTE)


def _answered(m: Material) -> str:
    if m.pending is None or m.after.pending_clarifications == m.before.pending_clarifications:
        return ""
    return m.words.say("kept_answer", question=m.cite(m.pending.question))


def _touched(m: Material) -> str:
    """Return a line about a matter that was open already and is only said again."""
    touched = {loop.loop_id: loop.touched_at_ms for loop in m.before.open_loops}
    again = [loop for loop in alive(m.after.open_loops) if touched.get(loop.loop_id, m.now_ms) < loop.touched_at_ms]
    return m.words.say("opened_again", text=_loop_line(m, again[0])) if again else ""


def _nod(m: Material) -> str:
    return m.words.say("ok") if is_small_talk(m.text, m.language) else ""


def _kept(m: Material) -> str:
    said = [word for s in read_sentences(bare_of(m.text, m.words), m.language) for word in as_written(s, s.content)]
    names = dict.fromkeys(word for word in said if len(word) >= MIN_WORD_CHARS)
    if len(names) <= 1:
        return m.words.say("kept_plain")
    return m.words.say("kept", words=", ".join(m.cite(word) for word in list(names)[:KEY_WORDS]))


def _remind(m: Material) -> Reply:
    opened, _ = _changes(m)
    if not opened:
        return Reply(_touched(m) or f"{_kept(m)} {m.words.say('no_alarm')}", "list_add")
    return Reply(f"{m.words.say('opened', text=_loop_line(m, opened[-1]))} {m.words.say('no_alarm')}", "list_add")


def _ended(m: Material) -> Reply:
    """Answer "… is done" and "forget about …"."""
    _, closed = _changes(m)
    dropping = m.request.kind == "drop"
    if not closed and m.new:
        return _tell(m)
    if closed:
        left = alive(m.after.open_loops)
        rest = m.words.say("left", items=_loops_in_short(m, left)) if left else m.words.say("left_none")
        return Reply(f"{_noted_text(m, _noted_lines(m))} {rest}", "drop" if dropping else "done")
    open_now = alive(m.before.open_loops)
    if not dropping and (not open_now or len(m.text.split()) > 2 * KEY_WORDS):
        return _tell(m)
    if not open_now:
        return Reply(f"{m.words.say('not_on_list')} {m.words.say('left_none')}", "drop")
    return Reply(m.words.say("not_on_list_items", items=_loops_in_short(m, open_now)), "drop" if dropping else "done")


# --- what it is asked -----------------------------------------------------------------------------------------------


def _found(m: Material) -> list[str]:
    topic, code = m.request.about, m.language.code
    held = about_it(m.held, topic, code, share=m.request.share, limit=3 * PAGE)
    shown = {note.turn_id for one in held for note in (one.note, one.before) if note}
    quotes = [quote for quote in m.quotes if quote.turn_id not in shown]
    if m.request.share:
        held, quotes = _best(held, quotes, stems(topic, code))
    return [_note_line(m, one) for one in held] + [_quote_line(m, quote) for quote in quotes]


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
        return Reply(f"{m.words.say('more_head')}\n{_bullets(lines[PAGE:] or lines)}", action)
    left = len(lines) - PAGE
    question = m.words.say("more", count=left) if left > 0 else ""
    text = "\n\n".join(filter(None, (f"{head}\n{_bullets(lines[:PAGE])}", tail, question)))
    return Reply(text, action, (question,) if question else ())


def _know(m: Material) -> Reply:
    about = f"“{m.cite(m.request.about)}”"
    lines = _found(m)
    if lines:
        return _paged(m, m.words.say("know_head", about=about), lines, RECALL)
    fresh = m.before.isolated
    return Reply(m.words.say("know_nothing_fresh" if fresh else "know_nothing", about=about), RECALL)


def _know_all(m: Material) -> Reply:
    order = {"fact": 0, "preference": 1, "decision": 2}
    held = sorted(m.held, key=lambda one: (order[one.note.kind], -one.note.at_ms))
    if held:
        return _paged(m, m.words.say("know_all_head"), [_note_line(m, one) for one in held], RECALL)
    fresh = m.before.isolated
    return Reply(m.words.say("know_nothing_yet_fresh" if fresh else "know_nothing_yet"), RECALL)


def _open(m: Material) -> Reply:
    own = alive(m.before.open_loops)
    if not own and not m.other_loops:
        return Reply(m.words.say("open_none"), "list_open")
    if len(own) == 1 and not m.other_loops:
        question = _did_you(m, own)
        text = m.words.say("open_one", text=_loop_line(m, own[0]))
        return Reply("\n".join(filter(None, (text, question))), "list_open", (question,) if question else ())
    lines = [f"{number}. {_loop_line(m, loop)}" for number, loop in enumerate(own, 1)]
    parts = ["\n".join([m.words.say("open_head"), *lines])] if own else []
    if m.other_loops:
        parts.append(f"{m.words.say('open_earlier')}\n{_bullets(_loop_line(m, loop) for loop in m.other_loops)}")
    return Reply("\n\n".join([*parts, m.words.say("open_hint")]), "list_open")


def _did_you(m: Material, loops: Sequence[OpenLoop]) -> str:
    """Return the question whether an overdue matter was done; its answer closes it. Only where it can be put well."""
    for loop in loops:
        matter = m.matter(loop)
        late = matter.due_at_ms is not None and matter.due_at_ms < m.now_ms
        if late and loop.owner == "user" and m.words.reads("verb_lead", lowered(matter.text)):
            return m.words.say("did_you", text=plain_citation(matter.text))
    return ""


def _decided(m: Material) -> Reply:
    decisions = [one for one in m.held if one.note.kind == "decision"]
    topic = m.request.about
    if topic:
        found = about_it(decisions, topic, m.language.code, limit=3 * PAGE)
        if not found:
            text = m.words.say("decided_none_about", about=f"“{m.cite(topic)}”")
            lines = [_note_line(m, one) for one in about_it(m.held, topic, m.language.code, limit=MAX_LISTED)]
            return Reply("\n".join([text, *([_bullets(lines)] if lines else [])]), "list_decisions")
        head = m.words.say("decided_about_head", about=f"“{m.cite(topic)}”")
        return _paged(m, head, [_note_line(m, one) for one in found], "list_decisions")
    if not decisions:
        return Reply(m.words.say("decided_none"), "list_decisions")
    lines = [_note_line(m, one) for one in reversed(decisions)]
    return _paged(m, m.words.say("decided_head"), lines, "list_decisions")


def _glance_lines(m: Material, glance: Glance) -> list[str]:
    messages, day = _messages(m, glance.messages), _capital(m.day(glance.at_ms))
    key = "talked_earlier" if glance.title else "talked_earlier_plain"
    head = m.words.say(key, Day=day, topics=m.cite(glance.title), messages=messages)
    return [head, *(f"  · {_capital(_stated(m, one.note))}" for one in glance.held[-MAX_LISTED:])]


def _talked(m: Material) -> Reply:
    earlier = m.earlier
    lines: list[str] = []
    if m.request.span != "before":
        lines.append(_now_line(m))
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
    messages, day = _messages(m, m.current.messages), m.day(m.current.first_at_ms)
    key = "talked_now" if m.current.title else "talked_now_plain"
    return m.words.say(key, messages=messages, day=day, topics=m.cite(m.current.title))


def _summarize(m: Material) -> Reply:
    parts = [_now_line(m)]
    if m.current and m.current.held:
        parts.append(f"{m.words.say('noted_many')}\n{_bullets(_note_line(m, one) for one in m.current.held[-PAGE:])}")
    own = alive(m.before.open_loops)
    if own:
        parts.append(f"{m.words.say('open_head')}\n{_bullets(_loop_line(m, loop) for loop in own[:PAGE])}")
    elif m.current and m.current.messages:
        parts.append(m.words.say("open_none"))
    return Reply("\n\n".join(parts), "summarize")


def _question(m: Material) -> Reply:
    lines = _found(m)[: PAGE // 2]
    if lines:
        return Reply(f"{m.words.say('beyond_found')}\n{_bullets(lines)}", RECALL)
    if not m.request.about:
        return Reply(m.words.say("beyond_plain"), BEYOND)
    about = ", ".join(f"“{m.cite(word)}”" for word in m.request.about.split()[:KEY_WORDS])
    return Reply(m.words.say("beyond", about=about), BEYOND)


def _task(m: Material) -> Reply:
    if _noted_lines(m):
        return _tell(m)
    lines = _found(m)[: PAGE // 2]
    if lines:
        return Reply(f"{m.words.say('beyond_found')}\n{_bullets(lines)}", RECALL)
    return Reply(m.words.say("beyond_task"), BEYOND)


# --- short replies and courtesies -----------------------------------------------------------------------------------


def _yes(m: Material) -> Reply:
    _, closed = _changes(m)
    if closed:
        return _ended(m)
    if m.pending is None:
        plain = m.words.asked("plain_yes", lowered(m.text.strip()))
        return Reply(m.words.say("yes_nothing" if plain else "ok"), "acknowledge")
    return _answer_kept(m, m.pending)


def _no(m: Material) -> Reply:
    if m.pending is None:
        return Reply(m.words.say("no_nothing"), "acknowledge")
    overdue = next((loop for loop in alive(m.before.open_loops) if _did_you(m, [loop]) == m.pending.question), None)
    if overdue:
        return Reply(m.words.say("stays_open", text=_loop_line(m, overdue)), "acknowledge")
    if is_more(m.pending.question, m.words):
        return Reply(m.words.say("no_fine"), "acknowledge")
    return _answer_kept(m, m.pending)


def _answer_kept(m: Material, pending: PendingClarification) -> Reply:
    question, reply = m.cite(pending.question), m.cite(m.text)
    return Reply(m.words.say("yes_other", reply=reply, question=f"“{question}”."), "acknowledge")


def is_more(question: str, words: Words) -> bool:
    """Return whether this is our own question whether to show the rest."""
    head, _, tail = words.answers["more"].partition("{count}")
    return question.startswith(head) and question.endswith(tail)


def _choice(m: Material) -> Reply:
    values = resolve(m.before, m.text, m.language).values()
    loops = {loop.loop_id: loop for loop in m.before.open_loops}
    _, closed = _changes(m)
    if closed:
        return _ended(m)
    for value in values:
        if value in loops:
            return Reply(_loop_detail(m, loops[value]), "list_open")
        if m.pending and value in m.pending.options:
            question = m.cite(m.pending.question)
            return Reply(m.words.say("chosen_option", question=question, option=m.cite(value)), "acknowledge")
    return Reply(m.words.say("choice_nothing"), "acknowledge")


def _loop_detail(m: Material, loop: OpenLoop) -> str:
    since = m.words.say("said_line", Day=_capital(m.day(loop.opened_at_ms)), text=m.quote(loop.text))
    return f"{_capital(_loop_line(m, loop))}.\n{since}"


_WHY: Final = {RECALL: "why_found", BEYOND: "why_beyond", NOTE: "why_note", "list_add": "why_note", "done": "why_note"}


def _why(m: Material) -> Reply:
    if not m.history:
        return Reply(m.words.say("why_nothing"), "explain")
    return Reply(m.words.say(_WHY.get(m.history[-1].action_name or "", "why_beyond")), "explain")


def _hello(m: Material) -> Reply:
    parts = [m.words.say("hello", name=f" {m.name}" if m.name else "")]
    own = alive(m.before.open_loops)
    if not m.history and m.earlier and m.earlier[0].title:
        glance = m.earlier[0]
        parts.append(m.words.say("hello_last", day=m.day(glance.at_ms), topics=m.cite(glance.title)))
    waiting = [*own, *m.other_loops]
    question = _did_you(m, own)
    if question:
        parts.append(question)
    elif waiting:
        parts.append(m.words.say("hello_open", items=_loops_in_short(m, waiting)))
    elif len(parts) == 1:
        parts.append(m.words.say("hello_new"))
    return Reply(" ".join(parts), "greet", (question,) if question else ())


def _bye(m: Material) -> Reply:
    own = alive(m.before.open_loops)
    return Reply(m.words.say("bye_open", items=_loops_in_short(m, own)) if own else m.words.say("bye"), "farewell")


def _clock(m: Material) -> Reply:
    moment = due_of(m.now_ms, m.now_ms + 7 * DAY_MS, m.zone, m.words)
    return Reply(m.words.say("clock", moment=moment, zone=m.zone), "small_talk")


def _line(key: str, action: str) -> Callable[[Material], Reply]:
    return lambda m: Reply(m.words.say(key), action)


_ANSWERS: Final[dict[str, Callable[[Material], Reply]]] = {
    "who": _line("who", "introduce"),
    "help": _line("help", "help"),
    "connect": _line("connect", "help"),
    "clock": _clock,
    "how_are_you": _line("how_are_you", "small_talk"),
    "thanks": _line("thanks", "small_talk"),
    "laughs": _line("laughs", "small_talk"),
    "wordless": _line("wordless", "small_talk"),
    "forget_all": _line("forget_all", "explain"),
    "greeting": _hello,
    "goodbye": _bye,
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
    "done": _ended,
    "drop": _ended,
    "remind": _remind,
    "task": _task,
    "question": _question,
    "tell": _tell,
}
