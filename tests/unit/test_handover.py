"""Once the keeper has given up, what is plainly said is noted all the same."""

import pytest

from bot.answers.responder import Answer, Ask
from bot.offline.handover import Handover
from memory.ledger.types import Add
from memory.packets import ConversationContextPacket
from memory.testing import START_MS, make_state


class Model:
    def __init__(self, answer):
        self.answer = answer

    async def respond(self, _ask, _show):
        return self.answer


def asked(text):
    packet = ConversationContextPacket(
        conversation_id="tg:1:1:0", session_id="s_1", session_status="active", context_compiled_at_ms=START_MS
    )
    return Ask("t_1", "tg:1:1:0", 7, "Ana", text, make_state(), packet, "", "UTC", START_MS)


async def given(answer, text, *, over):
    return await Handover(Model(answer), lambda: over).respond(asked(text), lambda _: None)


@pytest.mark.parametrize(("over", "count"), [(True, 1), (False, 0)])
async def test_explicit_words_are_noted_once_the_keeper_has_given_up(over, count):
    """Before that it is the keeper's work alone."""
    answer = await given(Answer("Noted."), "remember that I'm allergic to nuts", over=over)

    assert len(answer.operations) == count
    assert answer.hand == ("offline" if over else "model")


async def test_what_the_model_noted_itself_is_enough():
    """Nothing stands twice, and no rule sets a reminder."""
    own = Add(kind="fact", text="Allergic to nuts", note_id="n_1")
    noted = await given(Answer("Noted.", operations=(own,)), "remember that I'm allergic to nuts", over=True)
    reminded = await given(Answer("Hm."), "remind me tomorrow at 9 to call Ana", over=True)

    assert noted.operations == (own,)
    assert reminded.operations == ()
