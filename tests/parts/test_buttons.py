"""What a tap says in return, also when the process that answers was held up."""

from types import SimpleNamespace

from bot.intake.updates import Envelope, Me
from bot.turns.buttons import Buttons


class HeldUp:
    """A database of which it is not certain that this process may still work on it, until it has written to it."""

    def __init__(self, order):
        self.order = order

    def owned(self):
        return "renewed" in self.order

    async def write(self, *_):
        self.order.append("renewed")

    async def read_one(self, _, **__):
        return None


async def test_the_word_after_a_tap_waits_until_this_process_may_send():
    """Telegram's requests are refused as long as others may have declared it dead: the word would be lost."""
    order = []

    async def done(*_):
        order.append("stored")

    async def said(*_, **__):
        order.append("said")

    db = HeldUp(order)
    services = SimpleNamespace(
        me=Me(1, "continuity_bot"),
        memory=SimpleNamespace(db=db),
        db=db,
        clock=SimpleNamespace(now_ms=lambda: 1),
        committer=SimpleNamespace(done=done),
    )
    tap = Envelope(1, 1, "tg:1:7:0", 7, None, private=True, kind="tap", user_id=7, callback_id="c")
    await Buttons(SimpleNamespace(answer_callback_query=said), services, {}).run(tap)

    assert order == ["stored", "renewed", "said"]
