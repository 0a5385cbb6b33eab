"""Open loops: which matters a turn opens, touches and closes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memory.language.intents import (
    action_of,
    asked_at_the_end,
    calls_off,
    is_promise,
    is_request,
)
from memory.language.language import Language
from memory.language.sentences import Sentence, lowered, plain_sentence, shorten, words_of
from memory.types import LoopKind, LoopOwner, LoopStatus, OpenLoop, Owner

MAX_OPEN = 12
ERRAND_MS = 3 * 24 * 3_600_000
"""A matter that is due within so long of being taken on is an errand."""
OVER_MS = 36 * 3_600_000
"""So long after it was due an errand of which nobody spoke again is over."""
MAX_CLOSED = 8
MAX_TEXT_CHARS = 200
SAME = 0.6
"""Share of common stems from which two matters are one."""
ABOUT = 0.33
"""Share of the stems of a loop or of a report, whichever has fewer, that both must name."""
SHORT_REPLY_SENTENCES = 4
ANSWER_WORDS = 4
"""Content words beside its questions from which a reply counts as an answer."""
COVERED = 0.5
"""Share of a loop's stems that a reply must name to settle it when it is asked about or says "I found"."""
MOSTLY_COVERED = 0.6
"""The same for a brief reply that just states it."""
ALIVE = ("open", "snoozed")
SAME_WORDS = 0.6
"""So much of the shorter text's words make two texts of one turn the same matter."""


@dataclass(frozen=True, slots=True)
class LoopDraft:
    """A loop that a turn may open."""

    kind: LoopKind
    owner: Owner
    sentence: Sentence
    due_at_ms: int | None = None
    due_exact: bool = True


@dataclass(frozen=True, slots=True)
class Moment:
    """The turn that changes loops: its id, place and time."""

    turn_id: str
    seq: int
    at_ms: int


def stems(loop: OpenLoop, language: Language) -> frozenset[str]:
    """Return the stems of what the loop is about."""
    return _stems_of_text(loop.text, language)


@lru_cache(maxsize=2_048)
def _stems_of_text(text: str, language: Language) -> frozenset[str]:
    return plain_sentence(lowered(text), language).stems


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / min(len(left), len(right)) if left and right else 0.0


def alive(loops: Iterable[OpenLoop]) -> tuple[OpenLoop, ...]:
    """Return the loops that are open or snoozed."""
    return tuple(loop for loop in loops if loop.status in ALIVE)


def closed(loop: OpenLoop, status: LoopStatus, at_ms: int, turn_id: str | None) -> OpenLoop:
    """Return the loop with its end written down."""
    return loop.model_copy(update={"status": status, "touched_at_ms": at_ms, "closed_turn_id": turn_id})


def find(loops: Sequence[OpenLoop], about: frozenset[str], language: Language) -> OpenLoop | None:
    """Return the live loop that the stems speak of most, newest first among equals, or None."""
    best: tuple[float, int, int] | None = None
    for index, loop in enumerate(loops):
        if loop.status not in ALIVE:
            continue
        own = stems(loop, language)
        share = _overlap(own, about)
        if share >= ABOUT and (best is None or (share, loop.touched_at_ms, index) > best):
            best = (share, loop.touched_at_ms, index)
    return loops[best[2]] if best else None


def latest(loops: Sequence[OpenLoop], owner: LoopOwner | None = None) -> OpenLoop | None:
    """Return the live loop that was touched last, or None."""
    candidates = [loop for loop in alive(loops) if owner is None or loop.owner == owner]
    return max(candidates, key=lambda loop: (loop.touched_at_ms, loop.opened_seq, loop.loop_id), default=None)


def add(
    loops: Sequence[OpenLoop], drafts: Sequence[LoopDraft], moment: Moment, language: Language
) -> tuple[OpenLoop, ...]:
    """Return the loops with the drafts opened; a draft about a matter that is open already only touches it."""
    result = list(loops)
    number = sum(loop.turn_id == moment.turn_id for loop in result)
    for draft in drafts:
        same = next((i for i, loop in enumerate(result) if _is_same(loop, draft, language)), None)
        if same is not None:
            due = {"due_at_ms": draft.due_at_ms, "due_exact": draft.due_exact} if draft.due_at_ms else {}
            result[same] = result[same].model_copy(update={"touched_at_ms": moment.at_ms, **due})
            continue
        number += 1
        result.append(
            OpenLoop(
                loop_id=f"{moment.turn_id}.{number}",
                kind=draft.kind,
                owner=draft.owner,
                text=shorten(draft.sentence.text, MAX_TEXT_CHARS),
                turn_id=moment.turn_id,
                opened_seq=moment.seq,
                opened_at_ms=moment.at_ms,
                touched_at_ms=moment.at_ms,
                due_at_ms=draft.due_at_ms,
                due_exact=draft.due_exact,
            )
        )
    return bounded(result)


def _is_same(loop: OpenLoop, draft: LoopDraft, language: Language) -> bool:
    if loop.status not in ALIVE:
        return False
    if lowered(loop.text) == lowered(shorten(draft.sentence.text, MAX_TEXT_CHARS)):
        return True
    left, right = stems(loop, language), draft.sentence.stems
    told = right - _recalling(draft.sentence, language)
    if told < right and told and told <= left:
        return True
    return (left == right and bool(left)) or (min(len(left), len(right)) > 1 and _overlap(left, right) > SAME)


def _recalling(sentence: Sentence, language: Language) -> frozenset[str]:
    """Return the stems of the words that only say that something is to be done: of "don't forget the milk" one."""
    found = language.cues["obligation"].search(sentence.lower) if "obligation" in language.cues else None
    return plain_sentence(found.group(), language).stems if found else frozenset()


def is_same_matter(loop: OpenLoop, noted: OpenLoop) -> bool:
    """Return True for a live loop of the turn that a noted matter rests on, when one says most of the other's words."""
    return loop.status in ALIVE and says_the_same(loop, noted)


def says_the_same(loop: OpenLoop, noted: OpenLoop) -> bool:
    """Return True when both rest on one turn and one says most of the other's words."""
    if loop.turn_id != noted.turn_id:
        return False
    left, right = (frozenset(words_of(lowered(each.text))) for each in (loop, noted))
    return _overlap(left, right) >= SAME_WORDS


def bounded(loops: Sequence[OpenLoop]) -> tuple[OpenLoop, ...]:
    """Return at most 12 live loops (longest untouched go first) and the last 8 that ended, in the order of opening."""
    living = sorted(alive(loops), key=lambda loop: (loop.touched_at_ms, loop.opened_seq))[-MAX_OPEN:]
    ended = sorted((loop for loop in loops if loop.status not in ALIVE), key=lambda loop: loop.touched_at_ms)[
        -MAX_CLOSED:
    ]
    keep = {loop.loop_id for loop in living} | {loop.loop_id for loop in ended}
    return tuple(loop for loop in loops if loop.loop_id in keep)


def defers(assistant: tuple[Sentence, ...], language: Language) -> bool:
    """Return whether the reply puts the matter off or does not know."""
    short = len(assistant) <= SHORT_REPLY_SENTENCES
    return any(
        (language.has("deferral", s.lower) or (short and language.has("unsure", s.lower)))
        and not s.asks
        and not s.text.endswith(":")
        for s in {*assistant[:2], *assistant[-2:]}
    )


def drafts_of(
    user: tuple[Sentence, ...], assistant: tuple[Sentence, ...], language: Language, *, has_job: bool, failed: bool
) -> tuple[LoopDraft, ...]:
    """Return what the turn leaves unfinished: the user's promises, what the reply put off, the assistant's promises."""
    drafts = [LoopDraft(_promise_kind(s, language), "user", s) for s in user if _is_own_task(s, language)]
    promised = [] if has_job else _own_promises(assistant, language)
    later = any(is_request(s, language) and action_of((s,), language) == "remind" for s in user)
    waiting = later or asks_back(assistant, language) or defers(assistant, language) or failed or not assistant
    asked = [s for s in user if _asks_for_something(s, language)]
    if (waiting or promised) and asked and not has_job:
        kind: LoopKind = "request" if is_request(asked[-1], language) or not asked[-1].asks else "question"
        drafts.append(LoopDraft(kind, "assistant", asked[-1]))
    else:
        drafts += promised
    return tuple(drafts)


def intentions(user: tuple[Sentence, ...], language: Language) -> tuple[LoopDraft, ...]:
    """Return what the user only wants or plans to do; it becomes a loop if it has a day or time."""
    return tuple(
        LoopDraft("task", "user", s)
        for s in user
        if language.has("intention", s.lower)
        and s.content
        and not (s.asks or is_promise(s, language) or calls_off(s, language) or language.has("hypothetical", s.lower))
    )


def asks_back(assistant: tuple[Sentence, ...], language: Language) -> bool:
    """Return whether the reply is a question in place of an answer, and not an answer that ends with a question."""
    if not asked_at_the_end(assistant, language):
        return False
    told = [word for s in assistant if not s.asks and not s.listed for word in s.content]
    return len(told) < ANSWER_WORDS


def _asks_for_something(sentence: Sentence, language: Language) -> bool:
    if not sentence.content or is_promise(sentence, language) or language.has("courtesy_question", sentence.lower):
        return False
    return sentence.asks or is_request(sentence, language)


def _is_own_task(sentence: Sentence, language: Language) -> bool:
    return (
        is_promise(sentence, language) and bool(sentence.content) and not language.has("hypothetical", sentence.lower)
    )


def _promise_kind(sentence: Sentence, language: Language) -> LoopKind:
    return "commitment" if language.has("commitment", sentence.lower) else "task"


def _own_promises(assistant: tuple[Sentence, ...], language: Language) -> list[LoopDraft]:
    return [
        LoopDraft("commitment", "assistant", s)
        for s in assistant
        if is_promise(s, language) and language.has("later", s.lower) and not s.text.endswith(":")
    ][:2]


def close_by_assistant(
    loops: tuple[OpenLoop, ...],
    user: tuple[Sentence, ...],
    assistant: tuple[Sentence, ...],
    moment: Moment,
    language: Language,
) -> tuple[OpenLoop, ...]:
    """Return the loops after what the assistant delivers or answers."""
    if not assistant or defers(assistant, language) or asked_at_the_end(assistant, language):
        return loops
    said = frozenset[str]().union(*(s.stems for s in assistant))
    asked = frozenset[str]().union(*(s.stems for s in user if s.asks or "request" in s.signs))
    delivers = any(language.has("delivery", s.lower) or language.has("action_report", s.lower) for s in assistant[:3])
    own = tuple(loop for loop in loops if loop.owner == "assistant")
    target = _covered(own, asked, language, COVERED)
    if target is None and (delivers or len(assistant) <= SHORT_REPLY_SENTENCES):
        target = _covered(own, said, language, COVERED if delivers else MOSTLY_COVERED)
    if target is None or target.turn_id == moment.turn_id:
        return loops
    status: LoopStatus = "answered" if target.kind == "question" else "done"
    return replaced(loops, closed(target, status, moment.at_ms, moment.turn_id))


def _covered(loops: Sequence[OpenLoop], said: frozenset[str], language: Language, share: float) -> OpenLoop | None:
    """Return the live loop of whose stems at least the share is said."""
    target = find(loops, said, language)
    own = stems(target, language) if target else frozenset()
    return target if own and len(own & said) >= share * len(own) else None


def replaced(loops: tuple[OpenLoop, ...], changed: OpenLoop) -> tuple[OpenLoop, ...]:
    """Return the loops with one changed."""
    return tuple(changed if loop.loop_id == changed.loop_id else loop for loop in loops)


def ended_by_time(
    loops: tuple[OpenLoop, ...], at_ms: int, asked: Sequence[Sentence], language: Language
) -> tuple[OpenLoop, ...]:
    """Return the loops with those errands let go whose day is long over and of which nobody spoke again.

    An errand is a matter of the person's that was due within three days of being taken on; it ends a day and a half
    after it was due, unless the reply asks (`asked`) what became of it: then it waits as long for the answer. What has
    a date further ahead stays until somebody says what became of it.
    """
    about = find(loops, frozenset[str]().union(*(sentence.stems for sentence in asked)), language)
    left = []
    for loop in loops:
        if not _is_past_errand(loop, at_ms):
            left.append(loop)
        elif about is not None and loop.loop_id == about.loop_id:
            left.append(loop.model_copy(update={"touched_at_ms": at_ms}))
        else:
            left.append(closed(loop, "dropped", at_ms, None))
    return tuple(left)


def _is_past_errand(loop: OpenLoop, at_ms: int) -> bool:
    if loop.status != "open" or loop.owner != "user" or loop.due_at_ms is None:
        return False
    short = loop.due_at_ms - loop.opened_at_ms <= ERRAND_MS
    return short and at_ms - max(loop.due_at_ms, loop.touched_at_ms, loop.snoozed_until_ms or 0) > OVER_MS


def wake(loops: tuple[OpenLoop, ...], at_ms: int) -> tuple[OpenLoop, ...]:
    """Return the loops with those awake whose snooze is over."""
    return tuple(
        loop.model_copy(update={"status": "open"})
        if loop.status == "snoozed" and (loop.snoozed_until_ms or loop.due_at_ms or 0) <= at_ms
        else loop
        for loop in loops
    )
