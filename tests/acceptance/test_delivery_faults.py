"""Telegram misbehaves around a send: each part is on the screen once and in order, and other chats go on."""

from __future__ import annotations

import httpx
import pytest
from story import FRIEND, PERSON, answered, bot_texts, rows

from bot.ops.runs.status import Backlog, unfinished_in_words
from bot.playground.bot_api.faults import Kind

pytestmark = pytest.mark.acceptance


@pytest.mark.parametrize(
    "kind", [Kind.LOST_ANSWER, Kind.DROPPED, Kind.TOO_MANY, Kind.SERVER_ERROR, Kind.BAD_GATEWAY, Kind.MALFORMED]
)
async def test_a_send_that_fails_shows_the_reply_once(api, bot_here, kind):
    """Whatever happens to the send, with or without its effect, the reply is on the screen exactly once."""
    await bot_here()
    api.faults.plant("sendMessage", kind)
    api.people.says(PERSON, "first")
    await answered(api, PERSON, "first")
    api.people.says(PERSON, "second")
    await answered(api, PERSON, "second")

    assert bot_texts(api) == ["You said: first", "You said: second"]


async def test_parts_of_a_long_reply_arrive_in_order_and_once(api, model, bot_here):
    """A reply of several parts, the second of which is sent but its answer lost, reads in order without repeats."""
    model.reply = lambda _: "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(15))
    await bot_here()
    api.faults.plant("sendMessage", Kind.LOST_ANSWER, nth=2)
    api.people.says(PERSON, "write a lot")
    await api.until(lambda: "Paragraph 14." in "".join(bot_texts(api)), 40)

    parts = bot_texts(api)
    numbers = [int(word.rstrip(".")) for part in parts for word in part.split() if word.rstrip(".").isdigit()]
    assert len(parts) >= 3
    assert numbers == list(range(15))


@pytest.mark.crash
@pytest.mark.sweep
async def test_many_sends_that_a_death_leaves_unrecorded_are_found(api, bot_process):
    """Thirty answers were shown when the process died, none was recorded: each is on the screen once."""
    people = range(PERSON, PERSON + 30)
    bot = await bot_process()
    api.faults.plant("sendMessage", Kind.HANG_AFTER, times=None)
    for person in people:
        api.people.says(person, "hello")
    await api.until(lambda: all(bot_texts(api, person) for person in people))
    await bot.kill()
    api.faults.clear()
    await bot.start()
    for person in people:
        api.people.says(person, "thanks")
    await api.until(lambda: all("You said: thanks" in bot_texts(api, person) for person in people))

    for person in people:
        assert bot_texts(api, person) == ["You said: hello", "You said: thanks"]


async def dies_in_a_send(api, bot) -> dict:
    """Kill a bot whose send is under way and has had no effect yet; return what it was to send."""
    api.faults.plant("getUpdates", Kind.HANG, times=None)
    api.faults.plant("sendMessage", Kind.HANG, times=None)
    api.people.says(PERSON, "hello")
    await api.until(lambda: api.calls_of("sendMessage"))
    await bot.kill()
    api.faults.clear()
    return api.calls_of("sendMessage")[-1].params


async def comes_in(api, params: dict) -> None:
    """Let a request arrive that left before its process died."""
    async with httpx.AsyncClient() as client:
        (await client.post(f"{api.url}/bot{api.token}/sendMessage", json=params)).raise_for_status()


def settled(bot) -> bool:
    return rows(bot, "SELECT DISTINCT state FROM outbox") == [("sent",)]


@pytest.mark.crash
async def test_an_unrecorded_send_is_found_behind_messages_that_nobody_has_taken_in(api, bot_process):
    """Twenty people wrote before it was shown, and Telegram still keeps what they wrote: their ids lie in between."""
    bot = await bot_process()
    sent = await dies_in_a_send(api, bot)
    for number in range(20):
        api.people.says(FRIEND + number, "and me?")
    await comes_in(api, sent)
    api.faults.plant("getUpdates", Kind.HANG, times=None)
    await bot.launch()
    await api.until(lambda: settled(bot))

    assert bot_texts(api) == ["You said: hello"]


@pytest.mark.crash
async def test_a_send_that_comes_in_late_is_found(api, bot_process):
    """The bytes were on their way when the process died, and arrive when its successor has looked for them once."""
    bot = await bot_process()
    sent = await dies_in_a_send(api, bot)
    await bot.launch()
    await api.until(lambda: len(api.calls_of("editMessageText")) >= 12)
    await comes_in(api, sent)
    await api.until(lambda: settled(bot))

    assert bot_texts(api) == ["You said: hello"]


async def test_a_429_stalls_only_its_chat(api, bot_here):
    """While one chat must wait as long as Telegram asks, another chat is answered."""
    await bot_here()
    api.faults.plant("sendMessage", Kind.TOO_MANY, chat_id=PERSON, retry_after_s=2)
    api.people.says(PERSON, "slow lane")
    await api.until(lambda: api.faults.planted[0].hits)
    api.people.says(FRIEND, "fast lane")
    await answered(api, FRIEND, "fast lane")

    assert bot_texts(api) == []
    await answered(api, PERSON, "slow lane")


async def test_a_blocked_chat_is_given_up_and_taken_up_again(api, bot_here):
    """A 403 marks the chat unreachable; when the person writes again, they are answered."""
    bot = await bot_here()
    api.people.says(PERSON, "hello")
    await answered(api, PERSON, "hello")
    api.faults.plant("sendMessage", Kind.FORBIDDEN, chat_id=PERSON)
    api.people.says(PERSON, "blocked now")
    await api.until(lambda: api.faults.planted[0].hits)
    await bot.settled()

    api.people.says(PERSON, "back again")
    await answered(api, PERSON, "back again")

    assert rows(bot, "SELECT chat_id FROM unreachable_chats") == []
    assert bot_texts(api) == ["You said: hello", "You said: back again"]


async def test_markdown_goes_out_as_entities_and_without_previews(api, model, bot_here):
    """Bold, code and links are entities; Telegram is told not to fetch links by itself."""
    model.reply = lambda _: "**Bold** and `code` and [a link](https://example.org/?q=secret)"
    await bot_here()
    api.people.says(PERSON, "format something")
    await api.until(lambda: bot_texts(api))

    line = api.view(PERSON).lines[-1]
    assert line.text == "Bold and code and a link"
    assert [entity["type"] for entity in line.entities] == ["bold", "code", "text_link"]
    sent = api.calls_of("sendMessage")[-1].params
    assert "is_disabled" in str(sent["link_preview_options"])
    assert "parse_mode" not in sent


@pytest.mark.parametrize("param", ["entities", "link_preview_options", "reply_markup", "reply_parameters"])
async def test_a_server_that_lacks_an_option_gets_the_message_without_it(api, model, bot_here, param):
    """A 400 on a decorated message is no end: it is sent plainer, down to its text."""
    model.reply = lambda _: "This is **bold** advice."
    await bot_here()
    for method in ("sendMessage", "editMessageText"):
        api.faults.plant(method, Kind.REFUSED, times=None, with_params=(param,))
    api.people.says(PERSON, "advise me")
    await api.until(lambda: "This is bold advice." in bot_texts(api))
    api.people.says(PERSON, "/forget")
    await api.until(lambda: len(bot_texts(api)) == 2)

    assert not [text for text in bot_texts(api) if "couldn't send" in text]


async def test_a_part_that_is_given_up_is_told_and_stands_in_status(api, model, bot_here):
    """One part of a reply is refused for good: the rest comes, the person knows, status counts it."""
    model.reply = lambda _: "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(15))
    bot = await bot_here(CONTINUITY_STREAMING="off")
    api.faults.plant("sendMessage", Kind.REFUSED, nth=2, times=2)
    api.people.says(PERSON, "write a lot")
    await api.until(lambda: "couldn't send a part" in bot_texts(api)[-1] if bot_texts(api) else False, 40)

    await bot.settled()
    assert "Paragraph 0." in bot_texts(api)[0]
    assert "Paragraph 14." in bot_texts(api)[-2]
    assert rows(bot, "SELECT state FROM outbox WHERE state <> 'sent'") == [("failed",)]
    waiting = {row[0]: Backlog(row[1], 0) for row in rows(bot, "SELECT state, COUNT(*) FROM outbox GROUP BY state")}
    assert "1 message part refused by Telegram for good" in unfinished_in_words({}, waiting, 0, runs=True)[0]
