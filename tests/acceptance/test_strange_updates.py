"""Whatever one person sends, everybody else is answered: strange updates, by polling and by webhook, over a restart."""

from __future__ import annotations

import pytest
from story import PERSON, answered, rows, stores

from bot.playground.keeper import free_port

pytestmark = pytest.mark.acceptance
STRANGER = 666


def message(user_id, **fields):
    """Return a message of this person with some fields changed; None leaves one out."""
    content = {
        "message_id": 77_000,
        "date": 1_800_000_000,
        "chat": {"id": user_id, "type": "private", "first_name": "Ana"},
        "from": {"id": user_id, "is_bot": False, "first_name": "Ana"},
        "text": "words that stay nowhere",
    }
    return {"message": {name: value for name, value in (content | fields).items() if value is not None}}


def strange(user_id):
    """Return updates of this person, each of a shape that has stopped a bot for good."""
    inaccessible = {"message_id": 3, "date": 0, "chat": {"id": user_id, "type": "private", "first_name": "Ana"}}
    question = {"id": "1", "question": "Which pineapple?", "options": [{"text": "A"}], "type": "of a new kind"}
    return [
        message(user_id, text=None, pinned_message=inaccessible),
        message(user_id, text="\ud800 pineapple"),
        message(user_id, text=None, entities=[{"type": "bot_command", "offset": 0, "length": 5}]),
        message(user_id, text="pineapple", entities=[{"type": "text_mention", "offset": 0, "length": 3}]),
        message(user_id, chat={"id": str(user_id), "type": "private"}),
        message(user_id, **{"from": {"id": 2**63, "is_bot": False, "first_name": "Ana"}}),
        message(user_id, message_id=2**63),
        message(user_id, date=2**70),
        message(user_id, text={"pineapple": [[[[]]]]}),
        message(user_id, text=None, poll=question),
        {"callback_query": {"id": 5, "from": {"id": user_id}, "message": inaccessible, "data": ["pineapple"]}},
        {"my_chat_member": {"from": {"id": user_id}, "chat": [], "new_chat_member": "pineapple"}},
        {"message": "pineapple"},
        {"message": None},
    ]


def screen(api, chat_id=PERSON):
    return [line.text for line in api.view(chat_id).lines if line.by_bot]


@pytest.mark.parametrize("sender", [STRANGER, PERSON])
async def test_no_update_of_anybody_makes_the_bot_deaf(api, bot_process, sender):
    """Each strange update is confirmed, a normal message behind all is answered, a restart hears, SIGTERM exits 0."""
    bot = await bot_process(CONTINUITY_ALLOWED_USERS=str(PERSON))
    ids = [api.people.injects(update) for update in strange(sender)]
    api.people.says(PERSON, "still there?")
    await answered(api, PERSON, "still there?")

    assert all(api.is_confirmed(update_id) for update_id in ids)
    await bot.restart()
    api.people.says(PERSON, "and now?")
    await answered(api, PERSON, "and now?")
    assert await bot.terminate() == 0
    assert "Traceback" not in bot.log
    if sender == STRANGER:
        assert not {*ids} & {update_id for (update_id,) in rows(bot, "SELECT update_id FROM inbox")}
        assert not stores(bot, "pineapple")


async def test_a_strange_update_by_webhook_holds_up_nobody(api, bot_process):
    """The same by webhook: Telegram gets its 200, and the person behind is answered."""
    port = free_port()
    bot = await bot_process(start=False)
    env = {
        "TELEGRAM_WEBHOOK_URL": f"http://127.0.0.1:{port}/telegram/webhook",
        "TELEGRAM_WEBHOOK_SECRET": "a-secret-of-16-characters",
        "CONTINUITY_HTTP_PORT": str(port),
        "CONTINUITY_ALLOWED_USERS": str(PERSON),
    }
    for update in strange(STRANGER) + strange(PERSON):
        api.people.injects(update)
    api.people.says(PERSON, "by webhook")
    await bot.start(ready=lambda: "You said: by webhook" in screen(api), **env)

    assert await bot.terminate() == 0
    assert "Traceback" not in bot.log


async def test_who_sends_what_cannot_be_read_hears_so_and_can_forget_it(api, bot_process):
    """One sentence for the sender; /forget everything leaves no byte of it, and says so truthfully."""
    bot = await bot_process(CONTINUITY_ALLOWED_USERS=str(PERSON))
    api.people.says(PERSON, "hello")
    await answered(api, PERSON, "hello")
    unreadable = api.people.injects(message(PERSON, text={"a pineapple": "of some kind"}))
    await api.until(lambda: "couldn't read that" in screen(api)[-1])
    assert rows(bot, "SELECT state, conversation_id FROM inbox WHERE update_id = :u", u=unreadable) == [
        ("quarantined", f"tg:{api.world.bot['id']}:{PERSON}:0")
    ]

    api.people.says(PERSON, "/forget everything")
    await api.until(lambda: any(line.buttons for line in api.view(PERSON).lines))
    asked = next(line for line in reversed(api.view(PERSON).lines) if line.buttons)
    api.people.presses(PERSON, asked.buttons[0][0])
    await api.until(lambda: any("nothing of it is left" in text for text in screen(api)))
    await bot.kill()

    assert not stores(bot, "pineapple")
