"""A message that changed after it was answered: edited by its person, or of which something came."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import orjson

from bot import replies
from bot.delivery.outbox import Button, OutgoingMessage, Target
from bot.intake.inbox import GOES_ON, WAITS
from bot.intake.media import reworded
from bot.intake.updates import Envelope
from bot.turns.services import Services
from bot.turns.steps.gate import TurnGate
from bot.turns.steps.offers import EDITED_SINCE, LOOKS_SINCE, TAKEN_UP, Offers
from bot.turns.steps.work import Made, TurnWork
from memory.errors import Conflict
from memory.keeper.edited import says_the_same
from memory.ledger.apply import apply_all
from memory.ledger.types import Actor, Ledger
from memory.ports import Row, Statement
from memory.types import PRIVATE, ConversationTurn

KEPT: Final = ("replaces", TAKEN_UP, EDITED_SINCE, LOOKS_SINCE)
"""What the button of an offer that stands keeps when its message is edited once more."""


async def taken_up(services: Services, work: TurnWork, made: Made) -> tuple[list[OutgoingMessage], list[Statement]]:
    """The edits of offers that this answer makes needless, since its model read the edited messages, and their marks.

    An offer stays while a note on its message is in doubt that the answer left as it is.
    None while something waits: it may be a tap on one. Such a tap is obeyed all the same. Raises `StorageUnavailable`.
    """
    here = made.ask.conversation_id
    if not made.ask.packet.edited or not made.answer.model:
        return [], []
    by = Actor(made.answer.hand, made.ask.now_ms, made.ask.turn_id)
    after, outcomes = apply_all(await services.memory.ledgers.read(here), made.answer.operations, by)
    read = set(made.ask.packet.edited) - _in_doubt(after, {each.number for each in made.answer.operations})
    if not read:
        return [], []
    batch = {envelope.update_id for envelope in work.batch}
    waiting = await services.db.read("inbox_open_ids", bot_id=work.batch[0].bot_id, conversation_id=here)
    if {row["update_id"] for row in waiting} - batch:
        return [], []
    messages, marks, offers = list[OutgoingMessage](), list[Statement](), Offers(services)
    for row in await _offers_on_screen(services, here):
        meant = orjson.loads(row["payload_json"])
        if meant.get("replaces") in read and not meant.get(TAKEN_UP):
            said = await offers.taken_up(work.target, meant, after, outcomes)
            payload = orjson.dumps(meant | {TAKEN_UP: True}).decode()
            marks.append(Statement("button_means", {"button_id": row["button_id"], "payload_json": payload}))
            messages.append(OutgoingMessage(said, edits_message_id=row["message_id"]))
    return messages, marks


def _in_doubt(after: Ledger, touched: Collection[int | None]) -> set[str]:
    """The turns on which notes rest that an answer leaves in doubt, which `touched` others."""
    doubtful = (note for note in after if note.is_open and note.doubtful and note.number not in touched)
    return {turn_id for note in doubtful for turn_id in note.turn_ids}


async def _offers_on_screen(services: Services, here: str) -> list[Row]:
    """One row for each offer that stands, however often its message was edited."""
    rows = await services.db.read("offers_on_screen", conversation_id=here)
    return list({row["button_id"]: row for row in rows}.values())


class Edits:
    """Lets turns read as their messages do now."""

    def __init__(self, services: Services, gate: TurnGate, has_answer: Callable[[str], bool]) -> None:
        """`has_answer` says whether the answer of a turn was made and could not be stored."""
        self._services = services
        self._gate = gate
        self._has_answer = has_answer
        self._offers = Offers(services)

    async def take(self, head: Envelope) -> None:
        """Finish an edit, or the outcome of a poll or a checklist. Raises `Conflict`, `StorageUnavailable`."""
        if await self._gate.joins(head) or await self._joins_parked(head):
            return
        await (self._grown(head) if head.kind == "addition" else self._edited(head))

    async def _joins_parked(self, edit: Envelope) -> bool:
        """Let an edit wait with its message for [Try again], which then answers its new words; else return False.

        An answer that was made and could not be stored is one to the first words: it is kept, and the edit offered.
        """
        row = await self._services.db.read_one("parked_turn_of_message", **_message_of(edit))
        if row is None or row["error"] in (WAITS, GOES_ON) or self._has_answer(row["turn_id"]):
            return False
        inbox, turn_id, why = self._services.inbox, row["turn_id"], row["error"]
        still = {"turn_id": turn_id, "was": why, "mark": why}
        try:
            await self._services.db.write(
                Statement("inbox_hold", still, expect=await inbox.parked(turn_id)), inbox.park(edit, turn_id, why)
            )
        except Conflict:  # it was put back to work meanwhile
            return False
        return True

    async def _grown(self, end: Envelope) -> None:
        """Let the turn of a poll tell how it ended, and the next answer; that of a checklist the ticked lines.

        Nobody is answered.
        """
        services, turn_id = self._services, await self._turn_of(end)
        turn = await services.memory.store.turn(turn_id) if turn_id else None
        poll = {"bot_id": end.bot_id, "poll_id": end.poll_id, "conversation_id": end.conversation_id}
        if turn is None or await self._is_of_a_private_session_before(end, turn):
            await services.committer.done([end], [], Statement("poll_gone", poll))
            return
        told = Statement("poll_ended", poll | {"outcome": end.text, "turn_id": turn.turn_id})
        ends = (services.inbox.done(end), told)
        whole = f"{turn.user_text}\n{end.text}"

        async def store(*rows: Statement) -> None:
            await services.memory.edited(turn.turn_id, whole, *ends, *rows, third_party=True)

        await services.committer.say(Target.of(end), [], store)

    async def _edited(self, envelope: Envelope) -> None:
        """Give an answered message its new words, and offer to answer it again where the answer may differ.

        An earlier offer takes over the newest text, also one that a later answer took from the screen: a tap on it may
        be on its way. It carries the id of the answer before: of the one that an earlier offer led to, else the first.
        """
        about = {"message_id": envelope.message_id, "user_id": envelope.user_id}
        payload = {"text": envelope.text, "third_party": envelope.third_party, **about}
        latest, meant = await self._offer_under(envelope, about)
        before = meant.get("replaces") or meant.get("answered_by") or await self._turn_of(envelope)
        turn = await self._services.memory.store.turn(before) if before else None
        if turn and await self._is_of_a_private_session_before(envelope, turn):
            await self._services.committer.done([envelope], [])
            return
        text = await self._reworded(envelope, turn) if turn else envelope.text
        if turn and not envelope.files:
            payload["text"] = text
        differs = turn is None or not says_the_same(turn.user_text, text)
        ends, messages = [self._services.inbox.done(envelope)], list[OutgoingMessage]()
        target, memory = Target.of(envelope), self._services.memory
        doubtful = await memory.in_doubt(turn, text) if turn and differs else []
        offered, mark = await self._offers.begun(target, doubtful) if turn else (replies.say("edited_new"), {})
        standing = latest if latest is not None and latest["used_at_ms"] is None else None
        kept = {name: meant[name] for name in KEPT if name in meant} if standing is not None else {}
        if differs:
            payload |= {**mark, "replaces": before} if before else mark
        if standing is not None:
            values = {"button_id": standing["button_id"], "payload_json": orjson.dumps(payload | kept).decode()}
            ends.append(Statement("button_means", values))
        if differs and (standing is None or TAKEN_UP in meant):
            button = Button(replies.say("answer_again" if turn else "answer_now"), "answer_again", payload)
            messages.append(OutgoingMessage(offered, buttons=((button,),), reply_to_message_id=envelope.message_id))
        elif differs and standing is not None:
            messages += await self._said_anew(envelope, standing["button_id"], offered)

        async def store(*rows: Statement) -> None:
            both = (*ends, *rows)
            if turn is None:
                await self._services.db.write(*both)
            else:
                await memory.edited(turn.turn_id, text, *both, third_party=envelope.third_party)

        await self._services.committer.say(target, messages, store)
        if turn is not None and differs:
            said = offered if messages else ""
            self._services.behind(self._offers.put_right(envelope, turn.turn_id, said), "reads")

    async def _offer_under(self, edit: Envelope, about: Mapping[str, Any]) -> tuple[Row | None, dict[str, Any]]:
        """The latest offer under a message and what its button means; None for a message without one."""
        for row in await self._services.db.read("offers_to_answer_again", conversation_id=edit.conversation_id):
            meant: dict[str, Any] = orjson.loads(row["payload_json"])
            if about.items() <= meant.items():
                return row, meant
        return None, {}

    async def _said_anew(self, edit: Envelope, button_id: str, said: str) -> list[OutgoingMessage]:
        """The edit by which an offer that stands on the screen says this; none while it is on its way."""
        rows = await _offers_on_screen(self._services, edit.conversation_id)
        return [
            OutgoingMessage(said, edits_message_id=row["message_id"], keyboard=orjson.loads(row["markup_json"]))
            for row in rows
            if row["button_id"] == button_id
        ]

    async def _reworded(self, edit: Envelope, turn: ConversationTurn) -> str:
        """Return the present words of a turn's person; of a turn of several messages one alone is new."""
        row = await self._services.db.read_one("messages_of_turn", turn_id=turn.turn_id)
        return reworded(turn.user_text, edit.text, is_one=(row or {}).get("n", 1) <= 1)

    async def _is_of_a_private_session_before(self, edit: Envelope, turn: ConversationTurn) -> bool:
        """Whether an edited message's turn is of a private session that is over: it is brought into no other one."""
        if turn.action_name != PRIVATE:
            return False
        current = await self._services.memory.recorder.current(edit.conversation_id)
        return current is None or current.session_id != turn.session_id

    async def _turn_of(self, edit: Envelope) -> str | None:
        """Return the turn that answered a message before it was edited, None when none did."""
        row = await self._services.db.read_one("turn_of_message", **_message_of(edit))
        return row["turn_id"] if row else None


def _message_of(envelope: Envelope) -> dict[str, Any]:
    return {name: getattr(envelope, name) for name in ("bot_id", "conversation_id", "message_id")}
