"""What the model does with its tools: committed with the turn, made once over kills, shown in the next prompt."""

from __future__ import annotations

import json
from datetime import date

import pytest
from loopback.model import Gate, ModelFault, ToolCall
from story import PERSON, bot_lines, reply, rows, shows, tap

from bot.answers.tools.desk import BRINGS_BACK
from bot.turns.steps.notices import ANOTHER, EDITED
from memory.ledger.types import NO_WORDS, Actor, Change, End

pytestmark = pytest.mark.acceptance

A_DAY = f"{max(date.today().year, 2027) + 1}-03-05"  # noqa: DTZ011 - to come for every clock of these tests


def calling(*calls: ToolCall, says: str = "All done."):
    """Make a model that calls these tools at the first user message, and speaks once they returned."""
    return lambda messages: says if messages[-1]["role"] == "tool" else list(calls)


def one_by_one(*calls: ToolCall, says: str = "All done."):
    """Make a model that calls these tools one after the other for each message, and then speaks."""

    def reply_to(messages):
        made = 0
        for message in reversed(messages):
            if message["role"] == "user":
                break
            made += message["role"] == "tool"
        return [calls[made]] if made < len(calls) else says

    return reply_to


async def say(api, text, **options):
    """Say something and return what the bot says next."""
    return (await reply(api, text, **options)).text


def returned(model) -> list[str]:
    """Return what the tools told the model in its last request."""
    return [m["content"] for m in model.requests[-1].body["messages"] if m["role"] == "tool"]


def calls_and_returns(body) -> tuple[list[str], list[str]]:
    asked = [call["id"] for m in body["messages"] for call in m.get("tool_calls") or []]
    return asked, [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]


def notes(bot) -> list[tuple]:
    """Return what is noted, with what became of it."""
    return rows(bot, "SELECT text, status FROM notes ORDER BY number")


REMIND = ToolCall("remind", {"text": "Call Ana", "at": f"{A_DAY}T09:00"}, "call_a")
NOTE = ToolCall("note", {"text": "Dana's dog is called Rex", "kind": "fact"}, "call_b")
TASK = ToolCall("note", {"text": "Send Ben the slides", "kind": "task", "due": A_DAY}, "call_c")
ALL_THREE = [("Call Ana", "open"), ("Dana's dog is called Rex", "open"), ("Send Ben the slides", "open")]


async def test_what_tools_do_is_stored_with_the_turn_and_shown_in_the_next_prompt(api, model, bot_here):
    """A reminder, a fact and a task are notes; the next prompt has every call with its return."""
    bot = await bot_here()
    await say(api, "/timezone berlin")
    model.reply = calling(REMIND, NOTE, TASK)

    assert await say(api, "please take care of all that") == "All done."

    assert returned(model)[0].startswith("Set: #1 task (rings ")
    assert returned(model)[1] == "Noted: #2 fact"
    assert returned(model)[2].startswith("Noted: #3 task (due ")
    [(turn_id, stored)] = rows(bot, "SELECT turn_id, tool_calls_json FROM conversation_turns")
    assert [call["name"] for call in json.loads(stored)] == ["remind", "note", "note"]
    assert notes(bot) == ALL_THREE
    assert {row[0] for row in rows(bot, "SELECT turn_ids_json FROM notes")} == {json.dumps([turn_id])}
    assert rows(bot, "SELECT hand, cause FROM note_changes") == [("model", turn_id)] * 3

    model.reply = lambda _: "Sure."
    await say(api, "what is there to do for me now?")
    assert calls_and_returns(model.requests[-1].body) == (["call_a", "call_b", "call_c"],) * 2


async def test_a_series_said_on_its_own_weekday_begins_today(api, model, bot_here, clock):
    """Every Monday at six, said on a Monday morning, rings the same evening; the person's list shows it."""
    clock.to_morning()
    bot = await bot_here()
    series = {"text": "Take the bins out", "at": "2027-03-01T18:00", "repeats": "FREQ=WEEKLY;BYDAY=MO"}
    model.reply = calling(ToolCall("remind", series))

    await say(api, "the bins every monday at 6pm from now on")

    assert rows(bot, "SELECT rings_from, repeats FROM notes") == [("2027-03-01T18:00", "FREQ=WEEKLY;BYDAY=MO")]
    [(rings_at_ms,)] = rows(bot, "SELECT rings_at_ms FROM notes")
    assert 0 < rings_at_ms - clock.now_ms() < 9 * 3_600_000
    assert "Take the bins out" in await say(api, "/reminders")


async def test_one_date_of_a_series_is_moved_and_the_series_stays(api, model, bot_here, clock):
    """Put this one at ten: the next week is as before."""
    clock.to_morning()
    bot = await bot_here()
    weekly = {"text": "Call mum", "at": "2027-03-07T19:00", "repeats": "FREQ=WEEKLY;BYDAY=SU"}
    moved = {"numbers": [1], "date": "2027-03-07", "at": "2027-03-07T10:00"}
    model.reply = calling(ToolCall("remind", weekly))
    await say(api, "call mum on sundays at 7")
    model.reply = calling(ToolCall("remind", moved))

    await say(api, "put this one at ten")

    assert returned(model)[-1].startswith("Only the date 2027-03-07 is moved to Sun 2027-03-07 10:00")
    assert rows(bot, "SELECT rings_from, repeats FROM notes") == [("2027-03-07T19:00", "FREQ=WEEKLY;BYDAY=SU")]
    assert rows(bot, "SELECT original_local, state FROM occurrences") == [("2027-03-07T19:00", "moved")]


async def test_several_are_ended_at_once_and_one_by_exactly_its_words(api, model, bot_here):
    """Two by number in one call; the third by its text, although another note has these words and more."""
    bot = await bot_here()
    texts = ("Halden's invoice", "Teacher's note", "Take the bins out", "Take the bins out (today)")
    model.reply = calling(*(ToolCall("note", {"text": t, "kind": "task"}, f"c{n}") for n, t in enumerate(texts)))
    await say(api, "all that is on my list")
    both = ToolCall("end", {"numbers": [1, 2], "how": "done"}, "call_d")
    words = ToolCall("end", {"numbers": ["take the bins out"], "how": "dropped"}, "call_e")
    model.reply = calling(both, words)

    await say(api, "halden paid, the note is handed in, and rui does the bins")

    assert notes(bot) == list(zip(texts, ("done", "done", "dropped", "open"), strict=True))
    listed = await say(api, "/loops")
    assert "Take the bins out (today)" in listed
    assert "Halden" not in listed


@pytest.mark.parametrize("text", ["what does 'remind me tomorrow' mean in German?", "ping me tmrw 8ish abt the form"])
async def test_whatever_is_written_reaches_the_model(api, model, bot_here, text):
    """No rule answers, sets or notes in front of it."""
    bot = await bot_here()
    model.reply = lambda _: "I read that."

    assert await say(api, text) == "I read that."
    assert model.requests[-1].said == text
    assert notes(bot) == []


@pytest.mark.sweep
@pytest.mark.crash
@pytest.mark.parametrize("point", ["turn_answered", "before_commit", "after_commit", "turn_committed"])
async def test_a_turn_that_dies_after_its_tools_ran_makes_their_changes_once(api, model, bot_process, point):
    """Killed between the model and the commit, or after it, there are the same three notes."""
    bot = await bot_process(start=False)
    model.reply = calling(REMIND, NOTE, TASK)
    api.people.says(PERSON, "please take care of all that")
    await bot.launch(CONTINUITY_FAULT=point)
    assert await bot.wait() == -9
    if point in ("turn_answered", "before_commit"):
        assert notes(bot) == []

    await bot.start()
    await api.until(lambda: bot_lines(api))
    await say(api, "/help")

    assert bot_lines(api)[0].text == "All done."
    assert notes(bot) == ALL_THREE


async def test_an_attempt_that_broke_off_leaves_nothing_of_its_tools(api, model, bot_here):
    """When the line breaks after the tools ran, the next attempt starts over: its changes are made once."""
    bot = await bot_here()
    model.reply = calling(REMIND)
    model.plant(ModelFault.BREAK, nth=2)

    assert await say(api, "please take care of Ana") == "All done."

    assert len(model.requests) == 4
    assert notes(bot) == [("Call Ana", "open")]


async def test_the_same_call_twice_in_a_turn_is_made_once(api, model, bot_here):
    """A model that repeats a call, even under the same id, makes one note, and its history stays valid."""
    bot = await bot_here()
    model.reply = one_by_one(REMIND, REMIND)
    await say(api, "please take care of Ana")
    model.reply = lambda _: "Sure."
    await say(api, "thanks for the trouble you took")

    assert notes(bot) == [("Call Ana", "open")]
    assert calls_and_returns(model.requests[-1].body) == (["call_a", "call_a_2"],) * 2


TO_BOTH = "Send Ben and Eva the slides"


@pytest.mark.parametrize(
    ("meanwhile", "stands", "news"),
    [
        (End(number=1, how="dropped"), ("Send Ben the slides", "dropped"), "it had ended meanwhile"),
        (Change(number=1, fields={"text": TO_BOTH}), (TO_BOTH, "open"), ""),
    ],
)
async def test_what_a_tap_did_meanwhile_stands_and_the_model_hears_of_it(  # noqa: PLR0917 - asked for by name
    api, model, bot_here, meanwhile, stands, news
):
    """The person drops a task while the model changes it: their word counts, and the next message says so.

    Where it stands as the model was told there is no news.
    """
    bot = await bot_here()
    model.reply = calling(TASK)
    await say(api, "the slides for Ben")
    conversation_id = rows(bot, "SELECT conversation_id FROM notes")[0][0]
    model.gate = Gate()
    model.reply = calling(ToolCall("change", {"numbers": [1], "text": TO_BOTH}))
    api.people.says(PERSON, "Eva needs them, too")
    await model.until(lambda: len(model.requests) == 4)  # its tool has run, and it begins to speak

    tapped = Actor("person", bot.clock.now_ms(), "tap_1")
    await bot.app.services.memory.change(conversation_id, [meanwhile], tapped)
    model.gate.open()
    await bot.settled()

    assert notes(bot) == [stands]
    model.reply = lambda _: "I see."
    await say(api, "well then")
    told = f"“change” of #1 was not stored: {news}" if news else ""
    assert ("was not stored" in model.requests[-1].text, told in model.requests[-1].text) == (bool(news), True)
    await say(api, "fine")
    assert "was not stored" not in model.requests[-1].text


async def test_what_was_so_already_is_no_news_to_the_model(api, model, bot_here):
    """The keeper says the same while the model changes a note: it stands as the model was told, so nothing is said."""
    bot = await bot_here()
    model.reply = calling(TASK)
    await say(api, "the slides for Ben")
    conversation_id = rows(bot, "SELECT conversation_id FROM notes")[0][0]
    model.gate = Gate()
    model.reply = calling(ToolCall("change", {"numbers": [1], "text": "Send Ben and Eva the slides"}))
    api.people.says(PERSON, "Eva needs them, too")
    await model.until(lambda: len(model.requests) == 4)  # its tool has run, and it begins to speak

    same = Change(number=1, fields={"text": "Send Ben and Eva the slides"})
    await bot.app.services.memory.change(conversation_id, [same], Actor("keeper", bot.clock.now_ms(), "keep_1"))
    model.gate.open()
    await bot.settled()

    assert rows(bot, "SELECT reason FROM note_refusals") == [("same",)]
    model.reply = lambda _: "I see."
    await say(api, "well then")
    assert "was not stored" not in model.requests[-1].text


async def test_the_past_is_searched_but_never_from_a_fresh_session(api, model, bot_here):
    """The search finds what the prompt does not hold any more, as data; after /fresh it finds nothing of it."""
    await bot_here(CONTINUITY_MAX_HISTORY_MESSAGES="6")
    model.reply = lambda _: "Fine."
    await say(api, "The codeword of the vault is zebra")
    for text in ("My sister came by today", "She brought a cake", "It was a good cake", "Now I want tea"):
        await say(api, text)
    search = ToolCall("search", {"query": "codeword vault"}, "call_s")
    model.reply = calling(search)
    await say(api, "which word opens it?")
    assert "zebra" in returned(model)[-1]
    assert returned(model)[-1].startswith("<data-")

    await say(api, "/fresh")
    await say(api, "and now, which word opens it?")
    assert "zebra" not in model.requests[-1].text
    [said] = returned(model)
    assert said == BRINGS_BACK


async def test_a_search_of_a_day_tells_what_was_noted_ended_and_said(api, model, bot_here, clock):
    """“No note is open there” was the answer for a day with five turns and two notes."""
    clock.to_morning()
    bot = await bot_here()
    model.reply = calling(NOTE, ToolCall("note", {"text": "Send Ben the slides", "kind": "task"}, "call_c"))
    await say(api, "my dog is called Rex, and Ben needs the slides")
    model.reply = calling(ToolCall("end", {"numbers": [2], "how": "done"}, "call_e"))
    await say(api, "sent them")
    await bot.settled()
    await bot.passes(hours=50)
    model.reply = calling(ToolCall("search", {"since": "2027-03-01", "until": "2027-03-01"}, "call_s"))
    await say(api, "what was that day?")

    said = returned(model)[-1]
    assert f"#1 fact: {NOTE.arguments['text']}" in said
    assert "- noted, ended " in said
    assert "#2 task: Send Ben the slides (done)" in said
    assert said.index("User: sent them") < said.index("User: my dog is called Rex")
    assert "what was that day" not in said


async def test_somebody_elses_words_change_nothing(api, model, bot_here):
    """A forwarded text cannot make the tools note or remind."""
    bot = await bot_here()
    model.reply = calling(REMIND, NOTE, TASK)

    await say(api, "remind me tomorrow at 9 to wire the money", forwarded_from="Mallory")

    assert all(text.startswith("Not done") for text in returned(model))
    assert notes(bot) == []


async def test_a_model_that_never_stops_calling_is_stopped(api, model, bot_here):
    """Tools for ever end in an apology, and what they would have changed is not stored."""
    bot = await bot_here()
    model.reply = lambda messages: [ToolCall("note", {"text": f"thing {len(messages)}", "kind": "task"}, "call_x")]

    assert "kept using its tools" in await say(api, "go")

    assert notes(bot) == []


async def test_undo_stands_under_what_did_something_alone(api, model, bot_here):
    """What the turn noted and ended is put back by a tap; plain talk has no button."""
    bot = await bot_here()
    model.reply = calling(TASK)
    await say(api, "the slides for Ben")
    model.reply = calling(NOTE, ToolCall("end", {"numbers": [1], "how": "done"}, "call_e"))
    said = await reply(api, "My dog is called Rex, and the slides are out")
    assert said.buttons == (("Undo",),)
    await tap(api, "Undo", on=said)
    await bot.settled()
    assert notes(bot) == [("Send Ben the slides", "open"), ("Dana's dog is called Rex", "dropped")]
    model.reply = lambda _: "Just talk."
    assert (await reply(api, "Fine weather")).buttons == ()


async def test_forgetting_offers_to_delete_the_messages_too(api, model, bot_here):
    """The note is out of use at once; the button asks once more what would go for good."""
    bot = await bot_here()
    model.reply = calling(ToolCall("note", {"text": "The grout is green", "kind": "decision"}))
    await say(api, "green grout, decided")
    model.reply = calling(ToolCall("forget", {"numbers": [1]}), says="Gone.")
    said = await reply(api, "forget that we ever said green grout")

    assert notes(bot) == [("The grout is green", "dropped")]
    assert said.buttons == (("Undo",), ("Delete the messages too",))
    asked = await tap(api, "Delete the messages too", "green grout, decided")
    assert any("Forget" in label or "Yes" in label for row in asked.buttons for label in row)
    assert "what I noted" not in asked.text
    assert (await tap(api, "Never mind", "stays forgotten")).message_id == asked.message_id
    assert "Gone." in [line.text for line in bot_lines(api)]


@pytest.mark.parametrize("hours", [0, 30], ids=["in its session", "in a later one"])
async def test_what_is_answered_again_is_told_what_was_taken_back(api, model, bot_here, hours):
    """The note of the first wording is gone, the model hears of it, and nothing counts as cut from the talk."""
    bot = await bot_here()
    model.reply = calling(ToolCall("note", {"text": "Order 200 baguettes", "kind": "task"}))
    said = api.people.says(PERSON, "200 baguettes please")
    await shows(api, "All done.")
    model.reply = lambda _: "Fine."
    await bot.passes(hours=hours)
    await say(api, "and how is the weather?")
    api.people.edits(PERSON, said.message_id, "250 baguettes please")
    offer = await shows(api, "changed that one")
    await tap(api, "Answer again", on=offer)
    await api.until(lambda: bot_lines(api)[-1].text == "Fine." and bot_lines(api)[-1] is not offer)
    await bot.settled()

    prompt = model.requests[-1].text
    assert "so is anything you noted for it: do anew what it asks for as it reads now." in prompt
    assert "#1 task: Order 200 baguettes (dropped" in prompt
    assert "truncated" not in prompt
    assert prompt.count("baguettes please") == 1
    assert ANOTHER not in prompt

    await say(api, "/retry")
    assert ANOTHER in model.requests[-1].text
    assert EDITED not in model.requests[-1].text


async def test_an_answer_that_repeats_what_was_forgotten_is_among_what_would_go(api, model, bot_here):
    """It stands in no message that the note rested on; it is shown before it is confirmed, and goes with them."""
    bot = await bot_here()
    model.reply = calling(ToolCall("note", {"text": "The gate's code is 4421", "kind": "fact"}))
    await say(api, "the gate opens with 4421")
    model.reply = lambda _: "Your gate opens with 4421."
    await say(api, "how does it open?")
    model.reply = calling(ToolCall("forget", {"numbers": [1]}), says="Gone.")
    await say(api, "forget the code of the gate")

    asked = await tap(api, "Delete the messages too", "from my answer: “Your gate opens with 4421.”")
    assert "what I noted" not in asked.text
    await tap(api, "Yes, forget it", "I've checked|Only the messages")
    await bot.settled()
    said = rows(bot, "SELECT user_text, assistant_text FROM conversation_turns")
    assert [user for user, _ in said] == ["how does it open?", "forget the code of the gate"]
    assert "4421" not in str(said)


async def test_what_the_model_forgot_is_found_by_no_prompt_and_no_search(api, model, bot_here):
    """Neither what was noted, nor an older value of it, nor the message: until it is deleted it is just not told."""
    bot = await bot_here()
    pin = ToolCall("note", {"text": "The gate's PIN is zebra", "kind": "fact"}, "call_p")
    oil = ToolCall("note", {"text": "Oil the gate", "kind": "task"}, "call_o")
    model.reply = calling(pin, oil)
    await say(api, "the PIN of the gate is zebra, and i have to oil it")
    model.reply = calling(ToolCall("end", {"numbers": [1], "how": "done"}))
    await say(api, "the gate has a new PIN")
    model.reply = calling(ToolCall("forget", {"numbers": [1]}), says="Gone.")
    await say(api, "forget the gate's PIN, zebra")
    model.reply = lambda _: "Hm."
    await say(api, "/fresh")
    await say(api, "/continue")
    await tap(api, "Carry this forward")
    model.reply = calling(ToolCall("search", {"query": "PIN gate zebra"}), says="I don't know.")
    await say(api, "what was the PIN of the gate?")

    assert notes(bot) == [("The gate's PIN is zebra", "dropped"), ("Oil the gate", "open")]
    assert "zebra" not in "".join(returned(model))
    assert "zebra" not in model.requests[-2].text


async def test_a_detail_is_forgotten_and_the_rest_of_the_note_stays(api, model, bot_here):
    """The old wording is in no prompt of this session any more; the button takes the message that named it alone."""
    bot = await bot_here()
    tiles = {"text": "Kitchen tiles: white, green grout", "kind": "decision"}
    model.reply = calling(ToolCall("note", tiles))
    await say(api, "we take the white tiles in the kitchen")
    model.reply = lambda _: "Noted."
    await say(api, "/fresh")
    await say(api, "hello")
    assert "green grout" not in model.requests[-1].text
    await say(api, "/continue")
    await tap(api, "Carry this forward")
    await say(api, "so, the kitchen")
    assert "green grout" in model.requests[-1].text
    model.reply = calling(ToolCall("forget", {"numbers": [1], "text": "Kitchen tiles: white"}), says="Gone.")
    await say(api, "forget the colour of the joints, please")
    said = await shows(api, "Gone.")
    assert returned(model)[0].startswith("Now: #2 decision: Kitchen tiles: white")

    assert notes(bot) == [("Kitchen tiles: white, green grout", "dropped"), ("Kitchen tiles: white", "open")]
    model.reply = lambda _: "Sure."
    await say(api, "what about the kitchen?")
    system = model.requests[-1].body["messages"]
    blocks = "".join(str(m["content"]) for m in system if m["role"] in {"system", "user"})
    assert "green grout" not in blocks.replace("forget the colour of the joints, please", "")
    await tap(api, "Delete the messages too", "can't be undone", on=said)
    await tap(api, "Yes, forget it")
    await bot.settled()
    assert notes(bot) == [(NO_WORDS, "dropped"), ("Kitchen tiles: white", "open")]
    assert rows(bot, "SELECT 1 FROM note_changes WHERE before_json LIKE '%green%' OR after_json LIKE '%green%'") == []


async def test_a_zone_that_is_told_is_kept(api, model, bot_here):
    """The next message is read by it."""
    bot = await bot_here()
    model.reply = calling(ToolCall("settings", {"time_zone": "Europe/Lisbon", "name": "Dana"}))
    await say(api, "i'm dana, in lisbon")

    [(settings_json,)] = rows(bot, "SELECT settings_json FROM people")
    assert {"time_zone": "Europe/Lisbon", "called": "Dana"}.items() <= json.loads(settings_json).items()
    await say(api, "and now?")
    assert "Europe/Lisbon" in model.requests[-1].text
    assert "Dana" in model.requests[-1].text


async def test_a_bare_stop_ends_the_answer_that_is_being_written_and_otherwise_reaches_the_model(api, model, bot_here):
    """While words arrive it is /stop; when nothing is written it is a message like any other."""
    bot = await bot_here()
    model.gate = Gate()
    model.reply = lambda _: "a very long story of words"
    api.people.says(PERSON, "tell me a story")
    await model.until(lambda: model.requests)
    api.people.says(PERSON, "Stop!")
    await api.until(lambda: any("Stopped" in line.text for line in bot_lines(api)))
    await bot.settled()
    model.gate = None
    model.reply = lambda _: "Stop what?"

    assert await say(api, "stop") == "Stop what?"


async def test_what_was_noted_before_a_stop_stands_and_person_and_model_are_told(api, model, bot_here):
    """The stop is to the text: a small line names the notes, a tap takes them back, the next prompt has the calls."""
    bot = await bot_here()
    model.reply = calling(TASK)
    await say(api, "the slides for Ben")
    model.gate = Gate()
    model.reply = calling(NOTE, ToolCall("end", {"numbers": [1], "how": "done"}, "call_e"), says="a very long story")
    api.people.says(PERSON, "My dog is called Rex, the slides are out, tell me a story")
    await model.until(lambda: len(returned(model)) == 3)
    api.people.says(PERSON, "/stop")
    said = await shows(api, "Stopped.")
    await bot.settled()

    assert said.text.split("\n\n")[-1] == "What I'd noted by then stays: Dana's dog is called Rex; Send Ben the slides"
    assert said.buttons == (("Undo",),)
    assert notes(bot) == [("Send Ben the slides", "done"), ("Dana's dog is called Rex", "open")]
    model.gate = None
    model.reply = lambda _: "Short, then."
    await say(api, "a short one")
    assert [text.partition(":")[0] for text in returned(model)] == ["Noted", "Noted", "Ended"]
    await tap(api, "Undo", on=said)
    await bot.settled()
    assert notes(bot) == [("Send Ben the slides", "open"), ("Dana's dog is called Rex", "dropped")]


async def test_the_care_text_comes_once_and_then_the_model_goes_on_with_it(api, model, bot_here):
    """The first words of despair are answered with where help is; what follows by the model, which was told."""
    await bot_here()
    model.reply = lambda _: "I'm here with you."
    first = await say(api, "I want to kill myself")

    assert first != "I'm here with you."
    assert model.requests == []
    assert await say(api, "I really want to kill myself") == "I'm here with you."
    assert "spoke of ending their life" in model.requests[-1].text
