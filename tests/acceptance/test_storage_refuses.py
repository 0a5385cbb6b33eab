"""A file or a disk that refuses: the person hears of it, nobody else waits, and no paid answer is lost (P4, P10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from story import FRIEND, PERSON, answered, answers_to, bot_texts, reply, shows, stored_turns, tap

from bot import replies
from memory.errors import StorageUnavailable

pytestmark = [pytest.mark.acceptance, pytest.mark.sweep]

REFUSED = (
    ("insert_turn",),
    ("update_session",),
    ("outbox_insert",),
    ("inbox_done",),
    ("inbox_claim",),
    ("inbox_claim", "inbox_park"),
    ("insert_turn", "inbox_park"),
)


@pytest.fixture
async def bot(bot_here, monkeypatch):
    """Start a bot that waits for a refusing disk only for a moment."""
    monkeypatch.setattr("bot.turns.dispatch.POSTPONED_S", 0.1)
    return await bot_here(CONTINUITY_STORAGE_PATIENCE_S=0.2)


@pytest.fixture
def refuse(bot, monkeypatch):
    """Offer a function that lets the database refuse every transaction with a statement of these names."""
    write = bot.app.services.db.write
    refused: set[str] = set()

    async def picky(*statements):
        if found := refused & {statement.name for statement in statements}:
            raise StorageUnavailable(f"no room for {found}")
        return await write(*statements)

    monkeypatch.setattr(bot.app.services.db, "write", picky)

    def set_refused(*names: str) -> None:
        refused.clear()
        refused.update(names)

    return set_refused


@pytest.mark.parametrize("names", REFUSED, ids="+".join)
async def test_a_refusal_is_said_and_the_answer_comes_when_it_is_over(api, model, bot, refuse, names):
    """Whatever cannot be stored: the person is told, and later the message is answered, with one call of the model."""
    await reply(api, "hello")
    refuse(*names)
    api.people.says(PERSON, "are you there?")
    await api.until(lambda: {replies.say("storage_refused"), replies.say("storage_down")} & set(bot_texts(api)))

    refuse()
    if replies.say("storage_refused") in bot_texts(api):
        await tap(api, replies.say("try_again"))
    await answered(api, PERSON, "are you there?")

    assert [user for user, _ in stored_turns(bot)] == ["hello", "are you there?"]
    assert sum(request.said == "are you there?" for request in model.requests) == 1
    assert bot_texts(api).count(replies.say("storage_down")) <= 1


@pytest.mark.parametrize("name", ["person_choices", "turn_answering"])
async def test_a_read_that_is_refused_for_a_moment_is_waited_for(api, model, bot_here, monkeypatch, name):
    """As while a server is started again: the message is answered by itself, and nobody is told or has to tap."""
    bot = await bot_here()
    await reply(api, "hello")
    await bot.settled()
    read, left = bot.app.services.db.read, iter([True, True])

    async def picky(query, /, **params):
        if query == name and next(left, False):
            raise StorageUnavailable("the server cannot be reached")
        return await read(query, **params)

    monkeypatch.setattr(bot.app.services.db, "read", picky)
    api.people.says(PERSON, "are you there?")
    await answered(api, PERSON, "are you there?")

    assert bot_texts(api) == ["You said: hello", "You said: are you there?"]
    assert len(model.requests) == 2


async def test_one_conversation_that_cannot_be_stored_holds_up_nobody_else(api, bot_here, monkeypatch):
    """With a single place for everybody, a conversation whose turns are refused gives it back."""
    monkeypatch.setattr("bot.turns.dispatch.POSTPONED_S", 3600)
    bot = await bot_here(CONTINUITY_STORAGE_PATIENCE_S=0.2, CONTINUITY_MAX_CONCURRENT_TURNS=1)
    await reply(api, "hello", FRIEND, FRIEND)
    write, said = bot.app.services.db.write, api.people.says(PERSON, "are you there?")

    async def picky(*statements):
        if any(each.name != "inbox_insert" and each.params.get("update_id") == said.update_id for each in statements):
            raise StorageUnavailable("a damaged page")
        return await write(*statements)

    monkeypatch.setattr(bot.app.services.db, "write", picky)
    await shows(api, replies.say("storage_down"))

    await reply(api, "and you?", FRIEND, FRIEND)

    assert answers_to(api, FRIEND, "and you?")


async def test_a_checkpoint_that_cannot_be_deleted_does_not_wedge_forgetting(api, bot, monkeypatch):
    """/forget says that it could not, everything is still there, the conversation goes on; later it works."""
    await reply(api, "My cat is called Mia.")
    await bot.app.joined.memory.recorder.settle()
    unlink = Path.unlink

    def stuck(self, **options):
        if self.suffix == ".json":
            raise PermissionError(f"{self.name} stays")
        unlink(self, **options)

    monkeypatch.setattr(Path, "unlink", stuck)
    await reply(api, "/forget everything")
    await tap(api, replies.say("forget_yes"), "couldn't forget")

    await reply(api, "Still there?")
    assert [user for user, _ in stored_turns(bot)] == ["My cat is called Mia.", "Still there?"]

    monkeypatch.setattr(Path, "unlink", unlink)
    await reply(api, "/forget everything")
    await tap(api, replies.say("forget_yes"), "forgotten|I checked")
    assert stored_turns(bot) == []
