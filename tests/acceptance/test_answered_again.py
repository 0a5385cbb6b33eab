"""[Try again], /retry and [Answer again], in every order: each answer that was paid for is stored and shown, once."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from itertools import permutations

import pytest
from loopback.model import Gate, ModelFault, ToolCall
from story import PERSON, answered, asked, bot_lines, bot_texts, noted, reply, rows, shows, stored_turns, tap

from bot import replies
from bot.turns.steps.commit import Commit
from memory.context.transcript import EDITED

pytestmark = pytest.mark.acceptance

ORDERS = sorted(set(permutations(("tap", "tap", "retry", "retry", "new"))))


def last_line(text: str) -> str:
    """Return the part of a message that the model repeats."""
    return text.splitlines()[-1]


def press(api, person: int, message: dict, data: str) -> None:
    """Tap a button also when it is not on the screen any more, as a phone with a bad line does."""
    user = {"id": person, "is_bot": False, "first_name": "Ana"}
    query = {"id": f"{person}{api.people.updates.next_id}", "from": user, "message": message, "chat_instance": "1"}
    api.people.injects({"callback_query": {**query, "data": data}})


@pytest.mark.parametrize(
    "orders", [pytest.param(ORDERS[::3], id="a third"), pytest.param(ORDERS, id="all", marks=pytest.mark.soak)]
)
async def test_no_order_of_trying_again_loses_an_answer(api, model, bot_here, orders):
    """People tap twice, write /retry twice and something new, each in another order, with and without pauses."""
    bot = await bot_here()
    model.plant(ModelFault.SERVER_ERROR, times=None)
    people = {order: 7000 + number for number, order in enumerate(orders)}
    for person in people.values():
        api.people.says(person, "first")
    await api.until(lambda: all(bot_lines(api, person) for person in people.values()), 120)
    model.heal()
    model.requests.clear()

    async def act(order: tuple[str, ...], person: int) -> None:
        kept = api.people.world.private_chat(person).messages
        notice = next(each for each in kept.values() if each.by_bot)
        data = notice.message["reply_markup"]["inline_keyboard"][0][0]["callback_data"]
        for number, what in enumerate(order):
            if what == "tap":
                press(api, person, dict(notice.message), data)
            else:
                api.people.says(person, "/retry" if what == "retry" else "new")
            await asyncio.sleep(0.01 * (person % (number + 2)))

    await asyncio.gather(*(act(order, person) for order, person in people.items()))
    await bot.settled()
    await bot.settled()

    asked, stored, shown = Counter(), Counter(), Counter()
    for request in model.requests:
        asked[last_line(request.said)] += 1
    for order, person in people.items():
        turns = rows(bot, "SELECT user_text FROM conversation_turns WHERE conversation_id LIKE :c", c=f"%:{person}:0")
        texts = [text for (text,) in turns]
        stored.update(map(last_line, texts))
        shown.update(text.removeprefix("You said: ") for text in bot_texts(api, person) if "You said" in text)
        said = "\n".join(texts).split("\n")  # "new" takes "first" up where it comes before any tap
        assert "first" in said, order
        assert "new" in said, order
    assert asked == stored == shown
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


async def test_an_answer_is_kept_when_a_part_of_its_messages_was_finished_meanwhile(api, model, bot_here, monkeypatch):
    """Two messages become one turn, and one is finished elsewhere: the answer, once paid for, is still given."""
    bot = await bot_here()
    services = bot.app.services
    store = Commit.store

    async def somebody_was_first(self, work, *rest):
        monkeypatch.setattr(Commit, "store", store)
        await services.db.write(services.inbox.done(work.batch[0]))
        await store(self, work, *rest)

    monkeypatch.setattr(Commit, "store", somebody_was_first)
    api.people.pastes(PERSON, "x" * 4000 + " " + "y" * 4000)
    await api.until(lambda: stored_turns(bot), 30)
    await bot.settled()

    assert len(model.requests) == 1
    assert len(stored_turns(bot)) == 1
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


async def test_an_edited_message_is_answered_again_once_however_often_the_button_is_tapped(api, model, bot_here):
    """[Answer again] tapped twice in a moment gives one answer."""
    bot = await bot_here()
    said = api.people.says(PERSON, "What is 2 + 2?")
    await answered(api, PERSON, "What is 2 + 2?")
    api.people.edits(PERSON, said.message_id, "What is 2 + 3?")
    await api.until(lambda: len(bot_lines(api)) == 2)

    api.people.presses(PERSON, "Answer again")
    api.people.presses(PERSON, "Answer again")
    await answered(api, PERSON, "What is 2 + 3?")
    await bot.settled()

    assert [user for user, _ in stored_turns(bot)] == ["What is 2 + 3?", "What is 2 + 3?"]
    assert len(model.requests) == 2
    offer = bot_lines(api)[1]
    assert (offer.text, offer.buttons) == (replies.say("edited_answered"), ())


async def test_the_newest_of_two_quick_edits_is_answered(api, model, bot_here):
    """Edited twice while something else is answered, and [Answer again] tapped: one offer, the last words answered."""
    bot = await bot_here()
    said = api.people.says(PERSON, "What is 2 + 2?")
    await answered(api, PERSON, "What is 2 + 2?")
    api.people.edits(PERSON, said.message_id, "What is 2 + 3?")
    await api.until(lambda: len(bot_lines(api)) == 2)

    model.gate = Gate()
    api.people.says(PERSON, "a long story, please")
    await model.until(lambda: len(model.requests) == 2)
    api.people.edits(PERSON, said.message_id, "What is 2 + 4?")
    api.people.presses(PERSON, "Answer again")
    await api.until(lambda: api.calls_of("answerCallbackQuery"))
    model.gate.open()
    await answered(api, PERSON, "What is 2 + 4?")
    await bot.settled()

    asked = [user for user, _ in stored_turns(bot)]
    assert asked == ["What is 2 + 4?", "a long story, please", "What is 2 + 4?"]
    assert len(bot_lines(api)) == 4


async def test_an_offer_goes_once_a_later_answer_has_read_the_edit(api, model, bot_here):
    """It says so in its place, without a button; the next edit of that message is offered anew."""
    bot = await bot_here()
    said = api.people.says(PERSON, "What is 2 + 2?")
    await answered(api, PERSON, "What is 2 + 2?")
    api.people.edits(PERSON, said.message_id, "What is 2 + 3?")
    offer = await shows(api, "changed that one")
    await reply(api, "and now double it")
    await bot.settled()

    assert "What is 2 + 3?" in model.requests[-1].text
    [line] = [line for line in bot_lines(api) if line.message_id == offer.message_id]
    assert (line.text, line.buttons) == (replies.say("edited_taken_up"), ())
    api.people.edits(PERSON, said.message_id, "What is 2 + 4?")
    await tap(api, "Answer again", on=await shows(api, "Want a new answer"))
    await answered(api, PERSON, "What is 2 + 4?")


DEPOSIT = "The deposit of {} euro for the hall is due by Sunday, I must not forget it."


def deposit(euros: int, op: str, **more) -> dict:
    """The keeper's change of the note about it."""
    said = f"the deposit of {euros} euro"
    return {"op": op, "kind": "task", "text": f"The €{euros} deposit", "said": said, "turns": [1]} | more


@pytest.mark.parametrize(
    ("again", "told"),
    [
        (deposit(120, "change", number=1), "I've put my notes right:\n• The €120 deposit\nWant a new answer?"),
        (deposit(120, "delete", number=1), "• Dropped: The €150 deposit\n"),
        (None, "For now my notes are as before:\n• The €150 deposit\nTap “Answer again”"),
    ],
)
async def test_an_offer_names_the_notes_that_were_put_right(api, model, bot_here, again, told):
    """What the keeper made of an edit stands in the bot's own message, whose button still answers again."""
    bot = await bot_here()

    def answer(messages):
        text = str(messages)
        if "New turns:" not in text:
            return "Noted."
        change = again if "120 euro" in text else deposit(150, "add")
        return [ToolCall("keep", {"changes": [change] if change else []})]

    model.reply = answer
    said = api.people.says(PERSON, DEPOSIT.format(150))
    await shows(api, "Noted.")
    await bot.app.services.memory.keeper.read_now(f"tg:{bot.app.services.me.bot_id}:{PERSON}:0")
    api.people.edits(PERSON, said.message_id, DEPOSIT.format(120))
    offer = await shows(api, "changed that one")
    await api.until(lambda: rows(bot, "SELECT COUNT(*) FROM model_readings") == [(2,)])
    shown = await shows(api, told)
    assert shown.message_id == offer.message_id
    first = "Ah, you changed that one. I'm looking at what that changes:\n• The €150 deposit"
    assert first in [call.params["text"] for call in api.calls_of("sendMessage")]

    await tap(api, "Answer again", on=shown)
    await api.until(lambda: bot_texts(api).count("Noted.") == 2)
    assert rows(bot, "SELECT COUNT(*) FROM buttons WHERE action = 'answer_again'") == [(1,)]


async def test_an_offer_is_put_right_while_another_message_is_answered(api, model, bot_here):
    """It does not stay at what the keeper is looking at: the message that waits is no tap on it."""
    bot = await bot_here()
    edited, written = asyncio.Event(), asyncio.Event()

    async def reads(_conversation_id):
        edited.set()
        await written.wait()

    def answer(messages):
        if messages[-1]["role"] == "user" and "came to 21" in str(messages[-1]["content"]):
            return [ToolCall("note", {"text": "The tubes came to £21", "kind": "fact"}, "n")]
        return "Fine."

    model.reply = answer
    said = api.people.says(PERSON, "the tubes came to 21 pounds")
    await shows(api, "Fine.")
    bot.app.services.memory.keeper.read_now = reads
    api.people.edits(PERSON, said.message_id, "the tubes came to 36 pounds")
    await edited.wait()
    offer = await shows(api, "I'm looking at what that changes:\n• The tubes came to £21")
    assert offer.buttons == (("Answer again",),)
    count, model.gate = len(model.requests), Gate()
    api.people.says(PERSON, "and the bank is done")
    await model.until(lambda: len(model.requests) > count)
    written.set()

    assert (await shows(api, "For now my notes are as before")).message_id == offer.message_id
    model.gate.open()


async def test_without_a_keeper_an_offer_says_at_once_what_to_tap(api, model, bot_here):
    """Nobody reads an edit by themselves there."""
    bot = await bot_here(CONTINUITY_MODEL="offline")
    said = api.people.says(PERSON, "the tubes came to 21 pounds")
    await api.until(lambda: bot_texts(api))
    [(turn_id,)] = rows(bot, "SELECT turn_id FROM conversation_turns")
    await noted(bot, "fact", "The tubes came to £21", turn_ids=(turn_id,))
    api.people.edits(PERSON, said.message_id, "the tubes came to 36 pounds")

    await shows(api, "For now my notes are as before:\n• The tubes came to £21\nTap “Answer again”")
    assert not [call for call in api.calls_of("sendMessage") if "looking at" in call.params["text"]]


@pytest.mark.parametrize("mends", [False, True])
async def test_an_offer_stays_while_a_note_is_as_the_message_was(api, model, bot_here, mends):
    """£21 became £36: the offer names the note at once, in the list it may be off, until an answer puts it right."""
    await bot_here()
    note, mend = (ToolCall("note", {"text": "The tubes came to £21", "kind": "fact"}, "n"),), ()

    def answer(messages):
        if messages[-1]["role"] == "tool":
            return "Noted."
        if "came to 21" in str(messages[-1]["content"]):
            return list(note)
        return list(mend) or "Fine."

    model.reply = answer
    said = api.people.says(PERSON, "the tubes came to 21 pounds")
    await shows(api, "Noted.")
    api.people.edits(PERSON, said.message_id, "the tubes came to 36 pounds")
    offer = await shows(api, "For now my notes are as before:\n• The tubes came to £21\nTap “Answer again”")
    assert "£21 (may be off: that message was changed)" in (await reply(api, "/memory")).text
    mend = (ToolCall("change", {"numbers": [1], "text": "The tubes came to £36"}, "m"),) if mends else ()
    await reply(api, "and the bank is done")
    await shows(api, "Noted." if mends else "Fine.")

    listed = (await reply(api, "/memory")).text
    assert ("£36" in listed, "may be off" in listed) == (mends, not mends)
    [line] = [line for line in bot_lines(api) if line.message_id == offer.message_id]
    assert line.buttons == (() if mends else (("Answer again",),))


async def test_a_tap_that_was_on_its_way_when_the_offer_went_is_obeyed(api, model, bot_here):
    """Somebody who asks for another answer gets it, to the words as they are."""
    bot = await bot_here()
    said = api.people.says(PERSON, "What is 2 + 2?")
    await answered(api, PERSON, "What is 2 + 2?")
    api.people.edits(PERSON, said.message_id, "What is 2 + 3?")
    offer = await shows(api, "changed that one")
    message = dict(api.people.world.private_chat(PERSON).messages[offer.message_id].message)
    await reply(api, "and now double it")
    await bot.settled()

    press(api, PERSON, message, message["reply_markup"]["inline_keyboard"][0][0]["callback_data"])
    await answered(api, PERSON, "What is 2 + 3?")


@pytest.mark.parametrize("between", [False, True], ids=["edited twice", "answered again between"])
async def test_each_answer_again_takes_the_notes_before_along(api, bot_here, caplog, between):
    """However often a message is edited, what is noted is what it says now; no row is taken for an altered one."""
    bot = await bot_here(CONTINUITY_MODEL="offline", CONTINUITY_TIMEZONE="Europe/Berlin")
    said = api.people.says(PERSON, "I have to call the vet on Friday about Rex.")
    await shows(api, "call the vet")
    api.people.edits(PERSON, said.message_id, "I have to call the groomer on Monday about Rex.")
    offer = await shows(api, "changed that one")
    if between:
        await tap(api, "Answer again", on=offer)
        await shows(api, "groomer")
    api.people.edits(PERSON, said.message_id, "I have to call the breeder on Tuesday about Rex.")
    newest = "SELECT 1 FROM buttons WHERE used_at_ms IS NULL AND payload_json LIKE '%breeder%'"
    await api.until(lambda: rows(bot, newest))
    await bot.settled()
    await tap(api, "Answer again", on=[line for line in bot_lines(api) if "changed that one" in line.text][-1])
    await shows(api, "breeder")
    await bot.settled()

    listed = (await reply(api, "/memory")).text + (await reply(api, "/loops")).text
    assert "breeder" in listed
    assert "vet" not in listed
    assert "groomer" not in listed
    assert "does not match its digest" not in caplog.text


@pytest.mark.parametrize("fault", ["edit_checkpoint_gone", "edit_stored"])
async def test_an_edit_is_in_the_next_prompt_without_a_tap_and_a_kill_does_not_lose_it(api, model, bot_process, fault):
    """Killed at any step of it: the new words stand in the history, the old ones nowhere, and one offer is made."""
    bot = await bot_process(start=False)
    await bot.start(CONTINUITY_FAULT=fault)
    said = api.people.says(PERSON, "The dentist is at three.")
    await answered(api, PERSON, "The dentist is at three.")
    api.people.edits(PERSON, said.message_id, "The dentist is at five.")
    await bot.wait()
    await bot.start()
    await shows(api, "changed that one")
    await reply(api, "When is it?")

    prompt = asked(model)[-1].text
    assert f"{EDITED} The dentist is at five." in prompt
    assert "at three" not in prompt.replace("You said: The dentist is at three.", "")
    assert sum("changed that one" in text for text in bot_texts(api)) == 1


async def test_an_edit_that_says_the_same_offers_nothing(api, model, bot_here):
    """A slip put right is put right in silence, and stands in the next prompt as it reads now."""
    bot = await bot_here()
    said = api.people.says(PERSON, "i need flour tomorow")
    await answered(api, PERSON, "i need flour tomorow")
    edit = api.people.edits(PERSON, said.message_id, "I need flour tomorrow.")
    await api.until(lambda: api.is_confirmed(edit.update_id))
    await bot.settled()
    await reply(api, "How much?")

    assert "I need flour tomorrow." in asked(model)[-1].text
    assert EDITED not in asked(model)[-1].text
    assert len(bot_lines(api)) == 2


async def test_an_edit_joins_its_message_that_waits_for_try_again(api, model, bot_here):
    """[Try again] answers what the message says now, once; nothing else is offered."""
    bot = await bot_here()
    model.plant(ModelFault.SERVER_ERROR, times=None)
    said = api.people.says(PERSON, "What is 2 + 2?")
    await api.until(lambda: bot_lines(api), 40)
    for text in ("What is 2 + 3?", "What is 2 + 4?"):
        api.people.edits(PERSON, said.message_id, text)
    await api.until(lambda: len(rows(bot, "SELECT 1 FROM inbox WHERE state = 'parked'")) == 3)
    assert len(bot_lines(api)) == 1

    model.heal()
    api.people.presses(PERSON, "Try again")
    await answered(api, PERSON, "What is 2 + 4?")
    await bot.settled()

    assert [user for user, _ in stored_turns(bot)] == ["What is 2 + 4?"]
    assert rows(bot, "SELECT state FROM inbox WHERE state <> 'done'") == []


async def test_what_others_wrote_stays_theirs_when_it_is_answered_again(api, model, bot_here):
    """Forwarded and quoted text gets into no memory by /retry or [Answer again], and the model sees it fenced."""
    bot = await bot_here()
    api.people.says(PERSON, "My favourite colour is mauve. My name is Mallory.", forwarded_from="Mallory")
    await api.until(lambda: len(bot_lines(api)) == 1)
    api.people.says(PERSON, "/retry")
    await api.until(lambda: len(bot_lines(api)) == 2)
    said = api.people.sends(PERSON, {"text": "Hm?", "quote": {"text": "My dog is called Evil.", "position": 0}})
    await api.until(lambda: len(bot_lines(api)) == 3)
    api.people.edits(PERSON, said.message_id, "What is that?")
    await api.until(lambda: len(bot_lines(api)) == 4)
    api.people.presses(PERSON, "Answer again")
    await api.until(lambda: len(bot_lines(api)) == 5)
    await bot.settled()

    assert rows(bot, "SELECT third_party FROM conversation_turns") == [(1,)] * 4
    assert rows(bot, "SELECT text FROM memories") == []
    for request in model.requests:
        outside = re.sub(r"<data-(\w{8})>.*?</data-\1>", "", request.text.replace("You said: ", ""), flags=re.DOTALL)
        assert "mauve" not in outside
        assert "Evil" not in outside
