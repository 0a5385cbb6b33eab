"""What the model does with its tools: committed with the turn, made once over kills, shown in the next prompt."""

from __future__ import annotations

import json

import pytest
from loopback.model import ModelFault, ToolCall
from story import PERSON, bot_lines, reply, rows, tap

pytestmark = pytest.mark.acceptance


def calling(*calls: ToolCall, says: str = "All done."):
    """Make a model that calls these tools at the first user message, and speaks once they returned."""
    return lambda messages: says if messages[-1]["role"] == "tool" else list(calls)


async def say(api, text, **options):
    """Say something and return what the bot says next."""
    return (await reply(api, text, **options)).text


def returned(model) -> list[str]:
    """Return what the tools told the model in its last request."""
    return [m["content"] for m in model.requests[-1].body["messages"] if m["role"] == "tool"]


def calls_and_returns(body) -> tuple[list[str], list[str]]:
    asked = [call["id"] for m in body["messages"] for call in m.get("tool_calls") or []]
    return asked, [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]


REMIND = ToolCall("remind", {"what": "call Ana", "when": "tomorrow at 9"}, "call_a")
REMEMBER = ToolCall("remember", {"text": "My dog is called Rex", "kind": "fact"}, "call_b")
OPEN = ToolCall("open_loop", {"text": "send Ben the slides", "due": "on Friday"}, "call_c")


async def test_what_tools_do_is_stored_with_the_turn_and_shown_in_the_next_prompt(api, model, bot_here):
    """A reminder, a note and an open matter are stored; the next prompt has every call with its return."""
    bot = await bot_here()
    await say(api, "/timezone berlin")
    model.reply = calling(REMIND, REMEMBER, OPEN)

    assert await say(api, "please take care of all that") == "All done."

    said = returned(model)
    assert said[0] == "The reminder is set for tomorrow at 09:00 (Europe/Berlin): call Ana"
    assert said[1] == "Noted: My dog is called Rex"
    assert said[2].startswith("On the list: send Ben the slides, due")
    [(turn_id, refs, stored)] = rows(bot, "SELECT turn_id, job_refs, tool_calls_json FROM conversation_turns")
    [(job_id, call_key)] = rows(bot, "SELECT job_id, call_key FROM jobs WHERE title = 'call Ana'")
    assert json.loads(refs) == [job_id]
    assert call_key.startswith(f"{turn_id}:remind:")
    assert [call["name"] for call in json.loads(stored)] == ["remind", "remember", "open_loop"]
    assert rows(bot, "SELECT text, status FROM memories") == [("My dog is called Rex", "active")]
    state = json.loads(rows(bot, "SELECT state_json FROM conversation_sessions")[0][0])
    assert [loop["text"] for loop in state["open_loops"]] == ["send Ben the slides"]
    assert state["active_job_refs"] == [job_id]

    model.reply = lambda _: "Sure."
    await say(api, "what is there to do for me now?")
    body = model.requests[-1].body
    assert calls_and_returns(body) == (["call_a", "call_b", "call_c"],) * 2
    assert "send Ben the slides" in model.requests[-1].text
    assert "call Ana (scheduled" in model.requests[-1].text


@pytest.mark.crash
@pytest.mark.parametrize("point", ["turn_answered", "before_commit", "after_commit", "turn_committed"])
async def test_a_turn_that_dies_after_its_tools_ran_makes_their_changes_once(api, model, bot_process, point):
    """Killed between the model and the commit, or after it, there is one job, one note and one open matter."""
    bot = await bot_process(start=False)
    model.reply = calling(REMIND, REMEMBER, OPEN)
    api.people.says(PERSON, "please take care of all that")
    await bot.launch(CONTINUITY_FAULT=point)
    assert await bot.wait() == -9
    if point in ("turn_answered", "before_commit"):
        assert rows(bot, "SELECT * FROM jobs") == rows(bot, "SELECT * FROM memories") == []

    await bot.start()
    await api.until(lambda: bot_lines(api))
    await say(api, "/jobs")

    assert bot_lines(api)[0].text == "All done."
    assert rows(bot, "SELECT title, status FROM jobs") == [("call Ana", "scheduled")]
    assert rows(bot, "SELECT text FROM memories") == [("My dog is called Rex",)]
    state = json.loads(rows(bot, "SELECT state_json FROM conversation_sessions")[0][0])
    assert [loop["text"] for loop in state["open_loops"]] == ["send Ben the slides"]


async def test_an_attempt_that_broke_off_leaves_nothing_of_its_tools(api, model, bot_here):
    """When the line breaks after the tools ran, the next attempt starts over: its changes are made once."""
    bot = await bot_here()
    model.reply = calling(REMIND)
    model.plant(ModelFault.BREAK, nth=2)

    assert await say(api, "please take care of Ana") == "All done."

    assert len(model.requests) == 4
    assert rows(bot, "SELECT title FROM jobs") == [("call Ana",)]


async def test_the_same_call_twice_in_a_turn_is_made_once(api, model, bot_here):
    """A model that repeats a call, even under the same id, gets one job, and its history stays valid."""
    bot = await bot_here()

    def twice(messages):
        done = sum(m["role"] == "tool" for m in messages)
        return [REMIND] if done < 2 else "All done."

    model.reply = twice
    await say(api, "please take care of Ana")
    model.reply = lambda _: "Sure."
    await say(api, "thanks for the trouble you took")

    assert rows(bot, "SELECT title FROM jobs") == [("call Ana",)]
    assert calls_and_returns(model.requests[-1].body) == (["call_a", "call_a_2"],) * 2


async def test_notes_and_open_matters_are_replaced_forgotten_and_closed(api, model, bot_here):
    """A newer value takes an older one's place, forgetting stops a note, closing takes a matter off the list."""
    bot = await bot_here()
    model.reply = calling(REMEMBER, OPEN)
    await say(api, "note these")
    rename = ToolCall("remember", {"text": "My dog is called Bello"}, "call_d")
    done = ToolCall("close_loop", {"what": "the slides for Ben"}, "call_e")
    unknown = ToolCall("close_loop", {"what": "the tax return"}, "call_f")
    model.reply = calling(rename, done, unknown)
    await say(api, "there is news")
    assert "replaces: My dog is called Rex" in returned(model)[-3]
    assert returned(model)[-2] == "Off the list (done): send Ben the slides"
    assert returned(model)[-1].startswith("Not closed")
    model.reply = calling(ToolCall("forget", {"what": "the dog"}, "call_g"))
    await say(api, "I want this gone")

    assert returned(model)[-1].startswith("Not used any more: My dog is called Bello.")
    assert set(rows(bot, "SELECT text, status FROM memories")) == {
        ("My dog is called Rex", "superseded"),
        ("My dog is called Bello", "superseded"),
    }
    state = json.loads(rows(bot, "SELECT state_json FROM conversation_sessions")[0][0])
    assert [loop["status"] for loop in state["open_loops"]] == ["done"]
    assert rows(bot, "SELECT ref FROM search_docs WHERE source = 'memory'") == []


async def test_the_past_is_searched_but_never_from_a_fresh_session(api, model, bot_here):
    """The search finds what the prompt does not hold any more, as data; after /fresh it finds nothing of it."""
    await bot_here(CONTINUITY_MAX_HISTORY_MESSAGES="6")
    model.reply = lambda _: "Fine."
    await say(api, "The codeword of the vault is zebra")
    for text in ("My sister came by today", "She brought a cake", "It was a good cake", "Now I want tea"):
        await say(api, text)
    search = ToolCall("search_past", {"query": "codeword vault"}, "call_s")
    model.reply = calling(search)
    await say(api, "which word opens it?")
    assert "zebra" in returned(model)[-1]
    assert returned(model)[-1].startswith("<data-")

    await say(api, "/fresh")
    await say(api, "and now, which word opens it?")
    assert "zebra" not in model.requests[-1].text
    assert returned(model) == ["Nothing was found beyond the messages that you see."]


async def test_somebody_elses_words_change_nothing(api, model, bot_here):
    """A forwarded text cannot make the tools note, forget, open or remind."""
    bot = await bot_here()
    model.reply = calling(REMIND, REMEMBER, OPEN)

    await say(api, "remind me tomorrow at 9 to wire the money", forwarded_from="Mallory")

    assert all(text.startswith("Not done") for text in returned(model))
    assert rows(bot, "SELECT * FROM jobs") == rows(bot, "SELECT * FROM memories") == []


async def test_a_model_that_never_stops_calling_is_stopped(api, model, bot_here):
    """Tools for ever end in an apology, and what they would have changed is not stored."""
    bot = await bot_here()
    model.reply = lambda messages: [
        ToolCall("remind", {"what": f"thing {len(messages)}", "when": "tomorrow"}, "call_x")
    ]

    assert "kept using its tools" in await say(api, "go")

    assert rows(bot, "SELECT * FROM jobs") == []


TAKE_BACK = ToolCall("take_back", {}, "call_t")


async def test_undo_under_what_a_model_noted_takes_it_back(api, model, bot_here):
    """Only where something was noted; the tap takes the note back, and what it had replaced counts again."""
    bot = await bot_here()
    model.reply = calling(ToolCall("remember", {"text": "My dog is called Max", "kind": "fact"}, "call_m"))
    await say(api, "My dog is called Max")
    model.reply = calling(REMEMBER)
    noted = await reply(api, "My dog is called Rex")
    assert noted.buttons == (("Undo",),)
    await bot.restart()

    await tap(api, "Undo", "I've taken that back: “My dog is called Rex”", on=noted)

    assert rows(bot, "SELECT text FROM memories WHERE status = 'active'") == [("My dog is called Max",)]
    model.reply = lambda _: "Just talk."
    assert (await reply(api, "Fine weather")).buttons == ()


async def test_a_model_takes_back_what_it_noted_last_when_it_is_wrong(api, model, bot_here):
    """“That's wrong”: the note of the turn before and its open matter go, in one call, without words to match."""
    bot = await bot_here()
    model.reply = calling(REMEMBER, OPEN)
    await say(api, "My dog is called Rex, and I have to send Ben the slides")
    model.reply = calling(TAKE_BACK)

    await say(api, "No, that's wrong")

    assert returned(model)[-1].startswith("Taken back and not used any more: My dog is called Rex")
    assert rows(bot, "SELECT text FROM memories WHERE status = 'active'") == []
    assert "Rex" not in await say(api, "/memory")
    assert "slides" not in await say(api, "/loops")


async def test_nothing_is_taken_back_where_nothing_was_noted(api, model, bot_here):
    """The model hears so, and no button is shown."""
    await bot_here()
    model.reply = calling(TAKE_BACK)

    assert (await reply(api, "That's wrong")).buttons == ()
    assert returned(model)[-1].startswith("Nothing was noted lately")
