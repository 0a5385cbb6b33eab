"""The net under a model that cannot be reached: an explicit "remind me …" with a clear time is set all the same."""

from __future__ import annotations

from bot.answers.responder import Ask
from bot.offline.forms import FormFound, plain, says_something
from bot.offline.reader import Context, added, reminder_in
from bot.offline.words import language_of, words_of
from memory.ledger.types import Operation


def reminder_of(ask: Ask) -> tuple[Operation, ...]:
    """The operation that sets the reminder that a message plainly asks for; () for anything else. Pure.

    Its note id is bound to the turn: done twice it is one reminder.
    """
    if ask.third_party:
        return ()
    text = plain(ask.text)
    words = words_of(language_of(text, ask.state.language))
    found = reminder_in(text, words, ask.now_ms, ask.time_zone)
    if found is None or found[1] is None or not says_something(found[0], words):
        return ()
    what, moment = found
    return (added(FormFound("task", what, moment=moment, said=text), context_of(ask), rings=True),)


def context_of(ask: Ask) -> Context:
    """Place and time of a message, with the same person's words before it."""
    own = [turn for turn in ask.packet.history if turn.user_id in {None, ask.user_id}]
    last = own[-1] if own else None
    return Context(
        turn_id=ask.turn_id,
        now_ms=ask.now_ms,
        zone=ask.time_zone,
        language=ask.state.language,
        user_id=ask.user_id,
        session_id=ask.state.session_id,
        persona=ask.scope.persona,
        third_party=ask.third_party,
        before=last.user_text if last else "",
        before_turn_id=last.turn_id if last else "-",
    )
