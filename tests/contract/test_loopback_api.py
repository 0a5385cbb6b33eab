"""The loopback Bot API keeps Telegram's promises towards python-telegram-bot."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from telegram import (
    Bot,
    BotCommand,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
)
from telegram.error import (
    BadRequest,
    Conflict,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)
from telegram.request import HTTPXRequest

from bot.playground.bot_api.server import LoopbackBotApi

ANN = 11
BEN = 12


def keyboard(*data: str) -> InlineKeyboardMarkup:
    return InlineKeyboardMarkup([[InlineKeyboardButton(d.title(), callback_data=d)] for d in data])


@pytest.fixture
async def bot(api, monkeypatch):
    monkeypatch.setenv("PTB_TIMEDELTA", "1")  # without it every RetryAfter is a deprecation warning
    quick = HTTPXRequest(read_timeout=0.3)
    async with Bot(api.token, base_url=f"{api.url}/bot", request=quick) as bot:
        yield bot


async def test_the_bot_knows_its_name(bot):
    """GetMe has what CommandHandler and group mentions need."""
    assert (bot.username, bot.id, bot.can_join_groups) == ("continuity_bot", 1000000001, True)


async def test_an_unknown_token_is_refused(api):
    """Another token gets 401, which PTB reads as an invalid token."""
    with pytest.raises(InvalidToken):
        async with Bot("1:wrong", base_url=f"{api.url}/bot"):
            pass


async def test_an_unknown_method_is_not_found(bot):
    """A method that Telegram does not have answers 404."""
    with pytest.raises(EndPointNotFound):
        await bot.do_api_request("sendTelepathy")


async def test_an_update_comes_again_until_it_is_confirmed(api, bot):
    """Only a poll with a higher offset takes an update away."""
    said = api.people.says(ANN, "hello")

    first = await bot.get_updates()
    again = await bot.get_updates()
    after = await bot.get_updates(offset=said.update_id + 1)

    assert [u.message.text for u in (*first, *again)] == ["hello", "hello"]
    assert (after, api.is_confirmed(said.update_id)) == ((), True)


async def test_limit_and_negative_offset(api, bot):
    """The limit bounds a batch; a negative offset keeps only the newest."""
    for text in ("one", "two", "three"):
        api.people.says(ANN, text)

    assert [u.message.text for u in await bot.get_updates(limit=2)] == ["one", "two"]
    assert [u.message.text for u in await bot.get_updates(offset=-1)] == ["three"]
    assert [u.message.text for u in await bot.get_updates()] == ["three"]


async def test_a_long_poll_is_answered_when_somebody_writes(api, bot):
    """A waiting poll gets the update at once."""
    poll = asyncio.create_task(bot.get_updates(timeout=30))
    await api.until(lambda: api.poll_count)
    api.people.says(ANN, "there")

    assert [u.message.text for u in await poll] == ["there"]


async def test_a_second_poller_ends_the_first_with_a_conflict(api, bot):
    """Two pollers of one bot: the older one gets 409."""
    async with Bot(api.token, base_url=f"{api.url}/bot") as other:
        older = asyncio.create_task(bot.get_updates(timeout=30))
        await api.until(lambda: api.poll_count == 1)
        newer = asyncio.create_task(other.get_updates(timeout=30))

        with pytest.raises(Conflict, match="terminated by other getUpdates"):
            await older

        api.people.says(ANN, "x")
        assert len(await newer) == 1


async def test_only_allowed_kinds_are_delivered(api, bot):
    """Kinds that the bot does not want are dropped; the choice is remembered."""
    await bot.get_updates(allowed_updates=["callback_query"])
    api.people.says(ANN, "unwanted")

    assert await bot.get_updates() == ()


async def test_message_ids_are_shared_by_private_chats_and_own_in_supergroups(api, bot):
    """One counter for all private chats and basic groups of the bot, an own one in each supergroup."""
    api.people.says(ANN, "a")
    api.people.says(BEN, "b")
    basic = api.people.opens_group("basic", kind="group")
    large = api.people.opens_group("large")
    sent = [(await bot.send_message(chat, "x")).message_id for chat in (ANN, basic, large, BEN, large)]

    assert sent == [3, 4, 1, 5, 2]


async def test_a_reply_with_everything_comes_back_as_it_was_sent(api, bot):
    """Entities (in UTF-16 units), keyboard and reply are echoed and shown."""
    said = api.people.says(ANN, "hi")
    bold = MessageEntity("bold", 3, 5)
    message = await bot.send_message(
        ANN,
        "😀 hello",
        entities=[bold],
        reply_markup=keyboard("go", "stop"),
        reply_parameters=ReplyParameters(said.message_id),
        link_preview_options=LinkPreviewOptions(is_disabled=True),
    )

    assert (message.entities, message.reply_to_message.text) == ((bold,), "hi")
    assert message.reply_markup == keyboard("go", "stop")
    assert api.view(ANN).lines[-1].buttons == (("Go",), ("Stop",))


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "text is empty"), (" \n ", "text is empty"), ("x" * 4097, "too long"), ("😀" * 2049, "too long")],
)
async def test_a_text_that_telegram_refuses(api, bot, text, why):
    """Empty texts and more than 4096 UTF-16 units are refused."""
    api.people.says(ANN, "hi")

    with pytest.raises(BadRequest, match=why):
        await bot.send_message(ANN, text)


async def test_a_text_of_just_4096_units_is_sent(api, bot):
    """The limit counts UTF-16 units, not characters."""
    api.people.says(ANN, "hi")

    assert len((await bot.send_message(ANN, "😀" * 2048)).text) == 2048


@pytest.mark.parametrize(("offset", "length"), [(3, 9), (0, 0), (-1, 2), (1, 1)])
async def test_entities_outside_of_the_text_or_through_a_character_are_refused(api, bot, offset, length):
    """An entity lies within the text and does not split a character."""
    api.people.says(ANN, "hi")

    with pytest.raises(BadRequest, match=r"(?i)entity"):
        await bot.send_message(ANN, "😀 hello", entities=[MessageEntity("bold", offset, length)])


async def test_button_data_is_at_most_64_bytes(api, bot):
    """Callback data is counted in bytes."""
    api.people.says(ANN, "hi")
    await bot.send_message(ANN, "x", reply_markup=keyboard("d" * 64))

    with pytest.raises(BadRequest, match=r"(?i)button_data_invalid"):
        await bot.send_message(ANN, "x", reply_markup=keyboard("é" * 33))


async def test_strangers_and_blockers_cannot_be_written_to(api, bot):
    """Nobody opened the chat: 400; the person blocked the bot: 403 and an update; unblocked: fine again."""
    with pytest.raises(BadRequest, match=r"(?i)chat not found"):
        await bot.send_message(999, "x")
    api.people.says(ANN, "hi")
    api.people.blocks(ANN)
    with pytest.raises(Forbidden, match="blocked by the user"):
        await bot.send_message(ANN, "x")
    api.people.unblocks(ANN)
    await bot.send_message(ANN, "back")

    statuses = [u.my_chat_member.new_chat_member.status for u in await bot.get_updates() if u.my_chat_member]
    assert (statuses, api.texts(ANN)) == (["kicked", "member"], ["back"])


async def test_only_our_own_messages_are_edited_and_only_when_they_change(api, bot):
    """The answers that tell whether a message id is ours: done, not modified, can't be edited, not found."""
    theirs = api.people.says(ANN, "hi").message_id
    ours = (await bot.send_message(ANN, "one")).message_id
    await bot.edit_message_text("two", ANN, ours)

    for message_id, why in ((ours, "is not modified"), (theirs, "can't be edited"), (ours + 1, "to edit not found")):
        with pytest.raises(BadRequest, match=why):
            await bot.edit_message_text("two ", ANN, message_id)
    assert [(line.text, line.edits) for line in api.view(ANN).lines] == [("hi", 0), ("two", 1)]


async def test_an_edit_without_a_keyboard_takes_it_away(api, bot):
    """As on Telegram; and the keyboard alone can be changed."""
    api.people.says(ANN, "hi")
    ours = (await bot.send_message(ANN, "pick", reply_markup=keyboard("a"))).message_id
    await bot.edit_message_reply_markup(ANN, ours, reply_markup=keyboard("b"))
    assert api.view(ANN).lines[-1].buttons == (("B",),)

    await bot.edit_message_text("pick", ANN, ours)
    assert api.view(ANN).lines[-1].buttons == ()


async def test_a_draft_is_shown_until_the_message_arrives(api, bot):
    """Drafts and the typing sign are for private chats and vanish with the message."""
    api.people.says(ANN, "hi")
    await bot.send_chat_action(ANN, "typing")
    await bot.send_message_draft(ANN, 5, "Hel")
    seen = api.view(ANN)
    await bot.send_message(ANN, "Hello")
    after = api.view(ANN)

    assert (seen.draft, seen.is_typing, after.draft, after.is_typing) == ("Hel", True, None, False)
    with pytest.raises(BadRequest):
        await bot.send_message_draft(api.people.opens_group("g"), 5, "Hel")


async def test_a_button_is_pressed_and_answered_once(api, bot):
    """A press is a callback query with the button's data; its second answer is refused."""
    api.people.says(ANN, "hi")
    sent = await bot.send_message(ANN, "pick", reply_markup=keyboard("yes", "no"))
    pressed = api.people.presses(ANN, "Yes")
    query = (await bot.get_updates())[-1].callback_query
    await bot.answer_callback_query(query.id, "fine")

    assert (query.id, query.data, query.message.message_id) == (pressed, "yes", sent.message_id)
    assert api.world.callbacks[pressed]["answer"]["text"] == "fine"
    with pytest.raises(BadRequest, match=r"(?i)query is too old"):
        await bot.answer_callback_query(query.id)
    with pytest.raises(LookupError, match="there are: "):
        api.people.presses(ANN, "Maybe")


async def test_what_people_send_looks_like_telegram(api, bot):
    """Commands are marked, pastes come in pieces, edits and forwards and replies say what they are."""
    api.people.says(ANN, "/start now")
    sent = await bot.send_message(ANN, "ok")
    reply = api.people.says(ANN, "why?", reply_to=sent.message_id)
    api.people.edits(ANN, reply.message_id, "why not?")
    api.people.says(ANN, "look", forwarded_from="Cleo")
    api.people.pastes(ANN, "p" * 5000)

    start, asked, edited, forward, *paste = await bot.get_updates()
    assert start.message.entities == (MessageEntity("bot_command", 0, 6),)
    assert asked.message.reply_to_message.from_user.id == bot.id
    assert edited.edited_message.text == "why not?"
    assert forward.message.forward_origin.sender_user_name == "Cleo"
    assert [len(u.message.text) for u in paste] == [4096, 904]


async def test_groups_and_topics(api, bot):
    """A forum topic is a thread of its own; with privacy on, the bot hears only what is meant for it."""
    group = api.people.opens_group("Team", is_forum=True)
    topic = api.people.opens_topic(group, "Plans", user_id=ANN)
    api.people.says(ANN, "@continuity_bot hello", chat_id=group, thread_id=topic)
    api.world.bot["can_read_all_group_messages"] = False
    unheard = api.people.says(BEN, "just us", chat_id=group)
    await bot.send_message(group, "hello", message_thread_id=topic)

    message = (await bot.get_updates())[-1].message
    assert (message.message_thread_id, message.chat.is_forum, unheard.update_id) == (topic, True, 0)
    assert message.parse_entities(["mention"]) == {message.entities[0]: "@continuity_bot"}
    assert (api.texts(group, topic), api.texts(group, 0)) == (["hello"], [])


async def test_commands_files_reactions_and_deletions(api, bot):
    """The rest that a bot needs: command menu, documents, reactions, deleting, getChat."""
    said = api.people.says(ANN, "hi").message_id
    await bot.set_my_commands([BotCommand("help", "what I can do")])
    sent = await bot.send_document(ANN, b"{}", filename="export.json", caption="yours")
    await bot.set_message_reaction(ANN, said, "👍")
    async with httpx.AsyncClient(base_url=f"{api.url}/file/bot{api.token}") as client:
        path = (await bot.get_file(sent.document.file_id)).file_path
        downloaded = (await client.get(path[path.index("documents/") :])).content

    assert [c.command for c in await bot.get_my_commands()] == ["help"]
    assert api.view(ANN).lines[-1].file_name == "export.json"
    assert downloaded == b"{}"
    assert api.world.reactions[ANN, said][0]["emoji"] == "👍"
    assert (await bot.get_chat(ANN)).type == "private"
    await bot.delete_message(ANN, sent.message_id)
    assert [line.text for line in api.view(ANN).lines] == ["hi"]


@pytest.mark.parametrize(
    ("kind", "error", "times_shown"),
    [
        ("lost_answer", NetworkError, 1),
        ("hang_after", TimedOut, 1),
        ("malformed", TelegramError, 1),
        ("dropped", NetworkError, 0),
        ("hang", TimedOut, 0),
        ("too_many", RetryAfter, 0),
        ("server_error", NetworkError, 0),
        ("bad_gateway", NetworkError, 0),
        ("forbidden", Forbidden, 0),
    ],
)
async def test_a_planted_fault_strikes_the_nth_call_once(api, bot, kind, error, times_shown):
    """Each kind fails the client in its own way, with or without the effect, and only the call it is planted for."""
    api.people.says(ANN, "hi")
    fault = api.faults.plant("sendMessage", kind, nth=2)
    await bot.send_message(ANN, "first")

    with pytest.raises(error):
        await bot.send_message(ANN, "second")

    assert (api.texts(ANN), fault.hits) == (["first", *["second"] * times_shown], 1)
    await bot.send_message(ANN, "third")
    assert api.calls_of("sendMessage")[1].fault == kind


async def test_a_client_that_dies_with_its_request_on_the_way_still_has_its_effect(api):
    """What was sent completely is done, also when nobody is left to read the answer."""
    api.people.says(ANN, "hi")
    body = b'{"chat_id": 11, "text": "last words"}'
    head = (
        f"POST /bot{api.token}/sendMessage HTTP/1.1\r\nHost: 127.0.0.1:{api.port}\r\nContent-Type: application/json\r\n"
    )
    _, writer = await asyncio.open_connection("127.0.0.1", api.port)
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    writer.transport.abort()

    await api.until(lambda: api.texts(ANN) == ["last words"])


async def test_a_poll_of_a_dead_bot_takes_nothing_away(api, bot):
    """Updates handed to a poll whose client died are delivered again to the next one."""
    head = f"GET /bot{api.token}/getUpdates?timeout=30 HTTP/1.1\r\nHost: 127.0.0.1:{api.port}\r\n\r\n"
    _, writer = await asyncio.open_connection("127.0.0.1", api.port)
    writer.write(head.encode())
    await api.until(lambda: api.poll_count == 1)
    writer.transport.abort()
    api.people.says(ANN, "still there?")
    await api.until(lambda: api.calls[0].status == 200)

    assert [u.message.text for u in await bot.get_updates(timeout=5)] == ["still there?"]


async def test_a_webhook_gets_every_update_until_it_answers_200(api, bot, aiohttp_sink):
    """Pushes carry the secret, are repeated while refused, and exclude polling."""
    aiohttp_sink.statuses = [500, 500, 200]
    await bot.set_webhook(f"{aiohttp_sink.url}/hook", secret_token="s3cret")
    said = api.people.says(ANN, "pushed")
    await api.until(lambda: api.is_confirmed(said.update_id))

    assert [b["message"]["text"] for b in aiohttp_sink.bodies] == ["pushed"] * 3
    assert aiohttp_sink.secrets == ["s3cret"] * 3
    with pytest.raises(Conflict, match="webhook is active"):
        await bot.get_updates()
    await bot.delete_webhook()
    assert (await bot.get_webhook_info()).url == ""


@pytest.fixture
async def aiohttp_sink():
    """Stand in for the bot's webhook: answers with the given statuses, then 200."""
    from aiohttp import web

    class Sink:
        url = ""
        statuses: list[int] = []  # noqa: RUF012 - one instance per test
        bodies: list[dict] = []  # noqa: RUF012
        secrets: list[str] = []  # noqa: RUF012

        async def take(self, request):
            self.bodies.append(await request.json())
            self.secrets.append(request.headers["X-Telegram-Bot-Api-Secret-Token"])
            return web.Response(status=self.statuses.pop(0) if self.statuses else 200)

    sink = Sink()
    app = web.Application()
    app.router.add_post("/hook", sink.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sink.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield sink
    await runner.cleanup()


async def test_json_form_and_query_requests_mean_the_same(api):
    """Harnesses send JSON or queries, PTB sends forms."""
    api.people.says(ANN, "hi")
    markup = {"inline_keyboard": [[{"text": "Go", "callback_data": "go"}]]}
    async with httpx.AsyncClient(base_url=f"{api.url}/bot{api.token}") as client:
        await client.post("/sendMessage", json={"chat_id": ANN, "text": "42", "reply_markup": markup})
        await client.post("/sendmessage", data={"chat_id": ANN, "text": "42", "reply_markup": json.dumps(markup)})
        await client.get("/SendMessage", params={"chat_id": ANN, "text": "42"})
        wrong = await client.post("/sendMessage", data={"chat_id": ANN, "text": "x", "entities": "[{"})

    assert api.texts(ANN) == ["42", "42", "42"]
    assert [line.buttons for line in api.view(ANN).lines] == [(), (("Go",),), (("Go",),), ()]
    assert wrong.json()["description"].startswith("Bad Request: can't parse JSON")


async def test_a_misspelt_field_is_refused(api):
    """The strict check of the tests sees fields that Telegram would silently ignore."""
    api.people.says(ANN, "hi")
    async with httpx.AsyncClient(base_url=f"{api.url}/bot{api.token}") as client:
        answer = await client.post("/sendMessage", json={"chat_id": ANN, "text": "x", "replymarkup": {}})

    assert (answer.status_code, len(api.violations)) == (400, 1)
    api.violations.clear()


async def test_another_process_can_drive_it(api, bot):
    """The control addresses do what `api.people` does."""
    async with httpx.AsyncClient(base_url=f"{api.url}/control") as client:
        said = (await client.post("/people/says", json={"user_id": ANN, "text": "hi"})).json()
        await client.post("/faults", json={"method": "sendMessage", "kind": "forbidden"})
        with pytest.raises(Forbidden):
            await bot.send_message(ANN, "x")
        await bot.send_message(ANN, "y")
        shown = (await client.post("/until", json={"chat_id": ANN})).json()
        view = (await client.get("/view", params={"chat_id": ANN})).json()
        calls = (await client.get("/calls")).json()
        refused = await client.post("/people/dances", json={})

    assert (said["message_id"], shown, len(view["lines"])) == (1, ["y"], 2)
    assert [c["status"] for c in calls if c["method"] == "sendMessage"] == [403, 200]
    assert (refused.status_code, "presses" in refused.json()["error"]) == (400, True)


async def test_messages_ids_and_waiting_updates_outlive_a_restart(tmp_path):
    """With a state file the playground goes on where it was; the file is private."""
    path = tmp_path / "playground.json"
    async with LoopbackBotApi(state_path=path) as before, Bot(before.token, base_url=f"{before.url}/bot") as bot:
        said = before.people.says(ANN, "hi")
        await bot.send_message(ANN, "hello", reply_markup=keyboard("go"))
        lines = before.view(ANN).lines

    async with LoopbackBotApi(state_path=path) as after, Bot(after.token, base_url=f"{after.url}/bot") as bot:
        assert (after.view(ANN).lines, after.is_confirmed(said.update_id)) == (lines, False)
        assert (await bot.send_message(ANN, "again")).message_id == 3
        assert after.people.says(ANN, "x").update_id == said.update_id + 1
    assert path.stat().st_mode & 0o777 == 0o600


async def test_update_ids_grow_also_without_the_state_file(tmp_path):
    """A bot that kept its own data does not take new messages for repeated ones when ours are lost."""
    path = tmp_path / "playground.json"
    ids = []
    for now_s in (1_800_000_000, 1_800_000_060):
        async with LoopbackBotApi(state_path=path, now_s=lambda now_s=now_s: now_s) as api:
            ids += [api.people.says(ANN, text).update_id for text in "abc"]
        path.unlink()

    assert ids == sorted(set(ids))


async def test_a_damaged_state_file_is_named(tmp_path):
    """It is never taken for an empty one."""
    path = tmp_path / "playground.json"
    path.write_text("{")

    with pytest.raises(ValueError, match=r"playground\.json"):
        await LoopbackBotApi(state_path=path).start()
