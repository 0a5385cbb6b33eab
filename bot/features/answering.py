"""/stop, /retry and the buttons under an answer that could not be made: try again, answer now, skip, fresh start."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Final

import orjson

from bot import replies
from bot.delivery.outbox import OutgoingMessage, Target
from bot.features.sessions import Sessions
from bot.features.undo import withdraw
from bot.intake.updates import Envelope
from bot.turns.feature import Action, Command, Tap
from bot.turns.lanes import Lanes
from bot.turns.parked import decided, resume
from bot.turns.services import Services, language_of
from bot.turns.steps.work import AskedAgain
from bot.turns.turn import Turns
from memory.ports import Statement
from memory.types import BY_TAP

RETRIES: Final = 10
"""So many answers to one message are looked at for calls of tools."""


class Answering:
    """Stops and repeats answers."""

    def __init__(self, services: Services, turns: Turns, lanes: Lanes, sessions: Sessions) -> None:
        self._services = services
        self._turns = turns
        self._lanes = lanes
        self._sessions = sessions
        self.commands: dict[str, Command] = {"stop": self.stop, "retry": self.retry}
        self.actions: dict[str, Action] = {
            "answer_parked": self._answer_parked,
            "skip_parked": self._skip_parked,
            "fresh_parked": self._fresh_parked,
            "answer_again": self._answer_again,
        }

    async def stop(self, envelope: Envelope) -> None:
        """Stop the answer that is being made; it says so itself."""
        stopped = self._turns.answers.stop(envelope.conversation_id)
        await self._services.committer.done(
            [envelope], [] if stopped else [OutgoingMessage(replies.say("nothing_to_stop"))]
        )

    async def retry(self, envelope: Envelope) -> None:
        """Answer a parked turn, or else the last message, again; one that is being tried again already is left alone.

        The last message is answered as it was: words of somebody else in it stay theirs.
        """
        services = self._services
        if await services.inbox.reopened(envelope):
            await services.committer.done([envelope], [])
            return
        turn_id = await services.inbox.latest_parked(envelope.conversation_id)
        if turn_id is not None:
            await services.committer.done([envelope], [], await decided(self._services, turn_id, "inbox_reopen"))
            await resume(self._services, self._lanes.submit, turn_id)
            return
        current = await services.memory.recorder.current(envelope.conversation_id)
        last = await services.memory.store.last_turns(current.session_id, RETRIES) if current else []
        if not last:
            await services.committer.done([envelope], [OutgoingMessage(replies.say("nothing_to_retry"))])
            return
        newest = last[-1]
        same = takewhile(lambda turn: turn.user_text == newest.user_text, reversed(last))
        repeats = tuple(turn.turn_id for turn in same)
        by_tap = newest.action_name == BY_TAP
        said = AskedAgain(newest.user_text, newest.third_party, repeats=repeats, by_tap=by_tap)
        await self._turns.on_turn([envelope], envelope.turn_id or services.ids.new("t"), said=said)

    async def _answer_parked(self, tap: Tap) -> None:
        turn_id: str = tap.payload["turn_id"]
        reopen = await decided(self._services, turn_id, "inbox_reopen")
        await self._services.committer.done([tap.envelope], [], tap.use, reopen)
        await resume(self._services, self._lanes.submit, turn_id)

    async def _skip_parked(self, tap: Tap) -> None:
        message = OutgoingMessage(replies.say("skipped"), edits_message_id=tap.envelope.message_id)
        skip = await decided(self._services, tap.payload["turn_id"], "inbox_skip")
        await self._services.committer.done([tap.envelope], [message], tap.use, skip)

    async def _fresh_parked(self, tap: Tap) -> None:
        skip = await decided(self._services, tap.payload["turn_id"], "inbox_skip")
        await self._sessions.fresh(tap.envelope, tap.use, skip)

    async def _answer_again(self, tap: Tap) -> None:
        """Let the tap take its turn in the lane. After a crash the tap is replayed like any other update.

        The message is answered as it is when the turn comes: it may have been edited again meanwhile. The button keeps
        the id of the turn that answered it, for the next edit; the question that it stood under is asked no more.
        """

        async def answer(envelope: Envelope) -> None:
            meant = await self._meant(tap)
            if meant is None:
                await self._services.committer.done([envelope], [])
                return
            before = meant.get("replaces")
            with replies.speaking(await language_of(self._services, envelope)):
                text = replies.say("edited_answered") if before else replies.say("answered_below")
            said_so = OutgoingMessage(text, edits_message_id=envelope.message_id)
            await self._services.committer.write(Target.of(envelope), [said_so])
            turn_id = envelope.turn_id or self._services.ids.new("t")
            if before:  # what was written first is not what the person says now
                await withdraw(self._services, envelope, before)
            said = AskedAgain(
                meant["text"],
                third_party=meant.get("third_party", False),
                repeats=(before,) if before else (),
                why_again="edited",
            )
            of = {name: meant[name] for name in ("message_id", "user_id")} | {"answered_by": turn_id}
            values = {"button_id": tap.envelope.button_id, "payload_json": orjson.dumps(of).decode()}
            await self._turns.on_turn(
                [envelope], turn_id, said=said, effects=(Statement("button_means", values), tap.use)
            )

        self._lanes.submit(tap.envelope, answer)

    async def _meant(self, tap: Tap) -> dict[str, Any] | None:
        """Return the meaning of the button now, None when it was used."""
        row = await self._services.db.read_one("button_find", button_id=tap.envelope.button_id)
        return None if row is None or row["used_at_ms"] is not None else orjson.loads(row["payload_json"])
