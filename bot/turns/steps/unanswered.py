"""Messages whose answer never came: the next message of their person takes them up, in one turn with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

import structlog

from bot import replies
from bot.delivery.outbox import OutgoingMessage
from bot.intake.inbox import GOES_ON, WAITS, Parked
from bot.intake.updates import Envelope
from bot.people.spending import TOO_FAST, USED_UP
from bot.turns.services import Services
from bot.turns.waiting import next_batch
from memory.errors import Conflict
from memory.ledger.lines import brief_moment
from memory.ports import Row, Statement
from memory.process import faults
from memory.text import shorten
from memory.types import PRIVATE

log = structlog.get_logger(__name__)

MOST_AGE_MS: Final = 86_400_000
"""A message of the day before waits for its button: what it was about may be over."""
MOST_TRIES: Final = 3
"""A message that may itself be what no answer comes to goes along no further: else it would hold up all behind it."""
APART_MS: Final = 300_000
"""Below this "in an hour" means the same for both messages, and no time is told."""
QUOTED_CHARS: Final = 80

_OF_THE_MESSAGE: Final = frozenset({"Declined", "Refused", "CutOff", "TooLong", "Endless"})
"""Failures that would come again with the same words."""
_OF_ITS_FILE: Final = frozenset({"unreachable", "away", "slow", "garbage", "refused", "missing", "damaged"})
"""Without its file nobody knows its words."""
_OF_NO_MESSAGE: Final = frozenset({"NoKey", "Budget", USED_UP, TOO_FAST})
_STATUS: Final = re.compile(r"\w+ (\d{3})")
_STATUS_OF_NO_MESSAGE: Final = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.PAYMENT_REQUIRED,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
_STATUS_OF_WAITING: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT})

LATER = "“{text}” was written on {when}, when no answer could be had: its days and hours count from then."


def goes_along(reason: str, *, tries: int = 1, age_ms: int = 0) -> bool:
    """Return whether a message that was parked for this reason is answered with the next one of its person.

    Not one that waits for a word of its person, that was declined for itself, or whose file cannot be had. `tries` is
    how often its person was told that there is no answer.

    >>> goes_along("Status 503", tries=9), goes_along("TimeoutError", tries=2), goes_along("Declined")
    (True, True, False)
    """
    if age_ms > MOST_AGE_MS or reason in (WAITS, GOES_ON):
        return False
    name, found = reason.partition(":")[0], _STATUS.fullmatch(reason)
    status = int(found[1]) if found else None
    if name in _OF_NO_MESSAGE or status in _STATUS_OF_NO_MESSAGE:
        return True
    is_refused = status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _STATUS_OF_WAITING
    return not (is_refused or name in _OF_THE_MESSAGE | _OF_ITS_FILE) and tries < MOST_TRIES


def is_of_this_talk(received_at_ms: int, starts: Sequence[Row], current_id: str) -> bool:
    """Return whether no clean start came behind a message, and no private conversation that is over holds it.

    `starts` are the sessions of its conversation, the latest first.
    """
    since = [row for row in starts if row["created_at_ms"] > received_at_ms]
    its = starts[len(since)] if len(since) < len(starts) else None
    if any(row["origin"] in ("fresh", PRIVATE) for row in since):
        return False
    return its is None or its["origin"] != PRIVATE or its["session_id"] == current_id


@dataclass(frozen=True, slots=True)
class _Turn:
    """One turn that waits, with its updates."""

    turn_id: str
    rows: tuple[Parked, ...]


class UnansweredMessages:
    """Finds them, and makes them part of the next turn."""

    def __init__(self, services: Services, has_answer: Callable[[str], bool]) -> None:
        """`has_answer` says whether the answer of a turn was made and could not be stored: [Try again] stores that."""
        self._services = services
        self._has_answer = has_answer

    async def with_these(self, batch: Sequence[Envelope]) -> Sequence[Envelope]:
        """Return these messages behind those of the same person whose answer never came, as the turn of those.

        They keep that turn: its calls of tools are made, its reminder is set. A crash behind the write leaves them
        `claimed` for it, and these as they were: the next start answers both, one after the other.
        Rules answer one matter at a time, so without a model each waits for its button. Raises `StorageUnavailable`.
        """
        if not self._services.settings.by_model or not _begins(batch):
            return batch
        turns = await self._waiting(batch[0])
        if not turns or await self._is_correction(batch):
            return batch
        first, others = await self._joined(turns)
        taken = sorted((each for turn in (first, *others) for each in turn.rows), key=lambda each: each.position)
        earlier = [each.envelope for each in taken]
        whole = [replace(each, turn_id=first.turn_id) for each in (*earlier, *batch)]
        if next_batch(whole) < len(whole):  # more than one turn takes in
            return batch
        try:
            await self._services.db.write(
                *(row for turn in (first, *others) for row in self._take_up(turn, first, batch[0].conversation_id))
            )
        except Conflict:  # a tap, or /retry, was first: it has its own turn
            return batch
        faults.point("unanswered_taken_up")
        log.info("unanswered messages are taken up", turn_id=first.turn_id, updates=len(earlier))
        return whole

    async def _waiting(self, new: Envelope) -> list[_Turn]:
        """The turns that go along with a new message, in order of writing."""
        services, here = self._services, new.conversation_id
        now_ms, found = services.clock.now_ms(), dict[str, list[Parked]]()
        for each in await services.inbox.parked_here(services.me, here):
            found.setdefault(str(each.envelope.turn_id), []).append(each)
        turns = [_Turn(turn_id, tuple(rows)) for turn_id, rows in found.items()]
        fit = [turn for turn in turns if self._fits(turn, new, now_ms)]
        if not fit:
            return []
        current = await services.memory.session(here, new.user_id)
        starts = await services.db.read("sessions_begun", conversation_id=here)
        return [
            turn for turn in fit if is_of_this_talk(turn.rows[0].envelope.received_at_ms, starts, current.session_id)
        ]

    def _fits(self, turn: _Turn, new: Envelope, now_ms: int) -> bool:
        if turn.rows[0].envelope.kind != "text" or self._has_answer(turn.turn_id):
            return False
        return all(
            _is_by(new, each.envelope)
            and goes_along(each.reason, tries=each.tries, age_ms=now_ms - _written(each.envelope))
            for each in turn.rows
        )

    async def _joined(self, turns: Sequence[_Turn]) -> tuple[_Turn, list[_Turn]]:
        """The turn that all become, and the others that leave nothing behind under their own names.

        What was called, set or brought for a turn is bound to it: a second such turn waits for its button.
        """
        if len(turns) == 1:
            return turns[0], []
        bound = [turn for turn in turns if await self._is_bound(turn)]
        first = (bound or turns)[0]
        return first, [turn for turn in turns if turn not in (first, *bound)]

    async def _is_bound(self, turn: _Turn) -> bool:
        services, here = self._services, turn.rows[0].envelope.conversation_id
        if any(each.envelope.files for each in turn.rows) or await services.calls.of_turns([turn.turn_id]):
            return True
        ledger = await services.memory.ledgers.read(here)
        return any(turn.turn_id in note.turn_ids for note in ledger)

    def _take_up(self, turn: _Turn, first: _Turn, here: str) -> list[Statement]:
        rows = [self._services.inbox.take_up(turn.turn_id, first.turn_id, len(turn.rows))]
        if turn is not first:
            names = {"conversation_id": here, "was": turn.turn_id, "turn_id": first.turn_id}
            rows.append(Statement("parked_buttons_move", names))
        return rows

    async def _is_correction(self, batch: Sequence[Envelope]) -> bool:
        """Whether a message puts the words right that were heard in a recording: it is no turn."""
        only = batch[0]
        if len(batch) > 1 or only.replies_to is None:
            return False
        where = {"bot_id": only.bot_id, "conversation_id": only.conversation_id, "message_id": only.replies_to}
        return await self._services.db.read_one("heard_of_message", **where) is not None


async def answered_below(services: Services, batch: Sequence[Envelope], turn_id: str) -> dict[int, OutgoingMessage]:
    """The edits that take the buttons from the notices of a turn that is answered further down, by their messages.

    Raises `StorageUnavailable`.
    """
    if all(each.fresh for each in batch):
        return {}
    here = batch[-1].conversation_id
    rows = await services.db.read("parked_buttons_on_screen", conversation_id=here, turn_id=turn_id)
    said = replies.say("answered_below")
    return {row["message_id"]: OutgoingMessage(said, edits_message_id=row["message_id"]) for row in rows}


def written_before(batch: Sequence[Envelope], time_zone: str) -> list[str]:
    """Lines for the model with the time of each message that was written well before the last one of its turn."""
    at_ms: Mapping[int | None, int] = {each.message_id: each.sent_at_ms for each in batch if each.sent_at_ms}
    words = {each.message_id: each.text for each in batch if each.kind != "addition"}
    last_ms = batch[-1].sent_at_ms
    return [
        LATER.format(text=shorten(words[message_id], QUOTED_CHARS), when=brief_moment(last_ms, sent_ms, time_zone))
        for message_id, sent_ms in at_ms.items()
        if message_id in words and last_ms - sent_ms >= APART_MS
    ]


def _begins(batch: Sequence[Envelope]) -> bool:
    """Whether these messages have just come and become a turn."""
    return batch[0].kind == "text" and not any(each.turn_id or each.again or each.run_id for each in batch)


def _is_by(new: Envelope, earlier: Envelope) -> bool:
    return (new.user_id, new.person, new.chat_id) == (earlier.user_id, earlier.person, earlier.chat_id)


def _written(envelope: Envelope) -> int:
    return envelope.sent_at_ms or envelope.received_at_ms
