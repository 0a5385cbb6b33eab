"""The meaning of a tap on a button: looked up on our side, authorised again, used once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import orjson
import structlog
from telegram import Bot
from telegram.error import TelegramError

from bot import replies
from bot.intake.updates import Envelope, earlier_key
from bot.turns.feature import Action, Tap
from bot.turns.services import Services, language_of
from memory.errors import Conflict, StorageError, StorageUnavailable
from memory.ports import Row, Statement, unobserved

log = structlog.get_logger(__name__)


def why_refused(row: Row | None, envelope: Envelope, now_ms: int, earlier: str | None = None) -> str | None:
    """Return the name of the sentence for a tap that is refused, None for one to obey.

    `earlier` is the conversation of before of a supergroup, whose reminders ring there.
    """
    here = (envelope.conversation_id, earlier)
    if row is None or row["conversation_id"] not in here or row["expires_at_ms"] < now_ms:
        return "tap_too_old"
    if row["user_id"] is not None and row["user_id"] != envelope.user_id:
        return "tap_not_yours"
    if row["used_at_ms"] is not None:
        return "tap_used"
    return None


WORDS_AT_ONCE = 5
WORD_EVERY_MS = 1_000
MAX_PEOPLE = 10_000


class WordPace:
    """The pace of words to refused taps: five at once, then one a second for each person; others get silence."""

    def __init__(self) -> None:
        self._next_ms: OrderedDict[int | None, int] = OrderedDict()

    def admits(self, user_id: int | None, now_ms: int) -> bool:
        """Return whether this person may hear a word now, and count it."""
        next_ms = max(self._next_ms.get(user_id, 0), now_ms)
        if next_ms - now_ms >= WORDS_AT_ONCE * WORD_EVERY_MS:
            return False
        self._next_ms[user_id] = next_ms + WORD_EVERY_MS
        self._next_ms.move_to_end(user_id)
        if len(self._next_ms) > MAX_PEOPLE:
            self._next_ms.popitem(last=False)
        return True


class Buttons:
    """Finds the row behind a button and carries it out; each in one transaction with the row's use."""

    def __init__(
        self, bot: Bot, services: Services, actions: Mapping[str, Action], behind: Callable[..., object] = unobserved
    ) -> None:
        """`behind` runs work that nobody waits for, by its name."""
        self._behind = behind
        self._bot = bot
        self._services = services
        self._actions = actions
        self._pace = WordPace()

    async def refuse(self, taps: Sequence[Envelope]) -> Collection[int]:
        """Answer the taps that are obeyed in no case, and return their updates: no row and no turn is made of them.

        One look for all of them. One that was obeyed before and comes again is not among them: its row says so. When
        it cannot be looked up, nothing is refused here. Raises nothing.
        """
        services = self._services
        try:
            finds = {tap.button_id: Statement("button_find", {"button_id": tap.button_id}) for tap in taps}
            found = dict(zip(finds, await services.db.read_all(*finds.values()), strict=True))
            words = self._words_to_refused(taps, {button_id: rows[0] for button_id, rows in found.items() if rows})
            known = await services.inbox.known(words, services.me)
        except StorageError:
            return ()
        refused = {tap.update_id: tap for tap in taps if tap.update_id in words and tap.update_id not in known}
        for update_id, tap in refused.items():
            if self._pace.admits(tap.user_id, services.clock.now_ms()):
                self._behind(self._say_in_their_language(tap, words[update_id]), "refused tap")
        return refused.keys()

    def _words_to_refused(self, taps: Sequence[Envelope], rows: Mapping[str, Row]) -> dict[int, str]:
        """Return the key of the sentence for each refused tap; of several on one button the first counts."""
        now_ms = self._services.clock.now_ms()
        words: dict[int, str] = {}
        met: set[tuple[str, int | None]] = set()
        for tap in taps:
            word = why_refused(rows.get(tap.button_id), tap, now_ms, earlier_key(self._services.me, tap.chat_id))
            if word is None and (tap.button_id, tap.user_id) in met:
                word = "tap_used"
            met.add((tap.button_id, tap.user_id))
            if word is not None:
                words[tap.update_id] = word
        return words

    async def _say_in_their_language(self, tap: Envelope, word: str) -> None:
        try:
            language = await language_of(self._services, tap)
        except StorageError:
            return
        with replies.speaking(language):
            await self._toast(tap, replies.say(word))

    async def run(self, envelope: Envelope) -> None:
        """Obey a tap once; a second one, somebody else's or an old one only gets a word."""
        row = await self._services.db.read_one("button_find", button_id=envelope.button_id)
        now_ms = self._services.clock.now_ms()
        word = why_refused(row, envelope, now_ms, earlier_key(self._services.me, envelope.chat_id))
        if row is None or word is not None:
            await self._services.committer.done([envelope], [])
            await self._toast(envelope, replies.say(word or "tap_too_old"))
            return
        envelope = replace(envelope, conversation_id=row["conversation_id"])
        use = Statement("button_use", {"group_id": row["group_id"], "at_ms": now_ms})
        use = replace(use, expect=await self._group_size(row))
        tap = Tap(envelope, use, orjson.loads(row["payload_json"]))
        try:
            outcome = await self._actions[row["action"]](tap)
        except Conflict:
            log.info("second tap on one message", button=envelope.button_id)
            await self._services.committer.done([envelope], [])
            await self._toast(envelope, replies.say("tap_used"))
            return
        await self._toast(envelope, replies.say(outcome if isinstance(outcome, str) else "tap_done"))
        if outcome is not True:
            await self._without_buttons(envelope)

    async def _group_size(self, row: Row) -> int:
        found = await self._services.db.read_one("button_group_size", group_id=row["group_id"])
        return found["n"] if found else 0

    async def _toast(self, envelope: Envelope, text: str) -> None:
        services = self._services
        try:
            while not services.memory.db.owned():  # the word would not go out
                await services.db.write()
            await self._bot.answer_callback_query(envelope.callback_id, text=text)
        except (TelegramError, StorageUnavailable) as exc:  # a query older than a minute cannot be answered any more
            log.debug("tap not acknowledged", error=str(exc))

    async def _without_buttons(self, envelope: Envelope) -> None:
        try:
            await self._bot.edit_message_reply_markup(envelope.chat_id, envelope.message_id)
        except TelegramError as exc:  # the message may show other text already; its buttons are spent anyway
            log.debug("buttons not taken away", error=str(exc))
