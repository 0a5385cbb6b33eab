"""A turn and its commit: all of it in one transaction, nothing of it twice (P2, P4)."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from pydantic_ai.models.function import FunctionModel

from bot import replies
from bot.answers.responder import Answer, NoAnswer
from bot.delivery.outbox import OutgoingMessage, Target
from bot.intake.fields import MAX_TEXT_CHARS
from bot.intake.updates import Envelope
from bot.people.names import read_names
from bot.turns.steps.question import read_together
from memory.errors import Conflict, StorageUnavailable
from memory.ports import Statement
from memory.privacy.plan import ForgetRequest


async def test_a_turn_is_stored_with_its_reply_and_the_end_of_its_message(one, screen):
    """Turn, parts and inbox are all there, or none of them."""
    await one.take(1, "My dog is called Rex.")
    await one.settled()

    assert await one.rows("conversation_turns", "user_text, assistant_text") == [
        ("My dog is called Rex.", "You said: My dog is called Rex.")
    ]
    assert await one.rows("outbox", "kind, state") == [("reply", "sent")]
    assert await one.rows("inbox", "state") == [("done",)]
    assert screen.sent == ["You said: My dog is called Rex."]


async def test_the_same_update_twice_is_one_turn(one, screen, script):
    """Telegram delivers it again; nobody is asked, nothing is said again."""
    await one.take(1, "hello")
    await one.take(1, "hello")
    await one.settled()

    assert len(script.asked) == 1
    assert screen.sent == ["You said: hello"]


async def test_the_model_is_given_what_was_said_before(one, script):
    """The second turn's packet holds the first, in its order."""
    await one.take(1, "My dog is called Rex.")
    await one.settled()
    await one.take(2, "What is he called?")
    await one.settled()

    (turn,) = script.asked[-1].packet.history
    assert (turn.user_text, turn.assistant_text) == ("My dog is called Rex.", "You said: My dog is called Rex.")


async def test_an_answer_that_could_not_be_stored_is_not_asked_for_again(one, screen, script):
    """The disk refuses the commit; [Try again] stores the answer that was made, and it is paid for once."""
    one.refuse("insert_turn")
    await one.take(1, "hello")
    await screen.until(lambda: replies.say("storage_refused") in screen.sent)
    one.refuse()
    ((turn_id,),) = await one.rows("inbox", "turn_id")
    await one.press(2, replies.say("try_again"))
    await one.settled()

    assert len(script.asked) == 1
    assert screen.sent[-1] == "You said: hello"
    assert await one.rows("conversation_turns", "turn_id") == [(turn_id,)]


async def test_the_next_message_leaves_an_answer_that_was_made_to_its_button(start, screen, monkeypatch):
    """It was paid for: the next message is answered alone, and [Try again] stores what was made."""
    prompts = []

    async def stream(messages, _):
        prompts.append(messages)
        yield f"Answer {len(prompts)}"

    monkeypatch.setattr("bot.answers.wires.any_provider.infer_model", lambda _: FunctionModel(stream_function=stream))
    one = await start(continuity_model="another:scripted", continuity_memory_model="off")
    one.refuse("insert_turn")
    now_s = one.clock.now_ms() // 1000
    await one.take(1, "hello", date=now_s)
    await screen.until(lambda: replies.say("storage_refused") in screen.sent)
    one.refuse()
    await one.take(2, "next", date=now_s)
    await one.settled()
    await one.press(3, replies.say("try_again"))
    await one.settled()

    assert len(prompts) == 2
    assert await one.rows("conversation_turns", "user_text, assistant_text") == [
        ("next", "Answer 2"),
        ("hello", "Answer 1"),
    ]


async def test_an_answer_made_from_what_was_forgotten_is_made_again(one, screen, script):
    """Somebody forgets on the console while the model writes: what it wrote is thrown away, whatever it cost."""
    await one.take(1, "My PIN is 4711.")
    await one.settled()
    ((turn_id,),) = await one.rows("conversation_turns", "turn_id")
    ((conversation_id,),) = await one.rows("conversations", "conversation_id")
    forgetting: list[asyncio.Task[object]] = []

    async def forgets(_ask, _show):
        if not forgetting:
            request = ForgetRequest(conversation_id, turn_ids=(turn_id,))
            forgetting.append(asyncio.create_task(one.services.memory.forget(request)))
            await forgetting[0]
            return Answer("Your PIN is 4711.")
        return Answer("I don't know.")

    script.reply = forgets
    await one.take(2, "What is my PIN?")
    await one.settled()

    assert screen.sent[-1] == "I don't know."
    assert await one.rows("conversation_turns", "assistant_text") == [("I don't know.",)]


async def test_no_answer_is_said_and_can_be_asked_for_again(one, screen, script):
    """The person learns why; the message waits for the button and is no turn yet."""

    def busy(_ask, _show):
        raise NoAnswer("ModelHTTPError 429", "It is busy.")

    script.reply = busy
    await one.take(1, "hello")
    await one.settled()
    assert screen.sent == [replies.say("model_down", why="It is busy.")]
    assert await one.rows("conversation_turns", "turn_id") == []
    assert await one.rows("inbox", "state") == [("parked",)]

    script.reply = None
    await one.press(2, replies.say("try_again"))
    await one.settled()
    assert "You said: hello" in screen.sent


async def test_words_of_distress_are_answered_without_the_model(one, screen, script):
    """The caring answer comes at once, and the message is filed nowhere."""
    await one.take(1, "I want to kill myself.")
    await one.settled()

    assert script.asked == []
    assert len(screen.sent) == 1
    assert await one.rows("memories", "text") == []


async def test_what_an_answer_changes_is_committed_with_it_or_not_at_all(one, script):
    """A tool's effect that conflicts takes the turn back with it; the message is put aside in the end."""
    script.reply = lambda _ask, _show: Answer("Done.", effects=(Statement("inbox_done", IMPOSSIBLE, expect=1),))
    await one.take(1, "hello")
    await one.settled()

    assert await one.rows("conversation_turns", "turn_id") == []
    assert await one.rows("inbox", "state") == [("quarantined",)]


IMPOSSIBLE = {"bot_id": 1, "update_id": 1, "done_at_ms": 1}
HERE = Target(99, "tg:99:7:0", 7)


async def test_nothing_is_said_that_is_not_written_down(one, screen):
    """A commit that conflicts, or that a disk refuses, sends nothing."""
    hello = OutgoingMessage("hello")
    with pytest.raises(Conflict):
        await one.services.committer.write(HERE, [hello], Statement("inbox_done", IMPOSSIBLE, expect=1))
    one.refuse("outbox_insert")
    with pytest.raises(StorageUnavailable):
        await one.services.committer.write(HERE, [hello])
    await one.settled()

    assert screen.sent == []
    assert await one.rows("outbox", "text") == []


async def test_a_refusal_that_passes_is_waited_for(start, screen):
    """The disk takes it at a later try: said once."""
    one = await start(continuity_storage_patience_s=20)
    tries = []

    async def store(*rows):
        tries.append(1)
        if len(tries) < 3:
            raise StorageUnavailable("no space")
        return await one.services.db.write(*rows)

    await one.services.committer.say(HERE, [OutgoingMessage("hello")], store)
    await one.settled()

    assert len(tries) == 3
    assert screen.sent == ["hello"]


async def written(one, messages):
    """Say this in a chat whose last message id is known; return the names of what was written, call by call."""
    calls, write = [], one.services.db.write

    async def noted(*statements):
        calls.append([statement.name for statement in statements])
        return await write(*statements)

    one.services.db.write = one.services.delivery._db.write = noted
    one.services.delivery.high_water.saw(HERE.chat_id, 5)
    await one.services.committer.write(HERE, messages)
    await one.settled()
    return calls


async def test_what_can_go_out_at_once_bears_its_mark_in_its_commit(one, screen):
    """One commit stands before the send (P4 and P5 in one), one behind it; what has to wait is marked when it goes."""
    messages = [OutgoingMessage("one"), OutgoingMessage("two")]

    assert await written(one, messages) == [["outbox_insert"] * 2, ["outbox_sent"], ["outbox_sending"], ["outbox_sent"]]
    assert screen.sent == ["one", "two"]
    assert await one.rows("outbox", "state, attempts") == [("sent", 1), ("sent", 1)]


async def test_what_no_probe_could_prove_is_marked_when_it_goes_out(start):
    """Without the probe a part that was marked and not sent would count as doubtful: it is queued first."""
    one = await start(continuity_probe_ids=0)

    assert await written(one, [OutgoingMessage("one")]) == [["outbox_insert"], ["outbox_sending"], ["outbox_sent"]]


class SummaryModel:
    """Writes summaries and never comes to an end of one."""

    def __init__(self):
        self.asked = asyncio.Event()

    async def write(self, *_):
        self.asked.set()
        await asyncio.Event().wait()


@pytest.fixture
def over_budget(start, script):
    """Offer a function that starts a bot whose talk is longer than its history may be, and its summary model."""
    script.reply = lambda ask, _: f"{ask.text} " + "A word, then another one. " * 60

    async def make():
        long = await start(continuity_history_tokens=100_000, continuity_context_tokens=200_000)
        for number in range(1, 6):
            await long.take(number, f"Matter {number} is for Ana in Porto, and takes {number * 7} days.")
            await long.settled()
        one, model = await start(continuity_history_tokens=300), SummaryModel()
        one.services.memory.compactor._write_summary = model.write
        return one, model

    return make


async def test_no_model_is_asked_for_a_summary_before_a_message_is_answered(over_budget, screen, monkeypatch):
    """What an earlier start left over its budget is compacted by code: the claim may not be stored yet."""
    one, model = await over_budget()
    monkeypatch.setattr(type(one.services.memory), "make_room", lambda *_, **__: asyncio.sleep(0))
    await one.take(9, "And this?")
    await one.settled()

    assert "And this?" in screen.sent[-1]
    assert await one.rows("compactions", "method") == [("deterministic",)]
    assert not model.asked.is_set()


async def test_no_message_waits_for_a_summary_that_a_model_writes(over_budget, screen):
    """It is written behind the reply; when the next message comes it is written by code, and the message answered."""
    one, model = await over_budget()
    one.services.memory.compactor._limit_s = 3600
    asked = asyncio.create_task(model.asked.wait())
    for number in range(10, 20):
        await one.take(number, f"Matter {number} is for Ana in Porto, and takes {number * 7} days.")
        done = asyncio.create_task(one.joined.lanes.until_idle())
        await asyncio.wait({asked, done}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            break
    await one.take(99, "And this?")
    await screen.until(lambda: "And this?" in screen.sent[-1])

    assert ("deterministic",) in await one.rows("compactions", "method")


@pytest.mark.parametrize(("pieces", "in_thread"), [(1, False), (3, False), (500, True)])
async def test_a_pile_is_read_in_a_thread(pieces, in_thread):
    """The texts are joined and counted where nobody waits for it; what is short takes no hop to a thread."""
    counted_in = set()
    counter = SimpleNamespace(count=lambda _: counted_in.add(threading.get_ident()) or 1)
    settings = SimpleNamespace(message_tokens=100)
    services = SimpleNamespace(settings=settings, memory=SimpleNamespace(counter=counter))
    piece = Envelope(1, 1, "tg:1:7:0", 7, None, private=True, kind="text", text="x" * 4096)
    batch = [replace(piece, update_id=n, message_id=n) for n in range(pieces)]

    await read_together(services, batch)

    assert counted_in.isdisjoint({threading.get_ident()}) is in_thread


async def test_whoever_sends_far_too_much_is_told_how_much_was_read(start, screen):
    """A server of one's own hands on a text of a million characters: it is one bounded turn, and they hear so."""
    one = await start()
    await one.take(1, "a" * 500_000 + "z" * 500_000)
    await one.settled()

    ((stored,),) = await one.rows("conversation_turns", "user_text")
    assert len(stored) <= MAX_TEXT_CHARS
    assert "of 1,000,000 characters" in screen.sent[-1]


async def test_a_chat_has_the_name_of_who_writes_there_until_all_of_it_is_forgotten(one):
    """Whoever looks at it from outside reads a name, not a number; forgetting everything takes the name too (P13)."""
    await one.take(1, "My dog is called Rex.")
    await one.settled()
    ((conversation_id,),) = await one.rows("conversations", "conversation_id")

    assert (await read_names(one.services.db)).chat(conversation_id).name == "Ana"
    await one.services.memory.forgetter.forget(ForgetRequest(conversation_id, everything=True))
    assert (await read_names(one.services.db)).chat(conversation_id).name.startswith("Telegram chat")
