"""Groups: what a member may ask in private, what admins decide, and who may forget what; Telegram says who is who."""

from __future__ import annotations

import re

import pytest
from loopback.model import ToolCall, echo
from story import asked, bot_lines, bot_texts, heard, noted, noting, reply, rows, shows, tap, tapped

from bot import replies
from memory.ledger.types import Actor, Add
from memory.testing import START_MS

pytestmark = pytest.mark.acceptance
ANA, RUI, EVA = 11, 12, 13
"""Ana owns the group, Rui is in it, Eva is not."""
ME = "@continuity_bot"
BOT = f"{ME} "
WORDS = [replies.say("group_reads", me=ME), replies.say("group_reads_all", me=ME)]


@pytest.fixture
async def bot(bot_here):
    return await bot_here(CONTINUITY_ALLOWED_USERS=f"{ANA},{RUI},{EVA}")


@pytest.fixture
def group(api):
    return api.people.opens_group("House", owner=ANA)


async def says(api, group, text, user, **options):
    return await reply(api, f"{BOT}{text}", chat_id=group, user=user, **options)


async def opened(api, group):
    """Let the owner allow members to ask in private."""
    shown = await reply(api, "/group@continuity_bot", chat_id=group, user=ANA)
    await tap(api, replies.say("group_open"), "Members may ask", on=shown, chat_id=group, user=ANA)


def asking(query, **more):
    """Return what a model replies that asks a group once, and then repeats what it is told."""

    def reply_to(messages):
        if messages[-1]["role"] == "tool":
            return "I looked."
        return [ToolCall("search_group", {"query": query, **more})] if "house" in str(messages[-1]) else echo(messages)

    return reply_to


def result(model) -> str:
    """Return what the last tool returned."""
    return str(asked(model)[-1].messages[-1][1])


def told(api, group) -> list[str]:
    """Return what a group was told of what is read there."""
    return [line.text for line in api.view(group).lines if line.text in WORDS]


def offers(model) -> bool:
    """Return whether the last request offered the tool, and with it what the person can do themselves."""
    tools = str(asked(model)[-1].body["tools"])
    return "search_group" in tools and "/group with words" in tools


async def test_a_member_asks_in_private_once_an_admin_allows_it(api, model, bot, group):
    """Off by default and not even offered; allowed, it finds who said what; for who has left it finds nothing again."""
    await says(api, group, "the tiles come on Tuesday", ANA)
    await reply(api, "what of the house?", user=RUI, chat_id=RUI)
    assert not offers(model)
    await says(api, group, "fine with me", RUI)
    await opened(api, group)

    model.reply = asking("tiles")
    await reply(api, "when do the tiles of the house come?", user=RUI, chat_id=RUI)
    assert offers(model)
    assert "House:" in result(model)
    assert "by User 11: the tiles come on Tuesday" in result(model)
    found = await reply(api, "/group tiles", user=RUI, chat_id=RUI)
    assert "the tiles come on Tuesday" in found.text
    assert (await reply(api, "/group", user=RUI, chat_id=RUI)).text == replies.say("group_may_ask", groups="House")

    api.people.leaves(RUI, group)
    await reply(api, "and of the house now?", user=RUI, chat_id=RUI)
    assert "No group that they are in" in result(model)
    assert (await reply(api, "/group tiles", user=RUI, chat_id=RUI)).text == replies.say("group_none_open")


async def test_who_told_again_what_the_group_forgot_is_found_by_nobody(api, model, bot, group):
    """By the assistant's tool: the messages stay in the group, and who asks in private is told none of them."""
    model.reply = noting("7391", "fact", "Rui's gate code is 7391")
    await says(api, group, "Rui's gate code is 7391", RUI)
    await says(api, group, "so for the gate the code is 7391, I wrote it on the bin", ANA)
    await opened(api, group)
    assert "7391" in (await reply(api, "/group gate code", user=RUI, chat_id=RUI)).text

    model.reply = lambda said: [ToolCall("forget", {"numbers": [1]})] if said[-1]["role"] == "user" else "Gone."
    await says(api, group, "forget the code", RUI)
    assert "7391" not in (await reply(api, "/group gate code", user=RUI, chat_id=RUI)).text


async def test_a_stranger_to_the_group_and_another_group_get_nothing(api, model, bot, group):
    """Who was never in it asks in vain, and so does a member from within another group."""
    await says(api, group, "the codeword is zebrafish", ANA)
    await opened(api, group)
    other = api.people.opens_group("Work", owner=RUI)
    await says(api, group, "fine with me", RUI)
    model.reply = asking("codeword", group="House")
    await reply(api, "what is the codeword of the house?", user=EVA, chat_id=EVA)
    assert "No group that they are in" in result(model)
    await says(api, other, "what is the codeword of the house?", RUI)

    assert not offers(model)
    assert "zebrafish" not in str(bot_texts(api, EVA) + bot_texts(api, other))


async def test_only_an_admin_allows_it_and_can_take_it_back(api, model, bot, group):
    """A member sees how it is, without a button; who is no admin any more only hears so; closed is closed at once."""
    await says(api, group, "the tiles come on Tuesday", RUI)
    assert not (await reply(api, "/group@continuity_bot", chat_id=group, user=RUI)).buttons
    shown = await reply(api, "/group@continuity_bot", chat_id=group, user=ANA)
    api.world.chats[group].owner = 0
    await tap(api, replies.say("group_open"), on=shown, chat_id=group, user=ANA)
    assert tapped(api) == replies.say("group_admins_only")
    assert (await reply(api, "/group tiles", user=RUI, chat_id=RUI)).text == replies.say("group_none_open")

    api.world.chats[group].owner = ANA
    await opened(api, group)
    await tap(api, replies.say("group_close"), chat_id=group, user=ANA)
    assert (await reply(api, "/group tiles", user=RUI, chat_id=RUI)).text == replies.say("group_none_open")


async def test_a_topic_and_a_note_are_found_with_the_group(api, model, bot):
    """All topics of a forum are asked; what was said in the topic stands there."""
    forum = api.people.opens_group("House", is_forum=True, owner=ANA)
    topic = api.people.opens_topic(forum, "Walls", user_id=ANA)
    await says(api, forum, "we paint in lilac", ANA, thread_id=topic)
    await opened(api, forum)

    assert "we paint in lilac" in (await reply(api, "/group lilac", user=ANA, chat_id=ANA)).text


async def test_each_message_has_its_speaker_once_and_a_note_stands_as_on_a_list(api, bot, group):
    """“Yann: Yann est absent” and “everyone: Carry the tiles” named an owner who is in the words, or is no name."""
    sent = api.people.says(ANA, "tiles from Lisbon are nicer", chat_id=group)
    await says(api, group, "no tiles from Porto, please", RUI, reply_to=sent.message_id)
    await opened(api, group)
    place = f"tg:{bot.app.services.me.bot_id}:{group}:0"
    notes = (("fact", "Yann est absent, the tiles wait", "Yann"), ("task", "Carry the tiles", "everyone"))
    adds = [Add(kind=kind, text=text, note_id=f"n_{kind}", fields={"owner": owner}) for kind, text, owner in notes]
    await bot.app.services.memory.change(place, adds, Actor("person", START_MS, "x"))
    lines = (await reply(api, "/group tiles", user=RUI, chat_id=RUI)).text.splitlines()

    assert sorted(lines[1:]) == [
        "• Carry the tiles (everybody)",
        "• User 12, today: no tiles from Porto, please",
        "• Yann est absent, the tiles wait",
    ]


async def test_what_was_said_in_a_group_stands_with_speaker_and_time_in_its_prompt(api, model, bot_here):
    """Word by word on the same day, and as it is found again the day after."""
    bot = await bot_here(CONTINUITY_TIMEZONE="Europe/Berlin")
    group = api.people.opens_group("House", owner=ANA)
    await says(api, group, "we paint the kitchen in lilac", ANA)
    await bot.passes(hours=2)
    await says(api, group, "I bring the ladder", RUI)
    await says(api, group, "who brings the ladder?", ANA)
    said = model.requests[-1].text
    assert re.search(r"\[\w+ 2027-03-01 11:00\] <data-\w+>\n[^<]*User 11: we paint the kitchen in lilac\n", said)
    assert re.search(r"\[13:00\] <data-\w+>\n[^<]*User 12: I bring the ladder\n", said)
    assert said.endswith("User 11: who brings the ladder?")

    await bot.passes(hours=30)
    await says(api, group, "and who was it who brings the ladder?", ANA)
    assert re.search(r"Mon 1 Mar 13:00.*User 12: I bring the ladder", asked(model)[-1].text)


async def test_a_topic_has_a_memory_of_its_own(api, model, bot_here):
    """What is said and noted in one is neither in the prompt nor in the lists of another, also the day after."""
    bot = await bot_here()
    forum = api.people.opens_group("House", is_forum=True, owner=ANA)
    walls, floors = (api.people.opens_topic(forum, name, user_id=ANA) for name in ("Walls", "Floors"))
    model.reply = noting("paint the kitchen in lilac", "task", "Paint the kitchen in lilac")
    await says(api, forum, "Rui should paint the kitchen in lilac", ANA, thread_id=walls)
    for hours in (0, 30):
        await bot.passes(hours=hours)
        seen = {}
        for topic in (walls, floors, 0):
            await says(api, forum, "what of the kitchen in lilac?", RUI, thread_id=topic)
            seen[topic] = [asked(model)[-1].text]
            for command in ("/loops", "/memory kitchen", "/status"):
                name, _, words = command.partition(" ")
                text = f"{name}@continuity_bot {words}".strip()
                seen[topic].append((await reply(api, text, forum, user=RUI, thread_id=topic)).text)
        assert [("aint the kitchen in lilac" in text) for text in seen[walls]] == [True] * 4
        assert not [text for text in seen[floors] + seen[0] if "aint the kitchen" in text]


async def test_a_member_forgets_their_own_words_and_an_admin_anybodys(api, model, bot, group):
    """A member finds their own words alone, an admin all; who is none any more at the tap forgets their own alone."""
    await says(api, group, "lilac for the kitchen", RUI)
    await says(api, group, "lilac for the hall", ANA)
    found = await reply(api, "/forget lilac", chat_id=group, user=RUI)
    assert ("kitchen" in found.text, "hall" in found.text) == (True, False)
    found = await reply(api, "/forget lilac", chat_id=group, user=ANA)
    assert ("kitchen" in found.text, "hall" in found.text) == (True, True)
    api.world.chats[group].owner = 0
    await tap(api, replies.say("forget_all_found", count=2), "Should I forget", on=found, chat_id=group, user=ANA)
    await tap(api, replies.say("forget_yes"), chat_id=group, user=ANA)
    await bot.settled()

    assert [text.removeprefix(BOT) for text in heard(bot)] == ["lilac for the kitchen"]


@pytest.mark.parametrize(("hears_all", "word"), [(False, "group_reads"), (True, "group_reads_all")])
async def test_a_group_is_told_what_can_reach_the_bot(api, model, bot_here, hears_all, word):
    """With privacy mode the rest never reaches it, without it does; so it is said once, in /help and in /group."""
    api.world.bot["can_read_all_group_messages"] = hears_all
    bot = await bot_here()
    group = api.people.opens_group("House", owner=ANA)
    await says(api, group, "hello", RUI)
    api.people.says(RUI, "not for the bot", chat_id=group)
    await says(api, group, "and again", RUI)
    await bot.settled()

    assert told(api, group) == [replies.say(word, me=ME)]
    assert (await reply(api, "/help@continuity_bot", group, user=RUI)).text.endswith(replies.say(word, me=ME))
    assert replies.say(word, me=ME) in (await reply(api, "/group@continuity_bot", group, user=RUI)).text
    assert [text.removeprefix(BOT) for text in heard(bot)] == ["hello", "and again"]


async def test_a_group_hears_when_the_bot_becomes_an_admin_and_is_none_again(api, model, bot_here):
    """Everything reaches an admin, whatever its privacy mode; each time it changes it is said, and only then."""
    api.world.bot["can_read_all_group_messages"] = False
    bot = await bot_here()
    group = api.people.opens_group("House", owner=ANA)
    await says(api, group, "hello", RUI)
    await bot.settled()
    api.people.makes_bot_admin(ANA, group)
    api.people.makes_bot_admin(ANA, group)
    api.people.says(RUI, "not for the bot", chat_id=group)
    shown = await reply(api, "/help@continuity_bot", group, user=RUI)
    assert shown.text.endswith(replies.say("group_reads_all", me=ME))
    whole = await tap(api, "All commands", "/privacy", on=shown, chat_id=group, user=RUI)
    assert whole.text.endswith(replies.say("group_reads_all", me=ME))
    await bot.restart()
    await says(api, group, "still there?", RUI)
    api.people.makes_bot_admin(ANA, group, is_admin=False)

    await api.until(lambda: told(api, group) == [WORDS[0], WORDS[1], WORDS[0]])
    assert [text.removeprefix(BOT) for text in heard(bot)] == ["hello", "still there?"]


async def test_a_group_hears_nothing_of_what_is_read_while_that_is_not_known(api, model, bot_here):
    """Telegram does not say what the bot is there: neither is it told by itself, nor in /help; an update says it."""
    api.world.bot["can_read_all_group_messages"] = False
    bot = await bot_here()
    group = api.people.opens_group("House", owner=ANA)
    api.faults.plant("getChatMember", "server_error", times=None)
    await says(api, group, "hello", RUI)
    assert replies.say("group_reads", me=ME) not in (await reply(api, "/help@continuity_bot", group, user=RUI)).text
    await bot.settled()
    assert told(api, group) == []
    api.people.makes_bot_admin(ANA, group)

    await api.until(lambda: told(api, group) == [replies.say("group_reads_all", me=ME)])


async def test_an_admin_forgets_the_whole_group(api, model, bot, group):
    """/forget group: a member is refused; of an admin's nothing is left of anybody."""
    await says(api, group, "lilac for the kitchen", RUI)
    await says(api, group, "lilac for the hall", ANA)
    refused = await reply(api, "/forget group", chat_id=group, user=RUI)
    assert refused.text == replies.say("group_admins_only")
    assert (await reply(api, "/forget group", chat_id=group, user=ANA)).text.startswith("Should I forget everything")
    await tap(api, replies.say("forget_yes"), chat_id=group, user=ANA)
    await shows(api, "nothing of it is left", group)
    await bot.settled()

    assert heard(bot) == []
    assert rows(bot, "SELECT COUNT(*) FROM conversation_turns") == [(0,)]
    assert bot_lines(api, group)


@pytest.mark.parametrize("command", ["help", "group"])
async def test_a_command_that_says_what_is_read_is_not_followed_by_it(api, model, bot, group, command):
    """Asked for first, it stands in the answer, and is not sent once more behind it."""
    shown = await reply(api, f"/{command}@continuity_bot", group, user=RUI)
    assert any(word in shown.text for word in WORDS)
    await says(api, group, "hello", RUI)
    await bot.settled()

    assert told(api, group) == []


async def test_who_wrote_nothing_in_a_group_is_spoken_to_as_in_private(api, model, bot, group):
    """What Ana chose there stands for her, also when Rui writes French in the group."""
    await reply(api, "/settings", ANA, user=ANA)
    await tap(api, "Language", "In which", chat_id=ANA, user=ANA)
    await tap(api, "Deutsch", "Deutsch", chat_id=ANA, user=ANA)
    hello = await reply(api, "/start@continuity_bot", group, user=ANA)
    await bot.settled()
    with replies.speaking("de"):
        words = (replies.say("group_reads", me=ME), replies.say("group_reads_all", me=ME))
        assert bot_texts(api, group)[-1].endswith(words)
        assert replies.say("start_how") not in hello.text  # a plain message is not read there
    await says(api, group, "Bonjour, on se retrouve demain soir chez moi pour le repas ?", RUI)
    again = await reply(api, "/start@continuity_bot", group, user=ANA)
    his = await reply(api, "/start@continuity_bot", group, user=RUI)

    assert hello.text.startswith("Hallo, ")
    assert again.text.startswith("Hallo, ")
    assert his.text.startswith("Bonjour")


async def test_a_group_is_told_hours_as_who_asks_chose_them_in_private(api, model, bot, group):
    """“at 17:30” in the lists of somebody who had asked for 3:15pm, whose assistant said 5:30pm beside it."""
    await reply(api, "/settings", ANA, user=ANA)
    await tap(api, "Language", "In which", chat_id=ANA, user=ANA)
    await tap(api, "English, 3:15pm", "3:15pm", chat_id=ANA, user=ANA)
    tea = ToolCall("note", {"text": "Tea at the hall", "kind": "event", "due": "2027-03-01T17:30"}, "c1")
    model.reply = lambda messages: "OK." if messages[-1]["role"] == "tool" else [tea]
    await says(api, group, "The tea is at the hall on the first of March", ANA)
    await says(api, group, "Let us all meet there at the usual time", RUI)
    await bot.settled()

    assert "at 5:30pm" in (await reply(api, "/memory@continuity_bot", group, user=ANA)).text
    assert "at 17:30" in (await reply(api, "/memory@continuity_bot", group, user=RUI)).text


async def test_buttons_and_lists_in_a_group_are_in_the_language_of_who_wrote(api, model, bot, group):
    """Ana writes German, Rui English: each finds [Undo], the lists and a reminder in their own, whoever wrote last."""
    german, english = "Ich muss noch die Einkäufe für das Fest besorgen", "We all have to be at the station in time"
    fields = {"owner": "everyone", "due": "2027-03-01T17:00"}
    calls = {
        german: [ToolCall("note", {"text": "Die Einkäufe sind fertig", "kind": "task", **fields}, "c1")],
        english: [ToolCall("note", {"text": "Be at the station", "kind": "task", **fields}, "c2")],
    }

    def reply_to(messages):
        if messages[-1]["role"] == "tool":
            return "OK."
        said = str(messages[-1]["content"])
        return next((list(made) for words, made in calls.items() if words in said), "OK.")

    model.reply = reply_to
    for _ in range(2):
        await says(api, group, "Wir treffen uns heute Abend bei mir zu Hause", ANA)
        await says(api, group, "Let us meet at my place tonight instead", RUI)
    for said, user in ((german, ANA), (english, RUI)):
        await says(api, group, said, user)
        await bot.settled()

    assert [line.buttons for line in bot_lines(api, group)[-2:]] == [(("Rückgängig",),), (("Undo",),)]
    assert "Die Einkäufe sind fertig (alle, " in (await reply(api, "/loops@continuity_bot", group, user=ANA)).text
    assert "Die Einkäufe sind fertig (everybody, " in (await reply(api, "/loops@continuity_bot", group, user=RUI)).text
    assert "Noch offen" in (await reply(api, "/loops@continuity_bot", group, user=ANA)).text


async def test_who_has_something_open_in_a_group_is_told_once_that_it_is_listed_there(api, bot, group):
    """A host who asks in private would take the barbecue for forgotten; nobody else hears of it, nor anybody twice."""
    await says(api, group, "hi", ANA)
    await noted(bot, "task", "Bring the coals", chat_id=group, user_id=ANA)

    assert "For what's on in House, send /loops there." in (await reply(api, "/loops", ANA, ANA)).text
    assert "House" not in (await reply(api, "/loops", ANA, ANA)).text
    assert "House" not in (await reply(api, "/loops", RUI, RUI)).text
    assert "coals" not in "".join(bot_texts(api, ANA) + bot_texts(api, RUI))


async def test_a_message_that_an_edit_addresses_to_the_bot_is_new_to_it(api, bot, group):
    """It never answered that, so there is no new answer to offer, and none is below afterwards."""
    await says(api, group, "hi", ANA)
    said = api.people.says(RUI, "when is the party?", chat_id=group)
    api.people.edits(RUI, said.message_id, f"{BOT}when is the party?", chat_id=group)
    offer = await shows(api, replies.say("edited_new"), group)
    assert offer.buttons == (("Answer now",),)
    api.people.edits(RUI, said.message_id, f"{BOT}when is the dinner?", chat_id=group)
    await bot.settled()
    assert offer == next(each for each in bot_lines(api, group) if each.message_id == offer.message_id)
    await tap(api, "Answer now", on=offer, chat_id=group, user=RUI)

    await shows(api, "You said: when is the dinner?", group)
    [line] = [each for each in bot_lines(api, group) if each.message_id == offer.message_id]
    assert (line.text, line.buttons) == (replies.say("answered_below"), ())
