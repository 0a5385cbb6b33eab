"""The state of a session as a fold of its turns: topics, open loops, clarifications, references, status. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from memory.language.due_dates import find_due
from memory.language.intents import (
    TurnSigns,
    action_of,
    asked_at_the_end,
    calls_off,
    intent_of,
    is_offer,
    read_sentences,
    reply_sign,
    response_type_of,
    starts_with,
)
from memory.language.language import Language
from memory.language.languages import Languages
from memory.language.sentences import Sentence, clean, plain_sentence, shorten
from memory.state import listed as listed_rules
from memory.state import loops as loop_rules
from memory.state import topics as topic_rules
from memory.state.loop_reports import close_by_user
from memory.state.loops import LoopDraft, Moment
from memory.state.references import MAX_ENTITIES, options_of, resolve
from memory.types import (
    ASKS_BACK,
    REARRANGES,
    ConversationTurn,
    JobStep,
    LoopKind,
    LoopStatus,
    OpenLoop,
    Owner,
    PendingClarification,
    SessionState,
    ShownList,
)

DUE_HOUR = 18
"""When only the day is said by which something is due."""
MAX_PENDING = 3
PENDING_TURNS = 3
"""A question that was passed over for this many turns is not waited for any longer."""
MAX_JOB_REFS = 20
MAX_JOB_STEPS = 20
MAX_UNDONE = 200
MAX_QUESTION_CHARS = 300


@dataclass(frozen=True, slots=True)
class Reading:
    """A turn as read: both sides as sentences, in one language."""

    language: Language
    user: tuple[Sentence, ...]
    assistant: tuple[Sentence, ...]


def new_state(session_id: str, conversation_id: str) -> SessionState:
    """Return the state of a session before its first turn."""
    return SessionState(session_id=session_id, conversation_id=conversation_id)


def _read(user_text: str, assistant_text: str, language: Language) -> Reading:
    return Reading(language, read_sentences(user_text, language), read_sentences(assistant_text, language))


def _language_of(user_text: str, assistant_text: str, languages: Languages, default: str) -> Language:
    """Return the language of a message; a short one is taken together with the reply to it."""
    short = len(user_text) < MAX_QUESTION_CHARS
    return languages.detect(f"{user_text} {assistant_text[:MAX_QUESTION_CHARS]}" if short else user_text, default)


def read_turn(
    state: SessionState,
    user_text: str,
    assistant_text: str,
    languages: Languages,
    default_language: str | None = None,
    *,
    authored: str | None = None,
) -> TurnSigns:
    """Return what a turn is before it is stored: intent, action name, response type and language; never raises.

    `state` is the state before the turn; when the texts do not tell, `default_language` counts, or that of before.
    `authored` is what the reply says in the program's own name, None when all of it is the assistant's.
    """
    language = _language_of(user_text, assistant_text, languages, default_language or state.language or "en")
    reading = _read(user_text, assistant_text if authored is None else authored, language)
    return TurnSigns(
        intent=_intent(state, reading),
        action_name=action_of(reading.user, language),
        response_type=response_type_of(reading.assistant, language),
        language=language.code,
    )


def _intent(state: SessionState, reading: Reading) -> str:
    intent = intent_of(reading.user, reading.language)
    answers = state.pending_clarifications and intent in {"chat", "statement"}
    return "answer" if answers else intent


def apply_turn(
    state: SessionState, turn: ConversationTurn, languages: Languages, zone: str | None = None
) -> SessionState:
    """Return the state after one more turn; a turn that the state has seen already changes nothing.

    Deterministic and bounded whatever the text: at most 8 topics, 12 live loops, 3 pending questions, 12 references.
    `zone` is the user's time zone, in which "by Friday" is read; without it that of the state.
    Everything but the turn's digest is kept up to date.
    Never raises for a turn that the contract accepts.
    """
    if turn.seq <= state.last_seq:
        return state
    if turn.unfiled:
        return counted(state, turn)
    known = languages.get(turn.language) if turn.language else None
    language = known or _language_of(turn.user_text, turn.assistant_text, languages, state.language or "en")
    reading = _read(turn.user_text, turn.spoken, language)
    own = replace(reading, user=()) if turn.third_party or turn.action_name in REARRANGES else reading
    own = replace(own, assistant=()) if turn.action_name in REARRANGES else own
    loops = _loops(state, turn, own, zone or state.time_zone)
    pending = _pending(state, turn, own)
    moment = Moment(turn.turn_id, turn.seq, turn.created_at_ms)
    loops = loop_rules.add(loops, _passed_over(state, pending, own), moment, language)
    answering = bool(state.pending_clarifications)
    shifted = topic_rules.is_shift(state.active_topics, reading.user, language, answering=answering)
    return counted(state, turn).model_copy(
        update={
            "status": "awaiting_clarification" if pending else "active",
            "language": language.code if reading.user else state.language,
            "active_topics": topic_rules.touch(
                state.active_topics, reading.user, reading.assistant, turn.seq, language, shifted=shifted
            ),
            "open_loops": loops,
            "pending_clarifications": pending,
            "resolved_entities": _entities(state, turn, loops, language),
            "listed": _listed(state, turn, loops, language),
            "active_job_refs": tuple(dict.fromkeys((*state.active_job_refs, *turn.job_refs)))[-MAX_JOB_REFS:],
        }
    )


def counted(state: SessionState, turn: ConversationTurn) -> SessionState:
    """Return the state with the turn counted and nothing read from it."""
    return state.model_copy(
        update={
            "status": "active",
            "last_intent": turn.intent,
            "last_response_type": turn.response_type,
            "turn_count": state.turn_count + 1,
            "last_seq": turn.seq,
            "last_turn_id": turn.turn_id,
            "last_turn_at_ms": turn.created_at_ms,
        }
    )


def _listed(
    state: SessionState, turn: ConversationTurn, loops: tuple[OpenLoop, ...], language: Language
) -> ShownList | None:
    """Return the list that stands on the screen after the reply: one in it, else the one before while it is fresh."""
    items = listed_rules.items_in(clean(turn.assistant_text), loops, language)
    if items:
        return ShownList(items=items, seq=turn.seq, at_ms=turn.created_at_ms)
    return state.listed if listed_rules.shown_last(state) else None


def _loops(state: SessionState, turn: ConversationTurn, reading: Reading, zone: str) -> tuple[OpenLoop, ...]:
    moment = Moment(turn.turn_id, turn.seq, turn.created_at_ms)
    language = reading.language
    loops = loop_rules.wake(state.open_loops, turn.created_at_ms)
    asked = asked_at_the_end(reading.assistant, language)
    loops = loop_rules.ended_by_time(loops, turn.created_at_ms, asked, language)
    user = reading.user
    loops = _close_affirmed(state, loops, reading, moment) if user else loops
    pointed = partial(listed_rules.meant, state, loops)
    obvious = listed_rules.obvious(state, loops, language)
    loops = close_by_user(loops, user, moment, language, lambda s, words: pointed(s, words, language), obvious=obvious)
    loops = loop_rules.close_by_assistant(loops, user, reading.assistant, moment, language)
    loops = _close_clarified(state, loops, reading, moment)
    failed = turn.response_type in {"refusal", "error"}
    drafts = loop_rules.drafts_of(user, reading.assistant, language, has_job=bool(turn.job_refs), failed=failed)
    due = [_dated(draft, reading, moment, zone) for draft in drafts]
    wanted = [_dated(draft, reading, moment, zone) for draft in loop_rules.intentions(user, language)]
    due += [draft for draft in wanted if draft.due_at_ms is not None]
    return loop_rules.add(loops, due, moment, language)


def _dated(draft: LoopDraft, reading: Reading, moment: Moment, zone: str) -> LoopDraft:
    """Return the draft with its due date, if it names one or the reply that puts it off does."""
    texts = [draft.sentence.text]
    if draft.owner == "assistant":
        texts += [s.text for s in reading.assistant if loop_rules.defers((s,), reading.language)]
    for text in texts:
        due = find_due(text, moment.at_ms, zone, reading.language, DUE_HOUR)
        if due:
            return replace(draft, due_at_ms=due.due_at_ms, due_exact=due.exact)
    return draft


def _close_affirmed(
    state: SessionState, loops: tuple[OpenLoop, ...], reading: Reading, moment: Moment
) -> tuple[OpenLoop, ...]:
    """Close the loop that the assistant asked about ("did you call Ana?") when the user says yes."""
    if (
        not state.pending_clarifications
        or not reading.user
        or not starts_with("yes", reading.user[0], reading.language)
    ):
        return loops
    question = plain_sentence(state.pending_clarifications[-1].question, reading.language)
    if not reading.language.has("past_question", question.lower):
        return loops
    target = listed_rules.asked_about(state, loops, reading.language)
    return _with(loops, loop_rules.closed(target, "done", moment.at_ms, moment.turn_id)) if target else loops


def _close_clarified(
    state: SessionState, loops: tuple[OpenLoop, ...], reading: Reading, moment: Moment
) -> tuple[OpenLoop, ...]:
    """Close what waited for the user's answer once the reply to it neither asks again nor puts it off."""
    language = reading.language
    if not state.pending_clarifications or not reading.assistant:
        return loops
    if asked_at_the_end(reading.assistant, language) or loop_rules.defers(reading.assistant, language):
        return loops
    dropped = any(calls_off(sentence, language) for sentence in reading.user)
    if not dropped and not _answers(state, reading):
        return loops
    asked_seqs = {pending.asked_seq for pending in state.pending_clarifications}
    for loop in loops:
        if loop.owner == "assistant" and loop.status == "open" and loop.opened_seq in asked_seqs:
            status: LoopStatus = "dropped" if dropped else ("answered" if loop.kind == "question" else "done")
            loops = _with(loops, loop_rules.closed(loop, status, moment.at_ms, moment.turn_id))
    return loops


def _with(loops: tuple[OpenLoop, ...], changed: OpenLoop) -> tuple[OpenLoop, ...]:
    return tuple(changed if loop.loop_id == changed.loop_id else loop for loop in loops)


def _answers(state: SessionState, reading: Reading) -> bool:
    """Return whether the user's message answers what the assistant asked last."""
    if not reading.user or not state.pending_clarifications:
        return False
    language = reading.language
    sign = reply_sign(reading.user, language)
    if sign:
        return sign != "why"
    last = state.pending_clarifications[-1]
    if language.has("offer", last.question.lower()) and not last.options:
        return starts_with("yes", reading.user[0], language) or starts_with("no", reading.user[0], language)
    asked = plain_sentence(last.question + " " + " ".join(last.options), language).stems
    said = frozenset[str]().union(*(sentence.stems for sentence in reading.user))
    first = reading.user[0]
    if all(sentence.asks for sentence in reading.user) or language.has("shift", first.lower):
        return bool(asked & said) and not all(sentence.asks for sentence in reading.user)
    return not starts_with("greeting", first, language)


def _pending(state: SessionState, turn: ConversationTurn, reading: Reading) -> tuple[PendingClarification, ...]:
    left: tuple[PendingClarification, ...] = ()
    dropped = any(calls_off(sentence, reading.language) for sentence in reading.user)
    if state.pending_clarifications and not dropped and not _answers(state, reading):
        left = tuple(p for p in state.pending_clarifications if turn.seq - p.asked_seq < PENDING_TURNS)
    asked = tuple(
        PendingClarification(
            question=shorten(sentence.text, MAX_QUESTION_CHARS),
            options=options_of(sentence.text, clean(turn.assistant_text), reading.language),
            turn_id=turn.turn_id,
            asked_seq=turn.seq,
            asked_at_ms=turn.created_at_ms,
        )
        for sentence in asked_at_the_end(reading.assistant, reading.language)
        if turn.action_name not in ASKS_BACK
    )
    new = {p.question for p in asked}
    return (*(p for p in left if p.question not in new), *asked)[-MAX_PENDING:]


def _passed_over(state: SessionState, pending: tuple[PendingClarification, ...], reading: Reading) -> list[LoopDraft]:
    """Return the assistant's questions that are not waited for any longer: they stay as open questions."""
    if _answers(state, reading) or any(calls_off(s, reading.language) for s in reading.user):
        return []
    kept = {p.question for p in pending}
    gone = [
        plain_sentence(p.question, reading.language) for p in state.pending_clarifications if p.question not in kept
    ]
    return [LoopDraft("question", "user", s) for s in gone if not is_offer(s, reading.language) and s.content]


def _entities(
    state: SessionState, turn: ConversationTurn, loops: tuple[OpenLoop, ...], language: Language
) -> dict[str, str]:
    said = resolve(state, turn.user_text, language)
    kept = {key: value for key, value in state.resolved_entities.items() if key not in said and key != "that task"}
    merged = {**kept, **said}
    opened = [loop for loop in loops if loop.turn_id == turn.turn_id]
    target = turn.job_refs[-1] if turn.job_refs else (opened[-1].loop_id if opened else None)
    target = target or said.get("that task") or state.resolved_entities.get("that task")
    return _spoken_of(merged, target) if target else dict(list(merged.items())[-MAX_ENTITIES:])


def _spoken_of(entities: Mapping[str, str], target: str) -> dict[str, str]:
    """Return what references stand for, with what was spoken of last as "that task"."""
    others = {phrase: meant for phrase, meant in entities.items() if phrase != "that task"}
    return dict(list({**others, "that task": target}.items())[-MAX_ENTITIES:])


def _edited(state: SessionState, loops: tuple[OpenLoop, ...]) -> SessionState:
    return state.model_copy(update={"open_loops": loops, "edits": state.edits + 1})


def _loop(state: SessionState, loop_id: str) -> OpenLoop:
    for loop in state.open_loops:
        if loop.loop_id == loop_id:
            return loop
    raise KeyError(loop_id)


def close_loop(
    state: SessionState, loop_id: str, status: LoopStatus, at_ms: int, turn_id: str | None = None
) -> SessionState:
    """Return the state with the loop closed as done, answered or dropped (or opened again), by a turn or by hand.

    Raises `KeyError` when there is none. A closed loop stays in `open_loops` with its status for a while, so that a
    tap on an old button finds it; `live_loops` leaves it out.
    """
    loop = _loop(state, loop_id)
    if loop.status == status:
        return state
    return _edited(state, loop_rules.bounded(_with(state.open_loops, loop_rules.closed(loop, status, at_ms, turn_id))))


def snooze_loop(state: SessionState, loop_id: str, until_ms: int, at_ms: int) -> SessionState:
    """Return the state with the loop asleep until the first turn after a time. Raises `KeyError` when there is none."""
    loop = _loop(state, loop_id)
    snoozed = loop.model_copy(update={"status": "snoozed", "snoozed_until_ms": until_ms, "touched_at_ms": at_ms})
    return _edited(state, _with(state.open_loops, snoozed))


def open_loop(
    state: SessionState,
    text: str,
    *,
    turn_id: str,
    at_ms: int,
    kind: LoopKind = "task",
    owner: Owner = "user",
    due_at_ms: int | None = None,
    language: Language | None = None,
) -> SessionState:
    """Return the state with one more loop, `<turn_id>.<n>`; a matter that is open already is only touched."""
    words = language or Language(code="und")
    draft = LoopDraft(kind, owner, plain_sentence(shorten(clean(text), loop_rules.MAX_TEXT_CHARS), words), due_at_ms)
    moment = Moment(turn_id, state.last_seq, at_ms)
    return _edited(state, loop_rules.add(state.open_loops, [draft], moment, words))


def adopt_loop(state: SessionState, loop: OpenLoop) -> SessionState:
    """Return the state with a loop that was noted elsewhere, so that it can be ended; unchanged when it knows it.

    It takes the place of a live loop that says the same of the same turn: what is ended is ended once and for all.
    """
    if any(each.loop_id == loop.loop_id for each in state.open_loops):
        return state
    same = [each for each in state.open_loops if loop_rules.is_same_matter(each, loop)]
    others = tuple(each for each in state.open_loops if each not in same)
    known = loop.model_copy(update={"opened_seq": max((each.opened_seq for each in same), default=loop.opened_seq)})
    return _edited(state, loop_rules.bounded((*others, known)))


def begin_job(state: SessionState, job_id: str) -> SessionState:
    """Return the state with a job that was made or taken up again, which "it" means; unchanged when it has the job."""
    if job_id in state.active_job_refs:
        return state
    refs = (*state.active_job_refs, job_id)[-MAX_JOB_REFS:]
    entities = _spoken_of(state.resolved_entities, job_id)
    return state.model_copy(
        update={"active_job_refs": refs, "resolved_entities": entities, "edits": state.edits + 1},
    )


def keep_job_steps(state: SessionState, steps: Iterable[JobStep]) -> SessionState:
    """Return the state that knows all that a turn did to jobs, so that it can be taken back; of older turns some."""
    new = tuple(steps)
    kept = (*state.job_steps, *new)[-max(MAX_JOB_STEPS, len(new)) :]
    return state.model_copy(update={"job_steps": kept}) if new else state


def end_job(state: SessionState, job_id: str) -> SessionState:
    """Return the state without a job that is done or cancelled; unchanged when it does not know the job."""
    if job_id not in state.active_job_refs:
        return state
    left = tuple(ref for ref in state.active_job_refs if ref != job_id)
    entities = {phrase: meant for phrase, meant in state.resolved_entities.items() if meant != job_id}
    return state.model_copy(
        update={"active_job_refs": left, "resolved_entities": entities, "edits": state.edits + 1},
    )


def undo(state: SessionState, turn_ids: Iterable[str]) -> SessionState:
    """Return the state in which nothing that these turns changed counts any more.

    Loops that they opened are dropped, those that they closed are open again; so are jobs ended and taken up again.
    """
    new = tuple(turn_id for turn_id in turn_ids if turn_id not in state.undone)
    if not new:
        return state
    loops = tuple(_undone(loop, new, state.last_turn_at_ms) for loop in state.open_loops)
    for step in (each for each in state.job_steps if each.turn_id in new):
        state = begin_job(state, step.job_id) if step.was_status else end_job(state, step.job_id)
    undone = (*state.undone, *new)[-MAX_UNDONE:]
    return state.model_copy(update={"undone": undone, "open_loops": loops, "edits": state.edits + 1})


def _undone(loop: OpenLoop, turn_ids: Collection[str], at_ms: int) -> OpenLoop:
    if loop.turn_id in turn_ids:
        return loop_rules.closed(loop, "dropped", at_ms, None) if loop.status in loop_rules.ALIVE else loop
    return loop_rules.closed(loop, "open", at_ms, None) if loop.closed_turn_id in turn_ids else loop


def taken_up(state: SessionState, at_ms: int) -> SessionState:
    """Return the state of a session that is taken up again: its silence counts from now."""
    return state.model_copy(update={"status": "resuming", "taken_up_at_ms": at_ms, "edits": state.edits + 1})


def live_loops(state: SessionState) -> tuple[OpenLoop, ...]:
    """Return the loops that are open or snoozed, in the order of opening."""
    return loop_rules.alive(state.open_loops)


def session_title(state: SessionState) -> str:
    """Return what the session is about in a few words, e.g. `trip to Rome, budget`; empty while nothing is known."""
    title = topic_rules.title(state.active_topics)
    if title:
        return title[:1].upper() + title[1:]
    loops = live_loops(state)
    return shorten(loops[0].text, 60) if loops else ""


__all__ = [
    "TurnSigns",
    "adopt_loop",
    "apply_turn",
    "begin_job",
    "close_loop",
    "counted",
    "end_job",
    "keep_job_steps",
    "live_loops",
    "new_state",
    "open_loop",
    "read_turn",
    "session_title",
    "snooze_loop",
    "undo",
]
